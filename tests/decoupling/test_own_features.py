"""Own features that plans set: recomputed with NumPy from their formulas, never by the plan."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import log

from symdecouple import FilterBank, Group, InvalidInput, Mean, Plan, Refused, decouple, sample, x
from symdecouple.families import second_order_moments, standardized_moments
from symdecouple.stats import match
from tests.laws.rows import output

X = np.random.default_rng(5).gamma(2.0, size=(3, 24)) - 1.5
TAPS = ([1, 2, 1], [1, 0, -1], [1, -2, 1])


def energies(z: np.ndarray) -> list[float]:
    return [float(np.mean(output(z, taps) ** 2)) for taps in TAPS]


def shape(z: np.ndarray) -> list[float]:
    u = (z - z.mean()) / z.std()
    return [float(z.mean()), float(z.var()), float(np.mean(u**3)), float(np.mean(u**4))]


def bell(z: np.ndarray) -> list[float]:
    return [float(z.mean()), float(np.mean(z**2)), float(np.mean(1 / (1 + z**2)))]


STANDARDIZED = decouple(standardized_moments(4))
SPECTRAL = decouple(second_order_moments(FilterBank(TAPS)))


@pytest.mark.parametrize(("plan", "formula"), [
    pytest.param(STANDARDIZED, shape, id="standardized moments"), pytest.param(SPECTRAL, energies, id="energies"),
    pytest.param(decouple([Mean(x), Mean(x**2), Mean(1 / (1 + x**2))]), bell, id="a rational feature"),
    pytest.param(decouple([Mean(x), Group(Mean(x**2), Mean(1 / (1 + x**2)))]), bell, id="a group")])
def test_own_features_are_those_of_another_sample(plan: Plan, formula: Callable[[np.ndarray], list[float]]) -> None:
    wanted = np.array([formula(z) for z in X[[1, 2, 0]]])
    made = plan.match(X, wanted)
    found = np.array([formula(z) for z in made])
    assert np.max(np.abs(found - wanted) / np.maximum(1, np.abs(wanted))) < 1e-12
    assert np.array_equal(plan.match(X[1], wanted[1]), made[1])
    assert np.abs(plan.match(X, np.array([formula(z) for z in X])) - X).max() < 1e-7


def test_moments_take_the_road_of_the_statistics() -> None:
    here = STANDARDIZED.match(X, [1, 2, 0.3, 2.7])
    assert np.array_equal(here, match(X, axis=1, mean=1, variance=2, skewness=0.3, kurtosis=2.7).values)


def test_masked_entries_are_left_out() -> None:
    hidden = np.ma.masked_greater(X, 3.0)
    made = STANDARDIZED.match(hidden, [1, 2, 0.3, 2.7])
    assert np.array_equal(made.mask, hidden.mask)
    assert all(np.allclose(shape(row.compressed()), [1, 2, 0.3, 2.7], rtol=0, atol=1e-13) for row in made)


def test_many_digits() -> None:
    goal = [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(2)]
    made = STANDARDIZED.match([1, 2, 3, 5, 8, 13], goal, dps=30)
    with mpmath.workdps(40):
        found = [mpmath.fsum(v**k for v in made) / 6 for k in (1, 2, 3, 4)]
        assert max(abs(a - mpmath.mpf(b.numerator) / b.denominator) for a, b in zip(found, goal, strict=True)) < 1e-28


@pytest.mark.parametrize(("plan", "values", "said"), [
    (STANDARDIZED, [0, 0, 1, 1], "their variance is not above 0"),
    (STANDARDIZED, [0, 1, 0, 20], "no sample of 24 values has it"),
    (STANDARDIZED, [0, 1, 9, 99], "skewness stays in"),
    (STANDARDIZED, [0, 1, np.nan, 3], "a finite number is expected"),
    (SPECTRAL, [1, 5, 1], "outside the cone"),
])
def test_what_cannot_be_had_is_refused_with_the_bound(plan: Plan, values: list[float], said: str) -> None:
    with pytest.raises(Refused, match=said):
        plan.match(X, values, on_refusal="raise")


@pytest.mark.parametrize(("path", "dps"), [("relaxed", None), ("broad", None), ("auto", 30), ("relaxed", 30)])
def test_closed_forms_take_other_targets_than_the_references(path: Any, dps: int | None) -> None:
    """With mean 1 the second moment 2 takes log((v - 1)/variance)/2 along the scaling; with mean 10 something else."""
    plan = decouple([Mean(x), Mean(x**2)], [1, 2], path=path)
    found = plan.match([1, 2, 3, 5], [10, 107], dps=dps, on_refusal="raise")
    z = [Fraction(1), Fraction(2), Fraction(3), Fraction(5)]
    share = (Fraction(7) / (Fraction(39, 4) - Fraction(121, 16)))
    with mpmath.workdps(40):
        scale = mpmath.sqrt(mpmath.mpf(share.numerator) / share.denominator)
        expected = [10 + scale * mpmath.mpf(float(v - Fraction(11, 4))) for v in z]
        assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) < (
            1e-28 if dps else 1e-12)


def test_what_has_no_way_through_levels_is_reached_at_constant_rates() -> None:
    """A sample of positive numbers is not brought to means so small by a shift, and only then to these logarithms."""
    positive, rows = sample("p", positive=True), np.random.default_rng(0).gamma(2.0, size=(20, 12))
    wanted = np.stack([rows.mean(axis=1) / 4, np.log(rows / 4).mean(axis=1)], axis=1)[::-1]
    made = decouple([Mean(positive), Mean(log(positive))], [1, -1]).match(rows, wanted, on_refusal="raise")
    found = np.stack([made.mean(axis=1), np.log(made).mean(axis=1)], axis=1)
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    assert (np.diff(np.take_along_axis(made, np.argsort(rows), axis=1)) >= 0).all()


@pytest.mark.parametrize("dps", [None, 20])
@pytest.mark.parametrize(("features", "values"), [(lambda y: [Mean(y), Mean(y**2)], [1, 2]),
                                                  (lambda y: [Mean(y**2), Mean(y)], [4, 1.5])])
def test_samples_do_not_leave_their_domain(features: Any, values: list[float], dps: int | None) -> None:
    """The only sample of the leaf of 1, 2, 3, 5 with these values is a shift and scale of it, and partly negative."""
    plan = decouple(features(sample("y", positive=True)), values)
    with pytest.raises(Refused):
        plan.match([1, 2, 3, 5], values, dps=dps, on_refusal="raise")


def test_values_that_do_not_fit() -> None:
    for wrong in ([1, 2], [[1, 2, 3, 4]] * 2, ["a", "b", "c", "d"]):
        with pytest.raises(InvalidInput):
            STANDARDIZED.match(X, wrong)


def test_a_transfer_takes_the_own_features_of_the_target() -> None:
    done = STANDARDIZED.transfer(X[0], X[1], match="own")
    assert np.allclose(shape(done.values), shape(X[1]), rtol=1e-12)
    assert np.allclose(done.wanted, shape(X[1]), rtol=1e-12)
    assert np.array_equal(np.argsort(done.values), np.argsort(X[0]))
    other = STANDARDIZED.transfer(X[0], X[1])
    assert abs(shape(other.values)[3] - shape(X[1])[3]) > 1e-3  # decoupled features agree, and the kurtosis does not
    assert np.allclose(energies(SPECTRAL.transfer(X[0], X[1], match="own").values), energies(X[1]), rtol=1e-12)
    with pytest.raises(InvalidInput, match="match='theirs'"):
        STANDARDIZED.transfer(X[0], X[1], match="theirs")  # type: ignore[arg-type]


@pytest.mark.parametrize("row", [[0.5, 0.6, 1.5, 2.5, 4.0, 7.0], [1, 1 + 2e-16, 2, 3]])
@pytest.mark.parametrize(("target", "is_there"), [(50, False), (20, False), (3, True), (-3, True), (-50, True)])
def test_entries_that_rounding_brings_to_one_number_are_refused(row: list[float], target: float, is_there: bool
                                                                ) -> None:
    """Mean(log x) = 50 is at sqrt(x^2 + e^100), one number but for noise; below, the smallest entries go to 0."""
    y = sample("y", positive=True)
    plan = decouple([Mean(log(y))], [target])
    for found, outcomes in (plan.match(row, [target], on_refusal="return"),
                            plan.normalize(row, level=1, on_refusal="return")):
        outcome = outcomes[0]
        assert outcome.ok or outcome.reason in ("beyond float64", "out of range")
        assert is_there or (np.isnan(found).all() and not outcome.ok)
        assert not outcome.ok or np.mean(np.log(found)) == pytest.approx(target, rel=1e-8)
        assert not outcome.ok or (np.diff(found) >= -1e-14 * found[1:]).all()
        assert outcome.ok or target != 3
