"""Numbers of any kind become rows of float64: intake, weights, batches, what was refused."""
