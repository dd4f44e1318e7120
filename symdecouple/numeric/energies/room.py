"""Room for the loops over one signal, and in what parts they take its frequencies."""

from __future__ import annotations

import math

import numpy as np

from symdecouple.numeric.batch import FloatArray, IntArray

__all__ = ["BLOCK", "GROUP", "LANES", "ODD", "PART", "ROWS", "STRIDE", "TILE", "WIDE", "Scratch", "aligned", "scratch"]

BLOCK = 1024  # frequencies whose exponents are worked on together
ROWS = 64  # of a group of sums
LANES, _LINE = 16, 8  # floats of a pass, and of a line of the cache
PART, GROUP = 256, 16  # frequencies of a line, and lines, that are moved to nodes together
TILE = 4  # nodes of a map that are read together, and lines
ODD = PART // 2 + _LINE  # where the odd part of a line begins
STRIDE, WIDE = 2 * ODD, 96  # from one line to the next, and for as many nodes

Scratch = tuple[FloatArray, FloatArray, FloatArray, IntArray, FloatArray, FloatArray, FloatArray, FloatArray,
                FloatArray, FloatArray]


def scratch(lines: int, nodes: int = 0, rows: int = ROWS) -> Scratch:
    """Room for banks of that many inner lines and so many rows, moved to so many nodes of an axis.

    Exponents or a few lines, a product, bits as floats and as integers, parts, small sums, sums of the parts with three
    outer lines, lines that are moved together, lines of nodes, factors of inner lines.
    """
    width, block = 1 + lines + lines * (lines + 1) // 2, max(BLOCK, LANES)
    bits = aligned(block)
    return (aligned(max(block, TILE * STRIDE)), aligned(block), bits, bits.view(np.int64), aligned(width + 1, ROWS),
            aligned(max(width, TILE * WIDE)), aligned(width, 10), aligned(2 * GROUP * STRIDE if nodes else 0),
            aligned((nodes + 2 * TILE) * STRIDE if nodes else 0), aligned(lines * max(rows, nodes)))


def aligned(*shape: int) -> FloatArray:
    """Room that begins where a line of the cache does: no vector lies in two, which takes twice as long."""
    size = math.prod(shape)
    room = np.empty(size + _LINE)
    first = -room.ctypes.data % (8 * _LINE) // 8
    return room[first : first + size].reshape(shape)
