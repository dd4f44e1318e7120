r"""Normalization by quadratic features that commute, such as the energies of circular filters: a convex problem.

With w_j the eigenvalues of f_j and P the power spectrum (`spectrum`), level k multiplies the transform,

.. math:: \hat X_k = X \exp\Bigl(\tfrac12 \sum_{j \le k} a_j w_j\Bigr), \qquad
    a = \arg\min \sum_\xi P\, e^{a \cdot w} - a \cdot v ,

so that f_1, ..., f_k have the values v (Theorem E). The mean may come first, whatever the gains at frequency zero: it
fixes X(0), the energies act on the other frequencies.

Refusals: "too few active frequencies" (features are dependent at the frequencies that the signal has), "outside the
cone" and "on the boundary of the cone" (no signal with these frequencies has these values, or only a limit), "no
convergence".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.gradients import DecoupledEnergies, decoupled_energies
from symdecouple.numeric.energies.power_spectrum import Spectrum
from symdecouple.numeric.energies.problems import EnergyProblems
from symdecouple.numeric.energies.tilting import solve_scaled
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["Energies", "EnergyLevel"]


@dataclass(frozen=True, slots=True)
class EnergyLevel:
    """Signals at a level, or with given decoupled features (`energies.inverse`).

    Attributes
    ----------
    values : array (R, N)
        NaN in refused rows.
    parameters : array (R, M)
        a, from the signals that were given to these; 0 for features that are not imposed.
    residual : array (R,)
        Largest abs(f_j - v_j)/(size + abs(v_j)) of an imposed feature, size the sum of abs(w_j) P.
    refusals : dict
        Row to outcome.
    pullback : callable
        Of a level: takes gradients at `values`, (R, N), of functions of them; returns those at the signals, (R, N).
    depth, growth : array (R,)
        With given decoupled features. The smallest amplitude, the root of the power at frequencies that are not told
        apart, over the largest one, the mean included; silent ones do not count. And how many times the rounding of the
        samples and values that are given is off here, in standard deviations: gains lift what is hardly there, and the
        rounding with it; values beside the boundary of the cone tell little of their gains.
    """

    values: FloatArray
    parameters: FloatArray
    residual: FloatArray
    refusals: dict[int, Outcome] = field(default_factory=dict)
    pullback: Any = field(repr=False, default=None)
    depth: Any = None
    growth: Any = None


class Energies:
    """Commuting quadratic features, alone or after the mean, and their levels.

    Parameters
    ----------
    bands : Bands
        Eigenvalues of M features.
    mean : bool
        The mean is feature 1, the quadratic features are 2, ..., M + 1.

    Examples
    --------
    >>> pair = Energies(Bands([[4.0, 2, 0], [0, 2, 4]], (4,)))
    >>> signals = np.array([[1.0, 2, 4, 3], [1, -1, 1, -1]])
    >>> level = pair.normalize(signals, [8.0, 2.0])
    >>> pair.values(level.values[:1]).round(12).tolist(), level.refusals[1].reason
    ([[8.0, 2.0]], 'too few active frequencies')
    """

    def __init__(self, bands: Bands, mean: bool = False) -> None:
        self.bands = bands
        self.mean = mean

    @property
    def size(self) -> int:
        """How many features there are, the mean included."""
        return len(self.bands) + self.mean

    def values(self, rows: FloatArray) -> FloatArray:
        """Return the features of rows (R, N): (R, size)."""
        energies = self.bands.values(rows)
        return np.column_stack([rows.mean(axis=1), energies]) if self.mean else energies

    def normalize(self, rows: FloatArray, targets: ArrayLike, level: int | None = None) -> EnergyLevel:
        """Bring features 1..level of signals to their targets.

        Parameters
        ----------
        rows : array (R, N)
            Finite float64.
        targets : array_like (L,) or (R, L)
            Values of at least the first `level` features.
        level : int, optional
            Default: as many as there are targets.

        Returns
        -------
        EnergyLevel
            Accurate to the rounding of a Fourier transform; 2 transforms and some 6 passes over half of the
            frequencies, M(M+3)/2 multiplications at each.
        """
        goals = self._goals(rows, targets)
        k = goals.shape[1] if level is None else level
        if not 0 <= k <= min(self.size, goals.shape[1]):
            raise InvalidInput(f"level {k} was asked for, of {self.size} features and {goals.shape[1]} targets")
        if k == 0 or (self.mean and k == 1):
            return self._first(rows, goals, k)
        task = EnergyProblems(Spectrum.of(self.bands, rows, self.mean), goals, self.mean)
        return _imposed(task, rows, k)

    def decouple(self, rows: FloatArray, targets: ArrayLike) -> DecoupledEnergies:
        """Compute all decoupled features, all levels at once; their gradients are made when they are asked for.

        Parameters
        ----------
        rows : array (R, N)
            Finite float64.
        targets : array_like (L,) or (R, L)
            Values of at least the first ``size - 1`` features.
        """
        goals = self._goals(rows, targets)
        if goals.shape[1] < self.size - 1:
            raise InvalidInput(f"{goals.shape[1]} targets were given, at least {self.size - 1} are expected: one for "
                               "each feature but the last")
        task = EnergyProblems(Spectrum.of(self.bands, rows, self.mean), goals, self.mean)
        return decoupled_energies(task)

    def _first(self, rows: FloatArray, goals: FloatArray, k: int) -> EnergyLevel:
        """Level 0, and the mean alone."""
        values = rows.copy()
        if k:
            values -= values.mean(axis=1, keepdims=True)
            values -= values.mean(axis=1, keepdims=True)
            values += goals[:, :1]
        count = len(rows)
        return EnergyLevel(values, np.zeros((count, len(self.bands))), np.zeros(count),
                           pullback=lambda covectors: covectors - k * covectors.mean(axis=1, keepdims=True))

    def _goals(self, rows: FloatArray, targets: ArrayLike) -> FloatArray:
        if rows.ndim != 2 or rows.shape[1] != self.bands.grid.size:
            raise InvalidInput(f"signals of shape {self.bands.grid.shape} come as rows (R, {self.bands.grid.size}), "
                               f"an array of shape {rows.shape} was given")
        goals = np.asarray(targets, dtype=np.float64)
        if goals.ndim not in (1, 2) or (goals.ndim == 2 and len(goals) != len(rows)) or not np.isfinite(goals).all():
            raise InvalidInput(f"targets are finite numbers, (L,) or ({len(rows)}, L), shape {goals.shape} was given")
        whole = np.empty((len(rows), goals.shape[-1]))
        whole[:] = goals
        return whole


def _imposed(task: EnergyProblems, rows: FloatArray, k: int) -> EnergyLevel:
    spectrum, bands, size = task.spectrum, task.bands, task.bands.grid.size
    found, imposed, _, refusals = task.solved(np.full((len(rows), 1), k))
    kept = np.array([r for r in range(len(rows)) if r not in refusals], dtype=np.intp)
    found.parameters[list(refusals)] = found.residual[list(refusals)] = np.nan
    halves = found.parameters / 2
    values = spectrum.all_tilted(kept, halves[kept])
    if task.mean:
        values += task.goals[:, :1]  # NaN stays
    # Where features depend on each other, the motion has no derivative at this signal.
    smooth = kept[imposed[kept].sum(axis=1) == k - task.mean]

    def pullback(covectors: FloatArray) -> FloatArray:
        out = None if len(smooth) == len(rows) == 1 else np.full(rows.shape, np.nan)
        for some in bands.grid.groups(len(smooth)):
            these = smooth[some]
            given, own = bands.grid.forward(covectors if len(these) == len(rows) else covectors[these]), (
                spectrum.again(rows, these))
            products = given.real * own.real
            products += given.imag * own.imag
            factors = bands.along(halves[these])
            products *= np.exp(factors, out=factors)
            inner = bands.lines.sums(bands.fold(bands.grid.doubled(products)))
            del products
            # From shares in units of exp(shift), and transforms in units of 2^e, to those of the signal: half of it
            # twice, as its square is beyond float64 for signals near 1e-200.
            logs = found.shift[these] + spectrum.log_power[these]
            unit = np.exp(np.log(2) * spectrum.exponents[these] - logs / 2)
            coefficients = solve_scaled(found.matrix[these], imposed[these], inner * unit[:, None])
            own *= factors
            own *= bands.along(coefficients * (unit / size**2)[:, None])
            given -= own
            del own
            given *= factors
            if task.mean:
                given[bands.grid.zero] = 0
            if out is None:
                return bands.grid.inverse(given)
            out[these] = bands.grid.inverse(given)
        assert out is not None
        return out

    return EnergyLevel(values, found.parameters, found.residual, refusals, pullback)
