r"""The search for functions that are constant along fields.

.. math:: h = \prod_j p_j^{n_j}\, \exp\Big(\sum_m c_m m\Big) \iff \sum_j n_j D_i \log p_j + \sum_m c_m D_i m = 0

One linear system over the rationals after the other, the larger ones later:

* monomials m (`ansatz`);
* logarithms of Darboux polynomials p_j (`darboux`, `symmetries`), monomials divided by them, and angles (`conics`);
* more Darboux polynomials, whose cofactors are sums of those of known ones;
* integrals of one field at a time, where SymPy integrates (`characteristics`);
* the same on the levels of an integral that was found (`reduction`).

Each proposal is verified by substitution, and kept where its gradient is independent of the others at a random point.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import gcd, lcm
from typing import Any

from sympy import Add, Expr, Integer, Mul, Pow, exp, log

from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.span import Snapshot, modular_pivots
from symdecouple.calculus.subject import Subject
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.flows.ansatz import exponents, from_components, laurent, without_what_is_absent
from symdecouple.flows.characteristics import integrals_of_one_field
from symdecouple.flows.conics import angles_of
from symdecouple.flows.constancy import gradients_of, is_constant_along
from symdecouple.flows.darboux import by_cofactors, darboux_polynomials
from symdecouple.flows.linear_relations import Functions, Term
from symdecouple.flows.reduction import reductions
from symdecouple.language.budget import Budget
from symdecouple.language.failures import sympy_failures
from symdecouple.language.gate import expand, factor

__all__ = ["IntegralSearch"]

SEED = 31
DEGREE = 8
UNKNOWNS = 130
"""Of one linear system: more take longer than a second."""
DIMENSIONS = 7
"""Coordinates up to which angles are candidates, for each pair."""
DEPTH = 3
"""Reductions one inside the other."""
BELOW = 4
"""Darboux polynomials, no generators, that monomials are divided by."""


class IntegralSearch:
    """The functions found so far, independent as formal expressions.

    Parameters
    ----------
    basis : sequence of VectorField
        Of the closure, or of as much of it as is known.
    given : Subject
        What every function is verified for.
    wanted : int
        How many there are at most.
    depth : int
        How many integrals were used to eliminate variables before.
    """

    def __init__(self, basis: Sequence[VectorField], given: Subject, wanted: int, depth: int = 0) -> None:
        self.basis, self.given, self.wanted, self.depth = tuple(basis), given, wanted, depth
        self.found: list[Expr] = []
        self.reason = ""
        self._invariant: list[Any] = []

    @property
    def is_complete(self) -> bool:
        """True iff as many were found as there are."""
        return len(self.found) >= self.wanted

    def run(self) -> None:
        """Search until all are found or nothing is left to try."""
        functions = Functions(CoordinateFrame(Subject(self.basis), Budget()))
        for q in functions.resting:
            self._take(q)
        for search in (self._polynomials, self._products, self._one_field, self._cofactors, self._reduced):
            if self.is_complete:
                return
            try:
                with sympy_failures("a search for first integrals"):
                    search(functions)
            except UnsupportedExpression as error:  # of one way to search
                self.reason = str(error)

    def _polynomials(self, functions: Functions) -> None:
        for degree in range(1, 4):
            self._combine(functions, [], exponents(functions, degree))

    def _products(self, functions: Functions) -> None:
        self._invariant = darboux_polynomials(functions)
        monomials = [{}, *exponents(functions, 2)]
        if len(monomials) <= UNKNOWNS // 2:
            self._invariant += by_cofactors(functions, monomials, self._invariant)
        before = [*map(functions.logarithm, self._invariant), *self._pairs(functions)]
        self._combine(functions, before, exponents(functions, 1))
        self._quotients(functions)
        known, below = len(self.found), self._below(functions)
        for degree in range(2, DEGREE):
            if not self._combine(functions, before, laurent(functions, degree, below)):
                break
        for degree in range(4, DEGREE):
            self._combine(functions, [], exponents(functions, degree))
        present = without_what_is_absent(functions)
        if len(present) < len(functions.moving):
            for degree in range(2, DEGREE):
                self._combine(functions, [], exponents(functions, degree, present))
        if len(self.found) > known:  # constants have angles too
            self._quotients(functions)

    def _quotients(self, functions: Functions) -> None:
        """Angles, potentials, and monomials divided by Darboux polynomials."""
        conics = angles_of(functions, [*self._invariant, *self._constants(functions)])
        before = [*map(functions.logarithm, self._invariant), *conics]
        self._combine(functions, before, [*exponents(functions, 1), *from_components(functions)])
        short = sorted((p for p in self._invariant if p.denom == 1 and len(p.numer) > 1), key=lambda p: len(p.numer))
        below = [*self._below(functions), *(functions.adjoin(p) for p in short[:BELOW])]
        for degree in range(2, DEGREE // 2):
            if not self._combine(functions, before, laurent(functions, degree, below)):
                return

    def _cofactors(self, functions: Functions) -> None:
        """Darboux polynomials of degree 3, with sums of known cofactors."""
        for degree in (2, 3, 4):
            monomials = [{}, *exponents(functions, degree)]
            if len(monomials) > UNKNOWNS // 2 or self.is_complete:
                return
            more = by_cofactors(functions, monomials, self._invariant, order=3)
            if more:
                self._invariant += more
                self._quotients(functions)

    def _one_field(self, functions: Functions) -> None:
        for h in integrals_of_one_field(self.basis, self.given.coordinates):
            if self.is_complete:
                return
            self._take(shortest(h))

    def _reduced(self, functions: Functions) -> None:
        """Search on the levels of what was found."""
        if self.depth == DEPTH:
            return
        for reduced in reductions(self.basis, self.found):
            if self.is_complete:
                return
            try:
                about = Subject(reduced.fields)
                inner = IntegralSearch(reduced.fields, about, len(about.coordinates) - len(self.basis), self.depth + 1)
                inner.run()
            except (InvalidInput, UnsupportedExpression):
                continue
            for h in inner.found:
                self._take(h.xreplace({reduced.constant: reduced.integral}))

    def _below(self, functions: Functions) -> list[int]:
        return [k for k in functions.moving if any(functions.elements[k] == p for p in self._invariant)
                or functions.generators[k] in functions.coefficients.roots]

    def _constants(self, functions: Functions) -> Iterator[Any]:
        """Yield the polynomials among what was found, as elements."""
        for h in self.found:
            try:
                element = functions.coefficients.encode(h)
            except UnsupportedExpression:
                continue
            if element.denom.is_ground:
                yield element

    def _pairs(self, functions: Functions) -> list[Term]:
        coordinates = self.given.coordinates
        if len(coordinates) > DIMENSIONS:
            return []
        present = [functions.coefficients.encode(q) for q in coordinates if q in functions.generators]
        return [functions.angle(b, a) for a, b in combinations(present, 2)]

    def _combine(self, functions: Functions, before: Sequence[Term], monomials: Iterable[dict[int, int]]) -> bool:
        """Take the combinations of some functions and monomials that are constant; False where these are too many."""
        if self.is_complete:
            return False
        terms = list(before)
        for powers in monomials:
            terms.append(functions.monomial(powers))
            if len(terms) > UNKNOWNS:
                return False
        for relation, gradient in functions.relations(terms):
            if self._take(_function([(terms[k], c) for k, c in relation.items()])):
                functions.known.append(gradient)
            if len(self.found) >= self.wanted:
                return False
        return True

    def _take(self, h: Expr) -> bool:
        """Keep a function that is constant along all fields and independent of those kept; say whether it is."""
        if not h.free_symbols & set(self.given.coordinates):
            return False
        is_taken = is_constant_along(self.given, h) and self._is_new(h)
        if is_taken:
            self.found.append(h)
        return is_taken

    def _is_new(self, h: Expr) -> bool:
        frame = CoordinateFrame(gradients_of([*self.found, h], self.given), Budget())
        snapshot = Snapshot(frame.coefficients, random.Random(SEED))
        columns = snapshot.columns(frame.forms, frame.basis(frame.forms))
        return len(modular_pivots(columns)[0]) == len(columns)


def _function(combination: Sequence[tuple[Term, Expr]]) -> Expr:
    """Return a function of sum_t c_t f_t that is written with as few logarithms as can be."""
    whole = dict(zip((term.expr for term, _ in combination), _without_denominators([c for _, c in combination]),
                     strict=True))
    if any(term.is_angle for term, _ in combination):
        return Add(*(c * f for f, c in whole.items()))
    products = {f: c for f, c in whole.items() if f.func is log and f.args[0].func is not exp}
    rest = {f.args[0].args[0] if f.func is log else f: c for f, c in whole.items() if f not in products}
    if not products:
        return shortest(Add(*(c * f for f, c in rest.items())))
    if next(iter(products.values())).could_extract_minus_sign():
        products, rest = ({f: -c for f, c in part.items()} for part in (products, rest))
    return Mul(*(Pow(f.args[0], c) for f, c in products.items())) * exp(Add(*(c * f for f, c in rest.items())))


def _without_denominators(weights: Sequence[Expr]) -> Sequence[Expr]:
    """Return rational weights as whole numbers without a common factor; others as they are."""
    if not all(c.is_Rational for c in weights):
        return weights
    scale = lcm(*(int(c.q) for c in weights))
    whole = [int(c * scale) for c in weights]
    common = gcd(*whole)
    return [Integer(c // common) for c in whole]


def shortest(total: Expr) -> Expr:
    """Return a sum expanded or factored, whichever is shorter, with a sign that is not minus."""
    try:
        forms = [expand(total), factor(total)]
    except BudgetExceeded:
        forms = [total]
    best = min(forms, key=lambda e: e.count_ops())
    return -best if best.could_extract_minus_sign() else best
