"""Work on parts of a batch, several at once: for loops that hand back the interpreter while they run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["cores", "each", "share_rows"]

_SHARE = 2**15  # elements that are worth a thread

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
        return list(pool.map(function, items))


def share_rows(
    kernel: Callable[..., None], which: NDArray[np.intp], values: NDArray[np.floating[Any]], *others: Any
) -> None:
    """Run a compiled kernel on parts of the rows named, one part a thread.

    Threads do not outlive the call, so forks are safe. Where NUMBA_NUM_THREADS is set, there are no more than that.
    """
    if not values.flags.writeable:
        values = values.copy()  # another type to numba, which would compile anew
    n_parts = min(len(which) * values.shape[1] // _SHARE, len(which))
    if n_parts < 2:
        kernel(which, values, *others)
        return
    asked = os.environ.get("NUMBA_NUM_THREADS", "")
    most = min(cores(), int(asked)) if asked.isdigit() and int(asked) else cores()
    parts = np.array_split(which, min(most, n_parts))
    each(lambda part: kernel(part, values, *others), parts, len(parts))
