"""Jets behind implicit levels: against differences of the plan, against each other, and where there is no root."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from sympy import Symbol, exp

from symdecouple import BudgetExceeded, Mean, x
from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.jets import Jet, Point
from symdecouple.decoupling.verdicts.implicit import ModifiedPoint
from symdecouple.language.budget import Budget
from tests.decoupling.made import differenced, made, plan

SAMPLE = [Fraction(0), Fraction(1), Fraction(3), Fraction(4), Fraction(9)]
CIRCLE = [Fraction(v, 4) for v in (-4, -1, 2, 4)]
SMALL = [Fraction(v, 5) for v in (-4, -1, 2, 3, 7)]


def modified(name: str, sample: list[Fraction], digits: int | None = 30, by_newton: bool = False) -> ModifiedPoint:
    given = made(name)
    return ModifiedPoint(Point(sample, {}, World(digits)), given.steps, given.subject(len(given.features)).values, x,
                         by_newton)


def columns(point: ModifiedPoint, name: str) -> list[Any]:
    subject = made(name).subject(len(made(name).features))
    return [point.column(feature, k) for feature, k in zip(subject.items, subject.starts, strict=True)]


def contains(interval: Any, value: Any, slack: float = 1e-15) -> bool:
    return bool(interval.a - slack * (1 + abs(value)) <= value <= interval.b + slack * (1 + abs(value)))


@pytest.mark.parametrize("by_newton", [False, True])
@pytest.mark.parametrize(("name", "sample"), [
    ("four moments", SAMPLE[1:]), pytest.param("skewed", SAMPLE, marks=pytest.mark.slow),
    pytest.param("circle", CIRCLE, marks=pytest.mark.slow)])
def test_gradients_and_jacobians_are_those_of_the_plan(name: str, sample: list[Fraction], by_newton: bool) -> None:
    found = columns(modified(name, sample, by_newton=by_newton), name)
    gradients, hessians = differenced(name, tuple(sample))
    for f, (vector, rows) in enumerate(found):
        for i in range(len(sample)):
            assert contains(vector[i], gradients[f][i])
            assert all(contains(rows[i].get(j, mpmath.iv.mpf(0)), hessians[f][i, j]) for j in range(len(sample)))


@pytest.mark.parametrize("name", ["four moments", "powers and mean", "one root",
                                  pytest.param("exponentials", marks=pytest.mark.slow)])
def test_both_routes_enclose_the_same_jets(name: str) -> None:
    routes = [columns(modified(name, SMALL, by_newton=b), name) for b in (False, True)]
    for (u, du), (v, dv) in zip(*routes, strict=True):
        for a, b in zip(u, v, strict=True):
            assert a.a <= b.b and b.a <= a.b and a.delta.b < 1e-15 and b.delta.b < 1e-15
        for a, b in zip(du, dv, strict=True):
            assert a.keys() == b.keys() and all(a[k].a <= b[k].b and b[k].a <= a[k].b for k in a)


def test_exact_jets_where_the_root_is_zero() -> None:
    """At (-3, -1, 0, 1, 3), m = 0 and s = 2: the skewness has N grad = 3 (w^2 - 1)/s with w = x/s, by hand."""
    sample = [Fraction(v) for v in (-3, -1, 0, 1, 3)]
    found = columns(modified("four moments", sample, digits=None), "four moments")
    assert found[2][0] == [Fraction(3, 2) * (v * v / 4 - 1) for v in sample]
    assert all(isinstance(entry, Fraction) for vector, _ in found for entry in vector)
    exact = [[entry for row in rows for entry in row.values()] for _, rows in found]
    for (_, rows), entries in zip(columns(modified("four moments", sample), "four moments"), exact, strict=True):
        enclosed = [entry for row in rows for entry in row.values()]
        assert all(a.a <= mpmath.mpf(b.numerator) / b.denominator <= a.b or contains(
            a, mpmath.mpf(b.numerator) / b.denominator, 1e-14) for a, b in zip(enclosed, entries, strict=True))


def test_irrational_roots_are_not_found_over_the_rationals() -> None:
    with pytest.raises(Irrational):
        columns(modified("four moments", SAMPLE, digits=None), "four moments")


@pytest.mark.parametrize(("name", "sample"), [
    ("four moments", SMALL), ("circle", CIRCLE), ("powers and mean", SMALL)])
def test_normalized_values_are_those_of_the_plan(name: str, sample: list[Fraction]) -> None:
    level = max(made(name).subject(len(made(name).features)).starts)
    found = modified(name, sample).at_level(level).jets
    expected = plan(name).normalize(sample, level=level, dps=25)
    assert all(contains(jet.value, value, 1e-14) for jet, value in zip(found, expected, strict=True))


@pytest.mark.parametrize(("sample", "why"), [
    ([0, 0, 0, 1, 2], "the share of ties at the minimum is over one half: no root"),
    ([0, 0, 1, 2], "half of the samples are tied: the root is a limit"),
    ([0, 0, 1, 1, 1], "two values: the projected gradient vanishes"),
])
def test_samples_that_do_not_reach_the_level_are_refused(sample: list[int], why: str) -> None:
    assert why
    with pytest.raises((OutsideDomain, Irrational)):
        modified("four moments", [Fraction(v) for v in sample]).at_level(3)


def test_a_root_beyond_a_pole_is_no_root() -> None:
    """x/(1 - t x) at -1.5, ..., 1.5 has its poles at t = -2/3 and 2/3: a box within is followed, one beyond is not."""
    point = modified("four moments", [Fraction(v) for v in (-3, -1, 0, 1, 3)])
    y = point.at_level(2).moved([Jet(jet.value) for jet in point.at_level(2).jets])
    iv = point.world.iv
    point._follow(y, 3, iv.mpf(["0.4", "0.41"]))
    for beyond in (["0.7", "0.71"], ["-5", "-4.9"], ["0.6", "0.7"]):
        with pytest.raises(OutsideDomain):
            point._follow(y, 3, iv.mpf(beyond))


def test_the_budget_is_kept() -> None:
    slow = modified("exponentials", SMALL)
    with pytest.raises(BudgetExceeded), Budget(0.05).running("the jets of roots"):
        columns(slow, "exponentials")


def test_constants_may_move_with_the_coordinates() -> None:
    """Mean(c x^2) at (e^u, e^v) with c = u + 1, at u = v = 0: value 1, slopes 2 and 1, u u: 2 + 2, by hand."""
    c = Symbol("c")
    point = Point([Fraction(0), Fraction(0)], {}, World())
    parameter = point.jet(x, x, 0) + Jet(Fraction(1))
    jet = point.moved([point.jet(exp(x), x, n) for n in range(2)], {c: parameter}).jet(Mean(c * x**2))
    assert jet.value == 1 and jet.grad == {0: 2, 1: 1}
    assert jet.hess == {(0, 0): 4, (0, 1): 1, (1, 1): 2}
