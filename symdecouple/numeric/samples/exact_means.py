"""Means and variances that a kernel cannot see: of rows with one value, and of numbers that float64 would round.

Kernels get rows of exact numbers (integers past 2**53, Fraction, Decimal, ..) centred and scaled: shapes do not feel
it, place and scale are put right here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from operator import mul

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.samples.batch import SINGLE, Answer, as_rows
from symdecouple.numeric.samples.intake import Numbers, exact, is_exact_in_float64, shifted_integers
from symdecouple.numeric.samples.weights import WeightRows, present_in

__all__ = ["exact_rows", "put_exact"]

_BITS = 18
_DIGIT = 2**_BITS - 1
_AT_ONCE = 2**18  # numbers, for the memory of their digits


def put_exact(
    answer: Answer, given: Numbers, axes: tuple[int, ...], weighed: WeightRows | None, order: int, added: float = 0.0
) -> None:
    """Put means, and variances with something added, right among moments up to an order."""
    for i, value in _single_values(answer, given, axes, weighed):
        answer.values[i, : min(order, 2)] = (value, added)[:order]
        if order < 3:
            del answer.refusals[i]
    for i, mean, variance in exact_rows(answer, given, axes, weighed):
        answer.values[i, : min(order, 2)] = (mean, variance + added)[:order]


def _single_values(
    answer: Answer, given: Numbers, axes: tuple[int, ...], weighed: WeightRows | None
) -> Iterator[tuple[int, float]]:
    """The only value of each row that was refused because it has no other: its mean; its variance is zero."""
    which = [i for i, outcome in answer.refusals.items() if outcome is SINGLE]
    rows, present = as_rows(given.array, axes), present_in(given, axes, weighed) if which else np.empty(0)
    for i in which:
        found = [exact(value) for value in rows[i][present[i]].tolist()]
        numbers = [value for value in found if not isinstance(value, float) or not math.isnan(value)]
        if len(numbers) == 1:
            yield i, _rounded(Fraction(numbers[0]))


# --- numbers that float64 would round ---


def exact_rows(
    answer: Answer, given: Numbers, axes: tuple[int, ...], weighed: WeightRows | None
) -> Iterator[tuple[int, float, float]]:
    """Mean and variance of rows that are centred exactly before they are rounded: the kernel cannot see them."""
    rows = as_rows(given.array, axes)
    if rows.dtype.kind == "f" or rows.dtype.itemsize <= 4 or not rows.shape[1]:
        return
    present = present_in(given, axes, weighed)
    for i in np.flatnonzero(~np.isnan(answer.values[:, 0])).tolist():
        looked_at = rows[i][present[i]]
        if rows.dtype.kind in "iu" and is_exact_in_float64(looked_at.min(), looked_at.max()):
            continue
        weights = np.ones(rows.shape[1]) if weighed is None else weighed.of_rows(np.array([i]))[0][0]
        kept = present[i] & ~np.isnan(weights)
        if weighed is None and rows.dtype.kind in "iu" and (small := shifted_integers(rows[i][kept])) is not None:
            mean, variance = _of_sums(small[1], len(small[0]), *_power_sums(small[0]))
            yield i, _rounded(mean), _rounded(variance)
            continue
        numbers, shares = rows[i][kept].tolist(), weights[kept].tolist()
        if rows.dtype.kind not in "iu":
            pairs = [(v, w) for v, w in zip(map(exact, numbers), shares, strict=True) if not isinstance(v, float)]
            numbers, shares = [v for v, _ in pairs], [w for _, w in pairs]
        mean, variance = _mean_and_variance(numbers, shares)
        yield i, _rounded(mean), _rounded(variance)


def _mean_and_variance(values: Sequence[int | Fraction], weights: Sequence[float]) -> tuple[Fraction, Fraction]:
    """Exactly, in whole numbers: all values are brought to one denominator, and so are the weights."""
    v, scale = (values, 1) if all(type(x) is int for x in values) else _whole(values)
    first = v[0]
    d = [x - first for x in v]
    squares: Iterable[int] = map(mul, d, d)
    if set(weights) == {1.0}:
        total, one, two = len(d), sum(d), sum(squares)
    else:
        w, _ = _whole(list(map(Fraction, weights)))
        total, one, two = sum(w), sum(map(mul, w, d)), sum(map(mul, w, squares))
    return _of_sums(first, total, one, two, scale)


def _of_sums(first: int | Fraction, total: int, one: int | Fraction, two: int, scale: int = 1
             ) -> tuple[Fraction, Fraction]:
    """Mean and variance of the sums of differences from `first`, and of their squares, over a scale."""
    return Fraction(first + Fraction(one, total)) / scale, Fraction(total * two - one**2, (total * scale) ** 2)


def _power_sums(d: NDArray[np.int64]) -> tuple[int, int]:
    """The sum of numbers below 2**53, and of their squares, by digits of 18 bits, whose products int64 holds.

    >>> _power_sums(np.array([-(2**53), 2**53 - 1]))
    (-1, 162259276829213345377179500806145)
    """
    one = two = 0
    for start in range(0, len(d), _AT_ONCE):
        part = d[start : start + _AT_ONCE]
        digits = [part & _DIGIT, part >> _BITS & _DIGIT, part >> 2 * _BITS]
        one += sum(int(each.sum()) << _BITS * i for i, each in enumerate(digits))
        two += sum(int(a @ b) << _BITS * (i + j) for i, a in enumerate(digits) for j, b in enumerate(digits))
    return one, two


def _whole(values: Sequence[int | Fraction]) -> tuple[list[int], int]:
    scale = math.lcm(*{x.denominator for x in values})
    return [x.numerator * (scale // x.denominator) for x in values], scale


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
