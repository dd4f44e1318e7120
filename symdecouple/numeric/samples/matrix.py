"""Samples as a kernel sees them: a matrix with one finite sample a row, and what is said of rows that cannot be asked.

Weights, where there are any, are those of the entries. A row of them is scaled by a power of two, which rounds nothing,
and stands for shares of its sum. An entry of weight 0 is absent: it takes the value of the minimum, where it disturbs
neither the ends of the row nor a flow, and counts nowhere.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome

__all__ = [
    "COMPUTED",
    "EMPTY",
    "INFINITE",
    "NAN_INPUT",
    "SINGLE",
    "Axis",
    "BoolArray",
    "FloatArray",
    "IntArray",
    "Kernel",
    "RowValues",
    "SampleMatrix",
    "as_rows",
    "doubtful_axes",
    "normalized_axes",
    "row_ends",
    "row_scales",
    "scaled_weights",
    "taken",
]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
Axis: TypeAlias = int | tuple[int, ...] | None

_CONSTANT = 2.0**-49  # of the largest value: what rounding of a mean may leave
_NEAR = 32  # powers of two from 1 that the largest weight of a row may be: sums are far from the ends of float64

COMPUTED = Outcome(ok=True)
NAN_INPUT = Outcome(False, "nan in the input", "a missing value is handed on; leave it out beforehand, or by "
                    "nan_policy='omit' where that is an argument")
INFINITE = Outcome(False, "infinite value", "moments of infinite values do not exist; mask them or replace by nan")
EMPTY = Outcome(False, "no samples", "0 values left, at least 2 distinct ones are needed; check axis and masks")
SINGLE = Outcome(False, "one sample", "1 value left, at least 2 distinct ones are needed; check axis and masks")


@dataclass(frozen=True, slots=True)
class SampleMatrix:
    """Finite samples, one a row, at least two values each.

    Values are float64, float32, or, in long rows, of any type of 32 bits or less: then kernels widen parts of a row.
    `ties` holds counts made before rounding, if any. With `weights`, `ends` marks the entries at the minimum and at the
    maximum, where that was seen before rounding.
    """

    values: NDArray[Any]
    low: FloatArray
    high: FloatArray
    ties: tuple[IntArray, IntArray] | None = None
    weights: FloatArray | None = None
    ends: tuple[BoolArray, BoolArray] | None = None

    @classmethod
    def of(cls, values: NDArray[np.floating[Any]], ties: tuple[IntArray, IntArray] | None = None) -> SampleMatrix:
        low, high = row_ends(values)
        return cls(values, low.astype(np.float64), high.astype(np.float64), ties)

    @classmethod
    def weighted(
        cls,
        values: NDArray[np.floating[Any]],
        weights: FloatArray | None,
        ends: tuple[BoolArray, BoolArray] | None = None,
    ) -> SampleMatrix:
        """Rows with weights, if any: finite, 0 or more, at least two positive a row; values count where they do."""
        if weights is None:
            return cls.of(values)
        absent = weights == 0
        low = values.min(axis=1, where=~absent, initial=np.inf)
        high = values.max(axis=1, where=~absent, initial=-np.inf)
        filled = np.where(absent, low[:, None], values) if absent.any() else values
        is_near = (np.abs(np.frexp(weights.max(axis=1))[1]) <= _NEAR).all()  # then they are no copy
        heavy = weights if is_near else scaled_weights(weights)
        return cls(filled, low.astype(np.float64), high.astype(np.float64), None, heavy, ends)


def scaled_weights(weights: FloatArray) -> FloatArray:
    """Every row by a power of two, so that its largest weight lies in [1/2, 1)."""
    exponent = np.frexp(weights.max(axis=1))[1]
    return np.ldexp(weights, -exponent[:, None]) if exponent.any() else weights


def taken(rows: NDArray[Any], which: NDArray[Any]) -> NDArray[Any]:
    """Return some rows, whose places increase; no copy where they are one after the other."""
    is_run = len(which) > 0 and int(which[-1] - which[0]) + 1 == len(which)
    return rows[int(which[0]) : int(which[-1]) + 1] if is_run else rows[which]


def row_ends(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Minimum and maximum of each row; short rows one after the other take half the time that ``min(axis=1)`` takes."""
    if not rows.flags.c_contiguous or rows.dtype == object:
        return rows.min(axis=1), rows.max(axis=1)
    flat, starts = rows.reshape(-1), np.arange(0, rows.size, rows.shape[1])
    return np.minimum.reduceat(flat, starts), np.maximum.reduceat(flat, starts)


def row_scales(rows: FloatArray) -> FloatArray:
    """Standard deviations of rows (R, N); the size of a row that is constant but for rounding, 1 for one of zeros."""
    deviation, largest = rows.std(axis=1), np.abs(rows).max(axis=1, initial=0.0)
    found: FloatArray = np.where(deviation > _CONSTANT * largest, deviation, np.where(largest > 0, largest, 1.0))
    return found


@dataclass(frozen=True, slots=True)
class RowValues:
    """The answer of a kernel: one value a row, and an outcome for each refused row (its value is NaN)."""

    values: FloatArray
    refusals: dict[int, Outcome] = field(default_factory=dict)


Kernel: TypeAlias = Callable[[SampleMatrix], RowValues]


def normalized_axes(axis: Axis, shape: tuple[int, ...]) -> tuple[int, ...]:
    n_axes = len(shape)
    if axis is None:
        return tuple(range(n_axes))
    given = axis if isinstance(axis, tuple) else (axis,)
    if not given or any(isinstance(one, bool | np.bool_) for one in given):
        raise InvalidInput(f"axis={axis!r} was given, an integer, a tuple of integers or None is expected")
    try:
        axes = [operator.index(one) for one in given]
    except TypeError:
        raise InvalidInput(f"axis={axis!r} was given, an integer, a tuple of integers or None is expected") from None
    if any(not -n_axes <= one < n_axes for one in axes):
        raise InvalidInput(f"axis={axis!r} was given for an array of shape {shape}; use {-n_axes} to {n_axes - 1}")
    if len({one % n_axes for one in axes}) < len(axes):
        raise InvalidInput(f"axis={axis!r} names an axis twice; name each axis of the sample once")
    return tuple(one % n_axes for one in axes)


def as_rows(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    """The sample axes moved last and flattened: one sample a row, one row a sample."""
    kept = [i for i in range(array.ndim) if i not in axes]
    n_rows = math.prod(array.shape[i] for i in kept)
    n_samples = math.prod(array.shape[i] for i in axes)
    return array.transpose([*kept, *sorted(axes)]).reshape(n_rows, n_samples)


def doubtful_axes(shape: tuple[int, ...], axes: tuple[int, ...]) -> str:
    """Ask about axes that make many samples of one or two values, such as the channels of a recording."""
    others = tuple(i for i in range(len(shape)) if i not in axes)
    count, size = math.prod(shape[i] for i in others), math.prod(shape[i] for i in axes)
    if not others or not size or size > 2 or count <= size:
        return ""
    meant = others[0] if len(others) == 1 else others
    return f"{count} samples of {size} value{'s' * (size > 1)}: did you mean axis={meant}?"
