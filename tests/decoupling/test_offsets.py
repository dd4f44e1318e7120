"""Features that feel no offset, far from zero: the numbers are those of the same sample about zero, on any path."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

import symdecouple as sd
from symdecouple import Filter, Group, Mean, shift, x
from symdecouple.decoupling.offsets import feels_no_offset
from symdecouple.families.moments import raw_moments, standardized_moments
from symdecouple.numeric.samples.intake import exact
from tests.stats.oracle import moments

LOW, EDGE, HIGH = (Filter(taps) for taps in ([1, 1, 1], [-1, 0, 1], [-1, 2, -1]))
CENTRED = x - Mean(x)
FREE: dict[str, tuple[list[Any], list[Any]]] = {
    "variance": ([sd.variance()], [1]), "kurtosis": ([sd.kurtosis()], [3]),
    "shape": ([sd.variance(), sd.skewness()], [1, 0]), "group": ([Group(sd.variance(), sd.skewness())], [1, 0]),
    "deviation": ([sd.standard_deviation()], [1]),
    "cosh": ([Mean(sp.log(sp.cosh(CENTRED))), Mean(CENTRED**2)], [0.4, 1]),
    "covariance": ([Mean(x * shift(1)(x)) - Mean(x) ** 2], [0.5]), "steps": ([Mean((x - shift(1)(x)) ** 2)], [2]),
    "outputs": ([Mean(HIGH(x) ** 2), Mean(EDGE(x) ** 2), Mean(EDGE(x) ** 4)], [6, 2, 12]),
    "third": ([Mean(HIGH(x) ** 2), Mean(HIGH(x) ** 3)], [6, 0]), "smooth": ([Mean(LOW(CENTRED) ** 4)], [3]),
}
ROW = np.round(np.random.default_rng(3).normal(size=12) * 2**10) / 2**10


@pytest.mark.parametrize("path", ["auto", "narrow"])
@pytest.mark.parametrize("name", FREE)
def test_far_from_zero_as_about_it(name: str, path: Any) -> None:
    features, reference = FREE[name]
    plan = sd.decouple(features, reference, path=path)
    values, slopes, ends = plan.transform(ROW), plan.gradients(ROW), plan.match(ROW, reference)
    for offset in (-1e4, 1e8, 2.0**36):
        far = ROW + offset
        np.testing.assert_allclose(plan.transform(far), values, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(plan.gradients(far), slopes, rtol=1e-9, atol=1e-11 * np.abs(slopes).max())
        np.testing.assert_allclose(plan.match(far, reference) - offset, ends, rtol=0, atol=1e-9 + 1e-15 * abs(offset))
        assert abs(plan.normalize(far).mean() - far.mean()) <= 1e-12 + 4e-16 * abs(offset)
    if str(features[0]) == str(sd.variance()):
        assert plan.transform(ROW + 2.0**36)[0] == pytest.approx(moments(ROW, 2)[1], rel=1e-15)


@pytest.mark.parametrize("name", ["variance", "shape", "steps", "outputs"])
def test_whole_numbers_that_float64_would_round(name: str) -> None:
    plan, small = sd.decouple(*FREE[name]), [1, 3, 4, 9, 10, 17, 30, 2]
    long = [2**60 + v for v in small]
    np.testing.assert_allclose(plan.transform(long), plan.transform(small), rtol=1e-11)
    np.testing.assert_allclose(plan.transform(long, dps=20).astype(float), plan.transform(small), rtol=1e-11)
    np.testing.assert_allclose(plan.gradients(long), plan.gradients(small), rtol=1e-9, atol=1e-12)


def test_an_empty_sample_tells_nothing_about_the_next_one() -> None:
    plan = sd.decouple([sd.variance()], [1], path="narrow")
    _, (outcome,) = plan.transform([], on_refusal="return")
    assert outcome.reason == "no samples"
    assert plan.transform(ROW + 2.0**34)[0] == plan.transform(ROW)[0]


@pytest.mark.parametrize("path", ["auto", "narrow"])
def test_gradients_beside_a_level_that_keeps_an_offset(path: Any) -> None:
    """Of m / r, r^2 the second moment: (1/r - m x / r^3)/N; refused where two thirds of the digits are lost."""
    plan = sd.decouple([Mean(x**2), Mean(x)], [1, 0], path=path)
    for offset in (0.0, 2.0**12, 2.0**44):
        found, (outcome,) = plan.gradients(ROW + offset, on_refusal="return")
        if offset < 2.0**40:
            row = [Fraction(v) for v in (ROW + offset).tolist()]
            m, square = sum(row) / len(row), sum(v * v for v in row) / len(row)
            expected = np.array([float((square - m * v) / len(row)) for v in row]) / float(square) ** 1.5
            np.testing.assert_allclose(found[1], expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        else:
            assert outcome.reason == "beyond float64" and np.isnan(found[1]).all() and np.isfinite(found[0]).all()


def test_what_feels_an_offset_is_not_moved() -> None:
    zero = Filter([-1, 2, -1], boundary="zero")
    felt = [Mean(x**2), Mean(LOW(x) ** 4), Mean(sp.sin(x)), Mean(zero(x) ** 2), Mean(x * shift(1)(x))]
    assert not any(feels_no_offset(sd.Feature(f), (12,)) for f in felt)
    assert all(feels_no_offset(f if isinstance(f, sd.Feature) else sd.Feature(f), (12,))
               for f in (sd.kurtosis(), Mean(HIGH(x) ** 10), Mean(sp.cos(CENTRED))))
    positive = sd.sample("x", positive=True)
    assert not feels_no_offset(sd.Feature(Mean(positive**2) - Mean(positive) ** 2), (12,))


@pytest.mark.parametrize("match", ["decoupled", "own"])
def test_targets_are_measured_exactly(match: Any) -> None:
    """In transfers, of floats far from zero and of whole numbers that float64 would round."""
    plan, small = sd.decouple(standardized_moments(3)), [1, 3, 4, 9, 10, 17, 30, 2]
    source = [1.0, 2, 3, 5, 8, 13, 20, -7]
    expected, _ = plan.transfer(source, small, match=match, on_refusal="return")
    reasons = {10**8: "", 10**12: "lost on the way", 2**53: "lost on the way", 2**60: "out of range"}
    done, outcomes = plan.transfer([source] * 4, [[base + v for v in small] for base in reasons], match=match,
                                   on_refusal="return")
    np.testing.assert_allclose(done.wanted[:, 1:], [expected.wanted[1:]] * 4, rtol=1e-13)
    assert [outcome.reason for outcome in outcomes] == list(reasons.values())
    assert np.isfinite(done.values[0]).all() and np.isnan(done.values[1:]).all()


@pytest.mark.parametrize("path", ["auto", "narrow", "relaxed"])
def test_a_sample_is_not_returned_as_one_number(path: Any) -> None:
    plan, long = sd.decouple(raw_moments(3), path=path), [2**60 + k for k in (1, 3, 4, 9, 10, 17)]
    found, (outcome,) = plan.denormalize(plan.normalize(long), plan.transform(long), on_refusal="return")
    assert outcome.reason == "out of range" and np.isnan(found).all()
    np.testing.assert_array_equal(plan.normalize([3.0, 3, 3], 1), 0)


def test_an_offset_beyond_float64_is_refused_where_a_sample_is_returned() -> None:
    plan, far = sd.decouple(*FREE["outputs"], path="narrow"), [10**400 + v for v in (1, 5, 2, 7, 3, 9, 4)]
    for call in (plan.normalize, lambda row, **k: plan.match(row, [6, 2, 12], **k)):
        found, (outcome,) = call(far, on_refusal="return")
        assert outcome.reason == "out of range" and np.isnan(found).all()
    np.testing.assert_allclose(plan.transform(far), plan.transform([1, 5, 2, 7, 3, 9, 4]), rtol=1e-11)


@pytest.mark.parametrize("make", [raw_moments, standardized_moments])
@pytest.mark.parametrize("offset", [10, 100, 10**8])
def test_values_far_from_zero_are_set_in_digits(make: Any, offset: int) -> None:
    """Raw moments of float64 lose the shape there, which is said; exact ones have it."""
    plan, sample = sd.decouple(make(4)), [offset + v for v in (1, 2, 3, 7, 5, 11, 20)]
    about = plan.match([1, 2, 3, 7, 5, 11, 20], [float(v) for v in _own(make, 0)])
    found = plan.match(sample, _own(make, offset), dps=40)
    np.testing.assert_allclose((found - offset).astype(float), about, rtol=1e-11)
    if make is raw_moments and offset == 10**8:
        floats = [float(v) for v in _own(make, offset)]
        outcome, = plan.match(sample, floats, on_refusal="return")[1]
        assert outcome.reason == "beyond float64" and "worth 4 of the variance" in outcome.detail


@pytest.mark.parametrize("count", [3, 4])
@pytest.mark.parametrize("mean", [0, 20, 10**8, 10**15, 10**30])
def test_exact_values_of_any_mean_are_set_to_the_last_digit(count: int, mean: int) -> None:
    """Moments about the mean that was asked for, of what comes out, exactly; where 25 digits hold no spread, refused.
    """
    about = [Fraction(1), Fraction(0), Fraction(1), Fraction(1, 5), Fraction(3)]
    raw = [sum(comb(k, i) * about[i] * mean ** (k - i) for i in range(k + 1)) for k in range(1, count + 1)]
    found, (outcome,) = sd.decouple(raw_moments(count)).match(
        [1, 2, 4, 8, 9, 15, 17, 30, 31, 40], raw, dps=25, on_refusal="return")
    if mean == 10**30:
        assert outcome.reason == "out of range" and "25 digits" in outcome.detail and all(map(mpmath.isnan, found))
        return
    away, unit = [exact(v) - mean for v in found], Fraction(mean + 4, 10**24)  # of the last digit of an entry
    for k in range(1, count + 1):
        assert abs(sum(v**k for v in away) / 10 - about[k]) < 3**k * unit
    assert float(unit) / 1000 < found.error < float(unit)


def test_values_that_no_sample_has_are_not_called_rounded() -> None:
    plan, sample = sd.decouple(raw_moments(4)), [1.0, 2, 3, 7, 5, 11, 20]
    for values, reason in (([0, 1, 0, 100], "kurtosis out of reach"), ([0, -1, 0, 3], "level 2 not attainable"),
                           ([1, 1, 0, 3], "level 2 not attainable"), ([0, 1e-12, 0, 3e-23], "kurtosis out of reach")):
        (outcome,) = plan.match(sample, values, on_refusal="return")[1]
        assert outcome.reason == reason and "worth" not in outcome.detail


def _own(make: Any, offset: int) -> list[Any]:
    """Moments of whole numbers, exactly."""
    values = [Fraction(offset + v) for v in (0, 1, 2, 5, 9, 13, 4)]
    if make is raw_moments:
        return [sum(v**k for v in values) / 7 for k in (1, 2, 3, 4)]
    mean = sum(values) / 7
    return [mean, sum((v - mean) ** 2 for v in values) / 7, Fraction(2, 5), Fraction(5, 2)]


def cross_ratio(row: Any) -> Any:
    return (row[0] - row[2]) * (row[1] - row[3]) / ((row[0] - row[3]) * (row[1] - row[2]))


@pytest.mark.parametrize("path", ["auto", "relaxed", "parallel", "broad"])
@pytest.mark.parametrize("mean", [20, 10**6, 10**10])
def test_a_reference_mean_far_above_the_deviation(path: Any, mean: int) -> None:
    """Mean, variance 1 and third central moment 1/4 of what comes out, exactly, and Theorem B: cross ratios stay."""
    wanted = [mean, mean**2 + 1, mean**3 + 3 * mean + sp.Rational(1, 4)]
    plan, row = sd.decouple(raw_moments(3), wanted, path=path), [1.0, 2.0, 4.0, 8.0, 9.0]
    precise = plan.normalize(row, level=3, dps=40)
    for found, unit in ((plan.normalize(row, level=3), 2e-16 * mean), (precise, 1e-38 * mean)):
        off = [exact(v) - mean for v in found.tolist()]
        moments = [float(sum(v**k for v in off) / 5 - c) for k, c in ((1, 0), (2, 1), (3, Fraction(1, 4)))]
        assert np.abs(moments).max() < 20 * unit + 1e-14
        assert float(cross_ratio(off) / cross_ratio(list(map(Fraction, row))) - 1) == pytest.approx(
            0, abs=100 * unit + 1e-13)


@pytest.mark.parametrize("path", ["relaxed", "narrow"])
def test_gradients_that_rounding_takes_are_refused_beside_a_mean_far_off(path: Any) -> None:
    """The third is that of the skewness, 3 (z^2 - 1 - g z)/(N s), wherever the mean goes: this one, or none."""
    row = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    z = (row - row.mean()) / row.std()
    wanted = 3 * (z**2 - 1 - np.mean(z**3) * z) / (5 * row.std())
    for mean in (20, 10**3, 10**5, 10**6, 10**9):
        plan = sd.decouple(raw_moments(3), [mean, mean**2 + 1, mean**3 + 3 * mean], path=path)
        found, (outcome,) = plan.gradients(row, on_refusal="return")
        assert outcome.ok or outcome.reason == "beyond float64"
        assert outcome.ok == (mean < 10**6)
        assert np.abs(found[2] - wanted).max() < 1e-13 + 1e-15 * mean**2 if outcome.ok else np.isnan(found[2]).all()
        precise = plan.gradients(row, dps=20)[2].astype(float)
        assert precise == pytest.approx(wanted, rel=1e-12)


def test_targets_beyond_float64_are_refused_and_raise_nothing() -> None:
    mean = sp.Integer(10) ** 200
    plan = sd.decouple([Mean(x), Mean(x**2) - Mean(x) ** 2, Mean(x**3)], [mean, 1, mean**3 + 3 * mean])
    values, (outcome,) = plan.normalize([1, 2, 4, 8, 9], level=3, on_refusal="return")
    assert np.isnan(values).all() and not outcome.ok


@pytest.mark.parametrize("offset", [0, 10**4, 10**8, 10**15])
def test_a_variance_before_features_that_feel_an_offset(offset: int) -> None:
    """Its level scales deviations about the mean, which stays: so all is known in closed form."""
    plan, sample = sd.decouple([sd.variance(), Mean(x**3)], [1, 0]), [offset + k for k in (1, 3, 4, 9, 10)]
    with mpmath.workdps(60):
        mean = mpmath.mpf(sum(sample)) / 5
        deviation = mpmath.sqrt(mpmath.fsum((v - mean) ** 2 for v in sample) / 5)
        y = [mean + (v - mean) / deviation for v in sample]
        third = mpmath.fsum(v**3 for v in y) / 5
        along = [3 * v**2 / 5 for v in y]  # grad f_2 at level 1 less its part along the deviations, carried back
        share = mpmath.fsum(a * (v - mean) for a, v in zip(along, y, strict=True)) / 5
        slope = [mpmath.fsum(along) / 5 * (1 - 1 / deviation) + (a - share * (v - mean)) / deviation
                 for a, v in zip(along, y, strict=True)]
        for dps, slack in ((None, 1e-13), (25, 1e-24))[: 1 + (offset > 10**9)]:
            assert abs(plan.normalize(sample, 1, dps=dps) / y - 1).max() < slack
            values, gradient = plan.transform(sample, dps=dps), plan.gradients(sample, dps=dps)[1]
            assert abs(values[0] - mpmath.mpf("12.24")) < 20 * slack and abs(values[1] / third - 1) < slack
            assert abs(gradient / slope - 1).max() < 10 * slack


CANCELLING: dict[str, Any] = {
    "cubes": (Mean(x**3) - Mean(x)**3, lambda p: p[3] - p[1] ** 3),
    "fourth": (Mean(x**4) - Mean(x**2)**2, lambda p: p[4] - p[2] ** 2),
    "quotient": (Mean(x**2) / Mean(x)**2 - 1, lambda p: p[2] / p[1] ** 2 - 1),
    "difference": (Mean(x**3) / Mean(x**2) - Mean(x), lambda p: p[3] / p[2] - p[1]),
    "one over": (1 / (Mean(x**3) - Mean(x)**3), lambda p: 1 / (p[3] - p[1] ** 3)),
}


@pytest.mark.parametrize("name", CANCELLING)
@pytest.mark.parametrize("power", [10, 27, 40, 60])
def test_averages_whose_powers_of_an_offset_cancel_beside_rows_where_they_do_not(name: str, power: int) -> None:
    """Values in fractions, and gradients by differences of these; whole numbers that float64 rounds are refused."""
    feature, exact = CANCELLING[name]
    base, unit = 2**power, 2 ** max(0, power - 52)
    numbers = [[base + unit * k for k in (1, 3, 4, 9, 10, 12)], [-3, 1, 2, 5, 7, 9]]

    def value(row: list[Fraction]) -> Fraction:
        return Fraction(exact([sum(Fraction(v) ** k for v in row) / len(row) for k in range(5)]))

    plan, rows = sd.decouple([feature], [1]), np.array(numbers, dtype=float)
    found, slopes, step = plan.transform(rows)[:, 0], plan.gradients(rows)[:, 0], Fraction(unit, 10**9)
    for row, one, slope in zip(numbers, found, slopes, strict=True):
        assert one == pytest.approx(float(value(row)), rel=1e-13)
        moved = [[[v + s * (i == j) for i, v in enumerate(row)] for s in (step, -step)] for j in range(len(row))]
        wanted = [float((value(up) - value(down)) / (2 * step)) for up, down in moved]
        np.testing.assert_allclose(slope, wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())
    np.testing.assert_array_equal(found, [plan.transform(row)[0] for row in rows])
    _, (outcome,) = plan.transform([2**60 + k for k in (1, 3, 4)], on_refusal="return")
    assert outcome.reason == "beyond float64"
    far = [Fraction(10**60 + k) for k in (1, 3, 4, 9)]
    with mpmath.workdps(40):
        assert abs(plan.transform(far, dps=20)[0] * value(far).denominator / value(far).numerator - 1) < 1e-18
