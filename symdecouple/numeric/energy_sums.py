r"""Sums of tilted power as loops over one signal that `jit` compiles.

Eigenvalues are products of lines, w_j(s, t) = scale_j outer[p_j, s] inner[q_j, t] with s, t numbering the frequencies
(`columns.Lines`): a.w is a short sum along the inner axis, and the sums over t of inner products of lines serve all
features. A bank without such a form has one s, and its eigenvalues as inner lines.

Sums are a vector: the exponent of their unit, the total, the M values, the M x M matrix. The work on each frequency is
in four short loops over at most `BLOCK` frequencies that lie in the cache.
"""

from __future__ import annotations

import math

from symdecouple.numeric.batch import FloatArray, IntArray

__all__ = ["BLOCK", "FAST", "WORK", "all_sums", "reach"]

FAST = ("_total", "_product_total", "_three")  # sums in any order
BLOCK = 1024
WORK = 5  # blocks of scratch: a line, a product, bits, lanes, small sums
_LANES = 16
_LOG2E, _HIGH, _LOW = 1.4426950408889634, 0.693147180369123816490, 1.90821492927058770002e-10  # ln 2 in two parts
_ROUNDER = 6755399441055744.0  # 3 * 2^51: what is added to it becomes an integer
_LOWEST = -708.0
_ONE = 1023 << 52  # the bits of 1.0


def reach(step: FloatArray, largest: FloatArray, enough: float, shares: FloatArray, outer: FloatArray,
          inner: FloatArray, places: IntArray, scales: FloatArray, work: FloatArray) -> float:
    """The largest |d.w| at active frequencies; where it is surely no more than `enough`, a bound."""
    bound = 0.0
    for j in range(len(step)):
        bound += abs(step[j]) * largest[j]
    if bound <= enough:
        return bound
    n, out = inner.shape[1], 0.0
    factors, lanes = work[WORK - 1, : len(inner)], work[WORK - 2, :_LANES]
    for s in range(outer.shape[1]):
        _factors(step, outer, s, places, scales, factors)
        for begin in range(0, n, BLOCK):
            end = min(n, begin + BLOCK)
            line, weight = work[0, : end - begin], shares[s * n + begin : s * n + end]
            _combined(factors, inner, begin, line)
            for t in range(len(line)):
                line[t] = abs(line[t])
            out = max(out, _highest(line, weight, lanes))
    return out


def _factors(a: FloatArray, outer: FloatArray, s: int, places: IntArray, scales: FloatArray, out: FloatArray) -> None:
    for r in range(len(out)):
        out[r] = 0.0
    for j in range(len(a)):
        out[places[1, j]] += a[j] * scales[j] * outer[places[0, j], s]


def _combined(factors: FloatArray, inner: FloatArray, begin: int, out: FloatArray) -> None:
    """The sum of factors times inner lines, over a block."""
    if len(factors) == 3:
        f, g, h = factors[0], factors[1], factors[2]
        u, v, w = inner[0, begin:], inner[1, begin:], inner[2, begin:]
        for t in range(len(out)):
            out[t] = f * u[t] + g * v[t] + h * w[t]
        return
    for t in range(len(out)):
        out[t] = 0.0
    for r in range(len(factors)):
        f, u = factors[r], inner[r, begin:]
        for t in range(len(out)):
            out[t] += f * u[t]


def _highest(line: FloatArray, weight: FloatArray, lanes: FloatArray) -> float:
    """The largest entry with a weight, -inf where there is none: lane by lane."""
    n = len(line)
    for t in range(_LANES):
        lanes[t] = -math.inf
    for begin in range(0, n, _LANES):
        a, b = line[begin:], weight[begin:]
        for t in range(min(_LANES, n - begin)):
            lanes[t] = a[t] if (a[t] > lanes[t]) & (b[t] != 0) else lanes[t]
    out = -math.inf
    for t in range(_LANES):
        out = max(out, lanes[t])
    return out


def all_sums(a: FloatArray, shares: FloatArray, outer: FloatArray, inner: FloatArray, places: IntArray,
             scales: FloatArray, bits: IntArray, work: FloatArray, out: FloatArray) -> None:
    """All sums at a, in units of exp(out[0]), the largest a.w at an active frequency of those seen first."""
    m, n, r = len(a), inner.shape[1], len(inner)
    factors, lanes = work[WORK - 1, :r], work[WORK - 2, :_LANES]
    gains = work[WORK - 2, _LANES : _LANES + m]
    part = work[WORK - 1, r : r + 1 + r + r * r]  # total, firsts, seconds of inner lines
    for j in range(len(out)):
        out[j] = 0.0
    shift = -math.inf
    for s in range(outer.shape[1]):
        _factors(a, outer, s, places, scales, factors)
        for begin in range(0, n, BLOCK):
            end = min(n, begin + BLOCK)
            line, weight = work[0, : end - begin], shares[s * n + begin : s * n + end]
            _combined(factors, inner, begin, line)
            top = _highest(line, weight, lanes)
            if top > shift:
                rescale = math.exp(shift - top)
                for j in range(1, len(out)):
                    out[j] *= rescale
                shift = top
            if shift == -math.inf:
                continue
            _tilt(line, weight, shift, bits, work[2])
            if r == 3:
                _three(line, inner, begin, part)
            else:
                _several(line, inner, begin, work[1, : len(line)], part)
            out[1] += part[0]
            for j in range(m):
                gains[j] = scales[j] * outer[places[0, j], s]
            for j in range(m):
                q = places[1, j]
                out[2 + j] += gains[j] * part[1 + q]
                row, lines = out[2 + m + j * m :], part[1 + r + q * r :]
                for k in range(j + 1):
                    row[k] += gains[j] * gains[k] * lines[places[1, k]]
    for j in range(m):
        for k in range(j):
            out[2 + m + k * m + j] = out[2 + m + j * m + k]
    out[0] = shift if shift > -math.inf else 0.0


def _tilt(line: FloatArray, weight: FloatArray, shift: float, bits: IntArray, as_floats: FloatArray) -> None:
    """Make of a line weight exp(line - shift), the exponent at most 0 and at least -708: within 2 eps.

    exp(x) = 2^k exp(r), r = x - k ln 2 with |r| <= ln(2)/2, by 14 terms of its series. `bits` and `as_floats` are the
    same memory: after the addition the last 12 bits of a float are those of k.
    """
    for t in range(len(line)):
        x = line[t] - shift
        x = 0.0 if x > 0.0 else x
        x = _LOWEST if x < _LOWEST else x
        rounded = x * _LOG2E + _ROUNDER
        as_floats[t] = rounded
        k = rounded - _ROUNDER
        r = (x - k * _HIGH) - k * _LOW
        e = 1 / 6227020800
        e = e * r + 1 / 479001600
        e = e * r + 1 / 39916800
        e = e * r + 1 / 3628800
        e = e * r + 1 / 362880
        e = e * r + 1 / 40320
        e = e * r + 1 / 5040
        e = e * r + 1 / 720
        e = e * r + 1 / 120
        e = e * r + 1 / 24
        e = e * r + 1 / 6
        e = e * r + 0.5
        line[t] = (e * r * r + r + 1.0) * weight[t]
    for t in range(len(line)):
        bits[t] = (bits[t] << 52) + _ONE
    for t in range(len(line)):
        line[t] *= as_floats[t]


def _three(line: FloatArray, inner: FloatArray, begin: int, out: FloatArray) -> None:
    """Sums with three lines and their products, in one sweep."""
    u, v, w = inner[0, begin:], inner[1, begin:], inner[2, begin:]
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
    out[4], out[5], out[6] = uu, uv, uw
    out[7], out[8], out[9] = uv, vv, vw
    out[10], out[11], out[12] = uw, vw, ww


def _several(line: FloatArray, inner: FloatArray, begin: int, scratch: FloatArray, out: FloatArray) -> None:
    """Sums with any number of lines and their products."""
    r = len(inner)
    out[0] = _total(line)
    for i in range(r):
        u = inner[i, begin:]
        for t in range(len(line)):
            scratch[t] = line[t] * u[t]
        out[1 + i] = _total(scratch)
        for j in range(i + 1):
            out[1 + r + i * r + j] = out[1 + r + j * r + i] = _product_total(scratch, inner[j, begin:])


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
