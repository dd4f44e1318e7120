"""Waves and exponentials of large numbers: digits before the point are felt, and are there, or it is said."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy as sp

import symdecouple as sd
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x

FAR_FUNCTIONS: dict[str, tuple[Any, Callable[[Any], Any], float]] = {
    "sine": (sp.sin(x), mpmath.sin, 1e60), "phase": (sp.cos(3 * x + 1), lambda v: mpmath.cos(3 * v + 1), 1e25),
    "exponential": (sp.exp(x), mpmath.exp, 1e30), "hyperbolic": (sp.cosh(x), mpmath.cosh, 1e12),
    "bell": (sp.exp(-(x**2)), lambda v: mpmath.exp(-v * v), 1e9), "sine of a square": (
        sp.sin(x**2), lambda v: mpmath.sin(v * v), 1e30)}


@pytest.mark.parametrize("name", FAR_FUNCTIONS)
@pytest.mark.parametrize("dps", [16, 30])
def test_functions_that_feel_the_last_digit_of_a_large_number_have_theirs(name: str, dps: int) -> None:
    """Waves and exponentials of numbers of so many digits, whatever is taken off before."""
    body, function, size = FAR_FUNCTIONS[name]
    base = int(size)
    sample = [Fraction(base * k, 3) + k for k in (0, 1, 3, 7)]
    found = sd.decouple([Mean(x), Mean(body)], [0, 1]).transform(sample, dps=dps)[1]
    with mpmath.workdps(600):
        mean = sum(sample) / 4
        values = [function(mpmath.mpf((v - mean).numerator) / (v - mean).denominator) for v in sample]
        expected = mpmath.fsum(values) / 4
        assert abs(found - expected) < abs(expected) * mpmath.mpf(10) ** (2 - dps)


@pytest.mark.parametrize("offset", [-300, -100, -60, -36, -30, -20, -16, 30, 36, 50, 100])
def test_an_exponential_far_below_its_target_is_reached(offset: int) -> None:
    """Mean(exp(x)) = 1 on y = -log(exp(-x) - t), with t in units of its distance from exp(-max x)."""
    steps = [0, Fraction(3, 10), Fraction(11, 10), 2, Fraction(5, 2)]
    plan = sd.decouple([Mean(sp.exp(x)), Mean(x)], [1, 0])
    sample = [offset + k for k in steps]
    with mpmath.workdps(500):
        points = [mpmath.exp(-mpmath.mpf(Fraction(v).numerator) / Fraction(v).denominator) for v in sample]
        apart = [p - points[-1] for p in points]
        low, high = mpmath.mpf(1) / 8, mpmath.mpf(2)
        for _ in range(1600):
            middle = (low + high) / 2
            is_above = mpmath.fsum(1 / (a + middle) for a in apart) > 5
            low, high = (middle, high) if is_above else (low, middle)
        expected = mpmath.fsum(-mpmath.log(a + low) for a in apart) / 5
    value = plan.transform(sample, dps=20)[1]
    assert abs(value - expected) < 1e-18 * abs(expected)
    values, (outcome,) = plan.transform([float(v) for v in sample], on_refusal="return")
    assert abs(values[1] - expected) < 1e-14 if outcome.ok else outcome.reason == "beyond float64"


@pytest.mark.parametrize("sample", [[10**4 + k for k in (1, 2, 5)], [0, 1, 2, 10**6], [10**100, 3 * 10**100, 10**99]])
def test_exponentials_that_no_digits_reach_are_refused_soon(sample: list[int]) -> None:
    """exp(10000) beside 1 takes 4300 digits: they are not tried; of float64 the exponentials may be beyond."""
    plan = sd.decouple([Mean(sp.exp(x))], [1])
    begin = time.process_time()
    (one,), (other,) = (plan.normalize(sample, 1, dps=dps, on_refusal="return")[1] for dps in (None, 30))
    assert one.reason in ("beyond float64", "out of range") and other.reason.startswith("beyond ")
    assert time.process_time() - begin < 10
