r"""First integrals: functions that are constant along some fields, and so along their involutive closure.

.. math:: D_{v_i} h = 0 \quad (i = 1, \dots, M), \qquad
    h = \prod_j p_j^{n_j}\, \exp\Big(\sum_m c_m m\Big) \iff \sum_j n_j D_i \log p_j + \sum_m c_m D_i m = 0

Near generic points there are exactly N - r independent ones, r the rank of the closure (Theorem H, Frobenius). That is
a proof of how many exist; none of it finds them. Searched are, in this order,

* polynomials and Laurent polynomials, degree by degree, in the coordinates and the functions that occur;
* products of powers of Darboux polynomials, with an exponential of such a polynomial, and angles atan(y/x);
* integrals of one field at a time, equation by equation, where SymPy integrates (`characteristics`).

The first two are one linear system over the rationals (`linear_relations`). Each result is verified by substitution,
and their gradients are proved to be independent by a minor at a sample. What is not found is missing, and `complete`
says so: that is no statement that there is no closed form.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import gcd, lcm
from typing import Any

from sympy import Add, Expr, Integer, Mul, Pow, atan, exp, log

from symdecouple.calculus.audit import minor_check
from symdecouple.calculus.claims import gathered
from symdecouple.calculus.closure import InvolutiveClosure, involutive_closure
from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.span import Snapshot, modular_pivots
from symdecouple.calculus.subject import Size, Subject, forms_of
from symdecouple.calculus.witness import Witness, find_witness
from symdecouple.errors import BudgetExceeded, InvalidInput, SymdecoupleError, UnsupportedExpression
from symdecouple.flows.characteristics import integrals_of_one_field
from symdecouple.flows.darboux import by_cofactors, darboux_polynomials
from symdecouple.flows.linear_relations import Functions, Term
from symdecouple.language.budget import Budget
from symdecouple.language.failures import sympy_failures
from symdecouple.language.gate import expand, factor
from symdecouple.verdict import Check, Status

__all__ = ["FirstIntegrals", "first_integrals", "gradients_of", "is_constant_along"]

SEED = 31
DEGREE = 8
UNKNOWNS = 130
"""Of one linear system: more take longer than a second."""
SHARE = 0.5
"""Of the budget for the closure."""
BEYOND = 0.7
"""Seconds beyond the budget for the proof that what was found is independent."""
DIMENSIONS = 7
"""Coordinates up to which angles are candidates, for each pair."""


@dataclass(frozen=True, slots=True)
class FirstIntegrals:
    """Independent functions that are constant along some fields.

    Attributes
    ----------
    functions : tuple of Expr
        Verified, and independent at generic points.
    expected : int or None
        How many independent ones exist near generic points, N - r; None where the closure is not decided.
    complete : bool
        True iff all were found: every other one is a function of these, near generic points.
    closure : InvolutiveClosure
        The proof of the number.
    reason : str
        What is missing and why; empty where complete.
    """

    functions: tuple[Expr, ...]
    expected: int | None
    complete: bool
    closure: InvolutiveClosure
    reason: str = ""
    witness: Witness | None = field(default=None, repr=False)
    seconds: float = field(default=0.0, compare=False)

    def audit(self, budget: float = 20.0) -> tuple[Check, ...]:
        """Recompute everything: that each function is constant, that they are independent, and how many there are."""
        return gathered(self._checks, budget, "verifying first integrals")

    def _checks(self, clock: Budget) -> Iterator[Check]:
        given, number = self.closure.subject, len(self.functions)
        for h in self.functions:
            yield Check(f"{h} is constant", is_constant_along(given, h))
        if self.functions and self.witness is None:
            yield Check("the functions are independent", False, "no minor of their gradients")
        elif self.witness is not None:
            yield minor_check(gradients_of(self.functions, given), self.witness, range(1, number + 1), None,
                              len(given.coordinates), clock)
        if self.expected is not None:
            count = len(given.coordinates) - self.closure.rank
            yield Check("how many there are", self.expected == count, str(count))
            yield from self.closure.audit(clock.remaining)
        yield Check("complete", self.complete is (number == self.expected))

    def verify(self, budget: float = 20.0) -> bool:
        """Return True iff everything was recomputed and holds; see `audit`."""
        return all(check.passed for check in self.audit(budget))

    def __str__(self) -> str:
        number = "an unknown number" if self.expected is None else str(self.expected)
        lines = [f"first integrals: {len(self.functions)} of {number} found"
                 + (", complete" if self.complete else "")]
        lines += [f"  {k}  {h}" for k, h in enumerate(self.functions, 1)]
        return "\n".join([*lines, *([f"  why: {self.reason}"] if self.reason else [])])

    def latex(self) -> str:
        """Return the functions as LaTeX, without the dollar signs."""
        from sympy import latex

        return r",\quad ".join(rf"h_{{{k}}} = {latex(h)}" for k, h in enumerate(self.functions, 1))


def first_integrals(fields: Any, *, budget: float = 10.0, n_samples: Size | None = None) -> FirstIntegrals:
    """Return functions that are constant along fields in coordinates, as many as are found within a budget.

    Parameters
    ----------
    fields : list of VectorField, list of OneForm, InvolutiveClosure, or FeatureSet
        Of features those that are decoupled from all of them. Fields need not be involutive: what is constant along
        them is so along their closure.
    budget : float
        Seconds, for the closure and the search together.
    n_samples : int or tuple of int, optional
        Averages are written out for this sample size.

    Returns
    -------
    FirstIntegrals
        With `functions`, how many are `expected`, and whether the set is `complete`.

    Raises
    ------
    InvalidInput
        For averages without a sample size.
    BudgetExceeded
        Where the kernel of 1-forms is not found in time.

    Examples
    --------
    >>> from sympy import symbols
    >>> from symdecouple import OneForm, VectorField
    >>> x, y, z = symbols("x y z")
    >>> first_integrals([OneForm([y, -x], [x, y])]).functions
    (x/y,)
    >>> first_integrals([OneForm([1, 0, y], [x, y, z]), OneForm([0, 1, x], [x, y, z])]).functions
    (x**2 - y**2, (x + y)*exp(z))
    >>> rotations = VectorField.columns([[0, z, -y], [-z, 0, x], [y, -x, 0]], [x, y, z])
    >>> found = first_integrals(rotations)
    >>> found.functions, found.expected, found.complete
    ((x**2 + y**2 + z**2,), 1, True)
    """
    start, clock = time.perf_counter(), Budget(budget)
    if forms_of(fields):
        with clock.running("the kernel of forms"):
            fields = Subject.of(fields)
    closure = _closure_of(fields, n_samples, clock.remaining)
    subject = closure.subject
    dimension = len(subject.coordinates)
    expected = None if closure.status is not Status.PROVED else dimension - closure.rank
    search = _Search(closure, expected)
    if expected != 0:
        try:
            with clock.running("the search for first integrals"), sympy_failures("the search for first integrals"):
                search.run()
        except (BudgetExceeded, UnsupportedExpression) as error:
            search.reason = str(error)
    found, witness = search.proved()
    complete = expected is not None and len(found) == expected
    reason = "" if complete else "; ".join(filter(None, (
        closure.reason if expected is None else f"{expected - len(found)} more exist, near generic points",
        search.reason or "none of the forms that were tried")))
    return FirstIntegrals(found, expected, complete, closure, reason, witness, time.perf_counter() - start)


def is_constant_along(subject: Subject, function: Expr) -> bool:
    """True iff the derivative of a function along every field of a subject is identically zero."""
    slopes = [function.diff(q) for q in subject.coordinates]
    values = [Add(*(c * slope for c, slope in zip(v.components, slopes, strict=True))) for v in _fields(subject)]
    coefficients = CoefficientField(values)
    return all(map(coefficients.vanishes, values))


def _closure_of(fields: Any, n_samples: Size | None, budget: float) -> InvolutiveClosure:
    if isinstance(fields, InvolutiveClosure):
        if fields.subject.coordinates:
            return fields
        n_samples = fields.n_samples if n_samples is None else n_samples
        fields = fields.subject
    subject = Subject.of(fields)
    if not subject.coordinates:
        if n_samples is None:
            raise InvalidInput("first integrals are functions of coordinates, and averages have none: ask for one "
                               "sample size, first_integrals(features, n_samples=4)")
        subject = subject.at(n_samples)
    return involutive_closure(subject, budget=budget * SHARE)


def _fields(subject: Subject) -> list[VectorField]:
    return [item if isinstance(item, VectorField) else item.gradient for item in subject.items]


def gradients_of(functions: Sequence[Expr], subject: Subject) -> Subject:
    """Return the gradients of some functions of the coordinates of a subject."""
    return Subject(tuple(VectorField([h.diff(q) for q in subject.coordinates], subject.coordinates)
                         for h in functions))


class _Search:
    """The functions found so far, independent as formal expressions."""

    def __init__(self, closure: InvolutiveClosure, expected: int | None) -> None:
        self.closure, self.subject = closure, closure.subject
        self.wanted = len(self.subject.coordinates) if expected is None else expected
        self.found: list[Expr] = []
        self.reason = ""

    @property
    def is_complete(self) -> bool:
        return len(self.found) >= self.wanted

    def run(self) -> None:
        basis = Subject(self.closure.fields or tuple(_fields(self.subject)))
        functions = Functions(CoordinateFrame(basis, Budget()))
        for search in (self._polynomials, self._products, self._one_field):
            if self.is_complete:
                return
            search(functions)

    def proved(self) -> tuple[tuple[Expr, ...], Witness | None]:
        """Return the functions with a minor of their gradients that is not zero; fewer where none is found."""
        while self.found:
            about = gradients_of(self.found, self.subject)
            try:
                witness = find_witness(about, range(1, len(about) + 1), None, len(self.subject.coordinates),
                                       random.Random(SEED), Budget(BEYOND))
            except SymdecoupleError:
                witness = None
            if witness is not None:
                return tuple(self.found), witness
            self.found.pop()
        return (), None

    def _polynomials(self, functions: Functions) -> None:
        for degree in range(1, 4):
            terms = [functions.monomial(e) for e in _exponents(functions, degree)]
            if self.is_complete or len(terms) > UNKNOWNS:
                return
            self._solve(functions, terms)

    def _products(self, functions: Functions) -> None:
        invariant = darboux_polynomials(functions)
        monomials = [{}, *_exponents(functions, 2)]
        if len(monomials) <= UNKNOWNS // 2:
            invariant += by_cofactors(functions, monomials, invariant)
        logarithms = [functions.logarithm(p) for p in invariant]
        below = [k for k in functions.moving if any(functions.elements[k] == p for p in invariant)
                 or functions.generators[k] in functions.coefficients.roots]
        for degree in range(1, DEGREE):
            terms = [*logarithms, *self._angles(functions),
                     *(functions.monomial(e) for e in _laurent(functions, degree, below))]
            if self.is_complete or len(terms) > UNKNOWNS:
                break
            self._solve(functions, terms)
        for degree in range(4, DEGREE):
            terms = [functions.monomial(e) for e in _exponents(functions, degree)]
            if self.is_complete or len(terms) > UNKNOWNS:
                return
            self._solve(functions, terms)

    def _angles(self, functions: Functions) -> list[Term]:
        coordinates = self.subject.coordinates
        if len(coordinates) > DIMENSIONS:
            return []
        present = [q for q in coordinates if q in functions.generators]
        return [functions.angle(b, a) for a, b in combinations(present, 2)]

    def _one_field(self, functions: Functions) -> None:
        for h in integrals_of_one_field(_fields(self.subject), self.subject.coordinates):
            self._take(shortest(h))

    def _solve(self, functions: Functions, terms: Sequence[Term]) -> None:
        for relation in functions.relations(terms):
            if self.is_complete:
                return
            self._take(_function({terms[k].expr: c for k, c in relation.items()}))

    def _take(self, h: Expr) -> None:
        """Keep a function that is constant along all fields and independent of those kept."""
        if not h.free_symbols & set(self.subject.coordinates):
            return
        if is_constant_along(self.subject, h) and self._is_new(h):
            self.found.append(h)

    def _is_new(self, h: Expr) -> bool:
        frame = CoordinateFrame(gradients_of([*self.found, h], self.subject), Budget())
        snapshot = Snapshot(frame.coefficients, random.Random(SEED))
        columns = snapshot.columns(frame.forms, frame.basis(frame.forms))
        return len(modular_pivots(columns)[0]) == len(columns)


def _exponents(functions: Functions, degree: int) -> Iterator[dict[int, int]]:
    """Yield the monomials up to a degree in what moves, by degree."""
    for total in range(1, degree + 1):
        yield from _powers(functions.moving, total, functions.highest)


def _laurent(functions: Functions, degree: int, below: Sequence[int]) -> Iterator[dict[int, int]]:
    """Yield monomials up to a degree, then those divided by powers of what stays zero where it is."""
    yield from _exponents(functions, degree)
    for total in range(1, degree + 1):
        for count in range(total):
            for above in _powers(functions.moving, count, functions.highest):
                for under in _powers(below, total - count, {}):
                    if not set(above) & set(under):
                        yield {**above, **{k: -n for k, n in under.items()}}


def _powers(places: Sequence[int], total: int, highest: dict[int, int]) -> Iterator[dict[int, int]]:
    if total == 0:
        yield {}
    elif places:
        first, *rest = places
        for n in range(min(total, highest.get(first, total)), -1, -1):
            for powers in _powers(rest, total - n, highest):
                yield {first: n, **powers} if n else powers


def _function(combination: dict[Expr, Expr]) -> Expr:
    """Return a function of sum_t c_t f_t that is written with as few logarithms as can be."""
    whole = _without_denominators(combination)
    products = {f: c for f, c in whole.items() if f.func is log and f.args[0].func is not exp}
    rest = {f.args[0].args[0] if f.func is log else f: c for f, c in whole.items() if f not in products}
    if not products:
        return shortest(Add(*(c * f for f, c in rest.items())))
    if any(f.has(atan) for f in rest):
        return Add(*(c * f for f, c in whole.items()))
    if next(iter(products.values())).could_extract_minus_sign():
        products, rest = ({f: -c for f, c in part.items()} for part in (products, rest))
    return Mul(*(Pow(f.args[0], c) for f, c in products.items())) * exp(Add(*(c * f for f, c in rest.items())))


def _without_denominators(combination: dict[Expr, Expr]) -> dict[Expr, Expr]:
    """Return rational weights as whole numbers without a common factor; others as they are."""
    if not all(c.is_Rational for c in combination.values()):
        return combination
    scale = lcm(*(int(c.q) for c in combination.values()))
    whole = {f: int(c * scale) for f, c in combination.items()}
    common = gcd(*whole.values())
    return {f: Integer(c // common) for f, c in whole.items()}


def shortest(total: Expr) -> Expr:
    """Return a sum expanded or factored, whichever is shorter, with a sign that is not minus."""
    try:
        forms = [expand(total), factor(total)]
    except BudgetExceeded:
        forms = [total]
    best = min(forms, key=lambda e: e.count_ops())
    return -best if best.could_extract_minus_sign() else best
