"""The exceptions: one base, and by what the caller does next."""

from __future__ import annotations

import pickle

import pytest

from symdecouple import errors
from symdecouple.errors import Outcome, RefusalWarning, Refused, SymdecoupleError
from tests.processes import printed


@pytest.mark.parametrize("name", sorted({*errors.__all__} - {"Outcome", "PerturbedWarning", "RefusalWarning"}))
def test_every_error_is_caught_by_the_base(name: str) -> None:
    kind = getattr(errors, name)
    assert issubclass(kind, SymdecoupleError) and issubclass(kind, Exception)
    with pytest.raises(SymdecoupleError, match="what happened"):
        raise kind("what happened")
    assert str(pickle.loads(pickle.dumps(kind("what happened")))) == "what happened"


def test_they_are_builtin_errors_where_that_fits() -> None:
    assert issubclass(errors.InvalidInput, ValueError) and issubclass(errors.UnsupportedExpression, TypeError)
    assert issubclass(RefusalWarning, UserWarning) and issubclass(errors.MissingPackage, ImportError)


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


@pytest.mark.parametrize(("package", "ask", "said"), [
    *(("sklearn", ask, "DecoupledMoments needs scikit-learn, which is not installed; install it with: ")
      for ask in ("from symdecouple.sklearn import DecoupledMoments", "sd.sklearn.DecoupledMoments()")),
    ("pandas", "import symdecouple.pandas", "")])
def test_without_a_package_its_extra_is_named(package: str, ask: str, said: str) -> None:
    told = printed(f"import sys; sys.modules[{package!r}] = None\nimport symdecouple as sd\ntry:\n    {ask}\n"
                   "except ImportError as error:\n    print(type(error).__name__, error)")
    assert told.startswith(f"MissingPackage {said}") and told.endswith(f'pip install "symdecouple[{package}]"')
