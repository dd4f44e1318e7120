"""Series that tell how the entries of a long sample move, where it is looked at in parts (`moment_long_rows`).

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

from symdecouple.numeric.batch import FloatArray
from symdecouple.numeric.chebyshev_rows import EIGHT, waves
from symdecouple.numeric.long_means import ByNumPy, Means
from symdecouple.numeric.moment_path import MOST_GROWTH, SHARP

__all__ = ["PART", "Climb", "Parted", "by_one_series", "by_panels", "in_panels", "part_size", "shortened", "spans"]

PART = 2**14  # entries of a part,
_SORTED = 2**16  # and of one that is cut into panels
_MOST = 512  # nodes of one series
_EACH, _MOST_IN_PANELS = 24, 2**11  # nodes of a panel, and of all
_SHARE, _LOOK = 12, 2**12  # no panel has more than a twelfth of the entries looked at
_HALVINGS = 48  # of the range at most
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
    def resolved(self) -> float:
        """What last coefficients of a series are to be."""
        return _FINE if self.is_fine else _RESOLVED

    def along(
        self, now: FloatArray, share: FloatArray, k: int, in_panels: bool
    ) -> tuple[FloatArray, float] | None:
        """Nodes at level k, as `Means.follow`."""
        goal = self.goal[: k + 1]
        if self.is_fine:
            return ByNumPy().walked(now, share, k, goal, SHARP)
        there = self.means.follow(now, share, k, goal)
        return ByNumPy().follow(now, share, k, goal) if there is None and in_panels else there


def by_one_series(row: Parted, climb: Climb, is_far: bool) -> tuple[FloatArray, FloatArray] | None:
    """The ends of the sample, and series (levels, 1, m) of what it moves by; None where they do not tell.

    Parameters
    ----------
    row : Parted
    climb : Climb
    is_far : bool
        Whether nodes are twice as many from the start.
    """
    edges = np.sort(row.at(np.array([row.row.min(), row.row.max()])))
    m = climb.means.fewest * (2 if is_far else 1)
    m = max(m, EIGHT * int(np.ceil(min(np.pi * (edges[1] - edges[0]), 2 * _MOST) / EIGHT)))
    while m <= _MOST:
        series, tail, allowed = _climbed(*_nodes(row, edges, m, climb.means), climb)
        if tail[0] <= allowed[0]:
            return edges, series
        m = _more(m, float(tail[0]), climb.resolved)
    return None


def by_panels(row: Parted, climb: Climb) -> tuple[FloatArray, FloatArray] | None:
    """The ends of panels and series (levels, panels, m): short ones where entries crowd, or move apart."""
    ends = np.sort(row.at(np.array([row.row.min(), row.row.max()])))
    edges = _crowds(np.sort(row.at(row.row[:: max(1, len(row.row) // _LOOK)])), ends)
    while _EACH * (len(edges) - 1) <= _MOST_IN_PANELS:
        series, tail, allowed = _climbed(*_nodes(row, edges, _EACH, climb.means), climb)
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


def _nodes(row: Parted, edges: FloatArray, m: int, means: Means) -> tuple[FloatArray, FloatArray]:
    """The first look: nodes and their weights, (panels, m)."""
    middle, half = spans(edges)
    sums = []
    for z in row.tiles(part_size(edges)):
        of_part = np.zeros((len(middle), m))
        for p, some in in_panels(z, edges):
            of_part[p] = means.sums(some, (float(middle[p]), float(half[p])), m)
        sums.append(of_part)
    c = np.array(sums).sum(axis=0) / (len(row.row) * m)
    c[:, 1:] *= 2
    places, cosines = waves(m)
    return middle[:, None] + half[:, None] * places, c @ cosines


def _climbed(
    nodes: FloatArray, weights: FloatArray, climb: Climb
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients of the displacements at the levels, the last of each panel, and what is small.

    The second is infinite where a path has no end.
    """
    (panels, m), share, levels = nodes.shape, weights.ravel(), climb.levels
    now, growth, tail = nodes.ravel(), 1.0, np.zeros(panels)
    series, allowed = np.empty((len(levels), panels, m)), np.full(panels, climb.resolved)
    for level, k in enumerate(levels):
        there = climb.along(now, share, k, panels > 1)
        if there is None or growth * there[1] > MOST_GROWTH:
            return series, np.full(panels, np.inf), allowed
        now, growth = there[0], growth * there[1]
        c = (now.reshape(panels, m) - nodes) @ waves(m)[1].T * (2 / m)
        c[:, 0] /= 2
        series[level] = c
        tail = np.maximum(tail, np.abs(c[:, -_TAIL:]).max(axis=1))
        rounding = (_FINE_ROUNDING if climb.is_fine else _ROUNDING) * np.maximum(growth, np.abs(nodes).max(axis=1))
        allowed = np.minimum(np.maximum(climb.resolved, rounding), _COARSE)
        if not (tail <= allowed).all():
            break
    return series, tail, allowed


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
