"""Series that tell how the entries of a long sample move, where it is looked at in parts (`long_rows.parts`).

The first look sums Chebyshev polynomials over the entries, for the weights of nodes. These climb through the levels,
and the series of what they move by is that of the entries.

One series over the whole range does not tell the path of a sample that crowds somewhere, or reaches far. Then there are
several, on panels that are the shorter the more entries they hold, and the entries of a part are sorted first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.chebyshev_rows import EIGHT, waves
from symdecouple.numeric.moments.long_means import ByNumPy, Means, Stopped
from symdecouple.numeric.moments.long_ties import Ties, looked_at
from symdecouple.numeric.moments.moment_path import MOST_GROWTH, RTOL, SHARP
from symdecouple.numeric.samples.batch import FloatArray

__all__ = [
    "PART", "Climb", "Climbed", "Nodes", "Parted", "by_one_series", "by_panels", "in_panels", "part_size", "shortened",
    "spans",
]

PART = 2**14  # entries of a part,
_SORTED = 2**16  # and of one that is cut into panels
_MOST = 512  # nodes of one series
_EACH, _MOST_IN_PANELS = 24, 2**11  # nodes of a panel, and of all
_SHARE = 12  # no panel has more than a twelfth of the entries looked at
_HALVINGS = 48  # of the range at most
_SURE = "moment not attainable"  # the refusal that nodes may tell
_SAME = 0.05  # of the way left to the target: how near to each other walks have to stop
_STEEP = 1e-3  # last coefficients with which a panel is cut into four, not two
_TAIL = 4  # coefficients looked at
_RESOLVED, _FINE = 1e-13, 2e-15  # last coefficients of a displacement, in standard deviations; for the entries
_ROUNDING = 2.0**-51  # of values, and of displacements that grew as the path pulls values apart: not less is asked for,
_FINE_ROUNDING = 2.0**-49  # nor less than this in panels, where it may be told from nothing else,
_COARSE = 1e-10  # but this, which does not show in a moment
_NOTHING = 2.0**-51  # of a displacement, in standard deviations: what is less is rounding, and is put right


class Parted(Protocol):
    """A sample whose entries are at hand part by part: `riccati_row.FlowedRow`, or one that does not move."""

    @property
    def row(self) -> NDArray[np.floating[Any]]:
        """The entries, before anything is done to them."""

    def at(self, x: NDArray[np.floating[Any]]) -> FloatArray:
        """Where entries begin."""

    def tiles(self, size: int = ...) -> Iterator[FloatArray]:
        """The whole sample there, in parts."""


@dataclass(frozen=True, slots=True)
class Climb:
    """Levels to go through.

    Attributes
    ----------
    first : int
        The first of them; the sample begins at the one below.
    goal : array (last + 1,)
        Standardized moments from order 0.
    means : Means
    is_fine : bool
        Whether the entries are asked for themselves, to a few roundings.
    """

    first: int
    goal: FloatArray
    means: Means
    is_fine: bool = False

    @property
    def levels(self) -> range:
        """Their numbers."""
        return range(self.first, len(self.goal))

    @property
    def fewest(self) -> int:
        """Nodes to begin with."""
        return self.means.fewest

    @property
    def resolved(self) -> float:
        """What last coefficients of a series are to be."""
        return _FINE if self.is_fine else _RESOLVED

    def along(
        self, now: FloatArray, share: FloatArray, k: int, in_panels: bool
    ) -> tuple[FloatArray, float] | Stopped | None:
        """Nodes at level k, as `Means.follow`; in panels, why there are none."""
        goal = self.goal[: k + 1]
        if self.is_fine:
            return ByNumPy().walked(now, share, k, goal, SHARP)
        there = self.means.follow(now, share, k, goal)
        return ByNumPy().walked(now, share, k, goal, RTOL) if there is None and in_panels else there

    def through(self, begin: Nodes) -> Climbed:
        """Nodes through the levels, as far as series are resolved."""
        return _climbed(begin, self)


@dataclass(frozen=True, slots=True)
class Climbed:
    """Series on some panels.

    Attributes
    ----------
    series : array (levels, panels, m)
        Coefficients of the displacements.
    tail : array (panels,)
        The last of them; infinite where a path has no end.
    allowed : array (panels,)
        What is small.
    level, stop : int, Stopped or None
        The level that was not reached, where the reason is known; the series below are resolved.
    """

    series: FloatArray
    tail: FloatArray
    allowed: FloatArray
    level: int = 0
    stop: Stopped | None = None


def by_one_series(row: Parted, climb: Climb, is_far: bool) -> tuple[FloatArray, FloatArray] | None:
    """The ends of the sample, and series (levels, 1, m) of what it moves by; None where they do not tell.

    Parameters
    ----------
    row : Parted
    climb : Climb
    is_far : bool
        Whether nodes are twice as many from the start.
    """
    edges, ties = np.sort(row.at(np.array([row.row.min(), row.row.max()]))), Ties.of(row.row)
    m = climb.fewest * (2 if is_far else 1)
    m = max(m, EIGHT * int(np.ceil(min(np.pi * (edges[1] - edges[0]), 2 * _MOST) / EIGHT)))
    while m <= _MOST:
        found = climb.through(_nodes(row, edges, m, climb.means, ties))
        if found.tail[0] <= found.allowed[0]:
            return edges, found.series
        m = _more(m, float(found.tail[0]), climb.resolved)
    return None


def by_panels(row: Parted, climb: Climb) -> tuple[FloatArray, FloatArray, Outcome | None] | None:
    """The ends of panels and series (levels, panels, m): short ones where entries crowd, or move apart.

    The last is why there is no further level; for entries themselves it is not looked for.
    """
    ends = np.sort(row.at(np.array([row.row.min(), row.row.max()])))
    ties = Ties.of(row.row)
    edges = _crowds(np.sort(row.at(ties.others(looked_at(row.row)))), ends)
    while _EACH * (len(edges) - 1) <= _MOST_IN_PANELS:
        found = climb.through(_nodes(row, edges, _EACH, climb.means, ties))
        if np.isinf(found.tail).any():
            refused = None if climb.is_fine else _refused(row, edges, found, climb, ties)
            return None if refused is None else (edges, found.series[: found.level - climb.first], refused)
        coarse = np.flatnonzero(~(found.tail <= found.allowed))
        if not len(coarse):
            return edges, found.series, None
        parts = (0.25, 0.5, 0.75) if found.tail.max() > _STEEP else (0.5,)
        low, wide = edges[coarse], np.diff(edges)[coarse]
        edges = np.sort(np.concatenate([edges, *(low + part * wide for part in parts)]))
    return None


def _refused(row: Parted, edges: FloatArray, first: Climbed, climb: Climb, ties: Ties) -> Outcome | None:
    """Why level k has no end, where nodes of three numbers stop there, at moments far nearer to each other than to k's.

    Where a sample falls together, series tell no entry any more, and the moment that it comes to in two digits only.
    """
    finer = [_nodes(row, edges, _EACH + more, climb.means, ties) for more in (EIGHT, 2 * EIGHT)]
    walks = [first, *(_climbed(nodes, climb) for nodes in finer)]
    stops = [walk.stop for walk in walks if walk.stop is not None and walk.level == first.level]
    reached = [stop.attained for stop in stops]
    k = first.level
    if len(stops) < len(walks) or any(stop.outcome.reason != _SURE for stop in stops):
        return None
    if not max(reached) - min(reached) <= _SAME * min(abs(value - climb.goal[k]) for value in reached):
        return None
    return Outcome(
        False,
        _SURE,
        f"moment {k} does not come to {climb.goal[k]:.6g} (standardized): on the path it stops near "
        f"{sorted(reached)[1]:.2g}, where the sample falls together to {k - 1} distinct values; ask for a value before "
        "it, or break ties",
    )


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


def in_panels(z: FloatArray, edges: FloatArray) -> list[tuple[int, FloatArray]]:
    """The entries of each panel; all of them, as they lie, where there is one."""
    if len(edges) == 2:
        return [(0, z)]
    z.sort()
    cuts = np.concatenate([[0], np.searchsorted(z, edges[1:-1]), [len(z)]])
    return [(p, z[cuts[p] : cuts[p + 1]]) for p in range(len(edges) - 1) if cuts[p] < cuts[p + 1]]


def spans(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Middle and half of each panel."""
    return (edges[:-1] + edges[1:]) / 2, np.diff(edges) / 2


def part_size(edges: FloatArray) -> int:
    """Entries of a part."""
    return PART if len(edges) == 2 else _SORTED


@dataclass(frozen=True, slots=True)
class Nodes:
    """What stands in for a sample.

    Attributes
    ----------
    places, weights : arrays (panels, m)
    tied, share : arrays (a,)
        Values that are tied often, and their weights: as nodes they would be some of them, above and below zero.
    """

    places: FloatArray
    weights: FloatArray
    tied: FloatArray
    share: FloatArray


def _nodes(row: Parted, edges: FloatArray, m: int, means: Means, ties: Ties) -> Nodes:
    """The first look."""
    middle, half = spans(edges)
    sums, size = [], part_size(edges)
    for i in range(0, len(row.row), size):
        others = ties.others(row.row[i : i + size])
        if not len(others):
            continue
        z = row.at(others)
        of_part = np.zeros((len(middle), m))
        for p, some in in_panels(z, edges):
            of_part[p] = means.sums(some, (float(middle[p]), float(half[p])), m)
        sums.append(of_part)
    c = np.array(sums).sum(axis=0) / (len(row.row) * m)
    c[:, 1:] *= 2
    places, cosines = waves(m)
    tied = row.at(ties.values) if len(ties.values) else np.zeros(0)
    return Nodes(middle[:, None] + half[:, None] * places, c @ cosines, tied, ties.counts / len(row.row))


def _climbed(begin: Nodes, climb: Climb) -> Climbed:
    nodes, levels = begin.places, climb.levels
    (panels, m), share = nodes.shape, np.concatenate([begin.weights.ravel(), begin.share])
    now, growth, tail = np.concatenate([nodes.ravel(), begin.tied]), 1.0, np.zeros(panels)
    series, allowed = np.empty((len(levels), panels, m)), np.full(panels, climb.resolved)
    for level, k in enumerate(levels):
        there = climb.along(now, share, k, panels > 1)
        if isinstance(there, Stopped):
            return Climbed(series, np.full(panels, np.inf), allowed, k, there)
        if there is None or growth * there[1] > MOST_GROWTH:
            return Climbed(series, np.full(panels, np.inf), allowed)
        now, growth = there[0], growth * there[1]
        c = (now[: nodes.size].reshape(panels, m) - nodes) @ waves(m)[1].T * (2 / m)
        c[:, 0] /= 2
        series[level] = c
        tail = np.maximum(tail, np.abs(c[:, -_TAIL:]).max(axis=1))
        rounding = (_FINE_ROUNDING if climb.is_fine else _ROUNDING) * np.maximum(growth, np.abs(nodes).max(axis=1))
        allowed = np.minimum(np.maximum(climb.resolved, rounding), _COARSE)
        if not (tail <= allowed).all():
            break
    return Climbed(series, tail, allowed)


def _more(m: int, tail: float, resolved: float) -> int:
    """How many nodes to try next, by the rate at which coefficients fell."""
    if not 0 < tail < 1:
        return 2 * m
    wanted = 1.15 * m * np.log(resolved) / np.log(tail)
    return EIGHT * int(np.ceil(min(max(wanted, m + EIGHT), 2 * _MOST) / EIGHT))


def shortened(c: FloatArray) -> FloatArray:
    """Without last coefficients that are rounding; a multiple of eight is left."""
    last = int(np.flatnonzero(np.abs(c) > _NOTHING)[-1]) if (np.abs(c) > _NOTHING).any() else 0
    return c[: max(2 * EIGHT, EIGHT * (last // EIGHT + 1))]
