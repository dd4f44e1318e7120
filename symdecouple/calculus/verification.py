"""A whole verdict verified: its certificate, the C1 it rests on, every sentence it prints, in bounded time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.calculus.subject import Subject
from symdecouple.calculus.ties import ties
from symdecouple.errors import BudgetExceeded, InvalidInput, SymdecoupleError
from symdecouple.language.budget import Budget
from symdecouple.language.filtered import DcGain
from symdecouple.verdict import Check, Status, Verdict

__all__ = ["audited"]


def audited(verdict: Verdict, budget: float) -> tuple[Check, ...]:
    """Return every check that is made of a verdict; see `Verdict.audit`."""
    if verdict.certificate is None:
        return (Check("certificate", False, f"{verdict.status.name}: {verdict.status.value}, so there is no "
                      "certificate and nothing to verify"),)
    checks: list[Check] = []
    try:
        clock = Budget(budget)
        with clock.running("verifying the verdict"):
            for check in _checks(verdict, clock):
                checks.append(check)
                if not check.passed:
                    break
                clock.check("verifying the verdict")
    except BudgetExceeded as error:
        checks.append(Check("time", False, f"{type(error).__name__}: {error}"))
    except (SymdecoupleError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError,
            RecursionError) as error:
        checks.append(Check("well-formed", False, f"{type(error).__name__}: {error}"))
    return tuple(checks)


def _checks(verdict: Verdict, clock: Budget) -> Iterator[Check]:
    if verdict.question == "C2":
        yield Check(_said(verdict, "independence"), verdict.independence is not None, "a C2 verdict has a C1 verdict")
    for check in ties(verdict, evidence=False):
        yield replace(check, name=_said(verdict, check.name))
    for part in (verdict, verdict.independence):
        if part is not None and part.certificate is not None:
            for check in part.certificate.audit(clock.remaining):
                yield replace(check, name=f"{part.question}, {check.name}")
    clock.check("recomputing the evidence")
    for check in ties(verdict):
        if check.name.endswith("evidence"):
            yield replace(check, name=_said(verdict, check.name))
    for values in verdict.exceptions:
        shown = ", ".join(f"{k} = {v}" for k, v in values.items())
        clock.check(f"deciding again at {shown}")
        yield _exception(verdict, values, shown, clock)


def _exception(verdict: Verdict, values: Mapping[Any, Any], shown: str, clock: Budget) -> Check:
    """Decide again at exceptional values: the answer must differ, or the set degenerate."""
    name, about = _said(verdict, f"exception at {shown}"), getattr(verdict.certificate, "subject", None)
    if not isinstance(about, Subject) or not _are_parameters(values, about):
        return Check(name, False, "no parameters of the features")
    decide: Any = check_frobenius if verdict.question == "C2" else check_independence
    try:
        bound = about.bind({k if isinstance(k, DcGain) else str(k): v for k, v in values.items()})
        size = None if bound.coordinates else verdict.n_samples
        special = decide(bound, n_samples=size, budget=clock.remaining)
    except InvalidInput as error:
        return Check(name, True, f"the set degenerates: {error}")
    inner = [v.independence.status if v.independence is not None else None for v in (verdict, special)]
    differs = any(a is not b and b not in (Status.UNDECIDED, None)
                  for a, b in ((verdict.status, special.status), (inner[0], inner[1])))
    return Check(name, differs, f"{special.status.name} there" + (f", C1 {inner[1].name}" if inner[1] else ""))


def _said(verdict: Verdict, what: str) -> str:
    return f"{verdict.question}, says what its certificate says: {what}"


def _are_parameters(values: Mapping[Any, Any], about: Subject) -> bool:
    known = {str(p) for p in about.parameters}
    names = [str(key.args[0]) if isinstance(key, DcGain) else str(key) for key in values]
    free = {s for value in values.values() for s in getattr(value, "free_symbols", ())}
    return bool(names) and set(names) <= known and {str(s) for s in free} <= known
