r"""Sorted rows put between both ends of the range of their kurtosis, where no path leads; and Newton's last steps.

A sample whose skewness was changed much may stand so near to an end of the range of its kurtosis that its values are
one number in float64, and the narrow path (`moment_path`) pulls them apart by 1e40. Such a row is put between both ends
directly: with the samples L and H at the ends (`kurtosis_ends`), the skew flow of

.. math:: y = (1 - \theta) L + \theta H + \epsilon\, y_0

has skewness g, the ties and the order of y_0, and every kurtosis between the ends for some theta and epsilon > 0.

Newton's steps in the span of 1, z, z^2, .. then put all statistics where they belong: no error of a path is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from symdecouple.numeric.moments.hankel import Weights, settle, taken
from symdecouple.numeric.moments.kurtosis_ends import ThreeValued
from symdecouple.numeric.moments.power_sums import mean_power, standardized_entries
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["EXACT", "between_ends", "settled", "statistics_gap"]

EXACT = 1e-13  # of a statistic, beside max(1, its value): what counts as met
_ROOM = 0.25  # epsilon to the distance from the nearer end, as a share of the range
_TRIED, _LESS = 10, 0.25  # values of epsilon, each a quarter of the one before
_HALVINGS = 24  # Newton's steps do the rest

Curve: TypeAlias = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]


def between_ends(
    x: FloatArray, first: IntArray, goal: FloatArray, ends: tuple[ThreeValued, ThreeValued], share: Weights
) -> FloatArray:
    """Return rows in the order and with the ties of x (R, N), sorted, that have moments goal (5, R); NaN where not.

    `first` (R, N) are the places where the groups of ties begin.
    """
    n, (low, high) = x.shape[1], ends
    part = (goal[4] - low.kurtosis) / (high.kurtosis - low.kurtosis)
    numbered = np.cumsum(first == np.arange(n), axis=1, dtype=np.float64)
    apart = standardized_entries(x, share)[0] + standardized_entries(numbered, share)[0]
    bottom, top = low.samples(n), high.samples(n)
    epsilon = _ROOM * np.minimum(part, 1 - part)

    def at(theta: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
        y = (1 - theta[:, None]) * bottom[which] + theta[:, None] * top[which] + epsilon[which, None] * apart[which]
        z = impose_skewness(y, goal[3, which], weights=taken(share, which), with_slope=False).values
        return z, mean_power(z, 4, taken(share, which)) - goal[4, which]

    values, left = np.full_like(x, np.nan), np.arange(len(x))
    for _ in range(_TRIED):
        below, above = at(np.zeros(len(left)), left)[1], at(np.ones(len(left)), left)[1]
        is_between = (below < 0) & (above > 0)
        here = left[is_between]
        if len(here):
            values[here] = _at_zero(at, here)
        left = left[~is_between]
        if not len(left):
            break
        epsilon[left] *= _LESS
    return values


def _at_zero(at: Curve, which: IntArray) -> FloatArray:
    """The samples near the root of a function that rises from below 0 to above in (0, 1), by halving."""
    low, high = np.zeros(len(which)), np.ones(len(which))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_below = at(middle, which)[1] < 0
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return at(high, which)[0]


def settled(z: FloatArray, goal: FloatArray, share: Weights) -> FloatArray:
    """Correct rows in place; returns how far their statistics are from moments goal (k + 1, R)."""
    return settle(z, goal, share, statistics_gap, EXACT / 16)


def statistics_gap(z: FloatArray, goal: FloatArray, share: Weights = None) -> FloatArray:
    """Return how far the statistics of rows are from moments 0, 0, 1, goal[3], .., (k + 1, R), over max(1, abs(goal)).

    The largest of the rows' own statistics: mean, variance, and the standardized moments from the third on.
    """
    mean = mean_power(z, 1, share)
    centred = z - mean[:, None]
    spread = mean_power(centred, 2, share)
    gap: FloatArray = np.maximum(np.abs(mean - goal[1]), np.abs(spread - goal[2]))
    for k in range(3, len(goal)):
        value = mean_power(centred, k, share) / spread ** (k / 2)
        gap = np.maximum(gap, np.abs(value - goal[k]) / np.maximum(1, np.abs(goal[k])))
    return gap
