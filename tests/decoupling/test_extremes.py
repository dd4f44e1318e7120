"""Samples at the ends of float64, of equal values and at the ends of their domain: right, or refused by their cause."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

import symdecouple as sd
from symdecouple import Filter, Group, Mean, sample, x
from symdecouple.families.moments import raw_moments
from tests.stats.oracle import central_moments

STEPS = np.array([1.0, 3, 4, 9, 10])
M = [Mean(x**k) for k in range(5)]
LOW, EDGE, HIGH = (Filter(taps) for taps in ([1, 1, 1], [-1, 0, 1], [-1, 2, -1]))
FOURTH = sd.Feature.from_callable(lambda a: np.mean(np.asarray(a) ** 4, axis=-1), name="fourth")
WITH_MEAN: dict[str, tuple[list[Any], Any]] = {
    "one wave": ([M[1], Mean(sp.sin(x))], [0, 0]), "circle": ([M[1], Mean(sp.sin(x)), Mean(sp.cos(x))], [0, 0, 0.5]),
    "exponentials": ([M[1], Mean(sp.exp(x)), Mean(sp.exp(-x))], [0, 2, 2]), "moments": (M[1:4], [0, 1, 0]),
    "logarithm": ([M[1], Mean(sp.log(1 + x**2))], [0, 1]), "energies": ([M[1], Mean(LOW(x) ** 2)], [0, 3]),
    "outputs": ([M[1], Mean(HIGH(x) ** 4)], [0, 3]), "black box": ([M[1], FOURTH], [0, 3]),
    "affine": ([3 * M[1] - 1, M[2] - M[1] ** 2], [0, 1]),
}


@pytest.mark.parametrize("path", ["auto", "narrow"])
@pytest.mark.parametrize("name", WITH_MEAN)
def test_level_one_of_any_set_is_the_mean(name: str, path: Any) -> None:
    """Of numbers that overflow in a sum, far from zero, or that float64 rounds; as exact fractions have it."""
    features, reference = WITH_MEAN[name]
    plan, (slope, shift) = sd.decouple(features, reference, path=path), (3, -1) if name == "affine" else (1, 0)
    ends = np.array([1.7e308, -1.7e308, 1e308, 5e307, 1.6e308]) / slope
    far, long = STEPS + 2.0**40, np.array([2**60 + int(k) for k in STEPS])
    for row in (ends, far, long, STEPS * 1e200, STEPS * 2e-300):
        (value, *_), (outcome,) = plan.transform(row, on_refusal="return")
        assert value == pytest.approx(float(slope * central_moments(row.tolist(), 0)[0] + shift), rel=1e-15)
        assert outcome.ok or outcome.reason in (
            "out of range", "beyond float64", "not finite", "critical point", "not attainable",
            "level 2 not attainable", "too few active frequencies")
        slopes, (told,) = plan.gradients(row, on_refusal="return")
        assert np.isfinite(slopes).all() == told.ok and not np.isinf(slopes).any()
    for row in (far, long):
        centre = central_moments(row.tolist(), 0)[0]
        expected = [float(Fraction(v) - centre + Fraction(-shift, slope)) for v in row.tolist()]
        assert np.abs(plan.normalize(row, 1) - expected).max() < 1e-14
        assert np.abs(plan.gradients(row)[0] * 5 - slope).max() < 1e-15
        assert np.abs(plan.transform(row)[1:] - plan.transform(STEPS)[1:]).max() < 1e-12


UNFELT: dict[str, tuple[list[Any], list[int], Any]] = {  # features, references, and how features grow with a unit
    "second and fourth": ([M[2], M[4]], [1, 0], [2, 0]), "second and third": ([M[2], M[3]], [1, 0], [2, 0]),
    "group": ([Group(M[1], M[2]), M[3]], [0, 1, 0], [1, 2, 0]),
    "group behind": ([M[1], Group(M[2], M[3])], [0, 1, 0], [1, 2, 3]),
}


@pytest.mark.parametrize("name", UNFELT)
def test_what_a_unit_does_not_reach_is_there_at_any(name: str) -> None:
    features, reference, degrees = UNFELT[name]
    plan = sd.decouple(features, reference)
    row = STEPS - 2
    values, normalized = plan.transform(row), plan.normalize(row)
    for unit in (2.0**-660, 2.0**-100, 2.0**200, 2.0**660):
        found, (outcome,) = plan.transform(unit * row, on_refusal="return")
        assert outcome.reason == ("" if 2 * abs(np.log2(unit)) < 1000 else "out of range")
        fits = np.isfinite(found)
        expected = np.ldexp(values, int(np.log2(unit)) * np.array(degrees) * fits)
        np.testing.assert_allclose(found[fits], expected[fits], rtol=1e-12)
        assert fits[np.array(degrees) == 0].all()
        if not name.endswith("behind"):  # there the default level is the mean alone
            np.testing.assert_allclose(plan.normalize(unit * row), normalized, atol=1e-12)


EQUAL: dict[str, tuple[Any, Any]] = {
    "moments": (raw_moments(3), [0, 1, 0]), "logarithm": ([M[1], M[2], Mean(sp.log(1 + x**2))], [0, 1, 0.5]),
    "energies": ([M[1], Mean(LOW(x) ** 2), Mean(EDGE(x) ** 2)], [0, 3, 2]),
    "outputs": ([Mean(LOW(x) ** 2), Mean(EDGE(x) ** 2), Mean(LOW(x) ** 4)], [3, 2, 27]),
}


@pytest.mark.parametrize("path", ["auto", "narrow", "relaxed"])
@pytest.mark.parametrize("name", EQUAL)
def test_equal_values_have_one_tag_on_every_road(name: str, path: Any) -> None:
    plan = sd.decouple(*EQUAL[name], path=path)
    for value in (0.1, 0.0) if path != "narrow" or name != "outputs" else (0.0,):
        for dps in (None, 15):
            _, (outcome,) = plan.transform([value] * 9, dps=dps, on_refusal="return")
            _, (other,) = plan.gradients([value] * 9, dps=dps, on_refusal="return")
            assert outcome.reason == other.reason == "zero variance"


def test_a_constant_that_has_a_level_has_it_with_digits_too() -> None:
    """The energy of a constant c through taps of sum 3 is 9 c^2: c becomes 1/sqrt(3)."""
    plan = sd.decouple([Mean(LOW(x) ** 2)], [3], path="narrow")
    for dps in (None, 12):
        end = plan.normalize([0.1] * 5, 1, dps=dps)
        assert max(abs(float(v) - 3**-0.5) for v in end) < 1e-11


DOMAINS: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"positive": True}, [[0.0, 1, 2], [-1, 1, 2], [1, 2, -0.0]], [[5e-324, 1, 2]]),
    ({"interval": (sp.Rational(1, 3), 1)}, [[1 / 3, 0.5, 0.6], [0.5, 0.6, 1], [0.5, 2, 0.6]],
     [[np.nextafter(1 / 3, 1), 0.5, np.nextafter(1, 0)]]),
    ({"interval": (-sp.oo, 0)}, [[-1, -2, 0], [0, 0, -1]], [[-1, -2, -1e300]]),
]


@pytest.mark.parametrize("path", ["auto", "narrow"])
@pytest.mark.parametrize(("kind", "outside", "inside"), DOMAINS)
def test_ends_of_an_open_domain_are_refused_on_every_road(kind: Any, outside: Any, inside: Any, path: Any) -> None:
    y = sample("y", **kind)
    for features in ([Mean(y)], [Mean(y**2)], [Mean(sp.atan(y))]):
        plan = sd.decouple(features, [1], path=path)
        for call in (plan.transform, plan.gradients, lambda rows, p=plan, **k: p.normalize(rows, 1, **k)):
            for dps in (None, 15):
                far = 1e30 if dps and features[0].has(sp.atan) else np.inf  # 1e300 takes a quarter of a minute there
                values, outcomes = call(np.maximum(outside + inside, -far), dps=dps, on_refusal="return")
                assert [o.reason for o in outcomes[: len(outside)]] == ["outside the domain"] * len(outside)
                assert all(v != v for v in np.ravel(values[: len(outside)]))
                assert outcomes[-1].reason != "outside the domain"
    code: dict[str, Any] = {}
    exec(sd.decouple([Mean(y**2)], [sp.Rational(1, 4)]).normalizer(1).code(), code)
    for row in outside:
        with pytest.raises(ValueError, match="samples must lie"):
            code["normalize"](row)


@pytest.mark.slow
def test_a_number_far_inside_an_open_domain_is_inside_in_many_digits() -> None:
    plan = sd.decouple([Mean(sp.atan(sample("y", interval=(-sp.oo, 0))))], [1])
    _, (outcome,) = plan.normalize([-1, -2, -1e300], 1, dps=15, on_refusal="return")
    assert outcome.reason == "level 1 not attainable"


def test_exact_numbers_at_the_ends_of_a_domain() -> None:
    y = sample("y", interval=(sp.Rational(1, 3), 2))
    rows = [[Fraction(1, 3), 1, 1], [Fraction(10**30 + 1, 3 * 10**30), 1, sp.sqrt(3)], [1, mpmath.mpf(2), 1]]
    _, outcomes = sd.decouple([Mean(y)], [1]).transform(rows, dps=40, on_refusal="return")
    assert [o.ok for o in outcomes] == [False, True, False]


def test_waves_of_entries_that_are_rounded_are_refused() -> None:
    """Of exact floats at any size they are right: those of mpmath."""
    waves = sd.decouple([Mean(sp.sin(x)), Mean(sp.cos(x))], [0, 0])
    row = [2**60 + k for k in (1, 9, 77, 30)]
    _, outcomes = waves.transform([row, [2**60, 2**61, 1, 2]], on_refusal="return")
    assert outcomes[0].reason == "beyond float64" and outcomes[1].reason != "beyond float64"
    with mpmath.workdps(40):
        expected = mpmath.fsum(mpmath.sin(v) for v in row) / 4
        assert abs(waves.transform(row, dps=20, on_refusal="return")[0][0] - expected) < 1e-19
    circle = sd.decouple(*WITH_MEAN["circle"])
    values, (outcome,) = circle.transform([1, 2, 3, 1e15], on_refusal="return")
    assert outcome.reason == "beyond float64" and np.isnan(values[1:]).all()


@pytest.mark.parametrize("dps", [None, 20])
def test_bands_that_a_filter_leaves_out_are_empty(dps: int | None) -> None:
    """[1, 1, 1] leaves out thirds of a turn, and five ones fifths: what is left there is rounding, at any size."""
    rng = np.random.default_rng(0)
    for n_ones, period in ((3, [1, -1, 0]), (5, [1, -2, 3, -1, -1])):
        blind = Filter([1] * n_ones)
        plan = sd.decouple([Mean(blind(x) ** 2), Mean(HIGH(x) ** 2)])
        for scale in (1.0, 2.0**30, 2.0**100):
            values, outcomes = plan.transform(scale * np.tile(period, 6), dps=dps, on_refusal="return")
            assert outcomes[0].reason == "too few active frequencies" and abs(values[0]) < 1e-30 * scale**2
        row = np.ldexp(rng.normal(size=6 * n_ones), 70)
        spectrum = np.fft.fft(row)
        seen = np.abs(sum(np.exp(2j * np.pi * np.outer(np.arange(len(row)), np.arange(n_ones)) / len(row)).T)) ** 2
        open_ = seen > 1e-20
        # What is seen has shrunk to nothing beside what is not: that alone is left, to 2^-60 of it.
        hidden = np.fft.ifft(np.where(open_, 0, spectrum)).real
        left = np.mean((2 * hidden - np.roll(hidden, 1) - np.roll(hidden, -1)) ** 2)
        assert float(plan.transform(row, dps=dps)[1]) == pytest.approx(left, rel=1e-12)


def test_own_values_that_float64_lacks_are_said() -> None:
    plan = sd.decouple(raw_moments(2))
    values, outcomes = plan.own_values([1e-200 * STEPS, 1e200 * STEPS, STEPS], on_refusal="return")
    assert [o.reason for o in outcomes] == ["out of range", "not finite", ""]
    assert not np.isfinite(values[:2, 1]).any() and values[:, 0] == pytest.approx(5.4 * np.array([1e-200, 1e200, 1]))
    _, (outcome,) = sd.decouple([Mean(sp.log(x))], [0]).own_values([-1, 2, 3], on_refusal="return")
    assert outcome.reason == "not finite"


@pytest.mark.parametrize(("feature", "exponent"), [
    (1 / x, -200), (1 / x, 200), (x**-2, -110), (x**-2, -200), (x**-2, 200), (sp.sqrt(1 + x**2) / x, -200)])
def test_gradients_beyond_float64_are_out_of_range(feature: sp.Expr, exponent: int) -> None:
    """Their digits are there with dps=, by the derivative of the summand; at 0, where there are none, nothing changes.
    """
    plan, slope = sd.decouple([Mean(feature)], [1]), sp.lambdify(x, sp.diff(feature, x), "mpmath")
    rows = [float(f"{v}e{exponent}") for v in (1, 2, 5)], [float(f"1e{exponent}")] * 3, [1.0, 2.0, 4.0]
    found, outcomes = plan.gradients(rows, on_refusal="return")
    assert [outcome.reason for outcome in outcomes] == ["out of range", "out of range", ""]
    assert np.isnan(found[:2]).all() and np.isfinite(found[2]).all()
    precise = plan.gradients(rows[0], dps=20)[0]
    expected = [slope(mpmath.mpf(v)) / 3 for v in rows[0]]
    assert all(abs(a / b - 1) < 1e-12 for a, b in zip(precise, expected, strict=True))
    outside, (told,) = plan.gradients([0.0, *rows[0]], on_refusal="return")
    assert told.reason == "not finite" and np.isnan(outside).all()


@pytest.mark.parametrize("unit", [1e-200, 1e-310])
@pytest.mark.parametrize("features", [
    M[1:5], M[2:5:2], [M[1], M[2] - M[1] ** 2, M[3]], [Mean(LOW(x) ** 2), Mean(HIGH(x) ** 2)]], ids=len)
def test_samples_too_small_to_be_normalized_are_not_normalized(features: list[Any], unit: float) -> None:
    """Second moments near 1e-400 are not 1: float64 has 0 of them, which is not 1 either."""
    plan, row = sd.decouple(features), STEPS * unit
    for dps in (None, 20):
        _, (outcome,) = plan.denormalize(row, np.ones(len(features)), dps=dps, on_refusal="return")
        assert outcome.reason == "not normalized"


@pytest.mark.parametrize("unit", [1e17, 1e50, 1e150, 1e200, 1e308])
def test_what_rounding_of_the_entries_hides_is_refused(unit: float) -> None:
    """Beside a mean of unit/6, which these features do not see, an energy of 6 is nothing that float64 has."""
    plan = sd.decouple([Mean(HIGH(x) ** 2), Mean(HIGH(x) ** 4)], [6, 108])
    row = np.array([1, -1, 1e-8, 0.1, 1, 0])
    for call in (plan.transform, plan.gradients, plan.normalize):
        values, (outcome,) = call(unit * row, on_refusal="return")
        assert outcome.reason == "out of range" and np.isnan(values[-1]).all()
    if unit < 1e154:
        expected = plan.transform(unit * (row - row.mean()))[1]
        assert plan.transform(unit * row, dps=320)[1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_largest_numbers_are_moved_without_a_warning(order: int) -> None:
    row = np.array([1, 2, 3, 5, 8, 13]) * 1.3e307
    plan = sd.decouple(raw_moments(4))
    small, (there,) = plan.normalize(row / 2**1000, order, on_refusal="return")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moved, (outcome,) = plan.normalize(row, order, on_refusal="return")
    assert outcome.ok and there.ok
    np.testing.assert_allclose(moved, small * (2.0**1000 if order == 1 else 1), rtol=1e-14)
