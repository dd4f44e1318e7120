"""Standardized central moments a_k = m_k / m_2^(k/2) of many samples.

m_k = Mean((x - m)^k) is taken as power sums of v = x - c for a pivot c near the mean m, then shifted by the exact
binomial identity. Three rules keep the digits:

* subtract a sample value before anything else (x - min x is rounded relative to itself, so an offset costs nothing);
  with weights their median, or a small share of weight far below all others would blur these;
* scale by a power of two, which rounds nothing, so that units of 1e-150 and 1e150 give the same bits;
* sum at most 8192 products at a time: short sums round less, and the temporaries stay in the cache.

No sum runs across two rows, so neighbours and batch size cannot show in the last bit. Weights multiply the products;
their mean and their median are at most one standard deviation apart, at any shares and distances.

Symbols: `standardized[k]` is a_k, `deviation` is sqrt(m_2), `mean` is m in the units of the mapped block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Panel, RowValues

__all__ = [
    "ZERO_VARIANCE",
    "BlockMap",
    "Moments",
    "blocks",
    "centred_rows",
    "kurtosis_rows",
    "near_sample",
    "place_and_scale",
    "range_exponent",
    "skewness_rows",
    "standardize",
    "standardized_entries",
    "standardized_moments",
    "to_unit_range",
    "weighted_medians",
]

BLOCK = 8192  # elements summed at a time; also below the size where BLAS splits a dot product over threads
PIVOT_SAMPLES = 32  # their mean stands for the mean of a long row, whose first pass then is its only one
NEAR = 0.5  # a pivot within half a standard deviation costs the binomial shift less than one digit
HUGE = 2.0**1000  # beyond, low and high are brought down before they are subtracted

ZERO_VARIANCE = Outcome(False, "zero variance", "all values are equal; shape needs at least two distinct values")

# Takes a block (rows, samples) in place to the values whose moments are wanted; the indices name its rows.
BlockMap: TypeAlias = Callable[[FloatArray, IntArray], None]


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean, standard deviation and a_0..a_order, one column a row of the panel."""

    mean: FloatArray
    deviation: FloatArray
    standardized: FloatArray


def skewness_rows(panel: Panel) -> RowValues:
    """a_3 of each row."""
    return _standardized_rows(panel, 3)


def kurtosis_rows(panel: Panel) -> RowValues:
    """a_4 of each row, not in excess."""
    return _standardized_rows(panel, 4)


def _standardized_rows(panel: Panel, order: int) -> RowValues:
    varying = panel.low < panel.high
    values = np.full(len(varying), np.nan)
    which = np.flatnonzero(varying)
    found = standardized_moments(panel.values, which, order, to_unit_range(panel), panel.weights)
    values[which] = found.standardized[order]
    return RowValues(values, {int(i): ZERO_VARIANCE for i in np.flatnonzero(~varying)})


def place_and_scale(
    panel: Panel, measured: Callable[[Panel, IntArray], Sequence[FloatArray]] | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, variance and skewness of each row, (R,); the skewness of a constant row is NaN.

    A variance beyond float64 is infinite, one below it 0. `measured` stands in for what NumPy finds of rows that vary:
    mean and deviation after `to_unit_range`, and skewness, (3, r).
    """
    varying = np.flatnonzero(panel.low < panel.high)
    mean, variance = near_sample(panel), np.zeros(len(panel.low))
    skewness = np.full(len(panel.low), np.nan)
    if len(varying):
        exponent = range_exponent(panel)[varying]
        place, deviation, third = (measured or _measured)(panel, varying)
        down = np.where(exponent > 1023, 2, 0)  # a range beyond float64: its ends and its middle are inside
        with np.errstate(all="ignore"):
            middle = np.ldexp(mean[varying], -down) + np.ldexp(place, exponent - down)
            mean[varying] = np.ldexp(middle, down)
            variance[varying] = np.ldexp(deviation**2, 2 * exponent)
        skewness[varying] = third
    return mean, variance, skewness


def _measured(panel: Panel, which: IntArray) -> Sequence[FloatArray]:
    found = standardized_moments(panel.values, which, 3, to_unit_range(panel), panel.weights)
    return found.mean, found.deviation, found.standardized[3]


def range_exponent(panel: Panel) -> NDArray[np.intc]:
    """e with 2^(e-1) <= max - min < 2^e, also where max - min itself overflows."""
    huge = np.maximum(np.abs(panel.low), np.abs(panel.high)) >= HUGE
    down = np.where(huge, 2.0**-4, 1.0)
    exponent: NDArray[np.intc] = np.frexp(panel.high * down - panel.low * down)[1] + np.where(huge, 4, 0)
    return exponent.astype(np.intc)


def near_sample(panel: Panel) -> FloatArray:
    """The value of each row that is subtracted first: the minimum, or the median of the weights."""
    return panel.low.copy() if panel.weights is None else weighted_medians(panel.values, panel.weights)


def weighted_medians(values: NDArray[np.floating[Any]], weights: FloatArray) -> FloatArray:
    """The first value of each row up to which more than half of the weight lies."""
    medians = np.empty(len(values))
    for part in blocks(len(values), values.shape[1]):
        order = values[part].argsort(axis=1)
        reached = np.take_along_axis(weights[part], order, axis=1).cumsum(axis=1)
        middle = (2 * reached > reached[:, -1:]).argmax(axis=1)
        place = np.take_along_axis(order, middle[:, None], axis=1)
        medians[part] = np.take_along_axis(values[part], place, axis=1)[:, 0]
    return medians


def to_unit_range(panel: Panel) -> BlockMap:
    """x -> (x - c)/2^e, c from `near_sample`, in (-1, 1); the scale goes first, or x - c could overflow."""
    scale = np.ldexp(1.0, np.minimum(-range_exponent(panel), 1023))
    near = near_sample(panel) * scale

    def apply(block: FloatArray, which: IntArray) -> None:
        block *= scale[which, None]
        block -= near[which, None]

    return apply


def blocks(n_rows: int, n_samples: int) -> Iterator[slice]:
    """Row slices of at most `BLOCK` elements, at least one row each."""
    step = max(1, BLOCK // n_samples)
    return (slice(i, min(i + step, n_rows)) for i in range(0, n_rows, step))


def standardized_moments(
    rows: NDArray[np.floating[Any]],
    which: IntArray,
    order: int,
    to_values: BlockMap,
    weights: FloatArray | None = None,
) -> Moments:
    """Moments up to `order` (3 to 8) of the mapped values of the rows named in `which`.

    Every mapped row must vary. Cost: one pass, seldom two, of about ten floating-point operations an element.
    """
    n_samples = rows.shape[1]
    pivot = np.empty(len(which))
    sums = np.empty((order + 1, len(which)))
    scratch = _Scratch.of(min(BLOCK, max(n_samples, 1) * max(1, BLOCK // max(n_samples, 1))))
    if n_samples <= BLOCK:
        for part in blocks(len(which), n_samples):
            pivot[part] = _short_rows(rows, which[part], to_values, scratch, sums[:, part], weights)
    else:
        for i in range(len(which)):
            pivot[i] = _long_row(rows, which[i : i + 1], to_values, scratch, sums[:, i : i + 1], weights)
    return _standardize(pivot, sums / (n_samples if weights is None else sums[0]))


@dataclass(frozen=True, slots=True)
class _Scratch:
    """Four working vectors that stay in the cache, and ones to sum against."""

    vectors: FloatArray
    ones: FloatArray

    @classmethod
    def of(cls, size: int) -> _Scratch:
        return cls(np.empty((4, size)), np.ones(size))

    def matrices(self, shape: tuple[int, int]) -> FloatArray:
        return self.vectors[:, : shape[0] * shape[1]].reshape(4, *shape)


def _short_rows(
    rows: NDArray[np.floating[Any]],
    which: IntArray,
    to_values: BlockMap,
    scratch: _Scratch,
    sums: FloatArray,
    weights: FloatArray | None,
) -> FloatArray:
    """Rows that fit a block together: the pivot is their mean."""
    work = scratch.matrices((len(which), rows.shape[1]))
    work[0] = rows[which]
    to_values(work[0], which)
    ones = scratch.ones[: rows.shape[1]]
    if weights is None:
        pivot: FloatArray = np.vecdot(work[0], ones) / rows.shape[1]
        work[0] -= pivot[:, None]
        _power_sums(work, scratch.ones, sums)
        return pivot
    heavy = weights[which]
    pivot = np.vecdot(work[0], heavy) / np.vecdot(heavy, ones)
    work[0] -= pivot[:, None]
    _weighted_power_sums(work, heavy, scratch.ones, sums)
    return pivot


def _long_row(
    rows: NDArray[np.floating[Any]],
    which: IntArray,
    to_values: BlockMap,
    scratch: _Scratch,
    sums: FloatArray,
    weights: FloatArray | None,
) -> float:
    """A row of several blocks about a guessed pivot; once more about its mean where the guess was poor.

    With weights the guess is 0, where their median lies.
    """
    row = rows[which[0]]
    heavy = None if weights is None else weights[which[0]]
    pivot = 0.0
    if heavy is None:
        strided = row[:: len(row) // PIVOT_SAMPLES].astype(np.float64)[None]
        to_values(strided, which)
        pivot = float(strided.mean())
    for _ in range(2):
        _sum_over_blocks(row, which, pivot, to_values, scratch, sums, heavy)
        total = len(row) if heavy is None else sums[0, 0]
        shift, spread = sums[1, 0] / total, sums[2, 0] / total
        if shift**2 <= NEAR**2 * (spread - shift**2):
            break
        pivot += float(shift)
    return pivot


def _sum_over_blocks(
    row: NDArray[np.floating[Any]],
    which: IntArray,
    pivot: float,
    to_values: BlockMap,
    scratch: _Scratch,
    sums: FloatArray,
    heavy: FloatArray | None,
) -> None:
    parts = np.empty((len(sums), -(-len(row) // BLOCK)))
    for j in range(parts.shape[1]):
        place = slice(j * BLOCK, (j + 1) * BLOCK)
        part = row[place]
        work = scratch.matrices((1, len(part)))
        work[0] = part
        to_values(work[0], which)
        work[0] -= pivot
        if heavy is None:
            _power_sums(work, scratch.ones, parts[:, j : j + 1])
        else:
            _weighted_power_sums(work, heavy[None, place], scratch.ones, parts[:, j : j + 1])
    sums[:, 0] = parts.sum(axis=1)


def _power_sums(work: FloatArray, ones: FloatArray, sums: FloatArray) -> None:
    """Sums of v^0..v^order along the rows of v = work[0]; the other three matrices of `work` are overwritten."""
    v, v2, v3, v4 = work
    order, n_samples = len(sums) - 1, v.shape[1]
    np.multiply(v, v, out=v2)
    sums[0] = n_samples
    sums[1] = np.vecdot(v, ones[:n_samples])
    sums[2] = np.vecdot(v, v)
    sums[3] = np.vecdot(v2, v)
    if order >= 4:
        sums[4] = np.vecdot(v2, v2)
    if order <= 4:
        return
    np.multiply(v2, v, out=v3)
    np.multiply(v2, v2, out=v4)
    for k, (one, other) in enumerate([(v4, v), (v4, v2), (v4, v3), (v4, v4)][: order - 4], start=5):
        sums[k] = np.vecdot(one, other)


def _weighted_power_sums(work: FloatArray, weights: FloatArray, ones: FloatArray, sums: FloatArray) -> None:
    """Sums of w v^0..w v^order, in the manner of `_power_sums`."""
    v, v2, v3, heavy = work
    order, ones = len(sums) - 1, ones[: v.shape[1]]
    np.multiply(v, v, out=v2)
    np.multiply(weights, v, out=heavy)
    sums[0] = np.vecdot(weights, ones)
    sums[1] = np.vecdot(heavy, ones)
    sums[2] = np.vecdot(heavy, v)
    sums[3] = np.vecdot(heavy, v2)
    if order >= 4:
        heavy *= v
        sums[4] = np.vecdot(heavy, v2)
    if order > 4:
        np.multiply(v2, v, out=v3)
        heavy *= v2  # w v^4
        for k, other in enumerate((v, v2, v3)[: order - 4], start=5):
            sums[k] = np.vecdot(heavy, other)
    if order == 8:
        heavy *= v
        sums[8] = np.vecdot(heavy, v3)


def _standardize(pivot: FloatArray, means: FloatArray) -> Moments:
    mean, deviation = standardize(pivot, means)
    return Moments(mean, deviation, means)


def standardize(pivot: Any, means: Any) -> tuple[Any, Any]:
    """Means of v^k about the pivot become a_k, in place.

    E[v^(k-i) (v-d)^i], i = 0..k, is the binomial shift by d = E[v]. Returns mean and standard deviation. Columns of
    samples or one sample: the same lines are compiled.
    """
    order = len(means) - 1
    shift = means[1] + 0.0
    for i in range(order):
        for k in range(order, i, -1):
            means[k] -= shift * means[k - 1]
    deviation = np.sqrt(means[2])
    power = means[2] + 0.0  # m_2^(k/2), from k = 2
    means[2] = 1.0
    for k in range(3, order + 1):
        power = power * deviation
        means[k] /= power
    return pivot + shift, deviation


# --- entries ---


def centred_rows(rows: FloatArray) -> tuple[FloatArray, NDArray[np.intc]]:
    """Rows (R, N) less their means, by a power of two 2^-e such that the range is in [1, 2); and e, (R,).

    The second mean that goes is what the first one, beside an offset, rounds away.
    """
    centred, exponents = np.empty_like(rows), np.empty(len(rows), dtype=np.intc)
    for part in blocks(len(rows), rows.shape[1]):
        x, here = rows[part], centred[part]
        exponent = np.frexp(x.max(axis=1) / 2 - x.min(axis=1) / 2)[1]
        np.ldexp(x, -exponent[:, None], out=here)
        for _ in range(2):
            here -= here.mean(axis=1, keepdims=True)
        exponents[part] = exponent
    return centred, exponents


def standardized_entries(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(x - m)/s, 1/s and what is left of mean and variance, of shapes (R, N), (R, 1) and (R,); NaN in constant rows."""
    z, exponent = centred_rows(rows)
    slope, residual = np.empty((len(rows), 1)), np.empty(len(rows))
    with np.errstate(all="ignore"):
        for part in blocks(len(rows), rows.shape[1]):
            here = z[part]
            deviation = np.sqrt(_mean_square(here))[:, None]
            here /= deviation
            slope[part] = np.ldexp(1 / deviation, -exponent[part, None])
            residual[part] = np.maximum(np.abs(here.mean(axis=1)), np.abs(_mean_square(here) - 1) / 2)
    return z, slope, residual


def _mean_square(z: FloatArray) -> FloatArray:
    parts = [z[:, i : i + BLOCK] for i in range(0, z.shape[1], BLOCK)]
    return np.asarray(sum(np.vecdot(part, part) for part in parts) / z.shape[1])
