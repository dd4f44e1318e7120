"""On a terminal, what takes so long is told after a second. Standard library only."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_line", "told_to_wait"]

_PATIENCE = 1.0  # seconds before a terminal is told why nothing happens
_EVERY = 0.2  # seconds between two counts


@contextmanager
def told_to_wait(doing: str) -> Iterator[None]:
    """Say what is being done, if it is not done within a second and somebody is there to read it."""
    if not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(_PATIENCE, print, (f"symdecouple: {doing}, Ctrl-C stops",), {"file": sys.stderr})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def progress_line(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield what is called with the steps done and those to do: a line that counts them, where somebody reads it."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    last = time.monotonic()
    width = 0

    def tell(done: int, total: int) -> None:
        nonlocal last, width
        if time.monotonic() - last < _PATIENCE and not width:
            return
        if time.monotonic() - last < _EVERY and done < total:
            return
        last = time.monotonic()
        text = f"symdecouple: {done} of {total} {what}, Ctrl-C stops"
        width = max(width, len(text))
        print(f"\r{text:<{width}}", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        if width:
            print(f"\r{'':<{width}}\r", end="", file=sys.stderr, flush=True)
