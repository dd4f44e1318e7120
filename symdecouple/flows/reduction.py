r"""One variable less for each integral that is known: on h = C it is a function of the others and of the constant C.

.. math:: h = h_1 e + h_0 = C, \quad e = q \text{ or } e^q \;\Rightarrow\; e = \frac{C - h_0}{h_1}

where h_0 and h_1 do not contain q. What is constant along the fields that are left, C being a parameter, is so along
those that were given, C being h.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sympy import Dummy, Expr, Symbol, atan, exp, log

from symdecouple.calculus.field import VectorField
from symdecouple.language.budget import check
from symdecouple.language.gate import cancel, together

__all__ = ["Reduced", "reductions"]

LONGEST = 30
"""Operations of what takes the place of a variable."""
MANY = 3
"""Reductions that are tried."""


class Reduced(NamedTuple):
    """Fields in one coordinate less, and the integral that their constant stands for."""

    fields: tuple[VectorField, ...]
    constant: Symbol
    integral: Expr


def reductions(fields: Sequence[VectorField], integrals: Sequence[Expr]) -> Iterator[Reduced]:
    """Yield fields in one coordinate less, those with the shortest substitutions first."""
    coordinates = fields[0].coordinates
    found: list[tuple[int, int, Expr, Symbol, Symbol, Expr]] = []
    for h in integrals:
        constant = Dummy("C", real=True)
        for q in coordinates:
            check()
            value = None if h.has(atan, log) else _solved(h, constant, q)
            if value is not None and value.count_ops() <= LONGEST and any(
                    q in c.free_symbols for v in fields for c in v.components):
                found.append((value.count_ops(), len(found), h, constant, q, value))
    for _, _, h, constant, q, value in sorted(found)[:MANY]:
        left = tuple(p for p in coordinates if p != q)
        kept = [_without(v, q, value, left) for v in fields]
        if len(left) > len(fields) - 1:
            yield Reduced(tuple(kept), constant, h)


def _solved(h: Expr, constant: Symbol, q: Symbol) -> Expr | None:
    """Return q as a function of the others and of the constant; None where h is not linear in q or exp(q)."""
    unknown = Dummy("e", positive=True)
    for name, given in ((q, h), (unknown, h.xreplace({exp(q): unknown, exp(-q): 1 / unknown}))):
        if not given.has(name) or (name is unknown and given.has(q)):
            continue
        top = together(given - constant).as_numer_denom()[0]
        slope = top.expand().diff(name)
        if slope != 0 and not slope.has(name):
            value = cancel(-top.expand().subs(name, 0) / slope)
            return value if name == q else log(value)
    return None


def _without(field: VectorField, q: Symbol, value: Expr, left: tuple[Symbol, ...]) -> VectorField:
    components = [c.subs(q, value) for p, c in zip(field.coordinates, field.components, strict=True) if p != q]
    return VectorField([cancel(c) for c in components], left, allow_nonsmooth=field.allow_nonsmooth)
