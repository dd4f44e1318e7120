"""The narrow path of a sample in loops that `jit` compiles: steps of the pair of order 8, and the velocity they need.

The same path as `moment_path`, with a velocity that needs less of the sample. On the path all moments up to the k-th
are known: those below are held, and the k-th is linear in s. So D_(k-1) and p_(k-1) follow from these and from the
means of z^(k+1)..z^(2k-2) alone. Off the path the two velocities differ by as little as the moments do: the solution is
the same, and the pair keeps its order.

With h_j the j-th moment, g = h_3, and p_2 = z^2 - g z - 1 (h_1 = 0, h_2 = 1), for k = 4 and 5:

    D_2 = h_4 - g^2 - 1,              e = <z^3, p_2> = h_5 - g h_4 - g,       p_3 = z^3 - h_4 z - g - (e/D_2) p_2,
    D_3 = h_6 - h_4^2 - g^2 - e^2/D_2

and once more in the same manner for p_4. Beyond, the Hankel matrix of the means is decomposed, see `moment_path.loops`.

What a row waits for, sums and their quotients, the next row need not wait for: some rows go side by side, in lanes,
stage by stage, and their velocities are computed together. A lane takes the next row as soon as its own has arrived.
Rows never meet. Stages are those of `moves`. Nothing is corrected on the way: the end is.

Tolerances. The estimate of a step's error is larger than the error, ten times and more where steps are short. It is
held to 5e-10 of a standard deviation, and to GROWN over the growth that the first velocity promises, but not below the
RTOL of `moment_path`; a path whose error has grown all the same is followed again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symdecouple.numeric.moments.moment_path import GROWN, RTOL, SHARP
from symdecouple.numeric.moments.moves import (
    AHEAD,
    FAST,
    LAST,
    MOVED,
    NODES,
    POWER,
    ROWS,
    W,
    Y,
    finish,
    means_5_6,
    means_6_8,
    move_on,
)
from symdecouple.numeric.moments.path_loops import (
    LOST,
    add_up_polynomials,
    decompose,
    derivative,
    largest,
    means_to,
    polynomial,
    quartic,
)

__all__ = ["FAST", "follow_rows"]

_ENTRIES = 16
_EVERYDAY = 5  # up to this k the velocity is a formula
_MOST_STEPS = 400
_COARSE = 5e-10  # local error of a step where errors do not grow: in order 6 a tenth of it, or less
_FALLING = 0.7  # a path's growth to that of its first velocity: their logarithms
_REDONE = 4.0  # a grown error, in units of GROWN, with which a path is followed again; its estimate is large
_REACH = 1.35  # of a first step: that of steps that fit their tolerance is 1.5 to 1.8, measured on samples of many laws
_LANES = 8  # rows whose steps go side by side, at most
_TOGETHER = 2**8  # entries of these: their slopes stay in the first cache
_ROUNDED = 8  # numbers of lanes side by side, of which a vector is computed, busy or not
_N_FIELDS = 21
(
    _FIRST, _DISTANCE, _S, _H, _LEFT, _RTOL, _MOST, _ERROR, _IS_GOOD, _STRETCH, _GROWN, _TRIED,
    _H5, _H6, _H7, _H8, _C0, _C1, _C2, _C3, _C4,
) = range(0, _N_FIELDS * _ROUNDED, _ROUNDED)  # where they begin


def follow_rows(
    which: Any, values: Any, weights: Any, k: int, goal: Any, first: Any, log_growth: Any
) -> None:
    """Rows from s = 0, where their k-th moment is `first`, to the end of their paths, in place.

    Weights are those of every row, or one row of them for all. `log_growth` becomes the logarithm of how much errors
    grew, -1 where a path is lost; its row is then as it was.
    """
    n, size = values.shape[1], max(k, 5)
    filled = _ENTRIES * ((n + _ENTRIES - 1) // _ENTRIES)
    n_lanes = min(max(_TOGETHER // filled, 1), _LANES)
    table, short, lower = np.empty((ROWS, n_lanes, filled)), np.empty((n_lanes, 3, 4 * size)), np.empty((size, size))
    state, rows, busy = np.empty(_N_FIELDS * _ROUNDED), np.empty(n_lanes, np.intp), np.empty(n_lanes, np.intp)
    state[:] = 1.0
    table[:] = 0.0
    flat = table.reshape(ROWS, -1)
    _follow(which, values, weights, k, goal, first, log_growth, table, flat, short, lower, state, rows, busy)


def _follow(
    which: Any, values: Any, weights: Any, k: int, goal: Any, first: Any, log_growth: Any,
    table: Any, flat: Any, short: Any, lower: Any, state: Any, rows: Any, busy: Any,
) -> None:
    n, n_lanes, n_begun = values.shape[1], len(rows), 0
    for lane in range(n_lanes):
        rows[lane] = -1
    while True:
        n_busy = 0
        for lane in range(n_lanes):
            while rows[lane] < 0:
                most = _COARSE
                if rows[lane] < -1:
                    r, most = -2 - rows[lane], SHARP
                elif n_begun < len(which):
                    r = which[n_begun]
                    n_begun += 1
                else:
                    break
                rows[lane] = -1
                state[_FIRST + lane] = first[r]
                share = weights[r if len(weights) > 1 else 0]
                log_growth[r] = -1.0
                if _begin(values[r], share, k, goal, most, table, short[lane], lower, state, lane):
                    rows[lane] = r
            if rows[lane] >= 0:
                busy[n_busy] = lane
                n_busy += 1
        if n_busy == 0:
            break
        _step(busy, n_busy, k, goal, table, flat, short, lower, state)
        for q in range(n_busy):
            lane = busy[q]
            r, there = rows[lane], table[Y, lane]
            if _goes_on(k, table, short[lane, 2], state, lane):
                continue
            rows[lane] = -1
            if state[_S + lane] < 1:
                _forget(table, lane, 0)
                continue
            grown, rtol = state[_GROWN + lane], state[_RTOL + lane]
            if state[_MOST + lane] > SHARP and rtol * np.exp(grown) > _REDONE * GROWN:
                rows[lane] = -2 - r  # once more
                continue
            log_growth[r] = grown
            for i in range(n):
                values[r, i] = there[i]


def _begin(
    row: Any, share: Any, k: int, goal: Any, most: float, table: Any, short: Any, lower: Any, state: Any, lane: int
) -> bool:
    """Place a row in a lane, with its first slope and the step that this suggests; False where it has none."""
    n, y, w, means, c = len(row), table[Y, lane], table[W, lane], short[0], short[2]
    for i in range(n):
        y[i] = row[i]
        w[i] = share[i]
    for i in range(n, len(y)):
        y[i] = row[0]
        w[i] = 0.0
    first = state[_FIRST + lane]
    state[_DISTANCE + lane] = distance = goal[k] - first
    state[_S + lane] = 0.0
    state[_MOST + lane] = most
    state[_GROWN + lane] = 0.0
    state[_TRIED + lane] = 1.0
    state[_C4 + lane] = 0.0
    if k == 4:
        means[5], means[6] = means_5_6(y, w)
    elif k == 5:
        means[6], means[7], means[8] = means_6_8(y, w)
    else:
        means_to(y, w, k, means, table[POWER, lane])
    if not _velocity(means, k, goal, first, distance, lower, short[1], c):
        return False
    derivative(y, c, k, table[MOVED, lane])
    for i in range(len(y)):
        table[POWER, lane, i] = abs(table[MOVED, lane, i])
    steepest = largest(table[POWER, lane])
    state[_STRETCH + lane] = stretch = max(largest(table[MOVED, lane]), 0.0)
    state[_RTOL + lane] = rtol = min(most, max(GROWN * np.exp(-_FALLING * stretch), RTOL))
    state[_H + lane] = _REACH * k * np.sqrt(np.sqrt(np.sqrt(rtol))) / steepest
    _divide(state, lane)
    for j in range(k):
        c[j] *= state[_H + lane]
    polynomial(y, c, k, table[0, lane])
    return True


def _forget(table: Any, lane: int, begin: int) -> None:
    """Slopes of a step before: those that are no numbers would stay so at a weight of 0."""
    for j in range(begin, 12):
        for i in range(table.shape[2]):
            table[j, lane, i] = 0.0


def _divide(state: Any, lane: int) -> None:
    """The last steps are of equal length."""
    rest = 1 - state[_S + lane]
    left = np.ceil(rest / (1.05 * state[_H + lane]))
    if left < 4:
        state[_H + lane] = rest / left
    state[_LEFT + lane] = left


def _step(
    busy: Any, n_busy: int, k: int, goal: Any, table: Any, flat: Any, short: Any, lower: Any, state: Any
) -> None:
    """One step of each lane, stage by stage: what one of them has to wait for, the next one need not."""
    width = flat.shape[1]
    for q in range(n_busy):
        state[_IS_GOOD + busy[q]] = 1.0
    for i in range(1, LAST + 1):
        if i < LAST:
            for begin in range(0, width, _TOGETHER):
                move_on(flat, i, begin, min(begin + _TOGETHER, width))
        for q in range(n_busy):
            lane = busy[q]
            if i == LAST:
                state[_ERROR + lane] = finish(table, lane) / state[_RTOL + lane]
            moved, w = table[MOVED, lane], table[W, lane]
            if k == 4:
                state[_H5 + lane], state[_H6 + lane] = means_5_6(moved, w)
            elif k == 5:
                state[_H6 + lane], state[_H7 + lane], state[_H8 + lane] = means_6_8(moved, w)
        if k == 4:
            _velocities_4(state, NODES[i], goal[3])
        elif k == 5:
            _velocities_5(state, NODES[i], goal[3], goal[4])
        for q in range(n_busy):
            lane = busy[q]
            moved, slope = table[MOVED, lane], table[i if i < LAST else AHEAD, lane]
            if k <= _EVERYDAY:
                c0, c1, c2 = state[_C0 + lane], state[_C1 + lane], state[_C2 + lane]
                quartic(moved, c0, c1, c2, state[_C3 + lane], state[_C4 + lane], slope)
            else:
                means, norm, c = short[lane, 0], short[lane, 1], short[lane, 2]
                means_to(moved, table[W, lane], k, means, table[POWER, lane])
                if not _decomposed(means, k, state[_DISTANCE + lane] * state[_H + lane], lower, norm, c):
                    state[_IS_GOOD + lane] = 0.0
                polynomial(moved, c, k, slope)


def _velocities_4(state: Any, node: float, h3: float) -> None:
    """All lanes, busy or not: their number is that of a vector."""
    for lane in range(len(state) // _N_FIELDS):
        distance = state[_DISTANCE + lane]
        h4 = state[_FIRST + lane] + (state[_S + lane] + node * state[_H + lane]) * distance
        is_good, c0, c1, c2, c3 = _third(h3, h4, state[_H5 + lane], state[_H6 + lane], distance * state[_H + lane])
        state[_C0 + lane] = c0
        state[_C1 + lane] = c1
        state[_C2 + lane] = c2
        state[_C3 + lane] = c3
        state[_IS_GOOD + lane] *= 1.0 if is_good else 0.0


def _velocities_5(state: Any, node: float, h3: float, h4: float) -> None:
    for lane in range(len(state) // _N_FIELDS):
        distance = state[_DISTANCE + lane]
        h5 = state[_FIRST + lane] + (state[_S + lane] + node * state[_H + lane]) * distance
        h6, h7, h8 = state[_H6 + lane], state[_H7 + lane], state[_H8 + lane]
        is_good, c0, c1, c2, c3, c4 = _fourth(h3, h4, h5, h6, h7, h8, distance * state[_H + lane])
        state[_C0 + lane] = c0
        state[_C1 + lane] = c1
        state[_C2 + lane] = c2
        state[_C3 + lane] = c3
        state[_C4 + lane] = c4
        state[_IS_GOOD + lane] *= 1.0 if is_good else 0.0


def _goes_on(k: int, table: Any, c: Any, state: Any, lane: int) -> bool:
    """Judge a step, and prepare the next one; False where none is to come, at s = 1 because it is done."""
    y, moved, slope = table[Y, lane], table[MOVED, lane], table[0, lane]
    error, h = state[_ERROR + lane], state[_H + lane]
    if not state[_IS_GOOD + lane] > 0:
        state[_H + lane] = 0.25 * h
        _forget(table, lane, 1)
    elif error <= 1:
        for i in range(len(y)):
            y[i] = moved[i]
        if k <= _EVERYDAY:
            for j in range(5):
                c[j] = state[_C0 + j * _ROUNDED + lane]
        derivative(y, c, k, moved)
        stretch = max(largest(moved), 0.0) / h
        state[_GROWN + lane] += h * (state[_STRETCH + lane] + stretch) / 2
        state[_STRETCH + lane] = stretch
        state[_S + lane] = 1.0 if state[_LEFT + lane] <= 1 else state[_S + lane] + h
        if state[_S + lane] == 1:
            return False
        state[_H + lane] = h * min(_wanted(error), 8.0)
        slope = table[AHEAD, lane]
    else:
        state[_H + lane] = h * min(max(_wanted(error), 0.2), 0.9)
    _divide(state, lane)
    ratio, ahead = state[_H + lane] / h, table[0, lane]
    for i in range(len(y)):
        ahead[i] = ratio * slope[i]
    state[_TRIED + lane] += 1
    return bool(state[_TRIED + lane] < _MOST_STEPS)


def _wanted(error: float) -> float:
    """By how much steps may be longer."""
    return float(0.9 / np.sqrt(np.sqrt(np.sqrt(max(error, 1e-30)))))


def _velocity(
    means: Any, k: int, goal: Any, now: float, distance: float, lower: Any, norm: Any, c: Any
) -> bool:
    """Coefficients of the velocity where the k-th moment is `now`; False where too many digits are lost."""
    if k > _EVERYDAY:
        return _decomposed(means, k, distance, lower, norm, c)
    if k == 4:
        is_good, c[0], c[1], c[2], c[3] = _third(goal[3], now, means[5], means[6], distance)
    else:
        is_good, c[0], c[1], c[2], c[3], c[4] = _fourth(goal[3], goal[4], now, means[6], means[7], means[8], distance)
    return bool(is_good)


def _decomposed(means: Any, k: int, distance: float, lower: Any, norm: Any, c: Any) -> bool:
    if not decompose(means, k, lower, norm) > LOST:
        return False
    for j in range(k):
        c[j] = 0
    c[k - 1] = distance / (k * norm[k - 1])
    add_up_polynomials(lower, k, c)
    return True


def _third(h3: float, h4: float, h5: float, h6: float, distance: float) -> Any:
    """distance p_3/(4 D_3), and whether enough digits are left."""
    d2 = h4 - h3 * h3 - 1
    e = h5 - h3 * h4 - h3
    share = e / d2
    d3 = h6 - h4 * h4 - h3 * h3 - e * share
    rate = distance / (4 * d3)
    is_good = (d2 > LOST * h4) & (d3 > LOST * h6)
    return is_good, rate * (share - h3), rate * (share * h3 - h4), -rate * share, rate


def _fourth(h3: float, h4: float, h5: float, h6: float, h7: float, h8: float, distance: float) -> Any:
    """distance p_4/(5 D_4), and whether enough digits are left."""
    d2 = h4 - h3 * h3 - 1
    e = h5 - h3 * h4 - h3
    share = e / d2
    d3 = h6 - h4 * h4 - h3 * h3 - e * share
    second = h6 - h3 * h5 - h4  # <z^4, p_2>
    third = h7 - h4 * h5 - h3 * h4 - share * second  # <z^4, p_3>
    b, q = second / d2, third / d3
    d4 = h8 - h4 * h4 - h5 * h5 - b * second - q * third
    rate = distance / (5 * d4)
    c0, c1 = rate * (b - h4 - q * (share - h3)), rate * (b * h3 - h5 - q * (share * h3 - h4))
    is_good = (d2 > LOST * h4) & (d3 > LOST * h6) & (d4 > LOST * h8)
    return is_good, c0, c1, rate * (q * share - b), -rate * q, rate
