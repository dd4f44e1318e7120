"""Enclosures of gamma functions against mpmath's values, at poles, near the minimum, and their derivatives."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from symdecouple.calculus.elementary import RULES, World
from symdecouple.calculus.gamma_functions import polygamma_name
from symdecouple.calculus.outcomes import Irrational, OutsideDomain

VALUES = {
    "gamma": mpmath.gamma, "loggamma": mpmath.loggamma,
    **{polygamma_name(m): lambda t, m=m: mpmath.polygamma(m, t) for m in (0, 1, 2, 7)},
}
POSITIVE = [Fraction(1, 10**6), Fraction(1, 3), Fraction(1), Fraction(14616, 10**4), Fraction(14617, 10**4),
            Fraction(2), Fraction(355, 113), Fraction(700)]
NEGATIVE = [Fraction(-1, 3), Fraction(-7, 2), Fraction(-999999, 10**6), Fraction(-504083, 10**6)]


def number(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("digits", [15, 60])
@pytest.mark.parametrize("name", VALUES)
def test_enclosures_hold_the_value_and_are_narrow(name: str, digits: int) -> None:
    world = World(digits)
    for at in POSITIVE + (NEGATIVE if name != "loggamma" else []):
        found = world.function(name)(world.number(at))
        with mpmath.workdps(digits + 30):
            low, high = (mpmath.mpf(end._mpi_[0]) for end in (found.a, found.b))
            value = VALUES[name](number(at))
            assert low <= value <= high
            assert high - low < (1 + abs(value)) * mpmath.mpf(10) ** (14 - digits) * (10**6 if at in NEGATIVE else 1)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("width", [Fraction(1, 50), Fraction(1, 10**7)])
def test_wide_enclosures_hold_all_values(name: str, width: Fraction) -> None:
    world = World(30)
    for at in POSITIVE[1:-1] + (NEGATIVE[:2] if name != "loggamma" else []):
        v = world.iv.mpf([world.number(at - width).a, world.number(at + width).b])
        found = world.function(name)(v)
        with mpmath.workdps(50):
            for part in (-1, Fraction(-1, 3), 0, Fraction(1, 2), 1):
                value = VALUES[name](number(at + width * part))
                assert mpmath.mpf(found.a._mpi_[0]) <= value <= mpmath.mpf(found.b._mpi_[0])


@pytest.mark.parametrize("name", ["gamma", "polygamma0", "polygamma3"])
def test_poles(name: str) -> None:
    world = World(30)
    for pole in (0, -1, -5):
        with pytest.raises(OutsideDomain):
            world.function(name)(world.iv.mpf(pole))
        for around in ([pole, pole + 0.25], [pole - 0.25, pole], [pole - 0.25, pole + 0.25], [pole - 3, pole + 1]):
            with pytest.raises(Irrational):
                world.function(name)(world.iv.mpf(around))


def test_log_gamma_has_a_value_where_gamma_is_positive_all_the_way_to_infinity() -> None:
    world = World(30)
    with pytest.raises(OutsideDomain):
        world.function("loggamma")(world.iv.mpf([-1.5, -1.25]))
    with pytest.raises(Irrational):
        world.function("loggamma")(world.iv.mpf([-0.5, 0.5]))


def test_over_the_rationals() -> None:
    exact = World().function
    assert exact("gamma")(Fraction(5)) == 24 and exact("loggamma")(Fraction(2)) == 0
    assert exact("loggamma")(Fraction(5)) is None
    cases: list[tuple[str, Fraction, type[Exception]]] = [
        ("gamma", Fraction(-2), OutsideDomain), ("gamma", Fraction(1, 2), Irrational),
        ("loggamma", Fraction(-2), OutsideDomain), ("polygamma0", Fraction(1), Irrational)]
    for name, at, outcome in cases:
        with pytest.raises(outcome):
            exact(name)(at)


@pytest.mark.parametrize("name", ["gamma", "loggamma", "polygamma0", "polygamma4", "sec", "csc", "cot", "sech", "csch",
                                  "coth", "acoth"])
def test_derivatives_against_differences(name: str) -> None:
    world, at = World(40), Fraction(17, 7) if name == "acoth" else Fraction(9, 7)
    values = VALUES | {"polygamma4": lambda t: mpmath.polygamma(4, t)}
    function = values.get(name) or getattr(mpmath, name)
    found = RULES[name](world.number(at), world.function, world.number(Fraction(1)))
    with mpmath.workdps(60):
        for k, enclosure in enumerate(found):
            expected = mpmath.diff(function, number(at), k, h=mpmath.mpf(10) ** -15)
            assert abs(mpmath.mpf(enclosure.mid._mpi_[0]) - expected) < 1e-12 * (1 + abs(expected))
