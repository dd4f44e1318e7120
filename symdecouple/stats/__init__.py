"""Statistics of samples in the manner of `scipy.stats`, decoupled where that exists. Loads neither SymPy nor SciPy."""

from symdecouple.stats.coordinates import CircularShape, circular_shape, log_shape
from symdecouple.stats.matching import Matched, match
from symdecouple.stats.moments import blest, decoupled_moments, standardized_moments
from symdecouple.stats.ranges import Range, kurtosis_range, orthokurtosis_range, skewness_range
from symdecouple.stats.shape import kurtosis, orthokurtosis, skewness

__all__ = ["CircularShape", "Matched", "Range", "blest", "circular_shape", "decoupled_moments", "kurtosis",
           "kurtosis_range", "log_shape", "match", "orthokurtosis", "orthokurtosis_range", "skewness", "skewness_range",
           "standardized_moments"]
