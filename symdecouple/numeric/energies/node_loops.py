r"""Power moved to nodes as loops over one signal that `jit` compiles.

The maps are those of `nodes`. Where the nodes and the frequencies of an axis mirror each other at c = 0, the even and
the odd part of a line have half its length each, and so have those of L_j, which serve two nodes:

.. math:: \sum_i L_{\pm j}(c_i) P_i = \sum_{c_i \ge 0} L_j^+(c_i) (P_i + P_{-i}) \pm L_j^-(c_i) (P_i - P_{-i}) .

The outer axis comes first, some rows of power together: they are added to the rows of all nodes entry by entry, which
needs no sum along a row. Those are left for the few rows of nodes, two at a time.
"""

from __future__ import annotations

from symdecouple.numeric.batch import FloatArray
from symdecouple.numeric.energies.columns import Lines
from symdecouple.numeric.energies.sums import BLOCK, STRIDE, TOGETHER, Scratch, combined, tilt_line, weighed

__all__ = ["FAST", "moved_to_nodes"]

FAST = ("_four",)  # sums in any order


def moved_to_nodes(a: FloatArray, top: float, shares: FloatArray, lines: Lines, outer: FloatArray, inner: FloatArray,
                   work: Scratch, out: FloatArray) -> float:
    """Move power times exp(a.w - top) to nodes by their maps, with top not below any a.w, and 0 where a is.

    Returns the sum.
    """
    halves, others, as_floats, bits, _, small, _, rows, moved, factors = work
    n, count, half, few = lines.inner.shape[1], lines.outer.shape[1], outer.shape[1], len(inner)
    is_mirrored, is_plain = half < count, True
    for j in range(len(lines.scales)):
        is_plain = is_plain and a[j] == 0
    weighed(a, lines, factors)
    for i in range(len(out)):
        out[i] = 0.0
    evens, odds = rows[: TOGETHER * STRIDE], rows[TOGETHER * STRIDE :]
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        width = end - begin
        for i in range(len(outer)):
            row = moved[i]
            for t in range(width):
                row[t] = 0.0
        for first in range(0, half, TOGETHER):
            for k in range(TOGETHER):
                s, even, odd = first + k, evens[k * STRIDE : k * STRIDE + width], odds[k * STRIDE : k * STRIDE + width]
                for side in range(2):
                    row, line = (count - 1 - s, odd) if side else (s, even)
                    if s >= half or (side and s >= count - half):  # the middle is its own mirror
                        for t in range(width):
                            line[t] = 0.0
                        continue
                    weight = shares[row * n + begin : row * n + end]
                    if is_plain:
                        for t in range(width):
                            line[t] = weight[t]
                    else:
                        combined(factors, lines, row, row + 1, begin, end, line)
                        tilt_line(line, weight, top, bits, as_floats)
                if s < count - half:
                    for t in range(width):
                        low, high = even[t], odd[t]
                        even[t], odd[t] = low + high, low - high
            for i in range(len(outer)):
                _add(odds if is_mirrored and i >= len(outer) // 2 else evens, outer[i], first, moved[i, :width])
        for i in range(len(outer) // 2 if is_mirrored else 0):
            row, other = moved[i], moved[len(outer) - 1 - i]
            for t in range(width):
                low, high = row[t], other[t]
                row[t], other[t] = low + high, low - high
        for i in range(0, len(outer), 2):
            after = min(i + 1, len(outer) - 1)
            _onto(moved[i, :width], moved[after, :width], n, inner, begin, halves, others, small)
            for j in range(few * (1 + after - i)):
                out[i * few + j] += small[j]
    mass = 0.0
    for i in range(len(out)):
        mass += out[i]
    return mass


def _add(rows: FloatArray, factors: FloatArray, first: int, out: FloatArray) -> None:
    """Add eight rows times their factors; rows beyond the last one are 0."""
    last = len(factors) - 1
    a, b, c, d = (factors[first], factors[min(first + 1, last)], factors[min(first + 2, last)],
                  factors[min(first + 3, last)])
    e, f, g, h = (factors[min(first + 4, last)], factors[min(first + 5, last)], factors[min(first + 6, last)],
                  factors[min(first + 7, last)])
    for t in range(len(out)):
        out[t] += (a * rows[t] + b * rows[t + STRIDE] + c * rows[t + 2 * STRIDE] + d * rows[t + 3 * STRIDE]
                   + (e * rows[t + 4 * STRIDE] + f * rows[t + 5 * STRIDE] + g * rows[t + 6 * STRIDE]
                      + h * rows[t + 7 * STRIDE]))


def _onto(line: FloatArray, after: FloatArray, count: int, maps: FloatArray, begin: int, halves: FloatArray,
          others: FloatArray, out: FloatArray) -> None:
    """Inner products of the maps of `count` frequencies with two lines, a part of them from a place on."""
    few, half, start = len(maps), maps.shape[1], min(begin, 0)  # for a constant 0, another twin is compiled
    if half == count:
        _dots(line, after, maps, start, few, begin, out)
        return
    for i in range(count - half):
        halves[i] = line[i] + line[count - 1 - i]
        halves[half + i] = line[i] - line[count - 1 - i]
        others[i] = after[i] + after[count - 1 - i]
        others[half + i] = after[i] - after[count - 1 - i]
    for i in range(count - half, half):  # the middle is its own mirror
        halves[i], halves[half + i], others[i], others[half + i] = line[i], 0.0, after[i], 0.0
    _dots(halves[:half], others[:half], maps, start, few // 2, start, out)
    _dots(halves[half : 2 * half], others[half : 2 * half], maps, few // 2, few, start, out)
    for first in range(0, 2 * few, few):
        for j in range(few // 2):
            even, odd = out[first + j], out[first + few - 1 - j]
            out[first + j], out[first + few - 1 - j] = even + odd, even - odd


def _dots(line: FloatArray, after: FloatArray, maps: FloatArray, first: int, last: int, begin: int, out: FloatArray
          ) -> None:
    """Inner products with some maps, the last ones again where they are no multiple of four."""
    end = last - 1
    for j in range(first, last, 4):
        _four(line, after, maps, j, min(j + 1, end), min(j + 2, end), min(j + 3, end), begin, out)


def _four(line: FloatArray, after: FloatArray, maps: FloatArray, j: int, k: int, p: int, q: int, begin: int,
          out: FloatArray) -> None:
    """Those of four maps with two lines: what is read serves twice."""
    s, t, u, v, few = maps[j, begin:], maps[k, begin:], maps[p, begin:], maps[q, begin:], len(maps)
    a = b = c = d = e = f = g = h = 0.0
    for i in range(len(line)):
        one, two = line[i], after[i]
        a += one * s[i]
        b += one * t[i]
        c += one * u[i]
        d += one * v[i]
        e += two * s[i]
        f += two * t[i]
        g += two * u[i]
        h += two * v[i]
    out[j], out[k], out[p], out[q] = a, b, c, d
    out[few + j], out[few + k], out[few + p], out[few + q] = e, f, g, h
