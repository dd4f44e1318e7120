r"""Sums of tilted power as loops over one signal that `jit` compiles.

Eigenvalues are products of lines, w_j(s, t) = scale_j outer[p_j, s] inner[q_j, t] with s, t numbering the frequencies
(`columns.Lines`): a.w is a short sum along the inner axis, and the sums over t of inner lines and of their products
serve all features. A bank without such a form has one s, and its eigenvalues as inner lines.

Sums are a vector: the exponent of their unit, the total, the M values, the M x M matrix. Rows s are taken in groups:
their exponents lie in the cache, and what was summed along t is summed along s at the end of a group.
"""

from __future__ import annotations

import math

import numpy as np

from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.energies.columns import Lines
from symdecouple.numeric.energies.room import BLOCK, LANES, ROWS, Scratch

__all__ = ["FAST", "NUDGE", "all_sums", "combined", "exceeds", "extremes", "highest", "tilt_line", "weighed"]

FAST = ("_total", "_product_total", "_three", "_thrice")  # sums in any order
_LOG2E, _HIGH, _LOW = 1.4426950408889634, 0.693147180369123816490, 1.90821492927058770002e-10  # ln 2 in two parts
_ROUNDER = 6755399441055744.0  # 3 * 2^51: what is added to it becomes an integer
_LOWEST, _FAR = -708.0, 300.0
NUDGE = 0.34  # exponents that need no powers of two
_ONE = 1023 << 52  # the bits of 1.0
_PAIRS = np.array([[0, 1, 3], [1, 2, 4], [3, 4, 5]])  # the place of a product of three lines among the six

def weighed(a: FloatArray, lines: Lines, factors: FloatArray) -> None:
    """Write what each inner line has to be multiplied by at each s, one inner line after the other."""
    count = lines.outer.shape[1]
    for i in range(len(lines.inner) * count):
        factors[i] = 0.0
    for j in range(len(lines.scales)):
        of, one, scale = factors[lines.places[1, j] * count :], lines.outer[lines.places[0, j]], a[j] * lines.scales[j]
        for s in range(count):
            of[s] += scale * one[s]


def combined(factors: FloatArray, lines: Lines, first: int, last: int, begin: int, end: int, out: FloatArray) -> int:
    """Write a.w at frequencies begin to end of some rows one after the other; returns how many these are."""
    width, r, count = end - begin, len(lines.inner), lines.outer.shape[1]
    for s in range(first, last):
        line = out[(s - first) * width : (s - first + 1) * width]
        if r == 3:
            f, g, h = factors[s], factors[count + s], factors[2 * count + s]
            u, v, w = lines.inner[0, begin:end], lines.inner[1, begin:end], lines.inner[2, begin:end]
            for t in range(width):
                line[t] = f * u[t] + g * v[t] + h * w[t]
            continue
        for t in range(width):
            line[t] = 0.0
        for q in range(r):
            f, u = factors[q * count + s], lines.inner[q, begin:end]
            for t in range(width):
                line[t] += f * u[t]
    return (last - first) * width


def highest(line: FloatArray, weight: FloatArray, lanes: FloatArray) -> float:
    """The largest entry with a weight, -inf where there is none: lane by lane."""
    n = len(line)
    for t in range(LANES):
        lanes[t] = -math.inf
    whole = n - n % LANES
    for begin in range(0, whole, LANES):
        for t in range(LANES):
            value = line[begin + t] if weight[begin + t] != 0 else -math.inf
            lanes[t] = value if value > lanes[t] else lanes[t]
    for t in range(whole, n):
        if weight[t] != 0 and line[t] > lanes[0]:
            lanes[0] = line[t]
    out = -math.inf
    for t in range(LANES):
        out = max(out, lanes[t])
    return out


def all_sums(a: FloatArray, shares: FloatArray, lines: Lines, largest: FloatArray, work: Scratch, kept: FloatArray,
             out: FloatArray) -> bool:
    """All sums at a, in units of exp(out[0]): 1, or where a.w may be large its largest value at an active frequency.

    Where there is room for it, and the unit is 1, the tilted power is kept; returns whether it is.
    """
    exponents, product, as_floats, bits, parts, small, table, _, _, factors = work
    m, r = len(lines.scales), len(lines.inner)
    n, count = lines.inner.shape[1], lines.outer.shape[1]
    width = 1 + r + r * (r + 1) // 2
    part, bound = small[:width], 0.0
    for j in range(len(out)):
        out[j] = 0.0
    for j in range(m):
        bound += abs(a[j]) * largest[j]
    is_far, is_kept = not bound <= _FAR, bound <= _FAR and len(kept) >= n * count
    shift = -math.inf if is_far else 0.0
    weighed(a, lines, factors)
    together = min(ROWS, max(1, BLOCK // n))
    for group in range(0, count, ROWS):
        until = min(count, group + ROWS)
        before = shift
        for first in range(group, until, together):
            last = min(until, first + together)
            for begin in range(0, n, BLOCK):
                end = min(n, begin + BLOCK)
                size = combined(factors, lines, first, last, begin, end, exponents)
                line, weight = exponents[:size], shares[first * n + begin : first * n + begin + size]
                if is_far:
                    shift = max(shift, highest(line, weight, as_floats))
                if bound <= NUDGE:
                    _nudge_line(line, weight)
                else:
                    tilt_line(line, weight, shift if shift > -math.inf else 0.0, bits, as_floats)
                if is_kept:
                    into = kept[first * n + begin : first * n + begin + size]
                    for t in range(size):
                        into[t] = line[t]
                for s in range(first, last):
                    row = line[(s - first) * (end - begin) : (s - first + 1) * (end - begin)]
                    if r == 3:
                        _three(row, lines.inner, begin, part)
                    else:
                        _several(row, lines.inner, begin, product, part)
                    _put(part, parts, s - group, begin > 0, shift)
        _level_off(parts, width, until - group, shift)
        _gather(lines, group, until, _quotient(before, shift), parts, table, out)
    for j in range(m):
        for k in range(j):
            out[2 + m + k * m + j] = out[2 + m + j * m + k]
    out[0] = shift if shift > -math.inf else 0.0
    return is_kept


def _put(sums: FloatArray, parts: FloatArray, at: int, is_more: bool, shift: float) -> None:
    """Store the sums of a row, or add those of its next block; the exponent of their unit comes last."""
    width = len(sums)
    back = _quotient(parts[width, at], shift) if is_more else 0.0
    for f in range(width):
        parts[f, at] = parts[f, at] * back + sums[f] if is_more else sums[f]
    parts[width, at] = shift


def _level_off(parts: FloatArray, width: int, count: int, shift: float) -> None:
    """Bring the sums of rows to one unit."""
    if parts[width, 0] < shift:
        for at in range(count):
            back = _quotient(parts[width, at], shift)
            if back != 1:
                for f in range(width):
                    parts[f, at] *= back


def extremes(a: FloatArray, largest: FloatArray, enough: float, weight: FloatArray, lines: Lines, work: Scratch
             ) -> tuple[float, float]:
    """The smallest and the largest a.w where there is a weight; bounds, where they surely are at most `enough`."""
    bound = 0.0
    for j in range(len(largest)):
        bound += abs(a[j]) * largest[j]
    if bound <= enough:
        return -bound, bound
    n, count, low, high = lines.inner.shape[1], lines.outer.shape[1], math.inf, -math.inf
    exponents, lanes, factors, together = work[0], work[2], work[9], max(1, BLOCK // n)
    weighed(a, lines, factors)
    for first in range(0, count, together):
        last = min(count, first + together)
        for begin in range(0, n, BLOCK):
            end = min(n, begin + BLOCK)
            size = combined(factors, lines, first, last, begin, end, exponents)
            line, some = exponents[:size], weight[first * n + begin : first * n + begin + size]
            high = max(high, highest(line, some, lanes))
            for t in range(size):
                line[t] = -line[t]
            low = min(low, -highest(line, some, lanes))
    return low, high


def exceeds(a: FloatArray, bound: float, weight: FloatArray, lines: Lines) -> bool:
    """True where abs(a.w) is larger at the ends or in the middle of the axes, so that `extremes` need not be asked."""
    n, count = lines.inner.shape[1], lines.outer.shape[1]
    for i in range(3):
        s = i * (count - 1) >> 1
        for k in range(3):
            t, along = k * (n - 1) >> 1, 0.0
            for j in range(len(lines.scales)):
                p, q = lines.places[0, j], lines.places[1, j]
                along += a[j] * lines.scales[j] * lines.outer[p, s] * lines.inner[q, t]
            if abs(along) > bound and weight[s * n + t] != 0:
                return True
    return False


def _quotient(old: float, new: float) -> float:
    return math.exp(old - new) if old < new else 1.0


def _gather(lines: Lines, group: int, until: int, back: float, parts: FloatArray, table: FloatArray, out: FloatArray
            ) -> None:
    """Add what was summed along t in the rows of a group, and bring what was there to the same unit."""
    m, r, size, are_three = len(lines.scales), len(lines.inner), until - group, len(lines.outer) == 3
    if back != 1:
        for j in range(1, len(out)):
            out[j] *= back
    out[1] += _total(parts[0, :size])
    if are_three:
        for f in range(1, 1 + r + r * (r + 1) // 2):
            _three(parts[f, :size], lines.outer, group, table[f])
    for j in range(m):
        p, q, scale = lines.places[0, j], lines.places[1, j], lines.scales[j]
        if are_three:
            out[2 + j] += scale * table[1 + q, 1 + p]
            for k in range(j + 1):
                f = 1 + r + _pair(q, lines.places[1, k])
                out[2 + m + j * m + k] += scale * lines.scales[k] * table[f, 4 + _PAIRS[p, lines.places[0, k]]]
            continue
        one = lines.outer[p, group:until]
        out[2 + j] += scale * _product_total(one, parts[1 + q])
        for k in range(j + 1):
            o, f = lines.places[0, k], 1 + r + _pair(q, lines.places[1, k])
            out[2 + m + j * m + k] += scale * lines.scales[k] * _thrice(one, lines.outer[o, group:until], parts[f])


def _pair(i: int, j: int) -> int:
    """The place of a product of lines among those of them all."""
    return (max(i, j) * (max(i, j) + 1) >> 1) + min(i, j)


def tilt_line(line: FloatArray, weight: FloatArray, shift: float, bits: IntArray, as_floats: FloatArray) -> None:
    """Make of a line weight exp(line - shift), the exponent at most 708 and at least -708: within 2 eps.

    exp(x) = 2^k exp(r), r = x - k ln 2 with |r| <= ln(2)/2, to 2e-17 by a polynomial that
    interpolates (exp(r) - 1 - r)/r^2 at ten Chebyshev nodes. `bits` and `as_floats` are the
    same memory: after the addition the last 12 bits of a float are those of k.
    """
    for t in range(len(line)):
        x = line[t] - shift
        x = -_LOWEST if x > -_LOWEST else x
        x = _LOWEST if x < _LOWEST else x
        rounded = x * _LOG2E + _ROUNDER
        as_floats[t] = rounded
        k = rounded - _ROUNDER
        line[t] = _exponential((x - k * _HIGH) - k * _LOW) * weight[t]
    for t in range(len(line)):
        bits[t] = (bits[t] << 52) + _ONE
    for t in range(len(line)):
        line[t] *= as_floats[t]


def _nudge_line(line: FloatArray, weight: FloatArray) -> None:
    """Make of a line weight exp(line), the exponents at most NUDGE."""
    for t in range(len(line)):
        line[t] = _exponential(line[t]) * weight[t]


def _exponential(r: float) -> float:
    """exp(r) for |r| <= ln(2)/2."""
    e = 2.510038549551032e-08
    e = e * r + 2.7620088445409746e-07
    e = e * r + 2.7557268459997064e-06
    e = e * r + 2.4801521295954376e-05
    e = e * r + 0.00019841269863053618
    e = e * r + 0.0013888888917213717
    e = e * r + 0.008333333333330062
    e = e * r + 0.04166666666662413
    e = e * r + 0.16666666666666669
    e = e * r + 0.5000000000000001
    return e * r * r + r + 1.0


def _three(line: FloatArray, inner: FloatArray, begin: int, out: FloatArray) -> None:
    """Sums with three lines and their products, in one sweep."""
    u, v, w = inner[0, begin : begin + len(line)], inner[1, begin : begin + len(line)], inner[2, begin:]
    total = one = two = three = 0.0
    uu = uv = uw = vv = vw = ww = 0.0
    for t in range(len(line)):
        p = line[t]
        pu, pv, pw = p * u[t], p * v[t], p * w[t]
        total += p
        one += pu
        two += pv
        three += pw
        uu += pu * u[t]
        uv += pu * v[t]
        uw += pu * w[t]
        vv += pv * v[t]
        vw += pv * w[t]
        ww += pw * w[t]
    out[0], out[1], out[2], out[3] = total, one, two, three
    out[4], out[5], out[6], out[7], out[8], out[9] = uu, uv, vv, uw, vw, ww


def _several(line: FloatArray, inner: FloatArray, begin: int, product: FloatArray, out: FloatArray) -> None:
    """Sums with any number of lines and their products."""
    r = len(inner)
    out[0] = _total(line)
    for i in range(r):
        u = inner[i, begin:]
        for t in range(len(line)):
            product[t] = line[t] * u[t]
        out[1 + i] = _total(product[: len(line)])
        for j in range(i + 1):
            out[1 + r + i * (i + 1) // 2 + j] = _product_total(product[: len(line)], inner[j, begin:])


def _total(line: FloatArray) -> float:
    out = 0.0
    for t in range(len(line)):
        out += line[t]
    return out


def _product_total(line: FloatArray, other: FloatArray) -> float:
    out = 0.0
    for t in range(len(line)):
        out += line[t] * other[t]
    return out


def _thrice(line: FloatArray, other: FloatArray, third: FloatArray) -> float:
    out = 0.0
    for t in range(len(line)):
        out += line[t] * other[t] * third[t]
    return out
