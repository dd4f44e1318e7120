"""The plan: which normalization at which level, with which reference values, and its application."""
