"""A text table of any common kind: what separates its fields, what names its columns, what its numbers are.

Nothing here knows what a sample is. Every line that is not blank and not of the head (`symdecouple.cli.text_head`) is a
row; each row keeps its own length and its line number, so that messages can point at what is wrong.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from symdecouple.cli.cells import (
    Cell,
    Notation,
    is_error,
    is_number,
    looks_like_decimal_comma,
    looks_like_thousands,
    read_cell,
)
from symdecouple.cli.text_head import (
    Head,
    all_numbers,
    are_names,
    are_numbered,
    count_rows,
    header_for,
    like_years,
    names_in_comment,
    take_head,
    units_in,
)
from symdecouple.errors import InvalidInput

__all__ = ["Grid", "decode", "read_grid"]

_QUOTED = re.compile(r'"[^"]*"')
_CANDIDATES = ";\t,|"
_NAMES = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars", " ": "spaces"}
_BINARY = {
    b"PK\x03\x04": "a ZIP archive (NPZ, or a spreadsheet): save one array with numpy.save, or export the sheet as CSV",
    b"\x89HDF": "an HDF5 file: export one table as CSV or NPY",
    b"PAR1": "a Parquet file: export it as CSV or NPY",
}


@dataclass(frozen=True, slots=True)
class Grid:
    """The rows of a text table.

    Attributes
    ----------
    header : tuple of str or None
        The names of the columns, if a line names them.
    rows : tuple of tuple of Cell
        Not all of the same length.
    texts : tuple of list of str
        The same as it was written.
    lines : tuple of int
        The line of the file, counted from 1, on which each row begins.
    delimiter : str
        What was found to separate fields.
    notation : Notation
        How numbers are written.
    notes : tuple of str
        What of the file was left out, and what else should be known.
    """

    header: tuple[str, ...] | None
    rows: tuple[tuple[Cell, ...], ...]
    texts: tuple[list[str], ...]
    lines: tuple[int, ...]
    delimiter: str
    notation: Notation
    notes: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        return max(map(len, self.rows))

    @property
    def counts_rows(self) -> bool:
        """True iff the first column has no name where others have, and counts the rows from 0 or 1."""
        return self.header is not None and len(self.header) > 1 and not self.header[0] and count_rows(self.texts)

    def name(self, column: int) -> str:
        """What to call a column, counted from 0."""
        named = self.header is not None and column < len(self.header) and self.header[column]
        return self.header[column] if self.header is not None and named else f"column {column + 1}"

    def __str__(self) -> str:
        comma = ", decimal commas" if self.notation.decimal == "," else ""
        separated = f"fields separated by {_NAMES.get(self.delimiter, self.delimiter)}, " if self.width > 1 else ""
        return f"{separated}{'no header line' if self.header is None else 'names in the header line'}{comma}"


def decode(data: bytes, encoding: str = "auto") -> str:
    """Bytes of a file to text; UTF-8, or UTF-16 with its mark, unless named."""
    for magic, what in _BINARY.items():
        if data.startswith(magic):
            raise InvalidInput(f"this is {what}")
    if encoding == "auto":
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except LookupError:
        raise InvalidInput(f"there is no encoding {encoding[:40]!r}; for instance utf-8, latin-1, cp1252") from None
    except UnicodeError as error:
        raise InvalidInput(f"this is no text in {encoding.removesuffix('-sig')} ({error}); say which one it is, for "
                           "instance --encoding cp1252, or convert the file") from None
    if "\0" in text:
        raise InvalidInput("this is no text, it holds zero bytes; text tables and NPY files are read; name UTF-16 "
                           "that has no mark, --encoding utf-16-le")
    return text


def read_grid(text: str, *, delimiter: str = "auto", decimal: str = "auto", header_lines: int | None = None,
              is_exact: bool = False, comment: str | None = None, thousands: str = "") -> Grid:
    """Read a text table.

    Parameters
    ----------
    text : str
    delimiter, decimal : str
        A character each, or "auto". The space stands for any run of spaces and tabs.
    header_lines : int, optional
        So many lines of the file come before the data, the last of them with the names; default: found out.
    is_exact : bool
        Read numbers as fractions.
    comment : str, optional
        What comments begin with, none where it is empty; default: # and %, before the data only.
    thousands : str
        What separates groups of three digits; default: nothing.

    Raises
    ------
    InvalidInput
        If there is no number in it, quotes do not match, or a number is out of range.

    Examples
    --------
    >>> read_grid("a;b\\n1,5;2\\n").rows
    ((1.5, 2.0),)
    """
    head = take_head(list(enumerate(io.StringIO(text.strip("\ufeff\x1a"), newline=None), 1)), header_lines, comment)
    if not head.rows:
        raise InvalidInput("there is no data in it: every line is blank, a comment or skipped; --comment \"\" takes "
                           "lines that begin with # as data")
    if delimiter == "auto":
        delimiter = head.delimiter or _delimiter_of([line for _, line in head.rows], thousands)
    lines, fields = _split(head.rows, delimiter)
    notation = _notation_of(fields, delimiter, decimal, thousands)
    names = (_names_found(head, lines, fields, delimiter, notation) if header_lines is None else
             _names_told(head, fields, delimiter, notation))
    if not fields and names:
        raise InvalidInput(_no_number(names, delimiter))
    rows = [_row(cells, line, notation, is_exact) for cells, line in zip(fields, lines, strict=True)]
    if not any(is_number(cell) for row in rows for cell in row):
        raise InvalidInput(_no_number(fields[-1], delimiter))
    _check_comments(rows, lines)
    notes = (*head.notes, *_left_out(head), *_doubts(fields, notation))
    return Grid(None if names is None else header_for(rows, fields, names), tuple(rows), tuple(fields), tuple(lines),
                delimiter, notation, notes)


def _names_told(head: Head, fields: Sequence[Sequence[str]], delimiter: str, notation: Notation
                ) -> Sequence[str] | None:
    """The names in the line that was said to have them; None where it is a title, or a comment without names."""
    if head.names is None or not fields:
        return None
    width = max(map(len, fields))
    if head.names_are_marked:
        return names_in_comment(head.names, width, delimiter)
    (line,), (names,) = _split([head.names], delimiter)
    if all_numbers(names, notation) and not like_years(names) and not are_numbered(names, fields):
        shown = ", ".join(names[:3]) + ", ..." * (len(names) > 3)
        raise InvalidInput(f"line {line} holds numbers ({shown}) where names were expected, and they would be lost: "
                           f"--skip-header {line - 1} takes it as data; a letter before each makes names of them")
    return names_in_comment(head.names, width, delimiter) if len(names) == 1 < width else names


def _names_found(head: Head, lines: list[int], fields: list[list[str]], delimiter: str, notation: Notation
                 ) -> Sequence[str] | None:
    """The names in the first line or in the comment before it, and the units under them, taken out of `fields`."""
    first = fields[0]
    is_numbered = are_numbered(first, fields[1:])
    if not is_numbered and not are_names(first, notation):
        if like_years(first):
            head.notes.append(f"line {lines[0]} is taken as data; --skip-header {lines[0]} takes it for names")
        before = [line for line in head.comments if line[0] < lines[0]]
        names = names_in_comment(before[-1], max(map(len, fields)), delimiter) if before else None
        if names is not None:
            head.comments.remove(before[-1])
            head.notes.append(f"the comment in line {before[-1][0]} is taken for names; --skip-header 0 leaves it out")
        return names
    count = units_in(fields[1:], notation)
    for line, cells in zip(lines[1:count + 1], fields[1:count + 1], strict=True):
        head.notes.append(f"line {line} is taken for units, and left out: {', '.join(filter(None, cells))[:60]}")
    if is_numbered:
        head.notes.append(f"line {lines[0]} is taken for names, {', '.join(filter(None, first))[:60]}; --skip-header "
                          f"{lines[0] - 1} takes it as data")
    del lines[:count + 1], fields[:count + 1]
    return first


def _check_comments(rows: Sequence[Sequence[Cell]], lines: Sequence[int]) -> None:
    """A line of words that begins with # is a comment, it seems."""
    for row, line in zip(rows, lines, strict=True):
        first = row[0]
        if isinstance(first, str) and first.startswith("#") and all(isinstance(cell, str) for cell in row):
            raise InvalidInput(f"line {line}, {first[:30]!r}: a comment among the data? --comment \"#\" leaves out "
                               "every line that begins so")


def _left_out(head: Head) -> list[str]:
    if not head.comments:
        return []
    count, first = len(head.comments), head.comments[0][0]
    return [f"left out: {count} comment lines, the first is line {first}" if count > 1 else
            f"left out: the comment in line {first}"]


def _doubts(fields: Sequence[Sequence[str]], notation: Notation) -> list[str]:
    """A note where decimal commas may be those of thousands."""
    if notation.decimal != "," or notation.thousands:
        return []
    commas = [cell for cells in fields for cell in cells if looks_like_decimal_comma(cell)]
    if not commas or not all(looks_like_thousands(cell) for cell in commas):
        return []
    meant = commas[0].replace(",", ".")
    return [f"{commas[0]} is read as {meant}; --thousands comma reads it as {commas[0].replace(',', '')}"]


def _delimiter_of(lines: Sequence[str], thousands: str) -> str:
    """The candidate on most lines, quoted text aside; spaces where there is none, or now and then a tab."""
    bare = [_QUOTED.sub("", line) for line in lines]
    if thousands:
        grouped = re.compile(rf"(?<![0-9])[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+(?![0-9])")
        bare = [grouped.sub("0", line) for line in bare]
    counts = {candidate: sum(candidate in line.strip(" \r\n") for line in bare) for candidate in _CANDIDATES}
    best = max(counts, key=lambda candidate: counts[candidate])
    return best if counts[best] and (best != "\t" or counts[best] > len(lines) / 2) else " "


def _split(kept: Sequence[tuple[int, str]], delimiter: str) -> tuple[list[int], list[list[str]]]:
    """The fields of each row, and the line on which it begins; a last column without any entry is dropped."""
    source = (" ".join(line.split()) + "\n" if delimiter == " " else line for _, line in kept)
    reader = csv.reader(source, delimiter=delimiter, skipinitialspace=True, strict=True)
    lines: list[int] = []
    fields: list[list[str]] = []
    start = 0
    try:
        for cells in reader:
            lines.append(kept[start][0])
            fields.append([cell.strip() for cell in cells])
            start = reader.line_num
    except csv.Error as error:
        raise InvalidInput(f"line {kept[min(start, len(kept) - 1)][0]}: the quotes do not match ({error}); a quoted "
                           'field begins and ends with ", and a " inside of it is doubled') from None
    if all(len(cells) > 1 and not cells[-1] for cells in fields):
        fields = [cells[:-1] for cells in fields]
    return lines, fields


def _notation_of(fields: Sequence[Sequence[str]], delimiter: str, decimal: str, thousands: str) -> Notation:
    """What was told, or else a decimal comma where numbers such as 3,14 occur, and none such as 3.14."""
    if decimal == "auto" and thousands in (".", ","):
        decimal = "," if thousands == "." else "."
    if decimal == thousands:
        raise InvalidInput(f"{decimal} cannot separate both thousands and decimals; --thousands and --decimal differ")
    if decimal != "auto":
        return Notation(decimal, thousands)
    comma = next((cell for cells in fields for cell in cells if "," in cell and looks_like_decimal_comma(cell)), None)
    if delimiter == "," or comma is None:
        return Notation(".", thousands)
    points = next((cell for cells in fields for cell in cells
                   if "." in cell and isinstance(read_cell(cell), float) and not is_error(cell)), None)
    if points is not None:
        raise InvalidInput(f"both {comma} and {points} occur in it; say which is the decimal sign, --decimal . or "
                           "--decimal ,")
    return Notation(",", thousands)


def _row(cells: Sequence[str], line: int, notation: Notation, is_exact: bool) -> tuple[Cell, ...]:
    try:
        return tuple(read_cell(cell, notation, is_exact) for cell in cells)
    except InvalidInput as error:
        raise InvalidInput(f"line {line}: {error}") from None


def _no_number(cells: Sequence[str], delimiter: str) -> str:
    shown = ", ".join(repr(cell[:30]) for cell in cells[:3])
    return (f"there is no number in it, split at {_NAMES.get(delimiter, delimiter)} (the last line begins with "
            f"{shown}); --delimiter and --decimal say how to read it")
