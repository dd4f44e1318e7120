"""What an exact question is answered with: a status, the evidence, and a certificate anyone can re-check.

A question ("are the gradients independent?", "is their span involutive?") has one of four answers:

* PROVED: there is a proof, and ``verdict.certificate.verify()`` recomputes it by another route;
* REFUTED: there is an exact counterexample (a rational sample), or an exact relation, re-checkable too;
* UNDECIDED: no proof either way within the budget; the reason and the numeric evidence are given. Never "no";
* NUMERICAL: no exact question exists (black-box features); `holds`, residual and tolerance are given.

This module imports the standard library only: symbolic values are held and printed, never built, here.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from symdecouple.errors import InvalidInput, SymdecoupleError

__all__ = ["Certificate", "Check", "Status", "Verdict"]

FORMAT = "symdecouple.verdict"
VERSION = 1


class Status(enum.Enum):
    """The four kinds of answer; the value is the sentence that is printed."""

    PROVED = "proved exactly"
    REFUTED = "refuted by an exact counterexample"
    UNDECIDED = "not decided"
    NUMERICAL = "checked numerically, not proved"


@dataclass(frozen=True, slots=True)
class Check:
    """One step of a verification: what was recomputed, whether it came out as claimed, and the figures."""

    name: str
    passed: bool
    detail: str = ""

    def __str__(self) -> str:
        return f"{'ok  ' if self.passed else 'FAIL'} {self.name}" + (f": {self.detail}" if self.detail else "")


@runtime_checkable
class Certificate(Protocol):
    """Evidence that can be re-checked without trusting whoever made it."""

    def audit(self) -> tuple[Check, ...]:
        """Recompute every claim and report on each."""

    def verify(self) -> bool:
        """Return True iff every claim of the certificate was recomputed and holds."""

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready data in the package's own grammar."""

    def summary(self) -> tuple[str, ...]:
        """Return the lines that a verdict prints about its evidence."""

    def latex(self) -> str:
        """Return the evidence as LaTeX, without the dollar signs."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one exact question, with its evidence.

    Attributes
    ----------
    question : str
        "C1" (the gradients are linearly independent), "C1 at a sample" (they are at one given sample) or "C2" (their
        span is involutive).
    status : Status
        For sets with parameters the status for generic values; see `exceptions` and `at`.
    subject : tuple of str
        The features or fields, as text in the package's grammar.
    n_samples : int, tuple of int or None
        The sample size the answer is about (the shape of a grid, for images); None for every size at once.
    certificate : Certificate or None
        Present iff the status is PROVED or REFUTED.
    reason : str
        Why: one sentence.
    evidence : tuple of str
        Numeric findings of an UNDECIDED verdict, or about the spectrum of the sample that C1 is decided at.
    independence : Verdict or None
        The C1 verdict that a C2 verdict rests on.
    vacuous : bool
        True where the gradients span everything (n_samples <= number of independent gradients).
    exceptions : tuple of mappings
        Values of the parameters at which the answer differs from the generic one, as far as found.
    holds, residual, tolerance : bool, float, float or None
        Only with NUMERICAL.
    """

    question: str
    status: Status
    subject: tuple[str, ...]
    n_samples: int | tuple[int, ...] | None = None
    certificate: Certificate | None = None
    reason: str = ""
    evidence: tuple[str, ...] = ()
    independence: Verdict | None = None
    vacuous: bool = False
    exceptions: tuple[Mapping[Any, Any], ...] = field(default=(), hash=False)
    holds: bool | None = None
    residual: float | None = None
    tolerance: float | None = None
    seconds: float = field(default=0.0, compare=False)
    redecide: Callable[[Mapping[Any, Any]], Verdict] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if (self.certificate is not None) != (self.status in (Status.PROVED, Status.REFUTED)):
            raise InvalidInput(f"a verdict {self.status.name} {'needs a' if self.certificate is None else 'has no'} "
                               "certificate: exact answers carry one, the others do not")

    def __bool__(self) -> bool:
        raise TypeError(f"a verdict is not a bool ({self.question} is {self.status.name}): "
                        "compare verdict.status with Status.PROVED, Status.REFUTED or Status.UNDECIDED")

    @property
    def failing_pair(self) -> tuple[int, int] | None:
        """The pair of fields, counted from 1, whose bracket leaves the span."""
        return getattr(self.certificate, "pair", None)

    @property
    def structure(self) -> Mapping[tuple[int, int], tuple[Any, ...]] | None:
        """The structure functions: ``structure[i, j][k-1]`` is c_ij^k in [v_i, v_j] = sum_k c_ij^k v_k."""
        return getattr(self.certificate, "structure", None)

    @property
    def witness(self) -> Any:
        """The sample that refutes (or, for C1, that shows independence), with its exact minor."""
        return getattr(self.certificate, "witness", None)

    @property
    def n0(self) -> int | None:
        """The sample size from which on the answer holds at generic samples (sufficient, not sharp)."""
        return getattr(self.certificate, "n0", None)

    @property
    def nonvanishing(self) -> tuple[Any, ...]:
        """The expressions that the structure functions divide by: the proof is valid where none vanishes."""
        return getattr(self.certificate, "nonvanishing", ())

    def at(self, values: Mapping[Any, Any]) -> Verdict:
        """Decide again with parameters bound to values.

        Parameters
        ----------
        values : mapping
            Parameter (symbol or its name) to exact number or expression.

        Returns
        -------
        Verdict

        Raises
        ------
        InvalidInput
            If the verdict has no parameters to bind (it was read from a file, say).
        """
        if self.redecide is None:
            raise InvalidInput(f"this {self.question} verdict keeps no features to bind {dict(values)} in; "
                               "decide the bound features: check_frobenius(features.bind(values))")
        return self.redecide(values)

    @property
    def scope(self) -> str:
        """The sample sizes the answer is for, in words."""
        size = self.n_samples if self.n_samples is not None else getattr(self.certificate, "n_samples", None)
        size = getattr(self.certificate, "size", None) if size is None else size
        where = getattr(self.certificate, "where", "")
        if isinstance(size, tuple):
            return f"for a grid of {' x '.join(map(str, size))}{where}"
        if size is not None:
            return f"for N = {size}{where}"
        return f"for every N{where}" if self.n0 is None else f"for every N >= {self.n0}{where}"

    def __str__(self) -> str:
        title = {"C1": "independent gradients (C1)", "C1 at a sample": "independent gradients at the sample (C1)",
                 "C2": "involutive span (C2, Frobenius)"}.get(self.question, self.question)
        lines = [f"{title}: {self.status.name} {self.scope}" + (" (vacuous)" if self.vacuous else "")]
        lines += [f"  {k}  {_clip(text)}" for k, text in enumerate(self.subject, 1)]
        if self.reason:
            lines.append(f"  why: {self.reason}")
        if self.certificate is not None:
            lines += [f"  {line}" for line in self.certificate.summary()]
        lines += [f"  evidence: {line}" for line in self.evidence]
        for values in self.exceptions:
            lines.append("  except at " + ", ".join(f"{k} = {v}" for k, v in values.items())
                         + ": there the answer differs or the set degenerates, see .at(...)")
        if self.independence is not None:
            c1 = self.independence
            where = getattr(c1.certificate, "where", "")
            lines.append(f"  C1: {c1.status.name}{where}" + (f", {c1.reason}" if c1.reason else ""))
        if self.holds is not None:
            lines.append(f"  holds = {self.holds}, residual {self.residual:.3g}, tolerance {self.tolerance:.3g}")
        return "\n".join(lines)

    def _repr_latex_(self) -> str:
        body = self.certificate.latex() if self.certificate is not None else r"\text{" + self.reason + "}"
        return rf"$\displaystyle \text{{{self.question} {self.status.name} {self.scope}}}:\quad {body}$"

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON-ready data (expressions as text in the package's grammar)."""
        return {
            "format": FORMAT, "version": VERSION, "question": self.question, "status": self.status.name,
            "subject": list(self.subject), "n_samples": self.n_samples, "reason": self.reason,
            "evidence": list(self.evidence), "vacuous": self.vacuous,
            "failing_pair": list(self.failing_pair) if self.failing_pair else None, "n0": self.n0,
            "exceptions": [{str(k): str(v) for k, v in values.items()} for values in self.exceptions],
            "holds": self.holds, "residual": self.residual, "tolerance": self.tolerance, "seconds": self.seconds,
            "independence": self.independence.to_dict() if self.independence is not None else None,
            "certificate": self.certificate.to_dict() if self.certificate is not None else None,
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return the verdict as JSON text; `symdecouple.verdict_from_json` is the inverse.

        Parameters
        ----------
        indent : int or None
            As in `json.dumps`.
        """
        return json.dumps(self.to_dict(), indent=indent)

    def require(self, status: Status = Status.PROVED) -> Verdict:
        """Return the verdict itself if it has this status, and raise with the whole verdict otherwise."""
        if self.status is not status:
            raise SymdecoupleError(f"expected {status.name}:\n{self}")
        return self


def _clip(text: str, width: int = 100) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
