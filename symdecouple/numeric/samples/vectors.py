"""Sample vectors in, vectors out: the row-wise frame of functions that return more than one number a sample.

Input is taken and refusals are reported as in `symdecouple.numeric.samples.batch`. A row holds float64, or, where high
precision is asked for, the exact numbers that were given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.samples.batch import (
    EMPTY,
    INFINITE,
    NAN_INPUT,
    SINGLE,
    Answer,
    Axis,
    as_rows,
    normalized_axes,
)
from symdecouple.numeric.samples.intake import (
    exact as exact_number,
    fractions_of,
    is_exact_in_float64,
    shifted_exactly,
    shifted_integers,
    spans_of,
    take_numbers,
)
from symdecouple.numeric.samples.matrix import doubtful_axes, row_ends

__all__ = ["ROUNDED", "WAVES", "Batch", "SampleAxis", "as_floats", "narrowed", "own_axes", "rounding", "shifted_rows",
           "widened"]

SampleAxis: TypeAlias = Axis | Literal["last"]

_NARROW = 2**17  # numbers of a row from which on types of 32 bits or less are kept, and widened where they are used
WAVES = float(np.finfo(np.float64).eps) ** (-2 / 3)  # from here on rounding takes two thirds of their digits
_NORMAL = float(np.finfo(np.float64).tiny)  # below, digits are missing
_BEYOND = Outcome(False, "out of range", "entries, or differences between them, are beyond float64; change the unit, "
                  "or use dps=")
_HALF = float(np.finfo(np.float64).eps) ** 0.5  # of the range of a row: so much rounding leaves half its digits
_COARSE = Outcome(False, "beyond float64", "float64 rounds the entries by much of what is beside their offset; take it "
                  "off, or use dps=")
_SINGLE = np.finfo(np.float32)
_GAIN = 2.0**10  # up to so many squares of the largest entry, an energy; above, what rounding leaves of a mean near 0
_OF_SINGLE = Outcome(False, "out of range", "what float32 has no number for, or one for all entries, is left out; "
                     "change the unit, or give float64 values")
ROUNDED = Outcome(False, "beyond float64", "entries are rounded to more than a wave shows; use dps=")


@dataclass(slots=True, kw_only=True)
class Batch(Answer):
    """Sample vectors as rows, and the answer in the making: values (R, ...) of what the first answered row has.

    Attributes
    ----------
    rows : array (R, N)
        Sample vectors, those on a grid flattened in C order: float64, exact numbers, or, where rows are long, of the
        type of the input, if that has no more than 32 bits (see `widened`). They are the caller's own where these are
        of that type in C order: to be read only.
    axes : tuple of int
        The sample axes of the input.
    grid : tuple of int
        Their lengths.
    single : bool
        Whether the input had 32 or 16 bits.
    whole : bool
        Whether it was of an integer type.
    means : dict
        Row to exact mean, of rows that float64 would round: their median was taken off before.
    unrounded : array (R, N) or None
        The rows as they were given, where some may be rounded.
    barred : dict
        Rows that are refused for what is asked of them.
    is_doubled : bool
        Rows of one value hold it twice: averages are the same.
    """

    rows: NDArray[Any]
    axes: tuple[int, ...]
    grid: tuple[int, ...]
    single: bool
    whole: bool
    means: dict[int, Fraction] = field(default_factory=dict)
    unrounded: NDArray[Any] | None = None
    barred: dict[int, Outcome] = field(default_factory=dict)
    is_doubled: bool = False

    def __post_init__(self) -> None:
        self.values = np.empty((len(self.rows), 0), dtype=self._kind)

    @classmethod
    def of(cls, name: str, samples: Any, axis: SampleAxis, exact: bool, filtered: int | None = None, *,
           centred: Callable[[tuple[int, ...]], bool] = lambda _: False, interval: tuple[Any, Any] | None = None,
           waves: bool = False, differences: Callable[[tuple[int, ...]], bool] = lambda _: False) -> Batch:
        """Take array-like samples.

        Parameters
        ----------
        name : str
        samples : array_like
        axis : int, tuple of int, None or "last"
            The sample axes: None for all of them, "last" for as many of the last ones as the filters have, one without
            filters.
        exact : bool
            Keep numbers as they were given.
        filtered : int, optional
            The dimension of the filters that will be applied to the samples.
        centred : callable, optional
            Of the grid: whether to take the median off rows that float64 would round, exactly; for functions that do
            not feel a shift.
        interval : pair of numbers, optional
            Where all entries have to lie, ends left out; other rows are refused.
        waves : bool
            Refuse rows that float64 would round by more than waves of unit length show.
        differences : callable
            Of the grid: whether to refuse rows that float64 would round to less than half of the digits of their
            differences, which some function asks for beside the mean.
        """
        given = take_numbers(samples)
        if given.masked is not None and given.masked.any():
            raise InvalidInput(f"{name}: masked entries are not left out of samples; compress each row, or fill them")
        array = given.array
        ndim = filtered or 1
        if array.ndim < ndim:
            what = "one number" if array.ndim == 0 else f"an array of shape {array.shape}"
            wanted = "sample vectors (..., N)" if ndim == 1 else f"samples on grids of {ndim} dimensions"
            raise InvalidInput(f"{name} takes {wanted}, got {what}")
        axes = own_axes(axis, array.shape, ndim)
        if filtered is not None and len(axes) != filtered:
            raise InvalidInput(f"{name}: axis={axis!r} was given; the filters have {filtered} dimension(s), and so "
                               "many sample axes are needed")
        single = array.dtype in (np.float16, np.float32)
        kept = tuple(n for i, n in enumerate(array.shape) if i not in axes)
        grid = tuple(array.shape[i] for i in axes)
        taken = as_rows(array, axes)
        barred = {} if interval is None else _outside(taken, *interval)
        is_wide = taken.dtype == object or (taken.dtype.kind != "f" and taken.dtype.itemsize > 4)
        shifted = shifted_rows(taken, rounded=not exact) if is_wide and centred(grid) else {}
        rows = _converted(taken, object if exact else np.float64)
        if shifted:
            rows = rows.copy()
            rows[list(shifted)] = [numbers for numbers, _ in shifted.values()]
        for r in _beyond(taken, rows, shifted) if taken.dtype == object and not exact else ():
            barred.setdefault(r, _BEYOND)
            rows[r] = 0
        if is_wide and not shifted and not exact and (coarse := _coarse(taken, rows)) and differences(grid):
            barred = {**dict.fromkeys(coarse, _COARSE), **barred}
        for i in np.flatnonzero(np.abs(rows).max(axis=1, initial=0) > WAVES) if waves and not exact else ():
            if i not in shifted and any(exact_number(v) != w for v, w in zip(taken[i], rows[i], strict=True)):
                barred.setdefault(int(i), ROUNDED)
        means = {i: mean for i, (_, mean) in shifted.items()}
        hint = doubtful_axes(array.shape, axes) if isinstance(axis, str) and ndim == 1 else ""
        return cls(name=name, shape=kept, rows=rows, axes=axes, grid=grid, single=single, frames=6, hint=hint,
                   whole=array.dtype.kind in "iub", means=means, unrounded=taken if means or (is_wide and not exact)
                   else None, barred=barred)

    def open_rows(self) -> Iterator[int]:
        """Yield the rows that can be asked; the others are refused here."""
        fit = np.zeros(len(self.rows), dtype=np.bool_)
        if self.rows.dtype != object and self.rows.shape[-1] > 1:
            with np.errstate(invalid="ignore"):
                low, high = row_ends(self.rows)
                fit = np.isfinite(low) & np.isfinite(high)
        for index, row in enumerate(self.rows):
            outcome = (None if fit[index] else _unfit(row)) or self.barred.get(index)
            if outcome is None:
                yield index
            else:
                self.refusals[index] = outcome

    def double(self) -> None:
        """Let rows of one value be answered as those that hold it twice, for functions of averages."""
        if self.rows.shape[-1] == 1:
            self.rows, self.is_doubled = np.repeat(self.rows, 2, axis=1), True

    def bar(self, targets: NDArray[Any]) -> None:
        """Let rows whose targets, (R, k), are not finite be refused."""
        for i, row in enumerate(targets.tolist()):
            bad = [j for j, v in enumerate(row) if v != v or abs(v) == math.inf]
            if bad:
                detail = f"level {bad[0] + 1}: {row[bad[0]]} is asked for, a finite number is expected"
                self.barred[i] = Outcome(False, "no target", detail)

    def put_all(self, which: NDArray[np.intp], values: NDArray[Any]) -> None:
        """Keep the answers of some rows, (len(which), ...); those of all rows without a copy where that can be."""
        is_result = values.dtype == self._kind and values.flags.c_contiguous and values.flags.writeable
        if not self.values.size and is_result and len(which) == len(self.rows) and not np.may_share_memory(
                values, self.rows):
            self.values = values
        elif len(which):
            self._workspace(values.shape[1:])[which] = values

    @property
    def numbers(self) -> np.dtype[Any]:
        """What is computed with: float64, or objects in high precision."""
        return np.dtype(object if self.rows.dtype == object else np.float64)

    @property
    def _kind(self) -> np.dtype[Any]:
        return np.dtype(np.float32) if self.single and self.rows.dtype.kind != "O" else self.numbers

    def _workspace(self, shape: tuple[int, ...]) -> NDArray[Any]:
        if not self.values.size:
            self.values = np.full((len(self.rows), *shape), np.nan, dtype=self._kind)
        return self.values

    def result(self, shape: tuple[int, ...] | None) -> NDArray[Any]:
        """Return all answers of this shape, NaN where there is none; a shape of None is that of the samples."""
        each = self.grid if shape is None else shape
        out = self._workspace(each).reshape(*self.shape, *each)
        return np.moveaxis(out, range(-len(self.axes), 0), self.axes) if shape is None else out


def own_axes(axis: SampleAxis, shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """Return the sample axes in their order: those that are named, or as many of the last ones as samples have."""
    is_last = isinstance(axis, str) and axis == "last"
    return tuple(sorted(normalized_axes(tuple(range(-ndim, 0)) if is_last else axis, shape)))  # type: ignore[arg-type]


def shifted_rows(rows: NDArray[Any], rounded: bool) -> dict[int, tuple[NDArray[Any], Fraction]]:
    """`shifted_exactly` of each row, where it finds something to take off."""
    found: dict[int, tuple[NDArray[Any], Fraction]] = {}
    others = np.arange(len(rows))
    if rounded and rows.dtype.kind in "iu" and rows.shape[1] > 1:
        low, high = row_ends(rows)
        others = np.flatnonzero(~is_exact_in_float64(low, high))
        which = others[spans_of(low, high)[others] < np.uint64(2**63)]
        shifted, middles = shifted_integers(rows[which])
        sums = (shifted >> 32).sum(axis=1).astype(object) * 2**32 + (shifted & (2**32 - 1)).sum(axis=1)
        totals = (middles.astype(object) * rows.shape[1] + sums).tolist()
        found = {i: (taken, Fraction(total, rows.shape[1]))
                 for i, taken, total in zip(which.tolist(), shifted.astype(np.float64), totals, strict=True)}
    for i in others.tolist():
        if i not in found and (each := shifted_exactly(rows[i], rounded)) is not None:
            found[i] = each
    return found


def _outside(rows: NDArray[Any], low: Any, high: Any) -> dict[int, Outcome]:
    """Refuse rows with entries at the ends of an open interval, or beyond; NaN is looked at elsewhere."""
    found: dict[int, Outcome] = {}
    if low == -math.inf == -high:
        return found
    ends = tuple(float(end) if abs(end) == math.inf else Fraction(int(end.p), int(end.q)) for end in (low, high))
    first = _next_float(ends[0], -math.inf), _next_float(ends[1], math.inf)
    for i, row in enumerate(rows):
        values, near = (fractions_of(row), as_floats(row)) if row.dtype == object else (None, row)
        outer = [not ends[0] < v < ends[1] for v in values] if values else (near <= first[0]) | (near >= first[1])
        if np.any(outer):
            detail = (f"{float(near[int(np.argmax(outer))]):.6g} is no sample of the open interval ({low}, {high}) "
                      "that was declared; leave it out, or declare another domain")
            found[i] = Outcome(False, "outside the domain", detail)
    return found


def _next_float(end: Any, way: float) -> float:
    """The float nearest to an end of an interval that does not lie inside."""
    near = float(end)
    if math.isinf(near):
        return math.nan  # what is infinite is refused as that
    return near if near == end or (near < end) == (way < 0) else math.nextafter(near, way)


def _beyond(taken: NDArray[Any], rows: NDArray[Any], shifted: Collection[int]) -> list[int]:
    """Rows of finite numbers of which some became infinite, or all 0, or whose differences were changed by rounding to
    the smallest numbers there are."""
    if not rows.shape[1]:
        return []
    largest = np.abs(rows).max(axis=1)
    some = np.flatnonzero(np.isinf(largest) | (largest < _NORMAL)).tolist()
    return [i for i in some if (values := fractions_of(taken[i])) and (
        _has_changed(values, rows[i]) or (i not in shifted and any(values) and not rows[i].any()))]


def _has_changed(values: list[Fraction], row: NDArray[Any]) -> bool:
    if np.isinf(row).any():
        return True
    return any(v - values[0] != Fraction(w) - Fraction(row[0]) for v, w in zip(values, row.tolist(), strict=True))


def _coarse(taken: NDArray[Any], rows: NDArray[Any]) -> list[int]:
    """Rows that are rounded by much of their range."""
    low, high = row_ends(rows) if rows.size else (rows, rows)
    some = np.flatnonzero(np.maximum(-low, high) * _HALF > high - low).tolist()
    if some and taken.dtype.kind in "iu":
        low, high = row_ends(taken)
        return [i for i in some if _lost(taken[i], rows[i]) > _HALF * (int(high[i]) - int(low[i]))]
    return [i for i in some if (values := fractions_of(taken[i])) and max(abs(v - Fraction(w)) for v, w in zip(
        values, rows[i].tolist(), strict=True)) > Fraction(_HALF) * (max(values) - min(values))]


def _lost(whole: NDArray[Any], row: NDArray[Any]) -> float:
    """By how much integers were rounded at most, exactly: upper and lower halves by themselves."""
    unit, upper = 2.0**32, np.floor(row * 2.0**-32)
    rest = (whole & (2**32 - 1)) - (row - upper * unit)
    return float(np.abs(((whole >> 32) - upper) * unit + rest).max())


def _converted(rows: NDArray[Any], kind: Any) -> NDArray[Any]:
    if kind is object:
        return rows.astype(object)
    if rows.dtype != object:
        is_kept = rows.shape[1] > _NARROW and rows.dtype.itemsize <= 4
        return np.require(rows, None if is_kept else kind, ["C", "A"])
    return as_floats(rows)


def as_floats(array: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers of any type as float64, each rounded once; what is beyond is infinite."""
    found = [_float(v) for v in array.ravel().tolist()] if array.dtype == object else array
    return np.asarray(found, dtype=np.float64).reshape(array.shape)


def _float(value: Any) -> float:
    try:
        return math.nan if _is_signal(value) else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"the sample holds {value!r}, real numbers are expected; missing values are nan") from error


def rounding(values: Any, dps: int | None = None) -> float:
    """Return the relative rounding of numbers: that of float64, or of a narrower type that they have.

    In a call with `dps` digits, whole numbers and fractions have none, mpmath numbers that of their digits.
    """
    kind = np.asarray(values).dtype
    if dps and kind.kind in "iuO":
        is_exact = all(hasattr(value, "numerator") for value in np.asarray(values, dtype=object).flat)
        return 0.0 if is_exact else 10.0 ** -(getattr(values, "dps", 0) or dps)
    return float(np.finfo(kind if kind in (np.float16, np.float32) else np.float64).eps)


def narrowed(values: NDArray[Any], rows: NDArray[Any] | None = None) -> tuple[NDArray[np.float32], dict[int, Outcome]]:
    """Return answers as float32, and refuse what it cannot hold, which is NaN then.

    `values` are numbers (R, M) or gradients (R, M, N), each by itself, of samples `rows`; or, without these, samples
    (R, N), of which all entries are NaN where one is beyond, or all come to one number.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = values.astype(np.float32)
        low, high = (end(found, axis=tuple(range(1 if rows is None else 2, found.ndim))) for end in (np.min, np.max))
        lost = np.isinf(low) | np.isinf(high)
        if rows is None:
            equal = np.flatnonzero(low == high)
            lost[equal] |= values[equal].min(axis=1) < values[equal].max(axis=1)
        elif found.ndim == 2 and (small := (abs(found) < _SINGLE.tiny) & (values != 0)).any():
            squares = np.max(np.abs(rows), axis=1, keepdims=True).astype(np.float64) ** 2
            lost |= small & (abs(values) <= _GAIN * squares)
    if lost.any():
        found[lost] = np.nan
    return found, dict.fromkeys(np.flatnonzero(lost if lost.ndim == 1 else lost.any(axis=1)).tolist(), _OF_SINGLE)


def widened(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows of a batch as float64; exact numbers stay as they are."""
    return rows if rows.dtype == object else np.asarray(rows, dtype=np.float64)


def _unfit(row: NDArray[Any]) -> Outcome | None:
    if len(row) == 0:
        return EMPTY
    if len(row) == 1:
        return SINGLE
    if row.dtype != object:
        return NAN_INPUT if np.isnan(row).any() else INFINITE if np.isinf(row).any() else None
    try:
        if any(_is_signal(v) or v != v or type(v).__name__ == "NaN" for v in row.tolist()):  # SymPy's nan is itself
            return NAN_INPUT
        return INFINITE if any(abs(v) == float("inf") for v in row.tolist()) else None
    except TypeError as error:
        raise InvalidInput(f"the sample holds {row.tolist()!r:.80}, real numbers are expected") from error


def _is_signal(value: Any) -> bool:
    """True for Decimal("sNaN"), which raises where it is compared."""
    return hasattr(value, "is_snan") and value.is_snan()
