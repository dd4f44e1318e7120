"""What is exceptional is found, said, decided at, and nothing else is; by an oracle of its own, it is the same."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
import sympy as sp
from sympy import Rational, Symbol

from symdecouple import Status, Verdict, check_frobenius, verdict_from_json
from symdecouple.calculus.subject import Subject
from tests.laws.examples import every_second
from tests.laws.parameters import BOTH, C1, C2, COMPLETE, INCOMPLETE, UNDEFINED
from tests.laws.ranks import drawn_sample, ranks

CHANGES: dict[str, tuple[tuple[str, Status], ...]] = {
    C1: (("C1", Status.REFUTED),), C2: (("C2", Status.PROVED),), BOTH: (("C1", Status.REFUTED), ("C2", Status.PROVED)),
    UNDEFINED: (),
}


def said(verdict: Verdict) -> list[tuple[dict[Any, Any], Any]]:
    return [(dict(values), values.changes) for values in verdict.exceptions]


def told(verdict: Verdict) -> None:
    """The text says it all, and JSON keeps it."""
    assert all(line in str(verdict) for line in map(str, verdict.exceptions))
    assert f"for generic values of {', '.join(verdict.parameters)}" in str(verdict)
    read = verdict_from_json(verdict.to_json())
    assert read.exceptions == verdict.exceptions and str(read) == str(verdict)


def confirmed(verdict: Verdict) -> None:
    """Each exception is one, with certificates that verify, also when they are read back."""
    for values in verdict.exceptions:
        special = verdict.at(values)
        assert special.independence is not None or values.undefined
        answers = {q.question: q for q in (special, special.independence) if q is not None}
        for question, status in values.changes:
            assert answers[question].status is status
            certificate = verdict_from_json(answers[question].to_json()).certificate
            assert certificate is not None and certificate.verify() and answers[question].certificate.verify()


@pytest.mark.parametrize("name", every_second(COMPLETE))
def test_all_exceptions_and_no_others(name: str) -> None:
    features, expected = COMPLETE[name]
    verdict = check_frobenius(features)
    found = said(verdict)
    assert len(found) == len(expected), str(verdict)
    for values, change in expected:
        assert (values, CHANGES[change]) in found, str(verdict)
    assert not verdict.not_searched and "other exceptional values" not in str(verdict)
    told(verdict)


@pytest.mark.parametrize("name", INCOMPLETE)
def test_where_the_search_is_not_complete_the_verdict_says_so(name: str) -> None:
    features, expected = INCOMPLETE[name]
    verdict = check_frobenius(features)
    for values, change in expected:
        assert (values, CHANGES[change]) in said(verdict), str(verdict)
    assert verdict.not_searched and "other exceptional values are possible: " in str(verdict)
    told(verdict)


FAST = ["a multiple", "square root of 2", "a circle", "a power", "Box-Cox", "contact", "a mass", "linear"]
TABLE = COMPLETE | INCOMPLETE


@pytest.mark.parametrize("name", [*FAST, *(pytest.param(n, marks=pytest.mark.slow) for n in TABLE if n not in FAST)])
def test_each_exception_is_one_with_certificates(name: str) -> None:
    confirmed(check_frobenius(TABLE[name][0]))


# --- an oracle of its own: ranks of gradients and brackets at one sample ---------------------------------------------

GENERIC = (Rational(37, 29), Rational(41, 23), Rational(53, 31))
USUAL = (0, 1, -1, 2, Rational(1, 2))


ORACLE = ["a multiple", "contact", "linear", "a mass"]
MORE = [name for name in COMPLETE if name not in ORACLE]


@pytest.mark.parametrize("name", [*ORACLE, *(pytest.param(n, marks=pytest.mark.slow) for n in MORE)])
def test_usual_values_against_the_oracle(name: str) -> None:
    """At each usual value, alone or with two parameters equal, what the oracle sees to change is in the list."""
    subject = Subject.of(COMPLETE[name][0])
    verdict = check_frobenius(subject)
    n = len(subject.coordinates) or len(subject) + 2
    symbols: tuple[Symbol, ...] = subject.symbols
    generic = dict(zip(symbols, GENERIC, strict=False))
    sample = drawn_sample(random.Random(5), n)
    before = ranks(subject.items, sample, generic)
    tried: list[dict[Any, Any]] = [{s: v} for s in symbols for v in USUAL]
    tried += [{s: t} for s, t in combinations(symbols, 2)] + [{s: -t} for s, t in combinations(symbols, 2)]
    for values in tried:
        point = generic | {s: sp.sympify(v).subs(generic) for s, v in values.items()}
        listed = [e for e in verdict.exceptions if all((k - v).subs(point).equals(0) for k, v in e.items())]
        if any(e.undefined for e in listed):
            continue
        after = ranks(subject.items, sample, point)
        assert (after[0] != before[0]) == any(("C1", Status.REFUTED) in e.changes for e in listed), (values, after)
        changed = (after[0] == after[1]) != (before[0] == before[1])
        assert changed == any(q == "C2" for e in listed for q, _ in e.changes), (values, before, after)
