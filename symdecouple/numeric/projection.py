"""Projections of the gradients of many samples, by Gram-Schmidt or by inner products, whichever is cheaper and sure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric import gram
from symdecouple.numeric.batch import FloatArray
from symdecouple.numeric.frame import Frame

__all__ = ["last_direction", "least_move"]

_FROM_SAMPLES = 256  # a row by itself costs some calls


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
        frame = Frame.of(gradients)
        return frame.basis[-1], frame.triangle[:, -1, -1], frame.sound[:, -1]
    direction, size, sound = gram.last_direction(gradients)
    if len(left := np.flatnonzero(~sound)):
        frame = Frame.of(gradients[left])
        direction[left], size[left], sound[left] = frame.basis[-1], frame.triangle[:, -1, -1], frame.sound[:, -1]
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
