"""What a plan does at each level and why, as text, LaTeX and HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import partial
from typing import Any

from sympy import Symbol, latex

from symdecouple.decoupling.choice import Choice
from symdecouple.flows.normalizer import Normalizer
from symdecouple.shown import Cell, Maths, Tabled, clipped, latex_text

__all__ = ["Explanation", "LevelNote", "explanation_of"]

_LONGEST = 80  # letters of a name: two-dimensional taps are long


@dataclass(frozen=True, slots=True)
class LevelNote:
    """One level of a plan.

    Attributes
    ----------
    level : int
        How many features are at their references after it.
    features : tuple of Feature
        Those that it brings there.
    references : tuple of Expr or None
    method : str
        "explicit", "implicit", "parallel", "spectral", "narrow path", or "none" where there is no way.
    formula : str
        What is done, as text.
    latex : str
        The same as LaTeX, without dollar signs; empty where there is no formula.
    reason : str
        Why this method: one sentence.
    domain : str
        Which samples have this level.
    """

    level: int
    features: tuple[Any, ...]
    references: tuple[Any, ...]
    method: str
    formula: str
    latex: str
    reason: str
    domain: str = ""

    @property
    def title(self) -> str:
        """What is imposed: "Mean(x) = 0"."""
        return ", ".join(f"{clipped(f.name, _LONGEST)} = {'?' if v is None else v}"
                         for f, v in zip(self.features, self.references, strict=True))

    @property
    def title_latex(self) -> str:
        """What is imposed, as LaTeX."""
        names = (latex_text(f.name) if f.is_named and f.black_box is None else f.latex() for f in self.features)
        return r",\ ".join(rf"{name} = {'?' if v is None else latex(v)}"
                           for name, v in zip(names, self.references, strict=True))


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Tabled):
    """The levels of a plan, what it leaves out, and what is done about samples that are refused.

    `str` is text, notebooks show HTML.
    """

    path: str
    scenario: str
    notes: tuple[LevelNote, ...]
    beside: tuple[str, ...] = ()

    def _cells(self) -> list[tuple[Cell, ...]]:
        return [("level", "imposes", "method", "formula", "why"), *(
            (str(note.level), Maths(note.title, note.title_latex), note.method, _formulas(note),
             ". ".join(text.rstrip(".") for text in (note.reason, note.domain) if text)) for note in self.notes)]

    def _notes(self) -> list[str]:
        return list(self.beside)

    def __str__(self) -> str:
        lines = [f'path "{self.path}", scenario {self.scenario}']
        for note in self.notes:
            lines.append(f"level {note.level}: {note.title}, {note.method}: {note.formula}")
            lines += [f"  {text}" for text in (note.reason, note.domain) if text]
        return "\n".join([*lines, *self._notes()])

    def latex(self) -> str:
        """Return one aligned LaTeX block, a line a level that has a formula."""
        rows = [rf"\text{{level {note.level}}} &: {note.title_latex} && {note.latex}" for note in self.notes]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def html(self) -> str:
        """Return a table, a row a level; formulas are between dollar signs for MathJax."""
        return (f"<p>path <b>{html.escape(self.path)}</b>, scenario <b>{html.escape(self.scenario)}</b></p>"
                + Tabled._repr_html_(self).replace("<table>", '<table class="explanation">', 1))

    _repr_html_ = html


def _formulas(note: LevelNote) -> Cell:
    """What is done; separate formulas can be wrapped."""
    tex = note.latex.replace(r",\quad ", r"$, $\displaystyle ")
    return Maths(note.formula, rf"\displaystyle {tex}") if tex else note.formula


def explanation_of(plan: Any) -> Explanation:
    """Return what a plan does, with features as they were declared."""
    choice, features, references = plan.choice, tuple(plan.features), plan.reference
    decided = min(len(v.decided) for v in (choice.verdicts.original, choice.verdicts.modified))
    scenario = str(choice.verdicts.scenario) if decided == len(features) else "not asked for yet (plan.scenario)"
    notes = tuple(_note(choice, features[start:end], references[start:end], end) for start, end in choice.spans
                  if references[end - 1] is not None)
    closures = choice.verdicts.of_closures() if decided == len(features) else []
    filled = (f"added: {f} = {v}, which fills up the closure of the features before it"
              for f, v in zip(features, references, strict=True) if f in plan.added)
    perturbation = [] if plan.perturbation is None else [str(plan.perturbation)]
    return Explanation(choice.path, scenario, notes, (
        *(f"left out: {each}" for each in plan.left_out), *filled, *closures, *perturbation))


def _note(choice: Choice, features: tuple[Any, ...], references: tuple[Any, ...], level: int) -> LevelNote:
    """Return the note on a level that brings some features to their references."""
    note = partial(LevelNote, level, features, references)
    along = f"along the projected gradient of {', '.join(clipped(f.name, _LONGEST) for f in features)}"
    ends = "; it ends where shift and scale do" if level <= choice.own else (
        "; it ends where as many moments do" if choice.is_borrowed(level) else "")
    if choice.path == "narrow":
        return note("narrow path", along, "", f'path="narrow" was asked for{ends}')
    if obstacle := choice.obstacle(level):
        return (note("narrow path", along, "", f"narrow path, because {obstacle}{ends}") if choice.path == "auto" else
                note("none", "there is no way", "", obstacle))
    if (spectral := choice.spectral(level)) is not None:
        return note("spectral", f"x -> {spectral.short(len(features))}", spectral.latex(latest=len(features)),
                    f"closed form: features 1 to {level} are quadratic forms of circular convolutions, which commute; "
                    "one convex problem in the frequency domain brings them to their references",
                    "samples whose active frequencies allow the values (decided by a linear program)")
    made = choice.normalizer(level)
    return note(made.kind, _formula(made), made.latex(), "closed form: " + (
        "the gradient has a multiple that does not depend on the sample, and its flow a formula" if level == 1 else
        f"features 1 to {level} are proved involutive, and their span has generators that do not depend on the sample, "
        "with flows that have formulas"), made.domain)


def _formula(made: Normalizer) -> str:
    """What a normalizer does, in short."""
    if made.kind == "explicit":
        return f"x -> {made.formula}"
    flows = [f.expr.xreplace({made.features.sample: Symbol("y")}) for f in made.flows]
    if made.kind == "parallel":
        return (f"x -> {', then '.join(f'y -> {e}' for e in flows)}, for one time t each, such that "
                + ", ".join(f"{f} = {v}" for f, v in zip(made.features, made.values, strict=True)))
    before = f"N{made.level - 1}"
    return f"x -> {before}(y -> {flows[-1]} of {before}(x)), t such that {made.features[-1]} = {made.values[-1]}"
