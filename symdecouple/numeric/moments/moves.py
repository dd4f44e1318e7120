"""The stages of a step along the narrow path, and the sums that its velocity needs, for rows that lie side by side.

Every line of the table is as long as these rows together: slopes times the step of their row, then the slope that the
next step begins with, the values where the step began, their weights, the values at the stage, and a spare line. Each
row is filled up to a multiple of 16, so that no loop has a rest. All rows move in one loop, a few hundred entries of
them at a time; sums are over a part of the table, of one row.

A sum of slopes names them by their places; where a stage has fewer of them, the weights of the others are 0. Whatever
stands there must be finite, then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symdecouple.numeric.paths.dop853 import FIFTH, NODES as STAGE_NODES, STAGES, THIRD, WEIGHTS
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = [
    "AHEAD", "FAST", "LAST", "MOVED", "NODES", "POWER", "ROWS", "W", "Y", "finish", "means_5_6", "means_6_8",
    "move_on",
]

FAST = ("means_5_6", "means_6_8", "finish")  # sums in any order
_FEW, LAST = 6, 12  # the last stage of at most four slopes, and the end of the step
AHEAD, Y, W, MOVED, POWER, ROWS = range(12, 18)  # lines of the table, behind slopes
_SLOPES_OF_MANY = (0, 3, 4, 5, 6, 7, 8, 9, 10)
_SLOPES_OF_LAST = (0, 5, 6, 7, 8, 9, 10, 11)


def _few(rows: Sequence[Mapping[int, float]]) -> tuple[IntArray, FloatArray]:
    """Places and weights of the slopes of each stage, four of them."""
    places, weights = np.zeros((len(rows), 4), dtype=np.intp), np.zeros((len(rows), 4))
    for i, row in enumerate(rows):
        places[i, : len(row)], weights[i, : len(row)] = list(row), list(row.values())
    return places, weights


def _along(slopes: Sequence[int], rows: Sequence[Mapping[int, float]]) -> FloatArray:
    return np.array([[row.get(j, 0.0) for j in slopes] for row in rows])


NODES = np.append(STAGE_NODES, 1.0)
_PLACES_FEW, _WEIGHTS_FEW = _few(STAGES[: _FEW + 1])
_WEIGHTS_MANY = _along(_SLOPES_OF_MANY, STAGES)
_EIGHTH, _FIFTH, _THIRD = _along(_SLOPES_OF_LAST, [WEIGHTS, FIFTH, THIRD])


def move_on(table: Any, stage: int, begin: int, end: int) -> None:
    """Move a part of the table to a stage: the values where the step began, and a sum of weight times slope."""
    y, out, first = table[Y, begin:end], table[MOVED, begin:end], table[0, begin:end]
    if stage <= _FEW:
        places, few = _PLACES_FEW[stage], _WEIGHTS_FEW[stage]
        p, q, t = table[places[1], begin:end], table[places[2], begin:end], table[places[3], begin:end]
        a, b, c, d = few[0], few[1], few[2], few[3]
        for i in range(len(y)):
            out[i] = y[i] + (a * first[i] + b * p[i] + c * q[i] + d * t[i])
        return
    weights = _WEIGHTS_MANY[stage]
    a0, a3, a4, a5, a6 = weights[0], weights[1], weights[2], weights[3], weights[4]
    a7, a8, a9, a10 = weights[5], weights[6], weights[7], weights[8]
    s3, s4, s5, s6 = table[3, begin:end], table[4, begin:end], table[5, begin:end], table[6, begin:end]
    s7, s8, s9, s10 = table[7, begin:end], table[8, begin:end], table[9, begin:end], table[10, begin:end]
    for i in range(len(y)):
        out[i] = y[i] + (
            a0 * first[i] + a3 * s3[i] + a4 * s4[i] + a5 * s5[i] + a6 * s6[i]
            + a7 * s7[i] + a8 * s8[i] + a9 * s9[i] + a10 * s10[i]
        )


def means_5_6(y: Any, w: Any) -> Any:
    """Of the values, with weights."""
    h5 = h6 = 0.0
    for i in range(len(y)):
        x = y[i]
        x2 = x * x
        v = w[i] * (x2 * x2)
        h5 += v * x
        h6 += v * x2
    return h5, h6


def means_6_8(y: Any, w: Any) -> Any:
    h6 = h7 = h8 = 0.0
    for i in range(len(y)):
        x = y[i]
        x2 = x * x
        x4 = x2 * x2
        v = w[i] * x4
        h6 += v * x2
        h7 += v * (x2 * x)
        h8 += v * x4
    return h6, h7, h8


def finish(table: Any, lane: int) -> Any:
    """Move one row to the end of the step; returns the root mean square of the estimated error."""
    eighth_of, fifth_of, third_of = _EIGHTH, _FIFTH, _THIRD  # read once: each look costs the compiler
    y, w, out = table[Y, lane], table[W, lane], table[MOVED, lane]
    five = three = 0.0
    for i in range(len(y)):
        s0, s5, s6, s7 = table[0, lane, i], table[5, lane, i], table[6, lane, i], table[7, lane, i]
        s8, s9, s10, s11 = table[8, lane, i], table[9, lane, i], table[10, lane, i], table[11, lane, i]
        out[i] = y[i] + (
            eighth_of[0] * s0 + eighth_of[1] * s5 + eighth_of[2] * s6 + eighth_of[3] * s7
            + eighth_of[4] * s8 + eighth_of[5] * s9 + eighth_of[6] * s10 + eighth_of[7] * s11
        )
        fifth = (
            fifth_of[0] * s0 + fifth_of[1] * s5 + fifth_of[2] * s6 + fifth_of[3] * s7
            + fifth_of[4] * s8 + fifth_of[5] * s9 + fifth_of[6] * s10 + fifth_of[7] * s11
        )
        third = (
            third_of[0] * s0 + third_of[1] * s5 + third_of[2] * s6 + third_of[3] * s7
            + third_of[4] * s8 + third_of[5] * s9 + third_of[6] * s10 + third_of[7] * s11
        )
        five += w[i] * fifth * fifth
        three += w[i] * third * third
    five, three = abs(five), abs(three)  # weights of nodes may be negative
    return five / np.sqrt(five + 0.01 * three) if five > 0 else five
