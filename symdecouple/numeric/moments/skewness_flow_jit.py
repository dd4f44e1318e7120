"""The Riccati flow to a wanted skewness, compiled: one row at a time, the steps of `riccati.flow` in four loops.

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

from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.moments import skewness_root_jit
from symdecouple.numeric.moments.power_sums import place_and_scale, range_exponent
from symdecouple.numeric.moments.skewness_flow import Imposed, impose_skewness
from symdecouple.numeric.moments.skewness_loops import CHUNK, LOOPS, SHORT, row_moments, search_row, standardized
from symdecouple.numeric.moments.skewness_root import SAME, STRAIGHT, unit_and_lift
from symdecouple.numeric.moments.skewness_root_jit import count_rows, share_rows
from symdecouple.numeric.moments.skewness_series import ORDER, first_pole, solve_series
from symdecouple.numeric.moments.skewness_step import ASTRAY, LINEAR, LOOK, LOST
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Panel

__all__ = [
    "KERNELS",
    "compiled_impose_skewness",
    "compiled_place_and_scale",
    "compiled_standardize",
    "flow_rows",
    "measure_rows",
    "root_rows",
    "skewness_imposer",
    "standardize_rows",
    "warm",
]

KERNELS = Kernels(
    __name__,
    (*skewness_root_jit.KERNELS.sources, "symdecouple.numeric.moments.skewness_step", __name__),
    seconds=1.2e-7,
)
_AT_ONCE = 2**15  # samples whose poles are found, and which flow then: they stay in the second cache
SPARE = max(CHUNK, LOOK)  # numbers worked on where slopes are not asked for
_SUMS = ("_two", "_four", "_third", "_shares")  # where sums may be taken in any order


def skewness_imposer(n_elements: int) -> Callable[..., Imposed]:
    """`impose_skewness`, or its compiled twin for an input of this size, see `jit`."""
    return compiled_impose_skewness if KERNELS.are_wanted(n_elements) else impose_skewness


def compiled_impose_skewness(
    rows: ArrayLike, targets: ArrayLike, *, ends: tuple[FloatArray, FloatArray] | None = None, with_slope: bool = True
) -> Imposed:
    """`impose_skewness`, compiled on the first call unless it is on the disk."""
    return impose_skewness(rows, targets, quick=_Compiled(), ends=ends, with_slope=with_slope)


def compiled_place_and_scale(panel: Panel) -> tuple[FloatArray, FloatArray, FloatArray]:
    """`place_and_scale`, compiled, for rows of float64 without weights."""
    values = np.ascontiguousarray(panel.values)
    if panel.weights is not None or values.dtype != np.float64:
        return place_and_scale(panel)
    found = np.empty((3, len(values)))

    def measured(panel: Panel, which: IntArray) -> tuple[FloatArray, ...]:
        unit = np.ldexp(1.0, np.minimum(-range_exponent(panel), 1023))
        share_rows(_kernels()[4], which, values, unit, panel.low, found)
        return tuple(row[which] for row in found)

    return place_and_scale(panel, measured)


def compiled_standardize(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(x - m)/s, 1/s and what is left of mean and variance, of shapes (R, N), (R, 1) and (R,).

    NaN where all values are equal.
    """
    values = np.ascontiguousarray(rows)
    panel = Panel.of(values)
    z, slope, residual = np.empty_like(values), np.empty(len(values)), np.empty(len(values))
    unit = np.ldexp(1.0, np.minimum(-range_exponent(panel), 1023))
    share_rows(_kernels()[3], np.arange(len(values)), values, unit, panel.low, z, slope, residual)
    return z, slope[:, None], residual


def warm() -> None:
    """Compile and keep on the disk. Cost: several seconds, once; nothing where it is done."""
    sample = np.array([[0.0, 1, 4, 9, 16, 25, 100]])
    compiled_impose_skewness(sample, 0.0)
    compiled_standardize(sample)
    compiled_place_and_scale(Panel.of(sample))
    KERNELS.note_warm()


def _runs(which: IntArray, length: int) -> list[IntArray]:
    return [which[first : first + length] for first in range(0, len(which), length)]


@cache
def _kernels() -> tuple[Callable[..., None], ...]:
    kernels: tuple[Callable[..., None], ...] = KERNELS.build(
        root_rows, flow_rows, count_rows, standardize_rows, measure_rows, fast=(*LOOPS, *_SUMS)
    )
    return kernels


class _Compiled:
    """`Quick`."""

    def count(self, panel: Panel) -> tuple[IntArray, IntArray]:
        low, high = np.empty((2, len(panel.low)), dtype=np.intp)
        share_rows(_kernels()[2], np.arange(len(low)), panel.values, panel.low, panel.high, low, high)
        return low, high

    def settle(
        self, panel: Panel, which: IntArray, lift: NDArray[np.intp], target: FloatArray, answer: Imposed
    ) -> None:
        exponents = unit_and_lift(panel)
        back = exponents[0] + lift  # to the units of the sample, for slopes
        which = which[back[which] <= 1023]
        if len(which):
            unit, up, down = (np.ldexp(1.0, exponent) for exponent in (*exponents, np.minimum(back, 1023)))
            scale, offset, pole = np.empty((3, len(unit)))
            wanted, moved = np.array(target), (answer.values, answer.slope, answer.residual)

            def run(part: IntArray, values: FloatArray) -> None:
                for some in _runs(part, max(1, _AT_ONCE // values.shape[1])):
                    find(some, values, unit, up, panel.low, panel.high, wanted, scale, offset, pole)
                    flow(some, values, unit, down, wanted, scale, offset, pole, *moved)

            find, flow = _kernels()[:2]
            share_rows(run, which, panel.values)


# --- compiled from here on ---


def root_rows(
    which: Any, values: Any, unit: Any, lift: Any, low: Any, high: Any, target: Any, scale: Any, offset: Any, pole: Any
) -> None:
    """Write scale, offset and pole, as `moebius.find_roots`; no pole, NaN, for a row that may be there, or is never."""
    chunk, a = np.empty(SHORT), np.empty(ORDER + 1)
    for i in which:
        goal, top = target[i], high[i] * unit[i] - low[i] * unit[i]
        mean, deviation = row_moments(values[i], unit[i], low[i] * unit[i], 0.0, chunk, a)
        scale[i], offset[i], pole[i] = unit[i], 0.0, np.nan
        if abs(a[3] - goal) <= SAME * np.sqrt(a[4]):
            continue
        time, _, accepted, is_near = solve_series(standardized(a), max(mean, top - mean) / deviation, goal)
        is_turned = time > 0 if accepted else a[3] < goal
        nearest = deviation / abs(time) - (top - mean if is_turned else mean)
        if not accepted and not is_near:
            nearest = first_pole(standardized(a), mean, deviation, top, goal)
        factor = unit[i]
        if accepted:
            nearest = min(nearest, STRAIGHT)
        else:
            factor, nearest = lift[i], nearest * (lift[i] / unit[i])
        offset[i], top = (-high[i] if is_turned else low[i]) * factor, high[i] * factor - low[i] * factor
        scale[i] = -factor if is_turned else factor
        if not accepted:
            wanted = -goal if is_turned else goal
            nearest = search_row(values[i], scale[i], offset[i], top, nearest, wanted, chunk, a)[1]
        pole[i] = nearest


def flow_rows(
    which: Any,
    values: Any,
    unit: Any,
    back: Any,
    target: Any,
    scale: Any,
    offset: Any,
    pole: Any,
    moved: Any,
    slope: Any,
    residual: Any,
) -> None:
    """`riccati_flow.Bundle`: at the pole, standardized, put right; values, slopes and residuals of rows with a pole.

    A residual of NaN where NumPy must see to it. No slopes where there is no room for them.
    """
    n = values.shape[1]
    is_wanted, spare = slope.shape[1] == n, np.empty(SPARE)
    for i in which:
        if not pole[i] > 0:
            continue
        factor, lowest, w = scale[i], offset[i], pole[i]
        entry = _near(values[i], factor, lowest, w, moved[i], slope[i] if is_wanted else spare)
        start = (entry - lowest) + w
        share, inverse = w / start, 1.0 / start
        s1 = s2 = 0.0
        for first in range(0, n, CHUNK):
            last = first + CHUNK
            row, z = values[i][first:last], moved[i][first:last]
            p = slope[i][first:last] if is_wanted else spare[: len(z)]
            for j in range(len(z)):  # u - u_c and w/(g + w); nothing is reordered: each step is monotone
                y = row[j] * factor
                h = y - entry
                steepness = w / ((y - lowest) + w)
                p[j] = steepness
                above = h if h > 0.0 else 0.0
                below = h if h < 0.0 else 0.0
                z[j] = share / (1.0 + start / above) + below * inverse * steepness
            a1, a2 = _two(z)
            s1 += a1
            s2 += a2
        shift = s1 / n
        deviation = np.sqrt(s2 / n - shift * shift)
        residual[i] = np.nan
        if not abs(shift) <= ASTRAY * deviation:
            continue
        s1 = s2 = s3 = s4 = 0.0
        for first in range(0, n, CHUNK):
            z = moved[i][first : first + CHUNK]
            for j in range(len(z)):
                z[j] = (z[j] - shift) / deviation
            a1, a2, a3, a4 = _four(z)
            s1 += a1
            s2 += a2
            s3 += a3
            s4 += a4
        mean, variance, skewness, kurtosis = s1 / n, s2 / n, s3 / n, s4 / n
        sign = -1.0 if factor < 0 else 1.0
        spread = kurtosis - skewness * skewness - 1
        gap = sign * target[i] - skewness + 3 * mean - 1.5 * (1 - variance) * skewness
        time = gap / (3 * spread)
        steepest = back[i] / (w * (unit[i] / abs(factor))) / deviation  # dz/dx at the minimum, in units of the sample
        is_near = abs(time) * np.sqrt(np.sqrt(kurtosis * n)) <= LINEAR
        if not (spread > LOST and is_near and 0 < steepest < np.inf):
            continue
        linear, constant, third = (1 - variance) / 2 - time * skewness, mean + time, 0.0
        for first in range(0, n, CHUNK):
            z = moved[i][first : first + CHUNK]
            if is_wanted:
                p = slope[i][first : first + CHUNK]
                for j in range(len(z)):  # steepness becomes slope
                    p[j] = (p[j] * steepest) * p[j] * (1.0 + (linear + 2.0 * time * z[j]))
            for j in range(len(z)):  # add s z^2 + b z - c, as `Bundle.put_right`
                v = z[j]
                z[j] = sign * (v + ((v * time + linear) * v - constant))
            third += _third(z)
        residual[i] = abs(third / n - target[i]) / (1 + abs(target[i]))


def measure_rows(which: Any, values: Any, unit: Any, low: Any, found: Any) -> None:
    """Write mean and deviation of (x - min x) unit, and the skewness, of the rows named in `which`."""
    chunk, a = np.empty(SHORT), np.empty(ORDER + 1)
    for i in which:
        found[0, i], found[1, i] = row_moments(values[i], unit[i], low[i] * unit[i], 0.0, chunk, a)
        found[2, i] = a[3]


def standardize_rows(
    which: Any, values: Any, unit: Any, low: Any, z: Any, slope: Any, residual: Any
) -> None:
    """Write (x - m)/s, 1/s, and the residual of the rows named in `which`.

    x - min x is rounded relative to itself; then a mean goes, what that rounds away beside the range, the deviation.
    """
    n = values.shape[1]
    for i in which:
        row, out, offset = values[i], z[i], low[i] * unit[i]
        for j in range(n):
            out[j] = row[j] * unit[i] - offset
        deviation = mean = square = 1.0
        for step in range(4):
            mean = square = 0.0
            for first in range(0, n, CHUNK):
                a1, a2 = _two(out[first : first + CHUNK])
                mean += a1
                square += a2
            mean, square = mean / n, square / n
            if step < 3:
                shift = mean if step < 2 else 0.0
                deviation = np.sqrt(square) if step == 2 else 1.0
                for j in range(n):
                    out[j] = (out[j] - shift) / deviation
        slope[i], residual[i] = unit[i] / deviation, max(abs(mean), abs(square - 1) / 2)


def _near(row: Any, scale: float, offset: float, pole: float, y: Any, u: Any) -> Any:
    """x scale of the entry whose u is nearest to the mean of u, among some that are spread over the row.

    Two arrays of its length, or of `LOOK` numbers, are used.
    """
    n, count = len(row), min(LOOK, len(row))
    if count == n:
        for i in range(n):
            y[i] = row[i] * scale
    else:
        for i in range(count):
            y[i] = row[i * n // count] * scale
    middle = _shares(y[:count], offset, pole, u) / count
    entry, nearest = 0.0, 2.0
    for i in range(count):
        distance = abs(u[i] - middle)
        if distance < nearest:
            entry, nearest = y[i], distance
    return entry


def _shares(y: Any, offset: float, pole: float, u: Any) -> Any:
    """Write g/(g + w), and return the sum."""
    total = 0.0
    for i in range(len(y)):
        g = y[i] - offset
        u[i] = g / (g + pole)
        total += u[i]
    return total


def _two(z: Any) -> Any:
    s1, s2 = 0.0, 0.0
    for i in range(len(z)):
        s1 += z[i]
        s2 += z[i] * z[i]
    return s1, s2


def _four(z: Any) -> Any:
    s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0
    for i in range(len(z)):
        v = z[i]
        square = v * v
        s1 += v
        s2 += square
        s3 += square * v
        s4 += square * square
    return s1, s2, s3, s4


def _third(z: Any) -> Any:
    total = 0.0
    for i in range(len(z)):
        total += z[i] * z[i] * z[i]
    return total
