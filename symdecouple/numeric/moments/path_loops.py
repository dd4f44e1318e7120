"""Loops over one sample that `jit` compiles: its power means, their Hankel matrix, polynomials of its values.

The same as in `moment_path.basis`, for one row with weights, in loops that a compiler turns into vector instructions.
Sums are short: a block of values at a time, and of long samples about as many blocks as there are values in one.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.moments.course import NOISE
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = [
    "BLOCK", "FAST", "LOST", "add_up_polynomials", "decompose", "derivative", "largest", "means_to", "polynomial",
    "quartic", "settle_rows",
]

BLOCK = 512
_EVERYDAY = 5  # up to this k all is done in registers
_FOLDED = 16
LOST = 1e-5  # as in moment_basis
_SETTLED = 5e-15
_SWEEPS = 4
FAST = ("_sums", "_sums_5", "polynomial", "quartic", "derivative")  # sums in any order


def means_to(y: FloatArray, weights: FloatArray, k: int, means: FloatArray, power: FloatArray) -> None:
    """Mean(y^j), j = 0..2k-2, at least to 8; the weights add up to 1.

    `means` is of twice that length; its second half is overwritten, and so is `power`, of the length of y.
    """
    n, half, top = len(y), len(means) // 2, max(2 * k - 1, 9)
    if k <= _EVERYDAY and n <= BLOCK:
        means[0] = 1
        _sums_5(y, weights, means)
        return
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
        quartic(y, c[0], c[1], c[2], c[3] if k > 3 else 0.0, c[4] if k > 4 else 0.0, out)
        return
    for i in range(len(y)):
        out[i] = c[k - 1]
    for j in range(k - 2, -1, -1):
        for i in range(len(y)):
            out[i] = out[i] * y[i] + c[j]


def quartic(y: FloatArray, c0: float, c1: float, c2: float, c3: float, c4: float, out: FloatArray) -> None:
    for i in range(len(y)):
        out[i] = (((c4 * y[i] + c3) * y[i] + c2) * y[i] + c1) * y[i] + c0


def derivative(y: FloatArray, c: FloatArray, k: int, out: FloatArray) -> None:
    """That of sum_i c_i y^i, i < k."""
    for i in range(len(y)):
        out[i] = (k - 1) * c[k - 1] * y[i] + (k - 2) * c[k - 2]
    for j in range(k - 3, 0, -1):
        d = j * c[j]
        for i in range(len(y)):
            out[i] = out[i] * y[i] + d


def largest(values: FloatArray) -> float:
    """The values are used up: half of them goes over the other. A loop for the largest of all is no vector loop."""
    left = len(values)
    while left > _FOLDED:
        half = (left + 1) // 2
        for i in range(left - half):
            values[i] = max(values[i], values[i + half])
        left = half
    found = values[0]
    for i in range(1, left):
        found = max(found, values[i])
    return float(found)


def settle_rows(which: IntArray, values: FloatArray, k: int, goal: FloatArray, far: float, state: FloatArray) -> None:
    """Correct rows, in place, until their moments are there to rounding, if they are not farther from them than `far`.

    Column r of `state` becomes: the largest gap over Mean|z|^j, moments k and k + 1, D_(k-1)/h_(2k-2) and D_(k-1); and
    the same for level k + 1, where there is one: the goal ends with the moment that no level has.
    """
    n, size = values.shape[1], max(k + 1, 5)
    long, short, lower = np.empty((2, n)), np.empty((3, 4 * size)), np.empty((size, size))
    for i in range(n):
        long[0, i] = 1 / n
    _settle(which, values, k, goal, far, state, long, short, lower)


def _settle(
    which: IntArray, values: FloatArray, k: int, goal: FloatArray, far: float, state: FloatArray,
    long: FloatArray, short: FloatArray, lower: FloatArray,
) -> None:
    weights, moved, means, norm, c = long[0], long[1], short[0], short[1], short[2]
    top = max(k, min(k + 1, len(goal) - 2))
    for r in which:
        z, kept = values[r], 0.0
        for count in range(_SWEEPS):
            means_to(z, weights, top, means, moved)
            residual = _largest_gap(means, k, goal)
            if count == 0 or residual > _SETTLED:  # else the norms of before will do: they are as near as that gap was
                kept = decompose(means, k, lower, norm)
                state[3, r], state[4, r] = kept, norm[k - 1]
            state[0, r], state[1, r], state[2, r] = residual, means[k], means[k + 1]
            if residual <= _SETTLED or not (kept > LOST and residual < far):
                break
            _newton_step(means, k, goal, lower, norm, c)
            polynomial(z, c, k, moved)
            for i in range(len(z)):
                z[i] += moved[i]
        if k < top:
            state[8, r] = decompose(means, top, lower, norm)
            state[5, r] = _largest_gap(means, top, goal)
            state[6, r], state[7, r], state[9, r] = means[top], means[top + 1], norm[top - 1]


def _largest_gap(means: FloatArray, k: int, goal: FloatArray) -> float:
    """Over Mean|z|^j."""
    largest = 0.0
    for j in range(1, k + 1):
        share = _share(means, j, goal)
        if not share <= largest:  # so that NaN stays
            largest = share
    return largest


def _share(means: FloatArray, j: int, goal: FloatArray) -> float:
    size = means[j] if j % 2 == 0 else np.sqrt(means[j - 1] * means[j + 1])
    return float(abs(goal[j] - means[j]) / size)


def _newton_step(
    means: FloatArray, k: int, goal: FloatArray, lower: FloatArray, norm: FloatArray, c: FloatArray
) -> None:
    """Newton's step for the gaps that are more than rounding, in c."""
    for i in range(k):
        j = i + 1
        rest = 0.0 if _share(means, j, goal) <= NOISE else (goal[j] - means[j]) / j
        for m in range(i):
            rest -= lower[i, m] * norm[m] * c[m]
        c[i] = rest / norm[i]
    add_up_polynomials(lower, k, c)
