"""The coefficients of the Runge-Kutta pairs against the order conditions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from symdecouple.numeric.paths.step_pairs import PAIRS

from symdecouple.numeric.paths import dop853

Array: TypeAlias = NDArray[np.float64]
COUNTS, ORDERS, COSTS, MATRICES, WEIGHTS, FIRST, SECOND = PAIRS
# The pair, weights, up to which order, and the total: 1 for a step, 0 for an estimate of its error.
CONDITIONS = {
    "lightest": (0, WEIGHTS[0], 5, 1), "lightest error": (0, FIRST[0], 4, 0),
    "light": (1, WEIGHTS[1], 6, 1), "light error": (1, FIRST[1], 5, 0), "heavy": (2, WEIGHTS[2], 8, 1),
    "heavy error": (2, FIRST[2], 5, 0), "heavy error of order 3": (2, SECOND[2], 3, 0),
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


def elementary_weight(matrix: Array, tree: Tree) -> Array:
    """One number a stage: the product over subtrees of the matrix times theirs."""
    return np.prod([matrix @ elementary_weight(matrix, t) for t in tree], axis=0) if tree else np.ones(len(matrix))


def missed(pair: int, weights: Array, order: int, total: int) -> float:
    """By how much sum b_i Phi_i(t) = 1/gamma(t) is missed at most by trees of so many nodes."""
    return max(abs(float(weights @ elementary_weight(MATRICES[pair], t)) - total / density(t)) for t in trees(order))


def test_the_number_of_trees() -> None:
    assert [len(list(trees(n))) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("name", CONDITIONS)
def test_order_conditions(name: str) -> None:
    """The estimates of the error are differences and vanish up to their order; none has more."""
    pair, weights, order, total = CONDITIONS[name]
    for n in range(1, order + 1):
        assert missed(pair, weights, n, total) < 3e-14, n
    assert missed(pair, weights, order + 1, total) > 1e-7
    assert not total or order == ORDERS[pair]


def test_rows_are_explicit_and_of_so_many_slopes() -> None:
    assert MATRICES[2].sum(axis=1) == pytest.approx(dop853.NODES, abs=1e-14)
    for pair, count in enumerate(COUNTS):
        assert not np.triu(MATRICES[pair]).any() and not MATRICES[pair, count:].any()
        assert FIRST[pair, count - 1] or WEIGHTS[pair, count - 1]
        assert not WEIGHTS[pair, count:].any() and not FIRST[pair, count:].any()


def test_what_a_step_asks_for_beyond_its_first_slope() -> None:
    """The point where it ends is one of its own where its last slope is that at the end."""
    for pair, count in enumerate(COUNTS):
        is_at_end = (MATRICES[pair, count - 1] == WEIGHTS[pair]).all()
        assert COSTS[pair] == count - is_at_end and is_at_end == (pair == 0)
