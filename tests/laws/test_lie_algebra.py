"""The Lie algebra of fields: the identities hold exactly, for every N at once and in coordinates."""

from __future__ import annotations

from itertools import combinations, cycle
from typing import Any

import pytest
import sympy as sp

from symdecouple import Feature, Mean, VectorField, coordinates, derivative_along, inner_product, lie_bracket, x
from symdecouple.calculus.bracket import tidy
from symdecouple.language.canonical import canonical, close
from tests.laws.examples import EXPLICIT, FEATURES, FIELDS, SETS

PAIRS = list(combinations(FIELDS, 2))
TRIPLES = [
    ("x", "square", "sine"), ("one", "centred", "statistic"), ("centred", "exponential", "square"),
    ("nested", "x", "statistic"), ("one", "x", "undefined"), ("statistic", "sine", "centred"),
]


def vanishes(expr: sp.Expr) -> bool:
    return bool(sp.simplify(sp.expand(close(sp.expand(expr)))) == 0)


def zero(*terms: VectorField) -> bool:
    return all(vanishes(sp.Add(*(t.components[k] for t in terms))) for k in range(len(terms[0].components)))


def times(factor: Any, field: VectorField) -> VectorField:
    return VectorField(
        [factor * c for c in field.components] if field.coordinates else factor * field.expr, field.coordinates or None
    )


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_antisymmetry(first: str, second: str) -> None:
    u, v = FIELDS[first], FIELDS[second]
    assert zero(lie_bracket(u, v), lie_bracket(v, u)) and zero(lie_bracket(u, u))


@pytest.mark.parametrize("fields", [*([FIELDS[n] for n in names] for names in TRIPLES), [*EXPLICIT.values()]],
                         ids=[*("-".join(names) for names in TRIPLES), "in coordinates"])
def test_jacobi(fields: list[VectorField]) -> None:
    u, v, w = fields
    assert zero(lie_bracket(u, lie_bracket(v, w)), lie_bracket(v, lie_bracket(w, u)), lie_bracket(w, lie_bracket(u, v)))


x1, x2, _ = coordinates(3)


@pytest.mark.parametrize(("u", "v", "f"), [
    *((FIELDS[first], FIELDS[second], FEATURES[factor]) for (first, second), factor in zip(
        PAIRS[::3], cycle(["variance", "exponential"]), strict=False)), (*list(EXPLICIT.values())[:2], x1**2 * x2)])
def test_leibniz(u: VectorField, v: VectorField, f: Any) -> None:
    """[u, f v] = (D_u f) v + f [u, v] for a function f of the sample vector."""
    left = lie_bracket(u, times(f, v))
    assert zero(left, times(-derivative_along(u, f), v), times(-f, lie_bracket(u, v)))


@pytest.mark.parametrize(
    ("first", "second"), [("mean", "kurtosis"), ("variance", "exponential"), ("root", "third"), ("nested", "parameter")]
)
@pytest.mark.parametrize("along", ["centred", "square", "statistic", "undefined"])
def test_the_derivative_of_a_product(along: str, first: str, second: str) -> None:
    u, f, g = FIELDS[along], FEATURES[first], FEATURES[second]
    assert vanishes(derivative_along(u, f * g) - g * derivative_along(u, f) - f * derivative_along(u, g))


@pytest.mark.parametrize("name", ["variance", "third", "exponential", "trigonometric", "nested", "rational"])
@pytest.mark.parametrize(("first", "second"), [("x", "square"), ("centred", "statistic"), ("one", "sine")])
def test_the_bracket_is_the_commutator_of_derivatives(first: str, second: str, name: str) -> None:
    u, v, f = FIELDS[first], FIELDS[second], FEATURES[name]
    commutator = derivative_along(u, derivative_along(v, f)) - derivative_along(v, derivative_along(u, f))
    assert vanishes(derivative_along(lie_bracket(u, v), f) - commutator)


@pytest.mark.parametrize(("first", "second"), [("x", "centred"), ("square", "statistic"), ("exponential", "one")])
def test_bilinearity_over_numbers(first: str, second: str) -> None:
    u, v, w = FIELDS[first], FIELDS[second], FIELDS["sine"]
    combination = VectorField(2 * u.expr - 3 * v.expr)
    assert zero(lie_bracket(combination, w), times(-2, lie_bracket(u, w)), times(3, lie_bracket(v, w)))


@pytest.mark.parametrize("name", ["variance", "kurtosis", "logcosh", "exponential"])
@pytest.mark.parametrize("along", ["x", "centred"])
def test_the_derivative_along_a_field_is_the_product_with_the_gradient(name: str, along: str) -> None:
    u, f = FIELDS[along], Feature(FEATURES[name])
    assert vanishes(derivative_along(u, f) - inner_product(u, f.gradient))


@pytest.mark.parametrize("name", SETS)
def test_the_inner_product_is_symmetric_and_bilinear(name: str) -> None:
    features = SETS[name][0]
    for f, g in combinations(features, 2):
        assert vanishes(inner_product(f, g) - inner_product(g, f))
        assert vanishes(inner_product(f, g + 2 * f) - inner_product(f, g) - 2 * inner_product(f, f))


def test_tidying_changes_no_value() -> None:
    for expr in (Mean(x - Mean(x)) + Mean(x) ** 2, Mean((x - Mean(x)) ** 3) / Mean(x**2)):
        assert vanishes(tidy(expr, None) - expr) and vanishes(canonical(expr) - expr)
