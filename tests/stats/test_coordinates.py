"""log_shape and circular_shape: fits and digits of others, laws, arguments, refusals."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize

from symdecouple.stats import circular_shape, log_shape, orthokurtosis
from tests.stats import oracle

ANGLES = np.array([-2.9, -1.0, 0.3, 0.8, 2.8, 2.1, -0.4])
# Directions of 76 turtles after laying their eggs, degrees (Stephens 1969; Fisher 1993, B.3).
TURTLES = np.radians([
    8, 9, 13, 13, 14, 18, 22, 27, 30, 34, 38, 38, 40, 44, 45, 47, 48, 48, 48, 48, 50, 53, 56, 57, 58, 58, 61, 63, 64,
    64, 64, 65, 65, 68, 70, 73, 78, 78, 78, 83, 83, 88, 88, 88, 90, 92, 92, 93, 95, 96, 98, 100, 103, 106, 113, 118,
    138, 153, 153, 155, 204, 215, 223, 226, 237, 238, 243, 244, 250, 251, 257, 268, 285, 319, 343, 350])


def fitted(angles: np.ndarray, weights: np.ndarray | None = None) -> tuple[float, float]:
    """By maximum likelihood of the wrapped Cauchy law, (1 - |a|^2)/|1 - conj(a) z|^2 over 2 pi, with SciPy."""
    z = np.exp(1j * np.asarray(angles, dtype=float))
    shares = np.full(len(z), 1 / len(z)) if weights is None else np.asarray(weights) / np.sum(weights)

    def centre(v: np.ndarray) -> complex:
        return complex(complex(v[0], v[1]) / np.sqrt(1 + v[0] ** 2 + v[1] ** 2))

    def loss(v: np.ndarray) -> float:
        a = centre(v)
        return float(-np.log(1 - abs(a) ** 2) + (shares * np.log(np.abs(1 - np.conj(a) * z) ** 2)).sum())

    found = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-15, "maxiter": 4000})
    a = centre(found.x)
    w = (z - a) / (1 - np.conj(a) * z)
    second, fourth = (shares * w**2).sum(), (shares * w**4).sum()
    return abs(second), (second**2 * np.conj(fourth)).imag


def precise(angles: list[Any], digits: int = 50) -> tuple[Any, Any]:
    """By the iteration a <- the point that Mean(w) stands for, in many digits (it converges slowly, and surely)."""
    with mpmath.workdps(digits):
        z = [mpmath.expj(mpmath.mpf(t)) for t in angles]
        a = mpmath.mpc(0)
        for _ in range(4000):
            m = mpmath.fsum((v - a) / (1 - mpmath.conj(a) * v) for v in z) / len(z)
            a = (a + m) / (1 + mpmath.conj(a) * m)
            if abs(m) < mpmath.mpf(10) ** (5 - digits):
                break
        w = [(v - a) / (1 - mpmath.conj(a) * v) for v in z]
        second, fourth = (mpmath.fsum(v**k for v in w) / len(w) for k in (2, 4))
        return abs(second), mpmath.im(second**2 * mpmath.conj(fourth))


def moved(angles: np.ndarray, dilation: float, direction: float = 0.0) -> np.ndarray:
    """A Moebius map of the disc: tan of half the angle is multiplied."""
    return 2 * np.arctan(np.tan((angles - direction) / 2) * dilation) + direction


# --- the circle -------------------------------------------------------------------------------------------------


def test_the_value_of_the_design() -> None:
    assert circular_shape([-2.9, -1, 0.3, 0.8, 2.8]).tail == pytest.approx(0.389947071606217, rel=1e-14)


@pytest.mark.parametrize("sample", [ANGLES, TURTLES, np.array([0.1, 0.2, 0.4, 3.0, -2.0, 1.0])], ids=len)
def test_a_fit_of_the_wrapped_cauchy_law(sample: np.ndarray) -> None:
    assert circular_shape(sample) == pytest.approx(fitted(sample), abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_fifty_digits(seed: int) -> None:
    sample = np.random.default_rng(seed).normal(size=9 + seed) * (0.3, 1, 2, 8)[seed]
    expected = precise(sample.tolist())
    assert np.abs(np.subtract(circular_shape(sample), [float(v) for v in expected])).max() < 2e-14


@pytest.mark.parametrize("dilation", [3.0, 19, 1999, 2e6, 2e9])
def test_moebius_maps_change_nothing(dilation: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(5):
        angles, direction = rng.uniform(-np.pi, np.pi, 40), rng.uniform(-3, 3)
        found, after = circular_shape(angles), circular_shape(moved(angles, dilation, direction))
        assert np.abs(np.subtract(found, after)).max() < 4e-15 * dilation


def test_rotations_and_full_turns_change_nothing() -> None:
    found = circular_shape(TURTLES)
    turns = np.random.default_rng(1).integers(-9, 10, len(TURTLES)) * 2 * np.pi
    for other in (TURTLES + 1, TURTLES - 17.3, TURTLES + turns):
        assert np.abs(np.subtract(circular_shape(other), found)).max() < 1e-13


def test_symmetric_samples_have_no_odd_part_and_reflected_ones_the_other_sign() -> None:
    half = np.array([0.2, 0.9, 1.0, 1.7, 3.0])
    assert abs(circular_shape(np.concatenate([half, -half]) + 0.7).odd) < 1e-15
    assert circular_shape(-ANGLES).odd == pytest.approx(-circular_shape(ANGLES).odd, rel=1e-11)
    assert abs(circular_shape(ANGLES).odd) > 1e-3


def test_three_angles_have_no_shape_and_five_no_odd_part() -> None:
    rng = np.random.default_rng(3)
    assert max(circular_shape(rng.uniform(-3, 3, (50, 3)), axis=1).tail) < 1e-12
    assert np.abs(circular_shape(rng.uniform(-3, 3, (50, 5)), axis=1).odd).max() < 1e-12
    assert np.abs(circular_shape(rng.uniform(-3, 3, (50, 6)), axis=1).odd).max() > 1e-3


def test_evenly_spaced_angles_have_none() -> None:
    assert np.abs(circular_shape(np.arange(7) * 2 * np.pi / 7 + 0.3)).max() < 1e-15


def test_crowded_angles_keep_their_digits() -> None:
    """The circle is a line there: the limit is the shape of the Cauchy law's own coordinate."""
    gaps = np.array([1.0, 2, 3, 5, 8, 13, 14])
    assert np.abs(np.subtract(circular_shape(gaps * 1e-9), circular_shape(gaps * 1e-12))).max() < 1e-9
    expected = precise([mpmath.mpf(float(g)) for g in gaps / 1000])
    assert np.abs(np.subtract(circular_shape(gaps / 1000), [float(v) for v in expected])).max() < 1e-12


@pytest.mark.parametrize("angles, exists", [
    ([0, 0, 1, 2], False), ([0, 0, 1, 2, 3], True), ([0, 2 * np.pi, 1, 2], False), ([0, 0, 1], False), ([1, 2], False),
    ([0, 1, 2], True), ([0, 0, np.pi, np.pi], False), ([0, 0, 0, 1, 2, 3, 4], True), ([5, 5, 5], False),
    ([-np.pi, np.pi, 1, 2], False), ([0.1, 0.1 + 8 * np.pi, 0.1 - 6 * np.pi, 1, 2, 3], False),
    ([0, 1e-300, 1, 2], False), ([0, 1e-9, 1, 2], True), ([0, 1, np.inf], False)])
def test_existence_by_counting_ties_modulo_full_turns(angles: list[float], exists: bool) -> None:
    shape, (outcome,) = circular_shape(angles, on_refusal="return")
    assert outcome.ok is exists and np.isfinite(shape).all() == exists
    assert exists or outcome.reason in ("no barycentre", "one direction", "infinite value")


def test_shares_of_weights_decide() -> None:
    weights = np.array([1, 2, 3, 1, 0, 2, 4])
    found = circular_shape(ANGLES, weights=weights)
    assert found == pytest.approx(fitted(ANGLES, weights), abs=1e-7)
    (outcome,) = circular_shape([0, 1, 2], weights=[2, 1, 1], on_refusal="return")[1]
    assert outcome.reason == "no barycentre" and "share of 0.5" in outcome.detail
    assert circular_shape([0, 1, 2], weights=[1.99, 1, 1]).tail < 1


def test_exact_numbers() -> None:
    exact = circular_shape([Fraction(29, 10), Decimal("0.3"), mpmath.mpf(1), 2, Fraction(5)])
    assert exact == pytest.approx(circular_shape([2.9, 0.3, 1, 2, 5]), abs=1e-14)


def test_angles_of_many_turns_in_exact_numbers() -> None:
    far = 10**40
    assert circular_shape([far, far + 1, far + 2, far + 4]) == pytest.approx(circular_shape([0, 1, 2, 4]), abs=1e-13)


@pytest.mark.parametrize(("base", "kind"), [(2**60, np.int64), (-(2**63), np.int64), (2**53, np.int64),
                                            (2**64 - 10**7, np.uint64)])
def test_angles_of_large_integers(base: int, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of many is taken in digits; multiples of 710, nearly 113 full turns, lie within a hundredth."""
    steps = np.random.default_rng(1).integers(0, 10**7, size=9)
    crowd = np.array([0, 1, 2, 5, 7, 11]) * 710
    expected = [precise([base + int(k) for k in each], 60) for each in (steps, crowd)]
    monkeypatch.setattr(mpmath, "workdps", None)
    for each, (tail, odd), bound in zip((steps, crowd), expected, (1e-14, 1e-11), strict=True):
        sample = np.array(base, dtype=kind) + each.astype(kind)
        hidden = np.ma.array(np.append(sample, kind(3)), mask=[False] * len(sample) + [True])
        for given in (sample, hidden):
            assert circular_shape(given) == pytest.approx((float(tail), float(odd)), abs=bound)


# --- positive numbers -------------------------------------------------------------------------------------------


def test_log_shape_is_the_orthokurtosis_of_logarithms() -> None:
    sample = np.random.default_rng(2).lognormal(size=(5, 40))
    assert log_shape(sample, axis=1) == pytest.approx(orthokurtosis(np.log(sample), axis=1), rel=1e-15)


def test_log_shape_feels_no_unit_and_no_power() -> None:
    sample = np.random.default_rng(4).gamma(2, size=30)
    for other in (1e200 * sample, 1e-200 * sample, sample**3, 1 / sample):
        assert log_shape(other) == pytest.approx(log_shape(sample), rel=1e-12)


@pytest.mark.parametrize(("base", "kind"), [(2**53, np.int64), (2**60, np.int64), (2**63, np.uint64)])
def test_log_shape_of_large_integers(base: int, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the smallest of them logarithms are powers of what integers differ by; none of many is taken in digits."""
    steps = np.random.default_rng(0).integers(0, 10**6, size=12)
    sample = np.array(base, dtype=kind) + steps.astype(kind)
    part = [Fraction(int(k), base) for k in steps]
    expected = float(oracle.orthokurtosis([r - r**2 / 2 + r**3 / 3 - r**4 / 4 for r in part]))
    hidden = np.ma.array(np.append(sample, kind(3)), mask=[False] * 12 + [True])
    monkeypatch.setattr(mpmath, "workdps", None)
    assert log_shape(sample) == pytest.approx(expected, rel=1e-14)
    assert log_shape(hidden) == pytest.approx(expected, rel=1e-14)


def test_log_shape_of_exact_numbers() -> None:
    """Neighbours that float64 cannot tell apart."""
    far = 10**30
    assert log_shape([far + 1, far + 2, far + 4, far + 9]) == pytest.approx(orthokurtosis([1, 2, 4, 9]), rel=1e-12)
    assert log_shape([Fraction(1, 3), Fraction(2, 3), 1, 5]) == pytest.approx(log_shape([1, 2, 3, 15]), rel=1e-13)


@pytest.mark.parametrize("value", [0, -1, -0.0, Fraction(-1, 2), -10**30])
def test_numbers_that_are_not_positive_are_said(value: Any) -> None:
    shape, (outcome,) = log_shape([value, 1, 2, 3], on_refusal="return")
    assert np.isnan(shape) and outcome.reason == "outside the domain" and "positive" in outcome.detail
    assert log_shape([value, 1, 2, 3, 5], weights=[0, 1, 1, 1, 1]) == pytest.approx(log_shape([1, 2, 3, 5]), rel=1e-14)
    masked = np.ma.array([float(value), 1, 2, 3, 5], mask=[True, False, False, False, False])
    assert log_shape(masked) == pytest.approx(log_shape([1, 2, 3, 5]), rel=1e-14)


def test_other_refusals_of_log_shape_are_those_of_the_orthokurtosis() -> None:
    for sample, reason in (([1, 1, 1, 2, 3], "no zero-skew point"), ([2, 2, 2], "zero variance"), ([1.0], "one sample"),
                           ([1, np.inf, 2], "infinite value"), ([np.nan, -1, 2], "nan in the input")):
        assert log_shape(sample, on_refusal="return")[1][0].reason == reason


@pytest.mark.parametrize("offset", [2.0**20, 2.0**35, 2.0**46, 2.0**50, 2.0**60, 2.0**900])
def test_logarithms_of_numbers_far_from_zero(offset: float) -> None:
    """Their differences are rounded once, by logarithms of 60 digits; and a hidden entry is not looked at."""
    steps = np.spacing(offset) * np.array([1.0, 3, 4, 9, 10, 17]) * 4
    sample = offset + steps
    with mpmath.workdps(400):
        logs = [mpmath.log(mpmath.mpf(value)) for value in sample.tolist()]
        centred = [(value - logs[0]) / (logs[-1] - logs[0]) for value in logs]
        expected = orthokurtosis([float(value) for value in centred])
    assert log_shape(sample) == pytest.approx(expected, rel=1e-12)
    assert log_shape(np.stack([sample, 1 / sample]), axis=1)[0] == log_shape(sample)
    hidden = np.ma.masked_array([*sample, 1e308, -1], mask=[0] * 6 + [1, 1])
    assert log_shape(hidden) == log_shape(sample)
