"""Numbers for flows: exact intake, high precision with derived guard digits, source text and averages as functions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
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
from symdecouple.language.mean import Mean
from symdecouple.language.precision import BOUNDED, at_digits
from symdecouple.language.sample import Sample, rational_points

__all__ = ["DIGITS", "AtSamples", "T", "agree", "compiled", "exact_number", "float_array", "is_sequence", "mp_function",
           "split_means", "to_precision", "trials"]

T = Symbol("t", real=True)
DIGITS = 50  # of trials at samples
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
    return sp.lambdify((x0, t), expr.xreplace({X: x0, T: t}), [BOUNDED, "mpmath"])  # type: ignore[no-any-return]


def to_precision(function: Callable[[Any, Any], Any], x0: Expr, t: Expr, dps: int) -> Any:
    """Raise the precision until two evaluations agree: what cancels is not known beforehand."""
    work, before = dps + _GUARD, None
    for _ in range(_MAX_ROUNDS):
        with at_digits(work):
            value = function(mpmath.mpmathify(sp.N(x0, work + 5)), mpmath.mpmathify(sp.N(t, work + 5)))
            value = mpmath.re(value)
            if before is not None and abs(value - before) <= abs(value) * mpmath.mpf(10) ** (-dps - 2):
                break
            if before is not None and abs(value) + abs(before) < mpmath.mpf(10) ** (-3 * dps):
                break
        work, before = 2 * work, value
    else:
        raise Refused(f"{dps} digits were not reached at x0 = {x0}, t = {t} with {work} working digits")
    with at_digits(dps):
        return +value


def split_means(expr: Expr, sample: Sample, known: dict[Expr, Expr]) -> Expr:
    """Replace the averages of an expression by dummies, and record in `known` what each is the average of.

    Inner averages come first in `known`: its values are functions of the sample and of dummies before them.
    """
    if isinstance(expr, Mean):
        body = split_means(expr.opened(sample), sample, known)
        return next((d for d, b in known.items() if b == body), None) or _recorded(known, body)
    if not expr.args or not expr.has(Mean):
        return expr
    return expr.func(*(split_means(arg, sample, known) for arg in expr.args))


def _recorded(known: dict[Expr, Expr], body: Expr) -> Expr:
    dummy = sp.Dummy(f"mean{len(known)}", real=True, positive=body.is_positive)
    known[dummy] = body
    return dummy


class AtSamples:
    """An expression of a sample and its averages in mpmath numbers, compiled once.

    Called with N points and the values of the arguments it returns the N values at the points, or None where one of
    them is no finite real number.
    """

    def __init__(self, expr: Expr, sample: Sample, arguments: Sequence[Symbol] = ()) -> None:
        means: dict[Expr, Expr] = {}
        expr = split_means(expr, sample, means)
        given = [sp.Dummy("x"), *(sp.Dummy("a") for _ in arguments)]
        rename = dict(zip([sample, *arguments], given, strict=True))
        self._functions = []
        for dummy, body in [*means.items(), (None, expr)]:
            self._functions.append(sp.lambdify(list(given), body.xreplace(rename), "mpmath"))
            given.append(dummy)

    def __call__(self, points: Sequence[Any], arguments: Sequence[Any] = ()) -> list[Any] | None:
        known = [mpmath.mpmathify(a) for a in arguments]
        values: list[Any] = []
        for function in self._functions:
            try:
                values = [mpmath.mpmathify(function(p, *known)) for p in map(mpmath.mpmathify, points)]
            except (ZeroDivisionError, ValueError, TypeError, OverflowError):
                return None
            if any(not mpmath.isfinite(v) or abs(mpmath.im(v)) > mpmath.sqrt(mpmath.eps) * abs(v) for v in values):
                return None
            values = [mpmath.re(v) for v in values]
            known.append(mpmath.fsum(values) / len(values))
        return values


def trials(sample: Sample) -> Iterator[list[Fraction]]:
    """Random samples of the domain, and their mirror images where these are in it."""
    rng = random.Random(5)
    low, high = sample.interval
    for _ in range(3):
        points = rational_points(sample, 5, rng, 9)
        yield points
        mirrored = [-p for p in points]
        yield mirrored if low == -high else rational_points(sample, 5, rng, 9)


def agree(left: list[Any] | None, right: list[Any] | None) -> bool:
    """True where both exist and are the same but for rounding, and where neither exists."""
    if left is None or right is None:
        return left is right
    return all(abs(a - b) <= (1 + abs(b)) * mpmath.mpf(10) ** (-DIGITS // 2) for a, b in zip(left, right, strict=True))


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
