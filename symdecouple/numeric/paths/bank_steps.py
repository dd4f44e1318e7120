"""Loops that `jit` compiles: what a step along the narrow path of a bank is made of, and how long the next one is.

The pairs are those of `runge_kutta.step_pairs`. What one step tells is the displacement at which its error would
be what is allowed, in standard deviations; `pace` is that of the heavy pair. Displacements are those of the entries
that move most, in the mean of order 8: powers bend where these are, and a level whose direction is spiked makes
shorter steps.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["FAST", "HEAVY", "Pairs", "are_off", "combine", "error_of", "is_at_rest", "length_of", "next_pace",
           "peak_of", "plan_of", "scaled", "spread_of"]

# Slopes, orders, points that a step asks for, and (pairs, s, s), (pairs, s), (pairs, s), (pairs, s): stages, weights,
# and two estimates.
Pairs: TypeAlias = tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray, FloatArray, FloatArray]

FAST = ("_add_slope", "length_of", "peak_of")  # sums in any order
HEAVY = 2
_EPS = 2.0**-52
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 8.0
_AGAIN = 0.8  # of a displacement that failed, the most of the next one
_DOUBLED = 2.0  # the most that a step far from its limit lets the pace grow
_SHARE = 0.9  # of the displacement that the heavy pair takes, what another takes at one radius of convergence
_OVER = 0.95  # of the pace, the longest step where no more is allowed than one step may
_FAR = 2.0**-90  # of a target, from where on there are legs
_BLOCK = 1024  # numbers of a sum of slopes


def plan_of(left: float, pace: float, allowed: float, rtol: float, orders: IntArray, costs: IntArray
            ) -> tuple[int, float]:
    """The pair of the next step, and the part of the displacement left that it takes, so that points are fewest.

    All steps are of one pair and one length; or heavy ones come first, and one of another pair is the last, all of
    them a little shorter than they may be. `allowed` is the error of a step, in units of that the pace belongs to.
    """
    best, part, least = HEAVY, 0.0, np.inf
    longest = _OVER * allowed ** (1.0 / orders[HEAVY]) * pace
    heavy = np.floor(left / longest)
    for pair in range(HEAVY, -1, -1):
        reach = longest * _share(orders[pair], rtol)
        steps = max(1.0, np.ceil(left / reach))
        if costs[pair] * steps < least:
            best, part, least = pair, 1.0 / steps, costs[pair] * steps
        points = costs[HEAVY] * heavy + costs[pair]
        if left <= heavy * longest + reach and points < least:
            best, part, least = HEAVY, longest / (heavy * longest + reach), points
    return best, part


def next_pace(pace: float, displacement: float, error: float, order: int, rtol: float) -> float:
    """The pace that a step tells; what it tells of much longer ones is believed by half."""
    most = _GROW if error <= 1.0 else _AGAIN
    factor = min(max(_SAFETY * max(error, 1e-30) ** (-1.0 / order), _SHRINK), most) if error < np.inf else _SHRINK
    suits: float = displacement * factor / _share(order, rtol)
    if factor < _GROW and suits <= pace:
        return suits
    grown: float = max(pace, (pace * suits) ** 0.5)
    return grown if factor < _GROW else min(grown, _DOUBLED * pace)


def _share(order: int, rtol: float) -> float:
    """Which part of the pace a pair takes: its order and 8 of one radius of convergence."""
    share: float = _SHARE * rtol ** (1.0 / order - 1 / 8) if order < 8 else 1.0
    return share


def scaled(direction: FloatArray, distance: float, length: float, n: int) -> float:
    """Make dy/ds of a direction along which the feature grows by `length`; return its root mean square, 0 if none."""
    pace = distance * n / length if length > 0.0 else np.inf
    if not abs(pace) < np.inf:
        return 0.0
    for m in range(len(direction)):
        direction[m] *= pace
    speed: float = abs(pace) / n**0.5
    return speed


def combine(slopes: FloatArray, weights: FloatArray, h: float, plane: FloatArray, out: FloatArray) -> None:
    """Write plane + h times the sum of weight times slope; without the plane where it is empty."""
    for begin in range(0, len(out), _BLOCK):
        here = out[begin : min(len(out), begin + _BLOCK)]
        for m in range(len(here)):
            here[m] = plane[begin + m] if len(plane) else 0.0
        for j in range(len(weights)):
            if weights[j] != 0.0:
                _add_slope(slopes[j, begin:], h * weights[j], here)


def _add_slope(slope: FloatArray, weight: float, out: FloatArray) -> None:
    for m in range(len(out)):
        out[m] += weight * slope[m]


def length_of(line: FloatArray) -> float:
    """The root of the sum of squares."""
    total = 0.0
    for m in range(len(line)):
        total += line[m] * line[m]
    length: float = total**0.5
    return length


def error_of(slopes: FloatArray, fifth: FloatArray, third: FloatArray, at: FloatArray) -> float:
    """Write the error for a step of 1; return its share that counts: a second estimate, where there is one, tempers."""
    combine(slopes, third, 1.0, at[:0], at)
    three = length_of(at)
    combine(slopes, fifth, 1.0, at[:0], at)
    five = length_of(at)
    share: float = five / (five * five + 0.01 * three * three) ** 0.5 if five > 0.0 else 1.0
    return share


def peak_of(line: FloatArray, unit: float, n: int) -> float:
    """The mean of order 8 of n numbers, of which the root mean square is `unit`."""
    total = 0.0
    for m in range(len(line)):
        square = (line[m] / unit) * (line[m] / unit)
        total += square * square * (square * square)
    peak: float = unit * (total / n) ** 0.125
    return peak


def is_at_rest(begin: float, goal: float, unit: float) -> bool:
    """Whether a feature is at its goal up to rounding, or so far from it that the level needs legs."""
    shrinks = begin * goal > 0.0 and abs(goal) < _FAR * abs(begin)
    is_far = shrinks or not _FAR * abs(goal) < unit or not _FAR * abs(begin) < unit
    return is_far or abs(goal - begin) <= 2 * _EPS * (abs(goal) + unit)


def are_off(goals: FloatArray, gaps: FloatArray, lengths: FloatArray, spread: float, n: int) -> float:
    """The largest gap, each of them times N, beside its value and what a standard deviation changes it by."""
    largest = 0.0
    for j in range(len(goals)):
        gap = abs(gaps[j]) / (n * abs(goals[j]) + n**0.5 * lengths[j] * spread)
        largest = max(largest, gap) if gap >= 0.0 else np.inf
    return largest


def spread_of(plane: FloatArray, width: int, wide: int) -> float:
    """The standard deviation of rows that end with zeros."""
    height, mean, total = len(plane) // wide, 0.0, 0.0
    for m in range(len(plane)):
        mean += plane[m]
    mean /= height * width
    for row in range(height):
        for m in range(row * wide, row * wide + width):
            total += (plane[m] - mean) * (plane[m] - mean)
    spread: float = (total / (height * width)) ** 0.5
    return spread
