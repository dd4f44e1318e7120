"""Loops that `jit` compiles: what a step along the narrow path of a bank is made of, and how long the next one is.

The pairs are those of `runge_kutta.step_pairs`. What one step tells is the displacement at which its error would
be what is allowed, in standard deviations; `pace` is that of the heavy pair.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from symdecouple.numeric.batch import FloatArray, IntArray

__all__ = ["FAST", "HEAVY", "LIGHT", "Pairs", "are_off", "combine", "error_of", "foreseen", "is_at_rest", "length_of",
           "next_pace", "pair_for", "scaled", "spread_of"]

# Slopes, orders, and (pairs, s, s), (pairs, s), (pairs, s), (pairs, s): stages, weights, and two estimates; what is
# asked before a step is made in full.
Pairs: TypeAlias = tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]

FAST = ("_add_slope", "length_of")  # sums in any order
LIGHT, HEAVY = 0, 1
_EPS = 2.0**-52
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 8.0
_SHARE = 0.8  # of the displacement that the heavy pair takes, what the light one takes at an error of 1
_FAR = 2.0**-90  # of a target, from where on there are legs
_BLOCK = 1024  # numbers of a sum of slopes


def pair_for(left: float, pace: float, rtol: float) -> int:
    """The pair for a displacement that is left: the light one where one step of it will do."""
    return LIGHT if left <= pace * _light(rtol) else HEAVY


def next_pace(pace: float, displacement: float, error: float, pair: int, order: int, rtol: float) -> float:
    """The pace that a step tells; one whose error is tiny tells only that more would do."""
    most = _GROW if error <= 1.0 else 0.5
    factor = min(max(_SAFETY * max(error, 1e-30) ** (-1.0 / order), _SHRINK), most) if error < np.inf else _SHRINK
    suits: float = displacement * factor / (_light(rtol) if pair == LIGHT else 1.0)
    return suits if factor < _GROW else max(pace, suits)


def _light(rtol: float) -> float:
    """Which part of the pace the light pair takes: orders 6 and 8 of one radius of convergence."""
    light: float = _SHARE * rtol ** (1 / 24)
    return light


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
    """The length of the error for a step of 1; the second estimate, where there is one, tempers the first."""
    combine(slopes, fifth, 1.0, at[:0], at)
    five = length_of(at)
    combine(slopes, third, 1.0, at[:0], at)
    three = length_of(at)
    error: float = five * five / (five * five + 0.01 * three * three) ** 0.5 if five > 0.0 else five
    return error


def foreseen(slopes: FloatArray, probe: FloatArray, at: FloatArray) -> float:
    """What the length of the error for a step of 1 grows with, from the first slopes, as in `runge_kutta`."""
    combine(slopes, probe, 1.0, at[:0], at)
    bent, largest = length_of(at), 0.0
    for i in range(len(probe)):
        if probe[i] != 0.0:
            largest = max(largest, length_of(slopes[i]))
    found: float = largest * (bent / largest) ** (7 / 3) if largest > 0.0 else largest
    return found


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
