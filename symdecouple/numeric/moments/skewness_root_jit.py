"""The orthokurtosis of rows, compiled: some rows at a time, their moments in one pass each, the decisions of `moebius`.

The formulas of the steps are those that NumPy runs (`skew_series`), compiled by `jit`; the loops over samples are in
`moebius.loops`, those over rows in `moebius.lanes`. Results agree with those of `orthokurtosis_rows` to 1e-14, refusals
exactly. Rows are shared out over threads, a part of them to each.

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

from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.moments.skewness_lanes import LANES, N_FIELDS, PASSES, place_lanes, sift_lanes, sum_lanes
from symdecouple.numeric.moments.skewness_loops import LOOPS, SHORT, count_ends
from symdecouple.numeric.moments.skewness_root import at_zero_skewness, find_roots, orthokurtosis_rows
from symdecouple.numeric.moments.skewness_series import ORDER
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Kernel, Panel, RowValues

__all__ = [
    "KERNELS",
    "compiled_orthokurtosis_rows",
    "count_rows",
    "orthokurtosis_kernel",
    "share_rows",
    "warm",
]

TOGETHER = 2**13  # samples of rows that are worked on together: 64 KiB
_SHARE = 2**15  # elements that are worth a thread
_WIDENED = 2**20  # elements of 32 bits or less that are widened at once, at most

_SOURCES = (
    "kernels.compile moments.power_sums moments.skewness_series moments.skewness_root moments.skewness_loops "
    "moments.skewness_lanes moments.skewness_root_jit"
)
KERNELS = Kernels(__name__, tuple(f"symdecouple.numeric.{name}" for name in _SOURCES.split()), seconds=6e-8)


def orthokurtosis_kernel(n_elements: int) -> Kernel:
    """The kernel for an input of this size: compiled or not, see `jit`."""
    return compiled_orthokurtosis_rows if KERNELS.are_wanted(n_elements) else orthokurtosis_rows


def compiled_orthokurtosis_rows(panel: Panel) -> RowValues:
    """`orthokurtosis_rows`, compiled on the first call unless it is on the disk.

    Compiled for float64 only: narrower types are widened panel by panel, and very long rows of them are left to NumPy.
    """
    if panel.values.dtype != np.float64 and panel.values.size > _WIDENED:
        return orthokurtosis_rows(panel)
    values = np.ascontiguousarray(panel.values, dtype=np.float64)
    n_rows = len(values)
    at_low, at_high = panel.ties or (np.empty(n_rows, dtype=np.intp), np.empty(n_rows, dtype=np.intp))
    kurtosis = np.empty(n_rows)
    ends = (panel.low, panel.high, at_low, at_high)
    share_rows(_compiled(), np.arange(n_rows), values, *ends, panel.ties is None, kurtosis)

    def solve(counted: Panel, which: IntArray) -> FloatArray:
        late = which[np.isnan(kurtosis[which])]
        if len(late):
            kurtosis[late] = find_roots(counted, late, np.zeros(n_rows)).kurtosis[late]
        return kurtosis[which]

    return at_zero_skewness(Panel(values, panel.low, panel.high, (at_low, at_high)), 1.0, solve)


def warm() -> None:
    """Compile and keep on the disk. Cost: several seconds, once; nothing where it is done."""
    compiled_orthokurtosis_rows(Panel.of(np.array([[0.0, 1, 4, 9, 16, 25, 100]])))
    KERNELS.note_warm()


@cache
def _compiled() -> Callable[..., None]:
    solve: Callable[..., None] = KERNELS.build(solve_rows, fast=LOOPS)[0]
    return solve


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


def solve_rows(
    which: Any,
    values: Any,
    low: Any,
    high: Any,
    at_low: Any,
    at_high: Any,
    is_to_be_counted: bool,
    kurtosis: Any,
) -> None:
    """Write the ties of the rows named in `which`, and the kurtosis at zero skewness where there is one.

    NaN where there is none, and for rows that are left to NumPy. `which` is used up.
    """
    chunk, a, table = np.empty(SHORT), np.empty(ORDER + 1), np.empty((N_FIELDS, LANES))
    table[:] = 1.0
    size = min(max(TOGETHER // values.shape[1], 1), LANES)
    for first in range(0, len(which), size):
        rows = which[first : first + size]
        if is_to_be_counted:
            count_rows(rows, values, low, high, at_low, at_high)
        n_rows = place_lanes(rows, values, low, high, at_low, at_high, table, kurtosis)
        for count in range(PASSES):
            sum_lanes(rows, n_rows, values, table, chunk, a)
            n_rows = sift_lanes(rows, n_rows, count, values, low, high, table, kurtosis, chunk)
            if n_rows == 0:
                break


def count_rows(which: Any, values: Any, low: Any, high: Any, at_low: Any, at_high: Any) -> None:
    """How many entries of each row named in `which` equal its ends."""
    for i in which:
        at_low[i], at_high[i] = count_ends(values[i], low[i], high[i])
