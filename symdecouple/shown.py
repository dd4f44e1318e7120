r"""How objects that a user holds show themselves: some lines of text, and HTML and LaTeX in notebooks.

An object says what it is in a `Card`, a title and a table, and inherits the rest from `Shown`. Without a card its text,
`str`, is shown as it is. Standard library only.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Card", "Cell", "Maths", "Shown", "Tabled", "clipped", "latex_text"]

_WIDTH = 100  # letters of a line
_LINES = 5
_ROWS = 40  # of a table in a notebook

_ESCAPED = {"\\": r"}\backslash\text{", "{": r"\{", "}": r"\}", "_": r"\_", "^": r"\^{}", "~": r"\~{}", "#": r"\#",
            "$": r"\$", "%": r"\%", "&": r"\&"}


@dataclass(frozen=True, slots=True)
class Maths:
    """A formula: as text, and as LaTeX without dollar signs."""

    text: str
    tex: str

    def __str__(self) -> str:
        return self.text


Cell: TypeAlias = str | Maths


@dataclass(frozen=True, slots=True)
class Card:
    """What an object is.

    Attributes
    ----------
    title : str
    lines : sequence of (str, str)
        What `repr` says below the title: names, and what they are.
    header : sequence of str
        Of the columns of the table.
    rows : sequence of sequences of Cell
        Of the table in notebooks.
    """

    title: str
    lines: Sequence[tuple[str, str]] = ()
    header: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()

    def text(self) -> str:
        """Return the title and the lines, each clipped to a line of a terminal."""
        width = max((len(name) for name, _ in self.lines), default=0)
        return "\n".join([self.title, *(clipped(f"  {name:<{width}}  {value}") for name, value in self.lines)])

    def html(self) -> str:
        """Return a table below the title; formulas are between dollar signs for MathJax."""
        return f"<p><b>{html.escape(self.title)}</b></p>{_table(self.header, _cut(self.rows))}"

    def latex(self) -> str:
        """Return the table as an array, without dollar signs."""
        rows = [" & ".join(latex_text(name) for name in self.header)] if self.header else []
        rows += [" & ".join(_as_latex(cell) for cell in row) for row in _cut(self.rows)]
        columns = "l" * max((len(row) for row in self.rows), default=len(self.header))
        table = f"\\begin{{array}}{{{columns}}}\n" + " \\\\\n".join(rows) + "\n\\end{array}"
        return f"\\begin{{array}}{{l}}\n{latex_text(self.title)} \\\\\n{table}\n\\end{{array}}"


class Shown:
    """What shows itself by its card, in `repr` and in notebooks; by its text, if it has no card."""

    __slots__ = ()

    def _card(self) -> Card | None:
        return None

    def __repr__(self) -> str:
        if (card := self._card()) is not None:
            return card.text()
        lines = str(self).splitlines()
        more = [f"  ... print shows {len(lines)} lines"] if len(lines) > _LINES else []
        return "\n".join([*map(clipped, lines[: _LINES - len(more)]), *more])

    def _repr_html_(self) -> str:
        if (card := self._card()) is not None:
            return card.html()
        formula = getattr(self, "latex", None)
        below = rf"<p>$\displaystyle {html.escape(formula())}$</p>" if callable(formula) else ""
        return f"<pre>{html.escape(str(self))}</pre>{below}"

    def _repr_latex_(self) -> str:
        card = self._card()
        return rf"$\displaystyle {_lines(str(self).splitlines()) if card is None else card.latex()}$"


class Tabled(Shown):
    """What shows itself by a table, the first row of which is its head, and by notes below it."""

    __slots__ = ()

    def _cells(self) -> Sequence[Sequence[Cell]]:
        raise NotImplementedError

    def _notes(self) -> list[str]:
        raise NotImplementedError

    def __str__(self) -> str:
        rows = [[str(cell) for cell in row] for row in self._cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        return _table(head, rows) + "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())


def latex_text(text: str) -> str:
    """Return words as LaTeX text, whatever characters are in them."""
    return rf"\text{{{''.join(_ESCAPED.get(c, c) for c in text)}}}"


def _lines(lines: Iterable[str]) -> str:
    return "\\begin{array}{l}\n" + " \\\\\n".join(map(latex_text, lines)) + "\n\\end{array}"


def _table(header: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> str:
    head = "".join(f"<th>{_as_html(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{_as_html(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cut(rows: Sequence[Sequence[Cell]]) -> Sequence[Sequence[Cell]]:
    """The first rows of a long table, and how many there are."""
    return rows if len(rows) <= _ROWS else [*rows[:_ROWS], [f"... {len(rows)} rows"]]


def _as_html(cell: Cell) -> str:
    return f"${html.escape(cell.tex)}$" if isinstance(cell, Maths) else html.escape(cell)


def _as_latex(cell: Cell) -> str:
    return cell.tex if isinstance(cell, Maths) else latex_text(cell)


def clipped(text: str, width: int = _WIDTH) -> str:
    """Return a text, or its beginning and three dots."""
    return text if len(text) <= width else text[: width - 3] + "..."
