"""Enclosures of monotone functions against mpmath at twice the digits; rational values and domains by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings, strategies as st

from symdecouple.calculus.elementary import RULES, Irrational, OutsideDomain, World

DIGITS = 30
WORLD = World(DIGITS)
INSIDE = st.fractions(Fraction(-1), Fraction(1), max_denominator=10**6)
ANYWHERE = st.fractions(Fraction(-40), Fraction(40), max_denominator=10**6)
ABOVE = st.fractions(Fraction(1), Fraction(10**6), max_denominator=10**6)
DOMAINS = {"atan": ANYWHERE, "asinh": ANYWHERE, "erf": ANYWHERE, "erfc": ANYWHERE, "asin": INSIDE, "acos": INSIDE,
           "atanh": st.fractions(Fraction(-999, 1000), Fraction(999, 1000), max_denominator=10**6), "acosh": ABOVE}


def ends(value: Any) -> tuple[Any, Any]:
    return tuple(map(mpmath.mp.make_mpf, value._mpi_))


@pytest.mark.parametrize("name", DOMAINS)
def test_values_are_enclosed_and_hardly_widened(name: str) -> None:
    function = getattr(mpmath, name)

    @settings(max_examples=20, deadline=None)
    @given(st.tuples(*[DOMAINS[name]] * 3))
    def check(places: tuple[Fraction, ...]) -> None:
        low, middle, high = sorted(places)
        v = WORLD.iv.mpf([WORLD.number(low).a, WORLD.number(high).b])
        with mpmath.workdps(2 * DIGITS):
            inside = [function(mpmath.mpf(p.numerator) / p.denominator) for p in (low, middle, high)]
            a, b = ends(WORLD.function(name)(v))
            assert all(a <= value <= b for value in inside)
            steep = max(abs(inside[0]), abs(inside[2])) + 1e3 * (abs(low) + abs(high))
            assert (b - a) - abs(inside[2] - inside[0]) <= mpmath.mpf(10) ** (2 - DIGITS) * steep

    check()


@pytest.mark.parametrize("name", [*DOMAINS, "acot"])
def test_first_and_second_derivatives_against_differences_of_values(name: str) -> None:
    """By mpmath, which differences at many digits."""
    at = Fraction(7, 3) if name == "acosh" else Fraction(3, 7)
    rules = RULES[name](WORLD.number(at), WORLD.function, WORLD.number(Fraction(1)))
    with mpmath.workdps(2 * DIGITS):
        for order, found in enumerate(rules):
            exact = mpmath.diff(getattr(mpmath, name), mpmath.mpf(at.numerator) / at.denominator, order)
            low, high = ends(found)
            slack = mpmath.mpf(10) ** (5 - DIGITS)  # of the differences
            assert low - slack <= exact <= high + slack and high - low < slack


@pytest.mark.parametrize(("name", "outside", "across"), [
    ("asin", 2, (Fraction(1, 2), 2)), ("acos", -2, (-2, 0)), ("atanh", -3, (0, 3)), ("acosh", -2, (0, 3)),
])
def test_outside_and_across_the_end_of_a_domain(name: str, outside: int, across: tuple[Any, Any]) -> None:
    for world in (World(), WORLD):
        with pytest.raises(OutsideDomain):
            world.function(name)(world.number(Fraction(outside)))
    with pytest.raises(Irrational):  # more digits may put it on one side
        WORLD.function(name)(WORLD.iv.mpf([WORLD.number(Fraction(end)).a for end in across]))


@pytest.mark.parametrize(("name", "place", "value"), [
    ("atan", 0, 0), ("asin", 0, 0), ("acos", 1, 0), ("asinh", 0, 0), ("acosh", 1, 0), ("atanh", 0, 0), ("erf", 0, 0),
    ("erfc", 0, 1),
])
def test_the_one_rational_value(name: str, place: int, value: int) -> None:
    assert World().function(name)(Fraction(place)) == value
    assert World().function(name)(Fraction(5, 2) if name == "acosh" else Fraction(3, 4)) is None
    low, high = ends(WORLD.function(name)(WORLD.number(Fraction(place))))
    assert low <= value <= high


def test_the_cotangent_jumps_at_zero() -> None:
    with pytest.raises(OutsideDomain):
        RULES["acot"](WORLD.iv.mpf([-1, 1]), WORLD.function, WORLD.number(Fraction(1)))
    assert World().function("atan")(Fraction(0)) == 0


def test_infinite_ends() -> None:
    low, high = ends(WORLD.function("atan")(WORLD.iv.mpf(["-inf", "inf"])))
    with mpmath.workdps(2 * DIGITS):
        assert low <= -mpmath.pi / 2 and high >= mpmath.pi / 2
        assert high - low < mpmath.pi + mpmath.mpf(10) ** (2 - DIGITS)
    low, high = ends(WORLD.function("asinh")(WORLD.iv.mpf([0, "inf"])))
    assert low == 0 and high == mpmath.inf
