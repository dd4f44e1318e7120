"""Laws that hold along every path: agreement to 50 digits, round trips, invariance, and targets out of reach."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.stats
from sympy import Abs, Rational, exp, log

from symdecouple import Feature, FeatureSet, Group, Mean, Plan, decouple, sample, x
from symdecouple.decoupling.motions.joint_steps import JointSteps
from symdecouple.errors import Refused
from symdecouple.families.moments import raw_moments, standardized_moments
from symdecouple.language.statistics import skewness, variance
from tests.stats.oracle import central_moments, orthokurtosis

CLOSED = ("auto", "broad", "relaxed", "parallel")
SETS: dict[str, Any] = {
    "moments": (lambda: raw_moments(4), "gaussian"),
    "powers": (lambda: FeatureSet([Mean(x**2), Mean(x**5), Mean(x)]), [1, Rational(1, 5)]),
    "exponentials": (lambda: FeatureSet([Mean(x), Mean(exp(x)), Mean(x**2)]), [0, 2]),
}


@cache
def plan(name: str, path: Any = "auto") -> Plan:
    make, reference = SETS[name]
    return decouple(make(), reference, path=path)


@pytest.mark.parametrize("name", SETS)
def test_closed_paths_agree_to_fifty_digits(name: str) -> None:
    points = [Fraction(1, 3), -1, Fraction(5, 4), 2, Fraction(-1, 7)]
    with mpmath.workdps(50):
        found = {path: plan(name, path).transform(points, dps=50) for path in CLOSED}
        for path in CLOSED[1:]:
            assert max(abs(found[path] - found["auto"])) < mpmath.mpf(10) ** -48, path
            assert found[path].residual < mpmath.mpf(10) ** -48 and found[path].dps == 50


@pytest.mark.parametrize("name", SETS)
def test_the_narrow_path_agrees(name: str) -> None:
    samples = np.random.default_rng(3).normal(size=(4, 12)) * 0.7 + 0.2
    np.testing.assert_allclose(plan(name, "narrow").transform(samples), plan(name).transform(samples), rtol=1e-9,
                               atol=1e-10)
    np.testing.assert_allclose(plan(name, "narrow").gradients(samples), plan(name).gradients(samples), atol=1e-8)


def test_exact_gradients_to_many_digits() -> None:
    with mpmath.workdps(40):
        gradients = plan("moments").gradients([1, 2, 3, 5, 8, 13], dps=40)
        for j in range(4):
            for k in range(j):
                cosine = gradients[j] @ gradients[k] / mpmath.sqrt((gradients[j] @ gradients[j])
                                                                   * (gradients[k] @ gradients[k]))
                assert abs(cosine) < mpmath.mpf(10) ** -38


def test_crowded_samples_that_newton_steps_lose() -> None:
    samples = [[0, 1, 4, 250], [0.1, 0.2, 0.35, 0.7]]
    with mpmath.workdps(30):
        for row in samples:
            precise = plan("moments", "relaxed").transform(row, dps=30)[3]
            assert plan("moments").transform(row)[3] == pytest.approx(float(precise), rel=1e-13)
            assert plan("moments", "relaxed").transform(row)[3] == pytest.approx(float(precise), rel=1e-11)


# --- what is refused ------------------------------------------------------------------------------------------------


def test_a_feature_with_two_branches_keeps_its_sign() -> None:
    """The square of the skewness is 1/4 at both +1/2 and -1/2; each sample goes to its side."""
    squared = decouple([Mean(x), variance(), skewness() ** 2], [0, 1, Rational(1, 4)])
    points = np.array([1.0, 2, 3, 5, 8, 13])
    assert scipy.stats.skew(squared.normalize(points, level=3)) == pytest.approx(0.5, rel=1e-12)
    assert scipy.stats.skew(squared.normalize(-points, level=3)) == pytest.approx(-0.5, rel=1e-12)
    at_zero = decouple([Mean(x), variance(), skewness() ** 2], [0, 1, 0])
    with pytest.raises(Refused):
        at_zero.normalize(points, level=3, on_refusal="raise")


def test_logarithms_of_positive_samples() -> None:
    """phi = log: 1, y, y^2 in y = log x, so that the fields are x, x log x, x log(x)^2."""
    y = sample("y", positive=True)
    group = Group(Mean(y**2), Mean(y**2 * (2 * log(y) - 1)), Mean(y**2 * (2 * log(y) ** 2 - 2 * log(y) + 1)))
    plan_of_logs = decouple(FeatureSet([group, Mean(y)]), [1, 0, 1])
    points = np.array([0.4, 0.7, 1.1, 1.3, 2.0])
    moved = plan_of_logs.normalize(points)
    found = [np.mean(moved**2), np.mean(moved**2 * (2 * np.log(moved) - 1)),
             np.mean(moved**2 * (2 * np.log(moved) ** 2 - 2 * np.log(moved) + 1))]
    np.testing.assert_allclose(found, [1, 0, 1], atol=1e-12)
    back = plan_of_logs.denormalize(moved, plan_of_logs.transform(points))
    np.testing.assert_allclose(back, points, rtol=1e-11)


def test_kinks_that_are_allowed_stay_allowed() -> None:
    absolute = Feature(Mean(Abs(x)), allow_nonsmooth=["Abs"])
    with_kink = decouple([Mean(x), absolute, Mean(x**2)], [2, Rational(17, 5)])
    values = with_kink.transform([1.0, 2, -3, 4, 7])  # no sample passes 0 on the way
    assert np.isfinite(values).all() and values[0] == pytest.approx(2.2)


@pytest.mark.parametrize("path", ["parallel", "broad"])
@pytest.mark.parametrize("sample", [[0, 1, 2, 3, 1e9], [1e-200, 1, 2, 5, 1e200]], ids=["outlier", "wide"])
def test_a_motion_that_blows_up_in_many_digits_is_given_up(path: Any, sample: list[float]) -> None:
    """Exponents of mpmath grow without end: a number of 2**1e8 took SymPy minutes, where float64 overflows."""
    values, (outcome,) = decouple(FeatureSet([Mean(x**k) for k in (1, 2, 3, 4)]), path=path).transform(
        sample, dps=20, on_refusal="return")
    assert outcome.reason.startswith("beyond ") and [v == v for v in values] == [True, True, True, False]


def test_a_search_that_stands_still_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The residual fell by 1e-14 of itself a step, 45 halvings each: a hundred looks are enough to see that."""
    looks, stepped = [], JointSteps._stepped

    def counted(*arguments: Any) -> Any:
        looks.append(1)
        return stepped(*arguments)

    monkeypatch.setattr(JointSteps, "_stepped", counted)
    sample = np.exp(5 * np.random.default_rng(0).normal(size=12))
    plan = decouple(FeatureSet([Mean(x**k) for k in (1, 2, 3, 4)]), path="broad")
    _, (outcome,) = plan.transform(sample, dps=20, on_refusal="return")
    assert outcome.reason == "no convergence" and len(looks) < 400


@pytest.mark.parametrize("path", ["auto", "relaxed", "parallel", "broad", "narrow"])
@pytest.mark.parametrize("unit", [1e-300, 1e-100, 1e20, 1e40, 1e100, 1e300, 2**70])
def test_units_cost_no_answer_in_many_digits(path: Any, unit: Any) -> None:
    """Rounding of a mean that comes to 0 is measured beside the sample, not beside 1."""
    drawn = (-0.3, 0.7, 1.1, -1.9, 0.2, 2.3, 0.4) if isinstance(unit, float) else (Fraction(1, 1024), 1, 3, 4, 9)
    row = [v * unit for v in drawn]
    mean, (_, _, second, third) = central_moments(row, 3)
    more = [orthokurtosis(row, 60)] if path in ("auto", "relaxed") else []  # others begin too far away for this
    plan = decouple(raw_moments(3 + len(more)), path=path)
    for dps in (15, 20, 30):
        found, (outcome,) = plan.transform(row, dps=dps, on_refusal="return")
        assert outcome.ok, outcome
        with mpmath.workdps(60):
            exact = [mpmath.mpf(v.numerator) / v.denominator for v in (mean, second, third)]
            exact[2] /= mpmath.sqrt(exact[1]) ** 3
            pairs = zip(found, exact + more, strict=True)
            assert all(abs(a - b) < mpmath.mpf(10) ** (2 - dps) * abs(b) for a, b in pairs)


@pytest.mark.parametrize("gap", [2.0**-10, 2.0**-20, 2.0**-36, 2.0**-47, 2.0**-52])
def test_gradients_along_the_narrow_path_are_right_or_refused_at_near_ties(gap: float) -> None:
    """Three clusters have no orthokurtosis that moves: near them its gradient is free of 1, x, x^2 by a difference."""
    sample = [0.0, 1.0, 1.0 + gap, 3.0]
    found, (outcome,) = decouple(standardized_moments(4), path="narrow").gradients(sample, on_refusal="return")
    assert outcome.ok == bool(np.isfinite(found).all()) and outcome.reason in ("", "beyond float64", "no convergence")
    if outcome.ok:
        step = Fraction(gap) / 10**9
        moved = [[[v + sign * step * (i == j) for j, v in enumerate(map(Fraction, sample))] for sign in (1, -1)]
                 for i in range(4)]
        exact = [float((orthokurtosis(up) - orthokurtosis(down)) * step.denominator / step.numerator / 2)
                 for up, down in moved]
        np.testing.assert_allclose(found[3], exact, atol=1e-6 * max(map(abs, exact)))
    assert outcome.ok or gap < 2.0**-30


@pytest.mark.parametrize("path", ["auto", "relaxed", "parallel", "narrow"])
def test_moments_of_positive_samples_stay_in_their_domain(path: Any) -> None:
    """Up from a mean of 26/5 to 6: then the second moment is the variance and 36, its gradient that of the variance."""
    y = sample("y", positive=True)
    plan, row = decouple([Mean(y), Mean(y**2)], [6, 50], path=path), [1, 2, 4, 8, 11]
    deviations = [v - Fraction(26, 5) for v in row]
    expected = [Fraction(26, 5), sum(v**2 for v in deviations) / 5 + 36]
    with mpmath.workdps(40):
        for dps, slack in ((None, 1e-13), (30, mpmath.mpf(10) ** -28)):
            found, slope = plan.transform(row, dps=dps), plan.gradients(row, dps=dps)[1]
            for a, b in zip((*found, *slope), (*expected, *(2 * v / 5 for v in deviations)), strict=True):
                assert abs(a - mpmath.mpf(b.numerator) / b.denominator) <= slack * max(1, abs(b))
