r"""Levels of many signals, one signal after the other, as a loop that `jit` compiles: posed, solved, and judged.

Most signals have power at all frequencies and targets within reach. Their problems follow from the targets alone, and
what is found needs one look. The others are told apart here, and answered by `problems` and `gradients`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.energies.node_bounds import spanned
from symdecouple.numeric.energies.packing import Packed, unpacked
from symdecouple.numeric.energies.search import Tools, searched
from symdecouple.numeric.energies.sums import extremes

__all__ = ["TINY", "WIDE_TILT", "Answers", "Given", "Posed", "Reached", "levels_solved"]

TINY = float(np.finfo(np.float64).tiny)
WIDE_TILT = 30.0  # e^-36 is eps: a multiplier of such a range may be on its way to a limit


class Posed(NamedTuple):
    """Problems as in `tilting.Problems`, and the feature that is decoupled at each level."""

    wanted: FloatArray
    own: IntArray
    targets: FloatArray
    log_scale: FloatArray


class Reached(NamedTuple):
    """What `search.searched` writes."""

    parameters: FloatArray
    found: FloatArray
    state: FloatArray
    coefficients: FloatArray


class Given(NamedTuple):
    """Signals whose levels are all asked for: targets (R, L), log_power, and how many frequencies are not active.

    No rows of targets where problems come posed.
    """

    targets: FloatArray
    log_power: FloatArray
    silent: IntArray


class Answers(NamedTuple):
    """Of each problem the decoupled feature; of each signal the largest residual, and 1 where nothing is left to ask.

    Where there is nothing, `Reached.coefficients` become those of gradients.
    """

    values: FloatArray
    residual: FloatArray
    is_ordinary: IntArray


def levels_solved(kit: Packed, shares: FloatArray, sketched: FloatArray, has_sketch: bool, most: int, rows: IntArray,
                  begins: IntArray, posed: Posed, reached: Reached, given: Given, offset: int, answers: Answers
                  ) -> None:
    """Solve the problems begins[i] to begins[i + 1] of signal rows[i], for each i.

    `sketched` is the power on nodes of a sketch without maps, with no rows where there is none. The first `offset`
    frequencies need not be active.
    """
    _solve(kit, shares, sketched, has_sketch, most, rows, begins, posed, reached, given, offset, answers)


def _solve(kit: Packed, shares: FloatArray, sketched: FloatArray, has_sketch: bool, most: int, rows: IntArray,
           begins: IntArray, posed: Posed, reached: Reached, given: Given, offset: int, answers: Answers) -> None:
    """The same; compiled without reference counts, which the views that are made here do not have."""
    tools = unpacked(kit.room, kit.bits, kit.layout)
    for i in range(len(rows)):
        row, begin, end = rows[i], begins[i], begins[i + 1]
        is_posed = len(given.targets) == 0
        if not is_posed:
            answers.is_ordinary[row] = 0
            if given.silent[row] != offset:
                for at in range(begin, end):
                    answers.values[at] = math.nan
                continue
            _pose(given.targets[row], given.log_power[row], begin, posed)
        for t in range(sketched.shape[1] if len(sketched) > 0 else 0):
            tools.sketch.power[t] = sketched[row, t]
        searched(tools, shares[row], has_sketch, most, posed.wanted[begin:end], posed.own[begin:end],
                 posed.targets[begin:end], posed.log_scale[begin:end], reached.parameters[begin:end],
                 reached.found[begin:end], reached.state[begin:end], reached.coefficients[begin:end])
        if not is_posed:
            _conclude(tools, shares[row], given.log_power[row], row, begin, end, reached, answers)


def _pose(targets: FloatArray, log_power: float, begin: int, posed: Posed) -> None:
    """Level q imposes the features before q, targets in units of the largest."""
    m, largest = posed.wanted.shape[1], 0.0
    for q in range(m):
        at = begin + q
        posed.own[at] = q
        posed.log_scale[at] = math.log(largest) - log_power if largest > 0 else 0.0
        for j in range(m):
            posed.wanted[at, j] = 1.0 if j < q else 0.0
            posed.targets[at, j] = targets[j] / largest if j < q and largest > 0 else 0.0
        if q < len(targets):
            largest = max(largest, abs(targets[q]))


def _conclude(tools: Tools, shares: FloatArray, log_power: float, row: int, begin: int, end: int, reached: Reached,
              answers: Answers) -> None:
    m, residual, is_ordinary = end - begin, 0.0, 1
    for q in range(m):
        at = begin + q
        value = reached.found[at, 2 + q] * math.exp(reached.found[at, 0] + log_power)
        is_there = reached.state[at, 1] != 0 and TINY <= value < math.inf
        if is_ordinary and not (is_there and _is_modest(reached.parameters[at], tools, shares)):
            is_ordinary = 0
        answers.values[at] = value
        residual = max(residual, reached.state[at, 0])
        for j in range(m):
            one = reached.coefficients[at, j]
            is_ordinary = is_ordinary if one == one else 0
            reached.coefficients[at, j] = -one
        reached.coefficients[at, q] = 1.0
    answers.residual[row], answers.is_ordinary[row] = residual, is_ordinary


def _is_modest(a: FloatArray, tools: Tools, shares: FloatArray) -> bool:
    """True where a.w surely has a range that is not wide."""
    largest, bound = tools.largest, 0.0
    for j in range(len(largest)):
        bound += abs(a[j]) * largest[j]
    if bound <= WIDE_TILT:
        return True
    if len(tools.nodes.inner) > 0:
        low, high = spanned(a, largest, tools.nodes.probes, 0, tools.lines, tools.everywhere, tools.work)
    else:
        low, high = extremes(a, largest, -1.0, shares, tools.lines, tools.work)
    return high - low <= WIDE_TILT
