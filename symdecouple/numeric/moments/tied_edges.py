r"""Samples with given ordered ties and given moments: corners, edges between them, and the way up or down.

A sample with d groups of tied values, of shares w_1, .., w_d in ascending order, keeps them on every narrow path. All
such samples whose standardized moments 1..k-1 are c_1, .., c_(k-1) form a cell; in its closure neighbours may meet.
Neighbours that have met are a *block*. A *corner* has k - 1 blocks, an *edge* has k blocks and is a curve from corner
to corner, along which moment k is strictly monotone:

.. math:: \frac{dz_i}{dF_k} = \frac1{k\,w_i \prod_{l \ne i} (z_i - z_l)} .

At a corner moment k rises along an edge on which block i comes apart iff k - 1 - i is even (Theorem I). So one goes
from corner to corner, as in linear programming, until no block of that sign has two groups: that corner is the maximum,
and there is one only (Theorem J). Where moment k passes a target on the way, the point of the edge is a corner of the
next level.

Coincidences, corners with fewer than k - 1 values, are not met here: `tied_range` moves the targets a little.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["Corner", "Lost", "Shares", "climbed", "first_corner", "solved"]

_STEPS = 200  # along an edge; one or two as a rule
_NEWTON = 40  # steps: near a corner, a double root, each gains a bit
_TRIED = 12  # steps of Newton's method before a corner is looked for from nearer by
_THERE = 2e-15  # of the sum of sizes that makes a moment: rounding
_STEP = 0.5  # of the time to the next meeting
_APART = 0.3  # of the least gap: the first step of two values that come apart
_HALVED = 1e-9  # a step that is cut to this has failed


class Lost(ArithmeticError):
    """An edge could not be followed in float64."""


class Shares(NamedTuple):
    """How a sample is shared out among d groups: the share of each, None if all are equal.

    Small shares are added, and never taken as a difference: ends of a range rest on them.
    """

    groups: int
    each: FloatArray | None = None

    @classmethod
    def of(cls, shares: FloatArray) -> Shares:
        """Take shares of any sum, (d,)."""
        return cls(len(shares), shares / shares.sum())

    def of_blocks(self, ends: IntArray) -> FloatArray:
        """Return the shares of blocks."""
        if self.each is None:
            return np.asarray(np.diff(ends) / self.groups)
        shares: FloatArray = np.add.reduceat(self.each, ends[:-1])
        return shares


class Corner(NamedTuple):
    """Blocks and their values.

    Attributes
    ----------
    ends : array (m + 1,)
        From 0 to d: block i is made of groups ends[i] to ends[i + 1] - 1.
    values : array (m,)
    """

    ends: IntArray
    values: FloatArray

    def moment(self, ties: Shares, order: int) -> float:
        """Return a moment."""
        return float(ties.of_blocks(self.ends) @ self.values**order)


def first_corner(ties: Shares) -> Corner:
    """Two blocks of mean 0 and variance 1, a corner of level 3; there are at least two groups."""
    half = ties.groups // 2
    ends = np.array([0, half, ties.groups])
    q, p = ties.of_blocks(ends).tolist()
    values = np.array([-((p / q) ** 0.5), (q / p) ** 0.5])
    return Corner(ends, values)


def climbed(ties: Shares, at: Corner, held: FloatArray, target: float) -> tuple[Corner, bool]:
    """Bring the next moment to a target: the corner of the level after it, or the last corner of this one, False.

    `held` (k,) are moments 0..k-1, the corner has k - 1 blocks, and the target is one of moment k; infinite ones lead
    to the last corners.
    """
    k = len(held)
    is_up = at.moment(ties, k) < target
    while (edge := _edge(ties, at, is_up, held)) is not None:
        if (edge.end.moment(ties, k) >= target) == is_up:
            shares = ties.of_blocks(edge.ends)
            # All values are monotone along the edge, which keeps Newton's steps in a box.
            low, high = np.minimum(edge.start, edge.finish), np.maximum(edge.start, edge.finish)
            keeps = partial(_is_between, low=low, high=high)
            between = solved(shares, (low + high) / 2, np.append(held, target), 6 * _NEWTON, keeps=keeps)
            if between is None:
                raise Lost
            return Corner(edge.ends, between), True
        at = edge.end
    return at, False


def _is_ordered(z: FloatArray) -> bool:
    return bool((z[1:] > z[:-1]).all())


def solved(
    shares: FloatArray, z: FloatArray, moments: FloatArray, steps: int = _NEWTON, fixed: int | None = None,
    keeps: Callable[[FloatArray], bool] = _is_ordered,
) -> FloatArray | None:
    """Return values with as many of the moments from 1 on as there are values, but the fixed one; None where it fails.

    A step that does not keep what is to be kept, the order of the values, is halved.
    """
    free = np.delete(np.arange(len(z)), [] if fixed is None else fixed)
    orders, goal = np.arange(1, len(free) + 1)[:, None], moments[1 : len(free) + 1]
    for _ in range(steps):
        powers = shares * z ** (orders - 1)
        gap = powers @ z - goal
        if (np.abs(gap) <= _THERE * (np.abs(powers) @ np.abs(z) + np.abs(goal))).all():
            return z
        step, size = np.zeros_like(z), 1.0
        try:
            step[free] = np.linalg.solve((orders * powers)[:, free], gap)
        except np.linalg.LinAlgError:
            return None
        while not keeps(moved := z - size * step):
            size /= 2
            if not size > _HALVED:
                return None
        z = moved
    return None


def _is_between(z: FloatArray, low: FloatArray, high: FloatArray) -> bool:
    return bool(((z > low) & (z < high)).all())


# --- edges ---


class _Edge(NamedTuple):
    """Blocks on an edge, values where it starts and where it ends, and the corner there."""

    ends: IntArray
    start: FloatArray
    finish: FloatArray
    end: Corner


def _edge(ties: Shares, at: Corner, is_up: bool, held: FloatArray) -> _Edge | None:
    """Follow an edge from a corner; None at the last one. The block with the most groups comes apart, in halves."""
    sizes, count = np.diff(at.ends), len(at.values)
    splits = [i for i in range(count) if sizes[i] > 1 and ((count - 1 - i) % 2 == 0) == is_up]
    if not splits:
        return None
    i = max(splits, key=lambda place: int(sizes[place]))
    ends = np.insert(at.ends, i + 1, at.ends[i] + sizes[i] // 2)
    start = np.insert(at.values, i, at.values[i])
    j, values = _to_meeting(ties.of_blocks(ends), start, 1 if is_up else -1, held)
    return _Edge(ends, start, np.insert(values, j, values[j]), Corner(np.delete(ends, j + 1), values))


def _to_meeting(shares: FloatArray, z: FloatArray, sign: int, held: FloatArray) -> tuple[int, FloatArray]:
    """Go along an edge until two blocks meet: the place of the lower one, and the values of the corner.

    Only one pair of those that come together ends it, and the corner is unique: one that is found is the right one.
    """
    for _ in range(_STEPS):
        velocity = _velocity(shares, z, sign)
        gaps, closing = np.diff(z), -np.diff(velocity)
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where((closing > 0) & (gaps > 0), gaps / closing, np.inf)
        for i in np.argsort(times)[: np.count_nonzero(np.isfinite(times))].tolist():
            met = solved(*_merged(shares, z, i), held, _TRIED)
            if met is not None:
                return i, met
        size = _STEP * float(times.min())
        if not gaps.min() > 0:
            size = min(size, _APART * float(gaps[gaps > 0].min()))
        moved = None
        while moved is None and size > _HALVED:
            moved = solved(shares, z + size * velocity, held, _TRIED, int(np.abs(velocity).argmax()))
            size /= 2
        if moved is None:
            break
        z = moved
    raise Lost


def _velocity(shares: FloatArray, z: FloatArray, sign: int) -> FloatArray:
    """The direction of the edge, the largest entry 1; where two values are equal, they come apart."""
    together = np.flatnonzero(np.diff(z) <= 0)
    if len(together):
        i, velocity = int(together[0]), np.zeros(len(z))
        velocity[i], velocity[i + 1] = -1 / shares[i], 1 / shares[i + 1]
    else:
        away = z[:, None] - z
        np.fill_diagonal(away, 1)
        velocity = sign / (shares * away.prod(axis=1))
    velocity /= np.abs(velocity).max()
    return velocity


def _merged(shares: FloatArray, z: FloatArray, i: int) -> tuple[FloatArray, FloatArray]:
    """Return shares and values with blocks i and i + 1 at their common mean."""
    begins = np.delete(np.arange(len(z)), i + 1)
    share = np.add.reduceat(shares, begins)
    return share, np.add.reduceat(shares * z, begins) / share
