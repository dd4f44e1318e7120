r"""Samples moved along the flows until their own statistics have given values, many rows at once.

A row is taken to mean 0 and variance 1, along its skew flow to the skewness (`skewness_flow`), from there along the
free gradients of the kurtosis and of higher moments where these are wanted (`moment_path`); a row that crowds on the
way is put between the ends of its kurtosis. Every motion is an increasing function of the entry: ties and the order of
the entries stay.

A sample whose skewness was changed much may stand so near to an end of the range of its kurtosis that its values are
one number in float64, and the narrow path pulls them apart by 1e40. Between the samples L and H at the ends
(`kurtosis_ends`), the skew flow of

.. math:: y = (1 - \theta) L + \theta H + \epsilon\, y_0

has skewness g, the ties and the order of y_0, and every kurtosis between the ends for some theta and epsilon > 0.
Newton's steps in the span of 1, z, z^2, .. then put all statistics where they belong: no error of a path is left.

What can be had is decided beforehand, by counting ties (`ties`, `kurtosis_ends`). What a row does not come to all the
same is refused; nothing is returned whose statistics are not there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.hankel import Weights, parts, settle, taken
from symdecouple.numeric.moments.kurtosis_ends import ThreeValued, kurtosis_ends
from symdecouple.numeric.moments.long_rows import follow_long
from symdecouple.numeric.moments.out_of_reach import refused_kurtosis
from symdecouple.numeric.moments.power_sums import (
    ZERO_VARIANCE,
    mean_power,
    power_means,
    standardize,
    standardized_entries,
)
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.moments.skewness_kernel import skewness_imposer
from symdecouple.numeric.samples.batch import FloatArray, IntArray
from symdecouple.numeric.samples.matrix import BoolArray, taken as rows_of

__all__ = ["EXACT", "MET", "OFF_PATH", "Shaped", "shaped_rows"]

EXACT = 1e-13  # of a statistic, beside max(1, its value): what counts as met
_ROOM = 0.25  # epsilon to the distance from the nearer end, as a share of the range
_TRIED, _LESS = 10, 0.25  # values of epsilon, each a quarter of the one before
_HALVINGS = 24  # Newton's steps do the rest

_THERE = 4e-15  # of Mean|z|^j: a sample is there already
_CORNER = 1e-3  # of the range from its ends: within, what float64 cannot do is told as nearness to the boundary
OFF_PATH = Outcome(True, "off the path", "the path crowds beyond float64: order and ties are kept, and the statistics "
                   "are met, by a sample between both ends of the range that is not on the path of the given one")

Curve: TypeAlias = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]

MET = Outcome(True, "values met", "the statistics are met, and values that differ in the sample are one number in "
              "float64 now: the sample is crowded, or the target near an end")


@dataclass(frozen=True, slots=True)
class Shaped:
    """Standardized rows (R, N) with the wanted moments, NaN where refused; and what is told.

    `notes` are of rows that have an answer.
    """

    values: FloatArray
    refusals: dict[int, Outcome] = field(default_factory=dict)
    notes: dict[int, Outcome] = field(default_factory=dict)


def shaped_rows(rows: FloatArray, wanted: Sequence[FloatArray | None], weights: Weights = None) -> Shaped:
    """Move standardized moments 3, 4, .. of each row to the wanted ones, (R,) each.

    Parameters
    ----------
    rows : array (R, N)
        Finite float64; constant ones are refused.
    wanted : sequence of array (R,) or None
        From order 3 on. None below an order that is wanted: what the row has itself.
    weights : array (R, N), optional
        Positive, with sum 1 in each row.

    Examples
    --------
    >>> made = shaped_rows(np.array([[1.0, 2, 3, 5, 8, 13, 21, 34]]), [np.array([1.0]), np.array([3.0])])
    >>> [round(float(np.mean(made.values**k)), 12) + 0.0 for k in (1, 2, 3, 4)]
    [0.0, 1.0, 1.0, 3.0]
    """
    with np.errstate(all="ignore"):
        made = Shaped(standardized_entries(rows, weights)[0])
        made.refusals.update((i, ZERO_VARIANCE) for i in np.flatnonzero(np.ptp(rows, axis=1) == 0).tolist())
        if wanted:
            _Rows.of(rows, weights).shape(made, wanted)
    made.values[list(made.refusals)] = np.nan
    return made


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows, shares of their entries, and where groups of ties begin in ascending order."""

    x: FloatArray
    share: Weights
    is_first: BoolArray

    @classmethod
    def of(cls, x: FloatArray, share: Weights) -> _Rows:
        ranked, is_first = np.sort(x, axis=1), np.ones(x.shape, dtype=np.bool_)
        np.not_equal(ranked[:, 1:], ranked[:, :-1], out=is_first[:, 1:])
        return cls(x, share, is_first)

    def order(self, which: IntArray) -> IntArray:
        """The places of entries in ascending order; not kept, as it is as long as the rows."""
        return rows_of(self.x, which).argsort(axis=1, kind="stable")

    def shape(self, made: Shaped, wanted: Sequence[FloatArray | None]) -> None:
        """Give standardized rows the wanted moments."""
        z = made.values
        own = (mean_power(z, k, self.share) if asked is None else asked for k, asked in enumerate(wanted, 3))
        ones = np.ones(len(z))
        goal = np.vstack([ones, 0 * ones, ones, *own])
        if wanted[0] is not None and len(which := _left(made)):
            self._impose_skewness(made, which, goal[3])
        margin = np.full(len(z), np.inf)  # to the nearer end of the kurtosis, as a share of its range
        for k in range(4, len(goal)):
            if len(which := _left(made)):
                self._advance(made, which, goal[: k + 1], margin)
        if len(which := _left(made)):
            self._finish(made, which, goal, margin)

    def _finish(self, made: Shaped, which: IntArray, goal: FloatArray, margin: FloatArray) -> None:
        """Put rows in order, and look whether their statistics are there, and their values still differ."""
        z, aim, share = rows_of(made.values, which), goal[:, which], taken(self.share, which)
        _settled(z, aim, share)
        met = self._put_in_order(z, which)
        made.values[which], gap = z, _statistics_gap(z, aim, share)
        for i in np.flatnonzero(~(gap <= EXACT) | met).tolist():
            row = int(which[i])
            if not gap[i] <= EXACT:
                made.refusals[row] = _crowded(gap[i])
            elif margin[row] < _CORNER:
                made.refusals[row] = _near_boundary(float(goal[4, row]), margin[row])
            else:
                made.notes[row] = MET

    def _put_in_order(self, z: FloatArray, which: IntArray) -> BoolArray:
        """Give rows the order and the ties of x, in place; True where values that differ have met."""
        order, is_first = self.order(which), rows_of(self.is_first, which)
        last, met = np.full((len(z), 1), -np.inf), np.zeros(len(z), dtype=np.bool_)
        for part in parts(z.shape[1]):
            here, first = order[:, part], is_first[:, part]
            ranked = np.where(first, np.take_along_axis(z, here, axis=1), -np.inf)
            ranked = np.maximum.accumulate(np.concatenate([last, ranked], axis=1), axis=1)
            met |= (first & (ranked[:, 1:] == ranked[:, :-1])).any(axis=1)
            np.put_along_axis(z, here, ranked[:, 1:], axis=1)
            last = ranked[:, -1:]
        return met

    def _impose_skewness(self, made: Shaped, which: IntArray, target: FloatArray) -> None:
        """Move rows to level 3."""
        done = skewness_imposer(self.x.size)(
            rows_of(self.x, which), target[which], weights=taken(self.share, which), with_slope=False)
        made.values[which] = done.values
        made.refusals.update((int(which[i]), outcome) for i, outcome in done.refusals.items())

    def _advance(self, made: Shaped, which: IntArray, goal: FloatArray, margin: FloatArray) -> None:
        """Move the last moment of the goal of rows at the level before."""
        z, k = rows_of(made.values, which), len(goal) - 1
        size = mean_power(np.abs(z), k, taken(self.share, which))
        away = np.abs(mean_power(z, k, taken(self.share, which)) - goal[k, which]) > _THERE * size
        if not len(which := which[away]):
            return
        if k == 4:
            self._to_kurtosis(made, which, goal[:, which], margin)
            return
        done = follow_long(made.values[which], k, goal[k, which], goal[1:k, which], weights=taken(self.share, which))
        made.values[which] = done.values
        made.refusals.update((int(which[i]), outcome) for i, outcome in done.refusals.items())

    def _to_kurtosis(self, made: Shaped, which: IntArray, goal: FloatArray, margin: FloatArray) -> None:
        """Move rows of skewness goal[3] to kurtosis goal[4], where that is between the ends; note how far from these.
        """
        is_first, share = rows_of(self.is_first, which), taken(self.share, which)
        ranked = None if share is None else np.take_along_axis(share, self.order(which), axis=1)
        is_two = is_first.sum(axis=1) <= 2
        ends = kurtosis_ends(is_first, ranked, goal[3])
        low, high = (np.where(is_two, 1 + goal[3] ** 2, end.kurtosis) for end in ends)
        lacking = refused_kurtosis(is_first, share, goal[3], goal[4], low, high)
        del is_first, ranked
        made.refusals.update((int(which[i]), outcome) for i, outcome in lacking.items())
        kept = np.array([i for i in range(len(which)) if i not in lacking], dtype=np.intp)
        if not len(kept):
            return
        here, aim, share = which[kept], goal[:, kept], taken(share, kept)
        margin[here] = (np.minimum(goal[4] - low, high - goal[4]) / (high - low))[kept]
        z = follow_long(rows_of(made.values, here), 4, aim[4], aim[1:4], weights=share).values
        late = np.flatnonzero(~(_settled(z, aim, share) <= EXACT))
        if len(late):
            both = ends[0].of(kept[late]), ends[1].of(kept[late])
            beside = self._between_ends(here[late], aim[:, late], both)
            gap = _settled(beside, aim[:, late], taken(share, late))
            z[late] = beside
            for i, apart in zip(late.tolist(), gap.tolist(), strict=True):
                row, near = int(here[i]), margin[here[i]]
                if apart <= EXACT:
                    made.notes[row] = OFF_PATH
                else:
                    made.refusals[row] = _near_boundary(float(aim[4, i]), near) if near < _CORNER else _crowded(apart)
        made.values[here] = z

    def _between_ends(self, which: IntArray, goal: FloatArray, ends: tuple[ThreeValued, ThreeValued]) -> FloatArray:
        """Rows in the order and with the ties of x that have moments goal (5, R); NaN where there are none."""
        order, found = self.order(which), self.x[which]
        share = None if self.share is None else np.take_along_axis(self.share[which], order, axis=1)
        x, is_first = np.take_along_axis(found, order, axis=1), rows_of(self.is_first, which)
        np.put_along_axis(found, order, _between_ends(x, is_first, goal, ends, share), axis=1)
        return found


def _left(made: Shaped) -> IntArray:
    return np.array([i for i in range(len(made.values)) if i not in made.refusals], dtype=np.intp)


def _near_boundary(target: float, margin: float) -> Outcome:
    """A kurtosis that is inside, by this share of the range from an end, and was not met."""
    return Outcome(False, "near the boundary", f"moment 4 (standardized) can be {target:.10g}, but that is only "
                   f"{margin:.1e} of its range from an end, where values meet; ask for a value farther inside")


def _crowded(gap: float) -> Outcome:
    """Statistics that came so near and no nearer."""
    return Outcome(False, "beyond float64", f"the statistics come to {gap:.1e} of their targets and no nearer: the "
                   "sample crowds beyond float64; ask for less, or tie the values that are meant to be equal")


# --- rows where no path leads, and Newton's last steps ---


def _between_ends(
    x: FloatArray, is_first: BoolArray, goal: FloatArray, ends: tuple[ThreeValued, ThreeValued], share: Weights
) -> FloatArray:
    """Return rows with the ties of x (R, N), ascending, that have moments goal (5, R); NaN where not.

    `is_first` (R, N) says where the groups of ties begin.
    """
    n, (low, high) = x.shape[1], ends
    part = (goal[4] - low.kurtosis) / (high.kurtosis - low.kurtosis)
    numbered = np.cumsum(is_first, axis=1, dtype=np.float64)
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


def _settled(z: FloatArray, goal: FloatArray, share: Weights) -> FloatArray:
    """Correct rows in place; returns how far their statistics are from moments goal (k + 1, R)."""
    return settle(z, goal, share, _statistics_gap, EXACT / 16)


def _statistics_gap(z: FloatArray, goal: FloatArray, share: Weights = None) -> FloatArray:
    """Return how far the statistics of rows are from moments 0, 0, 1, goal[3], .., (k + 1, R), over max(1, abs(goal)).

    The largest of the rows' own statistics: mean, variance, and the standardized moments from the third on.
    """
    means = power_means(z, len(goal) - 1, share)
    mean, deviation = standardize(0.0, means)
    gap: FloatArray = np.maximum(np.abs(mean - goal[1]), np.abs(deviation**2 - goal[2]))
    for k in range(3, len(goal)):
        gap = np.maximum(gap, np.abs(means[k] - goal[k]) / np.maximum(1, np.abs(goal[k])))
    return gap
