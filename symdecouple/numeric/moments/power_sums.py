"""Standardized central moments a_k = m_k / m_2^(k/2) of many samples.

m_k = Mean((x - m)^k) is taken as power sums of v = x - c for a pivot c near the mean m, then shifted by the exact
binomial identity. Three rules keep the digits:

* subtract a sample value before anything else (x - min x is rounded relative to itself, so an offset costs nothing);
  with weights their median, or a small share of weight far below all others would blur these;
* scale by a power of two, which rounds nothing, so that units of 1e-150 and 1e150 give the same bits;
* sum 256 products, then these sums in pairs, and those of pieces of a long row with what rounding takes from them.

No sum runs across two rows, so neighbours and batch size cannot show in the last bit. Weights multiply the products;
their mean and their median are at most one standard deviation apart, at any shares and distances.

Symbols: `standardized[k]` is a_k, `deviation` is sqrt(m_2), `mean` is m in the units of the mapped block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.samples.batch import FloatArray, IntArray, RowValues, SampleMatrix

__all__ = [
    "LIFT", "ZERO_VARIANCE", "BlockMap", "Moments", "PowerSums", "blocks", "centred_rows", "kurtosis_rows", "lifted",
    "mean_power", "means_about", "near_sample", "place_and_scale", "power", "power_means", "range_exponent",
    "skewness_rows", "standardize", "standardized_entries", "standardized_moments", "to_unit_range",
    "unit_and_lift", "weighted_medians",
]

BLOCK = 8192  # elements worked on at a time: the temporaries stay in the cache
_SHORT = 256  # products in one sum: BLAS adds them in 16 or more lanes
PIVOT_SAMPLES = 32  # their mean stands for the mean of a long row, whose first pass then is its only one
NEAR = 0.5  # a pivot within half a standard deviation costs the binomial shift less than one digit to order 8
_NEARER = 2.0**-6  # and this one to any order
_TOP = 1023  # the largest exponent of a power of two that is a float
LIFT = 1010  # both g and w keep all their digits down to 2**-2030 of the range

ZERO_VARIANCE = Outcome(False, "zero variance", "all values are equal; shape needs at least two distinct values")

# Takes a block (rows, samples) in place to the values whose moments are wanted; the indices name its rows.
BlockMap: TypeAlias = Callable[[FloatArray, IntArray], None]


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean, standard deviation and a_0..a_order, one column a row of the matrix."""

    mean: FloatArray
    deviation: FloatArray
    standardized: FloatArray


def skewness_rows(matrix: SampleMatrix) -> RowValues:
    """a_3 of each row."""
    return _standardized_rows(matrix, 3)


def kurtosis_rows(matrix: SampleMatrix) -> RowValues:
    """a_4 of each row, not in excess."""
    return _standardized_rows(matrix, 4)


def _standardized_rows(matrix: SampleMatrix, order: int) -> RowValues:
    varying = matrix.low < matrix.high
    values = np.full(len(varying), np.nan)
    which = np.flatnonzero(varying)
    found = standardized_moments(matrix.values, which, order, to_unit_range(matrix), matrix.weights)
    values[which] = found.standardized[order]
    return RowValues(values, {int(i): ZERO_VARIANCE for i in np.flatnonzero(~varying)})


def place_and_scale(matrix: SampleMatrix) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, variance and skewness of each row, (R,); the skewness of a constant row is NaN.

    A variance beyond float64 is infinite, one below it 0.
    """
    varying = np.flatnonzero(matrix.low < matrix.high)
    mean, variance = near_sample(matrix), np.zeros(len(matrix.low))
    skewness = np.full(len(matrix.low), np.nan)
    if len(varying):
        unit = unit_and_lift(matrix)[0]
        found = standardized_moments(matrix.values, varying, 3, to_unit_range(matrix, unit, mean), matrix.weights)
        exponent = -unit[varying]
        down = np.where(exponent > 1023, 2, 0)  # a range beyond float64: its ends and its middle are inside
        with np.errstate(all="ignore"):
            middle = np.ldexp(mean[varying], -down) + np.ldexp(found.mean, exponent - down)
            mean[varying] = np.ldexp(middle, down)
            variance[varying] = np.ldexp(found.deviation**2, 2 * exponent)
        skewness[varying] = found.standardized[3]
    return mean, variance, skewness


def range_exponent(matrix: SampleMatrix) -> NDArray[np.intc]:
    """e with 2^(e-1) <= max - min < 2^e, also where max - min itself overflows."""
    with np.errstate(all="ignore"):
        span = matrix.high - matrix.low
    if not np.isinf(span).any():
        return np.frexp(span)[1]
    down = np.where(np.isinf(span), 4, 0).astype(np.intc)
    exponent: NDArray[np.intc] = np.frexp(np.ldexp(matrix.high, -down) - np.ldexp(matrix.low, -down))[1] + down
    return exponent


def unit_and_lift(matrix: SampleMatrix, most: int = _TOP) -> tuple[IntArray, IntArray]:
    """Exponents of the powers of two that bring the range of a row near 1, and near the top of float64."""
    exponent = range_exponent(matrix).astype(np.intp)
    magnitude = np.frexp(np.maximum(np.abs(matrix.low), np.abs(matrix.high)))[1]  # offsets must not overflow either
    return np.minimum(-exponent, most), np.minimum(np.minimum(LIFT - exponent, 1022 - magnitude), most)


def lifted(matrix: SampleMatrix) -> tuple[SampleMatrix, IntArray, IntArray]:
    """The rows times 2^lift, where a scale below 2**1023 would not bring their ranges near the top of float64.

    And the exponents that bring the ranges of rows as they are near 1.
    """
    unit, wanted = unit_and_lift(matrix, most=4 * _TOP)
    lift = np.where(wanted > _TOP, wanted, 0)
    if not lift.any():
        return matrix, lift, unit
    values = np.ldexp(matrix.values, lift[:, None])
    low, high = np.ldexp(matrix.low, lift), np.ldexp(matrix.high, lift)
    return SampleMatrix(values, low, high, weights=matrix.weights), lift, unit


def near_sample(matrix: SampleMatrix) -> FloatArray:
    """The value of each row that is subtracted first: the minimum, or the median of the weights."""
    return matrix.low.copy() if matrix.weights is None else weighted_medians(matrix.values, matrix.weights)


def weighted_medians(values: NDArray[np.floating[Any]], weights: FloatArray) -> FloatArray:
    """The first value of each row up to which more than half of the weight lies: by bisection of the sorted row.

    Of a long row some values first, then those between two: the weight grows with the value, rounding included.
    """
    medians = np.empty(len(values))
    for part in blocks(len(values), values.shape[1]):
        x, heavy, among = values[part], weights[part], values[part]
        if x.shape[1] > BLOCK:  # one row
            few = np.sort(x[:, :: x.shape[1] // BLOCK], axis=1)
            place = int(_heavier(x, heavy, few)[0])
            least, most = np.concatenate([[-np.inf], few[0, :-1], [np.inf]])[place : place + 2]
            among = x[(x >= least) & (x <= most)][None]
        ordered = np.sort(among, axis=1)
        medians[part] = np.take_along_axis(ordered, _heavier(x, heavy, ordered)[:, None], axis=1)[:, 0]
    return medians


def _heavier(x: NDArray[np.floating[Any]], heavy: FloatArray, ordered: NDArray[np.floating[Any]]) -> IntArray:
    """The place of the first of some numbers up to which more than half of the weight lies, or of the last one."""
    half, low, high = heavy.sum(axis=1) / 2, np.zeros(len(x), dtype=np.intp), np.full(len(x), ordered.shape[1] - 1)
    while (low < high).any():
        middle = (low + high) // 2
        end = np.take_along_axis(ordered, middle[:, None], axis=1)
        pieces = (slice(i, i + BLOCK) for i in range(0, x.shape[1], BLOCK))
        is_more = sum(np.vecdot(heavy[:, some], x[:, some] <= end) for some in pieces) > half
        low, high = np.where(is_more, low, middle + 1), np.where(is_more, middle, high)
    return low


def to_unit_range(matrix: SampleMatrix, unit: IntArray | None = None, near: FloatArray | None = None) -> BlockMap:
    """x -> (x - c)/2^e, c from `near_sample`, in (-1, 1); the scale goes first, or x - c could overflow."""
    scale = np.ldexp(1.0, unit_and_lift(matrix)[0] if unit is None else unit)
    near = (near_sample(matrix) if near is None else near) * scale

    def apply(block: FloatArray, which: IntArray) -> None:
        block *= scale[which, None]
        block -= near[which, None]

    return apply


def blocks(n_rows: int, n_samples: int) -> Iterator[slice]:
    """Row slices of at most `BLOCK` elements, at least one row each."""
    step = max(1, BLOCK // n_samples)
    return (slice(i, min(i + step, n_rows)) for i in range(0, n_rows, step))


def standardized_moments(rows: NDArray[np.floating[Any]], which: IntArray, order: int, to_values: BlockMap,
                         weights: FloatArray | None = None) -> Moments:
    """Moments up to `order`, at least 3, of the mapped values of the rows named in `which`.

    Every mapped row must vary. Cost: one pass, seldom two, of about ten floating-point operations an element.
    """
    n_samples, n_rows = rows.shape[1], len(which)
    pivot, means = np.zeros(n_rows), np.empty((order + 1, n_rows))  # 0 is where the median of weights lies
    for part in blocks(n_rows, n_samples):
        some = which[part]
        if n_samples <= BLOCK:
            ((values, heavy),) = _pieces(rows, some, to_values, weights)
            pivot[part] = _mean(values, heavy)
            values -= pivot[part, None]
            means[:, part] = _sums(values, order, heavy)
            means[:, part] /= means[0, part]
            continue
        if weights is None:
            step = n_samples // PIVOT_SAMPLES
            pivot[part] = _mean(*next(_pieces(rows[:, : step * PIVOT_SAMPLES : step], some, to_values, None)))
        for _ in range(2):
            means[:, part] = means_about(rows, some, order, to_values, weights, pivot[part])
            shift, spread = means[1, part], means[2, part]
            if (np.abs(shift) <= (NEAR if order <= 8 else _NEARER) * np.sqrt(spread - shift**2)).all():
                break
            pivot[part] += shift
    if n_rows != 1:
        return Moments(*standardize(pivot, means), means)
    numbers = list(means[:, 0])  # of one row: they take a tenth of the time of arrays of one
    mean, deviation = standardize(pivot[0], numbers)
    return Moments(np.array([mean]), np.array([deviation]), np.array(numbers)[:, None])


def means_about(rows: NDArray[np.floating[Any]], which: IntArray, order: int, to_values: BlockMap,
                weights: FloatArray | None, pivot: FloatArray) -> FloatArray:
    """Mean((v - pivot)^k), k = 0..order, of the mapped values v of the rows named, (order + 1, r)."""
    means = np.empty((order + 1, len(which)))
    for part in blocks(len(which), rows.shape[1]):
        total = PowerSums.empty(order, len(which[part]))
        for values, heavy in _pieces(rows, which[part], to_values, weights):
            total.update(values - pivot[part, None], heavy)
        means[:, part] = total.means()
    return means


def _pieces(
    rows: NDArray[np.floating[Any]], which: IntArray, to_values: BlockMap, weights: FloatArray | None
) -> Iterator[tuple[FloatArray, FloatArray | None]]:
    """Mapped values and weights of the rows named, at most `BLOCK` of a row at a time."""
    is_run = which[-1] - which[0] + 1 == len(which)
    named = slice(which[0], which[-1] + 1) if is_run else which
    for i in range(0, rows.shape[1], BLOCK):
        piece = np.array(rows[named, i : i + BLOCK], dtype=np.float64)
        to_values(piece, which)
        yield piece, None if weights is None else weights[named, i : i + BLOCK]


def _mean(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    mean: FloatArray = values.mean(axis=1) if weights is None else np.vecdot(values, weights) / weights.sum(axis=1)
    return mean


@dataclass(slots=True)
class PowerSums:
    """sum w v^k, k = 0..order, of r rows that are seen piece after piece, (order + 1, r).

    Pieces may come to different sums, which are merged. `rest` is what rounding took from `sums`.

    >>> one, other = PowerSums.empty(2, 1), PowerSums.empty(2, 1)
    >>> one.update(np.array([[1.0, 2]]))
    >>> other.update(np.array([[4.0]]))
    >>> one.merge(other)
    >>> one.sums[:, 0].tolist()
    [3.0, 7.0, 21.0]
    """

    sums: FloatArray
    rest: FloatArray

    @classmethod
    def empty(cls, order: int, n_rows: int) -> Self:
        """Of no piece yet."""
        return cls(*np.zeros((2, order + 1, n_rows)))

    def update(self, values: FloatArray, weights: FloatArray | None = None) -> None:
        """Take in a piece (r, n) of the rows."""
        self._add(_sums(values, len(self.sums) - 1, weights))

    def merge(self, other: PowerSums) -> None:
        """Take in what other sums have seen of the same rows."""
        self._add(other.sums)
        self.rest += other.rest

    def means(self) -> FloatArray:
        """Mean(v^k)."""
        total = self.sums + self.rest
        means: FloatArray = total / total[0]
        return means

    def _add(self, sums: FloatArray) -> None:
        before, self.sums = self.sums, self.sums + sums
        added = self.sums - before
        self.rest += (before - (self.sums - added)) + (sums - added)


def _sums(v: FloatArray, order: int, weights: FloatArray | None) -> FloatArray:
    """Sums of w v^k along the rows, k = 0..order: 256 products at a time, the last of them filled up with zeros."""
    count = v.shape[1]
    v, weights = _folded(v), None if weights is None else _folded(weights)
    powers = [v]
    while 2 * len(powers) < order:
        i = len(powers) + 1
        powers.append(powers[i // 2 - 1] * powers[i - i // 2 - 1])
    heavy = powers if weights is None else [p * weights for p in powers]
    parts = np.empty((order + 1, *v.shape[:-1]))
    parts[0] = 0 if weights is None else weights.sum(axis=-1)
    parts[1] = heavy[0].sum(axis=-1)
    for k in range(2, order + 1):
        np.vecdot(heavy[(k - 1) // 2], powers[k // 2 - 1], out=parts[k])
    sums: FloatArray = parts.sum(axis=-1)
    if weights is None:
        sums[0] = count
    return sums


def _folded(rows: FloatArray) -> FloatArray:
    """Rows (r, n) as (r, m, 256), or (r, 1, n) where they are short."""
    n_rows, n_samples = rows.shape
    if missing := -n_samples % _SHORT if n_samples > _SHORT else 0:
        filled = np.zeros((n_rows, n_samples + missing))
        filled[:, :n_samples] = rows
        rows = filled
    width = min(rows.shape[1], _SHORT)
    folded: FloatArray = rows.reshape(n_rows, rows.shape[1] // width, width)  # not -1: there may be no rows
    return folded


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


def centred_rows(rows: FloatArray, weights: FloatArray | None = None) -> tuple[FloatArray, NDArray[np.intc]]:
    """Rows (R, N) less their means, by a power of two 2^-e such that the range is in [1, 2); and e, (R,).

    The second mean that goes is what the first one, beside an offset, rounds away. The median of weights goes first.
    """
    centred, exponents = np.empty_like(rows), np.empty(len(rows), dtype=np.intc)
    for part in blocks(len(rows), rows.shape[1]):
        x, here, heavy = rows[part], centred[part], None if weights is None else weights[part]
        exponent = np.frexp(x.max(axis=1) / 2 - x.min(axis=1) / 2)[1]
        np.ldexp(x, -exponent[:, None], out=here)
        if heavy is not None:
            here -= np.ldexp(weighted_medians(x, heavy), -exponent)[:, None]
        for _ in range(2):
            here -= _mean(here, heavy)[:, None]
        exponents[part] = exponent
    return centred, exponents


def standardized_entries(
    rows: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(x - m)/s, 1/s and what is left of mean and variance, of shapes (R, N), (R, 1) and (R,); NaN in constant rows."""
    z, exponent = centred_rows(rows, weights)
    slope, residual = np.empty((len(rows), 1)), np.empty(len(rows))
    with np.errstate(all="ignore"):
        for part in blocks(len(rows), rows.shape[1]):
            here, heavy = z[part], None if weights is None else weights[part]
            deviation = np.sqrt(mean_power(here, 2, heavy))[:, None]
            here /= deviation
            slope[part] = np.ldexp(1 / deviation, -exponent[part, None])
            off = np.abs(mean_power(here, 2, heavy) - 1) / 2
            residual[part] = np.maximum(np.abs(_mean(here, heavy)), off)
    return z, slope, residual


def power_means(rows: FloatArray, order: int, weights: FloatArray | None = None) -> FloatArray:
    """Mean(x^k), k = 0..order, of rows (R, N) near 0: (order + 1, R)."""
    total = PowerSums.empty(max(order, 1), len(rows))
    for i in range(0, rows.shape[1], BLOCK):
        total.update(rows[:, i : i + BLOCK], None if weights is None else weights[:, i : i + BLOCK])
    return total.means()[: order + 1]


def mean_power(z: FloatArray, order: int, weights: FloatArray | None) -> FloatArray:
    """Mean(z^order) of each row."""
    mean: FloatArray = power_means(z, order, weights)[order]
    return mean


def power(x: FloatArray, order: int) -> FloatArray:
    """x^order, order at least 1, by products: tens of times faster than floating-point powers."""
    product = x.copy()
    for _ in range(order - 1):
        product *= x
    return product
