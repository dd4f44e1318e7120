"""Plans with weights and missing values: `stats`, the repeated sample, and rows without the entries as oracles."""

import warnings
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import symdecouple as sd
from symdecouple.errors import InvalidInput, RefusalWarning, Refused, UnsupportedExpression

RNG = np.random.default_rng(6)
X = RNG.gamma(3, size=(3, 36))
ODD: Any = "no"
COUNTS = RNG.integers(0, 4, 36)
SHARES = RNG.random((3, 36))
REPEATED = np.repeat(X, COUNTS, axis=1)
FIRST = (np.cumsum(COUNTS) - COUNTS)[COUNTS > 0]
POSITIVE = sd.sample("x", positive=True)
MOMENTS = sd.decouple(sd.families.standardized_moments(5))
PLANS = {
    "moments": MOMENTS,
    "raw moments": sd.decouple(sd.families.raw_moments(4)),
    "mean": sd.decouple(["mean(x)"]),
    "log cosh": sd.decouple(["mean(x)", "mean(x^2)", "mean(log(cosh(x)))"]),
    "narrow": sd.decouple(sd.families.standardized_moments(4), path="narrow"),
    "positive": sd.decouple([sd.Mean(POSITIVE**2), sd.Mean(POSITIVE**3)], path="narrow"),
}
FILTERS = sd.decouple(sd.families.second_order_moments(sd.families.tils()))


def test_moments_with_any_weights_are_those_of_stats() -> None:
    expected = sd.stats.decoupled_moments(X, 5, axis=1, weights=SHARES)
    assert np.array_equal(MOMENTS.transform(X, weights=SHARES), expected)
    assert np.array_equal(MOMENTS.transform(X.T, weights=SHARES.T, axis=0), expected)
    alike = MOMENTS.transform(X, weights=SHARES[0])
    assert np.array_equal(alike, sd.stats.decoupled_moments(X, 5, axis=1, weights=np.broadcast_to(SHARES[0], X.shape)))
    assert MOMENTS.transform(np.float32(X), weights=SHARES).dtype == np.float32
    whole = [10**30 + k for k in (1, 5, 7, 22, 100, 3, 9, 12)]
    found = MOMENTS.transform(whole, weights=[1, 1, 2, 1, 0.5, 1, 1, 3], on_refusal="return")
    same = sd.stats.decoupled_moments(whole, 5, weights=[1, 1, 2, 1, 0.5, 1, 1, 3], on_refusal="return")
    assert np.array_equal(found[0], same[0], equal_nan=True) and found[1][0].reason == same[1][0].reason


@pytest.mark.parametrize(("name", "unit"), [("moments", 1), ("raw moments", 0.375), ("mean", Fraction(1, 10)),
                                            ("log cosh", Fraction(1, 10)), ("narrow", 0.375), ("positive", 1)])
def test_counts_are_repetitions(name: str, unit: Any) -> None:
    """In transform, at every level, in gradients (of all copies together), and back."""
    plan, weights = PLANS[name], [unit * int(c) for c in COUNTS]
    values = plan.transform(X, weights=weights)
    assert values == pytest.approx(plan.transform(REPEATED), rel=1e-9, abs=1e-9)
    level = len(plan.features) - 1
    normalized = plan.normalize(X, weights=weights)
    assert np.isnan(normalized[:, COUNTS == 0]).all()
    assert normalized[:, COUNTS > 0] == pytest.approx(plan.normalize(REPEATED)[:, FIRST], rel=1e-9, abs=1e-9)
    gradients = plan.gradients(X, weights=weights)[..., COUNTS > 0]
    expected = plan.gradients(REPEATED)[..., FIRST] * COUNTS[COUNTS > 0]
    assert gradients == pytest.approx(expected, rel=1e-7, abs=1e-9)
    if level:
        back = plan.denormalize(normalized, values, weights=weights)
        assert back[:, COUNTS > 0] == pytest.approx(X[:, COUNTS > 0], rel=1e-7)


@pytest.mark.parametrize("unit", [1e-310, 1e-160, 1e160])
def test_variances_beyond_float64_are_refused_with_weights_as_without(unit: float) -> None:
    plan, row = PLANS["raw moments"], np.arange(1.0, 9) ** 2 * unit
    expected, (without,) = plan.transform(row, on_refusal="return")
    found, (outcome,) = plan.transform(row, weights=np.ones(8), on_refusal="return")
    assert outcome.reason == without.reason == "out of range"
    assert np.isnan(found[1]) and np.allclose(found, expected, rtol=1e-12, atol=0, equal_nan=True)


@pytest.mark.parametrize("level", range(6))
def test_levels_with_any_weights_have_the_references(level: int) -> None:
    """Averages with the weights: 0, 1, 0, 3, 0; what is left out is NaN."""
    weights = SHARES * (COUNTS > 0)
    found = MOMENTS.normalize(X, level, weights=weights)
    kept = COUNTS > 0
    assert np.isnan(found[:, ~kept]).all()
    z, w = found[:, kept], weights[:, kept]
    for k, reference in list(zip(range(1, 6), (0, 1, 0, 3, 0), strict=True))[:level]:
        assert np.average(z**k, axis=1, weights=w) == pytest.approx(reference, abs=1e-12)
    order = np.argsort(X[:, kept], axis=1)
    assert (np.diff(np.take_along_axis(z, order, axis=1), axis=1) > 0).all()
    if level == 0:
        assert np.array_equal(z, X[:, kept])


@pytest.mark.parametrize("name", ["moments", "raw moments", "mean"])
def test_gradients_with_any_weights_are_differences(name: str) -> None:
    """Central ones; two laws hold: the mean's are the shares, and no other order feels a shift."""
    plan, row, step = PLANS[name], X[0], 1e-5
    found = plan.gradients(X, weights=SHARES)[0]
    ahead, back = (plan.transform(row + s * np.eye(36), weights=SHARES[0]) for s in (step, -step))
    assert found == pytest.approx((ahead - back).T / (2 * step), abs=1e-6 * np.abs(found).max())
    assert found[0] == pytest.approx(SHARES[0] / SHARES[0].sum())
    assert np.abs(found[1:].sum(axis=1)).max(initial=0) < 1e-9


@pytest.mark.parametrize("name", ["moments", "log cosh"])
def test_progress_is_told(name: str) -> None:
    done: list[int] = []
    PLANS[name].transform(X, weights=COUNTS, progress=lambda n, _: done.append(n))
    assert done[-1] == 3
    odd: Any = 3
    with pytest.raises(InvalidInput, match="progress=3"):
        PLANS[name].transform(X, weights=COUNTS, progress=odd)


def test_matching_with_counts() -> None:
    plan = sd.decouple(sd.families.standardized_moments(4))
    found = plan.match(X, [1, 2, 0.5, 3], weights=COUNTS)
    repeated = np.repeat(found, COUNTS, axis=1)
    own = sd.stats.standardized_moments(repeated, 4, axis=1)
    assert own == pytest.approx(np.broadcast_to([1, 2, 0.5, 3], (3, 4)), abs=1e-12)


@pytest.mark.parametrize("name", PLANS)
def test_missing_values_are_left_out_as_masked_ones_are(name: str) -> None:
    plan, holed = PLANS[name], X.copy()
    holed[0, [1, 5]], holed[2, 7] = np.nan, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, handed_on = plan.transform(holed, nan_policy="omit"), plan.transform(holed)
        normalized, gradients = plan.normalize(holed, nan_policy="omit"), plan.gradients(holed, nan_policy="omit")
    alone = [plan.transform(row[~np.isnan(row)]) for row in holed]
    assert found == pytest.approx(np.array(alone), rel=1e-12)
    assert np.isnan(handed_on[[0, 2]]).all() and np.array_equal(handed_on[1], found[1])
    assert type(normalized) is np.ndarray and np.array_equal(np.isnan(normalized), np.isnan(holed))
    assert gradients[0][:, ~np.isnan(holed[0])] == pytest.approx(plan.gradients(holed[0][~np.isnan(holed[0])]))
    assert isinstance(plan.normalize(np.ma.masked_invalid(holed)), np.ma.MaskedArray)
    assert np.array_equal(plan.transform(X, nan_policy="omit"), plan.transform(X))
    with pytest.raises(InvalidInput, match=r"2 of 3 samples hold NaN \(at 0, 2"):
        plan.transform(holed, nan_policy="raise")


def test_missing_values_beside_masks_weights_and_exact_numbers() -> None:
    holed = np.ma.masked_array(X.copy(), np.zeros(X.shape, dtype=bool))
    holed[0, 1], holed[0, 2] = np.nan, np.ma.masked
    found = MOMENTS.transform(holed, nan_policy="omit")
    assert found[0] == pytest.approx(MOMENTS.transform(X[0, [0, *range(3, 36)]]))
    plain = holed.filled(np.nan)
    weighed = MOMENTS.transform(plain, weights=SHARES, nan_policy="omit")
    assert np.array_equal(weighed, sd.stats.decoupled_moments(plain, 5, axis=1, weights=SHARES, nan_policy="omit"))
    assert np.isnan(MOMENTS.transform(plain, weights=SHARES)[0]).all()
    exact, plan = [Fraction(k, 7) for k in (1, 4, 5, 9, 11, 20, 22)], PLANS["mean"]
    assert plan.transform([*exact, float("nan")], nan_policy="omit", dps=30)[0] == plan.transform(exact, dps=30)[0]


@pytest.mark.parametrize("which", [slice(None), 0], ids=["each", "one for all"])
def test_entries_that_are_masked_or_whose_weight_is_are_left_out(which: Any) -> None:
    holed = np.ma.masked_array(X, np.tile(COUNTS == 0, (3, 1)))
    weights = np.ma.masked_array(np.tile(COUNTS + 1, (3, 1)), SHARES < 0.3)[which]
    kept = np.broadcast_to(~weights.mask, X.shape) & (COUNTS > 0)
    calls = MOMENTS.transform, PLANS["log cosh"].transform, lambda a, **more: sd.stats.skewness(a, axis=-1, **more)
    for call in calls:
        found = call(holed, weights=weights)
        for value, row, there in zip(found, X, kept, strict=True):
            np.testing.assert_array_equal(value, call(row[there], weights=(COUNTS + 1)[there]))


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"weights": -SHARES}, "negative weight"), ({"weights": np.full(36, np.inf)}, "infinite weight"),
     ({"weights": np.zeros(36)}, "no weight"), ({"weights": np.eye(36)[0]}, "one sample"),
     ({"weights": np.where(SHARES < 0.5, np.nan, 1), "nan_policy": "propagate"}, "nan in the input")])
def test_samples_without_an_answer_say_why(options: Any, reason: str) -> None:
    for plan in (MOMENTS, PLANS["log cosh"]):
        for method in (plan.transform, plan.normalize, plan.gradients):
            values, outcomes = method(X, on_refusal="return", **options)
            assert {o.reason for o in outcomes} == {reason}
            assert np.isnan(values[..., 2:]).all()
            if reason != "nan in the input":
                with pytest.raises(Refused, match=reason):
                    method(X, on_refusal="raise", **options)
                with pytest.warns(RefusalWarning, match=reason) as told:
                    method(X, **options)
                assert told[0].filename == __file__


def test_what_takes_counts_refuses_other_weights() -> None:
    for method in (PLANS["log cosh"].transform, PLANS["log cosh"].gradients, PLANS["narrow"].transform):
        with pytest.raises(Refused, match="weights are no counts"):
            method(X, weights=SHARES, on_refusal="raise")
    with pytest.raises(Refused, match="weights are no counts"):
        MOMENTS.transform(X, weights=SHARES, dps=20, on_refusal="raise")


@pytest.mark.parametrize(
    ("bad", "error", "said"),
    [(lambda: FILTERS.transform(RNG.random((5, 5)), weights=np.ones((5, 5))), UnsupportedExpression, "ask where"),
     (lambda: MOMENTS.transform(X, weights=[1, 2]), InvalidInput, r"\(36,\) of the sample axes"),
     (lambda: MOMENTS.transform(X, weights="abc"), InvalidInput, "text"),
     (lambda: MOMENTS.transform(3.0, weights=1.0), InvalidInput, "one number"),
     (lambda: MOMENTS.transform(X, weights=COUNTS, checkpoint="kept"), InvalidInput, "checkpoint"),
     (lambda: MOMENTS.transform(X, nan_policy=ODD), InvalidInput, "one of 'propagate'"),
     (lambda: MOMENTS.transform(X, weights=COUNTS, on_refusal=ODD), InvalidInput, "on_refusal='no'"),
     (lambda: MOMENTS.normalize(X, 9, weights=COUNTS), InvalidInput, "level is 0 to 5")])
def test_what_makes_no_sense_is_said(bad: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        bad()


def test_filters_refuse_samples_with_missing_values() -> None:
    pictures = RNG.random((2, 6, 6))
    pictures[1, 2, 3] = np.nan
    values, outcomes = FILTERS.transform(pictures, nan_policy="omit", on_refusal="return")
    assert [o.reason for o in outcomes] == ["", "missing entries"] and np.isnan(values[1]).all()
    assert np.isfinite(values[0]).all()


def test_gradients_in_many_digits_keep_them_beside_masks_and_counts() -> None:
    """Those of the row alone; of two copies of an entry, their sum."""
    plan, row = PLANS["raw moments"], [1, 2, 4, 7, 11]
    masked = np.ma.masked_array([*row, 5], [0, 0, 0, 0, 0, 1])
    alone, twice = plan.gradients(row, dps=30), plan.gradients([1, 2, 2, 4, 7, 11], dps=30)
    counted = plan.gradients(row, dps=30, weights=[1, 2, 1, 1, 1])
    with mpmath.workdps(40):
        assert np.abs(np.ma.getdata(plan.gradients(masked, dps=30))[:, :5] - alone).max() == 0
        expected = np.concatenate([twice[:, :1], twice[:, 1:2] + twice[:, 2:3], twice[:, 3:]], axis=1)
        assert np.abs(counted - expected).max() < 1e-28


def test_what_a_refusal_keeps_of_missing_entries_is_nan_as_what_is_returned() -> None:
    holed = X.copy()
    holed[0, 1], holed[1] = np.nan, 7.0
    with pytest.raises(Refused) as error:
        MOMENTS.gradients(holed, nan_policy="omit", on_refusal="raise")
    assert type(error.value.partial) is np.ndarray
    assert np.array_equal(error.value.partial, MOMENTS.gradients(holed, nan_policy="omit", on_refusal="return")[0],
                          equal_nan=True)
