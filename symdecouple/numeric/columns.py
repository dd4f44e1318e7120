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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from symdecouple.numeric.batch import FloatArray, IntArray

__all__ = ["Coarse", "Columns", "Lines"]

_CHUNK = 2**14  # frequencies worked on at a time
_KEPT = 2**21  # products of eigenvalues that are kept, 16 MiB
_PANELS, _EACH = 3, 11  # of an axis, and nodes of each
_LOOKED_AT = 256  # frequencies along an axis at which the eigenvalues are looked at
_MOST = 2**14  # frequencies along an axis, with matrices for them
_FEW = 72  # frequencies along an axis that stay as they are
_ROUNDING = 32 * float(np.finfo(np.float64).eps)  # of a response, over the largest


@dataclass(frozen=True, slots=True)
class Lines:
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
        m = len(columns)
        plain = cls(np.ones((1, 1)), columns, np.array([np.zeros(m), np.arange(m)], dtype=np.intp), np.ones(m))
        if len(lattice) < 2:
            return plain
        sheets = columns.reshape(m, -1, lattice[-1])
        outer: list[FloatArray] = []
        inner: list[FloatArray] = []
        places, scales = np.zeros((2, m), dtype=np.intp), np.zeros(m)
        for j, sheet in enumerate(sheets):
            s, t = np.unravel_index(np.abs(sheet).argmax(), sheet.shape)
            scales[j] = sheet[s, t]
            top = scales[j] if scales[j] else 1.0
            places[:, j] = _place(outer, sheet[:, t] / top), _place(inner, sheet[s] / top)
            if not _agree(sheet / top, np.outer(outer[places[0, j]], inner[places[1, j]])):
                return plain
        return cls(np.array(outer), np.array(inner), places, scales)

    def product(self) -> FloatArray:
        """Return the columns."""
        factors = self.outer[self.places[0], :, None] * self.inner[self.places[1], None, :]
        return np.ascontiguousarray((self.scales[:, None, None] * factors).reshape(len(self.scales), -1))


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
    """Eigenvalues w_j of M features at the n frequencies of a lattice, (M, n)."""

    def __init__(self, columns: FloatArray, lattice: tuple[int, ...], lines: Lines | None = None) -> None:
        self.lines = Lines.of(np.ascontiguousarray(columns), lattice) if lines is None else lines
        self.columns = self.lines.product()
        self.largest = np.abs(self.columns).max(axis=1)
        self._products: dict[int, FloatArray] = {}

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def is_signed(self) -> bool:
        """True iff some eigenvalue is negative."""
        return bool((self.columns < 0).any())

    def chunks(self) -> Iterator[slice]:
        """Parts of the frequencies, so that no temporary grows with the signal."""
        n = self.columns.shape[1]
        step = max(256, _CHUNK * 16 // max(16, len(self) * (len(self) + 1) // 2))
        return (slice(start, min(start + step, n)) for start in range(0, n, step))

    def products(self, part: slice) -> FloatArray:
        """Return w_i w_j for i <= j at a part of the frequencies; kept where they are few."""
        if part.start in self._products:
            return self._products[part.start]
        columns, count = self.columns[:, part], len(self) * (len(self) + 1) // 2
        products = np.empty((count, columns.shape[1]))
        at = 0
        for i in range(len(self)):
            np.multiply(columns[i:], columns[i], out=products[at : at + len(self) - i])
            at += len(self) - i
        if count * self.columns.shape[1] <= _KEPT:
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
    """

    def __init__(self, whole: Columns, lattice: tuple[int, ...], sizes: tuple[int, ...]) -> None:
        self.lattice = lattice
        columns = whole.columns
        self._maps = [_lagrange(m, n) if m > _FEW else None for m, n in zip(lattice, sizes, strict=True)]
        looked_at = tuple(slice(None, None, max(1, m // _LOOKED_AT)) for m in lattice)
        some = [None if to is None else to[part] for to, part in zip(self._maps, looked_at, strict=True)]
        parts = tuple(slice(None) if to is None else part for to, part in zip(self._maps, looked_at, strict=True))
        grid = columns.reshape(len(columns), *lattice)[:, *parts]
        inverses = [None if to is None else np.asarray(np.linalg.pinv(to), dtype=np.float64) for to in some]
        nodes = _along(grid, inverses)
        apart = np.abs(_along(nodes, some) - grid).reshape(len(columns), -1).max(axis=1)
        self.is_faithful = bool((apart <= 1e-11 * np.abs(columns).max(axis=1)).all())
        super().__init__(nodes.reshape(len(columns), -1), nodes.shape[1:], self._lines(whole.lines, inverses, parts))

    @classmethod
    def of(cls, whole: Columns, lattice: tuple[int, ...], sizes: tuple[int, ...]) -> Coarse | None:
        """Return None where nothing is gained, or the eigenvalues are no polynomials of low degree."""
        if not _FEW < max(lattice) <= _MOST:
            return None
        coarse = cls(whole, lattice, sizes)
        return coarse if coarse.is_faithful else None

    def _lines(self, lines: Lines, inverses: list[FloatArray | None], looked_at: tuple[slice, ...]) -> Lines | None:
        """Move lines to the nodes; None where the eigenvalues have no such form."""
        first = self.lattice[:-1]
        if lines.outer.shape[1] != math.prod(first) or not first:
            return None
        outer = lines.outer.reshape(-1, *first)[:, *looked_at[:-1]]
        outer = _along(outer, inverses[:-1]).reshape(len(outer), -1)
        return Lines(outer, _along(lines.inner[:, looked_at[-1]], inverses[-1:]), lines.places, lines.scales)

    def gathered(self, shares: FloatArray) -> FloatArray:
        """Move power (R, n) to the nodes."""
        back = [None if to is None else to.T for to in self._maps]
        return _along(shares.reshape(len(shares), *self.lattice), back).reshape(len(shares), -1)


def _lagrange(count: int, size: int) -> FloatArray:
    """Lagrange polynomials of the nodes of its panel at cos(2 pi i/size), the barycentric formula: (count, nodes)."""
    c = np.cos(2 * np.pi * np.arange(count) / size)
    edges = np.cos(np.pi * np.arange(_PANELS + 1) / _PANELS)
    panel = np.clip(np.searchsorted(-edges, -c, side="right") - 1, 0, _PANELS - 1)
    angles = np.pi * (np.arange(_EACH) + 0.5) / _EACH
    weights = (-1.0) ** np.arange(_EACH) * np.sin(angles)
    out = np.zeros((count, _PANELS * _EACH))
    for k in range(_PANELS):
        nodes = (edges[k] + edges[k + 1]) / 2 + (edges[k] - edges[k + 1]) / 2 * np.cos(angles)
        apart = c[panel == k, None] - nodes
        hit = np.abs(apart) < 1e-15
        terms = weights / np.where(hit, 1, apart)
        values = terms / terms.sum(axis=1, keepdims=True)
        np.copyto(values, hit, where=hit.any(axis=1, keepdims=True))
        out[panel == k, k * _EACH : (k + 1) * _EACH] = values
    return out


def _along(array: FloatArray, maps: list[FloatArray | None]) -> FloatArray:
    """Apply a matrix along each axis but the first."""
    out: FloatArray = array
    for axis, to in enumerate(maps, 1):
        if to is not None:
            out = np.moveaxis(np.moveaxis(out, axis, -1) @ to.T, -1, axis)
    whole: FloatArray = np.ascontiguousarray(out)
    return whole
