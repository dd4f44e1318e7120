"""Samples with values close together beside the others: with `dps` the numbers of float64 and more, or its cause."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import symdecouple as sd
from symdecouple import Filter, Mean, x
from symdecouple.families.moments import raw_moments
from tests.stats.oracle import orthokurtosis

PLAN = sd.decouple(raw_moments(4))


@pytest.mark.parametrize("row", [
    [0, 2**64 - 1, 0, 1, 5, 2**63 - 1], [0, 10**12, 1, 2, 3, 5 * 10**11], [0, 10**30, 1, 2, 3, 4], [0, 1, 2, 3, 1e9],
    [0, 0, 1, 1e20, 1e20 + 5e10], [0, Fraction(1, 10**50), 1, 1 + Fraction(1, 10**50), 2],
    [0.1, 0.2, 0.35, 0.7, 1e140], [1e-71, 1.3e-34, 5e-66, 1.5e-18],
    [3, 14, 20, 2**60 + 8, 2**60 + 9, 2**60 + 15], [Fraction(1, 3), 1, 2, 10**40, 10**40 + 1, 10**40 + 2]], ids=str)
@pytest.mark.parametrize("dps", [15, 30])
def test_more_digits_are_taken_where_they_are_needed(row: list[Any], dps: int) -> None:
    expected = orthokurtosis(row)
    value = PLAN.transform(row, dps=dps, on_refusal="raise")[3]
    assert abs(value - expected) < mpmath.mpf(10) ** (1 - dps) * expected
    assert PLAN.transform(row, on_refusal="raise")[3] == pytest.approx(float(expected), rel=1e-12)


OF_NUMBERS = "beyond", "no convergence", "out of range"
CROWDED: list[tuple[list[float], Any]] = [
    ([1e-310, 2e-310, 6e-310, 1.7e308], OF_NUMBERS), ([0, 1, 2, 3, 4, 5, 1e12], OF_NUMBERS),
    ([0, 1, 2, 3, 1e9], OF_NUMBERS), ([0, 1e-17, 1, 2], OF_NUMBERS),
    ([0, 0, 0, 1, 2], "no zero-skew point"), ([0, 0, 1, 2], "limit only")]
LONG = ("relaxed", 20, 0), ("narrow", 20, 2), ("narrow", 20, 3), ("narrow", 20, 5)  # seconds each


@pytest.mark.parametrize(("path", "dps", "i"), [
    pytest.param(path, dps, i, marks=[pytest.mark.slow] if (path, dps, i) in LONG else [])
    for path, dps in (("relaxed", None), ("parallel", None), ("narrow", None), ("relaxed", 20), ("auto", 20),
                      ("narrow", 20)) for i in range(len(CROWDED))])
def test_a_skewness_that_theorem_c_has_is_not_called_out_of_reach(path: Any, dps: int | None, i: int) -> None:
    row, reasons = CROWDED[i]
    _, (outcome,) = sd.decouple(raw_moments(4), path=path).transform(row, dps=dps, on_refusal="return")
    assert (outcome.ok and reasons is OF_NUMBERS) or outcome.reason.startswith(reasons), outcome
    assert outcome.ok or path == "auto" or "dps=" in outcome.detail or 'path="auto"' in outcome.detail or i > 3


def test_values_rounded_to_one_are_no_ties() -> None:
    """At level 3 four of nine lie within 1e-18 of each other; with 20 digits moment 5 is computed, in half a minute."""
    row = np.array([2e-9, 3e-10, 1.7e-10, -3.3e-10, 9.5e-11, 1 - 3e-10, 1 + 1e-10, 1 + 1.2e-10, 1 - 1e-9])
    _, (outcome,) = sd.decouple(raw_moments(5)).transform(row, on_refusal="return")
    assert outcome.reason == "beyond float64" == sd.stats.decoupled_moments(row, 5, on_refusal="return")[1][0].reason
    _, (outcome,) = sd.decouple(raw_moments(5)).transform([0, 1, 2, 3, 4, 9, 9, 9, 9], on_refusal="return")
    assert outcome.reason == "moment not attainable" and "4 of them tied" in outcome.detail


def test_what_no_sample_of_this_size_has_is_seen_before_a_step_is_made() -> None:
    """Where float64 rounds values to one, too; the step by step search takes half a minute."""
    for row in [0, 1e-17, 1, 2, 5], [0, 1, 2, 3, 5]:
        _, (outcome,) = sd.decouple(raw_moments(5)).transform(row, dps=20, on_refusal="return")
        assert outcome.reason == "moment not attainable" and "no sample of 5 values" in outcome.detail


@pytest.mark.parametrize("match", ["decoupled", "own"])
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 5)])
def test_nothing_is_moved_to_nothing(shape: tuple[int, ...], match: Any) -> None:
    for plan in (PLAN, sd.decouple([Mean(Filter([-1, 2, -1])(x) ** 2)], [6])):
        none = ["no samples"] * int(np.prod(shape[:-1]))
        for call, answered in ((plan.transform, (*shape[:-1], len(plan.features))), (plan.normalize, shape)):
            values, outcomes = call(np.zeros(shape), on_refusal="return")
            assert values.shape == answered and np.isnan(values).all() and [o.reason for o in outcomes] == none
        done, outcomes = plan.transfer(np.zeros(shape), [1.0, 2, 4, 9, 7, 3, 8], match=match, on_refusal="return")
        assert done.values.shape == shape and [o.reason for o in outcomes] == none


@pytest.mark.parametrize("path", ["narrow", "parallel"])
def test_targets_beyond_all_samples_are_refused_without_warnings(path: Any) -> None:
    plan, row = sd.decouple(raw_moments(3), path=path), np.array([1.0, 2, 4, -1, 3, 7])
    waves = sd.decouple([Mean(Filter([-1, 2, -1])(x) ** 2), Mean(Filter([-1, 2, -1])(x) ** 4)], [6, 108])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for target in ([1e308, 1, 0], [0, 1e308, 0], [0, 1, -1e308]):
            found, (outcome,) = plan.match(row, target, on_refusal="return")
            assert outcome.ok or np.isnan(found).all()
        for call in (waves.transform, waves.gradients, waves.normalize):
            assert call([1e308, -1e308, 1e300, 5, 1e308, 3], on_refusal="return")[1][0].reason == "out of range"
