"""The ladder of decoupled moments, compiled: levels 4 and up of many samples, where all is well.

The same mathematics as `moment_path` and `runge_kutta`, in loops over the entries of a row, or of a few side by side:
the value-parametrized path with the same pair of order 8 (`moment_path.steps`), and the same correction onto the
manifold at its end, which looks at the level above, too. Long samples are stood in for by nodes (`moment_path.nodes`)
wherever these tell their path to rounding. Level 3 is that of `skewness_kernel`.

Nothing is decided here. A row that is crowded, that stalls, that does not settle to the residual of `moment_path`, or
whose target needs a look, is handed back undone; the NumPy path then solves it or says why not.

The functions are plain Python, far too slow to use as such; `jit` compiles them. Results agree with NumPy's to a few
1e-10 at most, the error of their steps, not to the last bit. Rows are shared out over threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.kernels.parallel import share_rows
from symdecouple.numeric.moments import (
    nodes as moment_nodes,
    path_loops as moment_loops,
    skewness_kernel,
    steps as moment_steps,
)
from symdecouple.numeric.moments.moment_path import MOST_GROWTH, RESIDUAL
from symdecouple.numeric.moments.nodes import EIGHT, carry_rows
from symdecouple.numeric.moments.path_loops import settle_rows
from symdecouple.numeric.moments.skewness_flow import Imposed
from symdecouple.numeric.moments.steps import follow_rows
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["KERNELS", "Climbed", "climb_compiled", "warm"]

_OWN = ("course", "moment_path", "path_loops", "nodes", "moves", "steps", "moment_path_jit")
KERNELS = Kernels(
    __name__,
    (
        *skewness_kernel.KERNELS.sources,
        "symdecouple.numeric.paths.dop853",
        *(f"{__package__}.{name}" for name in _OWN),
    ),
    seconds=3e-6,
)

_LOWEST = 4
_CROWDED = 1e-3  # as in moment_path: below, a row is for the careful
_FAR = 1e-3  # residual of a path beyond which no correction is tried
_ASTRAY = 1e-9  # the same, where nodes stood in
_NODES = 32  # for a short path, for others twice as many, then what the series asks for
_NEAR = 0.1  # mean length of a short path, in standard deviations
_RESOLVED = 1e-13  # last coefficients of a displacement, in standard deviations: a tenth of it goes into a value
_ENTRIES = 3  # a node that make it worthwhile
_MOST_NODES = 512
_AT_ONCE = 2**18  # nodes in memory
_MOST = float(np.log(MOST_GROWTH))
_FAST = (*moment_loops.FAST, *moment_nodes.FAST, *moment_steps.FAST)


@dataclass(frozen=True, slots=True)
class Climbed:
    """Standardized decoupled moments (order + 1, R), samples at the last level (R, N), and which rows are done."""

    moments: FloatArray
    values: FloatArray
    done: NDArray[np.bool_]


@cache
def _kernels() -> tuple[Callable[..., None], ...]:
    kernels: tuple[Callable[..., None], ...] = KERNELS.build(settle_rows, follow_rows, carry_rows, fast=_FAST)
    return kernels


def climb_compiled(
    rows: NDArray[np.floating[Any]],
    order: int,
    goal: Sequence[float],
    ends: tuple[FloatArray, FloatArray] | None = None,
    *,
    impose: Callable[..., Imposed] = skewness_kernel.compiled_impose_skewness,
) -> Climbed:
    """Normalize samples level by level up to order - 1, those that need no care.

    Parameters
    ----------
    rows : array (R, N)
        Finite, of any unit.
    order : int
        At least 4.
    goal : sequence of float
        Standardized reference moments 0..order - 1.
    ends : pair of arrays (R,), optional
        Minimum and maximum of each sample, where they are known.
    impose : callable
        What brings samples to level 3.

    Returns
    -------
    Climbed
        NaN in the rows that are not done.
    """
    skew = impose(rows, goal[3], ends=ends, with_slope=False)
    moments = np.full((order + 1, len(rows)), np.nan)
    moments[:4] = np.array(goal[:4])[:, None]
    done = ~np.isnan(skew.residual)
    done[list(skew.refusals)] = False
    n_rows, ended = len(rows), np.array([*goal, np.nan])
    climb = _Climb(skew.values, ended, moments, np.zeros(n_rows), np.empty((10, n_rows)))
    if order == _LOWEST and done.any():
        climb.look(_LOWEST, np.flatnonzero(done))
        moments[_LOWEST] = climb.state[1]
    for k in range(_LOWEST, order):
        if done.any():
            which = np.flatnonzero(done)
            done[which] = climb.level(k, which)
    if not done.all():
        moments[:, ~done], skew.values[~done] = np.nan, np.nan
    return Climbed(moments, skew.values, done)


def warm() -> None:
    """Compile and keep on the disk. Cost: several seconds, once; nothing where it is done."""
    if not skewness_kernel.KERNELS.are_warm():
        skewness_kernel.warm()
    climb_compiled(np.arange(0.0, 6 * _NODES)[None] ** 2, 5, (1.0, 0.0, 1.0, 0.0, 3.0))
    KERNELS.note_warm()


@dataclass(frozen=True, slots=True)
class _Climb:
    """Samples (R, N) on their way, moved in place; their moments (order + 1, R) and how much errors grew so far.

    The goal has a number more than there are levels, NaN, and the state is that of `settle_rows`.
    """

    z: FloatArray
    goal: FloatArray
    moments: FloatArray
    log_growth: FloatArray
    state: FloatArray

    def look(self, k: int, which: IntArray, far: float = 0.0) -> None:
        """Correct samples that are not farther than this from level k."""
        share_rows(_kernels()[0], which, self.z, k, self.goal, far, self.state)

    def level(self, k: int, which: IntArray) -> NDArray[np.bool_]:
        """Level k of the samples named, in the order of levels; true where all is well."""
        if k == _LOWEST:
            self.look(k, which)
            self.moments[k] = self.state[1]
        else:
            self.state[:5] = self.state[5:]
        good = self._moved(k, which)
        self.moments[k + 1] = self.state[2]
        return good

    def _moved(self, k: int, which: IntArray) -> NDArray[np.bool_]:
        residual, first, _, kept, norm = (row if len(which) == len(row) else row[which] for row in self.state[:5])
        good: NDArray[np.bool_] = kept > _CROWDED
        moves = good & ~(residual <= RESIDUAL)
        if not moves.any():
            return good
        rows, first = which[moves], first[moves]
        is_near = _NEAR * k * np.sqrt(norm[moves]) >= np.abs(self.goal[k] - first)
        log_growth, by_nodes = self._follow(k, rows, first, np.where(is_near, _NODES, 2 * _NODES))
        self.log_growth[rows] += log_growth
        there = (log_growth >= 0) & (self.log_growth[rows] <= _MOST)
        for some, far in ((there & by_nodes, _ASTRAY), (there & ~by_nodes, _FAR)):
            if some.any():
                self.look(k, rows[some], far)
                there[some] = self.state[0, rows[some]] <= RESIDUAL
        good[moves] = there
        return good

    def _follow(
        self, k: int, rows: IntArray, first: FloatArray, size: IntArray
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Move samples along their paths; how much errors grew, -1 where lost, and for which of them nodes stood in."""
        n_samples = self.z.shape[1]
        log_growth = np.full(len(rows), -1.0)
        most = min(_MOST_NODES, n_samples // _ENTRIES)
        left = np.ones(len(rows), dtype=np.bool_)
        if (size <= most).any():
            low, high = self.z.min(axis=1)[rows], self.z.max(axis=1)[rows]
            span = np.stack([(low + high) / 2, (high - low) / 2])
        while (left & (size <= most)).any():
            m = int(size[left].min())
            some = np.flatnonzero(left & (size == m))[: max(1, _AT_ONCE // m)]
            log_growth[some], tail = self._by_nodes(k, m, rows[some], np.ascontiguousarray(span[:, some]), first[some])
            resolved = (log_growth[some] >= 0) & (tail <= _RESOLVED)
            left[some[resolved]] = False
            size[some[~resolved]] = _more_nodes(m, np.where(log_growth[some] >= 0, tail, np.nan)[~resolved])
        direct = np.flatnonzero(left)
        if len(direct):
            weights, found = np.full((1, n_samples), 1 / n_samples), np.empty(len(self.z))
            begin = np.empty(len(self.z))
            begin[rows] = first
            share_rows(_kernels()[1], rows[direct], self.z, weights, k, self.goal, begin, found)
            log_growth[direct] = found[rows[direct]]
        return log_growth, ~left

    def _by_nodes(
        self, k: int, m: int, rows: IntArray, span: FloatArray, first: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The same by m nodes: what is lost or not resolved is not moved. Returns the last coefficients, too."""
        _, follow, carry = _kernels()
        every, n_samples = np.arange(len(rows)), self.z.shape[1]
        x, unit = np.cos(np.pi * (np.arange(m) + 0.5) / m)[None], np.repeat([[0.0], [1.0]], len(rows), axis=1)
        share, log_growth, tail = np.zeros((len(rows), m)), np.empty(len(rows)), np.full(len(rows), np.inf)
        weights = np.full((1, n_samples), 1 / n_samples)
        share_rows(carry, every, self.z, rows, span, weights, x, every, unit, share, m, np.inf, tail)
        nodes = span[0][:, None] + span[1][:, None] * x
        moved = nodes.copy()
        share_rows(follow, every, moved, share, k, self.goal, first, log_growth)
        moved -= nodes
        here = np.flatnonzero(log_growth >= 0)
        if len(here):
            share_rows(carry, here, x, every, unit, moved, self.z, rows, span, self.z, m, _RESOLVED, tail)
        return log_growth, tail


def _more_nodes(m: int, tail: FloatArray) -> IntArray:
    """By the rate at which coefficients fell; twice as many where nothing can be said."""
    with np.errstate(all="ignore"):
        by_rate = np.minimum(1.15 * m * np.log(_RESOLVED) / np.log(tail), 2 * _MOST_NODES)
    wanted = np.where(tail < 1, by_rate, 2.0 * m)
    more: IntArray = np.maximum(m + EIGHT, EIGHT * np.ceil(wanted / EIGHT)).astype(np.intp)
    return more
