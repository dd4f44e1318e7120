r"""The search for a tilt (`tilting`) as loops over one signal that `jit` compiles, with the sums of `energy_sums`."""

from __future__ import annotations

import math

from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.energy_sums import WORK, all_sums, reach

__all__ = ["find_tilts"]

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
    all_sums(a, shares, outer, inner, places, scales, bits, work, here)
    residual = _residual(here, want, targets, log_scale, goal)
    if not residual < _POOR and _size(a) > 0:
        for j in range(m):
            a[j] = 0.0
        all_sums(a, shares, outer, inner, places, scales, bits, work, here)
        residual = _residual(here, want, targets, log_scale, goal)
    by_logarithm, radius, boost = True, _RADIUS, 1.0
    iterations, is_done = 0, residual <= 4 * _EPS
    while not is_done and iterations < most:
        uphill = _steps(here, want, targets, log_scale, goal, gap, newton, other, work[WORK - 1])
        if not _size(newton) + _size(other) < math.inf:
            break
        longest = reach(newton, largest, _NEAR, shares, outer, inner, places, scales, work)
        is_far = longest > _NEAR
        if longest <= _DONE:  # a step of rounding: its sums need no exponentials
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
            length = reach(other, largest, radius, shares, outer, inner, places, scales, work)
            factor = min(1.0, radius / length) if length > 0 else 1.0
        else:
            factor = math.log1p(longest) / longest * boost if is_far else 1.0
        slope, linear = 0.0, 0.0
        for j in range(m):
            step[j] = (other[j] if by_logarithm else newton[j]) * factor
            moved[j] = a[j] + step[j]
            slope += (here[2 + j] * want[j] - goal[j]) * step[j]
            linear += goal[j] * step[j]
        all_sums(moved, shares, outer, inner, places, scales, bits, work, there)
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


def _size(a: FloatArray) -> float:
    out = 0.0
    for j in range(len(a)):
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
