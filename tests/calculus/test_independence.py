"""C1: independent gradients by a minor, dependent ones by a relation, and neither by guessing."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from sympy import Function, Symbol, cos, cosh, exp, log, sin, sqrt, tan

from symdecouple.calculus.field import VectorField
from symdecouple.calculus.independence import check_independence
from symdecouple.errors import InvalidInput
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import kurtosis, skewness, variance
from symdecouple.verdict import Status, Verdict

a = Symbol("a")
m, s, v = Mean(x), Mean(x**2), variance()
p = sample(positive=True)


def decided(features: Any, status: Status, **options: Any) -> Verdict:
    verdict = check_independence(features, **options)
    assert verdict.status is status, str(verdict)
    assert verdict.certificate is None or verdict.certificate.verify()
    return verdict


@pytest.mark.parametrize(
    "features",
    [
        [m, s, Mean(x**3), Mean(x**7)], [m, v, skewness(), kurtosis()], [Mean(exp(x)), Mean(sin(x)), m],
        [Mean(log(p)), Mean(p), Mean(1 / p)], [sqrt(s), sqrt(Mean(x**4)), m], [Mean(x**2 + a * x), m],
        [VectorField(1), VectorField(x - m), VectorField(v * x**2)], [Mean(tan(x) ** 2), m],
    ],
    ids=str,
)
def test_independent(features: list[Any]) -> None:
    verdict = decided(features, Status.PROVED)
    assert verdict.witness.minor.excludes_zero() and verdict.witness.columns == tuple(range(1, len(features) + 1))
    decided(list(reversed(features)), Status.PROVED)


@pytest.mark.parametrize(
    ("features", "relation"),
    [
        ([m, m**2], (-2 * m, 1)), ([m, s, s + m**2], (-2 * m, -1, 1)),
        ([Mean(exp(x)), Mean(exp(-x)), Mean(cosh(x))], (sp.Rational(-1, 2), sp.Rational(-1, 2), 1)),
        ([Mean(log(p)), Mean(log(p**2)) + 3], (-2, 1)), ([Mean(sin(x) ** 2), Mean(cos(x) ** 2)], (1, 1)),
        ([Mean(log(1 + exp(x * m))), Mean(log(1 + exp(-x * m))), m], (1, -1, -2 * m)),
        ([VectorField(x), VectorField(m * x)], (-m, 1)), ([s, Mean((x - m) ** 2), m], (-1, 1, 2 * m)),
    ],
    ids=str,
)
def test_dependent_with_its_relation(features: list[Any], relation: tuple[Any, ...]) -> None:
    found = decided(features, Status.REFUTED).certificate.relation
    ratio = next(f / r for f, r in zip(found, relation, strict=True) if r != 0)
    assert all(sp.simplify(f - ratio * r) == 0 for f, r in zip(found, relation, strict=True))


def test_small_sizes_are_decided_anew() -> None:
    standardized = [m, v, kurtosis()]
    decided(standardized, Status.PROVED)
    decided(standardized, Status.PROVED, n_samples=4)
    decided(standardized, Status.REFUTED, n_samples=3)
    assert decided(standardized, Status.REFUTED, n_samples=2).certificate.relation is None
    decided([m, v, skewness() ** 2, kurtosis()], Status.REFUTED, n_samples=3)
    decided(FeatureSet(standardized).at(n_samples=3), Status.REFUTED)
    decided(FeatureSet(standardized).at(n_samples=4), Status.PROVED)


def test_a_feature_that_never_moves() -> None:
    verdict = decided([m, Mean(sin(x) ** 2) + Mean(cos(x) ** 2) + 0 * m], Status.REFUTED)
    assert "vanishes identically" in verdict.reason


def test_undefined_functions_are_not_decided() -> None:
    f, g = Function("f"), Function("g")
    assert "bind" in decided([Mean(f(x)), Mean(g(x))], Status.UNDECIDED).reason
    decided([Mean(f(x)), Mean(f(x)) ** 2], Status.REFUTED)
    assert check_independence([Mean(f(x)), m]).at({f: x**2}).status is Status.PROVED
    assert check_independence([Mean(f(x)), m]).at({f: 2 * x}).status is Status.REFUTED


def test_hidden_relations_are_never_called_independent() -> None:
    for features in (
        [Mean(tan(x) ** 2), Mean(1 / cos(x) ** 2)], [m, Mean(sqrt(p**2 + p)) - Mean(sqrt(p) * sqrt(p + 1))],
        [Mean(log(p + 1) + log(p + 2)), Mean(log((p + 1) * (p + 2)))],
    ):
        try:
            assert check_independence(features).status is not Status.PROVED
        except InvalidInput:
            assert features[0] == m, "averages over different domains"


@pytest.mark.parametrize("n_samples", [1, True, 3.0, "4"])
def test_bad_sizes(n_samples: Any) -> None:
    with pytest.raises(InvalidInput, match="at least 2"):
        check_independence([m], n_samples=n_samples)


def test_coordinates() -> None:
    x1, x2, _ = coordinates(3)
    assert decided([x1, x1 * x2], Status.PROVED).n_samples == 3
    decided([x1, x1**2], Status.REFUTED)
