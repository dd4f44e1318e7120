"""The field of the statistics against SymPy at random values; roots obey their equation."""

from __future__ import annotations

import pytest
import sympy as sp
from sympy import Rational, cos, exp, log, sin, sqrt

from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.errors import UnsupportedExpression

s, t = sp.symbols("s t", real=True)
p = sp.Symbol("p", positive=True)
AT = {s: Rational(3, 7), t: Rational(5, 2), p: Rational(11, 3)}

EXPRESSIONS = [
    s / (t + 1), sqrt(p) * s, p ** Rational(3, 2) + sqrt(p), (s**2 + t**2) ** Rational(-5, 2), exp(s) * exp(-2 * s),
    exp(s / 2) + exp(s / 3), sin(s) ** 2 * cos(s), log(p) * s, sqrt(1 + sqrt(1 + s**2)), sqrt(2) * s + sqrt(8),
    1 / (1 + sqrt(p)), p ** Rational(1, 3) * p ** Rational(1, 2), exp(s + t), cos(2 * s) / (1 + s**2), sp.pi * s,
]


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_encoding_keeps_the_value(expr: sp.Expr) -> None:
    field = CoefficientField([expr])
    assert abs((field.decode(field.encode(expr)) - expr).subs(AT).evalf(30)) < 1e-25


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_the_differential_against_sympy(expr: sp.Expr) -> None:
    slopes = {s: s + 2, t: s * t, p: p**2}
    expected = sum(expr.diff(v) * slope for v, slope in slopes.items())
    field = CoefficientField([expr, *slopes, expected])
    found = field.differential(field.encode(expr), {v: field.encode(slope) for v, slope in slopes.items()})
    assert abs((field.decode(found) - expected).subs(AT).evalf(30)) < 1e-25


@pytest.mark.parametrize(
    "expr",
    [
        sqrt(p) ** 2 - p, (sqrt(1 + s**2) - 1) * (sqrt(1 + s**2) + 1) - s**2, sin(s) ** 2 + cos(s) ** 2 - 1,
        exp(s) * exp(-s) - 1, (1 + sqrt(2)) ** 2 - 3 - 2 * sqrt(2), (p ** Rational(1, 3)) ** 3 - p,
        sqrt(1 + sqrt(1 + s**2)) ** 4 - 2 - s**2 - 2 * sqrt(1 + s**2), exp(s / 2) ** 2 * exp(s / 3) ** 3 - exp(2 * s),
    ],
    ids=str,
)
def test_hidden_zeros_are_zero(expr: sp.Expr) -> None:
    terms = sp.Add.make_args(expr)
    field = CoefficientField(terms)
    assert field.reduced(sum((field.encode(term) for term in terms), field.field.zero)) == 0


@pytest.mark.parametrize("expr", [sqrt(p) - p, sqrt(1 + s**2) - s - 1, exp(s) - exp(t), sin(s) - cos(s), log(p) - p])
def test_what_is_not_zero_is_not_zero(expr: sp.Expr) -> None:
    assert CoefficientField([expr]).encode(expr) != 0


def test_common_factors() -> None:
    exprs = [s / (t * (t + 1)), s**2 / t, s * sqrt(1 + s**2) / t]
    field = CoefficientField(exprs)
    elements = [field.encode(e) for e in exprs]
    factor, numerators = field.common(elements)
    assert [field.reduced(factor * field.field(n)) for n in numerators] == elements
    assert sp.gcd_list([n.as_expr() for n in numerators]) == 1


def test_division_by_a_hidden_zero_is_refused() -> None:
    field = CoefficientField([sin(s), cos(s)])
    with pytest.raises(UnsupportedExpression, match="vanishes identically"):
        field.reduced(1 / (field.encode(sin(s)) ** 2 + field.field(field.encode(cos(s)).numer ** 2) - 1))


def test_what_is_no_coefficient_is_refused() -> None:
    with pytest.raises(UnsupportedExpression, match="not a coefficient"):
        CoefficientField([s]).encode(sqrt(t + 1))
