"""The memory that the compiled loops of a bank work in, kept from one call to the next.

All arrays begin at a multiple of the longest vector of a machine: inner products of fields that do not take twice as
long, as each of their vectors lies in two lines of the cache.
"""

from __future__ import annotations

from math import prod
from typing import TypeAlias

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["KEPT", "Room", "arrays_for"]

# Outputs, those of another plane, scratch, fields, slopes, three planes, the factor, lengths, shares and gaps, sums.
Room: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray,
                        FloatArray]

KEPT = 2**20  # numbers: for more of them new memory is no matter
_VECTOR = 64  # bytes


def arrays_for(flat: FloatArray | None, shapes: tuple[tuple[int, ...], ...]
               ) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    """Return memory of so many numbers at least, `flat` if it has them, and arrays of these shapes in it.

    Examples
    --------
    >>> flat, (one, other) = arrays_for(None, ((2, 3), (5,)))
    >>> one.shape, other.shape, one.ctypes.data % 64, other.ctypes.data % 64
    ((2, 3), (5,), 0, 0)
    """
    step = _VECTOR // 8
    sizes = [-step * (-prod(shape) // step) for shape in shapes]
    if flat is None or len(flat) < sum(sizes) + step:
        flat = np.empty(sum(sizes) + step)
    begin = -flat.ctypes.data % _VECTOR // 8
    made = []
    for shape, size in zip(shapes, sizes, strict=True):
        made.append(flat[begin : begin + prod(shape)].reshape(shape))
        begin += size
    return flat, tuple(made)
