"""Levels of both kinds in one plan, chained values and gradients, and rows that drop out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sympy import Rational, cos, sin, sqrt

from symdecouple import Feature, FeatureSet, Mean, decouple, kurtosis, variance, x
from symdecouple.decoupling.routes.narrow import NarrowRoute
from symdecouple.families.moments import raw_moments
from symdecouple.numeric.paths.black_box_rows import BlackBoxPath
from symdecouple.numeric.paths.narrow_path import NarrowPath
from tests.numeric.paths.nested import levels_of


@pytest.fixture(scope="module")
def samples() -> np.ndarray:
    return np.random.default_rng(2).normal(size=(3, 14))


def test_a_closed_level_above_a_narrow_one(samples: np.ndarray) -> None:
    """(x, sin x) is not involutive, (x, sin x, cos x) is: level 2 takes the narrow path, level 3 does not."""
    plan = decouple([Mean(x), Mean(sin(x)), Mean(cos(x)), Mean(x**2)])
    assert [plan.choice.is_closed(k) for k in (1, 2, 3)] == [True, False, True]
    along = decouple([Mean(x), Mean(sin(x)), Mean(cos(x)), Mean(x**2)], path="narrow")
    np.testing.assert_allclose(plan.transform(samples), along.transform(samples), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(plan.gradients(samples)[:, :3], along.gradients(samples)[:, :3], atol=1e-9)
    back = plan.denormalize(plan.normalize(samples), plan.transform(samples))
    np.testing.assert_allclose(back, samples, atol=1e-10)


def test_rows_drop_out_where_they_have_no_level() -> None:
    plan = decouple([Mean(x), variance(), kurtosis(), Mean(x**6)])
    rows = np.array([[3.0, 3, 3, 3], [1, 2, 3, 5], [0, 0, 1, 1.0]])
    values, outcomes = plan.transform(rows, on_refusal="return")
    assert [o.ok for o in outcomes] == [False, False, False]
    assert np.isnan(values[0, 2:]).all() and np.isfinite(values[:, :2]).all()
    assert np.isfinite(values[1, 2]) and np.isnan(values[1, 3])  # the kurtosis of four values is 7/3 at most
    alone = plan.transform(rows[1], on_refusal="return")[0]
    np.testing.assert_array_equal(alone[:3], values[1, :3])


# --- the narrow path: small steps for samples, the usual ones for values, and the same refusals in both ---

SAMPLE = np.random.default_rng(4).gamma(2.0, size=8)
SETS: dict[str, tuple[Any, list[Any]]] = {
        "moments": (raw_moments(4), [0, 1, 0, 2.5]),
        "others": ([Mean(x), Mean(x**2), Mean(sqrt(1 + x**2))], [2, 6, Rational(47, 20)])}


@pytest.mark.parametrize("name", SETS)
def test_samples_are_known_to_a_few_roundings(name: str) -> None:
    """Beside another integrator, in 25 digits: steps for values of features would leave 1e-12 and more."""
    features, reference = SETS[name]
    plan, level = decouple(FeatureSet(features), reference, path="narrow"), len(reference)
    there = np.array(plan.normalize(SAMPLE, level, dps=25), dtype=float)
    np.testing.assert_allclose(plan.normalize(SAMPLE, level), there, rtol=0, atol=2e-13)
    back = plan.denormalize(there, plan.transform(SAMPLE), level)
    np.testing.assert_allclose(back, SAMPLE, rtol=0, atol=1e-11)


def test_what_does_not_arrive_in_small_steps_takes_the_usual_ones() -> None:
    features = FeatureSet([Mean(x), Mean(x**2), Mean(x**4)])
    rows = np.stack([SAMPLE, np.ones(8), SAMPLE - 1])
    start = levels_of(NarrowPath(features), rows, [2.0, 6.0])[-1].values
    paths = (NarrowPath(features, rtol=1e-6, max_steps=n) for n in range(1, 100))
    route = NarrowRoute(next(path for path in paths if not path.follow(start[[0, 2]], 3, 60.0).refusals))
    usual, fine = (route.follow(start, 3, [2.0, 6.0, 60.0], is_fine=is_fine) for is_fine in (False, True))
    few = NarrowPath(features, rtol=1e-14, max_steps=route.path.max_steps)
    assert few.follow(start, 3, 60.0).refusals.keys() > {1}
    assert fine.refusals == usual.refusals and set(fine.refusals) == {1}
    np.testing.assert_array_equal(fine.values[[0, 2]], usual.values[[0, 2]])


def test_black_boxes_keep_their_steps() -> None:
    """Differences are known to 1e-10: steps of 1e-14 would never end."""
    features = FeatureSet([Mean(x), Feature.from_callable(lambda a: float(np.mean(a**3)), name="cube")])
    route = NarrowRoute(BlackBoxPath(features))
    usual, fine = (route.follow(SAMPLE[None], 2, [SAMPLE.mean(), 30.0], is_fine=is_fine) for is_fine in (False, True))
    np.testing.assert_array_equal(fine.values, usual.values)
    assert not fine.refusals
