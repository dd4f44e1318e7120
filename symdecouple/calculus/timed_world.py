"""The numbers of jets with a clock: certificates may come from strangers, and are checked in bounded time.

Every constant and every function that an evaluation asks for looks at the clock, and no exponential is taken whose
exponent alone would fill the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdecouple.calculus.budget import Budget
from symdecouple.calculus.elementary import OutsideDomain, World

__all__ = ["TimedWorld"]

_GROW = frozenset(("exp", "sinh", "cosh", "tanh", "erf", "erfc", "gamma", "loggamma"))
_LARGEST = 10**5  # exp(10^5) has 43 000 digits before the point


class TimedWorld(World):
    """A world that raises `BudgetExceeded` when the time is over, and `OutsideDomain` where numbers overflow."""

    def __init__(self, digits: int | None, clock: Budget) -> None:
        super().__init__(digits)
        self.clock = clock

    def number(self, value: Any) -> Any:
        self.clock.check("evaluating a certificate at its sample")
        return super().number(value)

    def function(self, name: str) -> Callable[[Any], Any]:
        self.clock.check("evaluating a certificate at its sample")
        plain = super().function(name)
        if name not in _GROW:
            return plain

        def bounded(v: Any) -> Any:
            if v is not None and not (isinstance(v, Fraction) or -_LARGEST <= v.a <= v.b <= _LARGEST):
                raise OutsideDomain
            return plain(v)

        return bounded
