"""Ties at the minimum and the maximum of a sample, and which skewness it can therefore reach.

Theorem C: a sample moves to a skewness iff that lies strictly between two ends, which depend on the shares tied at its
minimum and at its maximum only. Counts are compared exactly. Of weights, sums in float64 decide where rounding cannot
matter; near an end they are added as integers, in units of the last bit of the smallest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.attainable import beyond_end, skewness_interval
from symdecouple.numeric.moments.power_sums import ZERO_VARIANCE
from symdecouple.numeric.samples.intake import fractions_of
from symdecouple.numeric.samples.matrix import BoolArray, FloatArray, IntArray, SampleMatrix

__all__ = ["Tied", "Ties", "count_ties", "exact_sum", "has_merged", "is_clear", "is_flat_at_two", "ties_of",
           "unreachable_as_given", "unreachable_row", "unreachable_rows", "why_unreachable"]

Tied: TypeAlias = Any  # int, or Fraction of the weight

_CLEAR = 2.0**-40  # of a skewness: what no rounding of shares or targets amounts to
_COUNTED = 1e6  # of a skewness: beyond, nobody has as many samples
_MERGED = 0.75  # power of rounding below which two values are one: `hankel` sees rounding beside the fourth moment


def is_clear(at_low: Any, at_high: Any, total: Any, target: Any) -> Any:
    """True where the exact comparison need not see: a third value, and no rounding takes the target to an end.

    Columns of samples or one sample: the same lines are compiled.
    """
    lowest = (2 * at_low - total) / np.sqrt(at_low * (total - at_low))
    highest = (total - 2 * at_high) / np.sqrt(at_high * (total - at_high))
    is_above = target - lowest > _CLEAR * (1 + np.abs(lowest))
    return is_above & (highest - target > _CLEAR * (1 + np.abs(highest))) & (at_low + at_high < total)


def count_ties(matrix: SampleMatrix) -> tuple[IntArray, IntArray]:
    """How many entries of each row equal its minimum and its maximum, by exact comparison of the input."""
    if matrix.ties is not None:
        return matrix.ties
    low, high = (np.count_nonzero(matrix.values == end[:, None], axis=1) for end in (matrix.low, matrix.high))
    return low, high


@dataclass(frozen=True, slots=True)
class Ties:
    """What is tied at both ends of each row: numbers of entries, or weight.

    Attributes
    ----------
    at_low, at_high, total : arrays (R,), or a number for all rows
        As floats tell, where samples are weighed.
    two_valued : bool array (R,)
        Rows without a third value.
    exact : callable
        From a row to the same three exactly: integers, or shares of the weight out of 1.
    """

    at_low: Any
    at_high: Any
    total: Any
    two_valued: BoolArray
    exact: Callable[[int], tuple[Tied, Tied, int]]

    @classmethod
    def of_counts(cls, low: IntArray, high: IntArray, n_samples: int) -> Ties:
        """Of so many equal entries."""
        two = np.asarray(low + high == n_samples)
        return cls(low, high, n_samples, two, lambda i: (int(low[i]), int(high[i]), n_samples))

    def balanced(self) -> BoolArray:
        """Rows whose two ends are tied equally."""
        equal: BoolArray = np.abs(self.at_low - self.at_high) <= _CLEAR * self.total
        for i in np.flatnonzero(equal).tolist():
            low, high, _ = self.exact(i)
            equal[i] = low == high
        return equal

    def unreachable(self, target: FloatArray) -> dict[int, Outcome]:
        """Why rows do not move to their targets; two-valued and constant ones never do."""
        with np.errstate(all="ignore"):  # where one end holds all values, or both do, nothing is clear
            clear = is_clear(self.at_low, self.at_high, self.total, target)
        reasons = {i: why_unreachable(*self.exact(i), float(target[i])) for i in np.flatnonzero(~clear).tolist()}
        return {i: why for i, why in reasons.items() if why is not None}


def ties_of(matrix: SampleMatrix) -> Ties:
    """Counts; or weights where the matrix has them, with ends as they were marked before rounding."""
    if matrix.weights is None:
        return Ties.of_counts(*count_ties(matrix), matrix.values.shape[1])
    weights, counts = matrix.weights, matrix.weights > 0
    marked = matrix.ends or (matrix.values == matrix.low[:, None], matrix.values == matrix.high[:, None])
    is_low, is_high = (end & counts for end in marked)

    def exact(i: int) -> tuple[Tied, Tied, int]:
        low, high = (exact_sum(weights[i][end[i]]) for end in (is_low, is_high))
        total = exact_sum(weights[i])
        return low / total, high / total, 1

    two = np.asarray((is_low | is_high | ~counts).all(axis=1) & ~(is_low & is_high).any(axis=1))
    return Ties(weights.sum(axis=1, where=is_low), weights.sum(axis=1, where=is_high), weights.sum(axis=1), two, exact)


def unreachable_as_given(matrix: SampleMatrix, target: float) -> dict[int, Outcome]:
    """Why rows do not move to a skewness by their ties, as they were counted before rounding; two values aside."""
    ties = ties_of(matrix)
    found = ties.unreachable(np.full(len(matrix.low), target))
    return {i: why for i, why in found.items() if not ties.two_valued[i]}


def has_merged(matrix: SampleMatrix) -> BoolArray:
    """Rows of which rounding put more at an end than was there."""
    given, rounded = ties_of(matrix), ties_of(replace(matrix, ties=None, ends=None))
    return np.asarray((given.at_low != rounded.at_low) | (given.at_high != rounded.at_high))


def is_flat_at_two(row: NDArray[Any], covector: NDArray[Any], rounding: Any) -> bool:
    """True for two values, but for rounding, and a gradient that is one number at each.

    They are a saddle of the skewness: samples nearby, h away, come to one h away, where a function with this gradient,
    and mean and variance as they are, changes by h^2. So it has the gradient 0 as a function of the samples.

    >>> is_flat_at_two(np.array([0.0, 1, 1]), np.array([3.0, 5, 5]), 2.0**-52)
    True
    """
    low, high = row.min(), row.max()
    slack = rounding**_MERGED * (high - low)
    is_low = row - low <= slack
    if is_low.all() or not (is_low | (high - row <= slack)).all():
        return False
    parts = [covector[some] for some in (is_low, ~is_low)]
    return bool(max(part.max() - part.min() for part in parts) <= rounding**0.5 * abs(covector).max())


def unreachable_rows(rows: NDArray[Any], target: Any) -> dict[int, Outcome]:
    """`unreachable_row` of those rows (R, N) that have a reason."""
    near, n_samples = float(target), rows.shape[1]
    around = [near] if near == target else [np.nextafter(near, -np.inf), np.nextafter(near, np.inf)]
    if rows.dtype == object:
        rows = np.array([fractions_of(row) or [Fraction()] * n_samples for row in rows], dtype=object)
    low, high = (np.count_nonzero(rows == end[:, None], axis=1) for end in (rows.min(axis=1), rows.max(axis=1)))
    ties = Ties.of_counts(low, high, n_samples)
    found = [ties.unreachable(np.full(len(rows), float(beside))) for beside in around]
    return {i: why for i, why in found[0].items() if low[i] + high[i] < n_samples and all(i in each for each in found)}


def unreachable_row(row: NDArray[Any], target: Any) -> Outcome | None:
    """Why a sample of exact numbers of any kind, (N,), three of them distinct, cannot come to a skewness, by counting
    its ties; None where it can, and where rounding of the target decides.

    >>> unreachable_row(np.array([3, 14, 20, 2**60, 2**60, 2**60]), 0).reason
    'limit only'
    """
    return unreachable_rows(row[None], target).get(0)


def exact_sum(weights: FloatArray) -> Fraction:
    """Add floats without rounding, as integers in units of the last bit of the smallest."""
    mantissa, exponent = np.frexp(weights)
    least = int(exponent.min(initial=0))
    whole = zip(np.ldexp(mantissa, 53).astype(np.int64).tolist(), (exponent - least).tolist(), strict=True)
    return Fraction(sum(m << e for m, e in whole)) * Fraction(2) ** (least - 53)


@lru_cache(maxsize=1024)
def why_unreachable(at_low: Tied, at_high: Tied, n_samples: int, target: float = 0.0) -> Outcome | None:
    """Why no sample with these ties is moved to the skewness `target`; None where each one is.

    Fractions are shares of weight, out of ``n_samples=1``. Two values are refused whatever the target: that they may be
    there already is for the caller to see.
    """
    if at_low == n_samples:
        return ZERO_VARIANCE
    is_share = isinstance(at_low, Fraction)
    lowest, highest = skewness_interval(at_low, at_high, n_samples)
    if at_low + at_high == n_samples:
        two = (f"with {float(at_low):.6g} and {float(at_high):.6g} of the weight" if is_share else
               f"{at_low} and {at_high} times")
        return Outcome(
            False,
            "two-valued",
            f"critical point of the skewness: two values, {two}, have skewness {highest:.6g} "
            "wherever they are; a third value is needed",
        )
    below, above = beyond_end(-target, at_low, n_samples), beyond_end(target, at_high, n_samples)
    if max(below, above) < 0:
        return None
    end, at_end = ("minimum", at_low) if below >= above else ("maximum", at_high)
    tied = f"with {float(at_end):.6g} of the weight" if is_share else f"tied {at_end} of {n_samples} times"
    interval, wanted = f"skewness stays in ({lowest:.6g}, {highest:.6g})", f"{target:.6g} was wanted"
    if target == 0:
        less = ("less than half of the weight may lie on" if is_share else "fewer than half of the values may be tied "
                "at") + " an end; break the ties if noise is acceptable"
        if max(below, above) == 0:
            half = "with half of the weight" if is_share else "tied N/2 times"
            return Outcome(False, "limit only", f"limit only: {end} {half}, {interval}; {less}")
        return Outcome(False, "no zero-skew point", f"{interval}, {end} {tied}; not with these ties: {less}")
    more = f"{'less weight on' if is_share else 'fewer values tied at'} the {end}"
    remedy = f"not with these ties: with {more} more can be reached"
    if n_samples > 1 and beyond_end(abs(target), 1, n_samples) >= 0:
        remedy = f"no sample of {n_samples} values has it, {_needed(target)}"
    if max(below, above) == 0:
        return Outcome(False, "limit only", f"limit only: {interval}, {wanted}; choose a target strictly inside")
    return Outcome(False, "skewness out of reach", f"{interval}, {wanted}, {end} {tied}; {remedy}")


def _needed(target: float) -> str:
    """Say from which N on (N - 2)/sqrt(N - 1) is above a skewness."""
    if not abs(target) < _COUNTED:
        return f"more than {target * target:.3g} values are needed"
    n_samples = int(((abs(target) + (target * target + 4) ** 0.5) / 2) ** 2) + 1
    while beyond_end(abs(target), 1, n_samples) >= 0:
        n_samples += 1
    return f"N >= {n_samples} is needed"
