"""Samples declared positive, or in an interval: a level is had where its sample is one of these, on any road."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import Rational, log

import symdecouple as sd
from symdecouple import Mean, variance

POSITIVE, UNIT = sd.sample("x", positive=True), sd.sample("x", interval=(0, 1))
PATHS: Any = ["auto", "narrow", "relaxed", "parallel", "broad"]
ROWS = np.array([[1.0, 2, 4, 8, 11], [3, 3.5, 4, 4.25, 9], [0.5, 1, 1.25, 2, 40]])
QUIET: Any = {"on_refusal": "return"}


def levels(row: Any, mean: Any, spread: Any) -> tuple[list[Any], list[Any]]:
    """The sample with another mean, and the one with another deviation too."""
    row = [mpmath.mpf(v) for v in row]
    m = mpmath.fsum(row) / len(row)
    s = mpmath.sqrt(mpmath.fsum((v - m) ** 2 for v in row) / len(row))
    return [v - m + mean for v in row], [mean + spread * (v - m) / s for v in row]


@pytest.mark.parametrize("dps", [None, 20])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("mean", "deviation"), [(3, 0.5), (8, 3), (0, 1), (2, 1)])
def test_levels_end_in_the_interval_on_every_road(path: Any, mean: int, deviation: float, dps: Any) -> None:
    """Where level 2 is positive and level 1 is not, the sample has level 2: what comes on the way is of no matter."""
    features = [Mean(POSITIVE), variance(POSITIVE), Mean(log(POSITIVE))]
    plan = sd.decouple(features, [mean, Rational(deviation) ** 2, 0], path=path)
    values, outcomes = plan.transform(ROWS, dps=dps, **QUIET)
    moved, ends = plan.normalize(ROWS, 2, dps=dps, **QUIET)
    slopes, flat = plan.gradients(ROWS, dps=dps, **QUIET)
    for i, row in enumerate(ROWS):
        first, second = levels(row, mean, deviation)
        inside = min(first) > 0, min(second) > 0
        assert values[i, 0] == pytest.approx(float(np.mean(row)), rel=1e-14)
        reason = "" if all(inside) else "pole"
        assert outcomes[i].reason == flat[i].reason == reason
        assert ends[i].reason == ("" if inside[1] else "pole")
        if inside[1]:
            np.testing.assert_allclose(np.array(moved[i], dtype=float), np.array(second, dtype=float), rtol=1e-12)
        else:
            assert all(v != v for v in moved[i])
        assert all((v == v) == inside[0] for v in slopes[i, 1])
        assert (values[i, 1] == values[i, 1]) == inside[0]
        assert (values[i, 2] == values[i, 2]) == all(inside)
        if all(inside):
            wanted = mpmath.fsum(map(mpmath.log, second)) / len(row)
            assert abs(values[i, 2] - wanted) <= 1e-12 * (1 + abs(wanted))


@pytest.mark.parametrize("path", ["auto", "narrow"])
def test_energies_of_signals_in_an_interval(path: Any) -> None:
    """The mean of squares of pixels between 0 and 1: a scaling, which may go beyond 1."""
    row = np.array([0.1, 0.5, 0.9, 0.3, 0.25, 0.8])
    for wanted, inside in ((0.1, True), (0.2, True), (0.9, False)):
        plan = sd.decouple([Mean(UNIT**2), Mean(UNIT)], [wanted, 1], path=path)
        for dps in (None, 20):
            moved, (outcome,) = plan.normalize(row, 1, dps=dps, **QUIET)
            factor = np.sqrt(wanted / np.mean(row**2))
            assert outcome.ok == inside == (factor * 0.9 < 1)
            if inside:
                np.testing.assert_allclose(np.array(moved, dtype=float), factor * row, rtol=1e-12)


def test_entries_that_count_differently_are_refused_alike() -> None:
    plan = sd.decouple([Mean(POSITIVE), variance(POSITIVE)], [3, 1])
    rows, weights = [[1.0, 2, 4, 8, 11], [1, 1, 2, 3, 4]], [1, 2, 1, 1, 1]
    _, repeated = plan.transform([[1.0, 2, 2, 4, 8, 11], [1, 1, 1, 2, 3, 4]], **QUIET)
    values, outcomes = plan.transform(rows, weights=weights, **QUIET)
    assert [o.reason for o in outcomes] == [o.reason for o in repeated] == ["pole", ""]
    assert values[1] == pytest.approx([2, 4 / 3], rel=1e-14) and np.isnan(values[0, 1])
    masked = np.ma.masked_values(rows, 8.0)
    assert [o.reason for o in plan.transform(masked, **QUIET)[1]] == ["pole", ""]
    long = [2**60 + k for k in (1, 3, 4, 9)]
    assert plan.transform(long, **QUIET)[1][0].reason == "pole"


def test_what_was_normalized_outside_comes_back() -> None:
    """Only the sample that is returned counts when decoupled values are given back."""
    plan = sd.decouple([Mean(POSITIVE), variance(POSITIVE)], [0, 1])
    normal = (ROWS - ROWS.mean(axis=1, keepdims=True)) / ROWS.std(axis=1, keepdims=True)
    values = np.stack([ROWS.mean(axis=1), ROWS.var(axis=1)], axis=1)
    for dps in (None, 20):
        back, outcomes = plan.denormalize(normal, values, 2, dps=dps, **QUIET)
        assert all(o.ok for o in outcomes)
        np.testing.assert_allclose(np.array(back, dtype=float), ROWS, rtol=1e-13)
        _, (outcome,) = plan.denormalize(normal[:1], [[1.0, 9.0]], 2, dps=dps, **QUIET)
        assert outcome.reason == "outside the domain"


@pytest.mark.parametrize("dps", [None, 20])
def test_samples_that_are_refused_stay_as_they_are(dps: Any) -> None:
    plan = sd.decouple([Mean(POSITIVE), variance(POSITIVE)], [1, 1])
    for given in (np.array([[-1.0, 2, 3], [1, 2, 4]]), np.array([[5.0, 5, 6], [0.1, 0.2, 40]])):
        before, values = given.copy(), np.stack([given.mean(axis=1), given.var(axis=1)], axis=1)
        for level in (0, 1, 2):
            _, outcomes = plan.denormalize(given, values, level, dps=dps, **QUIET)
            plan.normalize(given, level, dps=dps, **QUIET)
            plan.match(given, [3, 100], dps=dps, **QUIET)
            np.testing.assert_array_equal(given, before)
            assert level or [o.ok for o in outcomes] == [given[0, 0] > 0, True]
