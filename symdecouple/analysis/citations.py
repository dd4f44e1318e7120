r"""What to cite: the software, the paper it implements, and the theorems that a plan or a verdict rests on.

Theorems are named as the pages of the documentation name them. Of a plan they follow from its ways and from what was
decided of it so far: closed forms rest on proved sets, moments on Theorems C, G and J, energies on Theorem E, gradients
through closed forms on Theorem F. What was not decided is not cited.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from symdecouple.analysis.explained import explain
from symdecouple.decoupling.plan_facts import PlanFacts
from symdecouple.errors import InvalidInput
from symdecouple.shown import Shown
from symdecouple.verdict import Verdict

__all__ = ["Citation", "citation"]

_TITLES = {
    "Frobenius": "involutive distributions have leaves",
    "Theorem A": "which averages are involutive (Lie)",
    "Theorem C": "when the skewness reaches a target",
    "Theorem D": "mean, variance and a third feature (affine covariance)",
    "Theorem E": "energies of commuting filters (a convex problem)",
    "Theorem F": "the exact gradient of a normalized feature (one projection)",
    "Theorem G": "what is left of a moment (monic orthogonal polynomials)",
    "Theorem H": "the involutive closure",
    "Theorem I": "critical points are known by their ties",
    "Theorem J": "what a sample can reach is told by its ties",
    "Theorem M": "constraints that hide in constraints",
    "Theorem O": "features with kinks, cell by cell",
}
_SOURCE = r"""@misc{martinezenriquez2022deterministic,
  title         = {Deterministic Decoupling of Global Features and its Application to Data Analysis},
  author        = {Mart{\'\i}nez-Enr{\'\i}quez, Eduardo and Gonz{\'a}lez, Mar{\'\i}a del Mar and Portilla, Javier},
  year          = {2022},
  eprint        = {2207.02132},
  archiveprefix = {arXiv},
  doi           = {10.48550/arXiv.2207.02132}
}"""
_SOFTWARE = r"""@software{{symdecouple,
  title   = {{symdecouple: decoupling of global features, symbolic and numeric}},
  author  = {{{{symdecouple developers}}}},
  version = {{{}}}
}}"""
_BEHIND = {  # classical results that theorems rest on, as the bibliography of the documentation has them
    "Frobenius": r"""@article{frobenius1877,
  title   = {Ueber das {Pfaffsche} {Problem}},
  author  = {Frobenius, Georg},
  journal = {J. reine angew. Math.},
  volume  = {82},
  pages   = {230--315},
  year    = {1877},
  doi     = {10.1515/crll.1877.82.230}
}""",
    "Theorem A": r"""@article{lie1880,
  title   = {Theorie der {Transformationsgruppen} {I}},
  author  = {Lie, Sophus},
  journal = {Math. Ann.},
  volume  = {16},
  pages   = {441--528},
  year    = {1880}
}""",
    "Theorem H": r"""@article{sussmann1973,
  title   = {Orbits of families of vector fields and integrability of distributions},
  author  = {Sussmann, H{\'e}ctor J.},
  journal = {Trans. Amer. Math. Soc.},
  volume  = {180},
  pages   = {171--188},
  year    = {1973},
  doi     = {10.1090/S0002-9947-1973-0321133-2}
}""",
}


@dataclass(frozen=True, slots=True, repr=False)
class Citation(Shown):
    """What to cite.

    Attributes
    ----------
    theorems : tuple of (str, str)
        The label of each theorem in the documentation, "Frobenius" for his, and what rests on it.
    entries : tuple of str
        BibTeX: the paper, the software, then what theorems rest on.
    """

    theorems: tuple[tuple[str, str], ...]
    entries: tuple[str, ...]

    def bibtex(self) -> str:
        """Return the entries as the text of a .bib file."""
        return "\n\n".join(self.entries) + "\n"

    def __str__(self) -> str:
        lines = [f"{label}, {_TITLES[label]}: {why}" for label, why in self.theorems]
        return "\n".join([*lines, *([""] if lines else []), self.bibtex().rstrip()])


def citation(subject: Any = None) -> Citation:
    """Return what to cite for a plan or a verdict; without one, for the package.

    Parameters
    ----------
    subject : Plan or Verdict, optional

    Returns
    -------
    Citation
        The theorems that it rests on, with what rests on each, and BibTeX.

    Raises
    ------
    InvalidInput
        For anything else.

    Notes
    -----
    Of a plan `explain()` is asked, which decides what closed forms need; of the modified sets only what was asked for
    before (`plan.scenario`) is counted. The theorems of this package have proofs in its documentation and no paper of
    their own: they are cited by their labels and the software. The paper has no journal or DOI here; none was checked.

    Examples
    --------
    >>> from symdecouple import decouple
    >>> from symdecouple.families import raw_moments
    >>> [label for label, _ in citation(decouple(raw_moments(4))).theorems]
    ['Frobenius', 'Theorem A', 'Theorem C', 'Theorem F', 'Theorem G', 'Theorem J']
    >>> print(citation().entries[0].splitlines()[0])
    @misc{martinezenriquez2022deterministic,
    """
    if subject is None:
        used: Iterable[tuple[str, str]] = ()
    elif isinstance(subject, Verdict):
        used = _of_verdict(subject, "this verdict")
    elif isinstance(subject, PlanFacts):
        used = _of_plan(subject)
    else:
        raise InvalidInput(f"citation takes a plan, a verdict or nothing, got {type(subject).__name__}")
    found: dict[str, str] = {}
    for label, why in used:
        found.setdefault(label, why)
    ordered = tuple((label, found[label]) for label in _TITLES if label in found)
    behind = tuple(_BEHIND[label] for label, _ in ordered if label in _BEHIND)
    return Citation(ordered, (_SOURCE, _SOFTWARE.format(_version()), *behind))


def _of_verdict(verdict: Verdict, what: str) -> list[tuple[str, str]]:
    if verdict.certificate is None:
        return []
    theorem = explain(verdict).theorem
    found = [(theorem, what)] if theorem in _TITLES else []
    if verdict.question == "C2" and theorem.startswith("Theorem") and not verdict.vacuous:
        found.append(("Frobenius", what))
    return found


def _of_plan(plan: PlanFacts) -> list[tuple[str, str]]:
    choice, notes = plan.choice, plan.explain().notes
    closed = [note.level for note in notes if note.method in ("explicit", "implicit", "parallel")]
    spectral = [note.level for note in notes if note.method == "spectral"]
    found: list[tuple[str, str]] = []
    if spectral:
        found.append(("Theorem E", f"levels {_listed(spectral)}"))
    if closed:
        found.append(("Frobenius", f"closed forms of levels {_listed(closed)}"))
    if closed or spectral:
        found.append(("Theorem F", f"gradients through levels {_listed(sorted(closed + spectral))}"))
    count = len(choice.moments) if choice.moments is not None and choice.path == "auto" else 0
    if count >= 3:
        found.append(("Theorem C", "the skewness, whether it is reached"))
    if count >= 4:
        found += [("Theorem G", "moments from the fourth on, along orthogonal polynomials"),
                  ("Theorem J", "what samples with ties can reach")]
    if plan.added:
        found.append(("Theorem H", "features that were added, to fill up closures"))
    for name, decisions in (("S", plan.verdicts.original), ("hat S", plan.verdicts.modified)):
        for level, verdict in decisions.decided.items():
            found += _of_verdict(verdict, f"the verdict on {name}_{level}")
    return found


def _listed(levels: Iterable[int]) -> str:
    return ", ".join(map(str, levels))


def _version() -> str:
    try:
        return version("symdecouple")
    except PackageNotFoundError:
        return "0+unknown"
