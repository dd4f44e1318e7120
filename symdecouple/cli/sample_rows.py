"""What is computed of labelled samples, a row each: every value is there, or the reason why it is not.

Samples of one length are computed together. Missing values, empty samples and infinities are answered here, once for
all that is ever computed of a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from symdecouple.cli.samples import Samples
from symdecouple.errors import InvalidInput, Outcome

__all__ = ["OUT_OF_RANGE", "Column", "SampleRow", "Value", "Values", "answers", "by_columns", "present", "put",
           "sample_rows"]

Value: TypeAlias = float | str
"""A float, or the digits that were asked for."""
Values: TypeAlias = tuple[dict[str, Value], dict[str, Outcome]]
"""The values of a sample and the reasons of those it has not, by name."""
_Answer = TypeVar("_Answer")

NO_VALUES = Outcome(False, "no values", "every value of it is missing")
INFINITE = Outcome(False, "infinite value", "moments of infinite values do not exist; leave the field empty instead")
OUT_OF_RANGE = Outcome(False, "out of range", "the value is not zero, and too small or too large for float64; give the "
                       "data in another unit")


@dataclass(frozen=True, slots=True)
class Column:
    """One thing that is computed of every sample.

    Attributes
    ----------
    name : str
        In CSV and JSON.
    head : str
        In tables and notes.
    has_unit : bool
        False for pure numbers of about the size of 1.
    """

    name: str
    head: str
    has_unit: bool = True


@dataclass(frozen=True, slots=True)
class SampleRow:
    """What is known of one sample.

    Attributes
    ----------
    label : str
    n, missing : int
        Values that are there, and that are missing.
    values : mapping of str to float or str
        By the names of columns; without those that were refused.
    refused : mapping of str to Outcome
        The others.
    """

    label: str
    n: int
    missing: int
    values: Mapping[str, Value]
    refused: Mapping[str, Outcome]


def sample_rows(samples: Samples, names: Sequence[str], compute: Callable[[NDArray[Any]], Sequence[Values]],
                nan_policy: str = "propagate") -> tuple[SampleRow, ...]:
    """Compute the named values of every sample.

    Parameters
    ----------
    samples : Samples
    names : sequence of str
    compute : callable
        Takes samples of one length as rows, (R, N), and returns values and refusals for each, all names in one of both.
    nan_policy : {"propagate", "omit", "raise"}
        What becomes of samples with missing values: refused, taken without them, or an error.

    Raises
    ------
    InvalidInput
        With "raise", if a value is missing.
    """
    rows = []
    for label, vector, answer in zip(samples.labels, samples.vectors, answers(samples, compute, nan_policy),
                                     strict=True):
        values, refused = ({}, dict.fromkeys(names, answer)) if isinstance(answer, Outcome) else answer
        n = int(present(vector).sum())
        rows.append(SampleRow(label, n, len(vector) - n, values, refused))
    return tuple(rows)


def answers(samples: Samples, compute: Callable[[NDArray[Any]], Sequence[_Answer]], nan_policy: str = "propagate",
            ) -> list[_Answer | Outcome]:
    """Return what `compute` answers for each sample without its missing values, or why it was not asked."""
    kept = [vector[present(vector)] for vector in samples.vectors]
    missing = [len(vector) - len(values) for vector, values in zip(samples.vectors, kept, strict=True)]
    if nan_policy == "raise" and any(missing):
        first = next(k for k, count in enumerate(missing) if count)
        raise InvalidInput(f"{sum(map(bool, missing))} of {len(missing)} samples have missing values, the first is "
                           f"{samples.labels[first]}; --nan-policy omit computes without them")
    whole = [_whole_refusal(values, missing[k], nan_policy) for k, values in enumerate(kept)]
    found: dict[int, _Answer | Outcome] = {k: refusal for k, refusal in enumerate(whole) if refusal is not None}
    for group in _groups(kept, [k for k in range(len(kept)) if k not in found]):
        found.update(zip(group, compute(np.stack([kept[k] for k in group])), strict=True))
    return [found[k] for k in range(len(kept))]


def present(vector: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are there."""
    return np.asarray(vector == vector, dtype=np.bool_)  # a number beyond float64 is one


def put(values: dict[str, Value], refused: dict[str, Outcome], name: str, value: Value | None,
        outcome: Outcome) -> None:
    """Keep a value; where there is none, or none that is a number, the outcome, or else that it is out of range."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        refused[name] = OUT_OF_RANGE if outcome.ok else outcome
    else:
        values[name] = value if isinstance(value, str) else value + 0.0  # zero has no sign


def by_columns(count: int, columns: Iterable[tuple[str, Iterable[Value | None], Iterable[Outcome]]]) -> list[Values]:
    """Return the values of so many samples from names with the values and the outcomes of all samples."""
    found: list[Values] = [({}, {}) for _ in range(count)]
    for name, values, outcomes in columns:
        for (kept, refused), value, outcome in zip(found, values, outcomes, strict=False):
            put(kept, refused, name, value, outcome)
    return found


def _whole_refusal(kept: NDArray[Any], missing: int, nan_policy: str) -> Outcome | None:
    """Why nothing at all can be said about a sample; None where something can."""
    if missing and nan_policy == "propagate":
        total = missing + len(kept)
        return Outcome(False, "missing values", f"{missing} of {total}; --nan-policy omit computes without them")
    if not len(kept):
        return NO_VALUES
    return INFINITE if _has_infinite(kept) else None


def _has_infinite(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "O":
        return any(isinstance(value, float) and math.isinf(value) for value in values)
    return bool(np.isinf(values).any())


def _groups(kept: Sequence[NDArray[Any]], which: Iterable[int]) -> Iterable[list[int]]:
    """Samples of one length and kind are computed together."""
    groups: dict[tuple[int, str], list[int]] = {}
    for k in which:
        groups.setdefault((len(kept[k]), kept[k].dtype.kind), []).append(k)
    return groups.values()
