"""Time budgets for exact steps: past the budget an exact question is UNDECIDED, never guessed and never a hang."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from symdecouple.calculus.alarm import Interrupted, alarm
from symdecouple.errors import BudgetExceeded, InvalidInput
from symdecouple.language.failures import sympy_failures

__all__ = ["Budget"]

PRODUCT_LIMIT = 4_000_000


class Budget:
    """A deadline that exact algorithms look at between their steps.

    Parameters
    ----------
    seconds : float
        From now on; ``math.inf`` for no limit.
    """

    __slots__ = ("_end", "seconds")

    def __init__(self, seconds: float = 30.0) -> None:
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
            raise InvalidInput(f"a budget is a positive number of seconds, got {seconds!r}")
        self.seconds = float(seconds)
        self._end = time.monotonic() + seconds if seconds < math.inf else math.inf

    @property
    def remaining(self) -> float:
        """Seconds left, at least a millisecond."""
        return max(self._end - time.monotonic(), 1e-3)

    def check(self, what: str) -> None:
        """Raise BudgetExceeded, naming the step, if the time is over."""
        if time.monotonic() > self._end:
            raise BudgetExceeded(self._message(what))

    def check_product(self, left: int, right: int, what: str) -> None:
        """Refuse one product of polynomials of so many terms each that it could not be interrupted in time."""
        if left * right > PRODUCT_LIMIT:
            raise BudgetExceeded(f"{what} needs a product of polynomials of {left} and {right} terms")
        self.check(what)

    @contextmanager
    def watch(self, what: str) -> Iterator[None]:
        """Interrupt the block when the time is over, also inside library calls; translate what SymPy gives up on."""
        self.check(what)
        if self._end == math.inf:
            with sympy_failures(what):
                yield
            return
        try:
            with alarm(self.remaining), sympy_failures(what):
                yield
        except Interrupted:
            raise BudgetExceeded(self._message(what)) from None

    def _message(self, what: str) -> str:
        return (f"{what} took more than the budget of {self.seconds:g} s; "
                "give budget= more seconds, or ask for one sample size with n_samples=")
