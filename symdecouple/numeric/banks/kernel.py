"""The one function of a bank that is compiled: means, fields, projections, and levels of the narrow path.

Level k goes along dy/ds = (v - f_k(y_0)) g_k/<g_k, v_k>, as in `narrow_path`. The fields at the end of a step correct
it, and give the first slope of the next one, where the correction is no longer than what is allowed. At the end of the
level the same fields correct until the features are at their goals.

All answers share one loop, which calls each of the others at one place: a function costs a second to compile for every
one that it is called from, and what these call costs it again.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.banks import loops as bank_loops, path_loops as bank_path_loops
from symdecouple.numeric.banks.loops import Bank, columns_of_sums, fields_of, means_of, outputs_of, placed, wide_of
from symdecouple.numeric.banks.path_loops import (
    HEAVY,
    Pairs,
    are_off,
    combine,
    error_of,
    foreseen,
    is_at_rest,
    length_of,
    next_pace,
    pair_for,
    scaled,
    spread_of,
)
from symdecouple.numeric.batch import FloatArray
from symdecouple.numeric.projection import gram_loops
from symdecouple.numeric.projection.gram_loops import across, combined, factored

__all__ = ["DIRECTION", "FAST", "FIELDS", "MEANS", "MOVE", "WALK", "answer"]

MEANS, FIELDS, DIRECTION, MOVE, WALK = 0, 1, 2, 3, 4
FAST = (*bank_loops.FAST, *bank_path_loops.FAST, *gram_loops.FAST)

_AT_START, _ON_THE_WAY, _ARRIVED, _AT_END = range(4)
_EPS = 2.0**-52
_DONE = 8 * _EPS  # of a value and its change by a standard deviation
_MOST_CORRECTIONS = 10
_LAST = 1.05  # a step that would leave less than this factor goes to the end
_SMALLEST = 2.0**-40  # of the way that is done
_STRICTER = 2.0  # with the light pair: its estimate is nearer to its error than that of the heavy one
_PROBED, _FORESEEN, _MOST_FORESEEN, _HOPELESS = 7, 1.2e-4, 1e-3, 1.5  # as in `runge_kutta`


def answer(what: int, signal: FloatArray, width: int, bank: Bank, pairs: Pairs, goals: FloatArray, sure: float,
           clear: float, told: FloatArray, out: FloatArray) -> float:
    """Write an answer for a signal of N numbers and its first k features; return 0 where it is not sure.

    MEANS (1, k) and FIELDS (k, N) tell nothing. DIRECTION (1, N) is the part of the last field across the others, at
    length 1; its length is returned. MOVE (1, N) is the shortest one that brings the means to the goals, to first
    order. Both tell the lengths of the fields. WALK (1, N) is the end of the level of the last feature, of a signal
    whose other features are at their goals. It is told the tolerance, the spread of the sample, the pace, the most
    steps, and the root mean square of the sample; it tells the pace, the steps, the largest gap, and the last mean.
    """
    counts, orders, stages, weights, fifth, third, probe = pairs
    wide, k, last = wide_of(width, bank), len(goals), len(goals) - 1
    height, many, is_walk = len(signal) // width, -4 * (-k // 4), what == WALK
    n, size = height * width, height * wide
    outputs, scratch = np.empty((len(bank[2]), size)), np.empty((2, max(size, wide * bank[1][0].shape[1])))
    fields, slopes = np.empty((k, size)), np.empty((len(probe) if is_walk else 1, size))
    factor, lengths, shares, gaps = np.empty((many, many)), np.empty(many), np.empty(many), np.empty(many)
    sums = np.empty((len(outputs), columns_of_sums(bank[4])))
    planes = np.empty((3, size))
    y, at, move = planes[0], planes[1], planes[2]
    placed(signal, width, width, wide, y)
    here, found, length = y, planes[:1], 1.0
    place = _ARRIVED if what in (MEANS, MOVE) or is_walk else _AT_START
    rtol, spread, pace = told[0], told[min(1, len(told) - 1)], told[min(2, len(told) - 1)]
    is_begun, pair, i, steps, failed, expected, raw = False, HEAVY, 0, 0, 0, _FORESEEN, 0.0
    s, h, end, begin, distance, speed, before, corrections = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, np.inf, 0
    while True:
        outputs_of(here, width, bank, scratch, outputs)
        if place >= _ARRIVED:
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
        if place == _AT_END:
            gap = are_off(goals, gaps, lengths, spread, n)
            if not gap < before:  # the last one did not help
                for m in range(size):
                    y[m] -= move[m]
                break
            told[4], told[5] = gap, goals[last] - gaps[last] / n
            if gap <= _DONE or not gap < before / 8 or corrections == _MOST_CORRECTIONS:
                break
            before, corrections = gap, corrections + 1
        else:
            fields_of(outputs, width, bank, scratch, fields)
            if what == FIELDS:
                found = fields
                break
            if not factored(fields, sure, factor, lengths):
                return 0.0
        if place >= _ARRIVED:
            combined(fields, gaps, factor, lengths, shares, move)
        if place <= _ARRIVED and what != MOVE and end < 1.0:
            length = across(fields, sure, clear, factor, lengths, shares, slopes[i])
        if not is_walk:
            for j in range(k):
                told[j] = lengths[j]
            found = planes[2:] if what == MOVE else slopes
            break
        here = at
        error = -1.0  # of a step that is not made yet
        if place >= _ARRIVED:
            for m in range(size):
                at[m] += move[m]
                y[m] = at[m]
            if end == 1.0:
                if place == _ARRIVED:
                    spread = spread_of(y, width, wide)
                place = _AT_END
                continue
            s = end
            if length_of(move) > rtol * spread * n**0.5:
                place = _AT_START
                continue
        if place != _ON_THE_WAY:
            speed = scaled(slopes[0], distance, length, n) / spread
            if not speed > 0.0 or (not is_begun and is_at_rest(begin, goals[last], lengths[last] / n**0.5 * told[4])):
                return 0.0
            is_begun = True
        elif not scaled(slopes[i], distance, length, n) > 0.0:
            error = np.inf
        elif pair == HEAVY and i == _PROBED - 1:
            raw = foreseen(slopes, probe, at) * h / (rtol * spread * n**0.5)
            error = expected * raw if expected * raw > _HOPELESS else -1.0
        elif i == counts[pair] - 1:
            error = error_of(slopes, fifth[pair], third[pair], at) * h / (rtol * spread * n**0.5)
            error *= 1.0 if pair == HEAVY else _STRICTER
            if raw > 0.0 and error > 0.0:
                expected = min(error / raw, _MOST_FORESEEN)
        if not error < 0.0:
            pace = next_pace(pace, h * speed, error, pair, orders[pair], rtol)
        if 0.0 <= error <= 1.0:
            place, i, failed = _ARRIVED, 0, 0
            end = 1.0 if h == 1.0 - s else s + h
            combine(slopes, weights[pair], h, y, at)
            continue
        if place != _ON_THE_WAY or not error < 0.0:  # a step begins
            failed = failed + 1 if place == _ON_THE_WAY else 0
            steps, i, place, raw = steps + 1, 0, _ON_THE_WAY, 0.0
            pair = pair_for((1.0 - s) * speed, pace, rtol)
            h = pace / speed
            if s + _LAST * h >= 1.0 or pair != HEAVY:
                h = 1.0 - s
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
