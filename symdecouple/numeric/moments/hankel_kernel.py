"""The Hankel matrix and the orthogonal polynomials of one sample in loops that numba compiles; see `hankel`.

The entries have weights that add up to 1. Functions write into what they are given: `means` h_0, h_1, .., coefficients
`c` of powers. They are plain Python, far too slow to use as such.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray

__all__ = [
    "BLOCK", "FAST", "LOST", "as_powers", "decompose", "gap_of", "largest_gap", "means_to", "polynomial",
]

LOST = 1e-5  # D_j/h_(2j) below which the Hankel matrix leaves fewer than eleven digits, as in `hankel`
BLOCK = 512  # entries of a loop: sums round less, and what it touches stays in the first cache
FAST = ("means_to", "polynomial")  # sums in any order


def means_to(y: FloatArray, w: FloatArray, low: int, top: int, power: FloatArray, means: FloatArray) -> None:
    """Mean(y^j) from 2 low - 1 to the even `top`, the next four in one loop, and 1 for j = 0.

    The weights add up to 1.
    """
    means[0] = 1.0
    for j in range(2 * low - 1, top + 1):
        means[j] = 0.0
    for b in range(-(-len(y) // BLOCK)):
        v, share = y[b * BLOCK : (b + 1) * BLOCK], w[b * BLOCK : (b + 1) * BLOCK]
        for i in range(len(v)):
            square = v[i] * v[i]
            power[i] = share[i] * (square * square if low > 2 else square if low > 1 else 1.0)
        for _ in range(low - 3):
            for i in range(len(v)):
                power[i] *= v[i] * v[i]
        for j in range(2 * low - 1, top, 4):
            m1 = m2 = m3 = m4 = 0.0
            for i in range(len(v)):
                first = power[i] * v[i]
                second = first * v[i]
                third = second * v[i]
                power[i] = third * v[i]
                m1 += first
                m2 += second
                m3 += third
                m4 += power[i]
            means[j] += m1
            means[j + 1] += m2
            if j + 2 < top:
                means[j + 2] += m3
                means[j + 3] += m4


def decompose(means: FloatArray, k: int, lower: FloatArray, norm: FloatArray) -> bool:
    """L and D of the Hankel matrix, L D above the diagonal; False where a D_j/h_(2j) is at most LOST."""
    is_sound = True
    for j in range(k):
        inverse = 0.0
        for i in range(j, k):
            entry = means[i + j]
            for m in range(j):
                entry -= lower[i, m] * lower[m, j]
            if i == j:
                norm[j], lower[j, j], inverse = entry, 1.0, 1 / entry
                is_sound &= entry > LOST * means[2 * j]
            else:
                lower[j, i] = entry
                lower[i, j] = entry * inverse
    return bool(is_sound)


def as_powers(lower: FloatArray, k: int, c: FloatArray) -> None:
    """sum_j c_j p_j becomes coefficients of powers, in place."""
    for i in range(k - 1, 0, -1):
        top = c[i]
        for j in range(i):
            c[j] -= top * lower[i, j]


def polynomial(y: FloatArray, c: FloatArray, k: int, lines: FloatArray, row: int) -> None:
    """Write sum_i c_i y^i, i < k, to a row of a table, for k from 2: four more coefficients in each loop."""
    b = 4 * ((k - 2) // 4)
    c0, c1 = c[b], c[b + 1]
    c2, c3, c4 = c[b + 2] if k > b + 2 else 0.0, c[b + 3] if k > b + 3 else 0.0, c[b + 4] if k > b + 4 else 0.0
    for i in range(len(y)):
        lines[row, i] = (((c4 * y[i] + c3) * y[i] + c2) * y[i] + c1) * y[i] + c0
    for j in range(b - 4, -1, -4):
        c0, c1, c2, c3 = c[j], c[j + 1], c[j + 2], c[j + 3]
        for i in range(len(y)):
            lines[row, i] = (((lines[row, i] * y[i] + c3) * y[i] + c2) * y[i] + c1) * y[i] + c0


def largest_gap(means: FloatArray, k: int, goal: FloatArray) -> float:
    """The largest of moments 1..k."""
    largest = 0.0
    for j in range(1, k + 1):
        share = gap_of(means, j, goal)
        if not share <= largest:  # so that NaN stays
            largest = share
    return largest


def gap_of(means: FloatArray, j: int, goal: FloatArray) -> float:
    """The gap of moment j over Mean|z|^j."""
    size = means[j] if j % 2 == 0 else np.sqrt(means[j - 1] * means[j + 1])
    return float(abs(goal[j] - means[j]) / size)
