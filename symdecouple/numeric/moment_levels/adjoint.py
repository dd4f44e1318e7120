"""Exact gradients of the decoupled moments: every level pulls covectors back to the one below.

The covector of order k starts as k z^(k-1)/N on the sample at level k - 1 and goes down:

* a narrow path by the discrete adjoint of the steps it was made of (`runge_kutta.pull_back`);
* level 3 by Theorem F: projected off span {1, z, z^2}, times the slope of the skew flow. That brings it to x itself:
  levels 1 and 2 lie on the same leaf.

With D the distance of the k-th moment, p = p_(k-1), g = p(y), H = <g, g>, V = (D/(k H)) g the velocity of the path and
l a covector, its product with the Jacobian matrix of V is (`moment_levels.way_back`)

    D/(k H) (p'(y) (l - S(y)) - p(y) S'(y)),     S = sum_(j<k) <l, p_j>/D_j p_j

In crowded samples the same is summed up as p' (l1 - R) - g R', which cancels less:
l1 = D/(k H) (l - 2 g <l, g>/H), R = sum_(j<k-1) <l1, p_j>/D_j p_j.

D itself depends on where the path begins: dD = -k y0^(k-1)/N. What is normal to the moments held is dropped at every
end: the levels below take it out anyway.

Two laws hold for every result and cost nothing to check: sum(G) = 0 from order 2 on, x.G = 0 from order 3 on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.moment_levels.adjoint_jit import KERNELS, step_back
from symdecouple.numeric.moment_levels.levels import (
    Ladder,
    climb,
    gaussian_moments,
    raw_moments,
    standardized_reference,
)
from symdecouple.numeric.moment_levels.way_back import step_back_together
from symdecouple.numeric.moment_path.basis import Weights, mean_of_product, orthogonal_basis, weighted
from symdecouple.numeric.moment_path.charts import FROM_ENTRIES, Charted
from symdecouple.numeric.moment_path.course import Course, taken
from symdecouple.numeric.moment_path.path import Followed
from symdecouple.numeric.moment_path.stages import some_rows
from symdecouple.numeric.runge_kutta.integration import Step, pull_back

__all__ = ["Gradients", "decoupled_gradients", "project", "pullback"]

_CHUNK = 2**14  # numbers differentiated together: the stages they keep stay below some 50 MiB
_COMPILED_CHUNK = 2**16  # where the compiled way back takes them
_CHARTED_CHUNK = 2**16  # where nodes stand in for samples, most of them at least
_RESOLVED = 1e-10  # last coefficients of a covector, of the largest one: some of it goes into the gradient
_MORE_NODES = (256, 512)  # where these are not


@dataclass(frozen=True, slots=True)
class Gradients:
    """Decoupled moments (R, order), their gradients (R, order, N), and the first level that a row does not have."""

    values: FloatArray
    gradients: FloatArray
    refusals: dict[int, Outcome] = field(default_factory=dict)


def decoupled_gradients(
    rows: FloatArray, order: int = 6, reference: Sequence[float] | None = None
) -> Gradients:
    """Decoupled moments of every row and their gradients by the entries.

    Parameters
    ----------
    rows : array (R, N)
        float64, finite, N at least 2.
    order : int
        At least 1.
    reference : sequence of float, optional
        Raw moments 1..order - 1; those of the standard normal law by default.

    Returns
    -------
    Gradients
        NaN from the order on that a row does not have.

    Notes
    -----
    Relative error about 1e-9, as far as the values themselves keep their digits. The cost is about that of one and a
    half to two and a half times the values in NumPy; the way back is faster compiled (`moment_levels.adjoint_jit`).

    Source: paper, eq:projection, for level 3 and any level where C2 holds; the chain rule elsewhere.

    Examples
    --------
    The gradient of the orthokurtosis does not feel mean, variance and skewness:

    >>> x = np.array([[1.0, 2, 3, 5, 8, 13]])
    >>> g = decoupled_gradients(x, 4).gradients[0, 3]
    >>> bool(np.all(np.abs(np.vander(x[0], 3, increasing=True).T @ g) < 1e-12 * np.abs(g).max()))
    True
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] < 2 or order < 1:
        raise InvalidInput(f"rows (R, N) with N >= 2 and order >= 1 are expected, got {rows.shape} and order={order}")
    raw = gaussian_moments(order - 1) if reference is None else tuple(reference)[: order - 1]
    centre, unit, goal = standardized_reference(raw)
    n_rows, n_samples = rows.shape
    result = Gradients(np.full((n_rows, order), np.nan), np.full((n_rows, order, n_samples), np.nan))
    is_long = n_samples >= FROM_ENTRIES
    chunk = _CHARTED_CHUNK if is_long else _COMPILED_CHUNK if KERNELS.are_wanted(rows.size) else _CHUNK
    step = max(1, chunk // n_samples)
    with np.errstate(all="ignore"):  # rows without a level are NaN from there on
        for begin in range(0, n_rows, step):
            part = slice(begin, min(begin + step, n_rows))
            refused = _fill(rows[part], order, goal, result.values[part], result.gradients[part])
            result.refusals.update((begin + i, outcome) for i, outcome in refused.items())
    for k in range(3, order + 1):
        result.gradients[:, k - 1] *= unit**k
    return Gradients(raw_moments(result.values, centre, unit, goal), result.gradients, result.refusals)


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
        backward = _Backward(course, np.zeros(stacked.shape[:2]))
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
class _Backward:
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


# --- all levels ---


def _fill(
    rows: FloatArray, order: int, goal: Sequence[float], values: FloatArray, gradients: FloatArray
) -> dict[int, Outcome]:
    """Standardized moments and gradients of a few rows, in place; the refusals."""
    n_samples = rows.shape[1]
    centred = rows - rows.mean(axis=1, keepdims=True)
    centred -= centred.mean(axis=1, keepdims=True)
    variance = mean_of_product(centred, centred)
    z = centred / np.sqrt(variance)[:, None]
    skewness = mean_of_product(z * z, z)
    values[:, :3] = np.stack([rows.mean(axis=1), variance, skewness], axis=1)[:, :order]
    gradients[:, 0] = 1 / n_samples
    if order > 1:
        gradients[:, 1] = 2 / n_samples * centred
    if order > 2:
        scale = 3 / (n_samples * np.sqrt(variance))
        gradients[:, 2] = scale[:, None] * (z * z - skewness[:, None] * z - 1)
    if order < 4:
        return {}
    ladder = climb(rows, order, goal, store=True)
    values[:, 3:] = ladder.moments[4:].T
    found = _descend(ladder, order)
    for fewest in (*_MORE_NODES, None):  # more than for the values
        unclear = np.flatnonzero(np.isnan(found[:, :, 0]).any(axis=0) & np.isfinite(ladder.moments[order]))
        if not len(unclear):
            break
        again = climb(rows[unclear], order, goal, store=True, fewest_nodes=fewest)
        found[:, unclear] = _descend(again, order)
    gradients[:, 3:] = found.transpose(1, 0, 2)
    return ladder.refusals


def _descend(ladder: Ladder, order: int) -> FloatArray:
    """Gradients of orders 4..order, (order - 3, R, N)."""
    assert ladder.skew is not None
    z = ladder.skew.values
    n_rows, n_samples = z.shape
    covectors = np.full((order - 3, n_rows, n_samples), np.nan)
    covectors[0] = 4 / n_samples * z**3
    for k, which, followed in ladder.levels:  # the covector of order k + 1 lives at level k
        covectors[k - 3, which] = (k + 1) / n_samples * followed.values**k
    for k, which, followed in reversed(ladder.levels):
        covectors[k - 3 :, which] = pullback(followed, covectors[k - 3 :, which])
    for part in ladder.charted:
        covectors[1:, part.rows[part.good]] = _from_nodes(part, order) / n_samples
    return ladder.skew.slope * project(z, covectors, 3)


def _from_nodes(part: Charted, order: int) -> FloatArray:
    """Covectors of orders 5..order at level 3, times N, of the rows that arrived; NaN where nodes are too few."""
    chart = part.chart
    fields = np.full((order - 4, *chart.nodes.shape), np.nan)
    for k, which, followed in part.levels:
        fields[k - 4, which] = (k + 1) * followed.values**k
    for k, which, followed in reversed(part.levels):
        fields[k - 4 :, which] = pullback(followed, fields[k - 4 :, which])
    good = chart if part.good.all() else chart.take(part.good)
    series = [good.series(values) for values in fields[:, part.good]]
    out = np.array(good.evaluated(*(c for c, _ in series)))
    for values, (c, tail) in zip(out, series, strict=True):
        values[~(tail <= _RESOLVED * np.abs(c).max(axis=1))] = np.nan
    return out
