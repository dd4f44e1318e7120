"""What searches with a bank share, in one array, so that a call of compiled code takes three arrays.

Each array that is handed over costs a third of a microsecond, and there are fifty: a tenth of what a small image takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from symdecouple.numeric.energies.eigenvalues import Lines
from symdecouple.numeric.energies.maps import Maps
from symdecouple.numeric.energies.nodes import Probes
from symdecouple.numeric.energies.workspace import Scratch, aligned
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["Packed", "Place", "Sketch", "Tools", "packed", "unpacked"]

_LINE = 8  # floats of a line of the cache
_LINES, _MAPS, _PLACE, _SKETCH, _SCRATCH = 4, 5, 23, 15, 11  # how many leaves they have


class Sketch(NamedTuple):
    """Nodes of a sketch, their maps (no rows where power comes ready), and the power there."""

    lines: Lines
    outer: Maps
    inner: Maps
    power: FloatArray


class Place(NamedTuple):
    """Nodes that answer, the same of them (no rows where there are no nodes), and what they miss."""

    lines: Lines
    outer: Maps
    inner: Maps
    power: FloatArray
    order: int
    lebesgue: float
    probes: Probes


class Tools(NamedTuple):
    """What the searches with a bank share: features everywhere, on few nodes, on more, on a sketch; and room.

    Scratch for the sums, rows for vectors, 1 at each probe, and room for the power of a place.
    """

    lines: Lines
    largest: FloatArray
    nodes: Place
    more: Place
    sketch: Sketch
    work: Scratch
    small: FloatArray
    everywhere: FloatArray
    kept: FloatArray


class Packed(NamedTuple):
    """A room, the same memory as integers, and of each leaf where it begins, its rows, and its columns."""

    room: FloatArray
    bits: IntArray
    layout: IntArray


def packed(tools: Tools) -> Packed:
    """Copy all leaves into one room; what is one array, or one memory, stays so."""
    leaves = [np.atleast_1d(leaf) for leaf in _leaves(tools)]
    starts: dict[tuple[int, int], int] = {}
    layout, end = np.empty((len(leaves), 3), dtype=np.int64), 0
    for k, leaf in enumerate(leaves):
        key = leaf.__array_interface__["data"][0], leaf.size
        if key not in starts:
            starts[key] = end
            end += leaf.size + -leaf.size % _LINE
        layout[k] = starts[key], leaf.shape[0] if leaf.ndim > 1 else 1, leaf.shape[-1]
    room = aligned(end)
    bits = room.view(np.int64)
    for (start, _, _), leaf in zip(layout.tolist(), leaves, strict=True):
        (bits if leaf.dtype.kind == "i" else room)[start : start + leaf.size] = leaf.ravel()
    return Packed(room, bits, layout)


def _leaves(some: Any) -> Iterator[Any]:
    if isinstance(some, tuple):
        for part in some:
            yield from _leaves(part)
    else:
        yield some


def unpacked(room: FloatArray, bits: IntArray, layout: IntArray) -> Tools:
    """Return views into the room."""
    nodes = _LINES + 1
    more, sketch = nodes + _PLACE, nodes + 2 * _PLACE
    work, last = sketch + _SKETCH, sketch + _SKETCH + _SCRATCH
    to, power = sketch + _LINES, _row(room, layout, sketch + _LINES + 2 * _MAPS)[0]
    sketched = Sketch(_lines(room, bits, layout, sketch), _maps(room, bits, layout, to),
                      _maps(room, bits, layout, to + _MAPS), power)
    scratch = (_row(room, layout, work)[0], _bits(bits, layout, work + 1)[0], _row(room, layout, work + 2)[0],
               _bits(bits, layout, work + 3)[0], _row(room, layout, work + 4)[0], _two(room, layout, work + 5)[0],
               _row(room, layout, work + 6)[0], _row(room, layout, work + 7)[0], _row(room, layout, work + 8)[0],
               _row(room, layout, work + 9)[0], _row(room, layout, work + 10)[0])
    return Tools(_lines(room, bits, layout, 0), _row(room, layout, _LINES)[0], _place(room, bits, layout, nodes),
                 _place(room, bits, layout, more), sketched, scratch, _two(room, layout, last)[0],
                 _row(room, layout, last + 1)[0], _row(room, layout, last + 2)[0])


def _place(room: FloatArray, bits: IntArray, layout: IntArray, k: int) -> Place:
    to, at = k + _LINES, k + _LINES + 2 * _MAPS
    probes, wide = _two(room, layout, at + 3), _two(room, layout, at + 5)
    return Place(_lines(room, bits, layout, k), _maps(room, bits, layout, to), _maps(room, bits, layout, to + _MAPS),
                 _row(room, layout, at)[0], bits[layout[at + 1, 0]], room[layout[at + 2, 0]],
                 Probes(probes[0], probes[1], wide[0], wide[1], room[layout[at + 7, 0]], room[layout[at + 8, 0]]))


def _maps(room: FloatArray, bits: IntArray, layout: IntArray, k: int) -> Maps:
    return Maps(_row(room, layout, k)[0], bits[layout[k + 1, 0]], bits[layout[k + 2, 0]], bits[layout[k + 3, 0]],
                bits[layout[k + 4, 0]])


def _lines(room: FloatArray, bits: IntArray, layout: IntArray, k: int) -> Lines:
    lines, places, m = _two(room, layout, k), layout[k + 2, 0], layout[k + 2, 2]
    return Lines(lines[0], lines[1], bits[places : places + 2 * m].reshape((2, m)), _row(room, layout, k + 3)[0])


def _row(room: FloatArray, layout: IntArray, k: int) -> tuple[FloatArray]:
    """A leaf; in a tuple, as compiled functions that do not count references return no array."""
    start = layout[k, 0]
    return (room[start : start + layout[k, 2]],)


def _bits(bits: IntArray, layout: IntArray, k: int) -> tuple[IntArray]:
    start = layout[k, 0]
    return (bits[start : start + layout[k, 2]],)


def _two(room: FloatArray, layout: IntArray, k: int) -> tuple[FloatArray, FloatArray]:
    """A leaf with two axes, and the next one, as one row if it has one axis."""
    first, r, c = layout[k, 0], layout[k, 1], layout[k, 2]
    other, s, d = layout[k + 1, 0], layout[k + 1, 1], layout[k + 1, 2]
    return room[first : first + r * c].reshape((r, c)), room[other : other + s * d].reshape((s, d))
