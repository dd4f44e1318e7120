"""Mean, variance, skewness, kurtosis and orthokurtosis of labelled samples, each value with its reason if refused.

Mean and variance (1/N) are NumPy's, in float64; where a sample holds integers past 2**53, or they leave the range of
float64 on the way, they are taken exactly and rounded once. The other three are those of `symdecouple.stats`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.cli.sample_rows import OUT_OF_RANGE, Column, SampleRow, Values, by_columns, sample_rows
from symdecouple.cli.samples import Samples
from symdecouple.numeric.samples.intake import exact
from symdecouple.stats import kurtosis, orthokurtosis, skewness

__all__ = ["COLUMNS", "STATISTICS", "placed_columns", "shape_rows"]

STATISTICS = ("mean", "variance", "skewness", "kurtosis", "orthokurtosis")
_PLACED = STATISTICS[:2]
_SHAPES = {"skewness": skewness, "kurtosis": kurtosis, "orthokurtosis": orthokurtosis}
COLUMNS = tuple(Column(name, name, name in _PLACED) for name in STATISTICS)


def shape_rows(samples: Samples, nan_policy: str = "propagate") -> tuple[SampleRow, ...]:
    """Compute the five statistics of every sample; arguments and errors are those of `sample_rows`."""
    return sample_rows(samples, STATISTICS, _computed, nan_policy)


def placed_columns(rows: NDArray[Any]) -> list[Any]:
    """Mean and variance (1/N) of all rows, (R, N), as columns for `by_columns`."""
    placed = zip(*_mean_and_variance(rows), strict=True)
    return [(name, values, repeat(OUT_OF_RANGE)) for name, values in zip(_PLACED, placed, strict=True)]


def _mean_and_variance(rows: NDArray[Any]) -> list[tuple[float | None, float | None]]:
    """Mean and variance (1/N) of each row, (R, N); None where float64 has no such number."""
    if rows.dtype.kind == "O":
        return [_exactly(row) for row in rows]
    low, high = rows.min(axis=1), rows.max(axis=1)
    with np.errstate(all="ignore"):
        mean = np.where(low == high, low, rows.mean(axis=1))
        variance = np.where(low == high, 0.0, rows.var(axis=1))
    safe = np.isfinite(mean) & np.isfinite(variance) & ((variance > np.finfo(np.float64).tiny) | (low == high))
    return [(float(mean[k]), float(variance[k])) if safe[k] else _exactly(rows[k]) for k in range(len(rows))]


def _computed(rows: NDArray[Any]) -> list[Values]:
    columns = placed_columns(rows)
    for name, function in _SHAPES.items():
        results, outcomes = function(rows, axis=1, on_refusal="return")
        columns.append((name, results.tolist(), outcomes))
    return by_columns(len(rows), columns)


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
