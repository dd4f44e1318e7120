"""Loops over one sample that `jit` compiles: its power means, their Hankel matrix, polynomials of its values.

The same as in `moment_basis`, for a single row with weights, in loops that a compiler turns into vector instructions.
Sums are short: a block of values that stays in the first cache, sixteen of them, then the rest.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.batch import FloatArray

__all__ = ["BLOCK", "FAST", "add_up_polynomials", "decompose", "means_to", "polynomial", "steepest"]

BLOCK = 512
_BLOCKS = 16
_EVERYDAY = 5  # up to this k all is done in registers

FAST = ("_add_sums", "_add_sums_5", "polynomial", "_any_polynomial", "steepest")  # sums in any order


def means_to(y: FloatArray, weights: FloatArray, k: int, means: FloatArray) -> None:
    """Mean(y^j), j = 0..2k-2, at least to 8; the weights add up to 1. The second half of `means` is overwritten."""
    n, half = len(y), len(means) // 2
    for j in range(half):
        means[j] = 0
    for first in range(0, n, _BLOCKS * BLOCK):
        part = means[half:]
        for j in range(half):
            part[j] = 0
        for begin in range(first, min(n, first + _BLOCKS * BLOCK), BLOCK):
            v, w = y[begin : begin + BLOCK], weights[begin : begin + BLOCK]
            if k <= _EVERYDAY:
                _add_sums_5(v, w, part)
            else:
                _add_sums(v, w, k, part)
        for j in range(half):
            means[j] += part[j]
    means[0] = 1


def _add_sums(v: FloatArray, weights: FloatArray, k: int, sums: FloatArray) -> None:
    """Add the sums of v^1..v^(2k-2): two for each further power."""
    power = np.empty(len(v))
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
        sums[2 * j - 1] += odd
        sums[2 * j] += even


def _add_sums_5(v: FloatArray, weights: FloatArray, sums: FloatArray) -> None:
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
    sums[1] += a
    sums[2] += b
    sums[3] += c
    sums[4] += d
    sums[5] += e
    sums[6] += f
    sums[7] += g
    sums[8] += h


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


def polynomial(y: FloatArray, c: FloatArray, k: int, kept: float, out: FloatArray) -> None:
    """kept y + sum_i c_i y^i, i < k; `out` may be y itself."""
    if k <= _EVERYDAY:
        c0, c1, c2 = c[0], c[1] + kept, c[2]
        c3 = c[3] if k > 3 else 0.0
        c4 = c[4] if k > 4 else 0.0
        for i in range(len(y)):
            out[i] = (((c4 * y[i] + c3) * y[i] + c2) * y[i] + c1) * y[i] + c0
    else:
        _any_polynomial(y, c, k, kept, out)


def _any_polynomial(y: FloatArray, c: FloatArray, k: int, kept: float, out: FloatArray) -> None:
    power = np.empty(min(len(y), BLOCK))
    for begin in range(0, len(y), BLOCK):
        v, o = y[begin : begin + BLOCK], out[begin : begin + BLOCK]
        m = len(v)
        for i in range(m):
            power[i] = c[k - 1]
        for j in range(k - 2, 0, -1):
            d = c[1] + kept if j == 1 else c[j]
            for i in range(m):
                power[i] = power[i] * v[i] + d
        for i in range(m):
            o[i] = power[i] * v[i] + c[0]


def steepest(y: FloatArray, c: FloatArray, k: int, power: FloatArray) -> float:
    """Largest derivative of sum_i c_i y^i, i < k, over the values, at least 0; `power` is overwritten."""
    n, largest = len(y), 0.0
    for i in range(n):
        power[i] = (k - 1) * c[k - 1]
    for j in range(k - 2, 0, -1):
        d = j * c[j]
        for i in range(n):
            power[i] = power[i] * y[i] + d
    for i in range(n):
        largest = max(largest, power[i])
    return largest
