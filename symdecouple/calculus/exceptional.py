"""Parameter values at which a generic answer fails.

A set with parameters is decided for generic values. C1 fails, C2 begins or ceases to hold, only where minors of the
coefficients vanish (`minor_conditions`), where functions that are independent in general are not (`coincidences`), or
where something is not defined. Each gives conditions on the parameters; their real solutions (`common_zeros`) are
candidates, and each is decided again, exactly. Where something was left out, the answer says what.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sympy import Expr, Function, Pow, Rational, S, Symbol, cos, exp, log, sin

from symdecouple.calculus.coincidences import coinciding_arguments, coinciding_functions
from symdecouple.calculus.common_zeros import Values, common_zeros
from symdecouple.calculus.convolution_frame import frames
from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frame import Frame, recent_frame
from symdecouple.calculus.membership import Membership
from symdecouple.calculus.minor_conditions import coefficient_conditions, minor_conditions
from symdecouple.calculus.specialization import Unsolved, specialized
from symdecouple.calculus.subject import Size, Subject
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.filtered import DcGain
from symdecouple.language.mean import Mean
from symdecouple.verdict import ExceptionalValues, Status, Verdict

__all__ = ["Search", "exceptions"]

LIMIT = 24
"""Candidates that are decided again: a few hundredths of a second each, as a rule."""
PATIENCE = 3.0
"""Seconds for one candidate."""
USUAL = (S.Zero, S.One, S.NegativeOne, Rational(2), Rational(1, 2))
"""Values that are looked at in any case where conditions could not be solved."""
RESERVE = 0.01
"""Seconds left at which no further candidate is decided."""
SHOWN = 60
"""Characters of a condition that is shown."""
STEP = "looking for exceptional parameters"
OUT_OF_TIME = "the budget ran out"


class Search(NamedTuple):
    """What was found, and why that may not be all."""

    found: tuple[ExceptionalValues, ...] = ()
    left_out: str = ""


def exceptions(subject: Subject, generic: tuple[Status, Status | None], certificate: Any,
               decide: Callable[[Subject, float], Verdict], budget: Budget, n_samples: Size | None = None) -> Search:
    """Return the values at which the answer differs from the generic one (its status, and that of its C1).

    `decide` takes the set at the values and the seconds left.
    """
    if not (subject.symbols or subject.filters) or generic[0] is Status.UNDECIDED:
        return Search()
    if generic[1] is None:
        budget = Budget(budget.remaining / 3)  # C1 is asked first, and C2 with what is left
    try:
        with budget.running(STEP):
            return _searched(subject, generic, Candidates(subject, certificate, n_samples, budget), decide)
    except BudgetExceeded:
        return Search((), OUT_OF_TIME)


def _searched(subject: Subject, generic: tuple[Status, Status | None], candidates: Candidates,
              decide: Callable[[Subject, float], Verdict]) -> Search:
    budget = candidates.budget
    found: list[ExceptionalValues] = []
    in_time = True
    for values in candidates.values[:LIMIT]:
        in_time = in_time and budget.remaining > RESERVE
        record = (_record(subject, values, generic, decide, budget) if in_time
                  else _not_decided(values, generic))
        if record is not None and not any(_covers(other, record) for other in found):
            found.append(record)
    for values in candidates.guesses:
        record = _record(subject, values, generic, decide, budget) if budget.remaining > RESERVE else None
        if record is None or any(status is Status.UNDECIDED for _, status in record.changes):
            continue
        if not any(_covers(other, record) for other in found):
            found.append(record)
    reasons = candidates.left_out
    if len(candidates.values) > LIMIT:
        reasons.append(f"there are more than {LIMIT} candidates")
    if not in_time:
        reasons.append(OUT_OF_TIME)
    return Search(tuple(found), "; ".join(dict.fromkeys(reasons)) if subject.symbols else "")


def _record(subject: Subject, values: Values, generic: tuple[Status, Status | None],
            decide: Callable[[Subject, float], Verdict], budget: Budget) -> ExceptionalValues | None:
    """Decide a candidate; None where nothing changes."""
    try:
        about = specialized(subject, values)
    except InvalidInput:  # not real there, as all around
        return None
    except Unsolved:
        return _not_decided(values, generic)
    except UnsupportedExpression as error:
        return ExceptionalValues(values, (), str(error))
    try:
        special = decide(about, min(budget.remaining / 2, PATIENCE))
    except (InvalidInput, BudgetExceeded, UnsupportedExpression):
        return _not_decided(values, generic)
    after = (special.status, special.independence.status if special.independence is not None else None)
    changes = tuple((question, new) for question, old, new in reversed([*zip(
        _questions(generic), generic, after, strict=False)]) if old is not new and new is not None)
    if any(isinstance(key, DcGain) for key in values):
        changes = tuple((q, new) for q, new in changes if new is not Status.UNDECIDED)
    return ExceptionalValues(values, changes) if changes else None


def _questions(generic: tuple[Status, Status | None]) -> tuple[str, ...]:
    return ("C1",) if generic[1] is None else ("C2", "C1")


def _not_decided(values: Values, generic: tuple[Status, Status | None]) -> ExceptionalValues:
    return ExceptionalValues(values, tuple((question, Status.UNDECIDED) for question in reversed(_questions(generic))))


def _covers(listed: ExceptionalValues, record: ExceptionalValues) -> bool:
    """True where a value lies on a curve of exceptions that is listed, and nothing more changes at it."""
    if any(isinstance(key, DcGain) for key in record) or not set(record.changes) <= set(listed.changes):
        return False
    return all((key - value).xreplace(dict(record)).expand() == 0 for key, value in listed.items())


class Candidates:
    """Values to decide again, guesses where conditions were not solved, and what was left out in looking for them."""

    def __init__(self, subject: Subject, certificate: Any, n_samples: Size | None, budget: Budget) -> None:
        self.subject, self.symbols, self.budget = subject, subject.symbols, budget
        self.values: list[Values] = []
        self.guesses: list[Values] = []
        self.left_out: list[str] = []
        self._pair: tuple[int, int] | None = getattr(certificate, "pair", None)
        try:
            if (frame := self._frame()) is None:
                return
            gains = list(_gains(frame, self._pair is not None))
            if self.symbols:
                self._search(frame)
            self.values = [*gains, *sorted(self.values, key=len)]  # what is on a curve comes after it
        except UnsupportedExpression:
            self.left_out.append("the brackets were not written in independent functions")
            self.guesses = list(_usual(self.symbols))
        except BudgetExceeded:
            self.left_out.append(OUT_OF_TIME)
        if self.symbols and subject.kind == "mean" and n_samples is not None and not subject.is_filtered:
            self.left_out.append(f"values at which only N = {n_samples} differs were not looked for")

    def _frame(self) -> Any:
        if self.subject.kind == "coordinates":
            return CoordinateFrame(self.subject, self.budget)
        if not self.subject.is_filtered:
            return recent_frame(self.subject.items, self.budget)
        known = frames(self.subject, None, self.budget)
        frame = next(known, None)
        if frame is not None and not frame.words.composites:
            frame = [frame, *known][-1]  # filters as sums of shifts, unless functions of such sums make it long
        return frame

    def _search(self, frame: Any) -> None:
        rng = random.Random(1)
        member = Membership(frame, self.budget, rng)
        pair = None if self._pair is None else (self._pair[0] - 1, self._pair[1] - 1)
        try:
            for conditions in minor_conditions(member, pair, self.symbols, rng, self.budget):
                self._solve(conditions)
        except BudgetExceeded as error:
            self.left_out.append(f"minors are too large ({error})")
        for conditions in [*coefficient_conditions(frame, self.symbols), *self._of_declarations()]:
            self._solve(conditions)
        forms = [*frame.forms, *([member.bracket(*pair)] if pair else [])]
        for conditions in self._of_functions(frame, forms):
            self._solve(conditions)
        if self.left_out:
            self.guesses = [values for values in _usual(self.symbols) if values not in self.values]

    def _of_declarations(self) -> Iterator[list[Expr]]:
        """Yield what is divided by, or is in a logarithm, in the features as they are written."""
        known = set(self.symbols)
        for item in self.subject.items:
            for expr in item.components if isinstance(item, VectorField) else (item.expr,):
                yield from ([e.base] for e in expr.atoms(Pow) if e.exp.is_negative and len(
                    e.base.free_symbols) > 0 and e.base.free_symbols <= known and not e.base.atoms(Mean))
                for node in expr.atoms(Function):
                    if node.free_symbols and node.free_symbols <= known and not node.atoms(Mean):
                        if isinstance(node, log):
                            yield [node.args[0]]
                        elif not isinstance(node, (exp, sin, cos)):
                            self.left_out.append(f"where {node} is not defined")

    def _of_functions(self, frame: Any, forms: Sequence[Any]) -> Iterator[list[Expr]]:
        named = [*frame.coefficients.functions.values(), *(r for r, _ in frame.coefficients.roots.values())]
        mixed = [e for e in named if e.has(*self.symbols) and e.free_symbols - set(self.symbols)]
        if mixed:
            self.left_out.append(f"functions and roots in the coefficients contain {_names(self.symbols)}")
            nodes = {e for f in named for e in f.atoms(Function, exp)}
            yield from coinciding_arguments(nodes, self.symbols, self.budget)
        if isinstance(frame, Frame):
            functions = [*frame.basis(forms), *frame.averaged(forms)]
            conditions, reasons = coinciding_functions(functions, frame.sample, self.symbols, self.budget)
            self.left_out += reasons if self.subject.is_smooth else [*reasons, "functions have kinks"]
            yield from conditions
        elif self.subject.is_filtered:
            self.left_out.append("outputs of filters may have relations at special values")
            exponents = sorted({S.Zero, *frame.words.composites.exponents}, key=str)
            yield from ([p - q] for k, p in enumerate(exponents) for q in exponents[k + 1 :] if (p - q).has(
                *self.symbols))

    def _solve(self, conditions: Sequence[Expr]) -> None:
        zeros = common_zeros(conditions, self.symbols, self.budget)
        if not zeros.is_complete:
            self.left_out.append("a condition was not solved" + next(
                (f", {c} = 0" for c in conditions if len(str(c)) < SHOWN), ""))
        self._take(sorted(zeros.values, key=lambda values: (len(values), str(values))))

    def _take(self, found: Iterable[Values]) -> None:
        for values in map(_in_order, found):
            if _is_possible(values) and values not in self.values:
                self.values.append(values)


def _is_possible(values: Values) -> bool:
    """Values are real, and do not contradict what a parameter is known to be (positive, an integer)."""
    for key, value in values.items():
        if value.is_real is False or value.has(S.NaN, S.ComplexInfinity):
            return False
        for name, known in getattr(key, "_assumptions_orig", {}).items():
            if getattr(value, f"is_{name}", None) is (not known):
                return False
    return True


def _in_order(values: Values) -> Values:
    return dict(sorted(values.items(), key=str))


def _usual(symbols: Sequence[Symbol]) -> Iterator[Values]:
    for k, s in enumerate(symbols):
        for value in (*USUAL, *symbols[k + 1 :], *(-t for t in symbols[k + 1 :])):
            if _is_possible({s: value}):
                yield {s: value}


def _gains(frame: Any, is_outside: bool) -> Iterator[Mapping[Any, Expr]]:
    """Yield the gains at frequency 0 of named filters that an answer may depend on, each 0, and all of them 0.

    What keeps a bracket outside may be a gain. A bracket inside stays inside unless the fields themselves change.
    """
    coefficients = frame.coefficients
    exprs = list(coefficients.functions.values()) if is_outside else [
        coefficients.decode(c) for form, p in zip(frame.forms, frame.factors, strict=True) for c in (*form.values(), p)]
    gains = sorted(set().union(*(e.atoms(DcGain) for e in exprs)), key=str)
    yield from ({gain: S.Zero} for gain in gains)
    if len(gains) > 1:
        yield dict.fromkeys(gains, S.Zero)


def _names(symbols: Iterable[Any]) -> str:
    return ", ".join(map(str, symbols))
