"""What a verdict says beside its certificate, tied to it: subject, size, reason, evidence, C1.

Each tie is recomputed from the certificate at once, without verifying it, so that a text with an edited sentence is
refused when it is read. What the certificate itself claims is for its audit.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from symdecouple.calculus.subject import Size, Subject, count
from symdecouple.verdict import Check, Status, Verdict

__all__ = ["covers", "ties"]


def ties(verdict: Verdict, evidence: bool = True) -> Iterator[Check]:
    """Yield a check for each thing that a verdict says and that must agree with its certificate.

    Parameters
    ----------
    verdict : Verdict
    evidence : bool
        Recompute the findings too, which takes the fields at a sample.
    """
    certificate: Any = verdict.certificate
    if certificate is not None:
        answers = getattr(certificate, "answers", None)
        yield Check("question and status", answers == (verdict.question, verdict.status),
                    f"the certificate answers {' '.join(str(getattr(a, 'name', a)) for a in answers or ())}")
        about = getattr(certificate, "subject", None)
        yield Check("subject", isinstance(about, Subject) and certificate.describes(verdict.subject, verdict.n_samples),
                    f"the certificate is about {', '.join(about.texts())}" if isinstance(about, Subject) else "none")
        symbols = tuple(map(str, about.symbols)) if isinstance(about, Subject) else verdict.parameters
        yield Check("parameters", verdict.parameters == symbols, f"the certificate has {', '.join(symbols) or 'none'}")
        yield Check("not_searched", bool(symbols) or not verdict.not_searched, "there are no parameters to search")
        yield Check("n_samples", covers(certificate, verdict.n_samples),
                    f"the verdict is for N = {verdict.n_samples}, its certificate is not")
        vacuous = getattr(certificate, "vacuous", certificate.kind == "full span")
        yield Check("vacuous", verdict.vacuous is vacuous, f"{certificate.kind}")
        reason = certificate.reason(verdict.n_samples)
        yield Check("reason", reason in ("", verdict.reason), reason)
        if evidence:
            found = certificate.evidence()
            yield Check("evidence", verdict.evidence == found, "; ".join(found) or "none")
    distinct = [dict(values) for n, values in enumerate(verdict.exceptions)
                if dict(values) not in [dict(other) for other in verdict.exceptions[:n]]]
    yield Check("exceptions", len(distinct) == len(verdict.exceptions), "each is given once")
    if (inner := verdict.independence) is not None:
        yield from _independence(verdict, inner, evidence)


def covers(certificate: Any, n_samples: Size | None) -> bool:
    """True where the certificate is about this size: its own, or one from its N0 on where it is about every size."""
    if n_samples is None:
        return True
    axes = n_samples if isinstance(n_samples, tuple) else (n_samples,)
    if not (all(type(n) is int and n > 0 for n in axes) and prod(axes) >= 2):
        return False
    if certificate.n_samples == n_samples:
        return True
    if certificate.subject.coordinates:
        return bool(certificate.n_samples == count(n_samples))
    return certificate.n_samples is None and (getattr(certificate, "n0", None) or 0) <= count(n_samples)


def _independence(verdict: Verdict, inner: Verdict, evidence: bool) -> Iterator[Check]:
    """C1 of the same set at the same size; where it is refuted, the refutation of C2 says how, and only there."""
    yield Check("independence", verdict.question == "C2" and inner.question == "C1" and inner.independence is None
                and inner.subject == verdict.subject and inner.n_samples == verdict.n_samples,
                f"C1 of {', '.join(verdict.subject)} is expected, at the same size")
    about = [getattr(v.certificate, "subject", None) for v in (verdict, inner)]
    if all(isinstance(subject, Subject) and subject.has_levels for subject in about):  # texts name no references
        yield Check("references", about[0] == about[1], "C1 of features at the same levels and references is expected")
    for check in ties(inner, evidence):
        yield Check(f"C1, {check.name}", check.passed, check.detail)
    relations = getattr(verdict.certificate, "relations", None)
    if relations is not None and inner.certificate is not None:
        yield Check("independence and relations", bool(relations) is (inner.status is Status.REFUTED),
                    f"C1 is {inner.status.name}, with {len(relations)} relations")
