"""Means and variances that a kernel cannot see: of rows with one value, and of numbers that float64 would round.

Kernels get rows of exact numbers (integers past 2**53, Fraction, Decimal, ..) centred and scaled: shapes do not feel
it, place and scale are put right here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.samples.batch import SINGLE, Answer, as_rows
from symdecouple.numeric.samples.intake import Numbers, ends_of, exact, is_exact_in_float64, nearest
from symdecouple.numeric.samples.matrix import FloatArray, scaled_weights
from symdecouple.numeric.samples.weights import WeightRows, present_in

__all__ = ["exact_rows", "put_exact"]

_BITS, _BITS_OF_THREE = 22, 15  # of a digit: sums of 2**18 products of two, or of three, fit in 64 bits
_PLACES = 17  # digits of weights, which lie within a factor 2**200 and have 53 bits each
_AT_ONCE = 2**18  # numbers, for the memory of their digits


def put_exact(
    answer: Answer, given: Numbers, axes: tuple[int, ...], weighed: WeightRows | None, order: int, added: float = 0.0
) -> None:
    """Put means, and variances with something added, right among moments up to an order.

    A row that was refused because it has one value has that for its mean; its variance is zero.
    """
    which = [i for i, outcome in answer.refusals.items() if outcome is SINGLE]
    rows, present = as_rows(given.array, axes), present_in(given, axes, weighed) if which else np.empty(0)
    for i in which:
        numbers = [v for v in map(exact, rows[i][present[i]].tolist()) if v == v]
        if len(numbers) == 1:
            answer.values[i, : min(order, 2)] = (_in_range(Fraction(numbers[0])), added)[:order]
            if order < 3:
                del answer.refusals[i]
    for i, mean, variance in exact_rows(answer, given, axes, weighed):
        answer.values[i, : min(order, 2)] = (_in_range(mean), nearest(Fraction(variance)) + added)[:order]


# --- numbers that float64 would round ---


def exact_rows(
    answer: Answer, given: Numbers, axes: tuple[int, ...], weighed: WeightRows | None
) -> Iterator[tuple[int, Fraction | float, Fraction | float]]:
    """Mean and variance of rows that are centred exactly before they are rounded: the kernel cannot see them.

    Fractions are still to be rounded.
    """
    rows = as_rows(given.array, axes)
    if rows.dtype.kind == "f" or rows.dtype.itemsize <= 4 or not rows.shape[1]:
        return
    asked = np.flatnonzero(~np.isnan(answer.values[:, 0]))
    present = present_in(given, axes, weighed)
    if rows.dtype.kind in "iu":
        least, most = ends_of(rows, present)
        asked = asked[~is_exact_in_float64(least, most)[asked]]
        step = max(1, _AT_ONCE // rows.shape[1])
        for some in (asked[start : start + step] for start in range(0, len(asked), step)):
            shares = None if weighed is None else weighed.of_rows(some)[0]
            total, one, two = _power_sums(rows[some], present[some], least[some], shares)
            first = least[some].astype(object)
            yield from zip(some.tolist(), (first * total + one) / total, (total * two - one**2) / total**2,
                           strict=True)  # int / int is rounded once
        return
    for i in asked.tolist():
        weights = np.ones(rows.shape[1]) if weighed is None else weighed.of_rows(np.array([i]))[0][0]
        kept = present[i] & ~np.isnan(weights)
        numbers, shares = rows[i][kept].tolist(), weights[kept].tolist()
        pairs = [(v, w) for v, w in zip(map(exact, numbers), shares, strict=True) if not isinstance(v, float)]
        mean, variance = _mean_and_variance([v for v, _ in pairs], [w for _, w in pairs])
        yield i, mean, variance


def _in_range(value: Fraction | float) -> float:
    """The nearest float64; an infinity beyond, and for what is not 0 and would be rounded to it.

    >>> _in_range(Fraction(1, 10**320)) > 0, _in_range(Fraction(-1, 10**400))
    (True, -inf)
    """
    near = nearest(Fraction(value))
    return near if near or not value else math.copysign(math.inf, value)


def _mean_and_variance(values: Sequence[int | Fraction], weights: Sequence[float]) -> tuple[Fraction, Fraction]:
    """Exactly, in whole numbers: all values are brought to one denominator, and so are the weights."""
    v, scale = (values, 1) if all(type(x) is int for x in values) else _whole(values)
    first = v[0]
    d = [x - first for x in v]
    squares: Iterable[int] = map(mul, d, d)
    if set(weights) == {1.0}:
        total, one, two = len(d), sum(d), sum(squares)
    else:
        ratios = [x.as_integer_ratio() for x in weights]
        unit = max(low for _, low in ratios)  # powers of two
        w = [high * (unit // low) for high, low in ratios]
        total, one, two = sum(w), sum(map(mul, w, d)), sum(map(mul, w, squares))
    return (first + Fraction(one, total)) / scale, Fraction(total * two - one**2, (total * scale) ** 2)


def _power_sums(rows: NDArray[Any], present: NDArray[np.bool_], least: NDArray[Any], weights: FloatArray | None = None
                ) -> tuple[Any, Any, Any]:
    """The sums over a row of weights, of differences from its minimum, and of their squares: in whole numbers, by
    digits whose products int64 holds. Weights have one unit in a row.

    >>> row = np.array([[2**63, 1, 0, 7]], dtype=np.uint64)
    >>> [int(each[0]) for each in _power_sums(row, row != 7, np.array([0], dtype=np.uint64))]
    [3, 9223372036854775809, 85070591730234615865843651857942052865]
    """
    total = one = two = np.zeros(len(rows), dtype=object)
    bits = _BITS if weights is None else _BITS_OF_THREE
    if weights is not None:
        weights = scaled_weights(np.where(present & ~np.isnan(weights), weights, 0))
    for start in range(0, rows.shape[1], _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        here, d = present[:, part], (rows[:, part] - least[:, None]).view(np.uint64)  # modulo 2**64
        d[~here] = 0
        n_digits = -(-int(d.max(initial=0)).bit_length() // bits)
        digits = [(d >> np.uint64(bits * i) & np.uint64(2**bits - 1)).view(np.int64) for i in range(n_digits)]
        for place, share in [(0, here)] if weights is None else _digits_of(weights[:, part]):
            total = total + (share.sum(axis=1).astype(object) << place)
            for i, one_digit in enumerate(digits):
                a = one_digit if weights is None else one_digit * share
                one = one + (a.sum(axis=1).astype(object) << place + bits * i)
                for j, b in enumerate(digits[: i + 1]):
                    two = two + (np.einsum("ij,ij->i", a, b).astype(object) << place + bits * (i + j) + (j < i))
    return total, one, two


def _digits_of(weights: FloatArray) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The digits of weights below 1, and the places of these in a whole number."""
    for place in reversed(range(_PLACES)):
        if not weights.any():
            return
        weights = np.ldexp(weights, _BITS_OF_THREE)
        digits = np.floor(weights)
        weights = weights - digits
        yield _BITS_OF_THREE * place, digits.astype(np.int64)


def _whole(values: Sequence[int | Fraction]) -> tuple[list[int], int]:
    scale = math.lcm(*{x.denominator for x in values})
    return [x.numerator * (scale // x.denominator) for x in values], scale
