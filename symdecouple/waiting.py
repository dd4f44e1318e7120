"""A line on standard error about what takes long: written over as it goes on, left or wiped at the end.

Standard library only.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["counted_line"]

_EVERY = 0.2  # seconds between two counts


@contextmanager
def counted_line(doing: str, unit: str, *, patience: float = 0.0, is_left: bool = True
                 ) -> Iterator[Callable[[int, int], None]]:
    """Yield what is called with the numbers done and to do; the line begins after `patience` seconds, counted or not.

    Without patience it begins with the first count.
    """
    lock, begun, last, width, is_open = threading.Lock(), time.monotonic(), 0.0, 0, True

    def write(text: str) -> None:
        nonlocal last, width
        with lock:
            if is_open:
                text, last = f"{text}, Ctrl-C stops", time.monotonic()
                width = max(width, len(text))
                print(f"\r{text:<{width}}", end="", file=sys.stderr, flush=True)

    def tell(done: int, total: int) -> None:
        now = time.monotonic()
        if now - begun >= patience and (done >= total or now - last >= _EVERY):
            write(f"{doing}: {done} of {total} {unit}")

    timer = threading.Timer(patience, write, (doing,))
    timer.daemon = True
    if patience:
        timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        with lock:
            is_open = False
            if width:
                print("" if is_left else f"\r{'':<{width}}\r", end="\n" if is_left else "", file=sys.stderr, flush=True)
