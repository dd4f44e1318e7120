"""The search for tilts, compiled: all levels of a signal in one call, where `tilting` solves them side by side."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric import energy_loops, energy_sums, power_loops
from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.columns import Columns
from symdecouple.numeric.jit import Kernels
from symdecouple.numeric.nodes import Nodes, absent
from symdecouple.numeric.tilting import Problems, Tilted

__all__ = ["KERNELS", "are_wanted", "powers_compiled", "tilt_compiled", "warm"]

_SOURCES = ("jit", "columns", "nodes", "energy_sums", "energy_loops", "power_loops", "energy_jit")
KERNELS = Kernels(energy_loops.__name__, tuple(f"symdecouple.numeric.{name}" for name in _SOURCES), seconds=1.5e-7)
_FROM = 8000  # frequencies times features of one signal: what answers a signal does not depend on the others
_MOST_LINES = 24  # their sums fit into a block of scratch


def are_wanted(bands: Columns) -> bool:
    """True iff compiled loops should answer: eigenvalues are not negative, and there is enough to do for a signal."""
    if len(bands) * bands.count < _FROM or max(len(bands), len(bands.lines.inner)) > _MOST_LINES or bands.is_signed:
        return False
    return _kernels.cache_info().currsize > 0 or KERNELS.are_warm()  # the disk is asked once


def powers_compiled(transforms: NDArray[np.complex128], bands: Columns, ceiling: FloatArray, rounding: float
                    ) -> tuple[FloatArray, FloatArray]:
    """Return shares of the power of transforms (R, ...), (R, n), 0 where it is rounding, and its sum."""
    _, power_of = _kernels()
    n = bands.lattice[-1]
    index = getattr(bands, "groups_of", np.zeros(1, dtype=np.intp))
    lines = transforms.view(np.float64).reshape(len(transforms), -1, 2 * n)
    shares, total = np.empty((len(lines), bands.count // n, n)), np.empty(len(lines))
    n_samples = bands.grid.shape[-1] if hasattr(bands, "grid") else 2
    for r, line in enumerate(lines):
        total[r] = power_of(line, index, n_samples, ceiling[r], rounding, np.empty(16), shares[r])
    return shares.reshape(len(lines), -1), total


def tilt_compiled(problems: Problems, most: int, own: IntArray) -> Tilted:
    """Solve problems, those of one signal one after the other, by increasing level, each from the one before.

    `own` is the feature that is decoupled at each level, whose sums count as well.
    """
    solve, _ = _kernels()
    bands, count, m = problems.bands, len(problems), len(problems.bands)
    few, nodes = _nodes(bands)
    coarse = getattr(bands, "coarse", None)
    gathered = None if coarse is None or len(few.inner) else coarse.gathered(problems.shares)
    width = 2 + m + m * m
    parameters, found, coefficients = np.zeros((count, m)), np.empty((count, width)), np.empty((count, m))
    state, small = np.empty((count, 3)), np.empty((13, width))
    work = energy_sums.scratch(len(bands.lines.inner), max(map(len, (*few[:2], *nodes[:2]))))
    rough, power = np.empty(len(few.outer) * len(few.inner)), np.empty(len(nodes.outer) * len(nodes.inner))
    wanted, targets = problems.wanted.astype(np.float64), np.ascontiguousarray(problems.targets)
    ends = [*(np.flatnonzero(problems.owner[1:] != problems.owner[:-1]) + 1).tolist(), count]
    for begin, end in zip([0, *ends], ends, strict=False):
        if begin == end:
            continue
        row = problems.owner[begin]
        small[:] = 0
        solve(problems.shares[row], bands.lines, few, nodes, bands.largest, wanted[begin:end], own[begin:end],
              targets[begin:end], problems.log_scale[begin:end], most, work, small,
              rough if gathered is None else gathered[row], power, parameters[begin:end], found[begin:end],
              state[begin:end], coefficients[begin:end])
    values = found[:, 2 : 2 + m]
    return Tilted(parameters, found[:, 0], found[:, 1], values, values, found[:, 2 + m :].reshape(-1, m, m),
                  state[:, 0], state[:, 1] > 0, state[:, 2].astype(np.intp), coefficients)


def _nodes(bands: Columns) -> tuple[Nodes, Nodes]:
    """Nodes for a sketch, and those that may answer; absent where there are none."""
    coarse, sketch = getattr(bands, "coarse", None), getattr(bands, "sketch", None)
    if sketch is None:
        return absent(bands.lines if coarse is None else coarse.lines), absent(bands.lines)
    outer, inner = sketch.maps
    return Nodes(outer, inner, sketch.lines, 0, 1.0, 1.0), bands.nodes  # type: ignore[attr-defined]


def warm() -> None:
    """Compile the search, and leave the mark that it is."""
    bands = Columns(np.array([[1.0, 0.0], [0.5, 1.0]]), (2,))
    problems = Problems(bands, np.array([[0.5, 0.5]]), np.zeros(1, dtype=np.intp), np.ones((1, 2), dtype=np.bool_),
                        np.array([[0.5, 1.0]]), np.zeros(1))
    tilt_compiled(problems, 8, np.zeros(1, dtype=np.intp))
    powers_compiled(np.ones((1, 2), dtype=np.complex128), bands, np.zeros(1), 0.0)
    KERNELS.note_warm()


@cache
def _kernels() -> Any:
    return KERNELS.build(energy_loops.find_tilts, power_loops.power_of, fast=(*energy_sums.FAST, *power_loops.FAST))
