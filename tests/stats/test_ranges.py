"""Ranges of skewness, kurtosis and orthokurtosis: closed forms against optimization and against samples."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from symdecouple.errors import InvalidInput
from symdecouple.stats import kurtosis, kurtosis_range, orthokurtosis, orthokurtosis_range, skewness, skewness_range

ALL = [skewness_range, kurtosis_range, orthokurtosis_range]


def by_optimization(order: int, n_samples: int, sign: int) -> float:
    """The extreme of a standardized moment of N numbers, from many starts; written without the package."""

    def of(x: np.ndarray) -> float:
        d = x - x.mean()
        return -sign * float(np.mean(d**order) / np.mean(d**2) ** (order / 2))

    rng = np.random.default_rng(1)
    return -sign * min(minimize(of, rng.normal(size=n_samples), method="BFGS").fun for _ in range(12))


@pytest.mark.parametrize("n_samples", [3, 4, 5, 6, 9])
def test_ranges_of_any_samples_are_those_of_optimization(n_samples: int) -> None:
    for order, of in ((3, skewness_range), (4, kurtosis_range)):
        ends = [by_optimization(order, n_samples, sign) for sign in (-1, 1)]
        assert of(n_samples) == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize("n_samples", range(2, 30))
def test_both_ends_of_any_samples_are_attained(n_samples: int) -> None:
    apart = np.r_[np.zeros(n_samples - 1), 1.0]
    half = np.r_[np.zeros(n_samples // 2), np.ones(n_samples - n_samples // 2)]
    low, high = skewness_range(n_samples)
    assert (low, high) == pytest.approx((float(skewness(-apart)), float(skewness(apart))), rel=1e-13)
    low, high = kurtosis_range(n_samples)
    assert (low, high) == pytest.approx((float(kurtosis(half)), float(kurtosis(apart))), rel=1e-13)
    if n_samples > 2:
        spread = np.r_[-1.0, np.zeros(n_samples - 2), 1.0]
        middle = np.r_[-np.ones(n_samples // 2), np.zeros(n_samples % 2), np.ones(n_samples // 2)]
        low, high = orthokurtosis_range(n_samples)
        assert (low, high) == pytest.approx((float(orthokurtosis(middle)), float(orthokurtosis(spread))), rel=1e-13)


def test_known_numbers() -> None:
    assert skewness_range(5) == (-1.5, 1.5)
    assert kurtosis_range(5) == pytest.approx((7 / 6, 13 / 4), rel=1e-15)
    assert orthokurtosis_range(8) == (1, 4) and orthokurtosis_range(9) == (9 / 8, 9 / 2)
    assert skewness_range([0, 0, 0, 1, 2]).low == pytest.approx(1 / np.sqrt(6), rel=1e-14)
    assert orthokurtosis_range([1, 2, 3, 4, 5, 9, 9, 9]).high == pytest.approx(62 / 35, rel=1e-13)


@pytest.mark.parametrize("seed", range(12))
def test_samples_lie_in_the_ranges_of_their_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, 7)
    rows = np.array([np.repeat(np.sort(rng.standard_t(2, size=7)), counts) for _ in range(200)])
    ranges = [of(rows[0]) for of in ALL]
    for (low, high), statistic in zip(ranges, (skewness, kurtosis, orthokurtosis), strict=True):
        values, _ = statistic(rows, axis=1, on_refusal="return")
        values = values[np.isfinite(values)]
        assert low < high or np.isnan(low)
        assert np.all((low < values) & (values < high)) or not len(values)


def test_kurtosis_of_ties_is_that_of_optimization_over_ordered_values() -> None:
    for counts in ([2, 1, 2], [1, 2, 3, 1], [4, 1, 4], [1, 1, 1, 5], [3, 1, 1, 1, 3]):
        shares, low, high = np.array(counts) / sum(counts), np.inf, -np.inf
        rng = np.random.default_rng(0)

        def of(gaps: np.ndarray, shares: np.ndarray = shares) -> float:
            z = np.concatenate([[0.0], np.cumsum(gaps**2)])
            z = z - shares @ z
            return float(shares @ z**4 / (shares @ z**2) ** 2)

        for _ in range(15):
            start = rng.uniform(0.2, 1.5, len(counts) - 1)
            low = min(low, minimize(of, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).fun)
            high = max(high, -minimize(lambda g: -of(g), start, method="Nelder-Mead",
                                       options={"xatol": 1e-9, "fatol": 1e-12}).fun)
        found = kurtosis_range(np.repeat(np.arange(len(counts)), counts))
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-5), counts


@pytest.mark.parametrize("of", ALL)
def test_ranges_do_not_feel_place_unit_or_order(of: Any) -> None:
    x = np.array([3.0, 1, 1, 7, 7, 2, 9, 4])
    assert of(x) == of(x[::-1] * 1e150) == of(x * 8 - 1e6)
    low, high = of(-x)
    if of is skewness_range:
        low, high = -high, -low
    assert (low, high) == pytest.approx(tuple(of(x)), rel=1e-12)


@pytest.mark.parametrize("of", ALL)
def test_whole_weights_are_repetitions(of: Any) -> None:
    x, weights = np.array([1.0, 2, 4, 5, 9]), np.array([2, 1, 3, 1, 2])
    assert of(np.r_[x, 77.0], weights=np.r_[weights, 0]) == of(x, weights=weights)
    assert tuple(of(x, weights=[Fraction(w, 7) for w in weights.tolist()])) == pytest.approx(
        tuple(of(x, weights=weights)), rel=1e-12)


@pytest.mark.parametrize("of", ALL)
@pytest.mark.parametrize("given", [1, 0, -3, 7.0, 2.5, True, "7", None, np.float64(8)])
def test_what_is_no_number_of_samples_is_refused(of: Any, given: Any) -> None:
    with pytest.raises(InvalidInput, match="a whole number N of 2 or more"):
        of(given)


@pytest.mark.parametrize("of", ALL)
def test_weights_with_a_number_are_refused(of: Any) -> None:
    with pytest.raises(InvalidInput, match="weights were given with N=5"):
        of(5, weights=[1, 2])


def test_without_zero_skewness_there_is_no_orthokurtosis() -> None:
    for x, reason in (([0, 0, 0, 1, 2], "no zero-skew point"), ([0, 0, 1, 2], "limit only"), ([0, 0, 1], "two-valued")):
        (low, high), outcomes = orthokurtosis_range(x, on_refusal="return")
        assert np.isnan(low) and np.isnan(high) and outcomes[0].reason == reason


def test_two_and_three_values_leave_one_value() -> None:
    assert orthokurtosis_range([0, 0, 1, 1]) == (1, 1)
    assert orthokurtosis_range([1, 2, 40]) == (1.5, 1.5)
    assert skewness_range([0, 0, 1]).low == skewness_range([0, 0, 1]).high == pytest.approx(np.sqrt(0.5))


def test_ends_of_ties_are_neared_along_the_path() -> None:
    """The values of the sample brought near the merged sample of the upper end: its orthokurtosis nears the end."""
    x = np.array([-1, *(1e-4 * np.arange(6)), 1, 1])
    assert float(orthokurtosis(x)) == pytest.approx(orthokurtosis_range(x).high, rel=1e-3)


def test_many_rows_of_one_pattern_are_counted_once() -> None:
    from symdecouple.numeric.moments.tied_range import reach_of_counts

    rows = np.random.default_rng(0).normal(size=(300, 9))
    rows[:, 1] = rows[:, 0]
    reach_of_counts.cache_clear()
    orthokurtosis_range(np.sort(rows, axis=1)[:, ::-1], axis=1)
    assert reach_of_counts.cache_info().misses <= 8  # where the tie lies among the values


def test_tiny_weights_at_the_ends_keep_their_digits() -> None:
    weights, p = [1e-9, 1, 1, 1, 1e-9], 1e-9 / (3 + 2e-9)
    assert orthokurtosis_range([1, 2, 3, 4, 5], weights=weights).high == pytest.approx(1 / (2 * p), rel=1e-12)
    assert kurtosis_range([1, 2, 3, 4, 5], weights=weights).high == pytest.approx(1 / (p * (1 - p)) - 3, rel=1e-12)
