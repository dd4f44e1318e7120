"""Functions of filter outputs as words: equal ones get one form, and values, gradients and derivatives are right.

The oracle writes filters out as explicit matrices and differentiates with SymPy in coordinates, to 30 digits.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from sympy import (
    Abs,
    Add,
    Expr,
    N as numeric,
    Rational,
    S,
    Symbol,
    atan,
    cos,
    cosh,
    diff,
    erf,
    exp,
    log,
    sign,
    sin,
    sinh,
    sqrt,
    symbols,
    tan,
    tanh,
)

from symdecouple import Filter, Mean, UnsupportedExpression, shift, variance, x
from symdecouple.calculus.compositions import Compositions
from symdecouple.calculus.convolution import Words
from symdecouple.calculus.matrices import MatrixOperators
from symdecouple.calculus.operators import CircularOperators
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import Statistic
from tests.calculus.explicit import lookup, operator, values

H, D = Filter("h"), Filter("d", zero_dc=True)
HIGH, LOW, PADDED = Filter([-1, 2, -1]), Filter([1, 2, 4]), Filter([1, 2, 4], boundary="zero")
SIZE = 4
NAMED = {H: operator({-1: 3, 0: -2, 1: 5}, SIZE), D: operator({-1: 2, 0: 1, 1: -3}, SIZE)}
POINT = [Rational(2, 3), Rational(-1, 3), Rational(5, 4), Rational(1, 2)]
p, q = symbols("p q")
u = H(x)


def words(operators: Any = None) -> Words:
    return Words(x, operators or CircularOperators(expand=False), Budget())


def at(expr: Expr, sample: list[Any]) -> list[Any]:
    return values(expr, sample, lookup(SIZE, NAMED))


def element_at(algebra: Words, element: Any, sample: list[Any]) -> list[Any]:
    total = [S.Zero] * SIZE
    for word, c in element.items():
        factor = at(c, sample)[0]
        total = [t + factor * v for t, v in zip(total, at(algebra.expression(word), sample), strict=True)]
    return total


def agree(found: list[Any], expected: list[Any]) -> bool:
    """To 30 digits, relative to the size of the numbers that are added up."""
    return all(abs(numeric(a - b, 40)) <= Rational(10) ** -30 * (1 + abs(numeric(b, 40)))
               for a, b in zip(found, expected, strict=True))


EXPRESSIONS = [
    exp(u / 4) * x, tanh(HIGH(x)) ** 2 * u, log(cosh(D(x))), sqrt(1 + u**2) * (1 + u**2), 1 / (LOW(x) + u),
    HIGH(tanh(x)) * exp(-D(x) / 8), sin(u) * cos(2 * u + 1), Abs(u) ** Rational(3, 2) * u, sign(u) * Abs(HIGH(x)),
    shift(1)(exp(x)) * exp(x), LOW(x * sqrt(2 + x**2)) / (1 + exp(-x)), exp(D(x) * log(2 + x**2)), tan(x) * atan(u),
    erf(x / 3) - Mean(erf(x / 3)), log(cosh(D(x) / sqrt(variance()))), (x + HIGH(x)) ** -2 * x * HIGH(x),
]  # fmt: skip


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
@pytest.mark.parametrize("kind", ["named", "shifts", "compositions"])
def test_a_form_has_the_values_of_the_expression(expr: Expr, kind: str) -> None:
    operators: Any = {"named": CircularOperators(False), "shifts": CircularOperators(), "compositions": Compositions()}
    algebra = words(operators[kind])
    assert agree(element_at(algebra, algebra.form(expr), POINT), at(expr, POINT))


@pytest.mark.parametrize("expr", [exp(PADDED(x) / 9) * PADDED(tanh(x)), sqrt(3 + PADDED(x + 1) ** 2)], ids=str)
@pytest.mark.parametrize("operators", [Compositions(), MatrixOperators((SIZE,))], ids=["compositions", "matrices"])
def test_other_boundaries(expr: Expr, operators: Any) -> None:
    algebra = words(operators)
    assert agree(element_at(algebra, algebra.form(expr), POINT), at(expr, POINT))


COORDINATES = list(symbols(f"q1:{SIZE + 1}", real=True))
RULE = dict(zip(COORDINATES, POINT, strict=True))


@pytest.mark.parametrize("expr", [*EXPRESSIONS[1::2], EXPRESSIONS[14], (3 + u**2) ** Mean(u)], ids=str)
def test_gradients_are_those_of_the_average_in_coordinates(expr: Expr) -> None:
    average = Add(*at(expr, COORDINATES)) / SIZE
    expected = [SIZE * diff(average, c).xreplace(RULE).doit() for c in COORDINATES]
    algebra = words()
    closed = algebra.closed(Mean(expr))
    total = [S.Zero] * SIZE
    for s in closed.atoms(Statistic):
        slope = at(closed.diff(s), POINT)[0]
        total = [t + slope * v for t, v in zip(total, element_at(algebra, algebra.gradient(s), POINT), strict=True)]
    assert agree(total, expected)


@pytest.mark.parametrize("expr", [tanh(u) * x, HIGH(sqrt(1 + x**2)), exp(D(x) / sqrt(variance())), Abs(u) ** 3,
                                  (3 + u**2) ** Mean(u)], ids=str)
def test_derivatives_along_a_field_are_those_of_the_coordinates(expr: Expr) -> None:
    """The statistics in the coefficients of what is inside move as well."""
    algebra = words()
    speed = at(LOW(x) * x + 2, POINT)
    moved = at(expr, COORDINATES)
    expected = [sum(value.diff(c).xreplace(RULE).doit() * step for c, step in zip(COORDINATES, speed, strict=True))
                for value in moved]
    found = [S.Zero] * SIZE
    for word, c in algebra.form(expr).items():
        assert not c.atoms(Statistic)
        step = element_at(algebra, algebra.along(word, algebra.form(LOW(x) * x + 2)), POINT)
        found = [t + c * v for t, v in zip(found, step, strict=True)]
    assert agree(found, expected)


EQUAL = [
    (u * u ** (p - 1), u**p), ((2 * u + x) * (2 * u + x) ** (p - 1), (2 * u + x) ** p),
    ((2 * u) ** p / u, 2 * (2 * u) ** (p - 1)), (u**p * u**q / u ** (p + q - 2), u**2),
    (u**p * (u + x) ** p * (u + x) * u, u ** (p + 1) * (u + x) ** (p + 1)), (1 / (u * x), 1 / u * (1 / x)),
    (u / (u + x) + x / (u + x), S.One), (sqrt(1 + u**2) ** 3, (1 + u**2) * sqrt(1 + u**2)),
    (sqrt(4 + 4 * u), 2 * sqrt(1 + u)), (exp(u) ** 2, exp(2 * u)), (exp(u + 1) * exp(x - u), exp(1) * exp(x)),
    (exp(log(2 + u**2) / 2), sqrt(2 + u**2)), (tanh(u), sinh(u) / cosh(u)), (tanh(u) ** 2, 1 - 1 / cosh(u) ** 2),
    (1 / (1 + exp(-u)), (1 + tanh(u / 2)) / 2), (exp(-u) / (1 + exp(u)), exp(-u) - 1 / (1 + exp(u))),
    (log(cosh(u)), log(1 + exp(-2 * u)) + u - log(2)), (sin(u) ** 2, 1 - cos(u) ** 2),
    (sin(u + x), sin(u) * cos(x) + cos(u) * sin(x)), (Abs(u) ** p * Abs(u), Abs(u) ** (p + 1)),
    (Abs(u) ** p * u**3, Abs(u) ** (p + 3) * sign(u)), (Abs(-2 * u) ** 3, 8 * u**3 * sign(u)), (sign(u) ** 2 * x, x),
    (shift(1)(exp(u)), exp(H(shift(1)(x)))), (shift(1)(exp(u) * tanh(x)), shift(1)(exp(u)) * tanh(shift(1)(x))),
    (D(exp(x) + 3), D(exp(x))), (H(exp(u)) + H(tanh(u)), H(exp(u) + tanh(u))),
]
SAME_AVERAGE = [
    (H.adjoint(u ** (p - 1)) * x, u**p), (HIGH(exp(x)) * HIGH(x), exp(x) * HIGH(HIGH(x))), (shift(2)(exp(u)), exp(u)),
    (exp(x) * tanh(shift(1)(x)), shift(-1)(exp(x)) * tanh(x)), (H(exp(u)), H.dc * exp(u)), (D(tanh(x)), S.Zero),
]


@pytest.mark.parametrize("pair", EQUAL, ids=str)
@pytest.mark.parametrize("expand", [True, False])
def test_equal_functions_have_one_form(pair: tuple[Expr, Expr], expand: bool) -> None:
    algebra = words(CircularOperators(expand))
    left, right = map(algebra.form, pair)
    assert {w: c for w in {*left, *right} if (c := (left.get(w, 0) - right.get(w, 0)).expand()) != 0} == {}
    rule = {p: 3, q: 2}
    assert agree(at(pair[0].xreplace(rule), POINT), at(pair[1].xreplace(rule), POINT)), "the oracle disagrees"


def test_taps_and_shifts_of_one_filter_inside() -> None:
    spelled = 2 * x - shift(1)(x) - shift(-1)(x)
    algebra = words(CircularOperators())
    assert algebra.form(HIGH(x) ** p) == algebra.form(spelled**p)
    assert algebra.form(spelled * HIGH(x) ** (p - 1)) == algebra.form(HIGH(x) ** p)
    assert algebra.form(x * HIGH(x) ** p) == algebra.form(x * spelled**p)


@pytest.mark.parametrize("pair", SAME_AVERAGE, ids=str)
def test_equal_averages_are_one_statistic(pair: tuple[Expr, Expr]) -> None:
    algebra = words()
    assert (algebra.closed(Mean(pair[0])) - algebra.closed(Mean(pair[1]))).expand() == 0
    left, right = (at(Mean(e).xreplace({p: S(3)}), POINT) for e in pair)
    assert agree(left, right), "the oracle disagrees"


DIFFERENT = [exp(u), exp(D(x)), exp(2 * u), H(exp(x)), exp(H.adjoint(x)), exp(u + x), tanh(u), shift(1)(exp(u)),
             log(cosh(u)), sqrt(1 + u**2), sqrt(2 + u**2), (u**2) ** Rational(3, 2), u**3, u**p, u**q, (-u) ** p,
             Abs(u) ** p, sqrt(u), sqrt(-u), sin(u), cos(u), 1 / u, 1 / (1 + u)]  # fmt: skip


def test_different_functions_keep_different_forms() -> None:
    algebra = words()
    forms = [algebra.form(e) for e in DIFFERENT]
    for (e, left), (f, right) in combinations(zip(DIFFERENT, forms, strict=True), 2):
        assert left != right, (e, f)


def test_a_root_of_a_square_is_no_power() -> None:
    """(u^2)^(1/2) = |u| while u^(2/2) = u: powers of powers are joined only where the inner one is positive."""
    algebra = words()
    assert algebra.form((u**2) ** p) != algebra.form(u ** (2 * p))
    assert algebra.form((u ** Rational(1, 2)) ** p) == algebra.form(u ** (p / 2))
    assert algebra.form(sqrt(u) * sqrt(-u)) != algebra.form(sqrt(-(u**2)))


rationals = st.fractions(-3, 3, max_denominator=4).map(lambda f: Rational(f.numerator, f.denominator))


@given(rationals, rationals, st.integers(0, 2), st.lists(st.integers(-3, 3), min_size=1, max_size=2))
@settings(max_examples=12, deadline=None)
def test_powers_add_up(r: Rational, t: Rational, k: int, taps: list[int]) -> None:
    """u^r u^t u^k = u^(r + t + k) for linear outputs and for positive functions of them."""
    algebra = words(CircularOperators())
    output = Filter(taps, 0)(x) + 5 * shift(4)(x)
    for base in (output, 1 + output**2, 1 + exp(output)):
        left = algebra.product(algebra.form(base**r), algebra.product(algebra.form(base**t), algebra.form(base**k)))
        assert left == algebra.form(base ** (r + t + k))


NOTHING = D(x) - D(x + 1)


@pytest.mark.parametrize("expr", [log(NOTHING), 1 / NOTHING, NOTHING**p, sqrt(-1 + NOTHING), exp(1 / NOTHING)], ids=str)
def test_what_is_defined_nowhere_is_refused(expr: Expr) -> None:
    with pytest.raises(UnsupportedExpression, match="for every sample: it is not defined"):
        words().form(expr)


def test_symbols_of_a_function_do_not_leak() -> None:
    algebra = words()
    for word in algebra.form(exp(tanh(u) ** 2) * log(2 + sin(x))):
        assert algebra.expression(word).free_symbols <= {x, Symbol("h")}
