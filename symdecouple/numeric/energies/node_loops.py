r"""Power moved to nodes as loops over one signal that `jit` compiles.

The maps are those of `maps`. Where the nodes and the frequencies of an axis mirror each other at c = 0, the even and
the odd part of a line have half its length each, and so have those of L_j, which serve two nodes:

.. math:: \sum_i L_{\pm j}(c_i) P_i = \sum_{c_i \ge 0} L_j^+(c_i) (P_i + P_{-i}) \pm L_j^-(c_i) (P_i - P_{-i}) .

The outer axis comes first, some lines of power together: they are added to the lines of four nodes entry by entry,
which needs no sum along a line. Those are left for the few lines of nodes, four of them with four maps at a time. What
is cut lies at constant strides: a slice takes as long as a sum over a line does.
"""

from __future__ import annotations

from symdecouple.numeric.energies.eigenvalues import Lines
from symdecouple.numeric.energies.maps import Maps
from symdecouple.numeric.energies.sums import combined, tilt_line, weighed
from symdecouple.numeric.energies.workspace import GROUP, ODD, PART, STRIDE, TILE, WIDE, Scratch
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["FAST", "moved_to_nodes"]

FAST = ("_sixteen", "_four")  # sums in any order
_LINE = 8  # floats of the longest vector: no line ends within one


def moved_to_nodes(a: FloatArray, top: float, shares: FloatArray, lines: Lines, outer: Maps, inner: Maps, work: Scratch,
                   out: FloatArray) -> float:
    """Move power times exp(a.w - top) to nodes by their maps, with top not below any a.w, and 0 where a is.

    Returns the sum.
    """
    halves, _, as_floats, bits, _, _, table, power, moved, factors, others = work
    n, count, is_mirrored, is_plain = inner.frequencies, outer.frequencies, outer.half < outer.frequencies, True
    for j in range(len(lines.scales)):
        is_plain = is_plain and a[j] == 0
    weighed(a, lines, factors)
    for i in range(len(out)):
        out[i] = 0.0
    evens, odds, size = power[: GROUP * STRIDE], power[GROUP * STRIDE :], TILE * STRIDE
    even_tiles = outer.tiles // 2 if is_mirrored else outer.tiles
    for begin in range(0, n, PART):
        end = min(n, begin + PART)
        width = end - begin + -(end - begin) % _LINE
        _clear(power, 2 * GROUP, end - begin, width)
        for first in range(0, outer.half, GROUP):
            there = min(GROUP, outer.half - first)
            together = there + -there % TILE
            _clear(evens[there * STRIDE :], together - there, 0, width)
            _clear(odds[there * STRIDE :], together - there, 0, width)
            for k in range(0, together, TILE):
                s = first + k
                last, mirrors = min(s + TILE, outer.half), min(s + TILE, count - outer.half)  # the middle is its own
                front, back = shares[s * n + begin :], shares[(count - mirrors) * n + begin :]
                if not is_plain:
                    front, back = halves, others
                    _tilt(s, last, top, shares, lines, factors, begin, end, bits, as_floats, front)
                    _tilt(count - mirrors, count - s, top, shares, lines, factors, begin, end, bits, as_floats, back)
                step = n if is_plain else end - begin
                for i in range(last - s):
                    at, is_middle = (k + i) * STRIDE, s + i >= mirrors
                    _split(front[i * step :], back[0 if is_middle else (mirrors - 1 - s - i) * step :], is_middle,
                           end - begin, evens[at:], odds[at:])
            for tile in range(outer.tiles):
                if first == 0:
                    _clear(moved[tile * size :], TILE, 0, width)
                _add(evens if tile < even_tiles else odds, outer.factors[(first * outer.tiles + tile * GROUP) * TILE :],
                     together // TILE, width, moved[tile * size :])
        if is_mirrored:
            turned = even_tiles * size
            for k in range(TILE * even_tiles):
                row, other_row = moved[k * STRIDE : k * STRIDE + width], moved[turned + k * STRIDE :]
                for t in range(width):
                    low, high = row[t], other_row[t]
                    row[t], other_row[t] = low + high, low - high
        for tile in range(outer.tiles):
            is_back = tile >= even_tiles
            first = TILE * (tile - even_tiles if is_back else tile)
            _onto(moved[tile * size :], inner, begin, width, outer.few == 1, halves, table)
            for k in range(TILE):
                i = outer.few - 1 - first - k if is_back else first + k
                if first + k < (outer.few // 2 if is_mirrored else outer.few):
                    _put(table[k * WIDE :], inner, out[i * inner.few : (i + 1) * inner.few])
    mass = 0.0
    for i in range(len(out)):
        mass += out[i]
    return mass


def _clear(lines: FloatArray, count: int, begin: int, end: int) -> None:
    for k in range(count):
        row = lines[k * STRIDE + begin : k * STRIDE + end]
        for t in range(len(row)):
            row[t] = 0.0


def _tilt(first: int, last: int, top: float, shares: FloatArray, lines: Lines, factors: FloatArray, begin: int,
          end: int, bits: IntArray, as_floats: FloatArray, out: FloatArray) -> None:
    """Write the tilted power of some rows one after the other, whole ones together."""
    width, n = end - begin, lines.inner.shape[1]
    some = max(last - first, 1) if width == n else 1
    for row in range(first, last, some):
        line = out[(row - first) * width : (row - first + some) * width]
        combined(factors, lines, row, row + some, begin, end, line)
        tilt_line(line, shares[row * n + begin :], top, bits, as_floats)


def _split(line: FloatArray, mirror: FloatArray, is_middle: bool, width: int, even: FloatArray, odd: FloatArray
           ) -> None:
    """Write the even and the odd part of a line and its mirror; one in the middle has none."""
    if is_middle:
        for t in range(width):
            even[t] = line[t]
            odd[t] = 0.0
        return
    for t in range(width):
        low, high = line[t], mirror[t]
        even[t] = low + high
        odd[t] = low - high


def _add(rows: FloatArray, factors: FloatArray, fours: int, width: int, out: FloatArray) -> None:
    """Add rows times their factors to four lines, four rows at a time."""
    for k in range(fours):
        some, f = rows[k * TILE * STRIDE :], factors[k * TILE * TILE :]
        a, b, c, d, e, g, h, i = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]
        j, m, n, o, p, q, r, s = f[8], f[9], f[10], f[11], f[12], f[13], f[14], f[15]
        for t in range(width):
            one, two, three, four = some[t], some[t + STRIDE], some[t + 2 * STRIDE], some[t + 3 * STRIDE]
            u = out[t] + a * one + b * two + c * three + d * four
            v = out[t + STRIDE] + e * one + g * two + h * three + i * four
            w = out[t + 2 * STRIDE] + j * one + m * two + n * three + o * four
            x = out[t + 3 * STRIDE] + p * one + q * two + r * three + s * four
            out[t], out[t + STRIDE], out[t + 2 * STRIDE], out[t + 3 * STRIDE] = u, v, w, x


def _onto(lines: FloatArray, maps: Maps, begin: int, width: int, is_one: bool, halves: FloatArray, table: FloatArray
          ) -> None:
    """Inner products of four lines, or of one, a part of them from a place on, with all maps."""
    count, half, tiles, first, length = maps.frequencies, maps.half, maps.tiles, begin // PART * maps.tiles, width
    given = lines
    if half < count:
        given, length = halves, half + -half % _LINE
        for k in range(1 if is_one else TILE):
            line, even, odd = lines[k * STRIDE :], halves[k * STRIDE :], halves[k * STRIDE + ODD :]
            for t in range(count - half):
                even[t] = line[t] + line[count - 1 - t]
                odd[t] = line[t] - line[count - 1 - t]
            for t in range(count - half, half):  # the middle is its own mirror
                even[t] = line[t]
                odd[t] = 0.0
            for t in range(half, length):
                even[t] = 0.0
                odd[t] = 0.0
    for tile in range(tiles):
        start = ODD if half < count and tile >= tiles // 2 else 0
        factors = maps.factors[(first + tile) * TILE * STRIDE :]
        if is_one:
            _four(given[start:], factors, length, table[tile * TILE :])
        else:
            _sixteen(given[start:], factors, length, table[tile * TILE :])


def _put(sums: FloatArray, maps: Maps, out: FloatArray) -> None:
    """Add the sums of a line; those of even and odd parts for the node and for its mirror."""
    few = maps.few
    if maps.half == maps.frequencies:
        for j in range(few):
            out[j] += sums[j]
        return
    odds = sums[maps.tiles // 2 * TILE :]
    for j in range(few // 2):
        out[j] += sums[j] + odds[j]
        out[few - 1 - j] += sums[j] - odds[j]


def _sixteen(lines: FloatArray, maps: FloatArray, length: int, out: FloatArray) -> None:
    """Inner products of four lines and four maps: sixteen sums in registers for eight numbers from memory."""
    ae = be = ce = de = af = bf = cf = df = ag = bg = cg = dg = ah = bh = ch = dh = 0.0
    for t in range(length):
        a, b, c, d = lines[t], lines[t + STRIDE], lines[t + 2 * STRIDE], lines[t + 3 * STRIDE]
        other = maps[t]
        ae += a * other
        be += b * other
        ce += c * other
        de += d * other
        other = maps[t + STRIDE]
        af += a * other
        bf += b * other
        cf += c * other
        df += d * other
        other = maps[t + 2 * STRIDE]
        ag += a * other
        bg += b * other
        cg += c * other
        dg += d * other
        other = maps[t + 3 * STRIDE]
        ah += a * other
        bh += b * other
        ch += c * other
        dh += d * other
    out[0], out[1], out[2], out[3] = ae, af, ag, ah
    out[WIDE], out[WIDE + 1], out[WIDE + 2], out[WIDE + 3] = be, bf, bg, bh
    out[2 * WIDE], out[2 * WIDE + 1], out[2 * WIDE + 2], out[2 * WIDE + 3] = ce, cf, cg, ch
    out[3 * WIDE], out[3 * WIDE + 1], out[3 * WIDE + 2], out[3 * WIDE + 3] = de, df, dg, dh


def _four(line: FloatArray, maps: FloatArray, length: int, out: FloatArray) -> None:
    """Those of one line."""
    a = b = c = d = 0.0
    for t in range(length):
        one = line[t]
        a += one * maps[t]
        b += one * maps[t + STRIDE]
        c += one * maps[t + 2 * STRIDE]
        d += one * maps[t + 3 * STRIDE]
    out[0], out[1], out[2], out[3] = a, b, c, d
