"""Critical points of other sets than moments: Chebyshev systems, energies, and what is searched."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sympy import Abs, Rational, atan, cos, cosh, exp, log, pi, sin, sinh, sqrt

import symdecouple as sd
from symdecouple import FeatureSet, Filter, Mean, Status, x
from symdecouple.analysis import critical_points
from symdecouple.analysis.critical.chebyshev import recognize_chebyshev

P = sd.sample("p", positive=True)
LOW, HIGH = Filter([1, 2, 1]), Filter([1, -1], origin=0)


def plan_of(features: Any, reference: Any = "gaussian") -> Any:
    """A plan for its references: without closed forms, which are not asked for here and take a second to find."""
    return sd.decouple(features, reference, path="narrow")


def points(features: list[Any], reference: Any, level: int, n_samples: int) -> Any:
    return critical_points(plan_of(FeatureSet(features), reference), level=level, n_samples=n_samples)


# --- Chebyshev systems ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("features", "known"), [
    ([Mean(P**2), Mean(P**4)], True), ([Mean(x**2), Mean(x**4)], False), ([Mean(x), Mean(x**3)], False),
    ([Mean(x), Mean(x**2), Mean(x**3) + Mean(x)], True), ([Mean(P), Mean(P**3)], True), ([Mean(log(P)), Mean(P)], True),
    ([Mean(sqrt(P)), Mean(1 / P), Mean(log(P)**2)], False), ([Mean(exp(x)), Mean(exp(-x))], True),
    ([Mean(x), Mean(exp(x)), Mean(exp(2 * x))], True), ([Mean(x * exp(x))], False),
    ([Mean(exp(x)), Mean(x * exp(x))], True), ([Mean(P) ** 2, Mean(P**2)], False), ([Mean(x**2)], False),
    ([Mean(P**2)], True), ([Mean(log(P)), Mean(log(P) ** 2), Mean(log(P) ** 3)], True), ([Mean(sd.x**2 + x)], False),
    # by Wronskians, and at real orders
    ([Mean(x), Mean(cosh(x))], True), ([Mean(x), Mean(sinh(x))], False), ([Mean(sinh(x)), Mean(cosh(x))], True),
    ([Mean(x), Mean(x**2), Mean(cosh(x))], False), ([Mean(x**3 + x)], True), ([Mean(P**2 + P), Mean(P**3)], True),
    ([Mean(P), Mean(P**3 - P**2)], False), ([Mean(x), Mean(exp(x) + exp(2 * x))], True),
    ([Mean(x), Mean(exp(x) - exp(2 * x))], False), ([Mean(P ** sqrt(2)), Mean(P**2), Mean(P**pi)], True),
    ([Mean(x), Mean(x**2), Mean(pi * x**3)], True)])
def test_which_averages_are_chebyshev(features: list[Any], known: bool) -> None:
    """On positive samples powers are; on the line only full sets of monomials; x e^x + e^x has a zero."""
    assert (recognize_chebyshev(FeatureSet(features)) is not None) is known


CASES: list[Any] = [([Mean(P), Mean(P**3)], [1], 2, 4),
         ([Mean(log(P)), Mean(P), Mean(P**2)], [0, Rational(5, 4)], 3, 6),
         ([Mean(exp(x)), Mean(exp(-x)), Mean(exp(2 * x))], [Rational(3, 2), Rational(3, 2)], 3, 5),
         pytest.param([Mean(sqrt(P)), Mean(P), Mean(P**2), Mean(P**3)], [Rational(9, 10), 1, Rational(3, 2)], 4, 6,
                      marks=pytest.mark.slow)]


@pytest.mark.parametrize(("features", "reference", "level", "n_samples"), CASES)
def test_chebyshev_points_have_the_references_and_the_inertia(features: list[Any], reference: list[Any], level: int,
                                                              n_samples: int) -> None:
    found = points(features, reference, level, n_samples)
    explicit = FeatureSet(features).at(n_samples=n_samples)
    assert len(found) > 0
    for point in found:
        rule = dict(zip(explicit.coordinates, point.sample, strict=True))
        values = [float(f.expr.xreplace(rule)) for f in explicit]
        assert values == pytest.approx([*map(float, reference), float(point.value)], rel=1e-12)
        slopes = np.array([[float(e.xreplace(rule)) for e in f.gradient.components] for f in explicit])
        weights = np.linalg.lstsq(slopes[:-1].T, slopes[-1], rcond=None)[0]
        assert np.abs(slopes[-1] - weights @ slopes[:-1]).max() < 1e-10 * np.abs(slopes).max()
        hessians = [np.diag([float(e.diff(c).xreplace(rule)) for e, c in zip(
            f.gradient.components, explicit.coordinates, strict=True)]) for f in explicit]
        tangent = np.linalg.svd(slopes[:-1])[2][level - 1:].T
        curvature = hessians[-1] - sum(w * h for w, h in zip(weights, hessians, strict=False))
        assert (np.linalg.eigvalsh(tangent.T @ curvature @ tangent) < 0).sum() == point.index
    kinds = [p.kind for p in found]
    assert kinds.count("minimum") <= 1 and kinds.count("maximum") <= 1
    assert found.complete.status is Status.NUMERICAL and found.b1.verify() and found.b2.verify()
    assert sd.verdict_from_json(found.b1.to_json()) == found.b1


def test_positive_samples_have_one_value_where_the_line_has_three() -> None:
    (only,) = points([Mean(P**2), Mean(P**4)], [1], 2, 4)
    assert (only.kind, only.ties, float(only.value)) == ("minimum", (4,), 1.0)
    found = points([Mean(x**2), Mean(x**4)], [1], 2, 4)
    everything = {(low, zero, high) for low, zero, high in product(range(5), repeat=3)
                  if low + zero + high == 4 and zero < 4}
    told = {tuple(int((np.sign(p.sample.round(9)) == s).sum()) for s in (-1, 0, 1)) for p in found}
    assert told == everything and len(found) == 14
    for point in found:  # values -a, 0, a: N/n at n that are not zero; zeros are directions of decrease
        active = int((np.abs(point.sample) > 1e-6).sum())
        assert float(point.value) == pytest.approx(4 / active) and point.index == 4 - active
    assert (found.complete.status, found.b1.status, found.b2.status) == (
        Status.NUMERICAL, Status.UNDECIDED, Status.UNDECIDED)


def test_an_average_without_critical_points() -> None:
    found = critical_points(plan_of([Mean(x), Mean(x**2)]), level=1, n_samples=5)
    assert found == [] and found.complete.status is Status.PROVED and found.complete.verify()
    assert found.minimum is None


# --- B1 refuted -----------------------------------------------------------------------------------------------------

def test_cubes_on_a_sphere_have_extrema_that_are_local_only() -> None:
    """(x^2, x^3) is involutive, yet all ones is a local minimum of the mean cube: B1 fails, with proof."""
    found = points([Mean(x**2), Mean(x**3)], [1], 2, 5)
    assert found.b1.status is Status.REFUTED and found.b1.verify() and "local only: -1 (5 times)" in str(found.b1)
    local = [p for p in found if p.is_global is False]
    assert {(p.kind, p.ties, round(float(p.value), 9)) for p in local} == {("minimum", (5,), 1.0),
                                                                         ("maximum", (5,), -1.0)}
    rng = np.random.default_rng(5)
    for _ in range(20):  # descent from near the local minimum ends there
        start = 1 + 0.1 * rng.normal(size=5)
        end = minimize(lambda z: (z**3).mean(), start, constraints=[{"type": "eq", "fun": lambda z: (z**2).mean() - 1}],
                       method="SLSQP")
        assert end.fun == pytest.approx(1, abs=1e-5)
    data = json.loads(found.b1.to_json())
    assert sd.verdict_from_json(json.dumps(data)) == found.b1
    data["certificate"]["other"] = data["certificate"]["local"]
    assert not sd.verdict_from_json(json.dumps(data)).verify()
    data = json.loads(found.b1.to_json())
    data["certificate"]["local"]["values"] = ["-11/10"]
    assert not sd.verdict_from_json(json.dumps(data)).verify()


# --- energies -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("features", "level", "n_samples"), [
    ([Mean(x**2), Mean(LOW(x)**2), Mean(HIGH(x)**2)], 3, 8), ([Mean(x), Mean(x**2), Mean(HIGH(x)**2)], 3, 7),
    ([Mean(x**2), Mean(x * sd.shift(1)(x)), Mean(x * sd.shift(2)(x))], 3, 9)])
def test_extrema_of_energies_are_those_of_a_linear_program(features: list[Any], level: int, n_samples: int) -> None:
    plan = plan_of(FeatureSet(features))
    found = critical_points(plan, level=level, n_samples=n_samples)
    explicit = FeatureSet(features).at(n_samples=n_samples)
    waves = np.fft.irfft(np.eye(n_samples // 2 + 1) * n_samples, n_samples)
    waves /= np.sqrt((waves**2).mean(axis=1, keepdims=True))
    weights = np.array([[float(f.expr.xreplace(dict(zip(explicit.coordinates, w, strict=True)))) for w in waves]
                        for f in explicit])
    rows, wanted = weights[:-1], [float(r) for r in plan.reference[: level - 1]]
    if features[0] == Mean(x):
        rows, wanted, weights = rows[1:, 1:], wanted[1:], weights[:, 1:]
    for sign, point in ((1, found.minimum), (-1, found.maximum)):
        program = linprog(sign * weights[-1], A_eq=rows, b_eq=wanted)
        assert sign * program.fun == pytest.approx(float(point.value), abs=1e-9)
    for point in found:
        values = [float(f.expr.xreplace(dict(zip(explicit.coordinates, point.sample, strict=True)))) for f in explicit]
        assert values == pytest.approx([*map(float, plan.reference[: level - 1]), float(point.value)], abs=1e-9)
    assert found.b1.verify() and found.b2.verify() and sd.verdict_from_json(found.b2.to_json()) == found.b2


def test_energies_of_one_filter_are_critical_in_its_null_space() -> None:
    (only,) = points([Mean(HIGH(x)**2)], "gaussian", 1, 5)
    assert (float(only.value), only.kind, only.index) == (0.0, "minimum", 0)


def test_index_of_energies_is_that_of_the_sphere() -> None:
    """The energy of [1, 2, 1] on the unit sphere: eigenvectors; below each are so many dimensions of smaller ones."""
    found = points([Mean(x**2), Mean(LOW(x)**2)], "gaussian", 2, 6)
    gains = (2 + 2 * np.cos(2 * np.pi * np.arange(6) / 6)) ** 2
    assert [round(float(p.value), 9) for p in found] == sorted(set(gains.round(9)))
    assert [p.index for p in found] == [int((gains < float(p.value) - 1e-9).sum()) for p in found]


# --- searched sets --------------------------------------------------------------------------------------------------

def test_eigenvectors_of_a_quadratic_form_in_coordinates() -> None:
    a, b, c = sd.coordinates(3)
    plan = plan_of([a**2 + b**2 + c**2, a**2 + 2 * b**2 + 3 * c**2 + a * b], [1, 2])
    found = critical_points(plan, level=2)
    eigenvalues = np.linalg.eigvalsh([[1, 0.5, 0], [0.5, 2, 0], [0, 0, 3]])
    assert [float(p.value) for p in found] == pytest.approx(np.repeat(eigenvalues, 2).tolist(), abs=1e-10)
    assert [p.index for p in found] == [0, 0, 1, 1, 2, 2]


def test_averages_on_the_circle_are_searched() -> None:
    """Mean sin at Mean cos = 1/2: symmetric, and the greatest is at equal angles of 60 degrees."""
    found = points([Mean(cos(x)), Mean(sin(x))], [Rational(1, 2), 0], 2, 3)
    best = max(float(p.value) for p in found)
    assert best == pytest.approx(np.sqrt(3) / 2) and found.complete.status is Status.NUMERICAL


def test_degenerate_points_are_not_classified() -> None:
    """A squared third moment is zero on a whole surface; x^4 + y^4 has no second derivative at 0."""
    found = points([Mean(x), Mean(x**2), Mean(x**3)**2], "gaussian", 3, 4)
    lowest = [p for p in found if abs(float(p.value)) < 1e-9]
    assert lowest and all(p.kind == "degenerate" and p.index is None and p.is_global is None for p in lowest)
    a, b = sd.coordinates(2)
    flat = critical_points(plan_of([a**4 + b**4 + a**2]), level=1, n_samples=2)
    assert [p.kind for p in flat] == ["degenerate"]


@pytest.mark.parametrize(("features", "reference", "level"), [
    ([Mean(x), Mean(x**3)], [0], 2), ([Mean(atan(x)), Mean(x)], [0], 2), ([Mean(x**3)], [], 1), ([Mean(x**4)], [], 1),
    ([Mean(x), Mean(sin(x))], [0], 2), ([Mean(x), Mean((x - 1) ** 3)], [1], 2)])
def test_hessians_that_vanish_where_the_sample_does(features: list[Any], reference: list[int], level: int) -> None:
    """At N equal values the Hessian is 0, and Newton's method ends beside them."""
    found = points(features, [*reference, 0], level, 5)
    centre = [p for p in found if len(p.values) == 1 and abs(float(p.value)) < 1e-9]
    assert centre and all(p.kind == "degenerate" and p.index is None for p in centre)


def test_real_orders_against_the_two_values_they_must_have() -> None:
    """Two values a < b with shares p, 1 - p: by SciPy's roots, and the extremes by minimizing over the level."""
    orders, references = (2**0.5, 2.0, np.pi), (1.0, 1.2)
    found = points([Mean(P ** sqrt(2)), Mean(P**2), Mean(P**pi)], [1, Rational(6, 5), 2], 3, 5)
    assert found.b1.status is Status.PROVED and found.b1.verify() and [p.index for p in found] == [1, 2, 3]
    for p in found:
        values = [float(v) for v in p.values]
        sums = [sum(n * v**order for n, v in zip(p.ties, values, strict=True)) / 5 for order in orders]
        assert sums == pytest.approx([*references, float(p.value)], rel=1e-13)
    level = [{"type": "eq", "fun": lambda t, o=o, r=r: np.mean(np.exp(o * t)) - r}
             for o, r in zip(orders, references, strict=False)]
    searched = [minimize(lambda t: -np.mean(np.exp(np.pi * t)), start, constraints=level, bounds=[(-6, 1)] * 5)
                for start in np.random.default_rng(4).normal(scale=0.3, size=(6, 5))]
    best = min((search for search in searched if search.success), key=lambda search: search.fun)
    assert -best.fun == pytest.approx(float(found[-1].value), rel=1e-6)


def test_what_is_not_searched() -> None:
    with pytest.raises(sd.BudgetExceeded, match="40 coordinates"):
        points([Mean(x**2), Mean(x**4)], [1], 2, 41)
    box = sd.Feature.from_callable(lambda v: float((v**2).mean()))
    with pytest.raises(sd.UnsupportedExpression, match="black box"):
        points([Mean(x), box], [0, 1], 2, 4)
    kinked = FeatureSet([Mean(x), Mean(x**2), Mean(Abs(x))], allow_nonsmooth=["Abs"])
    with pytest.raises(sd.UnsupportedExpression, match="kinks"):  # -sqrt 2, 0, 0, sqrt 2 is the least, at a kink
        critical_points(plan_of(kinked), level=3, n_samples=4)
    bank = sd.families.second_order_moments(sd.families.tils())
    with pytest.raises(sd.InvalidInput, match="2 dimensions"):
        critical_points(plan_of(bank), level=2, n_samples=9)
    a, b = sd.coordinates(2)
    with pytest.raises(sd.InvalidInput, match="2 coordinates"):
        critical_points(plan_of([a**2 + b**2, a**2 + 3 * b**2], [1, 2]), level=2, n_samples=3)
