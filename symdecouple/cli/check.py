"""``symdecouple check``: formulas to a verdict on C1 and C2, its certificate verified before it is believed."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.cli.declaration import declared
from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.streams import read_input_text
from symdecouple.cli.waiting import told_to_wait
from symdecouple.errors import BudgetExceeded, InvalidInput
from symdecouple.language.feature_set import FeatureSet
from symdecouple.verdict import Check, Status, Verdict

__all__ = ["Verification", "decided", "exit_code", "formulas_in", "formulas_of", "run", "verify"]

MAX_STDIN = 1_000_000


@dataclass(frozen=True, slots=True)
class Verification:
    """Every check that was made of the certificates of C2 and C1, and how long they took."""

    checks: tuple[Check, ...]
    seconds: float

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)

    @property
    def ran_out(self) -> bool:
        """True where a check was not finished in time, and none came out wrong."""
        return bool(self.failed) and all(BudgetExceeded.__name__ in check.detail for check in self.failed)

    def __str__(self) -> str:
        count = f"{len(self.checks)} check{'s' * (len(self.checks) != 1)} in {self.seconds:.2f} s"
        if not self.failed:
            return f"verified, {count}"
        if self.ran_out:
            return f"not verified in time, {count}"
        return f"NOT VERIFIED, {len(self.failed)} of {count} failed"

    def to_dict(self) -> dict[str, Any]:
        checks = [{"name": check.name, "passed": check.passed, "detail": check.detail} for check in self.checks]
        return {"passed": not self.failed, "seconds": self.seconds, "checks": checks}


def run(arguments: argparse.Namespace) -> int:
    """Decide, verify and print; the exit code is the answer."""
    features, verdict = decided(arguments.formulas, arguments)
    verification = None
    if arguments.verify != "skip":
        with told_to_wait("verifying the certificate; --no-verify leaves that out"):
            verification = verify(verdict, arguments.budget)
    print(_written(features, verdict, verification, arguments))
    return _code(verdict, verification)


def decided(formulas: Sequence[str], arguments: argparse.Namespace) -> tuple[FeatureSet, Verdict]:
    """Return the features of formulas, with the verdict on C2."""
    features = declared(formulas_of(formulas), arguments, arguments.n_samples)
    with told_to_wait(f"deciding; gives up after {arguments.budget:g} s"):
        return features, check_frobenius(features, n_samples=arguments.n_samples, budget=arguments.budget)


def exit_code(verdict: Verdict) -> ExitCode:
    """The answer to "C1 and C2?": refuted by either, proved by both."""
    answers = [verdict.status] + ([verdict.independence.status] if verdict.independence is not None else [])
    if Status.REFUTED in answers:
        return ExitCode.REFUTED
    return ExitCode.PROVED if set(answers) == {Status.PROVED} else ExitCode.UNDECIDED


def verify(verdict: Verdict, budget: float = 30.0) -> Verification | None:
    """Verify a C2 verdict, or the C1 verdict in it where only that is exact; None where there is no certificate."""
    exact = next((v for v in (verdict, verdict.independence) if v is not None and v.certificate is not None), None)
    if exact is None:
        return None
    start = time.perf_counter()
    checks = exact.audit(budget)
    return Verification(checks, time.perf_counter() - start)


def formulas_of(given: Sequence[str]) -> Iterator[str]:
    """Yield the formulas that were given, those of standard input in the place of -."""
    for formula in given:
        if formula.strip() == "-":
            yield from formulas_in(read_input_text(MAX_STDIN))
        else:
            yield formula


def formulas_in(text: str) -> list[str]:
    """Return the formulas of standard input, one a line, comments aside."""
    if len(text) > MAX_STDIN:
        raise InvalidInput(f"standard input holds more than {MAX_STDIN} characters; formulas are one a line")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise InvalidInput("standard input holds no formula; write one a line, for instance mean(x^2)")
    return lines


def _written(features: FeatureSet, verdict: Verdict, verification: Verification | None,
             arguments: argparse.Namespace) -> str:
    if arguments.json:
        extra = {"verification": None if verification is None else verification.to_dict()}
        return json.dumps(verdict.to_dict() | extra, indent=2)
    if arguments.document:
        return verdict.document().removesuffix("\n")
    if arguments.latex:
        return "\n".join(rf"$\displaystyle {shown.latex()}$" for shown in (features, verdict))
    lines = [str(verdict)]
    if verification is not None:
        lines.append(f"  certificates: {verification}")
    if verification is not None and arguments.verify == "show":
        lines += [f"    {check}" for check in verification.checks]
    return "\n".join(lines)


def _code(verdict: Verdict, verification: Verification | None) -> ExitCode:
    if verification is None or not verification.failed:
        return exit_code(verdict)
    if verification.ran_out:
        print("symdecouple: the certificate was not verified in time; --budget gives it more", file=sys.stderr)
        return ExitCode.UNDECIDED
    failed = "\n".join(f"  {check}" for check in verification.failed)
    print(f"symdecouple: internal error: the verdict above is not to be trusted, its certificate failed:\n{failed}\n"
          "Please report it, with the command", file=sys.stderr)
    return ExitCode.INTERNAL
