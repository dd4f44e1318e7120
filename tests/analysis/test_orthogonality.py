"""Deviations from orthogonality against angles in mpmath, the source's table, and the theorems that make them zero."""

from functools import cache

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import symdecouple as sd
from symdecouple import FeatureSet, InvalidInput, Mean, RefusalWarning, Refused, x
from symdecouple.families.moments import raw_moments, standardized_moments

SMALL = np.array([0.3, -1.0, 2.5, 0.9, 0.1, -0.4, 1.6, 0.2])


@cache
def standardized(order: int) -> sd.Plan:
    return sd.decouple(standardized_moments(order))


def angle_in_mpmath(u: list[mpmath.mpf], v: list[mpmath.mpf]) -> mpmath.mpf:
    """90 degrees minus the angle, by the arc cosine at the precision of the context."""
    def dot(a: list[mpmath.mpf], b: list[mpmath.mpf]) -> mpmath.mpf:
        return mpmath.fsum(p * q for p, q in zip(a, b, strict=True))
    cosine = dot(u, v) / mpmath.sqrt(dot(u, u) * dot(v, v))
    return 90 - mpmath.degrees(mpmath.acos(cosine))


def moments_in_mpmath(row: NDArray[np.float64], order: int) -> list[list[mpmath.mpf]]:
    """Gradients of mean, variance and standardized moments by the textbook formula k (z^(k-1) - c_(k-1) - c_k z)."""
    values = [mpmath.mpf(float(v)) for v in row]
    m = mpmath.fsum(values) / len(values)
    s = mpmath.sqrt(mpmath.fsum((v - m) ** 2 for v in values) / len(values))
    z = [(v - m) / s for v in values]
    c = [mpmath.fsum(v**k for v in z) / len(z) for k in range(order + 1)]
    higher = ([v ** (k - 1) - c[k - 1] - c[k] * v for v in z] for k in range(3, order + 1))
    return [[mpmath.mpf(1)] * len(z), z, *higher]


@pytest.mark.parametrize("offset", [0.0, 2.0**40])
def test_original_moments_against_mpmath(offset: float) -> None:
    row = np.round(SMALL * 2**10) / 2**10 + offset  # exactly shifted
    found = sd.analysis.orthogonality(standardized(5), row, on_refusal="return")[0]
    with mpmath.workdps(60):
        gradients = moments_in_mpmath(row, 5)
        wanted = [[float(angle_in_mpmath(u, v)) for v in gradients] for u in gradients]
    np.testing.assert_allclose(found.original.degrees, wanted, rtol=0, atol=1e-12)


def test_decoupled_and_cross_against_mpmath() -> None:
    """Raw moments: the decoupled ones are mean, variance, skewness; their gradients are known by hand."""
    found = sd.analysis.orthogonality(sd.decouple(raw_moments(3)), SMALL)
    with mpmath.workdps(60):
        values = [mpmath.mpf(float(v)) for v in SMALL]
        declared = [[v**k for v in values] for k in range(3)]
        decoupled = moments_in_mpmath(SMALL, 3)
        for name, first, second in (("original", declared, declared), ("decoupled", decoupled, decoupled),
                                    ("cross", decoupled, declared)):
            wanted = [[float(angle_in_mpmath(u, v)) for v in second] for u in first]
            np.testing.assert_allclose(getattr(found, name).degrees, wanted, rtol=0, atol=1e-12)


def test_gaussian_samples_as_in_the_table_of_the_source() -> None:
    """MSM 32 ± 26, decoupled 2 ± 3; printed there for 256 vectors of 512 samples, here 64."""
    samples = np.random.default_rng(1).standard_normal((64, 512))
    found = sd.analysis.orthogonality(standardized(6), samples)
    table = found.select(3, 4, 5, 6)
    assert found.count == 64 and found.refused == 0
    assert abs(table.original.average - 32) < 1.5 and abs(table.original.spread - 26) < 1.5
    assert abs(table.decoupled.average - 2) < 0.5 and abs(table.decoupled.spread - 3) < 1
    # "the DO is exactly zero for all decoupled moments combined with orders 1, 2 and 3"
    assert np.abs(found.decoupled.degrees[:, 3:, :3]).max() < 1e-10
    assert found.decoupled.select([1, 2, 3]).largest < 1e-10
    # "odd-odd and even-even: highly acute, with an extremely low variance"; the decoupled 4-6 approximately orthogonal
    assert found.original.signed_mean[4, 2] > 55 and found.original.signed_mean[5, 3] > 55
    assert found.original.signed_std[4, 2] < 5 and found.decoupled.mean[5, 3] < 1


def test_mean_square_fourth_power_and_cube_are_orthogonal() -> None:
    """Theorem D: three of these, in this order, have involutive modified sets, so that four are decoupled exactly."""
    features = FeatureSet([Mean(x), Mean(x**2), Mean(x**4), Mean(x**3)])
    samples = np.random.default_rng(2).standard_normal((16, 128))
    found = sd.analysis.orthogonality(sd.decouple(features), samples)
    assert found.decoupled.largest < 1e-9  # level 3 is integrated along the narrow path, to about 1e-12 relative
    assert np.abs(found.decoupled.degrees[:, 1:, :1]).max() < 1e-12  # closed forms, as far as they go
    assert found.original.average > 20
    in_order = sd.analysis.orthogonality(sd.decouple(raw_moments(4)), samples)
    assert in_order.decoupled.largest < 1e-10  # four raw moments in order too: hat S_3 is involutive
    five = sd.analysis.orthogonality(sd.decouple(raw_moments(5)), samples)
    assert five.decoupled.largest > 1  # the fifth is not


def test_angles_do_not_change_with_offset_and_unit() -> None:
    plan = standardized(4)
    samples = np.random.default_rng(3).integers(-50, 50, (4, 64)).astype(float)
    plain = sd.analysis.orthogonality(plan, samples)
    for moved in (samples + 2.0**40, samples * 1e150, samples * 1e-150, samples * 1e100 + 1e101):
        found = sd.analysis.orthogonality(plan, moved)
        np.testing.assert_allclose(found.original.degrees, plain.original.degrees, rtol=0, atol=1e-11)
        np.testing.assert_allclose(found.decoupled.degrees, plain.decoupled.degrees, rtol=0, atol=1e-11)


def test_rows_do_not_depend_on_the_batch() -> None:
    plan = standardized(4)
    samples = np.random.default_rng(4).standard_normal((2, 3, 40))
    found = sd.analysis.orthogonality(plan, samples)
    assert found.original.degrees.shape == (2, 3, 4, 4)
    one = sd.analysis.orthogonality(plan, samples[1, 2])
    assert np.array_equal(one.original.degrees, found.original.degrees[1, 2])
    np.testing.assert_allclose(one.decoupled.degrees, found.decoupled.degrees[1, 2], atol=1e-11)
    turned = sd.analysis.orthogonality(plan, np.moveaxis(samples, -1, 0), axis=0)
    np.testing.assert_array_equal(turned.original.degrees, found.original.degrees)


def test_refused_rows_are_left_out_and_counted() -> None:
    plan = standardized(4)
    good = np.random.default_rng(5).standard_normal((3, 8))
    bad = np.array([[1.0, 2, np.nan, 4, 5, 6, 7, 8], [0, 0, 0, 0, 0, 1, 1, 1], [-1, -1, 0, 0, 0, 0, 1, 1]])
    samples = np.concatenate([good[:1], bad, good[1:]])
    found, outcomes = sd.analysis.orthogonality(plan, samples, on_refusal="return")
    assert (found.count, found.refused) == (3, 3)
    assert [o.reason for o in outcomes] == ["", "nan in the input", "two-valued", "critical point", "", ""]
    clean = sd.analysis.orthogonality(plan, good)
    assert found.original.average == clean.original.average and found.decoupled.spread == clean.decoupled.spread
    assert np.isnan(found.cross.degrees[1:4]).all()
    with pytest.warns(RefusalWarning, match="2 of 6 samples refused") as told:
        sd.analysis.orthogonality(plan, samples)
    assert told[0].filename == __file__
    with pytest.raises(Refused) as raised:
        sd.analysis.orthogonality(plan, samples, on_refusal="raise")
    assert raised.value.partial.count == 3


@pytest.mark.parametrize("offset", [0.0, 2.0**30])
@pytest.mark.parametrize("row", [[-1.0, -1, 0, 0, 0, 1, 1, 1], [0.0, 0, 1, 1, 1, 4, 4, 4]])
def test_a_gradient_of_rounding_errors_has_no_direction(row: list[float], offset: float) -> None:
    """Three values: the cubic that is orthogonal to 1, x, x^2 on them vanishes at all of them."""
    found, (outcome,) = sd.analysis.orthogonality(sd.decouple(raw_moments(4)), np.array([row]) / 4 + offset,
                                                  on_refusal="return")
    assert outcome.reason == "critical point" and "decoupled gradient of Mean(x**4)" in outcome.detail
    assert np.isnan(found.decoupled.average) and "0 samples, 1 refused" in str(found)
    near, (outcome,) = sd.analysis.orthogonality(sd.decouple(raw_moments(4)), np.array([[*row, 0.25]]) / 4 + offset,
                                                 on_refusal="return")
    assert outcome.ok and near.decoupled.largest < 1e-6


def test_a_declared_gradient_of_rounding_errors_has_no_direction() -> None:
    """z^3 - c_3 - c_4 z vanishes at a symmetric sample of three values."""
    plan = sd.decouple([Mean(x), sd.kurtosis()])
    _, (outcome,) = sd.analysis.orthogonality(plan, [[-0.3, -0.3, 0.1, 0.1, 0.1, 0.5, 0.5]], on_refusal="return")
    assert outcome.reason == "critical point" and "Mean((x - Mean(x))**4)" in outcome.detail


def test_single_precision_input_is_widened() -> None:
    plan = standardized(4)
    single = np.random.default_rng(6).standard_normal((2, 32)).astype(np.float32)
    found = sd.analysis.orthogonality(plan, single)
    double = sd.analysis.orthogonality(plan, single.astype(float))
    assert np.array_equal(found.decoupled.degrees, double.decoupled.degrees)


def test_bad_calls() -> None:
    plan = sd.decouple(raw_moments(2))
    with pytest.raises(InvalidInput, match="a plan is expected"):
        sd.analysis.orthogonality(raw_moments(2), SMALL)
    with pytest.raises(InvalidInput, match="between two or more"):
        sd.analysis.orthogonality(sd.decouple([Mean(x)]), SMALL)
    with pytest.raises(InvalidInput, match="on_refusal='ignore'"):
        sd.analysis.orthogonality(plan, SMALL, on_refusal="ignore")
    with pytest.raises(InvalidInput, match="axis=1"):
        sd.analysis.orthogonality(plan, SMALL, axis=1)
    found = sd.analysis.orthogonality(plan, SMALL)
    for numbers in ((1,), (1, 3), (2, 2)):
        with pytest.raises(InvalidInput, match="two or more different ones of 1, 2"):
            found.select(*numbers)


def test_a_black_box_has_the_angles_of_the_same_feature_declared() -> None:
    samples = np.random.default_rng(3).normal(size=(3, 10))
    box = sd.Feature.from_callable(lambda v: np.mean((v - v.mean()) ** 4) / v.var() ** 2, name="kurt")
    found = sd.analysis.orthogonality(sd.decouple([Mean(x), sd.variance(), sd.skewness(), box]), samples)
    wanted = sd.analysis.orthogonality(standardized(4), samples)
    np.testing.assert_allclose(found.original.degrees, wanted.original.degrees, atol=1e-8)
    np.testing.assert_allclose(found.decoupled.degrees, wanted.decoupled.degrees, atol=1e-8)
