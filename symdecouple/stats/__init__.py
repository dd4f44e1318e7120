"""Statistics of samples in the manner of `scipy.stats`, decoupled where that exists. Loads neither SymPy nor SciPy."""

from symdecouple.stats.coordinates import CircularShape, circular_shape, log_shape
from symdecouple.stats.moments import blest, decoupled_moments, standardized_moments
from symdecouple.stats.ranges import Range, kurtosis_range, orthokurtosis_range, skewness_range
from symdecouple.stats.shape import kurtosis, orthokurtosis, skewness

<<<<<<< HEAD
__all__ = ["CircularShape", "blest", "circular_shape", "decoupled_moments", "kurtosis", "log_shape", "orthokurtosis",
           "skewness", "standardized_moments"]
=======
__all__ = [
    "Range",
    "blest",
    "decoupled_moments",
    "kurtosis",
    "kurtosis_range",
    "orthokurtosis",
    "orthokurtosis_range",
    "skewness",
    "skewness_range",
    "standardized_moments",
]
>>>>>>> s3-ranges
