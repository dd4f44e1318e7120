"""The coefficients of the Runge-Kutta pair against the order conditions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod
from typing import Any, TypeAlias

import numpy as np
import pytest

from symdecouple.numeric.paths.runge_kutta import CASH_KARP, FIFTH, NODES, STAGES, THIRD, VERNER, WEIGHTS


def line(weights: dict[int, float], n: int) -> np.ndarray:
    return np.array([weights.get(j, 0.0) for j in range(n)])


def matrix(stages: tuple[dict[int, float], ...]) -> np.ndarray:
    return np.array([line(row, len(stages)) for row in stages])


# Stages, weights, up to which order, and the total: 1 for a step, 0 for an estimate of its error.
CONDITIONS = {
    "step": (STAGES, WEIGHTS, 8, 1), "error": (STAGES, FIFTH, 5, 0), "error of order 3": (STAGES, THIRD, 3, 0),
    "Cash-Karp": (*CASH_KARP[:2], 5, 1), "its error": (CASH_KARP[0], CASH_KARP[2], 4, 0),
    "Verner": (*VERNER[:2], 6, 1), "error of Verner": (VERNER[0], VERNER[2], 5, 0),
}

Tree: TypeAlias = tuple[Any, ...]  # of its subtrees; () is a single node


def trees(order: int) -> Iterator[Tree]:
    """All rooted trees with so many nodes."""
    if order == 1:
        yield ()
        return
    for sizes in partitions(order - 1):
        choices = [list(itertools.combinations_with_replacement(list(trees(n)), len(list(run))))
                   for n, run in itertools.groupby(sizes)]
        yield from (tuple(itertools.chain(*parts)) for parts in itertools.product(*choices))


def partitions(n: int, largest: int | None = None) -> Iterator[list[int]]:
    if n == 0:
        yield []
    for first in range(min(n, largest or n), 0, -1):
        yield from ([first, *rest] for rest in partitions(n - first, first))


def size(tree: Tree) -> int:
    return 1 + sum(map(size, tree))


def density(tree: Tree) -> int:
    return size(tree) * prod(map(density, tree))


def elementary_weight(matrix: np.ndarray, tree: Tree) -> np.ndarray:
    """One number a stage: the product over subtrees of the matrix times theirs."""
    return np.prod([matrix @ elementary_weight(matrix, t) for t in tree], axis=0) if tree else np.ones(len(matrix))


def missed(stages: np.ndarray, weights: np.ndarray, order: int, total: int) -> float:
    """By how much sum b_i Phi_i(t) = 1/gamma(t) is missed at most by trees of so many nodes."""
    return max(abs(float(weights @ elementary_weight(stages, t)) - total / density(t)) for t in trees(order))


def test_the_number_of_trees() -> None:
    assert [len(list(trees(n))) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("name", CONDITIONS)
def test_order_conditions(name: str) -> None:
    """The estimates of the error are differences and vanish up to their order; none has more."""
    stages, weights, order, total = CONDITIONS[name]
    given = matrix(stages), line(weights, len(stages))
    for n in range(1, order + 1):
        assert missed(*given, n, total) < 3e-14, n
    assert missed(*given, order + 1, total) > 1e-7


def test_rows_are_explicit() -> None:
    assert matrix(STAGES).sum(axis=1) == pytest.approx(NODES, abs=1e-14)
    assert not any(np.triu(matrix(stages)).any() for stages in (STAGES, CASH_KARP[0], VERNER[0]))
