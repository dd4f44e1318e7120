"""The skew flow of one ordinary row, compiled: its root, the kurtosis there, and the entries carried along.

The formulas of the steps are those that NumPy runs (`skewness_series`, `power_sums.standardize`), compiled by
`kernels.compile`; only the loops over entries are written again. What is not ordinary is handed back to NumPy: rows
whose ties may keep them from their target, that may be at it already, whose root takes more than `PASSES` looks or
leaves more than last digits, without an entry near the mean, or with slopes beyond float64. The kurtosis
agrees with NumPy's to 1e-14, the entries to the accuracy of `impose_skewness`. Rows are shared out over threads.

Sums are those of `CHUNK` entries, and these are added with what rounding takes from them.

The functions are plain Python and can be read, and run, as such.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.kernels.parallel import share_rows
from symdecouple.numeric.moments.power_sums import LIFT, NEAR, PIVOT_SAMPLES, standardize
from symdecouple.numeric.moments.skewness_flow import LINEAR, LOST, Skewed, impose_skewness
from symdecouple.numeric.moments.skewness_root import (
    COLLAPSED,
    PATIENCE,
    SAME,
    STRAIGHT,
    STRIDED,
    orthokurtosis_rows,
)
from symdecouple.numeric.moments.skewness_series import (
    NEAREST,
    ORDER,
    farthest_pole,
    first_pole,
    propose_pole,
    solve_series,
    stride_pole,
)
from symdecouple.numeric.moments.ties import is_clear
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Kernel, RowValues, SampleMatrix

__all__ = [
    "KERNELS", "compiled_impose_skewness", "compiled_orthokurtosis_rows", "flow_rows", "kurtosis_rows",
    "orthokurtosis_kernel", "skewness_imposer", "warm",
]

CHUNK = 256  # entries summed at a time: 2 KiB, and short sums
PASSES = 24  # looks at a row, at most
_LOOK = 64  # entries looked at for one near the mean
_ASTRAY = 2.0  # deviations between that one and the mean that cost a digit
_HUGE = 2.0**1000  # beyond, low and high are brought down before they are subtracted
_WIDENED = 2**20  # elements of 32 bits or less that are widened at once, at most

_SOURCES = "ties power_sums skewness_series skewness_root skewness_flow skewness_kernel"
KERNELS = Kernels(
    __name__,
    ("symdecouple.numeric.kernels.compile", *(f"{__package__}.{name}" for name in _SOURCES.split())),
    seconds=6e-8,
)
_FAST = ("_may_move", "_fill", "_powers", "_four")  # where sums may be taken in any order


def orthokurtosis_kernel(n_elements: int) -> Kernel:
    """The kernel for an input of this size, compiled or not."""
    return compiled_orthokurtosis_rows if KERNELS.are_wanted(n_elements) else orthokurtosis_rows


def compiled_orthokurtosis_rows(matrix: SampleMatrix) -> RowValues:
    """`orthokurtosis_rows`, compiled on the first call unless it is on the disk.

    Compiled for float64 only: narrower types are widened as a whole, and very long rows of them are left to NumPy.
    """
    if matrix.weights is not None or (matrix.values.dtype != np.float64 and matrix.values.size > _WIDENED):
        return orthokurtosis_rows(matrix)
    values, kurtosis = np.ascontiguousarray(matrix.values, dtype=np.float64), np.full(len(matrix.low), np.nan)
    ties = np.full((2, len(values)), -1) if matrix.ties is None else np.array(matrix.ties)
    share_rows(_kernels()[0], np.arange(len(values)), values, matrix.low, matrix.high, ties, kurtosis)
    late = np.flatnonzero(~np.isfinite(kurtosis))
    if not len(late):
        return RowValues(kurtosis)
    counted = None if matrix.ties is None else (ties[0, late], ties[1, late])
    rest = orthokurtosis_rows(SampleMatrix(values[late], matrix.low[late], matrix.high[late], counted))
    kurtosis[late] = rest.values
    return RowValues(kurtosis, {int(late[i]): outcome for i, outcome in rest.refusals.items()})


def skewness_imposer(n_elements: int) -> Callable[..., Skewed]:
    """`impose_skewness`, or its compiled twin for an input of this size."""
    return compiled_impose_skewness if KERNELS.are_wanted(n_elements) else impose_skewness


def compiled_impose_skewness(
    rows: ArrayLike, targets: ArrayLike, *, weights: FloatArray | None = None, with_slope: bool = True
) -> Skewed:
    """`impose_skewness`, compiled on the first call unless it is on the disk; without weights."""
    return impose_skewness(rows, targets, weights=weights, quick=_settle, with_slope=with_slope)


def _settle(matrix: SampleMatrix, which: IntArray, unit: IntArray, target: FloatArray, answer: Skewed) -> None:
    which = which[unit[which] <= 1023]
    given = np.array([matrix.low, matrix.high, target, np.ldexp(1.0, np.minimum(unit, 1023))])
    share_rows(_kernels()[1], which, matrix.values, given, answer.values, answer.slope, answer.residual)


def warm() -> None:
    """Compile and keep on the disk. Cost: several seconds, once; nothing where it is done."""
    sample = np.array([[0.0, 1, 4, 9, 16, 25, 100]])
    compiled_orthokurtosis_rows(SampleMatrix.of(sample))
    compiled_impose_skewness(sample, 0.0)
    KERNELS.note_warm()


@cache
def _kernels() -> tuple[Callable[..., None], ...]:
    kernels: tuple[Callable[..., None], ...] = KERNELS.build(kurtosis_rows, flow_rows, fast=_FAST)
    return kernels


# --- compiled from here on ---


def _may_move(row: Any, low: float, high: float, at_low: float, at_high: float, target: float) -> Any:
    """True where the ties of the ends, counted here if that was not done before, leave no doubt."""
    if at_low < 0:
        at_low = at_high = 0.0  # floats: vectors of numbers as wide as the entries
        for i in range(len(row)):
            at_low += 1.0 if row[i] == low else 0.0
            at_high += 1.0 if row[i] == high else 0.0
    return is_clear(at_low, at_high, float(len(row)), target)


def kurtosis_rows(which: Any, values: Any, low: Any, high: Any, ties: Any, kurtosis: Any) -> None:
    """Write the kurtosis at zero skewness of the rows named in `which`; NaN for rows that are left to NumPy."""
    chunk, work = np.empty(CHUNK), np.empty((3, ORDER + 1))
    for i in which:
        if _may_move(values[i], low[i], high[i], float(ties[0, i]), float(ties[1, i]), 0.0):
            kurtosis[i] = _root(values[i], low[i], high[i], 0.0, chunk, work)[0]


def flow_rows(which: Any, values: Any, given: Any, moved: Any, slope: Any, residual: Any) -> None:
    """Write values, slopes and residuals at the target: `skewness_flow`, for one row.

    Given are minimum, maximum, target, and the unit of the sample beside its range. A residual of NaN where NumPy must
    see to it. No slopes where none are asked for.
    """
    n = values.shape[1]
    chunk, work = np.empty(CHUNK), np.empty((3, ORDER + 1))
    for i in which:
        low, high, target, back = given[0, i], given[1, i], given[2, i], given[3, i]
        residual[i] = np.nan
        if not _may_move(values[i], low, high, -1.0, -1.0, target):
            continue
        _, scale, offset, w, is_there = _root(values[i], low, high, target, chunk, work)
        if is_there or not w > 0:
            continue
        entry = _near(values[i], scale, offset, w, chunk)
        start = (entry - offset) + w
        share, inverse = w / start, 1.0 / start
        s1 = s2 = 0.0
        for first in range(0, n, CHUNK):
            row, z = values[i][first : first + CHUNK], moved[i][first : first + CHUNK]
            p = slope[i][first : first + CHUNK] if slope.shape[1] else chunk[: len(z)]
            for j in range(len(z)):  # u - u_c and w/(g + w); nothing is reordered: each step is monotone
                y = row[j] * scale
                h = y - entry
                steepness = w / ((y - offset) + w)
                p[j] = steepness
                above = h if h > 0.0 else 0.0
                below = h if h < 0.0 else 0.0
                z[j] = share / (1.0 + start / above) + below * inverse * steepness
            a1, a2, _, _ = _four(z)
            s1 += a1
            s2 += a2
        shift = s1 / n
        deviation = np.sqrt(s2 / n - shift * shift)
        if not abs(shift) <= _ASTRAY * deviation:
            continue
        s1 = s2 = s3 = s4 = 0.0
        for first in range(0, n, CHUNK):
            z = moved[i][first : first + CHUNK]
            for j in range(len(z)):
                z[j] = (z[j] - shift) / deviation
            a1, a2, a3, a4 = _four(z)
            s1 += a1
            s2 += a2
            s3 += a3
            s4 += a4
        mean, variance, skewness, kurtosis = s1 / n, s2 / n, s3 / n, s4 / n
        sign = -1.0 if scale < 0 else 1.0
        spread = kurtosis - skewness * skewness - 1
        gap = sign * target - skewness + 3 * mean - 1.5 * (1 - variance) * skewness
        time = gap / (3 * spread)
        unit = _unit_and_lift(low, high)[0]
        steepest = back / (w * (unit / abs(scale))) / deviation  # dz/dx at the minimum, in units of the sample
        is_near = abs(time) * np.sqrt(np.sqrt(kurtosis * n)) <= LINEAR
        if not (spread > LOST and is_near and 0 < steepest < np.inf):
            continue
        linear, constant, third = (1 - variance) / 2 - time * skewness, mean + time, 0.0
        for first in range(0, n, CHUNK):
            z = moved[i][first : first + CHUNK]
            if slope.shape[1]:
                p = slope[i][first : first + CHUNK]
                for j in range(len(z)):  # steepness becomes slope
                    p[j] = (p[j] * steepest) * p[j] * (1.0 + (linear + 2.0 * time * z[j]))
            for j in range(len(z)):  # add s z^2 + b z - c, as `_put_right` there
                v = z[j]
                z[j] = sign * (v + ((v * time + linear) * v - constant))
            third += _four(z)[2]
        residual[i] = abs(third / n - target) / (1 + abs(target))


def _root(row: Any, low: float, high: float, target: float, chunk: Any, work: Any) -> Any:
    """`skewness_root.find_roots` for one row that can move: the kurtosis at the root; scale, offset and pole of g.

    And whether it may be at its target already.
    """
    a, (unit, lift) = work[0], _unit_and_lift(low, high)
    top = high * unit - low * unit
    mean, deviation = _moments(row, unit, low * unit, 0.0, chunk, work)
    time, kurtosis, accepted, is_near = solve_series(_as_tuple(a), max(mean, top - mean) / deviation, target)
    is_there = abs(a[3] - target) <= SAME * np.sqrt(a[4])
    is_turned = time > 0 if accepted else a[3] < target
    pole, factor = deviation / abs(time) - (top - mean if is_turned else mean), unit
    if accepted:
        pole = min(pole, STRAIGHT)
    else:
        if not is_near:
            pole = first_pole(_as_tuple(a), mean, deviation, top, target)
        pole, factor = pole * (lift / unit), lift
    scale, offset = (-factor, -high * factor) if is_turned else (factor, low * factor)
    if not accepted:
        top = high * factor - low * factor
        wanted = -target if is_turned else target
        kurtosis, pole = _search(row, scale, offset, top, pole, wanted, chunk, work)
    return kurtosis, scale, offset, pole, is_there


def _search(
    row: Any, scale: float, offset: float, top: float, pole: float, target: float, chunk: Any, work: Any
) -> Any:
    """`skewness_root._search` for one row; the kurtosis at the root, and its pole."""
    a, lower, upper = work[0], NEAREST, farthest_pole(top)
    if not lower < pole < upper:
        pole = max(_median_of_some(row, scale, offset, chunk), NEAREST)
    first = pole
    for count in range(PASSES):
        mean, deviation = _moments(row, scale, offset, pole, chunk, work)
        proposed, is_good, accepted, kurtosis = propose_pole(_as_tuple(a), mean, deviation, top, pole, target)
        if accepted:
            return kurtosis, proposed
        if a[3] > target:
            upper = pole
        else:
            lower = pole
        if is_good and lower < proposed < upper and count % PATIENCE < PATIENCE - 1:
            pole = proposed
        else:
            pole = stride_pole(pole, lower, upper, first, top)
        if not lower * COLLAPSED < upper:
            break
    return np.nan, np.nan


def _unit_and_lift(low: float, high: float) -> tuple[float, float]:
    """The powers of two of `power_sums.unit_and_lift`, for one row."""
    magnitude = max(abs(low), abs(high))
    down = 4 if magnitude >= _HUGE else 0
    scale = math.ldexp(1.0, -down)
    exponent = math.frexp(high * scale - low * scale)[1] + down
    up = min(LIFT - exponent, 1022 - math.frexp(magnitude)[1], 1023)
    return math.ldexp(1.0, min(-exponent, 1023)), math.ldexp(1.0, up)


def _moments(row: Any, scale: float, offset: float, pole: float, chunk: Any, work: Any) -> Any:
    """Mean and deviation of g = scale x - offset, or of g/(g + pole) for a pole above 0; a_0..a_8 go to work[0].

    A row that fills no more than a chunk is summed about its mean; a longer one about that of some entries, and once
    more where that was no good.
    """
    n, a, rest, part = len(row), work[0], work[1], work[2]
    if n <= CHUNK:
        pivot = _fill(row, scale, offset, pole, chunk) / n
        _powers(chunk[:n], pivot, a)
    else:
        for i in range(PIVOT_SAMPLES):
            chunk[i] = row[i * (n // PIVOT_SAMPLES)]
        some = chunk[:PIVOT_SAMPLES]
        pivot = _fill(some, scale, offset, pole, some) / PIVOT_SAMPLES
        for _ in range(2):
            a[:] = 0.0
            rest[:] = 0.0
            for first in range(0, n, CHUNK):
                entries = row[first : first + CHUNK]
                _fill(entries, scale, offset, pole, chunk)
                _powers(chunk[: len(entries)], pivot, part)
                for k in range(1, ORDER + 1):
                    total = a[k] + part[k]
                    rest[k] += (a[k] - total) + part[k] if abs(a[k]) > abs(part[k]) else (part[k] - total) + a[k]
                    a[k] = total
            shift, spread = a[1] / n, a[2] / n
            if shift * shift <= NEAR * NEAR * (spread - shift * shift):
                break
            pivot += shift
        for k in range(1, ORDER + 1):
            a[k] += rest[k]
    a[0] = n
    for k in range(ORDER + 1):
        a[k] /= n
    return standardize(pivot, a)


def _as_tuple(a: Any) -> Any:
    return a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]


def _fill(entries: Any, scale: float, offset: float, pole: float, chunk: Any) -> Any:
    """Write g, or g/(g + w) for a pole above 0; returns the sum.

    It is taken by a loop of its own: one that writes is a vector loop or not by where its arrays lie, and adds in
    another order then.
    """
    total = 0.0
    if pole > 0:
        for i in range(len(entries)):
            g = entries[i] * scale - offset
            chunk[i] = g / (g + pole)
    else:
        for i in range(len(entries)):
            chunk[i] = entries[i] * scale - offset
    for i in range(len(entries)):
        total += chunk[i]
    return total


def _powers(chunk: Any, pivot: float, sums: Any) -> None:
    """Write the sums of v..v^8, v = g - pivot."""
    s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = 0.0
    for i in range(len(chunk)):
        v = chunk[i] - pivot
        v2 = v * v
        v3 = v2 * v
        v4 = v2 * v2
        s1 += v
        s2 += v2
        s3 += v3
        s4 += v4
        s5 += v4 * v
        s6 += v4 * v2
        s7 += v4 * v3
        s8 += v4 * v4
    sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8] = s1, s2, s3, s4, s5, s6, s7, s8


def _median_of_some(row: Any, scale: float, offset: float, chunk: Any) -> Any:
    """Upper median of g over some entries, spread over the row: sorted by insertion."""
    count = min(STRIDED, len(row))
    for i in range(count):
        g, j = row[i * len(row) // count] * scale - offset, i
        while j > 0 and chunk[j - 1] > g:
            chunk[j] = chunk[j - 1]
            j -= 1
        chunk[j] = g
    return chunk[count // 2]


def _near(row: Any, scale: float, offset: float, pole: float, chunk: Any) -> Any:
    """x scale of the entry whose u = g/(g + w) is nearest to the mean of u, among some that are spread over the row."""
    count = min(_LOOK, len(row))
    u, y = chunk[:count], chunk[count : 2 * count]
    for i in range(count):
        y[i] = row[i * len(row) // count] * scale
    middle = _fill(y, 1.0, offset, pole, u) / count
    entry, nearest = 0.0, 2.0
    for i in range(count):
        distance = abs(u[i] - middle)
        if distance < nearest:
            entry, nearest = y[i], distance
    return entry


def _four(z: Any) -> Any:
    s1 = s2 = s3 = s4 = 0.0
    for i in range(len(z)):
        v = z[i]
        square = v * v
        s1 += v
        s2 += square
        s3 += square * v
        s4 += square * square
    return s1, s2, s3, s4
