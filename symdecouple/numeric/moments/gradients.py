"""Exact gradients of the decoupled moments: every level pulls covectors back to the one below.

The covector of order k starts as k z^(k-1)/N on the sample at level k - 1 and goes down:

* a narrow path by the discrete adjoint of the steps it was made of (`moment_path_adjoint`);
* level 3 by Theorem F: projected off span {1, z, z^2}, times the slope of the skew flow. That brings it to x itself:
  levels 1 and 2 lie on the same orbit.

Two laws hold for every result and cost nothing to check: sum(G) = 0 from order 2 on, x.G = 0 from order 3 on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.hankel import orthogonal_basis
from symdecouple.numeric.moments.levels import Ladder, climb
from symdecouple.numeric.moments.moment_path_adjoint import project, pullback
from symdecouple.numeric.moments.nodes import COUNTS, FROM_ENTRIES, series_at, series_of, tail
from symdecouple.numeric.moments.power_sums import (
    ZERO_VARIANCE,
    centred_rows,
    mean_power,
    place_and_scale,
    standardized_entries,
)
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.samples.batch import FloatArray, SampleMatrix

__all__ = ["Gradients", "project", "pullback", "standardized_gradients"]

_CHUNK = 2**15  # numbers differentiated together: fewer leave calls dearer than sums, more leave the second cache
_RESOLVED = np.array([[1e-10], [1e-20]])  # D_2/h_4 and D_3/h_6 at level 3: the skewness leaves 1e-15/D_2 open, p_3
# is rounded by 1e-16
_PIECE = 2**13  # entries of a row worked on together
_TOLD = 1e-11  # last coefficients of gradients at nodes: a hundredth of what gradients are told to
_CRITICAL = Outcome(False, "critical point", "two values are a critical point of the skewness: there is no gradient of "
                    "order 4 and above")
_LOST = Outcome(False, "beyond float64", "some values are so near to each other beside the others that float64 does "
                "not tell them apart at level 3: gradients of order 4 and above are lost; tie them, or use dps=")


@dataclass(frozen=True, slots=True)
class Gradients:
    """Decoupled moments (R, order), their gradients (R, order, N), and the first level that a row does not have."""

    values: FloatArray
    gradients: FloatArray
    refusals: dict[int, Outcome] = field(default_factory=dict)


def standardized_gradients(rows: NDArray[Any], order: int, goal: Sequence[float]) -> Gradients:
    """Mean, variance and standardized decoupled moments 3..order of every row, and their gradients by the entries.

    Rows are real numbers of any type, finite, at least two; `goal` is standardized reference moments 0..order - 1. NaN
    from the order on that a row does not have.

    Notes
    -----
    Relative error about 1e-9, as far as the values themselves keep their digits. The cost is about that of one and a
    half to three times the values in NumPy; of a long sample, three times its memory beside the answer.

    Source: paper, eq:projection, for level 3 and any level where C2 holds; the chain rule elsewhere.

    Examples
    --------
    The orthokurtosis of one sample, and that it does not feel mean, variance and skewness:

    >>> x = np.array([[1.0, 2, 3, 5, 8, 13]])
    >>> g = standardized_gradients(x, 4, (1, 0, 1, 0)).gradients[0, 3]
    >>> bool(np.all(np.abs(np.vander(x[0], 3, increasing=True).T @ g) < 1e-12 * np.abs(g).max()))
    True
    """
    n_rows, n_samples = rows.shape
    result = Gradients(np.full((n_rows, order), np.nan), np.full((n_rows, order, n_samples), np.nan))
    step = max(1, _CHUNK // n_samples)
    with np.errstate(all="ignore"):  # rows without a level are NaN from there on
        for begin in range(0, n_rows, step):
            part = slice(begin, begin + step)
            some = np.asarray(rows[part], dtype=np.float64)
            refused = _fill(some, order, goal, result.values[part], result.gradients[part])
            result.refusals.update((begin + i, outcome) for i, outcome in refused.items())
    return result


# --- all levels ---


def _fill(
    rows: FloatArray, order: int, goal: Sequence[float], values: FloatArray, gradients: FloatArray
) -> dict[int, Outcome]:
    """Standardized moments and gradients of a few rows, in place; the refusals."""
    n_samples = rows.shape[1]
    values[:, :3] = np.stack(place_and_scale(SampleMatrix.of(rows)), axis=1)[:, :order]
    gradients[:, 0] = 1 / n_samples
    if order > 1:
        centred, exponent = centred_rows(rows)
        np.ldexp(centred, exponent[:, None], out=gradients[:, 1])
        gradients[:, 1] *= 2 / n_samples
        del centred
    if order < 3:
        return {}
    refusals = _fill_third(rows, gradients[:, 2])
    if order > 3:
        refusals = _fill_above(rows, order, goal, values[:, 3:], gradients[:, 3:])
    return refusals


def _fill_third(rows: FloatArray, gradient: FloatArray) -> dict[int, Outcome]:
    """The gradient of the skewness."""
    z, slope, left = standardized_entries(rows)
    third, factor = mean_power(z, 3, None)[:, None], 3 / rows.shape[1] * slope
    for i in range(0, rows.shape[1], _PIECE):
        part = z[:, i : i + _PIECE]
        gradient[:, i : i + _PIECE] = factor * (part * part - third * part - 1)
    return {int(i): ZERO_VARIANCE for i in np.flatnonzero(np.isnan(left))}


def _fill_above(
    rows: FloatArray, order: int, goal: Sequence[float], values: FloatArray, gradients: FloatArray
) -> dict[int, Outcome]:
    """The same from order 4 on. In long rows slopes are found once more at the end: their memory is lent till then."""
    is_long = rows.shape[1] >= FROM_ENTRIES
    ladder = climb(rows, order, goal, store=True, with_slope=not is_long)
    refusals = _unresolved(rows, ladder) | ladder.refusals
    while not _descend(ladder, order, gradients):  # which takes more nodes than the samples at their levels
        most = max(len(standing[0].places) for standing, _, _ in ladder.parts)
        del ladder
        ladder = climb(rows, order, goal, store=True, counts=[m for m in COUNTS if m > most])
    assert ladder.skew is not None
    slope = impose_skewness(rows, goal[3]).slope if is_long else ladder.skew.slope
    gradients *= slope[:, None]
    values[:] = ladder.moments[4:].T
    for i, outcome in refusals.items():
        if outcome in (_CRITICAL, _LOST):
            gradients[i] = np.nan
    return refusals


def _unresolved(rows: FloatArray, ladder: Ladder) -> dict[int, Outcome]:
    """Rows at level 3 whose entries float64 cannot tell apart there: what is free of 1, z, z^2 is rounding."""
    assert ladder.skew is not None
    basis, means = orthogonal_basis(ladder.skew.values, 4)
    lost = ~(basis.norm[2:] > _RESOLVED * means[[4, 6]])
    found: dict[int, Outcome] = {}
    for i in np.flatnonzero(lost.any(axis=0)).tolist():
        count = len(np.unique(rows[i]))
        if count != 3:  # three values are a critical point of the fourth moment: its gradient is 0
            found[i] = _CRITICAL if count < 3 else _LOST
    return found


def _descend(ladder: Ladder, order: int, out: FloatArray) -> bool:
    """Write covectors of orders 4..order at level 3, (R, order - 3, N); False where the nodes, if any, do not tell."""
    assert ladder.skew is not None
    z, is_told, covectors = ladder.skew.values, True, out.swapaxes(0, 1)
    _at_level_three(ladder, z, z.shape[1], covectors)
    for standing, places, part in ladder.parts:
        at_nodes = np.empty((order - 3, len(standing), len(standing[0].places)))
        _at_level_three(part, np.stack([n.places for n in standing]), 1, at_nodes)
        for row, place in places.items():
            series = series_of(standing[place], at_nodes[:, place])
            is_told &= bool((tail(series) <= _TOLD).all())
            series_at(standing[place], series / z.shape[1], z[row], covectors[:, row])
    project(z, covectors, 3, out=covectors)
    return is_told


def _at_level_three(ladder: Ladder, z: FloatArray, unit: int, covectors: FloatArray) -> None:
    """Write covectors of orders 4 and up, (.., R, N), at samples z of level 3; the weight of an entry is 1/unit."""
    np.multiply(z, z, out=covectors[0])
    covectors[0] *= z
    covectors[0] *= 4 / unit
    covectors[1:] = np.nan
    for k, which, followed in ladder.levels:  # the covector of order k + 1 lives at level k
        covectors[k - 3, which] = (k + 1) / unit * followed.values**k
    for k, which, followed in reversed(ladder.levels):
        if len(which):
            covectors[k - 3 :, which] = pullback(followed, covectors[k - 3 :, which])
