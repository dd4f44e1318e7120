"""Refutations behind implicit levels: the minor by differences of the plan, the certificate under attack, JSON."""

from __future__ import annotations

import json
from dataclasses import replace as changed
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any

import mpmath
import pytest
from sympy import Abs, Integer, Rational, cosh, log, sin

from symdecouple import (
    Feature,
    FeatureSet,
    Filter,
    FilterBank,
    InvalidInput,
    Mean,
    check_frobenius,
    check_independence,
    decouple,
    involutive_closure,
    shift,
    verdict_from_json,
    x,
)
from symdecouple.analysis import critical_points
from symdecouple.calculus.certificates import Dependence
from symdecouple.calculus.claims import Claim
from symdecouple.calculus.elementary import OutsideDomain, World
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.jets import Point
from symdecouple.calculus.subject import Subject
from symdecouple.calculus.witness import Minor
from symdecouple.decoupling.verdicts.at_references import sample_at
from symdecouple.decoupling.verdicts.modified import ModifiedSubject
from symdecouple.decoupling.verdicts.refutation import ModifiedIndependence, ModifiedNonInvolution, decide_modified
from symdecouple.families import second_order_moments
from symdecouple.verdict import Certificate, Status, Verdict
from tests.decoupling.made import M, differenced_minor, exactly, made, made_of

REFUTED = {"four moments": (4, (3, 4), 5), "skewed": (4, (3, 4), 5), "exponentials": (3, (2, 3), 4),
           "powers and mean": (3, (2, 3), 4), "one root": (2, (1, 2), 3), "energies": (3, (1, 2), 9)}
ATTACKED = pytest.mark.parametrize("name", ["four moments", "powers and mean", "energies"])


@cache
def decided(name: str, count: int) -> Verdict:
    if name == "energies":
        bank = FilterBank([[1, 1, 1], [-1, 0, 1], [-1, 2, -1]])
        return decouple(second_order_moments(bank)).verdicts.modified[count]
    return decide_modified(made(name).subject(count), made(name).steps)


SLOW = ("skewed", "exponentials")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in REFUTED])
def test_the_bracket_leaves_the_span(name: str) -> None:
    count, pair, size = REFUTED[name]
    verdict = decided(name, count)
    assert verdict.status is Status.REFUTED and verdict.failing_pair == pair
    assert verdict.scope == f"for N = {size}" and len(verdict.witness.sample) == size
    assert verdict.certificate is not None and verdict.certificate.verify()
    assert isinstance(verdict.certificate, Certificate)
    c1 = verdict.independence
    assert c1 is not None and c1.status is Status.PROVED and c1.certificate is not None and c1.certificate.verify()


@pytest.mark.parametrize("name", ["four moments", pytest.param("skewed", marks=pytest.mark.slow),
                                  pytest.param("powers and mean", marks=pytest.mark.slow),
                                  "one root"])
def test_the_minor_is_that_of_differences_of_the_plan(name: str) -> None:
    count, pair, _ = REFUTED[name]
    witness, subject = decided(name, count).witness, made(name).subject(count)
    point = Point(witness.sample, {}, World(witness.digits))
    sample = exactly(sample_at(subject.held, subject.values, point, x).everywhere(x))
    expected = differenced_minor(name, sample, range(1, count + 1), pair, witness.rows)
    middle = (witness.minor.low + witness.minor.high) / 2
    assert abs(expected - mpmath.mpf(middle.numerator) / middle.denominator) < 1e-9 * abs(expected)
    assert witness.minor.excludes_zero()


def test_the_orthokurtosis_is_refuted_exactly() -> None:
    """The witness of four moments is rational: skewness zero, deviation 1, and so is the minor."""
    witness = decided("four moments", 4).witness
    sample = sorted(witness.sample)
    assert witness.digits is None and witness.minor.low == witness.minor.high
    assert sum(sample) == 0 and sum(v**3 for v in sample) == 0 and sum(v**2 for v in sample) == len(sample)


def test_levels_are_rational_at_the_first_samples_where_the_last_feature_is_not() -> None:
    given = made_of([*M[1:4], Mean(log(cosh(x)))], [0, 1, 0, None])
    witness = decide_modified(given.subject(4), given.steps).witness
    assert [2 * v for v in sorted(witness.sample)] == [-3, -1, 0, 1, 3] and witness.digits == 30  # skewness 0


def test_nothing_is_refuted_where_the_set_is_involutive() -> None:
    """hat S_3 of moments is involutive by Theorem D: the search stays undecided and proves C1 only."""
    verdict = decided("four moments", 3)
    assert verdict.status is Status.UNDECIDED and verdict.certificate is None
    assert "membership has no proof" in verdict.reason
    assert verdict.independence is not None and verdict.independence.status is Status.PROVED


def test_past_the_budget_it_is_undecided() -> None:
    verdict = decide_modified(made("exponentials").subject(4), made("exponentials").steps, budget=1e-4)
    assert verdict.status is Status.UNDECIDED and "budget" in verdict.reason
    assert verdict.independence is not None and verdict.independence.status is Status.UNDECIDED


def test_an_unreachable_reference_is_undecided() -> None:
    """A second moment below the squared mean: no sample reaches level 2, and no sample refutes anything."""
    subject = changed(made("four moments").subject(4), values=(Integer(2), Integer(1), Integer(0)))
    steps = tuple(changed(step, formula=None) for step in made("four moments").steps)
    verdict = decide_modified(subject, steps, budget=20)
    assert verdict.status is Status.UNDECIDED and verdict.reason == "no sample was found that reaches all levels"


# --- the certificate under attack -----------------------------------------------------------------------------------


@ATTACKED
def test_a_changed_certificate_does_not_verify(name: str) -> None:
    certificate: Any = decided(name, REFUTED[name][0]).certificate
    witness, subject, n = certificate.witness, certificate.subject, certificate.n_samples
    moved = (witness.sample[0] + Fraction(1, 7), *witness.sample[1:])
    low, high, rows = -witness.minor.high, -witness.minor.low, witness.rows
    pairs = [pair for pair in ((1, 2), (2, 1), (2, 2), (1, 9)) if pair != witness.pair]
    attacks = [
        *(changed(certificate, witness=changed(witness, **parts)) for parts in (
            {"sample": moved}, {"minor": Minor(low, high)}, {"minor": Minor(Fraction(0), Fraction(0))},
            {"pair": None}, *({"pair": pair} for pair in pairs), {"rows": rows[:-1]}, {"rows": (rows[0], *rows[:-1])},
            {"rows": (*rows[:-1], n + 1)}, {"columns": (1, 2)}, {"sample": witness.sample[:1] * len(witness.sample)},
            {"grid": (3, 3)}, {"sample": tuple(100 * v + 1 for v in witness.sample)})),
        *(changed(certificate, pair=pair, witness=changed(witness, pair=pair)) for pair in pairs),
        *(changed(certificate, subject=changed(subject, **parts)) for parts in (
            *({"values": (*subject.values[:-1], v)} for v in (Rational(1, 3), Integer(200), Integer(0))
              if v != subject.values[-1]),
            {"values": (Integer(-3), *subject.values[1:])}, {"items": tuple(reversed(subject.items))},
            {"starts": (0,) * len(subject.items)})),
        changed(certificate, n_samples=n + 1),
    ]
    attacks += [changed(c, n0=n0, n_samples=None)  # seen at one size, claimed for every one
                for c in (certificate, decided(name, REFUTED[name][0]).independence.certificate) for n0 in (n - 1, n)]
    assert certificate.verify()
    for attack in attacks:
        assert attack.verify() is False


def test_one_size_is_not_every_size_where_filters_occur() -> None:
    """Levels bring averages into the minor that the features as declared do not have: N0 = 4 is that of these."""
    given = made_of([M[1], Mean(x * shift(1)(x))], [0, None])
    c1: Any = decide_modified(given.subject(2), given.steps).independence
    assert c1.certificate.verify()
    assert not any(changed(c1.certificate, n0=n0, n_samples=None).verify() for n0 in (3, 4, 5))


def test_identities_of_the_features_as_declared_prove_nothing() -> None:
    """Feature 4 is f_1 + f_2: a relation of gradients that the modified ones, of which the fourth is 0, do not obey."""
    features = made("four moments").subject(4)
    subject = changed(features, items=(*features.items[:3], Feature(M[1] + M[2])))
    about = Subject(subject.items)
    relation = (Integer(-1), Integer(-1), Integer(0), Integer(1))
    assert Dependence(about, relation, 5).verify()
    assert not Dependence(subject, relation, 5).verify()


def _claims() -> dict[str, Claim]:
    """One certificate of features of averages of each kind."""
    moments, kinked = FeatureSet(M[1:]), FeatureSet([M[1], Mean(Abs(x))], allow_nonsmooth=["Abs"])
    plan = decouple(moments)
    critical = [critical_points(plan, level=3, n_samples=n) for n in (None, 5)]
    verdicts: list[Any] = [
        check_frobenius(FeatureSet(M[1:4])), check_frobenius(moments), check_frobenius(moments, n_samples=4),
        check_frobenius(kinked), check_independence(FeatureSet([M[1], M[2], M[1] + M[2]])),
        check_independence(moments, n_samples=3), check_independence(moments, at=[1, 2, 4, 9, 11]),
        check_independence(moments, at=[1, 1, 3, 3]), involutive_closure(FeatureSet([M[1], M[3]])),
        involutive_closure(moments),
        plan.verdicts.modified[3], *(v for found in critical for v in (found.b1, found.b2, found.complete))]
    verdicts += [v.independence for v in verdicts if getattr(v, "independence", None) is not None]
    return {type(v.certificate).__name__: v.certificate for v in verdicts if v.certificate is not None}


def test_claims_about_features_as_declared_say_nothing_of_levels() -> None:
    """Each kind of certificate, made by hand about modified features: what was true of others is no proof."""
    claims = _claims()
    assert {"IndependenceAt", "DependenceAt", "Involution", "NonInvolution", "Independence", "Dependence", "FullSpan",
            "Cellwise", "Closed", "Everything", "AffineCovariance", "AllCriticalPoints", "GlobalExtrema",
            "ThinBasins", "TwoValues"} <= set(claims), sorted(claims)
    values = (Integer(0), Integer(1), Integer(0))
    for name, claim in claims.items():
        began = range(len(claim.subject))
        assert claim.verify(), name
        about = ModifiedSubject(claim.subject.items, tuple(began), values[: began[-1]])
        assert not changed(claim, subject=about).verify(), name


def test_without_leaves_there_is_no_level() -> None:
    """Mean, second and fourth moment are not involutive: no motion in their span keeps all three at a level 3."""
    subject = ModifiedSubject(tuple(Feature(M[k]) for k in (1, 2, 4, 3)), (0, 1, 2, 3),
                              (Integer(0), Integer(1), Rational(3, 2)))
    verdict = decide_modified(subject, ())
    assert verdict.independence is not None and verdict.independence.certificate is not None
    certificates: list[Any] = [verdict.certificate, verdict.independence.certificate]
    for certificate in filter(None, certificates):
        failed = [check for check in certificate.audit() if not check.passed]
        assert failed and failed[0].name == "features 1 to 3 are involutive" and not certificate.verify()


@ATTACKED
def test_a_sample_beside_other_references_does_not_verify(name: str) -> None:
    """The same gradients at a sample that is not at the references, or at others, are those of no modified feature."""
    certificate: Any = decided(name, REFUTED[name][0]).certificate
    witness, subject = certificate.witness, certificate.subject
    scaled = changed(witness, sample=tuple(2 * v for v in witness.sample))
    for wrong in (scaled, changed(scaled, digits=None), changed(scaled, digits=30), changed(scaled, digits=5)):
        failed = [check for check in changed(certificate, witness=wrong).audit() if not check.passed]
        assert failed and "minor" in failed[0].name
    assert not changed(certificate, subject=changed(subject, values=tuple(v + 1 for v in subject.values))).verify()
    assert not changed(certificate, witness=changed(witness, digits=2)).verify()


@pytest.mark.parametrize("starts", [(0, 0, 1, 3), (0, 1, 0, 3), (0, 1, 2), (0, 1, 2, 2), (1, 1, 2, 3),
                                    (0, 1, 2, 3, 3)], ids=str)
def test_levels_that_are_those_of_no_groups_are_refused(starts: tuple[int, ...]) -> None:
    verdict: Any = decided("four moments", 4)
    wrong = changed(verdict.certificate.subject, starts=starts)
    for certificate in (verdict.certificate, verdict.independence.certificate):
        assert [check.name for check in changed(certificate, subject=wrong).audit()] == ["levels"]
    with pytest.raises(InvalidInput, match="levels"):
        ModifiedSubject.from_dict(wrong.to_dict())


def test_no_sample_at_a_kink_refutes() -> None:
    """At 0 Abs(x) has no gradient, and x*Abs(x) no second derivative; zeros are in symmetric samples of odd sizes."""
    for kinked in (Mean(Abs(x)), Mean(x * Abs(x) + x**4)):
        feature = Feature(kinked, allow_nonsmooth=["Abs"])
        subject = ModifiedSubject((Feature(M[3]), feature), (0, 1), (Integer(0),))
        verdict: Any = decide_modified(subject, made("third first").steps)
        assert verdict.status is Status.REFUTED and verdict.certificate.verify()
        assert 0 not in verdict.witness.sample
        with pytest.raises(OutsideDomain):
            subject.fields_at((1, 2), Point(list(map(Fraction, (-2, -1, 0, 1, 2))), {}, World()))


@pytest.mark.parametrize(("features", "first"), [([M[3], Mean(x**-2)], 0), ([M[3], M[2] / M[1]], 0),
                                                 ([M[1]**2, M[3]], 1)], ids=str)
def test_symmetric_samples_may_be_poles(features: list[Any], first: int) -> None:
    """Zeros and means of zero, where a feature or the formula of its level divides by them, are passed over."""
    given = made_of(features, [first, None])
    verdict: Any = decide_modified(given.subject(2), given.steps)
    assert verdict.independence.certificate.verify()
    assert decouple(features, [first, 1]).verdicts.modified[2].status is verdict.status


@pytest.mark.parametrize("parts", [{"values": (x, Integer(1), Integer(0))}, {"values": (M[1], Integer(1), Integer(0))},
                                   {"items": (*map(Feature, M[1:4]), VectorField(x**3))}], ids=str)
def test_what_is_no_feature_and_no_reference_is_refused(parts: dict[str, Any]) -> None:
    """What would be at its reference Mean(x) everywhere has no level."""
    certificate: Any = decided("four moments", 4).certificate
    subject = changed(certificate.subject, **parts)
    assert [check.name for check in changed(certificate, subject=subject).audit()] == ["levels"]


def test_a_first_feature_that_is_special_at_its_reference() -> None:
    """Where Mean(x^3) = 0 the bracket with the second moment behind it is a multiple of 24 x^2, and so in the span."""
    given = made("third first")
    verdict: Any = decide_modified(given.subject(2), given.steps)
    certificate, witness = verdict.certificate, verdict.witness
    assert verdict.status is Status.REFUTED and certificate.verify() and witness.parameters == (("t", Fraction(1, 8)),)
    assert verdict_from_json(verdict.to_json()).certificate == certificate
    expected = differenced_minor("third first", (moved := _moved_back(certificate)), (1, 2), (1, 2), witness.rows)
    middle = float((witness.minor.low + witness.minor.high) / 2)
    slopes = [(1 + v / 8) ** -2 for v in moved]  # of the way there, x/(1 + x/8)
    assert float(expected) == pytest.approx(middle * float(prod(slopes[r - 1] for r in witness.rows)), rel=1e-9)
    for parameters in ((), (("t", Fraction(1, 9)),), (("s", Fraction(1, 8)),), (("t", Fraction(10**6)),),
                       (("t", Fraction(-1, 8)),)):
        assert not changed(certificate, witness=changed(witness, parameters=parameters)).verify()


def test_a_first_feature_that_turns_on_the_way_has_another_level_there() -> None:
    """Behind a turning point of sin(Mean(x^3)) level 1 is reached where Mean(x^3) = pi or more, not where it is 0."""
    certificate: Any = decide_modified(made("third first").subject(2), made("third first").steps).certificate
    subject = changed(certificate.subject, items=(Feature(sin(M[3])), certificate.subject.items[1]))
    witness = changed(certificate.witness, digits=30)
    near, far = (changed(witness, parameters=(("t", share / max(witness.sample)),))  # of the way to the pole
                 for share in (Fraction(1, 100), Fraction(999, 1000)))
    near = changed(near, minor=near.recomputed(subject))
    assert changed(certificate, subject=subject, witness=near).verify()
    with pytest.raises(OutsideDomain):
        far.recomputed(subject)


def _moved_back(certificate: Any) -> tuple[Fraction, ...]:
    """The sample that x/(1 - x/8) makes of the one at the references."""
    witness, subject = certificate.witness, certificate.subject
    point = Point(witness.sample, {}, World(witness.digits))
    numbers = exactly(sample_at(subject.held, subject.values, point, x).everywhere(x))
    return tuple(v / (1 - v / 8) for v in numbers)


def test_features_in_a_group_have_the_same_bracket() -> None:
    """hat f_4 is the same where mean and second moment come together, and so is the span of the gradients."""
    certificate: Any = decided("four moments", 4).certificate
    moved = changed(certificate.witness, parameters=(("t", Fraction(1, 8)),))
    for starts in ((0, 0, 2, 3), (0, 1, 1, 3)):
        about = changed(certificate, subject=changed(certificate.subject, starts=starts))
        assert about.verify()
        assert changed(about, witness=moved).verify() == (starts[1] == 1)  # two at once may be at another sample


def test_the_features_as_declared_refute_nothing() -> None:
    """(x, x^3) fails C2, and hat S_2 of it holds: the bracket of the features as declared says nothing about it."""
    features = [Feature(M[1]), Feature(M[3])]
    declared: Any = check_frobenius(FeatureSet(features), n_samples=4).certificate
    assert declared.verify()
    subject = ModifiedSubject(tuple(features), (0, 1), (Integer(0),))
    for n0 in (None, declared.n0):
        assert not ModifiedNonInvolution(subject, declared.pair, declared.witness, n0, declared.n_samples).verify()


def test_taps_of_a_kernel_leave_the_features_at_their_levels() -> None:
    """(x, h(x)^3) fails C2 for every kernel h, and hat f_2 does not change with a shift: [1, v2] = 0 behind level 1."""
    features = [Feature(M[1]), Feature(Mean(Filter("h")(x) ** 3))]
    declared: Any = check_frobenius(FeatureSet(features), n_samples=5).certificate
    assert declared.verify() and declared.witness.kernels
    subject = ModifiedSubject(tuple(features), (0, 1), (Integer(0),))
    centred = tuple(v - sum(declared.witness.sample) / 5 for v in declared.witness.sample)
    for sample, minor in ((declared.witness.sample, ""), (centred, "recomputed 0")):
        witness = changed(declared.witness, sample=sample)
        failed = ModifiedNonInvolution(subject, declared.pair, witness, None, 5).audit()[-1]
        assert failed.name.startswith("minor") and not failed.passed and minor in failed.detail
    assert subject.bind({Filter("h"): [1, 2, 4]}).starts == (0, 1)


# --- JSON -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["four moments", "powers and mean"])
def test_a_verdict_is_read_as_it_was_written(name: str) -> None:
    verdict = decided(name, REFUTED[name][0])
    read = verdict_from_json(verdict.to_json())
    assert read.certificate == verdict.certificate and isinstance(read.certificate, ModifiedNonInvolution)
    assert read.certificate.verify() and read.failing_pair == verdict.failing_pair
    assert read.independence is not None and isinstance(read.independence.certificate, ModifiedIndependence)
    assert read.independence.certificate.verify() and str(read) == str(verdict)
    assert r"\neq 0" in read._repr_latex_()


def test_both_conditions_are_about_the_same_references() -> None:
    """The texts name levels, not references: C1 at skewness 1/3 is no C1 of what is refuted at skewness 0."""
    verdict: Any = decided("four moments", 4)
    other = changed(verdict.certificate.subject, values=(Integer(0), Integer(1), Rational(1, 3)))
    inner: Any = decide_modified(other, ()).independence
    assert inner.certificate.verify()
    assert inner.subject == verdict.subject and not changed(verdict, independence=inner).verify()


@pytest.mark.parametrize("change", [
    {"question": "C1"}, {"status": "PROVED"}, {"n_samples": 6},
    {"certificate": {"certificate": "modified independence"}}, {"certificate": {"certificate": "modified nonsense"}},
])
def test_a_certificate_answers_its_own_question_only(change: dict[str, Any]) -> None:
    data = json.loads(decided("four moments", 4).to_json())
    inner = change.pop("certificate", {})
    data |= change
    data["certificate"] |= inner
    with pytest.raises(InvalidInput):
        verdict_from_json(json.dumps(data))
