"""Many digits, one caller at a time: the precision of mpmath belongs to the process, not to a thread.

A thread that changes it changes the digits of all others. Here a block that needs its own precision waits until no
other block has one, and leaves what it found. Float64 calls need no precision, and wait for nobody.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import mpmath

__all__ = ["BOUNDED", "at_bits", "at_digits"]

_MOST_BITS = 2**14  # before the point of an argument: mpmath takes log(2) or pi to as many, for minutes above 2**24
_TURN = RLock()
if hasattr(os, "register_at_fork"):  # a child has no thread that would give the turn back, nor the digits
    os.register_at_fork(before=_TURN.acquire, after_in_parent=_TURN.release, after_in_child=_TURN.release)


@contextmanager
def at_digits(dps: int) -> Iterator[None]:
    """Compute with this many decimal digits.

    >>> with at_digits(30):
    ...     print(mpmath.mpf(1) / 3)
    0.333333333333333333333333333333
    """
    with _TURN, mpmath.workdps(dps):
        yield


@contextmanager
def at_bits(prec: int) -> Iterator[None]:
    """Compute with this many bits."""
    with _TURN, mpmath.workprec(prec):
        yield


def _bounded(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def bounded(value: Any) -> Any:
        if value and mpmath.isfinite(value) and mpmath.mag(value) > _MOST_BITS:
            raise ValueError(f"an argument of more than {_MOST_BITS} bits before the point")
        return function(value)

    return bounded


# Functions of mpmath that raise ValueError, as outside of their domain, where an answer would fill the memory.
BOUNDED = {name: _bounded(getattr(mpmath, name)) for name in ("exp", "sinh", "cosh", "tanh", "sin", "cos", "tan")}
