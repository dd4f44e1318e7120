r"""All features of a level at once, by a vector root of concatenated flows (Algorithm 4).

.. math::

    y(t) = \varphi^k_{t_k} \circ \cdots \circ \varphi^1_{t_1}(x), \qquad f_j(y(t)) = v_j, \quad j = 1 \dots k

Newton's method in t, whose matrix is exact: moving t_j moves y along the generator j, carried on by the later flows,

.. math::

    \frac{\partial f_i}{\partial t_j} = \mathrm{Mean}(v_{f_i} w_j), \qquad
    w_j = u_j(y_j) \prod_{l > j} \frac{\partial \varphi^l}{\partial x}

The features are taken in one after the other. Each start is the solution before with a zero appended, and the new
target is approached from the value there as fast as Newton's method follows without losing the solution. Concatenated
flows reach every point of a leaf where they commute, and for shift, scale, Riccati in this order; elsewhere they may
miss it, and then the sample is refused here although another path has an answer. So are samples with far outliers,
for which the parameters of all flows have to change together in very many small steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from symdecouple.decoupling.motions.orbit import Moved, OrbitMotion, Unreachable
from symdecouple.errors import Outcome
from symdecouple.numeric.features.expressions import Array

__all__ = ["ConcatenatedFlows"]

MAX_CORRECTIONS = 8  # more would be slower than half the stride
MAX_STRIDES = 200  # strides double where they succeed: more of them lead nowhere


class ConcatenatedFlows(OrbitMotion):
    """All features of a level are imposed by one vector of flow parameters."""

    has_formulas = False

    def _search(self, moved: Moved, k: int, targets: Array) -> Moved:
        if k == 0:
            return moved
        times, found = np.zeros(0, dtype=moved.values.dtype), moved
        for level in range(1, k + 1):
            times, found = self._taken_in(moved, np.append(times, 0 * targets[0]), found.values, targets[:level])
        if self._is_found(found, targets):
            return found
        detail = f"concatenated flows: {self._about(found, k - 1, targets)}"
        raise Unreachable(Outcome(False, f"level {k} not attainable", detail))

    def _taken_in(self, start: Moved, times: Array, at: Array, targets: Array) -> tuple[Array, Moved]:
        """Lead the last feature from its value at a solution for the others to its target."""
        first, way, stride = self.values(at)[len(targets) - 1], 0 * targets[0], 1 + 0 * targets[0]
        for _ in range(MAX_STRIDES):
            if way >= 1:
                break
            wanted = targets.copy()
            wanted[-1] = targets[-1] if way + stride >= 1 else first + (way + stride) * (targets[-1] - first)
            better = self._corrected(start, times, wanted)
            if better is None:
                stride = stride / 2
            else:
                times, way, stride = better, way + stride, 2 * stride
        return self._polished(start, times, targets)

    def _corrected(self, start: Moved, times: Array, targets: Array) -> Array | None:
        """Follow Newton's method while it halves the residual, to half of the digits."""
        residual = None
        for _ in range(MAX_CORRECTIONS):
            try:
                found, fields = self._moved(start, times, targets)
            except Unreachable:
                return None
            if self._is_there(found):
                return times
            if residual is not None and not 2 * found.residual < residual:
                return None
            delta, residual = self._direction(found.values, targets, np.array(fields)), found.residual
            if delta is None:
                return None
            times = times + delta
        return None

    def _polished(self, start: Moved, times: Array, targets: Array) -> tuple[Array, Moved]:
        """Take steps as long as they help: down to rounding."""
        found, fields = self._moved(start, times, targets)
        while found.residual != 0 and (delta := self._direction(found.values, targets, np.array(fields))) is not None:
            try:
                better, fields = self._moved(start, times + delta, targets)
            except Unreachable:
                break
            if not better.residual < found.residual:
                break
            times, found = times + delta, better
        return times, found

    def _moved(self, start: Moved, times: Array, targets: Array) -> tuple[Moved, list[Array]]:
        """Follow all flows; return the end and the fields w_j at it."""
        moved, fields = start, list[Array]()
        for j, t in enumerate(times):
            after = self._along(replace(moved, slope=np.full_like(start.slope, 1)), j, t)
            fields = [w * after.slope for w in fields]
            fields.append(self.generators(after.values, j + 1)[j])
            moved = replace(after, slope=moved.slope * after.slope)
        return replace(moved, residual=self._rest(moved, targets)), fields
