r"""Levels of a set of moments, all rows at once in float64: standardization, and the Riccati flow of the skewness.

Feature values become coordinates (m, s, c_3) once, whatever the features are called. Then

.. math:: N_1 = x - \mathrm{Mean}(x) + m, \qquad N_2 = m + s z, \qquad N_3 = m + s\,\frac{a x + b}{c x + d}

with z standardized and the Moebius map such that its image has mean 0, variance 1 and skewness c_3. Ties and the order
of the samples are kept; which rows have no level 3 is decided by counting ties (Theorem C).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdecouple.decoupling.routes import Imposed, Route
from symdecouple.errors import Outcome
from symdecouple.families.moments import MomentCoordinates
from symdecouple.numeric.compiled import Array
from symdecouple.numeric.power_sums import ZERO_VARIANCE
from symdecouple.numeric.riccati import impose_skewness

__all__ = ["MomentRoute"]


@dataclass(frozen=True, slots=True)
class MomentRoute:
    """Levels 1 to 3 of a set of moments, as far as its features can be solved for the coordinates.

    Parameters
    ----------
    coordinates : MomentCoordinates
    beyond : Route
        Takes the other levels.
    """

    coordinates: MomentCoordinates
    beyond: Route

    @property
    def size(self) -> int:
        """How many levels have a closed form."""
        return self.beyond.size

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> Imposed:
        """As in `Route`."""
        if not 0 < k <= min(3, len(self.coordinates)):
            return self.beyond.impose(rows, k, targets)
        with np.errstate(all="ignore"):
            found = [np.broadcast_to(c, len(rows)).astype(float) for c in self.coordinates.coordinates(targets[:k])]
        if k == 1:
            values = _centred(rows) + found[0][:, None]
            residual = np.abs(values.mean(axis=1) - found[0]) / (1 + np.abs(found[0]))
            return Imposed(values, residual, _centred)
        refusals = _impossible(found, targets, k)
        skewness = found[2] if k > 2 else None
        z, slope, residual, more = _standardized(rows) if skewness is None else _skewed(rows, skewness)
        values = found[0][:, None] + found[1][:, None] * z
        values[list(refusals)] = np.nan

        def pullback(covectors: Array) -> Array:
            return np.asarray(found[1][:, None] * slope * _free(covectors, z, k))

        return Imposed(values, residual, pullback, {**more, **refusals})


def _centred(rows: Array) -> Array:
    """Take the mean of each row out, twice: the second mean is what the first one, beside an offset, rounds away."""
    once = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(once - once.mean(axis=1, keepdims=True))


def _free(covectors: Array, z: Array, k: int) -> Array:
    """Return the part orthogonal to 1, z, ..., z^(k-1), row by row; projected twice, the first leaves rounding."""
    basis: list[Array] = []
    for power in range(k):
        part = _off(z**power, basis)
        basis.append(part / np.sqrt((part * part).mean(axis=1, keepdims=True)))
    return _off(covectors, basis)


def _off(rows: Array, basis: list[Array]) -> Array:
    for q in basis * 2:
        rows = rows - q * (q * rows).mean(axis=1, keepdims=True)
    return rows


def _standardized(rows: Array) -> tuple[Array, Array, Array, dict[int, Outcome]]:
    """Return (x - m)/s, 1/s, the residual, and the rows without variance; scaled first by a power of two."""
    spread = rows.max(axis=1, keepdims=True) / 2 - rows.min(axis=1, keepdims=True) / 2
    constant = spread[:, 0] == 0
    exponent = np.frexp(spread)[1]
    unit = np.ldexp(rows, -exponent)
    centred = _centred(unit)
    with np.errstate(all="ignore"):
        deviation = np.sqrt((centred * centred).mean(axis=1, keepdims=True))
        z = centred / deviation
        slope = np.broadcast_to(np.ldexp(1 / deviation, -exponent), rows.shape)
        residual = np.maximum(np.abs(z.mean(axis=1)), np.abs((z * z).mean(axis=1) - 1) / 2)
    return z, slope, residual, {int(r): ZERO_VARIANCE for r in np.flatnonzero(constant)}


def _skewed(rows: Array, skewness: Array) -> tuple[Array, Array, Array, dict[int, Outcome]]:
    found = impose_skewness(rows, skewness)
    return found.values, found.slope, found.residual, dict(found.refusals)


def _impossible(found: Sequence[Array], targets: Sequence[Any], k: int) -> dict[int, Outcome]:
    """Refuse rows whose targets belong to no sample: a variance of zero or below."""
    bad = ~(found[1] > 0) | ~np.isfinite(sum(found))
    values = [np.broadcast_to(t, len(bad)) for t in targets[:k]]
    return {int(r): Outcome(False, "level 2 not attainable", "no sample with a positive variance has the values "
                            + ", ".join(f"{v[r]:.6g}" for v in values)) for r in np.flatnonzero(bad)}
