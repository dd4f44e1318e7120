"""Attainable ranges of a plan: against counting by hand, other solvers, and what the plan itself refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sympy import Rational, exp, sqrt

import symdecouple as sd
from symdecouple import FilterBank, Group, InvalidInput, Mean, UnsupportedExpression, x
from symdecouple.decoupling.attainable.reference import check_attainable
from symdecouple.decoupling.reference import reference_values
from symdecouple.families import autocorrelation, raw_moments, second_order_moments, standardized_moments
from symdecouple.families.bank import FilterBank as Bank

TIED = [0.0, 1, 2, 4, 5, 9, 9, 9]
BANK = [[1, 1, 1], [-1, 0, 1], [-1, 2, -1]]


@pytest.mark.parametrize("seed", range(4))
def test_features_are_refused_exactly_where_a_reference_before_is_out_of_range(seed: int) -> None:
    plan, rng = sd.decouple(raw_moments(6)), np.random.default_rng(seed)
    rows = rng.integers(0, int(rng.integers(3, 12)), (20, int(rng.integers(4, 30)))).astype(float)
    values, _ = plan.transform(rows, on_refusal="return")
    found = plan.attainable(rows)
    np.testing.assert_array_equal(np.isnan(values), np.isnan(found.low))
    known = ~np.isnan(values)
    slack = 1e-8 * (1 + np.abs(values))
    assert np.all((found.low - slack <= values)[known]) and np.all((values <= found.high + slack)[known])


@pytest.mark.parametrize(("features", "held", "row", "reason"), [
    (raw_moments(5), [0, 1, 0], [1.0, 2, 2, 3, 5, 8, 13], "moment not attainable"),
    (second_order_moments(FilterBank(BANK)), [3, 2], np.random.default_rng(1).normal(size=24), "outside the cone"),
], ids=["moments", "energies"])
def test_what_is_inside_is_reached_and_what_is_outside_is_refused(features: Any, held: list[float], row: Any,
                                                                  reason: str) -> None:
    k, more = len(held), [0] * (len(features) - len(held) - 1)
    found = sd.decouple(features).attainable(row)
    low, high = found.low[k], found.high[k]
    for share, is_inside in ((0.01, True), (0.99, True), (-0.01, False), (1.01, False)):
        goal = [*held, float(low + share * (high - low)), *more]
        assert found.contains(goal)[k] == is_inside
        _, (outcome,) = sd.decouple(features, goal).normalize(row, level=k + 1, on_refusal="return")
        assert outcome.reason == ("" if is_inside else reason)


def test_features_with_other_values_have_their_own_units() -> None:
    x_, plan = np.arange(9.0) ** 2, sd.decouple(standardized_moments(4), reference=[2, 9, 0])
    raw = sd.decouple(raw_moments(4), reference=[2, 13, 2**3 + 3 * 2 * 9])
    plain, other = plan.attainable(x_), raw.attainable(x_)
    assert other.low[2] == pytest.approx(8 + 54 + 27 * plain.low[2], rel=1e-12)
    assert other.high[2] == pytest.approx(8 + 54 + 27 * plain.high[2], rel=1e-12)
    assert other.low[1] == 4 and plain.low[1] == 0


def test_a_decreasing_feature_has_its_ends_in_order() -> None:
    third = raw_moments(3)[2].expr
    found = sd.decouple([Mean(x), Mean(x**2), -third], reference=[0, 1, 0]).attainable([1, 2, 4, 4, 9])
    straight = sd.decouple(raw_moments(3)).attainable([1, 2, 4, 4, 9])
    assert (found.low[2], found.high[2]) == pytest.approx((-straight.high[2], -straight.low[2]), rel=1e-13)


def test_few_values_leave_one_sample() -> None:
    plan = sd.decouple(raw_moments(5))
    three, two = plan.attainable([1.0, 2, 40]), plan.attainable([0.0, 1, 1])
    assert three.low[3] == three.high[3] == pytest.approx(1.5) and three.low_is_attained[3]
    assert two.low[2] == two.high[2] == pytest.approx(-np.sqrt(0.5)) and np.isnan(two.low[3])
    constant = plan.attainable([3.0, 3, 3])
    assert constant.low[1] == constant.high[1] == 0 and np.isnan(constant.low[2:]).all()


def test_a_batch_keeps_its_shape_and_is_indexed() -> None:
    rows = np.random.default_rng(0).normal(size=(2, 3, 9))
    plan = sd.decouple(raw_moments(4))
    found = plan.attainable(rows)
    assert found.low.shape == (2, 3, 4) and str(found[1, 2]) == str(plan.attainable(rows[1, 2]))
    assert plan.attainable(np.moveaxis(rows, -1, 0), axis=0).high.shape == (2, 3, 4)
    with pytest.raises(InvalidInput, match="index its axes"):
        found[0, 0, 1]
    with pytest.raises(InvalidInput, match="one sample"):
        found[0, 0][1]
    with pytest.raises(InvalidInput, match="index it"):
        found.interval(1)
    for k in (0, 5, -1, 1.0, True):
        with pytest.raises(InvalidInput, match="count from 1 to 4"):
            found[0, 0].interval(k)  # type: ignore[arg-type]


def test_rows_of_one_pattern_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from symdecouple.decoupling.attainable import levels as attainable_levels

    calls = []
    counted = attainable_levels.reach_of_counts
    monkeypatch.setattr(attainable_levels, "reach_of_counts", lambda *a: calls.append(a) or counted(*a))
    rows = np.random.default_rng(0).normal(size=(200, 9))
    sd.decouple(raw_moments(5)).attainable(rows)
    assert len(calls) == 2  # levels 4 and 5


# --- energies ---


def test_a_silent_frequency_narrows_the_leaf() -> None:
    plan = sd.decouple(second_order_moments(FilterBank(BANK)))
    white = np.random.default_rng(0).normal(size=32)
    spectrum = np.fft.rfft(white)
    spectrum[[9, 10, 11, 12, 13, 14, 15, 16]] = 0
    low_pass = np.fft.irfft(spectrum, 32)
    whole, part = plan.attainable(white), plan.attainable(low_pass)
    assert part.high[2] < whole.high[2] and not part.high_is_attained[2]
    wave = plan.attainable(np.sin(2 * np.pi * np.arange(32) / 8))
    assert wave.low[1] == wave.high[1] and np.isnan(wave.low[2])


def test_the_mean_is_free_alone_and_before_energies() -> None:
    plan = sd.decouple([Mean(x), *second_order_moments(FilterBank(BANK[:2]))], reference=[0.5, 3, 2])
    found = plan.attainable(np.random.default_rng(0).normal(size=16))
    assert found.low[1] == pytest.approx(9 * 0.25)  # the DC gain of [1, 1, 1] is 3
    for one in (found, sd.decouple([Mean(x)]).attainable([1, 2, 3])):
        assert one.low[0] == -np.inf and one.high[0] == np.inf


def test_autocorrelations_have_the_bounds_of_a_power_spectrum() -> None:
    found = sd.decouple(autocorrelation([0, 1, 2])).attainable(n_samples=8)
    assert (found.low[1], found.high[1]) == pytest.approx((-1, 1), rel=1e-9)
    assert (found.low[2], found.high[2]) == pytest.approx((-1, 1), rel=1e-9)


def test_images_take_a_shape() -> None:
    bank = Bank([[[1, 1, 1]] * 3, [[1, 0, -1]] * 3])
    plan = sd.decouple(second_order_moments(bank))
    assert plan.attainable(n_samples=(6, 8)).low.shape == (2,)
    with pytest.raises(InvalidInput, match="a shape of 2 axes"):
        plan.attainable(n_samples=8)


# --- anything else ---


@pytest.mark.slow
def test_followed_ends_are_those_of_theorem_c() -> None:
    a = sd.coordinates(4)
    plan = sd.decouple([sum(v**k for v in a) / 4 for k in (1, 2, 3)], reference=[0, 1, 0])
    found = plan.attainable([1.0, 2, 4, 8])
    assert found.found_by == ("path",) * 3 and "numerical" in str(found)
    assert (found.low[2], found.high[2]) == pytest.approx((-2 / np.sqrt(3), 2 / np.sqrt(3)), rel=2e-3)
    assert abs(found.high[2]) <= 2 / np.sqrt(3) and found.high[0] == np.inf
    assert found.low[1] == pytest.approx(0, abs=1e-2)


def test_what_is_followed_says_so() -> None:
    found = sd.decouple([Mean(x), Mean(x**3)], reference=[0, 1]).attainable([1.0, 2, 4, 7])
    assert found.found_by == ("path",) * 2 and str(found).count("numerical") == 2
    assert (found.low[1], found.high[1]) == (-np.inf, np.inf)  # cubes of mean 0 have no bound


def test_all_samples_are_known_of_moments_and_energies_only() -> None:
    plan = sd.decouple([Mean(x), Mean(x**3)], reference=[0, 1])
    with pytest.raises(UnsupportedExpression, match="followed from a sample"):
        plan.attainable(n_samples=9)


def test_samples_or_their_number() -> None:
    plan = sd.decouple(raw_moments(3))
    number: Any
    for number in (1, 0, -2, 7.0, "8", True, (3, 3), None):
        with pytest.raises(InvalidInput):
            plan.attainable(n_samples=number)
    with pytest.raises(InvalidInput, match="one of the two"):
        plan.attainable([1, 2, 3], n_samples=3)
    with pytest.raises(InvalidInput, match="one of the two"):
        plan.attainable()


def test_features_of_a_group_share_what_is_held() -> None:
    first, *rest = second_order_moments(FilterBank(BANK))
    plan = sd.decouple(sd.FeatureSet([first, Group(*rest)]))
    alone = sd.decouple(second_order_moments(FilterBank(BANK)))
    found = plan.attainable(n_samples=16)
    assert found.high[1] == pytest.approx(alone.attainable(n_samples=16).high[1])
    assert found.low[2] < alone.attainable(n_samples=16).low[2]  # the second is not held


@pytest.mark.usefixtures("pyplot")
def test_the_picture_has_a_row_a_feature() -> None:
    found = sd.decouple(raw_moments(5)).attainable([TIED, TIED])
    axes = found[0].plot()
    assert len(axes) == 5 and [ax.get_ylabel() for ax in axes] == ["mean", "variance", "skewness", "orthokurtosis",
                                                                      "decoupled_5"]
    assert "no level" in axes[4].texts[0].get_text()
    with pytest.raises(InvalidInput, match="index one sample"):
        found.plot()


# --- references of moments that no sample has together ---

STANDARD = sd.FeatureSet([Mean(x), sd.variance(), sd.skewness(), sd.kurtosis()])


@pytest.mark.parametrize(("features", "values", "said"), [
    (raw_moments(2), [3, 4], r"Mean\(x\) = 3, Mean\(x\*\*2\) = 4: the variance would be -5"),
    (raw_moments(2), [2, 4], "variance would be 0"),
    (STANDARD, [0, -1, 0, 3], "variance would be -1"),
    (STANDARD, [0, 1, 2, 4], "order 4 would be 4, and must be above 5 .no sample has less"),
    (STANDARD, [0, 1, 2, 5], "only samples of 2 values have it"),
    (STANDARD, [0, 1, sqrt(2), 3], "only samples of 2 values have it"),
    (raw_moments(4), [0, 1, 0, Rational(1, 2)], "order 4"),
    (raw_moments(6), [0, 1, 0, 3, 0, 8], "order 6 would be 8, and must be above 9"),
    (raw_moments(6), [0, 1, 0, 3, 1, 9], "must be above 19/2"),
])
def test_contradictions(features: sd.FeatureSet, values: list, said: str) -> None:
    """Lower ends by hand: c4 >= 1 + c3^2; with c4 = 3: c6 >= 9 + c5^2/2."""
    with pytest.raises(InvalidInput, match=said):
        sd.decouple(features, values)


@pytest.mark.parametrize(("features", "values"), [
    (raw_moments(6), "gaussian"), (standardized_moments(8), "gaussian"), (raw_moments(2), [3, 10]),
    (STANDARD, [5, 2, 2, Rational(51, 10)]), (STANDARD, [0, 1, 2]), (raw_moments(6), [0, 1, 0, 3, 1, Rational(96, 10)]),
    (sd.FeatureSet([Mean(exp(x)), Mean(x)]), [1, 5]),
])
def test_what_holds_together_passes(features: sd.FeatureSet, values: list) -> None:
    check_attainable(features, reference_values(features, values))


@pytest.mark.parametrize("plan", [
    sd.decouple(raw_moments(4)), sd.decouple(second_order_moments(BANK[:2])),
    sd.decouple([Mean(x), Mean(exp(x))], [0, 1.5])], ids=["moments", "energies", "others"])
def test_samples_without_entries_have_no_interval(plan: sd.Plan) -> None:
    for samples in ([], np.empty((3, 0)), np.empty((0, 0)), np.empty((0, 4)), [1.0], np.full((2, 5), np.nan),
                    [1, 2, np.inf, 3]):
        found = plan.attainable(samples)
        assert found.low.shape == (*np.shape(samples)[:-1], len(plan.features)) and np.isnan(found.low).all()
        angles, _ = sd.analysis.orthogonality(plan, samples, on_refusal="return")
        assert np.isnan(angles.decoupled.degrees).all()


def test_a_way_to_the_end_of_float64_is_silent() -> None:
    box = sd.Feature.from_callable(lambda y: np.mean(y**4, axis=-1), lambda y: 4 * y**3 / y.shape[-1], "fourth")
    with np.errstate(over="raise", under="raise"):
        for sample in ([1.7e308, -1.7e308, 1e308, 5.0], [5e-324, 1e-323, 0, 2e-323]):
            sd.decouple([Mean(x), box], [0, 3]).attainable(sample)
