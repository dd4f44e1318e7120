"""Decoupled features of distributions."""
