"""Sample vectors in, vectors out: the row-wise frame of functions that return more than one number a sample.

Input is taken and refusals are reported as in `symdecouple.numeric.batch`. A row holds float64, or, where high
precision is asked for, the exact numbers that were given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.batch import EMPTY, INFINITE, NAN_INPUT, SINGLE, Answer, OnRefusal
from symdecouple.numeric.intake import take_numbers

__all__ = ["Batch"]


@dataclass(slots=True)
class Batch:
    """Sample vectors as rows, and what became of each."""

    name: str
    shape: tuple[int, ...]
    rows: NDArray[Any]
    axis: int
    single: bool
    answers: dict[int, NDArray[Any]] = field(default_factory=dict)
    refusals: dict[int, Outcome] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, samples: Any, axis: int, exact: bool) -> Batch:
        """Take array-like samples; with `exact`, numbers are kept as they were given."""
        given = take_numbers(samples)
        if given.masked is not None and given.masked.any():
            raise InvalidInput(f"{name}: masked entries are not left out of sample vectors; compress each row first")
        array = given.array
        if array.ndim == 0:
            raise InvalidInput(f"{name} takes sample vectors (..., N), got one number")
        if isinstance(axis, bool) or not isinstance(axis, int) or not -array.ndim <= axis < max(array.ndim, 1):
            raise InvalidInput(f"{name}: axis={axis!r} was given for samples of shape {array.shape}")
        moved = np.moveaxis(array, axis, -1)
        single = array.dtype in (np.float16, np.float32)
        kind = object if exact else np.float64
        rows = moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])
        return cls(name, moved.shape[:-1], _converted(rows, kind), axis % array.ndim, single)

    def open_rows(self) -> Iterator[int]:
        """Yield the rows that can be asked; the others are refused here."""
        fit = np.zeros(len(self.rows), dtype=np.bool_)
        if self.rows.dtype != object and self.rows.shape[-1] > 1:
            fit = np.isfinite(self.rows).all(axis=1)
        for index, row in enumerate(self.rows):
            outcome = None if fit[index] else _unfit(row)
            if outcome is None:
                yield index
            else:
                self.refuse(index, outcome)

    def put(self, index: int, values: NDArray[Any]) -> None:
        """Keep the answer of a row."""
        self.answers[index] = values

    def refuse(self, index: int, outcome: Outcome) -> None:
        """Note that a row has no answer."""
        self.refusals[index] = outcome

    def result(self, shape: tuple[int, ...] | None) -> NDArray[Any]:
        """Return all answers, NaN where there is none; a shape of None is that of the samples themselves."""
        each = (self.rows.shape[-1],) if shape is None else shape
        out = np.full((len(self.rows), *each), np.nan, dtype=self.rows.dtype)
        for index, values in self.answers.items():
            out[index] = values
        out = out.reshape(*self.shape, *each)
        if self.single and out.dtype == np.float64:
            out = out.astype(np.float32)
        return np.moveaxis(out, -1, self.axis) if shape is None else out

    def deliver(self, result: Any, on_refusal: OnRefusal) -> Any:
        """Report the refused rows as the caller wants them reported."""
        answer = Answer(self.name, self.shape, self.refusals, frames=5)
        return answer.deliver(result, on_refusal)


def _converted(rows: NDArray[Any], kind: Any) -> NDArray[Any]:
    if kind is object or rows.dtype != object:
        return rows.astype(kind)
    return np.array([[_float(v) for v in row] for row in rows], dtype=np.float64).reshape(rows.shape)


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"the sample holds {value!r}, real numbers are expected; missing values are nan") from error


def _unfit(row: NDArray[Any]) -> Outcome | None:
    if len(row) == 0:
        return EMPTY
    if len(row) == 1:
        return SINGLE
    if any(v != v for v in row.tolist()):
        return NAN_INPUT
    try:
        return INFINITE if any(abs(v) == float("inf") for v in row.tolist()) else None
    except TypeError as error:
        raise InvalidInput(f"the sample holds {row.tolist()!r:.80}, real numbers are expected") from error
