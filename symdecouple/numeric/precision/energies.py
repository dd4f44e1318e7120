r"""Normalization by commuting quadratic features to any number of digits: the convex problem of `energies` in mpmath.

.. math:: \hat X_k = X \exp\Bigl(\tfrac12 \sum_{j \le k} a_j w_j\Bigr), \qquad
    a = \arg\min \sum_\xi P\, e^{a \cdot w} - a \cdot v

The solution in float64 is where Newton's method begins (`tilting`), the transforms are exact to all digits
(`features.fourier`). What float64 refuses is asked again: its words are kept where all digits agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import mpmath
import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.features.fourier import forward, inverse, partners
from symdecouple.numeric.precision.path import size, spread
from symdecouple.numeric.precision.tilting import PreciseProblem, exponentials, solved

__all__ = ["PreciseEnergies", "PreciseLevel"]

_RESIDUAL = 2.0**-26  # half the digits of float64; the estimated error tells what is lost below
_MEANS = {
    "no convergence": "the targets are outside the cone of this signal or almost on its boundary; more digits tell",
    "outside the cone": "no signal with these frequencies has the targets",
    "on the boundary of the cone": "signals with these frequencies have the targets in the limit only",
    "too few active frequencies": "a feature depends on those before it at the frequencies that the signal has, which "
                                  "makes it another value than its target",
}


def _nowhere(covector: Array) -> Any:
    return covector * mpmath.nan


@dataclass(frozen=True, slots=True)
class PreciseLevel:
    """A signal at a level, or with given decoupled features.

    Attributes
    ----------
    values : object array (N,)
        NaN where the outcome is a refusal.
    residual : mpf
        Largest distance of an imposed feature of `values` from its target v, over 1 + abs(v).
    error : mpf
        Estimated distance from the exact signal, over its standard deviation: what is left of Newton's method, and
        rounding, lifted as the signal is.
    outcome : Outcome
    growth : mpf
        Of decoupled features, as in `energies.inverse`: what the rounding of the samples and values that are given has
        become here.
    pullback : callable
        Carries a gradient at `values`, (N,), back to the signal; NaN where it has none.
    """

    values: Array
    residual: Any
    error: Any
    outcome: Outcome
    growth: Any = mpmath.nan
    pullback: Callable[[Array], Array] = field(repr=False, default=_nowhere)


@dataclass(frozen=True, slots=True)
class _Signal:
    """A transform, its power at one of each pair of frequencies, and which of these are active."""

    row: Array
    transform: Array
    power: Array
    active: Array


class PreciseEnergies:
    """Commuting quadratic features of a real signal, alone or after its mean, by their eigenvalues.

    Parameters
    ----------
    weights : object array (M, N)
        Real eigenvalues w_j at all frequencies of the grid, in mpmath numbers of the digits that are wanted.
    grid : tuple of int
        The shape of a signal.
    mean : bool
        The mean is feature 1, the quadratic features are 2, ..., M + 1.

    Notes
    -----
    Computes with the precision of mpmath that is set where its methods are called. The cost is that of two transforms
    (`features.fourier`), and M(M + 3)/2 products and an exponential at half of the frequencies a step, with five steps
    or so, most of them with few digits.

    Examples
    --------
    The energies 4, 2, 0 and 0, 2, 4 at the frequencies 0, 1, 2 of four samples: with v = (8, 2) for (1, 2, 4, 3),

    >>> with mpmath.workdps(30):
    ...     weights = np.array([[4, 2, 0, 2], [0, 2, 4, 2]], dtype=object) * mpmath.mpf(1)
    ...     level = PreciseEnergies(weights, (4,)).normalize(np.array([1, 2, 4, 3]) * mpmath.mpf(1), [8, 2])
    ...     print(mpmath.nstr(sum(level.values), 25), level.residual < 1e-29)
    4.898979485566356196394568 True
    """

    def __init__(self, weights: Array, grid: tuple[int, ...], mean: bool = False) -> None:
        size = int(np.prod(grid))
        if weights.ndim != 2 or weights.shape[1] != size or not len(weights):
            raise InvalidInput(f"weights (M, {size}) are expected on a grid {grid}, got the shape {weights.shape}")
        self.weights, self.grid, self.mean = weights, grid, mean
        opposite = partners(grid)
        self.kept = np.flatnonzero(np.arange(size) <= opposite)
        self.twice = np.where(opposite[self.kept] == self.kept, 1, 2)
        self.whole = np.searchsorted(self.kept, np.minimum(np.arange(size), opposite))
        self.half = weights[:, self.kept]

    @property
    def size(self) -> int:
        """How many features there are, the mean included."""
        return len(self.weights) + self.mean

    @cached_property
    def rough(self) -> Energies:
        """The same features in float64."""
        full = self.weights.astype(np.float64).reshape(-1, *self.grid)
        return Energies(Bands(full[..., : self.grid[-1] // 2 + 1], self.grid), self.mean)

    def values(self, row: Array) -> Array:
        """Return the features of a signal, (size,)."""
        return self._values(row, self._power(forward(row, self.grid)))

    def _values(self, row: Array, power: Array) -> Array:
        energies = [mpmath.fdot(w, power) for w in self.half]
        return np.array([*([row.sum() / len(row)] if self.mean else []), *energies], dtype=object)

    def normalize(self, row: Array, targets: Sequence[Any]) -> PreciseLevel:
        """Bring the first features of a signal, as many as there are targets, to these.

        Parameters
        ----------
        row : object array (N,)
            mpmath numbers.
        targets : sequence of number
        """
        goals = [mpmath.mpmathify(t) for t in targets]
        if not len(goals) <= self.size or row.shape != (self.weights.shape[1],):
            raise InvalidInput(f"a signal ({self.weights.shape[1]},) and up to {self.size} targets are expected, got "
                               f"the shape {row.shape} and {len(goals)} targets")
        if not all(map(mpmath.isfinite, [*goals, *row])):
            return self._refused(Outcome(False, "not finite", "the signal or a target is not finite"))
        signal = self._signal(row)
        problem = self._problem(signal, goals)
        start, rough = self._start(signal, goals)
        a, left, outcome = self._solved(problem, len(goals), start, rough)
        return self._imposed(signal, goals, problem, a, left) if outcome.ok else self._refused(outcome)

    def _power(self, transform: Array) -> Array:
        n = len(transform)
        return np.array([(v.real**2 + v.imag**2) * t / n**2 for v, t in
                         zip(transform[self.kept], self.twice.tolist(), strict=True)], dtype=object)

    def _signal(self, row: Array) -> _Signal:
        transform = forward(row - row.sum() / len(row) if self.mean else row, self.grid)
        power = self._power(transform)
        if self.mean:
            power[0] = mpmath.mpf(0)
        most = max(power)
        noise = (8 * mpmath.eps) ** 2 * mpmath.log(2 * len(row), 2)
        active = np.array([p > noise * most for p in power], dtype=np.bool_)
        return _Signal(row, transform, power, active)

    def _problem(self, signal: _Signal, goals: list[Any], beyond: Array | None = None) -> PreciseProblem:
        """The problem of a level; features after it may have parameters already."""
        offset = int(self.mean)
        count = max(0, len(goals) - offset)
        power, weights = signal.power[signal.active], self.half[:, signal.active]
        if beyond is not None and len(beyond):
            power = power * exponentials(beyond, weights[count : count + len(beyond)])
        v = [goal - w[0] * goals[0] ** 2 if offset else goal for goal, w in
             zip(goals[offset:], self.half, strict=False)]
        return PreciseProblem(weights[:count], power, v)

    def _solved(self, problem: PreciseProblem, level: int, start: Array | None, rough: Outcome, is_near: bool = True
                ) -> tuple[Array, Any, Outcome]:
        """Return a, what is left of a.w, and whether there is a solution; `rough` is what float64 says."""
        reason, a, left = problem.refused() if start is None or not is_near else "", self.half[:0, 0], None
        if not reason:
            a, left = problem.solved(start)
            if left is None:
                reason = "no convergence"
            elif problem.distance(a) > mpmath.sqrt(mpmath.eps):  # of features that depend on others
                reason = "too few active frequencies"
        if not reason or rough.reason == reason:
            return a, left, Outcome(True) if not reason else rough
        return a, left, Outcome(False, reason, f"level {level}: {_MEANS[reason]}")

    def _start(self, signal: _Signal, goals: list[Any]) -> tuple[Array | None, Outcome]:
        """Solve in float64, in units of the signal; None where there is nothing to start from."""
        unit = mpmath.ldexp(1, int(mpmath.frexp(max(abs(signal.row)))[1]))
        row = np.array([float(v / unit) for v in signal.row])
        offset = int(self.mean)
        targets = np.array([float(t / (unit if j < offset else unit**2)) for j, t in enumerate(goals)])
        if not np.isfinite(targets).all() or (np.abs(targets) > 1e100).any():
            return None, Outcome(True)
        with np.errstate(all="ignore"):
            found = self.rough.normalize(row[None], targets)
        if 0 in found.refusals:
            return None, found.refusals[0]
        a = found.parameters[0, : max(0, len(goals) - offset)]
        return np.array([mpmath.mpf(float(v)) for v in a], dtype=object), Outcome(True)

    def returned(self, row: Array, references: Sequence[Any], values: Sequence[Any]) -> PreciseLevel:
        """Return the signal that normalizes to this one and has these decoupled features, see `energies.inverse`.

        Parameters
        ----------
        row : object array (N,)
            mpmath numbers, with features 1..L at their references.
        references : sequence of number
            At least L - 1 of them.
        values : sequence of L numbers
            Decoupled features.
        """
        known, wanted = ([mpmath.mpmathify(v) for v in some] for some in (references, values))
        signal, offset, zero = self._signal(row), int(self.mean), mpmath.mpf(0)
        a, outcome = np.full(max(0, len(wanted) - offset), zero, dtype=object), Outcome(True)
        far = moving = residual = zero
        if not all(map(mpmath.isfinite, [*known[: len(wanted) - 1], *wanted, *row])):
            outcome = Outcome(False, "not finite", "the signal or a value is not finite")
        for level in range(len(wanted), offset if outcome.ok else len(wanted), -1):
            goals, count = [*known[: level - 1], wanted[level - 1]], level - offset
            problem = self._problem(signal, goals, a[count:])
            found, left, outcome = self._solved(problem, level, a[:count], outcome, is_near=False)
            if not outcome.ok:
                break
            a[:count] = found
            change = np.array([zero] * (count - 1) + [problem.targets[-1]], dtype=object)
            far, residual = far + left, max(residual, problem.distance(found))
            moving = max(moving, problem.reach(problem.shift(found, change)) / 2)
        if not outcome.ok:
            return self._refused(outcome)
        out = self._moved(signal, a, wanted[:offset])[0]
        gains = exponentials(a, self.half[: len(a)])
        gains[:offset] *= 0
        lifted = mpmath.sqrt(mpmath.fdot(gains, self.twice.tolist()) / len(row)) * size(row)
        growth = lifted / (size(out - out.sum() / len(out)) or 1) + moving
        return PreciseLevel(out, residual, far + growth * mpmath.eps, outcome, growth)

    def _moved(self, signal: _Signal, a: Array, mean: list[Any]) -> tuple[Array, Array, Array]:
        """The signal times exp(a.w/2), the factors at all frequencies, and its transform."""
        lifted = np.full(len(self.kept), mpmath.mpf(0), dtype=object)  # rounding is not to be lifted
        lifted[signal.active] = exponentials(a / 2, self.half[: len(a), signal.active])
        factors = lifted[self.whole]
        spectrum = signal.transform * factors
        if self.mean:
            spectrum[0] = mpmath.mpc(len(signal.row) * mean[0]) if mean else signal.row.sum()
        return inverse(spectrum, self.grid), factors, spectrum

    def _imposed(self, signal: _Signal, goals: list[Any], problem: PreciseProblem, a: Array, left: Any) -> PreciseLevel:
        n, offset = len(signal.row), int(self.mean)
        values, factors, spectrum = self._moved(signal, a, goals[:offset])
        power = self._power(forward(values, self.grid))
        reached = self._values(values, power)
        if any(abs(f - v) > _RESIDUAL * (mpmath.fdot(abs(w), power) + abs(v)) for w, f, v in zip(
                self.half, reached[offset:], goals[offset:], strict=False)):
            return self._refused(Outcome(
                False, "out of range", f"level {len(goals)}: the power that is imposed is below {mpmath.mp.dps} digits "
                "beside what no imposed feature sees; take off the mean, change the unit, or use more digits"))
        residual = max((abs(f - v) / (1 + abs(v)) for f, v in zip(reached, goals, strict=False)), default=mpmath.mpf(0))
        energy = (values * values).sum() / n
        gain = mpmath.sqrt((factors * factors).sum() / n)
        rounding = mpmath.eps * (8 + 2 * mpmath.log(n, 2)) * (mpmath.sqrt(energy) + gain * max(abs(signal.row)))
        unit = spread(values)
        off = left * mpmath.sqrt(energy) + rounding
        matrix = problem.matrix(a) * mpmath.mpf(n) ** 2
        spectrum[:offset] = mpmath.mpc(0)  # no energy moves the mean

        def back(covector: Array) -> Array:
            given = forward(covector, self.grid)
            at_zero = 0 if goals else given[0]
            inner = [mpmath.fsum(w * (s.real * g.real + s.imag * g.imag) for w, s, g in
                                 zip(row, spectrum, given, strict=True)) for row in self.weights[: len(a)]]
            for row, share in zip(self.weights[: len(a)], solved(matrix, inner), strict=True):
                given = given - spectrum * row * share
            given = given * factors
            given[:offset] = mpmath.mpc(at_zero)
            return inverse(given, self.grid)

        return PreciseLevel(values, residual, off / unit if unit else off, Outcome(True),
                            pullback=back if problem.is_independent else _nowhere)

    def _refused(self, outcome: Outcome) -> PreciseLevel:
        return PreciseLevel(np.full(self.weights.shape[1], mpmath.nan, dtype=object), mpmath.nan, mpmath.nan, outcome)
