"""Elementary functions and their first two derivatives, over the rationals and over intervals.

Over the rationals a function returns a rational, None (the value is irrational, though derivatives may be rational), or
raises `Irrational`. Over intervals it returns an enclosure; that of a monotone function is what it takes at both ends,
computed to guard bits, moved outward by many of their roundings, and rounded outward.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log2
from typing import Any

from mpmath import libmp
from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp.libmpi import mpi_atan2
from sympy import integer_nthroot

from symdecouple.calculus.gamma_functions import (
    MAX_ORDER,
    exact_gamma,
    exact_log_gamma,
    is_gamma_function,
    of_gamma_kind,
    polygamma_name,
    rule_of_gamma_kind,
)
from symdecouple.calculus.outcomes import Irrational, OutsideDomain
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.budget import check

__all__ = ["LARGEST", "RULES", "Irrational", "OutsideDomain", "World", "exact_root", "limit", "positive", "raised",
           "size"]


LARGEST = 20_000
"""Bits of a number, and of the exponent of an enclosure: samples at which numbers grow beyond are given up."""


def raised(value: Any, n: int) -> Any:
    """Return a whole power of a rational or of an enclosure, n >= 0; where it would be huge, raise what helps."""
    if n > 2:
        limit(value, n)
    return value**n


def limit(value: Any, n: int) -> None:
    """Refuse a power that would be huge: of a rational it is enclosed, of an enclosure the sample is given up."""
    if abs(n) * size(value) > LARGEST:
        raise Irrational if isinstance(value, (int, Fraction)) else OutsideDomain


def size(value: Any) -> float:
    """Return the bits of a rational, or the largest binary logarithm of an enclosure, in absolute value."""
    if isinstance(value, int):
        return value.bit_length()
    if isinstance(value, Fraction):
        return max(value.numerator.bit_length(), value.denominator.bit_length())
    return max(map(_exponent, value._mpi_))


def _exponent(end: tuple[int, Any, int, int]) -> float:
    _, mantissa, exponent, bits = end
    place = exponent + bits
    return abs(log2(mantissa) + exponent) if mantissa and abs(place) < 2 else abs(place)


class World:
    """The numbers that jets are made of: rationals (digits=None), or intervals with so many digits."""

    def __init__(self, digits: int | None = None) -> None:
        self.digits = digits
        self.iv: Any = None
        self._found: dict[tuple[str, Any], Any] = {}
        if digits is not None:
            self.iv = MPIntervalContext()
            self.iv.dps = digits

    def number(self, value: Any) -> Any:
        """Return a rational as a number of this world, and a number of this world as it is."""
        check()
        if self.iv is None or not isinstance(value, Fraction):
            return value
        return self.iv.mpf(value.numerator) / value.denominator

    def is_zero(self, value: Any) -> bool:
        """True iff the number is certainly zero (rationals) or may be (intervals)."""
        return bool(value == 0) if self.iv is None else bool(value.a <= 0 <= value.b)

    def angle(self, y: Any, x: Any) -> Any:
        """Return atan2(y, x) as an enclosure, None for rationals (the value is irrational, but for one)."""
        return None if self.iv is None else self.iv.make_mpf(mpi_atan2(y._mpi_, x._mpi_, self.iv.prec))

    def function(self, name: str) -> Callable[[Any], Any]:
        """Return an elementary function on this world's numbers."""
        check()
        if self.iv is None:
            return _RATIONAL.get(name, _irrational)
        if is_gamma_function(name):
            return lambda v: self._remembered(name, v)
        return lambda v: _interval(self.iv, name, v)

    def _remembered(self, name: str, v: Any) -> Any:
        """Return a gamma function, which takes long, once for each value."""
        key = (name, v._mpi_)
        if key not in self._found:
            self._found[key] = of_gamma_kind(self.iv, name, v)
        return self._found[key]


def _irrational(value: Any) -> Any:
    raise Irrational


def positive(value: Any) -> Any:
    if isinstance(value, Fraction):
        if value <= 0:
            raise OutsideDomain
    elif value.b <= 0:
        raise OutsideDomain
    elif value.a <= 0:
        raise Irrational
    return value


def exact_root(value: Fraction, q: int) -> Fraction:
    if value <= 0:
        raise OutsideDomain
    parts = []
    for part in (value.numerator, value.denominator):
        root, perfect = integer_nthroot(part, q)
        if not perfect:
            raise Irrational
        parts.append(int(root))
    return Fraction(*parts)


def _at_zero(result: int) -> Callable[[Any], Fraction]:
    def evaluate(value: Any) -> Fraction:
        if value == 0:
            return Fraction(result)
        raise Irrational

    return evaluate


def _known_at(place: int, result: int, low: int | None = None, high: int | None = None
              ) -> Callable[[Any], Fraction | None]:
    def evaluate(value: Any) -> Fraction | None:
        if (low is not None and value < low) or (high is not None and value > high):
            raise OutsideDomain
        return Fraction(result) if value == place else None

    return evaluate


def _log_rational(value: Fraction) -> Fraction | None:
    positive(value)
    return Fraction(0) if value == 1 else None


_RATIONAL: dict[str, Callable[[Any], Any]] = {
    "sqrt": lambda v: exact_root(v, 2), "exp": _at_zero(1), "sin": _at_zero(0), "cos": _at_zero(1),
    "tan": _at_zero(0), "sinh": _at_zero(0), "cosh": _at_zero(1), "tanh": _at_zero(0), "log": _log_rational,
    "Abs": abs, "sign": lambda v: Fraction((v > 0) - (v < 0)),
    "atan": _known_at(0, 0), "asin": _known_at(0, 0, -1, 1), "acos": _known_at(1, 0, -1, 1),
    "asinh": _known_at(0, 0), "acosh": _known_at(1, 0, 1), "atanh": _known_at(0, 0, -1, 1),
    "erf": _known_at(0, 0), "erfc": _known_at(0, 1), "sec": _at_zero(1), "sech": _at_zero(1),
    "gamma": exact_gamma, "loggamma": exact_log_gamma,
}

_EXPONENTIAL = frozenset({"exp", "sinh", "cosh", "tanh"})
ARGUMENT = 13  # bits of what is exponentiated: exp(2**13) has 12 000 bits

_GUARD, _WIDER = 40, 16  # bits beyond those of the interval, and those that are not trusted


_MONOTONE: dict[str, tuple[Callable[[Any, int, str], Any], bool, Any, Any]] = {
    "atan": (libmp.mpf_atan, True, None, None), "asinh": (libmp.mpf_asinh, True, None, None),
    "erf": (libmp.mpf_erf, True, None, None), "erfc": (libmp.mpf_erfc, False, None, None),
    "asin": (libmp.mpf_asin, True, -1, 1), "acos": (libmp.mpf_acos, False, -1, 1),
    "acosh": (libmp.mpf_acosh, True, 1, None), "atanh": (libmp.mpf_atanh, True, -1, 1),
}
"""Functions by name: values, whether they grow, and the ends of their domains."""


def _monotone(iv: Any, name: str, v: Any) -> Any:
    values, grows, low, high = _MONOTONE[name]
    below, above = low is not None and v.a < low, high is not None and v.b > high
    if (below and v.b < low) or (above and v.a > high):
        raise OutsideDomain
    if below or above:
        raise Irrational  # more digits may tell
    ends = v._mpi_ if grows else v._mpi_[::-1]
    if any(end == libmp.fnan for end in ends):
        raise Irrational
    prec, found = iv.prec + _GUARD, []
    for end, rounding in zip(ends, (libmp.round_floor, libmp.round_ceiling), strict=True):
        value = values(end, prec, libmp.round_nearest)
        margin = libmp.mpf_shift(libmp.mpf_abs(value), _WIDER - prec)
        push = libmp.mpf_sub if rounding == libmp.round_floor else libmp.mpf_add
        found.append(push(value, margin, iv.prec, rounding) if value not in (libmp.finf, libmp.fninf) else value)
    return iv.make_mpf(tuple(found))


_RECIPROCALS = {"sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh"}


def _interval(iv: Any, name: str, v: Any) -> Any:
    if v is not None and max(exponent + bits for _, _, exponent, bits in v._mpi_) > (
            ARGUMENT if name in _EXPONENTIAL else LARGEST):
        raise OutsideDomain
    if name == "log":
        return iv.log(positive(v))
    if name == "sqrt":
        return iv.sqrt(positive(v))
    if name in ("sinh", "cosh", "tanh"):
        up, down = iv.exp(v), iv.exp(-v)
        return {"sinh": (up - down) / 2, "cosh": (up + down) / 2, "tanh": (up - down) / (up + down)}[name]
    if name == "tan":
        return iv.sin(v) / iv.cos(v)
    if name in ("pi", "E"):
        return +iv.pi if name == "pi" else iv.exp(1)
    if name in ("exp", "sin", "cos"):
        return getattr(iv, name)(v)
    if name == "Abs":
        return abs(v)
    if name == "sign":
        if v.a <= 0 <= v.b:
            raise Irrational
        return iv.mpf(1 if v.a > 0 else -1)
    if name in _MONOTONE:
        return _monotone(iv, name, v)
    if name in _RECIPROCALS:
        return 1 / _interval(iv, _RECIPROCALS[name], v)
    raise UnsupportedExpression(f"{name} has no interval evaluation here")


def _reciprocal(name: str) -> Callable[[Any, Any, Any], tuple[Any, Any, Any]]:
    """Return the rule of 1/f."""

    def rule(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
        value, first, second = RULES[name](v, f, one)
        return one / value, -first / value**2, (2 * first**2 - value * second) / value**3

    return rule


def _rule_acoth(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    return f("atanh")(one / v), one / (1 - v * v), 2 * v / (1 - v * v) ** 2


def _rule_log(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    return f("log")(v), one / v, -one / v**2


def _rule_atan(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    return f("atan")(v), one / (1 + v**2), -2 * v / (1 + v**2) ** 2


def _rule_acot(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    _rule_abs(v, f, one)  # it jumps at zero
    _, first, second = _rule_atan(v, f, one)
    return f("atan")(one / v), -first, -second


def _rule_erf(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    first = 2 * f("exp")(-v * v) / f("sqrt")(f("pi")(None))
    return f("erf")(v), first, -2 * v * first


def _rule_erfc(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    _, first, second = _rule_erf(v, f, one)
    return f("erfc")(v), -first, -second


def _rule_atanh(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    return f("atanh")(v), one / (1 - v * v), 2 * v / (1 - v * v) ** 2


def _by_root(name: str, radicand: Callable[[Any], Any], sign: int, bend: int
             ) -> Callable[[Any, Any, Any], tuple[Any, Any, Any]]:
    """Return the rule of a function with derivative sign/sqrt(R(v)) and second derivative bend v/sqrt(R(v))^3."""

    def rule(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
        root = f("sqrt")(radicand(v))
        return f(name)(v), sign * one / root, bend * v / root**3

    return rule


def _rule_sqrt(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    root = f("sqrt")(v)
    return root, one / (2 * root), -one / (4 * root * v)


def _rule_tan(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    t = f("tan")(v)
    return t, one + t**2, 2 * t * (one + t**2)


def _rule_tanh(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    t = f("tanh")(v)
    return t, one - t**2, -2 * t * (one - t**2)


def _rule_abs(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    low, high = (v, v) if isinstance(v, Fraction) else (v.a, v.b)
    if low <= 0 <= high:
        raise OutsideDomain
    return abs(v), one if low > 0 else -one, 0 * one


def _rule_sign(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    if v == 0:
        raise OutsideDomain
    return f("sign")(v), 0 * one, 0 * one


RULES: dict[str, Callable[[Any, Any, Any], tuple[Any, Any, Any]]] = {
    "exp": lambda v, f, one: (f("exp")(v),) * 3,
    "asin": _by_root("asin", lambda v: 1 - v * v, 1, 1), "acos": _by_root("acos", lambda v: 1 - v * v, -1, -1),
    "asinh": _by_root("asinh", lambda v: 1 + v * v, 1, -1), "acosh": _by_root("acosh", lambda v: v * v - 1, 1, -1),
    "atanh": _rule_atanh, "erf": _rule_erf, "erfc": _rule_erfc, "acot": _rule_acot, "log": _rule_log,
    "acoth": _rule_acoth,
    "atan": _rule_atan, "sqrt": _rule_sqrt, "tan": _rule_tan, "tanh": _rule_tanh,
    "Abs": _rule_abs, "sign": _rule_sign,
    "sin": lambda v, f, one: (f("sin")(v), f("cos")(v), -f("sin")(v)),
    "cos": lambda v, f, one: (f("cos")(v), -f("sin")(v), -f("cos")(v)),
    "sinh": lambda v, f, one: (f("sinh")(v), f("cosh")(v), f("sinh")(v)),
    "cosh": lambda v, f, one: (f("cosh")(v), f("sinh")(v), f("cosh")(v)),
}
RULES |= {name: _reciprocal(other) for name, other in _RECIPROCALS.items()}
RULES |= {name: rule for name in ("gamma", "loggamma", *map(polygamma_name, range(MAX_ORDER + 1)))
          if (rule := rule_of_gamma_kind(name)) is not None}
