"""Fields of modified features at references: against differences of the plan and spectra; samples enclosed there."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import Expr, Rational, S, Symbol, besselj, exp, sqrt

from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.jets import Jet, Point
from symdecouple.decoupling.verdicts.at_references import check_motion, modified_fields, sample_at
from symdecouple.decoupling.verdicts.modified import ModifiedSubject
from symdecouple.decoupling.verdicts.refutation import _brought
from symdecouple.errors import BudgetExceeded, UnsupportedExpression
from symdecouple.families.bank import FilterBank
from symdecouple.families.quadratic import recognize_quadratic, second_order_moments
from symdecouple.flows.steps import TIME
from symdecouple.language.budget import Budget
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample, x
from symdecouple.language.statistics import variance
from tests.decoupling.made import M, differenced, exactly, made, plan

SAMPLE = [Fraction(v) for v in (0, 1, 3, 4, 9)]
SMALL = [Fraction(v, 5) for v in (-4, -1, 2, 3, 7)]
CIRCLE = [Fraction(v, 4) for v in (-4, -1, 2, 4)]
EXACT = [Fraction(v, 2) for v in (-3, -1, 0, 1, 3)]  # mean 0, deviation 1, skewness 0


def subject_of(name: str) -> ModifiedSubject:
    return made(name).subject(len(made(name).features))


def beside(subject: ModifiedSubject, sample: list[Fraction], digits: int | None = 30, grid: Any = None) -> Point:
    """A point beside one at the references, found from a sample, or over the rationals the sample itself."""
    shape = grid or (len(sample),)
    found = sample if digits is None else _brought(subject, sample, shape)
    assert found is not None
    return Point(found, {}, World(digits), (), shape)


def at(subject: ModifiedSubject, point: Point) -> list[Any]:
    return sample_at(subject.held, subject.values, point, subject.sample).everywhere(subject.sample)


def contains(interval: Any, value: Any, slack: float = 1e-15) -> bool:
    return bool(interval.a - slack * (1 + abs(value)) <= value <= interval.b + slack * (1 + abs(value)))


def middles(vector: Any) -> np.ndarray:
    return np.array([float(v.mid) if hasattr(v, "mid") else float(v) for v in vector])


def outside(vector: np.ndarray, span: list[np.ndarray]) -> np.ndarray:
    matrix = np.array(span).T
    return vector - matrix @ np.linalg.lstsq(matrix, vector, rcond=None)[0]


SETS = [("four moments", SAMPLE), ("one root", SMALL), pytest.param("skewed", SAMPLE, marks=pytest.mark.slow),
        pytest.param("powers and mean", SMALL, marks=pytest.mark.slow),
        pytest.param("exponentials", SMALL, marks=pytest.mark.slow),
        pytest.param("exponentials together", SMALL, marks=pytest.mark.slow),
        pytest.param("circle", CIRCLE, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("name", "sample"), SETS)
def test_gradients_and_brackets_are_those_of_the_plan(name: str, sample: list[Fraction]) -> None:
    """Gradients to the digits of differences; brackets up to a combination of these."""
    subject = subject_of(name)
    point = beside(subject, sample)
    fields = subject.fields_at(range(1, len(subject) + 1), point)
    gradients, hessians = differenced(name, exactly(at(subject, point)))
    for f, field in enumerate(fields.values()):
        assert all(contains(a, b) for a, b in zip(field.vector, gradients[f], strict=True))
    span = [middles(field.vector) for field in fields.values()]
    hessians = [np.array(h.tolist(), dtype=float) for h in hessians]
    if len(span) == len(sample):
        span = span[:-1]  # all of them span everything
    for i, j in combinations(range(len(span)), 2):
        expected = hessians[j] @ span[i] - hessians[i] @ span[j]
        found = middles(fields[i + 1].bracket(fields[j + 1]))
        assert np.abs(outside(found - expected, span)).max() < 1e-12 * (1 + np.abs(expected).max())


BACK = Fraction(1, 8)


@pytest.mark.parametrize(("name", "motion"), [
    ("third first", lambda v: v / (1 - v / 8)), ("third and a group", lambda v: v / (1 - v / 8)),
    ("four moments", lambda v: v + Fraction(1, 8)),
    pytest.param("powers and mean", lambda v: v * mpmath.exp(mpmath.mpf(1) / 8), marks=pytest.mark.slow)])
def test_fields_of_samples_that_are_moved_back_are_those_of_the_plan(name: str, motion: Any) -> None:
    """Fields are over the slopes of the way there: those of x/(1 - t x), x + t and x exp(t) at the time 1/8."""
    subject = subject_of(name)
    near = beside(subject, SMALL)
    point = Point(exactly([jet.value for jet in near.jets]), {TIME: BACK}, near.world)
    fields, numbers = subject.fields_at(range(1, len(subject) + 1), point), exactly(at(subject, point))
    with mpmath.workdps(40):
        given = [mpmath.mpf(v.numerator) / v.denominator for v in numbers]
        moved = [motion(v) for v in given]
        slopes = np.array([float(mpmath.diff(motion, v)) for v in given])
    exact = tuple(Fraction(str(mpmath.nstr(v, 45))) for v in moved)
    gradients, hessians = differenced(name, exact)
    span = [middles(field.vector) / slopes for field in fields.values()]
    for vector, gradient in zip(span, gradients, strict=True):
        assert vector == pytest.approx(np.array(gradient, dtype=float), rel=1e-9, abs=1e-9)
    hessians = [np.array(h.tolist(), dtype=float) for h in hessians]
    for i, j in combinations(range(len(span)), 2):
        expected = hessians[j] @ span[i] - hessians[i] @ span[j]
        bracket = middles(fields[i + 1].bracket(fields[j + 1])) / slopes
        assert np.abs(outside(bracket - expected, span)).max() < 1e-9 * (1 + np.abs(expected).max())


def test_motions_beyond_a_pole_or_out_of_the_domain_are_none() -> None:
    """x/(1 - t x) has a pole at x = 1/t; at -x it has none, however long it takes. u + t stays in (0, 1) or not."""
    u, t = Sample("u", (0, 1)), TIME
    for sample, motion, values, time, exists in [
            (x, x / (1 - t * x), (1, 7), Fraction(1, 8), True), (x, x / (1 - t * x), (1, 9), Fraction(1, 8), False),
            (x, x / (1 - t * x), (1, 8), Fraction(1, 8), False), (x, x / (1 - t * x), (-1, -9), Fraction(9), True),
            (u, u + t, (Fraction(1, 4), Fraction(1, 2)), Fraction(1, 4), True),
            (u, u + t, (Fraction(1, 4), Fraction(1, 2)), Fraction(1, 2), False)]:
        for digits in (None, 30):
            found = sample_at([], [], Point(list(map(Fraction, values)), {}, World(digits)), sample)
            if exists:
                check_motion(motion, time, found, sample)
            else:
                with pytest.raises(OutsideDomain):
                    check_motion(motion, time, found, sample)


def test_exact_fields_where_the_sample_is_at_its_references() -> None:
    """At (-3, -1, 0, 1, 3)/2 the skewness has N grad = 3 (w^2 - 1), by hand, and a rational bracket with the fourth."""
    subject = subject_of("four moments")
    fields = subject.fields_at(range(1, 5), beside(subject, EXACT, None))
    assert list(fields[3].vector) == [3 * (w * w - 1) for w in EXACT]
    assert [field.number for field in fields.values()] == [1, 2, 3, 4]
    exact = [*(field.vector for field in fields.values()), fields[3].bracket(fields[4])]
    assert all(isinstance(entry, Fraction) for vector in exact for entry in vector)
    near = subject.fields_at(range(1, 5), Point(EXACT, {}, World(30)))
    for vector, entries in zip([*(f.vector for f in near.values()), near[3].bracket(near[4])], exact, strict=True):
        assert all(contains(a, mpmath.mpf(b.numerator) / b.denominator) for a, b in zip(vector, entries, strict=True))


def test_the_bracket_of_energies_is_a_product_of_spectra() -> None:
    """-8 F^-1[b_i b_j F x], b the weights less their projection on those before (P6)."""
    bank = second_order_moments(FilterBank([[1, 1, 1], [-1, 0, 1], [1, -3, 4]]))
    subject = ModifiedSubject.first(bank, 3, [S(3), S(2), S(26)])
    point = beside(subject, [Fraction(v) for v in (3, -1, 4, 1, -5, 9, -2, 6, 5)])
    numbers, fields = middles(at(subject, point)), subject.fields_at((1, 2, 3), point)
    half = recognize_quadratic(bank).weights((9,))
    weights = np.concatenate([half, half[:, :0:-1]], axis=1)
    root = np.abs(np.fft.fft(numbers))
    apart = [w - weights[:k].T @ np.linalg.lstsq((weights[:k] * root).T, w * root, rcond=None)[0] if k else w
             for k, w in enumerate(weights)]
    span = [middles(field.vector) for field in fields.values()]
    for k, b in enumerate(apart):
        assert span[k] == pytest.approx(2 * np.fft.ifft(b * np.fft.fft(numbers)).real, abs=1e-9)
    for i, j in combinations(range(3), 2):
        expected = -8 * np.fft.ifft(apart[i] * apart[j] * np.fft.fft(numbers)).real
        assert middles(fields[i + 1].bracket(fields[j + 1])) == pytest.approx(expected, abs=1e-8)


WITH_MEAN = FeatureSet([3 * Mean(x) - 2, 2 * variance() + 1, Mean(Filter([-1, 2, -1])(x) ** 2),
                        Mean(Filter([1, 2, 3])(x) ** 2)])
IMAGES = second_order_moments([Filter([[1, 2], [0, -1]], origin=(0, 0)), Filter([[1, -1]], origin=(0, 0))])


@pytest.mark.parametrize(("features", "values", "grid"), [
    (made("four moments").features, [S(0), S(1), Rational(1, 3)], (5,)),
    (made("exponentials").features, [S(0), S(2), S(2)], (5,)),
    (made("circle").features, [S(0), S(0), exp(-Rational(1, 5))], (5,)),
    (WITH_MEAN, [S(4), S(9), S(50)], (11,)), (IMAGES, [S(8)], (4, 5)),
], ids=["moments", "exponentials", "circle", "filters", "images"])
@pytest.mark.parametrize("digits", [30, 90])
def test_an_enclosed_sample_is_at_its_references(features: FeatureSet, values: list[Expr], grid: Any,
                                                 digits: int) -> None:
    subject = ModifiedSubject(tuple(features), tuple(range(len(values) + 1))[: len(features)], tuple(values))
    rng = np.random.default_rng(3)
    point = beside(subject, [Fraction(int(v), 4) for v in rng.integers(-8, 9, np.prod(grid))], digits, grid)
    found = sample_at(subject.held, subject.values, point, x)
    moved = [n for n, (v, jet) in enumerate(zip(found.everywhere(x), point.jets, strict=True)) if v != jet.value]
    assert len(moved) <= len(values) and all(v.delta.b < 10 ** (4 - digits) for v in found.everywhere(x))
    middle = sample_at([], [], Point(exactly(found.everywhere(x)), {}, World(digits + 20), (), grid), x)
    for feature, value in zip(features, values, strict=False):
        gap = middle.value(feature.expr) - middle.value(value)
        assert abs(gap).b < 10 ** (5 - digits)


def test_normalized_samples_of_the_plan_are_enclosed() -> None:
    """What the plan makes of a sample, to nine digits, has what it makes of it to more digits beside it."""
    subject = subject_of("four moments")
    normal = plan("four moments").normalize(SAMPLE, level=3, dps=40)
    near = [Fraction(str(mpmath.nstr(v, 9))) for v in normal]
    found = at(subject, Point(near, {}, World(30)))
    with mpmath.workdps(40):
        assert all(abs(v.mid - mpmath.mpf(w)).b < 1e-7 for v, w in zip(found, normal, strict=True))
    again = plan("four moments").normalize(list(exactly(found)), level=3, dps=25)
    assert all(contains(v, w, 1e-24) for v, w in zip(found, again, strict=True))


def test_rational_samples_that_are_not_at_their_references_are_not_taken() -> None:
    subject = subject_of("four moments")
    for moved in (SAMPLE, [EXACT[0] + Fraction(1, 10**30), *EXACT[1:]]):
        with pytest.raises(Irrational):
            subject.fields_at((1, 2, 3, 4), Point(moved, {}, World()))


@pytest.mark.parametrize(("sample", "values", "why"), [
    ([-1, -1, 1, 1], (0, 1, 0), "two values: the gradients of three moments are dependent"),
    ([-1, 0, 1, 2], (2, 1, 0), "a second moment below the squared mean"),
    ([-1, 0, 1, 2], (0, 1, 100), "a skewness that four numbers do not have"),
    ([1, 2, 3, 50], (0, 1, 0), "far from the references"),
])
def test_samples_that_no_references_are_beside_are_refused(sample: list[int], values: Any, why: str) -> None:
    assert why
    point = Point([Fraction(v) for v in sample], {}, World(30))
    with pytest.raises((OutsideDomain, Irrational)):
        found = sample_at([Feature(f) for f in M[1:4]], list(map(S, values)), point, x)
        gaps = [found.value(f) - v for f, v in zip(M[1:4], values, strict=True)]  # none is enclosed that is not there
        assert all(gap.a <= 0 <= gap.b for gap in gaps)
        raise Irrational


SOME, UNIT, HALVES = ((0, 1), (-3, 2), (Fraction(1, 3), 4)), Sample("u", (0, 1)), (Fraction(1, 4), Fraction(1, 2))


@pytest.mark.parametrize(("feature", "value", "samples"), [
    (Mean(exp(x)), -1, SOME), (Mean(exp(x)), 0, SOME), (Mean(x**2), -1, SOME),
    (Mean(x + exp(-x)), Rational(9, 10), SOME),
    *((double, 0, [(Fraction(1, 10**9), Fraction(-1, 10**8))]) for double in (Mean(x**2), Mean(x) ** 2)),
    (Mean(UNIT), Rational(9, 10), [HALVES]), (Mean(UNIT), Rational(1, 10), [HALVES])], ids=str)
def test_values_that_are_not_taken_are_not_enclosed(feature: Expr, value: Any, samples: Any) -> None:
    """exp(x) + 1 has no root though its slope is never 0: only the interval step tells. At a double root the gradient
    vanishes; of Mean(u) = 9/10 there is none in (0, 1) beside 1/4 or 1/2."""
    for sample in samples:
        point = Point(list(map(Fraction, sample)), {}, World(30))
        with pytest.raises((OutsideDomain, Irrational)):
            sample_at([Feature(feature)], [S(value)], point, UNIT if samples == [HALVES] else x)


def test_what_is_enclosed_stays_in_the_domain() -> None:
    """Mean(u) = 1/2 beside (1/4, 1/2): u in (0, 1) has 3/4 to be moved to."""
    point, mean = Point(list(HALVES), {}, World(30)), Mean(UNIT)
    assert sample_at([Feature(mean)], [Rational(1, 2)], point, UNIT).value(mean).mid == mpmath.mpf("0.5")


@pytest.mark.parametrize("constant", [1 + exp(-40), sqrt(2), Rational(1, 3) + sqrt(3) / 10**19, exp(-50)], ids=str)
def test_constants_that_are_near_simple_ones_are_themselves(constant: Expr) -> None:
    feature = Feature(Mean(constant * Filter([1, 0, -1])(x) ** 2))
    point = Point([Fraction(v) for v in (0, 1, 3, -2, 5)], {}, World(40))
    found = modified_fields([feature], [0], sample_at([], [], point, x))[1].vector
    with mpmath.workdps(80):
        expected = mpmath.mpf(str(constant.evalf(70))) * 2 * (2 * 1 - -2 - 5)  # 2 x_n - x_(n-2) - x_(n+2) at n = 1
        low, high = (mpmath.mpf(end) for end in (found[1].a, found[1].b))
        assert low <= expected <= high and high - low < abs(expected) * mpmath.mpf(10) ** -35


def test_a_constant_that_has_no_enclosure_is_refused() -> None:
    with pytest.raises(UnsupportedExpression, match="besselj"):
        sample_at([Feature(Mean(x))], [besselj(0, S(1))], Point([Fraction(0), Fraction(1)], {}, World(30)), x)


def test_the_budget_is_kept() -> None:
    subject = subject_of("exponentials")
    point = beside(subject, SMALL, 90)
    with pytest.raises(BudgetExceeded), Budget(0.001).running("fields at references"):
        subject.fields_at((1, 2, 3, 4), point)


def test_constants_may_move_with_the_coordinates() -> None:
    """Mean(c x^2) at (e^u, e^v) with c = u + 1, at u = v = 0: value 1, slopes 2 and 1, u u: 2 + 2, by hand."""
    c = Symbol("c")
    point = Point([Fraction(0), Fraction(0)], {}, World())
    parameter = point.jet(x, x, 0) + Jet(Fraction(1))
    jet = point.moved([point.jet(exp(x), x, n) for n in range(2)], {c: parameter}).jet(Mean(c * x**2))
    assert jet.value == 1 and jet.grad == {0: 2, 1: 1}
    assert jet.hess == {(0, 0): 4, (0, 1): 1, (1, 1): 2}
