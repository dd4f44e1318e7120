"""Mean, variance, skewness, kurtosis and orthokurtosis of labelled samples, each value with its reason if refused.

Mean and variance (1/N) are NumPy's, in float64; where a sample holds integers past 2**53, or they leave the range of
float64 on the way, they are taken exactly and rounded once. The other three are those of `symdecouple.stats`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.cli.samples import Samples
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.intake import exact
from symdecouple.stats import kurtosis, orthokurtosis, skewness

__all__ = ["STATISTICS", "ShapeRow", "shape_rows"]

STATISTICS = ("mean", "variance", "skewness", "kurtosis", "orthokurtosis")
_SHAPES = {"skewness": skewness, "kurtosis": kurtosis, "orthokurtosis": orthokurtosis}
_PLACED = ("mean", "variance")

NO_VALUES = Outcome(False, "no values", "every value of it is missing")
INFINITE = Outcome(False, "infinite value", "moments of infinite values do not exist; leave the field empty instead")
OUT_OF_RANGE = Outcome(False, "out of range", "the value is not zero, and too small or too large for float64; give the "
                       "data in another unit")


@dataclass(frozen=True, slots=True)
class ShapeRow:
    """What is known of one sample.

    Attributes
    ----------
    label : str
    n, missing : int
        Values that are there, and that are missing.
    values : mapping of str to float
        By the names of `STATISTICS`; without those that were refused.
    refused : mapping of str to Outcome
        The others.
    """

    label: str
    n: int
    missing: int
    values: Mapping[str, float]
    refused: Mapping[str, Outcome]


def shape_rows(samples: Samples, nan_policy: str = "propagate") -> tuple[ShapeRow, ...]:
    """Compute the five statistics of every sample.

    Parameters
    ----------
    samples : Samples
    nan_policy : {"propagate", "omit", "raise"}
        What becomes of samples with missing values: refused, taken without them, or an error.

    Raises
    ------
    InvalidInput
        With "raise", if a value is missing.
    """
    present = [vector[~np.isnan(vector.astype(np.float64))] for vector in samples.vectors]
    missing = [len(vector) - len(kept) for vector, kept in zip(samples.vectors, present, strict=True)]
    if nan_policy == "raise" and any(missing):
        first = next(k for k, count in enumerate(missing) if count)
        raise InvalidInput(f"{sum(map(bool, missing))} of {len(missing)} samples have missing values, the first is "
                           f"{samples.labels[first]}; --nan-policy omit computes without them")
    whole = {k: _whole_refusal(kept, missing[k], nan_policy) for k, kept in enumerate(present)}
    found: dict[int, tuple[dict[str, float], dict[str, Outcome]]] = {
        k: ({}, dict.fromkeys(STATISTICS, refusal)) for k, refusal in whole.items() if refusal is not None}
    for group in _groups(present, [k for k in whole if k not in found]):
        found.update(zip(group, _computed([present[k] for k in group]), strict=True))
    return tuple(ShapeRow(label, len(present[k]), missing[k], *found[k]) for k, label in enumerate(samples.labels))


def _whole_refusal(present: NDArray[Any], missing: int, nan_policy: str) -> Outcome | None:
    """Why nothing at all can be said about a sample; None where something can."""
    if missing and nan_policy == "propagate":
        total = missing + len(present)
        return Outcome(False, "missing values", f"{missing} of {total}; --nan-policy omit computes without them")
    if not len(present):
        return NO_VALUES
    return INFINITE if np.isinf(present.astype(np.float64)).any() else None


def _groups(present: Sequence[NDArray[Any]], which: Iterable[int]) -> Iterable[list[int]]:
    """Samples of one length and kind are computed together."""
    groups: dict[tuple[int, str], list[int]] = {}
    for k in which:
        groups.setdefault((len(present[k]), present[k].dtype.kind), []).append(k)
    return groups.values()


def _computed(vectors: Sequence[NDArray[Any]]) -> list[tuple[dict[str, float], dict[str, Outcome]]]:
    rows = np.stack(vectors)
    answers: list[tuple[dict[str, float], dict[str, Outcome]]] = [({}, {}) for _ in vectors]
    for (values, refused), placed in zip(answers, _mean_and_variance(rows), strict=True):
        for name, value in zip(_PLACED, placed, strict=True):
            _put(values, refused, name, value, OUT_OF_RANGE)
    for name, function in _SHAPES.items():
        results, outcomes = function(rows, axis=1, on_refusal="return")
        for (values, refused), value, outcome in zip(answers, results, outcomes, strict=True):
            _put(values, refused, name, float(value) if outcome.ok else None, outcome)
    return answers


def _put(values: dict[str, float], refused: dict[str, Outcome], name: str, value: float | None,
         outcome: Outcome) -> None:
    if value is None:
        refused[name] = outcome
    else:
        values[name] = value


def _mean_and_variance(rows: NDArray[Any]) -> list[tuple[float | None, float | None]]:
    """None where float64 has no such number."""
    if rows.dtype.kind == "O":
        return [_exactly(row) for row in rows]
    low, high = rows.min(axis=1), rows.max(axis=1)
    with np.errstate(all="ignore"):
        mean = np.where(low == high, low, rows.mean(axis=1))
        variance = np.where(low == high, 0.0, rows.var(axis=1))
    safe = np.isfinite(mean) & np.isfinite(variance) & ((variance > np.finfo(np.float64).tiny) | (low == high))
    return [(float(mean[k]), float(variance[k])) if safe[k] else _exactly(rows[k]) for k in range(len(rows))]


def _exactly(row: NDArray[Any]) -> tuple[float | None, float | None]:
    numbers = [Fraction(exact(value)) for value in row.tolist()]
    mean = sum(numbers, Fraction(0)) / len(numbers)
    variance = sum(((value - mean) ** 2 for value in numbers), Fraction(0)) / len(numbers)
    return _rounded(mean), _rounded(variance)


def _rounded(value: Fraction) -> float | None:
    try:
        rounded = float(value)
    except OverflowError:
        return None
    return rounded if rounded or not value else None
