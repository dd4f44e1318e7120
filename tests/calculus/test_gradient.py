"""Gradient fields with known formulas; the numeric laws are in tests/laws."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from sympy import Abs, Function, Symbol, cosh, exp, log, sign, sin, tanh

from symdecouple.calculus.gradient import gradient, leaves
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.canonical import close
from symdecouple.language.feature import Feature
from symdecouple.language.filters import Filter, Filtered, shift
from symdecouple.language.mean import Mean
from symdecouple.language.printer import to_text
from symdecouple.language.sample import coordinates, x
from symdecouple.language.statistics import kurtosis, skewness, variance
from symdecouple.language.text import parse_expression

a = Symbol("a")
m, v = Mean(x), variance()
h, f = Filter("h"), Function("f")


@pytest.mark.parametrize(
    ("feature", "expected"),
    [
        (m, sp.S(1)), (Mean(x**5), 5 * x**4), (v, 2 * (x - m)), (Mean((x - m) ** 2), 2 * (x - m)), (m**3, 3 * m**2),
        (log(Mean(exp(x))), exp(x) / Mean(exp(x))), (Mean(sin(a * x)), a * sp.cos(a * x)), (Mean(f(x)), f(x).diff(x)),
        (Mean(log(cosh(x - m))), tanh(x - m) - Mean(tanh(x - m))),
        (Mean((x - m) ** 3), 3 * (x - m) ** 2 - 3 * Mean((x - m) ** 2)),
        (skewness(), 3 * ((x - m) ** 2 - v - Mean((x - m) ** 3) / v * (x - m)) / v ** sp.Rational(3, 2)),
        (kurtosis(), 4 * ((x - m) ** 3 - Mean((x - m) ** 3) - Mean((x - m) ** 4) / v * (x - m)) / v**2),
        (Mean(h(x) ** 2), h.adjoint(2 * h(x))), (Mean(h(x)), h.dc), (Mean(h(x) ** 3), h.adjoint(3 * h(x) ** 2)),
        (Mean(x * shift(1)(x)), shift(1)(x) + shift(-1)(x)), (Mean(h(x**2) * x), h(x**2) + 2 * x * h.adjoint(x)),
    ],
    ids=str,
)
def test_known_gradients(feature: sp.Expr, expected: sp.Expr) -> None:
    assert sp.simplify(close(gradient(feature).expr - expected)) == 0


def test_gradients_in_coordinates() -> None:
    x1, x2, x3 = coordinates(3)
    field = gradient(x1 * exp(x2))
    assert field.components == (exp(x2), x1 * exp(x2), 0) and field.coordinates == (x1, x2, x3)
    assert Feature(x1).gradient == gradient(Feature(x1)) and field.gradient_of == Feature(x1 * exp(x2))


def test_what_was_allowed_is_passed_on() -> None:
    field = gradient(Feature(Mean(Abs(x) * x), allow_nonsmooth=["Abs", "sign"]))
    assert sp.simplify(field.expr - Abs(x) - x * sign(x)) == 0 and field.allow_nonsmooth == {"Abs", "sign"}


@pytest.mark.parametrize("value", [x, 3, "mean(x)", None])
def test_what_is_no_feature_has_no_gradient(value: Any) -> None:
    with pytest.raises((InvalidInput, UnsupportedExpression)):
        gradient(value)


def test_leaves_are_the_outermost_nodes() -> None:
    opened, nodes = leaves(Mean((x - m) ** 2) * m + h(x * m))
    assert set(nodes.values()) == {Mean((x - m) ** 2), m, h(x * m)}
    assert not opened.has(Mean, Filtered) and opened.xreplace(nodes) == Mean((x - m) ** 2) * m + h(x * m)


@pytest.mark.parametrize("expr", [
    Mean(f(h(x))), Mean(f(h(x)) ** 2 * x), f(m), f(m) * Mean(x**2), Mean(f(h(x) + x)), Mean(f(2 * h(x) ** 2)),
    Mean(f(x - m)), Mean(f(h(f(x)))),
], ids=str)
def test_an_undefined_function_is_differentiated_before_it_is_bound(expr: sp.Expr) -> None:
    """Binding first, or the gradient, is the same; and what is written as text reads back."""
    body = sin(x) + x**3
    bound_first, bound_last = Feature(expr).bind({f: body}).gradient.expr, gradient(expr).bind({f: body}).expr
    assert sp.expand(close(bound_first - bound_last, x)) == 0
    assert parse_expression(to_text(gradient(expr).expr)) == gradient(expr).expr
