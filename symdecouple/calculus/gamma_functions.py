r"""Enclosures of gamma, log gamma and the polygamma functions over intervals.

Upward recurrence takes the argument to X beyond a multiple of the digits; there, for X > 0, Stirling's series

.. math::

    \log\Gamma(X) = \bigl(X - \tfrac12\bigr) \log X - X + \tfrac12 \log 2\pi
        + \sum_{k=1}^{K} \frac{B_{2k}}{2k (2k - 1) X^{2k - 1}} + R_K

and its derivatives envelop their limits: |R_K| is at most the first term left out. That is so because the sum is the
Laplace transform of sum_n 2/(t^2 + 4 pi^2 n^2), whose expansion in t^2 does, and powers of t as weights keep it. All of
it is done in interval arithmetic. On the positive axis psi^(m) is monotone and log gamma convex, so that both ends of
an interval suffice; left of it the recurrence is taken over the whole interval.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import factorial
from typing import Any

from mpmath import bernfrac

from symdecouple.calculus.outcomes import Irrational, OutsideDomain

__all__ = ["MAX_ORDER", "exact_gamma", "exact_log_gamma", "is_gamma_function", "of_gamma_kind", "polygamma_name",
           "rule_of_gamma_kind"]

MAX_ORDER = 40
"""Of polygamma functions."""
_MAX_SHIFT = 10_000
_LARGEST_FACTORIAL = 1_000
_POLYGAMMA = re.compile(r"polygamma(\d+)")

Rule = Callable[[Any, Any, Any], tuple[Any, Any, Any]]


def polygamma_name(order: int) -> str:
    """Return the name by which the polygamma function of an order is asked for, as one of one argument."""
    return f"polygamma{order}"


def is_gamma_function(name: str) -> bool:
    """True iff `of_gamma_kind` knows the function."""
    found = _POLYGAMMA.fullmatch(name)
    return name in ("gamma", "loggamma") or (found is not None and int(found[1]) <= MAX_ORDER + 2)


def of_gamma_kind(iv: Any, name: str, v: Any) -> Any:
    """Return an enclosure of gamma, log gamma or a polygamma function over an interval.

    Raises
    ------
    OutsideDomain
        At a pole; for log gamma also where gamma is negative or infinite.
    Irrational
        For an interval around a pole: a narrower one may tell.
    """
    if found := _POLYGAMMA.fullmatch(name):
        return _polygamma(iv, int(found[1]), v)
    if v.a > 0:
        value = _log_gamma(iv, v)
        return iv.exp(value) if name == "gamma" else value
    if name == "loggamma":
        raise OutsideDomain if v.b <= 0 else Irrational
    shift = _steps_to_positive(v)
    below = iv.mpf(1)
    for j in range(shift):
        below *= v + j
    return iv.exp(_log_gamma(iv, v + shift)) / below


def exact_gamma(value: Fraction) -> Fraction:
    """Return gamma of a rational where it is one; `OutsideDomain` at poles, `Irrational` elsewhere."""
    if value.denominator > 1 or value > _LARGEST_FACTORIAL:
        raise Irrational
    if value <= 0:
        raise OutsideDomain
    return Fraction(factorial(int(value) - 1))


def exact_log_gamma(value: Fraction) -> Fraction | None:
    """Return log gamma of a rational where it is one, None where it is irrational."""
    if value <= 0:
        raise OutsideDomain
    return Fraction(0) if value in (1, 2) else None


def rule_of_gamma_kind(name: str) -> Rule | None:
    """Return value and first two derivatives of such a function, by its name; None for others."""
    if name == "gamma":
        return _rule_gamma
    if name == "loggamma":
        return _rule_of_orders("loggamma", 0)
    found = _POLYGAMMA.fullmatch(name)
    return _rule_of_orders(name, int(found[1]) + 1) if found and int(found[1]) <= MAX_ORDER else None


def _rule_gamma(v: Any, f: Any, one: Any) -> tuple[Any, Any, Any]:
    value, slope = f("gamma")(v), f(polygamma_name(0))(v)
    return value, value * slope, value * (slope * slope + f(polygamma_name(1))(v))


def _rule_of_orders(name: str, order: int) -> Rule:
    return lambda v, f, one: (f(name)(v), f(polygamma_name(order))(v), f(polygamma_name(order + 1))(v))


def _polygamma(iv: Any, m: int, v: Any) -> Any:
    if v.a > 0 and _is_narrow(iv, v):
        return _polygamma_of_large(iv, m, v)
    if v.a > 0:
        return _hull(iv, _polygamma_of_large(iv, m, iv.mpf(v.a)), _polygamma_of_large(iv, m, iv.mpf(v.b)))
    shift = _steps_to_positive(v)
    poles = iv.mpf(0)
    for j in range(shift):
        poles += 1 / (v + j) ** (m + 1)
    return _polygamma(iv, m, v + shift) - (-1) ** m * factorial(m) * poles


def _polygamma_of_large(iv: Any, m: int, x: Any) -> Any:
    """Return psi^(m) over a positive interval, well where it is narrow."""
    sign, total, x = (-1) ** (m + 1), iv.mpf(0), +x
    start = _start(iv) + m
    while x.a < start:
        total += factorial(m) / x ** (m + 1)
        x += 1
    head = -iv.log(x) if m == 0 else factorial(m - 1) / x**m
    return sign * (head + factorial(m) / (2 * x ** (m + 1)) + _series(iv, m, x) + total)


def _log_gamma(iv: Any, v: Any) -> Any:
    """Return log gamma over a positive interval: convex, so above its tangents at the ends and below the larger end."""
    if _is_narrow(iv, v):
        return _log_gamma_at(iv, v)
    low, high = iv.mpf(v.a), iv.mpf(v.b)
    left, right = _log_gamma_at(iv, low), _log_gamma_at(iv, high)
    top = max(left.b, right.b)
    down, up = _polygamma_of_large(iv, 0, low), _polygamma_of_large(iv, 0, high)
    if down.a >= 0:
        return iv.mpf([left.a, top])
    if up.b <= 0:
        return iv.mpf([right.a, top])
    width = high - low
    return iv.mpf([max((left + down * width).a, (right - up * width).a), top])


def _log_gamma_at(iv: Any, x: Any) -> Any:
    start, product = _start(iv), iv.mpf(1)
    while x.a < start:
        product *= x
        x += 1
    head = (x - iv.mpf(1) / 2) * iv.log(x) - x + iv.log(2 * iv.pi) / 2
    return head + _series(iv, -1, x) - iv.log(product)


def _series(iv: Any, m: int, x: Any) -> Any:
    """Return sum_k B_(2k) (2k + m - 1)!/(2k)! x^(-2k - m), to the precision, with a bound of what is left out."""
    total, small, last = iv.mpf(0), iv.mpf(2) ** (-iv.prec - 8), None
    square = 1 / (x * x)
    power = square / x**m if m >= 0 else square * x
    for k in range(1, int(iv.prec)):
        top, bottom = _coefficient(m, k)
        term = power * top / bottom
        size = abs(term).b
        if size <= small.b or (last is not None and size >= last):
            return total + iv.mpf([-size, size])
        total, last, power = total + term, size, power * square
    raise Irrational


@lru_cache(maxsize=4096)
def _coefficient(m: int, k: int) -> tuple[int, int]:
    top, bottom = bernfrac(2 * k)
    value = Fraction(int(top), int(bottom)) * Fraction(factorial(2 * k + m - 1), factorial(2 * k))
    return value.numerator, value.denominator


def _start(iv: Any) -> int:
    """Return where Stirling's series begins to give all bits in moderately many terms."""
    return int(iv.prec) // 5 + 8


def _steps_to_positive(v: Any) -> int:
    """Return k with v + k positive and no pole in v; the interval is not positive as a whole."""
    ceiling = int(_floor(v.b)) + 1
    if _floor(v.a) + 1 != ceiling or v.a == ceiling - 1:
        raise OutsideDomain if v.a == v.b else Irrational
    shift = max(1 - ceiling + 1, 1)
    if shift > _MAX_SHIFT:
        raise Irrational
    return shift


def _floor(end: Any) -> int:
    """Return the largest whole number that is not above the end of an interval."""
    sign, mantissa, exponent, _ = end._mpi_[0]
    if mantissa == 0 and exponent != 0:
        raise Irrational  # infinite
    value = (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent
    return value.numerator // value.denominator


def _is_narrow(iv: Any, v: Any) -> bool:
    """True where two evaluations at the ends would gain little over one of the whole interval."""
    return bool(v.delta.b <= v.a * iv.mpf(2) ** (-(iv.prec // 2)))


def _hull(iv: Any, left: Any, right: Any) -> Any:
    return iv.mpf([min(left.a, right.a), max(left.b, right.b)])
