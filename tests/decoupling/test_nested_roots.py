"""Scalar roots, one level after the other: found next to a pole, at a target, and missing where there are none."""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np
import pytest
from sympy import Expr, Integer, exp

from symdecouple.decoupling.joint_steps import JointSteps
from symdecouple.decoupling.nested_roots import Automatic, NestedRoots
from symdecouple.decoupling.orbit_motion import Unreachable
from symdecouple.flows.generators import generators
from symdecouple.flows.separable import flow
from symdecouple.flows.steps import make_steps
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.language.statistics import skewness, variance
from symdecouple.numeric.features.expressions import as_multiprecision

SETS: dict[str, tuple[Expr, ...]] = {
    "moments": (Mean(x), variance(), skewness()),
    "exponentials": (Mean(x), Mean(exp(x)), Mean(exp(-x))),
    "powers": (Mean(x**2), Mean(x**5)),
}
REFERENCES = {"moments": (0, 1, 0), "exponentials": (0, 2, 2), "powers": (1, 1)}


@cache
def motion(name: str, kind: type = NestedRoots) -> NestedRoots:
    features = FeatureSet(SETS[name])
    flows = [flow(u) for u in generators(features).fields]
    steps = make_steps(list(features), [f.expr for f in flows], [Integer(v) for v in REFERENCES[name]], x)
    made = kind(features, steps, flows)
    assert isinstance(made, NestedRoots | JointSteps)
    return made


@pytest.mark.parametrize(("gap", "dps"), [(1e-3, 0), (1e-5, 0), (1e-9, 30), (1e-14, 40)])
def test_a_root_next_to_a_pole(gap: float, dps: int) -> None:
    """A skewness near -3/2, the end for five values one of which is the minimum: the pole is next to it."""
    points = np.array([0.0, 1.0, 1.5, 2.0, 4.0])
    with mpmath.workdps(dps or 15):
        moved = motion("moments").impose(as_multiprecision(points) if dps else points, 3, [0.0, 1.0, -1.5 + gap])
        assert abs(sum(moved.values**3) / 5 - (-1.5 + gap)) < (mpmath.mpf(10) ** (3 - dps) if dps else 1e-13)


def test_rounding_next_to_a_pole_is_not_passed_off_as_a_result() -> None:
    with pytest.raises(Unreachable, match="use dps="):
        motion("moments").impose(np.array([0.0, 1.0, 1.5, 2.0, 4.0]), 3, [0.0, 1.0, -1.5 + 1e-12])


def test_a_target_at_the_end_is_refused_with_the_value_that_came_near() -> None:
    with pytest.raises(Unreachable, match=r"came to -1\.5\d* on the orbit.*-1\.5 was asked for") as refusal:
        motion("moments").impose(np.array([0.0, 1.0, 1.5, 2.0, 4.0]), 3, [0.0, 1.0, -1.5])
    assert refusal.value.outcome.reason in ("level 3 not attainable", "limit only", "beyond float64")


@pytest.mark.parametrize("name", SETS)
def test_the_same_point_as_steps_along_all_generators(name: str) -> None:
    points = np.array([-0.7, 0.1, 0.4, 1.3, 0.2])
    targets = {"moments": [1.0, 4.0, 0.5], "exponentials": [0.0, 1.5, 1.4], "powers": [2.0, 3.0]}[name]
    with mpmath.workdps(40):
        precise = [motion(name, kind).impose(as_multiprecision(points), len(targets), targets)
                   for kind in (NestedRoots, JointSteps, Automatic)]
        for other in precise[1:]:
            assert max(abs(other.values - precise[0].values)) < mpmath.mpf(10) ** -36
        assert max(abs(precise[1].slope - precise[0].slope)) < mpmath.mpf(10) ** -34
    found = motion(name).impose(points, len(targets), targets)
    np.testing.assert_allclose(found.values, precise[0].values.astype(float), rtol=1e-12, atol=1e-13)
    assert (np.abs(found.values - precise[0].values.astype(float)) <= 20 * found.error + 1e-16).all()


def test_dependent_gradients_are_a_critical_point() -> None:
    with pytest.raises(Unreachable, match="critical point"):
        motion("moments").impose(np.array([0.0, 0.0, 0.0, 1.0]), 3, [0.0, 1.0, 0.0])
