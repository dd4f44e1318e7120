"""Derivatives along directions in terms of parts, against SymPy's derivatives of the whole."""

from __future__ import annotations

import pytest
from sympy import Add, Expr, Integer, S, Symbol, cos, count_ops, exp, log, sin, sqrt, symbols, tanh

from symdecouple import Feature, kurtosis
from symdecouple.numeric.features.coordinates import tangents

X, Y, U, V = symbols("x y u v", real=True)
SHARED = exp(X * Y) + sqrt(X**2 + 3)


def written_out(expr: Expr, parts: list[tuple[Symbol, Expr]]) -> Expr:
    for name, part in reversed(parts):
        expr = expr.xreplace({name: part})
    return expr


@pytest.mark.parametrize("exprs", [
    [X**2 * Y],
    [SHARED, SHARED**2 * sin(SHARED), SHARED / (1 + SHARED**2)],
    [log(1 + X**2) * tanh(X * Y), cos(log(1 + X**2)), Integer(3), X],
], ids=str)
def test_each_group_goes_along_its_own_direction(exprs: list[Expr]) -> None:
    directions = [{X: U, Y: V}, {Y: U}]
    parts, rates = tangents([exprs, exprs], directions)
    at = {X: S(2) / 3, Y: S(5) / 7, U: S(-3) / 2, V: S(4) / 9}
    for direction, found in zip(directions, rates, strict=True):
        for expr, rate in zip(exprs, found, strict=True):
            expected = Add(*(expr.diff(s) * u for s, u in direction.items()))
            assert abs((written_out(rate, parts) - expected).xreplace(at).evalf(40)) < 1e-35


def test_parts_stand_before_they_are_used() -> None:
    parts, rates = tangents([[SHARED, SHARED**2 * sin(SHARED)]], [{X: U, Y: V}])
    known = {X, Y, U, V}
    for name, part in parts:
        assert part.free_symbols <= known
        known.add(name)
    assert all(rate.free_symbols <= known for rate in rates[0])


def test_a_constant_direction_changes_nothing() -> None:
    assert tangents([[SHARED, X]], [{}])[1] == [[0, 0]]


def test_second_derivatives_grow_as_the_gradient_does() -> None:
    """Twice the coordinates: the gradient of the kurtosis has twice the terms, its Hessian applied to a field too."""
    sizes = []
    for n in (4, 8):
        feature = Feature(kurtosis()).at(n_samples=n)
        gradient = [feature.expr.diff(c) for c in feature.coordinates]
        parts, (rates,) = tangents([gradient], [{c: Symbol(f"w{c}") for c in feature.coordinates}])
        sizes.append(count_ops([part for _, part in parts] + rates))
    assert sizes[1] < 3 * sizes[0]
