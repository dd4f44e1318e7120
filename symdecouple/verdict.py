"""What an exact question is answered with: a status, the evidence, and a certificate anyone can re-check.

A question ("are the gradients independent?", "is their span involutive?") has one of four answers:

* PROVED: there is a proof, and ``verdict.verify()`` recomputes it by another route;
* REFUTED: there is an exact counterexample (a rational sample), or an exact relation, re-checkable too;
* UNDECIDED: no proof either way within the budget; the reason and the numeric evidence are given. Never "no";
* NUMERICAL: no exact question exists (black-box features); `holds`, residual and tolerance are given.

This module imports the standard library only: symbolic values are held and printed, never built, here.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.shown import Shown, clipped, latex_text

__all__ = ["Certificate", "Check", "ExceptionalValues", "Status", "Verdict"]

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

    def audit(self, budget: float = ...) -> tuple[Check, ...]:
        """Recompute every claim, in so many seconds, and report on each."""

    def verify(self, budget: float = ...) -> bool:
        """Return True iff every claim of the certificate was recomputed and holds."""

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready data in the package's own grammar."""

    def summary(self) -> tuple[str, ...]:
        """Return the lines that a verdict prints about its evidence."""

    def latex(self) -> str:
        """Return the evidence as LaTeX, without the dollar signs."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExceptionalValues(Mapping[Any, Any]):
    """Values of parameters at which C1 or C2 is not what it is in general: a mapping, and what changes there.

    Attributes
    ----------
    at : mapping
        Parameter to value; an equation that is not solved for a parameter is the mapping {expression: 0}.
    changes : tuple of (str, Status)
        Which condition, "C1" or "C2", changes, and to what. UNDECIDED: not decided there.
    undefined : str
        Why the set is not defined there; empty where it is.
    """

    at: Mapping[Any, Any]
    changes: tuple[tuple[str, Status], ...] = ()
    undefined: str = ""

    def __getitem__(self, key: Any) -> Any:
        return self.at[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.at)

    def __len__(self) -> int:
        return len(self.at)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ExceptionalValues) and (self.changes, self.undefined) != (other.changes, other.undefined):
            return False
        return Mapping.__eq__(self, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def question(self) -> str:
        """The condition that changes, C1 before C2; "undefined" where the set is not defined."""
        return self.changes[0][0] if self.changes else "undefined"

    @property
    def status(self) -> Status | None:
        """The answer there to that question."""
        return self.changes[0][1] if self.changes else None

    def __str__(self) -> str:
        where = ", ".join(f"{k} = {v}" for k, v in self.items())
        decided = " and ".join(f"{q} is {s.name}" for q, s in self.changes if s is not Status.UNDECIDED)
        open_ = " and ".join(f"{q} is not decided" for q, s in self.changes if s is Status.UNDECIDED)
        what = " and ".join(filter(None, (decided, open_)))
        return f"{where}: there {self.undefined or what or 'the answer differs or the set degenerates'}"

    def __repr__(self) -> str:
        return f"ExceptionalValues({self})"

    def to_dict(self) -> dict[str, Any]:
        return {"values": {str(k): str(v) for k, v in self.items()}, "undefined": self.undefined,
                "changes": {question: status.name for question, status in self.changes}}


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Shown):
    """The answer to one exact question, with its evidence.

    Attributes
    ----------
    question : str
        "C1" (the gradients, or fields, are linearly independent), "C1 at a sample" (they are at one given sample),
        "C2" (their span is involutive), "holonomic" (all constraints are); of critical points "all critical points",
        "B1" (extrema are global) and "B2" (what flows to saddles is of lower dimension).
    status : Status
        For sets with parameters the status for generic values; see `exceptions` and `at`.
    subject : tuple of str
        The features or fields, as text in the package's grammar.
    n_samples : int, tuple of int or None
        The sample size the answer is about (the shape of a grid, for images); None for every size at once.
    certificate : Certificate or None
        Present iff the status is PROVED or REFUTED.
    reason : str
        Why: one sentence; of an exact answer, what its certificate says.
    evidence : tuple of str
        Numeric findings of an UNDECIDED verdict; about the spectrum of the sample that C1 is decided at; that
        gradients are independent by the rounding of floats only.
    independence : Verdict or None
        The C1 verdict that a C2 verdict rests on.
    vacuous : bool
        True where the gradients span everything (n_samples <= number of independent gradients).
    exceptions : tuple of ExceptionalValues
        Values of the parameters at which the answer differs from the generic one: mappings that say what changes.
    parameters : tuple of str
        The parameters that the answer is generic in.
    not_searched : str
        Why other values may be exceptional too; empty where all were found.
    holds, residual, tolerance : bool, float, float or None
        Only with NUMERICAL.
    noun : str
        What is spoken of: "gradients" of features, or "fields".
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
    exceptions: tuple[ExceptionalValues, ...] = field(default=(), hash=False)
    holds: bool | None = None
    residual: float | None = None
    tolerance: float | None = None
    seconds: float = field(default=0.0, compare=False)
    noun: str = "gradients"
    redecide: Callable[[Mapping[Any, Any]], Verdict] | None = field(default=None, compare=False, repr=False)
    parameters: tuple[str, ...] = ()
    not_searched: str = ""

    def __post_init__(self) -> None:
        if (self.certificate is not None) != (self.status in (Status.PROVED, Status.REFUTED)):
            raise InvalidInput(f"a verdict {self.status.name} {'needs a' if self.certificate is None else 'has no'} "
                               "certificate: exact answers carry one, the others do not")
        figures = (self.holds, self.residual, self.tolerance)
        if figures != (None, None, None) and not (self.status is Status.NUMERICAL and isinstance(self.holds, bool)
                                                  and all(isinstance(f, (int, float)) for f in figures)):
            raise InvalidInput(f"holds, residual and tolerance are what a NUMERICAL verdict has; a {self.status.name} "
                               f"one was given {figures}")
        if not isinstance(self.vacuous, bool):
            raise InvalidInput(f"vacuous is True or False, got {self.vacuous!r}")
        if self.noun not in ("gradients", "fields"):
            raise InvalidInput(f"a verdict is about gradients or about fields, got {self.noun!r}")
        # What a certificate can say is not left to who brings it.
        noun = getattr(getattr(self.certificate, "subject", None), "noun", None)
        told = getattr(self.certificate, "reason", None)
        for name, said in (("noun", noun), ("reason", told(self.n_samples) if callable(told) else None)):
            if isinstance(said, str) and said:
                object.__setattr__(self, name, said)
        object.__setattr__(self, "exceptions", tuple(
            e if isinstance(e, ExceptionalValues) else ExceptionalValues(e) for e in self.exceptions))

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

    @property
    def hidden(self) -> int | None:
        """Of constraints: how many independent functions of coordinates and time stay constant in every motion."""
        return getattr(self.certificate, "hidden", None)

    @property
    def functions(self) -> tuple[Any, ...]:
        """Of constraints: such functions, as many as were found."""
        return getattr(self.certificate, "functions", ())

    def audit(self, budget: float = 20.0) -> tuple[Check, ...]:
        """Check all that the verdict says, against its certificate and by recomputing the certificate.

        That the text of the subject, the size, `vacuous`, the reason and the evidence are those of the certificate;
        that the C1 verdict is about the same set and size; both certificates, by routes of their own; the values of
        parameters in `exceptions`, by deciding again there. That there are no further exceptional values is not
        checked: they are given as far as found.

        Parameters
        ----------
        budget : float
            Seconds. What is not done by then, or is too large to be done, is a check that failed.

        Returns
        -------
        tuple of Check
            For an UNDECIDED or NUMERICAL verdict one that failed: there is nothing to verify.
        """
        from symdecouple.calculus.verification import audited

        return audited(self, budget)

    def verify(self, budget: float = 20.0) -> bool:
        """Return True iff the verdict is exact and all that it says was recomputed; see `audit`.

        A verdict that is UNDECIDED or NUMERICAL has nothing to verify, and the answer is False.

        Examples
        --------
        >>> from symdecouple import Mean, check_frobenius, x
        >>> check_frobenius([Mean(x), Mean(x**2), Mean(x**3)]).verify()
        True
        """
        return all(check.passed for check in self.audit(budget))

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
        if self.question == "holonomic":
            return f"in {self.n_samples} coordinates, the time among them" if getattr(
                self.certificate, "time", None) is not None else f"in {self.n_samples} coordinates"
        size = self.n_samples if self.n_samples is not None else getattr(self.certificate, "n_samples", None)
        size = getattr(self.certificate, "size", None) if size is None else size
        where = getattr(self.certificate, "where", "")
        if isinstance(size, tuple):
            return f"for a grid of {' x '.join(map(str, size))}{where}"
        if size is not None:
            return f"for N = {size}{where}"
        return f"for every N{where}" if self.n0 is None else f"for every N >= {self.n0}{where}"

    def __str__(self) -> str:
        title = {"C1": f"independent {self.noun} (C1)", "C1 at a sample": f"independent {self.noun} at the sample (C1)",
                 "C2": "involutive span (C2, Frobenius)", "holonomic": "holonomic constraints",
                 "B1": "extrema are all global (B1)", "B2": "only a set of lower dimension flows to saddles (B2)"}.get(
            self.question, self.question)
        generic = f", for generic values of {', '.join(self.parameters)}" if self.parameters else ""
        lines = [f"{title}: {self.status.name} {self.scope}{generic}" + (" (vacuous)" if self.vacuous else "")]
        lines += [f"  {k}  {clipped(text)}" for k, text in enumerate(self.subject, 1)]
        forms = getattr(getattr(self.certificate, "subject", None), "forms", ())
        if forms and self.question == "C2":
            lines.append(f"  the kernel of {', '.join(map(str, forms))}")
        if self.reason:
            lines.append(f"  why: {self.reason}")
        if self.certificate is not None:
            lines += [f"  {line}" for line in self.certificate.summary()]
        lines += [f"  evidence: {line}" for line in self.evidence]
        lines += [f"  except at {values}" for values in self.exceptions]
        if self.not_searched:
            lines.append(f"  other exceptional values are possible: {self.not_searched}")
        if self.independence is not None:
            c1 = self.independence
            where = getattr(c1.certificate, "where", "")
            lines.append(f"  C1: {c1.status.name}{where}" + (f", {c1.reason}" if c1.reason else ""))
            lines += [f"  C1, evidence: {line}" for line in c1.evidence if c1.certificate is not None]
        if self.holds is not None:
            lines.append(f"  holds = {self.holds}, residual {self.residual:.3g}, tolerance {self.tolerance:.3g}")
        return "\n".join(lines)

    def latex(self) -> str:
        """Return the answer and its evidence as LaTeX, without the dollar signs."""
        body = self.certificate.latex() if self.certificate is not None else latex_text(self.reason)
        return rf"{latex_text(f'{self.question} {self.status.name} {self.scope}')}:\quad {body}"

    def document(self) -> str:
        """Return a LaTeX document, which stands alone: a theorem with its proof; or that there is none, and why."""
        from symdecouple.analysis.documents import verdict_document

        return verdict_document(self)

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON-ready data (expressions as text in the package's grammar)."""
        return {
            "format": FORMAT, "version": VERSION, "question": self.question, "status": self.status.name,
            "subject": list(self.subject), "n_samples": self.n_samples, "reason": self.reason,
            "evidence": list(self.evidence), "vacuous": self.vacuous,
            "failing_pair": list(self.failing_pair) if self.failing_pair else None, "n0": self.n0,
            "exceptions": [values.to_dict() for values in self.exceptions],
            "parameters": list(self.parameters), "not_searched": self.not_searched,
            "holds": self.holds, "residual": self.residual, "tolerance": self.tolerance, "seconds": self.seconds,
            "noun": self.noun,
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
