"""Which levels have a closed form and which take the narrow path, and samples at every level.

A level with a closed form is reached from the sample itself, by one motion on its leaf; a level without one from the
level before. Both end at the same point where both exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np

from symdecouple.decoupling.energy_return import imposed_back
from symdecouple.decoupling.energy_route import Decoupled, EnergyRoute
from symdecouple.decoupling.moment_route import MomentRoute
from symdecouple.decoupling.narrow_route import NarrowRoute
from symdecouple.decoupling.precise_energy_route import PreciseEnergyRoute
from symdecouple.decoupling.routes import Differentiated, Imposed, Leading, Route, Stretch
from symdecouple.errors import Outcome
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.samples.vectors import widened

__all__ = ["Nesting"]


@dataclass(frozen=True, slots=True)
class Nesting:
    """The levels of a plan in numbers of one kind.

    Parameters
    ----------
    closed : Route
    narrow : NarrowRoute
    is_closed : callable
        From a level to whether it has a closed form; raises `NoClosedForm` where it has none and the narrow path was
        not wanted.
    """

    closed: Route
    narrow: NarrowRoute
    is_closed: Callable[[int], bool]

    def levels(self, rows: Array, wanted: Sequence[int], targets: Sequence[Any], keep: bool = False,
               is_fine: bool = False) -> Iterator[Imposed]:
        """Yield the rows, (R, N), at each of the wanted levels, which increase; refused rows stay refused.

        Parameters
        ----------
        rows : array (R, N)
            Those of a batch; narrow ones may be among them.
        wanted : sequence of int
        targets : sequence of numbers
        keep : bool
            Keep narrow paths, for gradients.
        is_fine : bool
            Where the samples are asked for themselves, as in `NarrowRoute.follow`.
        """
        if wanted and not isinstance(self.closed, MomentRoute):  # which widens them itself, for as long as it takes
            rows = widened(rows)
        at, level = _start(rows), 0
        for k in wanted:
            nearest = next((j for j in range(k, level, -1) if self.is_closed(j)), level)
            if nearest > level:
                at = _without(self.closed.impose(rows, nearest, targets), at.refusals)
            elif at.values is rows and (wide := widened(rows)) is not rows:
                at = _start(wide)
            at = self._along(at, nearest + 1, k, targets, keep, is_fine)
            level = k
            yield at

    def leading_values(self, rows: Array, targets: Sequence[Any]) -> Decoupled | Leading | None:
        """Return what `leading` does, or values that have no gradients."""
        return self.closed.decoupled(rows, targets) if isinstance(self.closed, MomentRoute) else self.leading(
            rows, targets)

    def leading_gradients(self, rows: Array, targets: Sequence[Any]) -> Decoupled | Differentiated | None:
        """Return what `leading` does, or features whose gradients are known with them."""
        return self.closed.differentiated(rows, targets) if isinstance(self.closed, MomentRoute) else self.leading(
            rows, targets)

    def leading(self, rows: Array, targets: Sequence[Any]) -> Decoupled | None:
        """Return leading decoupled features, each at the level before it, where the route has all of them at once."""
        return self.closed.decoupled(widened(rows), targets) if isinstance(self.closed, EnergyRoute) and self.is_closed(
            len(self.closed.forms)) else None

    def at_once(self, level: int) -> int:
        """Up to which level the route imposes decoupled features all at once; 0 where it does not."""
        k = min(level, len(self.closed.forms)) if isinstance(self.closed, EnergyRoute | PreciseEnergyRoute) else 0
        return k if k and self.is_closed(k) else 0

    def returned(self, rows: Array, references: Sequence[Any], targets: Array, unit: float) -> Imposed:
        """Impose decoupled features 1..k, (R, k), last first, k no more than `at_once`; see `energy_return`."""
        if isinstance(self.closed, PreciseEnergyRoute):
            found = self.closed.at_once(rows, references, targets, unit)
            assert found is not None
            return found
        assert isinstance(self.closed, EnergyRoute)
        return imposed_back(self.closed, rows, references, targets, unit)

    def move(self, rows: Array, start: int, end: int, targets: Sequence[Any]) -> Imposed:
        """Bring features start+1..end of rows at level `start` to their targets; features 1..start keep theirs."""
        if self.is_closed(end):
            return self.closed.impose(rows, end, targets)
        return self._along(_start(rows), start + 1, end, targets, keep=False, is_fine=True)

    def _along(self, at: Imposed, first: int, last: int, targets: Sequence[Any], keep: bool, is_fine: bool) -> Imposed:
        """Narrow paths of levels first..last, one after the other."""
        if isinstance(self.closed, MomentRoute) and not keep and not at.refusals:
            found = self.closed.advanced(at.values, first, last, targets)
            if found is not None:
                return found
        for k in range(first, last + 1):
            at = self._followed(at, k, targets, keep, is_fine)
        return at

    def _followed(self, at: Imposed, k: int, targets: Sequence[Any], keep: bool, is_fine: bool) -> Imposed:
        open_rows = np.array([r for r in range(len(at.values)) if r not in at.refusals], dtype=np.intp)
        wanted = [t[open_rows] if np.ndim(t) else t for t in targets[:k]]
        known = None if at.pace is None else at.pace[open_rows]
        found = self.narrow.follow(at.values[open_rows], k, wanted, keep, is_fine, known)
        values, residual = at.values.copy(), at.residual.copy()
        values[open_rows] = found.values
        residual[open_rows] = found.residual
        error = None if at.error is None else at.error.copy()
        if error is not None:
            error[open_rows] += found.error
        pace = None if found.pace is None else np.full(len(values), np.nan)
        if pace is not None:
            pace[open_rows] = found.pace
        coming = None if found.coming is None else np.full(len(values), np.nan)
        if coming is not None:
            coming[open_rows] = found.coming
        refusals = {**at.refusals, **{int(open_rows[r]): outcome for r, outcome in found.refusals.items()}}

        stopped: dict[int, Outcome] = {}

        def back(covectors: Array) -> tuple[Array, Array]:
            out, lost = covectors.copy(), np.zeros(len(values), dtype=values.dtype)
            out[:, open_rows], lost[open_rows] = found.back(covectors[:, open_rows])
            stopped.update((int(open_rows[r]), outcome) for r, outcome in found.stopped.items())
            return out, lost

        return _without(Imposed(values, residual, lambda c: at.pullback(back(c[None])[0][0]), refusals, error,
                                Stretch(at, back, stopped), pace, coming), {})


def _start(rows: Array) -> Imposed:
    zeros = np.full(len(rows), mpmath.mpf(0)) if rows.dtype == object else np.zeros(len(rows))
    return Imposed(rows, zeros, lambda covectors: covectors, error=zeros if rows.dtype == object else None)


def _without(imposed: Imposed, refusals: dict[int, Outcome]) -> Imposed:
    """Note rows that an earlier level refused already."""
    every = {**imposed.refusals, **refusals}
    values = imposed.values
    if every:
        values = values.copy()
        values[list(every)] = np.nan
    return replace(imposed, values=values, refusals=every)
