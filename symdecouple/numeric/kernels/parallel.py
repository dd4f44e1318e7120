"""Work on parts of a batch, several at once: for loops that hand back the interpreter while they run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["cores", "each"]

Item = TypeVar("Item")
Made = TypeVar("Made")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def each(function: Callable[[Item], Made], items: Sequence[Item], threads: int) -> list[Made]:
    """Return the function of each item, in their order; what it raises, or an interruption, ends what has not begun.

    Examples
    --------
    >>> each(abs, [-3, 1, -2], 2)
    [3, 1, 2]
    """
    if min(threads, len(items)) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        waiting = [pool.submit(function, item) for item in items]
        try:
            return [one.result() for one in waiting]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
