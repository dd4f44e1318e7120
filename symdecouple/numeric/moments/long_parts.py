"""Levels of one long sample in little room: it is looked at in parts, twice, and nothing of its length is kept.

Level 3 is a formula in each entry (`riccati.row`). Above, the path of a sample is that of some dozens of nodes with
weights, and a series tells how an entry moves (`long_rows.series`). The first look sums Chebyshev polynomials, for
the weights; the nodes climb through all levels; the second look moves every part of the sample to every level, and sums
its powers there, y^1 to y^(2k). These are all that is wanted: with gap_j what is missing from the held moments,

    y + sum_j c_j p_(j-1)(y)

is Newton's correction onto the manifold (`moment_path.course`), and to first order moment k + 1 becomes
Mean(y^(k+1)) + (k + 1) Mean(y^k sum_j c_j p_(j-1)(y)): sums of powers again. The correction is small, or nothing is
answered.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.course import NOISE
from symdecouple.numeric.moments.hankel import power_mean
from symdecouple.numeric.moments.long_few_values import few_values
from symdecouple.numeric.moments.long_means import Means
from symdecouple.numeric.moments.long_series import (
    Climb,
    by_one_series,
    by_panels,
    in_panels,
    part_size,
    shortened,
    spans,
)
from symdecouple.numeric.moments.moment_path import MOST_GROWTH, follow, pulled_apart
from symdecouple.numeric.moments.skewness_flow import Imposed, impose_skewness
from symdecouple.numeric.moments.skewness_row import FlowedRow, Locate, flowed_row, located
from symdecouple.numeric.moments.ties import CountedTies
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Panel

__all__ = [
    "FEW", "LONG", "climb_in_parts", "correction", "is_far", "long_row", "moments_at_levels", "sizes",
    "values_at_level_3",
]

LONG = 2**17  # entries from which on a sample is looked at in parts
FEW = 2**11  # distinct values that are moved as such
_NEAR = 0.1  # standard deviations that level 4 moves a sample by: beyond, nodes are twice as many from the start
_LOST = 1e-10  # D_j/h_(2j) below which sums of powers leave too few digits of a correction
_SMALL = 1e-8  # standard deviations of a correction whose square is rounding


def long_row(
    panel: Panel, i: int, order: int, goal: Sequence[float], means: Means, locate: Locate = located,
    kind: type[FlowedRow] = FlowedRow,
) -> tuple[FloatArray, Outcome | None] | None:
    """Standardized decoupled moments 4..order of a long row, and the first level it lacks; None where it wants care.

    Parameters
    ----------
    panel : Panel
        Without weights.
    i : int
    order : int
        At least 4.
    goal : sequence of order numbers
        Standardized reference moments 0..order - 1.
    means : Means
    locate : callable
        What finds the pole of level 3.
    kind : type
        What brings parts of the row there.
    """
    with np.errstate(all="ignore"):
        few = few_values(panel.values[i], FEW)
        if few is not None:
            return _climb_values(*few, order, np.array(goal, dtype=np.float64), means)
        row = flowed_row(panel, i, goal[3], locate, kind)
        if isinstance(row, Outcome):
            return np.full(order - 3, np.nan), row
        return climb_in_parts(row, order, goal, means)


def _climb_values(
    values: FloatArray, counts: IntArray, order: int, goal: FloatArray, means: Means
) -> tuple[FloatArray, Outcome | None]:
    """Distinct values move with weights: exactly the path of the sample."""
    weights, found = counts / counts.sum(), np.full(order - 3, np.nan)
    skew = values_at_level_3(values, counts, goal[3])
    if isinstance(skew, Outcome):
        return found, skew
    now, growth = skew.values[0], 1.0
    for k in range(4, order + 1):
        found[k - 4] = power_mean(now[None], k, weights[None])[0]
        if k < order:
            there = means.follow(now, weights, k, goal[: k + 1])
            if there is None:
                careful = follow(now[None], k, goal[k], held=goal[1:k], weights=weights[None], one_by_one=True)
                if careful.refusals:
                    return found, careful.refusals[0]
                there = careful.values[0], float(careful.growth[0])
            now, growth = there[0], growth * there[1]
            if growth > MOST_GROWTH:
                return found, pulled_apart(k, growth)
    return found, None


def values_at_level_3(values: FloatArray, counts: IntArray, target: float) -> Imposed | Outcome:
    """Distinct values (m,), sorted, with the numbers of their entries, or why they have no level 3."""
    ties, goal = CountedTies(counts[:1], counts[-1:], int(counts.sum())), np.array([target])
    refused = ties.unreachable(goal).get(0)
    skew = impose_skewness(values[None], goal, weights=counts[None].astype(np.float64))
    if skew.refusals or (refused is not None and not ties.two_valued()[0]):
        return refused or skew.refusals[0]
    return skew


def climb_in_parts(
    row: FlowedRow, order: int, goal: Sequence[float], means: Means
) -> tuple[FloatArray, Outcome | None] | None:
    """Standardized decoupled moments 4..order of a sample at level 3, as `long_row`; None where nodes do not tell them.

    Parameters
    ----------
    row : FlowedRow
    order : int
        At least 4.
    goal : sequence of order numbers
        Standardized reference moments 0..order - 1.
    means : Means
    """
    found = np.full(order - 3, np.nan)
    found[0] = row.moment(4)
    if order == 4:
        return found, None
    wanted = np.array(goal, dtype=np.float64)
    climb = Climb(4, wanted, means)
    one, refused = by_one_series(row, climb, is_far(row, goal)), None
    if one is None:
        panels = by_panels(row, climb)
        if panels is None:
            return None
        one, refused = panels[:2], panels[2]
    higher = moments_at_levels(row, *one, wanted, means)
    if higher is None:
        return None
    found[1 : 1 + len(higher)] = higher
    return found, refused


def is_far(row: FlowedRow, goal: Sequence[float]) -> bool:
    """Whether level 4 moves a sample at level 3 so far that nodes are twice as many from the start."""
    return bool(abs(goal[4] - row.moment(4)) > _NEAR * 4 * np.sqrt(row.norm()))


def moments_at_levels(
    row: FlowedRow, edges: FloatArray, series: FloatArray, goal: FloatArray, means: Means
) -> list[float] | None:
    """Moments 5, 6, .. at levels 4, 5, .., to which series (levels, panels, m) move a sample; None as `_corrected`."""
    found = []
    for k, sums in enumerate(_sums_at_levels(row, edges, series, means), start=4):
        value = _corrected(sums, goal[: k + 1])
        if value is None:
            return None
        found.append(value)
    return found


def _sums_at_levels(row: FlowedRow, edges: FloatArray, series: FloatArray, means: Means) -> list[FloatArray]:
    """The second look: Mean(y^j), j = 0..2k, at levels k = 4, 5, .."""
    middle, half = spans(edges)
    short = [[shortened(c) for c in level] for level in series]
    parts: list[list[FloatArray]] = [[] for _ in series]
    for z in row.tiles(part_size(edges)):
        panels = in_panels(z, edges)
        for k, (level, sums) in enumerate(zip(short, parts, strict=True), start=4):
            moved = [means.moved(some, (float(middle[p]), float(half[p])), level[p]) for p, some in panels]
            sums.append(means.powers(np.concatenate(moved) if len(moved) > 1 else moved[0], 2 * k))
    return [np.array(sums).sum(axis=0) / len(row.row) for sums in parts]


def _corrected(h: FloatArray, goal: FloatArray) -> float | None:
    """Moment k + 1 once the moments up to k are those of the goal."""
    k = len(goal) - 1
    by_powers = correction(h, goal)
    return None if by_powers is None else float(h[k + 1] + (k + 1) * (by_powers @ h[k : 2 * k]))


def correction(h: FloatArray, goal: FloatArray) -> FloatArray | None:
    """Newton's correction by the powers y^0..y^(k-1), from moments 0..2k; None where it is not small, or is lost."""
    k = len(goal) - 1
    try:
        root = np.linalg.cholesky(h[np.add.outer(np.arange(k), np.arange(k))])
    except np.linalg.LinAlgError:
        return None
    norm = np.diag(root) ** 2
    if not (norm > _LOST * h[: 2 * k : 2]).all():
        return None
    lower = root / np.diag(root)  # y^i = sum_j L_ij p_j
    gap = goal[1:] - h[1 : k + 1]
    gap[np.abs(gap) <= NOISE * sizes(h, k)[1:]] = 0
    c = np.linalg.solve(lower * norm * np.arange(1, k + 1)[:, None], gap)
    if not np.sqrt(c * c @ norm) <= _SMALL:
        return None
    return np.asarray(np.linalg.solve(lower.T, c), dtype=np.float64)


def sizes(h: FloatArray, k: int) -> FloatArray:
    """Mean|y|^j, j = 0..k, from moments; those of odd order from above."""
    size: FloatArray = h[: k + 1].copy()
    size[1::2] = np.sqrt(h[0:k:2] * h[2 : k + 2 : 2])
    return size
