r"""The search for a tilt (`tilting`) as loops over one signal that `jit` compiles, with the sums of `energies.sums`.

Where eigenvalues are polynomials (`nodes`), power tilted by some b is moved to few nodes, and the minimum a is sought
there, with (a - b).w small: then sums over nodes are sums over frequencies (`node_bounds`).
"""

from __future__ import annotations

import math

from symdecouple.numeric.energies.eigenvalues import Lines
from symdecouple.numeric.energies.sums import NUDGE, all_sums, exceeds, extremes
from symdecouple.numeric.energies.workspace import Scratch
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["ACCURATE", "NEAR", "SURE", "WIDE_TILT", "against", "lowered", "shaken"]

NEAR, _WIDEST, _ENOUGH = 0.5, 2.0**60, 1e-4
_FROM_ZERO, _FROM_ELSEWHERE = 16.0, 6.0  # max |d.w| of the first step by logarithms
ACCURATE = 1e-11  # the largest residual of a solution whose digits have run out
_EPS = 2.0**-52
WIDE_TILT = 30.0  # e^-36 is eps: a multiplier of such a range may be on its way to a limit
_ROUNDED, SURE = 1e-12, 0.25  # of a sum; what rounding may do to the least weight


def lowered(power: FloatArray, lines: Lines, largest: FloatArray, base: FloatArray, shift: float, want: FloatArray,
            target: FloatArray, needed: int, log_scale: float, most: int, widest: float, enough: float, is_known: bool,
            work: Scratch, kept: FloatArray, small: FloatArray, a: FloatArray, here: FloatArray
            ) -> tuple[float, bool, int]:
    """Solve one problem from `a`, by at most so many steps, none wider than `widest`.

    Power is tilted by `base` and in units of exp(shift). The matrix is that of the first features that are needed, all
    that are imposed among them. `is_known` says that `here` has the sums at `a` already; it
    gets those at the end. The search ends before a step shorter than `enough`. See `tilting.tilt` for the steps.
    Where the tilted power is `kept`, what is near is tilted from there.
    Returns the residual, whether the search came to an end, and how often sums were taken.
    """
    m = len(largest)
    goal, gap, newton, other, step, moved = small[0], small[1], small[2], small[3], small[4], small[5]
    apart, there, scratch, origin = small[6], small[9], small[10], small[14]
    for j in range(m):
        apart[j] = a[j] - base[j]
    scale, iterations = log_scale - shift, 0
    is_kept = False
    if not is_known:
        is_kept = all_sums(apart, power, lines, largest, needed, work, kept, here)
        for j in range(m):
            origin[j] = apart[j]
    residual = _residual(here, want, target, scale, goal)
    radius = _FROM_ELSEWHERE if _size(a, m) > 0 else _FROM_ZERO
    by_logarithm, boost, is_done = True, 1.0, residual <= 4 * _EPS
    while not is_done and iterations < most:
        uphill = _steps(here, want, target, scale, goal, gap, newton, other, scratch)
        if not _size(newton, m) + _size(other, m) < math.inf:
            break
        is_far, longest = exceeds(newton, NEAR, power, lines), math.inf
        is_enough = widest <= NEAR or (widest == math.inf and by_logarithm and uphill > 0)
        if not (is_far and is_enough):  # else it does not matter how long the step is
            low, high = extremes(newton, largest, NEAR, power, lines, work)
            longest = max(high, -low)
            is_far = longest > NEAR
        if longest > widest:
            break
        if longest <= enough:  # a step of rounding: its sums need no exponentials
            for j in range(m):
                apart[j] += newton[j]
                here[1] += here[2 + j] * newton[j]
                for k in range(m):
                    here[2 + j] += here[2 + m + j * m + k] * newton[k]
            residual, is_done = min(residual, _residual(here, want, target, scale, goal)), True
            break
        by_logarithm, factor = by_logarithm and is_far and uphill > 0, 1.0
        if by_logarithm:
            low, high = extremes(other, largest, radius, power, lines, work)
            factor = min(1.0, radius / max(high, -low)) if max(high, -low) > 0 else 1.0
        elif is_far:
            factor = math.log1p(longest) / longest * boost
        slope, linear = 0.0, 0.0
        for j in range(m):
            step[j] = (other[j] if by_logarithm else newton[j]) * factor
            moved[j] = apart[j] + step[j]
            slope += (here[2 + j] * want[j] - goal[j]) * step[j]
            linear += goal[j] * step[j]
        near, nothing = 0.0, kept[:0]
        for j in range(m):
            gap[j] = moved[j] - origin[j]
            near += abs(gap[j]) * largest[j]
        is_close = is_kept and near <= NUDGE
        along, whence, room = (gap, kept, nothing) if is_close else (moved, power, kept)
        is_kept = all_sums(along, whence, lines, largest, needed, work, room, there) or is_close
        for j in range(m):
            origin[j] = origin[j] if is_close else moved[j]
        is_sure = not is_far or (not by_logarithm and boost == 1)
        unit = max(here[0], there[0])
        old, new = math.exp(here[0] - unit), math.exp(there[0] - unit)
        is_good = is_sure or there[1] * new - here[1] * old - linear * old <= _ENOUGH * slope * old
        after = _residual(there, want, target, scale, goal)
        is_last = is_sure and residual < ACCURATE and not after < residual / 4
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
                apart[j] = moved[j]
            residual = after
            is_done = after <= 4 * _EPS
        is_done = is_done or is_last
    for j in range(m):
        a[j] = base[j] + apart[j]
    return residual, is_done, iterations


def against(sums: FloatArray, want: FloatArray, own: int, left: FloatArray, unused: FloatArray, scratch: FloatArray,
             out: FloatArray) -> None:
    """Solve with the matrix and one of its columns, to rounding: the ridge leaves some 100 eps, a correction none."""
    m = len(want)
    for j in range(m):
        out[j] = 0.0
    for _ in range(2):
        for j in range(m):
            unused[j] = 0.0
            left[j] = sums[2 + m + j * m + own] if own < m else 0.0
            for k in range(m):
                left[j] -= sums[2 + m + j * m + k] * out[k]
        _solve(sums, want, left, unused, scratch)
        for j in range(m):
            out[j] += left[j]


def shaken(sums: FloatArray, want: FloatArray, largest: FloatArray, residual: float, one: FloatArray, two: FloatArray,
           scratch: FloatArray) -> float:
    """Bound max abs(d.w) for the steps d that rounding of the sums, or what is left, moves the minimum by.

    While it is below 1 the targets are inside the cone of the active frequencies: weights p exp(a.w) (1 + d.w) are
    positive, and with d from Newton's method their sums are the targets. It is large near a limit, where some weights
    are near 0. Where eigenvalues have both signs, the sums of values are those of their sizes.
    """
    m, total = len(want), 0.0
    for k in range(0, m, 2):
        after = min(k + 1, m - 1)
        for j in range(m):
            one[j], two[j] = (1.0 if j == k else 0.0) * want[j], (1.0 if j == after > k else 0.0) * want[j]
        _solve(sums, want, one, two, scratch)
        for j in range(m):
            total += largest[j] * (abs(one[j]) * sums[2 + k] + abs(two[j]) * sums[2 + after])
    return total * max(residual, _ROUNDED)


def _size(a: FloatArray, m: int) -> float:
    out = 0.0
    for j in range(m):
        out += abs(a[j])
    return out


def _residual(sums: FloatArray, want: FloatArray, targets: FloatArray, log_scale: float, goal: FloatArray) -> float:
    """The largest part of an imposed value that is missing; `goal` gets the targets in the unit of the sums."""
    scale = math.exp(min(log_scale - sums[0], 700.0))
    out = 0.0
    for j in range(len(want)):
        goal[j] = targets[j] * scale * want[j]
        size = sums[2 + j] + abs(goal[j])
        if want[j] != 0 and size > 0:
            out = max(out, abs(sums[2 + j] - goal[j]) / size)
        elif size != size or (want[j] != 0 and size < 0):
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
    m, many = len(want), len(want)
    scale, low, ridge = scratch, scratch[m:], 16 * _EPS * m
    while m > 0 and want[m - 1] == 0:  # those after the last one that is imposed
        m -= 1
        one[m], two[m] = 0.0, 0.0
    for j in range(m):
        diagonal = sums[2 + many + j * many + j]
        scale[j] = want[j] / math.sqrt(diagonal) if want[j] != 0 and diagonal > 0 else want[j]
    for j in range(m):  # above the diagonal what is below it times pivots, on it the inverse of these
        one[j] *= scale[j]
        two[j] *= scale[j]
        pivot = 1.0 + ridge
        for k in range(j):
            entry = sums[2 + many + j * many + k] * (scale[j] * scale[k])
            for i in range(k):
                entry -= low[i * m + j] * low[k * m + i]
            low[k * m + j], low[j * m + k] = entry, entry * low[k * m + k]
            pivot -= entry * low[j * m + k]
            one[j] -= low[j * m + k] * one[k]
            two[j] -= low[j * m + k] * two[k]
        low[j * m + j] = 1 / max(pivot, ridge)
    for back in range(m):
        j = m - 1 - back
        one[j] *= low[j * m + j]
        two[j] *= low[j * m + j]
        for i in range(j + 1, m):
            one[j] -= low[i * m + j] * one[i]
            two[j] -= low[i * m + j] * two[i]
    for j in range(m):
        one[j] *= scale[j] if want[j] != 0 else 1.0
        two[j] *= scale[j] if want[j] != 0 else 1.0
