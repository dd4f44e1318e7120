"""Time budgets for exact steps: past the budget an exact question is UNDECIDED, never guessed and never a hang.

Nothing is interrupted from outside. Loops look at the clock, and every single step between two looks is small: what
calls into SymPy passes `language.gate`, which refuses what would take more than a second, and polynomials of
`language.polynomials` look before each operation.

The clock that is running is known without being handed on: `Budget.running` sets it for a block, `check` looks at it.
Of budgets inside budgets the earlier deadline counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from symdecouple.errors import BudgetExceeded, InvalidInput
from symdecouple.language.failures import sympy_failures

__all__ = ["Budget", "check", "too_large"]

_RUNNING: ContextVar[tuple[Budget, str] | None] = ContextVar("running", default=None)


class Budget:
    """A deadline that exact algorithms look at between their steps.

    Parameters
    ----------
    seconds : float
        From now on; ``math.inf`` for no limit. Inside a block of another budget its deadline counts if it is earlier.
    """

    __slots__ = ("_end", "seconds")

    def __init__(self, seconds: float = 30.0) -> None:
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
            raise InvalidInput(f"a budget is a positive number of seconds, got {seconds!r}")
        self.seconds = float(seconds)
        self._end = time.monotonic() + seconds if seconds < math.inf else math.inf
        if (outer := _RUNNING.get()) is not None and outer[0]._end < self._end:
            self.seconds, self._end = outer[0].seconds, outer[0]._end

    @property
    def remaining(self) -> float:
        """Seconds left, at least a millisecond."""
        return max(self._end - time.monotonic(), 1e-3)

    def check(self, what: str) -> None:
        """Raise BudgetExceeded, naming the step, if the time is over."""
        if time.monotonic() > self._end:
            raise BudgetExceeded(self._message(what))

    @contextmanager
    def running(self, what: str) -> Iterator[None]:
        """Make this the clock that `check` looks at in the block, unless one with an earlier deadline is running.

        What SymPy gives up on in the block is translated.
        """
        self.check(what)
        outer = _RUNNING.get()
        token = _RUNNING.set((self, what) if outer is None or self._end < outer[0]._end else outer)
        try:
            with sympy_failures(what):
                yield
        finally:
            _RUNNING.reset(token)

    def _message(self, what: str) -> str:
        return (f"{what} took more than the budget of {self.seconds:g} s; "
                "give budget= more seconds, or ask for one sample size with n_samples=")


def check() -> None:
    """Raise BudgetExceeded if a clock is running and its time is over: for loops that nobody hands a budget to."""
    if (running := _RUNNING.get()) is not None:
        running[0].check(running[1])


def too_large(what: str, size: object, limit: object) -> BudgetExceeded:
    """Return the error that says what is too large, how large it is, and what the limit is."""
    return BudgetExceeded(f"too large: {what} is {size}, and the limit is {limit}")
