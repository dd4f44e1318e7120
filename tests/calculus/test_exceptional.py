"""Exceptional parameters: found, decided again, really different, and said in words."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from sympy import Rational, Symbol, cos, exp, prod, sin, sqrt

from symdecouple.calculus import exceptional
from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.calculus.subject import Subject
from symdecouple.errors import InvalidInput
from symdecouple.language.budget import Budget
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.verdict import ExceptionalValues, Status

a, b = Symbol("a"), Symbol("b")
m, s, p = Mean(x), Mean(x**2), sample(positive=True)
x1, x2, x3 = coordinates(3)


def fields(*components: list[Any]) -> list[VectorField]:
    return [VectorField(v, [x1, x2, x3]) for v in components]


def test_an_exception_is_a_mapping_that_says_what_changes() -> None:
    verdict = check_frobenius([m, Mean(exp(a * x)), Mean(exp(-x))])
    by_value = {values[a]: values for values in verdict.exceptions}
    assert set(by_value) == {-1, 0, 1} and {a: 1} in verdict.exceptions
    found = by_value[1]
    assert (found.question, found.status, dict(found)) == ("C2", Status.PROVED, {a: 1})
    assert str(found) == "a = 1: there C2 is PROVED"
    assert (by_value[0].question, by_value[0].status) == ("C1", Status.REFUTED)
    assert str(by_value[0]) == "a = 0: there C1 is REFUTED and C2 is PROVED"
    assert "for generic values of a" in str(verdict) and "except at a = 1: there C2 is PROVED" in str(verdict)
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), ExceptionalValues({a: 1}, found.changes)):
        assert twin == found
    assert found != ExceptionalValues({a: 1}) and found != {a: 2} and found == {a: 1}


def test_conditions_of_c1_alone() -> None:
    verdict = check_independence([m + a * s, m + 11 * s])
    assert verdict.exceptions == ({a: 11},) and verdict.exceptions[0].changes == (("C1", Status.REFUTED),)
    relation = verdict.at({a: 11})
    assert relation.status is Status.REFUTED and relation.certificate.verify()


@pytest.mark.parametrize(
    ("features", "values"),
    [
        ([m, a * s], {a: 0}), ([m, s + a * m], {"a": 5}), ([Mean(p**a), Mean(p)], {a: 1}),
        ([Mean(exp(a * x)), m], {a: 0}), ([m, Mean(sin(a * x)), Mean(cos(a * x))], {a: 0}),
        ([m, m * a + b], {a: 0, b: 0}), ([Mean(1 / (1 + a * x**2)), s], {a: 0}),
        (fields([a, 0, 0], [0, b, x1]), {a: 0, b: 0}), (fields([1, 0, a], [1, 0, b]), {a: b}),
        ([x1 * a, x1 * b + x2], {a: 0}), ([x1 * a, x1], {a: 1}),
    ],
    ids=str,
)
def test_sets_that_degenerate_are_decided(features: list[Any], values: dict[Any, Any]) -> None:
    """Constants have the gradient 0, and equal features equal gradients: an exact relation, and a span to decide."""
    special = check_frobenius(features).at(values)
    for verdict in (special, special.independence):
        assert verdict is not None and verdict.status in (Status.PROVED, Status.REFUTED), str(verdict)
        assert verdict.certificate.verify() and verdict_from_json(verdict.to_json()).certificate.verify()


def test_at_refuses_only_what_makes_no_sense() -> None:
    verdict = check_frobenius([m, s + a * Mean(x**3)])
    with pytest.raises(InvalidInput, match="nothing named q"):
        verdict.at({"q": 1})
    with pytest.raises(InvalidInput, match="contains the sample"):
        verdict.at({a: x})
    undefined = check_frobenius([s / a, m]).at({a: 0})
    assert undefined.status is Status.UNDECIDED and "at a = 0: feature 1 is not defined" in undefined.reason


def test_an_equation_that_is_not_solved_for_a_parameter() -> None:
    circle = check_frobenius([m, s + (a**2 + b**2 - 1) * Mean(x**3)])
    (found,) = circle.exceptions
    assert str(found) == "a**2 + b**2 - 1 = 0: there C2 is PROVED"
    assert circle.at(found).status is Status.PROVED and circle.at(found).certificate.verify()
    cubic = check_frobenius([m, s + (a**3 - 3 * a + 1) * Mean(x**3)])
    (open_,) = cubic.exceptions
    assert str(open_) == "a**3 - 3*a + 1 = 0: there C1 is not decided and C2 is not decided"
    assert cubic.at(open_).status is Status.UNDECIDED and "is not solved" in cubic.at(open_).reason


def test_parameters_that_are_known_to_be_positive() -> None:
    positive = Symbol("a", positive=True)
    verdict = check_frobenius([Mean(p**positive), Mean(p)])
    assert [dict(values) for values in verdict.exceptions] == [{positive: 1}, {positive: 2}]
    assert check_frobenius([m + positive * s, m - 2 * s]).exceptions == ()


def test_points_on_a_curve_where_nothing_changes_in_general(monkeypatch: pytest.MonkeyPatch) -> None:
    """Powers (2 - r, 2, 2 + r) are involutive: on b = 2, where C2 fails in general, at a = 3/2."""
    monkeypatch.setattr(exceptional, "ON_CURVES", 60.0)
    verdict = check_frobenius([VectorField(p ** (a - 1)), VectorField(p ** (b - 1)), VectorField(p**a)], budget=120)
    assert {a: Rational(3, 2), b: 2} in [dict(e) for e in verdict.exceptions if e.status is Status.PROVED], str(verdict)


def test_where_no_time_is_left_for_points_of_curves_the_verdict_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exceptional, "ON_CURVES", 1e-3)
    verdict = check_frobenius([Mean(p**a), Mean(p**b)])
    assert {a: 2} in verdict.exceptions and "single points of curves, such as " in str(verdict)


def test_more_candidates_than_are_decided() -> None:
    verdict = check_frobenius([m, Mean(x**2) + prod(a - k for k in range(26)) * Mean(x**3)])
    assert "more than 24 candidates" in verdict.not_searched and len(verdict.exceptions) == 24


def test_what_no_time_was_left_for_is_listed_as_not_decided() -> None:
    class Short(Budget):
        remaining = 1e-3  # what a budget says that is over

    subject = Subject.of([m, s + a * Mean(x**3)])
    found, left_out = exceptional.exceptions(subject, (Status.REFUTED, Status.PROVED), None, None, Short(9.0))
    assert [str(e) for e in found] == []
    found, left_out = exceptional.exceptions(Subject.of([m, a * s]), (Status.PROVED, Status.PROVED), None, None,
                                             Short(9.0))
    assert [str(e) for e in found] == ["a = 0: there C1 is not decided and C2 is not decided"]
    assert left_out == "the budget ran out"


def test_one_sample_size() -> None:
    """Exceptions of one size alone are not looked for, and at N = 2 a generic one is none."""
    verdict = check_frobenius([m, s + a * Mean(x**3)], n_samples=3)
    assert verdict.exceptions == ({a: 0},) and "only N = 3 differs" in str(verdict)
    assert check_frobenius([m, s + a * Mean(x**3)], n_samples=2).exceptions == ()


def test_no_parameters_no_exceptions() -> None:
    verdict = check_frobenius([m, Mean(x**3)])
    assert verdict.exceptions == () and verdict.parameters == () and "generic values" not in str(verdict)
    assert "generic" not in str(check_frobenius(fields([1, 0, x2], [0, 1, 0])))


def test_what_is_generic_is_told_by_the_proof_and_not_by_the_text() -> None:
    text = check_frobenius([m, s + a * Mean(x**3)]).to_json(indent=None)
    text = text.replace('"parameters": ["a"]', '"parameters": []')
    with pytest.raises(InvalidInput, match="parameters of this verdict was edited"):
        verdict_from_json(text)


def test_named_filters_and_parameters_together() -> None:
    h = Filter("h")
    verdict = check_frobenius([m, a * Mean(h(x) ** 3) + s])
    assert {h.dc: 0} in verdict.exceptions and {a: 0} in verdict.exceptions
    assert all(verdict.at(values).status is Status.PROVED for values in verdict.exceptions)


@pytest.mark.parametrize("n_samples", [None, 4])
def test_roots_in_the_coefficients(n_samples: int | None) -> None:
    verdict = check_frobenius([m, sqrt(s) + a * Mean(x**3)], n_samples=n_samples)
    assert {a: 0} in verdict.exceptions and verdict.at({a: 0}).status is Status.PROVED
