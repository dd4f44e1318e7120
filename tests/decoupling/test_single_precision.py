"""float32 samples: what float32 cannot hold is NaN and said, on every road, and leaves what it can hold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symdecouple as sd
from symdecouple.families.moments import raw_moments, standardized_moments
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x

LIMITS = np.finfo(np.float32)
SHAPE = np.array([7.6, 11, 10.9, 8.8, 9.6, 13], np.float32)
SETS: dict[str, tuple[Any, Any]] = {
    "raw": (raw_moments(4), "gaussian"), "standardized": (standardized_moments(4), "gaussian"),
    "second and fourth": ([Mean(x**2), Mean(x**4)], [1, 3]), "lag": ([Mean(x**2), Mean(x * sd.shift(1)(x))], [1, 0]),
    "energies": (sd.families.second_order_moments([[1, 1, 1], [-1, 0, 1]]), "gaussian"),
}


def at(unit: float) -> Any:
    return (SHAPE.astype(float) * unit).astype(np.float32)


@pytest.mark.parametrize("unit", [1e20, 2e25, 1e37, 1e-22, 1e-30])
@pytest.mark.parametrize("name", SETS)
def test_what_float32_cannot_hold_is_said(name: str, unit: float) -> None:
    row, plan = at(unit), sd.decouple(*SETS[name])
    wide = row.astype(float)
    values, (outcome,) = plan.transform(row, on_refusal="return")
    expected = plan.transform(wide)
    fits = (abs(expected) <= LIMITS.max) & (abs(expected) >= LIMITS.tiny)
    assert not fits.all()
    assert values.dtype == np.float32 and outcome.reason == "out of range" and "float32" in outcome.detail
    np.testing.assert_array_equal(np.isfinite(values), fits)
    np.testing.assert_allclose(values[fits], expected[fits], rtol=1e-6)
    both, outcomes = plan.transform(np.array([SHAPE, row]), on_refusal="return")
    assert [o.ok for o in outcomes] == [True, False] and np.isfinite(both[0]).all()
    assert plan.transform(wide, on_refusal="return")[1][0].ok


def test_plans_say_what_statistics_say() -> None:
    plan = sd.decouple(raw_moments(4))
    for unit in (1e20, 1.0, 1e-22):
        row = at(unit)
        for more in ({}, {"weights": [1, 2, 1, 1, 3, 1]}):
            values, (outcome,) = plan.transform(row, on_refusal="return", **more)
            expected, (told,) = sd.stats.decoupled_moments(row, order=4, on_refusal="return", **more)
            assert outcome.reason == told.reason
            np.testing.assert_allclose(values, expected, rtol=2e-6)
    hidden = np.ma.masked_array(at(1e20), [0, 0, 0, 0, 0, 1])
    assert plan.transform(hidden, on_refusal="return")[1][0].reason == "out of range"


@pytest.mark.parametrize("more", [{}, {"weights": [1, 2, 1, 1, 3, 1]}, {"weights": [1, 2, 1, 0.5, 3, 1]}])
def test_a_gradient_beyond_float32_leaves_the_others(more: Any) -> None:
    row = at(1e-40)
    assert 0 < row.min() < LIMITS.tiny
    plan = sd.decouple(raw_moments(4))
    slopes, (outcome,) = plan.gradients(row, on_refusal="return", **more)
    assert outcome.reason == "out of range" and "float32" in outcome.detail
    np.testing.assert_array_equal(np.isfinite(slopes).all(axis=1), [True, True, False, False])
    assert np.isnan(slopes[2:]).all()
    exact = list(map(Fraction, row.tolist()))
    weights = list(map(Fraction, more.get("weights", [1] * 6)))
    mean = sum(w * v for w, v in zip(weights, exact, strict=True)) / sum(weights)
    expected = [float(2 * w * (v - mean) / sum(weights)) for w, v in zip(weights, exact, strict=True)]
    np.testing.assert_allclose(slopes[1], expected, atol=2 * float(LIMITS.smallest_subnormal))


@pytest.mark.parametrize(("targets", "is_there"), [
    ([0, 1, 0.1, 2], True), ([0, 1e30, 0.1, 2], True), ([0, 1e90, 0.1, 2], False), ([1e39, 1e70, 0.1, 2], False),
    ([1e9, 1, 0.1, 2], False), ([0, 1e-99, 0.1, 2], False), ([1e9, 1e14, 0.1, 2], True)])
def test_samples_beyond_float32_are_refused(targets: list[float], is_there: bool) -> None:
    """Too large, or all of them rounded to one number."""
    plan = sd.decouple(standardized_moments(4))
    normalized = plan.normalize(SHAPE)
    for found, (outcome,) in (plan.denormalize(normalized, targets, on_refusal="return"),
                              plan.match(SHAPE, [*targets[:3], 1.9], on_refusal="return")):
        assert outcome.ok == is_there and np.isfinite(found).all() == is_there and found.dtype == np.float32
        assert is_there or (outcome.reason == "out of range" and "float32" in outcome.detail and np.isnan(found).all())
        assert not is_there or found.min() < found.max()


def test_noise_about_zero_is_no_small_value() -> None:
    row = (np.array([-3, -1, 1, 3]) * 1e-15 + 1e-24).astype(np.float32)
    values, (outcome,) = sd.decouple([Mean(x), Mean(x**2)], [0, 1]).transform(row, on_refusal="return")
    assert outcome.ok and np.isfinite(values).all()


@pytest.mark.parametrize(("unit", "other", "is_lost"), [
    (1.0, [2.5, 4.0], False), (1e37, [2.5, 200.0], True), (1e-42, [2.5, 4.0], False), (1e-46, [2.5, 4.0], True),
    (1e-46, [2.5, 3e38], False)])
@pytest.mark.parametrize("features", [raw_moments(2), sd.families.second_order_moments([[0, 1, 0], [-1, 0, 1]])])
def test_other_values_that_float32_cannot_hold(features: Any, unit: float, other: list[float], is_lost: bool) -> None:
    source = np.array([1.0, 2, 3, 5, 8, 13])
    done = sd.decouple(features).transfer(source, source[::-1] ** 1.02 * unit)
    other = other * 3
    wide = done.apply(other)
    values, (outcome,) = done.apply(np.array(other, np.float32), on_refusal="return")
    assert values.dtype == np.float32 and outcome.ok != is_lost
    if is_lost:
        assert outcome.reason == "out of range" and np.isnan(values).all()
    else:
        np.testing.assert_allclose(values, wide, rtol=1e-6, atol=LIMITS.tiny)
