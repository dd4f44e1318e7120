"""The room that a function takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable


def peak(function: Callable[[], object]) -> int:
    """Most bytes that Python and NumPy held at once beside what they held before."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
