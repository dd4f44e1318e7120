"""Gradients of the normalization against differences, by hand, and Theorem D; the judge of any gradient."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sympy import tanh

from symdecouple import InvalidInput, Mean, x
from symdecouple.numeric.paths import integrate as rk
from symdecouple.numeric.paths.narrow_path import NarrowPath
from symdecouple.numeric.paths.narrow_path_adjoint import check_gradient, pullback
from tests.numeric.differences import extrapolated
from tests.numeric.paths import nested
from tests.numeric.paths.nested import EVEN_FIRST, MIXED, POWERS, decoupled_gradients, drawn, levels_of

samples = partial(drawn, n_rows=3)


def test_coarse_steps_are_differentiated_as_they_are() -> None:
    """With two long steps the path ends beside the true end, far beyond 1e-9; its gradient is of what was computed."""
    coarse, fine = NarrowPath(POWERS, rtol=1e-2), NarrowPath(POWERS, rtol=1e-13)
    start = levels_of(fine, samples(POWERS, n_rows=1), [0, 1, 0])[-1].values
    level = coarse.follow(start, 4, 1.3, store=True)
    assert np.abs(level.values - fine.follow(start, 4, 1.3).values).max() > 1e-6
    sizes = [float(step.size[0]) for step in level.parts[1].tape]  # part 0: rows that rest
    assert len(sizes) > 1
    row = np.array([0])

    def same_steps(y: np.ndarray) -> np.ndarray:
        begun = coarse.follow(y, 4, 1.3, store=True).parts[1].level
        for i, size in enumerate(sizes):
            h, last = np.array([size]), i + 1 == len(sizes)
            slopes: list[np.ndarray] = []
            for stage in (*rk.STAGES, rk.WEIGHTS):
                moved = y + h * sum(weight * slopes[j] for j, weight in stage.items())
                slopes.append(begun.slope(moved, np.zeros(1), row))
            y = moved
            y, _ = begun.corrected(y, np.ones(1) if last else np.array([sum(sizes[: i + 1])]), row)
        for _ in range(3):
            y, _ = begun.corrected(y, np.ones(1), row)
        return (y**5).mean(axis=1)

    np.testing.assert_allclose(same_steps(start), (level.values**5).mean(axis=1), rtol=1e-13)
    direction = np.random.default_rng(1).normal(size=start.shape)
    found = (pullback(level, level.values**4 * 5 / start.shape[1]) * direction).sum(axis=1)
    expected = extrapolated(lambda rows: np.array([same_steps(y[None])[0] for y in rows]), start, direction, 1e-3)
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("features", "third"), [
    (EVEN_FIRST, 3), (MIXED, 0.3745), ([Mean(x), Mean(x**2), Mean(x**3), Mean(tanh(x))], 0)], ids=str)
def test_theorem_d_four_features_are_exactly_orthogonal(features: list[Any], third: float) -> None:
    rows = samples(features)
    gradients, levels = decoupled_gradients(NarrowPath(features, rtol=1e-14), rows, [0, 1, third])
    assert not levels[-1].refusals
    cosines = np.einsum("rin,rjn->rij", gradients, gradients)
    sizes = np.sqrt(np.einsum("rii->ri", cosines))
    cosines /= sizes[:, :, None] * sizes[:, None]
    np.testing.assert_allclose(cosines, np.broadcast_to(np.eye(4), cosines.shape), atol=1e-13)


def test_beyond_theorem_d_they_are_not() -> None:
    gradients, _ = decoupled_gradients(NarrowPath(POWERS), samples(POWERS), [0, 1, 0, 3, 0])
    fourth, fifth = gradients[0, 3], gradients[0, 4]
    assert abs(fourth @ fifth) > 0.01 * np.linalg.norm(fourth) * np.linalg.norm(fifth)


# --- anything with values and gradients ---


class Handwritten:
    """Functions of three explicit coordinates that are no averages: x1 x2, and the distance from (1, 1, 1)."""

    names = ("product", "distance")

    def __len__(self) -> int:
        return 2

    def values(self, rows: np.ndarray) -> np.ndarray:
        return np.stack([rows[:, 0] * rows[:, 1], np.sqrt(((rows - 1) ** 2).sum(axis=1))], axis=1)

    def gradients(self, rows: np.ndarray, count: int) -> np.ndarray:
        product = np.stack([rows[:, 1], rows[:, 0], np.zeros(len(rows))], axis=1)
        distance = (rows - 1) / np.sqrt(((rows - 1) ** 2).sum(axis=1))[:, None]
        return 3 * np.stack([product, distance], axis=1)[:, :count]

    def curvature(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        product, away = weights[..., 0, :], rows - 1
        total = np.stack([product[..., 1], product[..., 0], np.zeros_like(product[..., 0])], axis=-1)
        if weights.shape[-2] == 2:
            size, w = np.sqrt((away**2).sum(axis=-1, keepdims=True)), weights[..., 1, :]
            total = total + (w - away * (away * w).sum(axis=-1, keepdims=True) / size**2) / size
        return 3 * total


def test_features_of_any_origin() -> None:
    path = NarrowPath(Handwritten())
    rows = np.array([[2.0, 3.0, 0.5], [1.0, 1.5, 4.0]])
    one, two = levels_of(path, rows, [5.0, 2.0])
    assert not two.refusals
    np.testing.assert_allclose(path.features.values(two.values), [[5.0, 2.0]] * 2, rtol=1e-14)
    np.testing.assert_allclose(one.values[:, 2], rows[:, 2], rtol=1e-14)  # the product does not depend on it
    product = rows[:, 0] ** 2 - rows[:, 1] ** 2  # the gradient of x1 x2 keeps x1^2 - x2^2
    np.testing.assert_allclose(one.values[:, 0] ** 2 - one.values[:, 1] ** 2, product, rtol=1e-11)


def test_gradients_for_features_of_any_origin() -> None:
    path = NarrowPath(Handwritten(), rtol=1e-14)
    row = np.array([[2.0, 3.0, 0.5]])
    level = path.follow(row, 2, 2.5, store=True)
    covector = np.array([1.0, -2, 3])
    found = check_gradient(lambda y: path.follow(y[None], 2, 2.5).values[0] @ covector, row[0],
                           pullback(level, covector[None])[0], first_step=0.03, n_directions=1)
    assert found.agrees and found.error < 1e-9, found.verdict


# --- rows that did not move, and rows that were refused ---


def test_at_the_target_the_gradient_is_that_of_rows_beside_it() -> None:
    path = NarrowPath(POWERS, rtol=1e-13)
    row = levels_of(path, samples(POWERS, n_rows=1), [0, 1, 0])[-1].values
    row = path.follow(row, 4, 3.0).values
    covector = np.random.default_rng(3).normal(size=row.shape)
    resting = path.follow(row, 4, 3.0, store=True)
    assert resting.steps[0] == 0
    found = pullback(resting, covector)
    direction = np.random.default_rng(4).normal(size=row.shape)
    expected = extrapolated(lambda y: (path.follow(y, 4, 3.0).values * covector).sum(axis=1), row, direction, 2e-3)
    assert (found * direction).sum() == pytest.approx(expected[0], rel=1e-9)
    beside = path.follow(row, 4, 3.0 + 1e-9, store=True)
    assert beside.steps[0] > 0
    np.testing.assert_allclose(pullback(beside, covector), found, atol=1e-7)


def test_refused_rows_are_nan_and_alone() -> None:
    good = samples(POWERS, n_rows=2, n=5)
    rows = np.concatenate([good[:1], [[0, 0, 0, 0, 1.0]], [[0, 0, 0, 1, 2.0]], [[np.nan] * 5], good[1:]])
    gradients, levels = decoupled_gradients(NarrowPath(POWERS[:4]), rows, [0, 1, 0])
    assert sorted(levels[-1].refusals) == [1, 2, 3]
    alone, _ = decoupled_gradients(NarrowPath(POWERS[:4]), good, [0, 1, 0])
    np.testing.assert_array_equal(gradients[[0, 4]], alone)
    assert np.isfinite(gradients[1, :3]).all() and np.isnan(gradients[1, 3]).all()
    assert np.isfinite(gradients[2, :3]).all() and np.isnan(gradients[2, 3]).all()
    assert np.isnan(gradients[3]).all()


def test_at_the_target_and_critical() -> None:
    rows = np.array([[-1.0, 1.0, -1.0, 1.0]])
    resting = NarrowPath([Mean(x), Mean(x**2), Mean(x**3)]).follow(rows, 3, 0.0, store=True)
    assert not resting.refusals and (resting.values == rows).all()
    assert np.isnan(pullback(resting, np.ones((1, 4)))).all()


def test_many_covectors_and_many_chunks() -> None:
    rng = np.random.default_rng(5)
    rows, covectors = rng.gamma(1.0, size=(700, 25)), rng.normal(size=(2, 700, 25))
    level = NarrowPath(POWERS).follow(rows, 2, 3.0, store=True)
    assert len(level.parts) > 1
    both = pullback(level, covectors)
    for covector, found in zip(covectors, both, strict=True):
        np.testing.assert_array_equal(pullback(level, covector), found)
    mean = rows.mean(axis=1, keepdims=True)  # y = m + r (x - m), r^2 = (3 - m^2)/var: differentiated by hand
    c, var = rows - mean, rows.var(axis=1, keepdims=True)
    r = np.sqrt((3 - mean**2) / var)
    along = (covectors * c).sum(axis=2, keepdims=True)
    slope = -(mean / (r * var) + r * c / var) / 25
    by_hand = r * (covectors - covectors.mean(axis=2, keepdims=True)) + covectors.mean(axis=2, keepdims=True)
    by_hand = by_hand + along * slope
    usable = ~np.isin(np.arange(700), list(level.refusals))
    assert usable.sum() > 620
    np.testing.assert_allclose(both[:, usable], by_hand[:, usable], rtol=1e-9, atol=1e-9)


def test_wrong_calls() -> None:
    path = NarrowPath(POWERS)
    with pytest.raises(InvalidInput, match="store=True"):
        pullback(path.follow([[1.0, 2.0, 4.0]], 2, 1.0), [[1.0, 0.0, 0.0]])
    with pytest.raises(InvalidInput, match="covectors of shape"):
        pullback(path.follow([[1.0, 2.0, 4.0]], 2, 1.0, store=True), [1.0, 0.0, 0.0])
    with pytest.raises(InvalidInput, match="second derivatives"):
        pullback(NarrowPath(nested.FirstOrder()).follow([[1.0, 2.0]], 1, 1.0, store=True), [[1.0, 0.0]])


# --- the judge ---

POINT = np.array([0.3, -1.2, 2.0, 0.7])


def quartic(y: np.ndarray) -> float:
    return float(np.mean(y**4) + np.prod(np.cos(y)))


def quartic_gradient(y: np.ndarray) -> np.ndarray:
    return y**3 - np.prod(np.cos(y)) * np.tan(y)


def test_a_right_gradient_converges_with_order_two() -> None:
    found = check_gradient(quartic, POINT, quartic_gradient(POINT))
    assert found.agrees and found.order == pytest.approx(2, abs=0.05)
    assert found.error < 1e-10 and "agrees" in str(found)


@pytest.mark.parametrize("off", [1.0, 1e-2, 1e-5, 1e-8])
def test_a_wrong_gradient_is_told_by_how_much(off: float) -> None:
    wrong = quartic_gradient(POINT) + off * np.array([1.0, 0.5, -1.0, 0.2])
    found = check_gradient(quartic, POINT, wrong)
    assert found.agrees is False and found.verdict.startswith("differs")
    assert off / 10 < found.error * np.linalg.norm(wrong) < 2 * off


def test_a_linear_function_is_there_at_once() -> None:
    found = check_gradient(lambda y: float(3 * y[0] - y[2]), POINT, [3.0, 0.0, -1.0, 0.0])
    assert found.agrees and np.isnan(found.order) and "at once" in found.verdict


@pytest.mark.parametrize("function", [
    lambda y: float("nan"),
    lambda y: float(np.floor(1e4 * y[0]) + y[1]),
    lambda y: float(np.random.default_rng(abs(hash(y.tobytes())) % 2**32).normal()),
], ids=["nan", "stairs", "noise"])
def test_rough_functions_are_undecided_or_differ(function: Any) -> None:
    assert not check_gradient(function, POINT, [1.0, 1.0, 0.0, 0.0]).agrees
