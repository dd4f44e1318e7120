"""Numbers for flows: exact intake, high precision with derived guard digits, and source text as a function."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from sympy import Expr, Symbol
from sympy.core.sympify import SympifyError

from symdecouple.errors import InvalidInput, Refused
from symdecouple.flows.chart import X

__all__ = ["T", "compiled", "exact_number", "float_array", "is_sequence", "mp_function", "to_precision"]

T = Symbol("t", real=True)
_GUARD = 15
_MAX_ROUNDS = 8


@lru_cache(maxsize=128)
def compiled(text: str) -> Callable[[Any, Any], Any]:
    space: dict[str, Any] = {}
    exec(compile(text, "<flow>", "exec"), space)
    return space["flow_or_nan"]  # type: ignore[no-any-return]


@lru_cache(maxsize=128)
def mp_function(expr: Expr) -> Callable[[Any, Any], Any]:
    x0, t = sp.Dummy("x0"), sp.Dummy("t")
    return sp.lambdify((x0, t), expr.xreplace({X: x0, T: t}), "mpmath")  # type: ignore[no-any-return]


def to_precision(function: Callable[[Any, Any], Any], x0: Expr, t: Expr, dps: int) -> Any:
    """Raise the precision until two evaluations agree: what cancels is not known beforehand."""
    work, before = dps + _GUARD, None
    for _ in range(_MAX_ROUNDS):
        with mpmath.workdps(work):
            value = function(mpmath.mpmathify(sp.N(x0, work + 5)), mpmath.mpmathify(sp.N(t, work + 5)))
            value = mpmath.re(value)
            if before is not None and abs(value - before) <= abs(value) * mpmath.mpf(10) ** (-dps - 2):
                break
            if before is not None and abs(value) + abs(before) < mpmath.mpf(10) ** (-3 * dps):
                break
        work, before = 2 * work, value
    else:
        raise Refused(f"{dps} digits were not reached at x0 = {x0}, t = {t} with {work} working digits")
    with mpmath.workdps(dps):
        return +value


def exact_number(value: Any) -> Expr:
    """Return a number exactly: floats and mpmath numbers as the binary fractions they are."""
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, mpmath.mpf):
        if mpmath.isfinite(value):
            return int(mpmath.sign(value)) * sp.Integer(int(value.man)) * sp.Integer(2) ** int(value.exp)
    elif isinstance(value, float) and math.isfinite(value):
        return sp.Rational(*value.as_integer_ratio())
    elif not isinstance(value, (float, bool, str)):
        try:
            number = sp.sympify(value, strict=True)
        except SympifyError:
            number = sp.nan
        if isinstance(number, Expr) and number.is_number and number.is_real and number.is_finite:
            return sp.nsimplify(number, rational=True) if number.is_Float else number
    raise InvalidInput(f"expected a finite real number, got {value!r}")


def float_array(value: Any, name: str) -> Any:
    try:
        array = np.asarray(value)
        if array.dtype == object:
            array = np.asarray([float(v) for v in array.flat]).reshape(array.shape)
        if array.dtype.kind not in "iuf":
            raise TypeError(f"dtype {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be real numbers, got {type(value).__name__} ({error})") from error


def is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)
