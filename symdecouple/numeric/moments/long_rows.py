r"""A long sample as the numbers of its bins, with points between them that tell functions of its entries.

Gradients and influence functions of a moment, and where the path to a level brings an entry, are smooth functions of
the entry, with the poles that the flow of the level has: outside of the range of the sample. On a bin (`bins`) such a
function is a polynomial of degree 11, to 1e-15 of its size. So twelve points in each bin go the way of the sample with
a weight that no sum sees, and what is found at them gives the function at all entries of the bin.

It earns its place by memory and by speed: nothing of the length of the sample is made, and gradients of a sample of
10^5 values take the time of some two thousand.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly, chebvander
from numpy.typing import ArrayLike

from symdecouple.errors import Outcome
from symdecouple.numeric.moments import moment_path
from symdecouple.numeric.moments.bins import BLOCK, NODES, SIDE, BinFrame, chebyshev_points, filled, placed
from symdecouple.numeric.moments.hankel import Weights, taken
from symdecouple.numeric.moments.moment_path import FROM_ENTRIES
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["FROM_ENTRIES", "LongRow", "Moved", "follow_long"]

_POINTS = 2 * NODES
_UNSEEN = 2.0**-200  # the share of a point
_FEW = 32  # numbers in all bins: a sample of fewer values may lack a level for that, and points would hide it


class LongRow(NamedTuple):
    """One sample.

    Attributes
    ----------
    values, share : arrays (1, M)
        Numbers of the bins, then the points; in the unit 2^frame.exponent, with weights of sum 1.
    frame : BinFrame
    used : array (B,)
        Bins that are not empty.
    """

    values: FloatArray
    share: FloatArray
    frame: BinFrame
    used: IntArray

    @classmethod
    def of(cls, row: FloatArray, target: float, weights: Weights = None, *, is_falling: bool) -> LongRow | None:
        """Of a row (N,), finite, with two values at least, all of weight; None where it has few, or the bins lose the
        way to the skewness `target`."""
        bins = filled(row, float(row.min()), float(row.max()), weights, is_falling=is_falling)
        matrix, used = bins.matrix(), bins.used()
        if matrix.weights is None or matrix.values.shape[1] < _FEW or not bins.resolves(target):
            return None
        points = bins.frame.numbers(used, chebyshev_points(_POINTS)[None]).reshape(1, -1)
        share = np.append(matrix.weights[0] / matrix.weights.sum(), np.full(points.size, _UNSEEN))
        return cls(np.concatenate([matrix.values, points], axis=1), share[None], bins.frame, used)

    def at_entries(self, found: FloatArray, row: FloatArray, out: FloatArray) -> None:
        """Write functions that are `found`, (c, M), at the numbers and points, as they are at the entries, (c, N)."""
        frame, count = self.frame, len(self.used)
        table, powers = chebvander(chebyshev_points(_POINTS), _POINTS - 1) / NODES, np.zeros((_POINTS, _POINTS))
        table[:, 0] /= 2
        for k, unit in enumerate(np.eye(_POINTS)):
            powers[k, : k + 1] = cheb2poly(unit)
        series = np.zeros((_POINTS, len(found), count + 2))  # entries at the low and at the high end come last
        in_bins = found[:, -_POINTS * count :].reshape(len(found), count, _POINTS)
        series[:, :, :count] = np.moveaxis(in_bins @ table @ powers, 2, 0)  # the terms fall off: no power is too large
        series[0, :, count:] = found[:, 1::-1] if frame.is_falling else found[:, :2]
        where = np.full(4 * SIDE + 1, count)
        where[self.used] = np.arange(count)
        begin, width = frame.edges()
        for i in range(0, len(row), BLOCK):
            place, t, is_right = placed(frame, row[i : i + BLOCK], 0, begin, 2 / width)
            which = where[place] + (is_right & (place == 4 * SIDE))
            value = np.take(series[-1], which, axis=1)
            for c in series[-2::-1]:
                value *= t
                value += np.take(c, which, axis=1)
            out[:, i : i + BLOCK] = value


class Moved(NamedTuple):
    """Rows at the end of their paths, as in `moment_path.Followed`."""

    values: FloatArray
    growth: FloatArray
    refusals: dict[int, Outcome]


def follow_long(rows: FloatArray, k: int, targets: ArrayLike, held: ArrayLike, rtol: float = moment_path.RTOL,
                weights: Weights = None, grown: float | FloatArray = 1.0, *, keep: bool = False) -> Moved:
    """Move standardized rows as `moment_path.follow`, k at least 4; long ones by their bins, where they are.

    Where bins do not tell a row, or refuse it, its entries do. Rows of NaN stay; with `keep`, refused ones too.
    """
    if rows.shape[1] < FROM_ENTRIES:
        together = moment_path.follow(rows, k, targets, held=held, rtol=rtol, weights=weights, grown=grown)
        return Moved(together.values, together.growth, together.refusals)
    moved, goal, errors = Moved(rows, np.ones(len(rows)), {}), np.empty((k + 1, len(rows))), np.empty(len(rows))
    goal[1:k], goal[k], errors[:] = np.reshape(held, (k - 1, -1)), targets, grown
    for r in np.flatnonzero(~np.isnan(rows[:, 0])).tolist():
        row = rows[r]
        share, skewness = taken(weights, slice(r, r + 1)), float(goal[3, r])
        follow = partial(moment_path.follow, k=k, targets=goal[k, [r]], held=goal[1:k, [r]], rtol=rtol,
                         grown=errors[[r]])
        few = LongRow.of(row, skewness, None if share is None else share[0], is_falling=skewness < 0)
        if few is not None:
            frame = few.frame
            numbers = np.ldexp(few.values, frame.exponent) + float(frame.high if frame.is_falling else frame.low)
            found = follow(numbers, weights=few.share)
            if not found.refusals:
                if not np.array_equal(found.values, numbers):  # else it is there already
                    few.at_entries(found.values, row, row[None])
                moved.growth[r] = found.growth[0]
                continue
        found = follow(row[None], weights=share)
        moved.growth[r] = found.growth[0]
        moved.refusals.update((r, outcome) for outcome in found.refusals.values())
        if not (keep and found.refusals):
            row[:] = found.values[0]
    return moved
