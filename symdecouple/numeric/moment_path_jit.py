"""The ladder of decoupled moments, compiled: levels 3 and up of many samples, row after row, where all is well.

The same mathematics as `riccati`, `moment_path` and `runge_kutta`, in loops over one row at a time:

* level 3 by Newton steps along the exact skew flow z/(1 - s z), standardized after each;
* level k by the value-parametrized path with the same pair of order 8, the same control of steps and the same
  correction onto the manifold.

Nothing is decided here. A row that is crowded, that stalls, that does not settle to the residual of `moment_path`, or
whose target needs a look, is handed back undone; the NumPy path then solves it or says why not.

The functions are plain Python, far too slow to use as such; `jit` compiles them. Results agree with NumPy's to about
1e-12, not to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.jit import Kernels
from symdecouple.numeric.moment_course import NOISE
from symdecouple.numeric.moment_loops import (
    BLOCK,
    FAST,
    add_up_polynomials,
    decompose,
    means_to,
    moment,
    polynomial,
    steepest,
)
from symdecouple.numeric.moment_path import GROWN, MOST_GROWTH, RESIDUAL, RTOL, SHARP
from symdecouple.numeric.runge_kutta import FIFTH, STAGES, THIRD, WEIGHTS

__all__ = ["KERNELS", "Climbed", "climb_compiled", "climb_rows", "warm"]

KERNELS = Kernels(
    __name__,
    tuple(
        f"symdecouple.numeric.{name}"
        for name in ("jit", "runge_kutta", "moment_course", "moment_path", "moment_loops", "moment_path_jit")
    ),
    seconds=3e-6,
)

_CROWDED = 1e-3  # as in moment_path: below, a row is for the careful
_LOST = 1e-5  # as in moment_basis
_SETTLED = 5e-15
_FIRST = 0.1
_MOST_STEPS = 100
_SKEW_STEPS = 40
_FARTHEST = 0.5  # |s| max|z| of one step along the skew flow
_GROWN_BY = float(np.log(GROWN / RTOL))
_MOST = float(np.log(MOST_GROWTH))
_FAST = (*FAST, "_combine", "_error")


def _table(rows: Sequence[dict[int, float]]) -> tuple[IntArray, FloatArray, IntArray]:
    """Places and weights of the slopes that each row adds up, in groups of four, and the number of groups."""
    places = np.zeros((len(rows), 12), dtype=np.intp)
    weights = np.zeros((len(rows), 12))
    for i, row in enumerate(rows):
        places[i, : len(row)], weights[i, : len(row)] = list(row), list(row.values())
    return places, weights, np.array([-(-len(row) // 4) for row in rows], dtype=np.intp)


_PLACES, _COEFFICIENTS, _GROUPS = _table([*STAGES, WEIGHTS])
_ESTIMATES = np.array([[row.get(j, 0.0) for j in range(12)] for row in (FIFTH, THIRD)])


@dataclass(frozen=True, slots=True)
class Climbed:
    """Standardized decoupled moments (order + 1, R), samples at the last level (R, N), and which rows are done."""

    moments: FloatArray
    values: FloatArray
    done: NDArray[np.bool_]


@cache
def _kernel() -> Any:
    return KERNELS.build(climb_rows, fast=_FAST)[0]


def climb_compiled(rows: NDArray[np.floating[Any]], order: int, goal: Sequence[float]) -> Climbed:
    """Normalize samples level by level up to order - 1, those that need no care.

    Parameters
    ----------
    rows : array (R, N)
        Finite, of any unit.
    order : int
        At least 4.
    goal : sequence of float
        Standardized reference moments 0..order - 1.

    Returns
    -------
    Climbed
        NaN in the rows that are not done.
    """
    values = np.array(rows, dtype=np.float64)  # a copy: it is worked on in place
    low, high = values.min(axis=1), values.max(axis=1)
    with np.errstate(over="ignore"):
        spread = high - low
    scale = np.ldexp(1.0, np.minimum(-np.frexp(spread)[1], 1023))
    open_rows = (low < high) & np.isfinite(spread)
    moments = np.full((len(values), order + 1), np.nan)
    moments[:, :4] = goal[:4]
    done = np.zeros(len(values), dtype=np.bool_)
    _kernel()(values, scale, low * scale, open_rows, order, np.array(goal[:order], dtype=np.float64), moments, done)
    moments[~done], values[~done] = np.nan, np.nan
    return Climbed(moments.T, values, done)


def warm() -> None:
    """Compile and keep on the disk. Cost: several seconds, once; nothing where it is done."""
    climb_compiled(np.array([[0.0, 1, 3, 4, 6, 7, 9, 10, 12, 20]]), 6, (1.0, 0.0, 1.0, 0.0, 3.0, 0.0))
    KERNELS.note_warm()


# --- compiled from here on ---


def climb_rows(
    values: FloatArray,
    scale: FloatArray,
    offset: FloatArray,
    open_rows: NDArray[np.bool_],
    order: int,
    goal: FloatArray,
    moments: FloatArray,
    done: NDArray[np.bool_],
) -> None:
    """Climb every open row in place; `moments` (R, order + 1) and `done` are filled in."""
    n = values.shape[1]
    slopes, start, stage, fresh = np.empty((12, n)), np.empty(n), np.empty(n), np.empty(n)
    for r in range(len(values)):
        if not open_rows[r]:
            continue
        z = values[r]
        for i in range(n):
            z[i] = z[i] * scale[r] - offset[r]
        good = _unskew(z, goal)
        total = 0.0
        for k in range(4, order):
            if not good:
                break
            moments[r, k] = moment(z, k)
            for i in range(n):
                start[i] = z[i]
            log_growth = _follow(z, k, goal, RTOL, slopes, stage, fresh)
            if log_growth > _GROWN_BY:
                for i in range(n):
                    z[i] = start[i]
                log_growth = _follow(z, k, goal, SHARP, slopes, stage, fresh)
            total += log_growth
            good = log_growth >= 0 and total <= _MOST
        if good:
            moments[r, order] = moment(z, order)
        done[r] = good


def _standardize(z: FloatArray) -> None:
    n = len(z)
    for _ in range(2):  # the second mean takes out what rounding left of the first
        mean = moment(z, 1)
        for i in range(n):
            z[i] -= mean
    unit = 1 / np.sqrt(moment(z, 2))
    for i in range(n):
        z[i] *= unit


def _unskew(z: FloatArray, goal: FloatArray) -> bool:
    """Level 3, in place."""
    n = len(z)
    target = goal[3]
    means, lower, norm, c = np.empty(5), np.empty((3, 3)), np.empty(3), np.empty(3)
    _standardize(z)
    for _ in range(_SKEW_STEPS):
        means_to(z, 3, means)
        kept = decompose(means, 3, lower, norm)
        if not kept > _CROWDED:
            return False
        gap = target - means[3]
        farthest = 0.0
        for i in range(n):
            farthest = max(farthest, abs(z[i]))
        s = gap / (3 * norm[2])
        if abs(s) * farthest < 1e-9:
            break
        s = min(max(s, -_FARTHEST / farthest), _FARTHEST / farthest)
        for i in range(n):
            z[i] /= 1 - s * z[i]
        _standardize(z)
    return _settle(z, 3, goal, means, lower, norm, c) <= RESIDUAL


def _residual(means: FloatArray, k: int, goal: FloatArray, gap: FloatArray) -> float:
    """Largest gap over Mean|z|^j, and the gaps that are more than rounding."""
    largest = 0.0
    for j in range(1, k + 1):
        size = means[j] if j % 2 == 0 else np.sqrt(means[j - 1] * means[j + 1])
        gap[j - 1] = goal[j] - means[j]
        share = abs(gap[j - 1]) / size
        if not share <= largest:
            largest = share
        if share <= NOISE:
            gap[j - 1] = 0
    return largest


def _corrected(z: FloatArray, k: int, lower: FloatArray, norm: FloatArray, c: FloatArray) -> None:
    """Newton's step for the gaps in c, in place."""
    for i in range(k):
        rest = c[i] / (i + 1)
        for j in range(i):
            rest -= lower[i, j] * norm[j] * c[j]
        c[i] = rest / norm[i]
    add_up_polynomials(lower, k, c)
    polynomial(z, c, k, 1.0, z)


def _settle(
    z: FloatArray, k: int, goal: FloatArray, means: FloatArray, lower: FloatArray, norm: FloatArray, c: FloatArray
) -> float:
    """Correct until the moments are there to rounding; `means`, `lower` and `norm` are those of the result."""
    residual = np.inf
    for _ in range(4):
        means_to(z, k, means)
        kept = decompose(means, k, lower, norm)
        residual = _residual(means, k, goal, c)
        if residual <= _SETTLED or not (kept > _LOST and residual < 1e-3):
            break
        _corrected(z, k, lower, norm, c)
    return residual


def _combine(y: FloatArray, slopes: FloatArray, row: int, h: float, out: FloatArray) -> None:
    """out = y + h sum of weight times slope."""
    for begin in range(0, len(y), BLOCK):
        end = begin + BLOCK
        v, o = y[begin:end], out[begin:end]
        m = len(v)
        for i in range(m):
            o[i] = v[i]
        for first in range(0, 4 * _GROUPS[row], 4):
            p, q = slopes[_PLACES[row, first], begin:end], slopes[_PLACES[row, first + 1], begin:end]
            t, u = slopes[_PLACES[row, first + 2], begin:end], slopes[_PLACES[row, first + 3], begin:end]
            a, b = h * _COEFFICIENTS[row, first], h * _COEFFICIENTS[row, first + 1]
            c, d = h * _COEFFICIENTS[row, first + 2], h * _COEFFICIENTS[row, first + 3]
            for i in range(m):
                o[i] += a * p[i] + b * q[i] + c * t[i] + d * u[i]


def _error(slopes: FloatArray, h: float) -> float:
    """Root mean square of the estimated error."""
    n = slopes.shape[1]
    five = 0.0
    three = 0.0
    a, b = _ESTIMATES[0], _ESTIMATES[1]
    for i in range(n):
        fifth = a[0] * slopes[0, i]
        third = b[0] * slopes[0, i]
        for j in range(5, 12):
            fifth += a[j] * slopes[j, i]
            third += b[j] * slopes[j, i]
        five += fifth * fifth
        three += third * third
    if five == 0:
        return 0.0
    return float(h * five / np.sqrt((five + 0.01 * three) * n))


def _slope(
    y: FloatArray, k: int, distance: float, lower: FloatArray, norm: FloatArray, c: FloatArray, out: FloatArray
) -> None:
    """The velocity of the path where `lower` and `norm` are those of y."""
    for j in range(k):
        c[j] = 0
    c[k - 1] = distance / (k * norm[k - 1])
    add_up_polynomials(lower, k, c)
    polynomial(y, c, k, 0.0, out)


def _follow(
    z: FloatArray,
    k: int,
    goal: FloatArray,
    rtol: float,
    slopes: FloatArray,
    stage: FloatArray,
    fresh: FloatArray,
) -> float:
    """Level k, in place; the logarithm of how much errors grew, -1 where a careful look is needed."""
    means, lower, norm, c = np.empty(2 * k - 1), np.empty((k, k)), np.empty(k), np.empty(k)
    means_to(z, k, means)
    kept = decompose(means, k, lower, norm)
    if not kept > _CROWDED:
        return -1.0
    if _residual(means, k, goal, c) <= RESIDUAL:
        return 0.0
    first, wanted = means[k], np.empty(k + 1)
    for j in range(k + 1):
        wanted[j] = goal[j]
    distance = wanted[k] - first
    s = taken = stretch = log_growth = 0.0
    h = min(1.0, _FIRST * k * np.sqrt(norm[k - 1]) / abs(distance))
    begun = False
    for _ in range(_MOST_STEPS):
        last = s + 1.05 * h >= 1
        if last:
            h = 1 - s
        if not begun:
            _slope(z, k, distance, lower, norm, c, slopes[0])
            now = steepest(z, c, k)
            log_growth += taken * (stretch + now) / 2
            stretch = now
            begun = True
        for i in range(1, 12):
            _combine(z, slopes, i, h, stage)
            means_to(stage, k, means)
            if not decompose(means, k, lower, norm) > _LOST:
                return -1.0
            _slope(stage, k, distance, lower, norm, c, slopes[i])
        error = _error(slopes, h) / rtol
        factor = 0.9 * max(error, 1e-30) ** -0.125
        if not error <= 1:
            h *= min(max(factor, 0.2), 0.5)
            continue
        _combine(z, slopes, 12, h, fresh)
        s = 1.0 if last else s + h
        wanted[k] = first + s * distance
        if last:
            residual = _settle(fresh, k, wanted, means, lower, norm, c)
            for i in range(len(z)):
                z[i] = fresh[i]
            _slope(z, k, distance, lower, norm, c, stage)
            log_growth += h * (stretch + steepest(z, c, k)) / 2
            return log_growth if residual <= RESIDUAL else -1.0
        means_to(fresh, k, means)
        if not decompose(means, k, lower, norm) > _LOST:
            return -1.0
        if _residual(means, k, wanted, c) > NOISE:
            _corrected(fresh, k, lower, norm, c)
            means_to(fresh, k, means)
            decompose(means, k, lower, norm)
        for i in range(len(z)):
            z[i] = fresh[i]
        begun, taken = False, h
        h *= min(max(factor, 0.2), 8.0)
    return -1.0
