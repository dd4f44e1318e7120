r"""Decoupled energies and their exact gradients, all levels of all signals at once.

With a the parameters of level k - 1, the gradient of the decoupled feature k has the transform

.. math:: \frac{2}{N} \bigl(w_k - \textstyle\sum_{j<k} b_j w_j\bigr) e^{a \cdot w} X, \qquad
    \sum_{j<k} \langle w_i, w_j \rangle b_j = \langle w_i, w_k \rangle, \quad
    \langle u, v \rangle = \sum_\xi u\, v\, P e^{a \cdot w} :

a real multiple of X (Theorem F). The matrix is that of the last step of Newton's method, so that gradients
cost M(M-1)/2 numbers a signal, and one transform each where they are wanted as signals.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.energies.eigenvalues import EPS
from symdecouple.numeric.energies.power_spectrum import Spectrum
from symdecouple.numeric.energies.problems import EnergyProblems, Solved
from symdecouple.numeric.energies.tilting import Tilted, solve_scaled
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["DecoupledEnergies", "decoupled_energies"]


_TINY = float(np.finfo(np.float64).tiny)
_ROUNDING = (8 * EPS) ** 2  # of a power spectrum


@dataclass(frozen=True, slots=True)
class DecoupledEnergies:
    """Decoupled features of signals, and their gradients by multipliers in the frequency domain.

    Attributes
    ----------
    values : array (R, L)
        Feature k at level k - 1; NaN from the first level on that a signal lacks, and where float64 has no such
        number (the energy of values near 1e200 or 1e-200).
    parameters : array (R, L, M)
        a of level k - 1.
    residual : array (R,)
        Largest one of all levels.
    refusals : dict
        Row to the outcome of the first level that is missing.
    """

    values: FloatArray
    parameters: FloatArray
    residual: FloatArray
    refusals: dict[int, Outcome]
    spectrum: Spectrum = field(repr=False)
    solved: Solved = field(repr=False)

    @property
    def _offset(self) -> int:
        return int(self.values.shape[1]) - len(self.spectrum.bands)

    @property
    def coefficients(self) -> FloatArray:
        """w_k - sum of b_j w_j as a combination of all w, (R, L, M): 1 at feature k, -b_j before."""
        matrix, imposed = self.solved.found.matrix, self.solved.imposed
        each = np.arange(len(matrix))
        own = each % imposed.shape[1]
        out = solve_scaled(matrix, imposed, -matrix[each, own])
        out[each, own] = 1
        return _placed(out, self.solved, self._offset)

    def gradients(self, out: FloatArray | None = None) -> FloatArray:
        """Return all gradients at the signals, (R, L, N): one transform each, of long signals in their own memory."""
        (count, n_features), first, grid = self.values.shape, self._offset, self.spectrum.bands.grid
        found = np.empty((count, n_features, grid.size)) if out is None else out
        found[:, :first] = 1 / grid.size
        coefficients = self.coefficients
        rows, features = np.divmod(np.arange(count * (n_features - first)), max(n_features - first, 1))
        for some in grid.groups(len(rows)):
            r, k = rows[some], features[some] + first
            own = found[r[0], k[0] : k[0] + 1] if len(r) == 1 else None
            moved = self.spectrum.tilted(r, self.parameters[r, k], coefficients[r, k], own)
            if own is None:
                found[r, k] = moved
        return found


def decoupled_energies(task: EnergyProblems) -> DecoupledEnergies:
    """Solve all levels but the last of all signals."""
    offset, (count, m) = task.offset, (len(task.goals), len(task.bands))
    own = np.arange(count * m) % m
    levels = own.reshape(count, m) + offset
    solved = task.solved(levels)
    values = _placed(_values(task, solved.found, own), solved, offset)
    if offset:
        assert task.spectrum.means is not None
        values[:, 0] = task.spectrum.means
    residual = np.fmax.reduce(_placed(solved.found.residual, solved, offset), axis=1, initial=0)
    return DecoupledEnergies(values, _placed(solved.found.parameters, solved, offset), residual, solved.refusals,
                             task.spectrum, solved)


def _placed(part: FloatArray, solved: Solved, offset: int) -> FloatArray:
    """What the problems of all levels have, by rows and features; NaN where a row has no such level."""
    count, m = len(solved.first), solved.imposed.shape[1]
    by_row = part.reshape(count, m, *part.shape[1:])
    if not offset and not solved.refusals:
        return by_row
    out, is_there = np.full((count, m + offset, *part.shape[1:]), np.nan), np.arange(m) + offset < solved.first[:, None]
    out[:, offset:][is_there] = by_row[is_there]
    return out


def _values(task: EnergyProblems, found: Tilted, own: IntArray) -> FloatArray:
    """The energy of each problem that is decoupled there."""
    owner = np.arange(len(task.goals)).repeat(len(task.bands))
    in_units, log_power = found.values[np.arange(len(own)), own], task.spectrum.log_power[owner]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        values = in_units * np.exp(found.shift + log_power)
    if not values.all() or values.min(initial=1) < _TINY:
        values[~np.isfinite(log_power)] = 0
        is_there = np.abs(in_units) > _ROUNDING * np.abs(found.values).max(axis=1)
        values[is_there & (np.abs(values) < _TINY)] = np.nan
    if task.mean:
        values += task.bands.at_zero[own] * task.goals[owner, 0] ** 2
    return np.asarray(values)
