"""``symdecouple decouple``: a file of numbers to one line a sample, orthokurtosis beside kurtosis."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import BinaryIO

from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.report import as_csv, as_json, as_table, printable
from symdecouple.cli.samples import Samples, arrange, read_array
from symdecouple.cli.shape_rows import ShapeRow, shape_rows
from symdecouple.cli.text_file import decode, read_grid
from symdecouple.errors import InvalidInput

__all__ = ["run"]

_NPY = b"\x93NUMPY"
_FORMATS = {".csv": "csv", ".json": "json"}


def run(arguments: argparse.Namespace) -> int:
    """Read, compute and print or write."""
    output = None if arguments.output is None else Path(arguments.output)
    if output is not None and arguments.file != "-" and output.exists() and output.samefile(arguments.file):
        raise InvalidInput(f"--output {output} is the file that is read; choose another name")
    try:
        samples = _read(arguments)
        rows = shape_rows(samples, arguments.nan_policy)
    except InvalidInput as error:
        raise InvalidInput(f"{_source(arguments)}: {error}") from error
    _write(_written(samples, rows, arguments, output), output)
    return ExitCode.PARTIAL if any(row.refused for row in rows) else ExitCode.OK


def _source(arguments: argparse.Namespace) -> str:
    return "standard input" if arguments.file == "-" else printable(arguments.file)


def _read(arguments: argparse.Namespace) -> Samples:
    if arguments.file == "-":
        return _read_stream(io.BytesIO(sys.stdin.buffer.read()), arguments)
    try:
        with Path(arguments.file).open("rb") as stream:
            return _read_stream(stream, arguments)
    except FileNotFoundError:
        raise InvalidInput("there is no such file") from None
    except IsADirectoryError:
        raise InvalidInput("this is a folder; name a file in it") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"it cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _read_stream(stream: BinaryIO, arguments: argparse.Namespace) -> Samples:
    """An NPY array by its first bytes, everything else as text."""
    head = stream.read(len(_NPY))
    if head != _NPY:
        if str(arguments.file).lower().endswith(".npy"):
            raise InvalidInput("this is no NPY file, its first bytes are not \\x93NUMPY; numpy.save writes one")
        text = decode(head + stream.read(), arguments.encoding)
        grid = read_grid(text, delimiter=arguments.delimiter, decimal=arguments.decimal,
                         header_lines=arguments.skip_header)
        return arrange(grid, arguments.axis, arguments.columns)
    if arguments.columns is not None:
        raise InvalidInput("an array has no named columns: --columns is for text; take a part with NumPy")
    stream.seek(0)
    return read_array(stream, arguments.axis)


def _written(samples: Samples, rows: tuple[ShapeRow, ...], arguments: argparse.Namespace, output: Path | None) -> str:
    by_name = _FORMATS.get(output.suffix.lower(), "table") if output is not None else "table"
    kind = arguments.format or by_name
    if kind == "json":
        return as_json(rows, samples, arguments.file, arguments.nan_policy)
    told = describe(samples, _source(arguments), arguments.axis)
    if kind == "csv":
        print(told, file=sys.stderr)
        return as_csv(rows)
    return f"{told}\n\n{as_table(rows)}"


def describe(samples: Samples, source: str, axis: str = "auto") -> str:
    """What was read, and how it was understood."""
    count = len(samples.labels)
    others = "rows" if samples.axis == "columns" else "columns"
    what = f"{count} samples, the {samples.axis}" if count > 1 else f"1 sample, the {samples.axis.removesuffix('s')}"
    hint = f" (--axis {others} takes the {others})" if axis == "auto" and samples.has_choice else ""
    lines = [f"{source}: {what}{hint}" if samples.has_choice else f"{source}: 1 sample", samples.described]
    if samples.left_out:
        lines.append(f"left out, text: {', '.join(map(printable, samples.left_out))}")
    return "\n".join(lines)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        print(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"--output {output} cannot be written ({error.strerror or error})") from None
