"""What all certificates have: a subject, and an audit that recomputes every claim about it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, latex

from symdecouple.calculus.audit import kernel_check
from symdecouple.calculus.extent import check_extent
from symdecouple.calculus.subject import Size, Subject, expressions
from symdecouple.errors import BudgetExceeded, SymdecoupleError, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.shown import Card, Cell, Maths, Shown
from symdecouple.verdict import Check, Status

__all__ = ["Claim", "combination", "combination_latex", "gathered"]

_ITEMS = 2  # features or fields that repr shows


def gathered(checks: Callable[[Budget], Iterable[Check]], budget: float, what: str) -> tuple[Check, ...]:
    """Return checks up to the first that fails; being out of time, too large or malformed is such a check too."""
    found: list[Check] = []
    try:
        clock = Budget(budget)
        with clock.running(what):
            for check in checks(clock):
                found.append(check)
                if not check.passed:  # what rests on it is not looked at
                    break
                clock.check(what)
    except BudgetExceeded as error:
        found.append(Check("time", False, f"{type(error).__name__}: {error}"))
    except (SymdecoupleError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError,
            RecursionError) as error:
        found.append(Check("well-formed", False, f"{type(error).__name__}: {error}"))
    return tuple(found)


@dataclass(frozen=True, slots=True, repr=False)
class Claim(Shown):
    """What all certificates have: a subject, and an audit that recomputes every claim about it."""

    subject: Subject

    kind: ClassVar[str] = ""
    answers: ClassVar[tuple[str, Status]]
    takes_levels: ClassVar[bool] = False  # all others evaluate the items as they are declared

    def __init_subclass__(cls) -> None:
        cls.__repr__ = Shown.__repr__  # type: ignore[method-assign] # else each dataclass makes one of all its fields

    def _card(self) -> Card:
        question, status = self.answers
        lines = [(str(k), text) for k, text in enumerate(self.subject.texts(), 1)]
        more = [("", f"... {len(lines) - _ITEMS} more")] if len(lines) > _ITEMS else []
        lines = [*lines[:_ITEMS], *more, ("", "; ".join(self.summary()) or self.reason(None))]
        rows: list[tuple[Cell, Cell]] = [(str(k), Maths(text, item.latex())) for k, (text, item) in enumerate(
            zip(self.subject.texts(), self.subject.items, strict=True), 1)]
        return Card(f"Certificate of {self.kind}: {question} {status.name}", lines, ("", self.subject.noun), [
            *rows, ("", Maths("", self.latex()))])

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def summary(self) -> tuple[str, ...]:
        """Return the lines that a verdict prints about its evidence."""
        return ()

    def audit(self, budget: float = 20.0) -> tuple[Check, ...]:
        """Recompute every claim of the certificate, each by a route of its own, and report on each.

        Parameters
        ----------
        budget : float
            Seconds; what is not recomputed by then, or is too large to be, is a check that failed.
        """
        return gathered(self._measured_checks, budget, "verifying the certificate")

    def verify(self, budget: float = 20.0) -> bool:
        """Return True iff every claim was recomputed and holds; a few hundredths of a second to a few seconds."""
        checks = self.audit(budget)
        return bool(checks) and all(check.passed for check in checks)

    def describes(self, texts: Sequence[str], n_samples: Size | None) -> bool:
        """True iff these are the texts of what the claim is about, asked for this size."""
        return self.subject.is_told_by(texts, n_samples)

    def reason(self, n_samples: Size | None) -> str:
        """Return the sentence why, for a question about this size (None: every size); empty where none is known."""
        return ""

    def evidence(self) -> tuple[str, ...]:
        """Return the findings that are shown with the claim, recomputed."""
        return ()

    def _measured_checks(self, clock: Budget) -> Iterator[Check]:
        if self.subject.has_levels and not self.takes_levels:
            raise UnsupportedExpression(f"{self.kind} is claimed of features as declared, not at the levels of a plan")
        check_extent((e for item in self.subject.items for e in expressions(item)), "a feature or field")
        if self.subject.forms:
            yield kernel_check(self.subject, random.Random())
        yield from self._checks(random.Random(), clock)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        raise NotImplementedError

    def latex(self) -> str:
        """Return the evidence as LaTeX, without the dollar signs."""
        raise NotImplementedError

    def _head(self) -> dict[str, Any]:
        return {"certificate": self.kind, "subject": self.subject.to_dict()}


def combination(weights: Iterable[Expr], written: Callable[[Expr], str] = str, open_: str = "(", close: str = ")",
                 field: str = " v{}") -> str:
    """Return sum_k weights[k] v_k as text."""
    text = ""
    for k, c in enumerate(weights, 1):
        if c != 0:
            minus = c.could_extract_minus_sign()
            size = -c if minus else c
            factor = "" if size == 1 else f"{open_}{written(size)}{close}" if size.is_Add else written(size)
            text += (" - " if minus else " + ") + (factor + field.format(k)).lstrip()
    return "-" + text[3:] if text.startswith(" - ") else text[3:] or "0"


def combination_latex(weights: Iterable[Expr]) -> str:
    """Return sum_k weights[k] v_k as LaTeX."""
    return combination(weights, latex, r"\left(", r"\right)", r"\, v_{{{}}}")
