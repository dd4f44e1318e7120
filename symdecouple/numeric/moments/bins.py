r"""A long vector as a few hundred numbers with weights that have its moments, bin by bin.

With the ends of the vector and a number c in its middle known from a first pass, entries go to bins by their distance
from the nearest of low, c and high: four bins to each power of two, so that a bin is at most a quarter as wide as it is
far away. Of each bin, sums of Chebyshev polynomials up to degree 11 in the place within the bin are added up, chunk by
chunk, and at the end its Gauss quadrature

.. math:: \sum_{i \in \mathrm{bin}} f(x_i) = \sum_{q \le 6} w_q f(x_q), \qquad w_q > 0,

exact for polynomials of degree 11, stands for its entries. A function with a pole outside of [low, high], as those of
the skew flow have it (Theorem C), has it at least nine half widths from the middle of each bin: what is left is below
(9 + sqrt(80))^-12 = 1e-15 of its size there. Narrow paths move entries by smooth functions, too. Entries at low and at
high are counted, not approximated: ties there decide what exists.

Sums of different chunks add up, in any order; a measure is as large for 10^9 entries as for 10^5.

It earns its place by speed and by memory: a sample of 2*10^6 exponential values moves seventy times faster than entry
by entry, with no copy of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.numeric.moments.hankel import Weights, stieltjes, taken
from symdecouple.numeric.moments.power_sums import PowerSums
from symdecouple.numeric.moments.skewness_root import find_roots
from symdecouple.numeric.samples.batch import FloatArray, IntArray, SampleMatrix
from symdecouple.numeric.samples.matrix import BoolArray

__all__ = [
    "BLOCK", "NODES", "SIDE", "BinFrame", "Bins", "chebyshev_points", "exponent_of", "filled", "gauss_nodes",
    "placed",
]

NODES = 6  # of a bin: Gauss's rule has the sums to order 11 of all its values
_FINE = 2  # bits of a mantissa: four bins an octave
_SHIFT = 52 - _FINE
_OCTAVES = 64  # below 2**-64 of the range, bins are no smaller
SIDE = _OCTAVES << _FINE  # bins near one point, on one side of it
_LEAST = 2.0**-40  # of the range: within it of the middle, bins are no smaller
_NEAR_END = 2.0**-3  # of the way to the nearer end, the same
_FINEST = 2.0**-_OCTAVES  # of the range: what is nearer to an end is in one bin
_HALVES = 1 + 2.0**-40  # kurtosis of two equal halves, wherever between them the pole is
_CLEAR = 2.0**-61  # of the range: nine half widths of this bin
BLOCK = 2**14  # entries that are worked on together
_NOISE = 2.0**-44  # of the weight: norms of polynomials that are rounding
_AWAY = 1.5  # where nodes may be: of entries near one edge of a bin, rounding puts some a little beyond it
_LIGHT = 1e-25  # of the weight of a bin: a node that is none
_TOP = (1023 << 52) >> _SHIFT  # of 1.0
_LOOK = 2**10  # numbers of a row whose median is its middle


@dataclass(frozen=True, slots=True)
class BinFrame:
    """What a first pass knows of a vector, in the unit 2^exponent: where its ends and its middle are.

    Attributes
    ----------
    low, middle, high : Fraction
    exponent : int
    floor : int
        The least bin about the middle.
    counts : tuple of int, or of weights
        At the low end, at the high end, of all.
    is_falling : bool
        The skewness is negative: the long side is the left one.
    """

    low: Fraction
    middle: Fraction
    high: Fraction
    exponent: int
    floor: int
    counts: tuple[float, float, float]
    is_falling: bool

    @classmethod
    def about(
        cls, low: Any, middle: Any, high: Any, counts: tuple[float, float, float], is_falling: bool
    ) -> BinFrame:
        """The frame of a vector with these ends, which differ, and this number in its middle."""
        low, middle, high = Fraction(low), Fraction(middle), Fraction(high)
        exponent = exponent_of(high - low)
        gap = float(min(middle - low, high - middle) / Fraction(2) ** exponent)
        floor = min(_LEAST, gap * _NEAR_END)
        return cls(low, middle, high, exponent, int(_bin(np.array([floor]))[0]), counts, is_falling)

    @property
    def is_two_valued(self) -> bool:
        """No entry lies between the ends."""
        return self.counts[0] + self.counts[1] == self.counts[2]

    def scaled(self, number: Fraction) -> float:
        """A difference in the unit of the frame."""
        return float(number / Fraction(2) ** self.exponent)

    def edges(self) -> tuple[FloatArray, FloatArray]:
        """Where each bin begins, as a distance, and how wide it is; the last one is for entries at the ends."""
        places = (np.arange(SIDE + 1, dtype=np.int64) + (_TOP - SIDE)) << _SHIFT
        grid = places.view(np.float64)
        begin, width = np.tile(grid[:-1], 4), np.tile(np.diff(grid), 4)
        for side in range(4):
            first = side * SIDE + (self.floor if side in (1, 2) else 0)
            width[first] += begin[first]
            begin[first] = 0.0
        return np.append(begin, 0.0), np.append(width, 1.0)

    def ends(self) -> FloatArray:
        """The end where the short side is, and the other one, as `numbers`."""
        span = self.scaled(self.high - self.low)
        return np.array([0.0, -span if self.is_falling else span])

    def numbers(self, used: IntArray, places: FloatArray) -> FloatArray:
        """Places within bins, (B, n), from the low end on, or downwards from the high end."""
        begin, width = (each[used, None] for each in self.edges())
        distance, side = np.maximum(begin + (places + 1) / 2 * width, 0.0), (used // SIDE)[:, None]
        span = self.scaled(self.high - self.low)
        if self.is_falling:
            side, middle, sign = 3 - side, self.scaled(self.high - self.middle), -1
        else:
            middle, sign = self.scaled(self.middle - self.low), 1
        found: FloatArray = sign * np.choose(side, [distance, middle - distance, middle + distance, span - distance])
        return found


class Bins:
    """The entries of a vector in bins; made with a frame, filled part by part, and merged with others of this frame.

    Examples
    --------
    >>> x = np.arange(1.0, 1001) ** 1.5
    >>> bins = Bins(BinFrame.about(x[0], x[500], x[-1], (1, 1, 1000), False))
    >>> bins.add(x[:600])
    >>> bins.add(x[600:])
    >>> matrix = bins.matrix()
    >>> centre = np.average(matrix.values, weights=matrix.weights)
    >>> second, fourth = (np.average((matrix.values - centre) ** k, weights=matrix.weights) for k in (2, 4))
    >>> z = (x - x.mean()) / x.std()
    >>> bool(abs(fourth / second**2 - np.mean(z**4)) < 1e-13)
    True
    """

    __slots__ = ("_sums", "frame")

    def __init__(self, frame: BinFrame) -> None:
        self.frame = frame
        self._sums = PowerSums.empty(2 * NODES - 1, 4 * SIDE + 1)

    def add(self, values: NDArray[Any], base: Fraction | int = 0, at_ends: tuple[int, int] | None = None,
            weights: Weights = None) -> None:
        """Take in the numbers base + values, which lie between the ends, or their weights; `at_ends` says how many of
        them are there, where rounding of the values put more."""
        begin, width = self.frame.edges()
        for i in range(0, len(values), BLOCK):
            part, heavy = values[i : i + BLOCK].astype(np.float64), taken(weights, slice(i, i + BLOCK))
            self._sums.merge(_sums_in_bins(self.frame, part, base, begin, 2 / width, heavy))
        ends = (self.frame.low, 0), (self.frame.high, 3 * SIDE)
        for (end, nearest), count in zip(ends, at_ends or (), strict=False):
            is_end = np.ldexp(values, -self.frame.exponent) == self.frame.scaled(end - base)
            others = np.count_nonzero(is_end) - count
            self._sums.sums[:, nearest] += others * (-1.0) ** np.arange(2 * NODES)
            self._sums.sums[0, -1] -= others

    def merge(self, other: Bins) -> None:
        """Take in what other bins have seen."""
        if other.frame != self.frame:
            raise InvalidInput("bins of two frames cannot be merged: a vector has one")
        self._sums.merge(other._sums)

    def matrix(self) -> SampleMatrix:
        """The vector as one row with weights, in some unit: from its low end, or downwards from its high end."""
        frame = self.frame
        sums = self._sums.sums + self._sums.rest
        seen = round(float(sums[0].sum()))
        if abs(seen - frame.counts[2]) >= 1 or abs(round(float(sums[0, -1])) - sum(frame.counts[:2])) >= 1:
            raise InvalidInput(f"the first pass saw {frame.counts[2]} numbers and the second {seen}, or others: the "
                               "chunks must be the same each time")
        used = np.flatnonzero(sums[0, :-1])
        places, weights = gauss_nodes(sums[:, used])
        kept = weights > 0
        values = np.concatenate([frame.ends(), frame.numbers(used, places)[kept]])
        ends = frame.counts[1::-1] if frame.is_falling else frame.counts[:2]
        shares = np.concatenate([ends, weights[kept]])
        is_end = np.zeros((2, 1, len(values)), dtype=np.bool_)
        is_end[0, 0, 0] = is_end[1, 0, 1] = True
        if frame.is_falling:
            is_end = is_end[::-1]
        return SampleMatrix.weighted(values[None], shares[None], (is_end[0], is_end[1]))

    def resolves(self, target: float) -> bool:
        """False where the pole of the flow to a skewness is as near to an end as entries that share a bin with it."""
        frame = self.frame
        held = (self._sums.sums[0] + self._sums.rest[0])[:-1].reshape(4, SIDE)
        gaps = (frame.scaled(abs(frame.middle - end)) * _NEAR_END for end in (frame.low, frame.high))
        hidden = [bool(held[[side, 1, 2] if gap < _FINEST else [side], 0].any())
                  for side, gap in zip((0, 3), gaps, strict=True)]
        if not any(hidden):
            return True
        roots = find_roots(self.matrix(), np.zeros(1, dtype=np.intp), np.array([target]))
        kurtosis, side = float(roots.kurtosis[0]), int(roots.turned[0])
        is_clear = not hidden[side] or float(np.ldexp(roots.pole[0], -roots.lift[0])) >= _CLEAR
        return kurtosis <= _HALVES or (is_clear and not np.isnan(kurtosis))

    def used(self) -> IntArray:
        """The bins that are not empty."""
        return np.flatnonzero(self._sums.sums[0, :-1])


def filled(row: NDArray[Any], low: float, high: float, weights: Weights = None, *, is_falling: bool) -> Bins:
    """The bins of a long row, whose entries may have weights."""
    step = max(1, len(row) // _LOOK)
    some = row[: step * _LOOK : step]
    heavy = np.broadcast_to(1, row.shape) if weights is None else weights
    counts = heavy[row == low].sum(), heavy[row == high].sum(), heavy.sum()
    middle = float(np.partition(some, len(some) // 2)[len(some) // 2])
    bins = Bins(BinFrame.about(low, middle, high, counts, is_falling))
    bins.add(row, weights=weights)
    return bins


def exponent_of(span: Fraction) -> int:
    """e with span < 2^e; 0 for none."""
    return span.numerator.bit_length() - span.denominator.bit_length() + 1 if span else 0


def gauss_nodes(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gauss nodes, in [-1, 1] but for rounding, and their weights, (B, n), from sums of T_0..T_(2n-1), (2n, B).

    A weight of 0 is no node.

    The recurrence of Stieltjes runs on the 2n Chebyshev points, whose interpolatory weights may be negative; a bin with
    fewer distinct places than n has fewer nodes.
    """
    count = len(sums) // 2
    points = chebyshev_points(2 * count)
    table = np.polynomial.chebyshev.chebvander(points, 2 * count - 1)
    table[:, 1:] *= 2
    total = sums[0]
    shares = (sums / total).T @ table.T / (2 * count)
    basis = stieltjes(np.tile(points, (len(shares), 1)), count + 1, shares)[0]
    is_left = np.logical_and.accumulate(basis.norm[:-1] > _NOISE)
    matrix, j = np.zeros((len(shares), count, count)), np.arange(count)
    matrix[:, j, j] = np.where(is_left, np.clip(basis.centre, -_AWAY, _AWAY), 0.0).T
    matrix[:, j[1:], j[:-1]] = np.sqrt(np.where(is_left, basis.ratio, 0.0))[1:].T  # the lower half is looked at
    places, vectors = np.linalg.eigh(matrix)
    weights = vectors[:, 0] ** 2
    weights[weights < _LIGHT] = 0.0
    weights *= (total / weights.sum(axis=1))[:, None]
    return np.clip(places, -_AWAY, _AWAY), weights


def _bin(distance: FloatArray) -> IntArray:
    """The place of distances below 1 on a side."""
    bits: IntArray = (distance.view(np.int64) >> _SHIFT) - (_TOP - SIDE)
    return np.maximum(bits, 0)


def chebyshev_points(count: int) -> FloatArray:
    """Where a polynomial of degree count - 1 is known by its values, in [-1, 1]."""
    points: FloatArray = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    return points


def placed(
    frame: BinFrame, values: FloatArray, base: Fraction | int, begin: FloatArray, slope: FloatArray
) -> tuple[IntArray, FloatArray, BoolArray]:
    """The bin of each number, its place there, and whether it is right of the middle."""
    low, middle, high = (frame.scaled(point - base) for point in (frame.low, frame.middle, frame.high))
    x = np.ldexp(values, -frame.exponent)
    from_middle = x - middle
    is_right = from_middle >= 0
    np.abs(from_middle, out=from_middle)
    below, from_end = x - low, high - x
    is_end = np.minimum(below, from_end) <= 0
    from_end *= is_right  # a choice by products: branches that nobody can foresee take ten times as long
    below *= ~is_right
    from_end += below
    is_near = from_end <= from_middle
    distance = np.minimum(from_end, from_middle)
    place = _bin(distance)
    np.maximum(place, np.multiply(~is_near, frame.floor, dtype=np.int64), out=place)
    place += np.multiply(is_right, 2 * SIDE, dtype=np.int64)
    place += np.multiply(is_near == is_right, SIDE, dtype=np.int64)
    place[is_end] = 4 * SIDE
    return place, (distance - begin[place]) * slope[place] - 1, is_right


def _sums_in_bins(
    frame: BinFrame, values: FloatArray, base: Fraction | int, begin: FloatArray, slope: FloatArray, weights: Weights
) -> PowerSums:
    """Sums of Chebyshev polynomials of one block, (2n, bins)."""
    place, t, _ = placed(frame, values, base, begin, slope)
    sums = np.empty((2 * NODES, len(begin)))
    before, now = (np.ones_like(t), t) if weights is None else (weights, weights * t)
    sums[0] = np.bincount(place, weights, len(begin))
    for k in range(1, len(sums)):
        sums[k] = np.bincount(place, now, minlength=len(begin))
        before, now = now, 2 * t * now - before
    return PowerSums(sums, np.zeros_like(sums))
