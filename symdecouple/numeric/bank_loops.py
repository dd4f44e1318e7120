"""Loops over one signal that `jit` compiles: a separable periodic bank, its powers, and the adjoint of each band.

Signals are planes of height H and width W, flattened; one of one dimension has height 1. A line is a kernel along one
axis: taps in a row of a table, and the lag of the first of them. Away from the ends of an axis a shift along it is a
shift of the flat plane; what that gets wrong at the ends is put right afterwards.
"""

from __future__ import annotations

from symdecouple.numeric.batch import FloatArray, IntArray

__all__ = ["FAST", "band_fields", "band_means", "band_outputs"]

FAST = ("_shifted_sum", "_scaled_power", "_next_power_sum")  # sums in any order


def band_outputs(plane: FloatArray, width: int, columns: FloatArray, column_lags: IntArray, rows: FloatArray,
                 row_lags: IntArray, pairs: IntArray, between: FloatArray, out: FloatArray) -> None:
    """Filter with lines along axis 0, then along axis 1: band b is pairs[b] of them; pairs are sorted by the first."""
    known = -1
    for b in range(len(pairs)):
        if pairs[b, 0] != known:
            known = pairs[b, 0]
            _along_columns(plane, width, columns[known], column_lags[known], between)
        _along_rows(between, width, rows[pairs[b, 1]], row_lags[pairs[b, 1]], out[b])


def band_fields(outputs: FloatArray, width: int, band: IntArray, power: IntArray, gain: FloatArray,
                columns: FloatArray, column_lags: IntArray, rows: FloatArray, row_lags: IntArray, pairs: IntArray,
                count: int, scratch: FloatArray, out: FloatArray) -> None:
    """The fields g p h~(y^(p-1)) of features Mean of g y^p, y the output of their band; lines are the adjoint ones."""
    for j in range(count):
        b = band[j]
        _scaled_power(outputs[b], power[j] - 1, gain[j] * power[j], scratch[0])
        _along_rows(scratch[0], width, rows[pairs[b, 1]], row_lags[pairs[b, 1]], scratch[1])
        _along_columns(scratch[1], width, columns[pairs[b, 0]], column_lags[pairs[b, 0]], out[j])


def band_means(outputs: FloatArray, band: IntArray, power: IntArray, gain: FloatArray, sums: FloatArray,
               scratch: FloatArray, out: FloatArray) -> None:
    """Means of g y^p; blocks of the size of `scratch` are short, so that the sums are accurate.

    `sums`, (bands, highest power + 1), is overwritten.
    """
    bands, n = outputs.shape
    size = len(scratch)
    for b in range(bands):
        sums[b] = 0.0
        for start in range(0, n, size):
            line = outputs[b, start : min(n, start + size)]
            _scaled_power(line, 0, 1.0, scratch[: len(line)])
            for p in range(1, sums.shape[1]):
                sums[b, p] += _next_power_sum(line, scratch)
    for j in range(len(out)):
        out[j] = gain[j] * sums[band[j], power[j]] / n


def _next_power_sum(line: FloatArray, powers: FloatArray) -> float:
    total = 0.0
    for j in range(len(line)):
        powers[j] *= line[j]
        total += powers[j]
    return total


def _along_columns(plane: FloatArray, width: int, taps: FloatArray, first: int, out: FloatArray) -> None:
    """Along axis 0 a periodic shift is a periodic shift of the flat plane."""
    n, last = len(plane), first + len(taps) - 1
    begin, end = min(n, max(0, last * width)), max(0, n + min(0, first * width))
    if begin < end:
        _shifted_sum(plane, begin, end, width, taps, first, out)
    for m in range(n) if begin >= end else range(begin):
        _one(plane, m, n, width, taps, first, out)
    if begin < end:
        for m in range(end, n):
            _one(plane, m, n, width, taps, first, out)


def _along_rows(plane: FloatArray, width: int, taps: FloatArray, first: int, out: FloatArray) -> None:
    n, last = len(plane), first + len(taps) - 1
    begin, end = max(0, last), n + min(0, first)
    if begin < end:
        _shifted_sum(plane, begin, end, 1, taps, first, out)
    for row in range(0, n, width):
        for j in range(min(width, begin)):
            _one_in_row(plane, row, j, width, taps, first, out)
        for j in range(max(0, width + min(0, first)), width):
            _one_in_row(plane, row, j, width, taps, first, out)


def _one(plane: FloatArray, m: int, n: int, stride: int, taps: FloatArray, first: int, out: FloatArray) -> None:
    total = 0.0
    for t in range(len(taps)):
        total += taps[t] * plane[_wrapped(m - (first + t) * stride, n)]
    out[m] = total


def _one_in_row(plane: FloatArray, row: int, j: int, width: int, taps: FloatArray, first: int, out: FloatArray) -> None:
    total = 0.0
    for t in range(len(taps)):
        total += taps[t] * plane[row + _wrapped(j - first - t, width)]
    out[row + j] = total


def _wrapped(index: int, n: int) -> int:
    """index % n, without a division where it is not far outside."""
    while index < 0:
        index += n
    while index >= n:
        index -= n
    return index


def _shifted_sum(plane: FloatArray, begin: int, end: int, stride: int, taps: FloatArray, first: int, out: FloatArray
                 ) -> None:
    """Sum of taps times the plane shifted by their lags, where no shift leaves it."""
    if len(taps) == 3:
        one, two, three = taps[0], taps[1], taps[2]
        a, b, c = plane[begin - first * stride :], plane[begin - (first + 1) * stride :], plane[
            begin - (first + 2) * stride :]
        here = out[begin:end]
        for m in range(len(here)):
            here[m] = one * a[m] + two * b[m] + three * c[m]
        return
    here = out[begin:end]
    for m in range(len(here)):
        here[m] = 0.0
    for t in range(len(taps)):
        factor = taps[t]
        a = plane[begin - (first + t) * stride :]
        for m in range(len(here)):
            here[m] += factor * a[m]


def _scaled_power(line: FloatArray, power: int, factor: float, out: FloatArray) -> None:
    """factor * line^power, with the powers that occur most in one sweep."""
    n = len(out)
    if power == 0:
        for j in range(n):
            out[j] = factor
    elif power == 1:
        for j in range(n):
            out[j] = factor * line[j]
    elif power == 2:
        for j in range(n):
            out[j] = factor * line[j] * line[j]
    elif power == 3:
        for j in range(n):
            out[j] = factor * line[j] * line[j] * line[j]
    else:
        for j in range(n):
            square = line[j] * line[j]
            out[j] = factor * square * square
        for _ in range(power - 4):
            for j in range(n):
                out[j] *= line[j]
