r"""Eigenvalues of commuting features as columns, one a frequency; as products of lines along the axes where they are.

With w_j(s, t) = c_j u_j(s) v_j(t), u_j and v_j among few lines, sums over frequencies of P, P w_j and P w_i w_j are
entries of one small matrix,

.. math:: \sum_{s, t} U_f(s)\, P(s, t)\, V_g(t),

U_f and V_g the lines, 1, and the products of any two of them: O(lines) instead of O(features) passes over P.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["EPS", "Coarse", "Columns", "Lines", "Tables"]

EPS = float(np.finfo(np.float64).eps)

_CHUNK = 2**14  # frequencies worked on at a time: 128 KiB, so that what is made of them stays in the cache
_NODES = 32  # about so many frequencies of an axis are in a coarse start: 4 or 5 sums to rounding from there
_LONGEST = 2**12  # frequencies of an axis, with a matrix of 1 MiB for them
_ROUNDING = 32 * EPS  # of a response, over the largest


class Lines(NamedTuple):
    """Eigenvalues as products of lines: w_j(s, t) = scales[j] outer[places[0, j], s] inner[places[1, j], t].

    The last axis of a lattice is t, the others are s. Columns without this form have one s.
    """

    outer: FloatArray
    inner: FloatArray
    places: IntArray
    scales: FloatArray

    @classmethod
    def plain(cls, columns: FloatArray) -> Lines:
        """Columns as they are, in one line."""
        m = len(columns)
        return cls(np.ones((1, 1)), np.ascontiguousarray(columns).reshape(m, -1), np.array(
            [np.zeros(m), np.arange(m)], dtype=np.intp), np.ones(m))

    @classmethod
    def of_sheets(cls, sheets: Iterable[FloatArray]) -> Lines | None:
        """Find the lines of matrices (S, n), up to the rounding of transforms; None where one is no product.

        Examples
        --------
        >>> lines = Lines.of_sheets(np.array([[[1.0, 2], [2, 4]], [[3, 0], [6, 0]]]))
        >>> lines.outer.tolist(), lines.inner.tolist(), lines.scales.tolist()
        ([[0.5, 1.0]], [[0.5, 1.0], [1.0, 0.0]], [4.0, 6.0])
        """
        outer: list[FloatArray] = []
        inner: list[FloatArray] = []
        places: list[tuple[int, int]] = []
        scales: list[float] = []
        for sheet in sheets:
            s, t = np.unravel_index(np.abs(sheet).argmax(), sheet.shape)
            scales.append(float(sheet[s, t]))
            top = scales[-1] if scales[-1] else 1.0
            places.append((_place(outer, sheet[:, t] / top), _place(inner, sheet[s] / top)))
            if not _agree(sheet / top, np.outer(outer[places[-1][0]], inner[places[-1][1]])):
                return None
        return cls(np.array(outer), np.array(inner), np.array(places, dtype=np.intp).T.copy(), np.array(scales))

    @property
    def is_plain(self) -> bool:
        """True iff the inner lines are the columns."""
        m = len(self.scales)
        return self.outer.shape == (1, 1) and self.outer[0, 0] == 1 and bool(
            (self.scales == 1).all() and len(self.inner) == m and (self.places[1] == np.arange(m)).all())

    def product(self, rows: slice = slice(None)) -> FloatArray:
        """Return the columns, or those at some rows."""
        factors = self.outer[self.places[0], rows, None] * self.inner[self.places[1], None]
        factors *= self.scales[:, None, None]
        return np.ascontiguousarray(factors.reshape(len(self.scales), -1))

    def along(self, parameters: FloatArray) -> FloatArray:
        """Return a.w for several a, (Q, n): each by sums of its own, whatever the others are."""
        found = np.asarray(self.shares(parameters) @ self.inner)
        return found.reshape(len(parameters), found.shape[1] * found.shape[2])

    def shares(self, parameters: FloatArray) -> FloatArray:
        """Return what a.w is made of, (Q, S, lines): the share of each inner line along the other axes."""
        m = len(self.scales)
        to_inner = np.zeros((m, len(self.inner)))
        to_inner[np.arange(m), self.places[1]] = 1
        return np.asarray(((parameters * self.scales)[:, None, :] * self.outer[self.places[0]].T) @ to_inner)

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sums of weights (Q, n) times each column, (Q, M), in the same way."""
        found = self.outer @ (weights.reshape(-1, self.outer.shape[1], self.inner.shape[1]) @ self.inner.T)
        return np.asarray(found[:, self.places[0], self.places[1]] * self.scales)


def _place(lines: list[FloatArray], line: FloatArray) -> int:
    """Where a line is among others; it is added where it is not."""
    for k, other in enumerate(lines):
        if _agree(line, other):
            return k
    lines.append(line)
    return len(lines) - 1


def _agree(one: FloatArray, other: FloatArray) -> bool:
    """True up to the rounding of |H|^2 where the largest |H| is 1: errors of H are in the unit of the largest."""
    apart = np.abs(one - other)
    return bool((apart <= _ROUNDING * np.sqrt(np.abs(other)) + _ROUNDING**2).all())


class Tables(NamedTuple):
    """Lines, inner ones filled up with 0 to threes; 1, lines and their products along each axis; largest eigenvalues.

    The product of lines i and j, j <= i, is at (i + 1)(i + 2)/2 + j + 1, with 1 as line -1.
    """

    lines: Lines
    outer: FloatArray
    inner: FloatArray
    largest: FloatArray


def _with_products(lines: FloatArray) -> FloatArray:
    lines = np.vstack([np.ones(lines.shape[1]), lines])
    one, other = np.tril_indices(len(lines))
    return lines[one] * lines[other]


class Columns:
    """Eigenvalues w_j of M features at the n frequencies of a lattice, (M, n); as lines, where they are products."""

    def __init__(self, columns: FloatArray | Lines, lattice: tuple[int, ...]) -> None:
        self.lines = lines = columns if isinstance(columns, Lines) else Lines.plain(columns)
        self.lattice = lattice
        self.count = lines.outer.shape[1] * lines.inner.shape[1]
        outer, inner = np.abs(lines.outer).max(axis=1), np.abs(lines.inner).max(axis=1)
        self.largest = np.abs(lines.scales) * (outer[lines.places[0]] * inner[lines.places[1]])

    def __len__(self) -> int:
        return len(self.lines.scales)

    @property
    def columns(self) -> FloatArray:
        """All eigenvalues, (M, n)."""
        return self.at(slice(0, self.count))

    def at(self, part: slice) -> FloatArray:
        """Return the eigenvalues at a part of the frequencies, (M, ...)."""
        n = self.lines.inner.shape[1]
        if self.lines.is_plain:
            return self.lines.inner[:, part]
        first, last = part.start // n, -(-part.stop // n)
        rows = self.lines.product(slice(first, last))
        return rows[:, part.start - first * n : part.stop - first * n]

    @cached_property
    def is_signed(self) -> bool:
        """True iff some eigenvalue is negative."""
        return any(bool((self.at(part) < 0).any()) for part in self.chunks())

    @cached_property
    def tables(self) -> Tables:
        """What sums of all features and of their products are made of."""
        lines = self.lines._replace(outer=np.ascontiguousarray(self.lines.outer),
                                    inner=np.pad(self.lines.inner, ((0, -len(self.lines.inner) % 3), (0, 0))))
        return Tables(lines, _with_products(lines.outer), _with_products(self.lines.inner), self.largest)

    @cached_property
    def coarse(self) -> Coarse | None:
        """The same features at less than half of the frequencies; None where these are few anyway, or very many."""
        if max(self.lattice) > _LONGEST:
            return None
        coarse = Coarse(self)
        return coarse if 2 * coarse.count < self.count else None

    def chunks(self) -> Iterator[slice]:
        """Parts of the frequencies, so that no temporary grows with the signal."""
        n = self.count
        step = max(256, _CHUNK * 16 // max(16, len(self) * (len(self) + 1) // 2))
        return (slice(start, min(start + step, n)) for start in range(0, n, step))

    def products(self, part: slice) -> FloatArray:
        """Return w_i w_j for i <= j at a part of the frequencies."""
        columns, count = self.at(part), len(self) * (len(self) + 1) // 2
        products = np.empty((count, columns.shape[1]))
        at = 0
        for i in range(len(self)):
            np.multiply(columns[i:], columns[i], out=products[at : at + len(self) - i])
            at += len(self) - i
        return products


class Coarse(Columns):
    """The same features at some frequencies of each axis only: where a search that ends at all of them starts.

    Power elsewhere counts there by interpolation, so that sums of what is smooth along the axes are almost the same.
    Nine energies of a smooth image of 256 x 256 take ten transforms with it, sixteen without.

    Examples
    --------
    >>> coarse = Columns(np.cos(np.pi * np.arange(200) / 199)[None] ** 2, (200,)).coarse
    >>> coarse.count, coarse.lines.sums(coarse.gathered(np.ones((1, 200)))).round(4).tolist()
    (35, [[100.4856]])
    """

    def __init__(self, whole: Columns) -> None:
        *first, last = whole.lattice
        self._outer, self._inner = _splines(*first), _splines(last)
        s, t, lines = self._outer.argmax(axis=0), self._inner.argmax(axis=0), whole.lines
        if lines.outer.shape[1] == len(self._outer):
            lines = lines._replace(outer=lines.outer.take(s, axis=1), inner=lines.inner.take(t, axis=1))
        else:
            inner = lines.inner.reshape(-1, len(self._outer), last).take(s, axis=1).take(t, axis=2)
            lines = lines._replace(inner=inner.reshape(len(inner), -1))
        super().__init__(lines, (len(s), len(t)))

    def gathered(self, shares: FloatArray) -> FloatArray:
        """Power (R, n) at these frequencies, each row by a product of its own: (R, ...)."""
        power = shares.reshape(len(shares), len(self._outer), len(self._inner))
        return np.asarray(self._outer.T @ power @ self._inner).reshape(len(shares), self.count)


def _splines(*counts: int) -> FloatArray:
    """Interpolation between some of so many frequencies of each axis, the first and the last among them: (n, some).

    By cubic splines without slope at both ends, where what is even along an axis has none.
    """
    whole: FloatArray = np.ones((1, 1))
    for count in counts:
        one: FloatArray = np.eye(count)
        if count > 2 * _NODES // 3:
            from scipy.interpolate import CubicSpline

            some = np.union1d(np.arange(0, count, max(2, round(count / _NODES))), [count - 1])
            one = np.asarray(CubicSpline(some, np.eye(len(some)), bc_type="clamped")(np.arange(count)))
        whole = np.asarray(np.kron(whole, one))
    return whole
