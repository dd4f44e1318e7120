"""Gradients and Hessians against SymPy in explicit coordinates."""

from __future__ import annotations

import itertools
from functools import cache
from itertools import combinations
from typing import Any

import pytest
import sympy as sp

from symdecouple import Feature, VectorField, coordinates, derivative_along, inner_product, lie_bracket
from tests.laws.examples import EXPLICIT, FEATURES, FIELDS, FILTERED, SETS, a

N = 4
POINTS = coordinates(N)
PLAIN = sp.symbols("y1:5", real=True)
VALUES = dict(zip(PLAIN, map(sp.Rational, ("1/2", "-2", "3", "7/3")), strict=True))
ALL = {**FEATURES, **FILTERED}


@cache
def explicit(name: str) -> sp.Expr:
    """The feature as a plain SymPy function of plain symbols."""
    return Feature(ALL[name]).at(n_samples=N).expr.xreplace(dict(zip(POINTS, PLAIN, strict=True))).subs(a, 2)


def number(expr: Any) -> Any:
    return sp.N(
        sp.sympify(expr).xreplace({**dict(zip(POINTS, PLAIN, strict=True)), a: sp.Integer(2)}).xreplace(VALUES), 40
    )


@cache
def hessian(name: str) -> list[list[Any]]:
    gradient = [explicit(name).diff(y) for y in PLAIN]
    return [[number(g.diff(y)) for y in PLAIN] for g in gradient]


def components(field: VectorField) -> list[Any]:
    return [number(c) for c in field.at(n_samples=N).components]


def same(left: Any, right: Any) -> bool:
    return bool(abs(sp.N(left - right, 30)) < 1e-25 * (1 + abs(right)))


@pytest.mark.parametrize("name", ALL)
def test_the_gradient_against_sympy_in_coordinates(name: str) -> None:
    field = Feature(ALL[name]).gradient
    expected = [N * number(explicit(name).diff(y)) for y in PLAIN]
    assert all(map(same, components(field), expected))


@pytest.mark.parametrize(("name", "along"), [
    *zip(ALL, itertools.cycle(["square", "centred", "statistic"]), strict=False)])
def test_the_derivative_of_a_gradient_is_the_hessian_times_the_field(name: str, along: str) -> None:
    """D_u v_f = N Hessian(f) u."""
    u = FIELDS[along]
    moved = derivative_along(u, Feature(ALL[name]).gradient)
    values = components(u)
    expected = [N * sum(h * c for h, c in zip(row, values, strict=True)) for row in hessian(name)]
    assert all(map(same, components(moved), expected))


@pytest.mark.parametrize(
    ("first", "second"),
    [*combinations(["mean", "kurtosis", "third", "exponential"], 2), ("lag", "energy"), ("cube", "variance")],
)
def test_the_inner_product_against_coordinates(first: str, second: str) -> None:
    """<u, v> = Mean(u v) = N grad f . grad g."""
    product = inner_product(ALL[first], ALL[second])
    found = Feature(product + ALL[first]).at(n_samples=N).expr - Feature(ALL[first]).at(n_samples=N).expr
    expected = N * sum(number(explicit(first).diff(y) * explicit(second).diff(y)) for y in PLAIN)
    assert same(number(found), expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("variance", "third"), ("kurtosis", "mean"), ("exponential", "second"), ("lag", "energy"), ("cube", "variance"),
        ("composed", "lag"), ("trigonometric", "rational"), ("centred", "cube"),
    ],
)
def test_the_bracket_of_gradients_against_coordinates(first: str, second: str) -> None:
    bracket = components(lie_bracket(ALL[first], ALL[second]))
    u, v = ([N * explicit(n).diff(y) for y in PLAIN] for n in (first, second))
    for k in range(N):
        expected = sum(number(v[k].diff(y) * a_ - u[k].diff(y) * b_) for y, a_, b_ in zip(PLAIN, u, v, strict=True))
        assert same(bracket[k], expected)


def test_the_bracket_in_coordinates_against_the_definition() -> None:
    for u, v in combinations(EXPLICIT.values(), 2):
        points = u.coordinates
        for k, found in enumerate(lie_bracket(u, v).components):
            expected = sum(
                v.components[k].diff(s) * c - u.components[k].diff(s) * d
                for s, c, d in zip(points, u.components, v.components, strict=True)
            )
            assert sp.simplify(found - expected) == 0


@pytest.mark.parametrize("name", SETS)
def test_every_set_has_gradients_that_print(name: str) -> None:
    for expr in SETS[name][0]:
        assert str(Feature(expr).gradient).startswith("N grad f = ")
