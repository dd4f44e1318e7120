"""A verdict in words: what was asked, the answer, the theorem that carries it, what it means, and how to check it.

Certificates say what was computed. The theorems of the documentation say why that settles the question: Frobenius'
theorem always, and for averages, for mean, variance and one more, for commuting filters and for modified sets one that
says more. Which of them applies is decided by its hypotheses, on the features that the certificate is about.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from sympy import S

from symdecouple.calculus.subject import Subject
from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.families.quadratic import recognize_quadratic
from symdecouple.language.canonical import close, decompose, statistics_of
from symdecouple.language.feature_set import FeatureSet
from symdecouple.shown import Shown
from symdecouple.verdict import Status, Verdict

__all__ = ["Explained", "explain"]

WIDTH = 96

_ASKED = {
    "C1": "Are the gradients linearly independent (C1)?",
    "C1 at a sample": "Are the gradients linearly independent at this sample (C1)?",
    "C2": "Do the gradients span an involutive distribution (C2): is every bracket of two of them in their span?",
    "holonomic": "Are all constraints holonomic: do they come from functions that stay constant?",
    "B1": "Is every local extremum on the reference manifold a global one (B1)?",
    "B2": "Do only samples of lower dimension flow to saddles (B2)?",
    "all critical points": "Are these all critical points?",
}
_FROBENIUS = ("Frobenius", "a distribution has leaves, to which its fields are tangent, exactly where all brackets of "
              "its fields stay in their span")
_ENDS = ("as long as all modified sets are involutive, one more feature is decoupled exactly; the bracket at this "
         "witness")
_THEOREMS = {
    "averages": ("Theorem A", "averages are involutive exactly if their derivatives form a Lie algebra on the line, "
                 "which has at most three dimensions"),
    "affine": ("Theorem D", "mean, variance and a third feature are involutive exactly if the third is a function of "
               "the mean, the variance and something that no shift and no scale changes"),
    "energies": ("Theorem E", "energies of filters that commute have commuting gradients, and one convex problem in "
                 "the frequency domain normalizes them"),
    "affine covariance": ("Theorem D", "once mean and variance are at their references, any smooth third feature does "
                          "not change with shift and scale any more, and is involutive with them"),
    "modified non-involution": ("Theorem D", f"{_ENDS} ends that"),
    "full span": ("no theorem", "as many independent gradients as samples span everything, brackets included"),
    "cells": ("Theorem O", "with kinks an answer holds on each cell of sign patterns, and on all samples where all "
              "cells agree"),
    "holonomy": ("Theorem M", "the constraints that hide in a set are as many as coordinates are left by the closure "
                 "of its kernel"),
    "critical": ("Theorem I", "at regular critical points of averages that form a Chebyshev system a sample has one "
                 "value less than the level counts"),
    "spectral": ("Theorem E", "energies of filters that commute are decoupled by a convex problem in the frequency "
                 "domain"),
}
_SINGLE = "no theorem", "the bracket of a field with itself vanishes"
_C1 = "linear algebra", "a minor that is not zero at one sample is not zero at generic ones"
_C1_REFUTED = "linear algebra", "features with dependent gradients are functions of each other"

_MEANS = {
    ("C2", Status.PROVED): "Samples lie on leaves along which all features can be brought to their references, by "
    "closed forms where the flows have them, in whatever order. How far decoupling is exact is a question about the "
    "modified sets: analysis.explore(features) answers it for every order.",
    ("C2", Status.REFUTED): "There are no leaves of these features, and no closed forms for all of them: levels are "
    "reached along the narrow path. Some features may still be decoupled exactly: analysis.explore(features) tells "
    "which and in which order, involutive_closure(features) what is missing.",
    ("C1", Status.REFUTED): "Nothing is left of one feature once the others are at their references: leave one out.",
    ("C1", Status.PROVED): "Each feature says something that the others do not.",
}
_MEANS_MODIFIED = {
    ("C2", Status.PROVED): "If the modified sets of the features before are involutive too, one more feature, whatever "
    "it is, is decoupled exactly from all of these.",
    ("C2", Status.REFUTED): "One more feature is orthogonal to these on the reference manifold; elsewhere it need not "
    "be: analysis.orthogonality measures how far from it they are.",
}


@dataclass(frozen=True, slots=True, repr=False)
class Explained(Shown):
    """A verdict in words.

    Attributes
    ----------
    verdict : Verdict
    asked, answer, theorem, says, means, check : str
        The question; the answer, with its scope and why; the name of the theorem that carries it and what that says;
        what follows for whoever wants to decouple; how to check it. `theorem` and `says` are empty where nothing is
        proved.
    """

    verdict: Verdict
    asked: str
    answer: str
    theorem: str
    says: str
    means: str
    check: str

    def __str__(self) -> str:
        carried = f"{self.theorem}: {self.says}." if self.theorem else ""
        numbered = [f"  {k}  {text}" for k, text in enumerate(self.verdict.subject, 1)]
        lines = [*numbered, ""]
        for head, text in (("Question", self.asked), ("Answer", self.answer), ("Carried by", carried),
                           ("It means", self.means), ("To check", self.check)):
            if text:
                lines += textwrap.wrap(f"{head + ':':<12}{text}", WIDTH, subsequent_indent=" " * 12)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the words as JSON-ready data, with the verdict."""
        return {"asked": self.asked, "answer": self.answer, "theorem": self.theorem, "says": self.says,
                "means": self.means, "check": self.check, "verdict": self.verdict.to_dict()}


def explain(verdict: Verdict) -> Explained:
    """Return a verdict in words, with the theorem that carries it.

    Parameters
    ----------
    verdict : Verdict
        Of features, modified sets, fields, constraints or critical points; also one that was read from a file.

    Returns
    -------
    Explained

    Raises
    ------
    InvalidInput
        If it is not a verdict.

    Examples
    --------
    >>> from symdecouple import Mean, check_frobenius, x
    >>> explain(check_frobenius([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)])).theorem
    'Theorem A'
    >>> from symdecouple import kurtosis, variance
    >>> print(explain(check_frobenius([Mean(x), variance(), kurtosis()])).says[:70])
    mean, variance and a third feature are involutive exactly if the third
    """
    if not isinstance(verdict, Verdict):
        raise InvalidInput(f"a verdict is expected, as check_frobenius(features) returns it; got "
                           f"{type(verdict).__name__}")
    theorem, says = _carried(verdict)
    return Explained(verdict, _ASKED.get(verdict.question, verdict.question), _answer(verdict), theorem, says,
                     _meaning(verdict), _check(verdict))


def _answer(verdict: Verdict) -> str:
    words = {Status.PROVED: "Yes, proved", Status.REFUTED: "No, refuted", Status.UNDECIDED: "Not decided",
             Status.NUMERICAL: f"Numerically {'yes' if verdict.holds else 'no'}, which proves nothing"}
    scope = f" {verdict.scope}" if verdict.certificate is not None else ""
    generic = f", for generic values of {', '.join(verdict.parameters)}" if verdict.parameters else ""
    why = f": {verdict.reason}" if verdict.reason else ""
    vacuous = " (vacuously)" if verdict.vacuous else ""
    except_at = "".join(f" Except at {values}." for values in verdict.exceptions)
    return f"{words[verdict.status]}{vacuous}{scope}{generic}{why}.{except_at}"


def _carried(verdict: Verdict) -> tuple[str, str]:
    certificate = verdict.certificate
    kind = getattr(certificate, "kind", "")
    if certificate is None:
        return "", ""
    if verdict.question.startswith("C1"):
        return _C1 if verdict.status is Status.PROVED else _C1_REFUTED
    if kind.startswith("critical points"):
        return _THEOREMS["spectral" if "spectra" in kind else "critical"]
    if kind in _THEOREMS:
        return _THEOREMS[kind]
    if verdict.question == "C2" and len(verdict.subject) == 1:
        return _SINGLE
    subject, c1 = getattr(certificate, "subject", None), verdict.independence
    if isinstance(subject, Subject) and c1 is not None and c1.status is Status.PROVED and subject.noun == "gradients":
        return _THEOREMS.get(_family(subject), _FROBENIUS)
    return _FROBENIUS


def _family(subject: Subject) -> str:
    """Return which theorem says more than Frobenius' of independent features; nothing where none does."""
    if subject.kind != "mean":
        return ""
    try:
        features = FeatureSet(subject.items)
        if features.filter_ndim is not None:
            forms = None if features.parameters else recognize_quadratic(features)
            return "energies" if forms is not None and len(forms) == len(features) else ""
        parts = [decompose(close(f.gradient.expr, f.sample), f.sample) for f in features]
    except SymdecoupleError:
        return ""
    if not any(statistics_of(psi) | statistics_of(c) for part in parts for psi, c in part.items()):
        return "averages"
    linear = [part for part in parts if set(part) <= {S.One, features.sample}]
    return "affine" if len(parts) == 3 and len(linear) == 2 else ""


def _meaning(verdict: Verdict) -> str:
    if verdict.status is Status.UNDECIDED:
        seen = f" What was seen: {'; '.join(verdict.evidence)}." if verdict.evidence else ""
        return f"Nothing: not decided is not no.{seen}"
    c1 = verdict.independence
    if c1 is not None and c1.status is Status.REFUTED:
        return f"The gradients are dependent. {_MEANS['C1', Status.REFUTED]}"
    if verdict.vacuous:
        return "Every sample can be moved everywhere: with so many features nothing is left of a sample beside them."
    modified = getattr(verdict.certificate, "kind", "").startswith(("modified", "affine covariance"))
    return (_MEANS_MODIFIED if modified else _MEANS).get((verdict.question, verdict.status), "")


def _check(verdict: Verdict) -> str:
    if verdict.certificate is None:
        return ""
    if getattr(verdict.certificate, "kind", "") == "modified non-involution":
        return ("verdict.verify() proves anew that the features before each level are involutive, and recomputes the "
                "minor at the witness.")
    kind = "the witness, a sample with exact numbers," if verdict.status is Status.REFUTED else "every claim"
    return f"verdict.verify() recomputes {kind} by another route than the one that found it."
