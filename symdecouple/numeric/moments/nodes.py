"""A long sample stood in for by some dozens of points: a quadrature that knows its Chebyshev moments.

Along a narrow path every entry moves by the same smooth function of where it began. The mean over the sample of such
a function f, with x in [-1, 1] the place within the range of the sample, is

    Mean(f(x)) = sum_q w_q f(x_q),    x_q = cos(pi (q + 1/2)/m),    w_q = (S_0 + 2 sum_j S_j T_j(x_q))/m,

S_j = Mean(T_j(x)) for j < m: exact for polynomials of degree below m, and for others as far as their Chebyshev series
has ended by then. So the path of m weighted points is that of the sample, and the series of their displacement moves
the sample. Whether m points are enough is seen afterwards: the last coefficients of that series are rounding.

Weights may be negative where the sample has no values. Loops go over blocks that stay in the first cache, eight
polynomials at a time.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.moments.path_loops import BLOCK
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["EIGHT", "FAST", "add_series", "carry_rows", "chebyshev_sums", "series_length", "tail_of"]

EIGHT = 8  # numbers of nodes are multiples of it
FAST = ("chebyshev_sums",)  # where sums may be taken in any order
_TAIL = 4  # coefficients looked at, odd and even ones
_NOTHING = 2.0**-54  # of a displacement, in standard deviations: less than a last digit


def chebyshev_sums(v: FloatArray, share: FloatArray, centre: float, half: float, sums: FloatArray) -> None:
    """sum_i share_i T_j((v_i - centre)/half) for j below the length of `sums`, two more than a multiple of eight."""
    size, inverse = min(len(v), BLOCK), 1 / half
    twice, before, now = np.empty(size), np.empty(size), np.empty(size)
    for j in range(len(sums)):
        sums[j] = 0.0
    for begin in range(0, len(v), BLOCK):
        part, weights = v[begin : begin + BLOCK], share[begin : begin + BLOCK]
        n = len(part)
        s0 = s1 = 0.0
        for i in range(n):
            weight = weights[i]
            x = (part[i] - centre) * inverse
            twice[i] = 2 * x
            before[i] = weight
            now[i] = weight * x
            s0 += weight
            s1 += weight * x
        sums[0] += s0
        sums[1] += s1
        for j in range(2, len(sums), EIGHT):  # the next eight of T_(j+1) = 2 x T_j - T_(j-1)
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
            for i in range(n):
                x, a, b = twice[i], before[i], now[i]
                a = x * b - a
                b = x * a - b
                s0 += a
                s1 += b
                a = x * b - a
                b = x * a - b
                s2 += a
                s3 += b
                a = x * b - a
                b = x * a - b
                s4 += a
                s5 += b
                a = x * b - a
                b = x * a - b
                s6 += a
                s7 += b
                before[i], now[i] = a, b
            sums[j] += s0
            sums[j + 1] += s1
            sums[j + 2] += s2
            sums[j + 3] += s3
            sums[j + 4] += s4
            sums[j + 5] += s5
            sums[j + 6] += s6
            sums[j + 7] += s7


def add_series(v: FloatArray, centre: float, half: float, c: FloatArray, length: int, out: FloatArray) -> None:
    """Add sum_j c_j T_j((v - centre)/half), j < length, by Clenshaw; `out` may be v, `c` ends in eight zeros."""
    size, inverse = min(len(v), BLOCK), 1 / half
    twice, after, now = np.empty(size), np.empty(size), np.empty(size)
    top = 1 + EIGHT * (-(-(length - 1) // EIGHT))
    for begin in range(0, len(v), BLOCK):
        part, place = v[begin : begin + BLOCK], out[begin : begin + BLOCK]
        n = len(part)
        for i in range(n):
            twice[i] = 2 * ((part[i] - centre) * inverse)
            after[i] = 0.0
            now[i] = 0.0
        for j in range(top - EIGHT, 0, -EIGHT):  # the next eight of b_j = c_j + 2 x b_(j+1) - b_(j+2)
            c0, c1, c2, c3 = c[j], c[j + 1], c[j + 2], c[j + 3]
            c4, c5, c6, c7 = c[j + 4], c[j + 5], c[j + 6], c[j + 7]
            for i in range(n):
                x, a, b = twice[i], after[i], now[i]
                a = x * b - a + c7
                b = x * a - b + c6
                a = x * b - a + c5
                b = x * a - b + c4
                a = x * b - a + c3
                b = x * a - b + c2
                a = x * b - a + c1
                b = x * a - b + c0
                after[i], now[i] = a, b
        for i in range(n):
            place[i] += 0.5 * twice[i] * now[i] - after[i] + c[0]


def carry_rows(
    which: IntArray, source: FloatArray, at: IntArray, span: FloatArray, share: FloatArray, target: FloatArray,
    to: IntArray, onto: FloatArray, out: FloatArray, m: int, limit: float, tail: FloatArray,
) -> None:
    """The series of m terms that `share` is over one set of places, summed at another and added to `out`, row by row.

    From a sample with its weights to nodes: the weights of these. From nodes with their displacements to the sample:
    the displacement of that. For each i named, row at[i] of the source lies between -1 and 1 in units of span[1, i]
    about span[0, i], and row to[i] of the target, and of `out`, in those of `onto`; a source, share or target of one
    row is that of all. The largest of the last coefficients is left in `tail`; beyond the limit, nothing is added.
    """
    c = np.empty(m + 2 + EIGHT)
    for i in which:
        v, weights = source[at[i] if len(source) > 1 else 0], share[i if len(share) > 1 else 0]
        chebyshev_sums(v, weights, span[0, i], span[1, i], c)
        for j in range(len(c)):
            c[j] *= 0.0 if j >= m else (1 if j == 0 else 2) / m
        tail[i] = tail_of(c, m)
        if tail[i] <= limit:
            place = target[to[i] if len(target) > 1 else 0]
            add_series(place, onto[0, i], onto[1, i], c, series_length(c, m), out[to[i]])


def tail_of(c: FloatArray, m: int) -> float:
    """The largest of the last coefficients of a series of m."""
    tail = 0.0
    for j in range(m - _TAIL, m):
        size = abs(c[j])
        if not size <= tail:
            tail = size
    return tail


def series_length(c: FloatArray, m: int) -> int:
    """Up to where coefficients matter."""
    length = m
    while length > 2 and abs(c[length - 1]) <= _NOTHING:
        length -= 1
    return length
