"""Rows by the dozen, compiled: moments row by row, the logic of the series for all of them together.

The steps of Newton for one row wait for each other; those of many rows do not, and the loops over rows, lanes of a
table, are vectorised. Rows never meet: the number of lanes is rounded up, so that each is handled by the same
instructions, whatever its place.

A lane takes the steps of `moebius`, but has no median of the whole row to fall back on. Rows that are not settled by
then are left to NumPy.

The functions are plain Python and can be read, and run, as such.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symdecouple.numeric.moments.skewness_loops import median_of_some, row_moments, unit_and_lift_of
from symdecouple.numeric.moments.skewness_root import COLLAPSED, PATIENCE, STRIDED
from symdecouple.numeric.moments.skewness_series import (
    NEAREST,
    NEWTON_STEPS,
    ORDER,
    advance_series,
    farthest_pole,
    first_pole,
    judge_series,
    next_pole,
    reach_series,
    start_series,
    stride_pole,
)

__all__ = ["LANES", "N_FIELDS", "PASSES", "place_lanes", "sift_lanes", "sum_lanes"]

LANES = 64  # rows at a time: short ones stay in the first cache from pass to pass
_ROUNDED = 8  # of which a multiple is computed, needed or not
PASSES = 24  # at most
# Rows of the table of lanes; the first are a_0..a_8.
_FURTHEST, _TIME, _STILL, _SKEWNESS, _KURTOSIS, _LEFT, _ACCEPTED, _NEAR = range(ORDER + 1, ORDER + 9)
_MEAN, _DEVIATION, _SCALE, _OFFSET, _TOP, _POLE, _LOWER, _UPPER, _FIRST = range(ORDER + 9, ORDER + 18)
N_FIELDS = ORDER + 18


def place_lanes(
    rows: Any, values: Any, low: Any, high: Any, at_low: Any, at_high: Any, table: Any, kurtosis: Any
) -> Any:
    """Give each row that can be solved a lane, and write NaN for the others.

    Returns how many can; these are named first then, and the names of the others are lost.
    """
    n_gone, n_samples = 0, values.shape[1]
    for k in range(len(rows)):
        i, lane = rows[k], k - n_gone
        kurtosis[i] = np.nan
        ties = at_low[i] if at_low[i] > at_high[i] else at_high[i]
        if 2 * ties < n_samples and at_low[i] + at_high[i] < n_samples:
            unit = unit_and_lift_of(low[i], high[i])[0]
            offset = low[i] * unit
            rows[lane] = i
            _place(table, lane, unit, offset, high[i] * unit - offset, 0.0)
        else:
            n_gone += 1
    return len(rows) - n_gone


def sift_lanes(
    rows: Any, n_rows: int, count: int, values: Any, low: Any, high: Any, table: Any, kurtosis: Any, chunk: Any
) -> Any:
    """Write the kurtosis of rows that are settled, and move the others on, and up; returns how many are left."""
    n_gone = 0
    for lane in range(n_rows):
        i, to = rows[lane], lane - n_gone
        if table[_ACCEPTED, lane] > 0.0:
            kurtosis[i] = table[_KURTOSIS, lane]
            n_gone += 1
            continue
        rows[to] = i
        if count > 0:
            n_gone += _move(table, lane, to, count % PATIENCE < PATIENCE - 1)
        else:
            _turn(table, lane, to, values[i], low[i], high[i], chunk)
    return n_rows - n_gone


def _move(table: Any, lane: int, to: int, is_patient: bool) -> int:
    """A step as in `search_row`; 1 where the bracket has collapsed."""
    pole, top, first = table[_POLE, lane], table[_TOP, lane], table[_FIRST, lane]
    lower, upper = table[_LOWER, lane], table[_UPPER, lane]
    if table[3, lane] > 0.0:
        upper = pole
    else:
        lower = pole
    mean, deviation, highest = table[_MEAN, lane], table[_DEVIATION, lane], top / (top + pole)
    is_near = table[_NEAR, lane] > 0.0
    a = _moments(table, lane)
    proposed, is_good = next_pole(a, mean, deviation, highest, pole, table[_TIME, lane], is_near, 0.0)
    if not (is_good and is_patient and lower < proposed < upper):
        proposed = stride_pole(pole, lower, upper, first, top)
    _place(table, to, table[_SCALE, lane], table[_OFFSET, lane], top, proposed)
    table[_LOWER, to] = lower
    table[_UPPER, to] = upper
    table[_FIRST, to] = first
    return 0 if lower * COLLAPSED < upper else 1


def _turn(table: Any, lane: int, to: int, row: Any, low: float, high: float, chunk: Any) -> None:
    """Begin the search."""
    lift = unit_and_lift_of(low, high)[1]
    top = high * lift - low * lift
    is_turned = table[3, lane] < 0
    pole = _first_pole(table, lane) * (lift / table[_SCALE, lane])
    scale, offset = (-lift, -high * lift) if is_turned else (lift, low * lift)
    lower, upper = NEAREST, farthest_pole(top)
    if not lower < pole < upper:
        pole = median_of_some(row, scale, offset, chunk[:STRIDED])
    if not lower < pole < upper:
        pole = top
    _place(table, to, scale, offset, top, pole)
    table[_LOWER, to] = lower
    table[_UPPER, to] = upper
    table[_FIRST, to] = pole


def _place(table: Any, lane: int, scale: float, offset: float, top: float, pole: float) -> None:
    table[_SCALE, lane] = scale
    table[_OFFSET, lane] = offset
    table[_TOP, lane] = top
    table[_POLE, lane] = pole


def _first_pole(table: Any, lane: int) -> Any:
    """Where the series leads, or else a saturated step, from the sample itself."""
    mean, deviation, top = table[_MEAN, lane], table[_DEVIATION, lane], table[_TOP, lane]
    if table[_NEAR, lane] > 0.0:
        return deviation / abs(table[_TIME, lane]) - (top - mean if table[3, lane] < 0 else mean)
    return first_pole(_moments(table, lane), mean, deviation, top, 0.0)


def sum_lanes(rows: Any, n_rows: int, values: Any, table: Any, chunk: Any, a: Any) -> None:
    """The moments of each row, and the series for all of them."""
    for lane in range(n_rows):
        pole, top = table[_POLE, lane], table[_TOP, lane]
        mean, deviation = row_moments(values[rows[lane]], table[_SCALE, lane], table[_OFFSET, lane], pole, chunk, a)
        highest = top / (top + pole) if pole > 0 else top
        for k in range(3, ORDER + 1):
            table[k, lane] = a[k]
        table[_FURTHEST, lane] = max(mean, highest - mean) / deviation
        table[_MEAN, lane] = mean
        table[_DEVIATION, lane] = deviation
    n_lanes = (n_rows + _ROUNDED - 1) // _ROUNDED * _ROUNDED
    _start_lanes(table, n_lanes)
    for _ in range(NEWTON_STEPS):
        if not _advance_lanes(table, n_lanes):
            break
    _reach_lanes(table, n_lanes)
    _judge_lanes(table, n_lanes)


def _start_lanes(table: Any, n_lanes: int) -> None:
    for lane in range(n_lanes):
        s = start_series(_moments(table, lane), table[_FURTHEST, lane], 0.0)
        table[_TIME, lane] = s
        table[_STILL, lane] = 0.0


def _advance_lanes(table: Any, n_lanes: int) -> bool:
    """Returns whether any of them still moves."""
    for lane in range(n_lanes):
        is_still = table[_STILL, lane] > 0.0
        s, is_still = advance_series(_moments(table, lane), table[_TIME, lane], is_still, table[_FURTHEST, lane], 0.0)
        table[_TIME, lane] = s
        table[_STILL, lane] = 1.0 if is_still else 0.0
    n_still = 0.0
    for lane in range(n_lanes):
        n_still += table[_STILL, lane]
    return n_still < n_lanes


def _reach_lanes(table: Any, n_lanes: int) -> None:
    for lane in range(n_lanes):
        a, furthest = _moments(table, lane), table[_FURTHEST, lane]
        s, skewness, kurtosis, left = reach_series(a, table[_TIME, lane], furthest, 0.0)
        table[_TIME, lane] = s
        table[_SKEWNESS, lane] = skewness
        table[_KURTOSIS, lane] = kurtosis
        table[_LEFT, lane] = left


def _judge_lanes(table: Any, n_lanes: int) -> None:
    for lane in range(n_lanes):
        s, kurtosis, accepted, is_near = judge_series(
            _moments(table, lane),
            table[_TIME, lane],
            table[_SKEWNESS, lane],
            table[_KURTOSIS, lane],
            table[_LEFT, lane],
            table[_FURTHEST, lane],
            0.0,
        )
        table[_TIME, lane] = s
        table[_KURTOSIS, lane] = kurtosis
        table[_ACCEPTED, lane] = 1.0 if accepted else 0.0
        table[_NEAR, lane] = 1.0 if is_near else 0.0


def _moments(table: Any, lane: int) -> Any:
    """a_0..a_8 of a lane, a tuple: loops over views of a table are not vectorised."""
    a3, a4, a5 = table[3, lane], table[4, lane], table[5, lane]
    a6, a7, a8 = table[6, lane], table[7, lane], table[8, lane]
    return 1.0, 0.0, 1.0, a3, a4, a5, a6, a7, a8
