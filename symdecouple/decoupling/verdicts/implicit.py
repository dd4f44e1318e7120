r"""The modified features behind an implicit level, as exact jets: flow parameters by the implicit function theorem.

A level without a formula is N_k(x) = N_(k-1)(phi_t(N_(k-1)(x))) with t(x) the root of

.. math:: G(t, x) = f_k(N_{k-1}(\varphi^k_t(N_{k-1}(x)))) - v_k, \qquad D_u t = -D_u G/G_t .

At one rational sample t is a number: zero exactly, or enclosed by an interval Newton step, which proves that the root
is there. Its first two derivatives follow from those of G, and with them those of the modified features.

There are two routes to the derivatives of t. The formulas of the implicit function theorem find; the simplified Newton
iteration T <- T - G(T, x)/G_t in the algebra of jets, one order an iteration, verifies.

*Which root.* Along [0, t] the flow of every sample is shown to exist. That f_k is monotone there, so that t is the
first root on the way, is shown as well where the levels before are explicit.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any

from sympy import Expr

from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.jets import Jet, Point, gradient_at
from symdecouple.calculus.span import upper_bound
from symdecouple.flows.steps import TARGET, TIME, Step
from symdecouple.language.budget import check
from symdecouple.language.feature import Feature
from symdecouple.language.sample import Sample

__all__ = ["Column", "ModifiedPoint"]

MAX_TRIALS = 200  # of Newton's method, half of each step among them: it doubles the digits once it is near
MAX_DEPTH = 12  # 4096 parts of a path: some seconds

Column = tuple[list[Any], list[dict[int, Any]]]
"""N grad of a feature, and its Jacobian row by row."""


class ModifiedPoint:
    """A sample vector at which modified features are evaluated as jets."""

    def __init__(self, point: Point, steps: Sequence[Step], values: Sequence[Expr], sample: Sample,
                 by_newton: bool = False) -> None:
        self.world: World = point.world
        self.point, self.steps, self.values, self.sample = point, tuple(steps), tuple(values), sample
        self.by_newton = by_newton
        self.at_level = cache(self._at_level)

    def _at_level(self, k: int) -> Point:
        """Return the sample with features 1..k at their references, as functions of the sample given."""
        found = self._normalized(self.point, k)
        there = found.moved([Jet(jet.value) for jet in found.jets])
        for step, value in zip(self.steps[:k], self.values, strict=False):
            gap = (there.jet(step.feature.expr) + there.jet(value).scaled(-1)).value
            if gap is None:
                raise Irrational
            if not self.world.is_zero(gap):
                raise OutsideDomain
        return found

    def column(self, feature: Feature, level: int) -> Column:
        """Return N grad (f o N_level), and its Jacobian."""
        return gradient_at(self.at_level(level).jet(feature.expr), self.point, self.point.size)

    # --- motions ------------------------------------------------------------------------------------------------

    def _normalized(self, point: Point, k: int) -> Point:
        """Return N_k: by its formula, else from N_(k-1)."""
        if k == 0:
            return point
        if (formula := self.steps[k - 1].formula) is not None:
            return point.moved([point.jet(formula, self.sample, n) for n in range(point.size)])
        y = self.at_level(k - 1) if point is self.point else self._normalized(point, k - 1)
        return self._normalized(self._along(y, k, self._time(y, k)), k - 1)

    def _along(self, y: Point, k: int, t: Jet) -> Point:
        """Follow flow k for a time t."""
        y = y.moved(y.jets, {TIME: t})
        return y.moved([y.jet(self.steps[k - 1].flow, self.sample, n) for n in range(y.size)])

    def _gap(self, y: Point, k: int, t: Jet) -> Jet:
        """Return G = f_k - v_k after a time t."""
        check()
        end = self._normalized(self._along(y, k, t), k - 1)
        return end.jet(self.steps[k - 1].feature.expr) + y.jet(self.values[k - 1]).scaled(-1)

    # --- the flow parameter as a function -----------------------------------------------------------------------

    def _time(self, y: Point, k: int) -> Jet:
        formula = self.steps[k - 1].time
        if formula is not None:
            return y.moved(y.jets, {TARGET: y.jet(self.values[k - 1])}).jet(formula)
        fixed = y.moved([Jet(jet.value) for jet in y.jets])
        root = self._root(fixed, k)
        if not any(jet.grad for jet in y.jets):
            return Jet(root)
        return self._iterated(y, fixed, k, root) if self.by_newton else self._implicit(y, k, root)

    def _implicit(self, y: Point, k: int, root: Any) -> Jet:
        """Return t by the implicit function theorem: G_i + G_t t_i = 0, and this differentiated once more."""
        own, zero = self.point.size + k, self.world.number(Fraction(0))
        gap = self._gap(y, k, self._variable(k, root))
        slope = gap.grad.pop(own)
        first = {i: -g / slope for i, g in gap.grad.items()}
        mixed = {i: gap.hess.get((min(i, own), max(i, own)), zero) for i in [*first, own]}
        second: dict[tuple[int, int], Any] = {}
        for i, a in first.items():
            for j, b in first.items():
                if i <= j:
                    bend = gap.hess.get((i, j), zero) + mixed[i] * b + mixed[j] * a + mixed[own] * a * b
                    second[i, j] = -bend / slope
        return Jet(root, first, second)

    def _iterated(self, y: Point, fixed: Point, k: int, root: Any) -> Jet:
        """Return t by two steps of Newton's method with a fixed slope, from its value: one more order a step."""
        slope = self._slope(fixed, k, root)[1]
        t = Jet(root)
        for _ in range(2):
            t = t + self._gap(y, k, t).scaled(-1 / slope)
            t.value = root
        return t

    def _variable(self, k: int, value: Any) -> Jet:
        """Return the time of level k as a variable of its own, after all coordinates."""
        return Jet(value, {self.point.size + k: self.world.number(Fraction(1))})

    # --- the flow parameter as a number -------------------------------------------------------------------------

    def _slope(self, y: Point, k: int, t: Any) -> tuple[Any, Any]:
        """Return G and G_t at a time, or at all times of an interval, on which G is then monotone."""
        gap = self._gap(y, k, self._variable(k, t))
        slope = gap.grad.get(self.point.size + k, self.world.number(Fraction(0)))
        if gap.value is None:
            raise Irrational
        if self.world.is_zero(slope):
            raise OutsideDomain if self.world.iv is None else Irrational
        return gap.value, slope

    def _root(self, y: Point, k: int) -> Any:
        """Return zero where it is the root exactly, else an interval in which there is one, and one only."""
        zero = self.world.number(Fraction(0))
        value, _ = self._slope(y, k, zero)
        if self.world.iv is None:
            if value != 0:
                raise Irrational
            return zero
        root = self._enclosed(y, k, self._approximated(y, k))
        self._follow(y, k, root)
        return root

    def _approximated(self, y: Point, k: int) -> Any:
        """Return the root to about the working precision: Newton's method, steps halved until the residual falls."""
        y = y.moved([Jet(jet.value.mid) for jet in y.jets])
        t = step = self.world.number(Fraction(0))
        least = self.world.iv.inf
        for _ in range(MAX_TRIALS):
            tried, step = (t - step).mid, step / 2  # which is tried next, unless this one is taken
            with suppress(OutsideDomain, Irrational):
                self._check_flow(y, k, tried * self.world.iv.mpf([0, 1]))
                value, slope = self._slope(y, k, tried)
                if self.world.is_zero(value):
                    return tried
                if upper_bound(value.mid) < least:
                    t, least, step = tried, upper_bound(value.mid), value / slope
        raise OutsideDomain

    def _enclosed(self, y: Point, k: int, t: Any) -> Any:
        """Return the interval Newton image of a neighbourhood of t that it lies inside: one root is there."""
        value, slope = self._slope(y, k, t)
        radius = 4 * upper_bound(value / slope)
        for _ in range(4):
            box = t + self.world.iv.mpf([-radius, radius])
            image = t - value / self._slope(y, k, box)[1]
            if box.a <= image.a and image.b <= box.b:
                return image
            radius = 100 * radius
        raise Irrational

    def _follow(self, y: Point, k: int, root: Any) -> None:
        """Show that the flows exist up to the root and, behind explicit levels, that G is monotone on the way."""
        is_explicit = all(step.time is not None for step in self.steps[: k - 1])
        parts = [(root * self.world.iv.mpf([0, 1]), MAX_DEPTH)]
        while parts:
            times, depth = parts.pop()
            try:
                self._check_flow(y, k, times)
                if is_explicit:
                    self._slope(y, k, times)
            except (Irrational, OutsideDomain):
                if depth == 0:
                    raise OutsideDomain from None
                ends = [times.mid.a, times.b], [times.a, times.mid.b]
                parts += [(self.world.iv.mpf(half), depth - 1) for half in ends]

    def _check_flow(self, y: Point, k: int, times: Any) -> None:
        if not all(jet.value.delta.b < self.world.iv.inf for jet in self._along(y, k, Jet(times)).jets):
            raise Irrational
