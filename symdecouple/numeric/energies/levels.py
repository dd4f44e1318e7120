r"""Levels of many signals, one signal after the other, as a loop that `jit` compiles: posed, solved, and judged.

Most signals have power at all frequencies and targets within reach. Their problems follow from the targets alone, and
what is found needs one look. The others are told apart here, and answered by `problems` and `gradients`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from symdecouple.numeric.energies.packing import Packed
from symdecouple.numeric.energies.search import searched
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["TINY", "Answers", "Given", "Posed", "Reached", "are_witnessed", "levels_solved"]

TINY = float(np.finfo(np.float64).tiny)
_HIGHEST = 709.0  # exponent of a float64


class Posed(NamedTuple):
    """Problems as in `tilting.Problems`, where those of a signal begin, and the feature that is decoupled at each.

    Where all levels are asked for, those of one signal, of which targets and scales are room.
    """

    owner: IntArray
    begins: IntArray
    wanted: FloatArray
    own: IntArray
    targets: FloatArray
    log_scale: FloatArray


class Reached(NamedTuple):
    """What `search.searched` writes; where all levels are asked for, `found` and `state` are room for one signal."""

    parameters: FloatArray
    found: FloatArray
    state: FloatArray
    coefficients: FloatArray


class Given(NamedTuple):
    """Signals whose levels are all asked for: targets (R, L), log_power, and how many frequencies are not active.

    No rows of targets where problems come posed. The first `offset` frequencies need not be active, and the first
    `offset` answers of a signal are left open: NaN. Where more are not active, those of a row of `witnesses` must be.
    """

    targets: FloatArray
    log_power: FloatArray
    silent: IntArray
    offset: int
    witnesses: IntArray


class Answers(NamedTuple):
    """Of each problem the decoupled feature; of each signal the largest residual, NaN where something is left to ask.

    `Reached.coefficients` become those of gradients.
    """

    values: FloatArray
    residual: FloatArray


def levels_solved(kit: Packed, shares: FloatArray, sketched: FloatArray, has_sketch: bool, most: int, first: int,
                  last: int, posed: Posed, reached: Reached, given: Given, answers: Answers) -> int:
    """Solve the problems of some signals, from the first on to before the last; returns of how many nothing is left.

    `sketched` is the power on nodes of a sketch without maps; one row of nothing where there is none.
    """
    m, done, are_asked, offset = reached.parameters.shape[1], 0, len(given.targets) > 0, given.offset
    for i in range(first, last):
        row, end, at = i, (i + 1) * (offset + m), 0
        begin = end - m
        if are_asked:
            answers.residual[row] = math.nan
            if given.silent[row] != offset and not are_witnessed(shares[row], given.witnesses):
                continue
            _pose(given.targets[row], given.log_power[row], posed)
        else:
            begin, end = posed.begins[i], posed.begins[i + 1]
            row, at = posed.owner[begin], begin
        to = at + end - begin
        searched(kit, shares[row], sketched[row if len(sketched) > 1 else 0], has_sketch, most, posed.wanted[at:to],
                 posed.own[at:to], posed.targets[at:to], posed.log_scale[at:to], reached.parameters[begin:end],
                 reached.found[at:to], reached.state[at:to], reached.coefficients[begin:end])
        if are_asked:
            done += _conclude(given.log_power[row], row, begin, reached, answers)
    return done


def are_witnessed(shares: FloatArray, witnesses: IntArray) -> bool:
    """Whether a signal has power at all frequencies of a row."""
    for k in range(len(witnesses)):
        count = 0
        for frequency in witnesses[k]:
            count += 1 if shares[frequency] > 0 else 0
        if count == witnesses.shape[1]:
            return True
    return False


def _pose(targets: FloatArray, log_power: float, posed: Posed) -> None:
    """Level q imposes the features before q, targets in units of the largest."""
    largest = 0.0
    for q in range(len(posed.own)):
        posed.log_scale[q] = math.log(largest) - log_power if largest > 0 else 0.0
        for j in range(q):
            posed.targets[q, j] = targets[j] / largest if largest > 0 else 0.0
        if q < len(targets):
            largest = max(largest, abs(targets[q]))


def _conclude(log_power: float, row: int, begin: int, reached: Reached, answers: Answers) -> int:
    m, residual, is_ordinary = len(reached.found), 0.0, True
    for q in range(m):
        at = begin + q
        exponent = reached.found[q, 0] + log_power
        value = reached.found[q, 2 + q] * (math.exp(exponent) if exponent < _HIGHEST else math.inf)
        is_there = TINY <= value < math.inf and reached.state[q, 3] != 0
        is_ordinary = is_ordinary and is_there and reached.state[q, 1] != 0
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
