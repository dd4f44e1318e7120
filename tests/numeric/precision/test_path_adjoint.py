"""Gradients along the precise path against formulas by hand, extrapolated differences, and more digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from sympy import cosh, log, tanh

from symdecouple import FeatureSet, InvalidInput, Mean, x
from symdecouple.numeric.features.expressions import as_multiprecision
from symdecouple.numeric.features.features import CompiledFeatures
from symdecouple.numeric.precision.path import follow_mp
from symdecouple.numeric.precision.path_adjoint import pullback_mp
from tests.numeric.differences import extrapolated, largest
from tests.numeric.paths.nested import FirstOrder

POWERS = CompiledFeatures(FeatureSet([Mean(x), Mean(x**2), Mean(x**3)]))
MIXED = CompiledFeatures(FeatureSet([Mean(x), Mean(x**2), Mean(log(cosh(x))), Mean(tanh(x))]))
ROW = ["-2", "-0.5", "1", "2", "0.75"]
COVECTORS = [[1, 2, 3, -1, 5], [0, 1, 0, 0, 2]]


def row() -> Any:
    return as_multiprecision([mpmath.mpf(text) for text in ROW])


def scaled(points: Any, second: Any, covector: Any) -> Any:
    """The gradient of c . (m + (x - m) s/sd), s^2 = second - m^2, by hand."""
    n, c = len(points), as_multiprecision(covector)
    m = points.sum() / n
    z = points - m
    sd, s = mpmath.sqrt((z * z).sum() / n), mpmath.sqrt(second - m**2)
    along = (c * z).sum()
    by_mean = c.sum() / n - along / sd * (m / s) / n
    return (c - c.sum() / n) * (s / sd) - z * (along * s / sd**3 / n) + by_mean


# --- what it gives ---


@pytest.mark.parametrize("second", [pytest.param("3", marks=pytest.mark.slow), "1", "157/80"])
def test_the_second_level_by_hand_to_forty_digits(second: str) -> None:
    """Up, down, and standing still: the last value is the second moment of the row."""
    with mpmath.workdps(50):
        points = row()
        moved = follow_mp(POWERS, points, 2, Fraction(second), dps=40, store=True)
        target = as_multiprecision([Fraction(second)])[0]
        assert (moved.steps == 0) is (second == "157/80")
        pulled = pullback_mp(moved, COVECTORS)
        assert pulled.outcome.ok and pulled.error < mpmath.mpf(10) ** -39
        for found, covector in zip(pulled.covectors, COVECTORS, strict=True):
            assert largest(found - scaled(points, target, covector)) < mpmath.mpf(10) ** -38


@pytest.mark.parametrize(("k", "target"), [pytest.param(3, "0.65", marks=pytest.mark.slow), (4, "0.16")])
def test_against_extrapolated_differences(k: int, target: str) -> None:
    with mpmath.workdps(50):
        points, goal, u = row(), mpmath.mpf(target), as_multiprecision([3, -1, 2, 1, -2])
        moved = follow_mp(MIXED, points, k, goal, dps=25, store=True)
        assert moved.outcome.ok and largest(moved.values - points) > 0.01
        pulled = pullback_mp(moved, COVECTORS)
        (wanted,) = extrapolated(lambda rows: [follow_mp(MIXED, y, k, goal, dps=34).values for y in rows],
                                 points[None], u, mpmath.mpf(2) / 10**8, 2)
        assert pulled.error < mpmath.mpf(10) ** -24
        for found, covector in zip(pulled.covectors, COVECTORS, strict=True):
            assert abs((found * u).sum() - (wanted * as_multiprecision(covector)).sum()) < mpmath.mpf(10) ** -22


def test_a_gradient_of_the_feature_imposed_vanishes_and_those_before_it_stay() -> None:
    """f_3 is constant after level 3, and f_1, f_2 are what they were: at any covector beside them too."""
    with mpmath.workdps(40):
        moved = follow_mp(MIXED, row(), 3, mpmath.mpf("0.6"), dps=20, store=True)
        own = MIXED.gradients(moved.values[None], 3)[0] / 5
        before = MIXED.gradients(row()[None], 3)[0] / 5
        c = as_multiprecision(COVECTORS[0])
        plain, added = pullback_mp(moved, [c, c + own[2] * 7 - own[1] * 2 + own[0]]).covectors
        assert largest(added - plain + before[1] * 2 - before[0]) < mpmath.mpf(10) ** -18


def test_the_error_covers_what_more_digits_change() -> None:
    with mpmath.workdps(40):
        pulled = []
        for dps in (12, 24):
            moved = follow_mp(MIXED, row(), 4, mpmath.mpf("0.16"), dps=dps, store=True)
            pulled.append((moved, pullback_mp(moved, COVECTORS)))
        (path, rough), (_, fine) = pulled
        gap = largest(rough.covectors - fine.covectors)
        assert gap < 10 * (path.error + rough.error + mpmath.mpf(10) ** -12) * largest(fine.covectors)
        assert fine.error < mpmath.mpf(10) ** -23 < mpmath.mpf(10) ** -14 < rough.error + mpmath.mpf(10) ** -12


def test_precision_outside_is_left_alone_and_does_not_matter() -> None:
    moved = follow_mp(POWERS, [1, 2, 6], 2, 20, dps=20, store=True)
    before = mpmath.mp.prec
    fine = pullback_mp(moved, [1, 2, 3]).covectors
    assert mpmath.mp.prec == before
    with mpmath.workdps(5):
        inside = mpmath.mp.prec
        coarse = pullback_mp(moved, [1, 2, 3]).covectors
        assert mpmath.mp.prec == inside
        with pytest.raises(InvalidInput):
            pullback_mp(moved, [1, 2j, 3])
        assert mpmath.mp.prec == inside
    assert all(a == b for a, b in zip(fine, coarse, strict=True))


# --- what cannot be had ---


def test_standing_at_a_critical_point_is_refused() -> None:
    moved = follow_mp(POWERS, [7, 7, 7], 2, 49, dps=15, store=True)
    assert moved.outcome.ok
    pulled = pullback_mp(moved, [1, 2, 3])
    assert pulled.outcome.reason == "critical point" and "Mean(x**2)" in pulled.outcome.detail
    assert all(mpmath.isnan(v) for v in pulled.covectors) and mpmath.isnan(pulled.error)


@pytest.mark.parametrize(("call", "said"), [
    (lambda: pullback_mp(follow_mp(POWERS, [1, 2, 6], 1, 0), [1, 2, 3]), "store=True"),
    (lambda: pullback_mp(follow_mp(POWERS, [7, 7, 7], 2, 1, store=True), [1, 2, 3]), "target that is reached"),
    (lambda: pullback_mp(follow_mp(POWERS, [1, 2, 6], 1, 0, store=True), [1, 2]), r"\(2,\) were given"),
    (lambda: pullback_mp(follow_mp(POWERS, [1, 2, 6], 1, 0, store=True), 1), "is expected"),
    (lambda: pullback_mp(follow_mp(FirstOrder(), [1, 2, 6], 1, 0, store=True), [1, 2, 3]), "curvature"),
], ids=["not kept", "refused", "short", "number", "first derivatives only"])
def test_wrong_calls(call: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        call()
