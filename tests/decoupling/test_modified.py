"""Modified features as formulas, and Theorem D: its certificate, and what happens without each hypothesis."""

from __future__ import annotations

import dataclasses
import random
from fractions import Fraction
from typing import Any

import pytest
from sympy import Float, Symbol, cosh, exp, log, sqrt, tanh

from symdecouple import Feature, FeatureSet, Group, InvalidInput, Mean, check_frobenius, shift, verdict_from_json
from symdecouple.calculus.elementary import World
from symdecouple.calculus.jets import Point
from symdecouple.calculus.subject import Subject
from symdecouple.decoupling.verdicts.modified import (
    AffineCovariance,
    ModifiedSubject,
    affine_covariance,
    first_features,
    modified_features,
    starts,
)
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import central_moment, kurtosis, skewness, variance
from symdecouple.verdict import Status, Verdict
from tests.decoupling.made import M, made, plan

SAMPLE = [Fraction(v, 3) for v in (-4, 1, 2, 5, 7)]


def value(feature: Feature, points: list[Fraction]) -> Any:
    return Point(points, {}, World(30)).jet(feature.expr).value


# --- formulas -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "count"), [("three moments", 3), ("skewed", 3), ("tanh", 3),
                                             ("powers", 2), ("exponentials", 2), ("exponentials together", 3)])
def test_formulas_take_the_values_of_the_plan(name: str, count: int) -> None:
    hats = modified_features(made(name).features, made(name).steps, count)
    assert hats is not None and len(hats) == count
    expected = plan(name).transform(SAMPLE, dps=25)
    for feature, wanted in zip(hats, expected, strict=False):
        found = value(feature, SAMPLE)
        assert found.delta.b < 1e-20 and abs(found.mid.a - wanted) < 1e-14 * (1 + abs(wanted))


def test_standardized_moments_come_out() -> None:
    hats = modified_features(made("three moments").features, made("three moments").steps, 3)
    assert hats is not None
    points = Point(SAMPLE, {}, World(30))
    for feature, expected in zip(hats, (Mean(x), variance(), skewness()), strict=True):
        assert points.world.is_zero(points.jet(feature.expr).value - points.jet(expected).value)


def test_there_is_no_formula_behind_a_root_or_beyond_the_steps() -> None:
    given = made("four moments")
    assert modified_features(given.features, given.steps, 4) is None
    assert modified_features(given.features, given.steps[:1], 3) is None
    assert modified_features(given.features, (), 1) is not None


def test_groups_start_together() -> None:
    features = FeatureSet([M[1], Group(M[2], M[3]), M[4]])
    assert starts(features) == (0, 1, 1, 3)
    assert first_features(features, 2).groups == ((0,), (1,)) and first_features(features, 3).groups == ((0,), (1, 2))
    assert first_features(features, 4) == features


def test_a_subject_needs_its_references_and_reads_what_it_wrote() -> None:
    given = made("four moments")
    subject = given.subject(4)
    assert subject.starts == (0, 1, 2, 3) and len(subject.values) == 3
    assert subject.texts()[3] == "Mean(x**4) at level 3"
    assert ModifiedSubject.from_dict(subject.to_dict()) == subject
    with pytest.raises(InvalidInput, match="references of features 1 to 3"):
        ModifiedSubject.first(given.features, 4, [given.values[0], None, None, None])
    for changed in ({"starts": [0, 1, 2]}, {"starts": [0, 1, 2, 4]}, {"starts": [0, 2, 1, 3]}, {"values": ["0", "1"]},
                    {"values": ["0", "1", "a"]}, {"starts": [0, 1, 2, -3]}):
        with pytest.raises(InvalidInput, match="do not fit"):
            ModifiedSubject.from_dict(subject.to_dict() | changed)


def test_references_from_a_quadrature_become_exact() -> None:
    features = FeatureSet([Mean(log(cosh(x))), M[1]])
    subject = ModifiedSubject.first(features, 2, [Float("0.374567", 30), None])
    assert subject.values[0].is_Rational
    assert ModifiedSubject.from_dict(subject.to_dict()) == subject


# --- Theorem D ------------------------------------------------------------------------------------------------------

THIRD = [Mean(x**3), kurtosis(), Mean(log(cosh(x))), Mean(tanh(x)) * exp(Mean(x)), sqrt(1 + Mean(x**4)),
         Mean(x * shift(1)(x) ** 2)]
PAIRS = [[M[1], M[2]], [M[1], variance()], [M[1], sqrt(variance())], [variance(), M[1]], [M[2], M[1]],
         [M[1], exp(Mean(x) + variance())]]


@pytest.mark.parametrize("third", THIRD, ids=str)
def test_any_third_feature_is_covered(third: Any) -> None:
    certificate = affine_covariance(FeatureSet([M[1], M[2], third]))
    assert certificate is not None and certificate.verify()
    texts = [f"{f} at level {k}" if k else str(f) for k, f in enumerate(certificate.subject.items)]
    verdict = Verdict("C2", Status.PROVED, tuple(texts), certificate=certificate)
    plain = Verdict("C2", Status.PROVED, certificate.subject.texts(), certificate=certificate)
    if third != kurtosis():
        with pytest.raises(InvalidInput, match="subject of this verdict was edited"):
            verdict_from_json(plain.to_json())  # proved of the modified features, not of these
    read = verdict_from_json(verdict.to_json())
    assert read.certificate == certificate and read.certificate.verify() and read.scope == "for every N"
    assert "Theorem D" in str(read) and "-4" in read._repr_latex_()


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_any_pair_with_the_leaves_of_shift_and_scale_is_covered(pair: list[Any]) -> None:
    for features in (FeatureSet([*pair, M[3]]), FeatureSet([Group(*pair), M[3]])):
        certificate = affine_covariance(features)
        assert certificate is not None and certificate.verify()


@pytest.mark.parametrize("features", [
    [M[1], M[3], M[2]], [M[2], M[3], M[4]], [M[1], M[1] ** 3 + M[1], M[3]], [M[1], M[2]], [M[1], M[2], M[3], M[4]],
    [M[1], Group(M[2], M[3])], [Mean(exp(x)), M[2], M[3]], [M[1], Mean(x * shift(1)(x)), M[3]],
    [M[1], M[2], Mean(Symbol("a") * x**3 + x)],
], ids=str)
def test_where_levels_are_not_shift_and_scale_it_says_nothing(features: list[Any]) -> None:
    assert affine_covariance(FeatureSet(features)) is None


def test_coordinates_and_kinks_are_not_covered() -> None:
    x1, x2, x3, x4 = coordinates(4)
    assert affine_covariance(FeatureSet([x1 + x2 + x3 + x4, x1**2 + x2**2 + x3**2 + x4**2, x1 * x2 * x3])) is None
    kink = FeatureSet([M[1], M[2], Mean(abs(x) ** 3)], allow_nonsmooth=["Abs"])
    assert affine_covariance(kink) is None


def test_the_theorem_agrees_with_the_decision_where_there_is_one() -> None:
    for third in (M[3], M[4], central_moment(3) + central_moment(4)):
        given = FeatureSet([M[1], M[2], third])
        hats = modified_features(given, made("three moments").steps, 3)
        assert hats is not None and check_frobenius(hats).status is Status.PROVED
    assert check_frobenius([M[1], M[2], central_moment(3) + central_moment(4)]).status is Status.REFUTED


@pytest.mark.parametrize("items", [
    (M[1], M[3], M[2]), (M[1], M[2]), (M[1], M[1] ** 3, M[3]), (M[1], M[2], M[3], M[4]), coordinates(3)[:1] * 3,
], ids=str)
def test_a_certificate_of_something_else_does_not_verify(items: Any) -> None:
    assert AffineCovariance(Subject(tuple(map(Feature, items)))).verify() is False


def test_the_brackets_are_looked_at_as_well() -> None:
    """If the theorem were misapplied, to f_3 itself instead of its modified feature, the enclosures would tell."""
    from symdecouple.decoupling.verdicts import modified

    certificate = affine_covariance(FeatureSet([M[1], M[2], M[4]]))
    assert certificate is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modified, "_standardized", lambda feature, size, rng: feature)
        assert not modified._brackets_enclosed(certificate.subject.items[2], 5, random.Random(1)).passed
    assert modified._brackets_enclosed(certificate.subject.items[2], 5, random.Random(1)).passed


def test_a_domain_is_kept() -> None:
    u = sample("u", positive=True)
    certificate = affine_covariance(FeatureSet([Mean(u), Mean(u**2), Mean(log(u))]))
    assert certificate is not None and certificate.verify()
    checks = dataclasses.replace(certificate).audit()
    assert all("no sample" not in check.detail for check in checks)
