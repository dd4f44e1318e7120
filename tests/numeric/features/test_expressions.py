"""Compiled averages against the same formulas written in NumPy, in Fractions and in mpmath."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from sympy import Rational, Symbol, cos, cosh, exp, log, pi, sin, sqrt, tanh

from symdecouple import Feature, FeatureSet, InvalidInput, Mean, UnsupportedExpression, coordinates, sample, x
from symdecouple.language.statistics import kurtosis, skewness, variance
from symdecouple.numeric.features.expressions import Compiled, as_multiprecision
from symdecouple.numeric.features.features import CompiledFeatures
from tests.numeric.features.along import derivative

DATA = np.random.default_rng(7).normal(size=(3, 2, 11))


def m(a: Any) -> Any:
    return a.mean(axis=-1, keepdims=True)


FORMULAS: list[tuple[Any, Any]] = [
    (Mean(x), m),
    (variance(), lambda a: a.var(axis=-1, keepdims=True)),
    (skewness(), lambda a: m((a - m(a)) ** 3) / a.var(axis=-1, keepdims=True) ** 1.5),
    (kurtosis(), lambda a: m((a - m(a)) ** 4) / a.var(axis=-1, keepdims=True) ** 2),
    (Mean(log(cosh(x - Mean(x)))), lambda a: m(np.log(np.cosh(a - m(a))))),
    (Mean(exp(Mean(x * Mean(x**2)) * x)), lambda a: m(np.exp(m(a * m(a**2)) * a))),
    (x * Mean(x**2) - Mean(x), lambda a: a * m(a**2) - m(a)),
    (sin(x) + pi / 3, lambda a: np.sin(a) + np.pi / 3),
    (sp.Integer(5), lambda a: np.full((*a.shape[:-1], 1), 5.0)),
    (Rational(1, 3) * x, lambda a: a / 3),
    (sqrt(2) * Mean(tanh(x)) ** 2, lambda a: np.sqrt(2) * m(np.tanh(a)) ** 2),
]


@pytest.mark.parametrize(("expr", "formula"), FORMULAS, ids=[str(row[0]) for row in FORMULAS])
def test_against_numpy(expr: Any, formula: Any) -> None:
    (found,) = Compiled([expr], x)(DATA)
    expected = formula(DATA)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("expr", [row[0] for row in FORMULAS], ids=[str(row[0]) for row in FORMULAS])
def test_fifty_digits_against_float64_and_a_hundred_digits(expr: Any) -> None:
    function = Compiled([expr], x)
    with mpmath.workdps(100):
        (best,) = function(as_multiprecision(DATA[0]))
    with mpmath.workdps(50):
        (found,) = function(as_multiprecision(DATA[0]))
    assert found.shape == function(DATA[0])[0].shape
    np.testing.assert_allclose(found.astype(float), function(DATA[0])[0], rtol=1e-12, atol=1e-14)
    assert all(abs(a - b) < mpmath.mpf(10) ** -47 * (1 + abs(b)) for a, b in zip(found.flat, best.flat, strict=True))


def test_fractions_stay_exact_where_the_formula_is_rational() -> None:
    points = [Fraction(1, 3), Fraction(-7, 2), Fraction(4), Fraction(0)]
    mean = sum(points) / 4
    (found,) = Compiled([Mean((x - Mean(x)) ** 4) - Mean(x**2)], x)(np.array(points, dtype=object))
    assert found[0] == sum((p - mean) ** 4 for p in points) / 4 - sum(p**2 for p in points) / 4
    assert isinstance(found[0], Fraction)


def test_arguments_are_numbers_or_columns() -> None:
    t = Symbol("t")
    function = Compiled([Mean(x * exp(t * x)), t], x, [t])
    expected = (DATA * np.exp(0.25 * DATA)).mean(axis=-1, keepdims=True)
    np.testing.assert_allclose(function(DATA, 0.25)[0], expected, rtol=1e-14)
    column = np.full((3, 2, 1), 0.25)
    np.testing.assert_allclose(function(DATA, column)[0], expected, rtol=1e-14)
    assert (function(DATA, column)[1] == column).all()
    assert len(function) == 2


def test_averages_that_occur_twice_are_computed_once_and_calls_agree() -> None:
    function = Compiled([variance(), skewness(), kurtosis()], x)
    assert len(function._steps) == 4  # x, x**2, third and fourth central moment
    first, second = function(DATA), function(DATA)
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    row = function(DATA[1, 1])
    assert all(np.allclose(a[1, 1], b, rtol=1e-13) for a, b in zip(first, row, strict=True))


def test_nothing_is_unrolled_over_samples() -> None:
    def seconds(n: int) -> float:
        begin = time.perf_counter()
        function = Compiled([kurtosis(), Mean(log(cosh(x - Mean(x))))], x)
        function._functions(multiprecision=False)
        function(np.linspace(0, 1, n))
        return time.perf_counter() - begin

    seconds(3)
    assert seconds(100_000) < seconds(10) + 0.5


@pytest.mark.parametrize("expr", [Symbol("a") * Mean(x), Mean(Symbol("a") * x**2), coordinates(2)[0]])
def test_unbound_parameters(expr: Any) -> None:
    with pytest.raises(InvalidInput, match="must be bound to numbers first"):
        Compiled([expr], x)


def test_hostile_names_do_not_reach_the_compiler() -> None:
    evil = Symbol("__import__('os').getcwd()")
    (found,) = Compiled([Mean(x) * evil], x, [evil])(np.array([1.0, 3.0]), 4.0)
    assert found == 8.0


def test_as_multiprecision_takes_every_exact_kind() -> None:
    with mpmath.workdps(40):
        given = [1, 0.5, np.float32(0.25), np.int64(7), Fraction(1, 3), Rational(2, 7), sqrt(2), mpmath.mpf(3), "0.1"]
        third, root = mpmath.mpf(1) / 3, mpmath.sqrt(2)
        expected = [1, 0.5, 0.25, 7, third, mpmath.mpf(2) / 7, root, 3, mpmath.mpf("0.1")]
        found = as_multiprecision(given)
        assert found.dtype == object and all(isinstance(v, mpmath.mpf) for v in found)
        assert all(abs(a - b) < mpmath.mpf(10) ** -39 for a, b in zip(found, expected, strict=True))
        assert as_multiprecision([]).shape == (0,)
        assert as_multiprecision(DATA).shape == DATA.shape


@pytest.mark.parametrize("bad", [1j, sp.I, None, "word", Symbol("a")])
def test_as_multiprecision_refuses_what_is_no_real_number(bad: Any) -> None:
    with pytest.raises(InvalidInput, match="expected real numbers"):
        as_multiprecision([1, bad])


@pytest.mark.parametrize("power", [3, 4, 5, 7, 11, 64, 65, -3, -4, -65])
def test_powers_are_products(power: int) -> None:
    rows = np.random.default_rng(1).uniform(-1.5, 1.5, size=(2, 40))
    (found,) = Compiled([x**power], x)(rows)
    np.testing.assert_allclose(found, rows**power, rtol=abs(power) * 2.3e-16)


# --- derivatives along fields that are given by numbers ---

DERIVED: list[Any] = [
    Mean(x),
    variance(),
    skewness(),
    Mean(log(cosh(x - Mean(x)))),
    Mean(exp(Mean(x * Mean(x**2)) * x)),
    x * Mean(x**2) - Mean(x),
    sin(x) + pi / 3,
    Mean(x**3) * cos(Mean(x) * x),
]


@pytest.mark.parametrize("expr", DERIVED, ids=map(str, DERIVED))
def test_pullbacks_against_mpmath_differences(expr: Any) -> None:
    rng = np.random.default_rng(2)
    values, direction = rng.normal(size=(2, 3, 7))
    function = Compiled([expr], x)
    (expected,) = derivative(function, values, direction)
    weights = rng.normal(size=expected.shape)
    with mpmath.workdps(60):
        exact = function.pullback(as_multiprecision(values), [as_multiprecision(weights)])
    for found, rtol in ((function.pullback(values, [weights]), 1e-12), (exact.astype(float), 2e-15)):
        assert found.shape == values.shape
        each = m(found * direction), m(weights * expected)
        np.testing.assert_allclose(*each, rtol=0, atol=rtol * (1 + np.abs(found).max()) * np.abs(direction).max())


def test_derivatives_with_arguments_and_away_from_kinks() -> None:
    t = Symbol("t")
    rows = np.array([[-1.0, 2.0, 4.0]])
    one = np.ones((1, 1))
    assert Compiled([t * Mean(x**2)], x, [t]).pullback(rows, [one], 3.0).tolist() == [[-6.0, 12.0, 24.0]]
    for expr, weights in ((Mean(sp.Abs(x)), one), (sp.sign(x) * x, np.ones((1, 3)))):
        assert Compiled([expr], x).pullback(rows, [weights]).tolist() == [[-1.0, 1.0, 1.0]]


def test_a_slope_survives_where_its_parts_overflow() -> None:
    found = Compiled([log(cosh(x))], x).pullback(np.array([800.0, -2000.0]), [np.ones(2)])
    assert found.tolist() == [1.0, -1.0]


# --- feature sets ---


def test_compiled_features_against_the_calculus() -> None:
    expressions = [Mean(x), variance(), kurtosis(), Mean(x**2)]
    features = CompiledFeatures(FeatureSet(expressions))
    rows = DATA[0]
    np.testing.assert_allclose(features.values(rows)[:, 1:3], np.stack(
        [rows.var(axis=1), ((rows - m(rows)) ** 4).mean(axis=1) / rows.var(axis=1) ** 2], axis=1), rtol=1e-13)
    gradients = features.gradients(rows)
    assert gradients.shape == (2, 4, 11) and features.gradients(rows, 2).shape == (2, 2, 11)
    np.testing.assert_allclose(gradients[:, 1], 2 * (rows - m(rows)), rtol=1e-13, atol=1e-15)
    assert (gradients[:, 0] == 1).all()
    weights = np.random.default_rng(5).normal(size=(3, 2, 4, 11))
    found = features.curvature(rows, weights)
    expected = np.zeros((3, 2, 11))
    for j, expr in enumerate(expressions):  # the derivative of each field along its own weight
        field = Compiled([Feature(expr).gradient.expr], x)
        expected += [np.broadcast_to(derivative(field, rows, w[:, j])[0], rows.shape) for w in weights]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def test_rows_of_mpmath_numbers_that_divide_by_zero_are_nan_alone() -> None:
    a = Symbol("a", real=True)
    compiled = Compiled([a / Mean(x), x / Mean(x), Mean(log(x**2))], x, [a])
    rows = as_multiprecision([[1, -1, 4], [1, -2, 1], [0, 1, 5]])
    for found, alone in zip(compiled(rows, as_multiprecision([[2], [3], [4]])), compiled(rows[0], 2), strict=True):
        assert found.dtype == object and found[0].tolist() == alone.tolist()
        assert all(map(mpmath.isnan, found[1:].flat))


def test_outside_of_the_domain_everything_is_nan() -> None:
    features = CompiledFeatures(FeatureSet([Mean(sample("x", interval=(0, 2)) ** 2)]))
    rows = np.array([[0.5, 1.0], [0.5, 2.0], [-1.0, 1.0]])
    assert np.isnan(features.values(rows)).tolist() == [[False], [True], [True]]
    assert np.isnan(features.gradients(rows))[:, 0, 0].tolist() == [False, True, True]


def test_features_of_coordinates_are_refused() -> None:
    with pytest.raises(UnsupportedExpression, match="coordinates"):
        CompiledFeatures(FeatureSet([coordinates(2)[0]]))
