r"""The flag of iterated brackets of some fields, step by step, until it is involutive.

.. math::

    D^1 = \mathrm{span}\{v_1, \dots, v_M\}, \qquad D^{k+1} = D^k + [D^1, D^k], \qquad
    [v_i, w_j] = \sum_{l < k} c^l w_l + c^k w_k \quad (c^k \neq 0)

Each new field w_k is a bracket up to a function and up to fields that were there before, which changes no D^k; so it is
kept without common factors, and without components along fields of one component. If D^{k+1} = D^k, this is involutive
(Jacobi), and it is the smallest involutive distribution that contains the fields: their closure.

Ranks are generic ones. The numbers dim D^1, dim D^2, ... are the growth vector.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

from sympy import Add, Expr

from symdecouple.calculus.bracket import as_field
from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frame import Form, recent_frame
from symdecouple.calculus.membership import Membership, expression
from symdecouple.calculus.span import Snapshot, modular_pivots
from symdecouple.calculus.subject import Subject
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.budget import Budget

__all__ = ["BracketGrowth", "frame_of"]

Pair = tuple[int, int]

FACTORED = 12
"""Terms of a component up to which it is shown factored: 66 terms, of a car with three trailers, take a second."""


def frame_of(subject: Subject, clock: Budget) -> Any:
    """Return the exact form of the fields of a subject, in coordinates or in the sample."""
    return CoordinateFrame(subject, clock) if subject.coordinates else recent_frame(subject.framed, clock)


class BracketGrowth:
    """Independent fields that span D^1, D^2, ...: those given, then one bracket each.

    Attributes
    ----------
    starts : tuple of int
        Which of the given items are kept, counted from 1: the others are combinations of these, by `relations`.
    fields : list of VectorField
    depths : list of int
        Of each field: how many given fields its bracket is made of.
    parents : dict
        Of each field that is a bracket [v_i, w_j]: (i, j), counted from 1.
    """

    def __init__(self, subject: Subject, clock: Budget, rng: random.Random) -> None:
        self.clock, self.rng = clock, rng
        member = Membership(frame_of(subject, clock), clock, rng)
        self.starts = tuple(k + 1 for k in member.pivots)
        self.relations: dict[int, tuple[Expr, ...]] = {}
        for k in range(len(subject)):
            if k not in member.pivots:
                relation = member.relation(k)
                if relation is None:
                    raise UnsupportedExpression(f"{subject.noun[:-1]} {k + 1} looks like a combination of the others, "
                                                "but the relation could not be proved")
                self.relations[k + 1] = subject.shown(relation)
        self.fields: list[VectorField] = [as_field(subject.framed[k]) for k in member.pivots]
        self.depths = [1] * len(self.fields)
        self.parents: dict[int, Pair] = {}
        self.coordinates, self._symbols = subject.coordinates, subject.symbols
        self._allowed = frozenset[str]().union(*(field.allow_nonsmooth for field in self.fields))
        self._known: dict[Pair, dict[int, Any]] = {}
        self._renew()

    @property
    def found(self) -> Subject:
        """The fields as a subject."""
        return Subject(tuple(self.fields))

    @property
    def is_everything(self) -> bool:
        """True iff there are as many fields as coordinates."""
        return bool(self.coordinates) and len(self.fields) == len(self.coordinates)

    @property
    def growth(self) -> tuple[int, ...]:
        """The dimensions of D^1, D^2, ..."""
        return tuple(sum(d <= depth for d in self.depths) for depth in range(1, max(self.depths, default=0) + 1))

    def grow(self) -> bool:
        """Add what the brackets of the given fields with the last ones add; False where that is nothing."""
        if not self.fields or self.is_everything:
            return False
        last, frame = self.depths[-1], self.frame
        made: list[tuple[Pair, Form, dict[int, Any]]] = []
        for i in range(len(self.starts)):
            for j in range(i + 1, len(self.fields)):
                if self.depths[j] == last:
                    self.clock.check("iterated Lie brackets")
                    form, weights = self._without_units(frame.bracket(i, j))
                    if form:
                        made.append(((i, j), form, weights))
        forms = [*frame.forms, *(form for _, form, _ in made)]
        pivots, _ = modular_pivots(self._snapshot.columns(forms, frame.basis(forms)))
        new = [made[k - frame.size] for k in pivots if k >= frame.size]
        for pair, form, weights in new:
            self._take(pair, form, weights, last + 1)
        if new and not self.coordinates:
            self._renew()
        return bool(new)

    def structure(self, missing: int) -> dict[Pair, tuple[Expr, ...]] | None:
        """Return the structure functions of the pairs (i, j), from 1, of given fields and fields; None if not proved.

        Brackets with fields of the last so many steps are left out unless they are fields.
        """
        out = {}
        member = Membership(self.frame, self.clock, self.rng)
        if len(member.pivots) < len(self.fields):
            raise UnsupportedExpression("the fields are dependent at a random point")
        for i in range(len(self.starts)):
            for j in range(i + 1, len(self.fields)):
                self.clock.check("structure functions of the closure")
                is_parent = (i + 1, j + 1) in self.parents.values()
                if not is_parent and self.depths[j] > self.depths[-1] - missing:
                    continue
                member.pivots = [k for k, depth in enumerate(self.depths) if depth <= self.depths[j] + 1]
                weights = self._known.get((i, j))
                row = member.structure(i, j) if weights is None else member.of_fields(i, j, weights)
                if row is None:
                    return None
                out[i + 1, j + 1] = row
        return out

    def pure_functions(self) -> Iterator[Expr]:
        """Yield functions of the sample alone, without averages, that are fields of the span."""
        if not self.coordinates:
            yield from self._pure_fields()
            yield from self._pure_rows()

    def weights_of(self, functions: Sequence[Expr]) -> tuple[tuple[Expr, ...], ...] | None:
        """Return some functions as combinations of the fields; None where that is not proved."""
        out = []
        size = len(self.fields)
        for a in functions:
            frame = recent_frame((*self.fields, VectorField(a)), self.clock)
            relation = Membership(frame, self.clock, self.rng).relation(size)
            if relation is None:
                return None
            out.append(tuple(-c for c in relation[:size]))
        return tuple(out)

    def _pure_fields(self) -> list[Expr]:
        frame = recent_frame(tuple(self.fields), self.clock, declared=True)
        return [_function(frame, form) for form in frame.forms if _is_pure(frame, form)]

    def _pure_rows(self) -> Iterator[Expr]:
        """Yield the pure ones of the fields solved for some basis functions: all, where pure ones span the span."""
        frame = recent_frame(tuple(self.fields), self.clock, declared=True)
        member = Membership(frame, self.clock, self.rng)
        rows = member.rows(frame.basis(frame.forms))
        solved = filter(None, (member.solved_for(row, rows) for row in rows))
        yield from (_function(frame, form) for form in solved if _is_pure(frame, form))

    def _renew(self) -> None:
        """Write the fields in a frame of their own."""
        if self.fields:
            self.frame: Any = frame_of(self.found, self.clock)
            self._parameters = [k for k, g in enumerate(self.frame.coefficients.generators) if g in self._symbols]
            self._snapshot = Snapshot(self.frame.coefficients, self.rng)

    def _without_units(self, form: Form) -> tuple[Form, dict[int, Any]]:
        """Leave out components along fields of one component, and a common factor; say what was left out."""
        if not self.coordinates or not form:
            return form, {}
        weights: dict[int, Any] = {}
        for k, own in enumerate(self.frame.forms):
            if len(own) == 1:
                (q, c), = own.items()
                if q in form:
                    weights[k] = form[q] / c
                    form = {p: a for p, a in form.items() if p != q}
        if not form:
            return form, weights
        coefficients = self.frame.coefficients
        factor, numerators = coefficients.common(list(form.values()))
        kept = self._of_parameters(factor.numer)  # at whose zeros the bracket vanishes, which is to be seen
        weights[-1] = factor / kept
        return {q: coefficients.field(n) * kept for q, n in zip(form, numerators, strict=True)}, weights

    def _of_parameters(self, polynomial: Any) -> Any:
        """Return the factor of a polynomial in which only parameters occur."""
        if not self._parameters:
            return self.frame.coefficients.field.one
        parts: dict[tuple[int, ...], Any] = {}
        for monomial, c in polynomial.iterterms():
            key = tuple(0 if k in self._parameters else power for k, power in enumerate(monomial))
            own = tuple(power if k in self._parameters else 0 for k, power in enumerate(monomial))
            parts[key] = parts.get(key, polynomial.ring.zero) + polynomial.ring.term_new(own, c)
        common = reduce(lambda a, b: a.gcd(b), parts.values())
        return self.frame.coefficients.field(common.monic())

    def _take(self, pair: Pair, form: Form, weights: dict[int, Any], depth: int) -> None:
        frame, number = self.frame, len(self.fields)
        if self.coordinates:
            components = [_component(frame, form[q]) if q in form else 0 for q in self.coordinates]
            self.fields.append(VectorField(components, self.coordinates, allow_nonsmooth=self._allowed))
            self._known[pair] = {number if k == -1 else k: c for k, c in weights.items()}
            frame.append(form)
        else:
            terms = (expression(frame, c) * frame.opened(psi) for psi, c in form.items())
            self.fields.append(VectorField(Add(*terms), allow_nonsmooth=self._allowed))
        self.depths.append(depth)
        self.parents[number + 1] = (pair[0] + 1, pair[1] + 1)


def _component(frame: Any, element: Any) -> Expr:
    return expression(frame, element) if len(element.numer) <= FACTORED else frame.coefficients.decode(element)


def _is_pure(frame: Any, form: Form) -> bool:
    """True iff no average occurs: the coefficients are numbers or parameters."""
    return not frame.statistics([form])


def _function(frame: Any, form: Form) -> Expr:
    return Add(*(frame.coefficients.decode(c) * psi for psi, c in form.items()))
