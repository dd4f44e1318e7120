"""Numbers as they are written: what text, floats and exact numbers stand for, and ends in decimals, rounded outward."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from sympy import Expr

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.intake import exact

__all__ = ["as_exact", "decimals", "values_of"]

_DIGITS = 320  # taken of an irrational number
_EXPONENTS = 100_000  # beyond, a ratio of integers would fill the memory


def as_exact(value: Any) -> Fraction | float:
    """As `exact`, and a `Float` of SymPy with all of its bits."""
    return exact(sp.Rational(value) if isinstance(value, sp.Float) else value)


def values_of(value: Any) -> tuple[Fraction, Fraction]:
    """Return the least and the largest number that a value stands for.

    Text and decimals stand for what rounds to them, floats for what rounds to them in their own format; everything
    else for itself.

    Raises
    ------
    InvalidInput
        If it is no finite real number.
    """
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, Decimal):
        return _of_decimal(value)
    if isinstance(value, float | np.floating) and np.isfinite(value):
        half = Fraction(as_exact(np.spacing(np.abs(value)))) / 2
        middle = as_exact(value)
        return Fraction(middle) - half, Fraction(middle) + half
    if isinstance(value, Expr) and not value.is_Rational and not value.is_Float:
        return _of_symbols(value)
    try:
        found = as_exact(value)
    except InvalidInput:
        found = math.nan
    if not isinstance(found, Fraction):
        raise _not_a_number(value)
    return found, found


def _not_a_number(value: Any) -> InvalidInput:
    return InvalidInput(f"a finite real number is expected, got {str(value)[:40]} of type {type(value).__name__}")


def _of_text(text: str) -> tuple[Fraction, Fraction]:
    try:
        return _of_decimal(Decimal(text))
    except InvalidOperation:
        pass
    try:
        found = Fraction(text)  # "1/3"
    except (ValueError, ZeroDivisionError):
        raise _not_a_number(text) from None
    return found, found


def _of_decimal(value: Decimal) -> tuple[Fraction, Fraction]:
    last = value.as_tuple().exponent
    if not isinstance(last, int) or max(abs(last), abs(value.adjusted())) > _EXPONENTS:
        raise _not_a_number(value)
    half = Fraction(10) ** last / 2
    return Fraction(value) - half, Fraction(value) + half


def _of_symbols(value: Expr) -> tuple[Fraction, Fraction]:
    if not (value.is_number and value.is_extended_real and value.is_finite):
        raise _not_a_number(value)
    near = value.evalf(_DIGITS)
    if not near.is_Float or near._prec < _DIGITS or near == 0:  # digits were lost: it may be 0
        if sp.simplify(value) == 0:
            return Fraction(0), Fraction(0)
        raise InvalidInput(f"{str(value)[:40]} is not told from 0 in {_DIGITS} digits; give a number in digits")
    middle = Fraction(as_exact(near))
    far = abs(middle) / 2 ** (near._prec - 16)
    return middle - far, middle + far


def decimals(value: Fraction, digits: int, upward: bool) -> str:
    """Write a number with so many digits, rounded down or up.

    >>> decimals(Fraction(2, 3), 4, False), decimals(Fraction(2, 3), 4, True), decimals(Fraction(-5, 2), 4, True)
    ('0.6666', '0.6667', '-2.5')
    """
    rounding = ROUND_CEILING if upward else ROUND_FLOOR
    with localcontext(Context(digits, rounding, MIN_EMIN, MAX_EMAX)):
        shown = Decimal(value.numerator) / value.denominator
        shortest = shown.normalize()  # of 10 it is 1E+1
        return str(shortest if int(shortest.as_tuple().exponent) <= 0 else shown.to_integral_value())
