"""Verdicts as values: no truth value, evidence iff exact, and text that says what holds for which N."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.verdict import Certificate, Check, Status, Verdict


class Evidence:
    """A certificate of nothing."""

    pair, n0 = (1, 2), 5

    def audit(self) -> tuple[Check, ...]:
        return (Check("one", True), Check("two", False, "3 != 4"))

    def verify(self) -> bool:
        return False

    def to_dict(self) -> dict[str, Any]:
        return {"certificate": "nothing"}

    def summary(self) -> tuple[str, ...]:
        return ("a line",)

    def latex(self) -> str:
        return "1 = 1"


PROOF = Verdict("C2", Status.REFUTED, ("f", "g"), certificate=Evidence(), reason="because")
OPEN = Verdict("C2", Status.UNDECIDED, ("f",), reason="time is over", evidence=("rank 1 of 2",))


def test_a_verdict_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"not a bool.*compare verdict\.status"):
        bool(OPEN)
    with pytest.raises(TypeError):
        assert PROOF


@pytest.mark.parametrize("status", list(Status))
def test_exact_answers_carry_a_certificate_and_others_do_not(status: Status) -> None:
    exact = status in (Status.PROVED, Status.REFUTED)
    with pytest.raises(InvalidInput, match="certificate"):
        Verdict("C1", status, (), certificate=None if exact else Evidence())
    assert Verdict("C1", status, (), certificate=Evidence() if exact else None).status is status


def test_text_names_question_status_scope_subject_and_reason() -> None:
    text = str(PROOF)
    for part in ("C2", "REFUTED", "for every N >= 5", "1  f", "2  g", "why: because", "a line"):
        assert part in text
    assert "evidence: rank 1 of 2" in str(OPEN) and "for N = 4" in str(Verdict("C1", Status.UNDECIDED, (), n_samples=4))
    assert "except at a = 0" in str(Verdict("C2", Status.UNDECIDED, (), exceptions=({"a": 0},)))
    numeric = Verdict("C2", Status.NUMERICAL, (), holds=True, residual=1e-9, tolerance=1e-6)
    assert "holds = True, residual 1e-09, tolerance 1e-06" in str(numeric)
    assert len(max(str(Verdict("C1", Status.UNDECIDED, ("x" * 500,))).splitlines(), key=len)) < 120


def test_properties_come_from_the_certificate() -> None:
    assert PROOF.failing_pair == (1, 2) and PROOF.n0 == 5 and PROOF.structure is None and PROOF.nonvanishing == ()
    assert OPEN.failing_pair is None and OPEN.witness is None and OPEN.n0 is None
    assert isinstance(PROOF.certificate, Certificate)


def test_values() -> None:
    values = Verdict("C2", Status.UNDECIDED, ("f",), exceptions=({"a": 0},), seconds=3.0)
    assert values == Verdict("C2", Status.UNDECIDED, ("f",), exceptions=({"a": 0},), seconds=4.0), "time does not count"
    for twin in (pickle.loads(pickle.dumps(values)), copy.copy(values), copy.deepcopy(values)):
        assert twin == values and hash(twin) == hash(values)
    assert values != OPEN


def test_json_and_latex() -> None:
    data = json.loads(PROOF.to_json())
    assert data["format"] == "symdecouple.verdict" and data["failing_pair"] == [1, 2] and data["status"] == "REFUTED"
    assert json.loads(OPEN.to_json(indent=None))["certificate"] is None
    assert PROOF._repr_latex_().count("$") == 2 and "time is over" in OPEN._repr_latex_()


def test_require_raises_with_the_whole_verdict() -> None:
    assert PROOF.require(Status.REFUTED) is PROOF
    with pytest.raises(SymdecoupleError, match=r"expected PROVED:(.|\n)*time is over"):
        OPEN.require()


def test_nothing_to_bind() -> None:
    with pytest.raises(InvalidInput, match=r"features\.bind"):
        OPEN.at({"a": 1})


def test_checks_print() -> None:
    assert str(Check("a", True)) == "ok   a" and str(Check("b", False, "why")) == "FAIL b: why"
