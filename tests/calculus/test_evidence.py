"""Numeric evidence says what a decided set shows, and stays silent where nothing can be evaluated."""

import random

import pytest
from sympy import Function, Si

from symdecouple import Filter, Mean, Status, check_frobenius, kurtosis, sample, variance, x
from symdecouple.calculus.evidence import numeric_evidence
from symdecouple.calculus.subject import Subject

POSITIVE = sample("u", interval=(1, 9))


@pytest.mark.parametrize("features", [[Mean(x), Mean(x**2), Mean(x**3)], [Mean(x), variance(), kurtosis()]], ids=str)
def test_involutive_sets_look_involutive(features: list) -> None:
    lines = numeric_evidence(Subject.of(features), None, random.Random(1))
    assert len(lines) == 2
    assert all("every bracket is in the span" in line for line in lines)


@pytest.mark.parametrize("features", [[Mean(x), Mean(x**3)], [Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)]], ids=str)
def test_a_bracket_outside_is_seen(features: list) -> None:
    lines = numeric_evidence(Subject.of(features), None, random.Random(1))
    assert len(lines) == 2
    assert all("away from the span" in line for line in lines)


@pytest.mark.parametrize("features", [[Mean(Function("m")(x)), Mean(x)], [Mean(Filter("h")(x) ** 2)],
                                      [Mean(Si(POSITIVE)), Mean(POSITIVE)]], ids=str)
def test_nothing_is_said_of_what_cannot_be_evaluated(features: list) -> None:
    assert numeric_evidence(Subject.of(features), None, random.Random(1)) == ()


def test_an_exhausted_budget_leaves_the_evidence() -> None:
    verdict = check_frobenius([Mean(x), variance(), kurtosis()], budget=1e-3)
    assert verdict.status is Status.UNDECIDED
    assert verdict.evidence and all("every bracket is in the span" in line for line in verdict.evidence)
    assert "budget" in verdict.reason
