r"""A transform times exp(a.w), or times c.w exp(a.w), as loops over one signal that `jit` compiles."""

from __future__ import annotations

import math

from symdecouple.numeric.energies.eigenvalues import Lines
from symdecouple.numeric.energies.sums import combined, number_of, range_of, tilt_line, weighed
from symdecouple.numeric.energies.workspace import BLOCK
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["tilted_transform"]

_LOG_2 = math.log(2.0)


def tilted_transform(a: FloatArray, c: FloatArray, scale: float, is_centred: bool, lines: Lines, shares: FloatArray,
                     index: IntArray, order: IntArray, transform: FloatArray, room: FloatArray, bits: IntArray,
                     out: FloatArray) -> int:
    """Multiply a transform by exp(a.w), or by scale c.w exp(a.w)/2^e, where there is power; returns e.

    Parameters
    ----------
    a : array (M,)
        Of exponents that float64 can hold, where there is no c.
    c : array (M,)
        Empty for exp(a.w), and e is 0; else e is such that the largest exponential becomes about 1.
    is_centred : bool
        With c, nothing is left at frequency zero.
    shares : array (S, n)
        Not 0 where there is power.
    index : int array (K,)
        The row of `shares` of each line of the transform.
    order : int array (K,)
        Lines with equal rows after each other.
    transform : array (K, 2 n)
        Real and imaginary parts, the last axis halved.
    room : array
        Three blocks, and factors of inner lines twice; `bits` is the same memory.
    out : array (K, 2 n)
        May be the transform.
    """
    n, count, is_row = shares.shape[1], len(shares), lines.outer.shape[1] == 1
    line, mask, as_floats = room[:BLOCK], room[BLOCK : 2 * BLOCK], room[2 * BLOCK : 3 * BLOCK]
    line_bits, float_bits = bits[:BLOCK], bits[2 * BLOCK : 3 * BLOCK]
    size = len(lines.inner) * lines.outer.shape[1]
    factors, slopes = room[3 * BLOCK : 3 * BLOCK + size], room[3 * BLOCK + size : 3 * BLOCK + 2 * size]
    weighed(a, lines, factors)
    units, high = 0, -math.inf
    if len(c) > 0:
        weighed(c, lines, slopes)
        for s in range(count):
            row, at = (0, s * n) if is_row else (s, 0)
            for begin in range(0, n, BLOCK):
                end = min(n, begin + BLOCK)
                combined(factors, lines, row, row + 1, at + begin, at + end, line)
                ordered = range_of(line_bits[: end - begin], shares[s, begin:end])[1]
                high = max(high, number_of(ordered, float_bits, as_floats))
        units = math.floor(high / _LOG_2 + 0.5) if abs(high) < math.inf else 0
    for begin in range(0, n, BLOCK):
        end, known = min(n, begin + BLOCK), -1
        width = end - begin
        for k in order:
            s = index[k]
            if s != known:
                known, share = s, shares[s, begin:end]
                row, at = (0, s * n) if is_row else (s, 0)
                combined(factors, lines, row, row + 1, at + begin, at + end, line)
                for t in range(width):
                    mask[t] = scale if share[t] > 0 else 0.0
                tilt_line(line[:width], mask, units * _LOG_2, float_bits, as_floats)
                if len(c) > 0:
                    combined(slopes, lines, row, row + 1, at + begin, at + end, mask)
                    for t in range(width):
                        line[t] *= mask[t]
                    if is_centred and s == 0 and begin == 0:
                        line[0] = 0.0
            given, into = transform[k, 2 * begin : 2 * end], out[k, 2 * begin : 2 * end]
            for t in range(width):
                into[2 * t] = given[2 * t] * line[t]
                into[2 * t + 1] = given[2 * t + 1] * line[t]
    return units
