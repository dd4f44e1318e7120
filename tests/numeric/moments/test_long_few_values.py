"""Which long samples have few values, without sorting them whole."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.moments.long_few_values import few_values
from tests.traced import peak


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32, np.int16, np.uint8])
def test_values_and_counts_are_those_of_a_sort(kind: type) -> None:
    row: np.ndarray = np.random.default_rng(0).integers(0, 200, 200_003).astype(kind)
    found = few_values(row, 200)
    assert found is not None
    values, counts = np.unique(row, return_counts=True)
    assert np.array_equal(found[0], values) and np.array_equal(found[1], counts) and found[0].dtype == np.float64


def test_a_glance_that_sees_one_value_decides_nothing() -> None:
    row = np.random.default_rng(1).normal(size=2**18)
    row[:: 2**18 // 2**12] = 0.0
    assert few_values(row, 100) is None


def test_exactly_so_many() -> None:
    row = np.repeat(np.arange(300.0), 400)
    assert few_values(row, 299) is None
    found = few_values(row, 300)
    assert found is not None and (found[1] == 400).all()


def test_it_takes_no_copy() -> None:
    row = np.random.default_rng(2).integers(0, 256, 2**20).astype(np.float64)
    assert peak(lambda: few_values(row, 256)) < 0.4 * row.nbytes


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16])
def test_integers_are_counted_from_end_to_end_of_their_type(kind: type) -> None:
    info = np.iinfo(kind)
    row = np.tile(np.array([info.max, info.min, info.max], dtype=kind), 10_001)
    found = few_values(row, 2)
    assert found is not None
    assert found[0].tolist() == [info.min, info.max] and found[1].tolist() == [10_001, 20_002]
    assert few_values(row, 1) is None


def test_integers_are_counted_in_little_room() -> None:
    row = np.random.default_rng(3).integers(-128, 128, 2**20).astype(np.int8)
    assert peak(lambda: few_values(row, 256)) < 0.4 * row.nbytes
