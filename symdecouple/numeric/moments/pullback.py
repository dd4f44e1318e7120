r"""Covectors along narrow paths of the moments: from the end of a path to where it began.

A narrow path goes back by the discrete adjoint of the steps it was made of (`runge_kutta.pull_back`). With D the
distance of the k-th moment, p = p_(k-1), g = p(y), H = <g, g>, V = (D/(k H)) g the velocity of the path and l a
covector, its product with the Jacobian matrix of V is (`way_back`)

    D/(k H) (p'(y) (l - S(y)) - p(y) S'(y)),     S = sum_(j<k) <l, p_j>/D_j p_j

In crowded samples the same is summed up as p' (l1 - R) - g R', which cancels less:
l1 = D/(k H) (l - 2 g <l, g>/H), R = sum_(j<k-1) <l1, p_j>/D_j p_j.

D itself depends on where the path begins: dD = -k y0^(k-1)/N. What is normal to the moments held is dropped at every
end: the levels below take it out anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symdecouple.numeric.moments.adjoint_jit import KERNELS, step_back
from symdecouple.numeric.moments.course import Course, taken
from symdecouple.numeric.moments.hankel import Weights, mean_of_product, orthogonal_basis, weighted
from symdecouple.numeric.moments.moment_path import Followed
from symdecouple.numeric.moments.stages import some_rows
from symdecouple.numeric.moments.step_adjoint import step_back_together
from symdecouple.numeric.paths.integrate import Step, pull_back
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["Backward", "project", "pullback"]


def pullback(followed: Followed, covectors: FloatArray) -> FloatArray:
    """Covectors at the end of `moment_path.follow` become covectors at its start.

    Parameters
    ----------
    followed : Followed
        Of `follow` with ``store=True``.
    covectors : array (R, N) or (c, R, N)
        d(anything)/d(values), one row or c of them for every row; of weighted samples, over the weights.

    Returns
    -------
    array
        Of the same shape: d(anything)/d(rows) along the moments held; NaN in refused rows.
    """
    course = followed.course
    given = np.asarray(covectors, dtype=np.float64)
    stacked = given if given.ndim == 3 else given[None]
    end = (followed.values - course.centre[:, None]) / course.unit[:, None]
    with np.errstate(all="ignore"):
        backward = Backward(course, np.zeros(stacked.shape[:2]))
        pulled = project(end, stacked, course.k, course.weights)
        backward.through(followed.path.tape, pulled)
        by_distance = backward.by_distance * (course.k / backward.unit)
        pulled -= by_distance[:, :, None] * course.start ** (course.k - 1)
    pulled[:, list(followed.refusals)] = np.nan
    return pulled if given.ndim == 3 else pulled[0]


def project(z: FloatArray, covectors: FloatArray, k: int, weights: Weights = None) -> FloatArray:
    """Covectors (c, R, N) less their part in span {1, z, .., z^(k-1)}, the gradients of moments 1..k."""
    basis, _ = orthogonal_basis(z, k, weights)
    out = covectors.copy()
    for norm, p in zip(basis.norm, basis.polynomials(z), strict=True):
        heavy = weighted(p, weights)
        for c in range(len(out)):
            out[c] -= (mean_of_product(out[c], heavy) / norm)[:, None] * p
    return out


@dataclass(slots=True)
class Backward:
    """The transposed Jacobian matrix of a path's velocity; what its distance receives is summed up on the way."""

    course: Course
    by_distance: FloatArray

    @property
    def unit(self) -> int:
        """What a sum over the entries is, beside their mean."""
        return self.course.start.shape[1] if self.course.weights is None else 1

    def through(self, tape: Sequence[Step], covectors: FloatArray) -> None:
        """All steps in place: those without a crowded stage by powers, the others by the recurrence."""
        count = len(covectors) * sum(step.values.size for step in tape)
        weights, k = self.course.weights, self.course.k
        is_compiled = weights is None and KERNELS.are_wanted(count)
        for step in reversed(tape):
            kept, distance = np.ascontiguousarray(covectors[:, step.which]), self.course.distance[step.which]
            share, done = step_back(step, k, distance, kept) if is_compiled else step_back_together(
                step, k, distance, kept, taken(weights, step.which))
            self.by_distance[:, step.which] += share
            covectors[:, step.which] = kept
            if not done.all():
                rest = some_rows(step, ~done)
                covectors[:, rest.which] = pull_back((rest,), self.course.slope, self.pull, covectors)[:, rest.which]

    def pull(self, y: FloatArray, s: FloatArray, which: IntArray, covectors: FloatArray) -> FloatArray:
        """By the recurrence of the polynomials, which loses less in crowds than their coefficients do."""
        k, weights = self.course.k, taken(self.course.weights, which)
        basis, _ = orthogonal_basis(y, k, weights)
        *lower, (g, slope) = basis.with_derivatives(y)
        size = basis.norm[-1]
        rate = self.course.distance[which] / (k * size)
        out = np.empty_like(covectors)
        for c, covector in enumerate(covectors):
            along = mean_of_product(covector, weighted(g, weights))
            self.by_distance[c, which] += self.unit * along / (k * size)
            scaled = rate[:, None] * (covector - (2 * along / size)[:, None] * g)
            part, part_slope = np.zeros_like(y), np.zeros_like(y)
            for norm, (p, p_slope) in zip(basis.norm, lower, strict=False):
                weight = (mean_of_product(scaled, weighted(p, weights)) / norm)[:, None]
                part += weight * p
                part_slope += weight * p_slope
            out[c] = slope * (scaled - part) - g * part_slope
        return out
