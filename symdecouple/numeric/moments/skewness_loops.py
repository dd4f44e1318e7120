"""One row, for the compiled Riccati kernels: loops over its samples for moments, ties, medians; and the search.

The moments are those of `power_sums`, by the same rules: distances from the minimum first, sums about a pivot near the
mean, short sums. A row of up to `SHORT` samples is written down and summed about its very mean. A longer one is summed
as it is read, division included, about the mean of 32 of its samples; once more where that was no good.

The functions are plain Python and can be read, and run, as such.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symdecouple.numeric.moments.power_sums import HUGE
from symdecouple.numeric.moments.skewness_root import COLLAPSED, LIFT, MOST_STEPS, PATIENCE, STRIDED
from symdecouple.numeric.moments.skewness_series import NEAREST, farthest_pole, propose_pole, stride_pole

__all__ = [
    "CHUNK",
    "LOOPS",
    "SHORT",
    "count_ends",
    "median_of_some",
    "row_moments",
    "search_row",
    "standardized",
    "unit_and_lift_of",
]

LOOPS = ("count_ends", "_fill", "_add_powers", "_add_flowed")  # where sums may be taken in any order
SHORT = 128  # samples that are written down first; the size of the scratch `chunk`
CHUNK = 2048  # samples summed at a time: 16 KiB, in the first cache, and short sums
_PIVOT_SAMPLES = 32  # as in `power_sums`
_NEAR = 0.5


def count_ends(row: Any, low: float, high: float) -> Any:
    """How many entries equal the ends of the row. Summed as floats: then no lane is narrower than the samples."""
    at_low, at_high = 0.0, 0.0
    for i in range(len(row)):
        at_low += 1.0 if row[i] == low else 0.0
        at_high += 1.0 if row[i] == high else 0.0
    return int(at_low), int(at_high)


def unit_and_lift_of(low: float, high: float) -> tuple[float, float]:
    """The powers of two of `moebius.unit_and_lift`, for one row."""
    magnitude = max(abs(low), abs(high))
    down = 4 if magnitude >= HUGE else 0
    scale = math.ldexp(1.0, -down)
    exponent = math.frexp(high * scale - low * scale)[1] + down
    up, most = LIFT - exponent, 1022 - math.frexp(magnitude)[1]
    up = up if up < most else most
    return math.ldexp(1.0, -exponent if exponent > -1023 else 1023), math.ldexp(1.0, up if up < 1023 else 1023)


def search_row(
    row: Any, scale: float, offset: float, top: float, pole: float, target: float, chunk: Any, a: Any
) -> Any:
    """`moebius._Search.run` for one row, turned where `scale` is negative; kurtosis at the root and its pole."""
    lower, upper = NEAREST, farthest_pole(top)
    if not lower < pole < upper:
        pole = median_of_some(row, scale, offset, chunk[:STRIDED])
        if not lower < pole < upper:
            pole = max(_full_median(row, scale, offset), NEAREST)
    first, median_due = pole, True
    for count in range(MOST_STEPS):
        mean, deviation = row_moments(row, scale, offset, pole, chunk, a)
        proposed, is_good, accepted, kurtosis = propose_pole(standardized(a), mean, deviation, top, pole, target)
        if accepted:
            return kurtosis, proposed
        if a[3] > target:
            upper = pole
        else:
            lower = pole
        if is_good and lower < proposed < upper and count % PATIENCE < PATIENCE - 1:
            pole = proposed
        else:
            if median_due:
                median_due = False
                middle = _full_median(row, scale, offset)
                pole = middle if lower < middle < upper else pole
            if not lower < pole < upper:
                pole = stride_pole(pole, lower, upper, first, top)
        if not lower * COLLAPSED < upper:
            return np.nan, np.nan
    return np.nan, np.nan


def row_moments(row: Any, scale: float, offset: float, pole: float, chunk: Any, a: Any) -> Any:
    """Mean and deviation of g = scale x - offset, or of g/(g + pole) for a pole above 0; a_3..a_8 are written."""
    n_samples = len(row)
    if n_samples <= SHORT:
        pivot = _fill(row, scale, offset, pole, chunk) / n_samples
        a[:] = 0.0
        _add_powers(chunk[:n_samples], 1.0, 0.0, pivot, a)
        return _standardized(n_samples, pivot, a)
    step = n_samples // _PIVOT_SAMPLES
    some = chunk[_PIVOT_SAMPLES : 2 * _PIVOT_SAMPLES]
    for i in range(_PIVOT_SAMPLES):
        some[i] = row[i * step]
    pivot = _fill(some, scale, offset, pole, chunk) / _PIVOT_SAMPLES
    for _ in range(2):
        a[:] = 0.0
        for start in range(0, n_samples, CHUNK):
            part = row[start : start + CHUNK]
            if pole > 0:
                _add_flowed(part, scale, offset, pole, pivot, a)
            else:
                _add_powers(part, scale, offset, pivot, a)
        shift, spread = a[1] / n_samples, a[2] / n_samples
        if shift * shift <= _NEAR * _NEAR * (spread - shift * shift):
            break
        pivot += shift
    return _standardized(n_samples, pivot, a)


def _standardized(n_samples: int, pivot: float, a: Any) -> Any:
    """`power_sums.standardize`, unrolled: the sums of v^k become a_k, from k = 3."""
    share = 1.0 / n_samples
    e = -a[1] * share
    m2, m3, m4, m5 = a[2] * share, a[3] * share, a[4] * share, a[5] * share
    m6, m7, m8 = a[6] * share, a[7] * share, a[8] * share
    e2 = e * e
    c2 = m2 - e2
    c3 = m3 + e * (3 * m2 - 2 * e2)
    c4 = m4 + e * (4 * m3 + e * (6 * m2 - 3 * e2))
    c5 = m5 + e * (5 * m4 + e * (10 * m3 + e * (10 * m2 - 4 * e2)))
    c6 = m6 + e * (6 * m5 + e * (15 * m4 + e * (20 * m3 + e * (15 * m2 - 5 * e2))))
    c7 = m7 + e * (7 * m6 + e * (21 * m5 + e * (35 * m4 + e * (35 * m3 + e * (21 * m2 - 6 * e2)))))
    c8 = m8 + e * (8 * m7 + e * (28 * m6 + e * (56 * m5 + e * (70 * m4 + e * (56 * m3 + e * (28 * m2 - 7 * e2))))))
    deviation = np.sqrt(c2)
    r = 1.0 / deviation
    r2 = r * r
    r4 = r2 * r2
    a[3] = c3 * (r2 * r)
    a[4] = c4 * r4
    a[5] = c5 * (r4 * r)
    a[6] = c6 * (r4 * r2)
    a[7] = c7 * (r4 * (r2 * r))
    a[8] = c8 * (r4 * r4)
    return pivot - e, deviation


def standardized(a: Any) -> Any:
    """a_0..a_8 of one row as a tuple."""
    return 1.0, 0.0, 1.0, a[3], a[4], a[5], a[6], a[7], a[8]


def _fill(part: Any, scale: float, offset: float, pole: float, chunk: Any) -> Any:
    """x -> g into the chunk, or g/(g + w) for a pole above 0; returns the sum."""
    total = 0.0
    if pole > 0:
        for i in range(len(part)):
            g = part[i] * scale - offset
            u = g / (g + pole)
            chunk[i] = u
            total += u
        return total
    for i in range(len(part)):
        g = part[i] * scale - offset
        chunk[i] = g
        total += g
    return total


def _add_powers(part: Any, scale: float, offset: float, pivot: float, a: Any) -> None:
    """Add the sums of v..v^8, v = g - pivot."""
    s1, s2, s3, s4, s5, s6, s7, s8 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(part)):
        v = (part[i] * scale - offset) - pivot
        v2 = v * v
        v3 = v2 * v
        v4 = v2 * v2
        s1 += v
        s2 += v2
        s3 += v3
        s4 += v4
        s5 += v4 * v
        s6 += v4 * v2
        s7 += v4 * v3
        s8 += v4 * v4
    a[1] += s1
    a[2] += s2
    a[3] += s3
    a[4] += s4
    a[5] += s5
    a[6] += s6
    a[7] += s7
    a[8] += s8


def _add_flowed(part: Any, scale: float, offset: float, pole: float, pivot: float, a: Any) -> None:
    """Add the sums of v..v^8, v = g/(g + w) - pivot."""
    s1, s2, s3, s4, s5, s6, s7, s8 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(part)):
        g = part[i] * scale - offset
        v = g / (g + pole) - pivot
        v2 = v * v
        v3 = v2 * v
        v4 = v2 * v2
        s1 += v
        s2 += v2
        s3 += v3
        s4 += v4
        s5 += v4 * v
        s6 += v4 * v2
        s7 += v4 * v3
        s8 += v4 * v4
    a[1] += s1
    a[2] += s2
    a[3] += s3
    a[4] += s4
    a[5] += s5
    a[6] += s6
    a[7] += s7
    a[8] += s8


def _full_median(row: Any, scale: float, offset: float) -> Any:
    return median_of_some(row, scale, offset, np.empty(len(row)))


def median_of_some(row: Any, scale: float, offset: float, chosen: Any) -> Any:
    """Upper median of g over entries spread over the row, as many as fit in `chosen`, by Hoare's selection."""
    count = min(len(chosen), len(row))
    for i in range(count):
        chosen[i] = row[i * len(row) // count] * scale - offset
    wanted, low, high = count // 2, 0, count - 1
    while low < high:
        middle = chosen[wanted]
        i, j = low, high
        while i <= j:
            while chosen[i] < middle:
                i += 1
            while middle < chosen[j]:
                j -= 1
            if i <= j:
                chosen[i], chosen[j] = chosen[j], chosen[i]
                i, j = i + 1, j - 1
        if j < wanted:
            low = i
        if wanted < i:
            high = j
    return chosen[wanted]
