r"""Projection by the matrix of inner products: for many gradients at once, where Gram-Schmidt sweeps memory too often.

With G_ij = <v_i, v_j>/(|v_i| |v_j|) = L L' the part of v_k orthogonal to those before is

.. math:: g_k = v_k - \sum_{j<k} c_j v_j, \qquad G_{<k,<k}\, c = G_{<k,k}

taken twice, as the first time leaves rounding behind. L tells how nearly dependent the gradients are: it squares their
condition, so that below `_SURE` nothing is claimed, and `narrow_path.Frame` has to do it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from symdecouple.numeric.batch import FloatArray

__all__ = ["FROM_FEATURES", "last_direction", "least_move"]

FROM_FEATURES = 6  # where it is cheaper than Gram-Schmidt
_SURE = 1e-5  # the least diagonal of L: eps over its square are the digits that one solution loses


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
    for r, fields in enumerate(gradients):
        lengths, factor = _factored(fields[:-1])
        length = np.sqrt(fields[-1] @ fields[-1])
        if factor is None or not 0 < length < np.inf:
            continue
        rest = fields[-1] / length
        for _ in range(2):
            shares = dpotrs(factor, fields[:-1] @ rest / lengths, lower=1)[0]
            rest -= (shares / lengths) @ fields[:-1]
        left = np.sqrt(rest @ rest)
        sure[r] = left > _SURE
        if sure[r]:
            direction[r], size[r] = rest * (np.sqrt(n) / left), left * length / np.sqrt(n)
    return direction, size, sure


def least_move(gradients: FloatArray, gaps: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the shortest moves (R, N) with Mean(v_j move) = gaps_j (R, k), and which rows are sure.

    Examples
    --------
    >>> move, sure = least_move(np.array([[[1.0, 1], [1, -1]]]), np.array([[3.0, 1.0]]))
    >>> move.round(12).tolist(), sure.tolist()
    ([[4.0, 2.0]], [True])
    """
    n_rows, _, n = gradients.shape
    moves, sure = np.zeros((n_rows, n)), np.zeros(n_rows, dtype=np.bool_)
    for r, fields in enumerate(gradients):
        lengths, factor = _factored(fields)
        if factor is not None and np.isfinite(gaps[r]).all():
            moves[r] = dpotrs(factor, n * gaps[r] / lengths, lower=1)[0] / lengths @ fields
            sure[r] = True
    return moves, sure


def _factored(fields: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Return the lengths of fields (k, N), and L of their normalized Gram matrix; None where it is not sure."""
    products = fields @ fields.T
    lengths = np.sqrt(np.diagonal(products))
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        return lengths, None
    factor, failed = dpotrf(products / np.multiply.outer(lengths, lengths), lower=1)
    if failed or not np.diagonal(factor).min() > _SURE:
        return lengths, None
    return lengths, np.asarray(factor)
