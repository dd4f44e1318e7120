"""Theorem C (existence): the skewness along the Riccati flow of a centred sample, its limits, ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest


def skewness(x: np.ndarray) -> float:
    y = x - x.mean()
    return float(np.mean(y**3) / np.mean(y**2) ** 1.5)


def riccati(x: np.ndarray, t: float) -> np.ndarray:
    return np.asarray(x / (1 - t * x))


def limits(x: np.ndarray) -> tuple[float, float]:
    q, p = np.mean(x == x.min()), np.mean(x == x.max())
    return -(1 - 2 * q) / np.sqrt(q * (1 - q)), (1 - 2 * p) / np.sqrt(p * (1 - p))


SAMPLES = [
    [0, 1, 2], [0, 0, 1, 2], [0, 0, 0, 1, 2], [0, 0, 1, 3, 3, 3, 3], [-7, 1, 1.5, 2, 90, 90, 90.5],
    [0, 1, 1, 1, 1, 1, 1, 5],
]


@pytest.mark.parametrize("x", SAMPLES)
def test_increases_strictly_between_the_stated_limits(x: list[float]) -> None:
    y = np.array(x, dtype=float)
    y -= y.mean()
    low, high = limits(np.array(x))
    ends = 1 / y.min(), 1 / y.max()
    times = ends[0] + (ends[1] - ends[0]) * (0.5 + 0.499999 * np.sin(np.linspace(-np.pi / 2, np.pi / 2, 400)))
    values = np.array([skewness(riccati(y, t)) for t in times])
    assert np.all(np.diff(values) > 0)
    assert low < values[0] and values[-1] < high
    assert values[0] == pytest.approx(low, abs=2e-3) and values[-1] == pytest.approx(high, abs=2e-3)


def test_derivative_is_the_kurtosis_gap() -> None:
    """d/dt skew = 3 s (kurt - skew^2 - 1) = 3 s Mean((w^2 - skew w - 1)^2)."""
    y = np.array([-3.0, -1.0, 0.5, 0.5, 3.0])
    step = 1e-5
    slope = (skewness(riccati(y, step)) - skewness(riccati(y, -step))) / (2 * step)
    w = (y - y.mean()) / y.std()
    gap = np.mean(w**4) - skewness(y) ** 2 - 1
    assert slope == pytest.approx(3 * y.std() * gap, rel=1e-7)
    assert gap == pytest.approx(np.mean((w**2 - skewness(y) * w - 1) ** 2), rel=1e-12)
    assert gap > 0


@pytest.mark.parametrize("share", [1, 2, 3, 4])
def test_hypothesis_three_distinct_values(share: int) -> None:
    """Two values: the skewness does not move at all, and equals (1 - 2p)/sqrt(p(1 - p))."""
    y = np.array([1.0] * share + [0.0] * (5 - share))
    y -= y.mean()
    p = share / 5
    for t in np.linspace(0.9 / y.min(), 0.9 / y.max(), 7):
        assert skewness(riccati(y, t)) == pytest.approx((1 - 2 * p) / np.sqrt(p * (1 - p)), rel=1e-12)


def exact_third_moment(x: list[int], fraction_of_range: Fraction) -> Fraction:
    """Sign of the skewness, exactly, at t = fraction * (1 / extreme value)."""
    mean = Fraction(sum(x), len(x))
    y = [Fraction(v) - mean for v in x]
    t = fraction_of_range / (min(y) if fraction_of_range > 0 else -max(y))
    z = [v / (1 - t * v) for v in y]
    centre = sum(z) / len(z)
    return Fraction(sum((v - centre) ** 3 for v in z))


@pytest.mark.parametrize(
    ("x", "reachable"),
    [
        ([0, 1, 2], True), ([0, 0, 1, 2, 5], True), ([0, 0, 1, 2], False), ([0, 0, 0, 1, 2], False),
        ([0, 1, 3, 3], False),
    ],
)
def test_zero_skewness_iff_both_ties_are_below_half(x: list[int], reachable: bool) -> None:
    """Exact signs next to both ends of the flow: they differ iff the tie rule says reachable."""
    close = Fraction(10**9 - 1, 10**9)
    low, high = exact_third_moment(x, close), exact_third_moment(x, -close)
    assert (low < 0 < high) is reachable
    assert (max(x.count(min(x)), x.count(max(x))) < len(x) / 2) is reachable


def test_rounded_signs_do_not_decide_a_tie_of_exactly_half() -> None:
    """[0, 0, 1, 2]: zero is the open end of the range; exact arithmetic says positive at every t."""
    for digits in (3, 9, 15, 30):
        assert exact_third_moment([0, 0, 1, 2], 1 - Fraction(1, 10**digits)) > 0
    y = np.array([0.0, 0.0, 1.0, 2.0]) - 0.75
    t = (1 - 2.0**-52) / y.min()
    assert abs(skewness(riccati(y, t))) < 1e-6  # the rounded value carries no usable sign


def test_hypothesis_centred_first() -> None:
    """Uncentred positive samples cover a part of the range only."""
    x = np.array([1, 1.1, 1.3, 2, 9, 60.0])
    times = np.concatenate([-np.geomspace(1e-3, 1e9, 2000), np.linspace(0, (1 - 1e-9) / 60, 2000)])
    values = [skewness(riccati(x, t)) for t in times]
    assert min(values) == pytest.approx(0.280, abs=5e-4)
    assert max(values) == pytest.approx(1.789, abs=5e-4)
    assert limits(x)[0] == pytest.approx(-1.789, abs=5e-4)


def test_whole_leaf_is_the_riccati_line_up_to_positive_affine_maps() -> None:
    """No leaf point escapes the stated range: random Moebius maps without a pole inside."""
    rng = np.random.default_rng(8)
    x = np.array([0, 0, 1, 3, 3, 3, 8.0])
    low, high = limits(x)
    for _ in range(500):
        pole = rng.choice([-rng.exponential(2) - 1e-6, 8 + rng.exponential(2) + 1e-6])
        assert low < skewness(-1 / (x - pole)) < high
