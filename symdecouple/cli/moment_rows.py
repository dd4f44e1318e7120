"""Decoupled moments of labelled samples: mean, variance, skewness, orthokurtosis and the orders above.

In float64, by `symdecouple.stats.decoupled_moments`, without SymPy. Mean and variance are those of `shape_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from symdecouple.cli.sample_rows import OUT_OF_RANGE, Column, SampleRow, Values, put, sample_rows
from symdecouple.cli.samples import Samples
from symdecouple.cli.shape_rows import mean_and_variance
from symdecouple.stats import decoupled_moments

__all__ = ["moment_columns", "moment_rows"]

_NAMED = ("mean", "variance", "skewness", "orthokurtosis")
_PLACED = 2


def moment_columns(order: int) -> tuple[Column, ...]:
    """The decoupled moments up to an order; those from the fifth on are moment_5, moment_6, ..."""
    names = (*_NAMED, *(f"moment_{k}" for k in range(len(_NAMED) + 1, order + 1)))[:order]
    return tuple(Column(name, name, k < _PLACED) for k, name in enumerate(names))


def moment_rows(samples: Samples, order: int, nan_policy: str = "propagate") -> tuple[SampleRow, ...]:
    """Compute the decoupled moments of every sample; further arguments and errors are those of `sample_rows`."""
    names = [column.name for column in moment_columns(order)]
    return sample_rows(samples, names, lambda rows: _computed(rows, names), nan_policy)


def _computed(rows: NDArray[Any], names: Sequence[str]) -> list[Values]:
    found: list[Values] = [({}, {}) for _ in rows]
    results, outcomes = decoupled_moments(rows, len(names), axis=1, on_refusal="return")
    for (values, refused), placed, result, outcome in zip(found, mean_and_variance(rows), results, outcomes,
                                                          strict=True):
        for name, value in zip(names[:_PLACED], placed, strict=False):
            put(values, refused, name, value, OUT_OF_RANGE)
        for name, value in zip(names[_PLACED:], result[_PLACED:].tolist(), strict=True):
            put(values, refused, name, value, outcome)
    return found
