"""Moments of the outputs of a separable filter bank: all bands at once, and their narrow path, compiled."""
