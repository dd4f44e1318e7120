"""Rows of samples on paper: as a table for people, as CSV for spreadsheets, as JSON for programs.

None of them ever shows NaN: a refused value is "-" and a note in the table, an empty field and a note in CSV, null and
a reason in JSON. Figures of the table are right to a part in a thousand, most of them to six digits; CSV and JSON have
all digits. Where digits were asked for, all show them, and JSON as text.
"""

from __future__ import annotations

import csv
import io
import json
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from symdecouple import shown
from symdecouple.cli.sample_rows import Column, SampleRow, Value
from symdecouple.cli.samples import Samples
from symdecouple.errors import Outcome

__all__ = ["VERSION", "WIDTH", "align", "as_csv", "as_json", "as_table", "clipped", "csv_text", "figures", "printable",
           "shape_figures", "told"]

FORMAT = "symdecouple.decouple"
VERSION = 1
WIDTH = 88

_DIGITS = 6
_VISIBLE = 9e-4  # what a figure may be off by, over its size
_LABEL = 26  # characters of a label in the table
_NAMED = 4  # labels spelt out in a note


def as_table(rows: Sequence[SampleRow], columns: Sequence[Column]) -> str:
    """An aligned table, above it what the heads stand for, and below it why values are missing in it."""
    cells = [["sample", *(clipped(row.label) for row in rows)], ["N", *(str(row.n) for row in rows)]]
    for column in columns:
        values = [row.values.get(column.name) for row in rows]
        cells.append([column.head, *(figures(values) if column.has_unit else shape_figures(values))])
    notes = [textwrap.fill(note, WIDTH, initial_indent="  - ", subsequent_indent="    ")
             for note in _notes(rows, columns)]
    return "\n".join([*_legend(columns), align(cells), *(["", *notes] if notes else [])])


def as_csv(rows: Sequence[SampleRow], columns: Sequence[Column]) -> str:
    """CSV with a header line; the note is empty where everything was computed."""
    names = [column.name for column in columns]
    lines: list[Sequence[Any]] = [["label", "n", *names, "note"]]
    for row in rows:
        note = "; ".join(f"{', '.join(refused)}: {told(outcome)}" for refused, outcome in grouped(row))
        lines.append([row.label, row.n, *(plain(row.values.get(name)) for name in names), note])
    return csv_text(lines)


def csv_text(lines: Iterable[Sequence[Any]]) -> str:
    """Fields of lines as CSV, without the last end of line."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue().removesuffix("\n")


def as_json(rows: Sequence[SampleRow], columns: Sequence[Column], samples: Samples, source: str, nan_policy: str,
            more: Mapping[str, Any] | None = None) -> str:
    """One object; `samples` has one entry a sample, `refused` a reason for each null; `more` comes before them."""
    entries = [{"label": row.label, "n": row.n, "missing": row.missing}
               | {column.name: row.values.get(column.name) for column in columns}
               | {"refused": {name: told(outcome) for name, outcome in row.refused.items()}} for row in rows]
    head: dict[str, Any] = {"format": FORMAT, "version": VERSION, "source": source, "axis": samples.axis,
                            "groups": samples.groups or None, "nan_policy": nan_policy,
                            "left_out": list(samples.left_out), "notes": list(samples.notes)}
    return json.dumps(head | dict(more or {}) | {"samples": entries}, indent=2, allow_nan=False)


def plain(value: Value | None) -> str:
    """A value with all its digits; nothing for none."""
    return "" if value is None else value if isinstance(value, str) else repr(value + 0.0)


def told(outcome: Outcome) -> str:
    """An outcome as one phrase, in the words of the command line."""
    return outcome.reason + (f" ({detail})" if (detail := in_words(outcome)) else "")


def in_words(outcome: Outcome) -> str:
    """The detail of an outcome; what is an argument in Python is an option here."""
    return outcome.detail.replace("dps=", "--dps")


def grouped(row: SampleRow) -> list[tuple[tuple[str, ...], Outcome]]:
    """The refused values of a row, those with one reason together."""
    groups: dict[str, tuple[list[str], Outcome]] = {}
    for name, outcome in row.refused.items():
        groups.setdefault(outcome.reason, ([], outcome))[0].append(name)
    return [(tuple(names), outcome) for names, outcome in groups.values()]


def _legend(columns: Sequence[Column]) -> list[str]:
    """What stands for what, where heads are not names."""
    lines = [f"  {column.head}  {printable(column.name)}" for column in columns if column.head != column.name]
    return ["each feature decoupled from those before it:", *lines, ""] if lines else []


def _notes(rows: Sequence[SampleRow], columns: Sequence[Column]) -> list[str]:
    """One sentence for each reason, with the samples it concerns."""
    heads = {column.name: column.head for column in columns}
    found: dict[tuple[tuple[str, ...], str], tuple[list[str], Outcome]] = {}
    for row in rows:
        for names, outcome in grouped(row):
            found.setdefault((names, outcome.reason), ([], outcome))[0].append(clipped(row.label))
    return [_note("nothing" if len(names) == len(columns) else f"no {', '.join(heads[name] for name in names)}",
                  labels, outcome) for (names, _), (labels, outcome) in found.items()]


def _note(what: str, labels: Sequence[str], outcome: Outcome) -> str:
    shown = ", ".join(labels[:_NAMED]) + (f", ... ({len(labels)} samples)" if len(labels) > _NAMED else "")
    if len(labels) == 1:
        return f"{what} for {shown}: {told(outcome)}"
    detail = in_words(outcome)
    return f"{what} for {shown}: {outcome.reason}" + (f" (the first: {detail})" if detail else "")


def figures(values: Sequence[Value | None]) -> list[str]:
    """Numbers of one column; text as it is.

    With a common number of decimals where these show each of them to a part in a thousand, else each with its own.
    """
    numbers = [value + 0.0 for value in values if isinstance(value, float)]  # -0.0 + 0.0 is 0.0
    largest = max(map(abs, numbers), default=0.0) or 1.0
    if 1e-4 <= largest < 10.0**_DIGITS:
        decimals = min(_DIGITS - 1, _DIGITS - 1 - math.floor(math.log10(largest)))
        shown = [[float(f"{number:.{d}f}") for number in numbers] for d in range(decimals + 1)]
        if all(abs(seen - number) <= _VISIBLE * abs(number) for seen, number in zip(shown[-1], numbers, strict=True)):
            decimals = next(d for d in range(decimals + 1) if shown[d] == shown[-1])
            return [_shown(value, f".{decimals}f") for value in values]
    return [_shown(value, f".{_DIGITS}g") for value in values]


def shape_figures(values: Sequence[Value | None]) -> list[str]:
    """Numbers without a unit: four decimals, more where a small one needs them, below 1e-4 zero to the eye."""
    return [_shape(value) if isinstance(value, float) and abs(value) < 10.0**_DIGITS else _shown(value, f".{_DIGITS}g")
            for value in values]


def _shape(value: float) -> str:
    decimals = _DIGITS - 2
    while abs(value) >= 1e-4 and abs(round(value, decimals) - value) > _VISIBLE * abs(value):
        decimals += 1
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def _shown(value: Value | None, form: str) -> str:
    return "-" if value is None else value if isinstance(value, str) else format(value + 0.0, form)


def align(columns: Sequence[Sequence[str]]) -> str:
    """Columns of equal length side by side: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in columns]
    others = [[cell.rjust(width) for cell in column] for column, width in zip(columns[1:], widths[1:], strict=True)]
    first = [cell.ljust(widths[0]) for cell in columns[0]]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(first, *others, strict=True))


def clipped(label: str) -> str:
    """A label that fits its column."""
    return shown.clipped(printable(label), _LABEL)


def printable(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)
