"""On a terminal, what takes so long is told after a second. Standard library only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from symdecouple.waiting import counted_line

__all__ = ["Tell", "counted_from", "told_to_wait"]

Tell = Callable[[int, int], None]

_PATIENCE = 1.0  # seconds before a terminal is told why nothing happens


@contextmanager
def told_to_wait(doing: str, unit: str = "") -> Iterator[Tell | None]:
    """Say what is being done, if it is not done within a second and somebody is there to read it.

    What is yielded is called with the numbers done and to do, which the line then counts; None where nobody reads it.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with counted_line(f"symdecouple: {doing}", unit, patience=_PATIENCE, is_left=False) as tell:
        yield tell


def counted_from(tell: Tell | None, before: int, total: int) -> Tell | None:
    """What counts on, in a part of what is counted."""
    return None if tell is None else lambda done, _: tell(before + done, total)
