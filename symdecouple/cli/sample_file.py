"""A file of numbers, or standard input, to sample vectors: an NPY array by its first bytes, else a text table.

Either may be compressed with gzip.
"""

from __future__ import annotations

import argparse
import gzip
import io
import zlib
from pathlib import Path
from typing import BinaryIO

from symdecouple.cli.report import printable
from symdecouple.cli.samples import Samples, arrange, read_array
from symdecouple.cli.streams import read_input
from symdecouple.cli.text_file import decode, read_grid
from symdecouple.errors import InvalidInput

__all__ = ["read_bytes", "read_samples", "source_of", "unreadable"]

_NPY = b"\x93NUMPY"
_GZIP = b"\x1f\x8b"


def source_of(arguments: argparse.Namespace) -> str:
    """What the file is called in messages."""
    return "standard input" if arguments.file == "-" else printable(arguments.file)


def read_samples(arguments: argparse.Namespace) -> Samples:
    """Read the sample vectors of the argument `file`, in the way that the options about files tell.

    Raises
    ------
    InvalidInput
        If it cannot be read, or is no table of numbers.
    """
    if arguments.file == "-":
        return _read_stream(io.BytesIO(read_input()), arguments)
    try:
        with Path(arguments.file).open("rb") as stream:
            return _read_stream(stream, arguments)
    except (OSError, ValueError) as error:
        raise unreadable(error) from None


def read_bytes(name: str, most: int) -> bytes:
    """Return what is in a file; more than so many bytes are refused.

    Raises
    ------
    InvalidInput
    """
    try:
        with Path(name).open("rb") as stream:
            found = stream.read(most + 1)
    except (OSError, ValueError) as error:
        raise unreadable(error) from None
    if len(found) > most:
        raise InvalidInput(f"it is longer than {most} bytes")
    return found


def unreadable(error: Exception) -> InvalidInput:
    """Say in the words of the command line why a file cannot be read."""
    if isinstance(error, InvalidInput):
        return error
    if isinstance(error, FileNotFoundError):
        return InvalidInput("there is no such file")
    if isinstance(error, IsADirectoryError):
        return InvalidInput("this is a folder; name a file in it")
    return InvalidInput(f"it cannot be read ({getattr(error, 'strerror', None) or error})")


def _read_stream(stream: BinaryIO, arguments: argparse.Namespace) -> Samples:
    """An NPY array by its first bytes, everything else as text; with digits asked for, its decimals are exact."""
    head = stream.read(len(_NPY))
    if head.startswith(_GZIP):
        stream.seek(0)
        try:
            return _read_stream(io.BytesIO(gzip.decompress(stream.read())), arguments)
        except (EOFError, OSError, zlib.error) as error:
            raise InvalidInput(f"it begins as a file of gzip, and is damaged or not complete ({error})") from None
    if head != _NPY:
        if str(arguments.file).lower().endswith(".npy"):
            raise InvalidInput("this is no NPY file, its first bytes are not \\x93NUMPY; numpy.save writes one")
        text = decode(head + stream.read(), arguments.encoding)
        grid = read_grid(text, delimiter=arguments.delimiter, decimal=arguments.decimal,
                         header_lines=arguments.skip_header, is_exact=arguments.dps is not None,
                         comment=arguments.comment, thousands=arguments.thousands)
        return arrange(grid, arguments.axis, arguments.columns, arguments.groups)
    if arguments.columns is not None or arguments.groups is not None:
        raise InvalidInput("an array has no named columns: --columns and --groups are for text; take a part with NumPy")
    stream.seek(0)
    return read_array(stream, arguments.axis)
