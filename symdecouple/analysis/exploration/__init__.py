"""Subsets and orders of features: decided, measured, shown."""
