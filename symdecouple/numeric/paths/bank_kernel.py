"""The one function of a bank that is compiled: means, fields, projections, and levels of the narrow path.

Level k goes along dy/ds = (v - f_k(y_0)) g_k/<g_k, v_k>, as in `narrow_path`. The fields at the end of a step correct
it, and give the first slope of the next one, where the correction is no longer than what is allowed. At the end of the
level the same fields correct until the features are at their goals.

The error of a step counts by the sample it leaves, or by the values of the features to come where only these are asked
for: what corrections cannot take away of it is filtered, and each of these features changes by its mean product with
the derivative. Samples may be off by much more than values are, and most of all in the last levels. What a step leaves
of the error it may have, later ones of its level may have: the sum is the same, and fewer steps are made twice.

All answers share one loop, which calls each of the others at one place: a function costs a second to compile for every
one that it is called from, and what these call costs it again.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.paths import bank_loops, bank_steps, gram_loops
from symdecouple.numeric.paths.bank_loops import Bank, fields_of, largest_change, means_of, outputs_of, placed, wide_of
from symdecouple.numeric.paths.bank_room import Room
from symdecouple.numeric.paths.bank_steps import (
    HEAVY,
    Pairs,
    are_off,
    combine,
    error_of,
    is_at_rest,
    length_of,
    next_pace,
    peak_of,
    plan_of,
    scaled,
    spread_of,
)
from symdecouple.numeric.paths.gram_loops import across, combined, factored, products_with
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["DIRECTION", "FAST", "FIELDS", "MEANS", "MOVE", "WALK", "answer"]

MEANS, FIELDS, DIRECTION, MOVE, WALK = 0, 1, 2, 3, 4
FAST = (*bank_loops.FAST, *bank_steps.FAST, *gram_loops.FAST)

_AT_START, _ON_THE_WAY, _ARRIVED, _AT_END, _JUDGED, _WEIGHED = range(6)
_EPS = 2.0**-52
_DONE = 8 * _EPS  # of a value and its change by a standard deviation
_MOST_CORRECTIONS = 10
_SMALLEST = 2.0**-40  # of the way that is done
_STRICTER = 2.0  # with light pairs: their estimates are nearer to their errors than that of the heavy one
_NEAR = 1e-5  # of a standard deviation, the largest error of a sample of which values alone are asked
_MOST_ALLOWED = 4.0  # times the error of a step, what one may have of what those before it left
_SHORT = 4.0  # of the tolerance, the longest correction after which the slope before it will do, there


def answer(what: int, signal: FloatArray, width: int, bank: Bank, pairs: Pairs, goals: FloatArray, sure: float,
           clear: float, told: FloatArray, out: FloatArray, room: Room) -> float:
    """Write an answer for a signal of N numbers and its first k features; return 0 where it is not sure.

    MEANS (1, k) and FIELDS (k, N) tell nothing. DIRECTION (1, N) is the part of the last field across the others, at
    length 1; its length is returned. MOVE (1, N) is the shortest one that brings the means to the goals, to first
    order. Both tell the lengths of the fields. WALK (1, N) is the end of the level of the last feature, of a signal
    whose other features are at their goals. It is told the tolerance, the spread of the sample, the pace, the most
    steps, the root mean square of the sample, and how far the features to come may be off, 0 where the sample matters;
    it tells the pace, the steps, the largest gap, the last mean, and that of the feature to come, where there is one.
    """
    counts, orders, costs, stages, weights, fifth, third = pairs
    outputs, others, scratch, fields, slopes, planes, factor, vectors, sums = room
    wide, k, last = wide_of(width, bank), len(goals), len(goals) - 1
    height, is_walk = len(signal) // width, what == WALK
    n, size = height * width, height * wide
    lengths, shares, gaps = vectors[0], vectors[1], vectors[2]
    y, at, move = planes[0], planes[1], planes[2]
    placed(signal, width, width, wide, y)
    here, found, length = y, planes[:1], 1.0
    place = _ARRIVED if what in (MEANS, MOVE) or is_walk else _AT_START
    rtol, spread, pace = told[0], told[min(1, len(told) - 1)], told[min(2, len(told) - 1)]
    within = told[5] if is_walk else 0.0
    near, short = (_NEAR, _SHORT) if within > 0.0 else (rtol, 1.0)
    if is_walk and last:  # a higher power bends more
        pace *= (bank[4][last - 1] / bank[4][last]) ** 2
    is_begun, is_known, pair, i, steps, s, h, end = False, False, HEAVY, 0, 0, 0.0, 0.0, 0.0
    begin, distance, speed, before, corrections, error, share, allowed = 0.0, 0.0, 0.0, np.inf, 0, -1.0, 0.0, 1.0
    while True:
        if not is_known:
            outputs_of(here, width, bank, scratch, others if place == _WEIGHED else outputs)
        if _ARRIVED <= place <= _AT_END:
            means_of(outputs, width, bank, sums, scratch[0], gaps[:k])
            if what == MEANS:
                for j in range(k):
                    out[0, j] = gaps[j]
                return 1.0
            if is_walk and not is_begun:
                begin, place = gaps[last], _AT_START
                distance = goals[last] - begin
            for j in range(k):
                gaps[j] = n * (goals[j] - gaps[j])
            if place == _ARRIVED and end < 1.0:  # on the way
                gaps[last] -= n * (1.0 - end) * distance
        if place == _WEIGHED:
            change = largest_change(outputs, others, width, bank, gaps[:k], sums)
            error = max(error, share * change / within)
        elif place == _AT_END:
            gap = are_off(goals, gaps, lengths, spread, n)
            if not gap < before:  # the last one did not help
                for m in range(size):
                    y[m] -= move[m]
                break
            told[4], told[5] = gap, goals[last] - gaps[last] / n
            if k < len(bank[3]):
                told[6] = bank[5][k] * sums[bank[3][k], bank[4][k]] / n
            if gap <= _DONE or not gap < before / 8 or corrections == _MOST_CORRECTIONS:
                break
            before, corrections = gap, corrections + 1
        elif not is_known:
            fields_of(outputs, width, bank, scratch, fields)
            if what == FIELDS:
                found = fields
                break
            if not factored(fields, sure, factor, lengths):
                return 0.0
        is_known = False
        if _ARRIVED <= place <= _JUDGED:
            combined(fields, gaps, factor, lengths, shares, move)
        if place <= _ARRIVED and what != MOVE and end < 1.0:
            length = across(fields, sure, clear, factor, lengths, shares, slopes[i])
        if not is_walk:
            for j in range(k):
                told[j] = lengths[j]
            found = planes[2:] if what == MOVE else slopes
            break
        here = at
        if place == _JUDGED:  # a correction will take this part of the error away
            for m in range(size):
                at[m] -= move[m]
            place = _WEIGHED
            continue
        if place != _WEIGHED:
            error = -1.0  # of a step that is not made yet
        if _ARRIVED <= place <= _AT_END:
            for m in range(size):
                at[m] += move[m]
                y[m] = at[m]
            if end == 1.0:
                if place == _ARRIVED:
                    spread = spread_of(y, width, wide)
                place = _AT_END
                continue
            s = end
            if length_of(move) > short * rtol * spread * n**0.5:
                place = _AT_START
                continue
        if place == _WEIGHED:
            place = _ON_THE_WAY
        elif place != _ON_THE_WAY:
            speed = scaled(slopes[0], distance, length, n)
            if not speed > 0.0 or (not is_begun and is_at_rest(begin, goals[last], lengths[last] / n**0.5 * told[4])):
                return 0.0
            speed = peak_of(slopes[0], speed, n) / spread
            is_begun, told[4] = True, np.inf  # no longer the size of the sample: how far it is from its goals
        elif not scaled(slopes[i], distance, length, n) > 0.0:
            error = np.inf
        elif i == counts[pair] - 1:
            share = h * error_of(slopes, fifth[pair], third[pair], at)
            share *= 1.0 if pair == HEAVY or within > 0.0 else _STRICTER
            error = share * length_of(at) / (near * spread * n**0.5)
            if within > 0.0 and error <= allowed:
                products_with(fields, at, gaps)
                place, is_known = _JUDGED, True
                continue
        if not error < 0.0:
            pace = next_pace(pace, h * speed, error, orders[pair], rtol)
        if 0.0 <= error <= allowed:
            allowed = min(allowed + 1.0 - error, _MOST_ALLOWED) if within > 0.0 else 1.0
            place, i, is_known = _ARRIVED, 0, costs[pair] < counts[pair]  # the last slope is that at the end
            end = 1.0 if h == 1.0 - s else s + h
            combine(slopes, weights[pair], h, y, at)
            continue
        if place != _ON_THE_WAY or not error < 0.0:  # a step begins
            steps, i, place, left = steps + 1, 0, _ON_THE_WAY, (1.0 - s) * speed
            pair, part = plan_of(left, pace, allowed, rtol, orders, costs)
            h = (1.0 - s) * part
            if steps > told[3] or not h > _SMALLEST * (s + _SMALLEST):
                return 0.0
        i += 1
        combine(slopes, stages[pair, i], h, y, at)
    for j in range(len(out)):
        placed(found[j], width, wide, width, out[j])
    if is_walk:
        told[2], told[3] = pace, steps
        length = 1.0 if told[4] <= _EPS**0.5 else 0.0
    return length
