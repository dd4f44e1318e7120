"""Room for the loops over one signal, and in what parts they take its frequencies."""

from __future__ import annotations

import math

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["ACROSS", "BLOCK", "GROUP", "ODD", "PART", "STRIDE", "TILE", "WIDE", "Scratch", "aligned",
           "scratch"]

BLOCK = 1024  # frequencies whose exponents are worked on together
_LINE = 8  # floats of a line of the cache
PART = 256  # frequencies of a line that are summed together
ACROSS = PART + _LINE  # from one of these sums to the next
GROUP = 16  # lines that are moved to nodes together
TILE = 4  # nodes of a map that are read together, and lines
ODD = PART // 2 + _LINE  # where the odd part of a line begins
STRIDE, WIDE = 2 * ODD, 96  # from one line to the next, and for as many nodes

Scratch = tuple[FloatArray, IntArray, FloatArray, IntArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray,
                FloatArray, FloatArray]


def scratch(outer: int, inner: int, rows: int, nodes: int = 0) -> Scratch:
    """Room for banks of that many outer and inner lines and so many rows, moved to so many nodes of an axis.

    Exponents or a few lines and their bits, floats and their bits, sums along s, those of them along t with three inner
    lines, sums of lines of nodes, lines that are moved together, lines of nodes, factors of inner lines, a few lines.
    """
    sums, lines, floats = 1 + outer + outer * (outer + 1) // 2, aligned(max(BLOCK, TILE * STRIDE)), aligned(BLOCK)
    return (lines, lines.view(np.int64), floats, floats.view(np.int64), aligned(sums * ACROSS), aligned(sums, 9),
            aligned(TILE * WIDE), aligned(2 * GROUP * STRIDE if nodes else 0),
            aligned((nodes + 2 * TILE) * STRIDE if nodes else 0), aligned(inner * max(rows, nodes)),
            aligned(TILE * PART))


def aligned(*shape: int) -> FloatArray:
    """Room that begins where a line of the cache does: no vector lies in two, which takes twice as long."""
    size = math.prod(shape)
    room = np.empty(size + _LINE)
    first = -room.ctypes.data % (8 * _LINE) // 8
    return room[first : first + size].reshape(shape)
