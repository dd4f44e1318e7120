r"""Projections of the gradients of many samples: the part of one across others, and the shortest move to given values.

Inner products are averages, <u, v> = Mean(u v). Gram-Schmidt (`Frame`) finds which gradients depend on each other. Many
long gradients are projected by their normalized inner products, which sweeps memory less often: with
G_ij = <v_i, v_j>/(|v_i| |v_j|) = L L' the part of v_k orthogonal to those before is

.. math:: g_k = v_k - \sum_{j<k} c_j v_j, \qquad G_{<k,<k}\, c = G_{<k,k}

taken twice, as the first time leaves rounding behind. L tells how nearly dependent the gradients are; it squares their
condition, so that below `SURE` Gram-Schmidt has to do it. Rows are treated one by one, and the entries of a row all
alike: what is tied in all gradients stays tied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from symdecouple.numeric.features.bank_kernel import SURE
from symdecouple.numeric.features.features import Features
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["Frame", "direction_at", "last_direction", "least_move", "move_at"]

_DEPENDENT = 2.0**-44  # a projected gradient shorter than this part of the gradient is rounding
_CANCELLED = 0.1  # what is left of a gradient by one projection, to need a second one: a digit is lost at most
_FROM_FEATURES, _FROM_SAMPLES = 6, 256  # where inner products are cheaper: a row by itself costs some calls
_SMALL = 2**18  # multiplications of a matrix product that BLAS gives to one thread: more of them wait for each other


def direction_at(features: Features, rows: FloatArray, count: int, gradients: FloatArray | None = None
                 ) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return `last_direction` of the first `count` gradients at rows (R, N), by the features themselves if they can.

    Gradients that are known already are not asked for again.
    """
    found = features.last_direction(rows, count, gradients) if hasattr(features, "last_direction") else None
    if found is None:
        return last_direction(features.gradients(rows, count) if gradients is None else gradients)
    direction, size, sound = found
    if len(left := np.flatnonzero(~sound)):
        frame = Frame.of(features.gradients(rows[left], count) if gradients is None else gradients[left])
        direction[left], size[left], sound[left] = frame.basis[-1], frame.triangle[:, -1, -1], frame.sound[:, -1]
    return direction, size, sound


def move_at(features: Features, rows: FloatArray, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the shortest moves of rows (R, N) that bring the first features to wanted values (R, k), to first order.

    The second answer is the root mean squares of their gradients, (R, k).
    """
    found = features.least_move(rows, wanted) if hasattr(features, "least_move") else None
    left = np.arange(len(rows)) if found is None else np.flatnonzero(~found[2])
    moves, sizes = (np.empty_like(rows), np.empty_like(wanted)) if found is None else found[:2]
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
    direction, size = np.zeros(gradients.shape[::2]), np.ones(len(gradients))
    sound = np.zeros(len(gradients), dtype=np.bool_)
    if _is_by_products(gradients):
        for r, fields in enumerate(gradients):
            sound[r], size[r], direction[r] = _last_across(fields)
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
    moves, sure = np.zeros(gradients.shape[::2]), np.zeros(len(gradients), dtype=np.bool_)
    if _is_by_products(gradients):
        for r in np.flatnonzero(np.isfinite(gaps).all(axis=1)):
            lengths, factor = _factored(_products(gradients[r]), gaps.shape[1])
            if factor is not None:
                sure[r] = True
                shares = dpotrs(factor, gradients.shape[2] * gaps[r] / lengths, lower=1)[0]
                moves[r] = _combined(shares / lengths, gradients[r])
    if len(left := np.flatnonzero(~sure)):
        frame = Frame.of(gradients[left])
        moves[left] = frame.combined(frame.solve(gaps[left]))
    return moves


@dataclass(frozen=True, slots=True)
class Frame:
    """Gradients in an orthonormal basis: v_j = sum over i <= j of T_ij q_i, with <q_i, q_j> = 1 or 0.

    `basis` is (k, R, N), `triangle` (R, k, k); its last diagonal number is the size of the projected gradient. Where
    v_j depends on those before it up to rounding, q_j is 0 and `sound` (R, k) is False.
    """

    basis: FloatArray
    triangle: FloatArray
    sound: NDArray[np.bool_]

    @classmethod
    def of(cls, gradients: FloatArray) -> Frame:
        """Orthogonalize gradients (R, k, N) by Gram-Schmidt, once more where the first time leaves rounding behind."""
        n_rows, count, n = gradients.shape
        basis, triangle = np.empty((count, n_rows, n)), np.zeros((n_rows, count, count))
        sound = np.empty((n_rows, count), dtype=np.bool_)
        for j in range(count):
            rest = basis[j]
            rest[:] = gradients[:, j]
            size = left = np.sqrt(np.vecdot(rest, rest) / n)
            if j:
                triangle[:, :j, j], left = _reduced(rest, basis[:j])
                if len(again := np.flatnonzero(~(left > _CANCELLED * size) & (left > 0))):
                    once = rest[again]
                    more, left[again] = _reduced(once, basis[:j, again])
                    triangle[again, :j, j] += more
                    rest[again] = once
            sound[:, j] = left > _DEPENDENT * size
            triangle[:, j, j] = np.where(sound[:, j], left, 1)
            rest /= triangle[:, j, j, None]
            if not sound[:, j].all():
                rest[~sound[:, j]] = 0
        return cls(basis, triangle, sound)

    def solve(self, values: FloatArray) -> FloatArray:
        """Return z (..., R, k) with <v_j, sum of z_i q_i> = values_j; dependent gradients are left out."""
        z = np.zeros_like(values)
        for j in range(z.shape[-1]):
            known = (self.triangle[:, :j, j] * z[..., :j]).sum(axis=-1)
            z[..., j] = np.where(self.sound[:, j], (values[..., j] - known) / self.triangle[:, j, j], 0)
        return z

    def coefficients(self, z: FloatArray) -> FloatArray:
        """Return a (..., R, k) with sum of a_j v_j = sum of z_i q_i; dependent gradients are left out."""
        a = np.zeros_like(z)
        for i in reversed(range(z.shape[-1])):
            known = (self.triangle[:, i, i + 1 :] * a[..., i + 1 :]).sum(axis=-1)
            a[..., i] = np.where(self.sound[:, i], (z[..., i] - known) / self.triangle[:, i, i], 0)
        return a

    def combined(self, z: FloatArray) -> FloatArray:
        """Return the sum of z_j q_j, (..., R, N)."""
        moved = np.zeros((*z.shape[:-1], self.basis.shape[-1]))
        for j, q in enumerate(self.basis):
            moved += z[..., j, None] * q
        return moved


def _reduced(rest: FloatArray, basis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take from rows, in place, their shares along each q_i in turn; return the shares and the size that is left."""
    n_rows, n = rest.shape
    shares, scratch = np.empty((n_rows, len(basis))), np.empty_like(rest)
    for i, q in enumerate(basis):
        shares[:, i] = np.vecdot(q, rest) / n
        rest -= np.multiply(shares[:, i, None], q, out=scratch)
    return shares, np.sqrt(np.vecdot(rest, rest) / n)


def _is_by_products(gradients: FloatArray) -> bool:
    """By the shape of a row alone, so that its bits are the same beside others."""
    _, count, n = gradients.shape
    return bool(count >= _FROM_FEATURES and n >= _FROM_SAMPLES)


def _last_across(fields: FloatArray) -> tuple[bool, float, FloatArray]:
    """Return whether it is sure, |g_k|, and g_k/|g_k|, of fields (k, N)."""
    products, n = _products(fields), fields.shape[1]
    lengths, factor = _factored(products, len(fields) - 1)
    if factor is None:
        return False, 1.0, np.zeros(n)
    length, others, rest = lengths[-1], lengths[:-1], fields[-1] / lengths[-1]
    for sweep in range(2):
        along = fields[:-1] @ rest if sweep else products[-1, :-1] / length
        rest -= _combined(dpotrs(factor, along / others, lower=1)[0] / others, fields[:-1])
    left = np.sqrt(rest @ rest)
    if not left > SURE:
        return False, 1.0, np.zeros(n)
    return True, float(left * length / np.sqrt(n)), rest * (np.sqrt(n) / left)


def _combined(shares: FloatArray, fields: FloatArray) -> FloatArray:
    """Entry by entry: a matrix product would round what is tied by its place."""
    return np.asarray(np.einsum("j,jn->n", shares, fields))


def _products(fields: FloatArray) -> FloatArray:
    """Return all inner products of fields (k, N)."""
    count, n = fields.shape
    total, step = np.zeros((count, count)), max(64, _SMALL // count**2)
    for begin in range(0, n, step):
        block = fields[:, begin : begin + step]
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
