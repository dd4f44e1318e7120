"""Many samples at once: axes, missing values, and what is said about samples that have no answer.

A kernel is a function of a `SampleMatrix`, with one sample a row, and returns `RowValues`. Everything around it is done
here, once: which axes form a sample, which entries count, which rows cannot be asked at all (NaN, infinite, fewer
than two values), and how refusals are reported. Rows never meet: within one kernel a row gives the same bits alone, in
a batch of any size, and beside any neighbour. Which kernel answers may depend on the size of the input (`jit`); the
compiled ones differ from those of NumPy by up to 1e-14.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome, PerturbedWarning, RefusalWarning, Refused
from symdecouple.numeric.samples.intake import (
    Numbers,
    check_choice,
    is_exact_in_float64,
    take_numbers,
)
from symdecouple.numeric.samples.kinds import Values
from symdecouple.numeric.samples.matrix import (
    COMPUTED,
    EMPTY,
    INFINITE,
    NAN_INPUT,
    SINGLE,
    Axis,
    FloatArray,
    IntArray,
    Kernel,
    RowValues,
    SampleMatrix,
    as_rows,
    doubtful_axes,
    normalized_axes,
    row_ends,
    taken,
)
from symdecouple.numeric.samples.weights import WeighedRows, WeightRows

__all__ = [
    "COMPUTED",
    "EMPTY",
    "INFINITE",
    "NAN_INPUT",
    "SINGLE",
    "Answer",
    "Axis",
    "FloatArray",
    "IntArray",
    "Kernel",
    "NanPolicy",
    "OnRefusal",
    "RowValues",
    "SampleMatrix",
    "as_rows",
    "fill",
    "named",
    "normalized_axes",
    "raise_on_nan",
    "reduce_rows",
]

NanPolicy = Literal["propagate", "omit", "raise"]
OnRefusal = Literal["warn", "raise", "return"]
_Found = TypeVar("_Found")

_MATRIX = 2**18  # elements handed to a kernel at once: 2 MiB, so that no temporary grows with the batch
_WIDENED = 2**17  # numbers of a row that are made float64 beforehand; of longer ones in 32 bits or less, parts are, as
# they are read: nothing of the row's length is made
_NAMED = 5  # indices spelt out in a message
_DOUBTFUL = 100  # samples of two values: so many pairs are rather two samples, unless the axis was named


def reduce_rows(
    name: str,
    a: Any,
    kernel: Kernel,
    *,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    weights: Any = None,
    on_refusal: OnRefusal = "warn",
    columns: int | None = None,
    frames: int = 5,
    before: Callable[[Numbers], Numbers] | None = None,
    after: Callable[[Answer, Numbers, tuple[int, ...], WeightRows | None], None] | None = None,
) -> Values:
    """Apply `kernel` to every sample of `a`; the contract of all row-wise functions of the package.

    Parameters
    ----------
    name : str
        What the caller calls it; used in messages.
    a : array_like
        Real numbers of any kind (floats, integers, masked arrays, Fraction, Decimal, mpmath or SymPy numbers).
    kernel : callable
        Takes a `SampleMatrix`, returns `RowValues`. It must not let rows influence each other.
    axis : int, tuple of int or None
        The axes that form a sample; None takes all of them.
    nan_policy : {"propagate", "omit", "raise"}
        NaN in the *input*: hand on as NaN, without a warning; leave out; or raise `InvalidInput`.
    keepdims : bool
        Keep reduced axes with length one.
    weights : array_like, optional
        How often each entry counts, of the shape of the sample axes or broadcast against `a`. The kernel gets matrices
        with weights.
    on_refusal : {"warn", "raise", "return"}
        Samples without an answer: NaN and one `RefusalWarning`; `Refused` after all rows; or ``(values, outcomes)``.
    columns : int, optional
        Of kernels with several values a sample, which are the last axis of the result.
    frames : int
        From a warning to the line of the user: 5 where the public function, which may keep labels, calls this one.
    before : callable, optional
        From the numbers that were given to those that the kernel sees, in the same places.
    after : callable, optional
        Puts right in the answer what the kernel could not see, from the numbers that were given.
    """
    check_choice("nan_policy", nan_policy, get_args(NanPolicy))
    check_choice("on_refusal", on_refusal, get_args(OnRefusal))
    given = take_numbers(a)
    if given.array.ndim == 0:
        given = Numbers(given.array.reshape(1), None if given.masked is None else given.masked.reshape(1))
    axes = normalized_axes(axis, given.array.shape)
    answer = Answer(name, tuple(n for i, n in enumerate(given.array.shape) if i not in axes),
                    frames=frames, columns=columns)
    with np.errstate(all="ignore"):  # min and max of rows with NaN; a caller's seterr(all="raise") is not ours to meet
        weighed = None if weights is None else WeightRows.of(weights, given.array.shape, axes)
        fill(answer, given if before is None else before(given), axes, kernel, nan_policy, weighed)
        if len(answer.refusals) == len(answer.values) > 1 and set(answer.refusals.values()) == {SINGLE}:
            answer.hint = doubtful_axes(given.array.shape, axes)
        if after is not None:
            after(answer, given, axes, weighed)
        values = answer.values.astype(given.result_type)  # numbers may be too large for it
    shape = tuple(1 if i in axes else n for i, n in enumerate(given.array.shape)) if keepdims else answer.shape
    return answer.deliver(values.reshape((*shape, *values.shape[1:]))[()], on_refusal)


def named(kind: Callable[..., _Found], found: Any, on_refusal: OnRefusal) -> _Found | Any:
    """Return what `reduce_rows` found, its columns as the fields of a named tuple."""
    values, *outcomes = found if on_refusal == "return" else (found,)
    fields = kind(*(values[..., k][()] for k in range(values.shape[-1])))
    return (fields, *outcomes) if outcomes else fields


def fill(
    answer: Answer,
    given: Numbers,
    axes: tuple[int, ...],
    kernel: Kernel,
    nan_policy: NanPolicy,
    weights: WeightRows | None = None,
) -> None:
    """Rows that need no thought go to the kernel in matrices; the others are prepared, as all rows with weights are."""
    rows = as_rows(given.array, axes)
    hidden = None if given.masked is None else as_rows(given.masked, axes)
    plain, low, high = _plain_rows(rows, hidden, weights is not None)

    def prepared() -> Iterator[tuple[IntArray, WeighedRows]]:
        for which in _matrices(np.flatnonzero(~plain), rows):
            masked, heavy = None if hidden is None else taken(hidden, which), weights and weights.of_rows(which)
            yield which, WeighedRows.of(taken(rows, which), masked, *(heavy or (None, None)))

    if nan_policy == "raise":
        holding = (which[some.missing.any(axis=1)] for which, some in prepared())
        raise_on_nan(answer, [i for found in holding for i in found.tolist()])
    for which in _matrices(np.flatnonzero(plain), rows):
        is_kept = rows.dtype == np.float32 or (rows.shape[1] > _WIDENED and rows.dtype.itemsize <= 4)
        values = np.ascontiguousarray(taken(rows, which), dtype=None if is_kept else np.float64)
        answer.put(which, kernel(SampleMatrix(values, low[which].astype(np.float64), high[which].astype(np.float64))))
    for which, some in prepared():
        refused = some.refusals(omit=nan_policy == "omit")
        answer.refusals.update((int(which[i]), outcome) for i, outcome in refused.items())
        for part, matrix in some.matrices([i for i in range(len(which)) if i not in refused]):
            answer.put(which[part], kernel(matrix))


def _plain_rows(rows: NDArray[Any], hidden: NDArray[np.bool_] | None, is_weighed: bool
                ) -> tuple[NDArray[np.bool_], NDArray[Any], NDArray[Any]]:
    """Which rows are finite, unmasked, exact in float64 and hold at least two values; minimum and maximum of these."""
    if is_weighed or rows.dtype.kind == "O" or rows.shape[1] < 2:
        return np.zeros(len(rows), dtype=np.bool_), rows, rows
    low, high = row_ends(rows)
    plain: NDArray[np.bool_] = np.isfinite(low) & np.isfinite(high)
    if rows.dtype.kind in "iu" and rows.dtype.itemsize > 4:
        plain &= is_exact_in_float64(low, high)
    return plain if hidden is None else plain & ~hidden.any(axis=1), low, high


def _matrices(which: IntArray, rows: NDArray[Any]) -> Iterator[IntArray]:
    """Row indices in portions of about 2**18 elements."""
    step = max(1, _MATRIX // max(1, rows.shape[1]))
    return (which[i : i + step] for i in range(0, len(which), step))


@dataclass(slots=True)
class Answer:
    """The result in the making: values of the flattened batch and the refused rows."""

    name: str
    shape: tuple[int, ...]
    values: NDArray[Any] = field(init=False)
    refusals: dict[int, Outcome] = field(default_factory=dict)
    frames: int = 4  # from the warning to the caller's line
    notes: dict[int, Outcome] = field(default_factory=dict)  # what is to be told about answers
    columns: int | None = None  # of several values a sample
    hint: str = ""  # where the axes look like a mistake
    labels: tuple[Sequence[Any], ...] = ()  # of the axes of the batch, where they have some
    given: tuple[Outcome, ...] = ()  # those of another answer

    def __post_init__(self) -> None:
        self.values = np.full(self.count if self.columns is None else (self.count, self.columns), np.nan)

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    def put(self, which: IntArray, rows: RowValues) -> None:
        self.values[which] = rows.values
        self.refusals.update((int(which[i]), outcome) for i, outcome in rows.refusals.items())

    def take(self, outcomes: Sequence[Outcome], with_notes: bool = True) -> None:
        """Take over what became of all samples in another answer."""
        self.given = tuple(outcomes)
        for i, outcome in enumerate(outcomes):
            if not outcome.ok:
                self.refusals[i] = outcome
            elif outcome.reason and with_notes:
                self.notes[i] = outcome

    def outcomes(self) -> tuple[Outcome, ...]:
        return tuple(self.refusals.get(i) or self.notes.get(i, COMPUTED) for i in range(self.count))

    def deliver(self, result: _Found, on_refusal: OnRefusal) -> _Found | Any:
        """NaN handed on because the caller chose so is in the outcomes, but is nothing to warn of."""
        if on_refusal == "return":
            return result, self.outcomes()
        refused = sorted(i for i, outcome in self.refusals.items() if outcome is not NAN_INPUT)
        if refused and on_refusal == "raise":
            raise Refused(self.message(refused), result, self.outcomes())
        if refused:
            warnings.warn(RefusalWarning(self.message(refused)), stacklevel=self.frames)
        elif self.hint and self.count >= _DOUBTFUL:
            warnings.warn(f"{self.name}: {self.hint}", stacklevel=self.frames)
        if self.notes:
            noted = sorted(self.notes)
            said = f"{self.name}: {len(noted)} of {self.count} samples perturbed, {self.where(noted)}: "
            warnings.warn(PerturbedWarning(said + self.notes[noted[0]].detail), stacklevel=self.frames)
        return result

    def message(self, refused: list[int]) -> str:
        first = self.refusals[refused[0]]
        why = f"{first.reason} ({first.detail})" if first.detail else first.reason
        why += f"; {self.hint}" if self.hint else ""
        if not self.shape:
            return f"{self.name}: the sample is refused: {why}"
        return f"{self.name}: {len(refused)} of {self.count} samples refused, {self.where(refused)}: {why}"

    def where(self, rows: Sequence[int]) -> str:
        """'at 3, 7' or 'at (0, 1), (2, 0), ...': the first indices in the shape of the batch."""
        if not self.shape:
            return "the only one"
        places: list[tuple[Any, ...]] = [tuple(map(int, np.unravel_index(i, self.shape))) for i in rows[:_NAMED]]
        if self.labels:
            places = [tuple(_plainly(each[k]) for each, k in zip(self.labels, p, strict=True)) for p in places]
        named = ", ".join(str(place[0]) if len(place) == 1 else f"({', '.join(map(str, place))})" for place in places)
        return f"at {named}" + (", ..." if len(rows) > _NAMED else "") + (", the first" if len(rows) > 1 else "")


def _plainly(label: Any) -> str:
    """7 and 'a', not np.int64(7)."""
    if isinstance(label, tuple):
        return f"({', '.join(map(_plainly, label))})"
    return repr(label.item() if isinstance(label, np.generic) else label)


def raise_on_nan(answer: Answer, rows: list[int]) -> None:
    """Refuse input with NaN in the rows named, if any."""
    if rows:
        place = answer.where(rows) if answer.shape else "in the only one"
        raise InvalidInput(
            f"{answer.name}: {len(rows)} of {answer.count} samples hold NaN ({place}) and nan_policy='raise'; "
            "clean the input, or choose nan_policy='omit' or 'propagate'"
        )
