r"""The growth of iterated brackets at one point, where ranks may be lower than at generic ones.

.. math:: n_k(p) = \dim \{[v_{i_1}, [v_{i_2}, \dots v_{i_l}]](p) : l \le k\}

All brackets of k fields count here, not only those that are new at generic points: v_1 = d/dx and v_2 = d/dy + x^2 d/dz
grow by (2, 3) at generic points, and by (2, 2, 3) where x = 0. For analytic fields the last number is the dimension of
the orbit through p (Hermann, Nagano).

It is known to be the last where it is the generic rank, or where the closure is spanned by its fields near p: where
no structure function has a pole at p, and then it is the rank of these at p.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from sympy import Expr, S, Symbol, nan, oo, zoo

from symdecouple.calculus.bracket import as_field
from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.elementary import World
from symdecouple.calculus.frame import Form
from symdecouple.calculus.span import independent_rows
from symdecouple.calculus.subject import Subject
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.mean import exact

__all__ = ["PointGrowth", "point_growth"]

STEPS = 24
"""Brackets of so many fields are looked at, where the generic rank is not reached before."""


class PointGrowth(NamedTuple):
    """The growth vector at a point.

    Attributes
    ----------
    growth : tuple of int
    rank : int or None
        The dimension of the orbit; None where brackets of more fields may add to it.
    """

    growth: tuple[int, ...]
    rank: int | None


def point_growth(subject: Subject, point: Any, fields: Sequence[Any], nonvanishing: Iterable[Expr],
                 is_closed: bool, clock: Budget) -> PointGrowth:
    """Return the growth of the fields of a subject in coordinates at a point.

    Parameters
    ----------
    subject : Subject
    point : mapping or sequence
        Coordinate to value, or one value for each.
    fields : sequence of VectorField
        Of the closure at generic points.
    nonvanishing : iterable of Expr
        Where these do not vanish the fields span the closure.
    is_closed : bool
        That they do, and not only that there are as many of them as coordinates.
    """
    values = _values(subject, point)
    frame = CoordinateFrame(subject, clock)
    frame.forms = [{q: c * p for q, c in form.items()} for form, p in zip(frame.forms, frame.factors, strict=True)]
    frame.factors = [frame.coefficients.field.one for _ in frame.forms]
    columns = [_column(as_field(item).components, values, f"field {k}") for k, item in enumerate(subject.items, 1)]
    last = len(fields)
    if is_closed and all(_at(d, values).is_zero is False for d in nonvanishing):
        last = _rank([_column(field.components, values, "a field of the closure") for field in fields])
    given, known, growth = len(columns), _Combinations(), []
    words = [form for form in frame.forms if known.adds(form)]
    for _ in range(STEPS):
        growth.append(_rank(columns))
        if growth[-1] >= last:
            return PointGrowth(tuple(growth), growth[-1])
        words = [form for form in _brackets(frame, given, words, clock) if known.adds(form)]
        if not words:  # the Lie algebra has a finite dimension, and all of it was looked at
            return PointGrowth(tuple(growth[: growth.index(growth[-1]) + 1]), growth[-1])
        columns += [_column([frame.coefficients.decode(form[q]) if q in form else S.Zero for q in subject.coordinates],
                            values, "a bracket") for form in words]
    return PointGrowth(tuple(growth), None)


class _Combinations:
    """Fields up to combinations with constant weights: brackets of these are combinations of brackets."""

    def __init__(self) -> None:
        self._pivots: dict[Any, dict[Any, Any]] = {}

    def adds(self, form: Form) -> bool:
        """Take a field; False where it is a combination of earlier ones."""
        row = {(q, c.denom, monomial): value for q, c in form.items() for monomial, value in c.numer.iterterms()}
        for key, other in self._pivots.items():
            if factor := row.get(key):
                row = {k: value for k in {*row, *other} if (value := row.get(k, 0) - factor * other.get(k, 0))}
        if row:
            key = next(iter(row))
            self._pivots[key] = {k: value / row[key] for k, value in row.items()}
        return bool(row)


def _brackets(frame: CoordinateFrame, given: int, words: Sequence[Form], clock: Budget) -> list[Form]:
    """Return the brackets of given fields with others, which are not kept in the frame."""
    out = []
    for word in words:
        frame.append(word)
        for i in range(given):
            clock.check("iterated Lie brackets at a point")
            out.append(frame.bracket(i, frame.size - 1))
        frame.forms.pop()
        frame.factors.pop()
    return out


def _values(subject: Subject, point: Any) -> dict[Symbol, Expr]:
    """Return what to put in the place of each coordinate."""
    names = {str(q): q for q in subject.coordinates}
    if isinstance(point, Mapping):
        values = {names.get(str(q), q): exact(v, f"the value of {q}") for q, v in point.items()}
    else:
        given = [exact(v, "a point") for v in point]
        values = dict(zip(subject.coordinates, given, strict=False))
        if len(given) != len(values):
            values = {}
    if set(values) != set(subject.coordinates):
        raise InvalidInput(f"a point has a value for each of the coordinates {subject.coordinates}, got {point}")
    if subject.symbols:
        raise InvalidInput(f"{', '.join(map(str, subject.symbols))} have no values: bind parameters before a point is "
                           "asked about, field.bind({...})")
    return values


def _at(expr: Expr, values: Mapping[Symbol, Expr]) -> Expr:
    return expr.subs(values) if expr.free_symbols else expr


def _column(components: Sequence[Any], values: Mapping[Symbol, Expr], what: str) -> list[Fraction]:
    """Return the value of a field at a point."""
    out = []
    for component in components:
        value = _at(component, values)
        if value.has(nan, zoo, oo, -oo) or value.is_extended_real is False:
            raise InvalidInput(f"{what} is not defined at {_written(values)}: its component {component} is {value} "
                               "there")
        if not value.is_Rational:
            raise UnsupportedExpression(f"{what} has the component {value} at {_written(values)}, and ranks at a point "
                                        "are decided for rational ones: angles are multiples of pi/2, say")
        out.append(Fraction(int(value.p), int(value.q)))
    return out


def _written(values: Mapping[Symbol, Expr]) -> str:
    return ", ".join(f"{q} = {v}" for q, v in values.items())


def _rank(columns: Iterable[list[Fraction]]) -> int:
    kept: list[list[Fraction]] = []
    for column in columns:
        if independent_rows([*kept, column], World()) is not None:
            kept.append(column)
    return len(kept)
