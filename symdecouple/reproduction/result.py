"""What an experiment found, beside what the source prints."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from symdecouple.shown import Card, Shown

__all__ = ["Figure", "Result", "Row"]

Figure: TypeAlias = Any

_COLUMNS = ("quantity", "printed", "printed_spread", "ours", "ours_spread", "remark")


@dataclass(frozen=True, slots=True)
class Row:
    """One number, or one word, of the source and of ours.

    Attributes
    ----------
    quantity : str
        With its unit.
    ours : float or str
    printed : float or str, optional
        None where the source prints nothing.
    spread, printed_spread : float, optional
        The standard deviation, over what the title of the result says.
    remark : str
        Why the two differ, or what the row is for.
    """

    quantity: str
    ours: float | str
    printed: float | str | None = None
    spread: float | None = None
    printed_spread: float | None = None
    remark: str = ""

    def cells(self) -> tuple[str, str, str, str]:
        """Return the quantity, what is printed, what was found and the remark, for a reader."""
        return (self.quantity, _with_spread(self.printed, self.printed_spread, _as_printed),
                _with_spread(self.ours, self.spread, _rounded), self.remark)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(Shown):
    """A table or figure of the source, recomputed.

    Attributes
    ----------
    name : str
        As in ``symdecouple reproduce NAME``.
    title : str
        What was measured, over what.
    source : str
        Where the source prints it.
    settings : dict
        Sizes, seeds and choices: with them the numbers come out again.
    rows : tuple of Row
    remarks : tuple of str
        What a reader must know to judge the differences.
    seconds : float
        Of computing; what was read from the folder of an earlier run counts with the time that it took then.
    draw : callable, optional
        Returns a Matplotlib figure.
    """

    name: str
    title: str
    source: str
    settings: Mapping[str, Any]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0
    draw: Callable[[], Figure] | None = field(default=None)

    def __str__(self) -> str:
        header = ("", "source", "here", "")
        rows = [header, *(row.cells() for row in self.rows)]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = ["  ".join([row[0].ljust(widths[0]), *(row[k].rjust(widths[k]) for k in (1, 2)), row[3]]).rstrip()
                 for row in rows]
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return "\n".join([f"{self.name}: {self.title}", f"  {self.source}", f"  {settings}; {self.seconds:.0f} s", "",
                          *lines, *([""] if self.remarks else []), *(f"* {remark}" for remark in self.remarks)])

    def _card(self) -> Card:
        lines = [("source", self.source), ("rows", str(len(self.rows))), ("time", f"{self.seconds:.0f} s")]
        return Card(f"{self.name}: {self.title}", lines, ("", "source", "here", ""), [row.cells() for row in self.rows])

    def to_markdown(self) -> str:
        """Return the table and the remarks in Markdown, for pages."""
        rows = [row.cells() for row in self.rows]
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        lines = ["| | source | here | |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(map(_in_cell, row))} |" for row in rows]
        return "\n".join([f"{self.title[0].upper()}{self.title[1:]}; {settings}; {self.seconds:.0f} s.", "", *lines, "",
                          *(f"* {_in_cell(remark)}" for remark in self.remarks)]).rstrip() + "\n"

    def to_csv(self) -> str:
        """Return the rows as CSV, with all digits."""
        out = io.StringIO()
        table = csv.writer(out, lineterminator="\n")
        table.writerow(_COLUMNS)
        for row in self.rows:
            table.writerow("" if cell is None else cell for cell in (
                row.quantity, row.printed, row.printed_spread, row.ours, row.spread, row.remark))
        return out.getvalue()

    def to_json(self) -> str:
        """Return everything but the picture as JSON."""
        rows = [dict(zip(_COLUMNS, (row.quantity, row.printed, row.printed_spread, row.ours, row.spread, row.remark),
                         strict=True)) for row in self.rows]
        return json.dumps({"name": self.name, "title": self.title, "source": self.source,
                           "settings": dict(self.settings), "seconds": round(self.seconds, 1), "rows": rows,
                           "remarks": list(self.remarks)}, indent=1, ensure_ascii=False)

    def plot(self) -> Figure:
        """Return the picture of the result, a Matplotlib figure; None if it has none.

        Raises
        ------
        MissingPackage
            Without Matplotlib, which is optional.
        """
        return None if self.draw is None else self.draw()


def _with_spread(value: float | str | None, spread: float | None, shown: Callable[[float], str]) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return shown(value) if spread is None else f"{shown(value)} ± {shown(spread)}"


def _in_cell(text: str) -> str:
    """Text where bars, stars and the like are letters."""
    return re.sub(r"([|*_\[\]<>])", r"\\\1", text)


def _as_printed(value: float) -> str:
    return f"{value:g}"


def _rounded(value: float) -> str:
    """Three digits, without an exponent where that is short."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
