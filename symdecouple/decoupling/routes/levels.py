"""Samples at every level of a plan: by closed forms where there are, along the narrow path elsewhere.

A level with a closed form is reached from the sample itself, by one motion on its orbit; a level without one from the
level before. Both end at the same point where both exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np

from symdecouple.decoupling.routes.route import AtLevel, Route
from symdecouple.errors import Outcome
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.moments.out_of_reach import fallen_together
from symdecouple.numeric.samples.vectors import widened

__all__ = ["Levels"]


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a plan in numbers of one kind; `has_roots` where each is a root or a formula, at any precision."""

    route: Route
    is_closed: Callable[[int], bool]
    has_roots: bool = False

    def at(self, rows: Array, wanted: Sequence[int], targets: Sequence[Any], keep: bool = False,
           is_fine: bool = False) -> Iterator[AtLevel]:
        """Yield the rows, (R, N), at each of the wanted levels, which increase; refused rows stay refused.

        Rows may be narrow ones of a batch; `keep` and `is_fine` are as in `Route.advance`.
        """
        rows = widened(rows)
        at, level = _start(rows), 0
        for k in wanted:
            nearest = next((j for j in range(k, level, -1) if self.is_closed(j)), level)
            if nearest > level:
                at = _refusing(self.route.impose(rows, nearest, targets), at.refusals)
            for j in range(nearest + 1, k + 1):
                before, at = at, self.route.advance(at, j, targets, keep, is_fine)
                digits = "float64" if rows.dtype != object else f"{mpmath.mp.dps} digits"
                at.refusals.update((r, fallen_together(rows[r], before.values[r], at.refusals[r], digits))
                                   for r in at.refusals.keys() - before.refusals.keys())
            level = k
            yield at

    def move(self, rows: Array, start: int, end: int, targets: Sequence[Any]) -> AtLevel:
        """Bring features start+1..end of rows at level `start` to their targets; features 1..start keep theirs."""
        if self.is_closed(end):
            return self.route.impose(rows, end, targets)
        at = _start(rows)
        for k in range(start + 1, end + 1):
            at = self.route.advance(at, k, targets, keep=False, is_fine=True)
        return at


def _start(rows: Array) -> AtLevel:
    return AtLevel(rows, known=np.full((2, len(rows)), mpmath.mpf(0)) if rows.dtype == object else None)


def _refusing(at: AtLevel, refusals: dict[int, Outcome]) -> AtLevel:
    """Note rows that an earlier level refused already."""
    if not refusals:
        return at
    values = at.values.copy()
    values[list(refusals)] = np.nan
    return replace(at, values=values, refusals={**at.refusals, **refusals})
