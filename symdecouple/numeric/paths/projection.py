r"""Projections of the gradients of many samples: the part of one across others, and the shortest move to given values.

Inner products are averages, <u, v> = Mean(u v), and Gram-Schmidt (`Frame`) finds which gradients depend on each other:

.. math:: g_k = v_k - \sum_{j<k} q_j \langle q_j, v_k \rangle, \qquad q_k = g_k / |g_k|

taken twice where the first time leaves rounding behind. Rows are treated one by one, and the entries of a row all
alike: what is tied in all gradients stays tied. Numbers are float64, or those of mpmath with all the digits it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.features.features import Features
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["Frame", "direction_at", "last_direction", "least_move", "move_at"]

_DEPENDENT = 2.0**-44  # a projected gradient shorter than this part of the gradient is rounding
_CANCELLED = 0.1  # what is left of a gradient by one projection, to need a second one: a digit is lost at most


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
        some = features.gradients(rows[left], count) if gradients is None else gradients[left]
        direction[left], size[left], sound[left] = last_direction(some)
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
        sizes[left] = np.sqrt(_averages(gradients, gradients))
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
    frame = Frame.of(gradients)
    return frame.basis[-1], frame.triangle[:, -1, -1], frame.sound[:, -1]


def least_move(gradients: FloatArray, gaps: FloatArray) -> FloatArray:
    """Return the shortest moves (R, N) with Mean(v_j move) = gaps_j, (R, k); dependent gradients are left out.

    Examples
    --------
    >>> least_move(np.array([[[1.0, 1], [1, -1]], [[1, 1], [2, 2]]]), np.array([[3.0, 1], [3, 1]])).round(12).tolist()
    [[4.0, 2.0], [3.0, 3.0]]
    """
    frame = Frame.of(gradients)
    return frame.combined(frame.solve(gaps))


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
        basis = np.empty((count, n_rows, n), dtype=gradients.dtype)
        triangle = np.zeros((n_rows, count, count), dtype=gradients.dtype)
        least = mpmath.ldexp(1, -int(mpmath.mp.prec * 5 / 12)) if gradients.dtype == object else _DEPENDENT
        sound = np.empty((n_rows, count), dtype=np.bool_)
        for j in range(count):
            rest = basis[j]
            rest[:] = gradients[:, j]
            size = left = np.sqrt(_averages(rest, rest))
            if j:
                triangle[:, :j, j], left = _reduced(rest, basis[:j])
                if len(again := np.flatnonzero(~(left > _CANCELLED * size) & (left > 0))):
                    once = rest[again]
                    more, left[again] = _reduced(once, basis[:j, again])
                    triangle[again, :j, j] += more
                    rest[again] = once
            sound[:, j] = left > least * size
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

    def split(self, covectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return b (..., R, k) with sum of b_j v_j the part of covectors (..., R, N) in the span, and the rest."""
        shares = np.stack([_averages(q, covectors) for q in self.basis], axis=-1)
        return self.coefficients(shares), covectors - self.combined(shares)

    def combined(self, z: FloatArray) -> FloatArray:
        """Return the sum of z_j q_j, (..., R, N)."""
        moved = np.zeros((*z.shape[:-1], self.basis.shape[-1]), dtype=z.dtype)
        for j, q in enumerate(self.basis):
            moved += z[..., j, None] * q
        return moved


def _averages(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return <u, v> of arrays (..., N)."""
    return np.asarray((_dots if u.dtype == object else np.vecdot)(u, v) / u.shape[-1])


_dots: Any = np.vectorize(mpmath.fdot, otypes=[object], signature="(n),(n)->()")


def _reduced(rest: FloatArray, basis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take from rows, in place, their shares along all q_i; return the shares and the size that is left."""
    shares = _averages(basis, rest)
    rest -= np.einsum("jr,jrn->rn", shares, basis)  # a matrix product would round what is tied by its place
    return shares.T, np.sqrt(_averages(rest, rest))
