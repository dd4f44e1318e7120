"""The orthogonal polynomials of a sample, and the part of the k-th moment's gradient that lower moments leave free.

With <u, v> = Mean(u v), the gradients of the raw moments 1..k-1 span {1, y, .., y^(k-2)}, and that of the k-th is
k y^(k-1)/N. What is left of it after projection is k/N times p_(k-1)(y), the monic orthogonal polynomial of the
empirical measure (Theorem G):

    y p_j = p_(j+1) + a_j p_j + b_j p_(j-1),      b_j = D_j/D_(j-1),      D_j = <p_j, p_j>

Stieltjes' procedure takes a pass for every degree, and loses few digits of crowded samples. (In the kernel of one
ordinary row the Hankel matrix of the power means tells the same in one pass, `hankel_kernel`.)

Rows are samples near mean 0 and variance 1. Arrays of coefficients have the row last. Weights, if any, are those of the
entries, sum 1 in every row: a sample with many equal entries is moved by its distinct ones. Whatever moves a sample is
computed entry by entry, so that equal entries stay equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from symdecouple.numeric.moments.power_sums import power, power_means
from symdecouple.numeric.samples.batch import FloatArray, IntArray
from symdecouple.numeric.samples.matrix import taken as rows_of

__all__ = [
    "NOISE", "RESIDUAL", "SETTLED", "Basis", "Weights", "correct", "mean_of_product", "orthogonal_basis",
    "parts", "power_means", "residuals", "settle", "steepness", "stieltjes", "taken", "weighted",
]

Weights: TypeAlias = FloatArray | None

RESIDUAL = 2e-14  # of a moment, relative to Mean|z|^j: what counts as there
SETTLED = 5e-15  # no further correction: sums of a thousand entries round by as much
NOISE = 2.0**-48  # 4e-15 of Mean|z|^j: a gap from a goal that is left alone
_CORRECTIONS = 4  # at an end; a path leaves 1e-11, of which two leave nothing
_FAR = 1e-3  # gap beyond which Newton's method may fail
_BLOCK = 8192  # products summed at a time: short sums round less, and powers of long rows need no memory


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

    def polynomials(self, y: FloatArray) -> Iterator[FloatArray]:
        """Yield p_0(y), .., p_(k-1)(y), (r, n) each."""
        before, now = y, np.ones_like(y)
        yield now
        for j, centre in enumerate(self.centre):
            after = y - centre[:, None]
            after *= now
            if j:
                after -= self.ratio[j, :, None] * before
            before, now = now, after
            yield now

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
    sums = [np.vecdot(u[..., part], v[..., part]) for part in parts(n)]
    total: FloatArray = np.stack(sums, axis=-1).sum(axis=-1) / n
    return total


def weighted(u: FloatArray, weights: Weights) -> FloatArray:
    """What stands for u in `mean_of_product` so that entries count by their weights."""
    return u if weights is None else u * weights * u.shape[1]


def taken(weights: Weights, which: IntArray | slice | int) -> Weights:
    """Weights of some rows, whose places increase."""
    if weights is None or not isinstance(which, np.ndarray):
        return None if weights is None else weights[which]
    return rows_of(weights, which)


def steepness(y: FloatArray, k: int, weights: Weights = None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The derivative of p_(k-1) at y, and D_(k-1), h_(2k-2): beside each other they tell how crowded a sample is."""
    basis, slope = stieltjes(y, k, weights, with_slope=True)
    highest = power(y, k - 1)
    return slope, basis.norm[-1], mean_of_product(highest, weighted(highest, weights))


def orthogonal_basis(y: FloatArray, k: int, weights: Weights = None) -> tuple[Basis, FloatArray]:
    """The recurrence of p_0..p_(k-1), and the power means h_0..h_(2k-2), (2k-1, r)."""
    basis = stieltjes(y, k, weights)[0] if y.shape[1] <= _BLOCK else _by_blocks(y, k, weights)
    return basis, power_means(y, 2 * k - 2, weights)


def _by_blocks(y: FloatArray, k: int, weights: Weights) -> Basis:
    """The recurrence of long rows, a pass for each degree: polynomials are made anew, and take no memory."""
    basis = Basis(np.ones((2 * k - 1, len(y))))
    for j in range(k):
        norm, centre = np.zeros((2, len(y)))
        for part in parts(y.shape[1]):
            p = next(islice(basis.polynomials(y[:, part]), j, None))
            heavy = p / y.shape[1] if weights is None else p * weights[:, part]
            norm += np.vecdot(p, heavy)
            centre += np.vecdot(p * y[:, part], heavy)
        basis.norm[j] = norm if j else 1
        basis.centre[j : k - 1] = centre / basis.norm[j]
    return basis


def parts(n_samples: int) -> list[slice]:
    """The columns of a block each."""
    return [slice(i, i + _BLOCK) for i in range(0, n_samples, _BLOCK)]


def correct(z: FloatArray, goal: FloatArray, weights: Weights = None) -> FloatArray:
    """One step of Newton's method in the span of p_0..p_(k-1) towards Mean(z^j) = goal[j], j = 1..k."""
    basis, means = orthogonal_basis(z, len(goal) - 1, weights)
    gap = goal[1:] - means[1 : len(goal)]
    gap[np.abs(gap) <= NOISE * _sizes(means, len(goal) - 1)[1:]] = 0  # divided by a small norm, rounding would push
    along, power = np.zeros_like(basis.norm), np.zeros_like(basis.norm)  # power: z^i = sum_j power_j p_j
    power[0] = 1
    for i, norm in enumerate(basis.norm):
        along[i] = (gap[i] / (i + 1) - (power * basis.norm * along).sum(axis=0)) / norm
        after = np.concatenate([basis.centre * power[:-1], 0 * power[-1:]])
        after[1:] += power[:-1]
        after[:-2] += basis.ratio[1:] * power[1:-1]
        power = after
    moved = np.empty_like(z)
    for part in parts(z.shape[1]):
        np.add(z[:, part], sum(c[:, None] * p for c, p in zip(along, basis.polynomials(z[:, part]), strict=True)),
               out=moved[:, part])
    return moved


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


def stieltjes(y: FloatArray, k: int, weights: Weights, with_slope: bool = False) -> tuple[Basis, FloatArray]:
    """The recurrence, a pass for each degree, and p_(k-1)(y), or its derivative for k from 2 on."""
    basis, before = Basis(np.empty((2 * k - 1, len(y)))), np.ones_like(y)
    norm, centre = basis.norm, basis.centre
    slower: Any = 0.0
    slope: Any = before.copy() if with_slope else None
    norm[0] = 1
    if k == 1:
        return basis, before
    centre[0] = mean_of_product(y, weighted(before, weights))
    now, after = y - centre[0][:, None], np.empty_like(y)
    with np.errstate(all="ignore"):  # fewer than k values: the norm is 0, and the caller looks at it
        for j in range(1, k):
            heavy = weighted(now, weights)
            norm[j] = mean_of_product(now, heavy)
            if j == k - 1:
                break
            centre[j] = mean_of_product(np.multiply(now, y, out=after), heavy) / norm[j]
            ratio = (norm[j] / norm[j - 1])[:, None]
            np.subtract(y, centre[j][:, None], out=after)
            if with_slope:
                slower, slope = slope, now + after * slope - ratio * slower
            after *= now
            before *= ratio
            after -= before
            before, now, after = now, after, before
    return basis, slope if with_slope else now
