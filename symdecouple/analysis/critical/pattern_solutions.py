r"""Which patterns of ties have a sample at the references: each is settled by a proof, in rational arithmetic.

For ties n_1, .., n_m and targets c_1, .., c_m let L be the set of z_1 <= .. <= z_m with moments c_1, .., c_(m-1). Where
z has m distinct values the m-th moment F_m is not critical on L, so that it takes its extremes on L at *walls*,
points with z_i = z_(i+1) for some i: solutions of the pattern with these two groups merged. Two points of L differ
with m - 1 changes of sign (Theorem I, the proof of uniqueness), so that a wall at i is the only minimum of F_m on L if
m - 1 - i is even, and the only maximum if it is odd. Hence a pattern is settled by those with one value less:

* no wall: L is empty, there is no solution;
* a wall at the minimum with F_m > c_m, or at the maximum with F_m < c_m: there is none;
* a wall with F_m = c_m: it is the only solution, and has fewer values;
* else Newton's method, and a box in which exactly one solution is proved to lie.

At the bottom the pattern of one value has the solution c_1, and two values with variance are explicit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from sympy import Expr, Rational, S, expand

from symdecouple.analysis.critical.exact_values import closed_values, exact_moment, two_values
from symdecouple.analysis.critical.tie_patterns import Ties, coarser, sign_of
from symdecouple.analysis.critical.value_boxes import FloatArray, Interval, ValueBox, polished, solved_between

__all__ = ["PatternSolutions", "Settled", "Targets"]

_DIGITS = 70


class Settled(NamedTuple):
    """What is known of a pattern: its solution, or why there is none.

    `box` is the solution, of fewer values than the pattern where it is a wall; `how` is "box", "on a wall", "beyond a
    wall", "no wall", or "open" where nothing is proved; `place` is the wall.
    """

    box: ValueBox | None
    how: Literal["box", "on a wall", "beyond a wall", "no wall", "open"]
    place: int = -1


@dataclass(frozen=True, slots=True)
class Targets:
    """The standardized moments that are asked for, exact or enclosed.

    Attributes
    ----------
    exact : tuple of Expr
        Of order 1, 2, 3, ...; the first two are 0 and 1.
    unit : Expr
        The standard deviation at the references: samples with rational values have rational multiples of 1/unit.
    """

    exact: tuple[Expr, ...]
    unit: Expr = S.One

    def intervals(self) -> tuple[Interval, ...]:
        """Return an interval around each, a point where it is rational."""
        return tuple(map(_enclosed, self.exact))


@dataclass(slots=True)
class PatternSolutions:
    """The solution of each pattern, found once."""

    targets: Targets
    found: dict[Ties, Settled] = field(default_factory=dict)
    _intervals: tuple[Interval, ...] = ()

    def __post_init__(self) -> None:
        self._intervals = self.targets.intervals()

    def settled(self, ties: Ties) -> Settled:
        """Return what is known of a pattern with as many targets as values."""
        if ties not in self.found:
            self.found[ties] = self._settle(ties)
        return self.found[ties]

    def relation(self, box: ValueBox, order: int) -> int | None:
        """Return the sign of moment minus target, 0 only where they are equal exactly; None where it is not known."""
        (low, high), (least, most) = box.moment(order), self._intervals[order - 1]
        if low > most:
            return 1
        if high < least:
            return -1
        values = closed_values(box, self.targets.exact, self.targets.unit)
        if values is None:
            return None
        return 0 if expand(exact_moment(box.ties, values, order) - self.targets.exact[order - 1]) == 0 else None

    def _settle(self, ties: Ties) -> Settled:
        count = len(ties)
        if count == 1:
            return self._boxed(ties, np.zeros(1))
        walls = [self.settled(pattern) for pattern in coarser(ties)]
        ends: dict[int, FloatArray] = {}
        for place, wall in enumerate(walls):
            if wall.box is None:
                continue
            beyond = self.relation(wall.box, count)
            sign = sign_of(place, count - 1)
            if beyond == 0:
                return Settled(wall.box, "on a wall", place)
            if beyond == sign:
                return Settled(None, "beyond a wall", place)
            ends[sign] = _spread(wall.box, ties)
        if count == 2:
            start = [float(v) for v in two_values(Rational(ties[1], sum(ties)))]
            return self._boxed(ties, np.array(start))
        if not ends and all(wall.how != "open" for wall in walls):
            return Settled(None, "no wall")
        if len(ends) < 2:
            return Settled(None, "open")
        middles = [float((low + high) / 2) for low, high in self._intervals]
        start_at = solved_between(ties, ends[1], ends[-1], middles)
        return Settled(None, "open") if start_at is None else self._boxed(ties, start_at)

    def _boxed(self, ties: Ties, start: FloatArray) -> Settled:
        box = polished(ties, start.tolist(), self._intervals)
        return Settled(box, "open" if box is None else "box")


def _spread(box: ValueBox, ties: Ties) -> FloatArray:
    """Return the values of a box once for each group of a finer pattern."""
    ends = np.cumsum(box.ties)
    return np.array([float(box.values[int(np.searchsorted(ends, top))]) for top in np.cumsum(ties)])


def _enclosed(target: Expr) -> Interval:
    if target.is_Rational:
        exact = Fraction(int(target.p), int(target.q))
        return exact, exact
    digits = Rational(str(target.evalf(_DIGITS)))
    middle = Fraction(int(digits.p), int(digits.q))
    error = Fraction(1, 10 ** (_DIGITS - 10)) * max(Fraction(1), abs(middle))
    return middle - error, middle + error
