"""A sample with weights, and the statistics that take them: what the tests of weights share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdecouple.stats import blest, decoupled_moments, kurtosis, orthokurtosis, skewness, standardized_moments

Statistic = Callable[..., Any]

BY_ORDER: list[Statistic] = [standardized_moments, blest, decoupled_moments]
FUNCTIONS: list[Statistic] = [skewness, kurtosis, orthokurtosis, *BY_ORDER]
SAMPLE = np.array([-15.0, -11, -9, -7, -4, -2, 0, 1, 3, 5, 8, 9, 12, 20])
WEIGHTS = np.array([1, 1, 2, 2, 3, 1, 2, 4, 1, 3, 2, 2, 1, 1])
N = len(SAMPLE)

every = pytest.mark.parametrize("function", FUNCTIONS)


def answer(function: Statistic, a: Any, **options: Any) -> tuple[Any, list[str]]:
    values, outcomes = function(a, on_refusal="return", **options)
    return values, [outcome.reason for outcome in outcomes]


def equal(found: Any, expected: Any) -> bool:
    return np.array_equal(found, expected, equal_nan=True)
