"""Certificates under attack: every field of every kind, tampered with, must fail; nothing raises."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from sympy import Integer, Symbol

from symdecouple import Filter, Mean, Status, check_frobenius, x
from symdecouple.calculus.certificates import (
    Dependence,
    FullSpan,
    Independence,
    Involution,
    NonInvolution,
    denominators,
)
from symdecouple.calculus.kernels import Kernel
from symdecouple.calculus.subject import Subject
from symdecouple.calculus.witness import Minor, Witness
from symdecouple.verdict import Certificate
from tests.calculus.certified import VERDICTS, changed, m, rejected, s, v, x1, x2


@pytest.mark.parametrize("name", VERDICTS)
def test_the_real_certificate_verifies(name: str) -> None:
    certificate = VERDICTS[name].certificate
    assert isinstance(certificate, Certificate)
    assert certificate.verify(), "\n".join(map(str, certificate.audit()))
    checks = certificate.audit()
    assert checks and all(check.name and check.passed for check in checks)


def test_all_kinds_are_here() -> None:
    assert {type(verdict.certificate) for verdict in VERDICTS.values()} == {
        Involution, NonInvolution, FullSpan, Independence, Dependence,
    }


OTHER_SUBJECTS = [
    Subject.of([m, Mean(x**5), Mean(x**7), Mean(x**6)]), Subject.of([m]), Subject.of([s, v]), Subject.of([x1, x1 * x2]),
    Subject.of([m, Mean(x**3), Mean(x**5)]),
]


@pytest.mark.parametrize("name", VERDICTS)
def test_another_subject(name: str) -> None:
    certificate = VERDICTS[name].certificate
    for subject in OTHER_SUBJECTS:
        if isinstance(certificate, Dependence) and certificate.relation is None and len(subject) > 3:
            continue  # four gradients of three samples are dependent, whichever they are
        assert rejected(changed(certificate, subject=subject)), subject


# --- structure functions ----------------------------------------------------------------------------------------

PROVED = ["constant", "functions", "one size", "filtered", "explicit proof"]


@pytest.mark.parametrize("name", PROVED)
def test_changed_structure_functions(name: str) -> None:
    certificate = VERDICTS[name].certificate
    for pair, row in certificate.structure.items():
        for k in range(len(row)):
            values = (row[k] + 1, row[k] + sp.Rational(1, 10**9), -row[k] - 1, row[k] + certificate_symbol(name))
            for value in values[1:2] if name == "functions" else values:
                new = (*row[:k], value, *row[k + 1 :])
                assert rejected(changed(certificate, structure={**certificate.structure, pair: new})), (pair, k, value)
            if name == "functions":
                break  # one of each row is enough for the slowest


def certificate_symbol(name: str) -> Any:
    return x1 if name == "explicit proof" else m


@pytest.mark.parametrize("name", [n for n in PROVED if n != "functions"])
def test_a_structure_of_another_shape(name: str) -> None:
    certificate = VERDICTS[name].certificate
    structure = dict(certificate.structure)
    (i, j), row = next((pair, row) for pair, row in structure.items() if any(c != 0 for c in row))
    for bad in (
        {}, {pair: c for pair, c in structure.items() if pair != (i, j)},
        {(j, i) if pair == (i, j) else pair: c for pair, c in structure.items()},
        {**structure, (j, i): tuple(-c for c in row)}, {**structure, (i, j): row[:-1]},
        {**structure, (i, j): (*row, Integer(0))}, {**structure, (i, j): tuple(-c for c in row)},
        {**structure, (1, 9): row}, {**structure, (i, j): None}, {**structure, (i, j): ("0",) * len(row)},
        {**structure, (i, j): (Symbol("unknown"), *row[1:])}, {**structure, (i, j): (sp.nan, *row[1:])},
        {**structure, (i, j): (sp.zoo, *row[1:])}, None,
    ):
        assert rejected(changed(certificate, structure=bad)), bad


@pytest.mark.parametrize("name", PROVED)
def test_changed_denominators(name: str) -> None:
    certificate = VERDICTS[name].certificate
    for bad in ((*certificate.nonvanishing, m + 7), (m + 7,), None, [*certificate.nonvanishing, 1]):
        assert rejected(changed(certificate, nonvanishing=bad))
    if certificate.nonvanishing:
        assert rejected(changed(certificate, nonvanishing=()))


def test_denominators_are_found() -> None:
    assert len(denominators([1 / (2 * v), m / (s - m**2), 3 / m])) == 2
    assert denominators([Integer(3), m]) == ()
    assert denominators([1 / m, 2 / (3 * m**2)]) == (m,)
    assert len(denominators([1 / (m - s), 1 / (s - m)])) == 1


def test_swapped_pairs_of_the_constant_structure() -> None:
    certificate = VERDICTS["constant"].certificate
    c = certificate.structure
    swapped = changed(certificate, structure={**c, (1, 2): c[1, 3], (1, 3): c[1, 2]})
    assert rejected(swapped) and swapped.verify() is False


def test_the_size_of_a_proof() -> None:
    """A mean-form identity holds for every N: claiming it for one more N is true; a size that is none is not."""
    certificate = VERDICTS["constant"].certificate
    assert changed(certificate, n_samples=7).verify()
    for bad in (1, 0, -3, 2.5, "5", True, (5,)):
        assert rejected(changed(certificate, n_samples=bad)), bad
    explicit = VERDICTS["explicit proof"].certificate
    for bad in (None, 2, 4):
        assert rejected(changed(explicit, n_samples=bad)), bad
    assert changed(VERDICTS["filtered"].certificate, n_samples=None).verify(), "circular filters commute at every N"
    assert changed(VERDICTS["mirrored"].certificate, n_samples=None).verify(), "so do symmetric kernels under mirrors"
    odd = check_frobenius([Mean(Filter(k, boundary="half-sample")(x) ** 2) for k in ([-1, 2, -1], [1, 0, -1])],
                          n_samples=6)
    assert odd.certificate.verify() and rejected(changed(odd.certificate, n_samples=None)), "unproved but at this N"


# --- witnesses --------------------------------------------------------------------------------------------------

WITNESSED = [
    "refuted", "refuted at", "intervals", "parameters", "dependent", "full", "independent", "independent at",
    "explicit", "domain", "kernels",
]


def tampered(w: Witness) -> dict[str, list[Witness]]:
    """Changes of each field of a witness that make the claim false (or not a claim about this witness)."""
    size = len(w.sample)
    shifted = (w.sample[0] + 1, *w.sample[1:])
    return {
        "sample": [
            dataclasses.replace(w, sample=bad)
            for bad in (
                tuple(3 * c + 1 for c in w.sample), w.sample[:-1], (*w.sample, Fraction(101)), (w.sample[0],) * size,
                (), ("1",) * size, None,
            )
        ]
        + ([dataclasses.replace(w, sample=shifted)] if w.digits is None and size > 3 else []),
        "parameters": [
            dataclasses.replace(w, parameters=bad) for bad in ((("nosuch", Fraction(1)),), (("a", "x"),), None, 3)
        ]
        + (
            [dataclasses.replace(w, parameters=bad) for bad in ((), (("a", w.parameters[0][1] + 1),))]
            if w.parameters
            else []
        ),
        "kernels": [
            dataclasses.replace(w, kernels=bad)
            for bad in ((Kernel("nosuch", (Fraction(1),), (1,)),), ((1, 2),), None, 3)
        ]
        + [
            dataclasses.replace(w, kernels=bad)
            for k in w.kernels
            for bad in (
                (), (k, k), (dataclasses.replace(k, name="g"),),
                (dataclasses.replace(k, taps=(k.taps[0] + 1, *k.taps[1:])),),
                (dataclasses.replace(k, taps=k.taps[:1], shape=(1,)),),
            )
        ],
        "grid": [dataclasses.replace(w, grid=bad) for bad in ((size,), (1, size), (2, 2), None)],
        "columns": [
            dataclasses.replace(w, columns=bad)
            for bad in (w.columns[:-1], (*w.columns, 9), tuple(reversed(w.columns)), (0, *w.columns[1:]), (), None)
        ],
        "pair": [
            dataclasses.replace(w, pair=bad)
            for bad in ((None, (2, 1), (1, 9), (0, 1), (1,), 5) if w.pair else ((1, 2), (1, 1)))
        ],
        "rows": [
            dataclasses.replace(w, rows=bad)
            for bad in (
                w.rows[:-1], (*w.rows[:-1], w.rows[0]), (*w.rows[:-1], 99), (w.rows[1], w.rows[0], *w.rows[2:]),
                tuple(r - size for r in w.rows), (), None,
            )
        ],
        "minor": [
            dataclasses.replace(w, minor=bad)
            for bad in (
                Minor(-w.minor.high, -w.minor.low), Minor(w.minor.low * 2, w.minor.high * 2),
                Minor(Fraction(0), Fraction(0)), Minor(Fraction(-1), Fraction(1)),
                Minor(-abs(w.minor.high) - 1, abs(w.minor.high) + 1), None,
            )
        ],
        "digits": [dataclasses.replace(w, digits=bad) for bad in ("30", 10**9, (30,))]
        + ([dataclasses.replace(w, digits=bad) for bad in (None, 1)] if w.digits else []),
    }


@pytest.mark.parametrize("name", WITNESSED)
def test_every_field_of_a_witness(name: str) -> None:
    certificate = VERDICTS[name].certificate
    attacks = tampered(certificate.witness)
    assert set(attacks) == {field.name for field in dataclasses.fields(Witness)}
    for field, witnesses in attacks.items():
        for witness in witnesses:
            if name == "full" and field == "columns" and witness.columns == (4, 3, 2, 1):
                continue  # an even permutation of the columns: the same minor of the same fields, a true claim
            if name == "explicit" and field == "sample" and witness.sample and len(set(witness.sample)) == 3:
                continue  # this minor is 1 at every sample
            assert rejected(changed(certificate, witness=witness)), (field, getattr(witness, field))


@pytest.mark.parametrize("name", WITNESSED)
def test_no_witness_at_all(name: str) -> None:
    without = changed(VERDICTS[name].certificate, witness=None)
    assert rejected(without) and without.verify() is False


@pytest.mark.parametrize("name", [n for n in WITNESSED if n not in ("full",)])
def test_the_sizes_of_a_refutation(name: str) -> None:
    certificate = VERDICTS[name].certificate
    for n0 in (2, 3, 4, 5, 6, 7, "5", -1):
        if n0 != certificate.n0 and certificate.n_samples is None:
            assert rejected(changed(certificate, n0=n0)), n0
    size = len(certificate.witness.sample)
    for n_samples in (size - 1, size + 1, 1, "5", float(size)):
        assert rejected(changed(certificate, n_samples=n_samples)), n_samples
    if certificate.n_samples is None and certificate.n0 == size:
        assert changed(certificate, n_samples=size).verify(), "true: what holds from n0 on holds at n0"
    if certificate.n_samples is not None and name != "refuted at":
        assert rejected(changed(certificate, n_samples=None))


@pytest.mark.parametrize("name", ["refuted", "refuted at", "intervals", "dependent", "explicit"])
def test_the_pair_of_a_refutation(name: str) -> None:
    certificate = VERDICTS[name].certificate
    for pair in ((2, 1), (1, 1), (0, 1), (1, 9), (1, 4), (2, 3), None, 5, ("1", "2")):
        if pair != certificate.pair:
            assert rejected(changed(certificate, pair=pair)), pair
            if isinstance(pair, tuple):
                witness = dataclasses.replace(certificate.witness, pair=pair)
                assert rejected(changed(certificate, pair=pair, witness=witness)), pair


def test_the_relations_of_a_refutation() -> None:
    certificate = VERDICTS["dependent"].certificate
    assert certificate.relations == {2: (-2 * m, 1, 0)}
    for bad in (
        {}, {1: (1, -1 / (2 * m), 0)}, {2: (2 * m, 1, 0)}, {2: (-2 * m, 1)}, {2: (0, 0, 0)}, {3: (-2 * m, 1, 0)},
        {2: (-2 * m, 1, 0), 3: (-2 * m, 1, 0)}, {2: None}, None,
    ):
        assert rejected(changed(certificate, relations=bad)), bad
    for bad in ({2: (1, 0, 0, 0)}, {4: (0, 0, 0, 1)}):
        assert rejected(changed(VERDICTS["refuted"].certificate, relations=bad))


def test_one_relation_does_not_excuse_two_missing_columns() -> None:
    """(x, x^2 mean, x^2, x^3) is involutive; without the third column the last bracket would leave the span."""
    features = [m, m**2, s, Mean(x**3)]
    assert check_frobenius(features).status is Status.PROVED
    without = check_frobenius([m, Mean(x**3)], n_samples=5).certificate.witness
    relation = (-2 * m, Integer(1), Integer(0), Integer(0))
    witness = dataclasses.replace(without, columns=(1, 4), pair=(1, 4))
    forged = NonInvolution(Subject.of(features), (1, 4), witness, None, 5, {2: relation, 3: relation})
    assert rejected(forged)
