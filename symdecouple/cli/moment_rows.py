"""Decoupled moments of labelled samples: mean, variance, skewness, orthokurtosis and the orders above.

In float64, by `symdecouple.stats.decoupled_moments`, without SymPy. Mean and variance are those of `shape_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from numpy.typing import NDArray

from symdecouple.cli.sample_rows import Column, SampleRow, Values, by_columns, sample_rows
from symdecouple.cli.samples import Samples
from symdecouple.cli.shape_rows import placed_columns
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
    results, outcomes = decoupled_moments(rows, len(names), axis=1, on_refusal="return")
    others = zip(names[_PLACED:], results.T[_PLACED:].tolist(), repeat(outcomes))
    return by_columns(len(rows), [*placed_columns(rows)[: len(names)], *others])
