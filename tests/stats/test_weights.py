"""Statistics with weights: the repeated sample and mpmath as oracles, invariances."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from symdecouple.stats import blest, decoupled_moments, kurtosis, orthokurtosis, skewness, standardized_moments
from tests.stats import oracle
from tests.stats.test_shape import hard_set
from tests.stats.weighted import Statistic, answer, equal

SHAPES = [skewness, kurtosis, orthokurtosis]
QUICK = [*SHAPES, standardized_moments, blest]


def same(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    """Values to rounding in units of 1 + |value|, and the same reasons."""
    assert found[1] == expected[1]
    assert found[0] == pytest.approx(expected[0], rel=tolerance, abs=tolerance, nan_ok=True)


# --- the repeated sample ----------------------------------------------------------------------------------------

weighed = st.lists(st.tuples(st.integers(-1000, 1000), st.integers(0, 7)), min_size=2, max_size=14).filter(
    lambda pairs: sum(w > 0 for _, w in pairs) > 1
)


@pytest.mark.parametrize("function", QUICK)
@given(weighed)
@settings(max_examples=40, deadline=None)
def test_whole_weights_are_repetitions(function: Statistic, pairs: list[tuple[int, int]]) -> None:
    values, weights = (np.array(part) for part in zip(*pairs, strict=True))
    same(answer(function, values, weights=weights), answer(function, np.repeat(values, weights)))


@given(weighed)
@settings(max_examples=10, deadline=None)
def test_whole_weights_are_repetitions_on_every_level(pairs: list[tuple[int, int]]) -> None:
    values, weights = (np.array(part) for part in zip(*pairs, strict=True))
    found = answer(decoupled_moments, values, order=5, weights=weights)
    same(found, answer(decoupled_moments, np.repeat(values, weights), order=5), 1e-7)


@pytest.mark.parametrize("name", hard_set())
def test_hard_samples_agree_with_the_oracle(name: str) -> None:
    sample = hard_set()[name][-20:]
    weights = np.random.default_rng(len(sample)).integers(1, 4, len(sample))
    if name == "Cauchy, N = 3":
        weights[:] = 5  # else half of the weight is tied
    repeated = np.repeat(sample, weights)
    expected = oracle.orthokurtosis(repeated.tolist(), 20)
    for sign in (1, -1):
        assert abs(float(orthokurtosis(sign * sample, weights=weights) / expected - 1)) < 1e-13
    assert standardized_moments(sample, weights=weights) == pytest.approx(standardized_moments(repeated), rel=1e-11)


@pytest.mark.parametrize(
    "weights",
    [
        [0.1, 0.7, 0.05, 0.4, 1e-3],
        [1e-20, 0.2, 0.25, 0.25, 0.3],
        [0.3, 0.2, 0.25, 0.25, 1e-55],
        [0.5 - 2.0**-20, 0.2, 0.1, 0.1, 0.1],
        [0.1, 0.1, 0.1, 0.2, 0.5 - 2.0**-50],
        [0.1 * np.pi, 0.2 * np.pi, 0.3 * np.pi, 0.4 * np.pi, 0.5 * np.pi],
    ],
    ids=range(6),
)
def test_weights_of_any_size_against_mpmath(weights: list[float]) -> None:
    sample = [0.0, 1.0, 2.5, 3.0, 7.0]
    assert abs(float(orthokurtosis(sample, weights=weights) / oracle.orthokurtosis(sample, 100, weights) - 1)) < 1e-13


def test_a_long_row_takes_several_blocks() -> None:
    rng = np.random.default_rng(1)
    sample, weights = rng.lognormal(1, 2, 20_000), rng.integers(0, 3, 20_000)
    repeated = np.repeat(sample, weights)
    for function in SHAPES:
        assert function(sample, weights=weights) == pytest.approx(function(repeated), rel=1e-13)
    for order in range(3, 9):
        found = standardized_moments(sample, order, weights=weights)
        assert found == pytest.approx(standardized_moments(repeated, order), rel=1e-12)
    last = np.where(np.arange(20_000) < 19_950, 1e-12, 1.0)  # what counts is where no pivot is looked for
    moved = sample + 50 * (last == 1)
    mean, variance = (float(np.average(v, weights=last)) for v in (moved, (moved - np.average(moved, weights=last))**2))
    assert standardized_moments(moved, 2, weights=last) == pytest.approx([mean, variance], rel=1e-12)


# --- laws -------------------------------------------------------------------------------------------------------

positive = st.lists(st.tuples(st.integers(-1000, 1000), st.integers(1, 99)), min_size=9, max_size=14,
                    unique_by=lambda pair: pair[0])


@pytest.mark.parametrize("function", QUICK)
@given(positive, st.randoms(use_true_random=False), st.sampled_from([-300, -7, 1, 400]))
@settings(max_examples=15, deadline=None)
def test_units_of_the_weights_and_order_of_the_entries(
    function: Statistic, pairs: list[tuple[int, int]], random: Any, power: int
) -> None:
    values, weights = (np.array(part, dtype=float) for part in zip(*pairs, strict=True))
    found = answer(function, values, weights=weights)
    scaled = answer(function, values, weights=np.ldexp(weights, power))
    assert equal(scaled[0], found[0]) and scaled[1] == found[1]
    same(answer(function, values, weights=3 * weights), found)
    random.shuffle(pairs)
    values, weights = (np.array(part, dtype=float) for part in zip(*pairs, strict=True))
    same(answer(function, values, weights=weights), found)


pairs_of_floats = st.tuples(
    st.floats(allow_nan=False, allow_infinity=False), st.floats(0, allow_nan=False, allow_infinity=False)
)


@given(st.lists(pairs_of_floats, min_size=1, max_size=9))
@settings(max_examples=150, deadline=None)
def test_any_finite_sample_has_a_value_or_a_reason(pairs: list[tuple[float, float]]) -> None:
    values, weights = (np.array(part) for part in zip(*pairs, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, (outcome,) = orthokurtosis(values, weights=weights, on_refusal="return")
        by_order, _ = decoupled_moments(values, 4, weights=weights, on_refusal="return")
    assert outcome.ok == bool(np.isfinite(found))
    if outcome.reason != "beyond float64":
        there = weights > 0
        exact = {v: sum((Fraction(w) for u, w in pairs if u == v), Fraction(0)) for v in values[there].tolist()}
        total = sum(exact.values(), Fraction(0))
        ends = [exact[v] for v in (min(exact), max(exact))] if exact else [1, 1]
        balanced = len(exact) == 2 and there.sum() > 1 and ends[0] == ends[1]
        assert outcome.ok == (balanced or (len(exact) > 2 and 2 * max(ends) < total))
        if outcome.ok:  # two ways to the same number
            assert by_order[3] == pytest.approx(found, rel=1e-13)
