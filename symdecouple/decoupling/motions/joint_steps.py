r"""All features of a level at once, by Newton's method on the orbit of the generators.

.. math::

    \delta = J^{-1}(v - f(y)), \quad J_{ij} = \mathrm{Mean}(v_{f_i} u_j), \qquad
    y \leftarrow \varphi^k_{\delta_k} \circ \cdots \circ \varphi^1_{\delta_1}(y)

with steps halved until the flows exist and the residual falls, and on while it falls further. Leading features whose
flow parameter is a formula are imposed by it after each step.

Imposed features are at their targets to half of the digits at least; all but a few where their own formulas do not
cancel. Known to be refused in float64, with or without an answer in more digits: samples half of which crowd in a space
far below their range (``rng.gamma(.02, size=100)``, ``exp(5*normal)``). Centring rounds their gaps away, and the flow
would have to pull apart what is left of them. Moments are better served by `numeric.moments`, which measures from the
crowded end. A target that a leaf reaches only in the limit (zero skewness with half of the samples tied) is refused
too: the residual vanishes on the way to a pole, and the digits with it.

*Concatenated flows* (Algorithm 4) are all flows one after the other from the start, and one vector of parameters:

.. math::

    y(t) = \varphi^k_{t_k} \circ \cdots \circ \varphi^1_{t_1}(x), \qquad
    \frac{\partial f_i}{\partial t_j} = \mathrm{Mean}(v_{f_i} w_j), \quad
    w_j = u_j(y_j) \prod_{l > j} \frac{\partial \varphi^l}{\partial x}

The features are taken in one after the other. Each start is the solution before with a zero appended, and the new
target is approached from the value there by the same damped steps: at once, or in parts where that fails. They reach
every point of a leaf where the flows commute, and for shift, scale, Riccati in this order; elsewhere they may miss it,
and then the sample is refused here although another path has an answer. So are samples with far outliers, for which the
parameters of all flows have to change together in very many small steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from symdecouple.decoupling.motions.motion import largest, unit
from symdecouple.decoupling.motions.orbit import Moved, OrbitMotion, Unreachable, ran_out
from symdecouple.errors import Outcome
from symdecouple.numeric.features.expressions import Array

__all__ = ["ConcatenatedFlows", "JointSteps", "StrictSteps"]

MAX_STEPS = 200  # each has to fall by LEAST_FALL
MAX_HALVINGS = 60  # a shorter step changes no digit of float64
LEAST_FALL = 2.0**-24  # of a residual by one step: less leads nowhere in MAX_STEPS
SHORTEST = 2.0**-3  # part of the way to a target: shorter ones found no sample more, and took six times as long

_SLACK = 1e5  # residuals below this many units of rounding are near their floor: whole steps only


class JointSteps(OrbitMotion):
    """Features without a formula are imposed together, by steps along all generators."""

    def _search(self, moved: Moved, k: int, targets: Array) -> Moved:
        start = moved.values
        moved = self._explicit(moved, min(k, self.explicit), targets)
        first, reason = moved.values, f"level {k} not attainable"
        moved = replace(moved, residual=self._rest(moved, targets))
        for _ in range(MAX_STEPS):
            if moved.residual == 0 or not largest(moved.error) < largest(moved.values):  # done, or no digit left
                break
            delta = self._direction(moved, targets - self.values(moved.values, k))
            found = None if delta is None else self._damped(moved, delta, targets)
            if delta is None and moved.keeps_digits:
                reason = "critical point"
            if found is None:
                break
            moved, before = found, moved.residual
            if moved.residual > (1 - LEAST_FALL) * before:
                reason = "no convergence"
                break
        else:
            reason = "no convergence"
        if self._is_there(moved, targets) and moved.keeps_digits:
            return moved
        raise Unreachable(Outcome(False, ran_out(moved, start, first) or reason, self._about(moved, k - 1, targets)))

    def _damped(self, moved: Moved, delta: Array, targets: Array) -> Moved | None:
        """Halve the step until every flow exists and the residual falls, and on while it falls further."""
        found = None
        for halving in range(1 if moved.residual <= _SLACK * unit(moved.values) else MAX_HALVINGS):
            try:
                trial = self._stepped(moved, delta / 2**halving, targets)
            except Unreachable:
                continue
            if trial.residual < (moved if found is None else found).residual:
                found = trial
                if 2 * trial.residual < moved.residual:
                    break
            elif found is not None:
                break
        return found

    def _stepped(self, moved: Moved, delta: Array, targets: Array) -> Moved:
        for j, t in enumerate(delta):
            moved = self._along(moved, j, t)
        moved = self._explicit(moved, min(len(delta), self.explicit), targets)
        return replace(moved, residual=self._rest(moved, targets))


class StrictSteps(JointSteps):
    """The same along the flows of the modified features, to which no formula belongs."""

    has_formulas = False


class ConcatenatedFlows(JointSteps):
    """All features of a level are imposed by one vector of flow parameters."""

    has_formulas = False

    def _search(self, moved: Moved, k: int, targets: Array) -> Moved:
        times, found = np.zeros(0, dtype=moved.values.dtype), moved
        for level in range(1, k + 1):
            times = np.append(times, 0 * targets[0])
            first, way, stride = self.values(found.values, level)[-1], 0 * targets[0], 1 + 0 * targets[0]
            while way < 1:
                aim = targets[:level].copy()
                if way + stride < 1:
                    aim[-1] = first + (way + stride) * (aim[-1] - first)
                try:
                    found = super()._search(self._from(moved, times, aim), level, aim)
                except Unreachable:
                    stride = stride / 2
                    if stride < SHORTEST:
                        raise
                else:
                    times, way, stride = found.way[1], way + stride, 2 * stride
        return found

    def _fields(self, moved: Moved, k: int) -> Array:
        return np.array([self.generators(after.values, j)[-1] * (moved.slope / after.slope)
                         for j, after in enumerate(moved.way[2], 1)])

    def _stepped(self, moved: Moved, delta: Array, targets: Array) -> Moved:
        start, times, _ = moved.way
        return self._from(start, times + delta, targets)

    def _about(self, moved: Moved, k: int, targets: Array) -> str:
        return f"concatenated flows: {super()._about(moved, k, targets)}"

    def _from(self, start: Moved, times: Array, targets: Array) -> Moved:
        """Follow all flows, and note the way: the start, the parameters, and where each flow ends."""
        ends = [start]
        for j, t in enumerate(times):
            ends.append(self._along(ends[-1], j, t))
        return replace(ends[-1], residual=self._rest(ends[-1], targets), way=(start, times, ends[1:]))
