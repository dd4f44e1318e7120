"""A whole verdict verified: its certificate, the C1 it rests on, every sentence it prints, in bounded time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from symdecouple.calculus.claims import gathered
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.calculus.left_out import is_by_chance
from symdecouple.calculus.specialization import specialized
from symdecouple.calculus.subject import Subject
from symdecouple.calculus.ties import ties
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.filtered import DcGain
from symdecouple.verdict import Check, ExceptionalValues, Status, Verdict

__all__ = ["audited"]


def audited(verdict: Verdict, budget: float) -> tuple[Check, ...]:
    """Return every check that is made of a verdict; see `Verdict.audit`."""
    if verdict.certificate is None:
        return (Check("certificate", False, f"{verdict.status.name}: {verdict.status.value}, so there is no "
                      "certificate and nothing to verify"),)
    return gathered(lambda clock: _checks(verdict, clock), budget, "verifying the verdict")


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
    about = getattr(verdict.certificate, "subject", None)
    if isinstance(about, Subject):
        yield from _exceptions(verdict, about, clock)


def _exceptions(verdict: Verdict, about: Subject, clock: Budget) -> Iterator[Check]:
    """Decide again at each exceptional value; where nothing is said to be left out, look for others again."""
    for record in verdict.exceptions:
        clock.check(f"deciding again at {record}")
        yield _exception(verdict, about, record, clock)
    if verdict.parameters:
        again = _decided(verdict, about, clock)
        told, found = (set(filter(None, v.not_searched.split("; "))) for v in (verdict, again))
        missed = {text for text in map(str, again.exceptions) if text not in map(str, verdict.exceptions)}
        complete = bool(told) or not (found or missed)
        backed = all(is_by_chance(part, verdict.parameters, verdict.n_samples) for part in told - found)
        yield Check(_said(verdict, "what was not searched"), complete and backed,
                    again.not_searched or "everything was searched")


def _exception(verdict: Verdict, about: Subject, record: ExceptionalValues, clock: Budget) -> Check:
    """Decide again at exceptional values: the answers must be those that are told."""
    name = _said(verdict, f"exception at {record}")
    if not _are_parameters(record, about):
        return Check(name, False, "no parameters of the features")
    try:
        special = _decided(verdict, specialized(about, dict(record)), clock)
    except UnsupportedExpression as error:
        return Check(name, bool(record.undefined) or all(s is Status.UNDECIDED for _, s in record.changes), str(error))
    found = {special.question: special.status}
    if special.independence is not None:
        found["C1"] = special.independence.status
    told = all(status in (found.get(question), Status.UNDECIDED) for question, status in record.changes)
    return Check(name, told and not record.undefined,
                 " and ".join(f"{question} is {status.name}" for question, status in found.items()))


def _decided(verdict: Verdict, about: Subject, clock: Budget) -> Verdict:
    if verdict.question == "holonomic":
        special: Verdict = verdict.certificate.decided_again(about, clock.remaining)  # type: ignore[union-attr]
        return special
    decide: Any = check_frobenius if verdict.question == "C2" else check_independence
    size = None if about.coordinates else verdict.n_samples
    return decide(about, n_samples=size, budget=clock.remaining)


def _said(verdict: Verdict, what: str) -> str:
    return f"{verdict.question}, says what its certificate says: {what}"


def _are_parameters(record: Mapping[Any, Any], about: Subject) -> bool:
    known = {str(p) for p in about.parameters}
    for key, value in record.items():
        names = {str(key.args[0])} if isinstance(key, DcGain) else {str(s) for s in getattr(key, "free_symbols", {key})}
        if not names or not names | {str(s) for s in getattr(value, "free_symbols", ())} <= known:
            return False
    return bool(record)
