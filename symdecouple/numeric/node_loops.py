r"""Power moved to nodes as loops over one signal that `jit` compiles.

The maps are those of `nodes`. Where the nodes and the frequencies of an axis mirror each other at c = 0, the even and
the odd part of a line have half its length each, and so have those of L_j, which serve two nodes:

.. math:: \sum_i L_{\pm j}(c_i) P_i = \sum_{c_i \ge 0} L_j^+(c_i) (P_i + P_{-i}) \pm L_j^-(c_i) (P_i - P_{-i}) .
"""

from __future__ import annotations

from symdecouple.numeric.batch import FloatArray
from symdecouple.numeric.columns import Lines
from symdecouple.numeric.energy_sums import BLOCK, ROWS, Scratch, combined, tilt_line

__all__ = ["FAST", "moved_to_nodes"]

FAST = ("_four",)  # sums in any order


def moved_to_nodes(a: FloatArray, top: float, shares: FloatArray, lines: Lines, outer: FloatArray, inner: FloatArray,
                   work: Scratch, out: FloatArray) -> None:
    """Move power times exp(a.w - top) to nodes by their maps, with top not below any a.w, and 0 where a is."""
    exponents, halves, as_floats, bits, parts, small, _ = work
    n, count, few, is_plain = lines.inner.shape[1], lines.outer.shape[1], len(inner), True
    for j in range(len(lines.scales)):
        is_plain = is_plain and a[j] == 0
    for i in range(len(out)):
        out[i] = 0.0
    rows = ROWS if outer.shape[1] == count else count
    together = min(rows, max(1, BLOCK // n))
    for group in range(0, count, rows):
        until = min(count, group + rows)
        for first in range(group, until, together):
            last = min(until, first + together)
            for begin in range(0, n, BLOCK):
                end = min(n, begin + BLOCK)
                line = shares[first * n + begin : (last - 1) * n + end]
                if not is_plain:
                    size = combined(a, lines, first, last, begin, end, exponents, small)
                    tilt_line(exponents[:size], line, top, bits, as_floats)
                    line = exponents[:size]
                for s in range(first, last):
                    at = (s - first) * (end - begin)
                    _onto(line[at : at + end - begin], n, inner, begin, halves, small)
                    for j in range(few):
                        parts[j, s - group] = small[j] if begin == 0 else parts[j, s - group] + small[j]
        for j in range(few):
            _onto(parts[j, : until - group], count, outer, group, halves, small)
            for i in range(len(outer)):
                out[i * few + j] += small[i]


def _onto(line: FloatArray, count: int, maps: FloatArray, begin: int, halves: FloatArray, out: FloatArray) -> None:
    """Inner products of the maps of `count` frequencies with a line, a part of them from a place on."""
    few, half, start = len(maps), maps.shape[1], min(begin, 0)  # for a constant 0, another twin is compiled
    if half == count:
        _dots(line, maps, start, few, begin, out)
        return
    for i in range(count - half):
        halves[i] = line[i] + line[count - 1 - i]
        halves[half + i] = line[i] - line[count - 1 - i]
    for i in range(count - half, half):  # the middle is its own mirror
        halves[i], halves[half + i] = line[i], 0.0
    _dots(halves[:half], maps, start, few // 2, start, out)
    _dots(halves[half : 2 * half], maps, few // 2, few, start, out)
    for j in range(few // 2):
        even, odd = out[j], out[few - 1 - j]
        out[j], out[few - 1 - j] = even + odd, even - odd


def _dots(line: FloatArray, maps: FloatArray, first: int, last: int, begin: int, out: FloatArray) -> None:
    """Inner products with some maps, the last ones again where they are no multiple of four."""
    end = last - 1
    for j in range(first, last, 4):
        _four(line, maps, j, min(j + 1, end), min(j + 2, end), min(j + 3, end), begin, out)


def _four(line: FloatArray, maps: FloatArray, j: int, k: int, p: int, q: int, begin: int, out: FloatArray) -> None:
    s, t, u, v = maps[j, begin:], maps[k, begin:], maps[p, begin:], maps[q, begin:]
    a = b = c = d = 0.0
    for i in range(len(line)):
        a += line[i] * s[i]
        b += line[i] * t[i]
        c += line[i] * u[i]
        d += line[i] * v[i]
    out[j], out[k], out[p], out[q] = a, b, c, d
