"""Samples with given statistics: recomputed by exact sums; the ends of ranges by the search over edges; SLSQP."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from symdecouple.errors import InvalidInput, RefusalWarning, Refused
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.moments.tied_range import reach_of_any, reach_of_counts
from symdecouple.stats import match, skewness_range
from tests.stats.oracle import moments

EXACT = 1e-13
CROWD = [1, 2, 3, 5, 8, 13, 21, 34]
own = partial(moments, order=4)


def is_met(found: Any, wanted: Any) -> bool:
    return all(abs(a - b) <= EXACT * max(1, abs(b)) for a, b in zip(found, wanted, strict=True) if b is not None)


def drawn(rng: np.random.Generator, n: int) -> np.ndarray:
    """Samples of several laws, half of them with ties; four distinct values at least."""
    while True:
        law = rng.integers(4)
        x = (rng.normal(size=n), rng.exponential(size=n) ** 2, rng.standard_cauchy(size=n), rng.uniform(size=n))[law]
        for _ in range(rng.integers(1, n) if rng.integers(2) else 0):
            x[rng.integers(n)] = x[rng.integers(n)]
        if len(np.unique(x)) > 3:
            return x


def in_order(before: np.ndarray, after: np.ndarray) -> bool:
    """Equal values stay equal, and none overtakes another."""
    place = np.argsort(before, kind="stable")
    steps = np.diff(after[place])
    return bool((steps >= 0).all() and (steps[np.diff(before[place]) == 0] == 0).all())


@pytest.mark.parametrize("n", [4, 5, 6, 9, 16, 40])
def test_targets_inside_the_range_of_these_ties_are_met_and_those_outside_refused(n: int) -> None:
    rng = np.random.default_rng(n)
    samples, targets, outside = [], [], []
    for _ in range(24):
        x = drawn(rng, n)
        counts = np.unique(x, return_counts=True)[1].astype(np.float64)
        low, high = skewness_range(x)
        g = low + (high - low) * rng.choice([1e-3, 0.01, 0.2, 0.5, 0.7, 0.99, 0.999])
        ends = reach_of_counts(counts.tobytes(), (1.0, 0.0, 1.0, float(g)))
        if ends is None or ends.order != 4:
            continue
        part = rng.choice([1e-3, 0.02, 0.3, 0.5, 0.8, 0.999])
        samples.append(x)
        targets.append((g, ends.low + (ends.high - ends.low) * part))
        outside.append(rng.choice([ends.low * (1 - 1e-9), ends.low * 0.9, ends.high * (1 + 1e-9), ends.high * 2]))
    X, (g, k) = np.array(samples), np.array(targets).T
    made, outcomes = match(X, mean=2, variance=9, skewness=g, kurtosis=k, axis=1, on_refusal="return")
    assert made.ok.all(), [o for o in outcomes if not o.ok][:1]
    assert all(is_met(own(y), (2, 9, *pair)) for y, pair in zip(made.values, targets, strict=True))
    assert all(map(in_order, X, made.values))
    refused = match(X, skewness=g, kurtosis=outside, axis=1, on_refusal="return")[0]
    assert not refused.ok.any() and np.isnan(refused.values).all()
    assert {o.reason for o in refused.outcomes} <= {"kurtosis out of reach", "limit only"}


@pytest.mark.parametrize(("wanted", "said"), [
    ({"skewness": 1, "kurtosis": 2.1},
     "no sample of 8 values has it: beside this skewness it stays in (2.15203, 4.37604)"),
    ({"skewness": 1, "kurtosis": 4.4}, "N >= 9 is needed"),
    ({"skewness": 1, "kurtosis": 1.9}, "in every sample it is above 1 + skewness^2 = 2"),
    ({"skewness": 3}, "no sample of 8 values has it, N >= 12 is needed"),
    ({"variance": -1}, "variance -1 was wanted"),
    ({"variance": 0}, "variance 0 was wanted"),
])
def test_what_no_sample_has_is_refused_with_the_bound(wanted: dict[str, Any], said: str) -> None:
    assert said in match(CROWD, **wanted, on_refusal="return")[1][0].detail


def test_what_ties_forbid_is_told_from_what_no_sample_has() -> None:
    tied = [1, 2, 3, 4, 5, 9, 9, 9]
    (outcome,) = match(tied, skewness=0, kurtosis=3, on_refusal="return")[1]
    assert "not with these ties: 6 distinct values among 8, 3 of them tied at most, keep it in (1, 1.77143); without " \
        "ties it is in (1, 4)" in outcome.detail
    assert match(CROWD, skewness=0, kurtosis=3).ok
    (outcome,) = match([0, 0, 0, 0, 1, 2, 3, 4], skewness=-0.5, on_refusal="return")[1]
    assert outcome.reason == "skewness out of reach" and "not with these ties" in outcome.detail


@pytest.mark.parametrize("end", [0, 1])
def test_an_end_is_a_limit_and_what_is_near_it_is_met_or_said_to_be_near(end: int) -> None:
    found = reach_of_any(8, (1.0, 0.0, 1.0, 1.0))
    assert found is not None
    edge, inside = (found.low, 1) if end == 0 else (found.high, -1)
    assert match(CROWD, skewness=1, kurtosis=edge, on_refusal="return")[1][0].reason == "limit only"
    for power in range(3, 13):
        target = edge + inside * 10.0**-power
        made, (outcome,) = match(CROWD, skewness=1, kurtosis=target, on_refusal="return")
        if not outcome.ok:
            assert outcome.reason in ("near the boundary", "limit only") and power > 8, (power, outcome)
            continue
        assert is_met(own(made.values)[2:], (1, target)), power


def test_what_is_not_asked_for_stays_below_the_highest_order_that_is() -> None:
    m, v, g, k = own(CROWD)
    assert is_met(own(match(CROWD, mean=5).values), (5, v, g, k))
    assert is_met(own(match(CROWD, variance=2).values), (m, 2, g, k))
    assert is_met(own(match(CROWD, skewness=0).values)[:3], (m, v, 0))
    assert is_met(own(match(CROWD, kurtosis=3.2).values), (m, v, g, 3.2))
    made = match(CROWD, skewness=0.5, kurtosis=2.5, higher=[3.0, 8.2])
    assert is_met(moments(made.values, 6), (m, v, 0.5, 2.5, 3.0, 8.2))
    assert made.statistics.shape == (6,)


def test_the_way_is_the_narrow_path_with_these_references() -> None:
    x = np.random.default_rng(3).gamma(2.0, size=30)
    there = follow(impose_skewness([x], 0.5).values, 4, 3.5, held=(0, 1, 0.5)).values[0]
    made = match(x, mean=0, variance=1, skewness=0.5, kurtosis=3.5)
    assert np.abs(made.values - there).max() < 1e-6
    assert made.distance == pytest.approx(np.sqrt(np.mean((there - x) ** 2)), abs=1e-6)
    assert match(x, mean=7, variance=3).shape_distance == 0


def test_feasible_targets_are_those_of_a_general_optimizer() -> None:
    """Ordered values with two tied pairs, skewness and kurtosis as constraints: found by SLSQP where we find one."""
    x = np.array([0.0, 0, 1, 2, 2, 5])

    def gap(parts: np.ndarray, target: tuple[float, float]) -> float:
        z = np.repeat(np.cumsum(np.abs(parts)), [2, 1, 2, 1])
        z = (z - z.mean()) / z.std()
        return float((np.mean(z**3) - target[0]) ** 2 + (np.mean(z**4) - target[1]) ** 2)

    for target in [(0.3, 1.7), (0.3, 1.2), (0.3, 2.2), (-0.2, 1.5), (-0.2, 1.8)]:
        starts = np.random.default_rng(0).exponential(size=(6, 4))
        best = min(minimize(gap, s, args=(target,), method="SLSQP").fun for s in starts)
        assert bool(match(x, skewness=target[0], kurtosis=target[1], on_refusal="return")[0].ok) == (best < 1e-5)


def test_weights_count_as_repeated_entries() -> None:
    x, w = np.array([1.0, 2, 4, 7, 11, 20]), [1, 3, 2, 2, 1, 1]
    one = match(x, mean=1, variance=2, skewness=0.4, kurtosis=2.5, weights=w)
    many = match(np.repeat(x, w), mean=1, variance=2, skewness=0.4, kurtosis=2.5)
    assert is_met(moments(one.values, 4, w), (1, 2, 0.4, 2.5))
    assert np.abs(np.repeat(one.values, w) - many.values).max() < 1e-6
    assert one.distance == pytest.approx(many.distance, abs=1e-6)
    assert np.isnan(match(x, mean=0, weights=[0, 1, 1, 1, 1, 1]).values[0])


def test_axes_masks_and_missing_values() -> None:
    X = np.random.default_rng(4).gamma(2.0, size=(3, 5, 20))
    whole = match(X, axis=(0, 2), skewness=0.2, kurtosis=2.6)
    assert whole.values.shape == X.shape and whole.ok.shape == (5,)
    assert is_met(own(whole.values[:, 2].ravel())[2:], (0.2, 2.6))
    assert np.array_equal(match(X[:, 2], axis=None, skewness=0.2, kurtosis=2.6).values, whole.values[:, 2])
    holed = X[0].copy()
    holed[1, 3] = np.nan
    omitted = match(holed, axis=1, nan_policy="omit", skewness=0.2, kurtosis=2.6)
    assert np.isnan(omitted.values[1, 3]) and is_met(own(np.delete(omitted.values[1], 3))[2:], (0.2, 2.6))
    masked = match(np.ma.masked_invalid(holed), axis=1, skewness=0.2, kurtosis=2.6)
    assert np.array_equal(masked.values, omitted.values, equal_nan=True)


def test_an_answer_prints_on_one_screen() -> None:
    made = match(np.tile(CROWD, (20, 1)), axis=1, skewness=1, kurtosis=3)
    lines = str(made).splitlines()
    assert len(repr(made).splitlines()) == 5 and len(lines) == 9 and lines[-1] == "... 20 samples, 0 of them refused"
    assert lines[0].startswith("sample 0: mean 10.875, variance 115.359375, skewness 1, kurtosis 3; moved by 1.19")


def test_refused_rows_alone_are_refused() -> None:
    X = np.array([CROWD, [1, 1, 1, 1, 1, 1, 1, 2], [3] * 8], dtype=float)
    with pytest.warns(RefusalWarning, match="2 of 3 samples refused"):
        made = match(X, axis=1, skewness=0, kurtosis=2)
    assert made.ok.tolist() == [True, False, False] and is_met(own(made.values[0])[2:], (0, 2))
    with pytest.raises(Refused) as caught:
        match(X, axis=1, skewness=0, on_refusal="raise")
    assert caught.value.partial.ok.tolist() == [True, False, False]
    assert match(X[2], mean=1).values.tolist() == [1.0] * 8
    for single, moved in (([4.0], [1.0]), ([np.nan, 4.0], [np.nan, 1.0])):  # one value has a mean as well, no other one
        found = match(single, mean=1, nan_policy="omit")
        np.testing.assert_array_equal(found.values, moved)
        assert found.statistics[:2].tolist() == [1.0, 0.0] and found.distance == 3 and found.residual == 0
        assert match(single, mean=1, variance=1, nan_policy="omit", on_refusal="return")[1][0].reason == "one sample"
    alone = match(X[0], skewness=0, kurtosis=2).values
    assert np.array_equal(alone, made.values[0])


def test_exact_numbers_are_centred_before_they_are_rounded() -> None:
    huge = [10**20 + k for k in (0, 1, 3, 4, 8, 9)]
    near = match([0, 1, 3, 4, 8, 9], mean=0, variance=1, skewness=0.5, kurtosis=2)
    assert np.array_equal(match(huge, mean=0, variance=1, skewness=0.5, kurtosis=2).values, near.values)
    assert match([Fraction(1, 3), Fraction(2, 3), 5], mean=1).statistics[1] == pytest.approx(122 / 27, rel=1e-14)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_units_do_not_matter(scale: float) -> None:
    made = match(np.array(CROWD) * scale, mean=0, variance=1, skewness=1, kurtosis=3)
    assert is_met(own(made.values), (0, 1, 1, 3))
    assert np.abs(made.values - match(CROWD, mean=0, variance=1, skewness=1, kurtosis=3).values).max() < 1e-7


def test_rounding_beside_a_large_mean_is_told() -> None:
    made, (outcome,) = match(CROWD, mean=1e9, variance=1, skewness=1, kurtosis=3, on_refusal="return")
    assert outcome.ok and outcome.reason == "rounded" and 1e-13 < made.residual < 1e-5


@pytest.mark.parametrize(("wanted", "said"), [
    ({}, "nothing is asked for"),
    ({"mean": np.nan}, "finite numbers"),
    ({"skewness": "one"}, "a number, or an array"),
    ({"kurtosis": [1, 2, 3]}, "a number, or an array"),
    ({"kurtosis": "3"}, "a number, or an array"),
    ({"mean": True}, "a number, or an array"),
    ({"higher": 0.1}, "a list of standardized moments"),
])
def test_bad_targets(wanted: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        match(CROWD, **wanted)


def variables(n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(7)
    common = rng.normal(size=(n, 1))
    return np.exp((0.7 * common + 0.7 * rng.normal(size=(n, 3))) * [0.3, 0.5, 0.7])


def pearson(X: np.ndarray) -> np.ndarray:
    """Correlations in rational arithmetic but for the roots."""
    columns = [[Fraction(float(v)) for v in column] for column in X.T]
    centred = [[v - sum(column) / len(column) for v in column] for column in columns]
    products = [[float(sum(a * b for a, b in zip(u, v, strict=True))) for v in centred] for u in centred]
    return np.array([[products[i][j] / (products[i][i] * products[j][j]) ** 0.5 for j in range(3)] for i in range(3)])


def test_correlations_are_kept_or_set_while_margins_are_matched() -> None:
    X = variables()
    margins: dict[str, Any] = {"mean": [1, 2, 3], "variance": 2, "skewness": [0, 0.5, -0.5], "kurtosis": [3, 4, 3.5]}
    plain = match(X, **margins)
    assert np.array_equal(np.argsort(plain.values, axis=0), np.argsort(X, axis=0))  # ranks, and so their correlations
    for asked, goal in (("keep", pearson(X)), (np.full((3, 3), 0.2) + 0.8 * np.eye(3),) * 2):
        made = match(X, **margins, correlation=asked)
        assert np.abs(pearson(made.values) - goal).max() < EXACT and np.abs(made.correlation - goal).max() < EXACT
        assert all(is_met(own(column), (j + 1, 2, g, k)) for j, (column, g, k) in enumerate(
            zip(made.values.T, margins["skewness"], margins["kurtosis"], strict=True)))
    turned = match(X.T, **margins, axis=1, correlation="keep")
    assert np.allclose(turned.values.T, match(X, **margins, correlation="keep").values, atol=1e-9)
    only = match(X, correlation=np.eye(3))
    assert np.abs(pearson(only.values) - np.eye(3)).max() < EXACT
    assert np.allclose(only.values.mean(axis=0), X.mean(axis=0)) and np.allclose(only.values.std(axis=0), X.std(axis=0))


def test_a_way_beyond_float64_is_infinite() -> None:
    moved = match([10**400, 10**400 + 1, 10**400 + 5], mean=1, variance=2)
    assert moved.distance == np.inf and moved.shape_distance == pytest.approx(0, abs=1e-15)
    assert moved.statistics[:2].tolist() == pytest.approx([1, 2], rel=1e-15) and moved.ok


def test_correlations_that_margins_do_not_have_are_refused_with_how_far_they_came() -> None:
    far = np.full((3, 3), 0.99) + 0.01 * np.eye(3)
    made, outcomes = match(variables(), skewness=[-1, 0, 1], correlation=far, kurtosis=4, on_refusal="return")
    assert {o.reason for o in outcomes} == {"correlation out of reach"} and np.isnan(made.values).all()
    outcomes = match(np.c_[variables(), np.ones(60)], mean=0, skewness=0, correlation="keep", on_refusal="return")[1]
    assert [o.reason for o in outcomes] == ["no correlation"] * 3 + ["zero variance"]


@pytest.mark.parametrize(("correlation", "said"), [
    ("hold", "'keep' or a matrix"),
    (np.eye(2), "shape"),
    (np.full((3, 3), -0.9) + 1.9 * np.eye(3), "eigenvalue -0.8"),
    (np.arange(9.0).reshape(3, 3), "symmetric"),
])
def test_bad_correlations(correlation: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        match(variables(), skewness=0, correlation=correlation)
    with pytest.raises(InvalidInput, match="of a matrix"):
        match(CROWD, skewness=0, correlation="keep")
