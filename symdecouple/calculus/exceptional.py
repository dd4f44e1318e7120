"""Parameter values at which a generic answer fails.

A set with parameters is decided for generic values. C1 fails, C2 begins or ceases to hold, only where minors of the
coefficients vanish (`minor_conditions`), where functions that are independent in general are not (`coincidences`), or
where something is not defined. Each gives conditions on the parameters; their real solutions (`common_zeros`) are
candidates, and each is decided again, exactly. Where something was left out, the answer says what.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sympy import Symbol

from symdecouple.calculus.candidates import Candidates, in_order, is_possible
from symdecouple.calculus.common_zeros import Values
from symdecouple.calculus.left_out import LIMIT, MANY_CANDIDATES, OUT_OF_TIME, points_of, points_of_curves
from symdecouple.calculus.specialization import Unsolved, specialized
from symdecouple.calculus.subject import Size, Subject
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.filtered import DcGain
from symdecouple.verdict import ExceptionalValues, Status, Verdict

__all__ = ["Search", "exceptions"]

ON_CURVES = 3.0
"""Seconds for what is exceptional on curves of candidates, where there are several parameters."""
PATIENCE = 3.0
"""Seconds for one candidate."""
RESERVE = 0.01
"""Seconds left at which no further candidate is decided."""
STEP = "looking for exceptional parameters"


Answers = tuple[Status, Status | None]
"""The status of the question, and that of its C1; None where the question is C1."""


class Search(NamedTuple):
    """What was found, and why that may not be all."""

    found: tuple[ExceptionalValues, ...] = ()
    left_out: str = ""


def exceptions(subject: Subject, generic: Answers, certificate: Any,
               decide: Callable[[Subject, float], Verdict], budget: Budget, n_samples: Size | None = None) -> Search:
    """Return the values at which the answer differs from the generic one (its status, and that of its C1).

    `decide` takes the set at the values and the seconds left.
    """
    if not (subject.symbols or subject.filters) or generic[0] is Status.UNDECIDED:
        return Search()
    if generic[1] is None:
        budget = Budget(budget.remaining / 3)  # C1 is asked first, and C2 with what is left
    search = _Search(generic, decide, budget, n_samples)
    try:
        with budget.running(STEP):
            search.run(subject, certificate)
    except BudgetExceeded:
        search.left_out.append(OUT_OF_TIME)
    return Search(search.without_points_of_curves(),
                  "; ".join(dict.fromkeys(search.left_out)) if subject.symbols else "")


class _Search:
    """The search over candidates, and over what is exceptional on those that are curves, from large to small."""

    def __init__(self, generic: Answers, decide: Callable[[Subject, float], Verdict], budget: Budget,
                 n_samples: Size | None) -> None:
        self.generic, self.decide, self.budget, self.n_samples = generic, decide, budget, n_samples
        self.questions = ("C1",) if generic[1] is None else ("C2", "C1")
        self.found: list[ExceptionalValues] = []
        self.left_out: list[str] = []
        self.decided: dict[tuple[Any, ...], Verdict] = {}
        self.curves: list[tuple[int, bool, Values, Subject, Answers, Any]] = []

    def run(self, subject: Subject, certificate: Any) -> None:
        """Look at all candidates, then at those on each curve of candidates."""
        self._look(subject, {}, self.generic, certificate)
        self.budget = Budget(min(self.budget.remaining, ON_CURVES))
        while self.curves:
            _, _, curve, about, answers, proof = self.curves.pop(min(
                range(len(self.curves)), key=lambda k: self.curves[k][:2]))  # large ones, not yet listed, first
            known = list(self.left_out)
            if self.budget.remaining > RESERVE:
                self._look(about, curve, answers, proof)
            if self.budget.remaining <= RESERVE:
                self.left_out = [*known, points_of_curves(curve)]
                return

    def _look(self, subject: Subject, curve: Values, answers: Answers, certificate: Any) -> None:
        candidates = Candidates(subject, certificate, self.n_samples, self.budget)
        self.left_out += candidates.left_out
        if len(candidates.values) > LIMIT:
            self.left_out.append(MANY_CANDIDATES)
        for values in candidates.values[:LIMIT]:
            at = _composed(curve, values)
            if self.budget.remaining > RESERVE:
                self._decide(subject, values, at, curve, answers)
            else:
                self.left_out.append(OUT_OF_TIME)
                self._not_decided(at, curve)
        for values in candidates.guesses:
            if self.budget.remaining > RESERVE and is_possible(_composed(curve, values)):
                self._decide(subject, values, _composed(curve, values), curve, answers, is_guess=True)

    def _decide(self, subject: Subject, values: Values, at: Values, curve: Values, answers: Answers,
                is_guess: bool = False) -> None:
        """Decide a candidate, and keep what changes; keep a curve to look for more on it."""
        try:
            about = specialized(subject, values)
            is_new = about.items not in self.decided
            if is_new:
                self.decided[about.items] = self.decide(about, min(self.budget.remaining / 2, PATIENCE))
            special = self.decided[about.items]
        except InvalidInput:  # not real there, as all around
            return
        except (Unsolved, BudgetExceeded):
            self._not_decided(at, curve)
            return
        except UnsupportedExpression as error:
            if not curve:
                self.found.append(ExceptionalValues(at, (), str(error)))
            return
        here = (special.status, special.independence.status if special.independence is not None else None)
        new = tuple((question, now) for question, now, general, before in reversed([*zip(
            self.questions, here, self.generic, answers, strict=False)])
            if now is not None and (now is not general or now is not before))
        is_vague = any(status is Status.UNDECIDED for _, status in new)
        if here[: len(self.questions)] != answers[: len(self.questions)] and not (is_vague and (
                is_guess or curve or any(isinstance(key, DcGain) for key in values))) and is_possible(at):
            self.found.append(ExceptionalValues(at, new))
        of_gains = any(isinstance(key, DcGain) for key in values)
        if not (about.symbols and is_new) or is_guess or of_gains or here[0] is Status.UNDECIDED:
            return
        if all(isinstance(key, Symbol) for key in values):
            self.curves.append((len(at), here != answers, at, about, here, special.certificate))
        else:
            self.left_out.append(points_of(at))

    def _not_decided(self, at: Values, curve: Values) -> None:
        if not curve:
            self.found.append(ExceptionalValues(at, tuple((q, Status.UNDECIDED) for q in reversed(self.questions))))

    def without_points_of_curves(self) -> tuple[ExceptionalValues, ...]:
        """Return what was found but for values on a curve that is listed, at which nothing more changes."""
        kept: list[ExceptionalValues] = []
        for record in sorted(self.found, key=len):
            if not any(_covers(listed, record) for listed in kept):
                kept.append(record)
        return tuple(kept)


def _composed(curve: Values, values: Values) -> Values:
    """Return the values at a point of a curve."""
    return in_order({key: value.xreplace(dict(values)) for key, value in curve.items()} | dict(values))


def _covers(listed: ExceptionalValues, record: ExceptionalValues) -> bool:
    """True where a value lies on a curve of exceptions that is listed, and nothing more changes at it."""
    if any(isinstance(key, DcGain) for key in record) or record.undefined or record.changes != listed.changes:
        return False
    return all((key - value).xreplace(dict(record)).expand() == 0 for key, value in listed.items())
