"""Statistics of samples in the manner of `scipy.stats`, decoupled where that exists. Loads neither SymPy nor SciPy."""

from symdecouple.stats.shape import kurtosis, orthokurtosis, skewness

__all__ = ["kurtosis", "orthokurtosis", "skewness"]
