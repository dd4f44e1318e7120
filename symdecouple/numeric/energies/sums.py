r"""Sums of tilted power as loops over one signal that `jit` compiles.

Eigenvalues are products of lines, w_j(s, t) = scale_j outer[p_j, s] inner[q_j, t] with s, t numbering the frequencies
(`columns.Lines`): a.w is a short sum along the inner axis, and the sums over s of outer lines and of their products
serve all features. A bank without such a form has one s, and its eigenvalues as inner lines.

Sums are a vector: the exponent of their unit, the total, the M values, the M x M matrix. Rows are added entry by entry,
two at a time, which needs no sum along a row: what was summed along s, a part of a row long, is summed along t at the
end.
"""

from __future__ import annotations

import math

from symdecouple.numeric.energies.eigenvalues import Lines
from symdecouple.numeric.energies.workspace import ACROSS, BLOCK, PART, Scratch
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["FAST", "NUDGE", "all_sums", "combined", "exceeds", "extremes", "number_of", "range_of", "tilt_line",
           "weighed"]

FAST = ("_total", "_product_total", "_three", "_thrice")  # sums in any order
_LOG2E, _HIGH, _LOW = 1.4426950408889634, 0.693147180369123816490, 1.90821492927058770002e-10  # ln 2 in two parts
_ROUNDER = 6755399441055744.0  # 3 * 2^51: what is added to it becomes an integer
_LOWEST, _FAR = -708.0, 300.0
NUDGE = 0.34  # exponents that need no powers of two
_ONE, _LARGEST = 1023 << 52, 2**63 - 1  # the bits of 1.0, and all but the first


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


def range_of(line: IntArray, weight: FloatArray) -> tuple[int, int]:
    """The smallest and the largest of numbers with a weight, all given by their bits, as whole numbers in that order.

    Those of negative numbers but the first are turned over: whole numbers are compared many at a time.
    """
    low, high = _LARGEST, -_LARGEST
    for t in range(len(line)):
        ordered = line[t] ^ ((line[t] >> 63) & _LARGEST)
        low = min(low, ordered if weight[t] != 0 else _LARGEST)
        high = max(high, ordered if weight[t] != 0 else -_LARGEST)
    return low, high


def number_of(ordered: int, bits: IntArray, as_floats: FloatArray) -> float:
    """The number that stands at a place of the order of `range_of`; infinite beyond all of them."""
    if abs(ordered) == _LARGEST:
        return math.copysign(math.inf, ordered)
    bits[0] = ordered ^ ((ordered >> 63) & _LARGEST)
    number: float = as_floats[0]
    return number


def all_sums(a: FloatArray, shares: FloatArray, lines: Lines, largest: FloatArray, needed: int, work: Scratch,
             kept: FloatArray, out: FloatArray) -> bool:
    """All sums at a, in units of exp(out[0]): 1, or where a.w may be large its largest value at an active frequency.

    The matrix is that of the first features, which are needed, and 0 elsewhere. Where there is room for it, and the
    unit is 1, the tilted power is kept; returns whether it is.
    """
    exponents, as_bits, as_floats, bits, parts, table, _, _, _, factors, _ = work
    m, many = len(lines.scales), len(lines.outer)
    n, count, outer_sums, bound = lines.inner.shape[1], lines.outer.shape[1], 1 + many + many * (many + 1) // 2, 0.0
    for j in range(len(out)):
        out[j] = 0.0
    for j in range(m):
        bound += abs(a[j]) * largest[j]
    is_far, is_kept = not bound <= _FAR, bound <= _FAR and len(kept) >= n * count
    shift = -math.inf if is_far else 0.0
    last_outer = 0  # of those that the matrix has to do with
    for j in range(needed):
        last_outer = max(last_outer, lines.places[0, j])
    weighed(a, lines, factors)
    for begin in range(0, n, PART):
        end = min(n, begin + PART)
        width, before = end - begin, shift
        together = BLOCK // n if width == n else 1
        for f in range(outer_sums):
            part = parts[f * ACROSS : f * ACROSS + width]
            for t in range(width):
                part[t] = 0.0
        for first in range(0, count, together):
            last = min(count, first + together)
            size = combined(factors, lines, first, last, begin, end, exponents)
            line, weight = exponents[:size], shares[first * n + begin : first * n + begin + size]
            if is_far:
                high = max(shift, number_of(range_of(as_bits[:size], weight)[1], bits, as_floats))
                back, shift = _quotient(shift, high), high
                for f in range(outer_sums if back != 1 and first > 0 else 0):
                    part = parts[f * ACROSS : f * ACROSS + width]
                    for t in range(width):
                        part[t] *= back
            if bound <= NUDGE:
                _nudge_line(line, weight)
            else:
                tilt_line(line, weight, shift if shift > -math.inf else 0.0, bits, as_floats)
            if is_kept:
                into = kept[first * n + begin : first * n + begin + size]
                for t in range(size):
                    into[t] = line[t]
            if many == 3:
                _add_pairs(line, width, lines.outer, first, last, parts)
            else:
                _add_fours(line, width, lines.outer, last_outer, first, last, parts)
        _gather(lines, needed, last_outer, begin, end, _quotient(before, shift), parts, table, out)
    for j in range(needed):
        for k in range(j):
            out[2 + m + k * m + j] = out[2 + m + j * m + k]
    out[0] = shift if shift > -math.inf else 0.0
    return is_kept


def extremes(a: FloatArray, largest: FloatArray, enough: float, weight: FloatArray, lines: Lines, work: Scratch
             ) -> tuple[float, float]:
    """The smallest and the largest a.w where there is a weight; bounds, where they surely are at most `enough`."""
    bound = 0.0
    for j in range(len(largest)):
        bound += abs(a[j]) * largest[j]
    if bound <= enough:
        return -bound, bound
    n, count = lines.inner.shape[1], lines.outer.shape[1]
    exponents, as_bits, as_floats, bits, _, _, _, _, _, factors, _ = work
    together = max(1, BLOCK // n)
    weighed(a, lines, factors)
    low, high = _LARGEST, -_LARGEST
    for first in range(0, count, together):
        last = min(count, first + together)
        for begin in range(0, n, BLOCK):
            end = min(n, begin + BLOCK)
            size = combined(factors, lines, first, last, begin, end, exponents)
            here = range_of(as_bits[:size], weight[first * n + begin : first * n + begin + size])
            low, high = min(low, here[0]), max(high, here[1])
    return number_of(low, bits, as_floats), number_of(high, bits, as_floats)


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


def _gather(lines: Lines, needed: int, last_outer: int, begin: int, end: int, back: float, parts: FloatArray,
            table: FloatArray, out: FloatArray) -> None:
    """Add what was summed along s, summed along t, and bring what was there to the same unit."""
    m, many, size, are_three = len(lines.scales), len(lines.outer), end - begin, len(lines.inner) == 3
    if back != 1:
        for j in range(1, len(out)):
            out[j] *= back
    out[1] += _total(parts[:size])
    for f in range(1, 2 + many + _pair(last_outer, last_outer) if are_three else 0):
        _three(parts[f * ACROSS : f * ACROSS + size], lines.inner, begin, table[f])
    for j in range(m):
        p, q, scale = lines.places[0, j], lines.places[1, j], lines.scales[j]
        one = lines.inner[q, begin:end]
        out[2 + j] += scale * (table[1 + p, q] if are_three else _product_total(one, parts[(1 + p) * ACROSS :]))
        for k in range(j + 1 if j < needed else 0):
            f, u, both = 1 + many + _pair(p, lines.places[0, k]), lines.places[1, k], scale * lines.scales[k]
            if are_three:
                out[2 + m + j * m + k] += both * table[f, 3 + _pair(q, u)]
            else:
                out[2 + m + j * m + k] += both * _thrice(one, lines.inner[u, begin:end], parts[f * ACROSS :])


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


def _add_pairs(line: FloatArray, width: int, outer: FloatArray, first: int, last: int, parts: FloatArray) -> None:
    """Add rows, and what they are times three outer lines and their products, to ten: two rows at a time."""
    for s in range(first, last, 2):
        other = min(s + 1, last - 1)
        is_pair = 1.0 if other > s else 0.0  # the last row may be alone
        one, two = line[(s - first) * width : (s - first + 1) * width], line[(other - first) * width :]
        a, b, c = outer[0, s], outer[1, s], outer[2, s]
        d, e, f = outer[0, other] * is_pair, outer[1, other] * is_pair, outer[2, other] * is_pair
        aa, ba, bb, ca, cb, cc = a * a, b * a, b * b, c * a, c * b, c * c
        dd, ed, ee, fd, fe, ff = d * d, e * d, e * e, f * d, f * e, f * f
        for t in range(len(one)):
            p, q = one[t], two[t]
            parts[t] += p + is_pair * q
            parts[t + ACROSS] += a * p + d * q
            parts[t + 2 * ACROSS] += b * p + e * q
            parts[t + 3 * ACROSS] += c * p + f * q
            parts[t + 4 * ACROSS] += aa * p + dd * q
            parts[t + 5 * ACROSS] += ba * p + ed * q
            parts[t + 6 * ACROSS] += bb * p + ee * q
            parts[t + 7 * ACROSS] += ca * p + fd * q
            parts[t + 8 * ACROSS] += cb * p + fe * q
            parts[t + 9 * ACROSS] += cc * p + ff * q


def _add_fours(line: FloatArray, width: int, outer: FloatArray, last_outer: int, first: int, last: int,
               parts: FloatArray) -> None:
    """Add rows, and what they are times outer lines and products of those up to one: four rows at a time."""
    many, end = len(outer), last - 1
    for s in range(first, last, 4):
        t, u, v = min(s + 1, end), min(s + 2, end), min(s + 3, end)
        second, third, fourth = 1.0 if t > s else 0.0, 1.0 if u > t else 0.0, 1.0 if v > u else 0.0  # or not there
        one, two = line[(s - first) * width : (s - first + 1) * width], line[(t - first) * width :]
        three, four = line[(u - first) * width :], line[(v - first) * width :]
        for i in range(-1, many):
            for j in range(-1, i + 1 if i <= last_outer else 0):
                a, b, c, d = 1.0, second, third, fourth
                if i >= 0:
                    a, b, c, d = outer[i, s], b * outer[i, t], c * outer[i, u], d * outer[i, v]
                if j >= 0:
                    a, b, c, d = a * outer[j, s], b * outer[j, t], c * outer[j, u], d * outer[j, v]
                part = parts[(1 + i if j < 0 else 1 + many + _pair(i, j)) * ACROSS :]
                for at in range(len(one)):
                    part[at] += a * one[at] + b * two[at] + c * three[at] + d * four[at]


def _three(line: FloatArray, inner: FloatArray, begin: int, out: FloatArray) -> None:
    """Sums with three lines and their products, in one sweep."""
    u, v, w = inner[0, begin : begin + len(line)], inner[1, begin : begin + len(line)], inner[2, begin:]
    one = two = three = 0.0
    uu = uv = uw = vv = vw = ww = 0.0
    for t in range(len(line)):
        p = line[t]
        pu, pv, pw = p * u[t], p * v[t], p * w[t]
        one += pu
        two += pv
        three += pw
        uu += pu * u[t]
        uv += pu * v[t]
        uw += pu * w[t]
        vv += pv * v[t]
        vw += pv * w[t]
        ww += pw * w[t]
    out[0], out[1], out[2] = one, two, three
    out[3], out[4], out[5], out[6], out[7], out[8] = uu, uv, vv, uw, vw, ww


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
