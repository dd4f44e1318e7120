"""A set of features at given values of its parameters, or at one sample size, also where it is no feature set there.

A feature may become constant, and two may become the same. Their gradient fields, zero or equal, are as good a subject
of C1 and C2: then C1 is refuted by an exact relation, and C2 is decided for the span of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sympy import Expr, I, Symbol, nan, oo, zoo

from symdecouple.calculus.common_zeros import Values, square_root_form
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.subject import Subject, without_gains
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.binding import bind, name_of, named_in
from symdecouple.language.feature import Feature
from symdecouple.language.filtered import DcGain
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Coordinate
from symdecouple.verdict import Status, Verdict

__all__ = ["Unsolved", "at_values", "specialized"]


class Unsolved(UnsupportedExpression):
    """An equation between parameters that has no solution in square roots."""


def specialized(subject: Subject, values: Mapping[Any, Any]) -> Subject:
    """Return the subject with parameters bound, as gradient fields where these are no distinct features any more.

    Raises
    ------
    InvalidInput
        If a name does not occur, or a value is none that the parameter can have.
    UnsupportedExpression
        If a feature or field is not defined at these values.
    """
    values = without_gains(_solved(subject, values))
    try:
        special = subject.bind(values)
    except InvalidInput:
        if not _occur(subject, values):
            raise
        special = Subject(tuple(_field(subject, item, values) for item in subject.items))
    for item, declared in zip(special.items, subject.items, strict=not subject.forms):
        for expr in item.components if isinstance(item, VectorField) else (item.expr,):
            _check_defined(expr, subject, declared)
    return special


def at_values(subject: Subject, values: Mapping[Any, Any], question: str,
              decide: Callable[[Subject], Verdict]) -> Verdict:
    """Decide the subject at some values of its parameters; UNDECIDED, with the reason, where it is not defined."""
    try:
        special = specialized(subject, values)
    except UnsupportedExpression as error:
        where = ", ".join(f"{key} = {value}" for key, value in values.items())
        return Verdict(question, Status.UNDECIDED, subject.texts(), reason=f"at {where}: {error}")
    return decide(special)


def _field(subject: Subject, item: Any, values: Mapping[Any, Any]) -> VectorField:
    expr = bind(item.expr, values)
    _check_defined(expr, subject, item)
    try:
        return Feature(expr, allow_nonsmooth=item.allow_nonsmooth).gradient
    except InvalidInput:
        if expr.atoms(Mean, Coordinate):
            raise
        return subject.zero_field


def _check_defined(expr: Expr, subject: Subject, item: Any) -> None:
    name = f"{'field' if isinstance(item, VectorField) else 'feature'} {subject.items.index(item) + 1}"
    if expr.has(nan, zoo, oo, -oo):
        raise UnsupportedExpression(f"{name} is not defined")
    if expr.has(I):
        raise InvalidInput(f"{name} is not real with these values of the parameters: {expr}")


def _occur(subject: Subject, values: Mapping[Any, Any]) -> bool:
    names = {name_of(p) for item in subject.items if isinstance(item, Feature) for p in named_in(item.expr)}
    return all(name_of(key) in names for key in values)


def _solved(subject: Subject, values: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Put solutions in the place of equations, {polynomial: 0}."""
    out: dict[Any, Any] = {}
    for key, value in values.items():
        if isinstance(key, DcGain) or not isinstance(key, Expr) or isinstance(key, Symbol) or key.is_Function:
            out[key] = value
            continue
        symbols = [s for s in subject.symbols if key.has(s)]
        solution: Values | None = (square_root_form(key, symbols) if value == 0 and symbols
                                   and key.is_polynomial(*symbols) else None)
        if solution is None:
            raise Unsolved(f"{key} = {value} is not solved for a parameter: give values that fulfil it")
        out |= solution
    return out
