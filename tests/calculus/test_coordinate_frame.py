"""Frames in explicit coordinates, against plain SymPy."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
import sympy as sp
from sympy import exp, sin, sqrt

from symdecouple import VectorField, coordinates, lie_bracket
from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.subject import Subject
from symdecouple.language.budget import Budget

x1, x2, x3 = coordinates(3)


def components(frame: CoordinateFrame, form: Any, factor: Any = None) -> list[sp.Expr]:
    scale = 1 if factor is None else frame.coefficients.decode(factor)
    return [scale * frame.coefficients.decode(form[s]) if s in form else sp.S(0) for s in frame.coordinates]


@pytest.mark.parametrize(
    "items",
    [
        [x1**2 + x2 * x3, x1 / (1 + x2**2)], [exp(x1) * x2, sin(x3) + x1], [sqrt(1 + x1**2 + x2**2), x3 * x1],
        [VectorField([1, 0, 0], [x1, x2, x3]), VectorField([0, 1, x1], [x1, x2, x3])],
    ],
    ids=str,
)
def test_fields_and_brackets(items: list[Any]) -> None:
    subject = Subject.of(items)
    frame = CoordinateFrame(subject, Budget())
    assert frame.size == 2 and frame.basis(frame.forms) == [x1, x2, x3]
    fields = [i if isinstance(i, VectorField) else i.gradient for i in subject.items]
    for field, form, factor in zip(fields, frame.forms, frame.factors, strict=True):
        found = components(frame, form, factor)
        assert all(sp.simplify(a - b) == 0 for a, b in zip(found, field.components, strict=True))
    scaled = [VectorField(components(frame, form), [x1, x2, x3]) for form in frame.forms]
    for i, j in combinations(range(2), 2):
        expected = lie_bracket(scaled[i], scaled[j]).components
        assert all(
            sp.simplify(a - b) == 0 for a, b in zip(components(frame, frame.bracket(i, j)), expected, strict=True)
        )


def test_a_vanishing_field_has_an_empty_form() -> None:
    frame = CoordinateFrame(
        Subject.of([VectorField([0, 0], coordinates(2)), VectorField([1, 0], coordinates(2))]), Budget()
    )
    assert frame.forms[0] == {} and frame.bracket(0, 1) == {}
