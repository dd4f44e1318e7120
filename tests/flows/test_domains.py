"""Trends, tie rules and conditions against what a hand calculation gives."""

import pytest
from sympy import Abs, Expr, Integer, Rational, exp, log, sqrt

from symdecouple import FeatureSet, Mean, skewness, variance, x
from symdecouple.flows.domains import conditions, skewness_asked, spans_moebius, trend_of

M, S = Mean(x), sqrt(variance())


@pytest.mark.parametrize(("third", "trend"), [
    (Mean(x**3), 1), (skewness(), 1), (-skewness(), -1), (exp(-skewness()), -1), (skewness() ** 2, 0),
    (skewness() ** 3 + skewness(), 0)])
def test_trend_is_the_sign_of_the_leading_coefficient(third: Expr, trend: int) -> None:
    """The last one is increasing, which is not found: 0 means not proved."""
    assert trend_of(FeatureSet([M, variance(), third]), [Integer(1), x, x**2], (x - M) / S) == trend


def test_conditions_name_denominators_roots_and_logarithms() -> None:
    assert conditions(x - M) == []
    assert conditions((x - M) / S) == ["-Mean(x)**2 + Mean(x**2) > 0"]
    assert conditions(x + M / Abs(M)) == ["Mean(x) != 0"]
    assert conditions(x + log(M) + sqrt(Mean(x**3))) == ["Mean(x**3) >= 0", "Mean(x) > 0"]
    assert conditions(x - log(Mean(exp(x)))) == []


def test_skewness_asked_needs_moebius_leaves() -> None:
    features, fields, before = FeatureSet([M, variance(), 3 * skewness()]), [Integer(1), x, x**2], (x - M) / S
    assert skewness_asked(features, Integer(1), fields, before) == Rational(1, 3)
    assert skewness_asked(features, Integer(1), fields, before + 1) == Rational(1, 3)  # which no shift changes
    assert skewness_asked(features, Integer(1), [Integer(1), x, exp(x)], before) is None
    assert spans_moebius([Integer(1), x + 1, x**2 - x], x) and not spans_moebius([Integer(1), x], x)
