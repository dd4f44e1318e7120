"""Reference values against closed forms, mpmath quadrature at another precision, and scipy's laws."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy import stats
from sympy import Rational, Symbol, cos, cosh, exp, factorial2, log, sin, sqrt, tanh

from symdecouple import Feature, FeatureSet, Filter, InvalidInput, Mean, UnsupportedExpression, decouple, sample, x
from symdecouple.decoupling.reference import Reference, reference_values
from symdecouple.families import filter_moments, tils
from symdecouple.language.filters import shift
from symdecouple.language.statistics import central_moment, kurtosis, skewness, variance

THREE = FeatureSet([Mean(x), variance(), kurtosis()])
H, G = Filter([1, -2, 4]), Filter([3, 1, 5], origin=0)


def value_of(expr: Any, reference: Any = "gaussian") -> Any:
    (value,) = reference_values(FeatureSet([expr]), reference)
    return value


# --- the normal law -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(1, 11))
def test_moments_are_double_factorials(k: int) -> None:
    assert value_of(Mean(x**k)) == (factorial2(k - 1) if k % 2 == 0 else 0)


@pytest.mark.parametrize(("phi", "expected"), [
    (exp(x), exp(Rational(1, 2))),
    (exp(-2 * x), exp(2)),
    (cos(x), exp(-Rational(1, 2))),
    (sin(x), 0),
    (cos(3 * x), exp(-Rational(9, 2))),
    (x * sin(x), exp(-Rational(1, 2))),
    (x**2 * exp(-x), 2 * exp(Rational(1, 2))),
    (cosh(x), exp(Rational(1, 2))),
    (sin(x) ** 2, (1 - exp(-2)) / 2),
    (exp(x) * cos(x), cos(1)),
    (x * exp(-x) * sin(x), cos(1) + sin(1)),
])
def test_exact_expectations(phi: Any, expected: Any) -> None:
    assert sp.simplify(value_of(Mean(phi)) - expected) == 0


@pytest.mark.parametrize("phi", [x**2 * exp(-x), x * sin(x), exp(x) * cos(x), tanh(x) ** 2, log(cosh(x)),
                                 1 / (1 + x**2), sqrt(1 + x**2), x**3 * exp(x) * sin(2 * x), tanh(x - 1)])
def test_expectations_by_quadrature(phi: Any) -> None:
    function = sp.lambdify([x], phi, "mpmath")
    with mpmath.workdps(35):
        expected = mpmath.quad(lambda v: function(v) * mpmath.npdf(v), [-30, -5, -1, 0, 1, 5, 30])
        found = mpmath.mpf(value_of(Mean(phi)).evalf(35)._mpf_)
        assert abs(found - expected) < mpmath.mpf(10) ** -25


@pytest.mark.parametrize(("expr", "expected"), [(kurtosis(), 3), (skewness(), 0), (variance(), 1),
                                                (central_moment(6), 15), (Mean((x - Mean(x**2)) ** 2), 2),
                                                (Mean(x) ** 2 + Mean(x**2), 1),
                                                (Mean(cos(H(x))), exp(-Rational(21, 2))),
                                                (Mean((H(x) - 1) ** 2 + 3 * x * shift(2)(x) + 5), 21 + 1 + 5),
                                                (Mean(H(x) ** 2) - Mean(H(x)) ** 2, 21),
                                                (Mean(H(x) ** 4) / Mean(H(x) ** 2) ** 2, 3)])
def test_nested_averages_and_outputs_of_filters(expr: Any, expected: Any) -> None:
    assert value_of(expr) == expected
    assert value_of(expr, "white") == expected


@pytest.mark.parametrize(("expr", "error", "said"), [
    *((expr, InvalidInput, "give") for expr in (log(Mean(x)), 1 / Mean(x**3), Mean(exp(x**2)), Mean(1 / x))),
    (Mean(log(x)), InvalidInput, "not real for every real sample"),
    (Mean(log(sample("x", positive=True))), InvalidInput, "give it as a number"),
    (Symbol("a") * Mean(x**2), InvalidInput, "bind"),
    (Mean(Filter([1, 2, 1], boundary="zero")(x) ** 2), UnsupportedExpression, "circular"),
    (Mean(cos(H(x)) * G(x)), UnsupportedExpression, "independent"),
    (Mean(Filter("h")(x) ** 2), InvalidInput, "bound to taps")], ids=str)
def test_expectations_that_do_not_exist(expr: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        value_of(expr)


def by_taps(*filters: Filter) -> float:
    """E of a product of filter outputs: the moments of independent normal numbers, tap by tap."""
    total = 0.0
    for lags in product(*(h.lags.items() for h in filters)):
        counts = [sum(lag == other for lag, _ in lags) for other in {lag for lag, _ in lags}]
        if all(c % 2 == 0 for c in counts):
            total += prod(float(tap) for _, tap in lags) * prod(int(factorial2(c - 1)) for c in counts)
    return total


@pytest.mark.parametrize("filters", [(H, H), (H, G), (H, H, G, G), (H, G, G, G), (H,) * 6, (H, H, G)],
                         ids=lambda f: f"{f.count(H)}{f.count(G)}")
def test_products_of_outputs_are_sums_over_taps(filters: tuple[Filter, ...]) -> None:
    assert float(value_of(Mean(prod(h(x) for h in filters)))) == pytest.approx(by_taps(*filters), rel=1e-15)


def test_a_function_of_one_output_is_one_integral() -> None:
    expected = stats.norm(scale=np.sqrt(21)).expect(lambda z: np.log(np.cosh(z)), -60, 60)
    assert float(value_of(Mean(log(cosh(H(x)))))) == pytest.approx(expected, rel=1e-10)


def test_references_of_the_source() -> None:
    assert reference_values(filter_moments(tils(), (2, 3, 4, 6)), "white") == (1,) * 9 + (0,) * 9 + (3,) * 9 + (15,) * 9


# --- other laws -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("law", "expr", "expected"), [
    (stats.uniform(), Mean(x), 0.5),
    (stats.uniform(), variance(), 1 / 12),
    (stats.uniform(-1, 2), kurtosis(), 1.8),
    (stats.uniform(), Mean(exp(x)), np.e - 1),
    (stats.expon(), Mean(x**3), 6),
    (stats.expon(), skewness(), 2),
    (stats.expon(), kurtosis(), 9),
    (stats.expon(), Mean(sin(x)), 0.5),
    (stats.t(5), Mean(x**4), 25),
    (stats.norm(1, 2), Mean(cos(x)), np.cos(1) * np.exp(-2)),
])
def test_frozen_laws(law: Any, expr: Any, expected: float) -> None:
    assert float(value_of(expr, law)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("df", "phi"), [(3, x**4), (4, x**4), (1, x**2), (3, x**3 * sin(x) ** 2), (1, x),
                                         (2, exp(x))])
def test_infinite_expectations_are_refused(df: int, phi: Any) -> None:
    with pytest.raises(InvalidInput, match="not finite"):
        value_of(Mean(phi), stats.t(df))


# --- given values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [(0, 1, 3), [0, 1, 3], np.array([0.0, 1.0, 3.0]), (0, np.int64(1), Fraction(3)),
                                   (v for v in (0, 1, 3))])
def test_values_in_order(given: Any) -> None:
    assert reference_values(THREE, given) == (0, 1, 3)


def test_the_last_feature_needs_no_value() -> None:
    assert reference_values(THREE, (0, 1)) == (0, 1, None) == reference_values(THREE, [0, 1, None])
    with pytest.raises(InvalidInput, match="feature 2 has no reference value but None"):
        reference_values(THREE, (0, None, 3))
    assert reference_values(FeatureSet([Mean(x)]), ()) == (None,)


def test_floats_are_the_decimals_they_print_as() -> None:
    assert reference_values(THREE, (0.1, np.float64(0.3), 2.5)) == (Rational(1, 10), Rational(3, 10), Rational(5, 2))


@pytest.mark.parametrize("given", [(0,), (0, 1, 3, 4), ()])
def test_wrong_numbers_of_values(given: Any) -> None:
    with pytest.raises(InvalidInput, match=r"3 features take 3 reference values \(or 2"):
        reference_values(THREE, given)


@pytest.mark.parametrize("bad", [np.nan, float("inf"), -np.inf, 1j, sp.I, True, np.bool_(False), "1", None, sp.oo,
                                 sp.nan, Symbol("a"), Mean(x), [1], np.ones(2), sp.zoo])
def test_values_that_are_no_numbers(bad: Any) -> None:
    with pytest.raises(InvalidInput):
        reference_values(THREE, (0, bad, 3))
    with pytest.raises(InvalidInput):
        Reference.of([0, 1, bad])


@pytest.mark.parametrize("bad", ["normal", 3, None, object()])
def test_unknown_references(bad: Any) -> None:
    with pytest.raises(InvalidInput, match="gaussian"):
        reference_values(THREE, bad)


def test_mappings_by_text_and_by_feature() -> None:
    expected = (0, 2, 3)
    assert reference_values(THREE, {"mean(x)": 0, Feature(variance()): 2, kurtosis(): 3}) == expected
    assert reference_values(THREE, {kurtosis(): 3, "mean(x^2) - mean(x)^2": 2, Mean(x): 0.0}) == expected
    assert reference_values(THREE, {"mean(x)": 0, variance(): 2}) == (0, 2, None)


@pytest.mark.parametrize(("mapping", "message"), [
    ({"mean(x)": 0}, r"no reference value for features \[2\]"),
    ({}, r"features \[1, 2\]"),
    ({"mean(x)": 0, "mean(x^2)": 1}, "no such feature; the features are"),
    ({"mean(x)": 0, Mean(x): 1, variance(): 1}, "two reference values"),
    ({"mean(x)": 0, variance(): float("nan")}, "nan|undefined"),
])
def test_mappings_that_do_not_fit(mapping: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        reference_values(THREE, mapping)


def test_mappings_by_names_of_features() -> None:
    named = FeatureSet([THREE[0], Feature(THREE[1], name="spread"), THREE[2]])
    assert reference_values(named, {"mean(x)": 0, "spread": 2}) == (0, 2, None)


def test_what_a_plan_has_as_its_reference_is_one() -> None:
    plan = decouple(THREE, [0, 2])
    assert plan.reference == (0, 2, None) and decouple(THREE, plan.reference).reference == plan.reference
    with pytest.raises(InvalidInput, match="feature 1 has no reference value but None; only the last"):
        reference_values(THREE, [None, 1, 3])


# --- a reference sample ---------------------------------------------------------------------------------------------


def test_reference_sample_exactly() -> None:
    points: list[Any] = [Fraction(1, 2), -1, 3, 0]
    mean = sum(points, Fraction(0)) / 4
    second, fourth = (sum((p - mean) ** k for p in points) / 4 for k in (2, 4))
    expected = tuple(Rational(v) for v in (mean, second, fourth / second**2))
    assert reference_values(THREE, Reference.of(points)) == expected
    assert reference_values(THREE, Reference.of(np.array([0.5, -1.0, 3.0, 0.0]))) == expected
    assert value_of(Mean(exp(x)), Reference.of([0, 1])) == (1 + sp.E) / 2
    assert value_of(Mean(sqrt(x**2 + 1)), Reference.of([0, Decimal("0.75")])) == Rational(9, 8)


def test_reference_samples_that_are_none() -> None:
    with pytest.raises(InvalidInput, match="at least 2"):
        Reference.of([1])
    with pytest.raises(InvalidInput, match="give a finite real number"):
        reference_values(THREE, Reference.of([2, 2, 2]))


def test_averages_at_a_sample_of_many_numbers() -> None:
    """Polynomials exactly, as sums of fractions; others to 50 digits, beside sums with 80."""
    given = np.random.default_rng(0).normal(size=500).round(3)
    fractions = [Fraction(repr(float(v))) for v in given]
    mean, second = (sum((v**k for v in fractions), Fraction(0)) / 500 for k in (1, 2))
    expected = sum(((v - second) ** 3 for v in fractions), Fraction(0)) / 500 * mean
    assert value_of(Mean(x) * Mean((x - Mean(x**2)) ** 3), Reference.of(given)) == Rational(expected)
    with mpmath.workdps(80):
        numbers = [mpmath.mpf(v.numerator) / v.denominator for v in fractions]
        centre = mpmath.fsum(numbers) / 500
        by_hand = mpmath.fsum(mpmath.log(mpmath.cosh(v - centre)) for v in numbers) / 500
        found = mpmath.mpf(value_of(Mean(log(cosh(x - Mean(x)))), Reference.of(given)).evalf(60)._mpf_)
        assert abs(found - by_hand) < mpmath.mpf(10) ** -49


def test_a_reference_image_in_grey_levels() -> None:
    levels = np.random.default_rng(1).integers(0, 256, (40, 50)).astype(np.uint8)
    taps = Filter(np.array([[1, -1]]), origin=(0, 0))
    features = FeatureSet([Mean(x), Mean(x**2), Mean(taps(x) ** 2)])
    first, second, energy = reference_values(features, Reference.of(levels))
    assert (first, second) == (Rational(int(levels.sum()), 2000), Rational(int((levels.astype(int) ** 2).sum()), 2000))
    difference = levels.astype(float) - np.roll(levels, 1, axis=1)
    assert energy is not None and float(energy) == pytest.approx((difference**2).mean(), rel=1e-13)


def test_numbers_of_a_reference_sample_that_are_not_rational() -> None:
    points = [sqrt(2), -sqrt(2), 1]
    assert value_of(Mean(x**4), Reference.of(points)) == 3
    assert value_of(Mean(x**3), Reference.of(points)) == Rational(1, 3)


@pytest.mark.parametrize("size", [3, 200], ids=["few", "many"])
def test_a_reference_sample_outside_of_the_domain_of_a_function(size: int) -> None:
    with pytest.raises(InvalidInput, match="give a finite real number"):
        value_of(Mean(log(x)), Reference.of(range(-1, size - 1)))


def test_true_among_numbers_is_not_one() -> None:
    with pytest.raises(InvalidInput, match="True"):
        Reference.of([1, 2, True])
