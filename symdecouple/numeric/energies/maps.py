"""Maps of power to the nodes of an axis, in the order in which `node_loops` reads them.

A map (J, n) has L_j at n frequencies. Where nodes and frequencies mirror each other at c = 0, its even and odd part, at
the first half of the frequencies, serve two nodes each. Maps are cut into tiles of four nodes, zeros where there are
fewer: those of even parts, then those of odd ones, the last node first. An outer map has sixteen factors for four nodes
and four frequencies beside each other; an inner one has rows of a block of frequencies.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from symdecouple.numeric.energies.workspace import GROUP, PART, STRIDE, TILE, aligned
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["Maps", "inner_maps", "mirrored", "outer_maps"]

_ROUNDING = 1e-12  # of a map


class Maps(NamedTuple):
    """Maps to the nodes of an axis.

    Attributes
    ----------
    factors : array
    few : int
        How many nodes there are.
    tiles : int
        How many tiles these make, of even and odd parts together.
    frequencies, half : int
        How many frequencies there are; how many of them the tiles have, fewer where there are even and odd parts.
    """

    factors: FloatArray
    few: int
    tiles: int
    frequencies: int
    half: int


def outer_maps(maps: FloatArray) -> Maps:
    """Cut a map (J, n) into tiles of four nodes and four frequencies, those of a group of lines after each other."""
    rows, half = _tiled(maps)
    groups = -(-half // GROUP)
    whole = np.zeros((len(rows), groups * GROUP))
    whole[:, :half] = rows
    cut = whole.reshape(len(rows) // TILE, TILE, groups, GROUP // TILE, TILE).transpose(2, 0, 3, 1, 4)
    return Maps(_flat(cut), len(maps), len(rows) // TILE, maps.shape[1], half)


def inner_maps(maps: FloatArray) -> Maps:
    """Cut a map (J, n) into rows of a block, all rows of a block after each other."""
    rows, half = _tiled(maps, PART)
    parts = -(-half // PART)
    cut = np.zeros((parts, len(rows), STRIDE))
    for k in range(parts):
        part = rows[:, k * PART : min(half, (k + 1) * PART)]
        cut[k, :, : part.shape[1]] = part
    return Maps(_flat(cut), len(maps), len(rows) // TILE, maps.shape[1], half)


def mirrored(maps: FloatArray, most: float = math.inf) -> FloatArray:
    """Return the even and the odd part of a map (J, n) at the first half of the frequencies, (J, (n + 1)//2).

    The odd ones come last node first. A map that is not its own mirror stays as it is, and so does one for more
    frequencies than `most`.

    Examples
    --------
    >>> mirrored(np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])).tolist()
    [[0.5, 0.5], [0.5, 0.0]]
    """
    few, count = maps.shape
    if few % 2 or count > most or not np.allclose(maps, maps[::-1, ::-1], rtol=0, atol=_ROUNDING):
        return maps
    first, back = maps[: few // 2, : (count + 1) // 2], maps[: few // 2, ::-1][:, : (count + 1) // 2]
    return np.concatenate([(first + back) / 2, ((first - back) / 2)[::-1]])


def _tiled(maps: FloatArray, most: float = math.inf) -> tuple[FloatArray, int]:
    """The rows of whole tiles, and how many frequencies they have."""
    rows = mirrored(maps, most)
    half, few = rows.shape[1], len(maps)
    parts = [rows] if half == maps.shape[1] else [rows[: few // 2], rows[: few // 2 - 1 : -1]]
    return np.concatenate([np.pad(part, ((0, -len(part) % TILE), (0, 0))) for part in parts]), half


def _flat(cut: FloatArray) -> FloatArray:
    """One after the other, from where a line of the cache begins."""
    out = aligned(cut.size)
    out[:] = cut.reshape(-1)
    return out
