r"""Proved enclosures of decoupled moments: intervals that contain the exact value for the numbers that were given.

Samples are taken as exact fractions. Ties decide exactly whether the root exists (Theorem C), interval Newton proves it
in a small box, and everything is carried on in intervals or balls; above order 4 the paths are enclosed. Independence
is a Gram determinant that is not 0, computed in fractions; orthogonality a cosine whose interval contains 0 and is as
narrow as the digits.

A result is called rigorous only where all of that was done. Intervals that stay wide are said to be so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy import Expr, diff

from symdecouple.analysis.enclosure.climb import cloud_of, imposed, moment
from symdecouple.analysis.enclosure.expressions import in_fractions, value_of
from symdecouple.analysis.enclosure.numbers import Backend, Numbers, numbers_of
from symdecouple.analysis.enclosure.root import (
    Moved,
    approximate_root,
    cosines_at,
    gram_determinant,
    is_away,
    is_proved,
    moved_by,
    spare_bits,
)
from symdecouple.analysis.enclosure.written import as_exact, decimals, values_of
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput, NoClosedForm, Refused, UnsupportedExpression
from symdecouple.families.moments import MomentCoordinates
from symdecouple.numeric.moments.ties import why_unreachable
from symdecouple.numeric.samples.asked import entries_of
from symdecouple.shown import Shown

__all__ = ["Enclosure", "enclose"]

_MOST_DIGITS = 1000
_ATTEMPTS = 4  # each with twice the bits
_GUARD = 60  # bits beyond those of the digits
_HIGHEST = 6
_PATH_DIGITS = 60  # most digits of orders above 4
_LOST = 60  # bits that paths lose, as a rule
_TOLD = 1e6  # skewnesses beyond are refused without the words of the ties


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
    parts: Mapping[str, Enclosure] = field(default_factory=dict, hash=False)

    @property
    def width(self) -> float:
        """How far the ends are apart."""
        try:
            return float(self.interval[1] - self.interval[0])
        except OverflowError:
            return math.inf

    def contains(self, value: Any) -> bool:
        """Return True iff a value is in the interval, as far as it is written.

        Integers, fractions, exact SymPy numbers, mpmath numbers and text like "1/3" are what they are. Text and
        decimals with digits stand for all numbers that round to them, floats for what rounds to them; then one of
        these must be inside.

        Raises
        ------
        InvalidInput
            If the value is no finite real number.

        Examples
        --------
        >>> third = Enclosure((Fraction(3333, 10000), Fraction(3334, 10000)), True, "")
        >>> third.contains("0.33"), third.contains("0.333"), third.contains("0.335"), third.contains(1 / 3)
        (True, True, False, True)
        """
        low, high = values_of(value)
        return bool(self.interval[0] <= high and low <= self.interval[1])

    def __str__(self) -> str:
        """Both ends, rounded outward to where they differ."""
        low, high = self.interval
        if not isinstance(low, Fraction):
            return f"[{low}, {high}]: {self.reason}"
        digits = max(15, _common_digits(low, high) + 3)
        shown = f"[{decimals(low, digits, False)}, {decimals(high, digits, True)}]"
        return f"{shown}{' (rigorous)' if self.rigorous else ''}: {self.reason}"

    __repr__ = __str__


def enclose(plan: Plan, x: Any, *, dps: int = 30, backend: Backend = "iv") -> Enclosure:
    r"""Return an interval that is proved to contain the last decoupled moment of a sample, with its parts.

    Parameters
    ----------
    plan : Plan
        Of moments up to order 6: sums, products, powers and square roots of them. Orders 5 and 6 are paths, whose
        enclosure takes seconds to minutes, and at most 60 digits.
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
    if len(plan.features) > 4 and dps > _PATH_DIGITS:
        raise InvalidInput(f"dps is at most {_PATH_DIGITS} for orders above 4, got {dps}")
    values = _fractions(x)
    task = _Task(coordinates, _references(plan, coordinates), values)
    bits = int(dps * 3.33) + _GUARD + (_LOST if task.size > 4 else 0)
    is_fixed, room = task.is_fixed()
    spare = 0 if task.size < 4 or is_fixed else spare_bits(values, room)
    if task.size > 4 and not (outcome := plan.transform(values, on_refusal="return")[1][0]).ok:
        raise Refused(f"{outcome.reason}: {outcome.detail}")
    found = None
    for attempt in range(_ATTEMPTS if task.size < 5 else 2):
        numbers = numbers_of(backend, bits * 2**attempt + spare)
        with numbers.working():
            found = _attempt(task, numbers, bits * 2**attempt, spare, is_fixed) or found
        if found is not None and found.rigorous and _is_narrow(found, task, dps):
            return found
    if found is not None:
        return Enclosure(found.interval, found.rigorous, f"wider than {dps} digits: {found.reason}", found.parts)
    return Enclosure((-math.inf, math.inf), False, f"intervals of {bits * 2**attempt + spare} bits grew past use: "
                     f"{'no root or no path' if task.size > 4 else 'interval Newton proves no root'}; ask for more "
                     "digits, dps=")


def _is_narrow(found: Enclosure, task: _Task, dps: int) -> bool:
    """Relative to the value; where that may be 0, to the unit of standardized moments."""
    low, high = found.interval
    size = max(abs(low), abs(high)) if low > 0 or high < 0 else Fraction(task.size > 2)
    return bool(high - low <= size / Fraction(10) ** dps)


# --- what was given ---


def _coordinates(plan: Any) -> MomentCoordinates:
    if not isinstance(plan, Plan):
        raise InvalidInput(f"a plan is expected, decouple(features), got {type(plan).__name__}")
    found = plan.choice.moments
    if found is None or len(found) < len(plan.features):
        raise NoClosedForm("enclosures are computed for plans of two moments or more; others are verified by their "
                           "certificates, plan.verdicts")
    if len(plan.features) > _HIGHEST:
        raise NoClosedForm(f"enclosures reach order {_HIGHEST}; above, plan.transform(x, dps=) estimates its errors")
    return found


def _fractions(x: Any) -> list[Fraction]:
    given = entries_of(x)
    if given.ndim != 1:
        raise InvalidInput(f"a sample vector is expected, got an array of shape {given.shape}")
    if any(isinstance(v, Expr) and not v.is_Rational and not v.is_Float for v in given):
        raise InvalidInput("an enclosure is of exact numbers: integers, fractions, decimals and binary numbers; round "
                           "irrational ones first")
    if any(isinstance(v, str) for v in given):
        raise InvalidInput('an enclosure is of numbers, got text; say which is meant: Fraction("0.1") or float("0.1")')
    found = [as_exact(v) for v in given]
    values = [v for v in found if isinstance(v, Fraction)]
    if len(values) != len(found) or len(values) < 2:
        raise InvalidInput(f"a sample vector of 2 finite numbers or more is expected, got {len(found)} of which "
                           f"{len(values)} are finite")
    return values


def _references(plan: Plan, coordinates: MomentCoordinates) -> list[Expr]:
    """(m, s, c_3), exactly for the numbers that were given."""
    values = [in_fractions(sp.sympify(v)) for v in plan.reference[: len(plan.features) - 1]]
    return [sp.simplify(c) for c in coordinates.coordinates(values)]


@dataclass(frozen=True, slots=True)
class _Task:
    coordinates: MomentCoordinates
    references: Sequence[Expr]
    values: Sequence[Fraction]

    @property
    def size(self) -> int:
        return len(self.references) + 1

    @property
    def target(self) -> Expr:
        """The skewness of level 3."""
        return self.references[2]

    def signed_square(self) -> Fraction:
        """Of the target, which keeps its order and is a fraction wherever variances and moments are."""
        square = sp.simplify(self.target**2)
        if not square.is_Rational:
            raise UnsupportedExpression(f"the reference of the skewness is {self.target}; enclosures take fractions "
                                        "and square roots of fractions")
        sign = 1 if self.target.is_nonnegative else -1
        return sign * Fraction(int(square.p), int(square.q))

    def is_fixed(self) -> tuple[bool, Fraction]:
        """Whether two values have the wanted skewness already, and the share of its range that lies beyond the target.

        What Theorem C refuses is refused, exactly.
        """
        values, count = self.values, len(self.values)
        if self.size > 2 and min(values) == max(values):
            raise Refused("zero variance: all values are the same")
        if self.size < 4:
            return False, Fraction(0)
        low, high, wanted = values.count(min(values)), values.count(max(values)), self.signed_square()
        bottom, top = -_signed_square(count - 2 * low, low, count), _signed_square(count - 2 * high, high, count)
        if low + high == count and wanted == top:
            return True, Fraction(0)
        if low + high == count or not bottom < wanted < top:
            raise Refused(_words(low, high, count, self.target))
        return False, min(top - wanted, wanted - bottom) / (top - bottom)


def _signed_square(numerator: int, ties: int, count: int) -> Fraction:
    return Fraction(numerator * abs(numerator), ties * (count - ties))


def _words(low: int, high: int, count: int, target: Expr) -> str:
    if abs(target) < _TOLD and (outcome := why_unreachable(low, high, count, float(target))) is not None:
        return f"{outcome.reason}: {outcome.detail}"
    return (f"skewness out of reach: with the minimum {low} times and the maximum {high} times of {count} it does not "
            f"come to {str(target)[:40]}")


# --- one attempt ---


def _attempt(task: _Task, numbers: Numbers, bits: int, spare: int, is_fixed: bool) -> Enclosure | None:
    values, size = task.values, task.size
    mean = sum(values, Fraction(0)) / len(values)
    centred = [v - mean for v in values]
    try:
        if min(centred) == max(centred):
            return _answer(task, numbers, [numbers.number(v) for v in (mean, Fraction(0))], None, None)
        moved, time = None, None
        if size > 3 and not is_fixed:
            target = value_of(numbers, task.target, {})
            root, room = approximate_root(centred, _middle(numbers, target), bits, spare)
            radius = room / 2 ** (bits - _GUARD // 2)
            if not is_proved(numbers, centred, target, root, radius):
                return None
            time = numbers.around(root, radius)
            moved = moved_by(numbers, centred, time)
        here = moved_by(numbers, centred, numbers.number(Fraction(0)))
        own = [numbers.number(mean), *here.coordinates(numbers, size)][:4]
        if size > 3:
            own[3] = numbers.number(1 + abs(task.signed_square())) if moved is None else moved.kurtosis
        if size > 4:
            higher = None if moved is None else _higher(task, numbers, moved, bits)
            if higher is None:
                return None
            own += higher
        return _answer(task, numbers, own, here, moved, time, centred)
    except (ValueError, ZeroDivisionError):  # a root of an interval that reaches below zero, a pole
        return None


def _higher(task: _Task, numbers: Numbers, moved: Moved, bits: int) -> list[Any] | None:
    """Moments 5, ... of the sample at level 4, ...; None where a path is not proved."""
    ends = [numbers.ends(v) for v in moved.entries]
    goals = [numbers.ends(value_of(numbers, r, {})) for r in task.references[3:]]
    if None in ends or None in goals:
        return None
    cloud = cloud_of([e for e in ends if e is not None], bits + _GUARD // 2)
    found = []
    for k, goal in enumerate(goals, 4):
        assert goal is not None
        there = imposed(cloud, k, goal)
        if there is None:
            return None
        cloud = there
        low, high = moment(cloud, k + 1)
        found.append(numbers.around((low + high) / 2, (high - low) / 2))
    return found


def _middle(numbers: Numbers, value: Any) -> Fraction:
    ends = numbers.ends(value)
    if ends is None:
        raise ZeroDivisionError
    return (ends[0] + ends[1]) / 2


def _answer(task: _Task, numbers: Numbers, own: list[Any], here: Moved | None, moved: Moved | None, time: Any = None,
            centred: Sequence[Fraction] = ()) -> Enclosure:
    forward, symbols, size = task.coordinates.forward, task.coordinates.symbols, task.size
    before = [value_of(numbers, r, {}) for r in task.references]
    reason = "interval arithmetic on exact numbers"
    parts: dict[str, Enclosure] = {}
    turned = []
    for k in range(size):
        known = dict(zip(symbols, [*before[:k], own[k]], strict=False))
        why = f"{reason}, over a root that interval Newton proves" if k == 3 and moved is not None else reason
        if k > 3:
            why = "integer arithmetic along paths, with bounds by Picard, Cauchy and Gronwall"
        parts[f"feature {k + 1}"] = _made(numbers, value_of(numbers, in_fractions(forward[k]), known), why)
        turned.append(value_of(numbers, in_fractions(diff(forward[k], symbols[k])), known))
    if time is not None:
        parts["root"] = _made(numbers, time, "interval Newton proves exactly one root in it, and Theorem C that there "
                              "is no other one")
    gram = gram_determinant(centred, size) if here is not None else Fraction(0)
    if here is not None:
        own = [own[0], *here.coordinates(numbers, size)]
    parts["gram"] = Enclosure((gram, gram), True, _told(task, numbers, own, gram))
    cosines = {} if here is None else cosines_at(numbers, centred, moved, min(size, 4))
    for (i, j), value in cosines.items():
        if all(is_away(numbers, turned[k - 1]) for k in (i, j)):
            parts[f"cosine {i} {j}"] = _made(numbers, value, f"{reason}, exact gradients (Theorem F)")
    last = parts[f"feature {size}"]
    return Enclosure(last.interval, last.rigorous, last.reason, parts)


def _told(task: _Task, numbers: Numbers, own: Sequence[Any], gram: Fraction) -> str:
    """What the determinant says of the features, which are functions of the moments that may have no slope here."""
    if not gram:
        return "exact: the gradients are dependent"
    known = dict(zip(task.coordinates.symbols, own, strict=False))
    for k, (symbol, feature) in enumerate(zip(task.coordinates.symbols, task.coordinates.forward, strict=False), 1):
        if k <= task.size and not is_away(numbers, value_of(numbers, in_fractions(diff(feature, symbol)), known)):
            return (f"exact: the gradients of the moments are independent; whether those of the features are is not "
                    f"decided: feature {k} may not move with moment {k} here")
    return "exact: the gradients are independent"


def _made(numbers: Numbers, value: Any, reason: str) -> Enclosure:
    ends = numbers.ends(value)
    if ends is None:
        return Enclosure((-math.inf, math.inf), False, "the interval grew past use")
    return Enclosure(ends, True, reason)


def _common_digits(low: Fraction, high: Fraction) -> int:
    if low == high:
        return 15
    ratio = max(abs(low), abs(high)) / (high - low)
    return max(0, (ratio.numerator.bit_length() - ratio.denominator.bit_length()) * 3 // 10)
