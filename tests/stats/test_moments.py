"""decoupled_moments, standardized_moments and blest: reference values, laws, odd input, refusals, neighbours."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, settings, strategies as st

from symdecouple import InvalidInput, decouple
from symdecouple.families.moments import raw_moments
from symdecouple.numeric.kernels import compile as jit
from symdecouple.stats import blest, decoupled_moments, kurtosis, orthokurtosis, skewness, standardized_moments
from tests.numeric import moment_oracle
from tests.stats.oracle import TABLE

CASES = TABLE["decoupled_moments"]
SAMPLE = CASES[0]["sample"]
FUNCTIONS = [decoupled_moments, standardized_moments, blest]


@cache
def six() -> Any:
    return decouple(raw_moments(6))


def expected(case: dict[str, str]) -> list[float]:
    sample = np.array(case["sample"], dtype=float)
    return [sample.mean(), sample.var(), scipy.stats.skew(sample), *(float(case[f"order{k}"]) for k in (4, 5, 6))]


# --- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"N={len(case['sample'])}")
def test_the_reference_table(case: dict[str, str]) -> None:
    assert decoupled_moments(case["sample"]) == pytest.approx(expected(case), rel=1e-10)
    for order in range(1, 6):
        assert decoupled_moments(case["sample"], order) == pytest.approx(expected(case)[:order], rel=1e-10)


def hard_samples() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {
        "Cauchy cubed": rng.standard_cauchy(14) ** 3,
        "lognormal of sigma 5": np.exp(5 * rng.normal(size=14)),
        "gamma .125": rng.gamma(0.125, size=14),
        "outlier": np.append(rng.normal(size=13), 1e10),
        "offset 1e12": 1e12 + rng.integers(0, 99, 14),
        "two clusters": np.arange(14) % 2 + 0.03 * rng.random(14),
    }


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow) if name not in ("gamma .125", "two clusters") else name
    for name in hard_samples()])  # to order 4 they are rows of the laws
def test_hard_samples_against_many_digits(name: str) -> None:
    sample = hard_samples()[name]
    values = decoupled_moments(sample, order=5)
    for ours, exact in zip(values[3:], moment_oracle.decoupled(sample.tolist(), 5, digits=12, dps=30), strict=True):
        assert abs(float(ours - exact)) < 1e-9 * max(1, abs(float(exact)))


@pytest.mark.parametrize("law", ["normal", "exponential", "cauchy"])
def test_blest_is_the_minimum_over_shifts(law: str, order: int = 10) -> None:
    a = getattr(np.random.default_rng(6), f"standard_{law}")((4, 50))
    values, plain = blest(a, order, axis=1), standardized_moments(a, order, axis=1)
    z = (a - a.mean(axis=1, keepdims=True)) / a.std(axis=1, keepdims=True)
    for row, found, without in zip(z, values, plain, strict=True):
        for k in range(4, order + 1, 2):
            least = scipy.optimize.minimize_scalar(
                lambda c, row=row, k=k: np.mean((row - c) ** k), bracket=(-1, 1), options={"xtol": 1e-12}
            )
            assert found[k - 1] == pytest.approx(least.fun, rel=1e-12) and found[k - 1] <= without[k - 1]
        assert np.array_equal(found[[0, 1, 2]], without[[0, 1, 2]])


# --- laws -------------------------------------------------------------------------------------------------------

@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_any_finite_sample_has_values_or_a_reason(sample: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values, (outcome,) = decoupled_moments(sample, 5, on_refusal="return")
    assert outcome.ok == bool(np.isfinite(values).all())
    missing = np.isnan(values[[0, 2, 3, 4]])
    assert np.all(missing[1:] >= missing[:-1])  # from the first missing order on, all are, but for the variance
    if np.isfinite(values[3]):
        n = len(sample)
        assert 1 - 1e-13 <= values[3] <= n / 2 * (1 + 1e-13)


def test_ties_split_by_rounding_move_together() -> None:
    clean = np.array([0.0, 0, 1, 1, 1, 2, 3, 5, 8, 9, 12, 20])
    blurred = clean + np.array([0, 1, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0]) * 2.0**-52
    assert decoupled_moments(blurred, 5) == pytest.approx(decoupled_moments(clean, 5), rel=1e-9)


def test_many_equal_entries_move_as_their_values() -> None:
    a = np.random.default_rng(7).integers(0, 64, size=(3, 4096)).astype(float) ** 2
    for row in (a[0], a[1, :1500]):
        values, counts = np.unique(row, return_counts=True)
        assert decoupled_moments(row) == pytest.approx(decoupled_moments(values, weights=counts), rel=1e-9, abs=1e-10)
    assert np.array_equal(decoupled_moments(a, axis=1)[1], decoupled_moments(a[1]))


# --- odd input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [Fraction, Decimal, int])
def test_mean_and_variance_of_exact_numbers_keep_their_place_and_unit(number: type) -> None:
    huge = [number(10**30 + 3 * v) if number is not Fraction else Fraction(10**30 + 3 * v) for v in SAMPLE]
    values = decoupled_moments(np.array(huge, dtype=object))
    exact = expected(CASES[0])
    assert values == pytest.approx([1e30, 9 * exact[1], *exact[2:]], rel=1e-10)
    assert standardized_moments(np.array([2**62 + v for v in SAMPLE]), 2) == pytest.approx([2.0**62, exact[1]], 1e-14)


@pytest.mark.parametrize("order", [0, 13, 2.5, "4", True, None])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_orders_that_do_not_exist(function: object, order: object) -> None:
    with pytest.raises(InvalidInput, match="an integer from 1 to 12 is expected"):
        function(SAMPLE, order)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("reference", "said"),
    [("white noise", "'gaussian' or raw moments"), ([0, 1], "at least order - 1 = 4"), (3, "raw moments"),
     ([0, 0, 0, 0], "more than the mean squared"), ([0, 1, 0, np.inf], "finite numbers")],
)
def test_references_that_do_not_fit(reference: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        decoupled_moments(SAMPLE, 5, reference=reference)  # type: ignore[arg-type]


def test_the_reference_of_another_sample() -> None:
    """A sample brought to its own moments does not move: all decoupled moments are its raw ones."""
    own = np.array([1.0, 2, 4, 5, 7, 11, 12, 20, 21])
    raw = [np.mean(own**k) for k in range(1, 6)]
    found = decoupled_moments(own, 5, reference=raw[:4])
    assert found[1:] == pytest.approx(np.array([raw[1], raw[2], raw[3], raw[4]]), rel=1e-9)


# --- refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "order", "reason", "kept"),
    [
        ([1, 2, 4, 8, 16, 32], 5, "moment not attainable", 4),
        ([0, 0, 1, 2], 4, "limit only", 3),
        ([0, 0, 0, 1, 2], 4, "no zero-skew point", 3),
        ([0, 0, 1], 4, "two-valued", 3),
        ([0, 1, 0, 1], 5, "two-valued", 4),
        ([1, 2, 3], 5, "too few distinct values", 4),
        ([7, 7, 7, 7], 3, "zero variance", 2),
        ([1, 2, np.inf], 3, "infinite value", 0),
        ([1], 3, "one sample", 2),
    ],
)
def test_lower_orders_stay(sample: list[float], order: int, reason: str, kept: int) -> None:
    values, (outcome,) = decoupled_moments(sample, order, on_refusal="return")
    assert outcome.reason == reason and np.isfinite(values[:kept]).all() and np.isnan(values[kept:]).all()


@pytest.mark.parametrize("order", [1, 2])
def test_a_constant_sample_has_a_mean_and_no_variance(order: int) -> None:
    values, (outcome,) = decoupled_moments([7, 7, 7], order, on_refusal="return")
    assert outcome.ok and values.tolist() == [7, 0][:order]


def test_many_zeros_at_an_end_stop_a_path() -> None:
    """190 of 500 values are 0: level 5 is beyond the last point, and that is said."""
    x = np.concatenate([np.zeros(190), np.random.default_rng(5).exponential(size=310)])
    values, (outcome,) = decoupled_moments(x, on_refusal="return")
    assert outcome.reason == "moment not attainable" and "fall together to 4 distinct values" in outcome.detail
    assert np.isfinite(values[:5]).all() and np.isnan(values[5])


@pytest.mark.parametrize("n_samples", [20, 21])
def test_a_sixth_moment_of_fifteen_takes_twenty_two_samples(n_samples: int) -> None:
    x = scipy.stats.norm.ppf((np.arange(n_samples) + 0.5) / n_samples)
    values, (outcome,) = decoupled_moments(x, 7, on_refusal="return")
    assert outcome.reason == "moment not attainable" and np.isnan(values[6]) and np.isfinite(values[:6]).all()


@pytest.mark.parametrize("power", [-1060, -1030, -700, -533, 700, 1019])
@pytest.mark.parametrize("offset", [0, 7])
@pytest.mark.parametrize("weights", [None, np.arange(12) % 3 + 1.0], ids=["alone", "weighed"])
def test_the_ends_of_float64(power: int, offset: int, weights: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers by a power of two: nothing is rounded but the mean, at 2**-1074. A plan says the same.

    At -533 the variance is subnormal: a number, but not with its digits.
    """
    monkeypatch.setattr(jit.Kernels, "are_wanted", lambda *_: False)  # they leave the smallest to NumPy: other bits
    whole = np.array([1.0, 2, 4, 5, 7, 11, 12, 20, 21, 3, 9, 6]) + offset
    for function in FUNCTIONS:
        values, (outcome,) = function(np.ldexp(whole, power), 6, weights=weights, on_refusal="return")
        expected = function(whole, 6, weights=weights)
        assert values[0] == pytest.approx(np.ldexp(expected[0], power), rel=1e-14, abs=5e-324)
        assert np.isnan(values[1]) and outcome.reason == "out of range"
        assert "variance beyond the range of float64, all other orders are there" in outcome.detail
        assert np.array_equal(values[2:], expected[2:])
    for shape in (skewness, kurtosis, orthokurtosis):
        assert shape(np.ldexp(whole, power), weights=weights) == shape(whole, weights=weights)
    if weights is None:
        found, (outcome,) = six().transform(np.ldexp(whole, power), on_refusal="return")
        assert np.array_equal(found, decoupled_moments(np.ldexp(whole, power), on_refusal="return")[0], equal_nan=True)
        assert outcome.reason == "out of range" and "Mean(x**2)" in outcome.detail
        assert np.array_equal(six().normalize(np.ldexp(whole, power)), six().normalize(whole))


def test_a_plan_says_what_the_function_says() -> None:
    """To the last bit, and of the same samples that they lack a level."""
    rows = np.exp(np.random.default_rng(3).normal(size=(30, 40)))
    rows[4], rows[7, :20], rows[9, :15] = 7, 0, 0
    values, outcomes = decoupled_moments(rows, axis=1, on_refusal="return")
    found, told = six().transform(rows, on_refusal="return")
    assert np.array_equal(values, found, equal_nan=True)
    assert [one.reason for one in outcomes] == [one.reason for one in told]
    assert [i for i, one in enumerate(told) if not one.ok][:2] == [4, 7]


def test_a_variance_beyond_float32_is_said() -> None:
    x = np.array(SAMPLE, dtype=np.float32)
    for unit in (1e-25, 1e25):
        values, (outcome,) = decoupled_moments(x * np.float32(unit), 4, on_refusal="return")
        assert values.dtype == np.float32 and np.isnan(values).tolist() == [False, True, False, False]
        assert outcome.reason == "out of range" and "give float64 values" in outcome.detail
        assert decoupled_moments((x * np.float32(unit)).astype(np.float64), 4)[1] == pytest.approx(
            unit**2 * expected(CASES[0])[1], rel=1e-6
        )


def test_a_level_and_the_variance_may_both_be_missing() -> None:
    values, (outcome,) = decoupled_moments(np.array([0, 0, 1, 2]) * 1e-200, 4, on_refusal="return")
    assert np.isnan(values).tolist() == [False, True, False, True]
    assert outcome.reason == "limit only" and "variance beyond the range of float64" in outcome.detail
    constant, (outcome,) = decoupled_moments([1e-200] * 5, 2, on_refusal="return")
    assert constant.tolist() == [1e-200, 0] and outcome.ok  # 0 it is
    huge, (outcome,) = decoupled_moments([10**400, 10**400 + 1, 10**400 + 5], 3, on_refusal="return")
    assert np.isnan(huge[0]) and huge[1] == pytest.approx(14 / 3, rel=1e-15) and outcome.reason == "out of range"


@pytest.mark.parametrize("given, options, expected", [
    ([4.0], {}, [4, 0]), (4, {}, [4, 0]), ([[1, 2, 3]], {}, [[1, 0], [2, 0], [3, 0]]), ([4.0, np.nan], {
        "nan_policy": "omit"}, [4, 0]), (np.ma.masked_array([1, 4, 2], [1, 0, 1]), {}, [4, 0]),
    ([1, 4, 2], {"weights": [0, 3, 0]}, [4, 0]), ([1, np.nan, 4], {"weights": [0, 1, 1], "nan_policy": "omit"}, [4, 0]),
    ([Fraction(1, 4)], {}, [0.25, 0]), ([2**62], {}, [2.0**62, 0]), (np.float32([4]), {}, [4, 0]),
    (np.ma.masked_array([[1.0, 2, 9], [1, 3, 5]], [[0, 1, 1], [0, 0, 0]]), {"axis": 1}, [[1, 0], [3, 8 / 3]]),
], ids=str)
def test_one_value_is_its_mean_and_has_no_variance(given: Any, options: dict[str, Any], expected: Any) -> None:
    """As a constant sample; a plan of the same features, where it takes such input, says the same."""
    for function in (standardized_moments, decoupled_moments, blest):
        np.testing.assert_array_equal(function(given, 2, **options), expected)
        np.testing.assert_array_equal(function(given, 1, **options), np.asarray(expected)[..., :1])
    if not {"weights", "nan_policy"} & options.keys() and np.ndim(given):
        plan = decouple(raw_moments(2))
        np.testing.assert_array_equal(plan.transform(given, axis=options.get("axis", 0)), expected)


def test_shape_is_not_there_for_one_value() -> None:
    for values, (outcome,) in (standardized_moments([4.0], 4, on_refusal="return"),
                               decouple(raw_moments(4)).transform([4.0], on_refusal="return")):
        assert values[:2].tolist() == [4, 0] and np.isnan(values[2:]).all() and outcome.reason == "one sample"
