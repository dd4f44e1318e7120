r"""One feature after the other, by a scalar root: the relaxed broad path.

.. math::

    N_k(x) = N_{k-1}\bigl(\varphi^k_t(N_{k-1}(x))\bigr), \qquad
    t:\ G(t) = f_k\bigl(N_{k-1}(\varphi^k_t(N_{k-1}(x)))\bigr) = v_k

G is strictly monotone as long as the projected gradient of f_k does not vanish, on the interval of t on which the flows
of all samples exist. The root is walked to from t = 0 and bracketed, by a sign change or by the end of that interval;
a bracket between an existing and a missing flow shrinks to the pole, and G there is what can be attained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import mpmath
from scipy.optimize import brentq

from symdecouple.decoupling.motions.joint_steps import JointSteps
from symdecouple.decoupling.motions.leaf import LeafMotion
from symdecouple.decoupling.motions.motion import is_finite, largest, unit
from symdecouple.decoupling.motions.orbit import Moved, OrbitMotion, Unreachable, keeps_digits, ran_out
from symdecouple.errors import Outcome
from symdecouple.flows.flow import Flow
from symdecouple.flows.leaf import leaf_of
from symdecouple.flows.steps import Step
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.features.expressions import Array

__all__ = ["Automatic", "NestedRoots"]

_MOST = 4000  # halvings and doublings: twice the exponents of float64


class NestedRoots(OrbitMotion):
    """Features without a formula are imposed one by one, each by the root of one equation in its flow parameter."""

    def _search(self, moved: Moved, k: int, targets: Array) -> Moved:
        if k <= self.explicit:
            return replace(self._explicit(moved, k, targets[:k]), residual=0)
        start = moved.values
        moved = self._search(moved, k - 1, targets)

        def at(t: Any) -> Moved:
            return self._search(self._along(moved, k - 1, t), k - 1, targets)

        def gap(t: Any) -> Any:
            value = self.values(at(t).values)[k - 1] - targets[k - 1]
            if not is_finite(value):
                raise Unreachable(Outcome(False, "not finite", str(self.steps[k - 1].feature)))
            return value

        found = moved
        if gap(0 * targets[k - 1]) != 0 and (first := self._first_step(moved, k, targets)):
            near, far = _bracket(gap, first, unit(targets))
            if far is None:
                reason = f"level {k} not attainable"
                raise Unreachable(Outcome(False, reason, self._about(at(near), k - 1, targets)))
            found = at(_between(gap, near, far, targets.dtype == object))
        found = replace(found, residual=self._rest(found, targets[:k]))
        if not (self._is_there(found) and keeps_digits(found)):
            reason = ran_out(found, start, moved.values) or f"level {k} not attainable"
            raise Unreachable(Outcome(False, reason, self._about(found, k - 1, targets)))
        return found

    def _first_step(self, moved: Moved, k: int, targets: Array) -> Any:
        """Return the step of Newton's method; 0 where it would move the samples by less than their rounding."""
        direction = self._direction(moved, targets[:k])
        if direction is None:
            raise Unreachable(Outcome(False, "critical point", self._about(moved, k - 1, targets)))
        shift = largest(direction[k - 1] * self.generators(moved.values, k)[k - 1])
        return direction[k - 1] if shift > 2 * unit(targets) * largest(moved.values) else 0


def _bracket(gap: Callable[[Any], Any], step: Any, rounding: Any) -> tuple[Any, Any]:
    """Walk from 0 to a sign change; (end, None) where the flow ends first."""
    near, sign = 0 * step, gap(0 * step) > 0
    missing = None
    for _ in range(_MOST):
        trial = near + step if missing is None else (near + missing) / 2
        if trial in (near, missing) or (missing is not None and abs(missing - near) <= rounding * abs(missing)):
            break
        try:
            value = gap(trial)
        except Unreachable:
            missing = trial
            continue
        if (value > 0) != sign or value == 0:
            return near, trial
        near, step = trial, 2 * step
    return near, None


def _between(gap: Callable[[Any], Any], near: Any, far: Any, precise: bool) -> Any:
    """Return the root between two parameters of opposite signs, in the units of the far one."""
    if not precise:
        low, high = sorted((float(near), float(far)))
        return brentq(gap, low, high, xtol=1e-300, rtol=1e-15, maxiter=500)
    share = mpmath.findroot(lambda s: gap(near + s * (far - near)), (mpmath.mpf(0), mpmath.mpf(1)), solver="anderson",
                            tol=mpmath.eps, maxsteps=60 + mpmath.mp.prec, verify=False)
    return near + share * (far - near)


class Automatic(JointSteps, NestedRoots):
    """The first feature without a formula by a scalar root, levels beyond by steps along all generators.

    Where the generators have a coordinate, these steps begin at the image that a search of the whole leaf finds.
    """

    otherwise = ""

    def __init__(self, features: FeatureSet, steps: Sequence[Step], flows: Sequence[Flow]) -> None:
        super().__init__(features, steps, flows)
        self._leaves: dict[int, LeafMotion | None] = {}

    def _search(self, moved: Moved, k: int, targets: Array) -> Moved:
        if k <= self.explicit + 1:
            return NestedRoots._search(self, moved, k, targets)
        if k not in self._leaves:
            leaf = leaf_of(tuple(flow.field.expr for flow in self.flows[:k]), self.sample)
            self._leaves[k] = None if leaf is None else LeafMotion(leaf, self.sample)
        if (motion := self._leaves[k]) is not None:
            found = motion.moved(moved, self, targets)
            if found is None:
                why = f"no image of the sample was found on its leaf at which features 1 to {k} have these values"
                raise Unreachable(Outcome(False, f"level {k} not attainable", f"{why}; ask for others"))
            moved = found
        return super()._search(moved, k, targets)
