r"""Loops over one signal that `jit` compiles: sums of tilted power, and the search for the tilt (`tilting`).

Eigenvalues are products of lines, w_j(s, t) = scale_j outer[p_j, s] inner[q_j, t] with s, t numbering the frequencies
(`columns.Lines`): a.w is a short sum along the inner axis, and the sums over t of inner products of lines serve all
features. A bank without such a form has one s, and its eigenvalues as inner lines.

Sums are a vector: the exponent of their unit, the total, the M values, the M x M matrix. The work on each frequency is
in four short loops over at most `BLOCK` frequencies that lie in the cache.
"""

from __future__ import annotations

import math

from symdecouple.numeric.batch import FloatArray, IntArray

__all__ = ["BLOCK", "FAST", "WORK", "find_tilts"]

FAST = ("_total", "_product_total", "_three")  # sums in any order
BLOCK = 1024
WORK = 5  # blocks of scratch: a line, a product, bits, lanes, small sums
_LANES = 16
_LOG2E, _HIGH, _LOW = 1.4426950408889634, 0.693147180369123816490, 1.90821492927058770002e-10  # ln 2 in two parts
_ROUNDER = 6755399441055744.0  # 3 * 2^51: what is added to it becomes an integer
_LOWEST = -708.0
_ONE = 1023 << 52  # the bits of 1.0
_NEAR, _RADIUS, _WIDEST, _ENOUGH, _POOR, _ACCURATE, _SKETCHED = 0.5, 16.0, 2.0**60, 1e-4, 0.1, 1e-11, 1e-4
_DONE = 1e-13  # max |d.w| of a step after which sums of first order are those at its end
_EPS = 2.0**-52


def find_tilts(shares: FloatArray, outer: FloatArray, inner: FloatArray, few: FloatArray, few_outer: FloatArray,
               few_inner: FloatArray, places: IntArray, few_places: IntArray, scales: FloatArray,
               few_scales: FloatArray, largest: FloatArray, wanted: FloatArray, targets: FloatArray,
               log_scale: FloatArray, most: int, bits: IntArray, work: FloatArray, here: FloatArray,
               there: FloatArray, small: FloatArray, parameters: FloatArray, found: FloatArray, state: FloatArray
               ) -> None:
    """Solve the problems of one signal, one after the other.

    `few` is the power moved to fewer frequencies (empty where there are none), with lines there. Row q of `found` gets
    the sums at the end, of `state` the residual, 1 where converged, and the iterations.
    """
    m = len(scales)
    known, sketched = False, False
    before, sketch = small[6], small[7]
    for q in range(len(log_scale)):
        a, want, goal = parameters[q], wanted[q], targets[q]
        has_start = False
        if len(few):
            for j in range(m):
                sketch[j] = sketch[j] * want[j] if sketched else 0.0
            _descend(few, few_outer, few_inner, few_places, few_scales, largest, want, goal, log_scale[q], most,
                     bits, work, here, there, small, sketch, state[q])
            sketched = state[q, 1] > 0
            has_start = state[q, 0] < _SKETCHED
        for j in range(m):
            a[j] = sketch[j] if has_start else before[j] * want[j] if known else 0.0
        _descend(shares, outer, inner, places, scales, largest, want, goal, log_scale[q], most, bits, work, here,
                 there, small, a, state[q])
        known = state[q, 1] > 0
        for j in range(m):
            before[j] = a[j]
        for j in range(len(here)):
            found[q, j] = here[j]


def _descend(shares: FloatArray, outer: FloatArray, inner: FloatArray, places: IntArray, scales: FloatArray,
             largest: FloatArray, want: FloatArray, targets: FloatArray, log_scale: float, most: int,
             bits: IntArray, work: FloatArray, here: FloatArray, there: FloatArray, small: FloatArray,
             a: FloatArray, state: FloatArray) -> None:
    """Minimize from a; `here` gets the sums at the end. See `tilting.tilt`."""
    m = len(scales)
    goal, gap, newton, other, step = small[0], small[1], small[2], small[3], small[4]
    moved = small[5]
    _sums(a, shares, outer, inner, places, scales, bits, work, here)
    residual = _residual(here, want, targets, log_scale, goal)
    if not residual < _POOR and _is_any(a):
        for j in range(m):
            a[j] = 0.0
        _sums(a, shares, outer, inner, places, scales, bits, work, here)
        residual = _residual(here, want, targets, log_scale, goal)
    by_logarithm, radius, boost = True, _RADIUS, 1.0
    iterations, is_done = 0, residual <= 4 * _EPS
    while not is_done and iterations < most:
        uphill = _steps(here, want, targets, log_scale, goal, gap, newton, other, work[WORK - 1])
        if not (_is_finite(newton) and _is_finite(other)):
            break
        reach = _reach(newton, largest, _NEAR, shares, outer, inner, places, scales, work)
        is_far = reach > _NEAR
        if reach <= _DONE:  # a step of rounding: its sums need no exponentials
            for j in range(m):
                a[j] += newton[j]
                here[1] += here[2 + j] * newton[j]
            for j in range(m):
                for k in range(m):
                    here[2 + j] += here[2 + m + j * m + k] * newton[k]
            residual = min(residual, _residual(here, want, targets, log_scale, goal))
            is_done = True
            break
        by_logarithm = by_logarithm and is_far and uphill > 0
        if by_logarithm:
            length = _reach(other, largest, radius, shares, outer, inner, places, scales, work)
            factor = min(1.0, radius / length) if length > 0 else 1.0
        else:
            factor = math.log1p(reach) / reach * boost if is_far else 1.0
        slope, linear = 0.0, 0.0
        for j in range(m):
            step[j] = (other[j] if by_logarithm else newton[j]) * factor
            moved[j] = a[j] + step[j]
            slope += (here[2 + j] * want[j] - goal[j]) * step[j]
            linear += goal[j] * step[j]
        _sums(moved, shares, outer, inner, places, scales, bits, work, there)
        is_sure = not is_far or (not by_logarithm and boost == 1)
        unit = max(here[0], there[0])
        old, new = math.exp(here[0] - unit), math.exp(there[0] - unit)
        is_good = is_sure or there[1] * new - here[1] * old - linear * old <= _ENOUGH * slope * old
        after = _residual(there, want, targets, log_scale, goal)
        is_last = is_sure and residual < 1e-9 and not after < residual / 4
        if by_logarithm:
            radius = min(radius * (4 if is_good else 0.125), _WIDEST)
        else:
            radius = min(2 * radius, _WIDEST)
            boost = min(2 * boost, _WIDEST) if is_good else 1.0
        by_logarithm = by_logarithm == is_good and radius > 1
        iterations += 1
        if is_good and not (is_last and not after < residual):
            for j in range(len(here)):
                here[j] = there[j]
            for j in range(m):
                a[j] = moved[j]
            residual = after
            is_done = after <= 4 * _EPS
        is_done = is_done or is_last
    state[0], state[1], state[2] = residual, 1.0 if is_done and residual <= _ACCURATE else 0.0, iterations


def _is_any(a: FloatArray) -> bool:
    for j in range(len(a)):
        if a[j] != 0:
            return True
    return False


def _is_finite(a: FloatArray) -> bool:
    for j in range(len(a)):
        if not abs(a[j]) < math.inf:
            return False
    return True


def _residual(sums: FloatArray, want: FloatArray, targets: FloatArray, log_scale: float, goal: FloatArray) -> float:
    """The largest part of an imposed value that is missing; `goal` gets the targets in the unit of the sums."""
    scale = math.exp(min(log_scale - sums[0], 700.0))
    out = 0.0
    for j in range(len(want)):
        goal[j] = targets[j] * scale * want[j]
        size = sums[2 + j] + abs(goal[j])
        if want[j] != 0 and size > 0:
            out = max(out, abs(sums[2 + j] - goal[j]) / size)
        elif not size >= 0:
            return math.inf  # what is no number is no solution
    return out


def _steps(sums: FloatArray, want: FloatArray, targets: FloatArray, log_scale: float, goal: FloatArray,
           gap: FloatArray, newton: FloatArray, other: FloatArray, scratch: FloatArray) -> float:
    """Newton's step, and that on logarithms; returns the slope along the latter, positive where it leads down."""
    m = len(want)
    _residual(sums, want, targets, log_scale, goal)
    for j in range(m):
        value = sums[2 + j]
        gap[j] = (goal[j] - value) * want[j]
        newton[j] = other[j] = gap[j]
        if want[j] != 0 and goal[j] > 0 and value > 0:
            other[j] = value * (math.log(targets[j] / value) + (log_scale - sums[0]))
    _solve(sums, want, newton, other, scratch)
    uphill = 0.0
    for j in range(m):
        uphill += gap[j] * other[j]
    return uphill


def _solve(sums: FloatArray, want: FloatArray, one: FloatArray, two: FloatArray, scratch: FloatArray) -> None:
    """Solve with the matrix of the imposed features, scaled to a unit diagonal with a ridge, for two right sides."""
    m = len(want)
    scale, low = scratch[:m], scratch[m:]
    for j in range(m):
        diagonal = sums[2 + m + j * m + j]
        scale[j] = math.sqrt(diagonal) if want[j] != 0 and diagonal > 0 else 1.0
    ridge = 16 * _EPS * m
    for j in range(m):
        one[j] *= want[j] / scale[j]
        two[j] *= want[j] / scale[j]
        for k in range(j):
            entry = sums[2 + m + j * m + k] * want[j] * want[k] / (scale[j] * scale[k])
            for i in range(k):
                entry -= low[j * m + i] * low[k * m + i] * low[i * m + i]
            low[j * m + k] = entry / low[k * m + k]
        pivot = 1.0 + ridge
        for i in range(j):
            pivot -= low[j * m + i] * low[j * m + i] * low[i * m + i]
        low[j * m + j] = max(pivot, ridge)
        for i in range(j):
            one[j] -= low[j * m + i] * one[i]
            two[j] -= low[j * m + i] * two[i]
    for back in range(m):
        j = m - 1 - back
        one[j] /= low[j * m + j]
        two[j] /= low[j * m + j]
        for i in range(j + 1, m):
            one[j] -= low[i * m + j] * one[i]
            two[j] -= low[i * m + j] * two[i]
    for j in range(m):
        one[j] /= scale[j]
        two[j] /= scale[j]


def _reach(step: FloatArray, largest: FloatArray, enough: float, shares: FloatArray, outer: FloatArray,
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
    out = lanes[0]
    for t in range(1, _LANES):
        out = max(out, lanes[t])
    return out


def _sums(a: FloatArray, shares: FloatArray, outer: FloatArray, inner: FloatArray, places: IntArray,
          scales: FloatArray, bits: IntArray, work: FloatArray, out: FloatArray) -> None:
    """All sums at a, in units of exp(out[0]), the largest a.w at an active frequency of those seen first."""
    m, n, r = len(a), inner.shape[1], len(inner)
    factors, lanes = work[WORK - 1, :r], work[WORK - 2, :_LANES]
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
                q = places[1, j]
                u = scales[j] * outer[places[0, j], s]
                out[2 + j] += u * part[1 + q]
                for k in range(j + 1):
                    out[2 + m + j * m + k] += u * scales[k] * outer[places[0, k], s] * part[1 + r + q * r
                                                                                           + places[1, k]]
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
