"""The orthokurtosis of rows, compiled: one row at a time, its moments in one pass, the decisions of `moebius`.

The formulas of the steps are those that NumPy runs (`skew_series`, `power_sums.standardize`), compiled by `jit`.
Written here are the loops over samples, and the search of `moebius` for a single row. Results agree with those of
`orthokurtosis_rows` to 1e-14, refusals exactly. Rows are shared out over threads, a part of them to each.

The functions are plain Python and can be read, and run, as such.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.batch import FloatArray, IntArray, Kernel, Panel, RowValues
from symdecouple.numeric.jit import Kernels
from symdecouple.numeric.moebius import (
    COLLAPSED,
    MOST_STEPS,
    PATIENCE,
    STRIDED,
    at_zero_skewness,
    orthokurtosis_rows,
    unit_and_lift,
)
from symdecouple.numeric.power_sums import standardize
from symdecouple.numeric.skew_series import NEAREST, ORDER, farthest_pole, propose_pole, solve_series, stride_pole

__all__ = [
    "CHUNK",
    "KERNELS",
    "LOOPS",
    "compiled_orthokurtosis_rows",
    "count_rows",
    "orthokurtosis_kernel",
    "row_moments",
    "search_row",
    "share_rows",
    "warm",
]

CHUNK = 2048  # samples flowed and summed at a time: 16 KiB, in the first cache
_PIVOT_SAMPLES = 32  # as in `power_sums`: their mean stands for that of a row of several chunks
_NEAR = 0.5
_SHARE = 2**15  # elements that are worth a thread
LOOPS = ("_count", "_load", "_load_flowed", "_add_powers")  # where sums may be taken in any order
_WIDENED = 2**20  # elements of single precision that are widened at once, at most

KERNELS = Kernels(
    __name__,
    tuple(f"symdecouple.numeric.{name}" for name in ("jit", "power_sums", "skew_series", "moebius", "moebius_jit")),
    seconds=6e-8,
)


def orthokurtosis_kernel(n_elements: int) -> Kernel:
    """The kernel for an input of this size: compiled or not, see `jit`."""
    return compiled_orthokurtosis_rows if KERNELS.are_wanted(n_elements) else orthokurtosis_rows


def compiled_orthokurtosis_rows(panel: Panel) -> RowValues:
    """`orthokurtosis_rows`, compiled on the first call unless it is on the disk.

    Compiled for float64 only: single precision is widened panel by panel, and very long rows of it are left to NumPy.
    """
    if panel.values.dtype != np.float64 and panel.values.size > _WIDENED:
        return orthokurtosis_rows(panel)
    values = np.ascontiguousarray(panel.values, dtype=np.float64)
    counted = Panel(values, panel.low, panel.high, panel.ties or _count_ties(values, panel))
    return at_zero_skewness(counted, 1.0, _solve)


def warm() -> None:
    """Compile and keep on the disk. Cost: several seconds, once; nothing where it is done."""
    compiled_orthokurtosis_rows(Panel.of(np.array([[0.0, 1, 4, 9, 16, 25, 100]])))
    KERNELS.note_warm()


@cache
def _compiled() -> tuple[Callable[..., None], Callable[..., None]]:
    solve, count = KERNELS.build(solve_rows, count_rows, fast=LOOPS)
    return solve, count


def _solve(panel: Panel, which: IntArray) -> FloatArray:
    unit, lift = (np.ldexp(1.0, exponent) for exponent in unit_and_lift(panel))
    kurtosis = np.full(len(panel.low), np.nan)
    share_rows(_compiled()[0], which, panel.values, unit, lift, panel.low, panel.high, kurtosis)
    return kurtosis[which]


def _count_ties(values: FloatArray, panel: Panel) -> tuple[IntArray, IntArray]:
    ties = np.empty((2, len(values)), dtype=np.intp)
    share_rows(_compiled()[1], np.arange(len(values)), values, panel.low, panel.high, ties[0], ties[1])
    return ties[0], ties[1]


def share_rows(kernel: Callable[..., None], which: IntArray, values: NDArray[np.floating[Any]], *others: Any) -> None:
    """Run the kernel on parts of the rows, one part a thread; threads do not outlive the call, so forks are safe."""
    if not values.flags.writeable:
        values = values.copy()  # another type to numba, which would compile anew
    n_parts = min(_n_threads(), max(1, len(which) * values.shape[1] // _SHARE), len(which))
    parts = np.array_split(which, n_parts)
    threads = [threading.Thread(target=kernel, args=(part, values, *others)) for part in parts[1:]]
    for thread in threads:
        thread.start()
    kernel(parts[0], values, *others)
    for thread in threads:
        thread.join()


def _n_threads() -> int:
    """As many as this process may run on; NUMBA_NUM_THREADS, where it is set, is the most."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(allowed, int(asked)) if asked.isdigit() and int(asked) else allowed


# --- compiled from here on ---


def solve_rows(which: Any, values: Any, unit: Any, lift: Any, low: Any, high: Any, kurtosis: Any) -> None:
    """Write the kurtosis at zero skewness of the rows named in `which`; NaN where float64 cannot separate."""
    chunk, median, a = np.empty(CHUNK), np.empty(STRIDED), np.empty(ORDER + 1)
    for i in which:
        kurtosis[i] = _solve_row(values[i], unit[i], lift[i], low[i], high[i], chunk, median, a)


def count_rows(which: Any, values: Any, low: Any, high: Any, at_low: Any, at_high: Any) -> None:
    """How many entries of each row named in `which` equal its ends."""
    for i in which:
        at_low[i], at_high[i] = _count(values[i], low[i], high[i])


def _count(row: Any, low: float, high: float) -> Any:
    """As floats: then no lane is narrower than the samples."""
    at_low, at_high = 0.0, 0.0
    for i in range(len(row)):
        at_low += 1.0 if row[i] == low else 0.0
        at_high += 1.0 if row[i] == high else 0.0
    return int(at_low), int(at_high)


def _solve_row(row: Any, unit: float, lift: float, low: float, high: float, chunk: Any, median: Any, a: Any) -> Any:
    """The series of the sample itself, and the search where that does not reach; see `moebius.find_roots`."""
    offset = low * unit
    top = high * unit - offset
    mean, deviation = row_moments(row, unit, offset, 0.0, chunk, a)
    time, kurtosis, accepted, is_near = solve_series(a, max(mean, top - mean) / deviation, 0.0)
    if accepted:
        return kurtosis
    is_turned = a[3] < 0
    guess = deviation / abs(time) - (top - mean if is_turned else mean) if is_near else np.nan
    offset = -high * lift if is_turned else low * lift
    top = high * lift - low * lift
    pole = guess * (lift / unit)
    return search_row(row, -lift if is_turned else lift, offset, top, pole, 0.0, chunk, median, a)[0]


def search_row(
    row: Any, scale: float, offset: float, top: float, pole: float, target: float, chunk: Any, median: Any, a: Any
) -> Any:
    """`moebius._Search.run` for one row, turned where `scale` is negative; kurtosis at the root and its pole."""
    lower, upper = NEAREST, farthest_pole(top)
    if not lower < pole < upper:
        pole = _median(row, scale, offset, median)
        if not lower < pole < upper:
            pole = max(_full_median(row, scale, offset), NEAREST)
    first, median_due = pole, True
    for count in range(MOST_STEPS):
        mean, deviation = row_moments(row, scale, offset, pole, chunk, a)
        proposed, is_good, accepted, kurtosis = propose_pole(a, mean, deviation, top, pole, target)
        if accepted:
            return kurtosis, proposed
        if a[3] > target:
            upper = pole
        else:
            lower = pole
        if is_good and lower < proposed < upper and count % PATIENCE < PATIENCE - 1:
            pole = proposed
        else:
            if median_due:
                median_due = False
                middle = _full_median(row, scale, offset)
                pole = middle if lower < middle < upper else pole
            if not lower < pole < upper:
                pole = stride_pole(pole, lower, upper, first, top)
        if not lower * COLLAPSED < upper:
            return np.nan, np.nan
    return np.nan, np.nan


def row_moments(row: Any, scale: float, offset: float, pole: float, chunk: Any, a: Any) -> Any:
    """Mean and deviation of g = scale x - offset, or of g/(g + pole) for a pole above 0; `a` becomes a_0..a_8."""
    n_samples = len(row)
    if n_samples <= len(chunk):
        pivot = _fill(row, scale, offset, pole, chunk) / n_samples
        a[:] = 0.0
        _add_powers(chunk[:n_samples], pivot, a)
        return _standardized(n_samples, pivot, a)
    step = n_samples // _PIVOT_SAMPLES
    pivot = _fill(row[::step][:_PIVOT_SAMPLES], scale, offset, pole, chunk) / _PIVOT_SAMPLES
    for _ in range(2):
        a[:] = 0.0
        for start in range(0, n_samples, len(chunk)):
            part = row[start : start + len(chunk)]
            _fill(part, scale, offset, pole, chunk)
            _add_powers(chunk[: len(part)], pivot, a)
        shift, spread = a[1] / n_samples, a[2] / n_samples
        if shift * shift <= _NEAR * _NEAR * (spread - shift * shift):
            break
        pivot += shift
    return _standardized(n_samples, pivot, a)


def _standardized(n_samples: int, pivot: float, a: Any) -> Any:
    a[0] = 1.0
    for k in range(1, len(a)):
        a[k] /= n_samples
    return standardize(pivot, a)


def _fill(part: Any, scale: float, offset: float, pole: float, chunk: Any) -> Any:
    return _load_flowed(part, scale, offset, pole, chunk) if pole > 0 else _load(part, scale, offset, chunk)


def _load(part: Any, scale: float, offset: float, chunk: Any) -> Any:
    """x -> g into the chunk; returns the sum."""
    total = 0.0
    for i in range(len(part)):
        g = part[i] * scale - offset
        chunk[i] = g
        total += g
    return total


def _load_flowed(part: Any, scale: float, offset: float, pole: float, chunk: Any) -> Any:
    """x -> g/(g + w) into the chunk; returns the sum."""
    total = 0.0
    for i in range(len(part)):
        g = part[i] * scale - offset
        u = g / (g + pole)
        chunk[i] = u
        total += u
    return total


def _add_powers(chunk: Any, pivot: float, a: Any) -> None:
    """Add the sums of v..v^8, v = u - pivot."""
    s1, s2, s3, s4, s5, s6, s7, s8 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
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
    a[1] += s1
    a[2] += s2
    a[3] += s3
    a[4] += s4
    a[5] += s5
    a[6] += s6
    a[7] += s7
    a[8] += s8


def _full_median(row: Any, scale: float, offset: float) -> Any:
    return _median(row, scale, offset, np.empty(len(row)))


def _median(row: Any, scale: float, offset: float, chosen: Any) -> Any:
    """Upper median of g over entries spread over the row, as many as fit in `chosen`, by Hoare's selection."""
    count = min(len(chosen), len(row))
    for i in range(count):
        chosen[i] = row[i * len(row) // count] * scale - offset
    wanted, low, high = count // 2, 0, count - 1
    while low < high:
        middle = chosen[wanted]
        i, j = low, high
        while i <= j:
            while chosen[i] < middle:
                i += 1
            while middle < chosen[j]:
                j -= 1
            if i <= j:
                chosen[i], chosen[j] = chosen[j], chosen[i]
                i, j = i + 1, j - 1
        if j < wanted:
            low = i
        if wanted < i:
            high = j
    return chosen[wanted]
