"""Generators against the gradients: known triples, equal spans at random samples, refusals that name the feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sympy import Expr, Symbol, cos, exp, sin

from symdecouple.errors import InvalidInput, NoClosedForm
from symdecouple.flows.generators import generators
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.language.statistics import central_moment, kurtosis, skewness, standard_deviation, variance
from symdecouple.numeric.features.expressions import Compiled

CLASSICAL = [1, x, x**2]

FAMILIES: list[tuple[str, list[Expr], list[Any]]] = [
    ("raw moments", [Mean(x), Mean(x**2), Mean(x**3)], CLASSICAL),
    ("standardized", [Mean(x), variance(), skewness()], CLASSICAL),
    ("deviation", [Mean(x), standard_deviation(), skewness() ** 2], CLASSICAL),
    ("third central", [Mean(x), variance(), central_moment(3)], CLASSICAL),
    ("circular", [Mean(x), Mean(sin(x)), Mean(cos(x))], [1, cos(x), sin(x)]),
    ("exponential", [Mean(x), Mean(exp(x)), Mean(exp(-x))], [1, exp(x), exp(-x)]),
    ("a factor that stays on the leaf", [Mean(x), variance(), Mean(x) * skewness()], CLASSICAL),
    ("x^2, x^4", [Mean(x**2), Mean(x**4)], [x, x**3]), ("x^2, x^5", [Mean(x**2), Mean(x**5)], [x, x**4]),
    ("one average of an average", [exp(Mean(x**3)) + Mean(x**3)], [x**2]),
]


@pytest.mark.parametrize(("features", "expected"), [row[1:] for row in FAMILIES], ids=[row[0] for row in FAMILIES])
def test_known_families(features: list[Expr], expected: list[Any]) -> None:
    assert [u.expr for u in generators(features).fields] == expected
    assert len(generators(features)) == len(features)


@pytest.mark.parametrize("features", [row[1] for row in FAMILIES], ids=[row[0] for row in FAMILIES])
def test_spans_agree_at_a_random_sample_by_least_squares(features: list[Expr]) -> None:
    points = np.random.default_rng(3).normal(size=12)
    fields = Compiled([u.expr for u in generators(features).fields], x)(points)
    gradients = Compiled([f.gradient.expr for f in FeatureSet(features)], x)(points)
    for k in range(1, len(features) + 1):
        span = np.array([np.broadcast_to(u, points.shape) for u in fields[:k]]).T
        gradient = np.broadcast_to(gradients[k - 1], points.shape)
        weights = np.linalg.lstsq(span, gradient, rcond=None)[0]
        assert np.allclose(span @ weights, gradient, rtol=0, atol=1e-12 * np.abs(gradient).max())
        assert weights[-1] != 0


@pytest.mark.parametrize(("features", "named"), [
    ([Mean(x), variance(), kurtosis()], "feature 3, Mean((x - Mean(x))**4)"),
    ([Mean(x), Mean(x**2), Mean(x) ** 2 + Mean(x**2)], "feature 3, Mean(x)**2 + Mean(x**2), is a combination"),
    ([Mean(x), Mean(x) ** 3], "feature 2, Mean(x)**3, is a combination"),
    ([variance()], "feature 1, -Mean(x)**2 + Mean(x**2)"),
])
def test_refusals_name_the_feature(features: list[Expr], named: str) -> None:
    with pytest.raises(NoClosedForm) as refusal:
        generators(features)
    assert named in str(refusal.value)


def test_moving_coefficients_are_named() -> None:
    with pytest.raises(NoClosedForm, match=r"they depend on .*Mean\(x\).*narrow path"):
        generators([Mean(x), variance(), kurtosis()])


@pytest.mark.parametrize("h", [Filter("h"), Filter([1, 2, 1])])
def test_filters_have_no_flow_of_single_samples(h: Filter) -> None:
    with pytest.raises(NoClosedForm):
        generators([Mean(x), Mean(h(x) ** 2)])


def test_parameters_stay() -> None:
    a = Symbol("a")
    assert [u.expr for u in generators([Mean(x), Mean((x - a) ** 2)]).fields] == [1, x]
    assert [u.expr for u in generators([Mean(exp(a * x))]).fields] == [exp(a * x)]


def test_nothing_to_generate() -> None:
    with pytest.raises(InvalidInput):
        generators([])
