"""The orthogonal polynomials of a sample, and the part of the k-th moment's gradient that lower moments leave free.

With <u, v> = Mean(u v), the gradients of the raw moments 1..k-1 span {1, y, .., y^(k-2)}, and that of the k-th is
k y^(k-1)/N. What is left of it after projection is k/N times p_(k-1)(y), the monic orthogonal polynomial of the
empirical measure (Theorem G):

    y p_j = p_(j+1) + a_j p_j + b_j p_(j-1),      b_j = D_j/D_(j-1),      D_j = <p_j, p_j>

*Two ways.* The power means to 2k-2, one pass, form the Hankel matrix H = L diag(D) L'; D is the norms, a_j is
L_(j+1,j) - L_(j,j-1), and the last row of the inverse of L is p_(k-1) for Horner. The subtraction loses
h_(2k-2)/D_(k-1) in units of rounding; where that is too much (few values that count: near two-valued samples, say)
Stieltjes' procedure takes a pass for every degree instead and loses far less.

Rows are samples near mean 0 and variance 1. Arrays of coefficients have the row last. Weights, if any, are those of the
entries, sum 1 in every row: a sample with many equal entries is moved by its distinct ones. Whatever moves a sample is
computed entry by entry, so that equal entries stay equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = [
    "NOISE", "Basis", "Weights", "correct", "free_direction", "hankel_norms", "mean_of_product", "orthogonal_basis",
    "power_mean", "power_means", "residuals", "steepness", "taken", "weighted",
]

Weights: TypeAlias = FloatArray | None

NOISE = 2.0**-48  # 4e-15 of Mean|z|^j: a gap from a goal that is left alone
_BLOCK = 8192  # products summed at a time: short sums round less, and powers of long rows need no memory
_LOST = 1e-5  # D_(k-1)/h_(2k-2) below which the Hankel matrix leaves fewer than eleven digits


@dataclass(frozen=True, slots=True)
class Basis:
    """Recurrence of p_0..p_(k-1) for each row: `centre` a_0..a_(k-2), `ratio` b_0..b_(k-2) (b_0 = 0), `norm` D."""

    centre: FloatArray
    ratio: FloatArray
    norm: FloatArray

    def polynomials(self, y: FloatArray) -> FloatArray:
        """p_0(y), .., p_(k-1)(y), (k, r, n)."""
        p, part = np.empty((len(self.norm), *y.shape)), np.empty_like(y)
        p[0] = 1
        for j in range(len(self.centre)):
            np.subtract(y, self.centre[j, :, None], out=part)
            np.multiply(part, p[j], out=p[j + 1])
            if j:
                p[j + 1] -= np.multiply(self.ratio[j, :, None], p[j - 1], out=part)
        return p

    def derivatives(self) -> FloatArray:
        """E, (k, k, r): p_j' = sum_i E_ji p_i, by the recurrence p_(j+1)' = p_j + (y - a_j) p_j' - b_j p_(j-1)'."""
        k, n_rows = self.norm.shape
        of = np.zeros((k, k, n_rows))
        for j in range(k - 1):
            now, after = of[j, :j], of[j + 1]
            after[j] = 1
            after[1 : j + 1] += now
            after[:j] += (self.centre[:j] - self.centre[j]) * now
            if j > 1:
                after[: j - 1] += self.ratio[1:j] * now[1:] - self.ratio[j] * of[j - 1, : j - 1]
        return of


def mean_of_product(u: FloatArray, v: FloatArray) -> FloatArray:
    """Mean(u v) of each row, summed in blocks; rows never meet."""
    n = u.shape[1]
    if n <= _BLOCK:
        mean: FloatArray = np.vecdot(u, v) / n
        return mean
    parts = [np.vecdot(u[:, i : i + _BLOCK], v[:, i : i + _BLOCK]) for i in range(0, n, _BLOCK)]
    total: FloatArray = np.stack(parts, axis=1).sum(axis=1) / n
    return total


def weighted(u: FloatArray, weights: Weights) -> FloatArray:
    """What stands for u in `mean_of_product` so that entries count by their weights."""
    return u if weights is None else u * weights * u.shape[1]


def taken(weights: Weights, which: IntArray | slice) -> Weights:
    """Weights of some rows."""
    return None if weights is None else weights[which]


def power_means(y: FloatArray, order: int, weights: Weights = None) -> FloatArray:
    """h_0..h_order, (order + 1, r): Mean(y^i)."""
    n, parts = y.shape[1], []
    for i in range(0, n, _BLOCK):
        part, share = y[:, i : i + _BLOCK], None if weights is None else weights[:, i : i + _BLOCK]
        powers = [np.ones_like(part), part]
        while 2 * (len(powers) - 1) < order:
            j = len(powers)
            powers.append(powers[j // 2] * powers[j - j // 2])
        heavy = powers if share is None else [u * share for u in powers]
        sums = np.empty((order + 1, len(y)))
        for j in range(1, order + 1):
            sums[j] = np.vecdot(powers[j // 2], heavy[j - j // 2])
        parts.append(sums)
    means: FloatArray = parts[0] if len(parts) == 1 else np.stack(parts, axis=-1).sum(axis=-1)
    if weights is None:
        means /= n
    means[0] = 1
    return means


def power_mean(y: FloatArray, order: int, weights: Weights = None) -> FloatArray:
    """Mean(y^order) of each row."""
    mean: FloatArray = power_means(y, order, weights)[order]
    return mean


def free_direction(y: FloatArray, k: int, weights: Weights = None) -> tuple[FloatArray, FloatArray]:
    """p_(k-1)(y) and D_(k-1), the direction in which the k-th moment moves and the others up to k-1 stay.

    D is 0 or less, or not a number, only where a row has fewer than k values that count, or rounding says so.
    """
    means = power_means(y, 2 * k - 2, weights)
    lower, norm = _decompose(means, k)
    direction, size = _horner(_last_row_of_inverse(lower), y), norm[-1].copy()
    poor = _poor(norm, means)
    if len(poor):
        basis, direction[poor] = _stieltjes(y[poor], k, taken(weights, poor))
        size[poor] = basis.norm[-1]
    return direction, size


def steepness(y: FloatArray, k: int, weights: Weights = None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The derivative of p_(k-1) at y, and D_(k-1), h_(2k-2): beside each other they tell how crowded a sample is."""
    basis, means = orthogonal_basis(y, k, weights)
    slope = np.zeros_like(y)
    for of, p in zip(basis.derivatives()[-1], basis.polynomials(y), strict=True):
        slope += of[:, None] * p
    return slope, basis.norm[-1], means[-1]


def orthogonal_basis(y: FloatArray, k: int, weights: Weights = None) -> tuple[Basis, FloatArray]:
    """The recurrence of p_0..p_(k-1), and the power means h_0..h_(2k-2), (2k-1, r)."""
    means = power_means(y, 2 * k - 2, weights)
    lower, norm = _decompose(means, k)
    below = np.array([lower[j, j - 1] for j in range(1, k)]).reshape(k - 1, len(y))
    centre = below.copy()
    centre[1:] -= below[:-1]
    ratio = np.zeros((k - 1, len(y)))
    ratio[1:] = norm[1:-1] / norm[:-2]
    poor = _poor(norm, means)
    if len(poor):
        better, _ = _stieltjes(y[poor], k, taken(weights, poor))
        centre[:, poor], ratio[:, poor], norm[:, poor] = better.centre, better.ratio, better.norm
    return Basis(centre, ratio, norm), means


def hankel_norms(means: FloatArray) -> FloatArray:
    """D_0..D_(k/2) of moments h_0..h_k, k even: all positive for a law with more values than that; (k/2 + 1, r)."""
    return _decompose(means, len(means) // 2 + 1)[1]


def correct(z: FloatArray, goal: FloatArray, weights: Weights = None) -> FloatArray:
    """One step of Newton's method in the span of p_0..p_(k-1) towards Mean(z^j) = goal[j], j = 1..k."""
    basis, means = orthogonal_basis(z, len(goal) - 1, weights)
    gap = goal[1:] - means[1 : len(goal)]
    gap[np.abs(gap) <= NOISE * _sizes(means, len(goal) - 1)[1:]] = 0  # divided by a small norm, rounding would push
    step, power = np.zeros_like(z), weighted(np.ones_like(z), weights)
    for i, p in enumerate(basis.polynomials(z)):
        step += ((gap[i] / (i + 1) - mean_of_product(power, step)) / basis.norm[i])[:, None] * p
        power = power * z
    return z + step


def residuals(z: FloatArray, goal: FloatArray, weights: Weights = None) -> FloatArray:
    """Largest |Mean(z^j) - goal[j]| over Mean|z|^j, j = 1..k; odd orders by the mean of their neighbours."""
    k = len(goal) - 1
    means = power_means(z, k + k % 2, weights)
    gap = np.abs(means[1 : k + 1] - goal[1:])
    largest: FloatArray = np.max(gap / _sizes(means, k)[1:], axis=0)
    return largest


def _sizes(means: FloatArray, k: int) -> FloatArray:
    """Mean|z|^j, j = 0..k, from the power means up to k + 1 at odd k; those of odd order from above."""
    size = means[: k + 1].copy()
    size[1::2] = np.sqrt(means[0:k:2] * means[2 : k + 2 : 2])
    return size


def _decompose(means: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """L, below the diagonal of (k, k, r), and D, (k, r), of the Hankel matrix of the power means."""
    left = np.array([means[j : j + k] for j in range(k)])
    norm = np.empty((k, means.shape[1]))
    with np.errstate(all="ignore"):  # a norm of 0: too few values, and the caller looks at it
        for j in range(k):  # below the diagonal, `left` becomes L
            norm[j] = left[j, j]
            column = left[j + 1 :, j].copy()
            left[j + 1 :, j] /= norm[j]
            left[j + 1 :, j + 1 :] -= left[j + 1 :, j, None] * column
    return left, norm


def _poor(norm: FloatArray, means: FloatArray) -> IntArray:
    """Rows where the decomposition lost too much at some degree: from there on it is noise."""
    kept = (norm > _LOST * means[::2]).all(axis=0)
    return np.flatnonzero(~kept)


def _last_row_of_inverse(lower: FloatArray) -> FloatArray:
    """c with c L = (0, .., 0, 1): p_(k-1) = sum_i c_i y^i."""
    k = len(lower)
    row = np.ones((k, lower.shape[2]))
    for j in reversed(range(k - 1)):
        row[j] = -(row[j + 1 :] * lower[j + 1 :, j]).sum(axis=0)
    return row


def _horner(coefficients: FloatArray, y: FloatArray) -> FloatArray:
    """The polynomial with these coefficients, the leading one 1."""
    if len(coefficients) == 1:
        return np.ones_like(y)
    value: FloatArray = y + coefficients[-2][:, None]
    for c in coefficients[-3::-1]:
        value *= y
        value += c[:, None]
    return value


def _stieltjes(y: FloatArray, k: int, weights: Weights) -> tuple[Basis, FloatArray]:
    """The recurrence, a pass for each degree, and p_(k-1)(y)."""
    basis = Basis(np.zeros((k - 1, len(y))), np.zeros((k - 1, len(y))), np.empty((k, len(y))))
    before, now = np.zeros_like(y), np.ones_like(y)
    with np.errstate(all="ignore"):  # fewer than k values: the norm is 0, and the caller looks at it
        for j in range(k):
            heavy = weighted(now, weights)
            basis.norm[j] = mean_of_product(now, heavy)
            if j == k - 1:
                break
            basis.centre[j] = mean_of_product(now * y, heavy) / basis.norm[j]
            if j:
                basis.ratio[j] = basis.norm[j] / basis.norm[j - 1]
            before, now = now, (y - basis.centre[j][:, None]) * now - basis.ratio[j][:, None] * before
    return basis, now
