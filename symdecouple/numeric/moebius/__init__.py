"""The skew flow z = x/(1 - t x): the t at which a sample has a wanted skewness, and its kurtosis there."""

from symdecouple.numeric.moebius.flow import find_roots, orthokurtosis_rows, zero_skewness_rows

__all__ = ["find_roots", "orthokurtosis_rows", "zero_skewness_rows"]
