"""Features that are constant, or the same, at one size or at special parameters: their gradients are decided."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import Symbol

from symdecouple import Filter, InvalidInput, Mean, Status, UnsupportedExpression, check_frobenius, verdict_from_json, x
from symdecouple.calculus.specialization import specialized
from symdecouple.calculus.subject import Subject

a = Symbol("a")
m, s = Mean(x), Mean(x**2)
h = Filter([-3, 6, -3], 2, boundary="half-sample")


@pytest.mark.parametrize(
    "features",
    [
        [Mean(h(x) ** 3), Mean(h(x) ** 4) / Mean(h(x) ** 2) ** 2], [m, Mean(Filter([1, -1], 0)(x) ** 3)],
        [Mean((x - m) ** 3), m], [m, Mean((x - m) ** 4) / Mean((x - m) ** 2) ** 2],
    ],
    ids=str,
)
def test_a_feature_that_is_constant_at_one_size(features: list[Any]) -> None:
    verdict = check_frobenius(features, n_samples=2)
    assert verdict.independence is not None and verdict.independence.status is Status.REFUTED
    assert verdict.status is Status.PROVED
    for answer in (verdict, verdict.independence):
        assert answer.certificate.verify() and verdict_from_json(answer.to_json()).certificate.verify()


def test_a_feature_that_divides_by_zero_at_one_size() -> None:
    verdict = check_frobenius([Mean((x - m) ** 2) / Mean((x - m) ** 3), m], n_samples=2)
    assert verdict.status is Status.UNDECIDED and "divided by what is 0" in verdict.reason


def test_sets_stay_features_where_they_can() -> None:
    subject = Subject.of([m, s + a * m])
    assert specialized(subject, {a: 1}).texts() == ("Mean(x)", "Mean(x) + Mean(x**2)")
    assert [item.expr for item in specialized(Subject.of([m, a * s]), {a: 0}).items] == [1, 0]
    with pytest.raises(UnsupportedExpression, match="feature 2 is not defined"):
        specialized(Subject.of([m, s / a]), {a: 0})
    with pytest.raises(InvalidInput, match="nothing named q"):
        specialized(subject, {"q": 0})
    with pytest.raises(UnsupportedExpression, match="not solved"):
        specialized(Subject.of([m, s + a * m]), {a**3 + a + 1: 0})
