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
from symdecouple.numeric.energies.problems import EnergyProblems
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
    coefficients : array (R, L, M)
        w_k - sum of b_j w_j as a combination of all w: 1 at feature k, -b_j before.
    residual : array (R,)
        Largest one of all levels.
    refusals : dict
        Row to the outcome of the first level that is missing.
    """

    values: FloatArray
    parameters: FloatArray
    coefficients: FloatArray
    residual: FloatArray
    refusals: dict[int, Outcome]
    spectrum: Spectrum = field(repr=False)

    @property
    def _offset(self) -> int:
        return int(self.values.shape[1]) - len(self.spectrum.bands)

    def gradients(self, out: FloatArray | None = None) -> FloatArray:
        """Return all gradients at the signals, (R, L, N): one transform each, of long signals in their own memory."""
        (count, n_features), first, grid = self.values.shape, self._offset, self.spectrum.bands.grid
        found = np.empty((count, n_features, grid.size)) if out is None else out
        found[:, :first] = 1 / grid.size
        rows, features = np.divmod(np.arange(count * (n_features - first)), max(n_features - first, 1))
        for some in grid.groups(len(rows)):
            r, k = rows[some], features[some] + first
            own = found[r[0], k[0] : k[0] + 1] if len(r) == 1 else None
            moved = self.spectrum.tilted(r, self.parameters[r, k], self.coefficients[r, k], own)
            if own is None:
                found[r, k] = moved
        return found


def decoupled_energies(task: EnergyProblems) -> DecoupledEnergies:
    """Solve all levels but the last of all signals."""
    bands, offset, count = task.bands, task.offset, len(task.goals)
    m = len(bands)
    size = m + offset
    last = np.zeros(count, dtype=np.intp)  # the last level below which all exist
    refusals: dict[int, Outcome] = {}
    for row in range(count):
        first, outcome = task.missing(row, size - 1)
        last[row] = first - 1
        if outcome is not None:
            refusals[row] = outcome
    owner, levels, own, places = _levels(last, m, offset)
    problems = task.problems(owner, levels)
    found, unreachable = task.solved(problems, levels)
    values, columns = _values(task, found, owner, own), np.take_along_axis(found.matrix, own[:, None, None], axis=2)
    solved = -solve_scaled(found.matrix, problems.wanted, columns[..., 0])
    solved[np.arange(len(own)), own] = 1
    if unreachable:
        is_good = np.ones(len(levels), dtype=np.bool_)
        for q, outcome in unreachable.items():
            row = int(owner[q])
            is_good &= (owner != row) | (levels < levels[q])
            if not is_good[q] and (row not in refusals or levels[q] <= last[row]):
                refusals[row], last[row] = outcome, levels[q] - 1
        places, values, solved = places[is_good], values[is_good], solved[is_good]
        found.parameters, found.residual = found.parameters[is_good], found.residual[is_good]
    energies, parameters, coefficients = (
        _placed(part, places, count, size, offset) for part in (values, found.parameters, solved))
    residual = _placed(found.residual, places, count, m, 0, 0.0).max(axis=1, initial=0)
    if offset:
        assert task.spectrum.means is not None
        energies[:, 0] = task.spectrum.means
    return DecoupledEnergies(energies, parameters, coefficients, residual, refusals, task.spectrum)


def _levels(last: IntArray, m: int, offset: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """The row, the level, the energy that is decoupled there, and the place of each problem."""
    owner = np.arange(len(last)).repeat(last - offset + 1)
    levels = np.concatenate([np.zeros(0, dtype=np.intp), *(np.arange(offset, k + 1) for k in last)])
    return owner, levels, levels - offset, owner * m + levels - offset


def _placed(part: FloatArray, places: IntArray, count: int, size: int, offset: int, missing: float = np.nan
            ) -> FloatArray:
    """What problems have, by rows and features; `missing` where there is no problem."""
    out = np.full((count, size, *part.shape[1:]), missing)
    out[places // (size - offset), places % (size - offset) + offset] = part
    return out


def _values(task: EnergyProblems, found: Tilted, owner: IntArray, own: IntArray) -> FloatArray:
    """The energy of each problem that is decoupled there."""
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
