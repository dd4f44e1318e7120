"""Levels of one long sample in little room: it is looked at in parts, twice, and nothing of its length is kept.

Level 3 is a formula in each entry (`riccati_row`). Above, the path of a sample is that of some dozens of nodes with
weights, and a series tells how an entry moves (`moment_nodes`). So the first look sums Chebyshev polynomials, for the
weights; the nodes climb through all levels; the second look moves every part of the sample to every level, and sums its
powers there, y^1 to y^(2k). These are all that is wanted: with gap_j what is missing from the held moments,

    y + sum_j c_j p_(j-1)(y)

is Newton's correction onto the manifold (`moment_course`), and to first order moment k + 1 becomes
Mean(y^(k+1)) + (k + 1) Mean(y^k sum_j c_j p_(j-1)(y)): sums of powers again. The correction is small, or nothing is
answered.

One series over the whole range does not tell the path of a sample that crowds somewhere, or reaches far. Then there are
several, on panels that are the shorter the more entries they hold, and the entries of a part are sorted first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.batch import FloatArray, IntArray, Panel
from symdecouple.numeric.chebyshev_rows import EIGHT, waves
from symdecouple.numeric.few_values import few_values
from symdecouple.numeric.long_means import ByNumPy, Means
from symdecouple.numeric.moment_basis import power_mean
from symdecouple.numeric.moment_course import NOISE
from symdecouple.numeric.moment_path import MOST_GROWTH, follow, pulled_apart
from symdecouple.numeric.riccati import impose_skewness
from symdecouple.numeric.riccati_row import FlowedRow, Locate, flowed_row, located
from symdecouple.numeric.ties import CountedTies

__all__ = ["LONG", "climb_in_parts", "long_row"]

LONG = 2**17  # entries from which on a sample is looked at in parts
PART = 2**14  # entries of a part,
_SORTED = 2**16  # and of one that is cut into panels
_FEW = 2**11  # distinct values that are moved as such
_MOST = 512  # nodes of one series
_NEAR = 0.1  # standard deviations that level 4 moves a sample by: beyond, nodes are twice as many from the start
_EACH, _MOST_IN_PANELS = 24, 2**11  # nodes of a panel, and of all
_SHARE, _LOOK = 12, 2**12  # no panel has more than a twelfth of the entries looked at
_HALVINGS = 48  # of the range at most
_STEEP = 1e-3  # last coefficients with which a panel is cut into four, not two
_TAIL = 4  # coefficients looked at
_RESOLVED = 1e-13  # last coefficients of a displacement, in standard deviations
_ROUNDING = 2.0**-51  # of values, and of displacements that grew as the path pulls values apart: not less is asked for,
_COARSE = 1e-10  # but this, which does not show in a moment
_NOTHING = 2.0**-51  # of a displacement, in standard deviations: what is less is rounding, and is put right
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
        few = few_values(panel.values[i], _FEW)
        if few is not None:
            return _climb_values(*few, order, np.array(goal, dtype=np.float64), means)
        row = flowed_row(panel, i, goal[3], locate, kind)
        if isinstance(row, Outcome):
            return np.full(order - 3, np.nan), row
        found = climb_in_parts(row, order, goal, means)
        return None if found is None else (found, None)


def _climb_values(
    values: FloatArray, counts: IntArray, order: int, goal: FloatArray, means: Means
) -> tuple[FloatArray, Outcome | None]:
    """Distinct values move with weights: exactly the path of the sample."""
    n_samples, target = int(counts.sum()), goal[3:4]
    ties = CountedTies(counts[:1], counts[-1:], n_samples)
    weights, found = counts / n_samples, np.full(order - 3, np.nan)
    refused = ties.unreachable(target).get(0)
    skew = impose_skewness(values[None], target, weights=counts[None].astype(np.float64))
    if skew.refusals or (refused is not None and not ties.two_valued()[0]):
        return found, refused or skew.refusals[0]
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
    settled = _by_one_series(row, order, wanted, means) or _by_panels(row, order, wanted, means)
    if settled is None:
        return None
    for k, sums in enumerate(_sums_at_levels(row, *settled, means), start=4):
        value = _corrected(sums, wanted[: k + 1])
        if value is None:
            return None
        found[k - 3] = value
    return found


def _by_one_series(
    row: FlowedRow, order: int, goal: FloatArray, means: Means
) -> tuple[FloatArray, FloatArray] | None:
    """The ends of the sample, and series (levels, 1, m) of what it moves by."""
    edges = np.sort(row.at(np.array([row.row.min(), row.row.max()])))
    m = means.fewest
    if abs(goal[4] - row.moment(4)) > _NEAR * 4 * np.sqrt(row.norm()):
        m *= 2
    m = max(m, EIGHT * int(np.ceil(min(np.pi * (edges[1] - edges[0]), 2 * _MOST) / EIGHT)))
    while m <= _MOST:
        series, tail, allowed = _climbed(*_nodes(row, edges, m, means), order, goal, means)
        if tail[0] <= allowed[0]:
            return edges, series
        m = _more(m, float(tail[0]))
    return None


def _by_panels(row: FlowedRow, order: int, goal: FloatArray, means: Means) -> tuple[FloatArray, FloatArray] | None:
    """The ends of panels and series (levels, panels, m): short ones where entries crowd, or move apart."""
    ends = np.sort(row.at(np.array([row.row.min(), row.row.max()])))
    edges = _crowds(np.sort(row.at(row.row[:: max(1, len(row.row) // _LOOK)])), ends)
    while _EACH * (len(edges) - 1) <= _MOST_IN_PANELS:
        series, tail, allowed = _climbed(*_nodes(row, edges, _EACH, means), order, goal, means)
        if np.isinf(tail).any():
            return None
        coarse = np.flatnonzero(~(tail <= allowed))
        if not len(coarse):
            return edges, series
        parts = (0.25, 0.5, 0.75) if tail.max() > _STEEP else (0.5,)
        low, wide = edges[coarse], np.diff(edges)[coarse]
        edges = np.sort(np.concatenate([edges, *(low + part * wide for part in parts)]))
    return None


def _crowds(some: FloatArray, ends: FloatArray) -> FloatArray:
    """Ends of panels, halves of halves, so that none has more than a twelfth of some entries, sorted."""
    edges, most = ends, len(some) // _SHARE
    for _ in range(_HALVINGS):
        count = np.diff(np.searchsorted(some, edges))
        full = np.flatnonzero(count > most)
        if not len(full):
            break
        edges = np.sort(np.append(edges, (edges[full] + edges[full + 1]) / 2))
    return edges


def _in_panels(z: FloatArray, edges: FloatArray) -> list[tuple[int, FloatArray]]:
    """The entries of each panel; all of them, as they lie, where there is one."""
    if len(edges) == 2:
        return [(0, z)]
    z.sort()
    cuts = np.concatenate([[0], np.searchsorted(z, edges[1:-1]), [len(z)]])
    return [(p, z[cuts[p] : cuts[p + 1]]) for p in range(len(edges) - 1) if cuts[p] < cuts[p + 1]]


def _spans(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    return (edges[:-1] + edges[1:]) / 2, np.diff(edges) / 2


def _parts(row: FlowedRow, edges: FloatArray) -> Iterator[FloatArray]:
    return row.tiles(PART if len(edges) == 2 else _SORTED)


def _nodes(row: FlowedRow, edges: FloatArray, m: int, means: Means) -> tuple[FloatArray, FloatArray]:
    """The first look: nodes and their weights, (panels, m)."""
    middle, half = _spans(edges)
    sums = []
    for z in _parts(row, edges):
        of_part = np.zeros((len(middle), m))
        for p, some in _in_panels(z, edges):
            of_part[p] = means.sums(some, (float(middle[p]), float(half[p])), m)
        sums.append(of_part)
    c = np.array(sums).sum(axis=0) / (len(row.row) * m)
    c[:, 1:] *= 2
    places, cosines = waves(m)
    return middle[:, None] + half[:, None] * places, c @ cosines


def _climbed(
    nodes: FloatArray, weights: FloatArray, order: int, goal: FloatArray, means: Means
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients of the displacements at levels 4..order - 1, the last of each panel, and what is small.

    The second is infinite where a path has no end.
    """
    (panels, m), share = nodes.shape, weights.ravel()
    now, growth, tail = nodes.ravel(), 1.0, np.zeros(panels)
    series, allowed = np.empty((order - 4, panels, m)), np.full(panels, _RESOLVED)
    for k in range(4, order):
        there = means.follow(now, share, k, goal[: k + 1])
        if there is None and panels > 1:
            there = ByNumPy().follow(now, share, k, goal[: k + 1])
        if there is None or growth * there[1] > MOST_GROWTH:
            return series, np.full(panels, np.inf), allowed
        now, growth = there[0], growth * there[1]
        c = (now.reshape(panels, m) - nodes) @ waves(m)[1].T * (2 / m)
        c[:, 0] /= 2
        series[k - 4] = c
        tail = np.maximum(tail, np.abs(c[:, -_TAIL:]).max(axis=1))
        rounding = _ROUNDING * np.maximum(growth, np.abs(nodes).max(axis=1))
        allowed = np.minimum(np.maximum(_RESOLVED, rounding), _COARSE)
        if not (tail <= allowed).all():
            break
    return series, tail, allowed


def _more(m: int, tail: float) -> int:
    """How many nodes to try next, by the rate at which coefficients fell."""
    if not 0 < tail < 1:
        return 2 * m
    wanted = 1.15 * m * np.log(_RESOLVED) / np.log(tail)
    return EIGHT * int(np.ceil(min(max(wanted, m + EIGHT), 2 * _MOST) / EIGHT))


def _sums_at_levels(row: FlowedRow, edges: FloatArray, series: FloatArray, means: Means) -> list[FloatArray]:
    """The second look: Mean(y^j), j = 0..2k, at levels k = 4, 5, .."""
    middle, half = _spans(edges)
    short = [[_shortened(c) for c in level] for level in series]
    parts: list[list[FloatArray]] = [[] for _ in series]
    for z in _parts(row, edges):
        panels = _in_panels(z, edges)
        for k, (level, sums) in enumerate(zip(short, parts, strict=True), start=4):
            moved = [means.moved(some, (float(middle[p]), float(half[p])), level[p]) for p, some in panels]
            sums.append(means.powers(np.concatenate(moved) if len(moved) > 1 else moved[0], 2 * k))
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
