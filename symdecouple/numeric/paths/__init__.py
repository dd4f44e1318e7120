"""Along gradients: integration, projection, the narrow path and its adjoint."""
