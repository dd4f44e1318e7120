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

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from symdecouple.numeric.moments.power_sums import power_means
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = [
    "NOISE", "RESIDUAL", "SETTLED", "Basis", "Weights", "correct", "free_direction",
    "free_direction_with_basis", "hankel_norms", "mean_of_product", "orthogonal_basis",
    "power_means", "residuals", "settle", "steepness", "stieltjes", "taken", "weighted",
]

Weights: TypeAlias = FloatArray | None

RESIDUAL = 2e-14  # of a moment, relative to Mean|z|^j: what counts as there
SETTLED = 5e-15  # no further correction: sums of a thousand entries round by as much
NOISE = 2.0**-48  # 4e-15 of Mean|z|^j: a gap from a goal that is left alone
_CORRECTIONS = 4  # at an end; a path leaves 1e-11, of which two leave nothing
_FAR = 1e-3  # gap beyond which Newton's method may fail
_BLOCK = 8192  # products summed at a time: short sums round less, and powers of long rows need no memory
_PART = 2**16  # entries of a row whose polynomials are kept beside it; of longer ones, parts are made again for each
_LOST = 1e-5  # D_(k-1)/h_(2k-2) below which the Hankel matrix leaves fewer than eleven digits
_NONE: IntArray = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Basis:
    """Recurrence of p_0..p_(k-1) for each row: a_0..a_(k-2), then D_0..D_(k-1), (2k-1, r)."""

    numbers: FloatArray

    @property
    def centre(self) -> FloatArray:
        """a_j."""
        return self.numbers[: len(self.numbers) // 2]

    @property
    def norm(self) -> FloatArray:
        """D_j."""
        return self.numbers[len(self.numbers) // 2 :]

    @property
    def ratio(self) -> FloatArray:
        """b_0..b_(k-2), with b_0 = 0."""
        ratio = np.zeros_like(self.centre)
        ratio[1:] = self.norm[1:-1] / self.norm[:-2]
        return ratio

    def polynomials(self, y: FloatArray) -> FloatArray:
        """p_0(y), .., p_(k-1)(y), (k, r, n)."""
        p, part, ratio = np.empty((len(self.norm), *y.shape)), np.empty_like(y), self.ratio
        p[0] = 1
        for j in range(len(self.centre)):
            np.subtract(y, self.centre[j, :, None], out=part)
            np.multiply(part, p[j], out=p[j + 1])
            if j:
                p[j + 1] -= np.multiply(ratio[j, :, None], p[j - 1], out=part)
        return p

    def coefficients(self) -> FloatArray:
        """C, (k, k, r): p_j = sum_i C_ji y^i."""
        (k, n_rows), ratio = self.norm.shape, self.ratio
        of = np.zeros((k, k, n_rows))
        of[0, 0] = 1
        for j in range(k - 1):
            of[j + 1, 1:] = of[j, :-1]
            of[j + 1, : j + 1] -= self.centre[j] * of[j, : j + 1]
            if j:
                of[j + 1, :j] -= ratio[j] * of[j - 1, :j]
        return of

    def derivatives(self) -> FloatArray:
        """E, (k, k, r): p_j' = sum_i E_ji p_i, by the recurrence p_(j+1)' = p_j + (y - a_j) p_j' - b_j p_(j-1)'."""
        (k, n_rows), ratio = self.norm.shape, self.ratio
        of = np.zeros((k, k, n_rows))
        for j in range(k - 1):
            now, after = of[j, :j], of[j + 1]
            after[j] = 1
            after[1 : j + 1] += now
            after[:j] += (self.centre[:j] - self.centre[j]) * now
            if j > 1:
                after[: j - 1] += ratio[1:j] * now[1:] - ratio[j] * of[j - 1, : j - 1]
        return of


def mean_of_product(u: FloatArray, v: FloatArray) -> FloatArray:
    """Mean(u v) of each row, (.., n), summed in blocks; rows never meet."""
    n = u.shape[-1]
    if n <= _BLOCK:
        mean: FloatArray = np.vecdot(u, v) / n
        return mean
    parts = [np.vecdot(u[..., i : i + _BLOCK], v[..., i : i + _BLOCK]) for i in range(0, n, _BLOCK)]
    total: FloatArray = np.stack(parts, axis=-1).sum(axis=-1) / n
    return total


def weighted(u: FloatArray, weights: Weights) -> FloatArray:
    """What stands for u in `mean_of_product` so that entries count by their weights."""
    return u if weights is None else u * weights * u.shape[1]


def taken(weights: Weights, which: IntArray | slice | int) -> Weights:
    """Weights of some rows."""
    return None if weights is None else weights[which]


def free_direction(y: FloatArray, k: int, weights: Weights = None) -> tuple[FloatArray, FloatArray]:
    """p_(k-1)(y) and D_(k-1), the direction in which the k-th moment moves and the others up to k-1 stay.

    D is 0 or less, or not a number, only where a row has fewer than k values that count, or rounding says so.
    """
    return _free(y, k, weights, 0)[:2]


def free_direction_with_basis(y: FloatArray, k: int, weights: Weights = None) -> tuple[FloatArray, Basis]:
    """p_(k-1)(y), and the recurrence."""
    values, _, _, factors, poor = _free(y, k, weights, 0)
    return values, factors.basis(len(y), poor)


def steepness(y: FloatArray, k: int, weights: Weights = None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The derivative of p_(k-1) at y, and D_(k-1), h_(2k-2): beside each other they tell how crowded a sample is."""
    return _free(y, k, weights, 1)[:3]


def _free(
    y: FloatArray, k: int, weights: Weights, order: int
) -> tuple[FloatArray, FloatArray, FloatArray, _Factors, tuple[IntArray, Basis | None]]:
    """p_(k-1) or its derivative, D_(k-1), h_(2k-2), and what tells the basis."""
    means = power_means(y, 2 * k - 2, weights)
    factors = _Factors.of(means, k)
    coefficients, norm = factors.last_row_of_inverse(), factors.norms(len(y), k - 1)[0]
    values = _horner([i * c for i, c in enumerate(coefficients)][1:] if order else coefficients, y)
    poor, basis = factors.poor(), None
    if len(poor):
        basis, values[poor] = stieltjes(y[poor], k, taken(weights, poor))
        norm[poor] = basis.norm[-1]
        if order:
            values[poor] = np.einsum("jr,jrn->rn", basis.derivatives()[-1], basis.polynomials(y[poor]))
    return values, norm, means[-1], factors, (poor, basis)


def orthogonal_basis(y: FloatArray, k: int, weights: Weights = None) -> tuple[Basis, FloatArray]:
    """The recurrence of p_0..p_(k-1), and the power means h_0..h_(2k-2), (2k-1, r)."""
    means = power_means(y, 2 * k - 2, weights)
    factors = _Factors.of(means, k)
    poor = factors.poor()
    better = stieltjes(y[poor], k, taken(weights, poor))[0] if len(poor) else None
    return factors.basis(len(y), (poor, better)), means


def hankel_norms(means: FloatArray) -> FloatArray:
    """D_0..D_(k/2) of moments h_0..h_k, k even: all positive for a law with more values than that; (k/2 + 1, r)."""
    return _Factors.of(means, len(means) // 2 + 1).norms(means.shape[1])


def correct(z: FloatArray, goal: FloatArray, weights: Weights = None) -> FloatArray:
    """One step of Newton's method in the span of p_0..p_(k-1) towards Mean(z^j) = goal[j], j = 1..k."""
    basis, means = orthogonal_basis(z, len(goal) - 1, weights)
    gap = goal[1:] - means[1 : len(goal)]
    gap[np.abs(gap) <= NOISE * _sizes(means, len(goal) - 1)[1:]] = 0  # divided by a small norm, rounding would push
    step, power = np.zeros_like(z), weighted(np.ones_like(z), weights)
    parts = [slice(i, i + _PART) for i in range(0, z.shape[1], _PART)]
    known = basis.polynomials(z) if len(parts) == 1 else None
    for i in range(len(gap)):
        share = ((gap[i] / (i + 1) - mean_of_product(power, step)) / basis.norm[i])[:, None]
        for part in parts:
            step[:, part] += share * (basis.polynomials(z[:, part]) if known is None else known)[i]
        power *= z
    step += z
    return step


def settle(
    z: FloatArray, goal: FloatArray, weights: Weights = None, gap_of: Callable[..., FloatArray] | None = None,
    enough: float = SETTLED,
) -> FloatArray:
    """Correct rows in place as long as they come nearer to moments goal (k + 1, R); returns the gaps left."""
    gap_of = residuals if gap_of is None else gap_of
    gap, left = gap_of(z, goal, weights), np.arange(len(z))
    for _ in range(_CORRECTIONS):
        left = left[(gap[left] > enough) & (gap[left] < _FAR)]
        if not len(left):
            break
        aim, share = goal[:, left], taken(weights, left)
        moved = correct(z if len(left) == len(z) else z[left], aim, share)
        after = gap_of(moved, aim, share)
        better = after < gap[left]
        left = left[better]
        z[left], gap[left] = moved[better], after[better]
    return gap


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


class _Factors(NamedTuple):
    """L diag(D) L' of the Hankel matrix of power means: L_ij in row i, j < i, and D_j with h_2j beside it.

    Numbers are columns (r, 1), or Python's floats where there is one row: the same bits in a fifth of the time.
    """

    lower: list[list[Any]]
    norm: list[Any]
    highest: list[Any]

    @classmethod
    def of(cls, means: FloatArray, k: int) -> _Factors:
        if means.shape[1] == 1:
            with suppress(ZeroDivisionError):
                return cls._of(means[:, 0].tolist(), k)
        with np.errstate(all="ignore"):  # a norm of 0: too few values, and the caller looks at it
            return cls._of(list(means[:, :, None]), k)

    @classmethod
    def _of(cls, h: list[Any], k: int) -> _Factors:
        """Row i subtracts the products of what is left of it."""
        lower, norm = list[list[Any]](), list[Any]()
        for i in range(k):
            above = list[Any]()  # L_ij D_j
            lower.append([])
            for j in range(i + 1):
                entry = h[i + j]
                for m in range(j):
                    entry = entry - above[m] * lower[j][m]
                above.append(entry)
                if j < i:
                    lower[i].append(entry / norm[j])
            norm.append(entry)
        return cls(lower, norm, h[: 2 * k - 1 : 2])

    def norms(self, n_rows: int, first: int = 0) -> FloatArray:
        """D_j from the first one on, (.., r)."""
        return _stacked(self.norm[first:], n_rows)

    def basis(self, n_rows: int, others: tuple[IntArray, Basis | None]) -> Basis:
        """The recurrence; some rows are those of another one."""
        below = [row[-1] for row in self.lower[1:]]
        centre = [b - a for a, b in zip([0.0, *below], below, strict=False)]
        basis, (rows, better) = Basis(_stacked([*centre, *self.norm], n_rows)), others
        if better is not None:
            basis.numbers[:, rows] = better.numbers
        return basis

    def poor(self) -> IntArray:
        """Rows where the decomposition lost too much at some degree: from there on it is noise."""
        kept: Any = True
        for norm, highest in zip(self.norm, self.highest, strict=True):
            kept = kept & (norm > _LOST * highest)
        return _NONE if kept is True else np.flatnonzero(~np.ravel(kept))

    def last_row_of_inverse(self) -> list[Any]:
        """c with c L = (0, .., 0, 1): p_(k-1) = sum_i c_i y^i."""
        last, row = len(self.lower) - 1, list[Any]([1.0])  # c_(k-1), c_(k-2), ..
        for j in reversed(range(last)):
            entry = self.lower[last][j]
            for i in range(1, last - j):
                entry = entry + row[i] * self.lower[last - i][j]
            row.append(-entry)
        return row[::-1]


def _stacked(columns: Sequence[Any], n_rows: int) -> FloatArray:
    """Columns (r, 1), or numbers of a single row, as (.., r)."""
    return np.array(columns).reshape(len(columns), n_rows)


def _horner(coefficients: Sequence[Any], y: FloatArray) -> FloatArray:
    if len(coefficients) == 1:
        return np.full_like(y, coefficients[0])
    value: FloatArray = y * coefficients[-1] + coefficients[-2]
    for c in coefficients[-3::-1]:
        value *= y
        value += c
    return value


def stieltjes(y: FloatArray, k: int, weights: Weights) -> tuple[Basis, FloatArray]:
    """The recurrence, a pass for each degree, and p_(k-1)(y)."""
    basis = Basis(np.empty((2 * k - 1, len(y))))
    before, now = np.zeros_like(y), np.ones_like(y)
    with np.errstate(all="ignore"):  # fewer than k values: the norm is 0, and the caller looks at it
        for j in range(k):
            heavy = weighted(now, weights)
            basis.norm[j] = mean_of_product(now, heavy)
            if j == k - 1:
                break
            basis.centre[j] = mean_of_product(now * y, heavy) / basis.norm[j]
            ratio = basis.norm[j] / basis.norm[j - 1] if j else np.zeros(len(y))
            before, now = now, (y - basis.centre[j][:, None]) * now - ratio[:, None] * before
    return basis, now
