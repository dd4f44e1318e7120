r"""First integrals: functions that are constant along some fields, and so along their involutive closure.

.. math:: D_{v_i} h = 0 \quad (i = 1, \dots, M)

Near generic points there are exactly N - r independent ones, r the rank of the closure (Theorem H, Frobenius). That is
a proof of how many exist; none of it finds them: `integral_search` does. Each result is verified by substitution, and
their gradients are proved to be independent by a minor at a sample. What is not found is missing, and `complete` says
so: that is no statement that there is no closed form.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sympy import Expr

from symdecouple.calculus.audit import minor_check
from symdecouple.calculus.claims import gathered
from symdecouple.calculus.closure import InvolutiveClosure, involutive_closure
from symdecouple.calculus.subject import Size, Subject, forms_of
from symdecouple.calculus.witness import Witness, find_witness
from symdecouple.errors import BudgetExceeded, InvalidInput, SymdecoupleError, UnsupportedExpression
from symdecouple.flows.constancy import fields_of, gradients_of, is_constant_along
from symdecouple.flows.integral_search import IntegralSearch
from symdecouple.language.budget import Budget
from symdecouple.language.failures import sympy_failures
from symdecouple.shown import Shown
from symdecouple.verdict import Check, Status

__all__ = ["FirstIntegrals", "first_integrals"]

SEED = 31
SHARE = 0.5
"""Of the budget for the closure."""
BEYOND = 0.7
"""Seconds beyond the budget for the proof that what was found is independent."""


@dataclass(frozen=True, slots=True, repr=False)
class FirstIntegrals(Shown):
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
    search = IntegralSearch(closure.fields or fields_of(subject), subject, dimension if expected is None else expected)
    if expected != 0:
        try:
            with clock.running("the search for first integrals"), sympy_failures("the search for first integrals"):
                search.run()
        except (BudgetExceeded, UnsupportedExpression) as error:
            search.reason = str(error)
    found, witness = _proved(search.found, subject)
    complete = expected is not None and len(found) == expected
    reason = "" if complete else "; ".join(filter(None, (
        closure.reason if expected is None else f"{expected - len(found)} more exist, near generic points",
        search.reason or "none of the forms that were tried")))
    return FirstIntegrals(found, expected, complete, closure, reason, witness, time.perf_counter() - start)


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


def _proved(functions: list[Expr], subject: Subject) -> tuple[tuple[Expr, ...], Witness | None]:
    """Return the functions with a minor of their gradients that is not zero; fewer where none is found."""
    kept = list(functions)
    while kept:
        about = gradients_of(kept, subject)
        try:
            witness = find_witness(about, range(1, len(about) + 1), None, len(subject.coordinates),
                                   random.Random(SEED), Budget(BEYOND))
        except SymdecoupleError:
            witness = None
        if witness is not None:
            return tuple(kept), witness
        kept.pop()
    return (), None
