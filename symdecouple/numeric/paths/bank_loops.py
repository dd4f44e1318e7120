"""Loops over one signal that `jit` compiles: a separable periodic bank, means of powers of its outputs, their fields.

Signals are planes of height H and width W, flattened; one of one dimension has height 1. Lines are kernels along one
axis: a row of taps each, and the lag of the first of them; (columns, their lags, rows, their lags) hold those of a
bank, and `pairs` which two of them a band has. All of them reach from a lag of 0 or less to one of 0 or more. A `Bank`
is its lines, the adjoint ones, the pairs, and of each feature the band, the power, and the gain.

Planes, outputs, and fields have wide rows, as in `bank_lines`: those of planes and fields end with zeros, and inner
products do not see them.
"""

from __future__ import annotations

from typing import TypeAlias

from symdecouple.numeric.paths import bank_lines
from symdecouple.numeric.paths.bank_lines import (
    add_higher_sums,
    add_six_products,
    add_six_sums,
    clear_ends,
    fill_ends,
    powers_of_rows,
    taken,
)
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["FAST", "Bank", "Lines", "columns_of_sums", "fields_of", "largest_change", "means_of", "outputs_of",
           "placed", "wide_of"]

Lines: TypeAlias = tuple[FloatArray, IntArray, FloatArray, IntArray]
Bank: TypeAlias = tuple[Lines, Lines, IntArray, IntArray, IntArray, FloatArray]

FAST = bank_lines.FAST  # sums in any order
_SIX = 6  # powers that one sweep sums
_BLOCK = 1024  # numbers of a sum
_CACHED = 1536  # numbers of a field at a time
_COUNTED = 1 / 30  # of a change that is taken away; it is a few times to some hundreds of that which is left


def wide_of(width: int, bank: Bank) -> int:
    """The length of a wide row."""
    wide: int = width + bank[1][2].shape[1] - 1
    return wide


def columns_of_sums(power: IntArray) -> int:
    """How many sums of powers of an output there are, that of its power 0 with them."""
    highest = _SIX
    for j in range(len(power)):
        highest = max(highest, power[j])
    return highest + 1


def placed(plane: FloatArray, width: int, wide: int, to: int, out: FloatArray) -> None:
    """Copy the first numbers of rows of one length to rows of another; what is left of these is 0."""
    for row in range(len(out) // to):
        line, here = plane[row * wide : row * wide + width], out[row * to : (row + 1) * to]
        for m in range(width):
            here[m] = line[m]
        for m in range(width, to):
            here[m] = 0.0


def outputs_of(plane: FloatArray, width: int, bank: Bank, scratch: FloatArray, out: FloatArray) -> None:
    """Filter with lines along axis 0, then along axis 1; pairs are sorted by the first. The ends of rows stay open.

    A few rows of the plane at a time, as in `fields_of`. Above it are the rows before its first, below those that
    follow, periodically.
    """
    columns, column_lags, rows, row_lags = bank[0]
    pairs = bank[2]
    size, wide = len(plane), wide_of(width, bank)
    height, reach, over = size // wide, wide - width, columns.shape[1] - 1
    turned, between = scratch[0], scratch[1]
    before, ahead, above = _before(bank[1]), reach + row_lags[0], over + column_lags[0]
    middle = turned[above * wide : above * wide + size]
    for m in range(ahead):
        middle[m] = 0.0
    for m in range(size - ahead):
        middle[ahead + m] = plane[m]
    fill_ends(middle, width, ahead, reach)
    for m in range(above * wide - 1, -1, -1):
        turned[m] = turned[m + size]
    for m in range(above * wide + size, over * wide + size):
        turned[m] = turned[m - size]
    some = -(-height // -(-height // max(1, _CACHED // wide)))
    for begin in range(0, height, some):
        n, known = (min(height, begin + some) - begin) * wide, -1
        for b in range(len(pairs)):
            if pairs[b, 0] != known:
                known = pairs[b, 0]
                taken(turned[begin * wide :], wide, columns[known], between[:n])
            start = before + begin * wide
            taken(between, 1, rows[pairs[b, 1]], out[b, start : start + n - reach])


def fields_of(outputs: FloatArray, width: int, bank: Bank, scratch: FloatArray, out: FloatArray) -> None:
    """Write the fields g p h~(y^(p-1)) of the first features, those that `out` has rows for.

    A few rows of the plane at a time stay in the first cache with those that kernels along axis 0 reach.
    """
    columns, column_lags, rows = bank[1][:3]
    pairs, band, power, gain = bank[2:]
    wide, reach = wide_of(width, bank), columns.shape[1] - 1
    height, most = outputs.shape[1] // wide, max(1, min(_CACHED, scratch.shape[1]) // wide - reach)
    some = -(-height // -(-height // most))  # strips of the same height
    powers, filtered = scratch[0], scratch[1]
    for b in range(len(pairs)):
        fill_ends(outputs[b], width, _before(bank[1]), wide - width)
    for begin in range(0, height, some):
        end = min(height, begin + some)
        size = (end - begin + reach) * wide
        for b in range(len(pairs)):
            column, row = pairs[b, 0], pairs[b, 1]
            for j in range(len(out)):
                if band[j] != b:
                    continue
                powers_of_rows(outputs[b], wide, begin - column_lags[column] - reach, power[j] - 1, gain[j] * power[j],
                               powers[:size])
                taken(powers, 1, rows[row], filtered[: size - (wide - width)])
                taken(filtered, wide, columns[column], out[j, begin * wide : end * wide])
                clear_ends(out[j, begin * wide : end * wide], width, 0, wide - width)


def means_of(outputs: FloatArray, width: int, bank: Bank, sums: FloatArray, scratch: FloatArray, out: FloatArray
             ) -> None:
    """Write the means of g y^p of the first features. Blocks are short, so that the sums are accurate."""
    band, power, gain = bank[3:]
    bands, size = outputs.shape
    wide = wide_of(width, bank)
    for b in range(bands):
        sums[b] = 0.0
        clear_ends(outputs[b], width, _before(bank[1]), wide - width)
        for start in range(0, size, _BLOCK):
            line = outputs[b, start : min(size, start + _BLOCK)]
            add_six_sums(line, sums[b])
            add_higher_sums(line, sums[b], scratch)
    for j in range(len(out)):
        out[j] = gain[j] * sums[band[j], power[j]] / (size // wide * width)


def largest_change(outputs: FloatArray, moved: FloatArray, width: int, bank: Bank, taken_away: FloatArray,
                   sums: FloatArray) -> float:
    """The largest change of a feature to come, to first order, by a plane of which `moved` are the outputs.

    Beside what the feature is of outputs of the same size everywhere. What has been taken away of the plane changed
    the first features, N times by as much as is given; a small part of that counts too: the few features to come in
    the last levels may happen not to see an error.
    """
    band, power, gain = bank[3:]
    wide, largest = wide_of(width, bank), 0.0
    size = outputs.shape[1]
    n = size // wide * width
    for b in range(len(outputs)):
        sums[b] = 0.0
        clear_ends(outputs[b], width, _before(bank[1]), wide - width)
        clear_ends(moved[b], width, _before(bank[1]), wide - width)
        for start in range(0, size, _BLOCK):
            line, other = outputs[b, start : min(size, start + _BLOCK)], moved[b, start : min(size, start + _BLOCK)]
            add_six_products(line, other, sums[b])
            for p in range(_SIX + 1, sums.shape[1]):
                for m in range(len(line)):
                    product = other[m]
                    for _ in range(p - 1):
                        product *= line[m]
                    sums[b, p] += product
    for j in range(len(band)):
        unit = (sums[band[j], 0] / n) ** (0.5 * power[j])
        if j < len(taken_away):
            change = _COUNTED * abs(taken_away[j] / gain[j]) / n
        else:
            change = power[j] * abs(sums[band[j], power[j]]) / n
        if not change <= largest * unit:
            largest = change / unit
    return largest


def _before(lines: Lines) -> int:
    """How many numbers before a row its kernels take."""
    before: int = lines[2].shape[1] - 1 + lines[3][0]
    return before
