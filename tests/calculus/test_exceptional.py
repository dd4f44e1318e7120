"""Exceptional parameters: found, decided again, and really different."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import Symbol, cos, exp, sin

from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.language.mean import Mean
from symdecouple.language.sample import sample, x
from symdecouple.verdict import Status

a, b = Symbol("a"), Symbol("b")
m, p = Mean(x), sample(positive=True)


@pytest.mark.parametrize(
    ("features", "generic", "expected"),
    [
        ([m, Mean(x**2 + a * x**3)], Status.REFUTED, [{a: 0}]),
        ([m, Mean(x**2), Mean((a - 3) * x**4 + x**3)], Status.REFUTED, [{a: 3}]),
        ([Mean(p**a), Mean(p)], Status.REFUTED, [{a: 2}, {a: 1}, {a: 0}]),
        ([Mean(exp(a * x)), Mean(exp(b * x))], Status.REFUTED, [{a: b}]),
        ([m, Mean(exp(a * x)), Mean(exp(-x))], Status.REFUTED, [{a: 1}, {a: 0}, {a: -1}]),
        ([m, Mean(a * x + x**2)], Status.PROVED, []),
        ([m, Mean(sin(x) + a * x), Mean(cos(x))], Status.PROVED, []),
        ([m, Mean((a**2 - 2) * x**3 + x**2)], Status.REFUTED, [{a: -(2 ** Symbol("h")).subs("h", 0.5)}]),
    ],
    ids=str,
)
def test_found_and_different(features: list[Any], generic: Status, expected: list[dict[Any, Any]]) -> None:
    verdict = check_frobenius(features)
    assert verdict.status is generic
    for values in expected:
        assert any(
            all(
                abs(complex(found.get(k, 99) - v)) < 1e-9 if not getattr(v, "free_symbols", None) else found.get(k) == v
                for k, v in values.items()
            )
            for found in verdict.exceptions
        ), verdict.exceptions
    assert bool(verdict.exceptions) >= bool(expected) and (expected or not verdict.exceptions)


def test_each_exception_is_one() -> None:
    verdict = check_frobenius([m, Mean(x**2 + a * x**3)])
    for values in verdict.exceptions:
        assert verdict.at(values).status is not verdict.status


def test_no_parameters_no_exceptions() -> None:
    assert check_frobenius([m, Mean(x**3)]).exceptions == ()
