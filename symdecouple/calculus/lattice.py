r"""A basis of the sums and differences of some vectors, over the whole numbers.

Of finitely many vectors v with rational entries all sums with whole coefficients are

.. math:: \Bigl\{\sum_i n_i v_i : n_i \in \mathbf{Z}\Bigr\} = \mathbf{Z} b_1 \oplus \dots \oplus \mathbf{Z} b_r

with r their rank: the b are rows in echelon form, found by Euclid's algorithm in each column, the rarest entries first,
so that vectors with an entry of their own stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import lcm
from typing import Any

from sympy import Expr, Rational

__all__ = ["Lattice", "Vector"]

Vector = tuple[tuple[Expr, Rational], ...]
"""Entries that are not zero, by what they belong to."""


class Lattice:
    """The group that some vectors generate.

    Attributes
    ----------
    basis : tuple of Vector

    Examples
    --------
    >>> from sympy.abc import x, y
    >>> lattice = Lattice([((x, Rational(1, 2)), (y, Rational(1))), ((x, Rational(1, 3)),)])
    >>> lattice.basis
    (((y, 1), (x, -1/6)), ((x, 1/3),))
    >>> lattice.coordinates(((x, Rational(1)), (y, Rational(-2))))
    [-2, 2]
    """

    def __init__(self, vectors: Iterable[Vector]) -> None:
        given = list(vectors)
        keys = Counter(key for vector in given for key, _ in vector)
        self._columns = sorted(keys, key=lambda key: (bool(key.is_number), keys[key], key.sort_key()))
        self._scales = {key: 1 for key in keys}
        for vector in given:
            for key, c in vector:
                self._scales[key] = lcm(self._scales[key], int(c.q))
        rows = [row for vector in given if (row := self._row(vector)) is not None]
        self._rows: list[tuple[int, list[int]]] = []
        for column in range(len(self._columns)):
            while len(moving := sorted((row for row in rows if row[column]), key=lambda row: abs(row[column]))) > 1:
                for row in moving[1:]:
                    _subtract(row, row[column] // moving[0][column], moving[0])
            if moving:
                rows = [row for row in rows if row is not moving[0] and any(row)]
                pivot = moving[0] if moving[0][column] > 0 else [-c for c in moving[0]]
                for _, row in self._rows:
                    _subtract(row, _nearest(row[column], pivot[column]), pivot)
                self._rows.append((column, pivot))
        self.basis: tuple[Vector, ...] = tuple(self._vector(row) for _, row in self._rows)

    def coordinates(self, vector: Vector) -> list[int] | None:
        """Return the coefficients of a vector in the basis; None where it is not in the group."""
        row = self._row(vector)
        if row is None:
            return None
        out = []
        for column, pivot in self._rows:
            many, rest = divmod(row[column], pivot[column])
            if rest:
                return None
            _subtract(row, many, pivot)
            out.append(many)
        return None if any(row) else out

    def _row(self, vector: Vector) -> list[int] | None:
        entries = dict(vector)
        if not set(entries) <= set(self._scales):
            return None
        scaled = [entries.get(key, Rational(0)) * self._scales[key] for key in self._columns]
        return [int(c) for c in scaled] if all(c.is_Integer for c in scaled) else None

    def _vector(self, row: list[int]) -> Vector:
        return tuple((key, Rational(c, self._scales[key])) for key, c in zip(self._columns, row, strict=True) if c)


def _subtract(row: list[int], many: int, other: list[int]) -> None:
    if many:
        row[:] = [a - many * b for a, b in zip(row, other, strict=True)]


def _nearest(a: Any, b: Any) -> int:
    return int((2 * a + b) // (2 * b))
