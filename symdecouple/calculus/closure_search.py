"""The search for a closure: for every size at once where there is one variable, else in coordinates."""

from __future__ import annotations

import random
from typing import Any

from symdecouple.calculus.bracket import as_field
from symdecouple.calculus.bracket_growth import BracketGrowth
from symdecouple.calculus.certificates import Independence
from symdecouple.calculus.closure_claims import Closed, Everything, Flag
from symdecouple.calculus.closure_up_to_integrals import EverythingElse, shifts_and_scalings, with_fields
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import LARGE, SEED, check_independence
from symdecouple.calculus.subject import Size, Subject, count
from symdecouple.errors import BudgetExceeded, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.mean import Mean
from symdecouple.verdict import ExceptionalValues, Status

__all__ = ["ClosureSearch"]

ENOUGH = 4
"""Functions of the sample alone: more than three are independent in no Lie algebra of finite dimension on a line."""
WAIT = 1.0
"""Seconds for a proof of the growth vector where the rank is proved without: three trailers would take 30."""
SHARE = 0.6
"""Of the budget for every N at once, where one size is asked and its coordinates may decide too."""


class ClosureSearch:
    """What was found so far, of a subject at one size or at every size."""

    def __init__(self, subject: Subject, size: Size | None) -> None:
        self.subject, self.size, self.reason = subject, size, ""
        self.growing: BracketGrowth | None = None
        self.certificate: Any = None
        self.candidates: tuple[ExceptionalValues, ...] = ()

    def search(self, clock: Budget) -> None:
        """Look for every size at once where the subject is in the sample; else, or where that fails, in coordinates."""
        subject, size = self.subject, self.size
        if not subject.coordinates and not subject.is_filtered:
            try:
                self._grow(subject, None, clock if size is None else Budget(clock.remaining * SHARE))
                n0 = getattr(self.certificate, "n0", None)
                if size is None or n0 is None or n0 <= count(size):
                    return
            except (BudgetExceeded, UnsupportedExpression):
                if size is None or count(size) > LARGE:
                    raise
            self.certificate = None
        if subject.is_filtered and (size is None or count(size) > LARGE or subject.filters):
            self._involutive(clock)
            return
        if size is None or (count(size) > LARGE and not subject.coordinates):
            raise UnsupportedExpression(f"N = {size} is too many samples to be written out")
        explicit = subject if subject.coordinates else subject.at(size)
        self._grow(explicit, count(size), clock)

    def _involutive(self, clock: Budget) -> None:
        """Prove filtered features to be their own closure: brackets of their fields are not taken further."""
        c2 = check_frobenius(self.subject, n_samples=self.size, budget=clock.remaining)
        if c2.status is not Status.PROVED or c2.structure is None:
            said = c2.reason if c2.status is Status.UNDECIDED else "the set is not involutive"
            raise UnsupportedExpression(f"{said}; filters couple neighbouring samples, and brackets are not taken "
                                        "further for every N at once: ask for a small one, n_samples=5")
        fields, c1 = Subject(tuple(map(as_field, self.subject.items))), c2.independence
        if c1 is None or not isinstance(c1.certificate, Independence) or c1.certificate.n_samples != self.size:
            raise UnsupportedExpression("the gradients are not proved to be independent"
                                        + (f" for every N: {c1.reason}" if c1 is not None else ""))
        self.candidates = c1.exceptions
        flag = Flag(fields, tuple(range(1, len(fields) + 1)), {}, dict(c2.structure), {})
        self.certificate = Closed(self.subject, flag, c1.certificate, self.size)

    def _grow(self, subject: Subject, size: int | None, clock: Budget) -> None:
        rng = random.Random(SEED)
        with clock.running("the involutive closure"):
            growing = self.growing = BracketGrowth(subject, clock, rng)
            if not growing.fields:
                self.certificate = check_independence(subject, budget=clock.remaining).certificate
                return
            is_pure = size is None and subject.is_smooth
            is_short = not any(f.expr.has(Mean) for f in growing.fields) if is_pure else True
            grows = growing.grow() if is_short else True
            if grows and is_pure and (
                    rest := self._everything_else(subject, clock)) is not None:
                self.certificate = rest
                return
            while grows:
                if is_pure and len(growing.fields) >= ENOUGH and (proof := self._everything(clock)) is not None:
                    self.certificate = proof
                    return
                grows = growing.grow()
            self.certificate = self._closed(subject, growing, size, clock)

    def _everything_else(self, subject: Subject, clock: Budget) -> EverythingElse | None:
        """Return a proof that only mean or second moment are constant, where they are; None where they are not."""
        assert self.growing is not None
        added, structure = shifts_and_scalings(subject, clock, random.Random(SEED))
        if not added:
            return None
        whole = ClosureSearch(with_fields(subject, added), None)
        try:
            whole.search(Budget(clock.remaining * SHARE))
        except (BudgetExceeded, UnsupportedExpression):
            return None
        if not isinstance(whole.certificate, Everything):
            return None
        self.candidates = whole.candidates
        return EverythingElse(subject, _flag(self.growing, 1), added, whole.certificate, structure)

    def _closed(self, subject: Subject, growing: BracketGrowth, size: int | None, clock: Budget) -> Closed:
        flag = _flag(growing, 2 if growing.is_everything else 0)
        if flag.missing and not growing.is_everything:
            raise UnsupportedExpression("a bracket looks like a combination of the fields, but the identity could not "
                                        "be proved")
        c1 = check_independence(growing.found, budget=clock.remaining)
        if not isinstance(c1.certificate, Independence) or c1.certificate.n_samples != size:
            raise UnsupportedExpression(f"the fields found are not proved to be independent: {c1.reason}")
        self.candidates = c1.exceptions
        if subject.forms and subject.symbols:  # whose kernel may be larger
            self.candidates += check_independence(subject.duals, budget=clock.remaining).exceptions
        return Closed(subject, flag, c1.certificate, size)

    def _everything(self, clock: Budget) -> Everything | None:
        """Return a proof by Lie's theorem, where four independent functions of the sample are in the span."""
        assert self.growing is not None
        growing = self.growing
        functions: list[Any] = []
        for a in growing.pure_functions():
            trial = Subject(tuple(VectorField(b) for b in (*functions, a)))
            if a not in functions and len(BracketGrowth(trial, clock, random.Random(SEED)).fields) > len(functions):
                functions.append(a)
            if len(functions) == ENOUGH:
                break
        else:
            return None
        about = Subject(tuple(map(VectorField, functions)))
        c1 = check_independence(about, budget=clock.remaining)
        weights = growing.weights_of(functions)
        if weights is None or not isinstance(c1.certificate, Independence) or c1.certificate.n_samples is not None:
            return None
        self.candidates = c1.exceptions
        return Everything(self.subject, _flag(growing, 1), tuple(functions), weights, c1.certificate)


def _flag(growing: BracketGrowth, missing: int) -> Flag:
    """Return what was found, with as many brackets written in the fields as can be; all but those of some steps."""
    structure, clock = None, growing.clock
    try:
        if missing:
            growing.clock = Budget(min(clock.remaining / 2, WAIT))
        with growing.clock.running("structure functions"):
            structure = growing.structure(missing)
    except BudgetExceeded:
        if not missing:
            raise
    growing.clock = clock
    if structure is None:
        missing = max(growing.depths)
        structure = growing.structure(missing)
    assert structure is not None  # what is left are fields of the span
    return Flag(growing.found, growing.starts, dict(growing.parents), structure, dict(growing.relations), missing)
