r"""Exact gradients of the decoupled moments of a long sample, in little room: on nodes, by series for the entries.

A decoupled moment does not feel the order of the entries. So its derivative by an entry, N times, is a function of that
entry alone, phi(z) at level 3, as smooth as the path itself; what it is depends on the law of the sample only. It is
found on the nodes that stand in for the sample (`long_rows.series`): they climb with their steps kept, the covectors
k y^(k-1) come down (`moment_levels.pullback`), per weight instead of per entry, and are freed of span {1, z, z^2} at
level 3. With slope = dz/dx the gradient is

.. math:: G_i = \mathrm{slope}(x_i)\,\phi(z_i)/N

(Theorem F), part by part, into the answer. Whether nodes are enough is seen from the last coefficients of phi, beside
the largest entry of the gradient. A sample of few distinct values needs no series: phi is known at these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.chebyshev_rows import EIGHT, waves
from symdecouple.numeric.moments.hankel import power_mean
from symdecouple.numeric.moments.long_few_values import few_values
from symdecouple.numeric.moments.long_means import Means, Stopped
from symdecouple.numeric.moments.long_parts import FEW, is_far, moments_at_levels, values_at_level_3
from symdecouple.numeric.moments.long_series import (
    PART,
    Climb,
    Climbed,
    Nodes,
    by_one_series,
    by_panels,
    in_panels,
    spans,
)
from symdecouple.numeric.moments.moment_path import MOST_GROWTH, Followed, follow, pulled_apart
from symdecouple.numeric.moments.pullback import project, pullback
from symdecouple.numeric.moments.skewness_row import FlowedRow, Locate, flowed_row, located
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Panel

__all__ = ["long_gradients"]

_RTOL = 1e-12  # of the steps: nodes are few, and derivatives lose a digit to values
_FEWEST = 96  # nodes to begin with
_TAIL = 4  # coefficients looked at
_PATH = 1e-12  # last coefficients of a displacement, in standard deviations: it moves no entry here
_RESOLVED = 1e-11  # last coefficients of a gradient, of its largest entry
_NOTHING = 2.0**-53  # of the largest coefficient
_SORTED = 2**15  # entries of a part that is cut into panels


def long_gradients(
    panel: Panel, i: int, goal: Sequence[float], means: Means, out: NDArray[np.floating[Any]], locate: Locate = located,
    kind: type[FlowedRow] = FlowedRow, with_values: bool = True,
) -> tuple[FloatArray, Outcome | None] | None:
    """Standardized decoupled moments 4..K of a long row, and their gradients into `out`.

    Parameters
    ----------
    panel : Panel
        Without weights.
    i : int
    goal : sequence of K numbers
        Standardized reference moments 0..K - 1, K at least 4.
    means : Means
    out : array (K - 3, N)
        NaN from the order on that the row does not have.
    locate, kind
        As in `parts.long_row`.
    with_values : bool
        Whether the moments are asked for, too, at the cost of another look at the row.

    Returns
    -------
    values : array (K - 3,)
        NaN where they are not asked for.
    refused : Outcome or None
        Of the first level that the row lacks.

    None where nodes do not tell the path; then `out` is of no use.
    """
    with np.errstate(all="ignore"):
        few, wanted = few_values(panel.values[i], FEW), np.array(goal, dtype=np.float64)
        if few is not None:
            return _of_values(panel.values[i], *few, wanted, out)
        row = flowed_row(panel, i, goal[3], locate, kind)
        if isinstance(row, Outcome):
            out[...] = np.nan
            return np.full(len(out), np.nan), row
        return None if row.is_steep else _in_parts(row, wanted, means, out, with_values)


@dataclass(frozen=True, slots=True)
class _Kept(Climb):
    """Levels that keep the paths of nodes, and go back along them."""

    row: FlowedRow = field(kw_only=True)
    paths: list[Followed] = field(default_factory=list, kw_only=True)

    @property
    def fewest(self) -> int:
        """As in `Climb`: a second try costs more than some nodes."""
        return _FEWEST

    @property
    def resolved(self) -> float:
        """As in `Climb`."""
        return _PATH

    def along(
        self, now: FloatArray, share: FloatArray, k: int, in_panels: bool
    ) -> tuple[FloatArray, float] | Stopped | None:
        """As in `Climb`."""
        if k == self.first:
            self.paths.clear()
        there = _kept(now, share, k, self.goal)
        if there.refusals:
            return Stopped(there.refusals[0], float(there.attained[0]))
        self.paths.append(there)
        return there.values[0], float(there.growth[0])

    def through(self, begin: Nodes) -> Climbed:
        """As in `Climb`: displacements, then phi for each gradient (orders 4, 5, ..)."""
        found = Climb.through(self, begin)
        if not (found.tail <= found.allowed).all():
            self.paths.clear()  # which take room
            return found
        panels, m = begin.places.shape
        now = np.concatenate([begin.places.ravel(), begin.tied])
        share = np.concatenate([begin.weights.ravel(), begin.share])
        every = _pulled(self.paths, now, share)
        self.paths.clear()
        fields = every[:, : panels * m].reshape(-1, panels, m)
        c = fields @ waves(m)[1].T * (2 / m)
        c[:, :, 0] /= 2
        ends = np.array([begin.places[0].min(), begin.places[-1].max()])
        slope = self.row.slope_at_place(np.concatenate([now, ends]))
        slope /= slope.max()  # in no unit of the sample
        slope, ends = slope[:-2], slope[-2:]
        last = np.abs(c[:, :, -_TAIL:]).max(axis=2) * slope[: panels * m].reshape(panels, m).max(axis=1)
        signs = (-1.0) ** np.arange(m)
        largest = np.maximum(np.abs(c[:, 0] @ signs) * ends[0], np.abs(c[:, -1].sum(axis=1)) * ends[1])
        largest = np.maximum(largest, np.sqrt(np.maximum((every * slope) ** 2 @ share, 0)))
        unresolved = (last / largest[:, None]).max(axis=0) / _RESOLVED * found.allowed
        tail = np.maximum(found.tail, np.where(unresolved == unresolved, unresolved, np.inf))
        return Climbed(np.concatenate([found.series, c]), tail, found.allowed)


def _kept(now: FloatArray, share: FloatArray, k: int, goal: FloatArray) -> Followed:
    return follow(
        now[None], k, goal[k], held=goal[1:k], weights=share[None], rtol=_RTOL, store=True, one_by_one=True
    )


def _pulled(paths: Sequence[Followed], start: FloatArray, share: FloatArray) -> FloatArray:
    """phi of orders 4, 5, .. at level 3, (1 + levels, n), of weighted values that climbed there."""
    fields = np.empty((len(paths) + 1, 1, len(start)))
    fields[0, 0] = 4 * start**3
    for j, path in enumerate(paths, start=1):
        fields[j] = (j + 4) * path.values ** (j + 3)
    for j in range(len(paths), 0, -1):
        fields[j:] = pullback(paths[j - 1], fields[j:])
    return project(start[None], fields, 3, share[None])[:, 0]


def _in_parts(
    row: FlowedRow, goal: FloatArray, means: Means, out: NDArray[np.floating[Any]], with_values: bool
) -> tuple[FloatArray, Outcome | None] | None:
    climb, count = _Kept(4, goal, means, row=row), len(goal) - 4
    one = by_one_series(row, climb, count > 0 and is_far(row, goal.tolist()))
    if one is None:
        panels = by_panels(row, climb)
        if panels is None:
            return None
        one, refused = panels[:2], panels[2]
        if refused is not None:
            last = climb.first + len(one[1])  # the moment that is still told
            below = _in_parts(row, goal[:last], means, out[: last - 3], with_values)
            out[last - 3 :] = np.nan
            return None if below is None else (np.append(below[0], np.full(len(out) - last + 3, np.nan)), refused)
    edges, series = one
    values = np.full(len(out), np.nan)
    if with_values:
        values[0] = row.moment(4)
        higher = moments_at_levels(row, edges, series[:count], goal, means)
        if higher is None:
            return None
        values[1:] = higher
    _evaluate(row, edges, series[count:], means, out)
    return values, None


def _evaluate(
    row: FlowedRow, edges: FloatArray, series: FloatArray, means: Means, out: NDArray[np.floating[Any]]
) -> None:
    """Write slope phi/N, for phi of series (orders, panels, m)."""
    middle, half = (part.tolist() for part in spans(edges))
    short = [_shortened(series[:, p]) for p in range(len(middle))]
    size = PART if len(short) == 1 else _SORTED
    for i in range(0, len(row.row), size):
        x = row.row[i : i + size]
        z = row.at(x)
        slope = row.slope(x, z)
        slope /= len(row.row)
        order = slice(None) if len(short) == 1 else np.argsort(z)
        parts = [means.evaluated(some, (middle[p], half[p]), list(short[p])) for p, some in in_panels(z[order], edges)]
        for gradient, values in zip(out[:, i : i + size], zip(*parts, strict=True), strict=True):
            there = np.concatenate(values) if len(values) > 1 else values[0]
            gradient[order] = there * slope[order]


def _shortened(c: FloatArray) -> FloatArray:
    """Series (orders, m) without last coefficients that are rounding in all of them; a multiple of eight is left."""
    matter = np.flatnonzero((np.abs(c) > _NOTHING * np.abs(c).max(axis=1, keepdims=True)).any(axis=0))
    return c[:, : max(2 * EIGHT, EIGHT * (int(matter.max(initial=0)) // EIGHT + 1))]


def _of_values(
    row: NDArray[Any], values: FloatArray, counts: IntArray, goal: FloatArray, out: NDArray[np.floating[Any]]
) -> tuple[FloatArray, Outcome | None]:
    """Distinct values move with weights: exactly the path of the sample."""
    share, found, order = counts / len(row), np.full(len(out), np.nan), len(goal)
    skew, refused = values_at_level_3(values, counts, goal[3]), None
    if isinstance(skew, Outcome):
        out[...] = np.nan
        return found, skew
    now, growth, paths = skew.values[0], 1.0, list[Followed]()
    for k in range(4, order + 1):
        found[k - 4] = power_mean(now[None], k, share[None])[0]
        if k == order:
            break
        there = _kept(now, share, k, goal)
        growth *= float(there.growth[0])
        if there.refusals or growth > MOST_GROWTH:
            refused = there.refusals.get(0) or pulled_apart(k, growth)
            break
        paths.append(there)
        now = there.values[0]
    fields = _pulled(paths, skew.values[0], share) * skew.slope / len(row)
    out[len(fields) :] = np.nan
    for j in range(0, len(row), PART):
        out[: len(fields), j : j + PART] = fields[:, np.searchsorted(values, row[j : j + PART])]
    return found, refused
