"""Moments at the outputs of a filter bank through the plan, against differences, expressions and each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdecouple import FeatureSet, Mean, decouple, families, x
from symdecouple.decoupling.routes import narrow as narrow_route
from symdecouple.families.filter_moments import recognize_filter_moments
from symdecouple.numeric.features.bank import BankFeatures
from symdecouple.numeric.paths.narrow_path import NarrowPath
from tests.numeric.differences import extrapolated
from tests.numeric.paths.nested import levels_of

SIDE = 16
ORDERS = (2, 3, 4)
BANK = families.FilterBank([families.tils()[a + b] for a in "lmh" for b in "mh"])
SMOOTH = families.FilterBank([families.tils()[name] for name in ("ll", "mm", "hh")])
REFERENCE = [1.0] * 6 + [0.0] * 6 + [3.0] * 6


@pytest.fixture(scope="module")
def plan() -> Any:
    return decouple(families.filter_moments(BANK, ORDERS))


def patches(n: int, seed: int = 0) -> np.ndarray:
    found = np.random.default_rng(seed).gamma(2.0, size=(n, SIDE, SIDE))
    found -= found.mean(axis=(1, 2), keepdims=True)
    return np.asarray(found / found.std(axis=(1, 2), keepdims=True))


def test_gradients_against_differences_and_orthogonal_to_that_of_the_first_feature(plan: Any) -> None:
    """Central differences, extrapolated: their error falls with h^6. The others ignore what the first one does."""
    image = patches(1, seed=1)[0]
    found = plan.gradients(image)
    assert found.shape == (18, SIDE, SIDE)
    unit = found.reshape(18, -1) / np.linalg.norm(found, axis=(1, 2))[:, None]
    assert np.abs(unit[1:] @ unit[0]).max() < 1e-8
    direction = np.random.default_rng(2).normal(size=(SIDE, SIDE))
    (slopes,) = extrapolated(plan.transform, image[None], direction, 8e-3)
    sizes = np.sqrt((found**2).sum(axis=(1, 2)))
    away = np.abs((found * direction).sum(axis=(1, 2)) - slopes) / sizes
    assert away.max() < 1e-5


def test_the_mean_may_come_first() -> None:
    """The smooth band has a gain at frequency zero: behind the mean, all features forget the offset."""
    plan = decouple(FeatureSet([Mean(x), *families.filter_moments(SMOOTH, (2, 3))]))
    images = patches(1, seed=5)
    centred, raised = plan.transform(images), plan.transform(images + 7)
    assert [plan.choice.is_closed(k) for k in (1, 4, 5)] == [True, True, False]
    np.testing.assert_allclose(raised[:, 0], 7, rtol=1e-13)
    np.testing.assert_allclose(raised[:, 1:], centred[:, 1:], rtol=1e-9, atol=1e-9)
    assert np.abs(decouple(families.filter_moments(SMOOTH, (2, 3))).transform(images + 7)[:, 0] - 441 -
                  centred[:, 1]).max() < 1e-9  # 9 times 7 squared: without it the first energy has it all


def test_moments_of_the_pixels_run_with_those_of_the_bands() -> None:
    """The pixels are the band of the identity; from their expressions the same set takes another way."""
    energies = families.filter_moments(families.FilterBank(list(BANK)[:4]), (2,))
    features = FeatureSet([*(Mean(x**p) for p in range(1, 5)), *energies])
    plan = decouple(features)
    image = patches(1, seed=8)[0]
    route: Any = plan.choice.levels(len(features) - 1, False, image.shape).narrow
    assert isinstance(route.path.features, BankFeatures)
    found, y = plan.transform(image), plan.normalize(image, 3).reshape(1, -1)
    slow = NarrowPath(features).on(image.shape)
    assert not isinstance(slow.features, BankFeatures)
    targets = [float(v or 0) for v in plan.reference]
    for k in range(4, len(features) + 1):
        assert found[k - 1] == pytest.approx(slow.features.values(y)[0, k - 1], rel=1e-9)
        y = slow.follow(y, k, targets[k - 1], held=targets[: k - 1]).values


def test_any_number_of_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = decouple(families.filter_moments(SMOOTH, (2, 3)))
    images = np.random.default_rng(7).gamma(2.0, size=(5, 32, 32))
    images -= images.mean(axis=(1, 2), keepdims=True)
    found = {}
    for threads in (1, 3):
        monkeypatch.setattr(narrow_route, "cores", lambda threads=threads: threads)
        found[threads] = plan.transform(images)
    np.testing.assert_array_equal(found[1], found[3])


def test_levels_end_within_a_rounding_of_their_targets() -> None:
    """Steps of 5e-9 are corrected at the end of each level only: there the residual is some eps."""
    features = families.filter_moments(BANK, (2, 3))
    bank = recognize_filter_moments(features)
    assert bank is not None
    path = NarrowPath(narrow_route.bank_rows(bank, (SIDE, SIDE), features), rtol=5e-9, learns=True)
    levels = levels_of(path, patches(2, seed=4).reshape(2, -1), REFERENCE[:11])
    assert not levels[-1].refusals
    assert max(level.residual.max() for level in levels) < 4 * np.finfo(float).eps
