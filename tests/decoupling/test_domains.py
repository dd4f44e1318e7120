"""Outside the domain of a feature every method refuses, in float64 and in many digits; inside, all special functions
have their values in both."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

import symdecouple as sd
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x

SPECIAL: dict[str, Any] = {
    "digamma": (sp.digamma, mpmath.digamma), "trigamma": (lambda v: sp.polygamma(1, v), lambda v: mpmath.psi(1, v)),
    "log gamma": (sp.loggamma, mpmath.loggamma), "gamma": (sp.gamma, mpmath.gamma), "erfc": (sp.erfc, mpmath.erfc),
    "erf": (sp.erf, mpmath.erf), "Bessel": (lambda v: sp.besselj(1, v), lambda v: mpmath.besselj(1, v)),
    "Lambert": (sp.LambertW, mpmath.lambertw),
}


@pytest.mark.parametrize("dps", [None, 30])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_have_values_and_gradients(name: str, dps: int | None) -> None:
    function, known = SPECIAL[name]
    sample = [0.5, 1.25, 2.0, 3.5]
    plan = sd.decouple([Mean(function(x))], [0.7])
    near = 1e-12 if dps is None else mpmath.mpf(10) ** -28
    with mpmath.workdps(45):
        points = [mpmath.mpf(v) for v in sample]
        value = mpmath.fsum(map(known, points)) / 4
        slopes = [mpmath.diff(known, p) / 4 for p in points]
        assert abs(plan.transform(sample, dps=dps)[0] - value) < near * (1 + abs(value))
        gradient = plan.gradients(sample, dps=dps)[0]
        assert max(abs(a - b) / (1 + abs(b)) for a, b in zip(gradient, slopes, strict=True)) < max(near, 1e-26)


MEAN, VARIANCE = Mean(x), sd.variance()
OUTSIDE: dict[str, tuple[Any, list[list[float]]]] = {
    "log of the mean": (sp.log(MEAN), [[-3, -2, -1], [-1, 0, 1], [-4, 1, 2]]),
    "root of the mean": (sp.sqrt(MEAN), [[-3, -2, -1], [-4, 1, 2]]),
    "power of the mean": (MEAN ** sp.Rational(3, 2), [[-3, -2, -1]]),
    "inverse of the mean": (1 / MEAN, [[-1, 0, 1]]),
    "mean of the logarithm in a function": (sp.exp(Mean(sp.log(x))), [[0, 1, 2], [0, 0, 5], [-1, 2, 3]]),
    "harmonic mean": (1 / Mean(1 / x), [[0, 1, 2], [0, 0, 3]]),
    "log gamma": (Mean(sp.loggamma(x)), [[-0.5, 0.5, 0.25], [0, 1, 2], [-2, 1, 3]]),
    "inverse hyperbolic tangent": (Mean(sp.atanh(x)), [[-1, 2, 8], [0, 1, 2], [0.5, 1.5, 0], [-1, 0, 1]]),
    "inverse hyperbolic cosine": (Mean(sp.acosh(x)), [[0, 2, 3], [-2, 2, 3]]),
    "logarithm of a logarithm": (Mean(sp.log(sp.log(x))), [[0.5, 2, 3], [1, 2, 3], [-1, 2, 3]]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dps", [None, 25])
@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_its_domain_a_feature_has_neither_value_nor_gradient(name: str, dps: int | None) -> None:
    feature, samples = OUTSIDE[name]
    for features in ([feature], [feature, Mean(x**2)]):
        plan = sd.decouple(features, [0.7, 2][: len(features)])
        for row in samples:
            values, (said,) = plan.transform(row, dps=dps, on_refusal="return")
            slopes, (told,) = plan.gradients(row, dps=dps, on_refusal="return")
            assert not said.ok and not told.ok and values[0] != values[0]
            assert all(v != v for v in slopes[0])
            if dps is None:
                _, (weighed,) = plan.gradients(row, weights=[1, 2, 1], on_refusal="return")
                assert not weighed.ok
            plan.normalize(row, 1, dps=dps, on_refusal="return")


@pytest.mark.filterwarnings("error")
def test_a_flow_with_complex_pieces_is_not_taken() -> None:
    """dx/dt = 1/(1 - x**2): the values of atanh are means of those of the samples, moved to any reference inside."""
    plan = sd.decouple([Mean(sp.atanh(x)), Mean(x**2)], [0.3, 1])
    for dps in (None, 20):
        there = plan.normalize([-0.5, 0.25, 0.5, 0.0], 1, dps=dps)
        assert abs(sum(map(mpmath.atanh, there)) / 4 - 0.3) < 1e-12
        assert abs(plan.transform([-0.5, 0.25, 0.5, 0.0], dps=dps)[1] - sum(v * v for v in there) / 4) < 1e-12


def test_inside_nothing_is_lost() -> None:
    row = np.array([0.5, 1.0, 3.0])
    plan = sd.decouple([sp.log(MEAN), Mean(x**2)], [0.7, 2])
    np.testing.assert_allclose(plan.transform(row)[0], np.log(1.5), rtol=1e-15)
    np.testing.assert_allclose(plan.gradients(row)[0], 1 / 4.5, rtol=1e-14)


def test_rows_outside_cost_no_other_row() -> None:
    """Whether the number after a quotient by zero is finite, or not."""
    rows = np.random.default_rng(0).uniform(0.5, 2, size=(3000, 5))
    for feature, known in ((1 / Mean(1 / x), lambda r: 1 / (1 / r).mean(axis=1)),
                           (Mean(sp.log(x)), lambda r: np.log(r).mean(axis=1))):
        plan, expected = sd.decouple([feature], [0.7]), known(rows)
        outside = rows.copy()
        outside[[3, 4, 2000], [0, 2, 4]] = 0
        values, outcomes = plan.transform(outside, on_refusal="return")
        assert [i for i, outcome in enumerate(outcomes) if not outcome.ok] == [3, 4, 2000]
        expected[[3, 4, 2000]] = np.nan
        np.testing.assert_allclose(values[:, 0], expected, rtol=1e-14)


@pytest.mark.parametrize("feature", [sp.log(Mean(x)), sp.sqrt(Mean(x)), Mean(x) ** sp.Rational(3, 2)])
@pytest.mark.parametrize("dps", [None, 20])
def test_samples_outside_of_the_domain_of_feature_1_are_not_moved_into_it(feature: Any, dps: Any) -> None:
    plan = sd.decouple([feature, Mean(x**2)], [1, 20])
    rows = [[-5.0, 2, -8], [-1, 2, 8], [-3, 1, 1]]
    at_0, outcomes = plan.normalize(rows, level=0, dps=dps, on_refusal="return")
    assert all(o.ok for o in outcomes) and (at_0 == rows).all()
    for level in (1, 2):
        found, outcomes = plan.normalize(rows, level=level, dps=dps, on_refusal="return")
        others = plan.transform(rows, dps=dps, on_refusal="return")[1]
        assert [o.reason for o in outcomes] == [o.reason for o in others] == ["not finite", "", "not finite"]
        assert [bool(v == v) for v in found[:, 0]] == [False, True, False]
