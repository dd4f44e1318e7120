"""Certificates under attack: sizes, dimensions, relations and domains that are not those of the claim."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest
from sympy import Abs, Integer, Piecewise, Symbol

from symdecouple import Status, VectorField, check_frobenius, sample, x
from symdecouple.calculus.certificates import Dependence, FullSpan, NonInvolution
from symdecouple.calculus.subject import Subject
from symdecouple.calculus.witness import Minor, Witness
from tests.calculus.certified import FOUR, VERDICTS, changed, rejected

# --- dimensions -------------------------------------------------------------------------------------------------


def test_a_contact_structure_is_not_full_in_two_of_its_three_dimensions() -> None:
    subject = VERDICTS["explicit"].certificate.subject
    witness = Witness((Fraction(1), Fraction(2)), (), (1, 2), None, (1, 2), Minor(Fraction(1), Fraction(1)))
    assert rejected(FullSpan(subject, witness, 2))
    longer = dataclasses.replace(witness, sample=(Fraction(1), Fraction(2), Fraction(5)))
    assert rejected(FullSpan(subject, longer, 2)) and rejected(FullSpan(subject, longer, 3))
    assert rejected(Dependence(subject, None, 1))


def test_more_gradients_than_samples() -> None:
    certificate = VERDICTS["too many"].certificate
    assert certificate.relation is None and changed(certificate, n_samples=2).verify(), "true for fewer samples too"
    for n_samples in (4, 5, None, 1, "3"):
        assert rejected(changed(certificate, n_samples=n_samples)), n_samples
    for relation in ((), (0, 0, 0, 0), (1, 0, 0, 0), (1, 1, 1, 1)):
        assert rejected(changed(certificate, relation=relation))


def test_a_full_span_needs_as_many_columns_as_samples() -> None:
    certificate = VERDICTS["full"].certificate
    for n_samples in (3, 5, None, 2, "4"):
        assert rejected(changed(certificate, n_samples=n_samples)), n_samples
    assert rejected(changed(certificate, subject=Subject.of([*FOUR[:3], FOUR[0] ** 2])))


@pytest.mark.parametrize("name", ["relation", "relation at"])
def test_changed_relations(name: str) -> None:
    certificate = VERDICTS[name].certificate
    r = certificate.relation
    # (2 m, 1, -1) is the relation times -1, with a weight of 1 still: a true claim, so no sign flip here
    for bad in (
        (0, 0, 0), (-r[0], *r[1:]) if r[0] != 0 else (0, 0, -1), (r[0] + 1, *r[1:]), (r[1], r[0], r[2]), r[:-1],
        (*r, Integer(0)), None, (), ("1", 0, 0), tuple(c * 2 for c in r), (1, 0, 0), (Symbol("k"), *r[1:]), 5,
    ):
        if bad != r:
            assert rejected(changed(certificate, relation=bad)), bad


def test_a_relation_at_three_samples_is_none_at_four() -> None:
    explicit = VERDICTS["relation at"].certificate
    for n_samples in (None, 4, 2):
        assert rejected(changed(explicit, n_samples=n_samples))
    generic = VERDICTS["relation"].certificate
    assert changed(generic, n_samples=9).verify(), "true: an identity of averages holds for every N"


def test_a_witness_outside_the_domain_shows_nothing() -> None:
    """Below -1 the second field is another function: on the domain (0, 1) both averages are involutive."""
    unit = sample(interval=(0, 1))
    odd = Piecewise((unit**5, unit > 2), (unit**2, True))
    subject = Subject.of([VectorField(1), VectorField(odd, allow_nonsmooth=["Piecewise"])])
    outside = check_frobenius([VectorField(1), VectorField(x**5)], n_samples=4)
    witness = dataclasses.replace(outside.certificate.witness, sample=tuple(map(Fraction, (3, 4, 5, 7))))
    witness = dataclasses.replace(witness, minor=witness.recomputed(subject))
    assert witness.minor.excludes_zero()
    assert rejected(NonInvolution(subject, (1, 2), witness, None, 4))


def test_kinks_are_claimed_cell_by_cell() -> None:
    verdict = check_frobenius([VectorField(1), VectorField(x**2 * Abs(x), allow_nonsmooth=["Abs"])])
    assert verdict.status is Status.REFUTED and verdict.n0 is not None and verdict.certificate.agree
    assert verdict.certificate.verify() and len(verdict.certificate.parts) == 3
