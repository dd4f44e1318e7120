"""Expressions of enclosed numbers: sums, products, whole powers and square roots, and nothing that is not proved."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from sympy import Add, Expr, Float, Mul, Pow, Rational

from symdecouple.analysis.enclosure.numbers import Numbers
from symdecouple.errors import UnsupportedExpression

__all__ = ["in_fractions", "value_of"]

Number: TypeAlias = Any


def in_fractions(expr: Expr) -> Expr:
    """Floats as the binary fractions that they are, which is what plans compute with."""
    return expr.xreplace({f: Rational(f) for f in expr.atoms(Float)})


def value_of(numbers: Numbers, expr: Expr, values: Mapping[Expr, Number]) -> Number:
    """Return an enclosure of an expression.

    Parameters
    ----------
    numbers : Numbers
    expr : Expr
        Without floats.
    values : mapping
        From its symbols to enclosures.

    Raises
    ------
    UnsupportedExpression
        For other functions.
    """
    if expr in values:
        return values[expr]
    if expr.is_Rational:
        return numbers.number(Fraction(int(expr.p), int(expr.q)))
    if isinstance(expr, Add | Mul):
        first, *others = (value_of(numbers, arg, values) for arg in expr.args)
        for other in others:
            first = first + other if isinstance(expr, Add) else first * other
        return first
    if isinstance(expr, Pow) and expr.exp.is_Rational and expr.exp.q <= 2:
        return _power(numbers, value_of(numbers, expr.base, values), int(expr.exp.p), int(expr.exp.q))
    raise UnsupportedExpression(f"enclosures take sums, products, powers and square roots, no {type(expr).__name__}: "
                                f"{str(expr)[:60]}")


def _power(numbers: Numbers, base: Number, exponent: int, root: int) -> Number:
    base = numbers.root(base) if root == 2 else base
    found = base
    for _ in range(abs(exponent) - 1):
        found = found * base
    return found if exponent > 0 else numbers.number(Fraction(1)) / found
