"""Derivatives along a direction by central differences: what the tests of gradients share."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np


def extrapolated(function: Callable[[Any], Any], rows: Any, direction: Any, step: Any, times: int = 3) -> Any:
    """Of rows (R, ...), from so many steps, each half of the one before (Richardson): the error is step^(2 times).

    The function is called once, with all displaced rows one below the other; numbers of mpmath keep their digits.
    """
    sides = [side * step / 2**k for k in range(times) for side in (1, -1)]
    ends = np.split(np.asarray(function(np.concatenate([rows + s * direction for s in sides]))), 2 * times)
    table = [(up - down) / (2 * s) for up, down, s in zip(ends[::2], ends[1::2], sides[::2], strict=True)]
    for j in range(1, times):
        table = [fine + (fine - coarse) / (4**j - 1) for coarse, fine in itertools.pairwise(table)]
    return table[0]


def largest(values: Any) -> Any:
    """Of numbers of mpmath."""
    return max(abs(v) for v in np.asarray(values, dtype=object).flat)
