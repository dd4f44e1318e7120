"""The ladder of decoupled moments, compiled: levels 3 and up of many samples, row after row, where all is well.

The same mathematics as `riccati`, `moment_path` and `runge_kutta`, in loops over one row at a time:

* level 3 by Newton steps along the exact skew flow z/(1 - s z), standardized after each;
* level k by the value-parametrized path with the same pair of order 8, the same control of steps and the same
  correction onto the manifold.

Nothing is decided here. A row that is crowded, that stalls, that does not settle to the residual of `moment_path`, or
whose target needs a look, is handed back undone; the NumPy path then solves it or says why not.

Without numba these functions are plain Python, far too slow to use, and tested as such. With it a first call compiles
for some seconds and leaves the result on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.moment_path import RESIDUAL, RTOL
from symdecouple.numeric.runge_kutta import FIFTH, STAGES, THIRD, WEIGHTS

try:
    import numba
except ImportError:
    numba = None

__all__ = ["Climbed", "climb_compiled", "is_available", "is_warm"]

Function = TypeVar("Function", bound=Callable[..., Any])

_BLOCK = 128  # numbers between two looks at memory: they stay in the first cache, and sums stay short
_BLOCKS = 64  # blocks summed before they are added to the rest
_CROWDED = 1e-3  # as in moment_path: below, a row is for the careful
_LOST = 1e-5  # as in moment_basis
_NOISE = 2.0**-48
_SETTLED = 5e-15
_FIRST = 0.3
_MOST_STEPS = 100
_SKEW_STEPS = 40
_FARTHEST = 0.5  # |s| max|z| of one step along the skew flow


def _compiled(function: Function) -> Function:
    if numba is None:
        return function
    return numba.njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"}, nogil=True)(
        function
    )  # type: ignore[no-any-return]


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


def is_available() -> bool:
    """True iff numba is there."""
    return numba is not None


def is_warm() -> bool:
    """True iff this version of the functions was compiled here before: no waiting."""
    if numba is None:
        return False
    if _climb.signatures:  # type: ignore[attr-defined]
        return True
    folder, source = Path(_climb.stats.cache_path), Path(__file__)  # type: ignore[attr-defined]
    made = [path.stat().st_mtime for path in folder.glob(f"{source.stem}.{_climb.__name__}-*.nbi")]
    return bool(made) and max(made) >= source.stat().st_mtime


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
    _climb(values, scale, low * scale, open_rows, order, np.array(goal[:order], dtype=np.float64), moments, done)
    moments[~done], values[~done] = np.nan, np.nan
    return Climbed(moments.T, values, done)


@_compiled
def _climb(
    values: FloatArray,
    scale: FloatArray,
    offset: FloatArray,
    open_rows: NDArray[np.bool_],
    order: int,
    goal: FloatArray,
    moments: FloatArray,
    done: NDArray[np.bool_],
) -> None:
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


@_compiled
def _moment(z: FloatArray, k: int) -> float:
    """Mean(z^k)."""
    total = 0.0
    power = np.empty(_BLOCK)
    for begin in range(0, len(z), _BLOCK):
        m = min(_BLOCK, len(z) - begin)
        for i in range(m):
            power[i] = z[begin + i]
        for _ in range(k - 1):
            for i in range(m):
                power[i] *= z[begin + i]
        part = 0.0
        for i in range(m):
            part += power[i]
        total += part
    return total / len(z)


@_compiled
def _standardize(z: FloatArray) -> None:
    n = len(z)
    for _ in range(2):  # the second mean takes out what rounding left of the first
        mean = _moment(z, 1)
        for i in range(n):
            z[i] -= mean
    unit = 1 / np.sqrt(_moment(z, 2))
    for i in range(n):
        z[i] *= unit


@_compiled
def _unskew(z: FloatArray, goal: FloatArray) -> bool:
    """Level 3, in place."""
    n = len(z)
    target, wanted = goal[3], goal[:4].copy()
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
    return _settle(z, 3, wanted, means, lower, norm, c) <= RESIDUAL


@_compiled
def _means(y: FloatArray, k: int, means: FloatArray) -> None:
    """Mean(y^j), j = 0..2k-2."""
    n = len(y)
    power, part = np.empty(_BLOCK), np.zeros(len(means))
    means[:] = 0
    count = 0
    for begin in range(0, n, _BLOCK):
        m = min(_BLOCK, n - begin)
        odd = 0.0
        even = 0.0
        for i in range(m):
            v = y[begin + i]
            power[i] = v
            odd += v
            even += v * v
        part[1] += odd
        part[2] += even
        for j in range(2, k):
            odd = 0.0
            even = 0.0
            for i in range(m):
                before = power[i]
                now = before * y[begin + i]
                power[i] = now
                odd += now * before
                even += now * now
            part[2 * j - 1] += odd
            part[2 * j] += even
        count += 1
        if count == _BLOCKS:
            means += part
            part[:] = 0
            count = 0
    means += part
    means /= n
    means[0] = 1


@_compiled
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


@_compiled
def _in_powers(lower: FloatArray, k: int, c: FloatArray) -> None:
    """sum_j c_j p_j becomes coefficients of powers, in place."""
    for j in range(k - 1, -1, -1):
        for i in range(j + 1, k):
            c[j] -= c[i] * lower[i, j]


@_compiled
def _polynomial(y: FloatArray, c: FloatArray, k: int, out: FloatArray) -> None:
    """sum_i c_i y^i, i < k."""
    for begin in range(0, len(y), _BLOCK):
        end = min(begin + _BLOCK, len(y))
        for i in range(begin, end):
            out[i] = c[k - 1] * y[i] + c[k - 2]
        for j in range(k - 3, -1, -1):
            for i in range(begin, end):
                out[i] = out[i] * y[i] + c[j]


@_compiled
def _add_polynomial(y: FloatArray, c: FloatArray, k: int) -> None:
    power = np.empty(_BLOCK)
    for begin in range(0, len(y), _BLOCK):
        m = min(_BLOCK, len(y) - begin)
        for i in range(m):
            power[i] = c[k - 1] * y[begin + i] + c[k - 2]
        for j in range(k - 3, -1, -1):
            for i in range(m):
                power[i] = power[i] * y[begin + i] + c[j]
        for i in range(m):
            y[begin + i] += power[i]


@_compiled
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


@_compiled
def _corrected(z: FloatArray, k: int, lower: FloatArray, norm: FloatArray, c: FloatArray) -> None:
    """Newton's step for the gaps in c, in place."""
    for i in range(k):
        rest = c[i] / (i + 1)
        for j in range(i):
            rest -= lower[i, j] * norm[j] * c[j]
        c[i] = rest / norm[i]
    _in_powers(lower, k, c)
    _add_polynomial(z, c, k)


@_compiled
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


@_compiled
def _combine(y: FloatArray, slopes: FloatArray, row: int, h: float, out: FloatArray) -> None:
    """out = y + h sum of weight times slope."""
    n = len(y)
    for begin in range(0, n, _BLOCK):
        end = min(begin + _BLOCK, n)
        for i in range(begin, end):
            out[i] = y[i]
        for group in range(_GROUPS[row]):
            p, q, u, v = (_PLACES[row, 4 * group], _PLACES[row, 4 * group + 1], _PLACES[row, 4 * group + 2],
                          _PLACES[row, 4 * group + 3])
            a, b, c, d = (h * _COEFFICIENTS[row, 4 * group], h * _COEFFICIENTS[row, 4 * group + 1],
                          h * _COEFFICIENTS[row, 4 * group + 2], h * _COEFFICIENTS[row, 4 * group + 3])
            for i in range(begin, end):
                out[i] += a * slopes[p, i] + b * slopes[q, i] + c * slopes[u, i] + d * slopes[v, i]


@_compiled
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
    return h * five / np.sqrt((five + 0.01 * three) * n)


@_compiled
def _slope(
    y: FloatArray, k: int, distance: float, lower: FloatArray, norm: FloatArray, c: FloatArray, out: FloatArray
) -> None:
    """The velocity of the path where `lower` and `norm` are those of y."""
    c[:k] = 0
    c[k - 1] = distance / (k * norm[k - 1])
    _in_powers(lower, k, c)
    _polynomial(y, c, k, out)


@_compiled
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
    first, wanted = means[k], goal[: k + 1].copy()
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
            z[:] = fresh
            return residual <= RESIDUAL
        _means(fresh, k, means)
        if not _decompose(means, k, lower, norm) > _LOST:
            return False
        if _residual(means, k, wanted, c) > _NOISE:
            _corrected(fresh, k, lower, norm, c)
            _means(fresh, k, means)
            _decompose(means, k, lower, norm)
        z[:] = fresh
        begun = False
        h *= min(max(factor, 0.2), 8.0)
    return False
