"""Ready feature sets, and what is known about them."""
