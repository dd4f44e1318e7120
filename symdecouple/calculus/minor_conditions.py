r"""Conditions on the parameters under which minors of fields vanish.

The fields v_1, ..., v_M have the coefficients W over QQ(parameters)(statistics or coordinates). Where an M-minor of W
does not vanish at parameters a, as a function of everything else, the fields stay independent at a; where an
(M+1)-minor of [W, bracket] does not vanish either, the bracket stays outside of the span. So the exceptional
parameters are among the common zeros of such minors, and those where a coefficient is not defined.

Everything but the parameters is given random numbers first: a minor that vanishes identically vanishes there too, so
that no zero is lost, and determinants are of polynomials in the parameters alone. Roots t stay, and are reduced by
t^q = R.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from math import comb
from typing import Any

from sympy import QQ, Expr, Symbol
from sympy.polys.domains import PolynomialRing
from sympy.polys.matrices import DomainMatrix
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyElement, PolyRing

from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.frame import Form
from symdecouple.calculus.membership import Membership
from symdecouple.calculus.span import modular_pivots
from symdecouple.errors import BudgetExceeded
from symdecouple.language.budget import Budget

__all__ = ["OpenCoefficients", "coefficient_conditions", "minor_conditions"]

BORDERS = 10
"""(M+1)-minors looked at: each more removes candidates that are none, and costs a determinant."""
WORK = 5000
"""Terms that a determinant can have, times its entries: dense random ones beyond this take more than a second."""
SPREAD = 50


class OpenCoefficients:
    """Coefficients as polynomials in the parameters (and in roots), everything else being random numbers."""

    def __init__(self, coefficients: CoefficientField, symbols: Sequence[Symbol], rng: random.Random) -> None:
        self.coefficients = coefficients
        named = {**coefficients.functions, **{t: radicand for t, (radicand, _) in coefficients.roots.items()}}
        outer_first = [coefficients.generators[index] for index, _, _ in reversed(coefficients.relations)]
        constants = [g for g in coefficients.generators if g in symbols or (
            g in named and not named[g].free_symbols - set(symbols))]
        self.roots = [g for g in outer_first if g not in constants]
        self.kept = [*outer_first, *(g for g in constants if g not in outer_first)]
        self.ring = PolyRing(self.kept, QQ, lex)
        self._place = {coefficients.generators.index(g): self.kept.index(g) for g in self.kept}
        self._values = [QQ(rng.randint(2, SPREAD)) for _ in coefficients.generators]
        self.relations = []
        for index, q, radicand in reversed(coefficients.relations):
            numerator, denominator = self.at(radicand)
            if not denominator.is_ground:
                raise BudgetExceeded("a root whose radicand has parameters in its denominator")
            self.relations.append(self.ring.gens[self._place[index]] ** q - numerator.quo_ground(denominator.LC))

    def at(self, element: Any) -> tuple[PolyElement, PolyElement]:
        """Return numerator and denominator of a coefficient."""
        return self._opened(element.numer), self._opened(element.denom)

    def conditions(self, polynomial: PolyElement) -> list[Expr]:
        """Return what must vanish with a polynomial: its coefficients in the roots, as expressions of parameters."""
        reduced = polynomial.rem(self.relations) if self.relations else polynomial
        places = [self.kept.index(g) for g in self.roots]
        parts: dict[tuple[int, ...], PolyElement] = {}
        for monomial, c in reduced.iterterms():
            rest = tuple(0 if k in places else power for k, power in enumerate(monomial))
            key = tuple(monomial[k] for k in places)
            parts[key] = parts.get(key, self.ring.zero) + self.ring.term_new(rest, c)
        return [self.coefficients.uncoded(part.as_expr()) for part in parts.values() if part != 0]

    def _opened(self, polynomial: Any) -> PolyElement:
        total = dict[tuple[int, ...], Any]()
        for monomial, c in polynomial.iterterms():
            kept, weight = [0] * len(self.kept), c
            for index, power in enumerate(monomial):
                if index in self._place:
                    kept[self._place[index]] = power
                elif power:
                    weight = weight * self._values[index] ** power
            total[tuple(kept)] = total.get(tuple(kept), QQ.zero) + weight
        return self.ring.from_dict({monomial: c for monomial, c in total.items() if c})


def coefficient_conditions(frame: Any, symbols: Sequence[Symbol]) -> Iterator[list[Expr]]:
    """Yield, for each field, what must vanish for it to vanish or not to be defined, by its factor alone."""
    coefficients = frame.coefficients
    for form, factor in zip(frame.forms, frame.factors, strict=True):
        for polynomial in (factor.numer, factor.denom, *(c.denom for c in form.values())):
            conditions = in_parameters(coefficients, polynomial, symbols)
            if not any(e.is_number for e in conditions):
                yield conditions


def minor_conditions(member: Membership, pair: tuple[int, int] | None, symbols: Sequence[Symbol], rng: random.Random,
                     budget: Budget) -> Iterator[list[Expr]]:
    """Yield the conditions, each list to hold at once, under which C1 may fail; with a pair (from 0), C2 may hold.

    Raises
    ------
    BudgetExceeded
        If the coefficients are too large for determinants.
    """
    frame = member.frame
    forms = [frame.forms[k] for k in member.pivots]
    basis = frame.basis(forms)
    yield [e for order in (basis, basis[::-1]) for e in _minors(member, forms, order, False, symbols, rng, budget)]
    if pair is not None:
        forms = [*forms, member.bracket(*pair)]
        for c in forms[-1].values():
            conditions = in_parameters(frame.coefficients, c.denom, symbols)
            if not any(e.is_number for e in conditions):
                yield conditions
        yield list(_minors(member, forms, frame.basis(forms), True, symbols, rng, budget))


def in_parameters(coefficients: CoefficientField, polynomial: Any, symbols: Sequence[Symbol]) -> list[Expr]:
    """Return the coefficients, in the parameters, of a polynomial in all generators."""
    inner = [k for k, g in enumerate(coefficients.generators) if g in symbols]
    parts: dict[tuple[int, ...], Any] = {}
    for monomial, c in polynomial.iterterms():
        outer = tuple(0 if k in inner else power for k, power in enumerate(monomial))
        own = tuple(power if k in inner else 0 for k, power in enumerate(monomial))
        parts[outer] = parts.get(outer, polynomial.ring.zero) + polynomial.ring.term_new(own, c)
    return [part.as_expr() for part in parts.values()]


def _minors(member: Membership, forms: Sequence[Form], basis: Sequence[Any], is_bordered: bool,
            symbols: Sequence[Symbol], rng: random.Random, budget: Budget) -> Iterator[Expr]:
    """Yield conditions for all minors on the pivot rows (with one more row, for a bracket) to vanish."""
    fixed = forms[:-1] if is_bordered else forms
    _, rows = modular_pivots(member.snapshot.columns(fixed, basis))
    choices = [[*rows, r] for r in range(len(basis)) if r not in rows][:BORDERS] if is_bordered else [rows]
    opened = OpenCoefficients(member.frame.coefficients, symbols, rng)
    columns = [_column(opened, form, [psi for k, psi in enumerate(basis) if any(k in c for c in choices)])
               for form in forms]
    for choice in choices:
        budget.check("looking for exceptional parameters")
        matrix = [[column.get(basis[r], opened.ring.zero) for column in columns] for r in choice]
        yield from opened.conditions(_determinant(matrix, opened.ring))


def _column(opened: OpenCoefficients, form: Form, rows: Iterable[Any]) -> dict[Any, PolyElement]:
    """Return a form without denominators."""
    entries = {psi: opened.at(form[psi]) for psi in rows if psi in form}
    common = reduce(lambda p, q: p.lcm(q), (d for _, d in entries.values()), opened.ring.one)
    return {psi: n * common.exquo(d) for psi, (n, d) in entries.items()}


def _determinant(matrix: list[list[PolyElement]], ring: PolyRing) -> PolyElement:
    size = len(matrix)
    degree = sum(max(max(map(sum, e.itermonoms()), default=0) for e in row) for row in matrix)
    if comb(degree + ring.ngens, degree) * size**2 > WORK:
        raise BudgetExceeded(f"determinants of {size} fields, of degree {degree} in the parameters")
    return DomainMatrix(matrix, (size, size), PolynomialRing(ring)).det() if size else ring.one
