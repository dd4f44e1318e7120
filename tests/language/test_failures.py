"""Errors of SymPy become one of ours, errors of ours and of callers stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sympy import Poly, Rational, exp
from sympy.abc import x

from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.field_generators import FieldGenerators
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.failures import sympy_failures
from symdecouple.language.sample import coordinates
from symdecouple.verdict import Status

x1, x2, _ = coordinates(3)


def test_what_sympy_raises_is_translated() -> None:
    with pytest.raises(UnsupportedExpression, match=r"a step is beyond SymPy here \(PolynomialError"), \
            sympy_failures("a step"):
        Poly(exp(x), x)


def test_too_deep_a_recursion_is_translated() -> None:
    def deep() -> None:
        deep()

    with pytest.raises(UnsupportedExpression, match="RecursionError"), sympy_failures("a step"):
        deep()


@pytest.mark.parametrize("error", [BudgetExceeded("late"), InvalidInput("wrong"), UnsupportedExpression("outside"),
                                   ZeroDivisionError("ours"), TypeError("ours"), MemoryError()])
def test_what_others_raise_is_not(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, sympy_failures("a step"):
        raise error
    assert caught.value is error


@pytest.mark.parametrize("failing", [lambda *_: Poly(exp(x), x), lambda *_: Rational("no number")],
                         ids=["PolynomialError", "TypeError"])
def test_where_sympy_gives_up_a_verdict_is_undecided_and_no_certificate_verifies(
        failing: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    features = [exp(x1 - x2), x1 + x2]
    proved: Any = check_frobenius(features)
    assert proved.status is Status.PROVED and proved.certificate.verify()
    monkeypatch.setattr(FieldGenerators, "code", failing)
    verdict = check_frobenius(features)
    assert verdict.status is Status.UNDECIDED and "Error" in verdict.reason
    assert not proved.certificate.verify()
    read: Any = verdict_from_json(proved.to_json())
    assert not read.certificate.verify()
