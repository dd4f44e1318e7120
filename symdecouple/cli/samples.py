"""Sample vectors: which numbers of a table or an array belong together, and what they are called.

A vector is an array of floats, NaN where a value is missing; one that holds an integer past 2**53 or a fraction is an
array of objects, so that nothing is rounded before it has to be.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.cli.cells import is_error, is_number, looks_like_thousands, read_cell
from symdecouple.cli.text_file import Grid
from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.intake import exact, take_numbers

__all__ = ["Axis", "Samples", "arrange", "read_array"]

Axis: TypeAlias = Literal["rows", "columns"]
Vector: TypeAlias = NDArray[Any]

_SIGNS = {",": "comma", ".": "point", "'": "apostrophe", "\u2019": "apostrophe", "_": "_"}
_NAMED = 8  # columns listed in a message
_UNSPLIT = re.compile(r"[+-]?[0-9][0-9.,;|'\s+-]*")  # numbers that were not taken apart, or 1.234.567
_DATE = re.compile(r"[0-9]+(-[0-9]+)+|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{2,4}")


@dataclass(frozen=True, slots=True)
class Samples:
    """The sample vectors of one file.

    Attributes
    ----------
    axis : "rows" or "columns"
        What the vectors are in the file.
    labels : tuple of str
    vectors : tuple of 1-D arrays
        One a label; not all of the same length.
    described : str
        What was found in the file, for the reader of the output.
    left_out : tuple of str
        Names of the columns of text, and of row numbers, that were not taken.
    notes : tuple of str
        What else of the file was not taken as it is.
    groups : str
        The column whose entries tell the samples apart; empty where none does.
    has_choice : bool
        True where the other axis would give other samples.
    """

    axis: Axis
    labels: tuple[str, ...]
    vectors: tuple[Vector, ...]
    described: str
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    groups: str = ""
    has_choice: bool = True


def arrange(grid: Grid, axis: str = "auto", columns: str | None = None, groups: str | None = None) -> Samples:
    """Take the rows or the columns of a table as sample vectors.

    Parameters
    ----------
    grid : Grid
    axis : {"auto", "rows", "columns"}
        "auto": columns where a header line names them or each line holds one number, otherwise rows.
    columns : str, optional
        Names or numbers (from 1) of the columns to take, separated by commas.
    groups : str, optional
        Name or number of a column: lines with one entry in it are one sample, in each of the columns.

    Raises
    ------
    InvalidInput
        If text stands among numbers, a column does not exist, or lines differ in length and columns are wanted.

    Examples
    --------
    >>> from symdecouple.cli.text_file import read_grid
    >>> arrange(read_grid("a,1,2\\nb,3,4,5")).labels
    ('a', 'b')
    >>> arrange(read_grid("who,v\\nann,1\\nbob,2\\nann,3"), groups="who").labels
    ('ann', 'bob')
    """
    key = set() if groups is None else {_find(grid, groups.strip())}
    text = {column for column in range(grid.width) if _is_text(grid, column)}
    if columns is None:
        _check_text(grid, text - key)
        counted = text | {0} if grid.counts_rows else text
        taken = [k for k in range(grid.width) if k not in counted | key]
    else:
        counted = set()
        taken = _selected(grid, columns, text)
    notes = (*grid.notes, *_check_numbers(grid, taken))
    left_out = tuple(grid.name(k) for k in sorted(counted - key))
    if key:
        grouped = _grouped(grid, taken, *key)
        return replace(grouped, left_out=left_out, notes=(*notes, *grouped.notes))
    chosen = _axis(grid, taken) if axis == "auto" else axis
    samples = _columns(grid, taken) if chosen == "columns" else _rows(grid, taken, 0 in text | counted)
    return replace(samples, left_out=left_out[chosen == "rows" and 0 in counted:], notes=notes)


def _axis(grid: Grid, taken: Sequence[int]) -> Axis:
    return "columns" if grid.header is not None or len(taken) == 1 else "rows"


def _is_text(grid: Grid, column: int) -> bool:
    """A column of text holds some, and no number."""
    cells = [row[column] for row in grid.rows if column < len(row)]
    return any(isinstance(cell, str) for cell in cells) and not any(map(is_number, cells))


def _columns(grid: Grid, taken: Sequence[int]) -> Samples:
    _check_widths(grid)
    labels = tuple(grid.name(k) for k in taken)
    vectors = tuple(_vector(grid, [(row, k) for row in range(len(grid.rows))]) for k in taken)
    return Samples("columns", labels, vectors, str(grid))


def _grouped(grid: Grid, taken: Sequence[int], key: int) -> Samples:
    """The columns, each parted by what stands in the column `key`; in the order of the file."""
    _check_widths(grid)
    if not taken or key in taken:
        raise InvalidInput(f"--groups {grid.name(key)[:40]}: there is no column of numbers beside it" if not taken else
                           f"{grid.name(key)[:40]} tells the groups, and cannot be among --columns")
    members: dict[str, list[int]] = {}
    for number, (row, texts) in enumerate(zip(grid.rows, grid.texts, strict=True)):
        if row[key] == row[key]:
            members.setdefault(texts[key], []).append(number)
    lacking = len(grid.rows) - sum(map(len, members.values()))
    if not members:
        raise InvalidInput(f"--groups {grid.name(key)[:40]}: no line has an entry in it")
    pairs = [(group, k) for group in members for k in taken]
    labels = tuple(f"{group}: {grid.name(k)}" if len(taken) > 1 else group for group, k in pairs)
    vectors = tuple(_vector(grid, [(row, k) for row in members[group]]) for group, k in pairs)
    notes = (f"left out: {lacking} line{'s' * (lacking > 1)} without an entry in {grid.name(key)}",) if lacking else ()
    return Samples("columns", labels, vectors, str(grid), notes=notes, groups=grid.name(key))


def _check_widths(grid: Grid) -> None:
    expected = grid.width if grid.header is None else len(grid.header)
    for row, line in zip(grid.rows, grid.lines, strict=True):
        if len(row) != expected:
            raise InvalidInput(f"the number of fields in line {line} is {len(row)}, and {expected} where the columns "
                               "are samples; leave the field of a missing value empty, take the rows, --axis rows, or "
                               "begin where the table does, --skip-header LINES")


def _rows(grid: Grid, taken: Sequence[int], labelled: bool) -> Samples:
    labels = tuple((texts[0] or "(no label)") if labelled else f"row {k}" for k, texts in enumerate(grid.texts, 1))
    vectors = tuple(_vector(grid, [(number, k) for k in taken if k < len(row)]) for number, row in enumerate(grid.rows))
    return Samples("rows", labels, vectors, str(grid))


def _vector(grid: Grid, places: Sequence[tuple[int, int]]) -> Vector:
    """Numbers of a sample: floats where they hold all of them, else every number as it was written."""
    cells = [grid.rows[row][column] for row, column in places]
    if all(isinstance(cell, float) for cell in cells):
        return np.array(cells, dtype=np.float64)
    if any(isinstance(cell, Fraction) for cell in cells):  # beside it a rounded 0.1 would be another number
        cells = [read_cell(grid.texts[row][column], grid.notation, is_exact=True) for row, column in places]
    return np.array(cells, dtype=object)


def _selected(grid: Grid, columns: str, text: set[int]) -> list[int]:
    """Columns by name, or else by number from 1."""
    wanted = [name.strip() for name in next(csv.reader([columns], skipinitialspace=True), [])]
    if not any(wanted):
        raise InvalidInput("--columns is empty; name columns, or count them from 1, such as --columns 2,3")
    found = [_find(grid, name) for name in wanted]
    for name, column in zip(wanted, found, strict=True):
        if column in text:
            line, cell = next((line, row[column]) for line, row in zip(grid.lines, grid.rows, strict=True)
                              if column < len(row) and isinstance(row[column], str))
            raise InvalidInput(f"column {name} holds text (line {line}: {str(cell)[:30]!r}), not numbers")
    if len(set(found)) < len(found):
        raise InvalidInput(f"--columns {columns[:60]} names a column twice")
    return found


def _find(grid: Grid, name: str) -> int:
    matches = [k for k, known in enumerate(grid.header or ()) if known == name]
    if len(matches) == 1:
        return matches[0]
    if not matches and name.isdecimal() and len(name) < 10 and 1 <= int(name) <= grid.width:
        return int(name) - 1
    if matches:
        raise InvalidInput(f"{len(matches)} columns are named {name!r}; count them from 1 instead")
    known = ", ".join(grid.name(k) for k in range(min(grid.width, _NAMED))) + ", ..." * (grid.width > _NAMED)
    raise InvalidInput(f"there is no column {name[:40]!r}; the columns are {known}")


def _check_text(grid: Grid, text: Iterable[int]) -> None:
    """A column of text must not be numbers that were read wrongly."""
    for column in text:
        for row, line in zip(grid.rows, grid.lines, strict=True):
            cell = row[column] if column < len(row) else ""
            if isinstance(cell, str) and _UNSPLIT.fullmatch(cell) and not _DATE.fullmatch(cell):
                raise InvalidInput(f"line {line}, {grid.name(column)}: is {cell[:30]!r} one number or several? Say how "
                                   f"to read it, {_thousands_hint(cell)}--delimiter and --decimal, or leave the column "
                                   "out with --columns")


def _check_numbers(grid: Grid, taken: Iterable[int]) -> list[str]:
    """Refuse text among numbers; return a note about the errors that a spreadsheet left there."""
    errors: list[tuple[int, str]] = []
    for column in taken:
        for row, texts, line in zip(grid.rows, grid.texts, grid.lines, strict=True):
            cell = row[column] if column < len(row) else ""
            if isinstance(cell, str) and column < len(row):
                mark = '--comment "#" where it is a comment, ' if cell.startswith("#") else ""
                raise InvalidInput(f"line {line}, {grid.name(column)}: {cell[:30]!r} is no number, and others in the "
                                   f"column are; mend it, leave the field empty, or see {mark}{_thousands_hint(cell)}"
                                   "--columns, --delimiter, --decimal and --skip-header")
            if cell != cell and is_error(texts[column]):
                errors.append((line, texts[column]))
    if not errors:
        return []
    (line, text), *others = sorted(errors)
    return [f"missing: {text} in line {line}" + (f", and {len(others)} more errors of the spreadsheet" if others else
                                                 ", an error of the spreadsheet")]


def _thousands_hint(text: str) -> str:
    sign = looks_like_thousands(text)
    return "" if sign is None else f"--thousands {_SIGNS.get(sign, 'space')}, "


def read_array(stream: BinaryIO, axis: str = "auto") -> Samples:
    """Read one NPY array: a sample along its last axis (rows, the default) or its first (columns).

    Raises
    ------
    InvalidInput
        If it is damaged, empty, or holds anything but real numbers; Python objects are never loaded.
    """
    loaded = _loaded(stream)
    array = take_numbers(_narrow(loaded)).array
    if array.ndim == 0:
        raise InvalidInput(f"the array is a single number, {array}; a sample is a 1-D array at least")
    if array.size == 0:
        raise InvalidInput(f"the array is empty, its shape is {array.shape}")
    chosen: Axis = "columns" if axis == "columns" else "rows"
    samples_last = np.moveaxis(array, 0, -1) if chosen == "columns" else array
    batch = samples_last.shape[:-1]
    rows = samples_last.reshape(math.prod(batch), samples_last.shape[-1])
    word = "column" if chosen == "columns" else "row"
    places = np.ndindex(*batch) if batch else ()
    labels = tuple(f"{word} {', '.join(str(k + 1) for k in place)}" for place in places) or ("all",)
    shape = " x ".join(map(str, array.shape))
    return Samples(chosen, labels, tuple(map(_float_or_exact, rows)), f"an array of {shape}, {loaded.dtype}",
                   has_choice=array.ndim > 1)


def _loaded(stream: BinaryIO) -> NDArray[Any]:
    try:
        array = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception as error:  # NumPy reads a header as Python text: a damaged one raises almost anything
        if "allow_pickle" in str(error):
            raise InvalidInput("the array holds Python objects, which are never loaded (that could run code); save "
                               "numbers, a.astype(float)") from None
        raise InvalidInput(f"the NPY file is damaged or not complete ({type(error).__name__}: {str(error)[:120]})"
                           ) from None
    if stream.read(1):
        raise InvalidInput("there is more after the first array in it; save one array a file")
    return np.asarray(array)


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Floats of more than 64 bits as float64, where that holds all of them."""
    if array.dtype.kind != "f" or array.dtype.itemsize <= 8:
        return array
    with np.errstate(all="ignore"):
        near = array.astype(np.float64)
    return near if np.array_equal(near, array, equal_nan=True) else array


def _float_or_exact(row: NDArray[Any]) -> Vector:
    """Integers past 2**53, and what float64 would round, as objects; everything else as float64."""
    if row.dtype.kind == "O":  # floats of more than 64 bits
        return np.array(list(map(exact, row)), dtype=object)
    if row.dtype.kind in "iu" and row.dtype.itemsize == 8 and (int(row.max()) > 2**53 or int(row.min()) < -(2**53)):
        return row.astype(object)
    return row.astype(np.float64)
