"""The shape statistics against NumPy and SciPy (population moments, kurtosis not in excess)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from sympy import exp, lambdify

from symdecouple.errors import InvalidInput
from symdecouple.language.feature import Feature
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, x
from symdecouple.language.statistics import central_moment, kurtosis, skewness, standard_deviation, variance

VALUES = np.array([1.0, 2.5, -3.0, 7.0, 0.5])


def number(expr: Any) -> float:
    return float(lambdify(coordinates(5), Feature(expr).at(n_samples=5).expr)(*VALUES))


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (variance(), np.var(VALUES)), (standard_deviation(), np.std(VALUES)), (skewness(), scipy.stats.skew(VALUES)),
        (kurtosis(), scipy.stats.kurtosis(VALUES, fisher=False)), (central_moment(5), scipy.stats.moment(VALUES, 5)),
        (variance(exp(x)), np.var(np.exp(VALUES))), (kurtosis(x**2), scipy.stats.kurtosis(VALUES**2, fisher=False)),
    ],
)
def test_values_against_numpy_and_scipy(expr: Any, expected: float) -> None:
    assert number(expr) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("order", [1, 0, -2, 2.0, True, "2"])
def test_orders_below_two_are_refused(order: Any) -> None:
    with pytest.raises(InvalidInput, match="at least 2"):
        central_moment(order)


def test_they_are_plain_expressions_of_means() -> None:
    assert variance() == Mean(x**2) - Mean(x) ** 2
    assert central_moment(3) == Mean((x - Mean(x)) ** 3)
    with pytest.raises(InvalidInput):
        variance("x")


@pytest.mark.parametrize("numbers", [[1, 2, 3], (1.0, 2.0), VALUES, VALUES[0], 3, np.float32(1), [[1, 2]], range(4)],
                         ids=lambda v: type(v).__name__)
def test_numbers_are_sent_to_the_function_of_numbers(numbers: Any) -> None:
    for statistic, function in ((kurtosis, "symdecouple.stats.kurtosis"), (skewness, "symdecouple.stats.skewness"),
                                (variance, "numpy.var"), (standard_deviation, "numpy.std"),
                                (lambda v: central_moment(3, v), "scipy.stats.moment")):
        with pytest.raises(InvalidInput, match=function):
            statistic(numbers)
