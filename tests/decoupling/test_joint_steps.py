"""Levels against independent values: 30 printed digits, the Moebius kernel, and differences judged by Richardson."""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import Expr, cos, exp, sin

from symdecouple.decoupling.joint_steps import JointSteps
from symdecouple.decoupling.orbit_motion import Moved, Unreachable
from symdecouple.decoupling.reference import reference_values
from symdecouple.flows.generators import generators
from symdecouple.flows.separable import flow
from symdecouple.flows.steps import TIME, make_steps
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.language.statistics import kurtosis, skewness, standard_deviation, variance
from symdecouple.numeric.features.expressions import as_multiprecision
from symdecouple.stats import orthokurtosis

ORACLE = json.loads((Path(__file__).parents[1] / "data" / "orthokurtosis.json").read_text())

SETS: dict[str, tuple[Expr, ...]] = {
    "standardized": (Mean(x), variance(), skewness(), kurtosis()),
    "raw": (Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)),
    "deviation": (Mean(x), standard_deviation(), skewness(), kurtosis()),
    "circular": (Mean(x), Mean(sin(x)), Mean(cos(x)), Mean(x**2)),
    "exponential": (Mean(x), Mean(exp(x)), Mean(exp(-x)), Mean(x**2)),
    "powers": (Mean(x**2), Mean(x**5), Mean(x**3)),
}


@cache
def plan(name: str, *values: int) -> tuple[JointSteps, tuple[Any, ...]]:
    """JointSteps and the reference values of all features but the last."""
    features = FeatureSet(SETS[name])
    count = len(features) - 1
    flows = [flow(u) for u in generators(list(features)[:count]).fields]
    reference = reference_values(features, values or "gaussian")[:count]
    formulas = [f.expr.xreplace({f.time: TIME}) for f in flows]
    return JointSteps(features, make_steps(list(features)[:count], formulas, list(reference), x), flows), reference


def imposed(name: str, points: Any, level: int, *values: int) -> tuple[JointSteps, Moved]:
    orbit, reference = plan(name, *values)
    numbers = np.asarray(points)
    if numbers.dtype == object:
        return orbit, orbit.impose(numbers, level, reference)
    return orbit, orbit.impose(numbers.astype(np.float64), level, [float(v) for v in reference])


def last_feature(name: str, points: Any, *values: int) -> Any:
    orbit, moved = imposed(name, points, plan(name, *values)[0].size, *values)
    return orbit.values(moved.values)[-1]


# --- the orthokurtosis ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ORACLE["undefined"], ids=lambda row: row["why"])
@pytest.mark.parametrize("dps", [0, 30])
def test_samples_without_zero_skewness_are_refused(row: Any, dps: int) -> None:
    with mpmath.workdps(dps or 15), pytest.raises(Unreachable) as refusal:
        imposed("standardized", as_multiprecision(row["sample"]) if dps else row["sample"], 3)
    outcome = refusal.value.outcome
    reason = next(reason for words, reason in (("no zero", "level 3 not attainable"), ("limit", "limit only"),
                                               ("two-valued", "critical point"), ("zero var", "level 2 not attainable"))
                  if row["why"].startswith(words))
    assert not outcome.ok and outcome.reason == reason
    assert "was asked for" in outcome.detail and 'perturb ties: decouple(..., perturb="ramp")' in outcome.detail


LAWS: dict[str, Any] = {
    "normal": lambda rng: rng.normal(size=100),
    "exponential": lambda rng: rng.exponential(size=60),
    "gamma(.125)": lambda rng: rng.gamma(0.125, size=100),
    "gamma(.02)": lambda rng: rng.gamma(0.02, size=100),
    "lognormal(3)": lambda rng: np.exp(3 * rng.normal(size=100)),
    "lognormal(5)": lambda rng: np.exp(5 * rng.normal(size=100)),
    "lognormal(10)": lambda rng: np.exp(10 * rng.normal(size=60)),
    "cauchy": lambda rng: rng.standard_cauchy(size=50),
    "offset": lambda rng: 1e8 + rng.normal(size=50),
    "large": lambda rng: 1e150 * rng.normal(size=50),
    "small": lambda rng: 1e-150 * rng.normal(size=50),
}


@pytest.mark.parametrize("law", LAWS)
def test_never_a_wrong_value_against_the_moebius_kernel(law: str) -> None:
    answered = 0
    for seed in range(8):
        points = LAWS[law](np.random.default_rng(seed))
        try:
            assert last_feature("standardized", points) == pytest.approx(orthokurtosis(points), rel=1e-9)
            answered += 1
        except Unreachable as refusal:
            assert refusal.outcome.reason == "beyond float64"
            assert "dps=" in refusal.outcome.detail
    assert answered == 8 or law in ("gamma(.02)", "lognormal(3)", "lognormal(5)", "lognormal(10)", "cauchy")


@pytest.mark.parametrize("law", ["lognormal(5)", "lognormal(10)"])
def test_more_digits_answer_what_float64_refuses(law: str) -> None:
    points = LAWS[law](np.random.default_rng(1))[:20]
    with mpmath.workdps(50):
        assert float(last_feature("standardized", as_multiprecision(points))) == pytest.approx(orthokurtosis(points),
                                                                                             rel=1e-13)


def test_refusal_tells_the_precision() -> None:
    points = LAWS["lognormal(10)"](np.random.default_rng(0))[:20]
    with mpmath.workdps(15), pytest.raises(Unreachable, match="beyond 15 digits"):
        imposed("standardized", as_multiprecision(points), 3)


# --- every family ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_features_up_to_the_level_are_at_their_references(name: str) -> None:
    orbit, reference = plan(name)
    points = np.random.default_rng(1).normal(size=40) * 0.8 + 0.3
    for k in range(orbit.size + 1):
        moved = imposed(name, points, k)[1]
        found = orbit.values(moved.values)[:k]
        np.testing.assert_allclose(found, [float(v) for v in reference[:k]], rtol=0, atol=1e-12)
        assert moved.residual < 1e-12
        assert moved.error.max() < 1e-12
    assert (imposed(name, points, 0)[1].values == points).all()


@pytest.mark.parametrize("name", ["standardized", "circular", "exponential", "powers"])
def test_float64_against_forty_digits(name: str) -> None:
    points = np.random.default_rng(4).normal(size=9)
    orbit, moved = imposed(name, points, plan(name)[0].size)
    with mpmath.workdps(40):
        precise = imposed(name, as_multiprecision(points), orbit.size)[1]
        assert precise.residual < mpmath.mpf(10) ** -36
    difference = np.abs(moved.values - precise.values.astype(float))
    np.testing.assert_allclose(moved.values, precise.values.astype(float), rtol=0, atol=1e-13)
    assert (difference <= 10 * moved.error.max()).all()
    np.testing.assert_allclose(moved.slope, precise.slope.astype(float), rtol=1e-11)


def test_a_target_that_is_not_attained_is_refused() -> None:
    with pytest.raises(Unreachable):
        imposed("raw", np.random.default_rng(8).normal(size=20), 2, 2, 3, 26)  # a second moment below mean**2
    with pytest.raises(Unreachable):
        imposed("raw", [1.0, 2.0, 4.0], 3, 0, 1, 50)


# --- derivatives ----------------------------------------------------------------------------------------------------


def projected_gradient(orbit: JointSteps, moved: Moved) -> Any:
    """Theorem F: slope times P_perp grad f_M at the normalized sample, P_perp off the generators."""
    y = moved.values
    fields, gradient = orbit.generators(y, orbit.size), orbit.gradients(y)[-1] / y.shape[-1]
    basis: list[Any] = []
    for field in fields:
        rest = field
        for unit in basis * 2:
            rest = rest - (unit @ rest) * unit
        basis.append(rest / (rest @ rest) ** 0.5)
    for unit in basis * 2:
        gradient = gradient - (unit @ gradient) * unit
    return moved.slope * gradient


def richardson(function: Any, points: Any, n: int, h: Any) -> Any:
    """Central differences with steps h, h/2, h/4, extrapolated to an error of h**6."""
    def central(step: Any) -> Any:
        up, down = points.copy(), points.copy()
        up[n], down[n] = up[n] + step, down[n] - step
        return (function(up) - function(down)) / (2 * step)

    table = [central(h), central(h / 2), central(h / 4)]
    table = [(4 * b - a) / 3 for a, b in itertools.pairwise(table)]
    return (16 * table[1] - table[0]) / 15


@pytest.mark.parametrize(("name", "places"), [("standardized", (0, 3)), ("exponential", (3,)), ("circular", (0,))])
def test_theorem_f_against_differences_at_fifty_digits(name: str, places: tuple[int, ...]) -> None:
    with mpmath.workdps(50):
        points = as_multiprecision([-1, "0.3", 2, "0.9", "-0.4"])
        orbit, moved = imposed(name, points, 3)
        found = projected_gradient(orbit, moved)
        for n in places:
            expected = richardson(lambda p: last_feature(name, p), points, n, mpmath.mpf(10) ** -5)
            assert abs(found[n] - expected) < mpmath.mpf(10) ** -20 * max(abs(found))
