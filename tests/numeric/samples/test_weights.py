"""Small shares of weight far away from all others: against exact arithmetic and mpmath at sixty digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from symdecouple.numeric.moments.power_sums import BLOCK, near_sample
from symdecouple.numeric.samples.batch import SampleMatrix
from symdecouple.stats import decoupled_moments, kurtosis, orthokurtosis, skewness, standardized_moments
from tests.numeric import moment_oracle

MARGIN = 1e-13


def law(sample: list[float], weights: list[float]) -> tuple[list[Any], list[Any]]:
    """Centred values and shares in mpmath, from rational numbers."""
    total = sum(map(Fraction, weights), Fraction(0))
    shares = [Fraction(w) / total for w in weights]
    mean = sum((p * Fraction(v) for v, p in zip(sample, shares, strict=True)), Fraction(0))
    exact = [[mp.mpf(q.numerator) / q.denominator for q in part] for part in
             ([Fraction(v) - mean for v in sample], shares)]
    return exact[0], exact[1]


def standardized(x: list[Any], p: list[Any]) -> list[Any]:
    mean = mp.fdot(x, p)
    deviation = mp.sqrt(mp.fdot([(v - mean) ** 2 for v in x], p))
    return [(v - mean) / deviation for v in x]


def moments(sample: list[float], weights: list[float], order: int) -> tuple[list[Any], list[Any]]:
    """Standardized moments to sixty digits, and Mean|z|^k."""
    with mp.workdps(60):
        x, p = law(sample, weights)
        z = standardized(x, p)
        return [mp.fdot([v**k for v in z], p) for k in range(order + 1)], [
            mp.fdot([abs(v) ** k for v in z], p) for k in range(order + 1)]


def not_skewed(sample: list[float], weights: list[float]) -> list[Any]:
    """x/(1 - t x), standardized, where its third moment vanishes: by halving t."""
    x, p = law(sample, weights)

    def moved(t: Any) -> list[Any]:
        return standardized([v / (1 - t * v) for v in x], p)

    low, high = 1 / min(x), 1 / max(x)
    for _ in range(190):
        t = (low + high) / 2
        low, high = (t, high) if mp.fdot([v**3 for v in moved(t)], p) < 0 else (low, t)
    return moved((low + high) / 2)


def orthokurtosis_by_halving(sample: list[float], weights: list[float]) -> Any:
    with mp.workdps(60):
        return mp.fdot([v**4 for v in not_skewed(sample, weights)], law(sample, weights)[1])


@st.composite
def far_entries(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    """A bulk of whole numbers, each share below a half, and one to three entries of small shares at either side."""
    bulk = draw(st.lists(st.integers(-20, 20), min_size=4, max_size=9, unique=True))
    heavy = [draw(st.floats(0.6, 1)) for _ in bulk]
    far = draw(st.lists(st.tuples(st.floats(2, 8), st.booleans(), st.floats(-12, -6)), min_size=1, max_size=3))
    offset = draw(st.sampled_from([0.0, 1e8, -(2.0**30)]))
    values = [float(v) for v in bulk] + [float(round(10**d)) * (1 if up else -1) for d, up, _ in far]
    return [offset + v for v in values], heavy + [10**e for _, _, e in far]


@given(far_entries())
@settings(max_examples=30, deadline=None)
def test_moments_keep_their_digits(drawn: tuple[list[float], list[float]]) -> None:
    sample, weights = drawn
    expected, absolute = moments(sample, weights, 6)
    found = standardized_moments(sample, weights=weights)
    for k in range(3, 7):
        assert abs(float(found[k - 1] - expected[k])) < 1e-14 * k * float(absolute[k])
    assert float(skewness(sample, weights=weights)) == pytest.approx(found[2], abs=1e-14 * float(absolute[3]))
    assert float(kurtosis(sample, weights=weights) / expected[4] - 1) == pytest.approx(0, abs=1e-14)


@given(far_entries())
@settings(max_examples=30, deadline=None)
def test_mean_and_variance_keep_their_digits(drawn: tuple[list[float], list[float]]) -> None:
    """The mean to its own rounding and that of a standard deviation, however wide the range is."""
    sample, weights = drawn
    total = sum(map(Fraction, weights), Fraction(0))
    pairs = [(Fraction(v), Fraction(w) / total) for v, w in zip(sample, weights, strict=True)]
    mean = sum((p * v for v, p in pairs), Fraction(0))
    variance = sum((p * (v - mean) ** 2 for v, p in pairs), Fraction(0))
    found = standardized_moments(sample, 2, weights=weights)
    assert abs(Fraction(float(found[0])) - mean) < 2e-15 * float(variance) ** 0.5 + 2.0**-52 * abs(float(mean))
    assert found[1] == pytest.approx(float(variance), rel=1e-14)


@given(far_entries())
@settings(max_examples=12, deadline=None)
def test_the_orthokurtosis_keeps_its_digits(drawn: tuple[list[float], list[float]]) -> None:
    sample, weights = drawn
    expected = orthokurtosis_by_halving(sample, weights)
    assert abs(float(orthokurtosis(sample, weights=weights) / expected - 1)) < MARGIN
    turned = [-v for v in sample]
    assert abs(float(orthokurtosis(turned, weights=weights) / expected - 1)) < MARGIN
    assert abs(float(decoupled_moments(sample, 4, weights=weights)[3] / expected - 1)) < MARGIN


@pytest.mark.parametrize(("share", "distance"), [(1e-12, -1e3), (1e-12, 1e5), (1e-9, -1e7)])
def test_more_far_entries_than_near_ones(share: float, distance: float) -> None:
    """Counted by heads the mean is among the far ones."""
    sample = [0.0, 1, 2, 4, *(distance + 3 * np.sign(distance) * i for i in range(8))]
    weights = [0.2, 0.3, 0.3, 0.2, *[share] * 8]
    expected = orthokurtosis_by_halving(sample, weights)
    assert abs(float(orthokurtosis(sample, weights=weights) / expected - 1)) < 1e-14
    assert abs(float(decoupled_moments(sample, 4, weights=weights)[3] / expected - 1)) < 1e-14


@pytest.mark.parametrize(("share", "distance"), [(1e-9, 1e4), (1e-9, -1e4)])
def test_the_fifth_level_keeps_its_digits(share: float, distance: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of the fourth moment in mpmath, with means by exact shares."""
    sample = [-17.0, -12, -4, 0, 2, 8, 13, 19, distance]
    weights = [0.7, 0.9, 0.6, 1, 0.8, 0.5, 0.9, 0.7, share]
    with mp.workdps(40):
        p = law(sample, weights)[1]
        monkeypatch.setattr(moment_oracle, "dot", lambda u, v: mp.fdot([a * b for a, b in zip(u, v, strict=True)], p))
        expected = moment_oracle.follow(not_skewed(sample, weights), 4, mp.mpf(3), 14)
        fifth = mp.fdot([v**5 for v in expected], p)
        size = mp.fdot([abs(v) ** 5 for v in expected], p)
    found = decoupled_moments(sample, 5, weights=weights)
    assert abs(float(found[4] - fifth)) < 1e-10 * float(size)


@pytest.mark.parametrize("n", [5, 700, BLOCK + 1000])
def test_rows_long_and_short_have_one_answer(n: int) -> None:
    """Far entries of small weight where a long row is looked at first; the sums in rational numbers."""
    rng = np.random.default_rng(n)
    sample, weights = rng.integers(-50, 50, n).astype(float), rng.integers(2**20, 2**21, n).astype(float)
    far = slice(None, None, max(n // 32, 1) if n > 5 else 4)
    sample[far], weights[far] = -1e7, 1e-9
    matrix = SampleMatrix.weighted(sample[None], weights[None])
    (near,) = near_sample(matrix)
    assert near in sample and 2 * weights[sample <= near].sum() > weights.sum() >= 2 * weights[sample < near].sum()
    pairs = [(Fraction(float(v)), Fraction(float(w))) for v, w in zip(sample, weights, strict=True)]
    total = sum((w for _, w in pairs), Fraction(0))
    mean = sum((w * v for v, w in pairs), Fraction(0)) / total
    central = [float(sum((w * (v - mean) ** k for v, w in pairs), Fraction(0)) / total) for k in (2, 3, 4)]
    found = standardized_moments(sample, 4, weights=weights)
    assert found[0] == pytest.approx(float(mean), abs=1e-15 * central[0] ** 0.5 + 2.0**-52 * abs(float(mean)))
    assert found[1] == pytest.approx(central[0], rel=1e-14)
    assert found[3] == pytest.approx(central[2] / central[0] ** 2, rel=1e-14)
    assert found[2] == pytest.approx(central[1] / central[0] ** 1.5, rel=1e-13)


def test_without_weights_it_is_the_minimum() -> None:
    matrix = SampleMatrix.of(np.array([[3.0, 1, 2], [-5, 8, 8]]))
    assert near_sample(matrix).tolist() == [1, -5]
