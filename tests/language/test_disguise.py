"""Square factors in radicands are absolute values; inverse functions that fold are refused."""

from __future__ import annotations

from typing import Any

import mpmath
import pytest
import sympy as sp
from sympy import Abs, Rational, acos, acosh, acot, asin, atan, cos, cosh, cot, exp, log, sin, sinh, sqrt, tan, tanh

from symdecouple import Feature, Mean, UnsupportedExpression, sample, variance, x
from symdecouple.language.disguise import folds, is_analytic, unmasked

m, s, q = Mean(x), Mean(x**2), Mean(x**5)
p = sample(positive=True)
u = sample("u", interval=(0, 1))
a = sp.Symbol("a")

HIDDEN = [
    sqrt(x**2 - 2 * x + 1), sqrt(x**2 - 10 * x + 25), sqrt(s**2 - 2 * s * q + q**2),
    (x**2 - 2 * x + 1) ** Rational(3, 2), (x**2 - 2 * x + 1) ** Rational(1, 4), (x**2 - 2 * x + 1) ** Rational(1, 3),
    sqrt(exp(2 * x) - 2 * exp(x) + 1), sqrt(1 - cos(x) ** 2), sqrt(1 + sin(2 * x)), sqrt(cosh(x) ** 2 - 1),
    sqrt(1 - cos(x)), sqrt(x**4 + x**2), sqrt(x**3 * (x - 1)), 1 / sqrt(x**2 - 2 * x + 1), sqrt(x**4 - 2 * x**2 + 1),
    sqrt(x**2 + 2 * x * m + m**2), sqrt(log(p) ** 2 - 2 * log(p) + 1), sqrt(p - 2 * sqrt(p) + 1),
    sqrt((x**2 - 2 * x + 1) / (1 + x**2)), sqrt(x**2 - 2 * sqrt(2) * x + 2), sqrt(x**2 - 2 * a * x + a**2),
    sqrt(tan(x) ** 2 + 2 * tan(x) + 1), sqrt(x**2 + 1 / x**2 - 2), sqrt(2 - 2 * cos(x - m)), sqrt(exp(x) + exp(-x) - 2),
]  # fmt: skip

SMOOTH = [
    sqrt(x**4 + 2 * x**2 + 1), sqrt((1 + exp(x)) ** 2), sqrt(1 + x**2), sqrt(x**3), sqrt(variance()),
    sqrt(p**2 + 2 * p + 1), sqrt(1 + cos(x) ** 2), sqrt(x**2 - 1), sqrt(x), x ** Rational(1, 3), sqrt(2 + sin(x)),
    sqrt(exp(2 * x) + 2 * exp(x) + 1), (x**2 - 2 * x + 1) ** 2, sqrt(1 + s), sqrt(u**2 - 4 * u + 4), sqrt(cosh(x)),
    (1 + x**2) ** Rational(3, 2), ((x - 1) ** 6) ** Rational(2, 3), log(x), 1 / x, p**a, log(x**2 - x), asin(x),
    atan(x), asin(tanh(x)), atan(sinh(x)), atan(exp(x)), acosh(x), acos(x**2), asin(x / sqrt(1 + x**2)), acos(exp(-x)),
]  # fmt: skip

FOLDED = [
    acos(cos(x)), asin(sin(x)), atan(tan(x)), acot(cot(x)), acos(sin(x)), asin(cos(2 * x)), asin(2 * x / (1 + x**2)),
    acos((1 - x**2) / (1 + x**2)), acosh(cosh(x)), atan(1 / sin(x)), atan(2 * tan(x / 2)), acosh(1 + x**2),
    acos(1 - 2 * x**2), acos(1 / cosh(x)), asin(2 * x * sqrt(1 - x**2)),
]  # fmt: skip


def feature(expr: Any, **options: Any) -> Feature:
    return Feature(Mean(expr) if expr.atoms(type(x)) else expr, **options)


@pytest.mark.parametrize("expr", HIDDEN, ids=str)
def test_a_kink_in_disguise_is_refused_like_one_and_can_be_allowed(expr: Any) -> None:
    with pytest.raises(UnsupportedExpression, match="Abs") as refusal:
        feature(expr)
    assert "allow_nonsmooth" in str(refusal.value)
    assert feature(expr, allow_nonsmooth=["Abs"]).allow_nonsmooth == {"Abs"} and not is_analytic([expr])


@pytest.mark.parametrize("expr", HIDDEN, ids=str)
def test_what_it_is_has_the_same_values(expr: Any) -> None:
    shown = unmasked(expr)
    assert shown.has(Abs)
    rule = {m: Rational(3, 10), s: 2, q: 5, a: Rational(1, 3)}
    for point in (Rational(2, 5), Rational(23, 10), Rational(-7, 4)):
        if not (expr.has(p) and point < 0):
            left, right = (e.xreplace(rule).xreplace({x: point, p: point}).evalf(40) for e in (expr, shown))
            assert mpmath.mpf(10) ** -30 > abs(complex(left - right))


@pytest.mark.parametrize("expr", SMOOTH, ids=str)
def test_what_is_smooth_stays_so(expr: Any) -> None:
    assert unmasked(expr) == expr and not folds(expr) and is_analytic([expr])
    feature(expr)


@pytest.mark.parametrize("expr", FOLDED, ids=str)
def test_inverse_functions_that_fold_are_refused(expr: Any) -> None:
    assert folds(expr) == (expr,) and not is_analytic([expr])
    with pytest.raises(UnsupportedExpression, match="write what it is"):
        feature(expr)


def test_roots_that_depend_on_each_other_change_their_relation_from_one_piece_to_the_next() -> None:
    """On x > 1 the first is (x + 1) times the second, on x < -1 minus that."""
    pair = [sqrt(x**2 - 1), sqrt((x - 1) / (x + 1))]
    assert all(is_analytic([e]) for e in pair) and not is_analytic(pair)
    assert is_analytic([sqrt(x), sqrt(1 + x), log(x)]) and not is_analytic([atan(1 / x)])


def test_a_variance_has_no_kink() -> None:
    """It is nowhere below 0, whatever it is the variance of; other differences of averages change their sign."""
    third = Mean((x - Mean(x)) ** 3)
    for u in (x, x**2, exp(x)):
        expr = sqrt(1 + third**4 / (Mean(u**2) - Mean(u) ** 2) ** 6)
        assert unmasked(expr) == expr
        Feature(expr)
    assert unmasked(sqrt(1 + third**4 / (2 * Mean(x) ** 2 - Mean(x**2)) ** 6)).has(Abs)


def test_large_radicands_are_not_factored_and_nothing_is_claimed_about_them() -> None:
    large = sqrt(sum(k * x**k for k in range(1, 40)) + 1)
    assert unmasked(large) == large and not is_analytic([large])
