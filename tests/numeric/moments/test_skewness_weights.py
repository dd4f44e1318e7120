"""Samples with weights moved to any skewness: the repeated sample as oracle, absent entries, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.moments.attainable import saturated_skewness
from symdecouple.numeric.moments.skewness_flow import TILE, impose_skewness


@pytest.mark.parametrize(
    ("n_samples", "target"), [(12, 0.0), (12, 0.75), (200, 0.0), (200, -0.4), (TILE + 100, 0.25)]
)
def test_whole_weights_are_repetitions(n_samples: int, target: float) -> None:
    rng = np.random.default_rng(n_samples)
    rows = (rng.normal(size=n_samples), rng.exponential(size=n_samples), 1e8 + np.exp(2 * rng.normal(size=n_samples)))
    for row in rows:
        weights = rng.integers(1, 4, n_samples)
        repeated = np.repeat(row, weights)
        found = impose_skewness([row], target, weights=weights[None].astype(float))
        expected = impose_skewness([repeated], target)
        first = np.cumsum(weights) - weights
        assert found.values[0] == pytest.approx(expected.values[0, first], rel=1e-11, abs=1e-12)
        assert found.slope[0] == pytest.approx(expected.slope[0, first], rel=1e-10)
        moments = [np.average(found.values[0] ** k, weights=weights) for k in (1, 2, 3)]
        assert moments == pytest.approx([0, 1, target], abs=1e-14 * np.mean(np.abs(found.values[0]) ** 3))


def test_an_entry_without_weight_goes_with_the_minimum() -> None:
    rows = np.array([[3.0, 1.0, 9.0, 4.0, 100.0, 2.0, -50.0]] * 2)
    weights = np.array([[1.0, 2, 1, 3, 0, 2, 0]] * 2)
    found = impose_skewness(rows, 0.0, weights=weights)
    left = impose_skewness(rows[:, [0, 1, 2, 3, 5]], 0.0, weights=weights[:, [0, 1, 2, 3, 5]])
    assert found.values[:, [0, 1, 2, 3, 5]] == pytest.approx(left.values, rel=1e-14)
    assert np.all(found.values[:, [4, 6]] == found.values[:, [1]])


def test_refusals_by_weight() -> None:
    rows, weights = np.array([[0.0, 1, 2, 5]] * 3), np.array([[6.0, 1, 1, 1], [1, 1, 1, 1], [1, 2, 0, 0]])
    found = impose_skewness(rows, [0.0, 0.2, 0.5**0.5], weights=weights)
    assert {i: outcome.reason for i, outcome in found.refusals.items()} == {0: "no zero-skew point", 2: "two-valued"}
    there = impose_skewness(rows[2:], saturated_skewness(2, 3), weights=weights[2:])
    assert not there.refusals and there.values[0, :2] == pytest.approx([-(2**0.5), 0.5**0.5], rel=1e-14)
