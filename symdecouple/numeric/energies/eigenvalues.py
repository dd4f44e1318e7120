r"""Eigenvalues of commuting features as columns, one a frequency, and the same features on fewer frequencies.

A sum over frequencies of P g, with g smooth in c = cos(omega) along each axis, is a sum over nodes,

.. math:: \sum_i P_i\, g(c_i) = \sum_j \Bigl(\sum_i L_j(c_i) P_i\Bigr) g(c_j),

L_j the Lagrange polynomials of Chebyshev nodes in a few panels of each axis. For filters with few taps the eigenvalues
are polynomials in c, known at the nodes, and exp(a.w) is smooth: so many iterations run on few frequencies. Their
result is a start, never an answer. Panels, as exp(a.w) of a smooth signal spans eight orders of magnitude: what is
wrong is small beside its values in the same panel.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["EPS", "Coarse", "Columns", "Lines"]

EPS = float(np.finfo(np.float64).eps)

_CHUNK = 2**14  # frequencies worked on at a time
_KEPT = 2**21  # products of eigenvalues that are kept, 16 MiB
_PANELS, _EACH = 3, 11  # of an axis, and nodes of each
_LOOKED_AT = 256  # frequencies along an axis at which the eigenvalues are looked at
_MOST = 2**14  # frequencies along an axis, with matrices for them
_FEW = 72  # frequencies along an axis that stay as they are
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
    def of(cls, columns: FloatArray, lattice: tuple[int, ...]) -> Lines:
        """Find the lines up to the rounding of the transforms that responses come from.

        Examples
        --------
        >>> lines = Lines.of(np.array([[1.0, 2, 2, 4], [3, 0, 6, 0]]), (2, 2))
        >>> lines.outer.tolist(), lines.inner.tolist(), lines.scales.tolist()
        ([[0.5, 1.0]], [[0.5, 1.0], [1.0, 0.0]], [4.0, 6.0])
        """
        found = None
        if len(lattice) > 1:
            found = cls.of_sheets(sheet.reshape(-1, lattice[-1]) for sheet in columns)
        return cls.plain(columns) if found is None else found

    @classmethod
    def plain(cls, columns: FloatArray) -> Lines:
        """Columns as they are, in one line."""
        m = len(columns)
        return cls(np.ones((1, 1)), np.ascontiguousarray(columns).reshape(m, -1), np.array(
            [np.zeros(m), np.arange(m)], dtype=np.intp), np.ones(m))

    @classmethod
    def of_sheets(cls, sheets: Iterable[FloatArray]) -> Lines | None:
        """Find the lines of matrices (S, n), one after the other; None where one is no product."""
        outer: list[FloatArray] = []
        inner: list[FloatArray] = []
        places: list[tuple[int, int]] = []
        scales: list[float] = []
        for sheet in sheets:
            rows = max(1, _CHUNK // sheet.shape[1])
            highest = [np.abs(sheet[s : s + rows]).max() for s in range(0, len(sheet), rows)]
            first = int(np.argmax(highest)) * rows
            s, t = np.unravel_index(np.abs(sheet[first : first + rows]).argmax(), (rows, sheet.shape[1]))
            s += first
            scales.append(float(sheet[s, t]))
            top = scales[-1] if scales[-1] else 1.0
            places.append((_place(outer, sheet[:, t] / top), _place(inner, sheet[s] / top)))
            one, other = outer[places[-1][0]], inner[places[-1][1]]
            if not all(_agree(sheet[s : s + rows] / top, np.outer(one[s : s + rows], other))
                       for s in range(0, len(sheet), rows)):
                return None
        return cls(np.array(outer), np.array(inner), np.array(places, dtype=np.intp).T.copy(), np.array(scales))

    @property
    def is_plain(self) -> bool:
        """True iff the inner lines are the columns."""
        m = len(self.scales)
        return self.outer.shape == (1, 1) and self.outer[0, 0] == 1 and bool(
            (self.scales == 1).all() and len(self.inner) == m and (self.places[1] == np.arange(m)).all())

    def product(self, rows: slice = slice(None), part: slice = slice(None)) -> FloatArray:
        """Return the columns, or those at some rows and a part of each."""
        factors = self.outer[self.places[0], rows, None] * self.inner[self.places[1], None, part]
        factors *= self.scales[:, None, None]
        return np.ascontiguousarray(factors.reshape(len(self.scales), -1))

    def along(self, parameters: FloatArray, part: slice = slice(None)) -> FloatArray:
        """Return a.w for several a, (Q, S, ...): each by sums of its own, whatever the others are."""
        m = len(self.scales)
        to_inner = np.zeros((m, len(self.inner)))
        to_inner[np.arange(m), self.places[1]] = 1
        factors = ((parameters * self.scales)[:, None, :] * self.outer[self.places[0]].T) @ to_inner
        return np.asarray(factors @ self.inner[:, part])


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


class Columns:
    """Eigenvalues w_j of M features at the n frequencies of a lattice, (M, n); as lines, where they are products."""

    def __init__(self, columns: FloatArray | None, lattice: tuple[int, ...], lines: Lines | None = None) -> None:
        if lines is None:
            assert columns is not None
            lines = Lines.of(columns, lattice)
        self.lines = lines
        self.lattice = lattice
        self.count = lines.outer.shape[1] * lines.inner.shape[1]
        outer, inner = np.abs(lines.outer).max(axis=1), np.abs(lines.inner).max(axis=1)
        self.largest = np.abs(lines.scales) * (outer[lines.places[0]] * inner[lines.places[1]])
        self._columns: FloatArray | None = None
        self._products: dict[int, FloatArray] = {}

    def __len__(self) -> int:
        return len(self.lines.scales)

    @property
    def columns(self) -> FloatArray:
        """All eigenvalues, (M, n); kept where they are few."""
        if self._columns is not None:
            return self._columns
        columns = self.at(slice(0, self.count))
        if columns.size <= _KEPT:
            self._columns = columns
        return columns

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
        lines = self.lines
        low = [np.minimum(one.min(axis=1), 0) for one in (lines.outer, lines.inner)]
        high = [np.maximum(one.max(axis=1), 0) for one in (lines.outer, lines.inner)]
        p, q = lines.places
        least = np.minimum(low[0][p] * high[1][q], high[0][p] * low[1][q])
        most = np.maximum(low[0][p] * low[1][q], high[0][p] * high[1][q])
        return bool((np.where(lines.scales > 0, least, -most) < 0).any())

    def chunks(self) -> Iterator[slice]:
        """Parts of the frequencies, so that no temporary grows with the signal."""
        n = self.count
        step = max(256, _CHUNK * 16 // max(16, len(self) * (len(self) + 1) // 2))
        return (slice(start, min(start + step, n)) for start in range(0, n, step))

    def products(self, part: slice) -> FloatArray:
        """Return w_i w_j for i <= j at a part of the frequencies; kept where they are few."""
        if part.start in self._products:
            return self._products[part.start]
        columns, count = self.at(part), len(self) * (len(self) + 1) // 2
        products = np.empty((count, columns.shape[1]))
        at = 0
        for i in range(len(self)):
            np.multiply(columns[i:], columns[i], out=products[at : at + len(self) - i])
            at += len(self) - i
        if count * self.count <= _KEPT:
            self._products[part.start] = products
        return products


class Coarse(Columns):
    """The same features on nodes of the axes that have many frequencies.

    Parameters
    ----------
    whole : Columns
    lattice : tuple of int
        n as a product: frequencies 0 to pi along each axis.
    sizes : tuple of int
        How many samples there are along each axis.
    each : int
        How many nodes a panel has.
    """

    def __init__(self, whole: Columns, lattice: tuple[int, ...], sizes: tuple[int, ...], each: int = _EACH) -> None:
        self._sizes = lattice
        self._maps = [_lagrange(m, n, each) if m > _FEW else None for m, n in zip(lattice, sizes, strict=True)]
        looked_at = tuple(slice(None, None, max(1, m // _LOOKED_AT)) for m in lattice)
        some = [None if to is None else to[part] for to, part in zip(self._maps, looked_at, strict=True)]
        parts = tuple(slice(None) if to is None else part for to, part in zip(self._maps, looked_at, strict=True))
        grid = _at(whole.lines, lattice, parts)
        inverses = [None if to is None else np.asarray(np.linalg.pinv(to), dtype=np.float64) for to in some]
        nodes = _along(grid, inverses)
        apart = np.abs(_along(nodes, some) - grid).reshape(len(grid), -1).max(axis=1)
        self.is_faithful = bool((apart <= 1e-11 * whole.largest).all())
        super().__init__(nodes.reshape(len(grid), -1), nodes.shape[1:], self._lines(whole.lines, inverses, parts))

    @classmethod
    def of(cls, whole: Columns, lattice: tuple[int, ...], sizes: tuple[int, ...], each: int = _EACH) -> Coarse | None:
        """Return None where nothing is gained, or the eigenvalues are no polynomials of low degree."""
        if not _FEW < max(lattice) <= _MOST:
            return None
        coarse = cls(whole, lattice, sizes, each)
        return coarse if coarse.is_faithful else None

    def _lines(self, lines: Lines, inverses: list[FloatArray | None], looked_at: tuple[slice, ...]) -> Lines | None:
        """Move lines to the nodes; None where the eigenvalues have no such form."""
        first = self._sizes[:-1]
        if lines.outer.shape[1] != math.prod(first) or not first:
            return None
        outer = lines.outer.reshape(-1, *first)[:, *looked_at[:-1]]
        outer = _along(outer, inverses[:-1]).reshape(len(outer), -1)
        return Lines(outer, _along(lines.inner[:, looked_at[-1]], inverses[-1:]), lines.places, lines.scales)

    @cached_property
    def maps(self) -> tuple[FloatArray, FloatArray]:
        """L_j of an outer axis, where there is one, and of the inner one: (nodes, frequencies) each."""
        maps = [np.eye(m) if to is None else to for m, to in zip((1, *self._sizes), (None, *self._maps), strict=True)]
        return np.ascontiguousarray(maps[-2].T), np.ascontiguousarray(maps[-1].T)

    def gathered(self, shares: FloatArray) -> FloatArray:
        """Move power (R, n) to the nodes."""
        back = [None if to is None else to.T for to in self._maps]
        return _along(shares.reshape(len(shares), *self._sizes), back).reshape(len(shares), -1)


def _at(lines: Lines, lattice: tuple[int, ...], parts: tuple[slice, ...]) -> FloatArray:
    """Columns at parts of the axes of a lattice."""
    m, first = len(lines.scales), lattice[:-1]
    if not first or lines.outer.shape[1] != math.prod(first):
        return lines.product().reshape(m, *lattice)[:, *parts] if not lines.is_plain else (
            lines.inner.reshape(m, *lattice)[:, *parts])
    outer, inner = lines.outer.reshape(-1, *first)[:, *parts[:-1]], lines.inner[:, parts[-1]]
    some = Lines(outer.reshape(len(outer), -1), inner, lines.places, lines.scales)
    return some.product().reshape(m, *outer.shape[1:], inner.shape[1])


def _lagrange(count: int, size: int, each: int) -> FloatArray:
    """Lagrange polynomials of the nodes of its panel at cos(2 pi i/size), the barycentric formula: (count, nodes)."""
    c = np.cos(2 * np.pi * np.arange(count) / size)
    edges = np.cos(np.pi * np.arange(_PANELS + 1) / _PANELS)
    panel = np.clip(np.searchsorted(-edges, -c, side="right") - 1, 0, _PANELS - 1)
    angles = np.pi * (np.arange(each) + 0.5) / each
    weights = (-1.0) ** np.arange(each) * np.sin(angles)
    out = np.zeros((count, _PANELS * each))
    for k in range(_PANELS):
        nodes = (edges[k] + edges[k + 1]) / 2 + (edges[k] - edges[k + 1]) / 2 * np.cos(angles)
        apart = c[panel == k, None] - nodes
        hit = np.abs(apart) < 1e-15
        terms = weights / np.where(hit, 1, apart)
        values = terms / terms.sum(axis=1, keepdims=True)
        np.copyto(values, hit, where=hit.any(axis=1, keepdims=True))
        out[panel == k, k * each : (k + 1) * each] = values
    return out


def _along(array: FloatArray, maps: list[FloatArray | None]) -> FloatArray:
    """Apply a matrix along each axis but the first, to each of what lies along that by itself."""
    out: FloatArray = array[:, None]  # no vector is a row of a matrix: products depend on their number
    for axis, to in enumerate(maps, 2):
        if to is not None:
            out = np.moveaxis(np.moveaxis(out, axis, -1) @ to.T, -1, axis)
    whole: FloatArray = np.ascontiguousarray(out[:, 0])
    return whole
