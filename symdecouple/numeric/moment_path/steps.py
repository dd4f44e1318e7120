"""The narrow path of a sample in loops that `jit` compiles: steps of the pair of order 8, and the velocity they need.

The same path as `moment_path`, with a velocity that needs less of the sample. On the path all moments up to the k-th
are known: those below are held, and the k-th is linear in s. So D_(k-1) and p_(k-1) follow from these and from the
means of z^(k+1)..z^(2k-2) alone. Off the path the two velocities differ by as little as the moments do: the solution is
the same, and the pair keeps its order.

With h_j the j-th moment, g = h_3, and p_2 = z^2 - g z - 1 (h_1 = 0, h_2 = 1), for k = 4 and 5:

    D_2 = h_4 - g^2 - 1,              e = <z^3, p_2> = h_5 - g h_4 - g,       p_3 = z^3 - h_4 z - g - (e/D_2) p_2,
    D_3 = h_6 - h_4^2 - g^2 - e^2/D_2

and once more in the same manner for p_4. Beyond, the Hankel matrix of the means is decomposed, see `moment_path.loops`.

Each loop moves the sample to its next stage and sums there what the next velocity needs. Samples are filled up to a
multiple of 16 by entries of weight 0, so that no loop has a rest. Nothing is corrected on the way: the end is.

Tolerances. The estimate of a step's error is larger than the error, ten times and more where steps are short. It is
held to 5e-10 of a standard deviation, and to GROWN over the growth that the first velocity promises, but not below the
RTOL of `moment_path`; a path whose error has grown all the same is followed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.moment_path.loops import LOST, add_up_polynomials, decompose, means_to, polynomial, steepest
from symdecouple.numeric.moment_path.path import GROWN, RTOL, SHARP
from symdecouple.numeric.runge_kutta.dop853 import FIFTH, NODES as STAGE_NODES, STAGES, THIRD, WEIGHTS

__all__ = ["FAST", "follow_rows"]

_ENTRIES = 16
FAST = ("_move_few", "_move_many", "_finish")  # sums in any order
_EVERYDAY = 5  # up to this k the velocity is a formula
_MOST_STEPS = 400
_FEW, _MANY, _LAST = 6, 11, 12  # the last stage of at most four slopes, the last stage, the end of the step
_COARSE = 5e-10  # local error of a step where errors do not grow: in order 6 a tenth of it, or less
_FALLING = 0.7  # a path's growth to that of its first velocity: their logarithms
_REDONE = 4.0  # a grown error, in units of GROWN, with which a path is followed again; its estimate is large
_REACH = 1.35  # of a first step: that of steps that fit their tolerance is 1.5 to 1.8, measured on samples of many laws
_SLOPES_OF_MANY = (0, 3, 4, 5, 6, 7, 8, 9, 10)
_SLOPES_OF_LAST = (0, 5, 6, 7, 8, 9, 10, 11)


def _few(rows: Sequence[Mapping[int, float]]) -> tuple[IntArray, FloatArray]:
    """Places and weights of the slopes of each stage, four of them."""
    places, weights = np.zeros((len(rows), 4), dtype=np.intp), np.zeros((len(rows), 4))
    for i, row in enumerate(rows):
        places[i, : len(row)], weights[i, : len(row)] = list(row), list(row.values())
    return places, weights


def _along(slopes: Sequence[int], rows: Sequence[Mapping[int, float]]) -> FloatArray:
    return np.array([[row.get(j, 0.0) for j in slopes] for row in rows])


_NODES = np.append(STAGE_NODES, 1.0)
_PLACES_FEW, _WEIGHTS_FEW = _few(STAGES[: _FEW + 1])
_WEIGHTS_MANY = _along(_SLOPES_OF_MANY, STAGES)
_EIGHTH, _FIFTH, _THIRD = _along(_SLOPES_OF_LAST, [WEIGHTS, FIFTH, THIRD])


def follow_rows(
    which: Any, values: Any, weights: Any, k: int, goal: Any, first: Any, log_growth: Any
) -> None:
    """Rows from s = 0, where their k-th moment is `first`, to the end of their paths, in place.

    Weights are those of every row, or one row of them for all. `log_growth` becomes the logarithm of how much errors
    grew, -1 where a path is lost; its row is then as it was.
    """
    n, size = values.shape[1], max(k, 5)
    filled = _ENTRIES * ((n + _ENTRIES - 1) // _ENTRIES)
    slopes, short, lower = np.empty((16, filled)), np.empty((3, 4 * size)), np.empty((size, size))
    y, w, moved, power = slopes[12], slopes[13], slopes[14], slopes[15]
    means, norm, c = short[0], short[1], short[2]
    for r in which:
        row, share = values[r], weights[r if len(weights) > 1 else 0]
        most = _COARSE
        for _ in range(2):
            for i in range(filled):
                y[i] = row[i] if i < n else row[0]
                w[i] = share[i] if i < n else 0.0
                moved[i] = y[i]
                for j in range(12):
                    slopes[j, i] = 0.0
            distance, s, h, rtol, error, left = goal[k] - first[r], 0.0, 0.0, most, 0.0, 2.0
            stretch = grown = 0.0
            begin, end = 0, 1  # the velocity at the start; then the stages of a step, and its end
            for _ in range(_MOST_STEPS):
                good = False
                for i in range(begin, end):
                    if i > _MANY:
                        error = _finish(y, w, slopes, h, moved, means) / rtol
                    elif i > _FEW:
                        _move_many(y, w, slopes, i, h, moved, means)
                    elif i > 0:
                        _move_few(y, w, slopes, i, h, moved, means)
                    if i == 0 or k > _EVERYDAY:
                        means_to(moved, w, k, means, power)
                    now = first[r] + (s + _NODES[i] * h) * distance
                    good = _velocity(means, k, goal, now, distance, lower, norm, c)
                    if not good:
                        break
                    if i <= _MANY or (error <= 1 and left > 1):
                        polynomial(moved, c, k, slopes[i % _LAST])
                if good and error <= 1:
                    for i in range(filled):
                        y[i] = moved[i]
                    lowest, highest = steepest(y, c, k, moved)
                    grown += h * (stretch + max(highest, 0.0)) / 2
                    stretch = max(highest, 0.0)
                    if begin == 0:
                        rtol = min(most, max(GROWN * np.exp(-_FALLING * stretch), RTOL))
                        h = _REACH * k * np.sqrt(np.sqrt(np.sqrt(rtol))) / max(highest, -lowest)
                    else:
                        s = 1.0 if left <= 1 else s + h
                        h *= min(_wanted(error), 8.0)
                    if s == 1:
                        break
                elif good:
                    h *= min(max(_wanted(error), 0.2), 0.9)
                elif begin == 0:
                    break
                else:
                    h *= 0.25
                    for i in range(1, 12):
                        for j in range(filled):
                            slopes[i, j] = 0.0
                left = np.ceil((1 - s) / (1.05 * h))  # steps of equal length
                h = (1 - s) / left if left < 4 else h
                begin, end = 1, _LAST + 1
            log_growth[r] = grown if s == 1 else -1.0
            if not rtol * np.exp(log_growth[r]) > _REDONE * GROWN:
                break
            most = SHARP
        if log_growth[r] >= 0:
            for i in range(n):
                row[i] = y[i]


def _wanted(error: float) -> float:
    """By how much steps may be longer."""
    return float(0.9 / np.sqrt(np.sqrt(np.sqrt(max(error, 1e-30)))))


def _velocity(
    means: Any, k: int, goal: Any, now: float, distance: float, lower: Any, norm: Any, c: Any
) -> bool:
    """Coefficients of the velocity where the k-th moment is `now`; False where too many digits are lost."""
    if k > _EVERYDAY:
        if not decompose(means, k, lower, norm) > LOST:
            return False
        for j in range(k):
            c[j] = 0
        c[k - 1] = distance / (k * norm[k - 1])
        add_up_polynomials(lower, k, c)
        return True
    g, h6, h7, h8 = goal[3], means[6], means[7], means[8]
    h4, h5 = (now, means[5]) if k == 4 else (goal[4], now)
    d2 = h4 - g * g - 1
    e = h5 - g * h4 - g
    share = e / d2
    d3 = h6 - h4 * h4 - g * g - e * share
    c0, c1 = share - g, share * g - h4  # of p_3
    if not (d2 > LOST * h4 and d3 > LOST * h6):
        return False
    if k == 4:
        rate = distance / (4 * d3)
        c[0], c[1], c[2], c[3] = rate * c0, rate * c1, -rate * share, rate
        return True
    second = h6 - g * h5 - h4  # <z^4, p_2>
    third = h7 - h4 * h5 - g * h4 - share * second  # <z^4, p_3>
    b, q = second / d2, third / d3
    d4 = h8 - h4 * h4 - h5 * h5 - b * second - q * third
    if not d4 > LOST * h8:
        return False
    rate = distance / (5 * d4)
    c[0], c[1], c[2] = rate * (b - h4 - q * c0), rate * (b * g - h5 - q * c1), rate * (q * share - b)
    c[3], c[4] = -rate * q, rate
    return True


def _move_few(y: Any, w: Any, slopes: Any, row: int, h: float, out: Any, means: Any) -> None:
    """out = y + h sum of weight times slope, and its means."""
    places, weights = _PLACES_FEW[row], _WEIGHTS_FEW[row]
    a, b, c, d = h * weights[0], h * weights[1], h * weights[2], h * weights[3]
    p, q, t, u = slopes[places[0]], slopes[places[1]], slopes[places[2]], slopes[places[3]]
    h5 = h6 = h7 = h8 = 0.0
    for i in range(len(y)):
        x = y[i] + (a * p[i] + b * q[i] + c * t[i] + d * u[i])
        out[i] = x
        x2 = x * x
        x4 = x2 * x2
        v = w[i] * x4
        h5 += v * x
        h6 += v * x2
        h7 += v * (x2 * x)
        h8 += v * x4
    means[5], means[6], means[7], means[8] = h5, h6, h7, h8


def _move_many(y: Any, w: Any, slopes: Any, row: int, h: float, out: Any, means: Any) -> None:
    """The same for a later stage."""
    weights = _WEIGHTS_MANY[row]
    a0, a3, a4, a5, a6 = h * weights[0], h * weights[1], h * weights[2], h * weights[3], h * weights[4]
    a7, a8, a9, a10 = h * weights[5], h * weights[6], h * weights[7], h * weights[8]
    h5 = h6 = h7 = h8 = 0.0
    for i in range(len(y)):
        x = y[i] + (
            a0 * slopes[0, i] + a3 * slopes[3, i] + a4 * slopes[4, i] + a5 * slopes[5, i] + a6 * slopes[6, i]
            + a7 * slopes[7, i] + a8 * slopes[8, i] + a9 * slopes[9, i] + a10 * slopes[10, i]
        )
        out[i] = x
        x2 = x * x
        x4 = x2 * x2
        v = w[i] * x4
        h5 += v * x
        h6 += v * x2
        h7 += v * (x2 * x)
        h8 += v * x4
    means[5], means[6], means[7], means[8] = h5, h6, h7, h8


def _finish(y: Any, w: Any, slopes: Any, h: float, out: Any, means: Any) -> float:
    """The end of the step and its means; returns the root mean square of the estimated error."""
    eighth_of, fifth_of, third_of = _EIGHTH, _FIFTH, _THIRD  # read once: each look costs the compiler
    h5 = h6 = h7 = h8 = 0.0
    five = three = 0.0
    for i in range(len(y)):
        s0, s5, s6, s7 = slopes[0, i], slopes[5, i], slopes[6, i], slopes[7, i]
        s8, s9, s10, s11 = slopes[8, i], slopes[9, i], slopes[10, i], slopes[11, i]
        x = y[i] + h * (
            eighth_of[0] * s0 + eighth_of[1] * s5 + eighth_of[2] * s6 + eighth_of[3] * s7
            + eighth_of[4] * s8 + eighth_of[5] * s9 + eighth_of[6] * s10 + eighth_of[7] * s11
        )
        fifth = (
            fifth_of[0] * s0 + fifth_of[1] * s5 + fifth_of[2] * s6 + fifth_of[3] * s7
            + fifth_of[4] * s8 + fifth_of[5] * s9 + fifth_of[6] * s10 + fifth_of[7] * s11
        )
        third = (
            third_of[0] * s0 + third_of[1] * s5 + third_of[2] * s6 + third_of[3] * s7
            + third_of[4] * s8 + third_of[5] * s9 + third_of[6] * s10 + third_of[7] * s11
        )
        five += w[i] * fifth * fifth
        three += w[i] * third * third
        out[i] = x
        x2 = x * x
        x4 = x2 * x2
        v = w[i] * x4
        h5 += v * x
        h6 += v * x2
        h7 += v * (x2 * x)
        h8 += v * x4
    means[5], means[6], means[7], means[8] = h5, h6, h7, h8
    if five == 0:
        return 0.0
    five, three = abs(five), abs(three)  # weights of nodes may be negative
    return float(h * five / np.sqrt(five + 0.01 * three))
