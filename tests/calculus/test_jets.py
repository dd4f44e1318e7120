"""Jets against SymPy's derivatives in explicit coordinates: exact over the rationals, enclosures over intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy as sp
from sympy import Abs, Max, Piecewise, Rational, Symbol, atan, atan2, cos, cosh, exp, log, sin, sinh, sqrt, tan, tanh

from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.jets import Jet, Point, bracket_at, field_at
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
        m, Mean(x**5) * m, variance(), kurtosis(), 1 / Mean(x**2), Mean((x - m) ** 3 / (1 + x**2)), Mean(a * x**3) ** 2,
        Mean(x * shift(1)(x)), Mean(Filter([1, -2, 3])(x) ** 3), Mean(x**-2), (m + 1) ** -3, Mean((x + m) ** 0 * x),
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
        Mean(exp(x)), Mean(sin(x) * cos(2 * x)), Mean(tanh(x)), Mean(tan(x / 4)), Mean(log(1 + x**2)),
        log(Mean(exp(a * x))), Mean(sinh(x) / cosh(x) ** 2), Mean(sqrt(x**2 + 1)), variance() ** Rational(3, 2),
        Mean((1 + x**2) ** Rational(1, 3)), sqrt(2) * Mean(x**3), Mean(exp(sp.pi * x)), Mean((1 + x**2) ** a),
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
        (Mean(log(x)), ()), (Mean(sqrt(x)), ()), (Mean(x ** Rational(1, 3)), ()), (Mean(1 / (x + 2)), ()),
        (Mean(Abs(x + 2)), ["Abs"]), (Mean(sp.sign(x + 2) * x), ["sign"]),
        (Mean(Piecewise((x, x > -2), (0, True))), ["Piecewise"]), (Mean(Max(x, -2)), ["Max"]),
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
    switched = Feature(Mean(Piecewise((x**2, m > 0), (0, True))), allow_nonsmooth=["Piecewise"])
    found = field_at(switched, Point(SAMPLE, {}, EXACT))[0]
    assert found == ([2 * v for v in SAMPLE] if sum(SAMPLE) > 0 else [0] * len(SAMPLE))


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


@pytest.mark.parametrize(("y", "u"), [(1, 2), (1, -2), (-1, 2), (-1, -2), (3, 0), (-3, 0), (0, 2)])
def test_angles_in_every_quadrant(y: int, u: int) -> None:
    """Value and derivatives of atan2(y, u) at a point of the plane, by the formulas y/r^2, u/r^2 and theirs."""
    point = Point([Fraction(y), Fraction(u)], {}, INTERVAL, coordinates(2))
    jet = point.jet(atan2(*coordinates(2)))
    r = Fraction(u * u + y * y)
    with mpmath.workdps(60):
        low, high = map(mpmath.mp.make_mpf, jet.value._mpi_)
        assert low <= mpmath.atan2(y, u) <= high and high - low < 1e-38
    for found, exact in ((jet.grad[0], u / r), (jet.grad[1], -y / r), (jet.hess[0, 0], -2 * u * y / r**2),
                         (jet.hess[0, 1], (y * y - u * u) / r**2), (jet.hess[1, 1], 2 * u * y / r**2)):
        assert INTERVAL.is_zero(found - INTERVAL.number(Fraction(exact))) and found.delta.b < 1e-38
    rational = Point([Fraction(y), Fraction(u)], {}, EXACT, coordinates(2)).jet(atan2(*coordinates(2)))
    assert rational.value is None and rational.grad == {0: u / r, 1: -y / r}


def test_the_origin_has_no_angle() -> None:
    for world in (EXACT, INTERVAL):
        with pytest.raises(OutsideDomain):
            Point([Fraction(0), Fraction(0)], {}, world, coordinates(2)).jet(atan2(*coordinates(2)))


@pytest.mark.parametrize("world", [EXACT, INTERVAL], ids=["exact", "intervals"])
def test_a_moved_point_composes(world: World) -> None:
    """f(g(x)) by moving the point along g is the jet of the expression f(g(x)); parameters may move as well."""
    inner = x**2 + m * x
    point = Point(SAMPLE, {}, world)
    moved = point.moved([point.jet(inner, x, n) for n in range(3)], {a: point.jet(m)})
    found = moved.jet(Mean(a * x**3) + Mean(x) ** 2)
    expected = point.jet(m * Mean(inner**3) + Mean(inner) ** 2)
    assert world.is_zero(found.value - expected.value) and found.grad.keys() == expected.grad.keys()
    assert all(world.is_zero(found.grad[k] - v) for k, v in expected.grad.items())
    assert all(world.is_zero(found.hess[k] - v) for k, v in expected.hess.items())


def test_pieces_of_a_moved_point() -> None:
    """An enclosure on one side of the edge chooses its piece; one that reaches over the edge has none."""
    step = Piecewise((x**2, x > 1), (x, True))
    iv = INTERVAL.iv
    point = Point(SAMPLE, {}, INTERVAL)
    assert point.moved([Jet(iv.mpf([2, 3]))]).jet(step, x, 0).value.b == 9
    for over in (iv.mpf([0, 2]), iv.mpf(1), iv.mpf([2, iv.inf])):
        with pytest.raises(OutsideDomain):
            point.moved([Jet(over)]).jet(step, x, 0)
    with pytest.raises(Irrational):
        Point(SAMPLE, {}, EXACT).moved([Jet(None)]).jet(step, x, 0)
