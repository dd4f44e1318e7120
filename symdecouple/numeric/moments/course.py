"""Where a narrow path of the moments goes: coordinates, velocity, and the way back onto its manifold.

The path of `moment_path` runs in z = (y - mean)/deviation. A `Course` holds, for every row, what z begins with, which
moments it has to keep and the one it has to reach; it knows the velocity at any point and the correction that belongs
to any s. The correction is Newton's, in the span of p_0..p_(k-1):

    z + sum_j c_j p_(j-1)(z),      i sum_(j<=i) L_ij D_j c_j = gap_i,      i = 1..k

with L lower triangular: the gap of one moment after the other is closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symdecouple.numeric.moments.hankel import Weights, free_direction, orthogonal_basis, power_means, steepness
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["NOISE", "Course", "correct", "residuals", "taken"]

NOISE = 2.0**-48  # 4e-15 of Mean|z|^j: a gap that is left alone


@dataclass(frozen=True, slots=True)
class Course:
    """What the path of each row is: the numbers that a second look at it needs.

    Attributes
    ----------
    k : int
    centre, unit : arrays (R,)
        Mean and standard deviation that are held.
    start : array (R, N)
        z at s = 0.
    goal : array (k + 1, R)
        Moments of z at the end, from order 0.
    first : array (R,)
        k-th moment of z at the start.
    weights : array (R, N) or None
    """

    k: int
    centre: FloatArray
    unit: FloatArray
    start: FloatArray
    goal: FloatArray
    first: FloatArray
    weights: Weights

    @property
    def distance(self) -> FloatArray:
        """By how much the k-th moment of z has to change."""
        change: FloatArray = self.goal[self.k] - self.first
        return change

    def slope(self, z: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
        """dz/ds."""
        direction, norm = free_direction(z, self.k, taken(self.weights, which))
        rate = self.distance[which] / (self.k * norm)
        moved: FloatArray = direction * rate[:, None]
        return moved

    def stretch(self, z: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Derivative of the velocity by the value, how fast errors of each value grow with s, and D_(k-1)/h_(2k-2)."""
        slope, norm, highest = steepness(z, self.k, taken(self.weights, which))
        slope *= (self.distance[which] / (self.k * norm))[:, None]
        return slope, norm / highest

    def corrected(self, z: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
        """One Newton step towards the moments that belong to s."""
        goal = self.goal[:, which].copy()
        goal[self.k] -= (1 - s) * self.distance[which]
        return correct(z, goal, taken(self.weights, which))

    @classmethod
    def of(
        cls, rows: FloatArray, k: int, targets: FloatArray, held: ArrayLike | None, weights: Weights
    ) -> Course:
        """Mean and deviation, and what the moments of z are to be, from raw moments."""
        if held is None:
            centre = power_means(rows, 1, weights)[1]
            centre = centre + power_means(rows - centre[:, None], 1, weights)[1]
            unit = np.sqrt(power_means(rows - centre[:, None], 2, weights)[2])
            start = (rows - centre[:, None]) / unit[:, None]
            means = power_means(start, k, weights)
            goal = means.copy()
            goal[1], goal[2] = 0, 1
            goal[k] += (targets - power_means(rows, k, weights)[k]) / unit**k
            return cls(k, centre, unit, start, goal, means[k], weights)
        given = np.asarray(held, dtype=np.float64)
        given = np.broadcast_to(given[:, None] if given.ndim == 1 else given, (k - 1, len(rows)))
        raw = np.vstack([np.ones((1, len(rows))), given, targets[None]])
        centre, unit = raw[1].copy(), np.sqrt(raw[2] - raw[1] ** 2)
        start = (rows - centre[:, None]) / unit[:, None]
        goal = np.array([
            sum(comb(j, i) * raw[i] * (-centre) ** (j - i) for i in range(j + 1)) / unit**j for j in range(k + 1)
        ])
        return cls(k, centre, unit, start, goal, power_means(start, k, weights)[k], weights)


def correct(z: FloatArray, goal: FloatArray, weights: Weights = None) -> FloatArray:
    """One step of Newton's method in the span of p_0..p_(k-1) towards Mean(z^j) = goal[j], j = 1..k."""
    k = len(goal) - 1
    basis, means = orthogonal_basis(z, k, weights)
    lower = basis.of_powers()
    gap = goal[1:] - means[1 : k + 1]
    gap[np.abs(gap) <= NOISE * _sizes(means, k)[1:]] = 0  # divided by a small norm, rounding would push
    c = np.empty((k, len(z)))
    for i in range(k):  # the derivative of Mean(z^(i+1)) along p_j is (i + 1) L_ij D_j
        rest = gap[i] / (i + 1)
        for j in range(i):
            rest = rest - lower[i, j] * basis.norm[j] * c[j]
        c[i] = rest / basis.norm[i]
    moved = z.copy()
    for c_j, p in zip(c, basis.polynomials(z), strict=True):
        moved += c_j[:, None] * p
    return moved


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


def taken(weights: Weights, which: IntArray | NDArray[np.bool_]) -> Weights:
    """Weights of some rows."""
    return None if weights is None else weights[which]
