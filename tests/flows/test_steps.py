"""Normalizers come out as the classical formulas; exact rational samples check each by substitution."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from sympy import (
    Abs,
    Expr,
    Integer,
    Rational,
    Symbol,
    asinh,
    atan,
    atanh,
    cos,
    exp,
    log,
    simplify,
    sin,
    sinh,
    sqrt,
    sympify,
    tan,
    tanh,
)

from symdecouple.flows.generators import generators
from symdecouple.flows.separable import flow
from symdecouple.flows.steps import TARGET, TIME, Step, composed, make_steps
from symdecouple.language.canonical import close
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
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
    assert third.time is None and third.formula is None


@pytest.mark.parametrize("features", STANDARD)
def test_third_modified_feature_is_the_skewness(features: list[Expr]) -> None:
    second = steps_of(features, [0, 1, 0])[1]
    modified = composed(features[2], second.formula, x)
    assert simplify(close(modified - skewness(), x)) == 0
    for points in SAMPLES:
        values = [at_sample(e, [Rational(p) for p in points]) for e in (modified, skewness())]
        assert simplify(values[0] - values[1]) == 0


@pytest.mark.parametrize(("features", "values", "formula"), [
    ([M, variance()], [2, 9], 2 + 3 * (x - M) / S), ([M, Mean(x**2)], [2, 7], 2 + sqrt(3) * (x - M) / S),
    ([M, standard_deviation()], [-1, 5], -1 + 5 * (x - M) / S),
    ([Mean(x**2), Mean(x**5)], [4, None], 2 * x / sqrt(Mean(x**2))), ([Mean(exp(x))], [3], None),
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


def test_without_a_value_before_no_formula_follows() -> None:
    flows = [x + TIME, x * exp(TIME)]
    steps = make_steps([Feature(M), Feature(variance())], flows, [None, None], x)
    assert steps[0].time is not None and steps[0].formula is None
    assert steps[1].kind == "implicit"


def shifted(feature: Expr, value: Any) -> Step:
    return make_steps([Feature(feature)], [x + TIME], [value], x)[0]


@pytest.mark.parametrize(("feature", "value", "formula"), [
    (M**3, 8, x - M + 2), (M**3, -8, x - M - 2), (M**5 + 3, 5, x - M + Integer(2) ** Rational(1, 5)),
    (log(Mean(exp(x))), 0, x - log(Mean(exp(x)))), (Mean(exp(2 * x)), 3, x - log(Mean(exp(2 * x)) / 3) / 2),
    (exp(M), 2, x - M + log(2)), (tanh(M), Rational(1, 2), x - M + atanh(Rational(1, 2))),
    (sinh(2 * M + 1), 1, x - M + asinh(1) / 2 - Rational(1, 2)), (M / (1 + M), 3, x - M - Rational(3, 2)),
    (2 * atan(M) - 1, Rational(1, 2), x - M + tan(Rational(3, 4))),
])
def test_monotone_functions_around_t_are_undone(feature: Expr, value: Any, formula: Expr) -> None:
    step = shifted(feature, sympify(value))
    assert step.kind == "explicit" and not step.takes_branch
    assert simplify(step.formula - formula) == 0


@pytest.mark.parametrize(("feature", "value", "centre", "reach"), [
    (M**2, 4, 0, 2), ((M - 50) ** 2, 4, 50, 2), (M**2 + M, 5, Rational(-1, 2), sqrt(21) / 2),
    (1 / (1 + M**2), Rational(1, 3), 0, sqrt(2)), (exp(M**2), exp(4), 0, 2)])
def test_of_two_roots_the_one_on_the_side_of_the_sample_is_taken(feature: Expr, value: Any, centre: Any,
                                                                reach: Any) -> None:
    step = shifted(feature, sympify(value))
    assert step.takes_branch
    centre = sympify(centre)
    for points, side in ([centre + 1, centre + 5], 1), ([centre - 7, centre + 1], -1):
        new = moved(step.formula, points)
        assert simplify(sum(new) / 2 - centre - side * reach) == 0
        assert simplify(at_sample(feature, new) - value) == 0
    assert not at_sample(step.time.xreplace({TARGET: sympify(value)}), [centre - 1, centre + 1]).is_finite


def test_scaling_keeps_the_order_of_samples() -> None:
    """(2 x/m)^2 has the average value 4 too, but turns samples of negative mean round: no flow x e^t does."""
    step = make_steps([Feature(M**2)], [x * exp(TIME)], [Integer(4)], x)[0]
    assert step.formula == 2 * x / Abs(M) and not step.takes_branch
    assert moved(step.formula, [-1, -3]) == [-1, -3]
    cubed = make_steps([Feature(M**3)], [x * exp(TIME)], [Integer(8)], x)[0].formula
    assert simplify(moved(cubed, [1, 3])[1] - 3) == 0
    assert not simplify(moved(cubed, [-1, -3])[1]).is_real


@pytest.mark.parametrize(("feature", "flow", "value"), [
    (M**2, x + TIME, -4), (exp(M), x + TIME, -2), (atan(M), x + TIME, 2), (Mean(x**2), x * exp(TIME), 0),
    (Mean(x**2), x * exp(TIME), -1), (standard_deviation(), x * exp(TIME), -1)])
def test_values_of_no_sample_have_no_formula(feature: Expr, flow: Expr, value: int) -> None:
    step = make_steps([Feature(feature)], [flow], [Integer(value)], x)[0]
    assert step.time is not None and step.formula is None


def test_values_that_no_sample_takes_after_the_mean() -> None:
    assert steps_of([M, Mean(x**2)], [0, -1])[1].formula is None
    assert steps_of([M, Mean(x**2)], [2, 3])[1].formula is None  # a variance of -1


@pytest.mark.parametrize("feature", [M**4 + M, M + exp(M), sin(M), Mean(x**2) + M**3])
def test_what_is_not_solved_stays_implicit(feature: Expr) -> None:
    step = shifted(feature, Integer(1))
    assert step.kind == "implicit"


def test_symbols_as_values() -> None:
    v, w = Symbol("v1", real=True), Symbol("v2", real=True)
    flows = [x + TIME, x * exp(TIME)]
    formula = make_steps([Feature(M), Feature(Mean(x**2))], flows, [v, w], x)[1].formula
    assert simplify(formula - v - sqrt((w - v**2) / variance()) * (x - M)) == 0


def test_signs_and_roots_come_out_plain_after_a_branch() -> None:
    second = steps_of([M**2, Mean(x**2)], [4, 5])[1]
    assert simplify(second.formula - 2 * M / Abs(M) - (x - M) / S) == 0
    assert len(str(second.formula)) < 120


def test_composed_replaces_inside_averages() -> None:
    assert composed(x + Mean(x**2), 2 * x, x) == 2 * x + Mean((2 * x) ** 2)
    assert composed(Mean((x - Mean(x)) ** 2), x + Mean(x), x) == Mean((x + Mean(x) - Mean(x + Mean(x))) ** 2)
