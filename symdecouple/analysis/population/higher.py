r"""Decoupled moments of a law of order 5 and above, from level 3 on.

Level k moves the law by x' = +-pi_(k-1)(x), the monic orthogonal polynomial of the law, up when moment k is to grow.
Far out it is x^(k-1): an end that moves outward is carried past infinity at once, and there is no level k; one that
moves inward is bounded at once, however heavy its tail. So at the first level k at which an unbounded law moves,

* with its right end infinite, moment k is larger than wanted,
* with its left end infinite too, k is even.

Symmetric laws have level 4 in closed form (`symmetric`), to any digits. Elsewhere the law is a sample of weighted nodes
to the narrow paths, and the answer is that of two sets of nodes that agree to 8 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from numpy.typing import NDArray
from sympy import Expr, Float, Rational, S, binomial, nan, simplify

from symdecouple.analysis.population.leaf import Leaf
from symdecouple.analysis.population.levels import is_symmetric
from symdecouple.analysis.population.quadrature import number_of
from symdecouple.analysis.population.symmetric import SymmetricLaw
from symdecouple.errors import Outcome
from symdecouple.numeric.moments.levels import standardized_rows
from symdecouple.numeric.samples.matrix import SampleMatrix

__all__ = ["HigherMoments", "agreed"]

FloatArray = NDArray[np.float64]

_DIGITS = 8  # of what two sets of nodes agree on
_LIGHT = 1e-30  # weights of nodes that are left away: after a level that moves inward they count as they are


class HigherMoments:
    """The orders above 4 of one law, at level 3 by the map of `time`; use it inside `at_digits`.

    Parameters
    ----------
    leaf : Leaf
    time : number
        0 is the law itself.
    goal : sequence of Expr
        The standardized reference moments from order 3 on.
    """

    def __init__(self, leaf: Leaf, time: Any, goal: Sequence[Expr]) -> None:
        self.leaf, self.time, self.goal = leaf, time, tuple(goal)
        self.is_open = time == 0 and any(map(mpmath.isinf, leaf.ends))
        self.stopped: Outcome | None = None
        self.moved: Callable[[FloatArray], FloatArray] = lambda y: y / (1 - float(time) * y)
        self.symmetric: SymmetricLaw | None = None
        self.b: Any = None
        if time == 0 and goal[0] == 0 and (centre := is_symmetric(leaf)) is not None:
            self.symmetric = SymmetricLaw(leaf, centre)
            self.b, outcome = self.symmetric.reach(number_of(goal[1], leaf.quadrature.work))
            self.stopped = None if outcome.ok else outcome
            self.is_open = self.is_open and self.b == 0
            shift = float(centre - leaf.centre)
            self.moved = lambda y: (y - shift) / np.sqrt(1 + float(self.b) * (y - shift) ** 2)

    def moment(self, order: int) -> tuple[Expr, Outcome]:
        """Return the standardized decoupled moment of one order, or why there is none."""
        if self.stopped is not None:
            return nan, self.stopped
        if self.symmetric is not None and self.b != 0 and order <= 6:
            if order == 5:
                return (S.Zero if self.leaf.law.standard else Float(0)), Outcome(True)
            if self.goal[2] == 0:
                one, three = self.symmetric.powers(self.b, 1, 3)
                digits = self.leaf.quadrature.dps
                return Float(mpmath.nstr(three / one**3, digits + 5), digits), Outcome(True)
        if self.is_open:
            k, own = self._first_that_moves(order)
            if k == order:
                return own, Outcome(True) if own is not nan else Outcome(
                    False, "no moment", f"order {order}: the law is at level {order - 1} itself, and its moment of "
                    f"order {order} is infinite")
            if (why := self._outward(k, own)) is not None:
                self.stopped = why
                return nan, why
        return self._by_nodes(order)

    def _first_that_moves(self, order: int) -> tuple[int, Expr]:
        """The first level at which the law is not at the reference, and its own moment there; else `order`."""
        highest = self.leaf.highest_order()
        own = self.leaf.law.exact_moments(min(order, highest))
        for k in range(4, order + 1):
            if k > highest:
                return k, nan
            value = _standardized(own, k) if own is not None else self._computed(k)
            if k == order:
                return k, value
            wanted = self.goal[k - 3]
            if not (value == wanted if own is not None else abs(float(value - wanted)) < 10.0 ** (
                    3 - self.leaf.quadrature.dps)):
                return k, value
        return order, nan

    def _computed(self, order: int) -> Expr:
        mean, quadrature = self.leaf.mean(), self.leaf.quadrature
        variance, own = quadrature.expect(lambda x: [(x - mean) ** 2, (x - mean) ** order])
        value = own / variance ** (mpf(order) / 2)
        return Float(0) if abs(value) < mpf(10) ** -quadrature.dps else Float(mpmath.nstr(value, quadrature.dps + 5),
                                                                             quadrature.dps)

    def _outward(self, k: int, own: Expr) -> Outcome | None:
        wanted, low, high = self.goal[k - 3], *map(mpmath.isinf, self.leaf.ends)
        grows = own is not nan and float(own) < float(wanted)
        if (high and grows) or (low and grows == (k % 2 == 0)):
            value = "infinite" if own is nan else f"{float(own):.6g}"
            return Outcome(False, "carried past infinity", f"level {k}: the law is unbounded at level 3, its moment of "
                           f"order {k} is {value}, and on its way to {float(wanted):.6g} a tail would be carried past "
                           "infinity")
        if self.leaf.highest_order() < 2 * k - 2:
            return Outcome(False, "not known", f"level {k}: its path begins with moments up to order {2 * k - 2}, of "
                           f"which the law has {self.leaf.highest_order()}")
        return None

    def _by_nodes(self, order: int) -> tuple[Expr, Outcome]:
        found = []
        for law in (self.leaf.floats_to(6), self.leaf.floats_to(7)):
            counts = law.weights > (_LIGHT if self.is_open else 0)
            y, weights = self.moved(law.places[counts]), law.weights[counts]
            matrix = SampleMatrix.weighted(y[None], weights[None].copy())
            goal = (1.0, 0.0, 1.0, *map(float, self.goal[: order - 3]))
            values, refusals = standardized_rows(matrix, order, goal)
            if refusals:
                outcome = refusals[0]
                return nan, Outcome(False, outcome.reason, f"order {order}: {outcome.detail}")
            found.append(float(values[0, order - 1]))
        return agreed(found, f"order {order}")


def agreed(found: Sequence[float], what: str) -> tuple[Expr, Outcome]:
    """Return what two sets of nodes agree on, or that they do not."""
    near, far = found
    if not abs(far - near) <= 10.0**-_DIGITS * (1 + abs(far)):
        return nan, Outcome(False, "not settled", f"{what}: nodes of the law give {near:.10g} and {far:.10g}")
    return Float(0) if abs(far) < 10.0**-_DIGITS else Float(repr(far), _DIGITS), Outcome(True)


def _standardized(raw: Sequence[Expr], order: int) -> Expr:
    """The central moment of an order, over the power of the deviation; from E Y^1, ..., E Y^order."""
    powers = [S.One, *raw]
    central = sum((binomial(order, j) * powers[j] * (-powers[1]) ** (order - j) for j in range(order + 1)), S.Zero)
    return simplify(central / (powers[2] - powers[1] ** 2) ** Rational(order, 2))
