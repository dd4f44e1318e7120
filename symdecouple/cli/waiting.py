"""On a terminal, what takes so long is told after a second. Standard library only."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["told_to_wait"]

_PATIENCE = 1.0  # seconds before a terminal is told why nothing happens


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
