"""Projections of the gradients of many samples, by Gram-Schmidt or by inner products, whichever is cheaper and sure.

Features may do both at once, gradients and their projection, where that is cheaper still: `BankRows` does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.features.features import Features
from symdecouple.numeric.paths import projection_gram as gram
from symdecouple.numeric.paths.projection_frame import Frame, last_of
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["direction_at", "last_direction", "least_move", "move_at"]

_FROM_SAMPLES = 256  # a row by itself costs some calls


def direction_at(features: Features, rows: FloatArray, count: int
                 ) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return `last_direction` of the first `count` gradients at rows (R, N)."""
    found = features.last_direction(rows, count) if hasattr(features, "last_direction") else None
    if found is None:
        return last_direction(features.gradients(rows, count))
    direction, size, sound = found
    if len(left := np.flatnonzero(~sound)):
        direction[left], size[left], sound[left] = last_of(features.gradients(rows[left], count))
    return direction, size, sound


def move_at(features: Features, rows: FloatArray, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the shortest moves of rows (R, N) that bring the first features to wanted values (R, k), to first order.

    The second answer is the root mean squares of their gradients, (R, k).
    """
    found = features.least_move(rows, wanted) if hasattr(features, "least_move") else None
    left = np.arange(len(rows)) if found is None else np.flatnonzero(~found[2])
    moves, sizes = np.empty_like(rows), np.empty_like(wanted)
    if found is not None:
        moves, sizes, _ = found
    if len(left):
        some, count = rows if len(left) == len(rows) else rows[left], wanted.shape[1]
        gradients = features.gradients(some, count)
        sizes[left] = np.sqrt(np.vecdot(gradients, gradients) / gradients.shape[-1])
        moves[left] = least_move(gradients, wanted[left] - features.values(some)[:, :count])
    return moves, sizes


def last_direction(gradients: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return g_k/|g_k|, |g_k| and whether there is any, for gradients (R, k, N) and g_k the last one across the others.

    Where there is none the direction is 0, and the size 1.

    Examples
    --------
    >>> direction, size, sound = last_direction(np.array([[[1.0, 0, 0], [3, 4, 0]], [[1, 0, 0], [2, 0, 0]]]))
    >>> (0 + (direction * size[:, None]).round(12)).tolist(), sound.tolist()
    ([[0.0, 4.0, 0.0], [0.0, 0.0, 0.0]], [True, False])
    """
    if not _is_by_products(gradients):
        return last_of(gradients)
    direction, size, sound = gram.last_direction(gradients)
    if len(left := np.flatnonzero(~sound)):
        direction[left], size[left], sound[left] = last_of(gradients[left])
    return direction, size, sound


def least_move(gradients: FloatArray, gaps: FloatArray) -> FloatArray:
    """Return the shortest moves (R, N) with Mean(v_j move) = gaps_j, (R, k); dependent gradients are left out.

    Examples
    --------
    >>> least_move(np.array([[[1.0, 1], [1, -1]], [[1, 1], [2, 2]]]), np.array([[3.0, 1], [3, 1]])).round(12).tolist()
    [[4.0, 2.0], [3.0, 3.0]]
    """
    if not _is_by_products(gradients):
        frame = Frame.of(gradients)
        return frame.combined(frame.solve(gaps))
    moves, sure = gram.least_move(gradients, gaps)
    if len(left := np.flatnonzero(~sure)):
        frame = Frame.of(gradients[left])
        moves[left] = frame.combined(frame.solve(gaps[left]))
    return moves


def _is_by_products(gradients: FloatArray) -> bool:
    """By the shape of a row alone, so that its bits are the same beside others."""
    _, count, n = gradients.shape
    return bool(count >= gram.FROM_FEATURES and n >= _FROM_SAMPLES)
