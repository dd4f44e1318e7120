"""One long sample moved to a level of its moments, in place: by series, part by part, and corrected to rounding.

As in `long_rows.parts` its path is that of nodes, or of its values where they are few; here the entries themselves are
wanted. They begin at another level, standardized, and go through any number of levels in one motion. What rounding and
the series leave of the moments is put right as ever (`moment_path.course`), with polynomials found from sums of powers.

There are always panels: rounding of the weights of one series is as large where entries are few and far as in the
middle, and tells on the high moments that give the path its pace; a panel is rounded by its own share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.moments.long_few_values import few_values
from symdecouple.numeric.moments.long_means import Stopped
from symdecouple.numeric.moments.long_parts import FEW, correction, sizes
from symdecouple.numeric.moments.long_series import PART, Climb, by_panels, in_panels, shortened, spans
from symdecouple.numeric.moments.moment_path import MOST_GROWTH, RESIDUAL
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["advance"]

_SORTED = 2**15  # entries of a part that is cut into panels
_SETTLED = 5e-15  # no further correction
_CORRECTIONS = 3


@dataclass(frozen=True, slots=True)
class _Standing:
    """`Parted`: a sample as it is."""

    row: FloatArray

    def at(self, x: NDArray[np.floating[Any]]) -> FloatArray:
        return x.astype(np.float64)

    def tiles(self, size: int = PART) -> Iterator[FloatArray]:
        return (self.row[i : i + size].copy() for i in range(0, len(self.row), size))


def advance(z: FloatArray, climb: Climb) -> float | None:
    """Move a sample in place through some levels; the residual, as in `moment_path`, or None.

    Parameters
    ----------
    z : array (N,)
        Standardized, its moments below those of the first level at their goals.
    climb : Climb

    Returns
    -------
    float or None
        None where series do not tell the path, or it has no end: then nothing is decided, and z is of no use any more.

    Examples
    --------
    >>> from symdecouple.numeric.moments.long_means import ByNumPy
    >>> z = np.random.default_rng(0).uniform(-1, 1, size=20000)
    >>> z = np.append(z, -z) / np.mean(z**2) ** 0.5
    >>> advance(z, Climb(4, np.array([1.0, 0, 1, 0, 2]), ByNumPy(), is_fine=True)) < 2e-14
    True
    >>> [round(float(np.mean(z**k)), 12) + 0.0 for k in (1, 2, 3, 4)]
    [0.0, 1.0, 0.0, 2.0]
    """
    with np.errstate(all="ignore"):
        few = few_values(z, FEW)
        if few is not None:
            moved = _values_moved(*few, climb)
            if moved is None:
                return None
            for i in range(0, len(z), PART):
                z[i : i + PART] = moved[np.searchsorted(few[0], z[i : i + PART])]
            return _settled(z, _sums(z, climb), climb)
        row = _Standing(z)
        found = by_panels(row, climb)
        return None if found is None else _settled(z, _moved(z, found[0], found[1][-1], climb), climb)


def _values_moved(values: FloatArray, counts: IntArray, climb: Climb) -> FloatArray | None:
    """Distinct values with weights: exactly the path of the sample."""
    now, weights, growth = values, counts / counts.sum(), 1.0
    for k in climb.levels:
        there = climb.along(now, weights, k, in_panels=True)
        if there is None or isinstance(there, Stopped) or growth * there[1] > MOST_GROWTH:
            return None
        now, growth = there[0], growth * there[1]
    return now


def _moved(z: FloatArray, edges: FloatArray, series: FloatArray, climb: Climb) -> FloatArray:
    """Entries moved by series (panels, m), in place; Mean(y^j), j = 0..2k, then."""
    middle, half = (part.tolist() for part in spans(edges))
    short, size = [shortened(c) for c in series], PART if len(series) == 1 else _SORTED
    for i in range(0, len(z), size):
        some = z[i : i + size]
        order = slice(None) if len(short) == 1 else np.argsort(some)
        there = [
            climb.means.moved(part, (middle[p], half[p]), short[p]) for p, part in in_panels(some[order], edges)
        ]
        some[order] = np.concatenate(there) if len(there) > 1 else there[0]
    return _sums(z, climb)


def _sums(z: FloatArray, climb: Climb) -> FloatArray:
    top = 2 * climb.levels[-1]
    sums = [climb.means.powers(z[i : i + PART], top) for i in range(0, len(z), PART)]
    total: FloatArray = np.array(sums).sum(axis=0) / len(z)
    return total


def _settled(z: FloatArray, h: FloatArray, climb: Climb) -> float | None:
    """Correct the entries in place until their moments are there to rounding."""
    k = climb.levels[-1]
    for step in range(_CORRECTIONS + 1):
        residual = float(np.max(np.abs(h[1 : k + 1] - climb.goal[1:]) / sizes(h, k)[1:]))
        by_powers = None if residual <= _SETTLED or step == _CORRECTIONS else correction(h, climb.goal)
        if by_powers is None:
            break
        for i in range(0, len(z), PART):
            z[i : i + PART] += np.polynomial.polynomial.polyval(z[i : i + PART], by_powers)
        h = _sums(z, climb)
    return residual if residual <= RESIDUAL else None
