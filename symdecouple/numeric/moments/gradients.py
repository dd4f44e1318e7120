"""Exact gradients of the decoupled moments: every level pulls covectors back to the one below.

The covector of order k starts as k z^(k-1)/N on the sample at level k - 1 and goes down:

* a narrow path by the discrete adjoint of the steps it was made of (`moment_levels.pullback`);
* level 3 by Theorem F: projected off span {1, z, z^2}, times the slope of the skew flow. That brings it to x itself:
  levels 1 and 2 lie on the same leaf.

Two laws hold for every result and cost nothing to check: sum(G) = 0 from order 2 on, x.G = 0 from order 3 on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments import moment_path_kernel
from symdecouple.numeric.moments.adjoint_jit import KERNELS
from symdecouple.numeric.moments.charts import FROM_ENTRIES, Charted
from symdecouple.numeric.moments.hankel import mean_of_product
from symdecouple.numeric.moments.levels import Ladder, climb, gaussian_moments, raw_moments, standardized_reference
from symdecouple.numeric.moments.long_gradients import LONG_ADJOINT, gradients_in_parts
from symdecouple.numeric.moments.pullback import project, pullback
from symdecouple.numeric.samples.batch import FloatArray, Panel

__all__ = ["Gradients", "decoupled_gradients", "project", "pullback", "standardized_gradients"]

_CHUNK = 2**14  # numbers differentiated together: the stages they keep stay below some 50 MiB
_COMPILED_CHUNK = 2**16  # where the compiled way back takes them
_CHARTED_CHUNK = 2**16  # where nodes stand in for samples, most of them at least
_RESOLVED = 1e-10  # last coefficients of a covector, of the largest one: some of it goes into the gradient
_MORE_NODES = (256, 512)  # where these are not


@dataclass(frozen=True, slots=True)
class Gradients:
    """Decoupled moments (R, order), their gradients (R, order, N), and the first level that a row does not have."""

    values: FloatArray
    gradients: NDArray[np.floating[Any]]
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
    Samples of 2**14 entries and more take little room beside the answer (`moment_levels.long_gradients`).

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
    result = standardized_gradients(rows, order, goal)
    for k in range(3, order + 1):
        result.gradients[:, k - 1] *= unit**k
    return Gradients(raw_moments(result.values, centre, unit, goal), result.gradients, result.refusals)


def standardized_gradients(rows: NDArray[Any], order: int, goal: Sequence[float], *, with_values: bool = True
                           ) -> Gradients:
    """The same of mean, variance and standardized moments 3..order, with standardized reference moments 0..order - 1.

    Long rows (`moment_levels.long_gradients`) take little room beside the answer, and may be of any type of real
    numbers; gradients of single or half precision are float32. Their values above order 4 are NaN where they are not
    asked for.
    """
    n_rows, n_samples = rows.shape
    kind = np.float32 if rows.dtype in (np.float16, np.float32) else np.float64
    result = Gradients(np.full((n_rows, order), np.nan), np.full((n_rows, order, n_samples), np.nan, kind))
    is_long = n_samples >= FROM_ENTRIES
    chunk = _CHARTED_CHUNK if is_long else _COMPILED_CHUNK if KERNELS.are_wanted(rows.size) else _CHUNK
    step, left = max(1, chunk // n_samples), list(range(n_rows))
    if n_samples >= LONG_ADJOINT:
        compiled = moment_path_kernel.KERNELS.are_wanted(rows.size)
        result.values[...], refusals, left = gradients_in_parts(
            Panel.of(rows), goal, result.gradients, compiled=compiled, with_values=with_values)
        result.refusals.update(refusals)
        step = 1
    with np.errstate(all="ignore"):  # rows without a level are NaN from there on
        for begin in left[::step]:
            part = slice(begin, min(begin + step, n_rows))
            some = np.asarray(rows[part], dtype=np.float64)
            refused = _fill(some, order, goal, result.values[part], result.gradients[part])
            result.refusals.update((begin + i, outcome) for i, outcome in refused.items())
    return result


# --- all levels ---


def _fill(
    rows: FloatArray, order: int, goal: Sequence[float], values: FloatArray, gradients: NDArray[np.floating[Any]]
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
