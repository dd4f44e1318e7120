"""The nested normalization of a sample by its moments, level after level, and the decoupled moments on the way.

Level 1 takes the mean out, level 2 the scale, level 3 the skewness (`skewness_flow`, in closed form up to one root),
and level k > 3 moves the k-th moment along the narrow path (`moment_path`). The decoupled moment of order k is the k-th
moment of the sample at level k - 1: it does not feel what the levels below have set.

All of it is done on standardized samples z; a reference of other mean and variance comes in at the end, by the binomial
formula. A sample that has no level k keeps its moments up to order k.

A long sample of which moments only are asked for is binned before level 3 (`bins`), and its entries are looked at where
a level is missing. A sample whose entries have weights is a law on finitely many values, and moves as such. Paths that
nobody goes back take long samples by bins, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb, factorial, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments.bins import filled
from symdecouple.numeric.moments.hankel import Weights
from symdecouple.numeric.moments.long_rows import Moved, follow_long
from symdecouple.numeric.moments.moment_path import ALLOWED, RTOL, SURELY, Followed, follow, pulled_apart
from symdecouple.numeric.moments.moment_path_kernel import CompiledLevels
from symdecouple.numeric.moments.out_of_reach import by_rounding, fallen_together
from symdecouple.numeric.moments.power_sums import ZERO_VARIANCE, mean_power, place_and_scale
from symdecouple.numeric.moments.skewness_flow import Skewed, impose_skewness
from symdecouple.numeric.moments.skewness_kernel import compiled_impose_skewness
from symdecouple.numeric.moments.skewness_root import find_roots
from symdecouple.numeric.moments.ties import has_merged, unreachable_as_given
from symdecouple.numeric.samples.batch import FloatArray, IntArray, RowValues, SampleMatrix
from symdecouple.numeric.samples.matrix import taken

__all__ = [
    "HIGHEST",
    "Ladder",
    "climb",
    "decoupled_rows",
    "gaussian_moments",
    "raw_moments",
    "standardized_reference",
    "standardized_rows",
]

_BINNED = {False: 2**12, True: 2**17}  # entries from which on rows are binned: from there paths of entries, in NumPy or
# compiled, are rarely faster, and up to eighty times slower
HIGHEST = 12  # orders offered: the means of z^(2k-2) keep their meaning in float64


@dataclass(frozen=True, slots=True)
class Ladder:
    """Samples at every level.

    Attributes
    ----------
    moments : array (order + 1, R)
        Standardized decoupled moments, from order 0; NaN from where a level is missing.
    skew : Skewed or None
        Level 3; its slopes where they are asked for.
    levels : list of (k, rows, Followed or Moved)
        Levels above, without steps the last one; `rows` are places in the batch.
    grown : array (R,)
        Logarithms of how much errors grew, the level that a row is refused for it included.
    refusals : dict
        The first level that a row does not have.
    """

    moments: FloatArray
    skew: Skewed | None
    grown: FloatArray
    levels: list[tuple[int, IntArray, Followed | Moved]] = field(default_factory=list)
    refusals: dict[int, Outcome] = field(default_factory=dict)


def gaussian_moments(order: int) -> tuple[float, ...]:
    """Moments 1..order of the standard normal law: 0 for odd j, (j - 1)!! for even j.

    >>> gaussian_moments(6)
    (0.0, 1.0, 0.0, 3.0, 0.0, 15.0)
    """
    return tuple(
        0.0 if j % 2 else float(factorial(j) // (2 ** (j // 2) * factorial(j // 2))) for j in range(1, order + 1)
    )


def standardized_reference(reference: Sequence[float]) -> tuple[float, float, tuple[float, ...]]:
    """Mean, standard deviation, and moments 0..n of (y - mean)/deviation, from raw moments 1..n of y.

    >>> standardized_reference([10.0, 104.0, 1120.0])
    (10.0, 2.0, (1.0, 0.0, 1.0, 0.0))
    """
    raw = [1.0, *map(float, reference)]
    if not all(map(isfinite, raw)):
        raise InvalidInput(f"reference={list(reference)!r} was given, finite numbers are expected")
    centre = raw[1] if len(raw) > 1 else 0.0
    variance = raw[2] - centre**2 if len(raw) > 2 else 1.0
    if not variance > 0:
        raise InvalidInput(
            f"the reference has mean {centre:g} and second moment {raw[2]:g}, which is more than the mean squared in "
            "every sample that varies"
        )
    unit = variance**0.5
    return centre, unit, tuple(
        sum(comb(j, i) * raw[i] * (-centre) ** (j - i) for i in range(j + 1)) / unit**j for j in range(len(raw))
    )


def climb(
    rows: NDArray[np.floating[Any]],
    order: int,
    goal: Sequence[float],
    *,
    weights: Weights = None,
    compiled: bool = False,
    rtol: float = RTOL,
    store: bool = False,
    with_slope: bool = False,
) -> Ladder:
    """Normalize samples level by level, as far as the moment of this order asks for.

    Parameters
    ----------
    rows : array (R, N)
        Finite, N at least 2.
    order : int
        At least 4.
    goal : sequence of order numbers
        Standardized reference moments 0..order - 1.
    weights : array (R, N), optional
        Of the entries.
    compiled : bool
        Whether rows that need no care are moved by `moment_path_kernel`, those at level 3 in place; without weights.
    rtol : float
        As in `moment_path.follow`.
    store : bool
        Keep the steps, for gradients.
    with_slope : bool
        Whether level 3 keeps its slopes.
    """
    impose = compiled_impose_skewness if compiled else impose_skewness
    skew = impose(rows, goal[3], weights=weights, with_slope=with_slope)
    ladder = Ladder(np.full((order + 1, len(rows)), np.nan), skew, np.zeros(len(rows)), refusals=dict(skew.refusals))
    ladder.moments[:4], grown = np.array(goal[:4])[:, None], ladder.grown
    quick = CompiledLevels(skew.values, goal[:order], ladder.moments, grown) if compiled else None
    allowed, surely = np.log([ALLOWED.get(), SURELY * ALLOWED.get()]).tolist()
    which, again = np.array([i for i in range(len(rows)) if i not in skew.refusals], dtype=np.intp), list[int]()
    z, share = taken(skew.values, which), None if weights is None else taken(weights, which)
    share = None if share is None else share / share.sum(axis=1)[:, None]
    for k in range(4, order + 1):
        if not len(which):
            break
        if quick is None:
            careful = which
            ladder.moments[k, which] = mean_power(z, k, share)
        else:
            is_there, is_sharp = quick.settle(which, k)
            torn = is_there & (grown[which] > surely)
            kept = is_sharp & (grown[which] < allowed - (surely - allowed))
            if not kept.all():
                ladder.moments[k, which[torn]] = np.nan
                ladder.refusals.update((i, pulled_apart(k - 1)) for i in which[torn].tolist())
                again += which[~torn & ~kept].tolist()
                which = which[kept]
            careful = quick.move(which, k) if k < order else which[:0]
            z = skew.values[careful]
        if k == order or not len(careful):
            continue
        errors = np.exp(grown[careful])
        moved = follow(z, k, goal[k], held=goal[1:k], weights=share, grown=errors, store=True, rtol=rtol
                       ) if store else follow_long(z, k, goal[k], goal[1:k], rtol, share, errors, keep=True)
        if store or k == order - 1:
            ladder.levels.append((k, careful, moved))
        grown[careful] += np.log(moved.growth)
        ladder.refusals.update((int(careful[i]), fallen_together(rows[careful[i]], z[i], outcome))
                               for i, outcome in moved.refusals.items())
        which = np.setdiff1d(which, careful[list(moved.refusals)])
        if quick is None:
            kept = np.delete(np.arange(len(z)), list(moved.refusals))
            z, share = taken(moved.values, kept), None if share is None else taken(share, kept)
        else:
            skew.values[careful] = moved.values
    if again:
        alone = climb(np.asarray(rows)[again], order, goal, rtol=rtol)
        ladder.moments[:, again] = alone.moments
        ladder.refusals.update((again[i], outcome) for i, outcome in alone.refusals.items())
    return ladder


def decoupled_rows(
    matrix: SampleMatrix, order: int, reference: Sequence[float], *, compiled: bool = False
) -> RowValues:
    """Decoupled moments 1..order of each row, (R, order), with raw reference moments 1..order - 1.

    `compiled` is as in `climb`, where there are no weights.
    """
    centre, unit, goal = standardized_reference(reference[: order - 1])
    values, refusals = standardized_rows(matrix, order, goal, compiled=compiled)
    return RowValues(raw_moments(values, centre, unit, goal), refusals)


def standardized_rows(
    matrix: SampleMatrix, order: int, goal: Sequence[float], *, compiled: bool = False
) -> tuple[FloatArray, dict[int, Outcome]]:
    """Mean, variance and standardized decoupled moments 3..order of each row, (R, order), and the rows refused.

    `goal` is standardized reference moments 0..order - 1; `compiled` is as in `decoupled_rows`.
    """
    values = np.full((len(matrix.low), max(order, 3)), np.nan)
    values[:, :3] = np.array(place_and_scale(matrix)).T
    constant = matrix.low == matrix.high
    refusals = {int(i): ZERO_VARIANCE for i in np.flatnonzero(constant)} if order > 2 else {}
    which = np.flatnonzero(~constant) if order > 3 else np.empty(0, dtype=np.intp)
    is_rounded = len(which) and not (matrix.ties is None and matrix.ends is None)
    if is_rounded:
        counted = unreachable_as_given(matrix, goal[3])
        refusals, which = {**refusals, **counted}, np.setdiff1d(which, list(counted))
    if order > 4 and matrix.values.shape[1] >= _BINNED[compiled and matrix.weights is None]:
        which = np.array([i for i in which.tolist() if not _fill_binned(matrix, i, order, goal, values, refusals)],
                         dtype=np.intp)
    if len(which):
        weights = None if matrix.weights is None else taken(matrix.weights, which)
        ladder = climb(taken(matrix.values, which), order, goal, weights=weights,
                       compiled=compiled and weights is None)
        values[which, 3:] = ladder.moments[4:].T
        merged = has_merged(matrix) if is_rounded and ladder.refusals else constant
        lost = np.array([i for i in which[list(ladder.refusals)].tolist() if merged[i] and np.isnan(values[i, 3])],
                        dtype=np.intp)
        if len(lost):  # the level is beyond float64, and the kurtosis there is not
            values[lost, 3] = find_roots(matrix, lost, np.full(len(merged), goal[3])).kurtosis[lost]
        refusals.update((int(which[i]), by_rounding(outcome) if merged[which[i]] else outcome)
                        for i, outcome in ladder.refusals.items() if order > 4 or np.isnan(values[which[i], 3]))
    return values[:, :order], refusals


def _fill_binned(
    matrix: SampleMatrix, i: int, order: int, goal: Sequence[float], values: FloatArray, refusals: dict[int, Outcome]
) -> bool:
    """Write standardized moments from 4 on of a long row by its bins; False where the entries are to tell.

    They do where a level is missing: counts of ties, and by how much a reference is missed. That errors grow too much
    is told by the bins.
    """
    heavy = None if matrix.weights is None else matrix.weights[i]
    bins = filled(matrix.values[i], matrix.low[i], matrix.high[i], heavy, is_falling=bool(values[i, 2] < 0))
    if not bins.resolves(goal[3]):
        return False
    few = bins.matrix()
    ladder = climb(few.values, order, goal, weights=few.weights)
    if ladder.refusals and not ladder.grown[0] > np.log(SURELY * ALLOWED.get()):
        return False
    values[i, 3:] = ladder.moments[4:, 0]
    refusals.update((i, outcome) for outcome in ladder.refusals.values())
    return True


def raw_moments(values: FloatArray, centre: float, unit: float, goal: Sequence[float]) -> FloatArray:
    """Variance and standardized moments (R, order) as raw ones at the mean and deviation of the reference."""
    out = values.copy()
    if out.shape[1] > 1:
        out[:, 1] += centre**2
    for k in range(3, out.shape[1] + 1):
        below = sum(comb(k, i) * centre ** (k - i) * unit**i * goal[i] for i in range(k))
        out[:, k - 1] = below + unit**k * values[:, k - 1]
    return out
