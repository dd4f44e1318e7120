"""Standardized moments against exact arithmetic: offsets, units, long rows, neighbours."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from symdecouple.numeric.moments import power_sums
from symdecouple.numeric.moments.power_sums import BLOCK, place_and_scale, standardized_moments, to_unit_range
from symdecouple.numeric.samples.batch import SampleMatrix
from tests.stats import oracle


def moments_of(rows: np.ndarray, order: int = 8) -> np.ndarray:
    matrix = SampleMatrix.of(rows)
    with np.errstate(all="raise", under="ignore"):
        return standardized_moments(rows, np.arange(len(rows)), order, to_unit_range(matrix)).standardized


def exact_moments(row: np.ndarray, order: int = 8) -> list[float]:
    return [1.0, 0.0, 1.0, *oracle.moments(row, order)[2:]]


@pytest.mark.parametrize("n_samples", [3, 8, 64, 1000])
@pytest.mark.parametrize("offset", [0.0, 1e8, -1e12])
def test_all_orders_agree_with_exact_arithmetic(n_samples: int, offset: float) -> None:
    rows = np.random.default_rng(n_samples).gamma(0.5, size=(2, n_samples)) + offset
    computed = moments_of(rows)
    for i in range(2):
        assert computed[:, i] == pytest.approx(exact_moments(rows[i]), rel=5e-15, abs=5e-15)


def test_long_rows_agree_with_exact_arithmetic() -> None:
    row = np.random.default_rng(0).standard_t(5, size=(1, 2 * BLOCK + 17))
    assert moments_of(row)[:, 0] == pytest.approx(exact_moments(row[0]), rel=1e-14, abs=1e-14)


def test_a_poor_pivot_is_noticed() -> None:
    """The strided samples all miss the bulk, so the guessed mean is many deviations off."""
    row = np.random.default_rng(1).normal(size=(1, 4 * BLOCK))
    row[0, :: row.shape[1] // 32] = 50.0
    assert moments_of(row, 4)[3:, 0] == pytest.approx(exact_moments(row[0], 4)[3:], rel=1e-13)


@pytest.mark.parametrize("power", [-1000, -500, -3, 1, 499, 900])
def test_a_unit_that_is_a_power_of_two_changes_no_bit(power: int) -> None:
    rows = np.random.default_rng(2).normal(size=(3, 20))
    assert np.array_equal(moments_of(rows), moments_of(np.ldexp(rows, power)))


def test_range_exponent_brackets_the_range_even_where_it_overflows() -> None:
    matrix = SampleMatrix.of(np.array([[0.0, 1.0], [0.0, 0.75], [-1.7e308, 1.7e308], [0.0, 5e-324]]))
    assert power_sums.range_exponent(matrix).tolist() == [1, 0, 1025, -1073]


def test_constant_rows_are_refused_by_comparison_not_by_rounding() -> None:
    barely = np.nextafter(1e8, np.inf)
    answer = power_sums.kurtosis_rows(SampleMatrix.of(np.array([[0.1, 0.1, 0.1], [1e8, 1e8, barely]])))
    assert np.isnan(answer.values[0]) and answer.refusals[0].reason == "zero variance"
    assert answer.values[1] == pytest.approx(1.5, rel=1e-14)
    assert set(power_sums.skewness_rows(SampleMatrix.of(np.full((2, 3), 7.0))).refusals) == {0, 1}


def test_the_mean_of_a_range_beyond_float64() -> None:
    row = np.array([2.0**970, np.finfo(np.float64).max, -np.finfo(np.float64).max * (1 - 2.0**-50)])
    mean, variance, skewness = place_and_scale(SampleMatrix.of(row[None]))
    exact = sum((Fraction(float(v)) for v in row), Fraction(0)) / 3
    assert abs(Fraction(float(mean[0])) - exact) < Fraction(2) ** (1025 - 52)
    assert np.isinf(variance[0]) and skewness[0] == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("n_samples", [1000, 20190])
@pytest.mark.parametrize("name", ["zeros and ones", "sorted", "a ramp"])
def test_roundings_of_one_kind_do_not_add_up(name: str, n_samples: int) -> None:
    """In one long sum they would: 3e-14 for zeros and ones."""
    rows = {
        "zeros and ones": (np.arange(n_samples) % 3 == 0) * 1.0,
        "sorted": np.sort(np.round(np.random.default_rng(0).normal(size=n_samples) * 2**16)),
        "a ramp": np.arange(n_samples) * 1.0,
    }
    row = rows[name]
    assert moments_of(row[None])[3:, 0] == pytest.approx(exact_moments(row)[3:], rel=4e-15, abs=2e-15)
