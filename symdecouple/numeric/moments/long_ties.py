"""Values that many entries of a long sample share, beside others that are continuous: found without sorting it.

As nodes they would be some of them, with weights above and below zero; so they stand for themselves
(`long_rows.series`). Samples of few distinct values altogether are another matter (`few_values`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.samples.batch import IntArray

__all__ = ["Ties", "looked_at"]

_LOOK = 2**12
_OFTEN = 32  # entries that share a value, of those looked at, from which on it stands for itself
_PART = 2**14  # entries of a part


def looked_at(row: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Some entries, spread over the sample."""
    return row[:: max(1, len(row) // _LOOK)]


@dataclass(frozen=True, slots=True)
class Ties:
    """Values that many entries share, sorted, and the numbers of these.

    >>> row = np.where(np.arange(8192) % 4 == 0, 5.0, np.arange(8192) / 8192)
    >>> found = Ties.of(row)
    >>> found.values.tolist(), found.counts.tolist(), len(found.others(row))
    ([5.0], [2048], 6144)
    """

    values: NDArray[np.floating[Any]]
    counts: IntArray

    @classmethod
    def of(cls, row: NDArray[np.floating[Any]]) -> Ties:
        """Look at some entries, and count in all."""
        values, often = np.unique(looked_at(row), return_counts=True)
        values = values[often >= _OFTEN]
        found = cls(values, np.zeros(len(values), dtype=np.intp))
        if len(values):
            for i in range(0, len(row), _PART):
                place, is_tied = found._places(row[i : i + _PART])
                found.counts[...] += np.bincount(place[is_tied], minlength=len(values))
        return found

    def others(self, x: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """The entries that are none of them."""
        return x[~self._places(x)[1]] if len(self.values) else x

    def _places(self, x: NDArray[np.floating[Any]]) -> tuple[IntArray, NDArray[np.bool_]]:
        place = np.minimum(np.searchsorted(self.values, x), len(self.values) - 1)
        return place, self.values[place] == x
