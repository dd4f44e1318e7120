r"""All features of a level at once, by a vector root of concatenated flows (Algorithm 4).

.. math::

    y(t) = \varphi^k_{t_k} \circ \cdots \circ \varphi^1_{t_1}(x), \qquad f_j(y(t)) = v_j, \quad j = 1 \dots k

Newton's method in t, whose matrix is exact: moving t_j moves y along the generator j, carried on by the later flows,

.. math::

    \frac{\partial f_i}{\partial t_j} = \mathrm{Mean}(v_{f_i} w_j), \qquad
    w_j = u_j(y_j) \prod_{l > j} \frac{\partial \varphi^l}{\partial x}

The features are taken in one after the other. Each start is the solution before with a zero appended, and the new
target is approached from the value there by the damped steps of `joint_steps`: at once, or in parts where that fails.
Concatenated flows reach every point of a leaf where they commute, and for shift, scale, Riccati in this order;
elsewhere they may miss it, and then the sample is refused here although another path has an answer. So are samples with
far outliers, for which the parameters of all flows have to change together in very many small steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from symdecouple.decoupling.motions.joint_steps import JointSteps
from symdecouple.decoupling.motions.orbit import Moved, Unreachable
from symdecouple.numeric.features.expressions import Array

__all__ = ["ConcatenatedFlows"]

SHORTEST = 2.0**-3  # part of the way to a target: shorter ones found no sample more, and took six times as long


class ConcatenatedFlows(JointSteps):
    """All features of a level are imposed by one vector of flow parameters."""

    has_formulas = False

    def _search(self, moved: Moved, k: int, targets: Array) -> Moved:
        times, found = np.zeros(0, dtype=moved.values.dtype), moved
        for level in range(1, k + 1):
            times = np.append(times, 0 * targets[0])
            first, way, stride = self.values(found.values)[level - 1], 0 * targets[0], 1 + 0 * targets[0]
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
        return np.asarray(moved.way[2])

    def _stepped(self, moved: Moved, delta: Array, targets: Array) -> Moved:
        start, times, _ = moved.way
        return self._from(start, times + delta, targets)

    def _about(self, moved: Moved, k: int, targets: Array) -> str:
        return f"concatenated flows: {super()._about(moved, k, targets)}"

    def _from(self, start: Moved, times: Array, targets: Array) -> Moved:
        moved, fields = self._moved(start, times, targets)
        return replace(moved, way=(start, times, np.array(fields)))

    def _moved(self, start: Moved, times: Array, targets: Array) -> tuple[Moved, list[Array]]:
        """Follow all flows; return the end and the fields w_j at it."""
        moved, fields = start, list[Array]()
        for j, t in enumerate(times):
            after = self._along(replace(moved, slope=np.full_like(start.slope, 1)), j, t)
            fields = [w * after.slope for w in fields]
            fields.append(self.generators(after.values, j + 1)[j])
            moved = replace(after, slope=moved.slope * after.slope)
        return replace(moved, residual=self._rest(moved, targets)), fields
