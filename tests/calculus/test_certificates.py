"""Certificates under attack: every field of every kind, tampered with, must fail; nothing raises."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from sympy import Abs, Integer, Piecewise, Symbol, cos, exp, sin

from symdecouple.calculus.certificates import (
    Dependence,
    FullSpan,
    Independence,
    Involution,
    NonInvolution,
    denominators,
    verdict_from_json,
)
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.calculus.subject import Subject
from symdecouple.calculus.witness import Minor, Witness
from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.language.filters import shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import kurtosis, variance
from symdecouple.verdict import Certificate, Status, Verdict

a = Symbol("a")
m, s, v = Mean(x), Mean(x**2), variance()
x1, x2, x3 = coordinates(3)
FOUR = [Mean(x**k) for k in (1, 2, 3, 4)]

VERDICTS: dict[str, Verdict] = {
    "constant": check_frobenius(FOUR[:3]),
    "functions": check_frobenius([m, v, kurtosis()]),
    "one size": check_frobenius(FOUR[:3], n_samples=5),
    "filtered": check_frobenius([m, s, Mean(x * shift(1)(x))], n_samples=5),
    "refuted": check_frobenius(FOUR),
    "refuted at": check_frobenius(FOUR, n_samples=6),
    "intervals": check_frobenius([Mean(sin(x)), Mean(cos(x))]),
    "parameters": check_frobenius([m, s + a * Mean(x**3)]),
    "dependent": check_frobenius([m, m**2, Mean(x**3)]),
    "full": check_frobenius(FOUR, n_samples=4),
    "independent": check_independence(FOUR),
    "independent at": check_independence([m, Mean(exp(x))], n_samples=3),
    "relation": check_independence([m, s, s + m**2]),
    "relation at": check_independence([m, v, kurtosis()], n_samples=3),
    "too many": check_independence(FOUR, n_samples=3),
    "explicit": check_frobenius([VectorField([1, 0, 0], [x1, x2, x3]), VectorField([0, 1, x1], [x1, x2, x3])]),
    "explicit proof": check_frobenius(
        [VectorField([x1, 0, 0], [x1, x2, x3]), VectorField([0, x1 * x2, x1 * x3], [x1, x2, x3])]
    ),
    "domain": check_frobenius([Mean(sample(positive=True) ** a), Mean(sample(positive=True))]),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_the_real_certificate_verifies(name: str) -> None:
    certificate = VERDICTS[name].certificate
    assert isinstance(certificate, Certificate)
    assert certificate.verify(), "\n".join(map(str, certificate.audit()))
    assert certificate.audit() and all(check.name for check in certificate.audit())


def test_all_kinds_are_here() -> None:
    assert {type(verdict.certificate) for verdict in VERDICTS.values()} == {
        Involution,
        NonInvolution,
        FullSpan,
        Independence,
        Dependence,
    }


def changed(certificate: Any, **fields: Any) -> Any:
    return dataclasses.replace(certificate, **fields)


def rejected(certificate: Any) -> bool:
    """False or a report of failed checks, by return value: an exception would fail the test."""
    return certificate.verify() is False and not all(check.passed for check in certificate.audit())


OTHER_SUBJECTS = [
    Subject.of([m, Mean(x**5), Mean(x**7), Mean(x**6)]),
    Subject.of([m]),
    Subject.of([s, v]),
    Subject.of([x1, x1 * x2]),
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
        {},
        {pair: c for pair, c in structure.items() if pair != (i, j)},
        {(j, i) if pair == (i, j) else pair: c for pair, c in structure.items()},
        {**structure, (j, i): tuple(-c for c in row)},
        {**structure, (i, j): row[:-1]},
        {**structure, (i, j): (*row, Integer(0))},
        {**structure, (i, j): tuple(-c for c in row)},
        {**structure, (1, 9): row},
        {**structure, (i, j): None},
        {**structure, (i, j): ("0",) * len(row)},
        {**structure, (i, j): (Symbol("unknown"), *row[1:])},
        {**structure, (i, j): (sp.nan, *row[1:])},
        {**structure, (i, j): (sp.zoo, *row[1:])},
        None,
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
    assert rejected(changed(certificate, structure={**c, (1, 2): c[1, 3], (1, 3): c[1, 2]}))


def test_the_size_of_a_proof() -> None:
    """A mean-form identity holds for every N: claiming it for one more N is true; a size that is none is not."""
    certificate = VERDICTS["constant"].certificate
    assert changed(certificate, n_samples=7).verify()
    for bad in (1, 0, -3, 2.5, "5", True, (5,)):
        assert rejected(changed(certificate, n_samples=bad)), bad
    explicit = VERDICTS["explicit proof"].certificate
    for bad in (None, 2, 4):
        assert rejected(changed(explicit, n_samples=bad)), bad
    assert rejected(changed(VERDICTS["filtered"].certificate, n_samples=None)), "filters: for the stated N only"


# --- witnesses --------------------------------------------------------------------------------------------------

WITNESSED = [
    "refuted",
    "refuted at",
    "intervals",
    "parameters",
    "dependent",
    "full",
    "independent",
    "independent at",
    "explicit",
    "domain",
]


def tampered(w: Witness) -> dict[str, list[Witness]]:
    """Changes of each field of a witness that make the claim false (or not a claim about this witness)."""
    size = len(w.sample)
    shifted = (w.sample[0] + 1, *w.sample[1:])
    return {
        "sample": [
            dataclasses.replace(w, sample=bad)
            for bad in (
                tuple(3 * c + 1 for c in w.sample),
                w.sample[:-1],
                (*w.sample, Fraction(101)),
                (w.sample[0],) * size,
                (),
                ("1",) * size,
                None,
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
                w.rows[:-1],
                (*w.rows[:-1], w.rows[0]),
                (*w.rows[:-1], 99),
                (w.rows[1], w.rows[0], *w.rows[2:]),
                tuple(r - size for r in w.rows),
                (),
                None,
            )
        ],
        "minor": [
            dataclasses.replace(w, minor=bad)
            for bad in (
                Minor(-w.minor.high, -w.minor.low),
                Minor(w.minor.low * 2, w.minor.high * 2),
                Minor(Fraction(0), Fraction(0)),
                Minor(Fraction(-1), Fraction(1)),
                Minor(-abs(w.minor.high) - 1, abs(w.minor.high) + 1),
                None,
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
    assert rejected(changed(VERDICTS[name].certificate, witness=None))


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
        {},
        {1: (1, -1 / (2 * m), 0)},
        {2: (2 * m, 1, 0)},
        {2: (-2 * m, 1)},
        {2: (0, 0, 0)},
        {3: (-2 * m, 1, 0)},
        {2: (-2 * m, 1, 0), 3: (-2 * m, 1, 0)},
        {2: None},
        None,
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
        (0, 0, 0),
        (-r[0], *r[1:]) if r[0] != 0 else (0, 0, -1),
        (r[0] + 1, *r[1:]),
        (r[1], r[0], r[2]),
        r[:-1],
        (*r, Integer(0)),
        None,
        (),
        ("1", 0, 0),
        tuple(c * 2 for c in r),
        (1, 0, 0),
        (Symbol("k"), *r[1:]),
        5,
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


def test_kinks_are_claimed_for_one_size_only() -> None:
    verdict = check_frobenius([VectorField(1), VectorField(x**2 * Abs(x), allow_nonsmooth=["Abs"])])
    assert verdict.status is Status.REFUTED and verdict.n0 is None and verdict.certificate.n_samples is not None
    assert verdict.certificate.verify() and "only" in verdict.reason


# --- JSON, values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VERDICTS)
def test_json_and_back(name: str) -> None:
    verdict = VERDICTS[name]
    try:
        text = verdict.to_json()
    except SymdecoupleError as error:
        pytest.skip(f"outside the grammar of text: {error}")
    twin = verdict_from_json(text)
    assert twin == verdict and twin.certificate.verify() and twin.to_json() == text and str(twin) == str(verdict)
    with pytest.raises(InvalidInput, match="keeps no features"):
        twin.at({"a": 1})


@pytest.mark.parametrize("name", VERDICTS)
def test_pickle_copy_and_hash(name: str) -> None:
    verdict = VERDICTS[name]
    for value in (verdict, verdict.certificate, verdict.certificate.subject):
        for twin in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert twin == value and hash(twin) == hash(value)
    assert pickle.loads(pickle.dumps(verdict)).redecide is not None
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.certificate.subject = None


@pytest.mark.parametrize("name", VERDICTS)
def test_summaries_and_latex(name: str) -> None:
    certificate = VERDICTS[name].certificate
    assert all(isinstance(line, str) and line for line in certificate.summary())
    assert isinstance(certificate.latex(), str) and "$" not in certificate.latex()
    assert VERDICTS[name]._repr_latex_().count("$") == 2


def mutated(path: tuple[Any, ...], value: Any, name: str = "refuted") -> str:
    data = json.loads(VERDICTS[name].to_json())
    target = data
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return json.dumps(data)


C, W = "certificate", "witness"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "3",
        '"x"',
        "{",
        '{"format": "symdecouple.verdict"}',
        "NaN",
        "[[[[",
        mutated(("version",), 2),
        mutated(("version",), "1"),
        mutated(("format",), "other"),
        mutated(("status",), "MAYBE"),
        mutated((C,), []),
        mutated((C,), "x"),
        mutated((C, "certificate"), "trust me"),
        mutated((C, "subject"), None),
        mutated((C, "subject", "items"), [["__import__('os').system('true')"]] * 4),
        mutated((C, "subject", "items"), [["mean(x**10**10)"]] * 4),
        mutated((C, "subject", "domain"), "x=evil"),
        mutated((C, "subject", "kind"), 5),
        mutated((C, "subject", "allow_nonsmooth"), [["Evil"]] * 4),
        mutated((C, W, "sample"), ["1e999999999"] * 5),
        mutated((C, W, "sample"), [1.5] * 5),
        mutated((C, W, "sample"), ["1/0"] * 5),
        mutated((C, W, "sample"), None),
        mutated((C, W, "minor"), ["inf", "nan"]),
        mutated((C, W, "minor"), ["1"]),
        mutated((C, W, "minor"), ["1e-999999999", "1"]),
        mutated((C, W, "rows"), ["a"]),
        mutated((C, W, "parameters"), []),
        mutated((C, W, "parameters"), {"a": "9e99999999"}),
        mutated((C, "pair"), [1]),
        mutated((C, "pair"), "34"[:1]),
        mutated((C, "relations"), {"x": []}),
        mutated((C, "relations"), []),
        mutated((C, "structure"), {"1;2": ["0"]}, "constant"),
        mutated((C, "structure"), {"1,2": ["eval(1)"]}, "constant"),
        mutated((C, "nonvanishing"), ["1/0"], "constant"),
        mutated((C, "relation"), ["().__class__"], "relation"),
        mutated(("exceptions",), [{"a": "exec('')"}]),
        mutated(("independence",), 7),
        mutated((C,), None),
    ],
    ids=lambda text: text[-60:],
)
def test_hostile_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        verdict_from_json(text)


@pytest.mark.parametrize(
    "text",
    [
        mutated((C, W, "digits"), 10**9),
        mutated((C, W, "digits"), "many"),
        mutated((C, "n0"), 10**6),
        mutated((C, W, "rows"), [1, 2, 3, 4, 10**9]),
        mutated((C, W, "columns"), [1] * 4),
        mutated((C, "n_samples"), "5"),
        mutated((C, "n_samples"), -1, "constant"),
        mutated((C, W, "sample"), ["1"] * 5),
    ],
)
def test_readable_lies_do_not_verify(text: str) -> None:
    try:
        verdict = verdict_from_json(text)
    except InvalidInput:
        return
    assert not verdict.certificate.verify()


@pytest.mark.parametrize(
    ("name", "status"),
    [("refuted", "PROVED"), ("constant", "REFUTED"), ("independent", "REFUTED"), ("relation", "PROVED")],
)
def test_a_certificate_of_the_opposite_is_refused(name: str, status: str) -> None:
    with pytest.raises(InvalidInput, match="certificate"):
        verdict_from_json(mutated(("status",), status, name))
    question = "C1" if VERDICTS[name].question == "C2" else "C2"
    with pytest.raises(InvalidInput, match="certificate"):
        verdict_from_json(mutated(("question",), question, name))


def test_a_certificate_of_another_size_is_refused() -> None:
    with pytest.raises(InvalidInput, match="N = 9"):
        verdict_from_json(mutated(("n_samples",), 9, "full"))
