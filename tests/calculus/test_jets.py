"""Jets against SymPy's derivatives in explicit coordinates: exact over the rationals, enclosures over intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from sympy import Abs, Max, Piecewise, Rational, Symbol, atan, cos, cosh, exp, log, sin, sinh, sqrt, tan, tanh

from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.jets import Point, bracket_at, field_at
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.feature import Feature
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import kurtosis, variance

SAMPLE = [Fraction(1, 2), Fraction(-2), Fraction(3)]
POSITIVE = [Fraction(1, 2), Fraction(9, 4), Fraction(3)]
a = Symbol("a")
m = Mean(x)
p = sample(positive=True)
EXACT, INTERVAL = World(None), World(40)


def reference(feature: Feature, values: list[Fraction]) -> tuple[list[sp.Expr], list[list[sp.Expr]]]:
    points = coordinates(len(values))
    expr = feature.at(n_samples=len(values)).expr
    rule = {c: Rational(v.numerator, v.denominator) for c, v in zip(points, values, strict=True)} | {a: sp.S(2)}
    n = 1 if feature.coordinates else len(values)
    return (
        [n * expr.diff(c).xreplace(rule) for c in points],
        [[n * expr.diff(c, d).xreplace(rule) for d in points] for c in points],
    )


@pytest.mark.parametrize(
    "expr",
    [
        m,
        Mean(x**5) * m,
        variance(),
        kurtosis(),
        1 / Mean(x**2),
        Mean((x - m) ** 3 / (1 + x**2)),
        Mean(a * x**3) ** 2,
        Mean(x * shift(1)(x)),
        Mean(Filter([1, -2, 3])(x) ** 3),
        Mean(x**-2),
        (m + 1) ** -3,
        Mean((x + m) ** 0 * x),
    ],
    ids=str,
)
def test_rational_jets_are_exact(expr: sp.Expr) -> None:
    feature = Feature(expr)
    grad, rows = field_at(feature, Point(SAMPLE, {a: Fraction(2)}, EXACT))
    expected, hessian = reference(feature, SAMPLE)
    assert grad == expected
    assert all(rows[i].get(j, 0) == hessian[i][j] for i in range(3) for j in range(3))


@pytest.mark.parametrize(
    "expr",
    [
        Mean(exp(x)),
        Mean(sin(x) * cos(2 * x)),
        Mean(tanh(x)),
        Mean(tan(x / 4)),
        Mean(log(1 + x**2)),
        log(Mean(exp(a * x))),
        Mean(sinh(x) / cosh(x) ** 2),
        Mean(sqrt(x**2 + 1)),
        variance() ** Rational(3, 2),
        Mean((1 + x**2) ** Rational(1, 3)),
        sqrt(2) * Mean(x**3),
        Mean(exp(sp.pi * x)),
        Mean((1 + x**2) ** a),
    ],
    ids=str,
)
def test_intervals_enclose(expr: sp.Expr) -> None:
    feature = Feature(expr)
    grad, rows = field_at(feature, Point(SAMPLE, {a: Fraction(2)}, INTERVAL))
    expected, hessian = reference(feature, SAMPLE)
    pairs = [*zip(grad, expected, strict=True)]
    pairs += [(rows[i][j], hessian[i][j]) for i in range(3) for j in range(3) if j in rows[i]]
    for found, value in pairs:
        exact = sp.N(value, 60)
        low, high = (
            sp.Float(str(end), 60)
            for end in (found.a.__str__().strip("[]").split(",")[0], found.b.__str__().strip("[]").split(",")[-1])
        )
        slack = sp.Float(10) ** -30 * (1 + abs(exact))
        assert low - slack <= exact <= high + slack and high - low < sp.Float(10) ** -25 * (1 + abs(exact))


def test_values_that_are_irrational_may_have_rational_derivatives() -> None:
    grad, _ = field_at(Feature(Mean(log(p))), Point(POSITIVE, {}, EXACT))
    assert grad == [1 / v for v in POSITIVE]
    grad, _ = field_at(Feature(Mean(atan(x))), Point(SAMPLE, {}, EXACT))
    assert grad == [1 / (1 + v**2) for v in SAMPLE]
    with pytest.raises(Irrational):
        field_at(Feature(Mean(exp(x))), Point(SAMPLE, {}, EXACT))


@pytest.mark.parametrize(
    ("expr", "allowed"),
    [
        (Mean(log(x)), ()),
        (Mean(sqrt(x)), ()),
        (Mean(x ** Rational(1, 3)), ()),
        (Mean(1 / (x + 2)), ()),
        (Mean(Abs(x + 2)), ["Abs"]),
        (Mean(sp.sign(x + 2) * x), ["sign"]),
        (Mean(Piecewise((x, x > -2), (0, True))), ["Piecewise"]),
        (Mean(Max(x, -2)), ["Max"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("world", [EXACT, INTERVAL], ids=["exact", "intervals"])
def test_a_pole_a_kink_or_a_jump_is_outside_the_domain(expr: sp.Expr, allowed: Any, world: World) -> None:
    with pytest.raises(
        (OutsideDomain, UnsupportedExpression) if world.iv else (OutsideDomain, UnsupportedExpression, Irrational)
    ):
        field_at(Feature(expr, allow_nonsmooth=allowed), Point(SAMPLE, {}, world))


def test_pieces_away_from_their_edges() -> None:
    feature = Feature(Mean(Piecewise((x**3, x > 1), (x**2, True)) + Abs(x)), allow_nonsmooth=["Piecewise", "Abs"])
    assert field_at(feature, Point(SAMPLE, {}, EXACT))[0] == [2, -5, 28]
    with pytest.raises(UnsupportedExpression, match="sample alone"):
        field_at(
            Feature(Mean(Piecewise((x, m > 0), (0, True))), allow_nonsmooth=["Piecewise"]), Point(SAMPLE, {}, EXACT)
        )


@pytest.mark.parametrize("expr", [Mean(a * x), Mean(sp.Function("f")(x)), Mean(sp.besselj(0, x))], ids=str)
def test_what_cannot_be_evaluated_says_so(expr: sp.Expr) -> None:
    for world in (EXACT, INTERVAL):
        with pytest.raises((UnsupportedExpression, Irrational)):
            field_at(Feature(expr), Point(SAMPLE, {}, world))


def test_brackets_at_a_point_against_the_formula() -> None:
    point = Point(SAMPLE, {}, EXACT)
    u, v = (field_at(VectorField(e), point) for e in (x**2, x * m))
    mean, second = sum(SAMPLE) / 3, sum(s**2 for s in SAMPLE) / 3
    assert bracket_at(u, v, point) == [s**2 * mean + s * second - 2 * s * s * mean for s in SAMPLE]
