"""Rational functions of waves and of exponentials: equal ones have one form, and forms have the function's value."""

from __future__ import annotations

import pytest
from sympy import (
    Add,
    Expr,
    Rational,
    S,
    Symbol,
    cos,
    cot,
    csc,
    exp,
    log,
    pi,
    sec,
    simplify,
    sin,
    sqrt,
    symbols,
    tan,
    tanh,
)

from symdecouple.language.canonical import decompose
from symdecouple.language.circle import Angles, circle_form
from symdecouple.language.sample import x

a, b = symbols("a b")
D = Rational(5, 4) - cos(x)


def one_form(*functions: Expr) -> list[dict[Expr, Expr]]:
    """Return the forms of functions of one set: their angles have a common measure."""
    angles = Angles(functions, x)
    return [decompose(angles.applied(f), x) for f in functions]


@pytest.mark.parametrize(("left", "right"), [
    (tan(2 * x), 2 * tan(x) / (1 - tan(x) ** 2)), (cot(2 * x), (cot(x) - tan(x)) / 2),
    (csc(2 * x), 1 / (2 * sin(x) * cos(x))), (csc(2 * x), (tan(x) + cot(x)) / 2),
    (sec(2 * x), 1 / (2 * cos(x) ** 2 - 1)), (sec(2 * x), (1 + tan(x) ** 2) / (1 - tan(x) ** 2)),
    (tan(x / 2), sin(x) / (1 + cos(x))), (tan(x / 2), (1 - cos(x)) / sin(x)),
    (tan(x / 2) ** 2, (1 - cos(x)) / (1 + cos(x))), (tan(x / 2), csc(x) - cot(x)), (tan(x) ** 2, 1 / cos(x) ** 2 - 1),
    (1 / (sec(x) + tan(x)), sec(x) - tan(x)), (1 / (sec(x) + tan(x)), cos(x) / (1 + sin(x))),
    (tan(3 * x), (3 * tan(x) - tan(x) ** 3) / (1 - 3 * tan(x) ** 2)), (sec(3 * x), 1 / (4 * cos(x) ** 3 - 3 * cos(x))),
    (1 / (3 - cos(2 * x)), 1 / (2 + 2 * sin(x) ** 2)), (cos(2 * x) / D**2, 2 - 5 / D + Rational(17, 8) / D**2),
    (1 / (2 + sin(x)) ** 2 * cos(x) ** 2, -1 + 4 / (2 + sin(x)) - 3 / (2 + sin(x)) ** 2),
    ((cos(x) + sin(x)) / (2 + cos(x) + sin(x)), 1 - 2 / (2 + cos(x) + sin(x))),
    (1 / (1 + tan(x)), cos(x) / (cos(x) + sin(x))), (cos(x) / (1 + a * cos(x)), 1 / a - 1 / a / (1 + a * cos(x))),
    (1 / (4 + 2 * cos(2 * x + 2 * a)), 1 / (2 + 4 * cos(x + a) ** 2)),
    (sin(x + a) ** 2 / (2 + cos(x + a)), 2 - cos(x + a) - 3 / (2 + cos(x + a))),
    (x**2 * sin(x) ** 2 / (1 - cos(x)), x**2 * (1 + cos(x))),
    (exp(x) * sin(x) ** 4 / (1 - cos(x)) ** 2, exp(x) * (1 + cos(x)) ** 2),
    (cos(sqrt(2) * x) * cos(x) / (2 + cos(x)), cos(sqrt(2) * x) - 2 * cos(sqrt(2) * x) / (2 + cos(x))),
    (tan(x**2) * cos(x**2), sin(x**2)), (log(x) * exp(x) / (1 + exp(x)), log(x) - log(x) / (1 + exp(x))),
    (exp(x**2) / (exp(x) + exp(x**2)), 1 / (1 + exp(x - x**2))),
    (exp(x) / (exp(x) + exp(x**2)), 1 - 1 / (1 + exp(x - x**2))),
    (exp(a * x) / (exp(a * x) + exp(b * x)), 1 / (1 + exp((b - a) * x))),
    (exp(x) / (1 + exp(x) + exp(x**2)), 1 / (1 + exp(-x) + exp(x**2 - x))),
    (2 / (4 + 2 * exp(x) + 6 * exp(x**2)), 1 / (2 + exp(x) + 3 * exp(x**2))), (tanh(x**2), 1 - 2 / (1 + exp(2 * x**2))),
    # denominators that come out as single exponentials
    (1 / (1 + tanh(x)), (1 + exp(-2 * x)) / 2), (1 / (1 - tanh(x) ** 2), (2 + exp(2 * x) + exp(-2 * x)) / 4),
    (1 / (1 - 1 / (1 + exp(2 * x)) + exp(x) / (exp(x) + exp(-x))), (1 + exp(-2 * x)) / 2),
    (1 / (2 + exp(x) - exp(x) / (1 + exp(x)) - exp(2 * x) / (1 + exp(x))), S.Half),
], ids=str)
def test_equal_functions_have_one_form(left: Expr, right: Expr) -> None:
    first, second = one_form(left, right)
    assert all(simplify(first.get(psi, 0) - second.get(psi, 0)) == 0 for psi in first | second)


FUNCTIONS = [
    1 / (2 + cos(x) + sin(x)) ** 2 * cos(x), sin(x) ** 3 / (3 + 2 * cos(x) - 5 * sin(x)) ** 2,
    cos(3 * x) * sin(x) / (2 + sin(x)) ** 2, 1 / ((2 + cos(x)) * (3 - sin(x))), 1 / (sin(x) * (2 + cos(x)) ** 2),
    sin(x) * tan(x + a), cos(2 * x + b) / (a + cos(x - b)) ** 2, 1 / (cos(x) * cos(x + a)),
    cos(x) * cos(3 * x) / sin(x) ** 4, (1 + sec(x)) / (tan(x) - 3),
    x * cos(2 * x) / (1 + a * cos(x)) + tan(x) * cos(sqrt(2) * x), cos(x + pi / 3) / sin(x + pi / 3) ** 2,
    tan(x) / (2 + cos(sqrt(2) * x)), 1 / (x + cos(x - a)), exp(2 * x + x**2) / (exp(x) + 2 * exp(x**2)) ** 2,
    exp(a * x + 1) / (1 + exp(x) + exp(2 * x + 3)) * x, 1 / ((1 + exp(x)) * (1 + exp(x**2))),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_the_form_has_the_value_of_the_function(function: Expr) -> None:
    (parts,) = one_form(function)
    total = Add(*(c * psi for psi, c in parts.items()))
    for point in (Rational(2, 7), Rational(11, 5)):
        rule = {x: point, a: Rational(3, 11), b: Rational(7, 5)}
        assert abs((total - function).xreplace(rule).evalf(40)) < 1e-30


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_the_form_of_a_form_is_the_same(function: Expr) -> None:
    for psi in one_form(function)[0]:
        again = decompose(psi, x)
        assert set(again) == {psi} and simplify(again[psi]) == 1


def test_tangents_and_cotangents_stay() -> None:
    for psi in (tan(x), tan(x) ** 3, tan(x) ** 2 / cos(x), cot(x) ** 2, cot(x) / sin(x), 1 / sin(x), tan(x / 2) ** 3):
        assert decompose(psi, x) == {psi: S.One}


def test_waves_without_a_quotient_are_left_to_others() -> None:
    forms, rest = circle_form([sin(x), cos(2 * x), x], x)
    assert not forms and set(rest) == {sin(x), cos(2 * x), x}


def test_angles_change_nothing_where_all_are_one_or_nothing_is_divided() -> None:
    for exprs in ([tan(x), 1 / (2 + cos(x))], [cos(x), sin(3 * x) ** 2]):
        angles = Angles(exprs, x)
        assert [angles.applied(e) for e in exprs] == exprs


def test_multiples_out_of_bounds_stay_as_they_are() -> None:
    function = tan(100 * x) * cos(x)
    assert decompose(function, x) == {function: S.One}
    k = Symbol("k")
    assert decompose(tan(k * x), x) == {tan(k * x): S.One}
