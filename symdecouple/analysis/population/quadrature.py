r"""Expectations at any precision: double exponential rules on the pieces of a law, and sums over its atoms.

On a finite piece x = (a + b)/2 + (b - a)/2 tanh(pi/2 sinh t), on an infinite one x = a + s exp(pi/2 sinh t), and

.. math:: \mathrm{E}\,g = \int g f\,dx + \sum_i q_i\,g(a_i) \approx h \sum_j g(x_{jh}) f(x_{jh}) x'_{jh} + \dots

The step h is halved until the sums agree. Nodes come as near to an end as 10^-w and as far out as 10^w, w twice the
digits that are asked for: singular ends, heavy tails and poles close to an end need no other rule. A piece on which the
mass does not settle is halved: kinks that nobody named are found so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import mpmath
from mpmath import mpf
from sympy import Expr, oo

from symdecouple.analysis.population.law import Law, Piece
from symdecouple.errors import InvalidInput, NoClosedForm, SymdecoupleError
from symdecouple.language.precision import at_digits

__all__ = ["Quadrature", "number_of", "value_at"]

_FIRST, _LAST = 2, 9  # halvings of the step: 1/4 at first, 1/512 at last
_SETTLES = 7  # halvings after which a piece is cut in two
_FARTHEST = 10_000  # digits of a distance to an end
_DEEPEST = 60  # cuts, one inside the other: to the last bit of a float
_FLOAT_DIGITS, _FLOAT_WORK = 12, 30  # what densities in float64 leave, and what they are worked with

Number: TypeAlias = Any
Function: TypeAlias = Callable[[Number], Sequence[Number]]


def number_of(value: Expr, digits: int) -> Number:
    """Return an exact number as one of mpmath, infinite ones included."""
    if value in (oo, -oo):
        return mpmath.inf if value == oo else -mpmath.inf
    return mpmath.mpmathify(value.evalf(digits))


@dataclass(slots=True)
class _Panel:
    """One interval and its nodes by level: (x, f(x) x'(t)) of those that are new there."""

    low: Number
    high: Number
    density: Callable[[Any], Any]
    depth: int = 0
    scale: Number = 1
    reach: list[int] = field(default_factory=lambda: [0, 0])
    levels: list[list[tuple[Number, Number]]] = field(default_factory=list)

    def nodes(self, level: int, digits: int) -> list[tuple[Number, Number]]:
        while len(self.levels) <= level - _FIRST:
            self.levels.append(self._new(_FIRST + len(self.levels), digits))
        return self.levels[level - _FIRST]

    def _new(self, level: int, digits: int) -> list[tuple[Number, Number]]:
        step = mpf(1) / 2**level
        reach = [max(digits, r) for r in self.reach]
        first, last = (int(mpmath.asinh(2 * r * mpmath.log(10) / mpmath.pi) / step) for r in reach)
        places = range(-first, last + 1) if level == _FIRST else [k for k in range(-first, last + 1) if k % 2]
        tiny, found = mpf(10) ** (-3 * digits), []
        inside: list[tuple[Number, Number]] = []
        many, values = getattr(self.density, "many", None), []
        for t in (k * step for k in places):
            with mpmath.workdps(mpmath.mp.dps + (self._lost(t) if max(reach) > digits else 0)):
                x, slope = self._at(t)
                if self.low < x < self.high:
                    inside.append((x, slope))
                    if many is None:
                        values.append(value_at(self.density, x))
        if many is not None:
            values = many([x for x, _ in inside])
        for (x, slope), value in zip(inside, values, strict=True):
            if not mpmath.isfinite(value) or value < 0:
                raise InvalidInput(f"a density is a finite number of 0 or more, at {mpmath.nstr(x, 6)} it is "
                                   f"{mpmath.nstr(value, 6)}")
            if (weight := value * slope) > tiny:
                found.append((x, weight))
        return found

    def _at(self, t: Number) -> tuple[Number, Number]:
        u, rate = mpmath.pi / 2 * mpmath.sinh(t), mpmath.pi / 2 * mpmath.cosh(t)
        if mpmath.isinf(self.low) or mpmath.isinf(self.high):
            e = mpmath.exp(u)
            x = self.low + self.scale * e if mpmath.isinf(self.high) else self.high - self.scale * e
            return x, self.scale * e * rate
        q, width = mpmath.exp(-2 * abs(u)), self.high - self.low
        near = width * q / (1 + q)
        return (self.low + near if t < 0 else self.high - near), 2 * width * q / (1 + q) ** 2 * rate

    def _lost(self, t: Number) -> int:
        """Digits that the distance of a node to an end loses, other than 0."""
        u = mpmath.pi / 2 * mpmath.sinh(t)
        if mpmath.isinf(self.low) or mpmath.isinf(self.high):
            end, size = (self.low if mpmath.isinf(self.high) else self.high), -u
        else:
            end, size = (self.low if t < 0 else self.high), 2 * abs(u)
        return max(0, int(size / mpmath.log(10))) if end != 0 else 0

    def halves(self) -> list[_Panel]:
        if mpmath.isinf(self.low) and mpmath.isinf(self.high):
            cut = mpf(0)
        elif mpmath.isinf(self.high):
            cut = self.low + self.scale
        elif mpmath.isinf(self.low):
            cut = self.high - self.scale
        else:
            cut = (self.low + self.high) / 2
        return [_Panel(*ends, self.density, self.depth + 1, self.scale) for ends in ((self.low, cut), (cut, self.high))]


class Quadrature:
    """Expectations under a law.

    Parameters
    ----------
    law : Law
    dps : int
        Digits that are wanted; densities in float64 give 13 at most.
    """

    def __init__(self, law: Law, dps: int) -> None:
        self.law = law
        self.dps = dps if law.is_exact else min(dps, _FLOAT_DIGITS)
        self.digits = 2 * dps + 20 if law.is_exact else _FLOAT_WORK
        self.work = self.digits + 5
        if law.standard is None:
            _ = self.panels  # a law of the table is one

    @cached_property
    def atoms(self) -> list[tuple[Number, Number]]:
        with at_digits(self.work):
            return [(number_of(v, self.work), number_of(q, self.work)) for v, q in self.law.atoms]

    @cached_property
    def panels(self) -> list[_Panel]:
        with at_digits(self.work):
            found = [panel for piece in self.law.pieces for panel in self._panels(piece)]
            self._check_mass(found)
            return found

    @cached_property
    def middle(self) -> Number:
        """A place near the median, strictly inside."""
        with at_digits(self.work):
            low, high = (number_of(e, self.work) for e in (self.law.low, self.law.high))
            place = _quantile(self._marks(), mpf(1) / 2)
            if low < place < high:
                return place
            inner = [x for x, _ in self._marks() if low < x < high]
            return min(inner, key=lambda x: abs(x - place)) if inner else (low + high) / 2

    @cached_property
    def spread(self) -> Number:
        """About how far places are from the middle."""
        with at_digits(self.work):
            distances = sorted((abs(x - self.middle), w) for x, w in self._marks() if x != self.middle)
            return _quantile(distances, mpf(1) / 2)

    def density(self, place: Number) -> Number:
        """Return the density at a place."""
        return mpmath.fsum(value_at(p.density, place) for p in self.panels if p.low < place <= p.high)

    def tail_place(self, upper: bool) -> Number:
        """A place beyond which about a ten thousandth of the mass lies."""
        with at_digits(self.work):
            marks = self._marks()
            return _quantile(marks[::-1] if upper else marks, mpf(10) ** -4)

    def _marks(self) -> list[tuple[Number, Number]]:
        marks = list(self.atoms)
        for panel in self.panels:
            marks += [(x, w / 2**_FIRST) for x, w in panel.nodes(_FIRST, self.digits)]
        return sorted(marks, key=lambda mark: mark[0])

    def expect(self, function: Function) -> list[Number]:
        """Return E of each of some functions; call it inside `at_digits`.

        Raises
        ------
        NoClosedForm
            If the sums do not settle.
        """
        total = [mpf(0)] * len(function(self.middle))
        sizes = self._sizes(function, len(total))
        for panel in self.panels:
            part = self._settled(panel, function, _LAST, sizes)
            if part is None:
                raise NoClosedForm(f"an expectation under {self.law.name} is not known to {self.dps} digits; ask for "
                                   "fewer digits, or name the places where the density is not smooth")
            total = [a + b for a, b in zip(total, part, strict=True)]
        for value, mass in self.atoms:
            total = [a + mass * b for a, b in zip(total, function(value), strict=True)]
        return total

    def nodes(self, last: int | None = None) -> list[tuple[Number, Number]]:
        """Return places and weights that stand for the law, in order."""
        end, found = last or _SETTLES, list(self.atoms)
        for panel in self.panels:
            for level in range(_FIRST, end):
                panel.nodes(level, self.digits)
            found += [(x, w / 2 ** (end - 1)) for part in panel.levels[: end - _FIRST] for x, w in part]
        return sorted(found)

    # --- inside ---

    def _sizes(self, function: Function, count: int) -> list[Number]:
        """About how large the absolute values of the integrals are."""
        sizes = [mpf(0)] * count
        for panel in self.panels:
            for x, weight in panel.nodes(_FIRST, self.digits):
                sizes = [a + abs(weight * b) for a, b in zip(sizes, function(x), strict=True)]
        return [s / 2**_FIRST for s in sizes]

    def _settled(self, panel: _Panel, function: Function, last: int, sizes: Sequence[Number]) -> list[Number] | None:
        """Integrals over a panel once two steps agree to the digits of `sizes`; None if none do."""
        allowed = [mpf(10) ** (-self.dps - 2) * size for size in sizes]
        sums, before = [mpf(0)] * len(sizes), [mpmath.inf] * len(sizes)
        for level in range(_FIRST, last + 1):
            for x, weight in panel.nodes(level, self.digits):
                sums = [a + weight * b for a, b in zip(sums, function(x), strict=True)]
            now = [s / 2**level for s in sums]
            if all(abs(a - b) <= bound for a, b, bound in zip(now, before, allowed, strict=True)):
                return now
            before = now
        return None

    def _mass(self, panel: _Panel, last: int = _SETTLES) -> Number | None:
        found = self._settled(panel, _one, last, [mpf(1)])
        return None if found is None else found[0]

    def _panels(self, piece: Piece) -> list[_Panel]:
        low, high = (number_of(e, self.work) for e in (piece.low, piece.high))
        waiting, done = [_Panel(low, high, piece.density)], []
        if mpmath.isinf(low) or mpmath.isinf(high):
            centre = _located(waiting[0])
            waiting = [_Panel(low, centre, piece.density), _Panel(centre, high, piece.density)]
            for panel in waiting:
                if mpmath.isinf(panel.low) or mpmath.isinf(panel.high):
                    panel.scale = abs(_located(panel, centre) - centre) or mpf(1)
        while waiting:
            panel = waiting.pop()
            self._check_ends(panel)
            if self._mass(panel) is not None:
                done.append(panel)
            elif panel.depth >= _DEEPEST:
                raise InvalidInput(f"the density of {self.law.name} could not be integrated near "
                                   f"{mpmath.nstr(panel.low, 6)}: it is not smooth there; name such places with "
                                   "points=")
            else:
                waiting += panel.halves()
        return sorted(done, key=lambda p: p.low)

    def _check_ends(self, panel: _Panel) -> None:
        """Refuse a density that grows like one over the distance to an end; see how far out a weaker one has mass."""
        for side, (end, other, sign) in enumerate(((panel.low, panel.high, 1), (panel.high, panel.low, -1))):
            excesses = []
            for power in (self.digits // 4, self.digits // 2):
                far = [mpf(10) ** power, mpf(10) ** (power + 1)]
                places = [(-sign * v if mpmath.isinf(end) else end + sign * min(1, abs(other - end)) / v) for v in far]
                one, two = (value_at(panel.density, x) for x in places)
                if 0 < one < mpmath.inf and 0 < two < mpmath.inf:
                    excesses.append(mpmath.log(two / one) / mpmath.log(10) + (1 if mpmath.isinf(end) else -1))
            if len(excesses) < 2:
                continue
            excess = excesses[1]
            if excesses[0] < mpf(3) / 2 * excess < -mpf(10) ** -9:
                raise NoClosedForm(f"the mass of {self.law.name} "
                                   + ("far out" if mpmath.isinf(end) else f"near {mpmath.nstr(end, 6)}")
                                   + " falls more slowly than any power of the distance; no quadrature finds all of it")
            if excess >= -mpf(10) ** -9:
                shown = "far out" if mpmath.isinf(end) else f"at {mpmath.nstr(end, 6)}"
                raise InvalidInput(f"the integral diverges {shown} of {self.law.name}; a density has the integral 1")
            if (needed := int((self.dps + 8) / -excess)) > _FARTHEST:
                raise NoClosedForm(f"{self.law.name} has mass that {self.dps} digits feel "
                                   + (f"beyond 10^{_FARTHEST}" if mpmath.isinf(end) else
                                      f"within 10^-{_FARTHEST} of {mpmath.nstr(end, 6)}") + "; ask for fewer, dps=")
            panel.reach[side] = needed * (2 if mpmath.isinf(end) else 1)

    def _check_mass(self, panels: Sequence[_Panel]) -> None:
        total = mpmath.fsum(self._mass(p) for p in panels) + mpmath.fsum(q for _, q in self.atoms)
        allowed = mpf(10) ** (2 - self.dps) if self.law.is_exact else mpf(10) ** -9
        if not abs(total - 1) <= allowed:
            far = "" if self.law.low.is_finite and self.law.high.is_finite else (
                "; if it is 1, name places amid the mass that was not found with points=")
            raise InvalidInput(f"{self.law.name} has the total mass {mpmath.nstr(total, 12)} on [{self.law.low}, "
                               f"{self.law.high}], and 1 is expected; divide the density by it{far}")


def _quantile(marks: Sequence[tuple[Number, Number]], share: Number) -> Number:
    left, wanted = mpf(0), mpmath.fsum(w for _, w in marks) * share
    for place, weight in marks:
        left += weight
        if left >= wanted:
            return place
    return marks[-1][0]


def value_at(density: Callable[[Any], Any], place: Number) -> Number:
    """Return a density at a place; 0 and infinity where it is beyond what can be written."""
    try:
        value = mpmath.mpmathify(density(place))
        if isinstance(value, mpmath.mpc):
            raise InvalidInput(f"a density is a real number of 0 or more, at {mpmath.nstr(place, 6)} it is "
                               f"{mpmath.nstr(value, 6)}")
        return value
    except (MemoryError, OverflowError):  # exp(-exp(-x)) far out
        return mpf(0)
    except ZeroDivisionError:
        return mpmath.inf
    except (TypeError, ValueError, NameError, AttributeError, NotImplementedError) as error:
        if isinstance(error, SymdecoupleError):
            raise
        raise InvalidInput(f"the density has no number at {mpmath.nstr(place, 6)} ({type(error).__name__}: {error}); "
                           "give a function of one number, analysis.Density(pdf, (low, high))") from error


def _one(_: Number) -> Sequence[Number]:
    return (mpf(1),)


def _located(panel: _Panel, otherwise: Number | None = None) -> Number:
    """About where the mass of an infinite piece is: the middle of a coarse sum over powers of two."""
    base = mpf(0) if mpmath.isinf(panel.low) and mpmath.isinf(panel.high) else (
        panel.high if mpmath.isinf(panel.low) else panel.low)
    signs = ([-1] if mpmath.isinf(panel.low) else []) + ([1] if mpmath.isinf(panel.high) else [])
    marks = sorted((base + sign * mpf(2) ** (mpf(j) / 4), mpf(2) ** (mpf(j) / 4)) for j in range(-160, 161)
                   for sign in signs)
    with mpmath.workdps(15):
        values = [value_at(panel.density, x) for x, _ in marks]
    weights = [(x, width * v) for (x, width), v in zip(marks, values, strict=True) if mpmath.isfinite(v) and v > 0]
    if not weights and otherwise is not None:
        return otherwise
    if not weights:
        raise InvalidInput(f"a density was given that vanishes at {len(marks)} places from {mpmath.nstr(panel.low, 6)} "
                           f"to {mpmath.nstr(panel.high, 6)}; name a place amid its mass with points=")
    return _quantile(weights, mpf(1) / 2)
