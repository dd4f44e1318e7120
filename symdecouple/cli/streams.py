"""Standard input, output and error, one of which may be closed or full, and the files of results."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from symdecouple.errors import InvalidInput
from symdecouple.replacing import replacing

__all__ = ["abandon_output", "are_one_file", "check_folder", "read_input", "read_input_text", "say",
           "streams_made_whole", "writing"]


class _Closed(io.TextIOBase):
    """Standard output where there is none: what is written is lost, and that is said once it is flushed."""

    lost = False

    def write(self, text: str) -> int:
        self.lost = True
        return len(text)

    def flush(self) -> None:
        if self.lost:
            self.lost = False  # said once: Python 3.13 tells of what is raised when the object goes
            raise OSError(errno.EBADF, "it is closed")


@contextlib.contextmanager
def streams_made_whole() -> Iterator[None]:
    """Put something in the place of closed standard streams; unset them again."""
    with contextlib.ExitStack() as stack:
        if sys.stdout is None or sys.stdout.closed:
            stack.enter_context(contextlib.redirect_stdout(_Closed()))
        if sys.stderr is None or sys.stderr.closed:
            stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        for stream in (sys.stdout, sys.stderr):  # a character that the terminal cannot show must not stop the output
            with contextlib.suppress(AttributeError, ValueError, OSError):
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        yield


def say(message: str) -> None:
    """Tell it on standard error, if somebody can hear it."""
    with contextlib.suppress(OSError, ValueError):
        print(message, file=sys.stderr, flush=True)


def abandon_output() -> None:
    """Nobody takes the output; what is still buffered must not fail again when Python ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def read_input(most: int | None = None) -> bytes:
    """Return what standard input holds, at most so many bytes of it.

    Raises
    ------
    InvalidInput
        If it is closed, or cannot be read.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise InvalidInput("standard input is closed; name a file, or write what is read into it")
    try:
        binary: Any = getattr(sys.stdin, "buffer", None)
        if binary is None:
            return sys.stdin.read(-1 if most is None else most).encode()
        return bytes(binary.read(-1 if most is None else most))
    except (OSError, UnicodeError) as error:
        raise InvalidInput(f"standard input cannot be read ({getattr(error, 'strerror', None) or error})") from None


def read_input_text(most: int) -> str:
    """Return standard input as text, which is UTF-8; one byte more than `most` at most.

    Raises
    ------
    InvalidInput
    """
    data = read_input(most + 1)
    try:
        return data.decode("utf-8-sig", "ignore" if len(data) > most else "strict")
    except UnicodeError:
        raise InvalidInput("standard input is no text in UTF-8") from None


@contextlib.contextmanager
def writing(option: str, path: Path) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of another; say in one line what cannot be written, and why."""
    try:
        with replacing(path) as stream:
            yield stream
    except OSError as error:
        raise InvalidInput(f"{option} {path} cannot be written ({error.strerror or error})") from None


def check_folder(option: str, path: Path) -> None:
    """Refuse the name of a file that is a folder, or would be in none."""
    if not path.parent.is_dir() or path.is_dir():
        raise InvalidInput(f"{option} {path}: " + ("this is a folder; name a file in it" if path.is_dir() else
                                                   f"there is no folder {path.parent}"))


def are_one_file(one: Path, other: Path) -> bool:
    """True where both names are of one file, or would be."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # one of them is not there yet
        return os.path.abspath(one) == os.path.abspath(other)
