r"""Normalization of one sample vector along closed-form flows, at any level, in float64 or with mpmath numbers.

The features 1..k are imposed on x by moving it on its leaf, the orbit of the flows of u_1, ..., u_k. Leading features
whose flow parameter is a formula are imposed by it; the others by Newton's method on the orbit,

.. math::

    \delta = J^{-1}(v - f(y)), \quad J_{ij} = \mathrm{Mean}(v_{f_i} u_j), \qquad
    y \leftarrow \varphi^k_{\delta_k} \circ \cdots \circ \varphi^1_{\delta_1}(y)

with steps halved until the flows exist and the residual falls. The derivative of the motion by each sample, with all
flow parameters held, is accumulated on the way: it is what exact gradients need (Theorem F).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from sympy import oo

from symdecouple.errors import Outcome
from symdecouple.flows.chart import X
from symdecouple.flows.evaluation import T, compiled, mp_function
from symdecouple.flows.flow import Flow
from symdecouple.flows.normalizer import TARGET, TIME, Step
from symdecouple.language.feature import FeatureSet
from symdecouple.numeric.compiled import Array, Compiled

__all__ = ["Moved", "Orbit", "Unreachable"]

MAX_STEPS = 120
MAX_HALVINGS = 60


class Unreachable(Exception):
    """A sample has no normalization at a level; the outcome says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Moved:
    """A sample vector after a motion, and the derivative of the motion at each sample (flow parameters held)."""

    values: Array
    slope: Array
    residual: Any = 0


class Orbit:
    """Motion of single sample vectors on their leaves.

    Parameters
    ----------
    features : FeatureSet
    steps : sequence of Step
        One per feature that can be imposed.
    flows : sequence of Flow
        Flows of the generators u_1, u_2, ...
    """

    def __init__(self, features: FeatureSet, steps: Sequence[Step], flows: Sequence[Flow]) -> None:
        sample = features.sample
        self.steps, self.flows = tuple(steps), tuple(flows)
        self.size = len(self.steps)
        self.explicit = next((k for k, step in enumerate(self.steps) if step.time is None), self.size)
        self._features = Compiled([f.expr for f in features], sample)
        self._gradients = Compiled([f.gradient.expr for f in features], sample)
        self._generators = Compiled([flow.field.expr for flow in self.flows], sample)
        self._times = [None if s.time is None else Compiled([s.time], sample, [TARGET]) for s in self.steps]
        self._slopes = [Compiled([flow.derivative], sample, [TIME]) for flow in self.flows]

    def values(self, x: Array) -> Array:
        """Return all features of a sample vector."""
        return np.array([f[..., 0] for f in self._features(x)])

    def gradients(self, x: Array) -> Array:
        """Return N grad f of all features, (M, N)."""
        return np.array([np.broadcast_to(g, x.shape) for g in self._gradients(x)])

    def generators(self, x: Array, k: int) -> Array:
        """Return the first k generators at the samples, (k, N)."""
        return np.array([np.broadcast_to(u, x.shape) for u in self._generators(x)[:k]])

    def impose(self, x: Array, k: int, targets: Sequence[Any]) -> Moved:
        """Move x on its leaf to where the first k features take the target values."""
        moved = Moved(x, np.ones_like(x))
        for j in range(min(k, self.explicit)):
            moved = self._explicit(moved, j, targets)
        return moved if k <= self.explicit else self._newton(moved, k, targets)

    def _explicit(self, moved: Moved, j: int, targets: Sequence[Any]) -> Moved:
        """Impose feature j by its formula, and the ones before it once more: they are disturbed by rounding only."""
        for i in [*range(j), j]:
            with np.errstate(all="ignore"):
                try:
                    t = self._time(i, moved.values, targets[i])
                except (ZeroDivisionError, ValueError):
                    t = None
            if t is None or not _is_finite(t):
                about = self._about(moved.values, i, targets)
                raise Unreachable(Outcome(False, f"feature {i + 1} not attainable", about))
            moved = self._along(moved, i, t)
        return moved

    def _time(self, j: int, y: Array, target: Any) -> Any:
        formula = self._times[j]
        assert formula is not None
        return formula(y, target)[0].flat[0]

    def _newton(self, moved: Moved, k: int, targets: Sequence[Any]) -> Moved:
        wanted = np.array([*targets[:k]], dtype=moved.values.dtype)
        best = self._rest(moved.values, wanted)
        quiet = 0
        for _ in range(MAX_STEPS):
            delta = self._direction(moved.values, k, wanted, targets)
            trial = self._damped(moved, k, delta, wanted, targets, best)
            if trial is None:
                break
            moved, rest = trial
            quiet = quiet + 1 if rest > best / 2 else 0
            best = min(rest, best)
            if rest == 0 or quiet >= 3:
                break
        if best > self._tolerance(moved.values, wanted):
            raise Unreachable(Outcome(False, f"level {k} not attainable", self._about(moved.values, k - 1, targets)))
        return Moved(moved.values, moved.slope, best)

    def _direction(self, y: Array, k: int, wanted: Array, targets: Sequence[Any]) -> Array:
        """Return J^-1 (v - f)."""
        jacobian = self.gradients(y)[:k] @ self.generators(y, k).T / y.shape[-1]
        gap = wanted - self.values(y)[:k]
        scale = np.array([_largest(row) for row in jacobian])
        if any(s == 0 for s in scale):
            raise Unreachable(Outcome(False, "critical point", self._about(y, k - 1, targets)))
        try:
            delta = _solve(jacobian / scale[:, None], gap / scale)
        except (ZeroDivisionError, np.linalg.LinAlgError):
            delta = None
        if delta is None or not all(_is_finite(d) for d in delta):
            raise Unreachable(Outcome(False, "critical point", self._about(y, k - 1, targets)))
        return delta

    def _damped(self, moved: Moved, k: int, delta: Array, wanted: Array, targets: Sequence[Any],
                best: Any) -> tuple[Moved, Any] | None:
        """Shorten the step until every flow exists and the residual does not grow."""
        for halving in range(MAX_HALVINGS):
            try:
                trial = moved
                for j in range(k):
                    trial = self._along(trial, j, delta[j] / 2**halving)
                for j in range(min(k, self.explicit)):
                    trial = self._explicit(trial, j, targets)
                rest = self._rest(trial.values, wanted)
            except Unreachable:
                continue
            if rest < best or (halving == 0 and rest <= 4 * self._tolerance(trial.values, wanted)):
                return trial, rest
        return None

    def _along(self, moved: Moved, j: int, t: Any) -> Moved:
        """Follow generator j for a time t."""
        values = _flowed(self.flows[j], moved.values, t)
        if values is None:
            raise Unreachable(Outcome(False, "pole", f"the flow of {self.flows[j].field} does not exist so long"))
        slope = self._slopes[j](moved.values, t)[0]
        return Moved(values, moved.slope * slope)

    def _rest(self, y: Array, wanted: Array) -> Any:
        gap = self.values(y)[: len(wanted)] - wanted
        rest = _largest(gap / np.array([1 + abs(v) for v in wanted]))
        return rest if _is_finite(rest) else np.inf

    def _tolerance(self, y: Array, wanted: Array) -> Any:
        return (mpmath.mpf(10) ** (8 - mpmath.mp.dps)) if y.dtype == object else 1e-11

    def _about(self, y: Array, k: int, targets: Sequence[Any]) -> str:
        value = self.values(y)[k]
        return (f"{self.steps[k].feature} stops near {float(value):.6g} on the leaf of this sample, "
                f"{float(targets[k]):.6g} was asked for; ask for a value that is attained, or perturb ties")


def _flowed(flow: Flow, x: Array, t: Any) -> Array | None:
    if x.dtype != object:
        values = compiled(flow.code())(x, t)
        return values if np.isfinite(values).all() else None
    for end in (x.min(), x.max()):
        low, high = flow.domain(end)
        if not (_mp(low) < t < _mp(high)):
            return None
    function = mp_function(flow.expr.xreplace({flow.sample: X, flow.time: T}))
    return np.frompyfunc(lambda v: mpmath.re(function(v, t)), 1, 1)(x)


def _mp(end: Any) -> Any:
    if end in (oo, -oo):
        return mpmath.inf if end == oo else -mpmath.inf
    return mpmath.mpmathify(end.evalf(mpmath.mp.dps + 10))


def _solve(matrix: Array, right: Array) -> Array:
    if matrix.dtype != object:
        return np.linalg.solve(matrix, right)
    solution = mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(right.tolist()))
    return np.array([solution[k] for k in range(len(right))], dtype=object)


def _largest(values: Array) -> Any:
    return max((abs(v) for v in np.ravel(values)), default=0)


def _is_finite(value: Any) -> bool:
    return bool(mpmath.isfinite(value)) and not isinstance(value, mpmath.mpc)
