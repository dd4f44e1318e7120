"""Loops over one signal that `jit` compiles: a separable periodic bank, its moments, their fields and projections.

Signals are planes of height H and width W, flattened; one of one dimension has height 1. Lines are kernels along one
axis: a row of taps each, and the lag of the first of them; (columns, their lags, rows, their lags) hold those of a
bank, and `pairs` which two of them a band has. All of them reach from a lag of 0 or less to one of 0 or more.

Outputs and fields have wide rows, as in `line_loops`: those of fields end with zeros, and inner products do not see
them.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from symdecouple.numeric import gram_loops, line_loops
from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.gram_loops import last_direction, least_move
from symdecouple.numeric.line_loops import (
    add_six_sums,
    along_columns,
    clear_ends,
    fill_ends,
    next_power_sum,
    powers_of_rows,
    scaled_power,
    taken,
    widened,
)

__all__ = ["FAST", "band_fields", "band_means", "band_projection"]

Lines: TypeAlias = tuple[FloatArray, IntArray, FloatArray, IntArray]

FAST = (*line_loops.FAST, *gram_loops.FAST)  # sums in any order
_SIX = 6  # powers that one sweep sums
_BLOCK = 1024  # numbers of a sum
_CACHED = 1536  # numbers of a field at a time


def band_means(plane: FloatArray, width: int, forward: Lines, back: Lines, pairs: IntArray, band: IntArray,
               power: IntArray, gain: FloatArray, out: FloatArray) -> None:
    """The means of g y^p, y the output of a band."""
    size = len(plane) // width * _wide(width, back)
    outputs, scratch = np.empty((len(pairs), size)), np.empty((2, size))
    _outputs(plane, width, forward, back, pairs, scratch, outputs)
    _means(outputs, width, back, band, power, gain, np.empty((len(pairs), _columns_of_sums(power))), scratch[0], out)


def band_fields(plane: FloatArray, width: int, forward: Lines, back: Lines, pairs: IntArray, band: IntArray,
                power: IntArray, gain: FloatArray, out: FloatArray) -> None:
    """The fields g p h~(y^(p-1)), (k, N); the lines `back` are the adjoint ones."""
    wide = _wide(width, back)
    size = len(plane) // width * wide
    outputs, scratch, fields = np.empty((len(pairs), size)), _room(size, wide, back), np.empty((len(out), size))
    _outputs(plane, width, forward, back, pairs, scratch, outputs)
    _fields(outputs, width, back, pairs, band, power, gain, scratch, fields)
    _narrowed(fields, width, wide, out)


def band_projection(plane: FloatArray, width: int, forward: Lines, back: Lines, pairs: IntArray, band: IntArray,
                    power: IntArray, gain: FloatArray, wanted: FloatArray, is_move: bool, sure: float,
                    lengths: FloatArray, out: FloatArray) -> float:
    """Write the shortest move that brings the first means to the wanted ones, to first order; or the last direction.

    That is the part of the last of their fields across the others, at length 1; its length is returned. 0 if not sure.
    For a move the lengths of the fields are written.
    """
    wide, count = _wide(width, back), len(wanted)
    size = len(plane) // width * wide
    outputs, scratch, fields = np.empty((len(pairs), size)), _room(size, wide, back), np.empty((count, size))
    gaps, shares, room = np.empty(count), np.empty(-4 * (-count // 4)), -4 * (-count // 4)
    _outputs(plane, width, forward, back, pairs, scratch, outputs)
    if is_move:
        sums = np.empty((len(pairs), _columns_of_sums(power)))
        _means(outputs, width, back, band, power, gain, sums, scratch[0], gaps)
        for j in range(count):
            gaps[j] = len(plane) * (wanted[j] - gaps[j])
    _fields(outputs, width, back, pairs, band, power, gain, scratch, fields)
    found = outputs[:1]
    length = 0.0
    if is_move:
        if least_move(fields, sure, gaps, np.empty((room, room)), lengths, shares, found[0]):
            length = 1.0
    else:
        length = last_direction(fields, sure, np.empty((room, room)), lengths, shares, found[0])
    if length > 0.0:
        _narrowed(found, width, wide, out.reshape((1, len(out))))
    return length


def _room(size: int, wide: int, back: Lines) -> FloatArray:
    """Room for a plane, or some rows of it beside those that kernels along axis 0 reach, twice."""
    return np.empty((2, max(size, wide * back[0].shape[1])))


def _wide(width: int, lines: Lines) -> int:
    wide: int = width + lines[2].shape[1] - 1
    return wide


def _before(lines: Lines) -> int:
    """How many numbers before a row its kernels take."""
    before: int = lines[2].shape[1] - 1 + lines[3][0]
    return before


def _outputs(plane: FloatArray, width: int, forward: Lines, back: Lines, pairs: IntArray, scratch: FloatArray,
             out: FloatArray) -> None:
    """Filter with lines along axis 0, then along axis 1; pairs are sorted by the first. The ends of rows stay open."""
    columns, column_lags, rows = forward[:3]
    before, size = _before(back), out.shape[1]
    wide = _wide(width, back)
    reach = wide - width
    placed, between = scratch[0, :size], scratch[1, :size]
    widened(plane, width, _before(forward), reach, placed)
    known = -1
    for b in range(len(pairs)):
        if pairs[b, 0] != known:
            known = pairs[b, 0]
            along_columns(placed, wide, columns[known], column_lags[known], between)
        taken(between, 1, rows[pairs[b, 1]], out[b, before : before + size - reach])


def _fields(outputs: FloatArray, width: int, back: Lines, pairs: IntArray, band: IntArray, power: IntArray,
            gain: FloatArray, scratch: FloatArray, out: FloatArray) -> None:
    """A few rows of the plane at a time, which stay in the first cache with those that kernels along axis 0 reach."""
    columns, column_lags, rows = back[:3]
    wide, reach = _wide(width, back), columns.shape[1] - 1
    height, some = outputs.shape[1] // wide, max(1, min(_CACHED, scratch.shape[1]) // wide - reach)
    powers, filtered = scratch[0], scratch[1]
    for b in range(len(pairs)):
        fill_ends(outputs[b], width, _before(back), wide - width)
    for begin in range(0, height, some):
        end = min(height, begin + some)
        size = (end - begin + reach) * wide
        for j in range(len(out)):
            b = band[j]
            column, row = pairs[b, 0], pairs[b, 1]
            powers_of_rows(outputs[b], wide, begin - column_lags[column] - reach, power[j] - 1, gain[j] * power[j],
                           powers[:size])
            taken(powers, 1, rows[row], filtered[: size - (wide - width)])
            taken(filtered, wide, columns[column], out[j, begin * wide : end * wide])
            clear_ends(out[j, begin * wide : end * wide], width, 0, wide - width)


def _means(outputs: FloatArray, width: int, back: Lines, band: IntArray, power: IntArray, gain: FloatArray,
           sums: FloatArray, scratch: FloatArray, out: FloatArray) -> None:
    """Blocks are short, so that the sums are accurate."""
    bands, size = outputs.shape
    wide = _wide(width, back)
    for b in range(bands):
        sums[b] = 0.0
        clear_ends(outputs[b], width, _before(back), wide - width)
        for start in range(0, size, _BLOCK):
            line = outputs[b, start : min(size, start + _BLOCK)]
            add_six_sums(line, sums[b])
            if sums.shape[1] > _SIX + 1:
                scaled_power(line, _SIX, 1.0, scratch[: len(line)])
                for p in range(_SIX + 1, sums.shape[1]):
                    sums[b, p] += next_power_sum(line, scratch)
    for j in range(len(out)):
        out[j] = gain[j] * sums[band[j], power[j]] / (size // wide * width)


def _columns_of_sums(power: IntArray) -> int:
    highest = _SIX
    for j in range(len(power)):
        highest = max(highest, power[j])
    return highest + 1


def _narrowed(planes: FloatArray, width: int, wide: int, out: FloatArray) -> None:
    for j in range(len(out)):
        for row in range(out.shape[1] // width):
            line, here = planes[j, row * wide : row * wide + width], out[j, row * width : (row + 1) * width]
            for m in range(width):
                here[m] = line[m]
