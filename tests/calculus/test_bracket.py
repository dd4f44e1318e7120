"""Brackets, derivatives along fields and inner products with known values; the laws are in tests/laws."""

from __future__ import annotations

import pytest
import sympy as sp
from sympy import Symbol, exp, log

from symdecouple.calculus.bracket import derivative_along, inner_product, lie_bracket, tidy
from symdecouple.calculus.field import VectorField
from symdecouple.errors import InvalidInput
from symdecouple.language.feature import Feature
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import variance

m, v = Mean(x), variance()
x1, x2 = coordinates(2)


def test_monomials_against_the_formula() -> None:
    for j in range(5):
        for k in range(5):
            found = lie_bracket(VectorField(x**j), VectorField(x**k)).expr
            assert sp.expand(found - ((k - j) * x ** (j + k - 1) if j != k else 0)) == 0


@pytest.mark.parametrize(
    ("u", "v", "expected"),
    [
        (VectorField(1), VectorField(m), 1), (VectorField(m), VectorField(1), -1),
        (VectorField(x), VectorField(m * x), m * x), (VectorField(x - m), VectorField(1), 0),
        (VectorField(exp(x)), VectorField(exp(-x)), -2), (VectorField(x), VectorField(v), v),
    ],
    ids=str,
)
def test_known_brackets(u: VectorField, v: VectorField, expected: sp.Expr) -> None:
    assert sp.expand(lie_bracket(u, v).expr - expected) == 0


def test_features_stand_for_their_gradients() -> None:
    assert lie_bracket(Mean(x**2), Feature(Mean(x**3))) == lie_bracket(VectorField(2 * x), VectorField(3 * x**2))
    assert derivative_along(Mean(x**2), Mean(x**2)) == 4 * Mean(x**2)
    assert inner_product(Mean(x), v) == 0 and inner_product(VectorField(x), VectorField(x)) == Mean(x**2)


def test_commuting_energies() -> None:
    """Circular filters commute: the bracket of two energies vanishes at every sample size."""
    g, h = Filter([-1, 2, -1]), Filter([1, 2, 4])
    bracket = lie_bracket(Mean(g(x) ** 2), Mean(h(x) ** 2))
    assert sp.expand(bracket.expr) == 0
    assert derivative_along(VectorField(1), Mean(g(x) ** 2)) == 0
    assert derivative_along(VectorField(x), Mean(x * shift(1)(x))) == 2 * Mean(x * shift(1)(x))


def test_an_undefined_function_of_filter_outputs() -> None:
    """Binding it first, or the bracket, is the same."""
    f, u = sp.Function("f"), Feature(Mean(x**3))
    g = Feature(Mean(f(Filter([1, -2, 3])(x))))
    body = x**4 - x**2
    expected = lie_bracket(g.bind({f: body}), u).expr
    assert expected != 0 and sp.expand(lie_bracket(g, u).bind({f: body}).expr - expected) == 0


def test_spaces_do_not_mix() -> None:
    explicit = VectorField([x1, x2], [x1, x2])
    a, b, c = coordinates(3)
    for other in (VectorField(x), VectorField([a, b, c], [a, b, c])):
        for function in (lie_bracket, inner_product, derivative_along):
            with pytest.raises(InvalidInput, match="different spaces"):
                function(explicit, other)


def test_coordinates() -> None:
    u, w = VectorField([x2, -x1], [x1, x2]), VectorField([x1, x2], [x1, x2])
    assert lie_bracket(u, w) == VectorField([0, 0], [x1, x2])
    assert derivative_along(u, x1**2 + x2**2) == 0 and inner_product(u, w) == 0
    r = Symbol("r")
    assert lie_bracket(VectorField([r, 0], [r, Symbol("s")]), VectorField([1, 0], [r, Symbol("s")])).components == (
        -1, 0,
    )


def test_tidy_factors_coefficients() -> None:
    assert tidy((x - m) ** 2 + m * x, x) == x**2 - m * x + m**2
    p = sample(positive=True)
    assert tidy(log(p**2), p) == 2 * log(p) or tidy(log(p**2), p) == log(p**2)
