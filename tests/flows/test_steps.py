"""Normalizers come out as the classical formulas; exact rational samples check each by substitution."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from sympy import Expr, Integer, Rational, cos, exp, log, simplify, sin, sqrt

from symdecouple.flows.generators import generators
from symdecouple.flows.steps import TARGET, TIME, Step, composed, make_steps
from symdecouple.flows.separable import flow
from symdecouple.language.canonical import close
from symdecouple.language.feature import Feature, FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.language.statistics import central_moment, skewness, standard_deviation, variance

M, S = Mean(x), sqrt(variance())
SAMPLES = [[1, 2, 4, 8, 16], [-3, Fraction(1, 2), 0, 7], [Fraction(-5, 3), 2, 2, 9, 1, 0]]


def steps_of(features: list[Expr], values: list[Any]) -> list[Step]:
    flows = [flow(u, time=TIME).expr for u in generators(features).fields]
    return make_steps(list(FeatureSet(features)), flows, [None if v is None else Integer(v) for v in values], x)


def at_sample(expr: Expr, points: list[Any]) -> Expr:
    """Averages written out over the points, innermost first: an independent evaluator."""
    if isinstance(expr, Mean):
        body = expr.opened(x)
        return sum((at_sample(body.xreplace({x: p}), points) for p in points), Integer(0)) / len(points)
    if not expr.args:
        return expr
    return expr.func(*(at_sample(arg, points) for arg in expr.args))


def moved(formula: Expr, points: list[Any]) -> list[Expr]:
    exact = [Rational(p) for p in points]
    return [at_sample(formula.xreplace({x: p}), exact) for p in exact]


STANDARD = [[M, variance(), skewness()], [M, Mean(x**2), Mean(x**3)], [M, standard_deviation(), skewness()],
            [M, variance(), central_moment(3)]]


@pytest.mark.parametrize("features", STANDARD)
def test_standardization_comes_out(features: list[Expr]) -> None:
    first, second, third = steps_of(features, [0, 1, 0])
    assert first.formula == x - M
    assert simplify(close(second.formula - (x - M) / S, x)) == 0
    assert second.formula == (x - M) / S
    assert [s.kind for s in (first, second, third)] == ["explicit", "explicit", "implicit"]
    assert third.time is None and third.formula is None and third.equation is not None


@pytest.mark.parametrize("features", STANDARD)
def test_third_modified_feature_is_the_skewness(features: list[Expr]) -> None:
    second = steps_of(features, [0, 1, 0])[1]
    modified = composed(features[2], second.formula, x)
    assert simplify(close(modified - skewness(), x)) == 0
    for points in SAMPLES:
        values = [at_sample(e, [Rational(p) for p in points]) for e in (modified, skewness())]
        assert simplify(values[0] - values[1]) == 0


@pytest.mark.parametrize(("features", "values", "formula"), [
    ([M, variance()], [2, 9], 2 + 3 * (x - M) / S),
    ([M, Mean(x**2)], [2, 7], 2 + sqrt(3) * (x - M) / S),
    ([M, standard_deviation()], [-1, 5], -1 + 5 * (x - M) / S),
    ([Mean(x**2), Mean(x**5)], [4, None], 2 * x / sqrt(Mean(x**2))),
    ([Mean(exp(x))], [3], None),
])
def test_other_references(features: list[Expr], values: list[Any], formula: Expr | None) -> None:
    steps = steps_of(features, values)
    last = [s for s in steps if s.formula is not None][-1:]
    if formula is None:
        assert not last
        return
    assert simplify(last[0].formula - formula) == 0
    for points in SAMPLES:
        new = moved(last[0].formula, points)
        for k in range(steps.index(last[0]) + 1):
            assert simplify(at_sample(features[k], new) - values[k]) == 0


@pytest.mark.parametrize(("features", "kinds"), [
    ([Mean(x**2), Mean(x**5)], ["explicit", "implicit"]),
    ([M, Mean(sin(x)), Mean(cos(x))], ["explicit", "implicit", "implicit"]),
    ([M, Mean(exp(x)), Mean(exp(-x))], ["explicit", "implicit", "implicit"]),
    ([Mean(x**2), Mean(x**4)], ["explicit", "implicit"]),
])
def test_implicit_where_no_formula_exists(features: list[Expr], kinds: list[str]) -> None:
    steps = steps_of(features, [1] * len(features))
    assert [s.kind for s in steps] == kinds
    assert steps[-1].formula is None
    assert r"\varphi_t(x)" in steps[-1].latex() and r"\hat x" in steps[0].latex()


def test_level_1_of_even_and_odd_power() -> None:
    assert steps_of([Mean(x**2), Mean(x**5)], [1, 0])[0].formula == x / sqrt(Mean(x**2))


@pytest.mark.parametrize("points", SAMPLES)
@pytest.mark.parametrize("target", [Rational(1, 3), Integer(6)])
@pytest.mark.parametrize("feature", [variance(), standard_deviation(), Mean(x**2)])
def test_solved_time_brings_the_feature_to_the_target(feature: Expr, target: Expr, points: list[Any]) -> None:
    first, second = steps_of([M, feature], [0, None])
    exact = [Rational(p) for p in points]
    t = at_sample(second.time.xreplace({TARGET: target}), exact)
    centre = sum(exact, Integer(0)) / len(exact)
    new = [(p - centre) * exp(t) for p in exact]
    assert simplify(at_sample(feature, new) - target) == 0
    assert first.time == TARGET - M


def test_equation_vanishes_at_the_time() -> None:
    second = steps_of([M, variance()], [0, 1])[1]
    t = second.time.xreplace({TARGET: Integer(4)})
    assert simplify(close(second.equation.xreplace({TIME: t, TARGET: Integer(4)}), x)) == 0


def test_without_a_value_before_no_equation_follows() -> None:
    flows = [x + TIME, x * exp(TIME)]
    steps = make_steps([Feature(M), Feature(variance())], flows, [None, None], x)
    assert steps[0].time is not None and steps[0].formula is None
    assert steps[1].equation is None and steps[1].kind == "implicit"


def test_a_formula_that_fails_at_samples_is_not_kept() -> None:
    """The equation of log Mean(exp(x)) along the flow x + t has t outside exponentials too."""
    step = make_steps([Feature(log(Mean(exp(x))))], [x + TIME], [Integer(0)], x)[0]
    assert step.time is None or simplify(composed(step.feature.expr, step.formula, x)) == 0


def test_composed_replaces_inside_averages() -> None:
    assert composed(x + Mean(x**2), 2 * x, x) == 2 * x + Mean((2 * x) ** 2)
    assert composed(Mean((x - Mean(x)) ** 2), x + Mean(x), x) == Mean((x + Mean(x) - Mean(x + Mean(x))) ** 2)
