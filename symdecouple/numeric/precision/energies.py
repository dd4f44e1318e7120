r"""Normalization by commuting quadratic features to any number of digits: the convex problem of `energies` in mpmath.

.. math:: \hat X_k = X \exp\Bigl(\tfrac12 \sum_{j \le k} a_j w_j\Bigr), \qquad
    a = \arg\min \sum_\xi P\, e^{a \cdot w} - a \cdot v

The solution in float64 is where Newton's method begins (`tilting`), the transforms are exact to all digits
(`precision.fourier`).

Refusals are those of float64, unless the signal has frequencies that float64 does not see: these are left to mpmath.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import mpmath
import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.precision.fourier import forward, inverse, partners
from symdecouple.numeric.precision.path import spread
from symdecouple.numeric.precision.tilting import PreciseProblem, exponentials, solved
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["PreciseDecoupled", "PreciseEnergies", "PreciseLevel"]

_SEEN = 1e-26  # of the largest power: what float64 sees for certain


@dataclass(frozen=True, slots=True)
class PreciseLevel:
    """A signal at a level.

    Attributes
    ----------
    values : object array (N,)
        NaN where the outcome is a refusal.
    parameters : object array (M,)
        a; 0 for features that are not imposed, or that depend on those before them.
    residual : mpf
        Largest distance of an imposed feature of `values` from its target v, over 1 + abs(v).
    error : mpf
        Estimated distance from the exact signal, over its standard deviation: what is left of Newton's method, and
        rounding, lifted as the signal is.
    outcome : Outcome
    """

    values: Array
    parameters: Array
    residual: Any
    error: Any
    outcome: Outcome
    _back: Any = field(repr=False, default=None)

    def pullback(self, covector: Array) -> Array:
        """Carry a gradient at `values`, (N,), back to the signal; NaN where it has none."""
        found: Array = self._back(covector) if self._back else np.full(len(self.values), mpmath.nan, dtype=object)
        return found


@dataclass(frozen=True, slots=True)
class PreciseDecoupled:
    """Decoupled features (L,) of a signal and their gradients (L, N), NaN from the level on that it lacks.

    Attributes
    ----------
    values, gradients : object arrays
    residual, error : mpf
        The largest ones of all levels, as in `PreciseLevel`.
    outcome : Outcome
        The refusal of the first level that is missing.
    """

    values: Array
    gradients: Array
    residual: Any
    error: Any
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class _Signal:
    """A transform, its power at one of each pair of frequencies, and which of these are active."""

    row: Array
    transform: Array
    power: Array
    active: Array
    is_plain: bool  # float64 sees all that is active


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
    (`precision.fourier`), and M(M + 3)/2 products and an exponential at half of the frequencies a step, with five steps
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
        self._last: tuple[int, _Signal] | None = None

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
        power = self._power(forward(row, self.grid))
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
        return self._level(self._signal(row), goals)

    def decouple(self, row: Array, targets: Sequence[Any]) -> PreciseDecoupled:
        """Return all decoupled features and their gradients, with targets for all features but the last.

        The gradient of feature k is that of `energies.gradients`: the multiplier of the transform is
        2/N (w_k - sum of b_j w_j) exp(a.w).
        """
        signal, n = self._signal(row), len(row)
        values = np.full(self.size, mpmath.nan, dtype=object)
        gradients = np.full((self.size, n), mpmath.nan, dtype=object)
        residual = error = mpmath.mpf(0)
        for k in range(self.size):
            level = self._level(signal, [mpmath.mpmathify(t) for t in targets[:k]])
            if not level.outcome.ok:
                return PreciseDecoupled(values, gradients, residual, error, level.outcome)
            residual, error = max(residual, level.residual), max(error, level.error)
            values[k] = self.values(level.values)[k]
            own = np.full(n, mpmath.mpf(1) / n, dtype=object)
            if k >= self.mean:
                own = inverse(forward(level.values, self.grid) * self.weights[k - self.mean], self.grid) * 2 / n
            gradients[k] = level.pullback(own)
        return PreciseDecoupled(values, gradients, residual, error, Outcome(True))

    def _power(self, transform: Array) -> Array:
        n = len(transform)
        return np.array([(v.real**2 + v.imag**2) * t / n**2 for v, t in
                         zip(transform[self.kept], self.twice.tolist(), strict=True)], dtype=object)

    def _signal(self, row: Array) -> _Signal:
        """Transform a signal; the last one is remembered, as its levels are asked for one after the other."""
        last, prec = self._last, mpmath.mp.prec
        if last is not None and last[0] == prec and all(a is b for a, b in zip(last[1].row, row, strict=True)):
            return last[1]
        transform = forward(row - row.sum() / len(row) if self.mean else row, self.grid)
        power = self._power(transform)
        if self.mean:
            power[0] = mpmath.mpf(0)
        most = max(power)
        noise = (8 * mpmath.eps) ** 2 * mpmath.log(2 * len(row), 2)
        active = np.array([p > noise * most for p in power], dtype=np.bool_)
        signal = _Signal(row, transform, power, active, all(p > _SEEN * most for p in power[active]))
        self._last = prec, signal
        return signal

    def _level(self, signal: _Signal, goals: list[Any]) -> PreciseLevel:
        if not all(map(mpmath.isfinite, [*goals, *signal.row])):
            return self._refused(Outcome(False, "not finite", "the signal or a target is not finite"))
        start, outcome = self._start(signal, goals)
        if not outcome.ok:
            return self._refused(outcome)
        offset = int(self.mean)
        weights = self.half[: max(0, len(goals) - offset)][:, signal.active]
        power = signal.power[signal.active]
        v = [goal - w[0] * goals[0] ** 2 if offset else goal for goal, w in
             zip(goals[offset:], self.half, strict=False)]
        problem = PreciseProblem(weights, power, v)
        a, left = problem.solved(start)
        if left is None:
            return self._refused(Outcome(False, "no convergence", f"level {len(goals)}: the targets are outside the "
                                         "cone of this signal or almost on its boundary, or it has too few active "
                                         "frequencies for them"))
        return self._imposed(signal, goals, problem, a, left)

    def _start(self, signal: _Signal, goals: list[Any]) -> tuple[FloatArray | None, Outcome]:
        """Solve in float64, in units of the signal; its refusals hold where it sees all that there is."""
        unit = mpmath.ldexp(1, int(mpmath.frexp(max(abs(signal.row)))[1]))
        row = np.array([float(v / unit) for v in signal.row])
        offset = int(self.mean)
        targets = np.array([float(t / (unit if j < offset else unit**2)) for j, t in enumerate(goals)])
        if not np.isfinite(targets).all() or (np.abs(targets) > 1e100).any():
            return None, Outcome(True)
        with np.errstate(all="ignore"):
            found = self.rough.normalize(row[None], targets)
        if 0 in found.refusals:
            is_certain = signal.is_plain and found.refusals[0].reason != "no convergence"
            return None, found.refusals[0] if is_certain else Outcome(True)
        return found.parameters[0, : max(0, len(goals) - offset)], Outcome(True)

    def _imposed(self, signal: _Signal, goals: list[Any], problem: PreciseProblem, a: Array, left: Any) -> PreciseLevel:
        n, offset = len(signal.row), int(self.mean)
        lifted = np.full(len(self.kept), mpmath.mpf(0), dtype=object)  # rounding is not to be lifted
        lifted[signal.active] = exponentials(a / 2, problem.weights)
        factors = lifted[self.whole]
        spectrum = signal.transform * factors
        if offset:
            spectrum[0] = mpmath.mpc(n * goals[0]) if goals else signal.row.sum()
        values = inverse(spectrum, self.grid)
        reached = self.values(values)
        residual = max((abs(f - v) / (1 + abs(v)) for f, v in zip(reached, goals, strict=False)), default=mpmath.mpf(0))
        energy = (values * values).sum() / n
        gain = mpmath.sqrt((factors * factors).sum() / n)
        rounding = mpmath.eps * (8 + 2 * mpmath.log(n, 2)) * (mpmath.sqrt(energy) + gain * max(abs(signal.row)))
        unit = spread(values)
        off = left * mpmath.sqrt(energy) + rounding
        parameters = np.full(len(self.weights), mpmath.mpf(0), dtype=object)
        parameters[: len(a)] = a
        matrix = problem.matrix(a) * mpmath.mpf(n) ** 2

        def back(covector: Array) -> Array:
            given = forward(covector, self.grid)
            if not problem.is_independent:
                return np.full(n, mpmath.nan, dtype=object)
            inner = [mpmath.fsum(w * (s.real * g.real + s.imag * g.imag) for w, s, g in
                                 zip(row, spectrum, given, strict=True)) for row in self._moving(len(a))]
            for row, share in zip(self._moving(len(a)), solved(matrix, inner), strict=True):
                given = given - spectrum * row * share
            given = given * factors
            if offset:
                given[0] = mpmath.mpc(0) if goals else forward(covector, self.grid)[0]
            return inverse(given, self.grid)

        return PreciseLevel(values, parameters, residual, off / unit if unit else off, Outcome(True), back)

    def _moving(self, count: int) -> Array:
        """Eigenvalues of the first features at the frequencies that they move."""
        rows = self.weights[:count]
        if self.mean and count:
            rows = rows.copy()
            rows[:, 0] = mpmath.mpf(0)
        return rows

    def _refused(self, outcome: Outcome) -> PreciseLevel:
        nan = np.full(self.weights.shape[1], mpmath.nan, dtype=object)
        return PreciseLevel(nan, nan[: len(self.weights)], mpmath.nan, mpmath.nan, outcome)
