"""Loops over one sample that `jit` compiles: its power means, their Hankel matrix, polynomials of its values.

The same as in `moment_basis`, for a single row, in loops that a compiler turns into vector instructions. Sums are
short: a block of values that stays in the first cache, sixteen of them, then the rest.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.batch import FloatArray

__all__ = ["FAST", "add_up_polynomials", "decompose", "means_to", "moment", "polynomial", "steepest"]

BLOCK = 512
_BLOCKS = 16

FAST = ("moment", "_block_sums", "_block_sums_4", "_block_sums_5", "polynomial", "steepest")  # sums in any order


def moment(z: FloatArray, k: int) -> float:
    """Mean(z^k)."""
    total = 0.0
    power = np.empty(BLOCK)
    for begin in range(0, len(z), BLOCK):
        v = z[begin : begin + BLOCK]
        m = len(v)
        for i in range(m):
            power[i] = v[i]
        for _ in range(k - 1):
            for i in range(m):
                power[i] *= v[i]
        part = 0.0
        for i in range(m):
            part += power[i]
        total += part
    return total / len(z)


def means_to(y: FloatArray, k: int, means: FloatArray) -> None:
    """Mean(y^j), j = 0..2k-2."""
    n, last = len(y), 2 * k - 1
    power, block, part = np.empty(BLOCK), np.zeros(last), np.zeros(last)
    for j in range(last):
        means[j] = 0
    count = 0
    for begin in range(0, n, BLOCK):
        v = y[begin : begin + BLOCK]
        if k == 4:
            _block_sums_4(v, block)
        elif k == 5:
            _block_sums_5(v, block)
        else:
            _block_sums(v, k, power, block)
        for j in range(last):
            part[j] += block[j]
        count += 1
        if count == _BLOCKS or begin + BLOCK >= n:
            for j in range(last):
                means[j] += part[j]
                part[j] = 0
            count = 0
    for j in range(last):
        means[j] /= n
    means[0] = 1


def _block_sums(v: FloatArray, k: int, power: FloatArray, sums: FloatArray) -> None:
    """Sums of v^1..v^(2k-2): two for each further power."""
    m = len(v)
    for i in range(m):
        power[i] = 1
    for j in range(1, k):
        odd = 0.0
        even = 0.0
        for i in range(m):
            before = power[i]
            now = before * v[i]
            power[i] = now
            odd += now * before
            even += now * now
        sums[2 * j - 1], sums[2 * j] = odd, even


def _block_sums_4(v: FloatArray, sums: FloatArray) -> None:
    """The same at k = 4, in registers; 4 and 5 are the levels of everyday."""
    a = b = c = d = e = f = 0.0
    for i in range(len(v)):
        x = v[i]
        x2 = x * x
        x3 = x2 * x
        a += x
        b += x2
        c += x3
        d += x2 * x2
        e += x3 * x2
        f += x3 * x3
    sums[1], sums[2], sums[3], sums[4], sums[5], sums[6] = a, b, c, d, e, f


def _block_sums_5(v: FloatArray, sums: FloatArray) -> None:
    a = b = c = d = e = f = g = h = 0.0
    for i in range(len(v)):
        x = v[i]
        x2 = x * x
        x3 = x2 * x
        x4 = x2 * x2
        a += x
        b += x2
        c += x3
        d += x4
        e += x3 * x2
        f += x3 * x3
        g += x4 * x3
        h += x4 * x4
    sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8] = a, b, c, d, e, f, g, h


def decompose(means: FloatArray, k: int, lower: FloatArray, norm: FloatArray) -> float:
    """L and D of the Hankel matrix; returns the smallest D_j/h_(2j)."""
    kept = np.inf
    for j in range(k):
        for i in range(j, k):
            entry = means[i + j]
            for m in range(j):
                entry -= lower[i, m] * lower[j, m] * norm[m]
            if i == j:
                norm[j] = entry
                lower[j, j] = 1
            else:
                lower[i, j] = entry / norm[j]
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
    power = np.empty(BLOCK)
    c1 = c[1] + kept
    for begin in range(0, len(y), BLOCK):
        v, o = y[begin : begin + BLOCK], out[begin : begin + BLOCK]
        m = len(v)
        if k == 4:
            for i in range(m):
                o[i] = ((c[3] * v[i] + c[2]) * v[i] + c1) * v[i] + c[0]
        elif k == 5:
            for i in range(m):
                o[i] = (((c[4] * v[i] + c[3]) * v[i] + c[2]) * v[i] + c1) * v[i] + c[0]
        else:
            for i in range(m):
                power[i] = c[k - 1]
            for j in range(k - 2, 0, -1):
                d = c1 if j == 1 else c[j]
                for i in range(m):
                    power[i] = power[i] * v[i] + d
            for i in range(m):
                o[i] = power[i] * v[i] + c[0]


def steepest(y: FloatArray, c: FloatArray, k: int) -> float:
    """Largest derivative of sum_i c_i y^i, i < k, over the values; at least 0."""
    largest = 0.0
    power = np.empty(BLOCK)
    for begin in range(0, len(y), BLOCK):
        v = y[begin : begin + BLOCK]
        m = len(v)
        for i in range(m):
            power[i] = (k - 1) * c[k - 1]
        for j in range(k - 2, 0, -1):
            for i in range(m):
                power[i] = power[i] * v[i] + j * c[j]
        for i in range(m):
            largest = max(largest, power[i])
    return largest
