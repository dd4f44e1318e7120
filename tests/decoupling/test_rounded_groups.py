"""Whole numbers and fractions that float64 rounds, in groups of features: exact differences, and true reasons."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symdecouple as sd
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x

STEPS = (1, 3, 4, 9, 10)
ROW_NEAR = np.array([0.3, 2.0, -1.0, 0.7, 1.5])
ROUNDED = {"int64": np.array([2**60 + k for k in STEPS]), "int": [2**53 + k for k in STEPS],
           "Fraction": [Fraction(10**25 + k, 3) for k in STEPS]}


@pytest.mark.parametrize("second", [Mean(x**2), sd.variance()])
@pytest.mark.parametrize("kind", ROUNDED)
def test_a_group_that_takes_the_offset_away_sees_exact_differences(kind: str, second: Any) -> None:
    """Its end is shift and scale of the sample: z standardized from whole numbers, at any mean and second moment."""
    mean = Fraction(sum(STEPS), 5)
    deviation = float(sum((k - mean) ** 2 for k in STEPS) / 5) ** 0.5
    z = np.array([float(k - mean) for k in STEPS]) / deviation
    for group in (sd.Group(Mean(x), second), sd.Group(second, Mean(x))):
        is_first = str(next(iter(sd.FeatureSet([group])))) == "Mean(x)"
        goal = [1.0, 3.0] if is_first else [3.0, 1.0]
        plan = sd.decouple([group], [0, 1] if is_first else [1, 0])
        scale = 3.0**0.5 if second != Mean(x**2) else 2.0**0.5
        for options in ({}, {"dps": 20}):
            np.testing.assert_allclose(plan.normalize(ROUNDED[kind], 2, **options).astype(float), z, atol=1e-14)
            np.testing.assert_allclose(plan.match(ROUNDED[kind], goal, **options).astype(float), 1 + scale * z,
                                       atol=1e-13)


@pytest.mark.parametrize("kind", ROUNDED)
@pytest.mark.parametrize("features", [
    [Mean(x**2)], [Mean(x**2), Mean(x)], [sd.Group(Mean(x**2), Mean(x**4))], [sd.Group(Mean(x), Mean(x**3))],
    [sd.Group(Mean(x), Mean(x**2)), Mean(x**4)], [Mean(Filter([1, 2, 1])(x) ** 2)],
    [sd.Group(Mean(Filter([1, 2, 1])(x) ** 2), Mean(Filter([1, 1, 1])(x) ** 2))],
    [Mean(x**2), Mean(x * Filter([1, 2, 1])(x))]], ids=str)
def test_values_that_differ_have_no_variance_of_zero(kind: str, features: list[Any]) -> None:
    """What float64 cannot tell is said to be that, with a remedy; perturbed, weighed and masked, too."""
    plan, hidden = sd.decouple(features), np.ma.masked_array([*ROUNDED[kind], 5], mask=[0] * 5 + [1])
    count = len(plan.features)
    calls = [plan.transform, plan.gradients, plan.normalize, lambda s, **o: plan.normalize(s, count, **o),
             lambda s, **o: plan.match(s, plan.own_values(ROW_NEAR), **o)]
    found = [call(ROUNDED[kind], on_refusal="return") for call in calls]
    if plan.choice.is_of_sets:
        found += [call(hidden, on_refusal="return") for call in calls[:4]]
        found += [plan.normalize(ROUNDED[kind], count, weights=[1, 2, 1, 1, 1], on_refusal="return")]
    for values, (outcome,) in found:
        assert outcome.ok or (outcome.reason in ("beyond float64", "out of range") and "dps=" in outcome.detail)
        assert outcome.ok == bool(np.isfinite(np.ma.filled(values, 0)).all())


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_many_integers_that_float64_rounds_are_refused_as_soon_as_they_are_read(kind: Any) -> None:
    """Half an ulp is 128 near 2^60, which is 2^-26, half of the digits, of a range of 2^33."""
    plan = sd.decouple([Mean(x**2), Mean(x)], [1, 0])
    for span, is_lost in ((10**6, True), (2**32, True), (2**34, False)):
        numbers = np.random.default_rng(0).integers(0, span, 300_000, dtype=kind) + kind(2**60)
        numbers[:2] = 2**60, 2**60 + span
        numbers[2] = 2**60 + 128
        begin = time.process_time()
        outcome = plan.transform(numbers, on_refusal="return")[1][0]
        assert time.process_time() - begin < 0.5
        assert (outcome.reason == "beyond float64") == is_lost
        one_by_one = plan.transform(numbers[:500].astype(object), on_refusal="return")[1][0]
        assert one_by_one.reason == outcome.reason
