"""Features that depend on those before them: refused with the relation, left out on request, and nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sympy import Integer, Rational, cos, cosh, exp, log, sin, sqrt, tanh

from symdecouple import Feature, FeatureSet, Filter, Group, InvalidInput, Mean, decouple, families, shift
from symdecouple.decoupling import dependence
from symdecouple.decoupling.application import Application
from symdecouple.decoupling.dependence import find_dependent
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import central_moment, kurtosis, skewness, standard_deviation, variance

m, m2, m3 = Mean(x), Mean(x**2), Mean(x**3)
p = sample(positive=True)
x1, x2, x3 = coordinates(3)
H = [Filter(taps) for taps in ([1, 2, 1], [-1, 0, 1], [-1, 2, -1])]
ENERGIES = [Mean(h(x) ** 2) for h in H]
TILS = list(families.second_order_moments(families.tils()))
NORMED = (np.array([0.3, 0.5, 0.7]) / np.linalg.norm([0.3, 0.5, 0.7])).tolist()

DEPENDENT: dict[str, tuple[Any, list[int]]] = {
    "both moments and the variance": ([m, m2, variance()], [2]),
    "the second moment last": ([m, variance(), m2], [2]),
    "a function of one feature": ([variance(), standard_deviation()], [1]),
    "the squared mean": ([m, m2, m**2], [2]),
    "a product of two": ([m, m2, m * m2 + 1], [2]),
    "energies that sum up": ([m, m2, *ENERGIES], [4]),
    "a Parseval bank": ([*TILS, m2], [9]),
    "two of them": ([m, m2, variance(), m3, central_moment(3)], [2, 4]),
    "differences and a lag": ([m2, Mean(x * shift(1)(x)), Mean((x - shift(1)(x)) ** 2)], [2]),
    "a shifted signal": ([m2, Mean(shift(3)(x) ** 2 * 2)], [1]),
    "squares of waves": ([Mean(sin(x) ** 2), Mean(cos(x) ** 2)], [1]),
    "a double angle": ([m, Mean(cos(2 * x)), Mean(sin(x) ** 2)], [2]),
    "a hyperbolic cosine": ([Mean(exp(x)), Mean(exp(-x)), Mean(cosh(x))], [2]),
    "two names of a sigmoid": ([m, Mean(tanh(x)), Mean(1 / (1 + exp(2 * x)))], [2]),
    "a square completed": ([m, m2, Mean((x - 1) ** 2)], [2]),
    "powers of a statistic": ([m, variance(), skewness(), skewness() ** 2], [3]),
    "standardized from raw": ([m, m2, m3, Mean(x**4), kurtosis()], [4]),
    "a geometric mean": ([Mean(p), Mean(log(p)), exp(Mean(log(p)))], [2]),
    "a logarithm of a power": ([Mean(log(p)), Mean(log(p**3))], [1]),
    "a constant": ([m, Mean(sin(x) ** 2) + Mean(cos(x) ** 2) + 3], [1]),
    "coordinates": ([x1 + x2, x1 - x2, x1 * x2], [2]),
    "products of coordinates": ([x1 * x2, x3, sqrt(x1**2 * x2**2 + 1) * x3], [2]),
    "in a group": ([m, Group(m2, variance()), m3], [2]),
    "across groups": ([Group(m, m2), Group(m3, variance())], [3]),
    "normed taps in floats": ([m, Mean(Filter([0.3, 0.5, 0.7])(x) ** 2), Mean(Filter(NORMED)(x) ** 2)], [2]),
    "nearly the same": ([m, m2, m2 + m3 / Integer(10) ** 16], [2]),
}

INDEPENDENT: dict[str, Any] = {
    "raw moments": families.raw_moments(6),
    "twelve moments": families.raw_moments(12),
    "standardized moments": families.standardized_moments(5),
    "energies": [m, *TILS],
    "lags": families.autocorrelation(range(9)),
    "filter moments": families.filter_moments(families.tils(), (2, 3)),
    "waves": [m, Mean(sin(x)), Mean(cos(x))],
    "powers": [Mean(p ** Rational(1, 2)), Mean(p), Mean(p ** Rational(3, 2))],
    "small features": [m / 10**14, m2 / 10**14, Mean(x**3) * 10**14],
    "nearly parallel": [m2, m2 + m3 / 10**6],
    "coordinates": [x1 + x2, x1 * x2 * x3, exp(x3)],
    "more than there are coordinates": [x1, x2**2, x3**3, x1 * x2 * x3],
    "a logarithm of a coordinate": [log(x1), x1 * x2],
    "a response": [m2, Mean(Filter.from_response([0, 1, 1, 1], name="d")(x) ** 2)],
}


def found_in(features: Any) -> list[Any]:
    features = features if isinstance(features, FeatureSet) else FeatureSet(features)
    return find_dependent(features, Application(features), budget=30)


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent_features_are_found(name: str) -> None:
    features, expected = DEPENDENT[name]
    assert [d.index for d in found_in(features)] == expected


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_features_are_not(name: str) -> None:
    assert found_in(INDEPENDENT[name]) == []


def test_the_relation_is_said_and_the_remedy() -> None:
    with pytest.raises(InvalidInput, match=r"feature 3.*v3 = -2\*v1\*Mean\(x\) \+ v2.*dependent=\"drop\""):
        decouple([m, m2, variance()])
    with pytest.raises(InvalidInput, match=r"v5 = 16\*v2 - v3 - 2\*v4"):
        decouple([m, m2, *ENERGIES])
    with pytest.raises(InvalidInput, match=r"feature 3.*v3 = .*feature 5.*v5 = .*leave them out"):
        decouple(DEPENDENT["two of them"][0])
    with pytest.raises(InvalidInput, match="its gradient vanishes: it is constant"):
        decouple(DEPENDENT["a constant"][0])
    with pytest.raises(InvalidInput, match="but for rounding"):
        decouple(DEPENDENT["normed taps in floats"][0])
    with pytest.raises(InvalidInput, match="constant"):  # nothing is left where it is dropped
        decouple([Mean(sin(x) ** 2) + Mean(cos(x) ** 2)], dependent="drop")


def test_dropped_features_have_no_column() -> None:
    rows = np.random.default_rng(1).normal(size=(3, 40))
    plan = decouple([m, m2, variance(), Mean(cos(x))], dependent="drop", path="narrow")
    alone = decouple([m, m2, Mean(cos(x))], path="narrow")
    assert list(plan.features) == list(alone.features) and plan.reference == alone.reference
    np.testing.assert_array_equal(plan.transform(rows), alone.transform(rows))
    np.testing.assert_array_equal(plan.gradients(rows), alone.gradients(rows))
    text, page = str(plan.explain()), plan.explain().html()
    assert "left out: feature 3, -Mean(x)**2 + Mean(x**2): v3 = -2*v1*Mean(x) + v2" in text and "left out" in page
    assert alone.left_out == () and "left out" not in str(alone.explain())


def test_dropping_keeps_references_and_groups_in_place() -> None:
    plan = decouple([m, Group(m2, variance()), m3], [1, 3, 2, 5], dependent="drop", path="narrow")
    assert plan.reference == (1, 3, 5) and plan.features.groups == ((0,), (1,), (2,))
    plan = decouple([m, Group(m2, variance(), Mean(sin(x))), m3], dependent="drop", path="narrow")
    assert plan.features.groups == ((0,), (1, 2), (3,))


def test_what_is_dropped_may_contradict_the_others() -> None:
    """The variance is 3 - 1 = 2 where the mean is 1 and the second moment 3; a third value says otherwise."""
    assert decouple([m, m2, variance()], [1, 3, 7], dependent="drop").reference == (1, 3)


def test_kept_on_request_and_black_boxes() -> None:
    assert len(decouple([m, m2, variance()], dependent="keep").features) == 3
    box = Feature.from_callable(lambda v: v.std(), name="spread")
    assert len(decouple([m, variance(), box], path="narrow").features) == 3
    plan = decouple([m, m2, variance(), box], dependent="drop", path="narrow")
    assert [str(f) for f in plan.features] == ["Mean(x)", "Mean(x**2)", "spread"]


def test_no_exact_question_where_samples_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making a plan of independent features costs a sample, not a proof."""
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("asked")

    monkeypatch.setattr(dependence, "check_independence", never)
    for name in ("raw moments", "energies", "filter moments", "lags", "waves", "coordinates"):
        assert found_in(INDEPENDENT[name]) == []


def test_what_is_not_decided_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    features = FeatureSet([m, m2, variance()])
    assert find_dependent(features, Application(features), budget=0.0) == []
