r"""Proved enclosures of decoupled moments: intervals that contain the exact value for the numbers that were given.

Samples are taken as exact fractions. Ties decide exactly whether the root exists (Theorem C), interval Newton proves it
in a small box, and everything is carried on in intervals or balls. Independence is a Gram determinant that is not 0,
computed in fractions; orthogonality a cosine whose interval contains 0 and is as narrow as the digits.

A result is called rigorous only where all of that was done. Intervals that stay wide are said to be so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import sympy as sp
from sympy import Expr, Poly
from sympy.polys.polyerrors import PolynomialError

from symdecouple.analysis.enclosure.numbers import Backend, Numbers, numbers_of
from symdecouple.analysis.enclosure.root import Moved, approximate_root, cosines_at, is_proved, moved_by
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput, NoClosedForm, Refused, UnsupportedExpression
from symdecouple.families.moments import MomentCoordinates
from symdecouple.language.precision import at_digits
from symdecouple.numeric.moments.ties import why_unreachable
from symdecouple.numeric.samples.intake import exact
from symdecouple.shown import Shown

__all__ = ["Enclosure", "enclose"]

_MOST_DIGITS = 1000
_ATTEMPTS = 4  # each with twice the bits
_GUARD = 60  # bits beyond those of the digits
_HIGHEST = 4


@dataclass(frozen=True, slots=True, repr=False)
class Enclosure(Shown):
    """An interval around a number, and what else was enclosed on the way to it.

    Attributes
    ----------
    interval : pair of Fraction or of infinite floats
        Both ends, exactly.
    rigorous : bool
        True iff the interval is proved to contain the exact value for the sample as it was given.
    reason : str
        What proves it, or what is missing.
    parts : mapping
        ``"root"``, the parameter t of the Moebius map of the centred sample; ``"feature 1"``, ...; ``"gram"``, the Gram
        determinant of 1, z, z^2, .. of the standardized sample, over N each; ``"cosine 4 1"``, ... between gradients.
    """

    interval: tuple[Any, Any]
    rigorous: bool
    reason: str
    parts: Mapping[str, Enclosure] = field(default_factory=dict, repr=False)

    @property
    def width(self) -> float:
        """How far the ends are apart."""
        return float(self.interval[1] - self.interval[0])

    def contains(self, value: Any) -> bool:
        """Return True iff a value is in the interval, as far as it is written.

        Integers, fractions, exact SymPy numbers and mpmath numbers are what they are. Text and decimals stand for all
        numbers that round to them, floats for what rounds to them in float64; then one of these must be inside.

        Examples
        --------
        >>> third = Enclosure((Fraction(3333, 10000), Fraction(3334, 10000)), True, "")
        >>> third.contains("0.33"), third.contains("0.333"), third.contains("0.335"), third.contains(1 / 3)
        (True, True, False, True)
        """
        low, high = _written(value)
        return bool(self.interval[0] <= high and low <= self.interval[1])

    def __str__(self) -> str:
        low, high = self.interval
        if not isinstance(low, Fraction):
            return f"[{low}, {high}]: {self.reason}"
        with at_digits(max(15, _common_digits(low, high) + 3)):
            shown = [mpmath.nstr(mpmath.mpf(v.numerator) / v.denominator, mpmath.mp.dps) for v in (low, high)]
        return f"[{shown[0]}, {shown[1]}]{' (rigorous)' if self.rigorous else ''}: {self.reason}"


def enclose(plan: Plan, x: Any, *, dps: int = 30, backend: Backend = "iv") -> Enclosure:
    r"""Return an interval that is proved to contain the last decoupled moment of a sample, with its parts.

    Parameters
    ----------
    plan : Plan
        Of moments up to order 4, each a polynomial of its moment; or what that is called.
    x : sequence of N numbers
        Taken exactly: a float is the binary fraction that it is.
    dps : int
        Digits: the interval is narrower than 10^-dps, relative to its place.
    backend : {"iv", "arb"}
        Interval arithmetic of mpmath, or balls of python-flint where that is installed.

    Returns
    -------
    Enclosure
        With `rigorous` False, and the reason, where the intervals stayed wide.

    Raises
    ------
    Refused
        If the sample has no such value; ties decide that exactly.
    InvalidInput
        If `x` is not a sample vector of exact numbers.
    NoClosedForm, UnsupportedExpression
        For other plans.

    Examples
    --------
    >>> import symdecouple as sd
    >>> plan = sd.decouple(sd.families.standardized_moments(4))
    >>> found = enclose(plan, [1, 2, 3, 5, 8, 13], dps=20)
    >>> found.rigorous, found.contains("1.71862957167936"), found.contains("1.71862957167935")
    (True, True, False)
    >>> found.parts["gram"].contains(0), found.parts["cosine 4 3"].contains(0)
    (False, True)
    """
    coordinates = _coordinates(plan)
    if isinstance(dps, bool) or not isinstance(dps, int) or not 1 <= dps <= _MOST_DIGITS:
        raise InvalidInput(f"dps is a number of digits from 1 to {_MOST_DIGITS}, got {dps!r}")
    values = _fractions(x)
    size = len(plan.features)
    references = coordinates.coordinates(plan.reference[: size - 1])
    target = _target(references, size)
    if size > 3 and target == 0 and len(set(values)) == 2 and 2 * values.count(min(values)) == len(values):
        value = _polynomial(numbers_of(backend, _GUARD), coordinates, references, 3,
                            numbers_of(backend, _GUARD).number(Fraction(1)))
        ends = numbers_of(backend, _GUARD).ends(value)
        assert ends is not None
        return Enclosure(ends, True, "exact: two values in equal numbers have skewness 0 and kurtosis 1",
                         {"gram": Enclosure((Fraction(0), Fraction(0)), True, "exact: the gradients are dependent")})
    _check_reachable(values, target, size)
    bits = int(dps * 3.33) + _GUARD
    for attempt in range(_ATTEMPTS):
        found = _attempt(numbers_of(backend, bits * 2**attempt), values, target, size, bits * 2**attempt)
        if found is not None:
            made = _answer(found, coordinates, references, size)
            if made.rigorous and _is_narrow(made.interval, dps):
                return made
    if found is not None:
        wide = _answer(found, coordinates, references, size)
        return Enclosure(wide.interval, wide.rigorous, f"wider than {dps} digits: {wide.reason}", wide.parts)
    return Enclosure((-math.inf, math.inf), False, f"intervals of {bits * 2**attempt} bits grew past use: interval "
                     "Newton proves no root; ask for more digits, dps=")


def _is_narrow(interval: tuple[Any, Any], dps: int) -> bool:
    low, high = interval
    return bool(high - low <= max(abs(low), abs(high)) / Fraction(10) ** dps or low <= 0 <= high)


# --- what was given ---


def _coordinates(plan: Any) -> MomentCoordinates:
    if not isinstance(plan, Plan):
        raise InvalidInput(f"a plan is expected, decouple(features), got {type(plan).__name__}")
    found = plan.choice.moments
    if found is None or len(found) < len(plan.features):
        raise NoClosedForm("enclosures are computed for plans of two moments or more; others are verified by their "
                           "certificates, plan.verdicts")
    if len(plan.features) > _HIGHEST:
        raise NoClosedForm(f"enclosures reach order {_HIGHEST}; the levels above are paths, plan.transform(x, dps=) "
                           "estimates their errors")
    return found


def _fractions(x: Any) -> list[Fraction]:
    try:
        given = list(x)
    except TypeError as error:
        raise InvalidInput(f"a sample vector is expected, got {type(x).__name__}") from error
    if any(isinstance(v, Expr) and not v.is_Rational and not v.is_Float for v in given):
        raise InvalidInput("an enclosure is of exact numbers: integers, fractions, decimals and binary numbers; round "
                           "irrational ones first")
    found = [_exactly(v) for v in given]
    values = [v for v in found if isinstance(v, Fraction)]
    if len(values) != len(found) or len(values) < 2:
        raise InvalidInput(f"a sample vector of 2 finite numbers or more is expected, got {len(found)} of which "
                           f"{len(values)} are finite")
    return values


def _target(references: Sequence[Any], size: int) -> Fraction:
    if size < 4:
        return Fraction(0)
    value = sp.simplify(_in_fractions(references[2]))
    if not value.is_Rational:
        raise UnsupportedExpression(f"the reference of the skewness is {value}; enclosures take a fraction")
    return Fraction(int(value.p), int(value.q))


def _check_reachable(values: Sequence[Fraction], target: Fraction, size: int) -> None:
    low, high = values.count(min(values)), values.count(max(values))
    if size > 2 and min(values) == max(values):
        raise Refused("zero variance: all values are the same")
    if size < 4:
        return
    outcome = why_unreachable(low, high, len(values), float(target))
    if outcome is not None:
        raise Refused(f"{outcome.reason}: {outcome.detail}")


# --- one attempt ---


@dataclass(frozen=True, slots=True)
class _Found:
    numbers: Numbers
    mean: Fraction
    here: Moved | None
    moved: Moved | None
    time: Any
    gram: Fraction
    cosines: list[Any]


def _attempt(numbers: Numbers, values: Sequence[Fraction], target: Fraction, size: int, bits: int) -> _Found | None:
    mean = sum(values, Fraction(0)) / len(values)
    centred = [v - mean for v in values]
    if min(centred) == max(centred):
        return _Found(numbers, mean, None, None, None, Fraction(0), [])
    try:
        moved, time = None, None
        if size > 3:
            root = approximate_root(centred, target, bits)
            span = 1 / max(centred) - 1 / min(centred)
            radius = span / 2 ** (bits - _GUARD // 2)
            if not is_proved(numbers, centred, target, root, radius):
                return None
            time = numbers.around(root, radius)
            moved = moved_by(numbers, centred, time)
        here = moved_by(numbers, centred, numbers.number(Fraction(0)))
        return _Found(numbers, mean, here, moved, time, _gram(centred, size), cosines_at(numbers, centred, moved, size))
    except (ValueError, ZeroDivisionError):  # a root of an interval that reaches below zero, a pole
        return None


def _gram(centred: Sequence[Fraction], size: int) -> Fraction:
    """The Gram determinant of 1, z, ..., z^(size - 1), z of variance 1, exactly: a Hankel determinant of moments."""
    count = len(centred)
    moments = [sum((v**k for v in centred), Fraction(0)) / count for k in range(2 * size - 1)]
    matrix = [[moments[i + j] for j in range(size)] for i in range(size)]
    result = Fraction(1)
    for k in range(size):
        pivot = next((r for r in range(k, size) if matrix[r][k] != 0), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
            result = -result
        result *= matrix[k][k]
        for r in range(k + 1, size):
            factor = matrix[r][k] / matrix[k][k]
            matrix[r] = [a - factor * b for a, b in zip(matrix[r], matrix[k], strict=True)]
    return result / moments[2] ** (size * (size - 1) // 2)


def _answer(found: _Found, coordinates: MomentCoordinates, references: Sequence[Any], size: int) -> Enclosure:
    numbers = found.numbers
    own: list[Any] = [numbers.number(found.mean)]
    own += [numbers.number(Fraction(0))] if found.here is None else [found.here.deviation, found.here.skewness]
    own += [] if found.moved is None else [found.moved.kurtosis]
    parts: dict[str, Enclosure] = {}
    for k in range(size):
        value = _polynomial(numbers, coordinates, references, k, own[k])
        parts[f"feature {k + 1}"] = _made(numbers, value, "interval arithmetic on exact numbers")
    if found.time is not None:
        parts["root"] = _made(numbers, found.time, "interval Newton proves exactly one root in it, and Theorem C that "
                              "there is no other one")
        parts["feature 4"] = _made(numbers, _polynomial(numbers, coordinates, references, 3, own[3]),
                                   "interval arithmetic over a root that interval Newton proves")
    independence = "the gradients are independent" if found.gram else "the gradients are dependent"
    parts["gram"] = Enclosure((found.gram, found.gram), True, f"exact: {independence}")
    for (i, j), value in found.cosines:
        parts[f"cosine {i} {j}"] = _made(numbers, value, "interval arithmetic on exact gradients (Theorem F)")
    last = parts[f"feature {size}"]
    return Enclosure(last.interval, last.rigorous, last.reason, parts)


def _made(numbers: Numbers, value: Any, reason: str) -> Enclosure:
    ends = numbers.ends(value)
    if ends is None:
        return Enclosure((-math.inf, math.inf), False, "the interval grew past use")
    return Enclosure(ends, True, reason)


def _polynomial(numbers: Numbers, coordinates: MomentCoordinates, references: Sequence[Any], k: int, value: Any) -> Any:
    """Feature k + 1 as a polynomial of its coordinate, those before it at the references."""
    symbol = coordinates.symbols[k]
    expr = coordinates.forward[k].xreplace(dict(zip(coordinates.symbols[:k], references, strict=False)))
    try:
        terms = Poly(_in_fractions(expr), symbol).all_coeffs()
    except PolynomialError:
        terms = [sp.nan]
    if not all(c.is_Rational for c in terms):
        raise UnsupportedExpression(f"feature {k + 1} is {expr} of the standardized moment {symbol}; enclosures take "
                                    "polynomials with fractions as coefficients")
    total = numbers.number(Fraction(0))
    for c in terms:
        total = total * value + numbers.number(Fraction(int(c.p), int(c.q)))
    return total


def _in_fractions(expr: Expr) -> Expr:
    """Floats as the binary fractions that they are, which is what plans compute with."""
    return expr.xreplace({f: sp.Rational(f) for f in expr.atoms(sp.Float)})


# --- values as they are written ---


def _written(value: Any) -> tuple[Any, Any]:
    if isinstance(value, str):
        value = Decimal(value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InvalidInput(f"a finite number is expected, got {value}")
        half = Fraction(10) ** int(value.as_tuple().exponent) / 2
        return Fraction(value) - half, Fraction(value) + half
    if isinstance(value, float) and math.isfinite(value):
        half = Fraction(math.ulp(value)) / 2
        return Fraction(value) - half, Fraction(value) + half
    if isinstance(value, Expr) and not value.is_Rational and not value.is_Float:
        near, far = Fraction(str(value.evalf(300))), Fraction(1, 10**290)
        return near - far, near + far
    found = _exactly(value)
    if not isinstance(found, Fraction):
        raise InvalidInput(f"a finite number is expected, got {value!r}")
    return found, found


def _exactly(value: Any) -> Any:
    """As `exact`, and a `Float` of SymPy with all of its bits."""
    return exact(sp.Rational(value) if isinstance(value, sp.Float) else value)


def _common_digits(low: Fraction, high: Fraction) -> int:
    if low == high:
        return 15
    ratio = max(abs(low), abs(high)) / (high - low)
    return max(0, (ratio.numerator.bit_length() - ratio.denominator.bit_length()) * 3 // 10)
