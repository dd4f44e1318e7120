"""The estimators against the closed form of normal pairs, and against each other's invariances."""

import numpy as np
import pytest

from symdecouple.reproduction.mutual_information import by_bins, by_neighbours, by_whole_numbers


@pytest.mark.parametrize("correlation", [0.0, 0.5, -0.9, 0.99])
def test_normal_pairs(correlation: float) -> None:
    one, two = np.random.default_rng(7).standard_normal((2, 4000))
    pair = one, correlation * one + np.sqrt(1 - correlation**2) * two
    exact = -np.log(1 - correlation**2) / 2
    assert abs(by_neighbours(*pair) - exact) < 0.05
    assert abs(by_neighbours(np.exp(pair[0]), pair[1] ** 3) - by_neighbours(*pair)) < 1e-9  # ranks
    assert abs(by_bins(*pair, bins=20) - exact) < 0.2 + 0.2 * exact


def test_bins_of_a_table_counted_by_hand() -> None:
    first, second = np.array([0, 0, 0, 1, 1, 1, 1, 1.0]), np.array([0, 0, 1, 0, 1, 1, 1, 1.0])
    joint = {(0, 0): 2, (0, 1): 1, (1, 0): 1, (1, 1): 4}
    exact = sum(n / 8 * np.log(n * 8 / ((3, 5)[i] * (3, 5)[j])) for (i, j), n in joint.items())
    assert abs(by_bins(first, second, bins=2) - exact) < 1e-12
    rounded = by_whole_numbers(first * 3 - 0.4, second + 7.3)
    assert abs(rounded - exact / np.log(2)) < 1e-12
    assert by_whole_numbers(first, second * 0.4) == 0  # all round to zero


def test_whole_numbers_hang_on_the_scale() -> None:
    one, two = np.random.default_rng(7).standard_normal((2, 20000))
    wide, narrow = (by_whole_numbers(scale * one, scale * (one + two)) for scale in (4, 0.4))
    assert abs(wide - 0.5) < 0.06  # log2 of sqrt(2), exact for fine cells
    assert narrow < 0.3
