"""Tables of text, LaTeX and HTML from rows of cells, below one heading each."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from symdecouple.shown import latex_text

__all__ = ["Table", "as_html", "as_latex", "as_text"]


@dataclass(frozen=True, slots=True)
class Table:
    """A heading, the names of the columns, the rows, and what is to be said below."""

    heading: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: tuple[str, ...] = ()


def as_text(tables: Sequence[Table]) -> str:
    """Return the tables as plain text.

    Examples
    --------
    >>> print(as_text([Table("squares", ("n", "square"), [("2", "4"), ("10", "100")], ("and so on",))]))
    squares
      n   square
      2   4
      10  100
      and so on
    """
    return "\n\n".join("\n".join([table.heading, *_aligned(table), *(f"  {note}" for note in table.notes)])
                       for table in tables)


def _aligned(table: Table) -> list[str]:
    if not table.rows:
        return []
    rows = [table.columns, *table.rows]
    widths = [max(len(row[k]) for row in rows) for k in range(len(table.columns))]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows if any(row)]


def as_latex(tables: Sequence[Table]) -> str:
    """Return one LaTeX tabular a table, its heading above."""
    return "\n\n".join(_tabular(table) for table in tables if table.rows)


def _tabular(table: Table) -> str:
    count = len(table.columns)
    lines = [rf"\begin{{tabular}}{{{'l' * count}}}", r"\hline",
             rf"\multicolumn{{{count}}}{{l}}{{{_escaped(table.heading)}}} \\", r"\hline"]
    if any(table.columns):
        lines += [" & ".join(map(_escaped, table.columns)) + r" \\", r"\hline"]
    lines += [" & ".join(map(_escaped, row)) + r" \\" for row in table.rows]
    return "\n".join([*lines, r"\hline", r"\end{tabular}"])


def _escaped(text: str) -> str:
    return f"${latex_text(text)}$" if set(text) & set("\\{}_^~#$%&") else text


def as_html(tables: Sequence[Table]) -> str:
    """Return the tables as HTML."""
    return "".join(_html(table) for table in tables)


def _html(table: Table) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in table.columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    rows = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if table.rows else ""
    return f"<p>{html.escape(table.heading)}</p>{rows}{notes}"
