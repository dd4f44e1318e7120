"""A plan on paper: what each level does and why, the verdicts it rests on, and the normalizers' formulas and code."""

from __future__ import annotations

import textwrap
from typing import Any, Literal, TypeAlias

from symdecouple.cli.report import WIDTH
from symdecouple.decoupling.explanation import LevelNote
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput, NoClosedForm, UnsupportedExpression
from symdecouple.language.text import to_text
from symdecouple.verdict import Verdict

__all__ = ["Style", "code", "explained", "formulas", "plan_dict"]

Style: TypeAlias = Literal["text", "latex", "code"]


def explained(plan: Plan) -> str:
    """The levels, then the table of verdicts with the scenario; decides what is not decided yet."""
    table, text = _verdicts(plan), str(plan.explain())
    return f"{_wrapped(text.splitlines())}\n\n{table}"


def formulas(plan: Plan, style: Style, level: int | None = None) -> str:
    """The normalizer of each level (or of one), those without a closed form named.

    Parameters
    ----------
    plan : Plan
    style : {"text", "latex", "code"}
        Lines to read, displayed formulas, or the source text of one NumPy module, that of the highest level which has
        a closed form.
    level : int, optional

    Raises
    ------
    NoClosedForm
        With "code", if no level has a closed form, or not the one that was named.
    """
    if style == "code":
        return code(plan, level)
    notes = _notes(plan, level)
    if style == "text":
        return _wrapped([line for note in notes for line in _text(note)])
    return "\n".join(rf"\[ {note.latex} \]" if note.latex else f"% level {note.level}: {_obstacle(note)}"
                     for note in notes)


def code(plan: Plan, level: int | None = None) -> str:
    """A NumPy module that runs alone; which levels it has, and which it has not, stands at its top."""
    notes = _notes(plan, level)
    closed = [note for note in notes if note.latex]
    if not closed:
        raise NoClosedForm(f"there is no code: level {notes[0].level}, {_obstacle(notes[0])}")
    last = closed[-1]
    lines = [f"normalize(x) brings samples to level {last.level}: "
             + "; ".join(note.title for note in _notes(plan) if note.level <= last.level)]
    lines += [f"Level {note.level}, {note.title}: {_obstacle(note)}" for note in notes if not note.latex]
    told = [f"# {part}" for line in lines for part in _fold(line, "  ", WIDTH - 2)]
    return "\n".join(told) + "\n\n" + plan.normalizer(last.level).code().rstrip()


def plan_dict(plan: Plan, *, with_verdicts: bool, with_code: bool) -> dict[str, Any]:
    """The plan for programs: its levels; with the verdicts and the scenario; with NumPy code for each level."""
    decided = _decided(plan) if with_verdicts else {}
    levels = []
    for note in plan.explain().notes:
        levels.append({"level": note.level, "features": list(map(str, note.features)),
                       "references": list(map(str, note.references)), "method": note.method, "formula": note.formula,
                       "latex": note.latex or None, "reason": note.reason, "domain": note.domain or None})
        if with_code:
            levels[-1] |= _code_entry(plan, note)
    return {"path": plan.path, "features": [to_text(f) for f in plan.features],
            "reference": [None if v is None else str(v) for v in plan.reference], "levels": levels, **decided}


def _decided(plan: Plan) -> dict[str, Any]:
    sets = {"original": plan.verdicts.original, "modified": plan.verdicts.modified}
    verdicts = [{"features": k, **{name: _verdict(decisions[k]) for name, decisions in sets.items()}}
                for k in range(1, len(plan.features) + 1)]
    scenario = plan.scenario
    return {"verdicts": verdicts, "exact": plan.verdicts.exact,
            "scenario": {"lowest": scenario.lowest, "highest": scenario.highest, "reason": scenario.reason}}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {"status": verdict.status.name, "failing_pair": verdict.failing_pair, "reason": verdict.reason}


def _code_entry(plan: Plan, note: LevelNote) -> dict[str, Any]:
    if not note.latex:
        return {"code": None, "no_code": _obstacle(note)}
    try:
        return {"code": plan.normalizer(note.level).code()}
    except (NoClosedForm, UnsupportedExpression) as error:
        return {"code": None, "no_code": str(error)}


def _notes(plan: Plan, level: int | None = None) -> list[LevelNote]:
    notes = [note for note in plan.explain().notes if level in (None, note.level)]
    if not notes:
        raise InvalidInput(f"there is no level {level}; the levels with a reference are "
                           f"{', '.join(str(note.level) for note in plan.explain().notes)}")
    return notes


def _text(note: LevelNote) -> list[str]:
    if not note.latex:
        return [f"level {note.level}: {note.title}", f"  {_obstacle(note)}"]
    return [f"level {note.level}: {note.title}, {note.method}", f"  {note.formula}", f"  for {note.domain}"]


def _obstacle(note: LevelNote) -> str:
    return f"no closed form: {note.reason.removeprefix('narrow path, because ')}"


def _verdicts(plan: Plan) -> str:
    """The table as it is, and what is said below it in lines of one width."""
    lines = str(plan.verdicts).splitlines()
    head = len(plan.features) + 1
    return "\n".join([*lines[:head], _wrapped(lines[head:])])


def _wrapped(lines: list[str]) -> str:
    """Lines of one width, what is continued two further in; formulas are not broken at hyphens or inside of words."""
    return "\n".join(part for line in lines for part in _fold(line, " " * (len(line) - len(line.lstrip()) + 2), WIDTH))


def _fold(line: str, indent: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]
