r"""The classical shape statistics, written as features: shorthand for expressions of averages.

With m = Mean(e) and m_k = Mean((e - m)^k): the variance m_2, the standard deviation sqrt(m_2), the skewness
m_3/m_2^(3/2) and the kurtosis m_4/m_2^2 (population moments, kurtosis not in excess).
"""

from __future__ import annotations

from typing import Any

from sympy import Basic, Expr, Integer, Rational, sqrt

from symdecouple.errors import InvalidInput
from symdecouple.language.mean import Mean, exact
from symdecouple.language.sample import x

__all__ = ["central_moment", "kurtosis", "skewness", "standard_deviation", "variance"]


def central_moment(order: int, expr: Any = x) -> Expr:
    """Return Mean((e - Mean(e))**order) of a function e of the sample.

    Examples
    --------
    >>> central_moment(4)
    Mean((x - Mean(x))**4)
    """
    if isinstance(order, bool) or not isinstance(order, (int, Integer)) or order < 2:
        raise InvalidInput(f"the order of a central moment is an integer of at least 2, got {order!r}")
    expr = _of_the_sample(expr, "central_moment", "scipy.stats.moment")
    return Mean((expr - Mean(expr)) ** order)


def variance(expr: Any = x) -> Expr:
    """Return the variance Mean(e**2) - Mean(e)**2 (divided by N, not N - 1)."""
    expr = _of_the_sample(expr, "variance", "numpy.var")
    return Mean(expr**2) - Mean(expr) ** 2


def standard_deviation(expr: Any = x) -> Expr:
    """Return the square root of the variance."""
    return sqrt(variance(_of_the_sample(expr, "standard_deviation", "numpy.std")))


def skewness(expr: Any = x) -> Expr:
    """Return the third central moment over the variance to the power 3/2."""
    expr = _of_the_sample(expr, "skewness", "symdecouple.stats.skewness")
    return central_moment(3, expr) / variance(expr) ** Rational(3, 2)


def kurtosis(expr: Any = x) -> Expr:
    """Return the fourth central moment over the squared variance (3 for a normal law)."""
    expr = _of_the_sample(expr, "kurtosis", "symdecouple.stats.kurtosis")
    return central_moment(4, expr) / variance(expr) ** 2


def _of_the_sample(expr: Any, name: str, of_numbers: str) -> Expr:
    """Refuse numbers, of which another function computes the statistic."""
    if not isinstance(expr, Basic | str) and (hasattr(expr, "__len__") or hasattr(expr, "__float__")):
        raise InvalidInput(f"{name} declares a feature, as an expression of the sample, and was given numbers; of "
                           f"these it is {of_numbers}(...)")
    return exact(expr, name)
