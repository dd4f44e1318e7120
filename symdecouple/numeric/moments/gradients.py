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
from symdecouple.numeric.moments import hankel
from symdecouple.numeric.moments.hankel import Weights, orthogonal_basis
from symdecouple.numeric.moments.levels import Ladder, climb
from symdecouple.numeric.moments.long_rows import FROM_ENTRIES, LongRow
from symdecouple.numeric.moments.moment_path import TOGETHER, Followed
from symdecouple.numeric.moments.moment_path_adjoint import project, project_influence, pullback
from symdecouple.numeric.moments.power_sums import (
    ZERO_VARIANCE,
    centred_rows,
    place_and_scale,
    power,
    standardized_entries,
)
from symdecouple.numeric.samples.batch import FloatArray, SampleMatrix
from symdecouple.numeric.samples.matrix import taken

__all__ = ["Gradients", "down_to_three", "project", "pullback", "standardized_gradients", "unresolved"]

_FROM_ENTRIES_WITHOUT_PATH = 2**17  # of order 4: below, its entries take half of the time of bins
_RESOLVED = np.array([[1e-7], [1e-20]])  # D_2/h_4 and D_3/h_6 at level 3: the skewness leaves 1e-16/D_2 of a gradient
# open, nine digits of which are promised; p_3 is rounded by 1e-16
_CRITICAL = Outcome(False, "critical point", "two values are a critical point of the skewness: there is no gradient of "
                    "order 5 and above")
_LOST = Outcome(False, "beyond float64", "some values are so near to each other beside the others that float64 does "
                "not tell them apart at level 3: gradients of order 4 and above are lost; tie them, or use dps=")


@dataclass(frozen=True, slots=True)
class Gradients:
    """Decoupled moments (R, order), their gradients (R, order, N), and the first level that a row does not have."""

    values: FloatArray
    gradients: FloatArray
    refusals: dict[int, Outcome] = field(default_factory=dict)


def standardized_gradients(
    rows: NDArray[Any], order: int, goal: Sequence[float], weights: Weights = None
) -> Gradients:
    """Mean, variance and standardized decoupled moments 3..order of every row, and their gradients by the entries.

    Rows are real numbers of any type, finite, at least two; `goal` is standardized reference moments 0..order - 1;
    weights, (R, N), are shares or any multiples of them. NaN from the order on that a row does not have.

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
    result = Gradients(np.full((n_rows, order), np.nan), np.empty((n_rows, order, n_samples)))
    step = max(1, TOGETHER // n_samples)
    with np.errstate(all="ignore"):  # rows without a level are NaN from there on
        for begin in range(0, n_rows, step):
            part = slice(begin, begin + step)
            some, share = np.asarray(rows[part], dtype=np.float64), None
            if weights is not None:
                share = weights[part] / weights[part].sum(axis=1)[:, None]
            refused = _fill(some, order, goal, share, result.values[part], result.gradients[part])
            result.gradients[part] *= 1 / n_samples if share is None else share[:, None]
            result.refusals.update((begin + i, outcome) for i, outcome in refused.items())
    return result


# --- all levels: derivatives by the entries, over their shares ---


def _fill(
    rows: FloatArray, order: int, goal: Sequence[float], share: Weights, values: FloatArray, slopes: FloatArray
) -> dict[int, Outcome]:
    """Standardized moments and derivatives of a few rows, in place; the refusals."""
    values[:, :3] = np.stack(place_and_scale(SampleMatrix.weighted(rows, share)), axis=1)[:, :order]
    slopes[:, 0] = 1
    if order > 1:
        centred, exponent = centred_rows(rows, share)
        np.ldexp(centred, exponent[:, None], out=slopes[:, 1])
        slopes[:, 1] *= 2
        del centred
    if order < 3:
        return {}
    z, slope, left = standardized_entries(rows, share)
    np.multiply(z, z, out=slopes[:, 2])
    z *= values[:, 2:3]
    z += 1
    slopes[:, 2] -= z
    slopes[:, 2] *= 3 * slope
    del z
    refusals = {int(i): ZERO_VARIANCE for i in np.flatnonzero(np.isnan(left))}
    todo = np.arange(len(rows) if order > 3 else 0)
    has_path = order > 4 or share is not None
    if order > 3 and rows.shape[1] >= (FROM_ENTRIES if has_path else _FROM_ENTRIES_WITHOUT_PATH):
        todo = np.array([i for i in todo.tolist() if i in refusals or not _fill_long(
            rows[i], order, goal, hankel.taken(share, i), values[i], slopes[i])], dtype=np.intp)
    if len(todo):
        found = taken(slopes, todo)[:, 3:].swapaxes(0, 1)
        ladder, refused = _above_three(taken(rows, todo), order, goal, hankel.taken(share, todo), found)
        values[todo, 3:] = ladder.moments[4:].T
        if not np.may_share_memory(found, slopes):
            slopes[todo, 3:] = found.swapaxes(0, 1)
        refusals = {int(todo[i]): outcome for i, outcome in refused.items()}
    return refusals


def _fill_long(row: FloatArray, order: int, goal: Sequence[float], share: Weights, values: FloatArray,
               slopes: FloatArray) -> bool:
    """The same from order 4 on for one long row, by its bins; False where the entries are to tell."""
    few = LongRow.of(row, goal[3], share, is_falling=bool(values[2] < 0))
    if few is None:
        return False
    found = np.empty((order - 3, *few.values.shape))
    ladder, refused = _above_three(few.values, order, goal, few.share, found)
    if not refused:
        values[3:] = ladder.moments[4:, 0]
        few.at_entries(np.ldexp(found[:, 0], -few.frame.exponent), row, slopes[3:])
    return not refused


def _above_three(
    rows: FloatArray, order: int, goal: Sequence[float], share: Weights, found: FloatArray
) -> tuple[Ladder, dict[int, Outcome]]:
    """Samples at their levels, and the refusals; derivatives of orders 4..order are written, (order - 3, R, N)."""
    ladder = climb(rows, order, goal, weights=share, store=True, with_slope=True)
    down_to_three(ladder, found, share)
    assert ladder.skew is not None
    found *= ladder.skew.slope
    lost = unresolved(rows, ladder.skew.values, share)
    found[:, list(lost)] = np.nan
    two = [i for i, outcome in lost.items() if outcome is _CRITICAL and i not in ladder.skew.refusals]
    found[0, two] = 0  # the least value that order 4 has beside this skewness
    return ladder, {i: o for i, o in lost.items() if order > 4 or o is not _CRITICAL} | ladder.refusals


def down_to_three(ladder: Ladder, found: FloatArray, share: Weights, psi: FloatArray | None = None) -> None:
    """Write derivatives of orders 4..order at level 3, (order - 3, R, N), without their part along moments 1..3.

    Influence functions, up to constants, are written to `psi` of this shape.
    """
    assert ladder.skew is not None
    z = ladder.skew.values
    found[1:] = np.nan
    np.multiply(z, z, out=found[0])
    found[0] *= z
    if psi is not None:
        np.multiply(found[0], z, out=psi[0])
    found[0] *= 4
    for k, which, followed in ladder.levels:  # the covector of order k + 1 lives at level k
        found[k - 3, which] = (k + 1) * power(followed.values, k)
        if psi is not None:
            psi[k - 3, which] = power(followed.values, k + 1)
    for k, which, followed in reversed(ladder.levels):
        if len(which):
            above = None if psi is None else psi[k - 3 :, which]
            assert isinstance(followed, Followed)
            found[k - 3 :, which] = pullback(followed, found[k - 3 :, which], above)
            if psi is not None:
                psi[k - 3 :, which] = above
    if psi is None:
        project(z, found, 3, share, out=found)
    else:
        found[:], psi[:] = project_influence(z, found, psi, 3, share)


def unresolved(rows: FloatArray, z: FloatArray, share: Weights = None) -> dict[int, Outcome]:
    """Return the rows whose entries float64 cannot tell apart at level 3, z: what is free of 1, z, z^2 is rounding."""
    basis, means = orthogonal_basis(z, 4, share)
    lost = ~(basis.norm[2:] > _RESOLVED * means[[4, 6]])
    found: dict[int, Outcome] = {}
    for i in np.flatnonzero(lost.any(axis=0)).tolist():
        count = len(np.unique(rows[i] if share is None else rows[i][share[i] > 0]))
        if count != 3:  # three values are a critical point of the fourth moment: its gradient is 0
            found[i] = _CRITICAL if count < 3 else _LOST
    return found
