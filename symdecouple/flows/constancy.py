"""Whether a function is constant along some fields, exactly."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Expr

from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.subject import Subject

__all__ = ["fields_of", "gradients_of", "is_constant_along"]


def is_constant_along(subject: Subject, function: Expr) -> bool:
    """True iff the derivative of a function along every field of a subject is identically zero."""
    slopes = [function.diff(q) for q in subject.coordinates]
    values = [Add(*(c * slope for c, slope in zip(v.components, slopes, strict=True))) for v in fields_of(subject)]
    coefficients = CoefficientField(values)
    return all(map(coefficients.vanishes, values))


def fields_of(subject: Subject) -> list[VectorField]:
    return [item if isinstance(item, VectorField) else item.gradient for item in subject.items]


def gradients_of(functions: Sequence[Expr], subject: Subject) -> Subject:
    """Return the gradients of some functions of the coordinates of a subject."""
    return Subject(tuple(VectorField([h.diff(q) for q in subject.coordinates], subject.coordinates)
                         for h in functions))
