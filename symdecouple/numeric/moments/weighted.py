"""Decoupled moments of samples whose entries have weights: the levels of `moment_levels`, in NumPy.

A sample with weights is a law on finitely many values. Every level is a motion of these values: the skew flow, then the
narrow path of one moment after the other, with means that are sums over shares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.levels import Ladder, climb_on, raw_moments, standardized_reference
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.power_sums import ZERO_VARIANCE, place_and_scale
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.samples.batch import FloatArray, Panel, RowValues

__all__ = ["shares", "weighted_decoupled_rows"]


def shares(weights: FloatArray) -> FloatArray:
    """Weights with the sum 1 in every row."""
    share: FloatArray = weights / weights.sum(axis=1)[:, None]
    return share


def weighted_decoupled_rows(panel: Panel, order: int, reference: Sequence[float]) -> RowValues:
    """Decoupled moments 1..order of each row, (R, order), with raw reference moments 1..order - 1."""
    mean, variance, skewness = place_and_scale(panel)
    centre, unit, goal = standardized_reference(reference[: order - 1])
    varying = np.flatnonzero(panel.low < panel.high)
    refusals = {int(i): ZERO_VARIANCE for i in np.flatnonzero(panel.low == panel.high)} if order > 2 else {}
    values = np.full((len(mean), max(order, 3)), np.nan)
    values[:, 0], values[:, 1], values[:, 2] = mean, variance, skewness
    if order > 3 and len(varying) and panel.weights is not None:
        rows = np.asarray(panel.values[varying], dtype=np.float64)
        higher, refused = _higher_levels(rows, panel.weights[varying], order, goal)
        values[varying, 3:] = higher
        refusals.update((int(varying[i]), outcome) for i, outcome in refused.items())
    return RowValues(raw_moments(values[:, :order], centre, unit, goal), refusals)


def _higher_levels(
    rows: FloatArray, weights: FloatArray, order: int, goal: Sequence[float]
) -> tuple[FloatArray, dict[int, Outcome]]:
    """Standardized decoupled moments 4..order, and the first level that a row does not have."""
    skew = impose_skewness(rows, goal[3], weights=weights, with_slope=False)
    ladder = Ladder(np.full((order + 1, len(rows)), np.nan), skew, refusals=dict(skew.refusals))
    which = np.array([i for i in range(len(rows)) if i not in skew.refusals], dtype=np.intp)
    climb_on(ladder, which, skew.values[which], shares(weights[which]), order, goal, follow, False)
    return ladder.moments[4:].T, ladder.refusals
