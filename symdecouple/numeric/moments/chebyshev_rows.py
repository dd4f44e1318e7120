r"""Chebyshev series along the rows of a batch, by products of matrices: sums of polynomials, and series of values.

With x in [-1, 1] the place of an entry within the range of its row, T_(8b+a) = 2 T_(8b) T_a - T_(8b-a) writes all
polynomials below m by T_0..T_7 and T_0, T_8, T_16, ...: some m/4 passes over the entries instead of 2 m, the rest is
done by BLAS. Every product is that of one row: rows never meet.

A function of the entries is known by its values at m nodes x_q = cos(pi (q + 1/2)/m); `weights` are such that the mean
over the row is the weighted sum over the nodes, exactly for polynomials below m (`moment_path.nodes`, where the same is
done in compiled loops).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["EIGHT", "Chart", "add_up", "product_sums", "sums_of", "waves"]

EIGHT = 8  # numbers of nodes are multiples of it
_TAIL = 4  # coefficients looked at, odd and even ones
_TILE = 2**13  # entries whose polynomials are kept at a time,
_TILED = 64  # up to that many of them; fewer for more, or BLAS takes a second thread for so small a product


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows (R, n) and their stand-ins.

    Attributes
    ----------
    places : array (R, n)
        Of the entries, in [-1, 1].
    nodes, weights : arrays (R, m)
        Values at the nodes, and their shares, which add up to 1.
    """

    places: FloatArray
    nodes: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, m: int) -> Chart:
        """Place m nodes, a multiple of eight, in the range of each row."""
        bottom, top = rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)
        centre, half = (bottom + top) / 2, (top - bottom) / 2
        x = (rows - centre) / half
        sums = sums_of(product_sums(x, m) / rows.shape[1])
        places, cosines = waves(m)
        sums[:, 1:] *= 2
        return cls(x, centre + half * places, _by_row(sums, cosines / m))

    def take(self, which: Any) -> Chart:
        """Some of the rows."""
        return Chart(self.places[which], self.nodes[which], self.weights[which])

    def series(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients 0..m-1 of functions with these values (R, m) at the nodes, and the largest of the last ones."""
        m = values.shape[1]
        c = _by_row(values, waves(m)[1].T * (2 / m))
        c[:, 0] /= 2
        return c, np.abs(c[:, -_TAIL:]).max(axis=1)

    def evaluated(self, *series: FloatArray) -> list[FloatArray]:
        """The functions with coefficients (R, m) at the entries, (R, n) each."""
        return add_up(self.places, series)


def product_sums(x: FloatArray, m: int) -> FloatArray:
    """Sums over each row of T_(8b)(x) T_a(x), (R, m/8, 8)."""
    products, room = np.zeros((len(x), m // EIGHT, EIGHT)), _room(x, m)
    for tile in _tiles(x, m):
        low, high = _low_and_high(x[tile], m, room)
        products[tile[0]] += high @ low.swapaxes(1, 2)
    return products


def sums_of(products: FloatArray) -> FloatArray:
    """Sums of T_0..T_(m-1), (R, m), from those of the products."""
    sums = np.empty((len(products), EIGHT * products.shape[1]))
    sums[:, :EIGHT] = products[:, 0]
    for b in range(1, products.shape[1]):
        i = EIGHT * b
        sums[:, i] = products[:, b, 0]
        sums[:, i + 1 : i + EIGHT] = 2 * products[:, b, 1:] - sums[:, i - 1 : i - EIGHT : -1]
    return sums


def add_up(x: FloatArray, series: Sequence[FloatArray]) -> list[FloatArray]:
    """sum_j c_j T_j(x), (R, n), for each of some coefficients (R, m)."""
    split = [_split(c) for c in series]
    out = [np.empty_like(x) for _ in series]
    m = series[0].shape[1]
    room = _room(x, m)
    for tile in _tiles(x, m):
        low, high = _low_and_high(x[tile], m, room)
        for values, c in zip(out, split, strict=True):
            values[tile] = np.einsum("rbn,rbn->rn", high, c[tile[0]] @ low)
    return out


def _tiles(x: FloatArray, m: int) -> Iterator[tuple[slice, slice]]:
    """Parts of a batch that stay near, for m polynomials; which parts of a row depends on its length alone."""
    n_rows, n = x.shape
    size = _TILE // max(1, m // _TILED)
    rows = max(1, size // n)
    for i in range(0, n_rows, rows):
        for j in range(0, n, size):
            yield slice(i, i + rows), slice(j, j + size)


def _room(x: FloatArray, m: int) -> tuple[FloatArray, FloatArray]:
    """Where the polynomials of a tile are kept: memory that is asked for once."""
    rows, part = next(_tiles(x, m), (slice(0, 0), slice(0, 0)))
    shape = x[rows, part].shape
    return np.empty((shape[0], EIGHT, shape[1])), np.empty((shape[0], m // EIGHT, shape[1]))


def _low_and_high(x: FloatArray, m: int, room: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """T_0..T_7 and T_0, T_8, .. below m."""
    low, high = (part[: len(x), :, : x.shape[1]] for part in room)
    _polynomials(x, low)
    _polynomials(2 * x * low[:, EIGHT - 1] - low[:, EIGHT - 2], high)
    return low, high


def _split(c: FloatArray) -> FloatArray:
    """Coefficients of T_(8b) T_a, (R, m/8, 8)."""
    left = c.reshape(len(c), c.shape[1] // EIGHT, EIGHT).copy()
    for b in range(left.shape[1] - 1, 0, -1):
        left[:, b - 1, 1:] -= left[:, b, :0:-1]
        left[:, b, 1:] *= 2
    return left


def _polynomials(x: FloatArray, out: FloatArray) -> None:
    """T_0, T_1, .. (R, count, n)."""
    out[:, 0] = 1
    if out.shape[1] > 1:
        out[:, 1] = x
    twice = 2 * x
    for j in range(2, out.shape[1]):
        np.multiply(twice, out[:, j - 1], out=out[:, j])
        out[:, j] -= out[:, j - 2]


def _by_row(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """rows @ matrix, each row by itself: a product of all would round by the place in the batch."""
    return np.asarray((rows[:, None] @ matrix)[:, 0])


@lru_cache(maxsize=16)
def waves(m: int) -> tuple[FloatArray, FloatArray]:
    """The nodes, and T_j at them, (j, q)."""
    angles = np.pi * (np.arange(m) + 0.5) / m
    return np.cos(angles), np.cos(np.outer(np.arange(m), angles))
