"""Samples in far units, on orbits that are no scalings: the numbers, or the true reason why there are none."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import Rational, log, sqrt

import symdecouple as sd
from symdecouple import Mean, x

BASE = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
HIGH, LOW = sd.Filter([-1, 2, -1]), sd.Filter([1, 1, 1])
POSITIVE = sd.sample("x", positive=True)
QUIET: Any = {"on_refusal": "return"}


def moved(unit: Any, digits: int) -> Any:
    """Mean(sqrt(x^2 + c)), the orbit of Mean(log(x)), where Mean(log sqrt(x^2 + c)) = 0, c by bisection."""
    with mpmath.workdps(digits):
        squares = [(mpmath.mpf(unit) * int(v)) ** 2 for v in BASE]
        low, high = mpmath.mpf(0), mpmath.mpf(4)  # of c + the least square
        for _ in range(int(mpmath.mp.prec)):
            middle = mpmath.sqrt(low * high) if low else high / 2**64
            total = mpmath.fsum(mpmath.log(s - squares[0] + middle) for s in squares)
            low, high = (low, middle) if total > 0 else (middle, high)
        return mpmath.fsum(mpmath.sqrt(s - squares[0] + high) for s in squares) / len(squares)


@pytest.mark.parametrize("sample", [x, POSITIVE])
@pytest.mark.parametrize("unit", ["1e-200", "1e-100", "1e-10", "1", "100"])
def test_logarithms_in_digits(sample: Any, unit: str) -> None:
    plan = sd.decouple([Mean(log(sample)), Mean(sample)], [0, 1])
    with mpmath.workdps(60):
        row = [mpmath.mpf(unit) * int(v) for v in BASE]
        wanted = mpmath.fsum(map(mpmath.log, row)) / 5, moved(unit, 200)
    found = plan.transform(row, dps=40)
    with mpmath.workdps(60):
        off = [float(abs(f - w) / (1 + abs(w))) for f, w in zip(found, wanted, strict=True)]
    assert max(off) < 1e-38


@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1e-160, 1e10, 1e100, 1e200, 1e300])
def test_logarithms_in_float64_give_the_true_reason(unit: float) -> None:
    """The orbit ends where the least number is 0, and takes every value of Mean(log(x)) before: nothing is a pole."""
    plan = sd.decouple([Mean(log(x)), Mean(x)], [0, 1])
    values, (outcome,) = plan.transform(unit * BASE, **QUIET)
    assert outcome.reason in ("out of range", "beyond float64") and np.isnan(values[1])
    assert values[0] == pytest.approx(float(np.mean(np.log(unit * BASE))), rel=1e-15)


@pytest.mark.parametrize("feature", [1 / POSITIVE, sqrt(POSITIVE), POSITIVE ** Rational(3, 2), POSITIVE**-2])
@pytest.mark.parametrize("unit", [1e-200, 1e-100, 1.0, 1e100, 1e200])
def test_powers_in_far_units_are_right_or_refused_with_a_reason_of_numbers(feature: Any, unit: float) -> None:
    """The same in both precisions, or float64 alone says that numbers are beyond it."""
    plan = sd.decouple([Mean(feature), Mean(POSITIVE)], [1, 1])
    values, (outcome,) = plan.transform(unit * BASE, **QUIET)
    precise, (other,) = plan.transform(unit * BASE, dps=30, **QUIET)
    if outcome.ok:
        assert other.ok or other.reason.startswith("beyond ")
    if outcome.ok and other.ok:
        assert values == pytest.approx(precise.astype(float), rel=1e-12)
    if not outcome.ok and other.ok:
        assert outcome.reason in ("out of range", "beyond float64")


def test_a_shift_out_of_the_domain_is_refused_in_any_precision() -> None:
    plan = sd.decouple([Mean(POSITIVE), Mean(1 / POSITIVE)], [1, 1])
    for dps in (None, 20):
        assert plan.transform(BASE, dps=dps, **QUIET)[1][0].reason == "pole"
    plan = sd.decouple([log(Mean(POSITIVE)), Mean(log(POSITIVE))], [1, 1])
    assert plan.transform(1e100 * BASE, dps=20, **QUIET)[1][0].reason == "pole"


@pytest.mark.parametrize("power", [-1030, -700, -540, -180, 0, 180, 540, 1000, 1013])
@pytest.mark.parametrize(("features", "degree", "near"), [
    ([sd.kurtosis()], 0, 1e-13), ([sd.standard_deviation()], 1, 1e-13), ([Mean(x) * sqrt(Mean(x**2))], 2, 1e-13),
    ([Mean(HIGH(x) ** 4) / Mean(HIGH(x) ** 2) ** 2], 0, 1e-13), ([Mean(x**2), Mean(LOW(x) ** 4)], 0, 1e-11)])
def test_values_and_gradients_of_homogeneous_features_in_far_units(features: list[Any], degree: int, near: float,
                                                                   power: int) -> None:
    """f(2^k x) = 2^(dk) f(x), and d - 1 for gradients: right where float64 holds it, whatever powers on the way do."""
    plan, row = sd.decouple(features, [1, 3][: len(features)]), BASE - 3
    power = max(power, -1000) if len(features) == 2 else power  # what is subnormal is not followed along a path
    for kind, d in (("transform", degree), ("gradients", degree - 1)):
        method = getattr(plan, kind)
        found, (outcome,) = method(np.ldexp(row, power), **QUIET)
        with np.errstate(all="ignore"):
            wanted = np.ldexp(method(row)[-1:], d * power)
        if np.isfinite(wanted).all() and np.abs(wanted).max() > 2.0**-1022:
            np.testing.assert_allclose(found[-1:], wanted, rtol=near, atol=near * np.abs(wanted).max())
        else:
            assert outcome.reason == "out of range" and np.isnan(found[-1:]).all()
    if len(features) == 2:
        assert abs(np.vecdot(method(row)[1], row)) < 1e-12 * np.linalg.norm(method(row)[1]) * np.linalg.norm(row)


@pytest.mark.parametrize("power", [520, 700, 1013])
def test_the_mean_before_energies_is_taken_away_in_far_units(power: int) -> None:
    plan = sd.decouple([Mean(x), Mean(HIGH(x) ** 2)], [0, 6])
    np.testing.assert_allclose(np.ldexp(plan.normalize(np.ldexp(BASE, power)), -power), BASE - BASE.mean(), rtol=1e-14)


@pytest.mark.parametrize("unit", [1e-100, 1e-30, 1e-10, 1.0])
def test_a_flow_to_infinity_reaches_a_sample_of_any_unit(unit: float) -> None:
    """Mean(x^3) = 1 on y = 1/(1/x - t), by bisection: far below 1 that is near the pole, as near as digits reach."""
    plan, row = sd.decouple([Mean(x**3), Mean(x)], [1, 0]), unit * BASE
    with mpmath.workdps(400):
        apart = [1 / mpmath.mpf(v) - 1 / mpmath.mpf(row.max()) for v in row]
        low, high = mpmath.mpf(0), mpmath.mpf(9)
        for _ in range(300):
            middle = (low + high) / 2
            low, high = (middle, high) if mpmath.fsum((a + middle) ** -3 for a in apart) > 5 else (low, middle)
        expected = mpmath.fsum(1 / (a + high) for a in apart) / 5
    assert plan.transform(row, dps=20)[1] == pytest.approx(float(expected), rel=1e-15)
    values, (outcome,) = plan.transform(row, **QUIET)
    assert outcome.reason in ("beyond float64", "out of range") or values[1] == pytest.approx(float(expected), rel=1e-9)
    assert plan.transform(-row, **QUIET)[1][0].reason in ("level 1 not attainable", "out of range")
