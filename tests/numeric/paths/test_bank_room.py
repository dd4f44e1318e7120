"""Memory for the loops of banks: where its arrays lie, and when it is made anew."""

from __future__ import annotations

import numpy as np
from symdecouple.numeric.paths.bank_room import arrays_for

SHAPES = ((3, 5), (0, 7), (2, 2, 3), (11,))


def test_arrays_are_aligned_whole_and_apart() -> None:
    flat, arrays = arrays_for(None, SHAPES)
    for number, (array, shape) in enumerate(zip(arrays, SHAPES, strict=True)):
        assert array.shape == shape and (not array.size or array.ctypes.data % 64 == 0) and array.flags.c_contiguous
        assert np.shares_memory(array, flat) or not array.size
        array[...] = number
    for number, array in enumerate(arrays):
        assert (array == number).all()


def test_memory_is_used_again_where_there_is_enough() -> None:
    flat, _ = arrays_for(None, SHAPES)
    again, arrays = arrays_for(flat, SHAPES[1:])
    assert again is flat and all(np.shares_memory(array, flat) for array in arrays if array.size)
    larger, _ = arrays_for(flat, (*SHAPES, (100,)))
    assert larger is not flat and len(larger) >= len(flat) + 100
