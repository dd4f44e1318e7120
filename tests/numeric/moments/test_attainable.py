"""Limits of the shape statistics against two-valued samples in exact arithmetic and against a search over samples."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from symdecouple.numeric.moments.attainable import (
    beyond_end,
    orthokurtosis_range,
    saturated_skewness,
    skewness_interval,
    skewness_range,
)
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.samples.batch import Panel


def exact_square(sample: list[int]) -> tuple[Fraction, int]:
    """Skewness squared and its sign, from the definition."""
    mean = Fraction(sum(sample), len(sample))
    second, third = (sum((v - mean) ** k for v in sample) / len(sample) for k in (2, 3))
    return third**2 / second**3, (third > 0) - (third < 0)


@pytest.mark.parametrize(("ties", "n_samples"), [(1, 2), (1, 5), (4, 5), (3, 7), (999, 1000), (1, 1000)])
def test_two_values_have_the_saturated_skewness(ties: int, n_samples: int) -> None:
    square, sign = exact_square([0] * (n_samples - ties) + [1] * ties)
    assert saturated_skewness(ties, n_samples) == pytest.approx(sign * math.sqrt(square), rel=1e-15, abs=0)


def test_the_ends_are_approached_and_never_passed() -> None:
    """x/(1 - t x) next to either pole, by the formula itself."""
    x = np.array([0.0, 0, 0, 1, 2, 5, 5])
    x -= x.mean()
    low, high = skewness_interval(3, 2, 7)
    reached = []
    for t in np.linspace(1 / x.min(), 1 / x.max(), 4001)[1:-1]:
        z = x / (1 - t * x)
        z -= z.mean()
        reached.append(np.mean(z**3) / np.mean(z**2) ** 1.5)
    assert low < min(reached) < low + 1e-4 and high - 1e-4 < max(reached) < high


def test_no_sample_leaves_the_range_of_skewness() -> None:
    assert skewness_range(5) == (-1.5, 1.5)
    for n_samples in (3, 4, 10, 37):
        low, high = skewness_range(n_samples)
        assert high == pytest.approx((n_samples - 2) / math.sqrt(n_samples - 1), rel=1e-15)
        x = np.random.default_rng(n_samples).standard_cauchy((500, n_samples)) ** 3
        x -= x.mean(axis=1, keepdims=True)
        skewness = np.mean(x**3, axis=1) / np.mean(x**2, axis=1) ** 1.5
        assert low * (1 + 1e-13) <= skewness.min() and skewness.max() <= high * (1 + 1e-13)


@pytest.mark.parametrize("n_samples", [3, 4, 5, 6, 9, 16])
def test_orthokurtosis_ends_are_attained_and_never_passed(n_samples: int) -> None:
    low, high = orthokurtosis_range(n_samples)
    half, odd = divmod(n_samples, 2)
    rows = np.array([[-1.0, 1] + [0] * (n_samples - 2), [-1] * half + [0] * odd + [1] * half], dtype=np.float64)
    assert orthokurtosis_rows(Panel.of(rows)).values == pytest.approx([high, low], rel=1e-14)
    rng = np.random.default_rng(n_samples)
    rows = rng.standard_cauchy((500, n_samples)) ** rng.choice([1, 3], (500, 1))
    values = orthokurtosis_rows(Panel.of(rows)).values
    assert low * (1 - 1e-13) <= values.min() and values.max() <= high * (1 + 1e-13)


def test_two_samples_are_two_valued() -> None:
    assert skewness_range(2) == (0, 0) and orthokurtosis_range(2) == (1, 1)


@pytest.mark.parametrize(("ties", "n_samples"), [(1, 5), (4, 5), (1, 4), (3, 10), (7, 1000), (2, 4), (1, 3)])
def test_ends_are_told_apart_from_their_neighbours(ties: int, n_samples: int) -> None:
    """The rounded end by integer square root: 200 binary digits of it."""
    numerator, square = n_samples - 2 * ties, ties * (n_samples - ties)
    root = Fraction(math.isqrt(square << 400), 1 << 200)
    end = float(numerator / root)
    assert beyond_end(end, ties, n_samples) == 0
    assert beyond_end(math.nextafter(end, math.inf), ties, n_samples) == 1
    assert beyond_end(math.nextafter(end, -math.inf), ties, n_samples) == -1
    assert beyond_end(end - 1, ties, n_samples) == -1 and beyond_end(end + 1, ties, n_samples) == 1
