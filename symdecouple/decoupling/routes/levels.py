"""Samples at every level of a plan: by closed forms where there are, along the narrow path elsewhere.

A level with a closed form is reached from the sample itself, by one motion on its orbit; a level without one from the
level before. Both end at the same point where both exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from symdecouple.decoupling.routes.route import AtLevel, Route
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.moments.out_of_reach import fallen_together
from symdecouple.numeric.samples.vectors import widened

__all__ = ["Levels"]


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a plan in numbers of one kind.

    `closed` are the routes by closed forms, each with the last level that it has, the first one to be asked first;
    `narrow` has all levels.
    """

    closed: Sequence[tuple[float, Route]]
    narrow: Route
    is_closed: Callable[[int], bool]

    @property
    def route(self) -> Route:
        """The one that may have all features at once."""
        return self.closed[0][1] if self.closed else self.narrow

    def at(self, rows: Array, wanted: Sequence[int], targets: Sequence[Any], keep: bool = False,
           is_fine: bool = False, start: int = 0) -> Iterator[AtLevel]:
        """Yield the rows, (R, N), at each of the wanted levels, which increase; refused rows stay refused.

        Rows may be narrow ones of a batch, or at level `start`: of features after it, targets may be others than the
        references then. `keep` and `is_fine` are as in `Route.advance`.
        """
        rows, level = widened(rows), start
        at = AtLevel(rows, known=np.full((2, len(rows)), mpmath.mpf(0)) if rows.dtype == object else None)
        for k in wanted:
            nearest = next((j for j in range(k, level, -1) if self.is_closed(j)), level)
            if nearest > level:
                route = next(route for last, route in self.closed if nearest <= last)
                refused, at = at.refusals, route.impose(rows, nearest, targets)
                at.refusals.update(refused)
                at.values[list(refused)] = np.nan
            for j in range(nearest + 1, k + 1):
                before, at = at, self.narrow.advance(at, j, targets, keep, is_fine)
                digits = "float64" if rows.dtype != object else f"{mpmath.mp.dps} digits"
                at.refusals.update((r, fallen_together(rows[r], before.values[r], at.refusals[r], digits))
                                   for r in at.refusals.keys() - before.refusals.keys())
            level = k
            yield at
