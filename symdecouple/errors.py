"""What can go wrong, by what the caller does next, and what became of each sample of a batch.

Every exception derives from `SymdecoupleError`. Every message says what was given, what was expected and
what would help. A batch never fails because of one row: each row has an `Outcome`, and the policy
``on_refusal`` ("warn", "raise" or "return") decides how refused rows are reported.

Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from symdecouple.shown import Shown

__all__ = [
    "BudgetExceeded",
    "InvalidInput",
    "MissingPackage",
    "NoClosedForm",
    "Outcome",
    "PerturbedWarning",
    "RefusalWarning",
    "Refused",
    "SymdecoupleError",
    "UnsupportedExpression",
]


class SymdecoupleError(Exception):
    """Base of all errors of the package."""


class InvalidInput(SymdecoupleError, ValueError):
    """The input is not what the function takes: mend the call."""


class MissingPackage(SymdecoupleError, ImportError):
    """An optional package is not installed: the message names the extra that brings it."""


class UnsupportedExpression(SymdecoupleError, TypeError):
    """The expression is outside the calculus (not smooth, not a function of the sample, ...): rewrite it."""


class NoClosedForm(SymdecoupleError):
    """No closed form exists or is known: choose a numeric path."""


class BudgetExceeded(SymdecoupleError):
    """An exact step grew past its budget: raise the budget or accept numeric evidence."""


@dataclass(frozen=True, slots=True)
class Outcome(Shown):
    """What became of one sample vector of a batch.

    Parameters
    ----------
    ok : bool
        True where a value was computed.
    reason : str
        Empty where `ok`; otherwise a short tag ("zero variance", "two-valued", ...), the same for the same cause.
    detail : str
        What was found in this sample, what is attainable, and what would help.
    """

    ok: bool
    reason: str = ""
    detail: str = ""

    def __str__(self) -> str:
        return "computed" if self.ok else f"refused: {self.reason}" + (f" ({self.detail})" if self.detail else "")


class Refused(SymdecoupleError):
    """Some samples of a batch have no answer; raised after all rows are done.

    Attributes
    ----------
    partial : array
        The result, NaN in the refused rows: nothing that was computed is lost.
    outcomes : tuple of Outcome
        One per sample vector, in the order of the flattened batch.
    """

    def __init__(self, message: str, partial: Any = None, outcomes: tuple[Outcome, ...] = ()) -> None:
        super().__init__(message)
        self.partial = partial
        self.outcomes = outcomes


class RefusalWarning(UserWarning):
    """Some samples of a batch have no answer and are NaN in the result; issued once a call."""


class PerturbedWarning(UserWarning):
    """Some samples of a batch have an answer because they were perturbed, as was asked for; issued once a call."""
