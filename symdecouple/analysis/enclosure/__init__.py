"""Intervals that surely hold a value."""
