"""A text table of any common kind: what separates its fields, what names its columns, what its numbers are.

Nothing here knows what a sample is. Every line that is not blank and not a comment is a row; each row keeps its own
length and its line number, so that messages can point at what is wrong.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from symdecouple.cli.cells import Cell, is_number, looks_like_decimal_comma, read_cell
from symdecouple.errors import InvalidInput

__all__ = ["Grid", "decode", "read_grid"]

_COMMENT = re.compile(r"\s*#(?!N/A)", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_CANDIDATES = ";\t,|"
_NAMES = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars", " ": "spaces"}
_BINARY = {
    b"PK\x03\x04": "a ZIP archive (NPZ, or a spreadsheet): save one array with numpy.save, or export the sheet as CSV",
    b"\x1f\x8b": "compressed with gzip: decompress it, gzip -dc FILE | symdecouple decouple -",
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
    lines : tuple of int
        The line of the file, counted from 1, on which each row begins.
    delimiter, decimal : str
        What was found to separate fields, and decimals.
    """

    header: tuple[str, ...] | None
    rows: tuple[tuple[Cell, ...], ...]
    lines: tuple[int, ...]
    delimiter: str
    decimal: str

    @property
    def width(self) -> int:
        return max(map(len, self.rows))

    def name(self, column: int) -> str:
        """What to call a column, counted from 0."""
        named = self.header is not None and column < len(self.header) and self.header[column]
        return self.header[column] if self.header is not None and named else f"column {column + 1}"

    def __str__(self) -> str:
        comma = ", decimal commas" if self.decimal == "," else ""
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
        raise InvalidInput("this is no text, it holds zero bytes; text tables and NPY files are read")
    return text


def read_grid(text: str, *, delimiter: str = "auto", decimal: str = "auto", header_lines: int | None = None,
              is_exact: bool = False) -> Grid:
    """Read a text table.

    Parameters
    ----------
    text : str
    delimiter, decimal : str
        A character each, or "auto". The space stands for any run of spaces and tabs.
    header_lines : int, optional
        So many lines come before the data, the last of them with the names; default: found out.
    is_exact : bool
        Read numbers as fractions.

    Raises
    ------
    InvalidInput
        If there is no number in it, quotes do not match, or a number is out of range.

    Examples
    --------
    >>> read_grid("a;b\\n1,5;2\\n").rows
    ((1.5, 2.0),)
    """
    kept = [(number, line) for number, line in enumerate(io.StringIO(text, newline=None), 1)
            if line.strip() and not _COMMENT.match(line)]
    kept = kept[max(0, (header_lines or 0) - 1):]
    if not kept:
        raise InvalidInput("there is no data in it: every line is blank, a comment or skipped")
    if delimiter == "auto":
        delimiter = _delimiter_of([line for _, line in kept])
    lines, fields = _split(kept, delimiter)
    if decimal == "auto":
        decimal = _decimal_of(fields, delimiter)
    has_header = _is_header(fields[0], decimal) if header_lines is None else header_lines > 0
    rows = [_row(cells, line, decimal, is_exact) for cells, line in
            zip(fields[has_header:], lines[has_header:], strict=True)]
    if not any(is_number(cell) for row in rows for cell in row):
        raise InvalidInput(_no_number(fields[-1], delimiter))
    header = _header_for(rows, fields[0]) if has_header else None
    return Grid(header, tuple(rows), tuple(lines[has_header:]), delimiter, decimal)


def _delimiter_of(lines: Sequence[str]) -> str:
    """The candidate on most lines, quoted text aside; spaces where there is none, or now and then a tab."""
    bare = [_QUOTED.sub("", line) for line in lines]
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


def _decimal_of(fields: Sequence[Sequence[str]], delimiter: str) -> str:
    """A comma where numbers such as 3,14 occur, and none such as 3.14."""
    if delimiter == "," or not any(looks_like_decimal_comma(cell) for cells in fields for cell in cells):
        return "."
    points = next((cell for cells in fields for cell in cells
                   if "." in cell and isinstance(read_cell(cell), float)), None)
    if points is not None:
        comma = next(cell for cells in fields for cell in cells if looks_like_decimal_comma(cell))
        raise InvalidInput(f"both {comma} and {points} occur in it; say which is the decimal sign, --decimal . or "
                           "--decimal ,")
    return ","


def _is_header(cells: Iterable[str], decimal: str) -> bool:
    """A first line with text and without a number names the columns."""
    read = [read_cell(cell, decimal) for cell in cells]
    return any(isinstance(cell, str) for cell in read) and not any(map(is_number, read))


def _header_for(rows: Sequence[Sequence[Cell]], names: Sequence[str]) -> tuple[str, ...]:
    """R leaves the column of row names without a name: then all names move by one."""
    shifted = all(len(row) == len(names) + 1 and isinstance(row[0], str) for row in rows)
    return ("", *names) if shifted else tuple(names)


def _row(cells: Sequence[str], line: int, decimal: str, is_exact: bool) -> tuple[Cell, ...]:
    try:
        return tuple(read_cell(cell, decimal, is_exact) for cell in cells)
    except InvalidInput as error:
        raise InvalidInput(f"line {line}: {error}") from None


def _no_number(cells: Sequence[str], delimiter: str) -> str:
    shown = ", ".join(repr(cell[:30]) for cell in cells[:3])
    return (f"there is no number in it, split at {_NAMES.get(delimiter, delimiter)} (the last line begins with "
            f"{shown}); --delimiter and --decimal say how to read it")
