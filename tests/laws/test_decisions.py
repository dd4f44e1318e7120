"""A verdict does not depend on how the question is put; in coordinates it is the same."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from sympy import Rational, exp

from symdecouple import FeatureSet, Status, check_frobenius
from tests.laws.examples import SETS

ANSWER = {True: Status.PROVED, False: Status.REFUTED}


def holds(features: Any, expected: bool, **options: Any) -> None:
    verdict = check_frobenius(features, **options)
    assert verdict.status is ANSWER[expected], str(verdict)
    assert verdict.certificate.verify()


@pytest.mark.parametrize("name", SETS)
def test_the_answer(name: str) -> None:
    holds(*SETS[name])


@pytest.mark.parametrize("name", SETS)
def test_reordering(name: str) -> None:
    features, expected = SETS[name]
    for order in list(permutations(features))[1::3]:
        holds(list(order), expected)


@pytest.mark.parametrize("name", SETS)
def test_scaling_and_shifting(name: str) -> None:
    features, expected = SETS[name]
    holds([Rational(-7, 3) * features[0] + 5, *(3 * f - 1 for f in features[1:])], expected)


@pytest.mark.parametrize("name", [n for n in SETS if n not in ("standardized", "raw")])
def test_functions_of_the_features(name: str) -> None:
    """The span does not change with f -> g(f), nor when a function of the others is added: two of four for each set."""
    features, expected = SETS[name]
    first, last, turn = features[0], features[-1], list(SETS).index(name) % 2
    holds([(first**3 + first, exp(first))[turn], *features[1:]], expected)
    holds([*features[:-1], (last + first**2, last * (1 + first**2))[turn]], expected)


@pytest.mark.parametrize("name", ["moments", "gap", "second and fifth", "raw", "mixed", "two sines", "sines", "poles"])
def test_in_explicit_coordinates(name: str) -> None:
    features, expected = SETS[name]
    n = len(features) + 1
    explicit = FeatureSet(features).at(n_samples=n)
    for verdict in (check_frobenius(explicit), check_frobenius(features, n_samples=n)):
        if verdict.status is not Status.UNDECIDED:
            assert verdict.status is ANSWER[expected] and not verdict.vacuous and verdict.certificate.verify()
    assert check_frobenius(features, n_samples=n).status is ANSWER[expected]
