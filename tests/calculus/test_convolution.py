"""Words: equal expressions get one form, different ones are told apart; gradients and derivatives are those of numbers.

The oracle is linear algebra at one sample size: filters as explicit matrices, samples and taps as exact numbers.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from sympy import Add, Expr, Function, Max, Rational, S, Si, besselj, diff, symbols

from symdecouple import Filter, Mean, UnsupportedExpression, shift, x
from symdecouple.calculus.compositions import Compositions
from symdecouple.calculus.convolution import TooManyTerms, Words
from symdecouple.calculus.convolution_frame import degree
from symdecouple.calculus.matrices import MatrixOperators
from symdecouple.calculus.operators import CircularOperators, Names
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import Statistic
from tests.calculus.explicit import lookup, operator, values

H, G, D = Filter("h"), Filter("g"), Filter("d", zero_dc=True)
HIGH, SKEW, LOW = Filter([-1, 2, -1]), Filter([1, 0, -1]), Filter([1, 2, 4])
PADDED, MIRRORED = Filter([1, 2, 4], boundary="zero"), Filter([1, 2, 4], boundary="whole-sample")
N = 5
NAMED = {
    H: operator({-1: 3, 0: -2, 1: 5}, N), G: operator({-2: 1, 0: 4, 1: -3}, N), D: operator({-1: 2, 0: 1, 2: -3}, N),
}


def words(operators: Any = None) -> Words:
    return Words(x, operators or CircularOperators(), Budget())


def at(expr: Expr, sample: list[Any]) -> list[Any]:
    return values(expr, sample, lookup(N, NAMED))


POINT = [Rational(2), Rational(-1, 3), Rational(5), Rational(1, 2), Rational(-3)]
EXPRESSIONS = [
    H(x), H(G(x) + 2), HIGH(SKEW(x)) * x, LOW(H(x)) ** 3 + 1, H.adjoint(H(x) ** 2) * G(x), H(x * G(x * x) + 3) - x,
    shift(2)(x) * shift(-1)(H(x)), D(x + 7) ** 2, HIGH(x * SKEW(x) * LOW(x)), (x - Mean(x)) * H(x - Mean(x)),
    Mean(H(x) * G(x)) * LOW(x**2 + H(x)), H(shift(1)(x * LOW(G(x)))),
]  # fmt: skip


def element_at(algebra: Words, element: Any, sample: list[Any]) -> list[Any]:
    total = [S.Zero] * N
    for word, c in element.items():
        factor = at(c, sample)[0]
        total = [t + factor * v for t, v in zip(total, at(algebra.expression(word), sample), strict=True)]
    return total


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
@pytest.mark.parametrize("expand", [True, False])
def test_a_form_has_the_values_of_the_expression(expr: Expr, expand: bool) -> None:
    algebra = words(CircularOperators(expand))
    assert element_at(algebra, algebra.form(expr), POINT) == at(expr, POINT)


@pytest.mark.parametrize(
    "expr", [PADDED(x), PADDED(x * MIRRORED(x) + 2), PADDED.adjoint(PADDED(x) ** 2), MIRRORED(MIRRORED.adjoint(x + 1)),
             HIGH(PADDED(x)), Mean(PADDED(x) + 3) * MIRRORED(x), PADDED(MIRRORED.adjoint(HIGH(x + 1) + 2) * x)], ids=str
)  # fmt: skip
@pytest.mark.parametrize("operators", [Compositions(), MatrixOperators((N,))], ids=["compositions", "matrices"])
def test_other_boundaries(expr: Expr, operators: Any) -> None:
    algebra = words(operators)
    assert element_at(algebra, algebra.form(expr), POINT) == at(expr, POINT)


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_gradients_are_those_of_the_average_in_coordinates(expr: Expr) -> None:
    coordinates = list(symbols(f"x1:{N + 1}"))
    average = Add(*at(expr, coordinates)) / N
    rule = dict(zip(coordinates, POINT, strict=True))
    expected = [N * diff(average, c).subs(rule) for c in coordinates]
    algebra = words()
    closed = algebra.closed(Mean(expr))
    total = [S.Zero] * N
    for s in closed.atoms(Statistic):
        slope = at(closed.diff(s), POINT)[0]
        total = [t + slope * v for t, v in zip(total, element_at(algebra, algebra.gradient(s), POINT), strict=True)]
    assert total == expected


@pytest.mark.parametrize("operators", [CircularOperators(), CircularOperators(False), MatrixOperators((N,))])
def test_derivatives_along_a_field_are_those_of_the_coordinates(operators: Any) -> None:
    algebra = words(operators)
    field, target = algebra.form(LOW(x) * x + 2), algebra.form(HIGH(x * SKEW(x)) + x**3)
    coordinates = list(symbols(f"x1:{N + 1}"))
    rule = dict(zip(coordinates, POINT, strict=True))
    speed = at(LOW(x) * x + 2, POINT)
    moved = at(HIGH(x * SKEW(x)) + x**3, coordinates)
    expected = [sum(v.diff(c).subs(rule) * s for c, s in zip(coordinates, speed, strict=True)) for v in moved]
    found = [S.Zero] * N
    for word, c in target.items():
        step = element_at(algebra, algebra.along(word, field), POINT)
        found = [t + c * v for t, v in zip(found, step, strict=True)]
    assert found == expected


EQUAL = [
    (H(G(x)), G(H(x))), (H(x + 3), H(x) + 3 * H.dc), (D(x + 3), D(x)), (HIGH(SKEW(x)), SKEW(HIGH(x))),
    (HIGH(x), 2 * x - shift(1)(x) - shift(-1)(x)), (shift(1)(H(x) ** 2), H(shift(1)(x)) ** 2),
    (H(shift(1)(x) * G(x)), shift(1)(H(x * G(shift(-1)(x))))),
    (Filter([0.25, 0.5, 0.25])(x), (x * 2 + shift(1)(x) + shift(-1)(x)) / 4),
    ((H(x) + x) ** 2, H(x) ** 2 + 2 * x * H(x) + x**2),
]
SAME_AVERAGE = [
    (H(x) * G(x), x * H.adjoint(G(x))), (H(x) ** 2, H.adjoint(x) ** 2), (H(x), H.dc * x), (D(x**2), S.Zero),
    (x * shift(2)(x), x * shift(-2)(x)), (H.adjoint(H(x) ** 3) * x, H(x) ** 4),
    (H(x * x) * G(x), x**2 * H.adjoint(G(x))), (H(x * x) * G(x) * x, x**2 * H.adjoint(G(x) * x)),
    (H(G(x * x) * x), H.dc * x * G(x * x)),
]


@pytest.mark.parametrize("pair", EQUAL, ids=str)
def test_equal_functions_have_one_form(pair: tuple[Expr, Expr]) -> None:
    algebra = words()
    assert algebra.form(pair[0]) == algebra.form(pair[1])
    assert at(pair[0], POINT) == at(pair[1], POINT), "the oracle disagrees"


@pytest.mark.parametrize("pair", SAME_AVERAGE, ids=str)
def test_equal_averages_are_one_statistic(pair: tuple[Expr, Expr]) -> None:
    algebra = words()
    assert (algebra.closed(Mean(pair[0])) - algebra.closed(Mean(pair[1]))).expand() == 0
    assert at(Mean(pair[0]), POINT) == at(Mean(pair[1]), POINT), "the oracle disagrees"


@pytest.mark.parametrize(
    "pair", [(H(x), H.adjoint(x)), (H(x * x), H(x) ** 2), (H(x), G(x)), (x * H(x), H(x * x)), (HIGH(x), SKEW(x)),
             (PADDED(MIRRORED(x)), MIRRORED(PADDED(x))), (PADDED(x + 1), PADDED(x) + PADDED.dc)], ids=str
)  # fmt: skip
def test_different_functions_keep_different_forms(pair: tuple[Expr, Expr]) -> None:
    algebra = words(Compositions() if pair[0].has(PADDED) else None)
    assert algebra.form(pair[0]) != algebra.form(pair[1])
    assert at(pair[0], POINT) != at(pair[1], POINT), "the oracle disagrees"


def test_what_commutes_at_one_size_only() -> None:
    """Half-sample mirrors: symmetric kernels commute (they are functions of one matrix), others need not."""
    even, other = Filter([1, 2, 1], boundary="half-sample"), Filter([-1, 5, -1], boundary="half-sample")
    left, right = even(other(x)), other(even(x))
    assert words(Compositions()).form(left) != words(Compositions()).form(right)
    algebra = words(MatrixOperators((N,)))
    assert algebra.form(left) == algebra.form(right)
    assert words(MatrixOperators((N,))).form(MIRRORED(PADDED(x))) != algebra.form(PADDED(MIRRORED(x)))


@pytest.mark.parametrize("seed", range(4))
def test_averages_under_matrices_are_one_way(seed: int) -> None:
    rng = random.Random(seed)
    kernels = [Filter([rng.randint(-3, 3) or 1 for _ in range(3)], boundary=rng.choice(["zero", "whole-sample"]))
               for _ in range(2)]  # fmt: skip
    a, b = kernels
    algebra = words(MatrixOperators((N,)))
    assert algebra.closed(Mean(a(x) * b(x))) == algebra.closed(Mean(x * a.adjoint(b(x))))
    assert algebra.closed(Mean(a(x**2) * b(x) * x)) == algebra.closed(Mean(x**2 * a.adjoint(b(x) * x)))
    assert algebra.closed(Mean(a(x) + 0 * b(x))) == algebra.closed(Mean(x * a.adjoint(S.One)))


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=4), st.lists(st.integers(-5, 5), min_size=1, max_size=4),
       st.integers(0, 3), st.integers(0, 3))  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_taps_compose_by_convolution(left: list[int], right: list[int], p: int, q: int) -> None:
    h, g = Filter(left, p % len(left)), Filter(right, q % len(right))
    expected: dict[int, Fraction] = {}
    for (i, a), (j, b) in product(enumerate(left), enumerate(right)):
        lag = i - p % len(left) + j - q % len(right)
        expected[lag] = expected.get(lag, Fraction(0)) + a * b
    found = words().form(h(g(x)))
    assert {word[0][0][0]: c for word, c in found.items()} == {
        (lag,) if lag else (): c for lag, c in expected.items() if c != 0
    }


@pytest.mark.parametrize("expr", [Si(H(x)), Max(H(x), 0), H(1 / besselj(0, x))], ids=str)
def test_other_functions_are_refused(expr: Expr) -> None:
    with pytest.raises(UnsupportedExpression, match="no polynomial"):
        words().form(expr)
    assert degree(expr) == float("inf")
    with pytest.raises(UnsupportedExpression, match="f is not defined: bind it"):
        words().form(Function("f")(expr))


def test_an_expansion_that_is_too_long_says_so() -> None:
    wide = Filter(list(range(1, 42)))
    with pytest.raises(TooManyTerms, match="terms"):
        words().form(wide(x) ** 4)
    assert len(words(CircularOperators(expand=False)).form(wide(x) ** 4)) == 1


def test_names_are_kept_apart() -> None:
    names = Names()
    plain, zero, padded = Filter("h"), Filter("h", zero_dc=True), Filter("h", boundary="zero")
    found = [names.name(h) for h in (plain, zero, padded, plain.adjoint, HIGH, LOW, LOW.adjoint)]
    assert len(set(found)) == len(found) and names.mirrored(names.name(plain)) == names.name(plain.adjoint)
    assert names.mirrored(names.name(HIGH)) == names.name(HIGH), "a symmetric kernel is its own adjoint"
    assert all(names.filter(name) == h for name, h in zip(found, (plain, zero, padded, plain.adjoint), strict=False))
