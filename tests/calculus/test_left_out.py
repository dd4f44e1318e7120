"""What a verdict says it did not search: exact texts are accepted, and everything that only begins like one is not."""

from dataclasses import replace

import pytest
from sympy import Integer, Rational, sqrt, symbols

from symdecouple import Mean, check_frobenius, x
from symdecouple.calculus.left_out import (
    LARGE_MINORS,
    MANY_CANDIDATES,
    OUT_OF_TIME,
    is_by_chance,
    only_at,
    points_of,
    points_of_curves,
)

a, b = symbols("a b")
CURVES = [{a: 2 * b}, {a: sqrt(2) * b, b: Integer(3)}, {a: Rational(1, 2)}, {a**2 + b**2 - 1: 0}, {a: -b - 1}]


@pytest.mark.parametrize("reason", [OUT_OF_TIME, LARGE_MINORS, MANY_CANDIDATES, only_at(7),
                                    *map(points_of, CURVES), *map(points_of_curves, CURVES)])
def test_what_the_search_says_is_accepted_and_its_beginnings_are_not(reason: str) -> None:
    assert is_by_chance(reason, ("a", "b"), 7)
    for other in (f"{reason}, but all was found", f" {reason}", f"{reason}.", reason[:-1], reason.upper()):
        assert not is_by_chance(other, ("a", "b"), 7)


@pytest.mark.parametrize("reason", [
    "", "single points of nothing were not looked at", "single points of curves, such as , were not looked at",
    "single points of a were not looked at", "single points of c = 2 were not looked at",
    "single points of a = __import__('os') were not looked at", "single points of 1 = 2 were not looked at",
    "single points of a = 2, and nothing else were not looked at", only_at(8), only_at(None),
    "there are more than 2 candidates", "minors are too large (all of them)",
])
def test_other_reasons_are_not_by_chance(reason: str) -> None:
    assert not is_by_chance(reason, ("a", "b"), 7)


def test_a_size_is_named_only_where_one_was_asked_for() -> None:
    assert not is_by_chance(only_at(None), (), None)


def test_a_verdict_with_an_invented_reason_does_not_verify() -> None:
    verdict = check_frobenius([Mean(x), Mean(x**2) + a * Mean(x**3)])
    assert verdict.verify()
    assert replace(verdict, not_searched=OUT_OF_TIME).verify()
    for reason in ("the budget ran out, and the answer is right", "there are more than enough values",
                   "single points of the line were not looked at", "values at which only N = 5 differs were not looked "
                   "for"):
        assert not replace(verdict, not_searched=reason).verify()
