"""Frames: fields and brackets in a basis of functions of the sample, against public brackets."""

from __future__ import annotations

from itertools import combinations

import pytest
import sympy as sp
from sympy import Add, Symbol

from symdecouple import Feature, InvalidInput, Mean, UnsupportedExpression, VectorField, lie_bracket, sample, shift, x
from symdecouple.calculus.bracket import as_field
from symdecouple.calculus.frame import Form, Frame, combination, difference
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import close
from tests.laws.examples import SETS


def expression(frame: Frame, form: Form) -> sp.Expr:
    return Add(*(frame.opened(frame.coefficients.decode(c) * psi) for psi, c in form.items()))


@pytest.mark.parametrize("name", SETS)
def test_the_fields_are_the_gradients_up_to_their_factors(name: str) -> None:
    items = [Feature(f) for f in SETS[name][0]]
    frame = Frame(items, Budget())
    for item, form, factor in zip(items, frame.forms, frame.factors, strict=True):
        found = frame.opened(frame.coefficients.decode(factor)) * expression(frame, form)
        assert sp.simplify(close(found - item.gradient.expr, frame.chart.declared)) == 0
        assert len(form) >= 1 and frame.statistics([form]) is not None


@pytest.mark.parametrize("name", [n for n in SETS if n not in ("standardized",)])
def test_brackets_against_the_public_ones(name: str) -> None:
    fields = [as_field(Feature(f)) for f in SETS[name][0]]
    frame = Frame(fields, Budget())
    scaled = [VectorField(expression(frame, form)) for form in frame.forms]
    for i, j in combinations(range(frame.size), 2):
        expected = lie_bracket(scaled[i], scaled[j]).expr
        sample_of = frame.chart.declared
        found = expression(frame, frame.bracket(i, j))
        assert sp.simplify(close(found - expected, sample_of)) == 0


def test_combinations_and_differences() -> None:
    frame = Frame([VectorField(x + 1), VectorField(x**2)], Budget())
    one, two = frame.forms
    total = combination([one, two], [frame.coefficients.encode(sp.S(2)), frame.coefficients.encode(sp.S(-1))])
    assert sp.expand(expression(frame, total) - 2 * x - 2 + x**2) == 0
    assert difference(total, total) == {} and frame.basis([one, two]) == [sp.S(1), x, x**2]


def test_filters_and_mixed_domains_have_no_frame() -> None:
    with pytest.raises(UnsupportedExpression, match="neighbouring samples"):
        Frame([Feature(Mean(x * shift(1)(x)))], Budget())
    with pytest.raises(InvalidInput, match="different domains"):
        Frame([VectorField(x), VectorField(sample(positive=True))], Budget())


def test_parameters_are_coefficients() -> None:
    a = Symbol("a")
    frame = Frame([Feature(Mean(x**2 + a * x**3))], Budget())
    assert set(frame.forms[0]) == {x, x**2} and sp.expand(expression(frame, frame.forms[0])).has(a)
