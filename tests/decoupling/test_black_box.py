"""Plans of sets with black boxes: closed forms before them, the narrow path from them on, and float64 only."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sympy import Rational

from symdecouple import Feature, FeatureSet, Group, Mean, Status, decouple, kurtosis, skewness, variance, x
from symdecouple.decoupling.reference import Reference, reference_values
from symdecouple.errors import InvalidInput, NoClosedForm, RefusalWarning, Refused
from tests.numeric.paths.test_black_box_rows import BOXES, fails_below, peakedness, raised

X = np.random.default_rng(5).normal(size=(2, 8))
FIRST, REFERENCE = [Mean(x), variance(), skewness()], [0, 1, 0, 2.5, 15]
NAMED = Feature.from_callable(peakedness, BOXES["gradient"].black_box.gradient, "peakedness")


@cache
def known() -> tuple[np.ndarray, np.ndarray]:
    """Values and gradients of the set with the kurtosis in the place of the black box."""
    plan = decouple([*FIRST, kurtosis(), Mean(x**6)], REFERENCE, path="auto")
    return plan.transform(X), plan.gradients(X)


@pytest.mark.parametrize("name", ["differences, rows", "gradient"])
def test_a_black_box_is_decoupled_as_the_kurtosis_is(name: str) -> None:
    ours = decouple([*FIRST, BOXES[name], Mean(x**6)], REFERENCE)
    expected, exact = known()
    values = ours.transform(X)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)
    bound = 1e-9 if name == "gradient" else 1e-6
    assert np.abs(ours.gradients(X[0]) - exact[0]).max() < bound * np.abs(exact[0]).max()
    there = ours.normalize(X)
    assert np.abs(peakedness(there) - 2.5).max() < 1e-13
    assert np.abs(ours.denormalize(there, values) - X).max() < 1e-9


def test_levels_before_it_keep_their_closed_forms() -> None:
    plan = decouple([*FIRST, NAMED, Mean(x**6)], REFERENCE)
    explained = plan.explain()
    methods = [note.method for note in explained.notes]
    assert methods == ["explicit", "explicit", "implicit", "narrow path", "narrow path"]
    text = str(explained)
    assert "peakedness = 5/2" in text and "feature 4, peakedness, is a black box" in text
    assert r"\text{peakedness} = \frac{5}{2}" in explained.latex() and "peakedness" in explained.html()
    assert str(plan.normalizer(2).formula) == str(decouple(FIRST).normalizer(2).formula)
    with pytest.raises(NoClosedForm, match="peakedness, is a black box"):
        plan.normalizer(4)
    np.testing.assert_array_equal(plan.normalize(X, 3), decouple([*FIRST, kurtosis()]).normalize(X, 3))


def test_the_scenario_is_one_and_nothing_is_claimed() -> None:
    plan = decouple([Mean(x), variance(), NAMED, Mean(x**3)], [0, 1, 3])
    assert str(plan.scenario) == "1" and "black box" in plan.scenario.reason
    assert [plan.verdicts.original[k].status for k in (2, 3, 4)] == [Status.PROVED, *[Status.UNDECIDED] * 2]
    assert [plan.verdicts.modified[k].status for k in (3, 4)] == [Status.UNDECIDED] * 2
    assert plan.verdicts.exact == 2 and "UNDECIDED" in str(plan.verdicts)
    assert json.loads(plan.verdicts.original[3].to_json())["subject"] == ["Mean(x)", "-Mean(x)**2 + Mean(x**2)",
                                                                         "peakedness"]


def test_a_black_box_may_come_first_or_in_a_group() -> None:
    first = decouple([NAMED, Mean(x), variance()], [2.5, 0])
    known = decouple([kurtosis(), Mean(x), variance()], [2.5, 0], path="narrow")
    np.testing.assert_allclose(first.transform(X), known.transform(X), rtol=1e-9, atol=1e-9)
    assert first.verdicts.exact == 0
    grouped = decouple([Mean(x), Group(variance(), NAMED), skewness()], [0, 1, 2.5])
    there = grouped.normalize(X)
    for value, wanted in ((there.mean(axis=1), 0), (there.var(axis=1), 1), (peakedness(there), 2.5)):
        assert np.abs(value - wanted).max() < 1e-13
    assert np.isfinite(grouped.transform(X)).all()


def test_more_digits_are_refused_where_it_counts() -> None:
    plan = decouple([Mean(x), variance(), NAMED, Mean(x**6)], [0, 1, 2.5])
    for ask in (lambda: plan.transform(X, dps=30), lambda: plan.gradients(X, dps=30),
                lambda: plan.normalize(X, dps=30), lambda: plan.denormalize(X, np.ones((2, 4)), dps=30)):
        with pytest.raises(NoClosedForm, match=r"peakedness is a black box.*float64 only.*levels up to 2"):
            ask()
    precise = plan.normalize([0, 1, 5], 2, dps=40)
    exact = decouple([Mean(x), variance(), Mean(x**6)]).normalize([0, 1, 5], 2, dps=40)
    assert list(precise) == list(exact)
    narrow = decouple([Mean(x), variance(), NAMED], [0, 1], path="narrow").normalize([0, 1, 5], 2, dps=25)
    assert max(abs(a - b) for a, b in zip(narrow, exact, strict=True)) < 1e-23


@pytest.mark.parametrize("path", ["broad", "relaxed", "parallel"])
def test_paths_along_flows_end_before_it(path: Any) -> None:
    plan = decouple([Mean(x), variance(), NAMED, Mean(x**6)], [0, 1, 2.5], path=path)
    assert np.abs(plan.normalize(X, 2).var(axis=1) - 1).max() < 1e-14
    with pytest.raises(NoClosedForm, match="peakedness, is a black box"):
        plan.transform(X)


def test_references_are_numbers() -> None:
    features = FeatureSet([Mean(x), NAMED, Mean(x**2)])
    for law in ("gaussian", norm(0, 2)):
        with pytest.raises(InvalidInput, match="peakedness, feature 2"):
            decouple(features, law)
    assert reference_values(features, [0, 3]) == (0, 3, None)
    assert reference_values(features, {"mean(x)": 0, "peakedness": 3}) == (0, 3, None)
    assert reference_values(features, {Mean(x): 0, NAMED: 3, Mean(x**2): 1}) == (0, 3, 1)
    assert reference_values(FeatureSet([Mean(x), NAMED])) == (0, None)  # the last one needs none
    with pytest.raises(InvalidInput, match="feature 2 has no reference value"):
        decouple([Mean(x), NAMED]).normalize(X, 2)
    with pytest.raises(InvalidInput, match="two reference values"):
        reference_values(features, {Mean(x): 0, NAMED: 3, "peakedness": 2})
    same = FeatureSet([Feature.from_callable(lambda v: v.max(), name="a"), Feature.from_callable(lambda v: v.min(),
                                                                                               name="a"), Mean(x)])
    with pytest.raises(InvalidInput, match="2 black boxes have this name"):
        reference_values(same, {"a": 3})


def test_a_reference_sample_is_asked() -> None:
    features = FeatureSet([Mean(x), NAMED, Mean(x**2)])
    mean, third, power = reference_values(features, Reference.of([-2, -1, 1, 2]))
    assert (mean, power) == (0, Rational(5, 2)) and abs(float(third) - 8.5 / 6.25) < 1e-15
    broken = Feature.from_callable(raised, name="broken")
    with pytest.raises(InvalidInput, match="broken: it raised ZeroDivisionError"):
        reference_values(FeatureSet([Mean(x), broken]), Reference.of([-1, 1]))


def test_failing_rows_leave_the_others_alone() -> None:
    """A failure at the sample of a level concerns this row and this feature; on the way, everything after it."""
    rows = np.array([[1.0, 2, 4, 7, 9], [-90, 1, 2, 3, 5], [0, 7, 2, 8, 4]])
    box = Feature.from_callable(fails_below(-50, raised), name="squares")
    plan = decouple([box, Mean(x), variance()], [29, 4.5])
    values, outcomes = plan.transform(rows, on_refusal="return")
    assert [o.ok for o in outcomes] == [True, False, True] and outcomes[1].reason == "callable failed"
    assert "squares: it raised ZeroDivisionError: no inverse here" in outcomes[1].detail
    assert np.isfinite(values[[0, 2]]).all() and np.isnan(values[1]).all()
    with pytest.warns(RefusalWarning, match="no inverse here"):
        plan.normalize(rows)
    with pytest.raises(Refused) as caught:
        plan.gradients(rows, on_refusal="raise")
    assert np.isfinite(caught.value.partial[[0, 2]]).all() and np.isnan(caught.value.partial[1]).all()
    last = decouple([Mean(x), box], [0])
    values, outcomes = last.transform(rows - rows.mean(axis=1, keepdims=True) + [[0], [0], [1]], on_refusal="return")
    assert np.isfinite(values[[0, 2]]).all() and np.isfinite(values[1, 0]) and np.isnan(values[1, 1])
    assert [o.reason for o in outcomes] == ["", "callable failed", ""]


def test_a_wrong_gradient_of_the_last_feature_is_refused() -> None:
    box = Feature.from_callable(peakedness, lambda v: 0 * v, "flat")
    gradients, outcomes = decouple([Mean(x), variance(), box]).gradients(X, on_refusal="return")
    assert {o.reason for o in outcomes} == {"callable failed"}
    assert "its gradient gives a slope of 0" in outcomes[0].detail
    assert np.isfinite(gradients[:, :2]).all() and np.isnan(gradients[:, 2]).all()
