"""Critical points of moments: the source's formulas, counts by elimination, optimization, exact inertia, ranges."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import pytest
from sympy import Integer, Matrix, N as digits, Rational, Symbol, simplify, sqrt as root

import symdecouple as sd
from symdecouple import FeatureSet, InvalidInput, Mean, Status, stats, x
from symdecouple.analysis import critical_points
from symdecouple.analysis.critical.moment_level import moment_range
from symdecouple.analysis.critical.pattern_solutions import PatternSolutions, Targets
from symdecouple.analysis.critical.tie_patterns import patterns
from symdecouple.families.moments import raw_moments, standardized_moments


def plan_of(features: Any, reference: Any = "gaussian") -> Any:
    """A plan for its references: without closed forms, which are not asked for here and take a second to find."""
    return sd.decouple(features, reference, path="narrow")


PLAN = plan_of(raw_moments(6))


# --- level 3: formulas ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("n_samples", [2, 3, 7, 12])
def test_skewness_has_the_values_of_the_formula(n_samples: int) -> None:
    found = critical_points(PLAN, level=3, n_samples=n_samples)
    assert len(found) == n_samples - 1
    for point in found:
        p = point.shares[-1]
        assert simplify(point.value - (1 - 2 * p) / root(p * (1 - p))) == 0
        assert simplify(point.values[1] - root((1 - p) / p)) == 0 and simplify(point.values[0] + root(p / (1 - p))) == 0
        assert point.error == 0
    assert [v.status for v in (found.complete, found.b1, found.b2)] == [Status.PROVED] * 3


def test_skewness_for_every_size_is_symbolic_and_agrees() -> None:
    low, saddle, high = critical_points(PLAN, level=3)
    share, size = Symbol("p"), Symbol("N", integer=True, positive=True)
    assert simplify(high.value - (size - 2) / root(size - 1)) == 0 and simplify(low.value + high.value) == 0
    numbers = critical_points(PLAN, level=3, n_samples=9)
    for point in numbers[1:-1]:
        p = point.shares[1]
        assert abs(digits(saddle.value.subs(share, p) - point.value)) < 1e-12
        assert saddle.index.subs({share: p, size: 9}) == point.index
    assert high.index.subs(size, 9) == numbers[-1].index and (low.kind, high.kind) == ("minimum", "maximum")
    with pytest.raises(InvalidInput, match="n_samples="):
        _ = saddle.sample
    for verdict in (critical_points(PLAN, level=3).b1, critical_points(PLAN, level=3).b2):
        assert verdict.status is Status.PROVED and verdict.verify() and "every N" in str(verdict)


# --- levels 4 to 6 --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("level", "n_samples"), [(3, 6), (4, 6), (4, 7), (5, 7), (6, 8)])
def test_samples_attain_what_is_said(level: int, n_samples: int) -> None:
    """Each sample has the references, each value is its own moment, and its numbers are zeros of one polynomial."""
    for point in critical_points(PLAN, level=level, n_samples=n_samples):
        z = np.array(point.sample)
        assert z.shape == (n_samples,) and tuple(np.unique(z.round(9), return_counts=True)[1]) == point.ties
        for order, reference in enumerate(PLAN.reference[: level - 1], 1):
            assert (z**order).mean() == pytest.approx(float(reference), abs=1e-12)
        assert (z**level).mean() == pytest.approx(float(point.value), rel=1e-13, abs=1e-13)
        residual = z ** (level - 1) - np.polynomial.Polynomial.fit(z, z ** (level - 1), level - 2)(z) if (
            len(point.ties) == level - 1) and level < n_samples else np.zeros(1)
        gradients = np.array([z**j for j in range(level)])
        assert np.linalg.matrix_rank(gradients, tol=1e-8) < level and np.abs(residual).max() < 1e-8


def inertia(matrix: Matrix) -> tuple[int, int]:
    """Positive and negative eigenvalues, exactly, by Descartes' rule: all eigenvalues are real."""
    coefficients = [c for c in matrix.charpoly(Symbol("t")).all_coeffs() if c != 0]
    changes = sum(bool(p * q < 0) for p, q in pairwise(coefficients))
    return changes, matrix.shape[0] - changes


@pytest.mark.parametrize(("level", "n_samples"), [(3, 5), (4, 6), (4, 7), (5, 7), (6, 7)])
def test_index_is_the_exact_inertia_of_the_bordered_hessian(level: int, n_samples: int) -> None:
    """The multiplier function is Mean of a primitive of P = prod (x - y_i), at values rounded to rationals."""
    for point in critical_points(PLAN, level=level, n_samples=n_samples):
        if not point.is_regular:
            continue
        values = [Rational(str(v.evalf(15))) for v in point.values]
        rows = [(v, Integer(1) * np.prod([v - w for w in values if w != v]))
                for n, v in zip(point.ties, values, strict=True) for _ in range(n)]
        border = Matrix([[v**j for v, _ in rows] for j in range(level - 1)])
        bordered = Matrix([[Matrix.zeros(level - 1, level - 1), border],
                           [border.T, Matrix.diag(*(s for _, s in rows))]])
        positive, negative = inertia(bordered)
        assert negative - (level - 1) == point.index
        assert (positive == level - 1, negative == level - 1) == (point.kind in ("maximum", "isolated"),
                                                                 point.kind in ("minimum", "isolated"))


@pytest.mark.parametrize("n_samples", [3, 4, 5, 8, 9, *(pytest.param(n, marks=pytest.mark.slow) for n in (12, 13))])
def test_orthokurtosis_ranges_are_the_closed_forms(n_samples: int) -> None:
    found = critical_points(PLAN, level=4, n_samples=n_samples)
    low = Integer(1) if n_samples % 2 == 0 else Rational(n_samples, n_samples - 1)
    if n_samples == 3:
        assert [(p.kind, p.value) for p in found] == [("isolated", Rational(3, 2))]
        return
    assert (found.minimum.value, found.maximum.value) == (low, Rational(n_samples, 2))
    assert found.maximum.ties == (1, n_samples - 2, 1) and found.maximum.index == n_samples - 3
    assert found.minimum.is_regular == bool(n_samples % 2)
    assert (found.b1.status, found.b2.status) == (Status.PROVED, Status.PROVED)


def test_orthokurtosis_of_the_sample_is_the_value() -> None:
    for point in critical_points(PLAN, level=4, n_samples=9):
        assert float(stats.orthokurtosis(point.sample)) == pytest.approx(float(point.value), rel=1e-12)


def test_no_sample_leaves_the_range() -> None:
    """Random samples normalized by the plan, by another road, stay strictly inside."""
    rows = np.random.default_rng(3).standard_t(2, size=(60, 8))
    values = stats.decoupled_moments(rows, order=5, axis=1)
    fourth = critical_points(PLAN, level=4, n_samples=8)
    fifth = critical_points(PLAN, level=5, n_samples=8)
    assert (values[:, 3] > float(fourth.minimum.value)).all() and (values[:, 3] < float(fourth.maximum.value)).all()
    reached = values[np.isfinite(values[:, 4]), 4]
    assert len(reached) > 30 and (np.abs(reached) < float(fifth.maximum.value)).all()
    assert np.abs(reached).max() > 0.5 * float(fifth.maximum.value)


@pytest.mark.parametrize(("level", "n_samples"), [
    (4, 8), (5, 8), (6, 8), *(pytest.param(k, 12, marks=pytest.mark.slow) for k in (4, 5, 6))])
def test_conditions_are_proved_and_verified(level: int, n_samples: int) -> None:
    found = critical_points(PLAN, level=level, n_samples=n_samples)
    kinds = [p.kind for p in found]
    assert kinds.count("minimum") == kinds.count("maximum") == 1
    assert found[0].kind == "minimum" and found[-1].kind == "maximum" and found.minimum is found[0]
    for verdict in (found.complete, found.b1, found.b2):
        assert verdict.status is Status.PROVED and verdict.verify()
    text = found.b1.to_json()
    assert sd.verdict_from_json(text) == found.b1


def test_the_gauss_points_are_on_a_singular_level() -> None:
    """N = 12: -sqrt 3, 0, sqrt 3 taken 2, 8, 2 times has the Gaussian moments up to order 5."""
    (middle,) = [p for p in critical_points(PLAN, level=5, n_samples=12) if not p.is_regular]
    assert (middle.ties, middle.value, middle.kind, middle.index) == ((2, 8, 2), 0, "saddle", None)


@pytest.mark.slow
def test_the_gauss_points_have_the_least_sixth_moment() -> None:
    sixth = critical_points(PLAN, level=6, n_samples=12)
    assert (sixth.minimum.ties, sixth.minimum.value, sixth.minimum.is_regular) == ((2, 8, 2), 9, False)
    assert simplify(sixth.maximum.value - (7 + 8 * root(10) / 5)) == 0


@pytest.mark.slow
def test_sixth_moment_reaches_fifteen_from_22_samples() -> None:
    targets = Targets(tuple(map(Integer, (0, 1, 0, 3, 0))))
    highest = [float(moment_range(targets, n)[1][1]) for n in (21, 22)]
    assert highest == pytest.approx([14.685726, 15.049845], abs=1e-6)


# --- which patterns have a solution ---------------------------------------------------------------------------------

@pytest.mark.parametrize("skewness", [Rational(0), Rational(1, 2), Rational(-9, 5)])
def test_three_values_exist_strictly_between_two_walls(skewness: Rational) -> None:
    """Theorem C's ends, squared and compared in fractions: another road to the same list."""
    def end(low: int, high: int) -> float:
        return (low - high) / sqrt(low * high)

    solutions = PatternSolutions(Targets((Integer(0), Integer(1), skewness)))
    for ties in patterns(10, 3):
        lower, upper = end(ties[0], ties[1] + ties[2]), end(ties[0] + ties[1], ties[2])
        assert (solutions.settled(ties).how == "box") == (lower < skewness < upper), ties


def test_references_of_a_sample_of_few_values_are_singular() -> None:
    """The references of 0 0 0 1 2 2: this sample is the only one with its first five moments, and found exactly."""
    moments = [Rational(1 + 2 * 2**j, 6) for j in range(1, 6)]
    plan = plan_of(raw_moments(6), moments)
    (only,) = critical_points(plan, level=6, n_samples=6)
    assert (only.kind, only.values, only.ties, only.value) == ("isolated", (0, 1, 2), (3, 1, 2), Rational(43, 2))


def test_references_and_features_may_be_written_in_any_way() -> None:
    """Skewness and kurtosis at mean 5 and variance 4: the same points, moved and stretched."""
    other = plan_of(standardized_moments(4), [5, 4, 0, 3])
    for one, two in zip(critical_points(PLAN, level=4, n_samples=6), critical_points(other, level=4, n_samples=6),
                        strict=True):
        assert (one.ties, one.kind, one.index) == (two.ties, two.kind, two.index)
        assert float(one.value) == pytest.approx(float(two.value), rel=1e-14)
        assert np.allclose(5 + 2 * one.sample, two.sample, atol=1e-13)


def test_a_falling_feature_has_its_extremes_exchanged() -> None:
    plan = plan_of(FeatureSet([Mean(x), Mean(x**2), -Mean(x**3)]))
    found = critical_points(plan, level=3, n_samples=6)
    assert [(p.kind, p.index) for p in found] == [("minimum", 0), ("saddle", 1), ("saddle", 2), ("saddle", 3),
                                                  ("maximum", 4)]
    assert found.minimum.ties == (5, 1) and found.b1.verify()
    assert [p.kind for p in critical_points(plan, level=3)] == ["minimum", "saddle", "maximum"]


def test_irrational_references_are_enclosed() -> None:
    plan = plan_of(raw_moments(5), [0, 1, root(2) / 7, 3])
    found = critical_points(plan, level=5, n_samples=9)
    assert found.b1.verify() and [p.kind for p in found].count("minimum") == 1
    for point in found:
        assert (point.sample**3).mean() == pytest.approx(sqrt(2) / 7, abs=1e-12)


def test_level_two_is_the_constant_sample() -> None:
    (only,) = found = critical_points(PLAN, level=2, n_samples=5)
    assert (only.value, only.kind, only.index, only.ties, only.values) == (0, "minimum", 0, (5,), (0,))
    assert found.maximum is None and found.b1.verify() and found.b2.verify()
    spread = plan_of(FeatureSet([Mean(x), sd.standard_deviation()]))
    assert critical_points(spread, level=2, n_samples=5) == []  # no gradient there


def test_a_domain_leaves_out_what_lies_outside() -> None:
    p = sd.sample("p", positive=True)
    plan = plan_of(FeatureSet([Mean(p), Mean(p**2), Mean(p**3)]), [1, Rational(3, 2)])
    found = critical_points(plan, level=3, n_samples=5)
    assert [q.ties for q in found] == [(2, 3), (3, 2), (4, 1)] and all(q.sample.min() > 0 for q in found)


# --- what is refused ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("level", "n_samples", "said"), [
    (5, 5, "1.25 to 2.5, and 3 is asked for; N >= 6 is needed"),
    (6, 4, "no 5 distinct values"), (0, 5, "level is 1 to 6"), (7, 5, "level is 1 to 6"), (True, 5, "level is 1 to 6"),
    (4, 1, "2 or more"), (4, 5.0, "2 or more"), (4, None, "n_samples="), (4, True, "2 or more")])
def test_questions_without_an_answer(level: int, n_samples: int, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        critical_points(PLAN, level=level, n_samples=n_samples)


def test_too_many_patterns_are_refused_at_once() -> None:
    with pytest.raises(sd.BudgetExceeded, match="patterns of ties"):
        critical_points(PLAN, level=6, n_samples=60)


def test_a_plan_is_needed_and_a_level_outside_of_groups() -> None:
    with pytest.raises(InvalidInput, match="a plan is expected"):
        critical_points(raw_moments(3), level=3, n_samples=4)  # type: ignore[arg-type]
    plan = plan_of(FeatureSet([Mean(x), sd.Group(Mean(x**2), Mean(x**3))]))
    with pytest.raises(InvalidInput, match="in a group"):
        critical_points(plan, level=3, n_samples=5)


# --- certificates under attack --------------------------------------------------------------------------------------

def tampered(data: dict, ties: list[int], change: dict) -> str:
    for row in data["certificate"]["settled"]:
        if row["ties"] == ties:
            row.update(change)
    return json.dumps(data)


def test_tampered_evidence_does_not_verify() -> None:
    verdict = critical_points(PLAN, level=4, n_samples=6).b1
    read = sd.verdict_from_json

    def data() -> dict:
        return json.loads(verdict.to_json())

    assert read(json.dumps(data())).verify()
    moved = data()["certificate"]["settled"]
    box = next(row["box"] for row in moved if row["ties"] == [1, 4, 1])
    shifted = box | {"values": [str(Fraction(v) + Fraction(1, 1000)) for v in box["values"]]}
    swollen = box | {"radius": "2"}
    for ties, change in (([1, 4, 1], {"box": shifted}), ([1, 4, 1], {"box": swollen}),
                         ([1, 4, 1], {"box": None, "how": "no wall", "place": -1}),
                         ([1, 4, 1], {"box": None, "how": "beyond a wall", "place": 0}),
                         ([1, 4, 1], {"box": None, "how": "beyond a wall", "place": 1}),
                         ([1, 1, 4], {"place": 1 - next(r["place"] for r in moved if r["ties"] == [1, 1, 4])}),
                         ([2, 2, 2], {"ties": [3, 2, 1]}), ([2, 2, 2], {"how": "open", "box": None})):
        assert not read(tampered(data(), ties, change)).verify(), (ties, change)
    dropped = data()
    dropped["certificate"]["settled"] = [row for row in moved if row["ties"] != [2, 2, 2]]
    assert not read(json.dumps(dropped)).verify()
    other = data()
    other["certificate"]["references"][2] = "1/7"
    assert not read(json.dumps(other)).verify()


def test_an_edited_size_or_question_is_refused() -> None:
    data = json.loads(critical_points(PLAN, level=4, n_samples=6).b1.to_json())
    for key, value in (("n_samples", 7), ("question", "B2"), ("reason", "because"), ("status", "REFUTED")):
        with pytest.raises(InvalidInput):
            sd.verdict_from_json(json.dumps(data | {key: value}))


def test_a_claim_about_other_features_fails() -> None:
    verdict = critical_points(PLAN, level=4, n_samples=6).b1
    certificate = replace(verdict.certificate, references=verdict.certificate.references[:2])
    assert not certificate.verify()


def test_unsettled_patterns_leave_everything_undecided() -> None:
    """A target closer to a wall than irrational numbers are known: nothing is claimed."""
    near = root(2) / 10**80
    plan = plan_of(raw_moments(4), [0, 1, near])
    found = critical_points(plan, level=4, n_samples=4)
    assert found.complete.status is Status.NUMERICAL
    assert (found.b1.status, found.b2.status) == (Status.UNDECIDED, Status.UNDECIDED) and not found.b1.verify()


def test_printed_list_says_what_is_known() -> None:
    text = str(critical_points(PLAN, level=4, n_samples=6))
    assert "B1: PROVED" in text and "1: global minimum, the references are singular there" in text
    assert "3: global maximum, index 3; values -sqrt(3) 0 sqrt(3) taken 1 4 1 times" in text
