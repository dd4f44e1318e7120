"""Loops over one sample that `jit` compiles: its power means, their Hankel matrix, polynomials of its values.

The same as in `moment_path.basis`, for one row with weights, in loops that a compiler turns into vector instructions.
Sums are short: a block of values at a time, and of long samples about as many blocks as there are values in one.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.moment_path.course import NOISE

__all__ = ["BLOCK", "FAST", "add_up_polynomials", "decompose", "means_to", "polynomial", "settle_rows", "steepest"]

BLOCK = 512
_EVERYDAY = 5  # up to this k all is done in registers
LOST = 1e-5  # as in moment_basis
_SETTLED = 5e-15
FAST = ("_sums", "_sums_5", "polynomial", "steepest")  # sums in any order


def means_to(y: FloatArray, weights: FloatArray, k: int, means: FloatArray, power: FloatArray) -> None:
    """Mean(y^j), j = 0..2k-2, at least to 8; the weights add up to 1.

    `means` is of twice that length; its second half is overwritten, and so is `power`, of the length of y.
    """
    n, half, top = len(y), len(means) // 2, max(2 * k - 1, 9)
    size, part = max(BLOCK, 4 * int(np.sqrt(n))), means[half:]
    for j in range(half):
        means[j] = 0
    for begin in range(0, n, size):
        v, w = y[begin : begin + size], weights[begin : begin + size]
        if k <= _EVERYDAY:
            _sums_5(v, w, part)
        else:
            _sums(v, w, k, power, part)
        for j in range(1, top):
            means[j] += part[j]
    means[0] = 1


def _sums(v: FloatArray, weights: FloatArray, k: int, power: FloatArray, sums: FloatArray) -> None:
    """Sums of v^1..v^(2k-2): two for each further power."""
    for i in range(len(v)):
        power[i] = 1.0
    for j in range(1, k):
        odd = 0.0
        even = 0.0
        for i in range(len(v)):
            before = power[i]
            now = before * v[i]
            power[i] = now
            weighted = weights[i] * now
            odd += weighted * before
            even += weighted * now
        sums[2 * j - 1] = odd
        sums[2 * j] = even


def _sums_5(v: FloatArray, weights: FloatArray, sums: FloatArray) -> None:
    """The same up to k = 5, in registers."""
    a = b = c = d = e = f = g = h = 0.0
    for i in range(len(v)):
        x = v[i]
        x2 = x * x
        x3 = x2 * x
        x4 = x2 * x2
        w2 = weights[i] * x2
        w4 = weights[i] * x4
        a += weights[i] * x
        b += w2
        c += w2 * x
        d += w4
        e += w4 * x
        f += w4 * x2
        g += w4 * x3
        h += w4 * x4
    sums[1], sums[2], sums[3], sums[4] = a, b, c, d
    sums[5], sums[6], sums[7], sums[8] = e, f, g, h


def decompose(means: FloatArray, k: int, lower: FloatArray, norm: FloatArray) -> float:
    """L and D of the Hankel matrix, L D above the diagonal; returns the smallest D_j/h_(2j)."""
    kept = np.inf
    for j in range(k):
        inverse = 0.0
        for i in range(j, k):
            entry = means[i + j]
            for m in range(j):
                entry -= lower[i, m] * lower[m, j]
            if i == j:
                norm[j] = entry
                lower[j, j] = 1
                inverse = 1 / entry
            else:
                lower[j, i] = entry
                lower[i, j] = entry * inverse
        ratio = norm[j] / means[2 * j]
        if not ratio >= kept:  # so that NaN stays
            kept = ratio
    return kept


def add_up_polynomials(lower: FloatArray, k: int, c: FloatArray) -> None:
    """sum_j c_j p_j becomes coefficients of powers, in place."""
    for j in range(k - 1, -1, -1):
        for i in range(j + 1, k):
            c[j] -= c[i] * lower[i, j]


def polynomial(y: FloatArray, c: FloatArray, k: int, out: FloatArray) -> None:
    """sum_i c_i y^i, i < k."""
    if k <= _EVERYDAY:
        c0, c1, c2, c3 = c[0], c[1], c[2], c[3] if k > 3 else 0.0
        c4 = c[4] if k > 4 else 0.0
        for i in range(len(y)):
            out[i] = (((c4 * y[i] + c3) * y[i] + c2) * y[i] + c1) * y[i] + c0
        return
    for i in range(len(y)):
        out[i] = c[k - 1]
    for j in range(k - 2, -1, -1):
        for i in range(len(y)):
            out[i] = out[i] * y[i] + c[j]


def steepest(y: FloatArray, c: FloatArray, k: int, slope: FloatArray) -> tuple[float, float]:
    """Lowest and highest derivative of sum_i c_i y^i, i < k, over the values; all of them are left in `slope`."""
    for i in range(len(y)):
        slope[i] = (k - 1) * c[k - 1] * y[i] + (k - 2) * c[k - 2]
    for j in range(k - 3, 0, -1):
        d = j * c[j]
        for i in range(len(y)):
            slope[i] = slope[i] * y[i] + d
    low0 = low1 = high0 = high1 = slope[0]
    for i in range(0, len(y) - 1, 2):
        low0, high0 = min(low0, slope[i]), max(high0, slope[i])
        low1, high1 = min(low1, slope[i + 1]), max(high1, slope[i + 1])
    low0, high0 = min(low0, slope[-1]), max(high0, slope[-1])
    return min(low0, low1), max(high0, high1)


def settle_rows(which: IntArray, values: FloatArray, k: int, goal: FloatArray, far: float, state: FloatArray) -> None:
    """Correct rows, in place, until their moments are there to rounding, if they are not farther from them than `far`.

    Column r of `state` becomes: the largest gap over Mean|z|^j, moments k and k + 1, D_(k-1)/h_(2k-2) and D_(k-1).
    """
    n, size = values.shape[1], max(k, 5)
    long, short, lower = np.empty((2, n)), np.empty((3, 4 * size)), np.empty((size, size))
    weights, moved = long[0], long[1]
    means, norm, c = short[0], short[1], short[2]
    for i in range(n):
        weights[i] = 1 / n
    for r in which:
        z = values[r]
        residual, kept = np.inf, 0.0
        for _ in range(4):
            means_to(z, weights, k, means, moved)
            kept = decompose(means, k, lower, norm)
            residual = _newton_step(means, k, goal, lower, norm, c)
            if residual <= _SETTLED or not (kept > LOST and residual < far):
                break
            polynomial(z, c, k, moved)
            for i in range(n):
                z[i] += moved[i]
        state[0, r], state[1, r], state[2, r] = residual, means[k], means[k + 1]
        state[3, r], state[4, r] = kept, norm[k - 1]


def _newton_step(
    means: FloatArray, k: int, goal: FloatArray, lower: FloatArray, norm: FloatArray, c: FloatArray
) -> float:
    """The largest gap over Mean|z|^j, and Newton's step for those that are more than rounding, in c."""
    largest = 0.0
    for i in range(k):
        j = i + 1
        size = means[j] if j % 2 == 0 else np.sqrt(means[j - 1] * means[j + 1])
        gap = goal[j] - means[j]
        share = abs(gap) / size
        if not share <= largest:
            largest = share
        rest = 0.0 if share <= NOISE else gap / j
        for m in range(i):
            rest -= lower[i, m] * norm[m] * c[m]
        c[i] = rest / norm[i]
    add_up_polynomials(lower, k, c)
    return largest
