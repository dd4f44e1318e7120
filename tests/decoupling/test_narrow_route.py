"""Small steps for samples, the usual ones for values of features, and the same refusals in both."""

from typing import Any

import numpy as np
import pytest
from sympy import Rational, sqrt

from symdecouple.decoupling.plan import decouple
from symdecouple.decoupling.routes.narrow import NarrowRoute
from symdecouple.families.moments import raw_moments
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.numeric.paths.black_box_rows import BlackBoxPath
from symdecouple.numeric.paths.narrow_path import NarrowPath

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
    start = NarrowPath(features).normalize(rows, [2.0, 6.0])[-1].values
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
