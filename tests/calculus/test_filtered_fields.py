"""Gradients, brackets and jets of filtered features, every boundary: against SymPy in explicit coordinates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from sympy import Rational

from symdecouple import Feature, Filter, InvalidInput, Mean, Sample, coordinates, lie_bracket, sample, x
from symdecouple.calculus.elementary import World
from symdecouple.calculus.jets import Point, bracket_at, field_at
from symdecouple.language.boundaries import BOUNDARIES
from symdecouple.language.canonical import canonical

EXACT = World(None)
VALUES = [Fraction(1, 2), Fraction(-2), Fraction(3), Fraction(5, 3), Fraction(1), Fraction(-1, 4)]


SMALL = {"circular": (4,), "zero": (2, 2), "half-sample": (4,), "whole-sample": (2, 2)}
SIX = {"circular": (2, 3), "zero": (6,), "half-sample": (2, 3), "whole-sample": (6,)}


def pair(boundary: str, shape: tuple[int, ...], t: Sample = x) -> tuple[sp.Expr, sp.Expr]:
    """Two features with products, powers, nested filters and nested averages of one sample."""
    if len(shape) == 1:
        h, g = Filter([1, 2, 4], boundary=boundary), Filter([1, -1], origin=0, boundary=boundary)
    else:
        h = Filter([[1, 2], [3, 5]], origin=(0, 1), boundary=boundary)
        g = Filter([[1], [2], [-1]], boundary=boundary).adjoint
    return (Mean(t * g(h(t**2))) + Mean(h(t)) ** 2 + Mean(g.adjoint(h(t) ** 2 + 3)),
            Mean((h(t) - Mean(g(t))) ** 2))


@pytest.mark.parametrize(("boundary", "shape", "t"), [*((b, SMALL[b], x) for b in BOUNDARIES),
                                                       ("zero", (4,), sample("t", positive=True))], ids=str)
def test_gradient_and_canonical_form(boundary: str, shape: tuple[int, ...], t: Sample) -> None:
    for expr in pair(boundary, shape, t):
        written_out = Feature(expr).at(n_samples=shape)
        points = written_out.coordinates
        expected = [len(points) * written_out.expr.diff(c) for c in points]
        found = Feature(expr).gradient.at(n_samples=shape).components
        assert all(sp.expand(u - v) == 0 for u, v in zip(found, expected, strict=True))
        assert sp.expand(Feature(canonical(expr, t)).at(n_samples=shape).expr - written_out.expr) == 0


@pytest.mark.parametrize(("boundary", "shape"), SMALL.items(), ids=str)
def test_brackets(boundary: str, shape: tuple[int, ...]) -> None:
    f, g = map(Feature, pair(boundary, shape))
    found = lie_bracket(f, g).at(n_samples=shape).components
    expected = lie_bracket(f.at(n_samples=shape), g.at(n_samples=shape)).components
    rule = dict(zip(coordinates(4), map(Rational, ("3/7", "-5/3", "2", "11/5")), strict=True))
    there = [c.xreplace(rule) for c in expected]
    assert any(there) and [c.xreplace(rule) for c in found] == [16 * c for c in there], "N grad f, N = 4"


@pytest.mark.parametrize(("boundary", "shape"), SIX.items(), ids=str)
def test_jets(boundary: str, shape: tuple[int, ...]) -> None:
    """Value, gradient and Hessian at a rational sample, and the bracket of two features from them."""
    point = Point(VALUES, {}, EXACT, shape=shape)
    columns: list[Any] = []
    here = [Rational(v.numerator, v.denominator) for v in VALUES]
    for expr in pair(boundary, shape):
        polynomial = sp.Poly(Feature(expr).at(n_samples=shape).expr, *coordinates(6))
        assert point.jet(expr).value == polynomial(*here)
        field, rows = field_at(Feature(expr), point)
        slopes = [6 * polynomial.diff(c) for c in coordinates(6)]
        assert field == [slope(*here) for slope in slopes]
        assert all(rows[i].get(j, 0) == rows[j].get(i, 0) == slopes[i].diff(c)(*here)
                   for i in range(6) for j, c in enumerate(coordinates(6)[: i + 1]))
        columns.append((field, rows))
    (u, du), (v, dv) = columns
    assert bracket_at(*columns, point) == [sum(dv[i].get(j, 0) * u[j] - du[i].get(j, 0) * v[j] for j in range(6))
                                           for i in range(6)]


def test_a_moved_point_keeps_its_grid() -> None:
    h = Filter([[1, 2], [3, 5]], origin=(0, 1), boundary="zero")
    point = Point(VALUES, {}, EXACT, shape=(2, 3))
    moved = point.moved([point.jet(2 * x, x, k) for k in range(6)])
    assert moved.jet(Mean(h(x) ** 2)).value == 4 * point.jet(Mean(h(x) ** 2)).value
    with pytest.raises(InvalidInput, match="filters in 2 dimensions"):
        Point(VALUES, {}, EXACT).jet(Mean(h(x) ** 2))
    with pytest.raises(InvalidInput, match=r"6 samples are no grid of shape \(2, 2\)"):
        Point(VALUES, {}, EXACT, shape=(2, 2))
