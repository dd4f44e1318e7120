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
entries, sum 1 in every row: a sample with many equal entries is moved by its distinct ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = [
    "Basis",
    "Weights",
    "evaluated",
    "free_direction",
    "hankel_norms",
    "mean_of_product",
    "orthogonal_basis",
    "power_mean",
    "power_means",
    "steepness",
]

Weights: TypeAlias = FloatArray | None

_BLOCK = 8192  # products summed at a time: short sums round less, and BLAS takes no second thread
_LOST = 1e-5  # D_(k-1)/h_(2k-2) below which the Hankel matrix leaves fewer than eleven digits


@dataclass(frozen=True, slots=True)
class Basis:
    """Recurrence of p_0..p_(k-1) for each row: `centre` a_0..a_(k-2), `ratio` b_0..b_(k-2) (b_0 = 0), `norm` D."""

    centre: FloatArray
    ratio: FloatArray
    norm: FloatArray

    def polynomials(self, y: FloatArray) -> Iterator[FloatArray]:
        """Yield p_0(y), .., p_(k-1)(y), each (r, n)."""
        before, now = np.zeros_like(y), np.ones_like(y)
        yield now
        for a, b in zip(self.centre, self.ratio, strict=True):
            before, now = now, (y - a[:, None]) * now - b[:, None] * before
            yield now

    def with_derivatives(self, y: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield p_j(y) and p_j'(y)."""
        before, now = np.zeros_like(y), np.ones_like(y)
        slope_before, slope = np.zeros_like(y), np.zeros_like(y)
        yield now, slope
        for a, b in zip(self.centre, self.ratio, strict=True):
            shifted = y - a[:, None]
            slope_before, slope = slope, now + shifted * slope - b[:, None] * slope_before
            before, now = now, shifted * now - b[:, None] * before
            yield now, slope

    def of_powers(self) -> FloatArray:
        """L, (k, k, r): y^i = sum_j L_ij p_j."""
        k, n_rows = self.norm.shape
        lower = np.zeros((k, k, n_rows))
        lower[0, 0] = 1
        for i in range(k - 1):  # y times y^i, by the recurrence
            lower[i + 1, 1 : i + 2] = lower[i, : i + 1]
            lower[i + 1, : i + 1] += self.centre[: i + 1] * lower[i, : i + 1]
            lower[i + 1, :i] += self.ratio[1 : i + 1] * lower[i, 1 : i + 1]
        return lower


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


def power_means(y: FloatArray, order: int, weights: Weights = None) -> FloatArray:
    """h_0..h_order, (order + 1, r): Mean(y^i)."""
    means = np.ones((order + 1, len(y)))
    if order:
        means[1:] = _means(y, range(1, order + 1), weights)
    return means


def power_mean(y: FloatArray, order: int, weights: Weights = None) -> FloatArray:
    """Mean(y^order) of each row; the last of `power_means`."""
    mean: FloatArray = _means(y, range(order, order + 1), weights)[0]
    return mean


def _means(y: FloatArray, orders: range, weights: Weights) -> FloatArray:
    """Means of some powers; of long rows block by block as in `mean_of_product`, so that powers need no room."""
    n = y.shape[1]
    parts = []
    for i in range(0, n, _BLOCK):
        powers, _ = _powers(y[:, i : i + _BLOCK], orders[-1], None)
        heavy = powers if weights is None else [u * weights[:, i : i + _BLOCK] * n for u in powers]
        parts.append([np.vecdot(powers[j // 2], heavy[j - j // 2]) for j in orders])
    means: FloatArray = np.ascontiguousarray(np.moveaxis(np.array(parts), 0, -1)).sum(axis=-1) / n
    return means


def _powers(y: FloatArray, order: int, weights: Weights) -> tuple[list[FloatArray], list[FloatArray]]:
    """y^0.. up to half of the order, and the same with weights."""
    powers = [np.ones_like(y), y]
    while 2 * (len(powers) - 1) < order:
        i = len(powers)
        powers.append(powers[i // 2] * powers[i - i // 2])
    return powers, powers if weights is None else [weighted(u, weights) for u in powers]


def _means_of_powers(powers: list[FloatArray], heavy: list[FloatArray], order: int) -> FloatArray:
    means = np.empty((order + 1, len(powers[0])))
    means[0] = 1
    for i in range(1, order + 1):
        means[i] = mean_of_product(powers[i // 2], heavy[i - i // 2])
    return means


def free_direction(y: FloatArray, k: int, weights: Weights = None) -> tuple[FloatArray, FloatArray]:
    """p_(k-1)(y) and D_(k-1), the direction in which the k-th moment moves and the others up to k-1 stay.

    D is 0 or less, or not a number, only where a row has fewer than k values that count, or rounding says so.
    """
    powers, heavy = _powers(y, 2 * k - 2, weights)
    means = _means_of_powers(powers, heavy, 2 * k - 2)
    lower, norm = _decompose(means, k)
    direction = _horner(_last_row_of_inverse(lower), y)
    size = norm[-1].copy()
    poor = _poor(norm, means)
    if len(poor):
        basis, last = _stieltjes(y[poor], k, None if weights is None else weights[poor])
        direction[poor], size[poor] = last, basis.norm[-1]
    return direction, size


def steepness(y: FloatArray, k: int, weights: Weights = None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The derivative of p_(k-1) at y, and D_(k-1), h_(2k-2): beside each other they tell how crowded a sample is."""
    means = power_means(y, 2 * k - 2, weights)
    lower, norm = _decompose(means, k)
    coefficients = _last_row_of_inverse(lower)[1:]
    slope, size = (k - 1) * _horner(coefficients * (np.arange(1, k) / (k - 1))[:, None], y), norm[-1].copy()
    poor = _poor(norm, means)
    if len(poor):
        basis, _ = _stieltjes(y[poor], k, None if weights is None else weights[poor])
        *_, (_, slope[poor]) = basis.with_derivatives(y[poor])
        size[poor] = basis.norm[-1]
    return slope, size, means[-1]


def orthogonal_basis(y: FloatArray, k: int, weights: Weights = None) -> tuple[Basis, FloatArray]:
    """The recurrence of p_0..p_(k-1), and the power means h_0..h_(2k-2), (2k-1, r)."""
    means = power_means(y, 2 * k - 2, weights)
    lower, norm = _decompose(means, k)
    below = np.array([lower[j, j - 1] for j in range(1, k)]).reshape(k - 1, len(y))
    centre = below.copy()
    centre[1:] -= below[:-1]
    ratio = np.zeros((k - 1, len(y)))
    ratio[1:] = norm[1:-1] / norm[:-2]
    basis = Basis(centre, ratio, norm)
    poor = _poor(norm, means)
    if len(poor):
        better, _ = _stieltjes(y[poor], k, None if weights is None else weights[poor])
        basis.centre[:, poor], basis.ratio[:, poor], basis.norm[:, poor] = better.centre, better.ratio, better.norm
    return basis, means


def _decompose(means: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """L, below the diagonal of (k, k, r), and D, (k, r), of the Hankel matrix of the power means."""
    left = means[np.add.outer(np.arange(k), np.arange(k))]
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
    kept = np.all(norm > _LOST * means[::2], axis=0)
    return np.flatnonzero(~kept)



def _last_row_of_inverse(lower: FloatArray) -> FloatArray:
    """c with c L = (0, .., 0, 1): p_(k-1) = sum_i c_i y^i."""
    k = len(lower)
    row = np.zeros((k, lower.shape[2]))
    row[-1] = 1
    for j in reversed(range(k - 1)):
        np.sum(row[j + 1 :] * lower[j + 1 :, j], axis=0, out=row[j])
        np.negative(row[j], out=row[j])
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


def evaluated(coefficients: FloatArray, y: FloatArray) -> FloatArray:
    """Polynomials, coefficients (m, r) with m at least 2, at y (r, n)."""
    value: FloatArray = coefficients[-1][:, None] * y
    value += coefficients[-2][:, None]
    for c in coefficients[-3::-1]:
        value *= y
        value += c[:, None]
    return value


def _stieltjes(y: FloatArray, k: int, weights: Weights) -> tuple[Basis, FloatArray]:
    """The recurrence, a pass for each degree, and p_(k-1)(y)."""
    n_rows = len(y)
    basis = Basis(np.zeros((k - 1, n_rows)), np.zeros((k - 1, n_rows)), np.zeros((k, n_rows)))
    for j, p in enumerate(_lazily(basis, y)):
        heavy = weighted(p, weights)
        basis.norm[j] = mean_of_product(p, heavy)
        if j == k - 1:
            return basis, p
        with np.errstate(all="ignore"):  # fewer than k values: the norm is 0, and the caller looks at it
            basis.centre[j] = mean_of_product(p * y, heavy) / basis.norm[j]
            if j:
                basis.ratio[j] = basis.norm[j] / basis.norm[j - 1]
    raise AssertionError("a basis has at least one polynomial")


def _lazily(basis: Basis, y: FloatArray) -> Iterator[FloatArray]:
    """As `Basis.polynomials`, with coefficients that are written while it runs."""
    before, now = np.zeros_like(y), np.ones_like(y)
    yield now
    for j in range(len(basis.centre)):
        before, now = now, (y - basis.centre[j][:, None]) * now - basis.ratio[j][:, None] * before
        yield now


def hankel_norms(means: FloatArray) -> FloatArray:
    """D_0..D_(k/2) of moments h_0..h_k, k even: all positive for a law with more values than that; (k/2 + 1, r)."""
    return _decompose(means, len(means) // 2 + 1)[1]
