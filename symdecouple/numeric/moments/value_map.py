r"""The map of values that moments of a sample are moved by, applied to values that are not in the sample.

Each level moves an entry by a rule that depends on its value alone, and on the moments of the whole sample:

.. math:: z' = c + \frac{s\,(z - a)}{1 - t z} \quad\text{(skewness)}, \qquad
    \frac{dz}{ds} = \lambda(s)\, p_{k-1}(z; s) \quad\text{(the k-th moment)}

So any other value goes along: with the weight 0 it follows the flow of the sample and does not change it. The maps
increase. Inside the range of the sample they are always there. Beyond it they may end, where 1 - t z comes to 0 or a
path runs away in finite time: there the value is the limit, often an infinite one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symdecouple.numeric.moments.hankel import power_means, settle
from symdecouple.numeric.moments.moment_path import Course
from symdecouple.numeric.moments.power_sums import standardized_entries
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.paths.integrate import End, integrate
from symdecouple.numeric.samples.matrix import BoolArray, FloatArray, IntArray

__all__ = ["LostMap", "ValueMap"]

_RTOL = 1e-12  # of a step, in standard deviations: the samples themselves are known to 1e-11
_BLOCK = 2**16  # values that go along together
_AWAY = 2.0**10  # standard deviations from which on a value is taken as run away
_ROWS = 16  # groups of values beyond the sample, the nearest first


class LostMap(Exception):
    """The sample itself did not come to the end of a path."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueMap:
    """What becomes of a value.

    Attributes
    ----------
    values, shares : array (n,)
        Distinct values of the sample, ascending, and how often each occurs, as a share.
    legs : tuple of tuples of float
        Standardized moments, from order 0 to k, that the sample comes to, one leg after the other: k is 3 or more.
    place : float
        The mean at the end.
    unit : float or None
        The standard deviation at the end; None leaves it.

    Examples
    --------
    The mean goes to 10 and the standard deviation to 2:

    >>> made = ValueMap.of_sample(np.array([1.0, 3.0]), (), 10.0, 2.0)
    >>> made(np.array([0.0, 1.0, 2.0, 3.0]))[0].tolist()
    [6.0, 8.0, 10.0, 12.0]
    """

    values: FloatArray
    shares: FloatArray
    legs: tuple[tuple[float, ...], ...]
    place: float
    unit: float | None

    @classmethod
    def of_sample(cls, sample: FloatArray, legs: tuple[tuple[float, ...], ...], place: float, unit: float | None
                  ) -> ValueMap:
        """Return the map of a sample, (N,)."""
        values, counts = np.unique(sample, return_counts=True)
        return cls(values, counts / sample.size, legs, place, unit)

    def __call__(self, others: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return where values go, of any shape, limits where the map has ended; and where it has.

        Raises
        ------
        LostMap
        """
        distinct, back = np.unique(np.asarray(others, dtype=np.float64), return_inverse=True)
        if not distinct.size:
            return np.empty(np.shape(others)), np.zeros(np.shape(others), dtype=np.bool_)
        with np.errstate(all="ignore"):
            found, is_over = self._of_sorted(distinct)
        shape = np.shape(others)
        return np.maximum.accumulate(found)[back].reshape(shape), is_over[back].reshape(shape)

    def _of_sorted(self, others: FloatArray) -> tuple[FloatArray, BoolArray]:
        is_over = np.zeros(len(others), dtype=np.bool_)
        if len(self.values) == 1:  # nothing but its place can be moved
            return others + (self.place - self.values[0]), is_over
        rows, shares = self.values[None], self.shares[None]
        z, slope, _ = standardized_entries(rows, shares)
        near = int(np.abs(z[0]).argmin())
        u = z[0, near] + (others - self.values[near]) * slope[0, 0]
        z = z[0]
        for goal in self.legs:
            z, u = (_skewed if len(goal) == 4 else _advanced)(z, self.shares, u, goal)
            is_over |= ~np.isfinite(u)
        unit = 1 / slope[0, 0] if self.unit is None else self.unit
        return np.asarray(self.place + unit * u), is_over


def _skewed(z: FloatArray, shares: FloatArray, u: FloatArray, goal: tuple[float, ...]
            ) -> tuple[FloatArray, FloatArray]:
    """The leg of the skewness: a Moebius map, read off three of its values."""
    if len(z) == 2:
        return z, u
    done = impose_skewness(z[None], goal[3], weights=shares[None], with_slope=False)
    if done.refusals:
        raise LostMap(next(iter(done.refusals.values())).detail)
    there = done.values[0]
    middle = 1 + int(np.abs(z[1:-1] - (z[0] + z[-1]) / 2).argmin())
    low, mid, high = z[[0, middle, -1]]
    first, second = (there[middle] - there[0]) / (mid - low), (there[-1] - there[middle]) / (high - mid)
    ratio = first / second  # (1 - t high) / (1 - t low)
    t = (1 - ratio) / (high - ratio * low)
    scale = first * (1 - t * mid)
    below = 1 - t * u
    moved = there[0] + scale * (u - low) / below
    limit = there[0] - scale / t if t else np.inf
    ends = np.where(u > 0, np.inf if t >= 0 else limit, -np.inf if t <= 0 else limit)
    return there, np.where(np.isfinite(u) & (below > 0), moved, ends)


def _advanced(z: FloatArray, shares: FloatArray, u: FloatArray, goal: tuple[float, ...]
              ) -> tuple[FloatArray, FloatArray]:
    """The leg of moment k: values go along the narrow path of the sample."""
    inside = (u >= z[0]) & (u <= z[-1])
    there, moved = z, np.where(u > 0, np.inf, -np.inf)
    within = np.flatnonzero(inside)
    for block in np.array_split(within, max(1, -(-len(within) // _BLOCK))):
        rows, good = _along(z, shares, u[block][None], goal)
        if not good[0]:
            raise LostMap(f"moment {len(goal) - 1} did not come to {goal[-1]:.6g} (standardized)")
        there, moved[block] = rows[0, : len(z)], rows[0, len(z) :]
    for side in (np.flatnonzero((u > z[-1]) & np.isfinite(u)), np.flatnonzero((u < z[0]) & np.isfinite(u))[::-1]):
        _beyond(z, shares, u, goal, side, moved)
    return there, moved


def _beyond(z: FloatArray, shares: FloatArray, u: FloatArray, goal: tuple[float, ...], side: IntArray,
            moved: FloatArray) -> None:
    """Write where values beyond the sample come to, the nearest first; behind one that runs away all others do."""
    while len(side):
        groups = [group for group in np.array_split(side, min(_ROWS, len(side))) if len(group)]
        longest = max(map(len, groups))
        filled = [np.concatenate([group, np.repeat(group[-1:], longest - len(group))]) for group in groups]
        rows, good = _along(z, shares, u[np.array(filled)], goal)
        good &= np.abs(rows).max(axis=1) < _AWAY
        count = len(groups) if good.all() else int(good.argmin())
        for group, row in zip(groups[:count], rows[:count], strict=True):
            moved[group] = row[len(z) : len(z) + len(group)]
        if count == len(groups) or len(groups[count]) == 1:
            return
        side = groups[count]


def _along(z: FloatArray, shares: FloatArray, u: FloatArray, goal: tuple[float, ...]
           ) -> tuple[FloatArray, BoolArray]:
    """The sample with values of weight 0 beside it, (R, n + m), at the end of the path; and which rows are there."""
    count = len(u)
    start = np.concatenate([np.repeat(z[None], count, axis=0), u], axis=1)
    weights = np.concatenate([np.repeat(shares[None], count, axis=0), np.zeros_like(u)], axis=1)
    aim = np.repeat(np.array(goal)[:, None], count, axis=1)
    k = len(goal) - 1
    course = Course(k, start, aim, np.repeat(power_means(z[None], k, shares[None])[k], count), weights)
    path = integrate(course.slope, start, rtol=_RTOL, scale=np.maximum(1.0, np.abs(u).max(axis=1, initial=0.0)))
    rows, good = path.values.copy(), path.ending == End.REACHED
    settle(rows, aim, weights)
    return rows, good & np.isfinite(rows).all(axis=1)
