"""Values that many entries share: as often as they are there, and what is left."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.moments.long_ties import Ties


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_ties_at_both_ends_and_in_the_middle(kind: type) -> None:
    rng = np.random.default_rng(1)
    row = rng.normal(size=2**15 + 7).astype(kind)
    places = rng.permutation(len(row))
    for value, count, start in ((-9, 3000, 0), (0, 9001, 4000), (9, 2000, 20000)):
        row[places[start : start + count]] = value
    found, left = Ties.of(row), Ties.of(row).others(row)
    assert found.values.tolist() == [-9, 0, 9] and found.counts.tolist() == [3000, 9001, 2000]
    assert np.array_equal(left, row[(row != -9) & (row != 0) & (row != 9)]) and len(left) == len(row) - 14001


def test_continuous_entries_and_seldom_ties_are_left_as_they_are() -> None:
    row = np.random.default_rng(2).normal(size=2**15)
    row[:50] = 0
    found = Ties.of(row)
    assert not len(found.values) and found.others(row) is row
