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

from typing import NamedTuple

import numpy as np

from symdecouple.numeric.moments.tie_patterns import sign_of
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["Corner", "Lost", "Shares", "climbed", "first_corner", "merged", "solved", "summit_of"]

_STEPS = 200  # along an edge; one or two as a rule
_NEWTON = 40
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

    def sizes(self) -> IntArray:
        """Return how many groups each block is made of."""
        sizes: IntArray = np.diff(self.ends)
        return sizes

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

    `held` (k,) are moments 0..k-1, the corner has k - 1 blocks, and the target is one of moment k.
    """
    k = len(held)
    is_up = at.moment(ties, k) < target
    while (edge := _edge(ties, at, is_up, held)) is not None:
        if (edge.end.moment(ties, k) >= target) == is_up:
            shares = ties.of_blocks(edge.ends)
            middle = _between(shares, edge.start, edge.finish, np.append(held, target))
            return Corner(edge.ends, middle), True
        at = edge.end
    return at, False


def summit_of(ties: Shares, at: Corner, held: FloatArray, is_up: bool) -> Corner:
    """Return the corner at which moment k is largest, or least; `held` and the corner as in `climbed`."""
    while (edge := _edge(ties, at, is_up, held)) is not None:
        at = edge.end
    return at


def solved(shares: FloatArray, values: FloatArray, moments: FloatArray, steps: int = _NEWTON) -> FloatArray | None:
    """Return m values with moments 1..m, in the order of those near which they are sought; None where it fails.

    A step that would change the order is cut.
    """
    z, orders = values, np.arange(1, len(values) + 1)[:, None]
    for _ in range(steps):
        powers, gap, is_there = _gaps(shares, z, moments, orders)
        if is_there:
            return z
        try:
            step = np.linalg.solve(orders * powers, gap)
        except np.linalg.LinAlgError:
            return None
        closing = np.diff(step)
        meets = float(np.min(np.diff(z)[closing > 0] / closing[closing > 0], initial=np.inf))
        size = 1.0 if meets > 1 else 0.7 * meets
        z = z - size * step
        if not (size > 1e-6 and (np.diff(z) > 0).all()):
            return None
    return None


def _gaps(shares: FloatArray, z: FloatArray, moments: FloatArray, orders: IntArray
          ) -> tuple[FloatArray, FloatArray, bool]:
    """Shares times powers of values, moments 1..m less those wanted, and whether that is rounding."""
    powers = shares * z ** (orders - 1)
    goal = moments[1 : len(orders) + 1]
    gap = powers @ z - goal
    return powers, gap, bool((np.abs(gap) <= _THERE * (np.abs(powers) @ np.abs(z) + np.abs(goal))).all())


# --- edges ---


class _Edge(NamedTuple):
    """Blocks on an edge, values where it starts and where it ends, and the corner there."""

    ends: IntArray
    start: FloatArray
    finish: FloatArray
    end: Corner


def _edge(ties: Shares, at: Corner, is_up: bool, held: FloatArray) -> _Edge | None:
    """Follow an edge from a corner; None at the last one. The block with the most groups comes apart, in halves."""
    sizes, count = at.sizes(), len(at.values)
    splits = [i for i in range(count) if sizes[i] > 1 and (sign_of(i, count) > 0) == is_up]
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
        velocity = sign * _velocity(shares, z)
        gaps, closing = np.diff(z), -np.diff(velocity)
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where((closing > 0) & (gaps > 0), gaps / closing, np.inf)
        for i in np.argsort(times)[: np.count_nonzero(np.isfinite(times))].tolist():
            met = solved(*merged(shares, z, i), held, _TRIED)
            if met is not None:
                return i, met
        size = _STEP * float(times.min())
        if not gaps.min() > 0:
            size = min(size, _APART * float(gaps[gaps > 0].min()))
        moved = None
        while moved is None and size > _HALVED:
            moved = _corrected(shares, z + size * velocity, held, int(np.abs(velocity).argmax()))
            size /= 2
        if moved is None:
            break
        z = moved
    raise Lost


def _velocity(shares: FloatArray, z: FloatArray) -> FloatArray:
    """The direction of the edge, the largest entry 1; where two values are equal, they come apart."""
    away = z[:, None] - z
    np.fill_diagonal(away, 1)
    together = np.flatnonzero(np.diff(z) <= 0)
    if len(together):
        i = int(together[0])
        away[[i, i + 1], [i + 1, i]] = 1
        velocity = np.zeros(len(z))
        side = np.sign(away[i].prod())
        velocity[i], velocity[i + 1] = -side / shares[i], side / shares[i + 1]
    else:
        velocity = 1 / (shares * away.prod(axis=1))
    velocity /= np.abs(velocity).max()
    return velocity


def merged(shares: FloatArray, z: FloatArray, i: int) -> tuple[FloatArray, FloatArray]:
    """Return shares and values with blocks i and i + 1 at their common mean."""
    total = shares[i] + shares[i + 1]
    share, value = np.delete(shares, i), np.delete(z, i)
    share[i], value[i] = total, (shares[i] * z[i] + shares[i + 1] * z[i + 1]) / total
    return share, value


def _corrected(shares: FloatArray, z: FloatArray, held: FloatArray, fixed: int) -> FloatArray | None:
    """Put moments 1..m-1 of m values right, one value fixed; None where that fails or changes the order."""
    free, orders = np.delete(np.arange(len(z)), fixed), np.arange(1, len(z))[:, None]
    z = z.copy()
    for _ in range(_TRIED):
        powers, gap, is_there = _gaps(shares, z, held, orders)
        if is_there:
            return z
        try:
            z[free] -= np.linalg.solve((orders * powers)[:, free], gap)
        except np.linalg.LinAlgError:
            return None
        if not (np.diff(z) > 0).all():
            return None
    return None


def _between(shares: FloatArray, start: FloatArray, finish: FloatArray, moments: FloatArray) -> FloatArray:
    """The point of an edge with moment m too: all values are monotone along it, which keeps Newton's steps in a box."""
    low, high = np.minimum(start, finish), np.maximum(start, finish)
    z, orders = (start + finish) / 2, np.arange(1, len(start) + 1)[:, None]
    for _ in range(6 * _NEWTON):
        powers, gap, is_there = _gaps(shares, z, moments, orders)
        if is_there:
            return z
        try:
            step = np.linalg.solve(orders * powers, gap)
        except np.linalg.LinAlgError:
            break
        size = 1.0
        while size > _HALVED and not (((moved := z - size * step) > low) & (moved < high)).all():
            size /= 2
        if not size > _HALVED:
            break
        z = moved
    raise Lost
