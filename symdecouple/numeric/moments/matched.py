r"""Rows with given statistics of their own: their shape (`shaped`), then place and unit, and how far they moved.

With z the standardized row of the wanted shape, y = m + sqrt(v) z. Values are rounded where they lie: beside a large
mean they are rounded more than 1e-13 of a standard deviation, and that much the statistics are off. It is told, not
refused: no float64 numbers are nearer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.hankel import Weights, parts, taken
from symdecouple.numeric.moments.power_sums import (
    PowerSums,
    place_and_scale,
    standardized_entries,
    standardized_moments,
    to_unit_range,
)
from symdecouple.numeric.moments.shaped import EXACT, shaped_rows
from symdecouple.numeric.samples.batch import FloatArray, SampleMatrix

__all__ = ["BEYOND", "MatchedRows", "distance_of", "matched_rows", "statistics_of"]

BEYOND = Outcome(False, "out of range", "a sample with this mean and variance is beyond float64; take another unit")


class MatchedRows(NamedTuple):
    """Rows (R, N), their own statistics (R, K), how far these are from the targets and the rows from where they were.

    `residual`, `distance`, `shape_distance` (R,) are as in `stats.Matched`; refused rows are NaN.
    """

    values: FloatArray
    statistics: FloatArray
    residual: FloatArray
    distance: FloatArray
    shape_distance: FloatArray
    refusals: dict[int, Outcome]
    notes: dict[int, Outcome]


def matched_rows(
    rows: FloatArray, wanted: Sequence[FloatArray | None], mean: FloatArray, deviation: FloatArray,
    weights: Weights = None,
) -> MatchedRows:
    """Move rows (R, N) to wanted mean, variance, skewness, kurtosis, .., (R,) each; None keeps what the row has.

    Parameters
    ----------
    rows : array (R, N)
        Finite float64, of any place and unit.
    wanted : sequence of array (R,) or None
    mean, deviation : array (R,)
        Those of the samples that the rows stand for; a deviation of NaN is taken from the row.
    weights : array (R, N), optional
        With sum 1 in each row.

    Examples
    --------
    >>> wanted = [np.array([0.0]), np.array([14.0])]
    >>> made = matched_rows(np.array([[1.0, 2, 3, 6]]), wanted, np.array([3.0]), np.array([np.nan]))
    >>> (made.values.round(12) + 0.0).tolist(), made.distance.round(12).tolist()
    ([[-4.0, -2.0, 0.0, 6.0]], [3.535533905933])
    """
    place, scale = [*wanted, None, None][:2]
    shape = wanted[2:]
    with np.errstate(all="ignore"):
        made = shaped_rows(rows, shape, weights)
        before, slope, _ = standardized_entries(rows, weights)
        deviation = np.where(np.isnan(deviation), 1 / slope[:, 0], deviation)
        constant = np.ptp(rows, axis=1) == 0
        refusals = dict(made.refusals)
        for i in np.flatnonzero(constant).tolist():
            if scale is None and not shape:
                refusals.pop(i, None)
                made.values[i], before[i], deviation[i] = 0.0, 0.0, 0.0
        goal = deviation if scale is None else np.sqrt(scale)
        if scale is not None:
            refusals |= {int(i): _no_variance(float(scale[i])) for i in np.flatnonzero(~(scale > 0) & ~constant)}
        centre = mean if place is None else place
        values, ones = made.values, np.ones(len(rows))
        moved = distance_of(centre - mean, goal, values, deviation, before, weights)
        shape_moved = distance_of(0 * ones, ones, values, ones, before, weights)
        del before
        values *= goal[:, None]
        values += centre[:, None]
        beyond = ~np.isfinite(values).all(axis=1) | ((np.ptp(values, axis=1) == 0) & ~constant)
        refusals |= {int(i): BEYOND for i in np.flatnonzero(beyond) if i not in refusals}
        values[list(refusals)] = np.nan
        statistics = statistics_of(values, max(4, len(wanted)), weights)
        residual = np.zeros(len(rows))
        for k, target in enumerate(wanted):
            if target is not None:
                gap = np.abs(statistics[:, k] - target) / np.maximum(1, np.abs(target))
                residual = np.maximum(residual, gap)
    notes = dict(made.notes)
    for i in np.flatnonzero(residual > EXACT).tolist():
        notes[i] = Outcome(True, "rounded", f"statistics are met to {residual[i]:.1e}, as near as values near "
                           f"{np.abs(values[i]).max():.3g} with standard deviation {goal[i]:.3g} come in float64")
    for column in (residual, moved, shape_moved):
        column[list(refusals)] = np.nan
    return MatchedRows(values, statistics, residual, moved, shape_moved, refusals, notes)


def _no_variance(target: float) -> Outcome:
    return Outcome(False, "variance out of reach", f"variance {target:.6g} was wanted: that of values that differ is "
                   "above 0, and they are kept different")


def distance_of(shift: FloatArray, unit: FloatArray, z: FloatArray, unit_before: FloatArray, before: FloatArray,
              weights: Weights) -> FloatArray:
    """Return the root mean square of shift + unit z - unit_before before, without overflow; infinite beyond float64."""
    largest = np.maximum(np.maximum(np.abs(shift), unit), unit_before)
    largest = np.where(largest > 0, largest, 1.0)
    factors, total = [(each / largest)[:, None] for each in (unit, unit_before, shift)], PowerSums.empty(2, len(z))
    for part in parts(z.shape[1]):
        change = factors[0] * z[:, part]
        change -= factors[1] * before[:, part]
        change += factors[2]
        total.update(change, None if weights is None else weights[:, part])
    distance: FloatArray = np.where(np.isinf(largest), np.inf, largest * np.sqrt(total.means()[2]))
    return distance


def statistics_of(values: FloatArray, order: int, weights: Weights) -> FloatArray:
    """Return mean, variance and standardized moments up to an order of rows; NaN where there are none."""
    found = np.full((len(values), order), np.nan)
    which = np.flatnonzero(~np.isnan(values[:, 0]))
    if len(which):
        matrix = SampleMatrix.weighted(values[which], taken(weights, which))
        mean, variance, _ = place_and_scale(matrix)
        found[which, 0], found[which, 1] = mean, variance
        varying = np.flatnonzero(matrix.low < matrix.high)
        if len(varying):
            shape = standardized_moments(matrix.values, varying, order, to_unit_range(matrix), matrix.weights)
            found[which[varying], 2:] = shape.standardized[3:].T
    return found
