"""The Riccati flow to a wanted skewness, compiled: one row at a time, the steps of `riccati_flow` in four loops.

Rows that want care are left to NumPy: those that may be at their target already, those whose last digits need another
step of the pole, those without an entry near the mean, and those whose slopes leave float64. The others agree with it
to the accuracy of `impose_skewness`. Rows are shared out over threads.

The functions are plain Python and can be read, and run, as such.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symdecouple.numeric import moebius_jit
from symdecouple.numeric.batch import FloatArray, IntArray, Panel
from symdecouple.numeric.jit import Kernels
from symdecouple.numeric.moebius import SAME, STRAIGHT, unit_and_lift
from symdecouple.numeric.moebius_jit import count_rows, share_rows
from symdecouple.numeric.moebius_loops import CHUNK, LOOPS, SHORT, row_moments, search_row, standardized
from symdecouple.numeric.power_sums import range_exponent
from symdecouple.numeric.riccati import Imposed, impose_skewness
from symdecouple.numeric.riccati_flow import ASTRAY, LINEAR, LOOK, LOST
from symdecouple.numeric.skew_series import ORDER, first_pole, solve_series

__all__ = [
    "KERNELS",
    "compiled_impose_skewness",
    "compiled_standardize",
    "impose_rows",
    "skewness_imposer",
    "standardize_rows",
    "warm",
]

KERNELS = Kernels(
    __name__,
    (*moebius_jit.KERNELS.sources, "symdecouple.numeric.riccati_flow", __name__),
    seconds=1.2e-7,
)
_SUMS = ("_add_two", "_add_four", "_third")  # where sums may be taken in any order


def skewness_imposer(n_elements: int) -> Callable[[ArrayLike, ArrayLike], Imposed]:
    """`impose_skewness`, or its compiled twin for an input of this size, see `jit`."""
    return compiled_impose_skewness if KERNELS.are_wanted(n_elements) else impose_skewness


def compiled_impose_skewness(rows: ArrayLike, targets: ArrayLike) -> Imposed:
    """`impose_skewness`, compiled on the first call unless it is on the disk."""
    return impose_skewness(rows, targets, quick=_Compiled())


def compiled_standardize(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(x - m)/s, 1/s and what is left of mean and variance, of shapes (R, N), (R, 1) and (R,).

    NaN where all values are equal.
    """
    values = np.ascontiguousarray(rows)
    panel = Panel.of(values)
    z, slope, residual = np.empty_like(values), np.empty(len(values)), np.empty(len(values))
    unit = np.ldexp(1.0, np.minimum(-range_exponent(panel), 1023))
    share_rows(_kernels()[2], np.arange(len(values)), values, unit, panel.low, z, slope, residual)
    return z, slope[:, None], residual


def warm() -> None:
    """Compile and keep on the disk. Cost: several seconds, once; nothing where it is done."""
    sample = np.array([[0.0, 1, 4, 9, 16, 25, 100]])
    compiled_impose_skewness(sample, 0.0)
    compiled_standardize(sample)
    KERNELS.note_warm()


@cache
def _kernels() -> tuple[Callable[..., None], ...]:
    kernels: tuple[Callable[..., None], ...] = KERNELS.build(
        impose_rows, count_rows, standardize_rows, fast=(*LOOPS, *_SUMS)
    )
    return kernels


class _Compiled:
    """`Quick`."""

    def count(self, panel: Panel) -> tuple[IntArray, IntArray]:
        low, high = np.empty((2, len(panel.low)), dtype=np.intp)
        share_rows(_kernels()[1], np.arange(len(low)), panel.values, panel.low, panel.high, low, high)
        return low, high

    def settle(
        self, panel: Panel, which: IntArray, lift: NDArray[np.intp], target: FloatArray, answer: Imposed
    ) -> None:
        exponents = unit_and_lift(panel)
        back = exponents[0] + lift  # to the units of the sample, for slopes
        which = which[back[which] <= 1023]
        if len(which):
            scales = (np.ldexp(1.0, exponent) for exponent in (*exponents, np.minimum(back, 1023)))
            wanted, results = np.array(target), (answer.values, answer.slope, answer.residual)
            share_rows(_kernels()[0], which, panel.values, *scales, panel.low, panel.high, wanted, *results)


# --- compiled from here on ---


def impose_rows(
    which: Any,
    values: Any,
    unit: Any,
    lift: Any,
    back: Any,
    low: Any,
    high: Any,
    target: Any,
    moved: Any,
    slope: Any,
    residual: Any,
) -> None:
    """Write values, slopes and residuals of the rows named in `which`; a residual of NaN where NumPy must see to it."""
    chunk, a = np.empty(SHORT), np.empty(ORDER + 1)
    for i in which:
        scale, offset, pole = _root(values[i], unit[i], lift[i], low[i], high[i], target[i], chunk, a)
        if pole > 0:
            nearer = pole * (unit[i] / abs(scale))  # in ranges of the sample
            residual[i] = _carry(
                values[i], scale, offset, pole, target[i], back[i] / nearer, moved[i], slope[i], a
            )


def standardize_rows(
    which: Any, values: Any, unit: Any, low: Any, z: Any, slope: Any, residual: Any
) -> None:
    """Write (x - m)/s, 1/s, and the residual of the rows named in `which`."""
    sums = np.empty(3)
    for i in which:
        slope[i], residual[i] = _standardize_row(values[i], unit[i], low[i] * unit[i], z[i], sums)


def _standardize_row(row: Any, unit: float, offset: float, z: Any, sums: Any) -> Any:
    """x - min x is rounded relative to itself; then a mean, and what that rounds away beside the range."""
    n_samples = len(row)
    _shift_by(row, unit, offset, z)
    for _ in range(2):
        _sum_two(z, sums)
        _standardize(z, sums[1] / n_samples, 1.0)
    _sum_two(z, sums)
    deviation = np.sqrt(sums[2] / n_samples)
    _standardize(z, 0.0, deviation)
    _sum_two(z, sums)
    return unit / deviation, max(abs(sums[1] / n_samples), abs(sums[2] / n_samples - 1) / 2)


def _shift_by(row: Any, unit: float, offset: float, z: Any) -> None:
    for i in range(len(row)):
        z[i] = row[i] * unit - offset


def _sum_two(z: Any, sums: Any) -> None:
    sums[:3] = 0.0
    for first in range(0, len(z), CHUNK):
        _add_two(z[first : first + CHUNK], sums)


def _root(
    row: Any,
    unit: float,
    lift: float,
    low: float,
    high: float,
    target: float,
    chunk: Any,
    a: Any,
) -> Any:
    """Scale, offset and pole, as `moebius.find_roots`; NaN for the pole of a row that may be there, or is never."""
    top = high * unit - low * unit
    mean, deviation = row_moments(row, unit, low * unit, 0.0, chunk, a)
    if abs(a[3] - target) <= SAME * np.sqrt(a[4]):
        return unit, 0.0, np.nan
    time, _, accepted, is_near = solve_series(standardized(a), max(mean, top - mean) / deviation, target)
    is_turned = time > 0 if accepted else a[3] < target
    pole = deviation / abs(time) - (top - mean if is_turned else mean)
    if not accepted and not is_near:
        pole = first_pole(standardized(a), mean, deviation, top, target)
    if accepted:
        scale, pole = unit, min(pole, STRAIGHT)
    else:
        scale, pole = lift, pole * (lift / unit)
    offset, top = (-high if is_turned else low) * scale, high * scale - low * scale
    scale = -scale if is_turned else scale
    if not accepted:
        pole = search_row(row, scale, offset, top, pole, -target if is_turned else target, chunk, a)[1]
    return scale, offset, pole


def _carry(
    row: Any, scale: float, offset: float, pole: float, target: float, steepest: float, z: Any, p: Any, sums: Any
) -> Any:
    """`riccati_flow.Bundle`: at the pole, standardized, put right; returns the residual.

    `steepest` is du/dx at the minimum, 1/w in the units of the sample.
    """
    n_samples = len(row)
    entry = _near(row, scale, offset, pole)
    start = (entry - offset) + pole
    sums[:5] = 0.0
    for first in range(0, n_samples, CHUNK):
        last = first + CHUNK
        _flow(row[first:last], scale, offset, pole, entry, start, z[first:last], p[first:last])
        _add_two(z[first:last], sums)
    shift = sums[1] / n_samples
    deviation = np.sqrt(sums[2] / n_samples - shift * shift)
    if not abs(shift) <= ASTRAY * deviation:
        return np.nan
    sums[:5] = 0.0
    for first in range(0, n_samples, CHUNK):
        _standardize(z[first : first + CHUNK], shift, deviation)
        _add_four(z[first : first + CHUNK], sums)
    mean, variance = sums[1] / n_samples, sums[2] / n_samples
    skewness, kurtosis = sums[3] / n_samples, sums[4] / n_samples
    sign = -1.0 if scale < 0 else 1.0
    spread = kurtosis - skewness * skewness - 1
    gap = sign * target - skewness + 3 * mean - 1.5 * (1 - variance) * skewness
    time = gap / (3 * spread)
    factor = steepest / deviation
    if not (spread > LOST and abs(time) * np.sqrt(np.sqrt(kurtosis * n_samples)) <= LINEAR and 0 < factor < np.inf):
        return np.nan
    third = 0.0
    for first in range(0, n_samples, CHUNK):
        last = first + CHUNK
        _put_right(z[first:last], p[first:last], time, (1 - variance) / 2 - time * skewness, mean + time, factor, sign)
        third += _third(z[first:last])
    return abs(third / n_samples - target) / (1 + abs(target))


def _near(row: Any, scale: float, offset: float, pole: float) -> Any:
    """x scale of the entry whose u is nearest to the mean of u, among some that are spread over the row."""
    count = min(LOOK, len(row))
    middle = 0.0
    for i in range(count):
        g = row[i * len(row) // count] * scale - offset
        middle += g / (g + pole)
    middle /= count
    entry, nearest = 0.0, 2.0
    for i in range(count):
        y = row[i * len(row) // count] * scale
        g = y - offset
        distance = abs(g / (g + pole) - middle)
        if distance < nearest:
            entry, nearest = y, distance
    return entry


def _flow(
    row: Any, scale: float, offset: float, pole: float, entry: float, start: float, z: Any, p: Any
) -> None:
    """u - u_c and w/(g + w); no sums here, so that nothing is reordered: each step is monotone."""
    share = pole / start
    for i in range(len(row)):
        y = row[i] * scale
        h = y - entry
        steepness = pole / ((y - offset) + pole)
        p[i] = steepness
        above = h if h > 0.0 else 0.0
        below = h if h < 0.0 else 0.0
        z[i] = share / (1.0 + start / above) + below / start * steepness


def _standardize(z: Any, shift: float, deviation: float) -> None:
    for i in range(len(z)):
        z[i] = (z[i] - shift) / deviation


def _put_right(z: Any, p: Any, time: float, linear: float, constant: float, factor: float, sign: float) -> None:
    """Add s z^2 + b z - c, in the tongue of `Bundle.put_right`; steepness becomes slope."""
    for i in range(len(z)):
        value = z[i]
        p[i] = (p[i] * factor) * p[i] * (1.0 + (linear + 2.0 * time * value))
        z[i] = sign * (value + ((value * time + linear) * value - constant))


def _add_two(z: Any, sums: Any) -> None:
    s1, s2 = 0.0, 0.0
    for i in range(len(z)):
        s1 += z[i]
        s2 += z[i] * z[i]
    sums[1] += s1
    sums[2] += s2


def _add_four(z: Any, sums: Any) -> None:
    s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0
    for i in range(len(z)):
        v = z[i]
        square = v * v
        s1 += v
        s2 += square
        s3 += square * v
        s4 += square * square
    sums[1] += s1
    sums[2] += s2
    sums[3] += s3
    sums[4] += s4


def _third(z: Any) -> Any:
    total = 0.0
    for i in range(len(z)):
        total += z[i] * z[i] * z[i]
    return total
