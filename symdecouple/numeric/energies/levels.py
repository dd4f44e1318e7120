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
_HIGHEST = 709.0  # exponent of a float64
WIDE_TILT = 30.0  # e^-36 is eps: a multiplier of such a range may be on its way to a limit


class Posed(NamedTuple):
    """Problems as in `tilting.Problems`, where those of a signal begin, and the feature that is decoupled at each."""

    owner: IntArray
    begins: IntArray
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

    No rows of targets where problems come posed. The first `offset` frequencies need not be active, and the first
    `offset` answers of a signal are left open: NaN.
    """

    targets: FloatArray
    log_power: FloatArray
    silent: IntArray
    offset: int


class Answers(NamedTuple):
    """Of each problem the decoupled feature; of each signal the largest residual, NaN where something is left to ask.

    `Reached.coefficients` become those of gradients.
    """

    values: FloatArray
    residual: FloatArray


def levels_solved(kit: Packed, shares: FloatArray, sketched: FloatArray, has_sketch: bool, most: int, first: int,
                  last: int, posed: Posed, reached: Reached, given: Given, answers: Answers) -> int:
    """Solve the problems of some signals, from the first on to before the last; returns of how many nothing is left.

    `sketched` is the power on nodes of a sketch without maps, with no rows where there is none.
    """
    if len(given.targets) > 0:  # room for those of one signal
        m = reached.parameters.shape[1]
        posed = Posed(posed.owner, posed.begins, np.empty((m, m)), np.empty(m, dtype=np.intp), np.empty((m, m)),
                      np.empty(m))
        reached = Reached(reached.parameters, np.empty((m, 2 + m + m * m)), np.empty((m, 3)), reached.coefficients)
    return _solve(kit, shares, sketched, has_sketch, most, first, last, posed, reached, given, answers)


def _solve(kit: Packed, shares: FloatArray, sketched: FloatArray, has_sketch: bool, most: int, first: int, last: int,
           posed: Posed, reached: Reached, given: Given, answers: Answers) -> int:
    """The same; compiled without reference counts, which the views that are made here do not have."""
    tools, m, done = unpacked(kit.room, kit.bits, kit.layout), reached.parameters.shape[1], 0
    are_asked, offset = len(given.targets) > 0, given.offset
    for i in range(first, last):
        row, end, at = i, (i + 1) * (offset + m), 0
        begin = end - m
        if are_asked:
            answers.residual[row] = math.nan
            for q in range(begin - offset, end):
                answers.values[q] = math.nan
                for j in range(m):
                    reached.parameters[q, j] = reached.coefficients[q, j] = math.nan
            if given.silent[row] != offset:
                continue
            _pose(given.targets[row], given.log_power[row], posed)
        else:
            begin, end = posed.begins[i], posed.begins[i + 1]
            row, at = posed.owner[begin], begin
        for t in range(sketched.shape[1] if len(sketched) > 0 else 0):
            tools.sketch.power[t] = sketched[row, t]
        to = at + end - begin
        searched(tools, shares[row], has_sketch, most, posed.wanted[at:to], posed.own[at:to], posed.targets[at:to],
                 posed.log_scale[at:to], reached.parameters[begin:end], reached.found[at:to], reached.state[at:to],
                 reached.coefficients[begin:end])
        if are_asked:
            done += _conclude(tools, shares[row], given.log_power[row], row, begin, reached, answers)
    return done


def _pose(targets: FloatArray, log_power: float, posed: Posed) -> None:
    """Level q imposes the features before q, targets in units of the largest."""
    m, largest = len(posed.own), 0.0
    for q in range(m):
        posed.own[q] = q
        posed.log_scale[q] = math.log(largest) - log_power if largest > 0 else 0.0
        for j in range(m):
            posed.wanted[q, j] = 1.0 if j < q else 0.0
            posed.targets[q, j] = targets[j] / largest if j < q and largest > 0 else 0.0
        if q < len(targets):
            largest = max(largest, abs(targets[q]))


def _conclude(tools: Tools, shares: FloatArray, log_power: float, row: int, begin: int, reached: Reached,
              answers: Answers) -> int:
    m, residual, is_ordinary = len(reached.found), 0.0, True
    for q in range(m):
        at = begin + q
        exponent = reached.found[q, 0] + log_power
        value = reached.found[q, 2 + q] * (math.exp(exponent) if exponent < _HIGHEST else math.inf)
        is_there = reached.state[q, 1] != 0 and TINY <= value < math.inf
        is_ordinary = is_ordinary and is_there and _is_modest(reached.parameters[at], tools, shares)
        answers.values[at] = value
        residual = max(residual, reached.state[q, 0])
        for j in range(m):
            one = reached.coefficients[at, j]
            is_ordinary = is_ordinary and one == one
            reached.coefficients[at, j] = -one
        reached.coefficients[at, q] = 1.0
    if is_ordinary:
        answers.residual[row] = residual
    return 1 if is_ordinary else 0


def _is_modest(a: FloatArray, tools: Tools, shares: FloatArray) -> bool:
    """True where a.w surely has a range that is not wide."""
    largest, bound = tools.largest, 0.0
    for j in range(len(largest)):
        bound += abs(a[j]) * largest[j]
    if bound <= WIDE_TILT:
        return True
    if tools.nodes.inner.few > 0:
        low, high = spanned(a, largest, tools.nodes.probes, 0, tools.lines, tools.everywhere, tools.work)
    else:
        low, high = extremes(a, largest, -1.0, shares, tools.lines, tools.work)
    return high - low <= WIDE_TILT
