"""What stands before the numbers of a text table: comments, names, units, and the `sep=;` of Excel.

A line that begins with # or % is a comment as long as no data came; afterwards it is data, such as #DIV/0! or a label,
unless the mark of comments was named. Nothing is left out silently: each part has a note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from symdecouple.cli.cells import Cell, Notation, is_error, is_number, read_cell
from symdecouple.errors import InvalidInput

__all__ = ["Head", "all_numbers", "are_names", "are_numbered", "count_rows", "header_for", "like_years",
           "names_in_comment", "take_head", "units_in"]

_MARK = re.compile(r"\s*([#%])")
_SEPARATOR = re.compile(r'"?sep=(.|\\t)"?\s*', re.IGNORECASE)
_YEAR = re.compile(r"(?:1[5-9]|20|21)[0-9]{2}")
_UNIT_LINES = 2  # under the names: units, and remarks about them

Line = tuple[int, str]
"""A line and its number in the file, from 1."""


@dataclass(slots=True)
class Head:
    """The lines of a file taken apart.

    Attributes
    ----------
    rows : list of (int, str)
        The lines of the table, its names among them where `names` is None.
    names : (int, str) or None
        The line of names, without a mark of comments, where it was said which one it is.
    names_are_marked : bool
        True where it had one.
    comments : list of (int, str)
        Without their marks.
    delimiter : str
        What the file itself says about it; else empty.
    notes : list of str
        What was left out.
    """

    rows: list[Line]
    names: Line | None = None
    names_are_marked: bool = False
    comments: list[Line] = field(default_factory=list)
    delimiter: str = ""
    notes: list[str] = field(default_factory=list)


def take_head(lines: Sequence[Line], header_lines: int | None, mark: str | None) -> Head:
    """Part the lines of the table from all others.

    Parameters
    ----------
    lines : sequence of (int, str)
        All lines of the file.
    header_lines : int or None
        How many come before the data, as an editor counts them; the last one has the names.
    mark : str or None
        What comments begin with, everywhere; none at all where it is empty. None: # or %, before the data only.
    """
    head = Head([])
    if header_lines:
        skipped, lines = lines[:header_lines], lines[header_lines:]
        if skipped and skipped[-1][1].strip() and not _SEPARATOR.fullmatch(skipped[-1][1].strip(" \r\n")):
            head.names = (skipped[-1][0], _unmarked(skipped[-1][1], mark).strip())
            head.names_are_marked = head.names[1] != skipped[-1][1].strip()
        if others := len(skipped) - (head.names is not None):
            head.notes.append(f"{_lines(others)} before the {'names' if head.names else 'data'} left out, as it was "
                              "asked for")
    filled = [line for line in lines if line[1].strip()]
    if filled and (said := _SEPARATOR.fullmatch(filled[0][1].strip(" \r\n"))):
        head.delimiter = "\t" if said[1] == "\\t" else said[1]
        filled = filled[1:]
    head.comments = [(number, _unmarked(line, mark).strip()) for number, line in _part(head, filled, mark)]
    return head


def _lines(count: int, what: str = "line") -> str:
    return f"{count} {what}{'s' * (count > 1)}"


def _unmarked(line: str, mark: str | None) -> str:
    text = line.strip()
    if mark:
        return text.removeprefix(mark)
    return text.lstrip("#%") if mark is None else text


def _part(head: Head, filled: Sequence[Line], mark: str | None) -> list[Line]:
    """Put the lines of the table into `head.rows`; return the others, the comments."""
    if mark is not None:
        is_comment = [bool(mark) and line.lstrip().startswith(mark) for _, line in filled]
        head.rows = [line for line, out in zip(filled, is_comment, strict=True) if not out]
        return [line for line, out in zip(filled, is_comment, strict=True) if out]
    comments: list[Line] = []
    ahead = 0  # the next line without a mark
    for k, line in enumerate(filled):
        fields = _fields(line[1])
        if _MARK.match(line[1]):
            while ahead < len(filled) and (ahead <= k or _MARK.match(filled[ahead][1])):
                ahead += 1
            after = _fields(filled[ahead][1]) if ahead < len(filled) else None
            if not _is_labelled(fields, after, bool(head.rows)):
                comments.append(line)
                continue
        head.rows.append(line)
        if any(is_number(_read(text)) or is_error(text) for text in fields):
            head.rows += filled[k + 1:]
            break
    return comments


def _read(text: str, notation: Notation | str = ".") -> Cell:
    try:
        return read_cell(text, notation)
    except InvalidInput:  # a number out of range is one
        return 0.0


def _fields(line: str) -> list[str]:
    """The fields of a line at a guess: enough to tell numbers from words."""
    parts = re.split(r"[,;\t|]" if re.search(r"[,;\t|]", line) else r"\s+", line.strip())
    return [part.strip().strip('"') for part in parts]


def _is_labelled(fields: Sequence[str], after: Sequence[str] | None, has_names: bool) -> bool:
    """True for #NV,1 and for #2,1 where the next line without a mark has a label, or none comes after the names."""
    if is_error(fields[0]):
        return True
    values = list(map(_read, fields[1:]))
    if len(fields[0]) < 2 or fields[0][1].isspace() or not any(map(is_number, values)):
        return False
    if any(isinstance(value, str) and value for value in values):
        return False
    return has_names if after is None else isinstance(_read(after[0]), str) and any(map(is_number, map(_read, after)))


def are_names(cells: Sequence[str], notation: Notation) -> bool:
    """True for text without a number."""
    read = [_read(cell, notation) for cell in cells]
    return any(isinstance(cell, str) for cell in read) and not any(map(is_number, read))


def all_numbers(cells: Sequence[str], notation: Notation) -> bool:
    """True for numbers alone, and fields without an entry."""
    read = [_read(cell, notation) for cell in cells]
    return any(map(is_number, read)) and not any(isinstance(cell, str) for cell in read)


def like_years(cells: Sequence[str]) -> bool:
    """True for years that go up, or down, by equal steps; names, those of columns of labels, may come before them."""
    lead = _lead(cells)
    years = cells[lead:]
    if not years or not all(map(_YEAR.fullmatch, years)) or any(is_number(_read(cell)) for cell in cells[:lead]):
        return False
    steps = {int(b) - int(a) for a, b in pairwise(years)}
    return (len(steps) == 1 and steps != {0}) or (len(years) == 1 and lead > 0)


def _lead(cells: Sequence[str]) -> int:
    """How many cells come before the first year."""
    return next((k for k, cell in enumerate(cells) if _YEAR.fullmatch(cell)), len(cells))


def are_numbered(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """True for names that are numbers: years above other numbers, and those of a pivot table under an empty corner."""
    if not rows or any(len(row) != len(first) for row in rows):
        return False
    if not first[0] and len(first) > 1:
        if all(isinstance(_read(row[0]), str) for row in rows):
            return all(is_number(_read(name)) for name in first[1:])
        counted = list(map(str, range(len(first) - 1)))
        return count_rows(rows) and (list(first[1:]) == counted or like_years(first))
    lead = _lead(first)
    if not like_years(first) or any(is_number(_read(cell)) for row in rows for cell in row[:lead]):
        return False
    if len(first) - lead > 2:  # two years are any two, three in equal steps are no chance
        return not any(map(like_years, rows))
    return not any(_YEAR.fullmatch(cell) for row in rows for cell in row[lead:])


def count_rows(rows: Sequence[Sequence[str]]) -> bool:
    """True iff the first column counts the rows, from 0 or 1."""
    return any([row[0] for row in rows] == list(map(str, range(start, start + len(rows)))) for start in (0, 1))


def names_in_comment(comment: Line, width: int, delimiter: str) -> list[str] | None:
    """The names that numpy.savetxt and others write as a comment: one a column, no number among them."""
    for sign in dict.fromkeys((delimiter, ",", "\t", ";", " ")):
        names = [name.strip().strip('"') for name in (comment[1].split() if sign == " " else comment[1].split(sign))]
        if len(names) > 1 and not names[0]:
            names[0] = "#"  # which the column of a count may be called
        if len(names) == width and len(set(names)) == width and all(names) and all(
                isinstance(_read(name), str) for name in names):
            return names
    return None


def units_in(fields: Sequence[Sequence[str]], notation: Notation) -> int:
    """How many lines under the names hold no number, and text in columns of numbers: units, and remarks."""
    read = [[_read(cell, notation) for cell in cells] for cells in fields[:_UNIT_LINES + 1]]
    count = next((k for k, row in enumerate(read) if any(map(is_number, row))), 0)
    if any(is_error(cell) for cells in fields[:count] for cell in cells):
        return 0
    numbers = {k for k, cell in enumerate(read[count]) if is_number(cell)} if count else set()
    above = [[cell for k, cell in enumerate(row) if k in numbers and isinstance(cell, str)] for row in read[:count]]
    return count if all(texts and not any(map(_is_quantity, texts)) for texts in above) else 0


def _is_quantity(text: str) -> bool:
    """True for data that cannot be read, such as 1/3, 10%, $5 or <0.1: digits, and no letter that a unit has."""
    return any(sign.isdecimal() for sign in text) and not any(map(str.isalpha, text))


def header_for(rows: Sequence[Sequence[Cell]], texts: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[str, ...]:
    """R leaves the column of row names without a name: then all names move by one."""
    shifted = all(len(row) == len(names) + 1 for row in rows) and (
        all(isinstance(row[0], str) for row in rows) or count_rows(texts))
    return ("", *names) if shifted else tuple(names)
