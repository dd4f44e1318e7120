"""Theorem B (Moebius): the leaf of the first three moments, and what is constant on it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

SAMPLE = np.array([0.0, 1.0, 2.0, 3.5, 10.0])


def skewness(x: np.ndarray) -> float:
    y = x - x.mean()
    return float(np.mean(y**3) / np.mean(y**2) ** 1.5)


def kurtosis(x: np.ndarray) -> float:
    y = x - x.mean()
    return float(np.mean(y**4) / np.mean(y**2) ** 2)


def representative(x: np.ndarray, target: float = 0.0) -> np.ndarray:
    """The standardized point of the leaf whose skewness is the target."""
    y = (x - x.mean()) / x.std()
    low, high = 1 / y.min(), 1 / y.max()
    t = brentq(lambda s: skewness(y / (1 - s * y)) - target, low * (1 - 1e-9), high * (1 - 1e-9), xtol=1e-15)
    z = y / (1 - t * y)
    return np.asarray((z - z.mean()) / z.std())


def orthokurtosis(x: np.ndarray, target: float = 0.0) -> float:
    return kurtosis(representative(x, target))


def moebius(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    (a, b), (c, d) = matrix
    return np.asarray((a * x + b) / (c * x + d))


def cross_ratios(x: np.ndarray) -> np.ndarray:
    return np.asarray((x[0] - x[2:-1]) * (x[1] - x[-1]) / ((x[0] - x[-1]) * (x[1] - x[2:-1])))


def test_hypothesis_no_pole_inside() -> None:
    inside = -1 / (SAMPLE - 1.5)  # determinant 1, pole between the second and the third value
    assert np.allclose(cross_ratios(inside), cross_ratios(SAMPLE))
    assert abs(orthokurtosis(inside) - orthokurtosis(SAMPLE)) > 0.1


def test_hypothesis_reference_skewness_zero_for_evenness() -> None:
    """With another reference the feature is still constant on leaves, but no longer even."""
    forward = orthokurtosis(SAMPLE, target=0.4)
    assert orthokurtosis(moebius(np.array([[2.0, 1.0], [1.0, 3.0]]), SAMPLE), 0.4) == pytest.approx(forward, rel=1e-9)
    assert abs(orthokurtosis(-SAMPLE, target=0.4) - forward) > 5e-3


@pytest.mark.parametrize(("x", "rank"), [([0, 1, 2, 2, 5], 3), ([0, 0, 1, 1, 1], 2), ([3, 3, 3, 3, 3], 1)])
def test_leaf_dimension_counts_distinct_values(x: list[int], rank: int) -> None:
    v = np.array(x, dtype=float)
    assert np.linalg.matrix_rank(np.array([v**0, v, v**2])) == rank


def test_flows_stay_moebius_and_never_move_the_pole_across_the_sample() -> None:
    """Random concatenations of the three flows, stopped before a sample reaches infinity."""
    rng = np.random.default_rng(11)
    for _ in range(30):
        x, matrix = SAMPLE.copy(), np.eye(2)
        for _ in range(12):
            kind, time = rng.integers(3), rng.uniform(-0.4, 0.4)
            if kind == 2:
                limit_high = 1 / x.max() if x.max() > 0 else np.inf
                limit_low = 1 / x.min() if x.min() < 0 else -np.inf
                time = np.clip(time, 0.8 * limit_low, 0.8 * limit_high)
            step = [[[1, time], [0, 1]], [[np.exp(time), 0], [0, 1]], [[1, 0], [-time, 1]]][kind]
            x = moebius(np.array(step), x)
            matrix = np.array(step) @ matrix
        assert np.allclose(moebius(matrix, SAMPLE), x, rtol=1e-7)
        assert np.linalg.det(matrix) > 0
        denominators = matrix[1, 0] * SAMPLE + matrix[1, 1]
        assert np.all(denominators > 0) or np.all(denominators < 0)


def test_every_map_without_pole_inside_is_centre_riccati_affine() -> None:
    matrix = np.array([[2.0, -1.0], [-0.05, 1.0]])  # pole at 20, determinant 1.95
    y = SAMPLE - SAMPLE.mean()
    t = 1 / (20 - SAMPLE.mean())
    assert 1 / y.min() < t < 1 / y.max()
    z = y / (1 - t * y)
    slope, _ = np.polyfit(z, moebius(matrix, SAMPLE), 1)
    assert slope > 0
    assert np.allclose(np.corrcoef(z, moebius(matrix, SAMPLE))[0, 1], 1, atol=1e-13)


def test_general_triple_leaf_lives_in_the_range_of_phi() -> None:
    """phi = exp: the leaf in y = e^x is {g y : g[min y, max y] inside (0, oo)}; outside, the sample leaves R."""
    y = np.exp(np.array([-0.3, 0.1, 0.4, 1.0]))
    inside = moebius(np.array([[1.0, -0.5], [0.1, 1.0]]), y)
    outside = moebius(np.array([[1.0, -2.0], [0.1, 1.0]]), y)
    assert np.all(inside > 0) and outside.min() < 0
    # the path with endpoints interpolated inside the range stays inside it
    for s in np.linspace(0, 1, 21):
        ends = (1 - s) * y[[0, -1]] + s * inside[[0, -1]]
        assert np.all(ends > 0) and ends[0] < ends[1]
