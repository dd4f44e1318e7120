"""The corpus as a table: ``python -m tests.laws.report [WORD ...]`` decides every set whose name or family has a word.

Columns: the answer, where it holds, process seconds to decide and to verify, and what is wrong, if anything: an answer
that is not that of the oracle, a certificate that does not verify, a verdict that JSON does not keep, an exception.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any, NamedTuple

from symdecouple import Status, Verdict, check_frobenius, verdict_from_json
from tests.laws.corpus import CORPUS, Row, build


class Found(NamedTuple):
    """What became of one set."""

    status: str
    scope: str
    seconds: float
    verifying: float
    complaint: str
    reason: str = ""
    verdict: Any = None


def look(row: Row, budget: float = 10.0) -> Found:
    """Decide one set, check its certificates, and send the verdict through JSON."""
    start = time.process_time()
    try:
        verdict = check_frobenius(build(row), n_samples=row.n_samples, budget=budget)
    except Exception as error:
        return Found("ERROR", "", time.process_time() - start, 0.0, f"{type(error).__name__}: {str(error)[:80]}")
    seconds = time.process_time() - start
    start = time.process_time()
    try:
        complaint = wrong(row, verdict)
    except Exception as error:
        complaint = f"verifying: {type(error).__name__}: {str(error)[:80]}"
    scope = verdict.scope + (" (vacuous)" if verdict.vacuous else "")
    c1 = verdict.independence
    reason = verdict.reason if verdict.status is Status.UNDECIDED else ""
    if not reason and c1 is not None and c1.status is Status.UNDECIDED:
        reason = f"C1: {c1.reason}"
    return Found(verdict.status.name, scope, seconds, time.process_time() - start, complaint, reason, verdict)


def wrong(row: Row, verdict: Verdict) -> str:
    """Return what is wrong with a verdict; empty where nothing is."""
    c1 = verdict.independence
    assert c1 is not None
    for status, truth, name in ((c1.status, row.independent, "C1"), (verdict.status, row.involutive, "C2")):
        if status is not Status.UNDECIDED and (status is Status.PROVED) is not truth and not verdict.vacuous:
            return f"WRONG: {name} is {truth}"
    return unverified(verdict)


def unverified(verdict: Verdict) -> str:
    """Return which certificate does not verify, or that JSON does not keep the verdict; empty where all is well."""
    back = verdict_from_json(verdict.to_json())
    for one in (verdict, verdict.independence, back):
        if one is not None and one.certificate is not None and not getattr(one, "verify", one.certificate.verify)():
            failed = [str(check) for check in one.certificate.audit() if not check.passed]
            return f"unverified {one.question}: {failed[:1]}"[:160]
    if (back.status, back.subject, back.scope) != (verdict.status, verdict.subject, verdict.scope):
        return "unverified: JSON changed the verdict"
    return ""


def main(words: list[str]) -> None:
    tally: Counter[str] = Counter()
    print(f"{'set':42} {'family':12} {'status':10} {'scope':20} {'decide':>7} {'verify':>7}  remark")
    for name, row in CORPUS.items():
        if words and not any(word in (name, row.family) or word in name.split() for word in words):
            continue
        found = look(row)
        print(f"{name[:42]:42} {row.family:12} {found.status:10} {found.scope[:20]:20} {found.seconds:7.2f} "
              f"{found.verifying:7.2f}  {found.complaint or found.reason[:100]}", flush=True)
        decided = found.status in ("PROVED", "REFUTED")
        one_size = row.n_samples is not None or bool(row.coordinates)
        tally.update({"sets": 1, found.status: 1, "every N": decided and found.scope.startswith("for every"),
                      "the size asked for": decided and one_size, "2 s": found.seconds <= 2,
                      "verified in 5 s": found.verifying <= 5, "faults": bool(found.complaint),
                      "asked for every N": not one_size})
    print("\n".join(f"{key:20} {count:4}" for key, count in tally.items()))
    print(f"decided for every N: {tally['every N']} of the {tally['asked for every N']} sets that are asked so "
          f"({tally['every N'] / max(1, tally['asked for every N']):.1%})")


if __name__ == "__main__":
    main(sys.argv[1:])
