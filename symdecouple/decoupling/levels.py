r"""Normalization of one sample vector along closed-form flows, at any level, in float64 or with mpmath numbers.

The features 1..k are imposed on x by moving it on its leaf, the orbit of the flows of u_1, ..., u_k. Leading features
whose flow parameter is a formula are imposed by it; the others by Newton's method on the orbit,

.. math::

    \delta = J^{-1}(v - f(y)), \quad J_{ij} = \mathrm{Mean}(v_{f_i} u_j), \qquad
    y \leftarrow \varphi^k_{\delta_k} \circ \cdots \circ \varphi^1_{\delta_1}(y)

with steps halved until the flows exist and the residual falls, and on while it falls further. The derivative of the
motion by each sample, with all flow parameters held, is accumulated on the way: it is what exact gradients need
(Theorem F).

*Rounding.* Every motion rounds: an error e of a sample becomes phi'(x) (e + eps |x|) + eps |phi(x)|, without the middle
term where phi is affine. This running bound is carried along, and what keeps less than two thirds of the digits of the
working precision is refused ("beyond float64", "beyond 50 digits"), never returned. Imposed features are at their
targets to half of the digits at least; all but a few where their own formulas do not cancel.

Known to be refused in float64, with or without an answer in more digits: samples half of which crowd in a space far
below their range (``rng.gamma(.02, size=100)``, ``exp(5*normal)``). Centring rounds their gaps away, and the flow would
have to pull apart what is left of them. Moments are better served by `numeric.moebius`, which measures from the crowded
end. A target that a leaf reaches only in the limit (zero skewness with half of the samples tied) is refused too: the
residual vanishes on the way to a pole, and the digits with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np
from sympy import oo

from symdecouple.errors import NoClosedForm, Outcome, Refused
from symdecouple.flows.chart import X
from symdecouple.flows.evaluation import T, compiled, mp_function
from symdecouple.flows.flow import Flow
from symdecouple.flows.normalizer import TARGET, TIME, Step
from symdecouple.language.feature import FeatureSet
from symdecouple.numeric.compiled import Array, Compiled, as_multiprecision

__all__ = ["Moved", "Orbit", "Unreachable"]

MAX_STEPS = 200
MAX_HALVINGS = 60

_SLACK = 1e5  # residuals below this many units of rounding are near their floor: whole steps only


class Unreachable(Exception):
    """A sample has no normalization at a level; the outcome says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Moved:
    """A sample vector after a motion.

    Attributes
    ----------
    values : array (N,)
    slope : array (N,)
        Derivative of the motion at each sample, flow parameters held.
    error : array (N,)
        First-order bound of what rounding did to the values, motions along the leaf aside.
    residual : number
        Largest distance of an imposed feature from its target v, over 1 + abs(v); 0 where all have formulas.
    """

    values: Array
    slope: Array
    error: Array
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
        self._generators = [Compiled([flow.field.expr], sample) for flow in self.flows]
        self._times = [Compiled([s.time], sample, [TARGET]) for s in self.steps[: self.explicit] if s.time is not None]
        self._motions = [_Motion(flow) for flow in self.flows]

    def values(self, x: Array) -> Array:
        """Return all features of a sample vector, (M,); NaN where one divides by zero."""
        try:
            with np.errstate(all="ignore"):
                return np.array([f[..., 0] for f in self._features(x)])
        except (ZeroDivisionError, ValueError):
            return np.full(len(self._features), mpmath.nan, dtype=object)

    def gradients(self, x: Array) -> Array:
        """Return N grad f of all features, (M, N)."""
        return np.array(self._broadcast(self._gradients(x), x))

    def generators(self, x: Array, k: int) -> Array:
        """Return the first k generators at the samples, (k, N)."""
        return np.array(self._broadcast([u(x)[0] for u in self._generators[:k]], x))

    def impose(self, x: Array, k: int, targets: Sequence[Any]) -> Moved:
        """Move a sample vector on its leaf to where the first k features take the target values.

        Parameters
        ----------
        x : array (N,)
            float64, or an object array of mpmath numbers, at the caller's working precision.
        k : int
            0 leaves the sample where it is.
        targets : sequence of numbers
            Of at least k features.

        Raises
        ------
        Unreachable
            If no point of the leaf was found at which they do, or rounding left too few digits of it.
        """
        wanted = as_multiprecision(targets[:k]) if x.dtype == object else np.array(targets[:k], dtype=np.float64)
        one = mpmath.mpf(1) if x.dtype == object else 1.0
        moved = Moved(x, np.full_like(x, one), np.full_like(x, 0 * one))
        moved = self._explicit(moved, min(k, self.explicit), wanted)
        if k > self.explicit:
            return self._newton(moved, k, wanted, x)
        moved = replace(moved, residual=self._rest(moved, wanted))
        if not self._is_there(moved):
            raise Unreachable(Outcome(False, f"level {k} not attainable", self._about(moved, k - 1, wanted)))
        return moved

    # --- features with a formula --------------------------------------------------------------------------------

    def _explicit(self, moved: Moved, k: int, targets: Array) -> Moved:
        """Impose the first k features by their formulas: N_k(x) = N_(k-1)(phi_t(N_(k-1)(x)))."""
        if k == 0:
            return moved
        moved = self._explicit(moved, k - 1, targets)
        t = self._time(k - 1, moved.values, targets[k - 1])
        if t is None:
            raise Unreachable(Outcome(False, f"level {k} not attainable", self._about(moved, k - 1, targets)))
        return self._explicit(self._along(moved, k - 1, t), k - 1, targets)

    def _time(self, j: int, y: Array, target: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                t = self._times[j](y, target)[0].flat[0]
        except (ZeroDivisionError, ValueError):
            return None
        return t if _is_finite(t) else None

    # --- features by a root -------------------------------------------------------------------------------------

    def _newton(self, moved: Moved, k: int, targets: Array, start: Array) -> Moved:
        first, reason = moved.values, f"level {k} not attainable"
        moved = replace(moved, residual=self._rest(moved, targets))
        for _ in range(MAX_STEPS):
            if moved.residual == 0 or not _largest(moved.error) < _largest(moved.values):  # done, or no digit left
                break
            delta = self._direction(moved.values, k, targets)
            found = None if delta is None else self._damped(moved, delta, targets)
            if delta is None and _keeps_digits(moved):
                reason = "critical point"
            if found is None:
                break
            moved = found
        else:
            reason = "no convergence"
        if self._is_there(moved) and _keeps_digits(moved):
            return moved
        raise Unreachable(Outcome(False, _ran_out(moved, start, first) or reason, self._about(moved, k - 1, targets)))

    def _is_there(self, moved: Moved) -> bool:
        return bool(moved.residual**2 <= _unit(moved.values))

    def _direction(self, y: Array, k: int, targets: Array) -> Array | None:
        """Return J^-1 (v - f), None where the gradients are dependent along the leaf."""
        try:
            with np.errstate(all="ignore"):
                jacobian = self.gradients(y)[:k] @ self.generators(y, k).T / y.shape[-1]
            scale = np.array([_largest(row) for row in jacobian])
            delta = _solve(jacobian / scale[:, None], (targets - self.values(y)[:k]) / scale) if all(scale) else None
        except (ZeroDivisionError, ValueError, np.linalg.LinAlgError):
            return None
        return delta if delta is not None and all(_is_finite(d) for d in delta) else None

    def _damped(self, moved: Moved, delta: Array, targets: Array) -> Moved | None:
        """Halve the step until every flow exists and the residual falls, and on while it falls further."""
        found = None
        for halving in range(1 if moved.residual <= _SLACK * _unit(moved.values) else MAX_HALVINGS):
            try:
                trial = self._stepped(moved, delta / 2**halving, targets)
            except Unreachable:
                continue
            if not trial.residual < (moved if found is None else found).residual:
                if found is not None:
                    break
                continue
            found = trial
            if 2 * trial.residual < moved.residual:
                break
        return found

    def _stepped(self, moved: Moved, delta: Array, targets: Array) -> Moved:
        for j, t in enumerate(delta):
            moved = self._along(moved, j, t)
        moved = self._explicit(moved, min(len(delta), self.explicit), targets)
        return replace(moved, residual=self._rest(moved, targets))

    def _along(self, moved: Moved, j: int, t: Any) -> Moved:
        """Follow generator j for a time t."""
        motion = self._motions[j]
        found = motion(moved.values, t)
        if found is None:
            raise Unreachable(Outcome(False, "pole", f"the flow of {self.flows[j].field} does not exist so long"))
        values, slope = found
        with np.errstate(all="ignore"):
            before = moved.error if motion.is_affine else moved.error + _unit(values) * abs(moved.values)
            error = before * abs(slope) + _unit(values) * abs(values)
            return Moved(values, moved.slope * slope, error)

    def _rest(self, moved: Moved, targets: Array) -> Any:
        gap = self.values(moved.values)[: len(targets)] - targets
        rest = _largest(gap / (1 + abs(targets)))
        return rest if _is_finite(rest) else mpmath.inf

    def _about(self, moved: Moved, k: int, targets: Array) -> str:
        value = self.values(moved.values)[k]
        return (f"{self.steps[k].feature} came to {float(value):.6g} on the leaf of this sample, "
                f"{float(targets[k]):.6g} was asked for; ask for a value that is attained, use dps= for more digits, "
                "or perturb ties")

    @staticmethod
    def _broadcast(fields: Sequence[Array], x: Array) -> list[Array]:
        return [np.broadcast_to(field, x.shape) for field in fields]


class _Motion:
    """A flow and its slope in numbers of either kind; None where it does not exist so long."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.is_affine = not flow.derivative.has(flow.sample)
        self._slope = Compiled([flow.derivative.xreplace({flow.time: TIME})], flow.sample, [TIME])
        self._solution: Callable[[Array, Any], Array] | None = None
        names = {flow.sample: X, flow.time: T}
        self._formulas = flow.expr.xreplace(names), flow.derivative.xreplace(names)

    def __call__(self, x: Array, t: Any) -> tuple[Array, Array] | None:
        try:
            with np.errstate(all="ignore"):
                found = self._precise(x, t) if x.dtype == object else (self._floats(x, t), self._slope(x, t)[0])
        except (ZeroDivisionError, ValueError, Refused):
            return None
        return found if found is not None and all(_is_finite(_largest(part)) for part in found) else None

    def _floats(self, x: Array, t: Any) -> Array:
        if self._solution is None:
            try:
                self._solution = compiled(self.flow.code())
            except NoClosedForm:  # functions that NumPy lacks
                self._solution = lambda x, t: np.array(self.flow(x, t, dps=17), dtype=np.float64)
        return self._solution(x, t)

    def _precise(self, x: Array, t: Any) -> tuple[Array, Array] | None:
        """Move mpmath numbers; poles between the ends show as complex numbers or as a change of order."""
        for end in () if self.is_affine else (x.min(), x.max()):
            low, high = self.flow.domain(end)
            if not _mp(low) < t < _mp(high):
                return None
        values, slope = (_real([mp_function(formula)(v, t) for v in x]) for formula in self._formulas)
        if values is None or slope is None:
            return None
        is_ordered = all(a <= b for a, b in itertools.pairwise(values[np.argsort(x, kind="stable")]))
        return (values, slope) if is_ordered else None


def _real(values: Sequence[Any]) -> Array | None:
    """Drop imaginary parts that are rounding; None where one is more than that."""
    numbers = [mpmath.mpmathify(v) for v in values]
    if any(abs(mpmath.im(v)) > mpmath.sqrt(mpmath.eps) * (1 + abs(v)) for v in numbers):
        return None
    return np.array([mpmath.re(v) for v in numbers], dtype=object)


def _ran_out(moved: Moved, start: Array, first: Array) -> str:
    """Name what ended the search where it was rounding, else return nothing."""
    if _keeps_digits(moved):
        return ""
    if _is_crowded(start, first):
        return f"beyond {mpmath.mp.dps} digits" if start.dtype == object else "beyond float64"
    return "limit only" if moved.residual**2 <= _unit(start) else ""


def _mp(end: Any) -> Any:
    if end in (oo, -oo):
        return mpmath.inf if end == oo else -mpmath.inf
    return mpmath.mpmathify(end.evalf(mpmath.mp.dps + 10))


def _solve(matrix: Array, right: Array) -> Array:
    if matrix.dtype != object:
        return np.linalg.solve(matrix, right)
    solution = mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(right.tolist()))
    return np.array([solution[k] for k in range(len(right))], dtype=object)


def _unit(values: Array) -> Any:
    """Return the spacing of numbers at 1."""
    return mpmath.eps if values.dtype == object else float(np.finfo(np.float64).eps)


def _keeps_digits(moved: Moved) -> bool:
    """True where rounding left two thirds of the digits."""
    unit = mpmath.mpf(_unit(moved.values))
    return bool(_largest(moved.error) <= mpmath.cbrt(unit) ** 2 * _largest(moved.values))


def _is_crowded(start: Array, moved: Array) -> bool:
    """True where gaps of the sample were rounded away, or are so small that poles between them are out of reach."""
    before, after = (sorted(set(values.tolist())) for values in (start, moved))
    smallest = min((b - a for a, b in itertools.pairwise(after)), default=0)
    return len(after) < len(before) or bool(smallest**6 < _unit(moved) * _largest(moved) ** 6)


def _largest(values: Array) -> Any:
    """Return the largest absolute value, NaN where there is one."""
    if values.dtype != object:
        return float(np.max(np.abs(values), initial=0.0))
    sizes = [abs(v) for v in values.flat]
    return next((s for s in sizes if mpmath.isnan(s)), max(sizes, default=mpmath.mpf(0)))


def _is_finite(value: Any) -> bool:
    return not isinstance(value, mpmath.mpc) and bool(mpmath.isfinite(value))
