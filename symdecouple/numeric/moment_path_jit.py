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
from symdecouple.numeric.moment_path import RESIDUAL, RTOL
from symdecouple.numeric.runge_kutta import FIFTH, STAGES, THIRD, WEIGHTS

__all__ = ["KERNELS", "Climbed", "climb_compiled", "climb_rows", "warm"]

KERNELS = Kernels(
    __name__,
    tuple(f"symdecouple.numeric.{name}" for name in ("jit", "runge_kutta", "moment_path", "moment_path_jit")),
    seconds=3e-6,
)

_BLOCK = 512  # numbers between two looks at memory: they stay in the first cache, and sums stay short
_BLOCKS = 16  # blocks summed before they are added to the rest
_CROWDED = 1e-3  # as in moment_path: below, a row is for the careful
_LOST = 1e-5  # as in moment_basis
_NOISE = 2.0**-48
_SETTLED = 5e-15
_FIRST = 0.1
_MOST_STEPS = 100
_SKEW_STEPS = 40
_FARTHEST = 0.5  # |s| max|z| of one step along the skew flow
_FAST = (
    "_moment",
    "_block_sums",
    "_block_sums_4",
    "_block_sums_5",
    "_polynomial",
    "_combine",
    "_error",
)  # loops over the row: sums in any order


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
        exponent = np.frexp(high - low)[1]
    scale = np.ldexp(1.0, np.minimum(-exponent, 1023))
    open_rows = (low < high) & np.isfinite(high - low)
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
    slopes, stage, fresh = np.empty((12, n)), np.empty(n), np.empty(n)
    for r in range(len(values)):
        if not open_rows[r]:
            continue
        z = values[r]
        for i in range(n):
            z[i] = z[i] * scale[r] - offset[r]
        good = _unskew(z, goal)
        for k in range(4, order):
            if not good:
                break
            moments[r, k] = _moment(z, k)
            good = _follow(z, k, goal, slopes, stage, fresh)
        if good:
            moments[r, order] = _moment(z, order)
        done[r] = good


def _moment(z: FloatArray, k: int) -> float:
    """Mean(z^k)."""
    total = 0.0
    power = np.empty(_BLOCK)
    for begin in range(0, len(z), _BLOCK):
        v = z[begin : begin + _BLOCK]
        m = len(v)
        for i in range(m):
            power[i] = v[i]
        for _ in range(k - 1):
            for i in range(m):
                power[i] *= v[i]
        part = 0.0
        for i in range(m):
            part += power[i]
        total += part
    return total / len(z)


def _standardize(z: FloatArray) -> None:
    n = len(z)
    for _ in range(2):  # the second mean takes out what rounding left of the first
        mean = _moment(z, 1)
        for i in range(n):
            z[i] -= mean
    unit = 1 / np.sqrt(_moment(z, 2))
    for i in range(n):
        z[i] *= unit


def _unskew(z: FloatArray, goal: FloatArray) -> bool:
    """Level 3, in place."""
    n = len(z)
    target = goal[3]
    means, lower, norm, c = np.empty(5), np.empty((3, 3)), np.empty(3), np.empty(3)
    _standardize(z)
    for _ in range(_SKEW_STEPS):
        _means(z, 3, means)
        kept = _decompose(means, 3, lower, norm)
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


def _means(y: FloatArray, k: int, means: FloatArray) -> None:
    """Mean(y^j), j = 0..2k-2."""
    n, last = len(y), 2 * k - 1
    power, block, part = np.empty(_BLOCK), np.zeros(last), np.zeros(last)
    for j in range(last):
        means[j] = 0
    count = 0
    for begin in range(0, n, _BLOCK):
        v = y[begin : begin + _BLOCK]
        if k == 4:
            _block_sums_4(v, block)
        elif k == 5:
            _block_sums_5(v, block)
        else:
            _block_sums(v, k, power, block)
        for j in range(last):
            part[j] += block[j]
        count += 1
        if count == _BLOCKS or begin + _BLOCK >= n:
            for j in range(last):
                means[j] += part[j]
                part[j] = 0
            count = 0
    for j in range(last):
        means[j] /= n
    means[0] = 1


def _block_sums(v: FloatArray, k: int, power: FloatArray, sums: FloatArray) -> None:
    """Sums of v^1..v^(2k-2): two for each further power."""
    m = len(v)
    for i in range(m):
        power[i] = 1
    for j in range(1, k):
        odd = 0.0
        even = 0.0
        for i in range(m):
            before = power[i]
            now = before * v[i]
            power[i] = now
            odd += now * before
            even += now * now
        sums[2 * j - 1], sums[2 * j] = odd, even


def _block_sums_4(v: FloatArray, sums: FloatArray) -> None:
    """The same at k = 4, in registers; 4 and 5 are the levels of everyday."""
    a = b = c = d = e = f = 0.0
    for i in range(len(v)):
        x = v[i]
        x2 = x * x
        x3 = x2 * x
        a += x
        b += x2
        c += x3
        d += x2 * x2
        e += x3 * x2
        f += x3 * x3
    sums[1], sums[2], sums[3], sums[4], sums[5], sums[6] = a, b, c, d, e, f


def _block_sums_5(v: FloatArray, sums: FloatArray) -> None:
    a = b = c = d = e = f = g = h = 0.0
    for i in range(len(v)):
        x = v[i]
        x2 = x * x
        x3 = x2 * x
        x4 = x2 * x2
        a += x
        b += x2
        c += x3
        d += x4
        e += x3 * x2
        f += x3 * x3
        g += x4 * x3
        h += x4 * x4
    sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8] = a, b, c, d, e, f, g, h


def _decompose(means: FloatArray, k: int, lower: FloatArray, norm: FloatArray) -> float:
    """L and D of the Hankel matrix; returns the smallest D_j/h_(2j)."""
    kept = np.inf
    for j in range(k):
        for i in range(j, k):
            entry = means[i + j]
            for m in range(j):
                entry -= lower[i, m] * lower[j, m] * norm[m]
            if i == j:
                norm[j] = entry
                lower[j, j] = 1
            else:
                lower[i, j] = entry / norm[j]
        ratio = norm[j] / means[2 * j]
        if not ratio >= kept:  # so that NaN stays
            kept = ratio
    return kept


def _in_powers(lower: FloatArray, k: int, c: FloatArray) -> None:
    """sum_j c_j p_j becomes coefficients of powers, in place."""
    for j in range(k - 1, -1, -1):
        for i in range(j + 1, k):
            c[j] -= c[i] * lower[i, j]


def _polynomial(y: FloatArray, c: FloatArray, k: int, kept: float, out: FloatArray) -> None:
    """kept y + sum_i c_i y^i, i < k; `out` may be y itself."""
    power = np.empty(_BLOCK)
    c1 = c[1] + kept
    for begin in range(0, len(y), _BLOCK):
        v, o = y[begin : begin + _BLOCK], out[begin : begin + _BLOCK]
        m = len(v)
        if k == 4:
            for i in range(m):
                o[i] = ((c[3] * v[i] + c[2]) * v[i] + c1) * v[i] + c[0]
        elif k == 5:
            for i in range(m):
                o[i] = (((c[4] * v[i] + c[3]) * v[i] + c[2]) * v[i] + c1) * v[i] + c[0]
        else:
            for i in range(m):
                power[i] = c[k - 1]
            for j in range(k - 2, 0, -1):
                d = c1 if j == 1 else c[j]
                for i in range(m):
                    power[i] = power[i] * v[i] + d
            for i in range(m):
                o[i] = power[i] * v[i] + c[0]


def _residual(means: FloatArray, k: int, goal: FloatArray, gap: FloatArray) -> float:
    """Largest gap over Mean|z|^j, and the gaps that are more than rounding."""
    largest = 0.0
    for j in range(1, k + 1):
        size = means[j] if j % 2 == 0 else np.sqrt(means[j - 1] * means[j + 1])
        gap[j - 1] = goal[j] - means[j]
        share = abs(gap[j - 1]) / size
        if not share <= largest:
            largest = share
        if share <= _NOISE:
            gap[j - 1] = 0
    return largest


def _corrected(z: FloatArray, k: int, lower: FloatArray, norm: FloatArray, c: FloatArray) -> None:
    """Newton's step for the gaps in c, in place."""
    for i in range(k):
        rest = c[i] / (i + 1)
        for j in range(i):
            rest -= lower[i, j] * norm[j] * c[j]
        c[i] = rest / norm[i]
    _in_powers(lower, k, c)
    _polynomial(z, c, k, 1.0, z)


def _settle(
    z: FloatArray, k: int, goal: FloatArray, means: FloatArray, lower: FloatArray, norm: FloatArray, c: FloatArray
) -> float:
    """Correct until the moments are there to rounding; `means`, `lower` and `norm` are those of the result."""
    residual = np.inf
    for _ in range(4):
        _means(z, k, means)
        kept = _decompose(means, k, lower, norm)
        residual = _residual(means, k, goal, c)
        if residual <= _SETTLED or not (kept > _LOST and residual < 1e-3):
            break
        _corrected(z, k, lower, norm, c)
    return residual


def _combine(y: FloatArray, slopes: FloatArray, row: int, h: float, out: FloatArray) -> None:
    """out = y + h sum of weight times slope."""
    for begin in range(0, len(y), _BLOCK):
        end = begin + _BLOCK
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
    _in_powers(lower, k, c)
    _polynomial(y, c, k, 0.0, out)


def _follow(
    z: FloatArray, k: int, goal: FloatArray, slopes: FloatArray, stage: FloatArray, fresh: FloatArray
) -> bool:
    """Level k, in place; False where a careful look is needed."""
    means, lower, norm, c = np.empty(2 * k - 1), np.empty((k, k)), np.empty(k), np.empty(k)
    _means(z, k, means)
    kept = _decompose(means, k, lower, norm)
    if not kept > _CROWDED:
        return False
    if _residual(means, k, goal, c) <= RESIDUAL:
        return True
    first, wanted = means[k], np.empty(k + 1)
    for j in range(k + 1):
        wanted[j] = goal[j]
    distance = wanted[k] - first
    s = 0.0
    h = min(1.0, _FIRST * k * np.sqrt(norm[k - 1]) / abs(distance))
    begun = False
    for _ in range(_MOST_STEPS):
        last = s + 1.05 * h >= 1
        if last:
            h = 1 - s
        if not begun:
            _slope(z, k, distance, lower, norm, c, slopes[0])
            begun = True
        for i in range(1, 12):
            _combine(z, slopes, i, h, stage)
            _means(stage, k, means)
            if not _decompose(means, k, lower, norm) > _LOST:
                return False
            _slope(stage, k, distance, lower, norm, c, slopes[i])
        error = _error(slopes, h) / RTOL
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
            return residual <= RESIDUAL
        _means(fresh, k, means)
        if not _decompose(means, k, lower, norm) > _LOST:
            return False
        if _residual(means, k, wanted, c) > _NOISE:
            _corrected(fresh, k, lower, norm, c)
            _means(fresh, k, means)
            _decompose(means, k, lower, norm)
        for i in range(len(z)):
            z[i] = fresh[i]
        begun = False
        h *= min(max(factor, 0.2), 8.0)
    return False
