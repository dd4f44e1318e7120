r"""The way back from normalized signals to decoupled energies: every level by its parameters, one transform at the end.

Decoupled values are imposed last feature first (Algorithm 5). Each level multiplies the same power spectrum P, so that
what was imposed by the levels above is a vector of parameters, a sum of logarithms of gains, which level j moves in its
first j components:

.. math:: \sum_\xi w_i\, P\, e^{a \cdot w} = r_i, \quad i < j, \qquad \sum_\xi w_j\, P\, e^{a \cdot w} = v_j,
    \qquad a_{j+1}, \dots, a_M \text{ as they are} .

Each is a convex problem that starts at the solution of the one before. A signal in between may have bands that float64
does not hold beside the others; nothing is lost, as no signal is made of it.
"""

from __future__ import annotations

import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.normalization import Energies, EnergyLevel
from symdecouple.numeric.energies.power_spectrum import Spectrum
from symdecouple.numeric.energies.problems import EnergyProblems
from symdecouple.numeric.energies.tilting import solve_scaled
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["returned"]


def returned(energies: Energies, rows: FloatArray, references: FloatArray, values: FloatArray) -> EnergyLevel:
    """Return the signals that normalize to the given ones and have these decoupled features.

    Parameters
    ----------
    energies : Energies
    rows : array (R, N)
        Finite float64, with features 1..L at their references.
    references : array (L,) or (R, L)
        At least L - 1 of them.
    values : array (R, L)
        Decoupled features 1..L.

    Returns
    -------
    EnergyLevel
        With `depth` and `growth`. Accurate to the rounding of a transform, and of exponents. 2 transforms, and some 6
        passes over half of the frequencies a level.

    Raises
    ------
    InvalidInput
        If there are more values than features.

    Examples
    --------
    >>> from symdecouple.numeric.energies.frequencies import Bands
    >>> pair = Energies(Bands([[4.0, 2, 0], [0, 2, 4]], (4,)))
    >>> signal = np.array([[1.0, 2, 4, 2]])
    >>> decoupled = pair.decouple(signal, [1.0, 1.0]).values
    >>> normal = pair.normalize(signal, [1.0, 1.0]).values
    >>> returned(pair, normal, np.array([1.0, 1.0]), decoupled).values.round(12).tolist()
    [[1.0, 2.0, 4.0, 2.0]]
    """
    count = values.shape[1]
    if count > energies.size:
        raise InvalidInput(f"{count} values were given for {energies.size} features")
    mean, bands = energies.mean, energies.bands
    known = np.broadcast_to(references, (len(rows), np.shape(references)[-1]))
    spectrum = Spectrum.of(bands, rows, mean)
    parameters, (residual, moving) = np.zeros((len(rows), len(bands))), np.zeros((2, len(rows)))
    refusals: dict[int, Outcome] = {}
    for level in range(count, int(mean), -1):
        goals = np.concatenate([known[:, : level - 1], values[:, level - 1 : level]], axis=1)
        task = EnergyProblems(spectrum, goals, mean)
        is_open = [r not in refusals for r in range(len(rows))]
        found, imposed, _, refused = task.solved(np.where(is_open, level, 0)[:, None], parameters)
        refusals |= refused
        parameters, residual = found.parameters, np.maximum(residual, found.residual)
        own = np.arange(len(bands)) == level - 1 - int(mean)
        steps = solve_scaled(found.matrix, imposed, found.values * own)  # for a relative change of the value
        moving = np.maximum(moving, np.abs(steps) @ bands.largest / 2)
    kept = np.array([r for r in range(len(rows)) if r not in refusals], dtype=np.intp)
    depth, growth = np.full((2, len(rows)), np.nan)
    depth[kept] = _depth(spectrum, kept, parameters[kept] / 2, np.abs(values[kept, 0]) if mean else 0 * values[kept, 0])
    out = spectrum.all_tilted(kept, parameters[kept] / 2)
    lifted = (np.sqrt((rows**2).mean(axis=1)) / out.std(axis=1))[kept]
    growth[kept] = _gain(bands, parameters[kept], mean) * lifted + moving[kept]
    if mean:
        out += values[:, :1]
    return EnergyLevel(out, parameters, residual, refusals, depth=depth, growth=growth)


def _gain(bands: Bands, parameters: FloatArray, mean: bool) -> FloatArray:
    """The root of the mean square of exp(a.w/2) over all frequencies, without that of the mean where it is imposed."""
    gains = np.exp(bands.lines.along(parameters))
    if mean:
        gains[:, 0] = 0
    whole = bands.grid.doubled(bands.unfold(gains.reshape(-1, *bands.lattice)))
    return np.asarray(np.sqrt(whole.sum(axis=bands.grid.axes) / bands.grid.size))


def _depth(spectrum: Spectrum, rows: IntArray, halves: FloatArray, at_zero: FloatArray) -> FloatArray:
    """Compare amplitudes by their logarithms: the smallest ones may be beyond float64."""
    shares = spectrum.shares[rows]
    with np.errstate(divide="ignore"):
        logs = (np.log(shares) + spectrum.log_power[rows, None]) / 2 + spectrum.bands.lines.along(halves)
        highest = np.maximum(np.log(at_zero), logs.max(axis=1))
    lowest = np.where(shares > 0, logs, np.inf).min(axis=1)
    return np.asarray(np.where(np.isfinite(lowest), np.exp(np.minimum(lowest - highest, 0)), 1))
