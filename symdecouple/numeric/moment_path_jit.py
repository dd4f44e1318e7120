"""The ladder of decoupled moments, compiled: levels 4 and up of many samples, row after row, where all is well.

The same mathematics as `moment_path` and `runge_kutta`, in loops over one row at a time: the value-parametrized path
with the same pair of order 8, the same control of steps and the same correction onto the manifold. Long samples are
stood in for by nodes (`moment_nodes`) wherever these tell their path to rounding. Level 3 is that of `riccati_jit`.

Nothing is decided here. A row that is crowded, that stalls, that does not settle to the residual of `moment_path`, or
whose target needs a look, is handed back undone; the NumPy path then solves it or says why not.

The functions are plain Python, far too slow to use as such; `jit` compiles them. Results agree with NumPy's to about
1e-10, the error of their steps, not to the last bit. Rows are shared out over threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symdecouple.numeric import riccati_jit
from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.jit import Kernels
from symdecouple.numeric.moebius_jit import share_rows
from symdecouple.numeric.moment_course import NOISE
from symdecouple.numeric.moment_loops import (
    BLOCK,
    FAST,
    add_up_polynomials,
    decompose,
    means_to,
    polynomial,
    steepest,
)
from symdecouple.numeric.moment_nodes import EIGHT, LOOPS, add_series, place_nodes, series_length, series_of, tail_of
from symdecouple.numeric.moment_path import GROWN, MOST_GROWTH, RESIDUAL, RTOL, SHARP
from symdecouple.numeric.riccati import Imposed
from symdecouple.numeric.runge_kutta import FIFTH, STAGES, THIRD, WEIGHTS

__all__ = ["KERNELS", "Climbed", "climb_compiled", "climb_rows", "warm"]

_OWN = ("runge_kutta", "moment_course", "moment_path", "moment_loops", "moment_nodes", "moment_path_jit")
KERNELS = Kernels(
    __name__,
    (*riccati_jit.KERNELS.sources, *(f"symdecouple.numeric.{name}" for name in _OWN)),
    seconds=3e-6,
)

_CROWDED = 1e-3  # as in moment_path: below, a row is for the careful
_LOST = 1e-5  # as in moment_basis
_SETTLED = 5e-15
_FAR = 1e-3  # residual of a path beyond which no correction is tried
_ASTRAY = 1e-9  # the same, where nodes stood in
_FIRST = 0.1
_MOST_STEPS = 200
_ROOM = 15  # vectors that a path needs
_NODES = 32  # for a path of one step, for others twice as many, then what the series asks for
_RESOLVED = 1e-13  # last coefficients of a displacement, in standard deviations: a tenth of it goes into a value
_ENTRIES = 3  # a node that make it worthwhile
_MOST_NODES = 512
_GROWN_BY = float(np.log(GROWN / RTOL))
_MOST = float(np.log(MOST_GROWTH))
_FAST = (*FAST, *LOOPS, "_add_four", "_error")


def _table(rows: Sequence[dict[int, float]]) -> tuple[IntArray, FloatArray, IntArray]:
    """Places and weights of the slopes that each row adds up, in groups of four, and the number of groups."""
    places = np.zeros((len(rows), 12), dtype=np.intp)
    weights = np.zeros((len(rows), 12))
    for i, row in enumerate(rows):
        places[i, : len(row)], weights[i, : len(row)] = list(row), list(row.values())
    return places, weights, np.array([-(-len(row) // 4) for row in rows], dtype=np.intp)


_PLACES, _COEFFICIENTS, _GROUPS = _table([*STAGES, WEIGHTS])
_FIVE, _THREE = (tuple(row.get(j, 0.0) for j in range(12)) for row in (FIFTH, THIRD))


@dataclass(frozen=True, slots=True)
class Climbed:
    """Standardized decoupled moments (order + 1, R), samples at the last level (R, N), and which rows are done."""

    moments: FloatArray
    values: FloatArray
    done: NDArray[np.bool_]


@cache
def _kernel() -> Any:
    return KERNELS.build(climb_rows, fast=_FAST)[0]


def climb_compiled(
    rows: NDArray[np.floating[Any]],
    order: int,
    goal: Sequence[float],
    *,
    impose: Callable[[ArrayLike, ArrayLike], Imposed] = riccati_jit.compiled_impose_skewness,
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
    impose : callable
        What brings samples to level 3.

    Returns
    -------
    Climbed
        NaN in the rows that are not done.
    """
    skew = impose(rows, goal[3])
    moments = np.full((len(rows), order + 1), np.nan)
    moments[:, :4] = goal[:4]
    done = np.zeros(len(rows), dtype=np.bool_)
    which = np.flatnonzero(~np.isnan(skew.residual))
    which = which[~np.isin(which, list(skew.refusals))] if skew.refusals else which
    if len(which):
        share_rows(_kernel(), which, skew.values, order, np.array(goal[:order], dtype=np.float64), moments, done)
    moments[~done], skew.values[~done] = np.nan, np.nan
    return Climbed(moments.T, skew.values, done)


def warm() -> None:
    """Compile and keep on the disk. Cost: several seconds, once; nothing where it is done."""
    if not riccati_jit.KERNELS.are_warm():
        riccati_jit.warm()
    climb_compiled(np.array([[0.0, 1, 3, 4, 6, 7, 9, 10, 12, 20]]), 6, (1.0, 0.0, 1.0, 0.0, 3.0, 0.0))
    KERNELS.note_warm()


# --- compiled from here on ---


def climb_rows(which: Any, values: Any, order: int, goal: Any, moments: Any, done: Any) -> None:
    """Climb rows at level 3 in place; their `moments` (R, order + 1) and `done` are filled in."""
    n, size = values.shape[1], max(order, 5)
    weights, room = np.empty(n), np.empty(_ROOM * 4 * _NODES)
    means, norm, c, lower = np.empty(4 * size), np.empty(size), np.empty(size), np.empty((size, size))
    for i in range(n):
        weights[i] = 1 / n
    for r in which:
        means_to(values[r], weights, order - 1, means)
        moments[r, order] = means[order]
        good, log_growth = True, 0.0
        for k in range(4, order):
            grown = _climb_level(values[r], weights, k, goal, moments[r], room, means, lower, norm, c)
            log_growth += grown
            good = grown >= 0 and log_growth <= _MOST
            if not good:
                break
        done[r] = good


def _climb_level(
    z: Any, weights: Any, k: int, goal: Any, moments: Any, room: Any, means: Any, lower: Any, norm: Any, c: Any
) -> float:
    """Level k, in place; the logarithm of how much errors grew, -1 where a careful look is needed.

    Moment k is that before and moment k + 1 the one after.
    """
    means_to(z, weights, k, means)
    moments[k], moments[k + 1] = means[k], means[k + 1]
    if not decompose(means, k, lower, norm) > _CROWDED:
        return -1.0
    if _residual(means, k, goal, goal[k], c) <= RESIDUAL:
        return 0.0
    low, high = z[0], z[0]
    for i in range(len(z)):
        low, high = min(low, z[i]), max(high, z[i])
    centre, half = (low + high) / 2, (high - low) / 2
    m = _NODES if _first_step(means, k, goal, norm) >= 1 else 2 * _NODES
    while True:
        by_nodes = m <= min(_MOST_NODES, len(z) // _ENTRIES)
        y, share = z, weights
        if by_nodes:
            x, y, share, series = np.empty(m), np.empty(m), np.empty(m), np.empty(m + 2 + EIGHT)
            place_nodes(z, weights, centre, half, x, y, share, series)
        if len(room) < _ROOM * len(y):
            room = np.empty(_ROOM * len(y))
        log_growth = _integrate(y, share, k, goal, room, means, lower, norm, c)
        if not by_nodes:
            break
        series_of(y, centre, half, x, series)
        tail = tail_of(series, m)
        if log_growth >= 0 and tail <= _RESOLVED:
            add_series(z, centre, half, series, series_length(series, m), z)
            break
        wanted = 2.0 * m  # where nothing can be said, else by the rate at which coefficients fall
        if log_growth >= 0 and tail < 1:
            wanted = min(1.15 * m * np.log(_RESOLVED) / np.log(tail), 2.0 * _MOST_NODES)
        m = max(m + EIGHT, EIGHT * int(np.ceil(wanted / EIGHT)))
    if not 0 <= log_growth <= _MOST:
        return -1.0
    if not _settle(z, weights, k, goal, _ASTRAY if by_nodes else _FAR, means, lower, norm, c) <= RESIDUAL:
        return -1.0
    moments[k + 1] = means[k + 1]
    return float(log_growth)


def _copy(values: Any, to: Any) -> None:
    for i in range(len(values)):
        to[i] = values[i]


def _first_step(means: Any, k: int, goal: Any, norm: Any) -> float:
    return float(min(1.0, _FIRST * k * np.sqrt(norm[k - 1]) / abs(goal[k] - means[k])))


def _integrate(
    y: Any, weights: Any, k: int, goal: Any, room: Any, means: Any, lower: Any, norm: Any, c: Any
) -> float:
    """From s = 0 to 1, in place, and again in smaller steps where errors would grow too much.

    Returns the logarithm of how much they grew, -1 where the path is lost.
    """
    n = len(y)
    slopes = room[: 12 * n].reshape((12, n))
    stage, fresh, start = room[12 * n : 13 * n], room[13 * n : 14 * n], room[14 * n : 15 * n]
    _copy(y, start)
    means_to(y, weights, k, means)
    if not decompose(means, k, lower, norm) > _LOST:
        return -1.0
    first, distance = means[k], goal[k] - means[k]
    rtol, h, s = RTOL, _first_step(means, k, goal, norm), 0.0
    first_h = h
    kept = taken = stretch = log_growth = 0.0
    is_new = True
    for _ in range(_MOST_STEPS):
        if is_new:
            means_to(y, weights, k, means)
            if not decompose(means, k, lower, norm) > _LOST:
                return -1.0
            _slope(y, k, distance, lower, norm, c, slopes[0])
            now = steepest(y, c, k, stage)
            log_growth += taken * (stretch + now) / 2
            stretch = now
            if s == 1 and (log_growth <= _GROWN_BY or rtol == SHARP):
                return float(log_growth)
            if s == 1:
                rtol, h, s, taken, log_growth = SHARP, first_h, 0.0, 0.0, 0.0
                _copy(start, y)
                continue
        is_last = s + 1.05 * h >= 1
        if is_last:
            h = 1 - s
        for i in range(1, 13):
            moved = stage if i < 12 else fresh
            _combine(y, slopes, i, h, moved)
            means_to(moved, weights, k, means)
            kept = decompose(means, k, lower, norm)
            if i < 12:
                if not kept > _LOST:
                    return -1.0
                _slope(moved, k, distance, lower, norm, c, slopes[i])
        error = _error(slopes, weights, h) / rtol
        is_new = error <= 1
        if is_new:
            if not kept > _LOST:
                return -1.0
            s, taken = 1.0 if is_last else s + h, h
            if _residual(means, k, goal, first + s * distance, c) > NOISE:
                _correct(fresh, k, lower, norm, c)
            _copy(fresh, y)
        h *= min(max(0.9 * max(error, 1e-30) ** -0.125, 0.2), 8.0 if is_new else 0.5)
    return -1.0


def _slope(y: Any, k: int, distance: float, lower: Any, norm: Any, c: Any, out: Any) -> None:
    """The velocity of the path where `lower` and `norm` are those of y."""
    for j in range(k):
        c[j] = 0
    c[k - 1] = distance / (k * norm[k - 1])
    add_up_polynomials(lower, k, c)
    polynomial(y, c, k, 0.0, out)


def _combine(y: Any, slopes: Any, row: int, h: float, out: Any) -> None:
    """out = y + h sum of weight times slope."""
    n = len(y)
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        v = y[begin:end]
        for first in range(0, 4 * _GROUPS[row], 4):
            _add_four(v, slopes, row, first, h, begin, out[begin:end])
            v = out[begin:end]


def _add_four(v: Any, slopes: Any, row: int, first: int, h: float, begin: int, out: Any) -> None:
    end = begin + len(v)
    p, q = slopes[_PLACES[row, first], begin:end], slopes[_PLACES[row, first + 1], begin:end]
    t, u = slopes[_PLACES[row, first + 2], begin:end], slopes[_PLACES[row, first + 3], begin:end]
    a, b = h * _COEFFICIENTS[row, first], h * _COEFFICIENTS[row, first + 1]
    c, d = h * _COEFFICIENTS[row, first + 2], h * _COEFFICIENTS[row, first + 3]
    for i in range(len(v)):
        out[i] = v[i] + (a * p[i] + b * q[i] + c * t[i] + d * u[i])


def _error(slopes: Any, weights: Any, h: float) -> float:
    """Root mean square of the estimated error; slopes 1 to 4 have no part in it."""
    five = three = 0.0
    for i in range(len(weights)):
        fifth = (
            _FIVE[0] * slopes[0, i] + _FIVE[5] * slopes[5, i] + _FIVE[6] * slopes[6, i] + _FIVE[7] * slopes[7, i]
            + _FIVE[8] * slopes[8, i] + _FIVE[9] * slopes[9, i] + _FIVE[10] * slopes[10, i] + _FIVE[11] * slopes[11, i]
        )
        third = (
            _THREE[0] * slopes[0, i] + _THREE[5] * slopes[5, i] + _THREE[6] * slopes[6, i] + _THREE[7] * slopes[7, i]
            + _THREE[8] * slopes[8, i] + _THREE[9] * slopes[9, i] + _THREE[10] * slopes[10, i]
            + _THREE[11] * slopes[11, i]
        )
        five += weights[i] * fifth * fifth
        three += weights[i] * third * third
    if five == 0:
        return 0.0
    five, three = abs(five), abs(three)  # weights of nodes may be negative
    return float(h * five / np.sqrt(five + 0.01 * three))


def _residual(means: Any, k: int, goal: Any, target: float, gap: Any) -> float:
    """Largest gap over Mean|z|^j, and the gaps that are more than rounding; `target` is that of the k-th moment."""
    largest = 0.0
    for j in range(1, k + 1):
        size = means[j] if j % 2 == 0 else np.sqrt(means[j - 1] * means[j + 1])
        gap[j - 1] = (target if j == k else goal[j]) - means[j]
        share = abs(gap[j - 1]) / size
        if not share <= largest:
            largest = share
        if share <= NOISE:
            gap[j - 1] = 0
    return largest


def _correct(z: Any, k: int, lower: Any, norm: Any, c: Any) -> None:
    """Newton's step for the gaps in c, in place."""
    for i in range(k):
        rest = c[i] / (i + 1)
        for j in range(i):
            rest -= lower[i, j] * norm[j] * c[j]
        c[i] = rest / norm[i]
    add_up_polynomials(lower, k, c)
    polynomial(z, c, k, 1.0, z)


def _settle(
    z: Any, weights: Any, k: int, goal: Any, far: float, means: Any, lower: Any, norm: Any, c: Any
) -> float:
    """Correct until the moments are there to rounding; `means` are those of the result."""
    residual = np.inf
    for _ in range(4):
        means_to(z, weights, k, means)
        kept = decompose(means, k, lower, norm)
        residual = _residual(means, k, goal, goal[k], c)
        if residual <= _SETTLED or not (kept > _LOST and residual < far):
            break
        _correct(z, k, lower, norm, c)
    return residual
