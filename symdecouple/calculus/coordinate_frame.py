r"""Fields in explicit coordinates, in the same exact form as a `Frame`: basis functions are the coordinate directions.

.. math:: v_i = p_i w_i, \qquad w_i = \sum_n W_{ni}(x)\, \partial/\partial x_n, \qquad D_u w = \sum_n (D_u W_n)\,
    \partial/\partial x_n

The coefficients are rational functions of the coordinates and of whatever roots and functions of them occur.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Expr, Symbol
from sympy.polys.fields import FracElement

from symdecouple.calculus.bracket import as_field
from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.frame import ExactFields, Form
from symdecouple.calculus.subject import Subject
from symdecouple.language.budget import Budget

__all__ = ["CoordinateFrame"]


class CoordinateFrame(ExactFields):
    """The fields of a subject in explicit coordinates."""

    def __init__(self, subject: Subject, budget: Budget) -> None:
        fields = [as_field(item) for item in subject.framed]
        self.budget = budget
        self.coordinates: tuple[Symbol, ...] = fields[0].coordinates
        self.coefficients = CoefficientField([*(c for f in fields for c in f.components), *self.coordinates])
        self._take(dict(zip(self.coordinates, field.components, strict=True)) for field in fields)

    def append(self, form: Form) -> None:
        """Add a field, such as a bracket of those that are there."""
        self.forms.append(form)
        self.factors.append(self.coefficients.field.one)

    def derivative(self, i: int, element: FracElement) -> FracElement:
        """Return the derivative of a coefficient along w_i."""
        return self.coefficients.differential(element, {**self._zeros(), **self.forms[i]})

    def basis(self, forms: Iterable[Form]) -> list[Expr]:
        """Return the coordinate directions, in order."""
        return list(self.coordinates)

    def _derivative(self, i: int, form: Form) -> Form:
        out: Form = {}
        for s, c in form.items():
            self.budget.check("a Lie bracket in coordinates")
            value = self.derivative(i, c)
            if value != 0:
                out[s] = value
        return out

    def _zeros(self) -> dict[Symbol, FracElement]:
        return dict.fromkeys(self.coordinates, self.coefficients.field.zero)
