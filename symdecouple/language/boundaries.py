r"""What lies beyond the ends of a sample vector: the four boundaries, as maps of indices.

.. math:: (h(x))_n = \sum_k h_k\, \bar x_{n-k}, \qquad \bar x_i = x_{\pi(i)}\ \text{(0 where } \pi(i) \text{ is none)}

A filter sees the sample vector continued beyond its ends. ``"circular"`` repeats it, ``"zero"`` puts zeros,
``"half-sample"`` mirrors it between the last sample and the next (d c b a | a b c d | d c b a), ``"whole-sample"`` at
the last sample itself (d c b | a b c d | c b a). In several dimensions each axis is continued by itself. A filter may
be longer than the axis: mirrors then reflect as often as it takes.

NumPy's ``pad`` calls the mirrors "symmetric" and "reflect", ``scipy.ndimage`` "reflect" and "mirror".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput

__all__ = ["BOUNDARIES", "MIRRORS", "checked_boundary", "continued", "grid", "operator_rows"]

BOUNDARIES = ("circular", "zero", "half-sample", "whole-sample")
MIRRORS = ("half-sample", "whole-sample")
_MAX_ENTRIES = 10_000_000  # of an operator that is written out

Tap = TypeVar("Tap")


def checked_boundary(boundary: object) -> str:
    """Return the boundary; refuse what is none of the four."""
    if boundary not in BOUNDARIES:
        raise InvalidInput(f"the boundary of a filter is one of {', '.join(BOUNDARIES)}, got {boundary!r}")
    return str(boundary)


def continued(index: NDArray[np.intp], size: int, boundary: str) -> NDArray[np.intp]:
    """Return the sample that stands at each index of the continued vector, -1 where none does.

    Examples
    --------
    >>> for boundary in BOUNDARIES:
    ...     print(continued(np.arange(-3, 7), 4, boundary), boundary)
    [1 2 3 0 1 2 3 0 1 2] circular
    [-1 -1 -1  0  1  2  3 -1 -1 -1] zero
    [2 1 0 0 1 2 3 3 2 1] half-sample
    [3 2 1 0 1 2 3 2 1 0] whole-sample
    """
    if boundary == "circular":
        return index % size
    if boundary == "zero":
        return np.where((index >= 0) & (index < size), index, -1)
    period = 2 * size if boundary == "half-sample" else max(2 * size - 2, 1)
    place = index % period
    return np.minimum(place, period - 1 - place if boundary == "half-sample" else period - place)


def operator_rows(lags: Mapping[tuple[int, ...], Tap], shape: Sequence[int], boundary: str,
                  transposed: bool = False) -> list[dict[int, Tap]]:
    """Return the matrix of a filter on a grid, row by row: column to entry, samples counted in C order.

    Parameters
    ----------
    lags : mapping
        Tap by lag, one whole number an axis.
    shape : sequence of int
        Of the grid, one size an axis.
    boundary : str
    transposed : bool
        Return the rows of the transposed matrix.

    Examples
    --------
    >>> operator_rows({(-1,): 1, (1,): 2}, [3], "half-sample")
    [{1: 1, 0: 2}, {2: 1, 0: 2}, {2: 1, 1: 2}]
    """
    count = prod(shape)
    if count * len(lags) > _MAX_ENTRIES:
        raise InvalidInput(f"the matrix of {len(lags)} taps on {count} samples has too many entries to be written out; "
                           "apply() filters arrays of any size")
    rows: list[dict[int, Tap]] = [{} for _ in range(count)]
    for lag, tap in lags.items():
        axes = [continued(np.arange(n) - k, n, boundary) for n, k in zip(shape, lag, strict=True)]
        for at, source in enumerate(product(*(axis.tolist() for axis in axes))):
            if min(source) < 0:
                continue
            found = 0
            for n, i in zip(shape, source, strict=True):
                found = found * n + i
            row, column = (found, at) if transposed else (at, found)
            rows[row][column] = rows[row][column] + tap if column in rows[row] else tap  # type: ignore[operator]
    return rows


def grid(n_samples: object) -> tuple[int, ...]:
    """Return the shape of a grid of samples: a size, or a tuple of sizes.

    Examples
    --------
    >>> grid(6), grid((4, 5))
    ((6,), (4, 5))
    """
    sizes = tuple(n_samples) if isinstance(n_samples, (tuple, list)) else (n_samples,)
    if not sizes or any(isinstance(n, bool) or not hasattr(n, "__index__") or n < 1 for n in sizes):
        raise InvalidInput(f"n_samples is a number of samples or the shape of a grid such as (4, 5), got {n_samples!r}")
    return tuple(int(n) for n in sizes)
