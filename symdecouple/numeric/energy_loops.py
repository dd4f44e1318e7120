r"""The search for a tilt (`tilting`) as loops over one signal that `jit` compiles, with the sums of `energy_sums`.

Where eigenvalues are polynomials (`nodes`), power tilted by some b is moved to few nodes, and the minimum a is sought
there, with (a - b).w small: then sums over nodes are sums over frequencies. What they miss is bounded (`_lost`); a
level for which the bound is not at rounding is solved on all frequencies.
"""

from __future__ import annotations

import math

from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.columns import Lines
from symdecouple.numeric.energy_sums import Scratch, all_sums, extremes, moved_to_nodes, reach
from symdecouple.numeric.nodes import Nodes

__all__ = ["find_tilts"]

_NEAR, _RADIUS, _WIDEST, _ENOUGH, _POOR, _ACCURATE = 0.5, 16.0, 2.0**60, 1e-4, 0.1, 1e-11
_DONE = 1e-13  # max |d.w| of a step after which sums of first order are those at its end
_SKETCH = 0.02  # the same for a sketch
_WIDEST_TILT = 500.0  # largest minus smallest a.w that power on nodes is tilted by
_FEW = 12  # steps near a tilt
_REBASED = 3  # times that power is tilted anew for a level
_EPS = 2.0**-52
_MISSED, _CANCELLED = 16 * _EPS, 256.0  # of a sum: what may be missing; what may cancel in it
_EXACT, _CANCELS, _WIDE, _FAR = range(4)  # a minimum on nodes: is one, needs relative accuracy, is apart, not found


def find_tilts(shares: FloatArray, lines: Lines, few: Nodes, nodes: Nodes, largest: FloatArray, wanted: FloatArray,
               own: IntArray, targets: FloatArray, log_scale: FloatArray, most: int, work: Scratch, small: FloatArray,
               rough: FloatArray, power: FloatArray, parameters: FloatArray, found: FloatArray, state: FloatArray,
               coefficients: FloatArray) -> None:
    """Solve the problems of one signal, one after the other.

    `own` is the feature that is decoupled at each level. `few` are nodes of several panels, for a sketch, with the
    power on them in `rough` where there are no maps; `nodes` may be empty. Row q of `found` gets the sums at the end,
    of `state` the residual, 1 where converged, and how often the sums over all frequencies were taken; of
    `coefficients` the solution with the matrix and its column `own`.
    """
    m = len(lines.scales)
    before, base, sketch, here = small[6, :m], small[7, :m], small[8, :m], small[9]
    shift, is_sketched, has_nodes = 0.0, len(few.inner) == 0, len(nodes.inner) > 0
    is_plain = is_summed = most < 0  # False: a constant would be compiled in
    if has_nodes:
        moved_to_nodes(base, 0.0, shares, lines, nodes, work, power)
    for q in range(len(log_scale)):
        a, want, goal, place = parameters[q], wanted[q], targets[q], _FAR
        state[q, 2] = 0
        for j in range(m):
            a[j] = before[j] * want[j]
        if has_nodes:
            place = _on_nodes(power, nodes, base, shift, largest, want, own[q], goal, log_scale[q], most, is_summed,
                              work, small, a, state[q])
            state[q, 2] = 0
        if place == _FAR and len(rough):
            if not is_sketched:  # `sketch` is 0
                moved_to_nodes(sketch, 0.0, shares, lines, few, work, rough)
                is_sketched = True
            for j in range(m):
                sketch[j] *= want[j]
            if not _descend(rough, few.lines, largest, want, goal, log_scale[q], most, math.inf, _SKETCH, is_plain,
                            work, small, sketch, state[q]):
                for j in range(m):
                    sketch[j] = 0.0
            for j in range(m):
                a[j] = sketch[j]
            state[q, 2] = 0
        while has_nodes and place > _CANCELS and state[q, 2] < _REBASED and _size(a) > 0:
            low, high = extremes(a, nodes.lines, work)
            if not high - low < _WIDEST_TILT:
                break
            for j in range(m):
                base[j] = a[j]
            shift = (low + high) / 2 + (high - low) / 2 * nodes.between
            moved_to_nodes(base, shift, shares, lines, nodes, work, power)
            passes = state[q, 2] + 1
            place = _on_nodes(power, nodes, base, shift, largest, want, own[q], goal, log_scale[q], most, is_plain,
                              work, small, a, state[q])
            state[q, 2] = passes
            if place == _FAR:
                break
        is_summed = place == _EXACT
        if not is_summed:
            passes = state[q, 2]
            _descend(shares, lines, largest, want, goal, log_scale[q], most, math.inf, _DONE, is_plain, work, small, a,
                     state[q])
            state[q, 2] += passes
        for j in range(m):
            before[j] = a[j] if state[q, 1] > 0 else 0.0
        for j in range(len(here)):
            found[q, j] = here[j]
        if is_summed:
            found[q, 0] += shift
        _against(here, want, own[q], small, coefficients[q])


def _against(sums: FloatArray, want: FloatArray, own: int, small: FloatArray, out: FloatArray) -> None:
    """Solve with the matrix and one of its columns, to rounding: the ridge leaves some 100 eps, a correction none."""
    m = len(want)
    left, unused = small[0, :m], small[1, :m]
    for j in range(m):
        out[j] = unused[j] = 0.0
        left[j] = sums[2 + m + j * m + own] if own < m else 0.0
    for _ in range(2):
        _solve(sums, want, left, unused, small[12])
        for j in range(m):
            out[j] += left[j]
        for j in range(m):
            left[j] = sums[2 + m + j * m + own] if own < m else 0.0
            for k in range(m):
                left[j] -= sums[2 + m + j * m + k] * out[k]


def _on_nodes(power: FloatArray, nodes: Nodes, base: FloatArray, shift: float, largest: FloatArray, want: FloatArray,
              own: int, targets: FloatArray, log_scale: float, most: int, is_summed: bool, work: Scratch,
              small: FloatArray, a: FloatArray, state: FloatArray) -> int:
    """Minimize near a tilt; says what was found, and moves `a` where something was."""
    m = len(a)
    here, apart = small[9], small[11, :m]
    for j in range(m):
        apart[j] = a[j] - base[j]
    is_found = _descend(power, nodes.lines, largest, want, targets, log_scale - shift, min(most, _FEW), _NEAR, _DONE,
                        is_summed, work, small, apart, state)
    if not is_found or not state[1] > 0:
        return _FAR
    for j in range(m):
        a[j] = base[j] + apart[j]
    cancelled = 0.0
    for j in range(m):
        if want[j] != 0 or j == own:
            part, square = largest[j] * here[1], largest[j] * largest[j] * here[1]
            if not (here[2 + j] > 0 and here[2 + m + j * m + j] > 0):
                return _CANCELS
            cancelled = max(cancelled, part / here[2 + j], square / here[2 + m + j * m + j])
    if not cancelled <= _CANCELLED:
        return _CANCELS
    low, high = extremes(apart, nodes.lines, work)
    width = (high - low) / 2 * nodes.between
    return _EXACT if cancelled * _lost(nodes, width) <= _MISSED else _WIDE


def _lost(nodes: Nodes, width: float) -> float:
    """Bound what sums of w, w w' times exp(h), abs(h) <= width, miss on nodes, over the largest summand.

    Nodes are exact for w w' h^p while its degree permits; what is left of the exponential is taken at its largest,
    on the frequencies and, times the sum of abs(L), on the nodes.
    """
    term = 1.0
    for p in range(nodes.order):
        term *= width / (p + 1)
    return (1 + nodes.lebesgue) * term * math.exp(min(2 * width, 700.0))


def _descend(shares: FloatArray, lines: Lines, largest: FloatArray, want: FloatArray, targets: FloatArray,
             log_scale: float, most: int, widest: float, enough: float, is_summed: bool, work: Scratch,
             small: FloatArray, a: FloatArray, state: FloatArray) -> bool:
    """Minimize from a; True where the last step was short. See `tilting.tilt`.

    Row 9 of `small` gets the sums at the end; with `is_summed` it has those at the start.

    Without a bound on the first steps, a start worse than none is dropped.
    """
    m = len(a)
    goal, gap, newton, other, step = small[0, :m], small[1, :m], small[2, :m], small[3, :m], small[4, :m]
    moved, here, there, scratch = small[5, :m], small[9], small[10], small[12]
    if not is_summed:
        all_sums(a, shares, lines, work, here)
    residual = _residual(here, want, targets, log_scale, goal)
    if enough == _DONE and widest == math.inf and not residual < _POOR and _size(a) > 0:
        for j in range(m):
            a[j] = 0.0
        all_sums(a, shares, lines, work, here)
        residual = _residual(here, want, targets, log_scale, goal)
    by_logarithm, radius, boost = True, _RADIUS, 1.0
    iterations, is_done = 0, residual <= 4 * _EPS
    while not is_done and iterations < most:
        uphill = _steps(here, want, targets, log_scale, goal, gap, newton, other, scratch)
        if not _size(newton) + _size(other) < math.inf:
            break
        longest = reach(newton, largest, _NEAR, shares, lines, work)
        is_far = longest > _NEAR
        if longest > widest:
            break
        if longest <= enough:  # a step of rounding: its sums need no exponentials
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
            length = reach(other, largest, radius, shares, lines, work)
            factor = min(1.0, radius / length) if length > 0 else 1.0
        else:
            factor = math.log1p(longest) / longest * boost if is_far else 1.0
        slope, linear = 0.0, 0.0
        for j in range(m):
            step[j] = (other[j] if by_logarithm else newton[j]) * factor
            moved[j] = a[j] + step[j]
            slope += (here[2 + j] * want[j] - goal[j]) * step[j]
            linear += goal[j] * step[j]
        all_sums(moved, shares, lines, work, there)
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
    return is_done


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
