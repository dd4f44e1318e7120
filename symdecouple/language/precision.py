"""Many digits, one caller at a time: the precision of mpmath belongs to the process, not to a thread.

A thread that changes it changes the digits of all others. Here a block that needs its own precision waits until no
other block has one, and leaves what it found. Float64 calls need no precision, and wait for nobody.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import mpmath

__all__ = ["at_bits", "at_digits"]

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
