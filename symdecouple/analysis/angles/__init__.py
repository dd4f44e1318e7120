"""Angles between gradients: measured, averaged, shown."""
