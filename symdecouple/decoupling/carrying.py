r"""What a transfer did to a sample, done to other values: by moments a map of values, by energies a filter.

.. math:: x' = T(x) \;\text{entry by entry}, \qquad
    X' = X \exp\Bigl(\tfrac12 \sum_j a_j\, w_j\Bigr) \;\text{frequency by frequency}

With moments T increases, and is the composition of the maps of the levels (`numeric.moments.value_map`). With energies
of filters, w_j are the eigenvalues of the features on the grid of the other signal: it is the same filter in samples or
pixels, so that a picture of twice the size needs a transfer of its own. Both are tried on the source first: what does
not give the result of the transfer again is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symdecouple.families.moments import MomentCoordinates
from symdecouple.families.quadratic import QuadraticForms
from symdecouple.numeric.moments.value_map import LostMap, ValueMap

__all__ = ["NoMap", "Recipe"]

_SAME = 1e-7  # standard deviations between the result of the transfer and that of its map: transfers know 1e-10
_HEARD = 1e-9  # of the largest frequency: below, gains are rounding

FloatArray = NDArray[np.float64]


class NoMap(Exception):
    """Why a transfer cannot be applied to other values."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the levels of a transfer are: as many features as `size`, leading ones of which are moments or energies.

    With `is_own` wanted values are those of the features themselves.
    """

    size: int
    moments: MomentCoordinates | None
    energies: QuadraticForms | None
    references: tuple[float | None, ...]
    is_own: bool

    @property
    def is_pointwise(self) -> bool:
        """Whether it is a map of values; True as well where there is none, so that this is what is told."""
        return self.energies is None or len(self.energies) < self.size

    def carried(self, source: FloatArray, result: FloatArray, wanted: Sequence[float], other: FloatArray
                ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return where the values of another sample go, and where the map has ended, which is its limit; or `NoMap`.

        Source and result are one sample before and after the transfer; on their grid, where there are filters.
        """
        if not self.is_pointwise:
            assert self.energies is not None
            return _filtered(self.energies, source, result, other)
        if self.moments is None or len(self.moments) < self.size:
            raise NoMap("a transfer is applied to other values where all features are moments, a map of values, or all "
                        "are energies of filters, a filter; transfer the other values themselves")
        row, of = source.ravel(), self.moments.coordinates
        goal = [float(c) for c in of([float(v) for v in wanted])] if self.is_own else [
            float(of([*self.references[:k], float(v)])[k]) for k, v in enumerate(wanted)]
        fixed = goal if self.is_own else [float(c) for c in of([float(v or 0) for v in self.references[:-1]])]
        legs = [(1.0, 0.0, 1.0, *fixed[2:k]) for k in range(3, len(goal) + self.is_own)]
        if not self.is_own:  # and down again
            legs += [(1.0, 0.0, 1.0, *fixed[2 : k - 1], goal[k - 1]) for k in range(len(goal), 2, -1)]
        try:
            moved = ValueMap.of_sample(row, tuple(legs), goal[0], goal[1] if len(goal) > 1 else None)
            found, is_over = moved(np.concatenate([row, other.ravel()]))
        except LostMap as error:
            raise NoMap(f"the map of values was not followed to its end: {error}") from None
        _check(found[: row.size], result.ravel())
        return found[row.size :].reshape(other.shape), is_over[row.size :].reshape(other.shape)


def _filtered(energies: QuadraticForms, source: FloatArray, result: FloatArray, other: FloatArray
              ) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The same filter, with the bands of the other grid."""
    before, after = np.fft.rfftn(source), np.fft.rfftn(result)
    sizes = [np.abs(each) for each in (before, after)]
    heard = np.minimum(*(size / max(size.max(), np.finfo(float).tiny) for size in sizes))
    if energies.mean is not None:
        heard[(0,) * heard.ndim] = 0
    use = heard > _HEARD
    bands = energies.weights(source.shape)[:, use].T / 2
    logs = np.log(sizes[1][use]) - np.log(sizes[0][use])
    gains, _, rank, _ = np.linalg.lstsq(bands * heard[use][:, None], logs * heard[use])
    if rank < bands.shape[1]:
        raise NoMap("the features are dependent at the frequencies of the source, which do not tell the gains of "
                    "others")
    shift = 0.0 if energies.mean is None else float(result.mean() - source.mean())

    def through(signal: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            factors = np.exp(np.tensordot(gains, energies.weights(signal.shape), axes=1) / 2)
            if energies.mean is not None:
                factors[(0,) * factors.ndim] = 1
            return np.fft.irfftn(np.fft.rfftn(signal) * factors, s=signal.shape, axes=range(signal.ndim)) + shift

    _check(through(source), result)
    values = through(other)
    return values, ~np.isfinite(values)


def _check(again: FloatArray, result: FloatArray) -> None:
    """Refuse a map that does not give the result of the transfer."""
    unit = float(result.std()) or 1.0
    apart = float(np.abs(again - result).max()) / unit
    if not apart <= _SAME:
        raise NoMap(f"the source was not moved by one map (a map of its own comes {apart:.1e} standard deviations away "
                    "from the result): it was perturbed, or met its statistics off the path; transfer the other values "
                    "themselves")
