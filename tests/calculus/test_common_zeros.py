"""Common zeros of polynomials: all of them, real ones only, and what is left out is said."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sympy import Symbol, cos, exp, expand, log, pi, sqrt, symbols

from symdecouple.calculus.common_zeros import common_zeros, square_root_form
from symdecouple.errors import BudgetExceeded
from symdecouple.language.budget import Budget

a, b, c = symbols("a b c")

CASES: list[tuple[list[Any], list[dict[Any, Any]]]] = [
    ([a - b], [{a: b}]), ([a * b, a * (a - 2) * (b - 1)], [{a: 0}, {a: 2, b: 0}]), ([a, b], [{a: 0, b: 0}]),
    ([a, b, a + b + 1], []), ([a**2 - 2], [{a: sqrt(2)}, {a: -sqrt(2)}]), ([a**2 + 1], []),
    ([a**3 - 2], [{a: 2 ** (1 / Symbol("h")).subs(Symbol("h"), 3)}]), ([a**3 - 3 * a + 1], [{a**3 - 3 * a + 1: 0}]),
    ([a**4 + a + 1], []), ([a**2 + b**2], [{a: 0, b: 0}]), ([a**2 + b**2 + 1], []),
    ([a**2 + b**2 - 1], [{a**2 + b**2 - 1: 0}]), ([a**2 - b**2], [{a: b}, {a: -b}]), ([a * b - 1], [{a: 1 / b}]),
    ([a * b - c], [{c: a * b}]), ([a * b - c * (a - 1)], [{a: -c / (b - c)}, {b: 0, c: 0}]),
    ([a**2 - b, a + b - 2], [{a: 1, b: 1}, {a: -2, b: 4}]), ([(a - 1) / (b + 1)], [{a: 1}]), ([0, a - 1], [{a: 1}]),
    ([3, a - 1], []), ([0], []), ([exp(a) - 2], [{a: log(2)}]), ([exp(2 * a) + 1], []), ([sqrt(a) - 3], [{a: 9}]),
    ([sqrt(a) + 3], []), ([(a - pi) * b], [{a: pi}, {b: 0}]), ([a**2 - pi], [{a: sqrt(pi)}, {a: -sqrt(pi)}]),
    ([exp(2 * a) - 3 * exp(a) + 2], [{a: 0}, {a: log(2)}]), ([exp(a) - exp(-a)], [{a: 0}]),
    ([sqrt(a + 1) - a + 1], [{a: 3}]), ([(a - sqrt(2)) ** 4], [{a: sqrt(2)}]),
    ([sqrt(2) * a - b], [{a: sqrt(2) * b / 2}]), ([b - cos(a)], [{b: cos(a)}]),
]


@pytest.mark.parametrize(("conditions", "expected"), CASES, ids=str)
def test_all_zeros(conditions: list[Any], expected: list[dict[Any, Any]]) -> None:
    zeros = common_zeros(map(expand, conditions), (a, b, c), Budget(5))
    assert zeros.is_complete
    assert len(zeros.values) == len(expected) and all(values in zeros.values for values in expected), zeros.values


def test_what_is_left_out_is_said() -> None:
    assert not common_zeros([a * cos(a) - b**2], (a, b), Budget(5)).is_complete
    found = common_zeros([b * cos(a)], (a, b), Budget(5))
    assert found.values == ({b: 0},) and not found.is_complete
    assert not common_zeros([expand((a + b + c + 1) ** 12)], (a, b, c), Budget(5)).is_complete


@pytest.mark.parametrize("seed", range(6))
def test_points_that_were_planted_are_found(seed: int) -> None:
    """Products of lines through a point: the point is on some zero that is found."""
    rng = random.Random(seed)
    at = {s: rng.randint(-3, 3) for s in (a, b)}

    def line() -> Any:
        return sum(rng.randint(1, 4) * rng.choice((1, -1)) * (s - v) for s, v in at.items())

    zeros = common_zeros([expand(line() * (a + rng.randint(4, 9))), expand(line() * (b + 7))], (a, b), Budget(5))
    assert any(all((k - v).subs(at) == 0 for k, v in values.items()) for values in zeros.values)


def test_equations_in_square_roots() -> None:
    solved = square_root_form(a**2 + b**2 - 1, (a, b))
    assert solved is not None and expand((a**2 + b**2 - 1).subs(solved)) == 0
    assert square_root_form(a**3 + b**3 + 1, (a, b)) is None


def test_the_clock_is_looked_at() -> None:
    budget = Budget(1e-9)
    with pytest.raises(BudgetExceeded):
        common_zeros([a - 1], (a,), budget)
