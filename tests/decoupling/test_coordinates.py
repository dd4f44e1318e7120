"""Plans of functions of explicit coordinates, against closed forms, complex logarithms and SciPy's integrator."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.stats import uniform
from sympy import Rational, Symbol, atan2, cos, exp, pi, sin, sqrt

from symdecouple import Feature, FeatureSet, Group, InvalidInput, Mean, NoClosedForm, Refused, coordinates, decouple, x
from symdecouple.analysis.orthogonality import orthogonality
from symdecouple.decoupling.reference import Reference, reference_values
from symdecouple.families.moments import raw_moments
from symdecouple.verdict import Status

X1, X2 = coordinates(2)
Y1, Y2, Y3 = coordinates(3)
PLANE = np.array([[1.0, 3], [2, -0.3], [-1, -4], [0.1, 0.2]])
SPACE = np.random.default_rng(12).normal(size=(5, 3))


def test_circle_and_product_have_formulas() -> None:
    """Along rays f1 = 2 is reached by a factor; x1 x2 = sin(2a) there moves with the angle a alone."""
    plan = decouple([X1**2 + X2**2, X1 * X2], [2, Rational(1, 2)])
    values, ends = plan.transform(PLANE), plan.normalize(PLANE, 2)
    squares, products = (PLANE**2).sum(axis=1), PLANE.prod(axis=1)
    np.testing.assert_allclose(values, np.stack([squares, 2 * products / squares], axis=1), rtol=1e-12)
    np.testing.assert_allclose(plan.normalize(PLANE, 1), PLANE * np.sqrt(2 / squares)[:, None], rtol=1e-12)
    angles = np.pi / 12 + np.array([0, 0, np.pi, 0]), 5 * np.pi / 12 + np.array([0, 0, np.pi, 0])
    nearest = np.where(np.abs(PLANE[:, 1]) > np.abs(PLANE[:, 0]), angles[1], angles[0])
    np.testing.assert_allclose(ends, np.sqrt(2) * np.stack([np.cos(nearest), np.sin(nearest)], axis=1), rtol=1e-11)


def test_radius_and_angle_are_decoupled_already() -> None:
    plan = decouple([sqrt(X1**2 + X2**2), atan2(X2, X1)], [2, pi / 4])
    np.testing.assert_allclose(plan.transform(PLANE)[:, 1], np.arctan2(PLANE[:, 1], PLANE[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(plan.normalize(PLANE, 2), np.full((4, 2), np.sqrt(2)), rtol=1e-12)
    with mpmath.workdps(25):
        (radius, angle) = plan.transform([1, 2], dps=25)
        assert abs(radius - mpmath.sqrt(5)) < 1e-24 and abs(angle - mpmath.atan2(2, 1)) < 1e-24


def test_averages_written_out_have_the_same_plan() -> None:
    features, goals = FeatureSet([Mean(x**2), Mean(x), Mean(x**3)]), [2, Rational(1, 3)]
    ours, theirs = decouple(features.at(n_samples=5), goals), decouple(features, goals, path="narrow")
    rows = np.random.default_rng(13).normal(size=(3, 5)) + 0.5
    np.testing.assert_allclose(ours.transform(rows), theirs.transform(rows), rtol=1e-11)
    np.testing.assert_allclose(ours.gradients(rows), theirs.gradients(rows), rtol=1e-10, atol=1e-11)


# --- the exponential: values repeat on one leaf, and not all of them are reached (DESIGN section 7) ---

WAVES = [exp(X1) * cos(X2), exp(X1) * sin(X2)]


@pytest.mark.parametrize("turns", [0, 1, -2])
def test_the_exponential_is_a_logarithm_continued(turns: int) -> None:
    """f1 + i f2 = exp(x1 + i x2) is conformal: level 1 is a horizontal line, level 2 a vertical one, none through 0."""
    start = np.array([0.3, 0.5 + 2 * np.pi * turns])
    (end,) = decouple(WAVES, [-2, -1]).normalize(start[None], 2)
    angle = np.pi + np.arctan(1 / 2)  # from 0.5 up over pi
    np.testing.assert_allclose(end, [np.log(5) / 2, angle + 2 * np.pi * turns], rtol=1e-11)


@pytest.mark.parametrize(("start", "goals", "reason"), [
    ([0.0, 0.0], [-2.0, 1.0], "not attainable"),  # f1 falls to 0 with f2 = 0: x1 runs to minus infinity
    ([0.0, 1.0], [0.0, 0.0], "not attainable"),  # 0 is no exponential
])
def test_what_the_exponential_does_not_reach(start: list[float], goals: list[float], reason: str) -> None:
    ends, (outcome,) = decouple(WAVES, goals).normalize([start], 2, on_refusal="return")
    assert not outcome.ok and outcome.reason == reason and np.isnan(ends).all()
    assert "was asked for" in outcome.detail


def test_no_skewness_from_three_ties_of_five() -> None:
    plan = decouple(raw_moments(3).at(n_samples=5), [0, 1, 0])
    _, (tied, free) = plan.normalize([[0, 0, 0, 1, 2], [0, 0, -1, 1, 2]], 3, on_refusal="return")
    assert tied.reason == "not attainable" and tied.detail and free.ok


# --- references ---


def test_polynomials_have_expectations() -> None:
    features = FeatureSet([(X1**2 + X2) ** 2, X1**3 * X2 + X2**4 / 2, X1 + 5])
    assert reference_values(features) == (4, Rational(3, 2), 5)
    flat = uniform(loc=-1, scale=2)  # E x^2 = 1/3, E x^4 = 1/5
    expected = [1 / 5 + 1 / 3, 1 / 10, 5]
    found = np.array([float(v) for v in reference_values(features, flat) if v is not None])
    np.testing.assert_allclose(found, np.array(expected), rtol=1e-14)
    assert reference_values(features, Reference.of([2, 3])) == (49, 24 + Rational(81, 2), 7)
    assert reference_values(FeatureSet([X1, X2]), {X2: 3, X1: 2}) == (2, 3)
    assert reference_values(FeatureSet(WAVES), {WAVES[0]: 1}) == (1, None)


def test_other_functions_take_numbers() -> None:
    with pytest.raises(InvalidInput, match=r"no polynomial of its coordinates: give numbers, reference=\[...\]"):
        decouple(WAVES)
    with pytest.raises(InvalidInput, match="function of 2 coordinates, the reference sample has 3 numbers"):
        decouple(WAVES, Reference.of([1, 2, 3]))


# --- everything else ---


def test_refusals_concern_their_rows() -> None:
    plan = decouple([X1**2 + X2**2, X1 * X2], [2, 0.5])
    rows = np.array([[1.0, 3], [0, 0], [np.nan, 1], [1, 1]])
    values, outcomes = plan.transform(rows, on_refusal="return")
    assert [o.ok for o in outcomes] == [True, False, False, True]
    assert outcomes[1].reason == "critical point" and values[1, 0] == 0 and np.isnan(values[1, 1])
    np.testing.assert_allclose(values[[0, 3]], np.array([[10.0, 0.6], [2, 1]]), rtol=1e-12)
    with pytest.raises(Refused, match="does not move at fixed values"):
        plan.transform(rows[1], on_refusal="raise")


@pytest.mark.parametrize("dps", [None, 20])
def test_samples_have_as_many_numbers_as_coordinates(dps: int | None) -> None:
    plan = decouple([X1**2 + X2**2, X1 * X2], [2, 0.5])
    for rows in (np.ones((2, 3)), np.full((2, 3), np.nan), np.ones(1)):
        said = f"functions of 2 coordinates, the samples have {rows.shape[-1]} numbers"
        with pytest.raises(InvalidInput, match=said):
            plan.transform(rows, dps=dps)
    if dps is None:
        np.testing.assert_array_equal(plan.transform(PLANE.T, axis=0), plan.transform(PLANE))


def test_the_plan_says_what_it_does() -> None:
    plan = decouple([X1**2 + X2**2, X1 * X2], [2])
    assert "narrow path" in str(plan.explain()) and "explicit coordinates" in str(plan.explain())
    assert plan.verdicts.original[2].status is Status.PROVED
    with pytest.raises(NoClosedForm, match="explicit coordinates"):
        plan.normalizer(1)
    with pytest.raises(NoClosedForm, match="explicit coordinates"):
        decouple([X1**2 + X2**2, X1 * X2], [2], path="broad").transform(PLANE)
    with pytest.raises(InvalidInput, match="a must be bound"):
        decouple([Symbol("a") * X1, X2], [2])


def test_black_boxes_go_along() -> None:
    box = Feature.from_callable(lambda v: v[0] * v[1], lambda v: np.array([v[1], v[0]]), name="product")
    ours = decouple([X1**2 + X2**2, box, X1], [2, 0.5])
    theirs = decouple([X1**2 + X2**2, X1 * X2, X1], [2, 0.5])
    np.testing.assert_allclose(ours.transform(PLANE), theirs.transform(PLANE), rtol=1e-10)


def test_a_group_is_one_level() -> None:
    plan = decouple(FeatureSet([Y1**2 + Y2**2 + Y3**2, Group(Y1 * Y2, Y2 + Y3), Y1]), [3, 0.25, 0.5])
    ends = plan.normalize(SPACE[:2], 3)
    np.testing.assert_allclose((ends**2).sum(axis=1), 3, rtol=1e-13)
    np.testing.assert_allclose(ends[:, 0] * ends[:, 1], 0.25, rtol=1e-12)
    np.testing.assert_allclose(ends[:, 1] + ends[:, 2], 0.5, rtol=1e-12)


def test_angles_of_coordinates() -> None:
    """cos of the angle between (x1, x2) and (x2, x1) is 2 x1 x2/(x1^2 + x2^2), and 0 once decoupled."""
    found = orthogonality(decouple([X1**2 + X2**2, X1 * X2], [2]), PLANE)
    cosines = 2 * PLANE.prod(axis=1) / (PLANE**2).sum(axis=1)
    np.testing.assert_allclose(found.original.degrees[:, 0, 1], 90 - np.degrees(np.arccos(cosines)), rtol=1e-10)
    assert found.decoupled.largest < 1e-10
