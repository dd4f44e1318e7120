r"""Nodes that stand in for the entries of a long sample: its Gauss quadrature.

Every entry of a sample on a narrow path moves by the same smooth function of where it began, and the path knows the
sample by means of such functions only. With p_j the orthonormal polynomials of the sample (Stieltjes' recurrence)

.. math:: x p_j = b_{j+1} p_{j+1} + a_j p_j + b_j p_{j-1}, \qquad \mathrm{Mean}(f(x)) = \sum_{q<m} w_q f(x_q)

is exact for polynomials of degree below 2m, x_q the eigenvalues of the matrix of the a and b, w_q the squared first
entries of its eigenvectors. So m nodes with weights go the way of the sample, and f at all entries is the sum of
c_j p_j(x), c_j = sum_q w_q f(x_q) p_j(x_q), once the last coefficients are rounding.

It earns its place by memory: three times a sample of 2^18 entries where the path of the entries takes thirty-five.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["COUNTS", "FROM_ENTRIES", "Nodes", "series_at", "series_of", "tail"]

FROM_ENTRIES = 2**12  # below, the path of the entries costs less than the recurrence and the path of the nodes
COUNTS = (48, 96, 192, 512, 1024)  # nodes to try: two laws of three take the first, gamma(1/4) the last
_FEWEST = 16  # entries for each node
_BLOCK = 2**13  # entries worked on together
_LAST = 4  # coefficients that must be rounding, of even and odd functions
_LOST = 1e-12  # b_j relative to the range, below which a sample has hardly more distinct values than nodes


class Nodes(NamedTuple):
    """Nodes of one sample, with what leads from them to its entries."""

    places: FloatArray
    weights: FloatArray
    vectors: FloatArray  # (j, q): p_j(x_q) sqrt(w_q)
    diagonal: FloatArray  # a_0 .. a_(m-1)
    beside: FloatArray  # b_1 .. b_(m-1)

    @classmethod
    def of(cls, z: FloatArray, count: int) -> Nodes | None:
        """Gauss nodes of the entries z, (N,); None where the sample has too few distinct values for so many."""
        n, span = len(z), float(z.max() - z.min())
        if count * _FEWEST > n:
            return None
        now, before = np.ones(n), np.zeros(n)
        diagonal, beside = np.empty(count), np.empty(count)  # beside[j] is b_(j+1)
        diagonal[0] = z.mean()
        unit = unit_before = 1.0
        for j in range(count):
            square = first = 0.0
            lower = beside[j - 1] * unit_before if j else 0.0
            for i in range(0, n, _BLOCK):
                x, p, q = z[i : i + _BLOCK], now[i : i + _BLOCK], before[i : i + _BLOCK]
                q *= -lower
                q += (x - diagonal[j]) * unit * p
                heavy = q * q
                square += float(heavy.sum())
                first += float(heavy @ x)
            beside[j] = np.sqrt(square / n)
            if not beside[j] > _LOST * span:
                return None
            if j + 1 < count:
                diagonal[j + 1] = first / square
            now, before, unit_before, unit = before, now, unit, 1 / beside[j]
        matrix, place = np.zeros((count, count)), np.arange(count)
        matrix[place, place], matrix[place[1:], place[:-1]] = diagonal, beside[:-1]
        places, vectors = np.linalg.eigh(matrix)  # which looks at the lower half
        vectors *= np.where(vectors[0] < 0, -1.0, 1.0)
        return cls(places, vectors[0] ** 2, vectors, diagonal, beside[:-1])


def series_of(nodes: Nodes, values: FloatArray) -> FloatArray:
    """Coefficients (.., m) of functions with these values, (.., m), at the nodes."""
    found: FloatArray = (values * nodes.vectors[0]) @ nodes.vectors.T
    return found


def tail(coefficients: FloatArray) -> FloatArray:
    """The largest of the last coefficients beside the largest of all, (..)."""
    size = np.abs(coefficients)
    found: FloatArray = size[..., -_LAST:].max(axis=-1) / size.max(axis=-1)
    return found


def series_at(nodes: Nodes, coefficients: FloatArray, z: FloatArray, out: FloatArray) -> None:
    """Write the functions of these coefficients, (c, m), at the entries z, (N,), into `out`, (c, N)."""
    for i in range(0, len(z), _BLOCK):
        x, part = z[i : i + _BLOCK], out[:, i : i + _BLOCK]
        p, before = np.ones_like(x), np.zeros_like(x)
        part[:] = coefficients[:, :1]
        for j in range(len(nodes.beside)):
            before *= -(nodes.beside[j - 1] if j else 0.0)
            before += (x - nodes.diagonal[j]) * p
            before /= nodes.beside[j]
            p, before = before, p
            part += coefficients[:, j + 1 : j + 2] * p
