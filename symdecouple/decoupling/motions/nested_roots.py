r"""One feature after the other, by a scalar root: the relaxed broad path.

.. math::

    N_k(x) = N_{k-1}\bigl(\varphi^k_t(N_{k-1}(x))\bigr), \qquad
    t:\ G(t) = f_k\bigl(N_{k-1}(\varphi^k_t(N_{k-1}(x)))\bigr) = v_k

G is strictly monotone as long as the projected gradient of f_k does not vanish, on the interval of t on which the flows
of all samples exist. The root is walked to from t = 0 and bracketed, by a sign change or by the end of that interval;
a bracket between an existing and a missing flow shrinks to the pole, and G there is what can be attained; where G still
moves when no number is left between the two, as a logarithm does, more digits may reach the target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import mpmath
import numpy as np
from scipy.optimize import brentq
from sympy import Expr

from symdecouple.decoupling.motions.joint_steps import JointSteps
from symdecouple.decoupling.motions.motion import is_finite, largest, unit
from symdecouple.decoupling.motions.orbit import Moved, OrbitMotion, Unreachable, beyond, lies_far, ran_out
from symdecouple.errors import Outcome
from symdecouple.flows.leaf import Leaf, Y, leaf_of
from symdecouple.flows.normalizer_templates import on_triple_leaf, triple_image
from symdecouple.language.sample import Sample
from symdecouple.numeric.features.expressions import Array, Compiled, as_multiprecision

__all__ = ["Automatic", "NestedRoots"]

_MOST = 4000  # halvings and doublings: twice the exponents of float64
_LOOK = 20  # halvings whose changes are compared: a factor 1e6 of what is left of the way
_STEADY = 0.5  # of a change: a power of what is left, to 1/20 at least, falls below in so many halvings


class NestedRoots(OrbitMotion):
    """Features without a formula are imposed one by one, each by the root of one equation in its flow parameter."""

    def _search(self, moved: Moved, k: int, targets: Array) -> Moved:
        if k <= self.explicit:
            return replace(self._explicit(moved, k, targets[:k]), residual=0)
        start, only = moved.values, np.eye(k)[-1]
        moved = self._search(moved, k - 1, targets)

        @lru_cache(1)
        def at(t: Any) -> Moved:
            return self._search(self._along(moved, k - 1, t), k - 1, targets)

        @cache  # the ends of a bracket are asked for again
        def gap(t: Any) -> Any:
            value = self.values(at(t).values, k)[-1] - targets[k - 1]
            if not is_finite(value):
                raise Unreachable(Outcome(False, "not finite", str(self.steps[k - 1].feature)))
            return value

        found, reason = moved, f"level {k} not attainable"
        if gap(0 * targets[k - 1]) != 0 and (first := self._first_step(moved, k, targets)):
            near, far, still_moves = _bracket(gap, lambda t: self._direction(at(t), only), first, unit(targets))
            if far is None:
                is_lost = still_moves or lies_far(moved.values) or (  # or flows to infinity, as far as digits reach
                    largest(at(near).values) > largest(moved.values) / mpmath.sqrt(unit(targets)))
                reason = beyond(targets) if is_lost else reason
                raise Unreachable(Outcome(False, reason, self._about(at(near), k - 1, targets)))
            found, reason = at(_between(gap, near, far, targets.dtype == object)), beyond(targets)  # there is a root
        found = replace(found, residual=self._rest(found, targets[:k]))
        if not (self._is_there(found, targets[:k]) and found.keeps_digits):
            reason = ran_out(found, start, moved.values) or reason
            raise Unreachable(Outcome(False, reason, self._about(found, k - 1, targets)))
        return found

    def _first_step(self, moved: Moved, k: int, targets: Array) -> Any:
        """Return the step of Newton's method, or the part of it that moves the samples by their size; 0 where it would
        move them by less than their rounding."""
        direction = self._direction(moved, targets[:k] - self.values(moved.values, k))
        if direction is None:
            raise Unreachable(Outcome(False, "critical point", self._about(moved, k - 1, targets)))
        size, shift = map(largest, (moved.values, direction[k - 1] * self.generators(moved.values, k)[-1]))
        return direction[k - 1] * min(1, size / shift) if shift > 2 * unit(targets) * size else 0


def _bracket(gap: Callable[[Any], Any], rates: Callable[[Any], Any], step: Any, rounding: Any) -> tuple[Any, Any, bool]:
    """Walk from 0 to a sign change; (end, None) where the flow ends first, or the rate dt/dG changes its sign, beyond a
    critical point; and whether the gap still closes there."""
    near, value = 0 * step, gap(0 * step)
    sign, missing, seen = value > 0, None, list[Any]()
    for _ in range(_MOST):
        trial = near + step if missing is None else (near + missing) / 2
        if trial in (near, missing) or (missing is not None and abs(missing - near) <= rounding * abs(missing)):
            break
        try:
            found = gap(trial)
        except Unreachable:
            missing = trial
        else:
            if (found > 0) != sign or found == 0:
                return near, trial, False
            if (rate := rates(trial)) is not None and rate[-1] * step * gap(near) > 0:
                missing = trial
                continue
            near, step, value = trial, 2 * step, found
        seen = [*seen, value] if missing is not None else []
    return near, None, _still_closes(seen, rounding)


def _still_closes(seen: Sequence[Any], rounding: Any) -> bool:
    """Tell from the gap after each halving of the way to an end whether it may vanish before the end.

    A gap that tends to a limit changes by a geometric series, by ever less; one with a logarithm by ever as much.
    """
    if len(seen) <= 2 * _LOOK:
        return False
    first, second, last = seen[-1 - 2 * _LOOK], seen[-1 - _LOOK], seen[-1]
    before, after = (abs(first) - abs(second)), (abs(second) - abs(last))
    if not (before > 0 and after > rounding ** 0.5 * abs(last)):
        return False
    return bool(after >= _STEADY * before or after * after / (before - after) >= abs(last))


def _between(gap: Callable[[Any], Any], near: Any, far: Any, precise: bool) -> Any:
    """Return the root between two parameters of opposite signs, in the units of the far one."""
    if not precise:
        low, high = sorted((float(near), float(far)))
        return brentq(gap, low, high, xtol=1e-300, rtol=1e-15, maxiter=_MOST)
    is_above = gap(far) > 0
    for _ in range(_MOST):  # a first step may be too long by many powers of two
        if near or gap(far) == 0:
            break
        middle = far / 2
        near, far = (near, middle) if (gap(middle) > 0) == is_above else (middle, far)
    if gap(far) == 0:  # at all ends that are nearer the signs are those at `near`
        return far
    share = mpmath.findroot(lambda s: gap(near + s * (far - near)), (mpmath.mpf(0), mpmath.mpf(1)), solver="anderson",
                            tol=mpmath.eps, maxsteps=60 + mpmath.mp.prec, verify=False)
    return near + share * (far - near)


class LeafMotion:
    """Moebius maps of the coordinate of a leaf: searched in float64, applied to sample vectors of either kind."""

    def __init__(self, leaf: Leaf, sample: Sample) -> None:
        self._phi = Compiled([leaf.phi, leaf.phi.diff(sample)], sample)
        self._back = Compiled([leaf.back], Y)
        self._ends = float(leaf.low), float(leaf.high)

    def moved(self, start: Moved, motion: OrbitMotion, targets: Array) -> Moved | None:
        """Move samples to the image at which leading features have their targets; None where a search finds none."""
        x, count = start.values, len(targets)
        y, _, size, sides = self._placed(x.astype(np.float64))

        def reached(at: Array) -> tuple[Array, Array]:
            image, along, _ = triple_image(*sides, at)
            z = self._back(image)[0]
            fields = along / self._coordinate(z)[1]
            return motion.values(z, count), motion.gradients(z, count) @ fields.T / len(z)

        is_wide = np.isfinite(size) and size > 0
        at = on_triple_leaf(y, targets.astype(np.float64), reached, self._ends) if is_wide else None
        if at is None:
            return None
        ends = as_multiprecision(at[:2]) if x.dtype == object else at[:2]
        _, slope, width, apart = self._placed(x)
        image, _, rate = triple_image(*apart, (*ends, float(at[2])))
        values = self._back(image)[0]
        rate = rate / width * slope / self._coordinate(values)[1]
        error = start.error * rate + unit(x) * (abs(x) * rate + abs(values))
        return Moved(values, start.slope * rate, error) if is_finite(largest(values)) else None

    def _placed(self, x: Array) -> tuple[Array, Array, Any, tuple[Array, Array]]:
        """Return the coordinate y, its slope, its range, and how far y is from both ends in units of that."""
        y, slope = self._coordinate(x)
        low, high = y.min(), y.max()
        return y, slope, high - low, ((y - low) / (high - low), (high - y) / (high - low))

    def _coordinate(self, x: Array) -> tuple[Array, Array]:
        phi, slope = self._phi(x)
        return np.broadcast_to(phi, x.shape), np.broadcast_to(slope, x.shape)


@lru_cache(maxsize=64)
def _leaf_motion(fields: tuple[Expr, ...], sample: Sample) -> LeafMotion | None:
    leaf = leaf_of(fields, sample)
    return None if leaf is None else LeafMotion(leaf, sample)


class Automatic(JointSteps, NestedRoots):
    """The first feature without a formula by a scalar root, levels beyond by steps along all generators.

    Where the generators have a coordinate, these steps begin at the image that a search of the whole leaf finds.
    """

    otherwise = ""

    def _search(self, moved: Moved, k: int, targets: Array) -> Moved:
        if k <= self.explicit + 1:
            return NestedRoots._search(self, moved, k, targets)
        if (motion := _leaf_motion(tuple(flow.field.expr for flow in self.flows[:k]), self.sample)) is not None:
            found = motion.moved(moved, self, targets)
            if found is None:
                why = f"no image of the sample was found on its leaf at which features 1 to {k} have these values"
                raise Unreachable(Outcome(False, f"level {k} not attainable", f"{why}; ask for others"))
            moved = found
        return super()._search(moved, k, targets)
