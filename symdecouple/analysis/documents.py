r"""A verdict as a document: a theorem and its proof in LaTeX, from the certificate.

What is PROVED or REFUTED is a theorem, since both have a proof. What is UNDECIDED or NUMERICAL is neither, and the
document says what is known and no more. The document stands alone (amsmath, amsthm), in ASCII; long formulas are broken
over lines.
"""

from __future__ import annotations

import re
from typing import Any

from symdecouple.analysis.document.proofs import fields_of, proof
from symdecouple.analysis.document.typesetting import verbatim, words
from symdecouple.analysis.explained import explain
from symdecouple.errors import InvalidInput
from symdecouple.verdict import Status, Verdict

__all__ = ["verdict_document"]

_HEAD = r"""\documentclass[10pt]{article}
\usepackage[T1]{fontenc}
\usepackage{amsmath, amssymb, amsthm}
\setlength{\textwidth}{160mm}
\setlength{\oddsidemargin}{0mm}
\setlength{\textheight}{230mm}
\setlength{\topmargin}{-10mm}
\setlength{\emergencystretch}{10em}
\allowdisplaybreaks
\newtheorem{theorem}{Theorem}
\begin{document}
"""
_TAIL = "\n\\end{document}\n"

_AVERAGES = (r"A sample is a vector $x = (x_1, \dots, x_N)$, and $\overline{g(x)} = \frac{1}{N}\sum_n g(x_n)$. Of a "
             r"feature $f$ the field is $v = N \nabla f$, a function of each $x_n$ and of averages. ")
_COORDINATES = r"Fields have one component for each coordinate; of a feature $f$ it is $v = \nabla f$. "
_BRACKET = (r"The bracket is $[u, v] = D_u v - D_v u$, with $D_u$ the derivative along $u$. Combinations have "
            "functions of the averages, or coordinates, as coefficients.")
_STATED = {
    ("C1", True): "The {noun} are linearly independent at generic samples",
    ("C1", False): "The {noun} are linearly dependent",
    ("C1 at a sample", True): "The {noun} are linearly independent at the sample of the proof",
    ("C1 at a sample", False): "The {noun} are linearly dependent at the sample of the proof",
    ("C2", True): "The span of the {noun} is involutive (Frobenius' condition)",
    ("C2", False): "The span of the {noun} is not involutive (Frobenius' condition) at generic samples",
    ("holonomic", True): "All constraints of the set are holonomic", ("holonomic", False): "Not all constraints of the "
    "set are holonomic", ("B1", True): "Extrema on the reference manifold are all global",
    ("B2", True): "Only a set of lower dimension flows to saddles", ("all critical points", True): "There are no other "
    "critical points than these",
}


def verdict_document(verdict: Verdict) -> str:
    r"""Return a verdict as a LaTeX document; see `Verdict.document`.

    Raises
    ------
    InvalidInput
        If it is not a verdict.

    Examples
    --------
    >>> from symdecouple import Mean, check_frobenius, x
    >>> text = check_frobenius([Mean(x), Mean(x**2)]).document()
    >>> print(text[text.rindex(r"\begin{align*}"):text.rindex(r"\end{proof}")])
    \begin{align*}
    {}[v_{1}, v_{2}] & = 2 \\
     & = 2 \, v_{1}
    \end{align*}
    <BLANKLINE>
    Every bracket of two of the fields is in their span, which is what was to be shown.
    <BLANKLINE>

    Brackets that take more than ten seconds, or pages, to be written out are left to the certificate, which has their
    coefficients. Cost: a second or so.
    """
    if not isinstance(verdict, Verdict):
        raise InvalidInput(f"a verdict is expected, as check_frobenius(features) returns it; got "
                           f"{type(verdict).__name__}")
    if verdict.certificate is None:
        return _HEAD + "\n\n".join(_without_proof(verdict)) + _TAIL
    parts = [_notation(verdict)]
    c1 = verdict.independence
    if c1 is not None and c1.certificate is not None:
        parts.append(_theorem(c1))
    parts.append(_theorem(verdict))
    if c1 is not None and c1.certificate is None:
        parts.append(words(f"Whether the {verdict.noun} are independent is {c1.status.name}: {c1.reason}."))
    return _HEAD + "\n\n".join([*parts, *_remarks(verdict)]) + _TAIL


def _notation(verdict: Verdict) -> str:
    subject: Any = getattr(verdict.certificate, "subject", None)
    said = _COORDINATES if getattr(subject, "coordinates", ()) else _AVERAGES
    known = subject is not None and hasattr(subject, "items")
    about = fields_of(subject) if known else verbatim(f"{k}  {text}" for k, text in enumerate(verdict.subject, 1))
    shown = f"{said}{_BRACKET}\n\n\\noindent The {'features' if verdict.noun == 'gradients' else 'fields'}:\n{about}"
    forms = ", ".join(form.latex() for form in getattr(subject, "forms", ()))
    shown += f"\\noindent They span the kernel of ${forms}$." if forms else ""
    if not getattr(verdict.certificate, "kind", "").startswith(("modified", "affine covariance")):
        return shown
    values = ", ".join(map(str, getattr(subject, "values", ())))
    told = words("The theorem is about the modified features, which these become at samples that were brought to a "
                 "level, where the features before are at their references" + (f", {values}" if values else "") + ":")
    return "\n\n".join([shown, told, verbatim(f"{k}  {text}" for k, text in enumerate(verdict.subject, 1))])


def _theorem(verdict: Verdict) -> str:
    stated = _STATED.get((verdict.question, verdict.status is Status.PROVED), explain(verdict).answer)
    generic = f", for generic values of {', '.join(verdict.parameters)}" if verdict.parameters else ""
    vacuous = ", vacuously" if verdict.vacuous else ""
    conditions = ", wherever the coefficients below exist" if verdict.nonvanishing else ""
    claim = words(f"{stated.format(noun=verdict.noun)}, {verdict.scope}{generic}{vacuous}{conditions}.")
    steps = re.sub(r"\n\n(?=\\begin\{align|\\\[)", "\n", "\n\n".join(proof(verdict.certificate)))
    return (f"\\begin{{theorem}}\n{_sizes(claim)}\n\\end{{theorem}}\n"
            f"\\begin{{proof}}\\relax\n{steps}\n\\end{{proof}}")  # without it [ would begin an option


def _remarks(verdict: Verdict) -> list[str]:
    told = explain(verdict)
    remarks = [rf"\paragraph{{Carried by {words(told.theorem)}}} {words(told.says)}."] if told.theorem else []
    if verdict.exceptions:
        listed = "".join(f"\\item {words(f'at {values}')}\n" for values in verdict.exceptions)
        remarks.append(f"\\paragraph{{Exceptions}}\n\\begin{{itemize}}\n{listed}\\end{{itemize}}")
    if verdict.not_searched:
        remarks.append(words(f"Other exceptional values are possible: {verdict.not_searched}."))
    check = words(told.check).replace("verdict.verify()", r"\texttt{verdict.verify()}")
    return [*remarks, rf"\paragraph{{To check}} {check}"]


def _without_proof(verdict: Verdict) -> list[str]:
    asked = explain(verdict).asked
    head = "Not decided" if verdict.status is Status.UNDECIDED else "Checked numerically, not proved"
    told = [rf"\section*{{{head}}}", words(asked), verbatim(f"{k}  {t}" for k, t in enumerate(verdict.subject, 1)),
            _sizes(words(f"{head}, {verdict.scope}" + (f": {verdict.reason}." if verdict.reason else ".")))]
    if verdict.holds is not None:
        told.append(words(f"It {'holds' if verdict.holds else 'does not hold'} numerically: residual "
                          f"{verdict.residual:.3g}, tolerance {verdict.tolerance:.3g}."))
    if verdict.evidence:
        told.append("What was seen, which is no proof:\n" + verbatim(verdict.evidence))
    return [*told, "This is no theorem, and not its negation."]


def _sizes(text: str) -> str:
    """Write N = 5 and the like as formulas."""
    return re.sub(r"\bN (?:= |\$\\(ge)\$ )(\d+)", lambda m: rf"$N {chr(92) + m[1] if m[1] else '='} {m[2]}$",
                  re.sub(r"\bevery N\b(?! )", "every $N$", text))
