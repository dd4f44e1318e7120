r"""A sample vector on its orbit: moved along generators, its leading features imposed by formulas.

The orbit of x, its leaf, is what it reaches under the flows of the generators u_1, u_2, ... The derivative of a motion
by each sample, with all flow parameters held, is accumulated on the way: it is what exact gradients need (Theorem F).

*Rounding.* Every motion rounds: an error e of a sample becomes phi'(x) (e + eps |x|) + eps |phi(x)|, without the middle
term where phi is affine. This running bound is carried along, and what keeps less than two thirds of the digits of the
working precision is refused ("beyond float64", "beyond 50 digits"), never returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
from sympy import Symbol, exp

from symdecouple.decoupling.motions.motion import Motion, is_finite, largest, linear_solution, unit
from symdecouple.decoupling.offsets import middles
from symdecouple.errors import BudgetExceeded, Outcome
from symdecouple.flows.flow import Flow
from symdecouple.flows.steps import TARGET, Step, make_steps, undone
from symdecouple.language.budget import Budget
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.precision import at_digits
from symdecouple.numeric.features.expressions import Array, Compiled, as_multiprecision
from symdecouple.numeric.moments.power_sums import centred_rows

__all__ = ["Moved", "OrbitMotion", "Unreachable", "beyond", "lies_far", "ran_out"]

_ENDS = "limit only", "level ", "no convergence", "pole"
_STEEP = 1 / 3  # of its digits: exp(x) beside 1 has lost so many
_LONGEST = 10.0  # seconds for flow parameters with symbols for all targets
_DIGITS = 40  # of a shift that takes an offset away: float64 would leave what it rounds of the offset


class Unreachable(Exception):
    """A sample has no normalization at a level; the outcome says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Moved:
    """A sample vector after a motion, arrays (N,).

    `slope` is the derivative of the motion at each sample, flow parameters held; `error` a first-order bound of what
    rounding did to the values, motions along the orbit aside; `residual` the largest distance of an imposed feature
    from its target v, over 1 + abs(v). Concatenated flows know their `way`: the start, their parameters and ends.
    """

    values: Array
    slope: Array
    error: Array
    residual: Any = 0
    way: Any = None

    @property
    def keeps_digits(self) -> bool:
        """True where rounding left two thirds of the digits."""
        return bool(largest(self.error) <= mpmath.cbrt(mpmath.mpf(unit(self.values))) ** 2 * largest(self.values))


class OrbitMotion:
    """Motion of single sample vectors on their orbits; subclasses say how features without a formula are imposed."""

    otherwise = '; or leave it to path="auto"'
    has_formulas = True  # whether flow parameters are taken from formulas, where there are

    def __init__(self, features: FeatureSet, steps: Sequence[Step], flows: Sequence[Flow]) -> None:
        self.sample = sample = features.sample
        self.steps, self.flows = tuple(steps), tuple(flows)
        self.explicit = next((k for k, step in enumerate(self.steps) if step.time is None or not self.has_formulas),
                             len(self.steps))
        self.undone = undone(self.steps, [flow.velocity for flow in self.flows], sample)
        known = features.symbolic if self.steps else ()  # nothing moves without a step
        self._features = [Compiled([f.expr], sample) for f in known]
        self._gradients = [Compiled([f.gradient.expr], sample) for f in known]
        self._generators = [Compiled([flow.field.expr], sample) for flow in self.flows]
        self._times = [Compiled([s.time], sample, [TARGET, *_symbols(j)])
                       for j, s in enumerate(self.steps[: self.explicit]) if s.time is not None]
        self._motions = [Motion(flow) for flow in self.flows]
        self._features_given = features
        self._is_growing = any(flow.expr.has(exp) for flow in self.flows)

    def values(self, x: Array, count: int | None = None) -> Array:
        """Return the first features of a sample vector, by default all before a black box; NaN where one divides by
        zero."""
        return np.array([f(x)[0][0] for f in self._features[:count]])

    def gradients(self, x: Array, count: int | None = None) -> Array:
        """Return their N grad f, (count, N); NaN as in `values`."""
        return np.array([np.broadcast_to(field(x)[0], x.shape) for field in self._gradients[:count]])

    def generators(self, x: Array, k: int) -> Array:
        """Return the first k generators at the samples, (k, N)."""
        return np.array([np.broadcast_to(u(x)[0], x.shape) for u in self._generators[:k]], dtype=x.dtype)

    def impose(self, x: Array, k: int, targets: Sequence[Any]) -> Moved:
        """Move a sample vector on its orbit to where the first k features take the target values.

        The sample holds float64, or mpmath numbers at the caller's working precision. Flow parameters were solved for
        with the references of the features before; where other targets are missed with them, they are solved for with
        symbols. `Unreachable` if no point of the orbit was found, or rounding left too few digits of it.
        """
        wanted = as_multiprecision(targets[:k]) if x.dtype == object else np.array(targets[:k], dtype=np.float64)
        with np.errstate(all="ignore"):  # what is not finite is refused
            try:
                return self._imposed(x, k, wanted)
            except Unreachable as error:
                if self.explicit < 2 or self._are_references(wanted[:-1]):
                    raise Unreachable(self._by_rounding(x, k, wanted, error.outcome)) from None
            return self._anywhere.impose(x, k, targets)

    @cached_property
    def _anywhere(self) -> OrbitMotion:
        """The same with flow parameters as functions of all targets; without them where that takes too long."""
        first, rest = self.steps[: self.explicit], self.steps[self.explicit :]
        try:
            with Budget(_LONGEST).running("solving for flow parameters"):
                features, flows = [s.feature for s in first], [flow.expr for flow in self.flows[: self.explicit]]
                first = tuple(make_steps(features, flows, list(_symbols(self.explicit)), self.sample))
        except BudgetExceeded:
            first = first[0], *(replace(step, time=None) for step in first[1:])
        return type(self)(self._features_given, (*first, *rest), self.flows)

    def _by_rounding(self, x: Array, k: int, wanted: Array, seen: Outcome) -> Outcome:
        """What is said of the end of a flow, unless it is where there are too few digits for exponentials."""
        is_steep = self._is_growing and largest(self._prepared(x, k, wanted)[0]) > -_STEEP * mpmath.log(unit(x))
        return replace(seen, reason=beyond(x)) if is_steep and seen.reason.startswith(_ENDS) else seen

    def _are_references(self, targets: Array) -> bool:
        digits, near = mpmath.mp.dps if targets.dtype == object else 17, 4 * unit(targets)
        values = [step.value for step in self.steps[: len(targets)]]
        return all(v is not None and (bool(v.free_symbols) or abs(t - mpmath.mpmathify(v.evalf(digits))) <= near * (
            1 + abs(t))) for v, t in zip(values, targets, strict=True))

    def _imposed(self, x: Array, k: int, wanted: Array) -> Moved:
        x, factor = self._prepared(x, k, wanted)
        moved = Moved(x, np.full_like(x, factor), np.full_like(x, 0 * factor))
        if k > self.explicit:
            return self._search(moved, k, wanted)
        moved = self._explicit(moved, k, wanted)
        moved = replace(moved, residual=self._rest(moved, wanted))
        if not self._is_there(moved, wanted):  # formulas are missed by rounding
            raise Unreachable(Outcome(False, beyond(x), self._about(moved, k - 1, wanted)))
        return moved

    def _prepared(self, x: Array, k: int, wanted: Array) -> tuple[Array, Any]:
        """Return a sample of the same leaf, about 0 and of unit size where that is allowed, and what it was scaled by.

        Normalized samples feel neither then; features that overflow, or cancel, far from there do not.
        """
        scales, n = 0 < self.undone[1] <= k, x[None]
        shifts = self.undone[0] and k > 0
        if x.dtype == object:
            x = x - x.sum() / len(x) if shifts else x
            exponent = -mpmath.frexp(largest(x))[1] if scales else 0
            return x * mpmath.ldexp(1, exponent), mpmath.ldexp(mpmath.mpf(1), exponent)
        if shifts:
            (x,), (exponent,) = centred_rows(n)
            return (x, np.ldexp(1.0, -exponent)) if scales else (np.ldexp(x, exponent), 1.0)
        if k and self.explicit and self.flows[0].velocity == 1 and middles(n).any():  # the sign of its mean counts
            with at_digits(_DIGITS):
                first = Moved(as_multiprecision(x), *np.zeros((2, *x.shape), dtype=object))
                x = self._explicit(first, 1, as_multiprecision(wanted)).values.astype(np.float64)
        exponent = -np.frexp(largest(x))[1] if scales else 0
        return np.ldexp(x, exponent), np.ldexp(1.0, exponent)

    def _search(self, moved: Moved, k: int, targets: Array) -> Moved:
        raise NotImplementedError

    def _explicit(self, moved: Moved, k: int, targets: Array) -> Moved:
        """Impose the first k features by their formulas: N_k(x) = N_(k-1)(phi_t(N_(k-1)(x)))."""
        if k == 0:
            return moved
        moved = self._explicit(moved, k - 1, targets)
        t = self._time(k - 1, moved.values, targets)
        if t is None:
            raise Unreachable(Outcome(False, f"level {k} not attainable", self._about(moved, k - 1, targets)))
        return self._explicit(self._along(moved, k - 1, t), k - 1, targets)

    def _time(self, j: int, y: Array, targets: Array) -> Any:
        t = self._times[j](y, targets[j], *targets[:j])[0][0]
        return t if is_finite(t) else None

    def _along(self, moved: Moved, j: int, t: Any) -> Moved:
        """Follow generator j for a time t."""
        motion = self._motions[j]
        found = motion(moved.values, t)
        if found is None:
            raise Unreachable(Outcome(False, "pole", f"the flow of {self.flows[j].field} does not exist so long"))
        values, slope = found
        before = moved.error if motion.is_affine else moved.error + unit(values) * abs(moved.values)
        return Moved(values, moved.slope * slope, before * abs(slope) + unit(values) * abs(values))

    def _fields(self, moved: Moved, k: int) -> Array:
        """Return the fields u_j along which the first k flow parameters move a sample, (k, N)."""
        return self.generators(moved.values, k)

    def _direction(self, moved: Moved, gaps: Array) -> Array | None:
        """Return J^-1 gaps, J_ij = Mean(v_fi u_j); None where the gradients are dependent along the fields."""
        y, k = moved.values, len(gaps)
        jacobian = self.gradients(y, k) @ self._fields(moved, k).T / len(y)
        rows = np.array([largest(row) for row in jacobian])
        if not (all(rows) and is_finite(largest(rows))):
            return None
        return linear_solution(jacobian / rows[:, None], gaps / rows)

    def _rest(self, moved: Moved, targets: Array) -> Any:
        rest = largest((self.values(moved.values, len(targets)) - targets) / (1 + abs(targets)))
        return rest if is_finite(rest) else mpmath.inf

    def _is_there(self, moved: Moved, targets: Array) -> bool:
        """True where what is missing is little beside 1 and the targets; or, after formulas and below the level that
        takes the unit, beside what features change by when the samples move by their size."""
        y, k, little = moved.values, len(targets), mpmath.sqrt(unit(moved.values))
        if moved.residual <= little or self.explicit < k >= self.undone[1]:
            return bool(moved.residual <= little)
        sizes = [abs(t) + abs(y * v).sum() / len(y) for t, v in zip(targets, self.gradients(y, k), strict=True)]
        gaps = abs(self.values(y, k) - targets)
        return all(is_finite(gap) and gap <= little * size for gap, size in zip(gaps, sizes, strict=True))

    def _about(self, moved: Moved, k: int, targets: Array) -> str:
        value = self.values(moved.values, k + 1)[k]
        digits = "" if moved.values.dtype == object else " use dps= for more digits,"
        return (f"{self.steps[k].feature} came to {float(value):.6g} on the orbit of this sample, "
                f"{float(targets[k]):.6g} was asked for; ask for a value that is attained,{digits} "
                'or perturb ties: decouple(..., perturb="ramp")' + self.otherwise)


def _symbols(count: int) -> tuple[Symbol, ...]:
    """The targets of features 1 to `count`."""
    return tuple(Symbol(f"v{j}", real=True) for j in range(1, count + 1))


def ran_out(moved: Moved, start: Array, first: Array) -> str:
    """Name what ended a search from `start` where it was rounding, else return nothing."""
    if moved.keeps_digits:
        return ""
    if _is_crowded(start, first):
        return beyond(start)
    return "limit only" if moved.residual**2 <= unit(start) else ""


def beyond(values: Array) -> str:
    """Return the reason of what needs more digits than numbers of a kind have."""
    return f"beyond {mpmath.mp.dps} digits" if values.dtype == object else "beyond float64"


def lies_far(values: Array) -> bool:
    """True where a sample is so far from 0 that its offset takes a third of the digits."""
    return bool(values.max() - values.min() < mpmath.cbrt(unit(values)) * largest(values))


def _is_crowded(start: Array, moved: Array) -> bool:
    """True where gaps of the sample were rounded away, or are so small that poles between them are out of reach."""
    before, after = np.unique(start), np.unique(moved)
    smallest = min(np.diff(after), default=0)
    return len(after) < len(before) or bool(smallest**6 < unit(moved) * largest(moved) ** 6)
