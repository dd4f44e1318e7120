"""The compiled narrow path as plain Python: its velocity against Stieltjes' procedure, and its ends against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdecouple.numeric.moments import steps as moment_steps
from symdecouple.numeric.moments.hankel import orthogonal_basis, power_means
from symdecouple.numeric.moments.moment_path import SHARP, follow
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.moments.steps import _velocity, follow_rows
from symdecouple.numeric.paths.dop853 import STAGES
from symdecouple.numeric.samples.batch import FloatArray


def at_skewness(skewness: float, n_samples: int, seed: int) -> FloatArray:
    rows = np.random.default_rng(seed).gamma(3.0, size=(1, n_samples))
    z: FloatArray = impose_skewness(rows, skewness).values[0]
    return z


def run(z: FloatArray, weights: FloatArray, k: int, goal: FloatArray) -> tuple[FloatArray, float]:
    moved, grown = np.stack([z, z]), np.zeros(2)
    first = np.array([0.0, weights @ z**k])
    with np.errstate(all="ignore"):
        follow_rows(np.array([1]), moved, weights[None], k, goal, first, grown)
    assert np.array_equal(moved[0], z) and grown[0] == 0
    return moved[1], float(grown[1])


@pytest.mark.parametrize("skewness", [0.0, 0.4])
@pytest.mark.parametrize("k", [4, 5, 6])
def test_the_velocity_is_the_orthogonal_polynomial_of_degree_k_less_one(k: int, skewness: float) -> None:
    z = at_skewness(skewness, 60, seed=k)
    means = power_means(z[None], 2 * k - 2)[:, 0]
    scratch = np.zeros(4 * k)
    scratch[: 2 * k - 1] = means
    c, lower, norm = np.empty(k), np.empty((k, k)), np.empty(k)
    assert _velocity(scratch, k, means, means[k], 0.3, lower, norm, c)
    basis, _ = orthogonal_basis(z[None], k)
    expected = 0.3 / (k * basis.norm[k - 1, 0]) * list(basis.polynomials(z[None]))[-1][0]
    assert np.polynomial.Polynomial(c)(z) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k", [4, 5])
def test_there_is_no_velocity_where_values_are_too_few(k: int) -> None:
    for values in range(2, k):
        z = np.resize(np.linspace(-1, 1, values), 24 - 24 % values)
        z = (z - z.mean()) / z.std()
        means = power_means(z[None], 2 * k - 2)[:, 0]
        scratch, c = np.zeros(4 * k), np.empty(k)
        scratch[: 2 * k - 1] = means
        with np.errstate(all="ignore"):
            assert not _velocity(scratch, k, means, means[k], 0.3, np.empty((k, k)), np.empty(k), c)


@pytest.mark.parametrize(("k", "n_samples", "change"), [(4, 33, 0.8), (4, 33, -0.3), (5, 48, 1.0), (6, 31, 2.0)])
def test_the_end_of_the_path_and_how_much_errors_grew(k: int, n_samples: int, change: float) -> None:
    z = at_skewness(0.0, n_samples, seed=10 + k)
    goal = np.array([np.mean(z**j) for j in range(k + 1)])
    goal[k] += change
    moved, grown = run(z, np.full(n_samples, 1 / n_samples), k, goal)
    exact = follow(z[None], k, goal[k], held=goal[1:k], rtol=1e-13)
    assert not exact.refusals and np.abs(moved - exact.values[0]).max() < 3e-10
    assert grown == pytest.approx(np.log(exact.growth[0]), abs=0.2 + 0.1 * abs(grown))


def test_weights_stand_for_ties() -> None:
    z = at_skewness(0.0, 20, seed=3)
    counts = 1 + np.arange(20) % 3
    weights = counts / counts.sum()
    z = (z - weights @ z) / np.sqrt(weights @ (z - weights @ z) ** 2)
    tied = np.repeat(z, counts)
    goal = np.array([np.mean(tied**j) for j in range(5)])
    goal[4] += 0.4
    moved, _ = run(z, weights, 4, goal)
    expected, _ = run(tied, np.full(len(tied), 1 / len(tied)), 4, goal)
    assert np.repeat(moved, counts) == pytest.approx(expected, abs=1e-10)


def test_a_lost_path_leaves_its_row_as_it_was() -> None:
    z = np.resize([-1.5, -0.2, 0.2, 1.5], 40) + 1e-9 * np.arange(40)
    z = (z - z.mean()) / z.std()
    goal = np.array([np.mean(z**j) for j in range(5)])
    goal[4] = 300.0
    moved, grown = run(z, np.full(40, 1 / 40), 4, goal)
    assert grown == -1 and np.array_equal(moved, z)


def test_rows_side_by_side_go_as_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    rows = impose_skewness(rng.gamma(2.0, size=(12, 18)), 0.0).values
    crowded = np.resize([-1.5, -0.2, 0.2, 1.5], 18) + 1e-9 * np.arange(18)
    rows[4] = (crowded - crowded.mean()) / crowded.std()  # lost, among others
    clusters = np.resize(np.linspace(-2, 2, 6) ** 3, 18) + 0.01 * rng.normal(size=18)
    rows[7] = impose_skewness(clusters[None], 0.0).values[0]  # pulled apart: followed again
    goal, weights = np.array([1.0, 0, 1, 0, 3.0]), np.full((1, 18), 1 / 18)
    together, grown = rows.copy(), np.empty(12)
    begun: list[float] = []

    def counted(row: FloatArray, share: FloatArray, k: int, goal: FloatArray, most: float, *others: Any) -> bool:
        begun.append(most)
        return begin(row, share, k, goal, most, *others)

    begin = moment_steps._begin
    monkeypatch.setattr(moment_steps, "_begin", counted)
    first = np.mean(rows**4, axis=1)
    with np.errstate(all="ignore"):
        follow_rows(np.arange(12), together, weights, 4, goal, first, grown)
        assert len(begun) == 13 and begun.count(SHARP) == 1
        for i in range(12):
            alone, by_itself = rows.copy(), np.empty(12)
            follow_rows(np.array([i]), alone, weights, 4, goal, first, by_itself)
            assert np.array_equal(alone[i], together[i]) and by_itself[i] == grown[i]
    assert grown[4] == -1 and (np.delete(grown, 4) >= 0).all()
    there = np.delete(together, 4, axis=0)
    assert np.mean(there**4, axis=1) == pytest.approx(np.full(11, 3.0), abs=1e-8)


def test_the_sums_of_slopes_name_all_that_the_pair_has() -> None:
    few, many = {j for row in STAGES[:7] for j in row}, {j for row in STAGES[7:] for j in row}
    assert all(next(iter(row)) == 0 for row in STAGES[1:7])
    assert max(len(row) for row in STAGES[:7]) == 4 and few <= set(range(7)) and many == {0, *range(3, 11)}
