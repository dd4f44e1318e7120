"""Sets of rational functions of waves and exponentials: decided for every N, hidden relations found, verified."""

from __future__ import annotations

import pytest
from sympy import cosh, exp, log

from symdecouple import FeatureSet, Mean, Status, check_frobenius, x

P, R = Status.PROVED, Status.REFUTED

DECIDED = [  # C1, C2, N0 of C2
    ("mean(log(5/4-cos(x))); mean(x)", P, R, 4),
    ("mean(log(sec(x)+tan(x))); mean(tan(x))", P, R, 5),
    ("mean(tan(2*x)); mean(tan(x)/(1-tan(x)^2)); mean(x)", R, R, 3),
    ("mean(tan(x/2)); mean(sin(x)/(1+cos(x))); mean(x)", R, R, 4),
    ("mean(tan(x/2)); mean(cot(x)); mean(csc(x))", R, R, 7),
    ("mean(log(tan(x))); mean(x); mean(csc(2*x))", P, R, 7),
    ("mean(exp(x^2)/(exp(x)+exp(x^2))); mean(1/(1+exp(x-x^2)))", R, P, None),
    ("mean(log(exp(x)+exp(x^2))); mean(x)", P, R, 7),
    ("mean(1/(2+cos(x)+sin(x))); mean(x)", P, R, 5),
    ("mean(log(5/4-cos(x-1/2))); mean(x)", P, R, 4),
    ("mean(cos(x)^2/(1+sin(x)^2)); mean(cos(2*x)/(3-cos(2*x)))", R, P, None),
    ("mean(sec(3*x)); mean(sec(x)); mean(cos(x)/(4*cos(x)^2-3))", R, R, 8),
    ("mean(log(1+sin(x)^2)); mean(sin(2*x)/(3-cos(2*x))); mean(x)", P, R, 6),
    ("mean(log(2+cos(x))); mean(cos(x)); mean(sin(x))", P, R, 4),
    ("mean(1/(2+cos(x))); mean(1/(2+cos(sqrt(2)*x)))", P, R, 8),
    ("mean(1/(1+1/(1+tan(x)^2))); mean(cos(x)^2/(1+cos(x)^2))", R, P, None),
    ("mean(log(2+sin(x))); mean(x)", P, R, 4),
    ("mean(tan(x^2)); mean(sin(2*x^2)/(1+cos(2*x^2)))", R, P, None),
    ("mean(log(tan(x/2))); mean(log(sin(x))); mean(log(1+cos(x)))", R, P, None),
    ("mean(x); mean(log(2+cos(x-mean(x))))", P, P, None),
]


@pytest.mark.parametrize(("texts", "independent", "involutive", "n0"), [
    pytest.param(*row, id=row[0], marks=[] if k % 2 else [pytest.mark.slow]) for k, row in enumerate(DECIDED)])
def test_the_answer_holds_for_every_size(texts: str, independent: Status, involutive: Status, n0: int | None) -> None:
    verdict = check_frobenius(FeatureSet.parse(*texts.split("; ")), budget=20)
    c1 = verdict.independence
    assert c1 is not None and (c1.status, verdict.status) == (independent, involutive), str(verdict)
    assert verdict.scope.startswith("for every N") and c1.scope.startswith("for every N")
    assert verdict.n0 is None if n0 is None else verdict.n0 is not None and verdict.n0 <= n0
    assert verdict.verify()


def test_an_exponential_of_another_kind_beside_a_denominator() -> None:
    c = x - Mean(x)
    verdict = check_frobenius([Mean(x), Mean(log(cosh(c))), Mean(exp(-(c**2) / 2))])
    assert verdict.status is Status.REFUTED and verdict.verify() and verdict.n0 is not None, str(verdict)
