"""Weights as they are given: absent, missing, broadcast, exact; samples that have no answer with them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from symdecouple.numeric.samples import exact_means
from symdecouple.stats import decoupled_moments, orthokurtosis, standardized_moments
from tests.stats import oracle
from tests.stats.weighted import BY_ORDER, SAMPLE, WEIGHTS, Statistic, answer, equal, every

# --- absent, missing, broadcast ---------------------------------------------------------------------------------


@every
@pytest.mark.filterwarnings("ignore::symdecouple.errors.RefusalWarning")  # three values may have half of the weight
def test_shapes_and_broadcasting(function: Statistic) -> None:
    function = partial(function, order=4) if function in BY_ORDER else function
    rng = np.random.default_rng(2)
    a, w = rng.gamma(2, size=(7, 3, 7)), rng.integers(1, 4, (7, 3, 7)).astype(float)
    along = rng.integers(1, 4, 7)

    def one(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return function(values.ravel(), weights=weights.ravel())

    full = function(a, weights=w)
    assert full.shape[:2] == (3, 7)
    assert equal(full[1, 2], one(a[:, 1, 2], w[:, 1, 2]))
    assert equal(function(a, axis=0, weights=along)[1, 2], one(a[:, 1, 2], along))  # not along the last axis
    assert equal(function(a, axis=-1, weights=along)[1, 2], one(a[1, 2], along))
    assert equal(function(a, axis=2, weights=w[:1])[5, 1], one(a[5, 1], w[0, 1]))
    assert equal(function(a, axis=1, weights=w[0, :, :1])[5, 6], one(a[5, :, 6], w[0, :, 0]))
    both = function(a, axis=(2, 0), weights=w[:, 0, :].T)  # in the order in which the axes are named
    assert equal(both[1], one(a[:, 1, :], w[:, 0, :]))
    assert equal(function(a, axis=None, weights=w), one(a, w))
    assert function(a, axis=(0, 2), weights=w, keepdims=True).shape[:3] == (1, 3, 1)
    assert np.shape(function(SAMPLE, weights=WEIGHTS)) == np.shape(function(SAMPLE))


# --- exact numbers ----------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("number", [Fraction, Decimal, int])
def test_exact_numbers_and_exact_weights(function: Statistic, number: type) -> None:
    """Centred before they are rounded, mean and variance put back."""
    huge = np.array([number(10**30 + 3 * int(v)) for v in SAMPLE], dtype=object)
    weights = np.array([number(int(w)) / (3 if number is Fraction else 1) for w in WEIGHTS], dtype=object)
    expected = function(SAMPLE, weights=WEIGHTS)
    if function in BY_ORDER:
        expected = np.concatenate([[1e30, 9 * expected[1]], expected[2:]])
    assert function(huge, weights=weights) == pytest.approx(expected, rel=1e-10)
    huge[3], weights[3] = float("nan"), 0
    assert function(huge, weights=weights) == pytest.approx(function(np.delete(huge, 3), weights=np.delete(weights, 3)))


def test_large_integers_beside_small_ones() -> None:
    rows = np.array([SAMPLE, SAMPLE]).astype(np.int64)
    rows[0] += 2**60
    found = standardized_moments(rows, axis=1, weights=WEIGHTS)
    assert equal(found[1], standardized_moments(rows[1], weights=WEIGHTS))
    assert found[0, [1, 2, 3, 4, 5]] == pytest.approx(found[1, [1, 2, 3, 4, 5]], rel=1e-13)
    assert found[0, 0] == 2.0**60 + np.round(found[1, 0] / 256) * 256  # the spacing of float64 there


@pytest.mark.parametrize("weights", [[3, 1, 0, 4, 2], [0.1, 0.7, np.nan, 1e-3, 2.5],
                                     [2.0**-150, 1, 1e5, 0.3, 2.0**-180], [3e200, 1e200, 7e199, 1e190, 0],
                                     [5e-320, 1e-310, 3e-315, 1e-318, 2e-320]])
@pytest.mark.parametrize(("base", "span", "kind"), [
    (2**53, 40, np.int64), (2**60, 2**40, np.int64), (-(2**63), 2**64 - 1, np.int64), (0, 2**64 - 1, np.uint64)])
def test_weighed_integers_have_exact_means_and_variances(
        weights: list[float], base: int, span: int, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of whole numbers and of any others, in whole numbers that NumPy adds up, none of them one by one."""
    numbers = [base + span * k // 7 for k in (3, 0, 7, 5, 2)]
    shares = [Fraction(0 if np.isnan(w) else w) for w in weights]
    mean = sum(w * v for w, v in zip(shares, numbers, strict=True)) / sum(shares)
    variance = sum(w * (v - mean) ** 2 for w, v in zip(shares, numbers, strict=True)) / sum(shares)
    monkeypatch.setattr(exact_means, "_mean_and_variance", None)
    found = standardized_moments(np.array(numbers, dtype=kind), order=2, weights=weights, nan_policy="omit")
    assert found.tolist() == [float(mean), float(variance)]
    masked = np.ma.array(np.array(numbers, dtype=kind), mask=[0, 0, 0, 1, 0])
    rest = [0 if k == 3 else w for k, w in enumerate(shares)]
    mean = sum(w * v for w, v in zip(rest, numbers, strict=True)) / sum(rest)
    assert standardized_moments(masked, order=2, weights=weights, nan_policy="omit")[0] == float(mean)


@pytest.mark.parametrize("unit", [1000.5, 2.0**20, 2.0**31, 2.0**-31])
def test_weighed_integers_are_exact_in_any_unit_of_weights(unit: float) -> None:
    """Of a thousand numbers, with weights whose digits are added up: of large ones these were too many."""
    rng = np.random.default_rng(0)
    numbers, weights = 2**60 + rng.integers(0, 10**6, size=1000), unit * rng.uniform(0.5, 2, size=1000)
    shares, values = [Fraction(w) for w in weights.tolist()], numbers.tolist()
    mean = sum(w * v for w, v in zip(shares, values, strict=True)) / sum(shares)
    variance = sum(w * (v - mean) ** 2 for w, v in zip(shares, values, strict=True)) / sum(shares)
    assert standardized_moments(numbers, order=2, weights=weights).tolist() == [float(mean), float(variance)]


def test_extremes_that_rounding_would_tie() -> None:
    """1 + 1e-40 holds less than half of the weight; 1 and it together would not."""
    values = np.array([Fraction(0), Fraction(1, 2), Fraction(1), 1 + Fraction(1, 10**40)], dtype=object)
    value, reasons = answer(orthokurtosis, values, weights=[2, 2, 2, 3])
    expected = oracle.orthokurtosis(np.repeat(values, [2, 2, 2, 3]))
    assert reasons == [""] and value == pytest.approx(float(expected), rel=1e-13)


# --- refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "weights", "reason", "said"),
    [
        ([0, 1, 2], [2, 1, 1], "limit only", "minimum with half of the weight"),
        ([0, 0, 1, 2], [0.5, 0.5, 0.25, 0.75], "limit only", "minimum with half of the weight"),
        ([0, 1, 2], [1, 1, 3], "no zero-skew point", "maximum with 0.6 of the weight"),
        ([0, 0, 1, 2], [0.1, 0.2, 0.15, 0.15], "no zero-skew point", "less than half of the weight"),  # 0.1 + 0.2 > 0.3
        ([0, 0, 1, 2], [Fraction(1, 10), Fraction(1, 5), Fraction(3, 20), Fraction(3, 20)], "limit only", "half"),
        ([0, 1, 5, 1], [1, 2, 0, 1], "two-valued", "with 0.25 and 0.75 of the weight"),
        ([0, 1, 5], [0.1, 0.2, 0], "two-valued", "a third value is needed"),
        ([7, 7, 8], [1, 2, 0], "zero variance", ""),
        ([1, 2, 3], [0, 3, 0], "one sample", ""),
        ([1, 2, 3], [0, 0, 0], "no weight", "all weights are 0"),
        ([1, 2, 3], [1, 1, -1], "negative weight", "0 leaves an entry out"),
        ([1, 2, 3], [1, 1, np.inf], "infinite weight", ""),
        ([1, 2, np.inf], [1, 1, 1], "infinite value", ""),
        ([1, 2, 3], [1, 1e-300, 1], "beyond float64", "factor 2**200"),
        ([], [], "no samples", ""),
    ],
)
def test_samples_without_an_answer(sample: list[Any], weights: list[Any], reason: str, said: str) -> None:
    value, (outcome,) = orthokurtosis(sample, weights=weights, on_refusal="return")
    assert np.isnan(value) and outcome.reason == reason and said in outcome.detail
    higher, reasons = answer(decoupled_moments, sample, order=4, weights=weights)
    assert np.isnan(higher[3]) and reasons == [reason]


def test_two_values_of_equal_weight_have_the_orthokurtosis_one() -> None:
    for weights in ([0.25, 0.5, 0.75, 0], [3, 4, 7, 0]):
        assert orthokurtosis([5, 5, 6, 9], weights=weights) == 1
    assert answer(orthokurtosis, [0, 1, 2], weights=[2**52 - 1, 1, 2**52])[1] == ["limit only"]


@pytest.mark.parametrize("nearest", [2.0**-52, 2.0**-40, 2.0**-30])
def test_half_of_the_weight_is_decided_exactly(nearest: float) -> None:
    """Just below there is an answer, near 1; at half and above there is none."""
    weights = np.array([0.5 - nearest, 0.25, 0.25])
    assert orthokurtosis([0, 1, 4], weights=weights) == pytest.approx(1, abs=100 * nearest)
    assert answer(orthokurtosis, [0, 1, 4], weights=[0.5, 0.25, 0.25])[1] == ["limit only"]
    assert answer(orthokurtosis, [0, 1, 4], weights=[0.5 + nearest, 0.25, 0.25])[1] == ["no zero-skew point"]


@every
def test_one_bad_row_never_spoils_the_batch(function: Statistic) -> None:
    rng = np.random.default_rng(3)
    a, w = rng.exponential(size=(9, 12)), rng.random((9, 12))
    w[1, 2], w[2, 3], w[3, 4], w[4], a[5, 5], w[6, :5], a[7] = -1, np.nan, np.inf, 0, np.nan, 0, 7
    values, outcomes = function(a, axis=1, weights=w, on_refusal="return")
    across, _ = function(a.T, weights=w.T, on_refusal="return")
    assert equal(values, across)
    for i in range(9):
        alone, (outcome,) = function(a[i], weights=w[i], on_refusal="return")
        assert equal(alone, values[i]) and outcome == outcomes[i]
    assert [i for i, outcome in enumerate(outcomes) if not outcome.ok and "nan" not in outcome.reason] == [1, 3, 4, 7]
