"""Levels 4 and up of one ordinary sample, compiled: the narrow paths of `moment_path` in loops over the entries.

On a path all moments up to the k-th are known: those below are held, and the k-th is linear in s. So p_(k-1) and
D_(k-1) follow from these and the means of z^(k+1)..z^(2k-2) alone. Off the path this velocity differs from that of
`moment_path` by as little as the moments do: the solution is the same, and the pair of order 8 keeps its order. Nothing
is corrected on the way: the end is, by Newton's method as in `moment_path`. Points that leave these moments behind, as
those of heavy tails do, go on by the moments that they have.

*What is left to NumPy.* A row that is crowded, or whose path stalls, waits where it is until NumPy has followed that
path or says why not. One that does not settle to the residual of `moment_path`, or only beside its path, is begun anew.
Results agree with those of NumPy to the error of the steps, a few 1e-10. Long samples go by nodes (`nodes_kernel`), or
wait for bins.

*Tolerances.* The estimate of a step's error is larger than the error, ten times and more where steps are short. It is
held to 3e-11 of a standard deviation, and to GROWN over the growth that the first velocity promises, but not below the
FINE of `moment_path`; a path whose error has grown all the same is followed again.

*References.* numba counts the references of arrays in atomic instructions, but not in a function that has one end, to
which its arrays live, and calls no other. What a stage calls is of this kind: it halves the time of short samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.kernels.parallel import share_rows
from symdecouple.numeric.moments import hankel_kernel, nodes_kernel, skewness_kernel
from symdecouple.numeric.moments.hankel import NOISE, RESIDUAL, SETTLED
from symdecouple.numeric.moments.hankel_kernel import (
    BLOCK,
    as_powers,
    decompose,
    gap_of,
    largest_gap,
    means_to,
    polynomial,
)
from symdecouple.numeric.moments.moment_path import (
    ALLOWED,
    FALLING,
    FINE,
    FROM_ENTRIES,
    GROWN,
    REACH,
    REDONE,
    SHARP,
    SURELY,
)
from symdecouple.numeric.moments.nodes_kernel import (
    MOST_NODES,
    RESOLVED,
    add_series,
    more_nodes,
    place_nodes,
    series_of,
)
from symdecouple.numeric.paths.runge_kutta import FIFTH, NODES, STAGES, THIRD, WEIGHTS
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["KERNELS", "CompiledLevels", "Scratch", "follow_path", "move_rows", "settle_rows", "warm"]

KERNELS = Kernels(
    __name__,
    (
        *skewness_kernel.KERNELS.sources,
        "symdecouple.numeric.paths.runge_kutta",
        *(f"{__package__}.{name}" for name in ("hankel", "hankel_kernel", "moment_path", "nodes_kernel")),
        __name__,
    ),
    seconds=3e-6,
)

_FAR = 1e-3  # gap of an end from its moments beyond which Newton's method may fail
_DRIFT = 3e-9  # the same, beyond which Newton's method ends beside the path: by up to a tenth of it
_SWEEPS = 4  # of Newton's method: two do from a path's end, a third tells
_LOST, _ROUGH, _CROWDED, _STAYED, _GOES, _GOES_FAR = range(6)  # states of a sample at a level
_COARSE = 3e-11  # local error of a step where errors do not grow: in order 6 a tenth of it, or less
_SAFETY, _SHRINK, _GROW, _LAST = 0.9, 0.2, 8.0, 1.05  # of steps, as in `integrate`
_MOST_STEPS = 400  # the same
_LOOK = 4  # steps between looks whether points are leaving their moments behind
_LEFT = 1e-10  # gap of these moments, from which on the moments that the points have are used
_SMALLEST = 2.0**-30  # a shorter step is at a critical point
_BEYOND = 64  # entries between a row and what a loop over it writes: nearer, its sums are in the order of no vectors
_UNSURE = 0.25  # a step that meets a point without velocity is cut to this
_FEWEST_NODES = 32  # for a short path, for others twice as many, then what the series asks for
_SHORT = 0.1  # mean length of a short path, in standard deviations
_ENTRIES = 3  # a node, that make it worthwhile
_FEW = _ENTRIES * MOST_NODES  # entries for which a table is at hand; more of them ask for one where nodes do not do

_MOVED, _POWER, _HERE, _SHARE, _EXPANSION, _GROWN, _LINES = range(12, 19)  # lines of a table, behind the twelve slopes
_TERMS = 9  # as many slopes as the last stage has: so many are added up, those that do not matter with weight 0
_FIFTH, _THIRD = len(STAGES), len(STAGES) + 1  # rows of what a step may be off by; then comes the step itself
_SUMS = (*STAGES, FIFTH, THIRD, WEIGHTS)
_PLACES = np.array([[*row, *[0] * (_TERMS - len(row))] for row in _SUMS])
_WEIGHTS = np.array([[*row.values(), *[0.0] * (_TERMS - len(row))] for row in _SUMS])
_FAST = ("_combine", "_square", *hankel_kernel.FAST, *nodes_kernel.FAST)  # sums in any order


@cache
def _kernels() -> tuple[Callable[..., None], ...]:
    kernels: tuple[Callable[..., None], ...] = KERNELS.build(settle_rows, move_rows, fast=_FAST)
    return kernels


class CompiledLevels:
    """Samples z (R, N) at level 3, moved in place from level to level; `goal` is reference moments 0..order - 1.

    Written are moments (order + 1, R), as far as levels are reached, and logarithms (R,) of how much errors grew.
    """

    def __init__(self, z: FloatArray, goal: Sequence[float], moments: FloatArray, grown: FloatArray) -> None:
        self.z, self.goal, self.moments, self.grown = z, np.array(goal, dtype=np.float64), moments, grown
        self._state = np.full(len(z), _STAYED)

    def settle(self, which: IntArray, k: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Bring samples to level k - 1; which are there, and which of these by a path that keeps all digits."""
        share_rows(_kernels()[0], which, self.z, k, self.goal, self.moments, self._state)
        return self._state[which] > _LOST, self._state[which] > _ROUGH

    def move(self, which: IntArray, k: int) -> IntArray:
        """Move settled samples along the path of moment k; returns those that wait where they were, for NumPy."""
        goes, limit = which[self._state[which] > _STAYED], float(np.log(SURELY * ALLOWED.get()))
        if len(goes):
            share_rows(_kernels()[1], goes, self.z, k, self.goal, self.moments, self._state, self.grown, limit)
        waiting: IntArray = which[self._state[which] == _CROWDED]
        self._state[waiting] = _STAYED
        return waiting


def warm() -> None:
    """Compile and keep on the disk. Cost: several seconds, once; nothing where it is done."""
    if not skewness_kernel.KERNELS.are_warm():
        skewness_kernel.warm()
    z, goal = skewness_kernel.compiled_impose_skewness(np.arange(0.0, 6.0)[None] ** 2, 0.0).values, (1.0, 0, 1, 0, 3)
    levels, which = CompiledLevels(z, goal, np.empty((6, 1)), np.zeros(1)), np.arange(1)
    levels.settle(which, 4)
    levels.move(which, 4)
    KERNELS.note_warm()


# --- compiled from here on: one sample at a time ---


class Scratch(NamedTuple):
    """Memory: power means, norms, coefficients (3, some), the factor of the Hankel matrix, coefficients of series."""

    short: FloatArray
    lower: FloatArray
    series: FloatArray


def settle_rows(
    which: IntArray, z: FloatArray, k: int, goal: FloatArray, moments: FloatArray, state: IntArray
) -> None:
    """Bring samples to level k - 1 where the path to it has come near; write moment k, and how they go on."""
    scratch, share, moved = _scratch(len(goal)), np.full(z.shape[1], 1 / z.shape[1]), np.empty((1, BLOCK))
    power = np.empty(_BEYOND + BLOCK)[_BEYOND:]
    means, norm, c, lower = scratch.short[0], scratch.short[1], scratch.short[2], scratch.lower
    for r in which:
        row, gap, drift = z[r], 0.0, 0.0
        for sweep in range(_SWEEPS):
            means_to(row, share, min(k, 1), 2 * k - 2, power, means)  # no literal: numba would compile for each value
            gap = largest_gap(means, k - 1, goal) if state[r] != _STAYED else 0.0
            drift = drift if sweep else largest_gap(means, k - 2, goal)
            if gap <= SETTLED or not (gap < _FAR and decompose(means, k - 1, lower, norm)):
                break
            for i in range(k - 1):
                rest = 0.0 if gap_of(means, i + 1, goal) <= NOISE else (goal[i + 1] - means[i + 1]) / (i + 1)
                for j in range(i):
                    rest -= lower[i, j] * norm[j] * c[j]
                c[i] = rest / norm[i]
            as_powers(lower, k - 1, c)
            for begin in range(0, len(row), BLOCK):
                part = row[begin : begin + BLOCK]
                polynomial(part, c, k - 1, moved, 0)
                for i in range(len(part)):
                    part[i] += moved[0, i]
        state[r] = _LOST if not gap <= RESIDUAL else _STAYED if drift <= _DRIFT else _ROUGH
        if state[r] == _STAYED:
            moments[k, r] = means[k]
            if k < len(goal) and not largest_gap(means, k, goal) <= RESIDUAL:
                has_room = decompose(means, k, lower, norm)
                is_near = _SHORT * k * np.sqrt(norm[k - 1]) >= abs(goal[k] - means[k])
                state[r] = _CROWDED if not has_room else _GOES if is_near else _GOES_FAR


def move_rows(
    which: IntArray, z: FloatArray, k: int, goal: FloatArray, moments: FloatArray, state: IntArray, grown: FloatArray,
    limit: float,
) -> None:
    """Move samples of moment k along their paths, by nodes where these tell them; they stay where the path is lost.

    The logarithms of how much errors grew are added up; beyond `limit` no path is followed again.
    """
    n = z.shape[1]
    lines, share = np.empty((_LINES, min(n, _FEW))), np.full(n, 1 / n)
    nodes, scratch = np.empty((_LINES + 2, MOST_NODES)), _scratch(len(goal))
    c = scratch.series
    for r in which:
        row, first = z[r], moments[k, r]
        low = high = row[0]
        for i in range(n):
            low, high = min(low, row[i]), max(high, row[i])
        centre, half = (low + high) / 2, (high - low) / 2
        m, tail = _FEWEST_NODES if state[r] == _GOES else 2 * _FEWEST_NODES, np.inf
        while not tail <= RESOLVED:
            by_nodes = m <= min(MOST_NODES, n // _ENTRIES)
            table, values, shares = lines, row, share
            x = nodes[_LINES][: m if by_nodes else 0]
            if by_nodes:
                table, values, shares = nodes, nodes[_LINES + 1][:m], nodes[_SHARE][:m]
                place_nodes(row, share, centre, half, x, c, shares)
                for j in range(m):
                    values[j] = centre + half * x[j]
            elif n >= FROM_ENTRIES:  # bins are to tell
                log_growth = -1.0
                break
            elif n > lines.shape[1]:
                table = np.empty((_LINES, n))
            moved = table[_HERE]
            log_growth = follow_path(values, shares, k, goal, first, table, scratch, limit - grown[r])
            if not by_nodes:
                for i in range(n if log_growth >= 0 else 0):
                    row[i] = moved[i]
                break
            if log_growth < 0:
                m = n  # the entries are to tell
                continue
            for j in range(m):
                moved[j] -= values[j]
            tail = series_of(x, moved[:m], 0.0, 1.0, m, c)
            if tail <= RESOLVED:
                add_series(row, centre, half, c, m, row)
            m = more_nodes(m, tail)
        if log_growth >= 0:
            grown[r] += log_growth
        else:
            state[r] = _CROWDED


def _scratch(order: int) -> Scratch:
    return Scratch(np.empty((3, 2 * order + 6)), np.empty((order, order)), np.empty(MOST_NODES + 8))


def follow_path(
    begin: FloatArray, w: FloatArray, k: int, goal: FloatArray, first: float, lines: FloatArray, scratch: Scratch,
    limit: float,
) -> float:
    """Points with weights, of which moment k is `first`, along their path to a line of the table.

    Returns the logarithm of how much errors grew, as in `moment_path`, -1 where the path is lost. The limit
    is that of `move_rows`.
    """
    n, distance, most, is_known = len(begin), goal[k] - first, _COARSE, True
    y, moved, power = lines[_HERE][:n], lines[_MOVED][:n], lines[_POWER]
    expansion, grown = lines[_EXPANSION][:n], lines[_GROWN][:n]
    means, norm, c, lower = scratch.short[0], scratch.short[1], scratch.short[2], scratch.lower
    while True:
        for j in range(k):
            means[j] = goal[j]
        for i in range(n):
            y[i], grown[i] = begin[i], 0.0
        log_growth, s, h, rtol, left, stage, gap, began_known = 0.0, 0.0, 0.0, most, 1.0, 0, 0.0, is_known
        for step in range(_MOST_STEPS):
            error, five = np.inf, 0.0
            lowest = k // 2 + 1 if is_known else 1
            for i in range(stage, len(_PLACES)):
                if i == 0:
                    for q in range(n):
                        moved[q] = y[q]
                else:
                    if i == 1:
                        left = np.ceil((1 - s) / (_LAST * h))
                        if left < 4:  # the last steps are of equal length
                            h = (1 - s) / left
                    is_estimate = _FIFTH <= i <= _THIRD
                    _combine(0.0 if is_estimate else 1.0, y, lines, i, h, moved)
                if i < _FIFTH:
                    means_to(moved, w, lowest, 2 * k - 2, power, means)
                    if is_known:
                        means[k] = first + (s + NODES[i] * h) * distance
                    if not decompose(means, k, lower, norm):
                        if i == 0:
                            return -1.0
                        break
                    for j in range(k - 1):
                        c[j] = 0.0
                    c[k - 1] = distance / (k * norm[k - 1])
                    as_powers(lower, k, c)
                    polynomial(moved, c, k, lines, i)
                    if i == 0 or i == _FIFTH - 1:  # the last stage is at the end of the step
                        for j in range(1, k):
                            norm[j - 1] = j * c[j]
                        at_end = _POWER if i else _EXPANSION
                        polynomial(moved, norm, k - 1, lines, at_end)
                        if h == 0:
                            low = high = 0.0
                            for q in range(n):
                                low, high = min(low, expansion[q]), max(high, expansion[q])
                            rtol = min(most, max(GROWN * np.exp(-FALLING * high), FINE))
                            h = REACH * k * rtol**0.125 / max(-low, high)
                elif i <= _THIRD:
                    square = abs(_square(moved, w))  # weights of nodes may be negative
                    if i == _FIFTH:
                        five = square
                    else:
                        error = five / np.sqrt(five + 0.01 * square) / rtol if five > 0 else five
                        if not error <= 1:
                            break
            stage = 0 if error <= 1 else 1
            if error <= 1:
                end = 1.0 if left <= 1 else s + h
                half, s = (end - s) / 2, end
                for q in range(n):
                    y[q] = moved[q]
                    grown[q] = max(grown[q] + half * (expansion[q] + power[q]), 0.0)
                if step >= _LOOK and (s == 1 or step % _LOOK == 0):
                    means_to(y, w, min(k, 1), 2 * (k // 2), power, scratch.short[1])
                    gap = largest_gap(scratch.short[1], k - 1, goal)
                    is_known = is_known and gap <= _LEFT
                if s == 1:
                    break
            wanted = _SAFETY * max(error, 1e-30) ** -0.125 if error < np.inf else _UNSURE
            h *= min(max(wanted, _SHRINK), _GROW if error <= 1 else _SAFETY)
            if h < _SMALLEST:
                break
        if began_known and gap > _DRIFT:
            continue
        if s < 1:
            return -1.0
        for q in range(n):
            log_growth = max(log_growth, grown[q])
        if most == SHARP or log_growth > limit or rtol * np.exp(log_growth) <= REDONE * GROWN:
            return log_growth
        most = SHARP  # once more


def _combine(kept: float, y: FloatArray, lines: FloatArray, row: int, h: float, out: FloatArray) -> None:
    """Write kept y + h times the sum of weight times slope, of a row of the table of the pair."""
    p, a = _PLACES[row], _WEIGHTS[row]
    p0, p1, p2, p3, p4, p5, p6, p7, p8 = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]
    a0, a1, a2, a3, a4 = h * a[0], h * a[1], h * a[2], h * a[3], h * a[4]
    a5, a6, a7, a8 = h * a[5], h * a[6], h * a[7], h * a[8]
    for i in range(len(y)):
        out[i] = kept * y[i] + (
            a0 * lines[p0, i] + a1 * lines[p1, i] + a2 * lines[p2, i] + a3 * lines[p3, i] + a4 * lines[p4, i]
            + a5 * lines[p5, i] + a6 * lines[p6, i] + a7 * lines[p7, i] + a8 * lines[p8, i]
        )


def _square(v: FloatArray, w: FloatArray) -> float:
    total = 0.0
    for i in range(len(v)):
        total += w[i] * v[i] * v[i]
    return total


