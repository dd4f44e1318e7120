"""Samples moved along their own skew flow: many rows at once, one long row by formula, and compiled."""

from symdecouple.numeric.riccati.rows import Imposed, impose_skewness

__all__ = ["Imposed", "impose_skewness"]
