"""Levels of one long sample in little room: it is looked at in parts, twice, and nothing of its length is kept.

Level 3 is a formula in each entry (`riccati_row`). Above, the path of a sample is that of some dozens of nodes with
weights, and a series tells how an entry moves (`moment_nodes`). So the first look sums Chebyshev polynomials, for the
weights; the nodes climb through all levels; the second look moves every part of the sample to every level, and sums its
powers there, y^1 to y^(2k). These are all that is wanted: with gap_j what is missing from the held moments,

    y + sum_j c_j p_(j-1)(y)

is Newton's correction onto the manifold (`moment_course`), and to first order moment k + 1 becomes
Mean(y^(k+1)) + (k + 1) Mean(y^k sum_j c_j p_(j-1)(y)): sums of powers again. The correction is small, or nothing is
answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.batch import FloatArray, IntArray, Panel
from symdecouple.numeric.chebyshev_rows import EIGHT, add_up, product_sums, sums_of, waves
from symdecouple.numeric.few_values import few_values
from symdecouple.numeric.moment_basis import power_mean, power_means
from symdecouple.numeric.moment_course import NOISE
from symdecouple.numeric.moment_path import MOST_GROWTH, follow
from symdecouple.numeric.riccati import impose_skewness
from symdecouple.numeric.riccati_row import FlowedRow, Locate, flowed_row, located
from symdecouple.numeric.ties import CountedTies

__all__ = ["LONG", "ByNumPy", "Means", "climb_in_parts", "long_row"]

LONG = 2**17  # entries from which on a sample is looked at in parts
PART = 2**14  # entries of a part
_MOST = 512  # nodes
_FEW = 2**11  # distinct values that are moved as such
_NEAR = 0.1  # standard deviations that level 4 moves a sample by: beyond, nodes are twice as many from the start
_RESOLVED = 1e-13  # last coefficients of a displacement, in standard deviations
_TAIL = 4
_NOTHING = 2.0**-51  # of a displacement, in standard deviations: what is less is rounding, and is put right
_LOST = 1e-5  # D_j/h_(2j) below which sums of powers leave too few digits
_SMALL = 1e-8  # standard deviations of a correction whose square is rounding


class Means(Protocol):
    """How parts of a sample are worked on. Places are those within `span`, the middle and half of a range."""

    fewest: int

    def sums(self, z: FloatArray, span: tuple[float, float], m: int) -> FloatArray:
        """sum_i T_j((z_i - middle)/half), j < m."""

    def follow(
        self, nodes: FloatArray, weights: FloatArray, k: int, goal: FloatArray
    ) -> tuple[FloatArray, float] | None:
        """Nodes (m,) at level k, and by how much the path pulls values apart; None where it ends before."""

    def moved(self, z: FloatArray, span: tuple[float, float], series: FloatArray) -> FloatArray:
        """z + sum_j c_j T_j(..) for coefficients (m,)."""

    def powers(self, y: FloatArray, top: int) -> FloatArray:
        """sum_i y_i^j, j <= top."""


@dataclass(frozen=True, slots=True)
class ByNumPy:
    """`Means` in arrays."""

    fewest: int = 64

    def sums(self, z: FloatArray, span: tuple[float, float], m: int) -> FloatArray:
        """As in `Means`."""
        sums: FloatArray = sums_of(product_sums(((z - span[0]) / span[1])[None], m))[0]
        return sums

    def follow(
        self, nodes: FloatArray, weights: FloatArray, k: int, goal: FloatArray
    ) -> tuple[FloatArray, float] | None:
        """As in `Means`."""
        there = follow(nodes[None], k, goal[k], held=goal[1:k], weights=weights[None], one_by_one=True)
        return None if there.refusals else (there.values[0], float(there.growth[0]))

    def moved(self, z: FloatArray, span: tuple[float, float], series: FloatArray) -> FloatArray:
        """As in `Means`."""
        moved: FloatArray = z + add_up(((z - span[0]) / span[1])[None], [series[None]])[0][0]
        return moved

    def powers(self, y: FloatArray, top: int) -> FloatArray:
        """As in `Means`."""
        sums: FloatArray = power_means(y[None], top)[:, 0] * len(y)
        return sums


def long_row(
    panel: Panel, i: int, order: int, goal: Sequence[float], means: Means, locate: Locate = located,
    kind: type[FlowedRow] = FlowedRow,
) -> FloatArray | Outcome | None:
    """Standardized decoupled moments 4..order of a long row, or why it has no level 3; None where it wants more care.

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
        few = few_values(panel.values[i], _FEW)
        if few is not None:
            return _climb_values(*few, order, np.array(goal, dtype=np.float64), means)
        row = flowed_row(panel, i, goal[3], locate, kind)
        return row if isinstance(row, Outcome) else climb_in_parts(row, order, goal, means)


def _climb_values(
    values: FloatArray, counts: IntArray, order: int, goal: FloatArray, means: Means
) -> FloatArray | Outcome | None:
    """Distinct values move with weights: exactly the path of the sample."""
    n_samples, target = int(counts.sum()), goal[3:4]
    ties = CountedTies(counts[:1], counts[-1:], n_samples)
    refused = ties.unreachable(target)
    if refused:
        return refused[0]
    weights = counts / n_samples
    skew = impose_skewness(values[None], target, weights=weights[None])
    if skew.refusals:
        return None
    now, growth, found = skew.values[0], 1.0, np.full(order - 3, np.nan)
    for k in range(4, order + 1):
        found[k - 4] = power_mean(now[None], k, weights[None])[0]
        if k < order:
            there = means.follow(now, weights, k, goal[: k + 1])
            if there is None or growth * there[1] > MOST_GROWTH:
                return None
            now, growth = there[0], growth * there[1]
    return found


def climb_in_parts(row: FlowedRow, order: int, goal: Sequence[float], means: Means) -> FloatArray | None:
    """Standardized decoupled moments 4..order of a sample at level 3; None where nodes do not tell them.

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
        return found
    wanted = np.array(goal, dtype=np.float64)
    ends = row.at(np.array([row.row.min(), row.row.max()]))
    span = float(ends.sum() / 2), float((ends[1] - ends[0]) / 2)
    m = means.fewest
    if abs(wanted[4] - found[0]) > _NEAR * 4 * np.sqrt(row.norm()):
        m *= 2
    m = max(m, EIGHT * int(np.ceil(min(2 * np.pi * span[1], 2 * _MOST) / EIGHT)))
    while m <= _MOST:
        nodes, weights = _nodes(row, span, m, means)
        series, tail = _climbed(nodes, weights, order, wanted, means)
        if tail <= _RESOLVED:
            break
        m = _more(m, tail)
    else:
        return None
    for k, sums in enumerate(_sums_at_levels(row, span, series, means), start=4):
        value = _corrected(sums, wanted[: k + 1])
        if value is None:
            return None
        found[k - 3] = value
    return found


def _nodes(row: FlowedRow, span: tuple[float, float], m: int, means: Means) -> tuple[FloatArray, FloatArray]:
    """The first look: nodes and their weights."""
    parts = np.stack([means.sums(z, span, m) for z in row.tiles(PART)])
    c = parts.sum(axis=0) / (len(row.row) * m)
    c[1:] *= 2
    places, cosines = waves(m)
    return span[0] + span[1] * places, c @ cosines


def _climbed(
    nodes: FloatArray, weights: FloatArray, order: int, goal: FloatArray, means: Means
) -> tuple[FloatArray, float]:
    """Coefficients of the displacements at levels 4..order - 1, and the largest of the last ones; inf without an end."""
    m, now, growth, tail = len(nodes), nodes, 1.0, 0.0
    series = np.empty((order - 4, m))
    for k in range(4, order):
        there = means.follow(now, weights, k, goal[: k + 1])
        if there is None:
            return series, np.inf
        now, growth = there[0], growth * there[1]
        if growth > MOST_GROWTH:
            return series, np.inf
        series[k - 4] = waves(m)[1] @ (now - nodes) * (2 / m)
        series[k - 4, 0] /= 2
        tail = max(tail, float(np.abs(series[k - 4, -_TAIL:]).max()))
        if not tail <= _RESOLVED:
            break
    return series, tail


def _more(m: int, tail: float) -> int:
    """How many nodes to try next, by the rate at which coefficients fell."""
    if not 0 < tail < 1:
        return 2 * m
    wanted = 1.15 * m * np.log(_RESOLVED) / np.log(tail)
    return EIGHT * int(np.ceil(min(max(wanted, m + EIGHT), 2 * _MOST) / EIGHT))


def _sums_at_levels(
    row: FlowedRow, span: tuple[float, float], series: FloatArray, means: Means
) -> list[FloatArray]:
    """The second look: Mean(y^j), j = 0..2k, at levels k = 4, 5, .."""
    short = [_shortened(c) for c in series]
    parts: list[list[FloatArray]] = [[] for _ in series]
    for z in row.tiles(PART):
        for k, (c, sums) in enumerate(zip(short, parts, strict=True), start=4):
            sums.append(means.powers(means.moved(z, span, c), 2 * k))
    return [np.array(sums).sum(axis=0) / len(row.row) for sums in parts]


def _shortened(c: FloatArray) -> FloatArray:
    """Without last coefficients that are rounding; a multiple of eight is left."""
    last = int(np.flatnonzero(np.abs(c) > _NOTHING)[-1]) if (np.abs(c) > _NOTHING).any() else 0
    return c[: max(2 * EIGHT, EIGHT * (last // EIGHT + 1))]


def _corrected(h: FloatArray, goal: FloatArray) -> float | None:
    """Moment k + 1 once the moments up to k are those of the goal."""
    k = len(goal) - 1
    try:
        root = np.linalg.cholesky(h[np.add.outer(np.arange(k), np.arange(k))])
    except np.linalg.LinAlgError:
        return None
    norm = np.diag(root) ** 2
    if not (norm > _LOST * h[: 2 * k : 2]).all():
        return None
    lower = root / np.diag(root)  # y^i = sum_j L_ij p_j
    size = h[: k + 1].copy()
    size[1::2] = np.sqrt(h[0:k:2] * h[2 : k + 2 : 2])
    gap = goal[1:] - h[1 : k + 1]
    gap[np.abs(gap) <= NOISE * size[1:]] = 0
    c = np.linalg.solve(lower * norm * np.arange(1, k + 1)[:, None], gap)
    if not np.sqrt(c * c @ norm) <= _SMALL:
        return None
    by_powers = np.linalg.solve(lower.T, c)
    return float(h[k + 1] + (k + 1) * (by_powers @ h[k : 2 * k]))
