"""Loops along the lines of a plane that `jit` compiles: sums of shifts, powers, and rows that go on beyond their ends.

A plane of height H and width W is flat. With `reach` more numbers in each row, those that follow periodically, a shift
along a row is a shift of the flat plane; what it does at the end of a row falls into numbers that nobody asks for.
"""

from __future__ import annotations

from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["FAST", "add_higher_sums", "add_six_products", "add_six_sums", "clear_ends", "fill_ends", "powers_of_rows",
           "scaled_power", "taken"]

FAST = ("taken", "_add_taken", "scaled_power", "add_six_products", "add_six_sums", "add_higher_sums")  # any order


def fill_ends(plane: FloatArray, width: int, before: int, reach: int) -> None:
    """Let wide rows go on periodically."""
    wide = width + reach
    for row in range(0, len(plane), wide):
        for j in range(row + before - 1, row - 1, -1):
            plane[j] = plane[j + width]
        for j in range(row + before + width, row + wide):
            plane[j] = plane[j - width]


def clear_ends(plane: FloatArray, width: int, before: int, reach: int) -> None:
    """Let wide rows be 0 beyond their ends."""
    wide = width + reach
    for row in range(0, len(plane), wide):
        for j in range(row, row + before):
            plane[j] = 0.0
        for j in range(row + before + width, row + wide):
            plane[j] = 0.0


def taken(plane: FloatArray, stride: int, taps: FloatArray, out: FloatArray) -> None:
    """The sum of taps[t] times the plane shifted by as many strides as taps come after t."""
    n, last = len(out), len(taps) - 1
    if last == 0:
        only = taps[0]
        for m in range(n):
            out[m] = only * plane[m]
    elif len(taps) == 3:
        one, two, three = taps[2], taps[1], taps[0]
        a, b, c = plane, plane[stride:], plane[2 * stride :]
        for m in range(n):
            out[m] = one * a[m] + two * b[m] + three * c[m]
    else:
        one, two = taps[last], taps[last - 1]
        a, b = plane, plane[stride:]
        for m in range(n):
            out[m] = one * a[m] + two * b[m]
        for t in range(2, last + 1):
            _add_taken(plane[t * stride :], taps[last - t], out)


def _add_taken(plane: FloatArray, factor: float, out: FloatArray) -> None:
    for m in range(len(out)):
        out[m] += factor * plane[m]


def powers_of_rows(plane: FloatArray, width: int, first: int, power: int, factor: float, out: FloatArray) -> None:
    """factor * plane^power of as many rows as `out` holds, from row `first` on, periodically."""
    height, count, done = len(plane) // width, len(out) // width, 0
    while done < count:
        row = (first + done) % height
        some = min(count - done, height - row)
        here = out[done * width : (done + some) * width]
        scaled_power(plane[row * width : (row + some) * width], power, factor, here)
        done += some


def scaled_power(line: FloatArray, power: int, factor: float, out: FloatArray) -> None:
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
    elif power == 4:
        for j in range(n):
            square = line[j] * line[j]
            out[j] = factor * square * square
    else:
        for j in range(n):
            square = line[j] * line[j]
            out[j] = factor * square * square * line[j]
        for _ in range(power - 5):
            for j in range(n):
                out[j] *= line[j]


def add_six_sums(line: FloatArray, sums: FloatArray) -> None:
    """Add the sums of line^p to sums[p], p from 1 to 6."""
    one = two = three = four = five = six = 0.0
    for j in range(len(line)):
        y = line[j]
        square = y * y
        cube = y * square
        one += y
        two += square
        three += cube
        four += square * square
        five += square * cube
        six += cube * cube
    sums[1] += one
    sums[2] += two
    sums[3] += three
    sums[4] += four
    sums[5] += five
    sums[6] += six


def add_six_products(line: FloatArray, other: FloatArray, sums: FloatArray) -> None:
    """Add the sums of other * line^(p - 1) to sums[p], p from 1 to 6, and that of line^2 to sums[0]."""
    zero = one = two = three = four = five = six = 0.0
    for j in range(len(line)):
        y, z = line[j], other[j]
        square, product = y * y, y * z
        zero += square
        one += z
        two += product
        three += square * z
        four += square * product
        five += square * square * z
        six += square * square * product
    sums[0] += zero
    sums[1] += one
    sums[2] += two
    sums[3] += three
    sums[4] += four
    sums[5] += five
    sums[6] += six


def add_higher_sums(line: FloatArray, sums: FloatArray, scratch: FloatArray) -> None:
    """Add the sums of line^p to sums[p], p from 7 on."""
    if len(sums) > 7:
        for j in range(len(line)):
            square = line[j] * line[j]
            scratch[j] = square * square * square
    for p in range(7, len(sums)):
        total = 0.0
        for j in range(len(line)):
            scratch[j] *= line[j]
            total += scratch[j]
        sums[p] += total
