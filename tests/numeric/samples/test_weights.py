"""Small shares of weight far away from all others: against exact arithmetic and mpmath at sixty digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from symdecouple.numeric.moments.power_sums import BLOCK, near_sample
from symdecouple.numeric.samples.batch import SampleMatrix
from symdecouple.stats import decoupled_moments, kurtosis, orthokurtosis, skewness, standardized_moments
from tests.numeric import moment_oracle
from tests.stats import oracle

MARGIN = 1e-13


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
    expected = oracle.moments(sample, 6, weights)
    z = np.abs(np.subtract(sample, expected[0])) / expected[1] ** 0.5
    absolute = [np.average(z**k, weights=weights) for k in range(7)]
    found = standardized_moments(sample, weights=weights)
    for k in range(3, 7):
        assert abs(found[k - 1] - expected[k - 1]) < 1e-14 * k * absolute[k]
    assert float(skewness(sample, weights=weights)) == pytest.approx(found[2], abs=1e-14 * absolute[3])
    assert float(kurtosis(sample, weights=weights) / expected[3] - 1) == pytest.approx(0, abs=1e-14)


@given(far_entries())
@settings(max_examples=30, deadline=None)
def test_mean_and_variance_keep_their_digits(drawn: tuple[list[float], list[float]]) -> None:
    """The mean to its own rounding and that of a standard deviation, however wide the range is."""
    sample, weights = drawn
    mean, (*_, variance) = oracle.central_moments(sample, 2, weights)
    found = standardized_moments(sample, 2, weights=weights)
    assert abs(Fraction(float(found[0])) - mean) < 2e-15 * float(variance) ** 0.5 + 2.0**-52 * abs(float(mean))
    assert found[1] == pytest.approx(float(variance), rel=1e-14)


@given(far_entries())
@settings(max_examples=12, deadline=None)
def test_the_orthokurtosis_keeps_its_digits(drawn: tuple[list[float], list[float]]) -> None:
    sample, weights = drawn
    expected = oracle.orthokurtosis(sample, 40, weights)
    assert abs(float(orthokurtosis(sample, weights=weights) / expected - 1)) < MARGIN
    turned = [-v for v in sample]
    assert abs(float(orthokurtosis(turned, weights=weights) / expected - 1)) < MARGIN
    assert abs(float(decoupled_moments(sample, 4, weights=weights)[3] / expected - 1)) < MARGIN


@pytest.mark.parametrize(("share", "distance"), [(1e-12, -1e3), (1e-12, 1e5), (1e-9, -1e7)])
def test_more_far_entries_than_near_ones(share: float, distance: float) -> None:
    """Counted by heads the mean is among the far ones."""
    sample = [0.0, 1, 2, 4, *(distance + 3 * np.sign(distance) * i for i in range(8))]
    weights = [0.2, 0.3, 0.3, 0.2, *[share] * 8]
    expected = oracle.orthokurtosis(sample, 40, weights)
    assert abs(float(orthokurtosis(sample, weights=weights) / expected - 1)) < 1e-14
    assert abs(float(decoupled_moments(sample, 4, weights=weights)[3] / expected - 1)) < 1e-14


@pytest.mark.parametrize(("share", "distance"), [(1e-9, 1e4), (1e-9, -1e4)])
def test_the_fifth_level_keeps_its_digits(share: float, distance: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of the fourth moment in mpmath, with means by exact shares."""
    sample = [-17.0, -12, -4, 0, 2, 8, 13, 19, distance]
    weights = [0.7, 0.9, 0.6, 1, 0.8, 0.5, 0.9, 0.7, share]
    with mp.workdps(40):
        mean = oracle.means(weights)
        monkeypatch.setattr(moment_oracle, "dot", lambda u, v: mean([a * b for a, b in zip(u, v, strict=True)]))
        expected = moment_oracle.follow(oracle.at_skewness(sample, 0, 40, weights)[0], 4, mp.mpf(3), 14)
        fifth, size = mean([v**5 for v in expected]), mean([abs(v) ** 5 for v in expected])
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
    mean, variance, skew, fourth = oracle.moments(sample, 4, weights)
    found = standardized_moments(sample, 4, weights=weights)
    assert found[0] == pytest.approx(mean, abs=1e-15 * variance**0.5 + 2.0**-52 * abs(mean))
    assert found[1] == pytest.approx(variance, rel=1e-14)
    assert found[3] == pytest.approx(fourth, rel=1e-14)
    assert found[2] == pytest.approx(skew, rel=1e-13)


def test_without_weights_it_is_the_minimum() -> None:
    matrix = SampleMatrix.of(np.array([[3.0, 1, 2], [-5, 8, 8]]))
    assert near_sample(matrix).tolist() == [1, -5]
