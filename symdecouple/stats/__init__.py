"""Statistics of samples in the manner of `scipy.stats`, decoupled where that exists. Loads neither SymPy nor SciPy."""

from typing import TYPE_CHECKING

from symdecouple.names import unknown_name
from symdecouple.stats.coordinates import CircularShape, circular_shape, log_shape
from symdecouple.stats.estimates import ConfidenceInterval, MomentEstimates, estimate_moments
from symdecouple.stats.matching import Matched, match
from symdecouple.stats.moments import blest, decoupled_moments, standardized_moments
from symdecouple.stats.normality import ShapeTest, normality_test, orthokurtosis_test
from symdecouple.stats.ranges import Range, kurtosis_range, orthokurtosis_range, skewness_range
from symdecouple.stats.rolling import rolling
from symdecouple.stats.shape import kurtosis, orthokurtosis, skewness
from symdecouple.tables.grouped import Grouped

__all__ = ["CircularShape", "ConfidenceInterval", "Grouped", "Matched", "MomentEstimates", "Range", "ShapeTest",
           "blest", "circular_shape", "decoupled_moments", "estimate_moments", "kurtosis", "kurtosis_range",
           "log_shape", "match", "normality_test", "orthokurtosis", "orthokurtosis_range", "orthokurtosis_test",
           "rolling", "skewness", "skewness_range", "standardized_moments"]

if not TYPE_CHECKING:  # for type checkers a name that is not here stays an error

    def __getattr__(name: str) -> object:
        raise unknown_name(__name__, name)
