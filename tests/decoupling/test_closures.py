"""Closures in plans: both sentences, sets that are filled up, and what is decoupled from the features themselves."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sympy import cos, exp, log, sin

from symdecouple import Feature, FeatureSet, Group, Mean, NoClosedForm, Status, decouple, kurtosis, variance
from symdecouple.decoupling.verdicts.closures import filled_set
from symdecouple.families import circular_features
from symdecouple.language.sample import coordinates, sample, x

P = sample("x", positive=True)
ROWS = np.random.default_rng(0).normal(size=(4, 11))


def cosines(gradient: np.ndarray, fields: list[np.ndarray]) -> float:
    return max(abs(float(gradient @ v / np.linalg.norm(gradient) / np.linalg.norm(v))) for v in fields)


# --- both sentences ---------------------------------------------------------------------------------------------


def test_four_are_proved_although_the_closure_of_three_is_everything() -> None:
    verdicts = decouple([Mean(x), Mean(x**2), Mean(x**4), Mean(x**6)]).verdicts
    text = str(verdicts)
    assert "the first 4 decoupled features are proved mutually decoupled" in text
    assert "the closure of S_3 is everything, PROVED: no feature but the constants is decoupled" in text
    assert verdicts.closures[3].is_everything and verdicts.closures[3].verify()
    assert verdicts.closures[2].rank == 2 and verdicts.exact == 4


def test_a_small_closure_is_named() -> None:
    plan = decouple([Mean(x), Mean(x**3)])
    assert "rank 3, that of the exact family of x, PROVED: N - 3 independent features" in str(plan.verdicts)
    assert "the closure of S_2 has rank 3" in str(plan.explain())


def test_the_first_that_fails_and_the_first_that_is_everything_are_told() -> None:
    lines = decouple([Mean(x), Mean(x**3), Mean(x**4), Mean(x**5)]).verdicts.of_closures()
    assert ["S_2 has rank 3" in lines[0], "S_3 is everything" in lines[1], len(lines)] == [True, True, 2]
    features: Any
    for features in ([Mean(x), Mean(x**2), Mean(x**3)], [Mean(x), variance(), kurtosis()], coordinates(3)):
        assert decouple(features).verdicts.of_closures() == []  # of sets that are involutive


# --- filled up --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bodies, added, fields", [
    ([x, x**3, x**5], [x**2], [np.ones_like, lambda r: r, lambda r: r**2]),
    ([x, x**3, x**2, x**4], [], [np.ones_like, lambda r: r, lambda r: r**2]),
    ([exp(x), exp(-x), x**2], [x], [np.exp, lambda r: np.exp(-r), np.ones_like])], ids=["x", "x^2 is there", "exp"])
def test_the_feature_after_is_decoupled_from_the_features_themselves(bodies: list[Any], added: list[Any],
                                                                     fields: list[Any]) -> None:
    plan = decouple([Mean(b) for b in bodies], path="closure")
    assert plan.added == tuple(Feature(Mean(b)) for b in added)
    last = len(plan.features) - 1
    rows = ROWS[:2]
    values, gradients = plan.transform(rows), plan.gradients(rows)
    for row, gradient in zip(rows, gradients, strict=True):
        assert cosines(gradient[last], [f(row) for f in fields]) < 1e-12
    assert all(v.status is Status.PROVED for v in [plan.verdicts.original[last]])
    assert pickle.loads(pickle.dumps(plan)).transform(rows) == pytest.approx(values)
    assert all(f"added: {f}" in str(plan.explain()) for f in plan.added)


def test_without_it_the_feature_is_decoupled_from_the_modified_features_only() -> None:
    gradient = decouple([Mean(x), Mean(x**3), Mean(x**5)]).gradients(ROWS[0])[2]
    assert cosines(gradient, [np.ones(11)]) < 1e-12 and cosines(gradient, [ROWS[0] ** 2]) > 1e-3


def test_the_value_is_that_of_the_moments_where_they_are_the_closure() -> None:
    """hat f_3 = Mean(x^5) at mean 0, second moment 1, third moment 0, as in the plan of the moments."""
    through = decouple([Mean(x), Mean(x**3), Mean(x**5)], path="closure").transform(ROWS)[:, 3]
    moments = decouple([Mean(x), Mean(x**2), Mean(x**3), Mean(x**5)]).transform(ROWS)[:, 3]
    assert through == pytest.approx(moments, rel=1e-10)
    standardized = (ROWS - ROWS.mean(axis=1, keepdims=True)) / ROWS.std(axis=1, keepdims=True)
    both = np.concatenate([standardized, -standardized], axis=1)  # where all three hold, it is the feature itself
    assert decouple([Mean(x), Mean(x**3), Mean(x**4)], path="closure").transform(both)[:, 3] == pytest.approx(
        np.mean(both**4, axis=1), rel=1e-12)


def test_references_of_what_is_added() -> None:
    assert decouple([Mean(x), Mean(x**3), Mean(x**5)], path="closure").reference == (0, 0, 1, 0)
    assert decouple([Mean(x), Mean(x**3), Mean(x**5)], [0.5, 2, 7], path="closure").reference[2:] == (1, 7)


def test_a_black_box_after_the_closure_is_exact_too() -> None:
    soft = Feature.from_callable(lambda v: np.log(np.exp(v).mean()), lambda v: np.exp(v) / np.exp(v).sum(), "soft")
    plan = decouple([Mean(x), Mean(x**3), soft], path="closure")
    assert plan.added == (Feature(Mean(x**2)),)
    assert cosines(plan.gradients(ROWS[0])[3], [np.ones(11), ROWS[0], ROWS[0] ** 2]) < 1e-12


def test_an_involutive_set_is_left_as_it_is() -> None:
    plan = decouple([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)], path="closure")
    assert plan.added == () and plan.features == FeatureSet([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)])


@pytest.mark.parametrize("features, words", [
    ([Mean(x), Mean(x**2), Mean(x**4), Mean(x**6)], "S_3 is everything, PROVED"),
    ([Mean(x), Mean(x**4), Mean(x**5)], "S_2 is everything, PROVED"),
    ([Mean(sin(x)), Mean(cos(x)), Mean(cos(2 * x))], "no function on the circle"),
    (list(coordinates(3)), "closures are filled up with averages"),
    ([Mean(P), Mean(log(P) ** 2), Mean(P**3)], "everything")], ids=str)
def test_refusals_say_what_is_proved(features: list[Any], words: str) -> None:
    with pytest.raises(NoClosedForm, match=words):
        decouple(features, path="closure")


def test_unwrapped_angles_may_have_their_mean() -> None:
    given = FeatureSet([Mean(x), Mean(sin(x)), Mean(cos(2 * x))])
    found, added = filled_set(given, 30)
    assert added == (Feature(Mean(cos(x))),) and tuple(found) == (given[0], given[1], *added, given[2])


# --- on the circle ----------------------------------------------------------------------------------------------


def test_invariants_of_angles_are_exact_features() -> None:
    """Beside Mean(cos) and Mean(sin), which fail C2, and unchanged by the levels that impose these."""
    plan = decouple([Group(Mean(cos(x)), Mean(sin(x))), *circular_features()], reference=[0.1, 0, 0.3])
    values, gradients = plan.transform(ROWS), plan.gradients(ROWS[:1])
    tail, odd = circular_features()
    assert tail.black_box is not None and tail.black_box.gradient is not None and odd.black_box is not None
    assert values[:, 2] == pytest.approx(tail.black_box.function(ROWS), rel=1e-9)
    exact = tail.black_box.gradient(ROWS)
    assert gradients[0, 2] == pytest.approx(exact[0], abs=1e-6 * np.abs(exact[0]).max())
    for row, own in zip(ROWS, exact, strict=True):
        assert cosines(own, [np.ones(11), np.cos(row), np.sin(row)]) < 1e-12
    step = 1e-5 * np.eye(11)
    for feature in (tail, odd):
        box = feature.black_box
        assert box is not None and box.gradient is not None
        central = (box.function(ROWS[0] + step) - box.function(ROWS[0] - step)) / 2e-5
        assert central == pytest.approx(box.gradient(ROWS[:1])[0], abs=1e-8)
