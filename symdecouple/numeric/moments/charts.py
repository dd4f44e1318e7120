"""Levels of long samples on nodes that stand in for them, and back: in NumPy, many rows at once.

Along the narrow paths every entry moves by a smooth function of where it began, and the mean of such a function is a
weighted sum over some nodes (`chebyshev_rows`). So the nodes are moved, with their weights, through all levels; the
series of their displacement moves the sample, which is corrected to rounding as ever. Whether there are nodes enough is
seen from the last coefficients of that series; if not, twice as many are tried.

Nothing is decided here: a row whose path ends, that pulls values too far apart, or does not settle, is handed back, as
in `moment_path.jit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.moments.chebyshev_rows import Chart
from symdecouple.numeric.moments.course import correct, residuals
from symdecouple.numeric.moments.hankel import power_mean, steepness
from symdecouple.numeric.moments.moment_path import MOST_GROWTH, RESIDUAL, Followed, Follower
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["FEWEST", "FROM_ENTRIES", "Charted", "climb_on_nodes"]

FEWEST = 64
_MOST = 512
_NEAR = 0.1  # standard deviations that level 4 moves a sample by: beyond, nodes are twice as many from the start
_STIFF = 10.0  # rate at which values are pulled apart at level 4: beyond, it takes all nodes, and a sample
_LONG = 2**13  # of so many entries to be worth it
_ALONE = 2**15  # entries of a sample from which on its nodes move by themselves
_ENTRIES = 3  # a node that make it worthwhile
FROM_ENTRIES = _ENTRIES * FEWEST
_RESOLVED = 1e-13  # last coefficients of a displacement, in standard deviations
_ASTRAY = 1e-9  # the residual beyond which a sample is not corrected
_SETTLED = 5e-15
_CORRECTIONS = 3


@dataclass(frozen=True, slots=True)
class Charted:
    """Rows that climbed on the same number of nodes.

    Attributes
    ----------
    rows : array (r,)
        Their places in the batch.
    chart : Chart
    moments : array (order + 1, r)
        Standardized decoupled moments; those up to 4 are NaN.
    levels : list of (k, which, Followed)
        Paths of the nodes; `which` are places in the chart.
    good : array (r,)
        Which of them arrived; the others have been left to somebody else.
    """

    rows: IntArray
    chart: Chart
    moments: FloatArray
    levels: list[tuple[int, IntArray, Followed]]
    good: NDArray[np.bool_]


def climb_on_nodes(
    z: FloatArray, order: int, goal: Sequence[float], follower: Follower, store: bool,
    fewest: int = FEWEST,
) -> tuple[list[Charted], IntArray]:
    """Climb from level 3 as far as the moment of this order asks for.

    Parameters
    ----------
    z : array (R, n)
        Samples at level 3.
    order, goal, follower, store
        As in `moment_levels.climb`.
    fewest : int
        Nodes to begin with, a multiple of eight.

    Returns
    -------
    charted : list of Charted
    left : array
        The other rows.
    """
    slope, norm, _ = steepness(z, 4)
    change = (goal[4] - power_mean(z, 4)) / (4 * norm)
    is_far = np.abs(change) * np.sqrt(norm) > _NEAR
    is_stiff = ~(np.maximum(change * slope.max(axis=1), change * slope.min(axis=1)) <= _STIFF)
    del slope
    is_open, done, charted = norm > 0, np.zeros(len(z), dtype=np.bool_), list[Charted]()
    if z.shape[1] < _LONG:
        is_open &= ~is_stiff
    wide = np.pi * (z.max(axis=1) - z.min(axis=1))
    m = fewest
    while m <= min(_MOST, z.shape[1] // _ENTRIES):
        rows = np.flatnonzero(is_open & ~(is_far & (m == FEWEST)) & ~(is_stiff & (m < _MOST)) & (wide <= m))
        if len(rows):
            part = z if len(rows) == len(z) else z[rows]
            found, lost = _climbed(part, rows, m, order, goal, follower, store)
            charted.append(found)
            done[rows[found.good]] = True
            is_open[rows[found.good | lost]] = False
        m *= 2
    return charted, np.flatnonzero(~done)


def _climbed(
    z: FloatArray, rows: IntArray, m: int, order: int, goal: Sequence[float], follower: Follower,
    store: bool,
) -> tuple[Charted, NDArray[np.bool_]]:
    """Try m nodes; the second answer tells which rows no number of nodes would help."""
    chart = Chart.of(z, m)
    moments, levels = np.full((order + 1, len(z)), np.nan), list[tuple[int, IntArray, Followed]]()
    lost, growth = np.zeros(len(z), dtype=np.bool_), np.ones(len(z))
    which, nodes = np.arange(len(z)), chart.nodes
    for k in range(4, order):
        here = chart if len(which) == len(z) else chart.take(which)
        moved = follower(
            nodes, k, goal[k], held=goal[1:k], weights=here.weights, store=store, one_by_one=z.shape[1] >= _ALONE
        )
        levels.append((k, which, moved))
        growth[which] *= moved.growth
        lost[which[list(moved.refusals)]] = True
        lost[which[growth[which] > MOST_GROWTH]] = True
        c, tail = here.series(moved.values - here.nodes)
        lost[which[_wanted(m, tail) > min(_MOST, z.shape[1] // _ENTRIES)]] = True
        fine = np.flatnonzero((tail <= _RESOLVED) & ~lost[which])
        resolved = here if len(fine) == len(which) else here.take(fine)
        entries = z[which[fine]] + resolved.evaluated(c[fine])[0]
        settled = _settle(entries, np.array(goal[: k + 1]))
        fine, entries = fine[settled], entries[settled]
        which, nodes = which[fine], moved.values[fine]
        moments[k + 1, which] = power_mean(entries, k + 1)
        if not len(which):
            break
    good = np.zeros(len(z), dtype=np.bool_)
    good[which] = True
    return Charted(rows, chart, moments, levels, good), lost


def _wanted(m: int, tail: FloatArray) -> FloatArray:
    """How many nodes are enough, by the rate at which coefficients fell; 0 where nothing can be said."""
    fell = (tail > _RESOLVED) & (tail < 1)
    wanted: FloatArray = m * np.log(_RESOLVED) / np.log(np.where(fell, tail, _RESOLVED))
    return np.where(fell, wanted, 0)


def _settle(entries: FloatArray, goal: FloatArray) -> NDArray[np.bool_]:
    """Correct samples in place until their moments are there to rounding; tells which are."""
    goals = np.repeat(goal[:, None], len(entries), axis=1)
    residual = residuals(entries, goals)
    for _ in range(_CORRECTIONS):
        left = np.flatnonzero((residual > _SETTLED) & (residual < _ASTRAY))
        if not len(left):
            break
        moved = correct(entries[left], goals[:, left])
        after = residuals(moved, goals[:, left])
        better = after < residual[left]
        entries[left[better]], residual[left[better]] = moved[better], after[better]
        if not better.any():
            break
    there: NDArray[np.bool_] = residual <= RESIDUAL
    return there
