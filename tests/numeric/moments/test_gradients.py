"""Exact gradients of the decoupled moments: what they are orthogonal to, and covectors on their way back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from symdecouple.numeric.moments.gradients import Gradients, project, pullback, standardized_gradients
from symdecouple.numeric.moments.levels import gaussian_moments
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from tests.stats.oracle import orthokurtosis

GOAL = (1.0, *gaussian_moments(5))


def decoupled_gradients(x: np.ndarray, order: int) -> Gradients:
    return standardized_gradients(x, order, GOAL)


def test_each_order_is_orthogonal_to_what_the_level_below_holds() -> None:
    """At the reference manifold a feature's gradient is projected: orthogonal to the gradients of all lower moments."""
    z = impose_skewness(np.random.default_rng(4).gamma(1.0, size=(2, 60)), 0.0).values
    z = follow(follow(z, 4, 3.0, held=GOAL[1:4]).values, 5, 0.0, held=GOAL[1:5]).values
    g = decoupled_gradients(z, 6).gradients[:, 5]
    for j in range(5):
        size = np.vecdot(np.abs(z**j), np.abs(g))
        assert np.all(np.abs(np.vecdot(z**j, g)) < 1e-11 * size)


def test_pulling_back_one_covector_or_many() -> None:
    rng = np.random.default_rng(6)
    z = impose_skewness(rng.gamma(1.0, size=(3, 40)), 0.0).values
    z[1] = np.resize([-1.0, 1.0], 40)
    followed = follow(z, 4, 3.0, held=GOAL[1:4], store=True)
    many = rng.normal(size=(2, 3, 40))
    pulled = pullback(followed, many)
    assert pulled[0] == pytest.approx(pullback(followed, many[0]), rel=1e-12, abs=1e-13, nan_ok=True)
    assert np.isnan(pulled[:, 1]).all() and np.isfinite(pulled[:, [0, 2]]).all()


def test_a_path_of_no_length_projects() -> None:
    z = impose_skewness(np.random.default_rng(7).normal(size=(2, 40)), 0.0).values
    there = follow(z, 4, 3.0, held=GOAL[1:4]).values
    still = follow(there, 4, 3.0, held=GOAL[1:4], store=True)
    covectors = np.random.default_rng(8).normal(size=(2, 40))
    assert not still.path.steps.any()
    assert pullback(still, covectors) == pytest.approx(project(there, covectors[None], 4)[0], abs=1e-12)


def test_weights_are_counts_of_equal_entries() -> None:
    """Paths of distinct values with their shares, derivatives over the weights: those of the sample."""
    counts = np.array([1, 3, 2, 1, 1, 2, 4, 1])
    values = np.array([-2.0, -1.1, -0.4, 0.1, 0.3, 0.7, 0.9, 2.2])
    whole = np.repeat(values, counts)[None]
    values, whole = ((each - whole.mean()) / whole.std() for each in (values, whole))
    held, target, share = (0, 1, np.mean(whole**3)), 1.1 * np.mean(whole**4), counts[None] / counts.sum()
    few = follow(values[None], 4, target, held=held, weights=share, rtol=1e-14, store=True)
    many = follow(whole, 4, target, held=held, rtol=1e-14, store=True)
    density = np.random.default_rng(10).normal(size=(2, 1, 8))
    expected = pullback(many, np.repeat(density, counts, axis=2) / counts.sum())
    found = pullback(few, density)
    assert few.path.steps[0] > 0
    assert np.repeat(found, counts, axis=2) / counts.sum() == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-6, 1e-7, 3e-8, 1e-8, 1e-9, 1e-12, 1e-17])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_two_of_four_values_near_each_other(gap: float, place: int) -> None:
    """Nine digits of the gradient of the orthokurtosis, by differences in 60 digits, or a refusal."""
    row = [[0, gap, 1, 2], [0, 1, 2 - gap, 2], [0, gap, 1, 1 + 3 * gap]][place]
    found = standardized_gradients(np.array([row]), 4, (1, 0, 1, 0))
    if 0 in found.refusals:
        assert found.refusals[0].reason in ("beyond float64", "limit only") and gap < 1e-4
        assert np.isnan(found.gradients[0, 3]).all()
        return
    step, wanted = Fraction(gap) / 10**8, []
    for j in range(4):
        near = [[Fraction(v) + sign * step * (i == j) for i, v in enumerate(row)] for sign in (1, -1)]
        up, down = (orthokurtosis(each, dps=60) for each in near)
        wanted.append(float((up - down) * step.denominator / (2 * step.numerator)))
    np.testing.assert_allclose(found.gradients[0, 3], wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
