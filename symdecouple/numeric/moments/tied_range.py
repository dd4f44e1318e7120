r"""What moment k a sample with given ties can have, the moments before it held: the cell of its ties has two summits.

Theorem J: on the samples with d ordered groups of ties, of shares w_1, .., w_d, and standardized moments
c_0, .., c_(k-1), moment k takes its least and its largest value at one merged sample each. Block i of m has the sign
(-1)^(m - i); the maximum is the merged sample with the right moments in which no chain of blocks that come apart rises,
the minimum that in which none falls. What a sample itself reaches are the values between, the ends in the limit only.

A summit is found along edges (`tied_edges`), with targets moved a little, so that corners have k - 1 values y_i. Then
Newton's method takes the move back. Where values coincide at the targets themselves, these come as near as float64 has
them; the end stands all the same, as it does not feel that to first order: with P' = k prod(z - y_i) the mean of P,
moment k and multiples of the moments that are held, is stationary at the summit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from symdecouple.numeric.moments.tied_edges import Corner, Lost, Shares, climbed, first_corner, solved
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["Reach", "kurtosis_of_counts", "reach", "reach_of_any", "reach_of_counts", "smallest_size"]

_MOVES = (1e-6, 0.0, 1e-9, 1e-4, 1e-12)  # of the targets, one after the other until summits are found
_NEAR = 1e-10  # of a moment: targets as near to an end count as the end
_LARGEST = 2**8  # samples up to which the smallest number is looked for; a tenth of a second each


class Reach(NamedTuple):
    """The values of moment `order` beside the moments before it.

    Attributes
    ----------
    order : int
        That was asked for, or that of the first held moment which samples with these ties do not have.
    low, high : float
        The ends. They belong to samples in which values have met; equal where there is one sample only.
    rounding : float
        How far off they may be, and the moments before; 0 where a formula gives the ends.
    """

    order: int
    low: float
    high: float
    rounding: float = _NEAR

    def side(self, value: float) -> int:
        """Return 0 strictly inside, 1 where a value is the upper end or above, -1 at the lower end or below."""
        near = min(self.rounding * (1 + abs(value)), (self.high - self.low) / 1000)
        return 1 if not value < self.high - near else -1 if not value > self.low + near else 0

    def is_end(self, value: float) -> bool:
        """True iff a value is one of the ends, to ten digits."""
        return min(abs(value - self.low), abs(value - self.high)) <= _NEAR * (1 + abs(value))

    def nearest(self, value: float) -> float:
        """Return the end that is nearer to a value."""
        return min(self.low, self.high, key=lambda end: abs(end - value))

    def is_beyond(self, value: float) -> bool:
        """True iff a value is outside, or an end, whatever rounding did to the ends and to the moments before."""
        near = self.rounding * (1 + abs(value))
        return not self.low - near < value < self.high + near


def reach(shares: Shares, held: Sequence[float]) -> Reach | None:
    """Return what moment k = len(held) can be beside the standardized moments 0..k-1; None where float64 is lost.

    Parameters
    ----------
    shares : Shares
        Of two groups or more.
    held : sequence (k,)
        1, 0, 1, c_3, ..; k is 3 or more.

    Examples
    --------
    Eight values, the three largest tied, without skewness: the kurtosis is below 62/35.

    >>> found = reach(Shares.of(np.array([1.0, 1, 1, 1, 1, 3])), (1, 0, 1, 0))
    >>> round(found.high * 35, 9), round(found.low, 9)
    (62.0, 1.0)
    """
    goal = np.array(held, dtype=np.float64)
    for size in _MOVES:
        moves = np.random.default_rng(0).uniform(0.5, 1, len(goal)) * size
        moves[:3] = 0
        try:
            return _reached(shares, goal, goal + moves * (1 + np.abs(goal)))
        except Lost:
            continue
    return None


@lru_cache(maxsize=1024)
def reach_of_any(n_samples: int, held: tuple[float, ...]) -> Reach | None:
    """Return the same for all samples of N values, which may be tied or not: the ends are attained.

    Examples
    --------
    >>> [round(reach_of_any(n, (1, 0, 1, 0, 3, 0)).high, 3) for n in (21, 22)]
    [14.686, 15.05]
    """
    found = reach(Shares(n_samples), held)
    if found is not None and found.order == 4 and held[3] == 0 and n_samples > 3:
        return Reach(4, n_samples / (n_samples - 1) if n_samples % 2 else 1.0, n_samples / 2, 0.0)
    return found


@lru_cache(maxsize=1024)
def reach_of_counts(counts: bytes, held: tuple[float, ...]) -> Reach | None:
    """Return the same for samples whose distinct values are taken so often, as the bytes of integers or floats."""
    return reach(Shares.of(np.frombuffer(counts, dtype=np.float64)), held)


@lru_cache(maxsize=256)
def smallest_size(goal: tuple[float, ...]) -> int | None:
    """Return the least N for which untied samples of N values reach the standardized moments one after the other.

    Parameters
    ----------
    goal : tuple (k + 1,)
        Moments 0..k.

    Returns
    -------
    int or None
        None beyond 256. It is found by bisection, as the ranges grow with N; two sizes below it are looked at too, as
        the lower ends of odd and even sizes differ.

    Examples
    --------
    >>> smallest_size((1, 0, 1, 0, 3)), smallest_size((1, 0, 1, 0, 3, 0, 15))
    (7, 22)
    """
    k = len(goal) - 1
    if k < 3:
        return 2
    low = smallest_size(goal[:-1])
    if low is None:
        return None
    low, high = max(low, k) - 1, max(low, k)
    while not _has_room(high, goal):
        if high >= _LARGEST:
            return None
        low, high = high, min(2 * high, _LARGEST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _has_room(middle, goal) else (middle, high)
    below = [n for n in (high - 1, high - 2) if n >= k and _has_room(n, goal)]
    return min([high, *below])


def _has_room(n_samples: int, goal: tuple[float, ...]) -> bool:
    found = reach_of_any(n_samples, goal[:-1])
    return found is not None and found.order == len(goal) - 1 and found.side(goal[-1]) == 0


def _reached(shares: Shares, goal: FloatArray, moved: FloatArray) -> Reach:
    at, k = first_corner(shares), len(goal)
    for level in range(3, k):
        at, is_there = climbed(shares, at, moved[:level], float(moved[level]))
        if is_there:
            continue
        found, target = _ends(shares, at, goal[:level], moved[:level]), float(goal[level])
        if shares.groups < level and found.is_end(target):
            return _of_one(shares, _moved_back(shares, at, goal[:level]), goal)
        if found.side(target) == 0:
            raise Lost
        return found
    return _ends(shares, at, goal, moved)


def _ends(shares: Shares, at: Corner, goal: FloatArray, moved: FloatArray) -> Reach:
    """Both summits of a level."""
    summits = (climbed(shares, at, moved, end)[0] for end in (-np.inf, np.inf))
    return Reach(len(goal), *(_moved_back(shares, summit, goal).moment(shares, len(goal)) for summit in summits))


def _moved_back(shares: Shares, at: Corner, goal: FloatArray) -> Corner:
    """The same blocks, with the targets themselves."""
    values = solved(shares.of_blocks(at.ends), at.values, goal)
    if values is None:
        raise Lost
    return Corner(at.ends, values)


def _of_one(shares: Shares, only: Corner, goal: FloatArray) -> Reach:
    """The moments of the only sample: the first that is not as it should be, or the last."""
    found = Reach(2, 1.0, 1.0)
    for order in range(len(only.values) + 1, len(goal) + 1):
        value = only.moment(shares, order)
        found = Reach(order, value, value)
        if order < len(goal) and not found.is_end(float(goal[order])):
            break
    return found


@lru_cache(maxsize=1024)
def kurtosis_of_counts(counts: bytes) -> tuple[float, float]:
    """Return both ends of the kurtosis, whatever the skewness: of all merged samples that can be extreme."""
    shares = np.frombuffer(counts, dtype=np.float64)
    shares = shares / shares.sum()
    below, above = np.cumsum(shares)[:-1], np.cumsum(shares[::-1])[-2::-1]  # of two values
    two = 1 / (below * above) - 3
    lower = np.concatenate([below[:-1], [shares[0]]])
    middle = np.concatenate([shares[1:-1], [shares[1:-1].sum()]])
    upper = np.concatenate([above[1:], [shares[-1]]])
    z = np.array([upper - middle, lower - upper, middle - lower])  # of three values without a quadratic term
    rising = np.diff(z, axis=0)
    is_ordered = (rising > 0).all(axis=0) | (rising < 0).all(axis=0)
    weights = np.array([lower, middle, upper])[:, is_ordered]
    z = z[:, is_ordered]
    three = (weights * z**4).sum(axis=0) / (weights * z**2).sum(axis=0) ** 2
    return float(min(two.min(), three.min(initial=np.inf))), float(max(two.max(), three.max(initial=-np.inf)))
