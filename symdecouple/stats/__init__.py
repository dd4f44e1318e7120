"""Statistics of samples in the manner of `scipy.stats`, decoupled where that exists. Loads neither SymPy nor SciPy."""

from symdecouple.stats.coordinates import CircularShape, circular_shape, log_shape
from symdecouple.stats.moments import blest, decoupled_moments, standardized_moments
from symdecouple.stats.shape import kurtosis, orthokurtosis, skewness

__all__ = ["CircularShape", "blest", "circular_shape", "decoupled_moments", "kurtosis", "log_shape", "orthokurtosis",
           "skewness", "standardized_moments"]
