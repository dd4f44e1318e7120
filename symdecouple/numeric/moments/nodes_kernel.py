"""Nodes that stand in for the entries of a long sample, in loops that numba compiles.

Every entry of a sample on a narrow path moves by the same smooth function of where it began. With x in [-1, 1] the
place within the range of the sample,

    Mean(f(x)) = sum_q w_q f(x_q),    x_q = cos(pi (q + 1/2)/m),    w_q = (S_0 + 2 sum_j S_j T_j(x_q))/m,

S_j = Mean(T_j(x)) for j < m, exact for polynomials of degree below m. So m nodes with weights go the way of the sample,
and the series of their displacement moves it, once its last coefficients are rounding. Moments to order 6 take a half
of the time of the entries at 4096 of them, a third to a sixth at 20000. Weights may be negative where there are no
entries.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.moments.hankel_kernel import BLOCK
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["FAST", "MOST_NODES", "RESOLVED", "add_series", "more_nodes", "place_nodes", "series_of"]

MOST_NODES = 512  # beyond, sums of polynomials cost more than the path of 1500 entries
RESOLVED = 1e-13  # what last coefficients may be, in standard deviations: a tenth of it goes into a value
_TAIL = 4  # of them are looked at, odd and even ones
_SLACK = 1.15  # nodes beyond what the rate at which coefficients fell asks for
FAST = ("_chebyshev_sums",)  # sums in any order


def place_nodes(
    z: FloatArray, w: FloatArray, centre: float, half: float, x: FloatArray, c: FloatArray, shares: FloatArray
) -> None:
    """Write nodes in [-1, 1] and their weights; `c` has room for ten coefficients more than there are nodes."""
    m = len(x)
    for j in range(m):
        x[j] = np.cos(np.pi * (j + 0.5) / m)
        shares[j] = 0.0
    series_of(z, w, centre, half, m, c)
    add_series(x, 0.0, 1.0, c, m, shares)


def series_of(v: FloatArray, share: FloatArray, centre: float, half: float, m: int, c: FloatArray) -> float:
    """Coefficients (2 - [j = 0])/m sum_i share_i T_j((v_i - centre)/half), j < m, then zeros; the largest of the last.

    Of values at nodes they are those of the function, of weights of entries those of the weights of nodes.
    """
    _chebyshev_sums(v, share, centre, half, c[: m + 2])
    tail = 0.0
    for j in range(len(c)):
        c[j] = 0.0 if j >= m else c[j] * (2.0 if j else 1.0) / m
        if m - _TAIL <= j < m and not abs(c[j]) <= tail:  # so that NaN stays
            tail = abs(c[j])
    return tail


def more_nodes(m: int, tail: float) -> int:
    """How many to try next, by the rate at which coefficients fell; twice as many where nothing can be said."""
    wanted = 2.0 * m
    if tail < 1:
        wanted = min(_SLACK * m * np.log(RESOLVED) / np.log(tail), 2.0 * MOST_NODES)
    return max(m + 8, 8 * int(np.ceil(wanted / 8)))


def add_series(v: FloatArray, centre: float, half: float, c: FloatArray, m: int, out: FloatArray) -> None:
    """Add sum_j c_j T_j((v - centre)/half), j < m, by Clenshaw; `out` may be v, `c` goes on with four zeros."""
    size, inverse = min(len(v), BLOCK), 1 / half
    twice, after, now = np.empty(size), np.empty(size), np.empty(size)
    for begin in range(0, len(v), BLOCK):
        part, place = v[begin : begin + BLOCK], out[begin : begin + BLOCK]
        n = len(part)
        for i in range(n):
            twice[i], after[i], now[i] = 2 * ((part[i] - centre) * inverse), 0.0, 0.0
        for j in range(4 * (-(-(m - 1) // 4)) - 3, 0, -4):  # the next four of b_j = c_j + 2 x b_(j+1) - b_(j+2)
            c0, c1, c2, c3 = c[j], c[j + 1], c[j + 2], c[j + 3]
            for i in range(n):
                x, a, b = twice[i], after[i], now[i]
                a = x * b - a + c3
                b = x * a - b + c2
                a = x * b - a + c1
                b = x * a - b + c0
                after[i], now[i] = a, b
        for i in range(n):
            place[i] += 0.5 * twice[i] * now[i] - after[i] + c[0]


def _chebyshev_sums(v: FloatArray, share: FloatArray, centre: float, half: float, sums: FloatArray) -> None:
    """sum_i share_i T_j((v_i - centre)/half) for j below the length of `sums`, two more than a multiple of four.

    T_(j+1) - T_j = T_j - T_(j-1) + 2 (u - 1) T_j rounds little near u = 1, which is where most of the weight is: the
    rounding of it must not reach nodes far away, where there is hardly any, and powers are large.
    """
    size, inverse, first = min(len(v), BLOCK), 1 / half, 0.0
    slope, change, now = np.empty(size), np.empty(size), np.empty(size)
    for i in range(len(v)):
        first += share[i] * (v[i] - centre)
    turned = -inverse if first < 0 else inverse
    for j in range(len(sums)):
        sums[j] = 0.0
    for begin in range(0, len(v), BLOCK):
        part, weights = v[begin : begin + BLOCK], share[begin : begin + BLOCK]
        n = len(part)
        s0 = s1 = 0.0
        for i in range(n):
            x = (part[i] - centre) * turned - 1
            slope[i], change[i], now[i] = 2 * x, weights[i] * x, weights[i] * x + weights[i]
            s0 += weights[i]
            s1 += now[i]
        sums[0] += s0
        sums[1] += s1
        for j in range(2, len(sums), 4):  # the next four
            s0 = s1 = s2 = s3 = 0.0
            for i in range(n):
                x, a, b = slope[i], change[i], now[i]
                a += x * b
                b += a
                s0 += b
                a += x * b
                b += a
                s1 += b
                a += x * b
                b += a
                s2 += b
                a += x * b
                b += a
                s3 += b
                change[i], now[i] = a, b
            sums[j] += s0
            sums[j + 1] += s1
            sums[j + 2] += s2
            sums[j + 3] += s3
    if first < 0:
        for j in range(1, len(sums), 2):
            sums[j] = -sums[j]
