"""Binding parameters, filters and undefined functions; writing averages out over coordinates."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from sympy import Function, Rational, Symbol, cos, exp, sin, sqrt

from symdecouple import Feature, FeatureSet, Filter, InvalidInput, Mean, coordinates, sample, shift, x
from symdecouple.language.binding import bind, parameters_of, spread

a, b = Symbol("a"), Symbol("b")
h, q = Filter("h"), Function("q")
m = Mean(x)


def test_parameters_are_everything_that_is_free() -> None:
    assert parameters_of(Mean(a * x)) == {a}
    assert parameters_of(Mean(h(x) ** 2 * q(x))) == {h, q}, "the filter itself, not the symbol of its name"
    assert parameters_of(Mean(Filter([-a, 1, a])(x) ** 2)) == {a}
    assert parameters_of(Mean(h.adjoint(x) * h(x)) + h.dc) == {h}
    assert parameters_of(m**2 + sp.pi) == frozenset()


@pytest.mark.parametrize(
    ("expr", "values", "expected"),
    [
        (Mean(exp(a * x)), {a: 2}, Mean(exp(2 * x))), (Mean(exp(a * x)), {"a": 0.5}, Mean(exp(x / 2))),
        (Mean(a * x) + a, {a: b}, Mean(b * x) + b), (Mean((x - a) ** 2), {a: m}, Mean((x - m) ** 2)),
        (Mean(h(x) ** 2), {h: [1, 2, 3]}, Mean(Filter([1, 2, 3])(x) ** 2)),
        (Mean(h(x) ** 2), {"h": shift(1)}, Mean(shift(1)(x) ** 2)),
        (Mean(h.adjoint(h(x))), {h: [1, 2, 4]}, Mean(Filter([4, 2, 1])(Filter([1, 2, 4])(x)))),
        (h.dc * m, {h: [1, 2, 4]}, 7 * m), (Mean(q(x)), {q: x**3}, Mean(x**3)),
        (Mean(q(x)), {q(x): sin(x)}, Mean(sin(x))), (Mean(q(x)), {"q": cos(x)}, Mean(cos(x))),
        (Mean(q(x - m)), {q: x**2}, Mean((x - m) ** 2)), (Mean(q(q(x))), {q: x**2 + 1}, Mean((x**2 + 1) ** 2 + 1)),
        (Mean(q(x).diff(x)), {q: x**3}, Mean(3 * x**2)), (Mean(q(x).diff(x, 2) * x), {q: sin(x)}, Mean(-x * sin(x))),
        (Mean(q(x)) + a, {q: 5 + x}, Mean(x + 5) + a),
    ],
    ids=str,
)
def test_binding_replaces_inside_averages(expr: sp.Expr, values: dict[Any, Any], expected: sp.Expr) -> None:
    assert sp.expand(bind(expr, values) - expected) == 0


def test_the_derivative_at_a_point_is_bound_too() -> None:
    bound = bind(Mean(q(2 * x)).body.diff(Mean(q(2 * x)).bound), {q: sin(x)})
    assert sp.simplify(bound.subs(Mean(x).bound, a) - 2 * cos(2 * a)) == 0


def test_a_parameter_cannot_become_the_sample() -> None:
    with pytest.raises(InvalidInput, match="contains the sample"):
        bind(Mean(a * x), {a: x})


@pytest.mark.parametrize("value", ["2", None, True, [1]])
def test_a_value_that_is_no_exact_expression_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput):
        bind(Mean(a * x), {a: value})


def test_binding_a_set_checks_its_keys_and_its_result() -> None:
    features = FeatureSet([m, Mean(x**2 + a * x**3)])
    assert features.bind({"a": 0}) == FeatureSet([m, Mean(x**2)])
    with pytest.raises(InvalidInput, match=r"nothing named b occurs.*are a"):
        features.bind({b: 1})
    with pytest.raises(InvalidInput, match="are the same"):
        FeatureSet([m, Mean(a * x)]).bind({a: 1})
    with pytest.raises(InvalidInput, match="does not depend on the sample"):
        FeatureSet([m, Mean(a * x**2)]).bind({a: 0})
    with pytest.raises(InvalidInput, match="infinite"):
        features.bind({a: float("inf")})
    with pytest.raises(InvalidInput, match="none"):
        FeatureSet([m]).bind({"a": 1})


# --- spreading, against sums written by hand --------------------------------------------------------------------

P = coordinates(3)


def hand(body: Any) -> sp.Expr:
    return sp.Add(*(body(n) for n in range(3))) / 3


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (m, hand(lambda n: P[n])), (Mean(x**2) - m**2, hand(lambda n: P[n] ** 2) - hand(lambda n: P[n]) ** 2),
        (Mean((x - m) ** 3), hand(lambda n: (P[n] - sum(P) / 3) ** 3)),
        (Mean(x * shift(1)(x)), hand(lambda n: P[n] * P[n - 1])),
        (Mean(Filter([1, 2, 4])(x) ** 2), hand(lambda n: (P[(n + 1) % 3] + 2 * P[n] + 4 * P[n - 1]) ** 2)),
        (Mean(shift(1)(x * shift(1)(x))), hand(lambda n: P[n - 1] * P[n - 2])),
        (sqrt(Mean(exp(a * x))), sqrt(hand(lambda n: exp(a * P[n])))), (Mean(q(x)), hand(lambda n: q(P[n]))),
    ],
    ids=str,
)
def test_spreading_against_the_sum_by_hand(expr: sp.Expr, expected: sp.Expr) -> None:
    assert sp.expand(spread(expr, P) - expected) == 0


def test_the_free_symbol_is_one_coordinate() -> None:
    assert spread((x - m) ** 2, P, x, 1) == (P[1] - sum(P) / 3) ** 2
    assert spread(Filter([1, 0, 0])(x), P, x, 0) == P[1]


def test_features_in_coordinates_keep_what_was_allowed() -> None:
    feature = Feature(Mean(sp.Abs(x)), allow_nonsmooth="Abs").at(n_samples=2)
    assert feature.allow_nonsmooth == {"Abs"} and feature.kind == "coordinates" and len(feature.coordinates) == 2
    assert feature.at(n_samples=2) == feature
    with pytest.raises(InvalidInput, match="2 coordinates, not 3"):
        feature.at(n_samples=3)
    assert Feature(Mean(Rational(1, 2) * sample(positive=True))).at(n_samples=2).expr == sum(coordinates(2)) / 4
