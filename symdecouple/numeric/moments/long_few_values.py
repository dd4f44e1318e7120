"""Long samples of few distinct values, and these values with the numbers of their entries: without sorting the sample.

Among some entries spread over the sample there are no more distinct values than in all of it. So a glance settles most
samples, and the others are sorted part by part, until their values are too many. Integers of 16 bits or less are
counted where they lie.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["few_values", "is_counted"]

_LOOK = 2**12  # entries of a first glance
_PART = 2**16
_COUNTED = 2**14  # of a part that is counted


def few_values(row: NDArray[np.floating[Any]], most: int) -> tuple[FloatArray, IntArray] | None:
    """The distinct values of a sample (N,), sorted, and how often each occurs; None where they are more than `most`.

    Examples
    --------
    >>> values, counts = few_values(np.array([2.0, 0, 2, 1]), 3)
    >>> values.tolist(), counts.tolist()
    ([0.0, 1.0, 2.0], [1, 1, 2])
    >>> few_values(np.arange(9.0), 3) is None
    True
    """
    if len(np.unique(row[:: max(1, len(row) // _LOOK)])) > most:
        return None
    if is_counted(row.dtype):
        return _counted(row, most)
    values, counts = row[:0].astype(np.float64), np.zeros(0, dtype=np.intp)
    for i in range(0, len(row), _PART):
        some, often = np.unique(row[i : i + _PART], return_counts=True)
        values, place = np.unique(np.concatenate([values, some]), return_inverse=True)
        counts = np.bincount(place, np.concatenate([counts, often]), len(values)).astype(np.intp)
        if len(values) > most:
            return None
    return values, counts


def is_counted(kind: np.dtype[Any]) -> bool:
    """Whether there is a counter for every value of a type."""
    return kind.kind in "iu" and kind.itemsize <= 2


def _counted(row: NDArray[Any], most: int) -> tuple[FloatArray, IntArray] | None:
    low, high = int(row.min()), int(row.max())
    counts = np.zeros(high - low + 1, dtype=np.intp)
    for i in range(0, len(row), _COUNTED):
        place = row[i : i + _COUNTED].astype(np.intp)
        place -= low
        found = np.bincount(place)
        counts[: len(found)] += found
    there = np.flatnonzero(counts)
    return None if len(there) > most else ((there + low).astype(np.float64), counts[there])
