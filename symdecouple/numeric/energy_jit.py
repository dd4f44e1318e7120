"""The search for tilts, compiled: all levels of a signal in one call, where `tilting` solves them side by side."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from symdecouple.numeric import energy_loops, energy_sums
from symdecouple.numeric.columns import Coarse, Columns
from symdecouple.numeric.jit import Kernels
from symdecouple.numeric.tilting import Problems, Tilted

__all__ = ["KERNELS", "is_wanted", "tilt_compiled", "warm"]

_SOURCES = ("jit", "energy_sums", "energy_loops", "energy_jit")
KERNELS = Kernels(__name__, tuple(f"symdecouple.numeric.{name}" for name in _SOURCES), seconds=1.5e-7)
_MOST_LINES = 24  # their sums fit into a block of scratch


def is_wanted(problems: Problems) -> bool:
    """True iff the compiled search should answer: eigenvalues are not negative, and there is enough to do."""
    bands = problems.bands
    if bands.is_signed or max(len(bands), len(bands.lines.inner)) > _MOST_LINES:
        return False
    return KERNELS.are_wanted(len(problems) * bands.columns.shape[1])


def tilt_compiled(problems: Problems, most: int, coarse: Coarse | None) -> Tilted:
    """Solve problems, those of one signal one after the other, by increasing level, each from the one before.

    With `coarse`, a problem is solved on few frequencies first.
    """
    (solve,) = _kernels()
    bands, m = problems.bands, len(problems.bands)
    lines, few_lines = bands.lines, (bands if coarse is None else coarse).lines
    few = np.empty((len(problems.shares), 0)) if coarse is None else coarse.gathered(problems.shares)
    width = 2 + m + m * m
    parameters, found, state = np.zeros((len(problems), m)), np.empty((len(problems), width)), np.empty(
        (len(problems), 3))
    work, small = np.empty((energy_sums.WORK, energy_sums.BLOCK)), np.zeros((8, m))
    here, there = np.empty(width), np.empty(width)
    wanted, targets = problems.wanted.astype(np.float64), np.ascontiguousarray(problems.targets)
    ends = np.flatnonzero(np.diff(problems.owner, append=-1)) + 1
    begin = 0
    for end in ends.tolist():
        row = problems.owner[begin]
        small[:] = 0
        solve(problems.shares[row], lines.outer, lines.inner, few[row], few_lines.outer, few_lines.inner, lines.places,
              few_lines.places, lines.scales, few_lines.scales, bands.largest, wanted[begin:end], targets[begin:end],
              problems.log_scale[begin:end], most, work[2].view(np.int64), work, here, there, small,
              parameters[begin:end], found[begin:end], state[begin:end])
        begin = end
    values = found[:, 2 : 2 + m]
    return Tilted(parameters, found[:, 0], found[:, 1], values, values, found[:, 2 + m :].reshape(-1, m, m),
                  state[:, 0], state[:, 1] > 0, state[:, 2].astype(np.intp))


def warm() -> None:
    """Compile the search, and leave the mark that it is."""
    bands = Columns(np.array([[1.0, 0.0], [0.5, 1.0]]), (2,))
    problems = Problems(bands, np.array([[0.5, 0.5]]), np.zeros(1, dtype=np.intp), np.ones((1, 2), dtype=np.bool_),
                        np.array([[0.5, 1.0]]), np.zeros(1))
    tilt_compiled(problems, 8, None)
    KERNELS.note_warm()


@cache
def _kernels() -> Any:
    return KERNELS.build(energy_loops.find_tilts, fast=energy_sums.FAST)
