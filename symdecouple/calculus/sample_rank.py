r"""Exact rank of a few long columns of rational numbers, quickly: pivots modulo a prime, then exact relations.

A minor that is not zero modulo a prime is not zero. That the other columns are combinations of the pivot columns is
solved for exactly on as many rows as there are pivots, and verified on all rows. Work is O(N M^2) in machine
integers, and O(N M^2) products of long integers for the verification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import QQ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from symdecouple.calculus.elementary import World
from symdecouple.calculus.span import determinant, independent_rows, modular_pivots

__all__ = ["Rank", "exact_rank", "has_minor", "holds"]

PRIME = 2**31 - 1
"""Products of two residues fit into 63 bits."""


@dataclass(frozen=True, slots=True)
class Rank:
    """Which columns are independent, on which rows they have a minor, and the relations that give the others.

    Attributes
    ----------
    columns, rows : tuple of int
        Counted from 0, as many of either; the minor that they make is not zero.
    relations : tuple of tuple of Fraction
        One for each column that is no pivot: weights of all columns, 1 at its own, whose combination vanishes.
    """

    columns: tuple[int, ...]
    rows: tuple[int, ...]
    relations: tuple[tuple[Fraction, ...], ...]


def exact_rank(columns: Sequence[Sequence[Any]]) -> Rank:
    """Return the rank of columns of rational numbers, with its proof.

    Parameters
    ----------
    columns : sequence of sequence of int or Fraction, (M, N)

    Returns
    -------
    Rank

    Examples
    --------
    >>> exact_rank([[1, 2, 3], [2, 4, 6], [0, 1, Fraction(1, 2)]])
    Rank(columns=(0, 2), rows=(0, 1), relations=((Fraction(-2, 1), Fraction(1, 1), Fraction(0, 1)),))
    """
    whole = [_whole(column) for column in columns]
    pivots, rows = _pivots_modulo([integers for integers, _ in whole])
    relations = _relations(whole, pivots, rows)
    if relations is None:  # the prime divides a minor that is not zero
        pivots, rows = _pivots_exactly([integers for integers, _ in whole])
        relations = _relations(whole, pivots, rows)
        assert relations is not None
    order = sorted(rows)
    return Rank(tuple(pivots), tuple(order), tuple(relations))


def has_minor(columns: Sequence[Sequence[Any]]) -> bool:
    """Return True iff the determinant of as many rational columns as rows is not zero."""
    whole = [_whole(column)[0] for column in columns]
    if len(modular_pivots(whole)[0]) == len(whole):
        return True
    return bool(determinant([[Fraction(v) for v in row] for row in zip(*whole, strict=True)], World()) != 0)


def holds(weights: Sequence[Fraction], columns: Sequence[Sequence[Any]]) -> bool:
    """Return True iff a combination of columns vanishes, exactly, in every row."""
    return _vanishes(weights, [_whole(column) for column in columns])


def _whole(column: Sequence[Any]) -> tuple[list[int], Fraction]:
    """Return coprime whole numbers, and what to multiply them by to have the column."""
    denominator = lcm(*(v.denominator for v in column))
    integers = [int(v * denominator) for v in column]
    content = gcd(*integers) or 1
    return [v // content for v in integers], Fraction(content, denominator)


def _pivots_modulo(columns: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    done: list[tuple[NDArray[np.int64], int]] = []
    pivots: list[int] = []
    for k, column in enumerate(columns):
        rest = np.array([v % PRIME for v in column], dtype=np.int64)
        for reduced, row in done:
            if rest[row]:
                rest = (rest - rest[row] * reduced) % PRIME
        found = np.flatnonzero(rest)
        if found.size:
            row = int(found[0])
            done.append((rest * pow(int(rest[row]), -1, PRIME) % PRIME, row))
            pivots.append(k)
    return pivots, [row for _, row in done]


def _pivots_exactly(columns: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    pivots: list[int] = []
    rows: list[int] = []
    for k, _ in enumerate(columns):
        found = independent_rows([list(map(Fraction, columns[n])) for n in [*pivots, k]], World())
        if found is not None:
            pivots, rows = [*pivots, k], found
    return pivots, rows


def _relations(whole: Sequence[tuple[list[int], Fraction]], pivots: Sequence[int],
               rows: Sequence[int]) -> list[tuple[Fraction, ...]] | None:
    """Return the relations of the other columns; None if the pivots do not span one of them after all."""
    others = [k for k in range(len(whole)) if k not in pivots]
    solved: list[list[Any]] = [[] for _ in others]
    if others and pivots:
        system = DomainMatrix([[QQ(whole[k][0][r]) for k in pivots] for r in rows], (len(rows), len(pivots)), QQ)
        right = DomainMatrix([[QQ(whole[k][0][r]) for k in others] for r in rows], (len(rows), len(others)), QQ)
        try:
            solved = system.lu_solve(right).transpose().to_list()
        except DMNonInvertibleMatrixError:
            return None
    out = []
    for k, weights in zip(others, solved, strict=True):
        relation = [Fraction(0)] * len(whole)
        relation[k] = Fraction(1)
        for pivot, w in zip(pivots, weights, strict=True):
            relation[pivot] = -Fraction(int(w.numerator), int(w.denominator)) * whole[k][1] / whole[pivot][1]
        if not _vanishes(relation, whole):
            return None
        out.append(tuple(relation))
    return out


def _vanishes(relation: Sequence[Fraction], whole: Sequence[tuple[list[int], Fraction]]) -> bool:
    weights = [c * scale for c, (_, scale) in zip(relation, whole, strict=True)]
    denominator = lcm(*(w.denominator for w in weights))
    total: Any = 0
    for w, (integers, _) in zip(weights, whole, strict=True):
        if w != 0:
            total = _object(integers) * int(w * denominator) + total
    return bool(np.all(total == 0))


def _object(integers: Sequence[int]) -> NDArray[Any]:
    out = np.empty(len(integers), dtype=object)
    out[:] = integers
    return out
