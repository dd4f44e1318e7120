"""Gradients of many samples in orthonormal bases, by Gram-Schmidt: which depend on each other, and combinations.

Inner products are averages, <u, v> = Mean(u v). Rows are treated one by one, and the samples of a row all alike: what
is tied in all gradients stays tied.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["Frame", "last_of"]

_DEPENDENT = 2.0**-44  # a projected gradient shorter than this part of the gradient is rounding
_CANCELLED = 0.1  # what is left of a gradient by one projection, to need a second one: a digit is lost at most


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
        if n_rows == 1:
            return _of_one(gradients[0])
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


def last_of(gradients: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return q_k (R, N), the size of the projected gradient, and whether there is any, of gradients (R, k, N)."""
    if len(gradients) != 1:
        frame = Frame.of(gradients)
        return frame.basis[-1], frame.triangle[:, -1, -1], frame.sound[:, -1]
    basis = gradients[0].copy()
    left, sound = _orthonormalized(basis, None)[-1]
    return basis[-1:], np.array([left]), np.array([sound])


def _of_one(gradients: FloatArray) -> Frame:
    count, basis = len(gradients), gradients.copy()
    triangle, sound = np.zeros((1, count, count)), np.empty((1, count), dtype=np.bool_)
    for j, (left, is_sound) in enumerate(_orthonormalized(basis, triangle[0])):
        triangle[0, j, j], sound[0, j] = left, is_sound
    return Frame(basis[:, None], triangle, sound)


def _orthonormalized(basis: FloatArray, shares: FloatArray | None) -> list[tuple[float, bool]]:
    """Do in place what `Frame.of` does to one row, bit by bit, without what many rows need; shares are added up."""
    n, scratch = basis.shape[1], np.empty(basis.shape[1])
    known, left_of = list[FloatArray](), list[tuple[float, bool]]()
    for j in range(len(basis)):
        rest = basis[j]
        size = left = sqrt(rest.dot(rest) / n)
        for _ in range(2 if j else 0):
            for i, q in enumerate(known):
                share = q.dot(rest) / n
                rest -= np.multiply(q, share, scratch)
                if shares is not None:
                    shares[i, j] += share
            left = sqrt(rest.dot(rest) / n)
            if left > _CANCELLED * size or not left > 0:
                break
        is_sound = left > _DEPENDENT * size
        if is_sound:
            rest /= left
        else:
            rest[:] = 0
        known.append(rest)
        left_of.append((left if is_sound else 1.0, is_sound))
    return left_of


def _reduced(rest: FloatArray, basis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take from rows, in place, their shares along each q_i in turn; return the shares and the size that is left."""
    n_rows, n = rest.shape
    shares, scratch = np.empty((n_rows, len(basis))), np.empty_like(rest)
    for i, q in enumerate(basis):
        shares[:, i] = np.vecdot(q, rest) / n
        rest -= np.multiply(shares[:, i, None], q, out=scratch)
    return shares, np.sqrt(np.vecdot(rest, rest) / n)
