"""How the levels of a plan are reached: one file a way."""
