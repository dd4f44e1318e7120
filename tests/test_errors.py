"""The exceptions: one base, and by what the caller does next."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from symdecouple import errors
from symdecouple.errors import Outcome, RefusalWarning, Refused, SymdecoupleError


@pytest.mark.parametrize("name", sorted({*errors.__all__} - {"Outcome", "PerturbedWarning", "RefusalWarning"}))
def test_every_error_is_caught_by_the_base(name: str) -> None:
    kind = getattr(errors, name)
    assert issubclass(kind, SymdecoupleError) and issubclass(kind, Exception)
    with pytest.raises(SymdecoupleError, match="what happened"):
        raise kind("what happened")
    assert str(pickle.loads(pickle.dumps(kind("what happened")))) == "what happened"


def test_they_are_builtin_errors_where_that_fits() -> None:
    assert issubclass(errors.InvalidInput, ValueError) and issubclass(errors.UnsupportedExpression, TypeError)
    assert issubclass(RefusalWarning, UserWarning)


def test_an_outcome_says_what_became_of_a_row() -> None:
    assert str(Outcome(True)) == "computed"
    assert str(Outcome(False, "zero variance")) == "refused: zero variance"
    assert str(Outcome(False, "tied", "3 of 5")) == "refused: tied (3 of 5)"
    assert Outcome(True) == Outcome(True) and hash(Outcome(True)) == hash(Outcome(True))


def test_a_refusal_keeps_what_was_computed() -> None:
    outcomes = (Outcome(True), Outcome(False, "tied"))
    refused = Refused("1 of 2", [1.0, None], outcomes)
    assert refused.partial == [1.0, None] and refused.outcomes == outcomes
    assert Refused("x").outcomes == () and Refused("x").partial is None


def test_the_module_loads_the_standard_library_only() -> None:
    code = "import sys, symdecouple.errors, symdecouple.verdict; print([*{'sympy', 'numpy'} & {*sys.modules}])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
