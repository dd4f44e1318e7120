"""Statistics of samples in the manner of `scipy.stats`, decoupled where that exists. Loads neither SymPy nor SciPy."""

from symdecouple.stats.moments import blest, decoupled_moments, standardized_moments
from symdecouple.stats.shape import kurtosis, orthokurtosis, skewness

__all__ = ["blest", "decoupled_moments", "kurtosis", "orthokurtosis", "skewness", "standardized_moments"]
