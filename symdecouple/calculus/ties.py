"""What a verdict says beside its certificate, tied to it: subject, size, reason, evidence, C1.

Each tie is recomputed from the certificate at once, without verifying it, so that a text with an edited sentence is
refused when it is read. What the certificate itself claims is for its audit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from symdecouple.calculus.field import VectorField
from symdecouple.calculus.subject import Size, Subject, count
from symdecouple.errors import SymdecoupleError
from symdecouple.language.feature import Feature
from symdecouple.language.text import parse, parse_expression
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
        yield Check("subject", isinstance(about, Subject) and _describe(verdict.subject, about, verdict.n_samples),
                    f"the certificate is about {', '.join(about.texts())}" if isinstance(about, Subject) else "none")
        yield Check("n_samples", covers(certificate, verdict.n_samples), "the certificate is for "
                    + ("every N" if certificate.n_samples is None else f"N = {certificate.n_samples}"))
        yield Check("vacuous", verdict.vacuous is (certificate.kind == "full span"), f"{certificate.kind}")
        reason = certificate.reason(verdict.n_samples)
        yield Check("reason", reason in ("", verdict.reason), reason)
        if evidence:
            found = certificate.evidence()
            yield Check("evidence", verdict.evidence == found, "; ".join(found) or "none")
    if (inner := verdict.independence) is not None:
        yield from _independence(verdict, inner, evidence)


def covers(certificate: Any, n_samples: Size | None) -> bool:
    """True where the certificate is about this size: its own, or one from its N0 on where it is about every size."""
    axes = n_samples if isinstance(n_samples, tuple) else (n_samples,)
    if n_samples is not None and not all(type(n) is int and n > 0 for n in axes):
        return False
    if n_samples is None or certificate.n_samples == n_samples:
        return True
    if certificate.subject.coordinates:
        return bool(certificate.n_samples == count(n_samples))
    return certificate.n_samples is None and (getattr(certificate, "n0", None) or 0) <= count(n_samples)


def _independence(verdict: Verdict, inner: Verdict, evidence: bool) -> Iterator[Check]:
    """C1 of the same set at the same size; where it is refuted, the refutation of C2 says how, and only there."""
    yield Check("independence", verdict.question == "C2" and inner.question == "C1" and inner.independence is None
                and inner.subject == verdict.subject and inner.n_samples == verdict.n_samples,
                f"C1 of {', '.join(verdict.subject)} is expected, at the same size")
    for check in ties(inner, evidence):
        yield Check(f"C1, {check.name}", check.passed, check.detail)
    relations = getattr(verdict.certificate, "relations", None)
    if relations is not None and inner.certificate is not None:
        yield Check("independence and relations", bool(relations) is (inner.status is Status.REFUTED),
                    f"C1 is {inner.status.name}, with {len(relations)} relations")


def _describe(texts: Sequence[str], about: Subject, n_samples: Size | None) -> bool:
    """True iff the texts are those of the subject, or of one that is the subject once written out in coordinates."""
    if tuple(texts) == about.texts():
        return True
    try:
        return len(texts) == len(about) and all(
            _same(text, item, n_samples) for text, item in zip(texts, about.items, strict=True))
    except SymdecoupleError:
        return False


def _same(text: str, item: Any, n_samples: Size | None) -> bool:
    if isinstance(item, VectorField):
        if not item.coordinates or n_samples is None:
            return False
        return bool(VectorField(parse_expression(text), allow_nonsmooth=item.allow_nonsmooth
                                ).at(n_samples=n_samples) == item)
    size = len(item.coordinates) or None
    read = parse(text, sample=item.sample, n_samples=size, allow_nonsmooth=item.allow_nonsmooth)
    if read.kind == "mean" and size and n_samples is not None:
        read = read.at(n_samples=n_samples)
    return bool(Feature(read) == item)
