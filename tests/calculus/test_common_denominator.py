"""Zero over one denominator: the same answers as exact field arithmetic, in the presence of roots and waves."""

from __future__ import annotations

import pytest
from sympy import Expr, cos, exp, sin, sqrt, symbols, tan

from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.errors import UnsupportedExpression

p, q, r = symbols("p q r", positive=True)


@pytest.mark.parametrize("expr", [
    1 / (p + q) - 1 / p + q / (p * (p + q)), 1 / (1 + 1 / (1 + 1 / p)) - (p + 1) / (2 * p + 1),
    (p**3 - q**3) / (p - q) - p**2 - p * q - q**2, 1 / (sqrt(p) + sqrt(q)) - (sqrt(p) - sqrt(q)) / (p - q),
    sqrt(p + sqrt(q)) ** 4 - p**2 - 2 * p * sqrt(q) - q, sin(p) ** 2 / (1 - cos(p)) - 1 - cos(p),
    1 / (1 + tan(p) ** 2) - cos(p) ** 2, exp(p) / (exp(p) + exp(q)) + exp(q - p) / (1 + exp(q - p)) - 1,
    (p / q) ** -3 * (p / q) ** 5 - (p / q) ** 2, p - p,
], ids=str)
def test_what_is_zero_vanishes_and_what_is_not_does_not(expr: Expr) -> None:
    field = CoefficientField([expr, p, q, r])
    assert field.vanishes(expr)
    for other in (expr + p / (q + r), expr * p + 1, expr - r / 10**9):
        assert not CoefficientField([other]).vanishes(other)


@pytest.mark.parametrize("expr", [
    1 / (sin(p) ** 2 + cos(p) ** 2 - 1), p + 1 / ((p + q) ** 2 - p**2 - 2 * p * q - q**2),
], ids=str)
def test_a_denominator_that_vanishes_is_an_error(expr: Expr) -> None:
    with pytest.raises(UnsupportedExpression):
        CoefficientField([expr]).vanishes(expr)
