"""Weights of samples: where they lie beside the array, and rows made ready for a kernel.

Rows that need no thought (finite float64 numbers, all there, without weights) are none of these (`batch`).

A weight says how often an entry counts; only ratios within one sample matter. Whole numbers give what repeating the
entries gives. A weight of 0 says that the entry is not there, whatever its value; a weight that is missing (NaN or
masked) is missing as its entry would be. Negative and infinite weights have no meaning: their samples are refused.

Weights are taken at their exact value in float64. Fractions, Decimals and large integers go over to integers first, in
units of their common denominator: up to 2**53 of these, shares such as 1/10 + 1/5 = 3/10 are seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.samples.intake import (
    Numbers,
    centre_exactly,
    ends_of,
    exact,
    is_exact_in_float64,
    lift_of,
    shifted_integers,
    spans_of,
    take_numbers,
)
from symdecouple.numeric.samples.matrix import (
    EMPTY,
    INFINITE,
    NAN_INPUT,
    SINGLE,
    BoolArray,
    FloatArray,
    IntArray,
    SampleMatrix,
    as_rows,
)

__all__ = ["WeighedRows", "WeightRows", "present_in"]

NEGATIVE_WEIGHT = Outcome(False, "negative weight", "weights are 0 or more; 0 leaves an entry out")
INFINITE_WEIGHT = Outcome(False, "infinite weight", "weights are finite; only their ratios matter")
NO_WEIGHT = Outcome(False, "no weight", "all weights are 0, at least 2 positive ones are needed")
_EXACT_SPAN, _INT64_SPAN = np.uint64(2**53), np.uint64(2**63)  # differences are float64, or integers, as they are
_SPAN = 2.0**-200  # of the largest weight: standardized moments go to its power -5, at order 12
UNEQUAL_WEIGHTS = Outcome(
    False, "beyond float64", "weights of one sample differ by more than a factor 2**200; give the smallest the weight 0"
)


@dataclass(frozen=True, slots=True)
class WeightRows:
    """Weights in float64, (R, N), or (1, N) where all samples share them, and what is masked in them."""

    weights: FloatArray
    masked: BoolArray | None

    @classmethod
    def of(cls, weights: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> WeightRows:
        """Weights that have the shape of the sample axes, or broadcast against the array."""
        try:
            given = take_numbers(weights)
        except InvalidInput as error:
            raise InvalidInput(f"weights: {error}") from None
        n_samples = math.prod(shape[i] for i in axes)
        if given.array.shape == tuple(shape[i] for i in axes):
            order = np.argsort(axes)
            rows = given.array.transpose(order).reshape(1, n_samples)
            masked = None if given.masked is None else given.masked.transpose(order).reshape(1, n_samples)
            return cls(_floats(rows), masked)
        _check_shape(given.array.shape, shape, axes)
        rows = as_rows(np.broadcast_to(given.array, shape), axes)
        masked = None if given.masked is None else as_rows(np.broadcast_to(given.masked, shape), axes)
        return cls(_floats(rows), masked)

    def of_rows(self, which: IntArray) -> tuple[FloatArray, BoolArray | None]:
        """Those of the samples named, one row each."""
        if len(self.weights) > 1:
            return self.weights[which], None if self.masked is None else self.masked[which]
        shape = (len(which), self.weights.shape[1])
        return np.broadcast_to(self.weights, shape), (
            None if self.masked is None else np.broadcast_to(self.masked, shape)
        )


def present_in(given: Numbers, axes: tuple[int, ...], weighed: WeightRows | None) -> BoolArray:
    """Which entries of the samples count, (R, N): those that are neither masked nor of weight 0."""
    shape, hidden = as_rows(given.array, axes).shape, None if given.masked is None else as_rows(given.masked, axes)
    one = np.broadcast_to(1.0, shape), None
    return _counted(hidden, *(one if weighed is None else weighed.of_rows(np.arange(shape[0]))))


def _counted(hidden: BoolArray | None, weights: FloatArray, omitted: BoolArray | None) -> BoolArray:
    """Which entries count: neither masked, nor of weight 0, nor of a weight that is masked."""
    present: BoolArray = weights != 0
    for mask in (hidden, omitted):
        if mask is not None:
            present &= ~mask
    return present


def _check_shape(given: tuple[int, ...], shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    along = tuple(shape[i] for i in axes)
    fits = len(given) <= len(shape) and all(n in (1, m) for n, m in zip(given[::-1], shape[::-1], strict=False))
    varies = any(given[i - len(shape)] > 1 for i in axes if i >= len(shape) - len(given))
    if fits and (varies or math.prod(given) <= 1 or math.prod(along) <= 1):
        return
    remedy = f"give the shape {along} of the sample axes, or one that broadcasts to {shape} and varies along them"
    raise InvalidInput(f"weights of shape {given} were given for an array of shape {shape}; {remedy}")


def _floats(rows: NDArray[Any]) -> FloatArray:
    if rows.dtype.kind == "f" or (rows.dtype.kind in "iu" and (
            not rows.size or is_exact_in_float64(rows.min(), rows.max()))):
        return np.asarray(rows, dtype=np.float64)
    return np.array([_in_common_units(row) for row in rows.tolist()], dtype=np.float64).reshape(rows.shape)


def _in_common_units(row: Sequence[Any]) -> list[float]:
    """Exact numbers as integers times one unit, brought into the range of float64 where they are not."""
    numbers = [exact(value) for value in row]
    unit = math.lcm(*(value.denominator for value in numbers if isinstance(value, Fraction)))
    whole = [value if isinstance(value, float) else int(value * unit) for value in numbers]
    largest = max((abs(value) for value in whole if isinstance(value, int)), default=0)
    down = 2 ** max(largest.bit_length() - 1000, 0)
    return [value if isinstance(value, float) else value / down for value in whole]


# --- rows that need thought ---


@dataclass(frozen=True, slots=True)
class WeighedRows:
    """Some rows of the input beside their weights, 1 where there are none: which entries are there, which are missing.

    `values` are floats, in rows of exact numbers centred before they were rounded; `ends` marks their extremes then,
    and `lifts` are exponents of what they were multiplied by, (R,).
    """

    values: NDArray[np.floating[Any]]
    weights: FloatArray
    present: BoolArray
    missing: BoolArray
    ends: tuple[BoolArray, BoolArray] | None
    lifts: IntArray
    is_weighed: bool

    @classmethod
    def of(
        cls, rows: NDArray[Any], hidden: BoolArray | None, weights: FloatArray | None, omitted: BoolArray | None
    ) -> WeighedRows:
        """Rows, what is masked in them, their weights, and what is masked in these."""
        is_weighed = weights is not None
        weights = np.broadcast_to(1.0, rows.shape) if weights is None else weights
        present = _counted(hidden, weights, omitted)
        if rows.dtype.kind == "f":
            values = rows if rows.dtype == np.float32 else rows.astype(np.float64, copy=False)
            missing = (np.isnan(values) | np.isnan(weights)) & present
            return cls(values, weights, present & ~missing, missing, None, np.zeros(len(rows), np.intp), is_weighed)
        values, missing, ends, lifts = _from_exact(rows, weights, present)
        return cls(values, weights, present & ~missing, missing, ends, lifts, is_weighed)

    def refusals(self, *, omit: bool) -> dict[int, Outcome]:
        """Rows that cannot be asked."""
        counted = self.present.sum(axis=1)
        reasons = [(self.missing.any(axis=1) & (not omit), NAN_INPUT)]
        infinite = (np.isinf(self.values) & self.present).any(axis=1), INFINITE
        if self.is_weighed:
            weights = np.where(self.present, self.weights, 0.0)
            smallest = weights.min(axis=1, where=self.present, initial=np.inf)
            empty = (counted == 0) & ~(self.weights == 0).all(axis=1) | (self.weights.shape[1] == 0)
            reasons += [((weights < 0).any(axis=1), NEGATIVE_WEIGHT), (np.isinf(weights).any(axis=1), INFINITE_WEIGHT),
                        infinite, (empty, EMPTY), (counted == 0, NO_WEIGHT), (counted == 1, SINGLE),
                        (smallest < _SPAN * weights.max(axis=1, initial=0), UNEQUAL_WEIGHTS)]
        else:
            reasons += [infinite, (counted == 0, EMPTY), (counted == 1, SINGLE)]
        found: dict[int, Outcome] = {}
        for where, outcome in reasons:
            for i in np.flatnonzero(where).tolist():
                found.setdefault(i, outcome)
        return found

    def matrices(self, rows: list[int]) -> Iterator[tuple[IntArray, SampleMatrix]]:
        """The rows named, those with equally many entries together; what is absent or missing is dropped."""
        counted = self.present.sum(axis=1)
        for count in np.unique(counted[rows]).tolist():
            which = np.array([i for i in rows if counted[i] == count], dtype=np.intp)
            here: Any = which if len(which) < len(counted) else slice(None)
            present = self.present[here]

            def kept(array: NDArray[Any], here: Any = here, present: BoolArray = present, n: int = count
                     ) -> NDArray[Any]:
                taken = np.ascontiguousarray(array[here])
                return taken if n == array.shape[1] else taken[present].reshape(-1, n)

            ends = self.ends and (kept(self.ends[0]), kept(self.ends[1]))
            if self.is_weighed:
                yield which, SampleMatrix.weighted(kept(self.values), kept(self.weights), ends)
            else:
                yield which, SampleMatrix.of(kept(self.values), ends and (ends[0].sum(axis=1), ends[1].sum(axis=1)))


def _from_exact(
    rows: NDArray[Any], weights: FloatArray, present: BoolArray
) -> tuple[FloatArray, BoolArray, tuple[BoolArray, BoolArray] | None, IntArray]:
    """Integers and objects as floats; where rounding would lose something, centred first, with both ends marked."""
    lifts = np.zeros(len(rows), dtype=np.intp)
    missing, odd = np.isnan(weights) & present, np.ones(len(rows), dtype=np.bool_)
    values, (low, high) = np.zeros(rows.shape), np.zeros((2, *rows.shape), dtype=np.bool_)
    if rows.dtype.kind in "iu":
        values[:], (least, most) = rows, ends_of(rows, present)
        odd = ~is_exact_in_float64(least, most)
        if not odd.any():
            return values, missing, None, lifts
        low, high, spans = rows == least[:, None], rows == most[:, None], spans_of(least, most)
        is_even = present.all(axis=1) & (weights.min(axis=1) == weights.max(axis=1))
        known = rows if present.all() else np.where(present, rows, least[:, None])
        quick = odd & ~missing.any(axis=1) & ((spans <= _EXACT_SPAN) | (is_even & (spans < _INT64_SPAN)))
        values[quick] = shifted_integers(known[quick])[0]
        odd &= ~quick
    for i in np.flatnonzero(odd).tolist():
        values[i], missing[i], low[i], high[i], lifts[i] = _exact_row(rows[i], weights[i], present[i])
    return values, missing, (low, high), lifts


def _exact_row(
    row: NDArray[Any], weights: FloatArray, present: BoolArray
) -> tuple[FloatArray, BoolArray, BoolArray, BoolArray, int]:
    """Exact numbers centred and rounded, which of them are missing, at the minimum, at the maximum, and their lift."""
    lift, values, missing = 0, np.zeros(len(row)), np.isnan(weights) & present
    low, high = np.zeros((2, len(row)), dtype=np.bool_)
    kept = row[present]
    finite: dict[int, Fraction] = {}
    for i, number in zip(np.flatnonzero(present).tolist(), map(exact, kept.tolist()), strict=True):
        if isinstance(number, float):
            values[i], missing[i] = number, missing[i] or math.isnan(number)
        elif not missing[i]:
            finite[i] = number
    if finite:
        places, numbers = list(finite), list(finite.values())
        least, most = min(numbers), max(numbers)
        values[places] = centre_exactly(numbers, weights[places].tolist())
        low[places], high[places] = [v == least for v in numbers], [v == most for v in numbers]
        lift = lift_of(numbers) if least < most else 0
    return values, missing, low, high, lift
