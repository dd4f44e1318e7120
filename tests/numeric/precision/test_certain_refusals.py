"""What float64 knows before mpmath sets out: refusals by counting."""

from __future__ import annotations

from typing import Any

import mpmath
import pytest

from symdecouple.numeric.features.expressions import as_multiprecision
from symdecouple.numeric.precision.certain_refusals import certainly_refused


@pytest.fixture(autouse=True)
def digits() -> Any:
    with mpmath.workdps(40):
        yield


def symmetric(*values: float) -> Any:
    """Mean 0, variance 1, no skewness: the values and their opposites."""
    y = as_multiprecision([*(-v for v in reversed(values)), *values])
    return y / mpmath.sqrt((y * y).sum() / len(y))


def test_the_range_of_six_samples_is_compared_in_the_numbers_themselves() -> None:
    """Kurtosis below N/2 = 3: a target a hair below may be had, and in float64 it is 3 itself."""
    z, hair = symmetric(1, 2, 3), mpmath.mpf(10) ** -30
    refused = certainly_refused(z, 4, [0, 1, 0, 3])
    assert refused is not None and refused.reason == "moment not attainable" and "(1, 3)" in refused.detail
    assert certainly_refused(z, 4, [0, 1, 0, 3 + hair]) is not None
    assert certainly_refused(z, 4, [0, 1, 0, 3 - hair]) is None
    assert certainly_refused(7 + 2 * z, 4, [7, 2, 0, 3]) is not None
    assert certainly_refused(z, 3, [0, 1, 0]) is None


def test_three_values_are_too_few_unless_they_are_there() -> None:
    z = as_multiprecision([-1, 0, 0, 1]) * mpmath.sqrt(2)
    refused = certainly_refused(z, 4, [0, 1, 0, mpmath.mpf("1.9")])
    assert refused is not None and refused.reason == "too few distinct values"
    assert certainly_refused(z, 4, [0, 1, 0, 2]) is None


def test_ties_that_are_none_decide_nothing() -> None:
    """The values in the middle are apart by 1e-25 only: float64 has three values, mpmath has four."""
    z = as_multiprecision([-1, 0, 0, 1]) * mpmath.sqrt(2)
    z[1] -= mpmath.mpf(10) ** -25
    z[2] += mpmath.mpf(10) ** -25
    assert certainly_refused(z, 4, [0, 1, 0, mpmath.mpf("1.9")]) is None


def test_a_fourth_moment_that_ties_keep_down() -> None:
    """Two of eight at either end and six in the middle come to 8/4 = 2 at most, all in the middle equal."""
    z = symmetric(0.1, 0.3, 2, 2)
    assert certainly_refused(z, 4, [0, 1, 0, mpmath.mpf("2.01")]) is not None
    assert certainly_refused(z, 4, [0, 1, 0, mpmath.mpf("1.99")]) is None


def test_no_moment_beside_the_others() -> None:
    """Mean(z^4) >= 1 + Mean(z^3)^2 in every sample; at equality rounding would decide, so nothing is said."""
    z = symmetric(1, 2, 3, 4)
    assert certainly_refused(z, 4, [0, 1, 0, mpmath.mpf("0.9")]) is not None
    assert certainly_refused(z, 6, [0, 1, 0, 2, 0, mpmath.mpf("3.9")]) is not None
    assert certainly_refused(z, 6, [0, 1, 0, 2, 0, 4 + mpmath.mpf(10) ** -12]) is None


@pytest.mark.parametrize("point", [[0, 0, 0, 3], [0, mpmath.mpc(0, 1), 0, 3], [0, mpmath.nan, 0, 3]])
def test_coordinates_of_no_sample_are_left_to_others(point: list[Any]) -> None:
    assert certainly_refused(symmetric(1, 2, 3), 4, point) is None
