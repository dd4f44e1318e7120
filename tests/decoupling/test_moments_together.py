"""Moments in groups, in another order, or after a function of the variance: far outliers, offsets and units."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symdecouple as sd
from symdecouple import FeatureSet, Group, Mean, x
from tests.stats.oracle import moments, orthokurtosis

M1, M2, M3, M4, M5 = (Mean(x**k) for k in range(1, 6))
VARIANCE, SKEWNESS, KURTOSIS = sd.variance(), sd.skewness(), sd.kurtosis()
ROW = np.round(np.random.default_rng(0).exponential(size=20) * 2**12) / 2**12
GROUPS: dict[str, list[Any]] = {
    "first three": [Group(M3, M1, M2), M4], "first two": [Group(M2, M1), M3, M4], "second": [M1, Group(M2, M3), M4],
    "shape": [M1, Group(VARIANCE, SKEWNESS), KURTOSIS], "higher": [M1, Group(M2, M3), M4, M5],
    "two levels": [Group(M1, VARIANCE), SKEWNESS, KURTOSIS], "second before first": [Group(M2), M1, M3, M4],
}


def central(row: Any, order: int) -> float:
    """The variance, or a standardized moment."""
    return moments(np.asarray(row).tolist(), order)[order - 1]


@pytest.mark.parametrize("name", GROUPS)
def test_groups_of_moments_with_a_far_outlier(name: str) -> None:
    plan = sd.decouple(FeatureSet(GROUPS[name]))
    for far in (1e3, 1e6, 1e9):
        row = np.append(ROW[:9] - 1, far)
        exact = np.array(plan.transform(row, dps=20), dtype=float)
        np.testing.assert_allclose(plan.transform(row), exact, rtol=2e-10)


@pytest.mark.parametrize("path", ["auto", "narrow"])
@pytest.mark.parametrize("offset", [0.0, 2.0**20, -(2.0**33), 2.0**38])
def test_a_mean_after_the_variance_leaves_the_standardized_sample(path: Any, offset: float) -> None:
    row, features = ROW + offset, [VARIANCE, M1, KURTOSIS]
    values = [Fraction(v) for v in row.tolist()]
    mean, deviation = sum(values) / len(values), central(row, 2) ** 0.5
    standard = [float(v - mean) / deviation for v in values]
    plan = sd.decouple(features, path=path)
    np.testing.assert_allclose(plan.normalize(row, level=2), standard, rtol=0, atol=1e-14)
    np.testing.assert_allclose(plan.normalize(row[:6], level=2, dps=30).astype(float), sd.decouple(
        [M1, M2]).normalize(row[:6], level=2, dps=30).astype(float), rtol=1e-15)
    np.testing.assert_allclose(plan.transform(row)[[0, 2]], [central(row, 2), central(row, 4)], rtol=1e-13)


@pytest.mark.parametrize("path", ["auto", "narrow"])
def test_a_mean_after_the_second_moment_far_from_zero(path: Any) -> None:
    plan = sd.decouple([M2, M1, M3], path=path)
    for offset in (0.0, 2.0**20, -(2.0**33)):
        row = ROW + offset
        np.testing.assert_allclose(plan.transform(row)[2], central(row, 3), rtol=1e-13)


@pytest.mark.parametrize("offset", [2.0**20, 2.0**33, 2.0**39])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_first_feature_that_keeps_the_side_of_the_mean(side: int, offset: float) -> None:
    """The mean goes to 1 or -1, or next to 3; the second moment is the variance and what that squared is."""
    row = side * (ROW + offset)
    for first, goal, end in ((M1**2, 1, side), ((M1 - 3) ** 2, 1, 3 + side), (M1**2, 1e-12, side * 1e-6)):
        plan = sd.decouple([first, M2], [goal, 9])
        np.testing.assert_allclose(plan.transform(row)[1], central(row, 2) + end**2, rtol=1e-12)
        assert plan.normalize(row, level=1).mean() == pytest.approx(end, rel=1e-8)


@pytest.mark.parametrize("path", ["auto", "narrow"])
@pytest.mark.parametrize(("first", "goal"), [(VARIANCE, 1), (sd.standard_deviation(), 2), (sp.log(VARIANCE), 0)])
def test_a_function_of_the_variance_in_any_unit(path: Any, first: Any, goal: int) -> None:
    plan, row = sd.decouple([first, KURTOSIS], [goal, 3], path=path), ROW[:8]
    exact = [np.array(found, dtype=float) for found in (plan.transform(row, dps=25), plan.gradients(row, dps=25))]
    for power in (0, 30, 180, -180, 480):
        unit = 2.0**power
        np.testing.assert_allclose(plan.transform(row * unit)[1:], exact[0][1:], rtol=1e-9)
        slopes = plan.gradients(row * unit)[1:] * unit
        np.testing.assert_allclose(slopes, exact[1][1:], rtol=0, atol=1e-8 * np.abs(exact[1][1:]).max())
        precise = np.array(plan.transform(row * unit, dps=20), dtype=float) if power in (30, 180) else exact[0]
        np.testing.assert_allclose(precise[1], exact[0][1], rtol=1e-15)
    _, (outcome,) = plan.normalize(row * 2.0**180, level=1, on_refusal="return")
    assert outcome.reason == "out of range"  # a deviation of 1 beside a mean of 1e54


@pytest.mark.parametrize("path", ["auto", "narrow"])
@pytest.mark.parametrize(("first", "goal", "end"), [
    (1 / VARIANCE, 4, 0.5), (VARIANCE**2, 16, 2), (VARIANCE**-2, 16, 0.5), (VARIANCE / (1 + VARIANCE), 0.8, 2),
    (sp.exp(-VARIANCE), sp.exp(-4), 2)])
def test_any_monotone_function_of_the_variance_in_any_unit(path: Any, first: Any, goal: Any, end: float) -> None:
    """The fourth moment about the mean is the kurtosis of the sample times that of the deviation it goes to."""
    plan = sd.decouple([first, sd.central_moment(4)], [goal, 0], path=path)
    for power in (0, 30, 60, 100, -100):
        found, _ = plan.transform(ROW * 2.0**power, on_refusal="return")
        np.testing.assert_allclose(found[1], central(ROW, 4) * end**4, rtol=1e-13)
    assert plan.transform(ROW[:8] * 2.0**100, dps=20)[1] == pytest.approx(central(ROW[:8], 4) * end**4, rel=1e-14)


@pytest.mark.parametrize("path", ["auto", "narrow"])
@pytest.mark.parametrize("offset", [-(2.0**20), -8.0, 0.0, 3.0, 10.0, 100.0, 2.0**20])
def test_the_square_of_a_mean_after_the_second_moment(path: Any, offset: float) -> None:
    """Of the second moment 2 the mean keeps 1, of its sign, and the variance 1: beyond a mean of 0 the square is as
    large again, and no step may go there unseen."""
    row = ROW[:8] + offset
    sign = 1 if sum(map(Fraction, row.tolist())) > 0 else -1
    third = central(row, 3) + sign * (3 + 1)  # Mean((z + m)^3) = skewness + 3 m + m^3
    plan = sd.decouple([M2, M1**2, M3], [2, 1, 4], path=path)
    values, (outcome,) = plan.transform(row, on_refusal="return")
    assert outcome.ok or (outcome.reason == "beyond float64" and abs(offset) == 2**20)
    assert not outcome.ok or values[2] == pytest.approx(third, rel=1e-9)
    if abs(offset) < 2**20 or path == "auto":
        assert plan.transform(row, dps=25)[2] == pytest.approx(third, rel=1e-14)


@pytest.mark.parametrize(("far", "path"), [(3.0, "auto"), (1e3, "auto"), (1e6, "auto"), (3.0, "narrow"),
                                           (1e3, "narrow"), pytest.param(1e6, "narrow", marks=pytest.mark.slow)])
def test_moments_about_a_mean_that_is_no_feature(far: float, path: Any) -> None:
    """The kurtosis after the variance and the skewness, of which 50 digits are found on x/(1 - t x)."""
    row = np.append(ROW[:9] - 1, far)
    expected = float(orthokurtosis(row))
    for features in ([VARIANCE, SKEWNESS, KURTOSIS], [Group(VARIANCE, SKEWNESS), KURTOSIS]):
        plan = sd.decouple(FeatureSet(features), path=path)
        for unit, offset in ((1.0, 0.0), (2.0**100, 0.0), (1.0, 2.0**20)) if path == "auto" else ((1.0, 0.0),):
            value = plan.transform(unit * row + offset)[2]
            assert value == pytest.approx(expected, rel=1e-9 if path == "auto" else 3e-6)
        assert plan.transform(row, dps=20)[2] == pytest.approx(expected, rel=1e-14)
