"""Kinds and indices of patterns of ties: counted alternations against all chains, and against the exact inertia."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from math import comb, prod

import pytest

from symdecouple.analysis.critical.tie_patterns import Ties, coarser, index_of, kind_of, merged, patterns, sign_of


def by_all_chains(ties: Ties, level: int) -> str:
    """The definition: every set of e + 1 groups of two or more whose signs alternate."""
    groups = [i for i, n in enumerate(ties) if n > 1]
    chains = [c for c in combinations(groups, level - len(ties))
              if all(sign_of(a, len(ties)) != sign_of(b, len(ties)) for a, b in pairwise(c))]
    tops = {sign_of(c[-1], len(ties)) for c in chains}
    return {(): "isolated", (1,): "minimum", (-1,): "maximum"}.get(tuple(tops), "saddle")


@pytest.mark.parametrize("n_samples", [2, 3, 5, 8])
def test_kinds_are_those_of_all_chains(n_samples: int) -> None:
    for level in range(2, 8):
        for count in range(1, min(level, n_samples + 1)):
            for ties in patterns(n_samples, count):
                assert kind_of(ties, level) == by_all_chains(ties, level), (ties, level)


@pytest.mark.parametrize(("n_samples", "count"), [(6, 1), (6, 3), (9, 5), (4, 4), (3, 4)])
def test_patterns_are_all_compositions(n_samples: int, count: int) -> None:
    found = list(patterns(n_samples, count))
    assert len(set(found)) == len(found) == comb(n_samples - 1, count - 1)
    assert all(sum(ties) == n_samples and min(ties) > 0 for ties in found)


def test_merging_keeps_the_number_of_samples() -> None:
    assert merged((1, 2, 3), 1) == (1, 5)
    assert list(coarser((1, 2, 3))) == [(3, 3), (1, 5)]


@pytest.mark.parametrize("level", [3, 4, 5, 6])
def test_index_counts_negative_second_derivatives_on_vectors_of_sum_zero(level: int) -> None:
    """P = prod (x - y_i) has the slope P'(y_i) on group i; n_i - 1 directions keep the group's mean."""
    values = [Fraction(v) for v in (-4, -1, 1, 3, 8)[: level - 1]]
    slopes = [prod(v - w for w in values if w != v) for v in values]
    for ties in patterns(8, level - 1):
        expected = sum(n - 1 for n, s in zip(ties, slopes, strict=True) if s < 0)
        assert index_of(ties, level) == expected
        free = 8 - level + 1
        assert kind_of(ties, level) == ("minimum" if expected == 0 else "maximum" if expected == free else "saddle")


def test_singular_points_have_no_index() -> None:
    assert index_of((3, 3), 4) is None and index_of((2, 8, 2), 6) is None
