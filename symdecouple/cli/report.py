"""Shape rows on paper: as a table for people, as CSV for spreadsheets, as JSON for programs.

None of them ever shows NaN: a refused value is "-" and a note in the table, an empty field and a note in CSV, null and
a reason in JSON. Table figures have six significant digits; CSV and JSON have all of them.
"""

from __future__ import annotations

import csv
import io
import json
import math
import textwrap
from collections.abc import Sequence
from typing import Any

from symdecouple.cli.samples import Samples
from symdecouple.cli.shape_rows import STATISTICS, ShapeRow
from symdecouple.errors import Outcome

__all__ = ["align", "as_csv", "as_json", "as_table", "figures", "printable", "shape_figures"]

FORMAT = "symdecouple.decouple"
VERSION = 1

_DIGITS = 6
_WIDTH = 88
_LABEL = 26  # characters of a label in the table
_NAMED = 4  # labels spelt out in a note


def as_table(rows: Sequence[ShapeRow]) -> str:
    """An aligned table, and below it why values are missing in it."""
    columns = [["sample", *(_clipped(row.label) for row in rows)], ["N", *(str(row.n) for row in rows)]]
    for name in STATISTICS:
        values = [row.values.get(name) for row in rows]
        columns.append([name, *(figures(values) if name in ("mean", "variance") else shape_figures(values))])
    notes = [textwrap.fill(note, _WIDTH, initial_indent="  - ", subsequent_indent="    ") for note in _notes(rows)]
    return "\n".join([align(columns), *(["", *notes] if notes else [])])


def as_csv(rows: Sequence[ShapeRow]) -> str:
    """CSV with a header line; the note is empty where everything was computed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["label", "n", *STATISTICS, "note"])
    for row in rows:
        values = [repr(row.values[name]) if name in row.values else "" for name in STATISTICS]
        note = "; ".join(f"{', '.join(names)}: {told(outcome)}" for names, outcome in grouped(row))
        writer.writerow([row.label, row.n, *values, note])
    return out.getvalue().removesuffix("\n")


def as_json(rows: Sequence[ShapeRow], samples: Samples, source: str, nan_policy: str) -> str:
    """One object; `samples` has one entry a sample, `refused` a reason for each null."""
    entries = [{"label": row.label, "n": row.n, "missing": row.missing}
               | {name: row.values.get(name) for name in STATISTICS}
               | {"refused": {name: told(outcome) for name, outcome in row.refused.items()}} for row in rows]
    head: dict[str, Any] = {"format": FORMAT, "version": VERSION, "source": source, "axis": samples.axis,
                            "nan_policy": nan_policy, "left_out": list(samples.left_out)}
    return json.dumps(head | {"samples": entries}, indent=2, allow_nan=False)


def told(outcome: Outcome) -> str:
    """An outcome as one phrase."""
    return outcome.reason + (f" ({outcome.detail})" if outcome.detail else "")


def grouped(row: ShapeRow) -> list[tuple[tuple[str, ...], Outcome]]:
    """The refused statistics of a row, those with one reason together."""
    groups: dict[str, tuple[list[str], Outcome]] = {}
    for name, outcome in row.refused.items():
        groups.setdefault(outcome.reason, ([], outcome))[0].append(name)
    return [(tuple(names), outcome) for names, outcome in groups.values()]


def _notes(rows: Sequence[ShapeRow]) -> list[str]:
    """One sentence for each reason, with the samples it concerns."""
    found: dict[tuple[tuple[str, ...], str], tuple[list[str], Outcome]] = {}
    for row in rows:
        for names, outcome in grouped(row):
            found.setdefault((names, outcome.reason), ([], outcome))[0].append(_clipped(row.label))
    return [_note(names, labels, outcome) for (names, _), (labels, outcome) in found.items()]


def _note(names: Sequence[str], labels: Sequence[str], outcome: Outcome) -> str:
    what = "nothing" if len(names) == len(STATISTICS) else f"no {', '.join(names)}"
    shown = ", ".join(labels[:_NAMED]) + (f", ... ({len(labels)} samples)" if len(labels) > _NAMED else "")
    if len(labels) == 1:
        return f"{what} for {shown}: {told(outcome)}"
    return f"{what} for {shown}: {outcome.reason}" + (f" (the first: {outcome.detail})" if outcome.detail else "")


def figures(values: Sequence[float | None]) -> list[str]:
    """Numbers of one column, with a common number of decimals where their sizes allow."""
    sizes = [abs(value) for value in values if value]
    largest = max(sizes, default=1.0)
    if largest >= 10.0**_DIGITS or min(sizes, default=1.0) < 1e-4:
        return ["-" if value is None else f"{value:.{_DIGITS}g}" for value in values]
    decimals = min(_DIGITS - 1, _DIGITS - 1 - math.floor(math.log10(largest)))
    while decimals > 0 and all(float(f"{value:.{decimals}f}") == float(f"{value:.{decimals - 1}f}") for value in values
                               if value is not None):
        decimals -= 1
    return ["-" if value is None else f"{value:.{decimals}f}" for value in values]


def shape_figures(values: Sequence[float | None]) -> list[str]:
    """Numbers without a unit: what is small beside 1 is zero to the eye."""
    return ["-" if value is None else f"{value:.{_DIGITS}g}" if abs(value) >= 10.0**_DIGITS else
            f"{round(value, _DIGITS - 2) + 0.0:.{_DIGITS - 2}f}" for value in values]


def align(columns: Sequence[Sequence[str]]) -> str:
    """Columns of equal length side by side: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in columns]
    others = [[cell.rjust(width) for cell in column] for column, width in zip(columns[1:], widths[1:], strict=True)]
    first = [cell.ljust(widths[0]) for cell in columns[0]]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(first, *others, strict=True))


def _clipped(label: str) -> str:
    label = printable(label)
    return label if len(label) <= _LABEL else label[: _LABEL - 3] + "..."


def printable(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)
