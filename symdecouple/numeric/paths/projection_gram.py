r"""Projection by the matrix of inner products: for many gradients at once, where Gram-Schmidt sweeps memory too often.

With G_ij = <v_i, v_j>/(|v_i| |v_j|) = L L' the part of v_k orthogonal to those before is

.. math:: g_k = v_k - \sum_{j<k} c_j v_j, \qquad G_{<k,<k}\, c = G_{<k,k}

taken twice, as the first time leaves rounding behind. L tells how nearly dependent the gradients are: it squares their
condition, so that below `SURE` nothing is claimed, and `frame.Frame` has to do it.

The loops of `gram_loops` do it where they are compiled. Matrix products of NumPy do it elsewhere, in blocks that BLAS
gives to one thread: two for so little work wait for each other.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.paths import gram_loops
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["FROM_FEATURES", "KERNELS", "SURE", "last_direction", "least_move", "warm"]

_SOURCES = ("symdecouple.numeric.kernels.compile", gram_loops.__name__, __name__)
KERNELS = Kernels(gram_loops.__name__, _SOURCES, seconds=1e-7)
FROM_FEATURES = 6  # where it is cheaper than Gram-Schmidt
SURE = 1e-5  # the least diagonal of L: eps over its square are the digits that one solution loses
_BLOCK = 128


def last_direction(gradients: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return g_k/|g_k|, |g_k| and which rows are sure, for gradients (R, k, N).

    Examples
    --------
    >>> direction, size, sure = last_direction(np.array([[[1.0, 0, 0], [3, 4, 0]]]))
    >>> (direction * size[:, None]).round(12).tolist(), sure.tolist()
    ([[0.0, 4.0, 0.0]], [True])
    """
    n_rows, count, n = gradients.shape
    direction, size, sure = np.zeros((n_rows, n)), np.zeros(n_rows), np.zeros(n_rows, dtype=np.bool_)
    compiled, scratch = _compiled(count * count * n), _scratch(count)
    for r, fields in enumerate(map(np.ascontiguousarray, gradients)):
        left = (compiled[0](fields, SURE, *scratch, direction[r]) if compiled else
                _last_direction(fields, direction[r]))
        sure[r] = left > 0
        if sure[r]:
            direction[r] *= np.sqrt(n)
            size[r] = left / np.sqrt(n)
        else:
            direction[r] = 0
    return direction, size, sure


def least_move(gradients: FloatArray, gaps: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the shortest moves (R, N) with Mean(v_j move) = gaps_j (R, k), and which rows are sure.

    Examples
    --------
    >>> move, sure = least_move(np.array([[[1.0, 1], [1, -1]]]), np.array([[3.0, 1.0]]))
    >>> move.round(12).tolist(), sure.tolist()
    ([[4.0, 2.0]], [True])
    """
    n_rows, count, n = gradients.shape
    moves, sure = np.zeros((n_rows, n)), np.zeros(n_rows, dtype=np.bool_)
    compiled, scratch = _compiled(count * count * n), _scratch(count)
    for r, fields in enumerate(map(np.ascontiguousarray, gradients)):
        if not np.isfinite(gaps[r]).all():
            continue
        if compiled:
            sure[r] = compiled[1](fields, SURE, n * gaps[r], *scratch, moves[r])
        else:
            lengths, factor = _factored(_products(fields), count)
            if factor is not None:
                moves[r] = _combined(dpotrs(factor, n * gaps[r] / lengths, lower=1)[0] / lengths, fields)
                sure[r] = True
    return moves, sure


def _last_direction(fields: FloatArray, rest: FloatArray) -> float:
    """Write g_k at length 1 to `rest`; return its length, 0 where it is not sure."""
    products = _products(fields)
    lengths, factor = _factored(products, len(fields) - 1)
    if factor is None:
        return 0.0
    length, others = lengths[-1], lengths[:-1]
    rest[:] = fields[-1] / length
    for sweep in range(2):
        along = products[-1, :-1] / length if sweep == 0 else fields[:-1] @ rest
        shares = dpotrs(factor, along / others, lower=1)[0]
        rest -= _combined(shares / others, fields[:-1])
    left = float(np.sqrt(rest @ rest))
    rest /= left
    return left * float(length) if left > SURE else 0.0


def _combined(shares: FloatArray, fields: FloatArray) -> FloatArray:
    """Entry by entry: a matrix product would round what is tied by its place."""
    return np.asarray(np.einsum("j,jn->n", shares, fields))


def _products(fields: FloatArray) -> FloatArray:
    """Return all inner products of fields (k, N)."""
    count, n = fields.shape
    total = np.zeros((count, count))
    for begin in range(0, n, _BLOCK):
        block = fields[:, begin : begin + _BLOCK]
        total += block @ block.T
    return total


def _factored(products: FloatArray, count: int) -> tuple[FloatArray, FloatArray | None]:
    """Return the lengths of fields, and L of the normalized products of the first ones; None where it is not sure."""
    lengths = np.sqrt(np.diagonal(products))
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        return lengths, None
    kept = lengths[:count]
    factor, failed = dpotrf(products[:count, :count] / np.multiply.outer(kept, kept), lower=1)
    if failed or not np.diagonal(factor).min(initial=1) > SURE:
        return lengths, None
    return lengths, np.asarray(factor)


def _scratch(count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Room for the factor, the lengths and the shares of some fields."""
    room = -4 * (-count // 4)
    return np.empty((room, room)), np.empty(room), np.empty(room)


@cache
def _compiled(n_products: int) -> Any:
    """The compiled loops, where they are on the disk and one row is worth loading them: rows decide by themselves."""
    return _kernels() if KERNELS.are_wanted(n_products) and KERNELS.are_warm() else None


def warm() -> None:
    """Compile the loops, and leave the mark that they are."""
    fields, row = np.eye(2, 3), np.empty(3)
    last_direction, least_move = _kernels()
    last_direction(fields, SURE, *_scratch(2), row)
    least_move(fields, SURE, np.zeros(2), *_scratch(2), row)
    KERNELS.note_warm()
    _compiled.cache_clear()


@cache
def _kernels() -> Any:
    return KERNELS.build(gram_loops.last_direction, gram_loops.least_move, fast=gram_loops.FAST)
