"""The variable in which functions of the sample are written: fields against the public ones, answers, and N0."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import mpmath
import pytest
from sympy import Expr, Rational, atan, cosh, exp, lambdify, log, sqrt, tanh

from symdecouple import Feature, Mean, Status, check_frobenius, coordinates, kurtosis, lie_bracket, variance, x
from symdecouple.calculus.bracket import as_field
from symdecouple.calculus.frame import Frame
from symdecouple.calculus.sample_chart import Centred, chart_of
from symdecouple.language.budget import Budget

m, v = Mean(x), variance()
z = (x - m) / sqrt(Mean((x - m) ** 2))

SETS: dict[str, tuple[list[Expr], bool]] = {
    "log cosh": ([m, v, Mean(log(cosh(z)))], True),
    "two of the standardized sample": ([m, v, Mean(log(cosh(z))), Mean(z**3)], False),
    "second moment": ([Mean(x**2), v, Mean(z * tanh(z))], True),
    "functions of both": ([m, v, m * Mean(exp(-(z**2) / 2)) + v], True), "centred": ([m, Mean(log(cosh(x - m)))], True),
    "centred, with the variance": ([m, v, Mean(atan(x - m) ** 2)], False),
    "its own scale": ([m, v, Mean(log(cosh((x - m) / Mean((x - m) ** 4) ** Rational(1, 4))))], True),
}
"""Sets whose averages nest, and whether C2 holds (Theorem D; else by the witness)."""


def chart(features: list[Expr]) -> Any:
    return chart_of([Feature(f).expr for f in features], x)


QUICK = ("log cosh", "two of the standardized sample", "centred", "centred, with the variance")


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in SETS])
def test_the_answer(name: str) -> None:
    features, holds = SETS[name]
    verdict = check_frobenius(features)
    assert isinstance(chart(features), Centred)
    assert verdict.status is (Status.PROVED if holds else Status.REFUTED), str(verdict)
    assert verdict.verify() and verdict.n_samples is None and (holds or verdict.n0 is not None)


@pytest.mark.parametrize("name", ["centred", *(pytest.param(name, marks=pytest.mark.slow) for name in (
    "log cosh", "functions of both"))])
def test_fields_and_brackets_against_the_public_ones_in_numbers(name: str) -> None:
    features = [Feature(f) for f in SETS[name][0]]
    frame, size = Frame(features, Budget()), 5
    points = dict(zip(coordinates(size), map(Rational, ("0.3", "-1.2", "2.1", "0.9", "-0.4")), strict=True))

    def numbers(field: Any) -> list[Any]:
        with mpmath.workdps(40):
            return [lambdify([], c.xreplace(points), "mpmath")()
                    for c in field.at(n_samples=size).components]

    def opened(form: Any, factor: Any) -> Any:
        total = sum(frame.opened(frame.coefficients.decode(c * factor) * psi) for psi, c in form.items())
        return as_field(type(features[0].gradient)(total))

    for feature, form, factor in zip(features, frame.forms, frame.factors, strict=True):
        close = zip(numbers(opened(form, factor)), numbers(feature.gradient), strict=True)
        assert all(abs(a - b) < 1e-25 * (1 + abs(b)) for a, b in close)
    one = frame.coefficients.field.one
    fields = [opened(form, one) for form in frame.forms]
    for i, j in list(combinations(range(len(features)), 2))[-2:]:
        pair = zip(numbers(opened(frame.bracket(i, j), one)), numbers(lie_bracket(fields[i], fields[j])), strict=True)
        assert all(abs(a - b) < 1e-25 * (1 + abs(b)) for a, b in pair)


def test_averages_that_do_not_nest_are_written_in_the_sample_itself() -> None:
    for features in ([m, v, kurtosis()], [m, Mean((x - m) ** 3)], [m, Mean(exp(x))]):
        assert not isinstance(chart(features), Centred)


def test_two_conditions_count() -> None:
    """Third central moments vanish at N = 2: what is independent in one variable needs more samples."""
    features = [m, v, Mean(tanh(z))]
    frame = Frame([Feature(f) for f in features], Budget())
    statistics = len(frame.statistics(frame.forms))
    assert frame.least_size(frame.forms, 2) == max(len(frame.basis(frame.forms)), statistics) + 2
