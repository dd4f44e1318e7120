"""Levels along the narrow path: feature after feature, each from where the level before ended (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import mpmath
import numpy as np

from symdecouple.decoupling.offsets import middles
from symdecouple.decoupling.routes.route import AtLevel, Reached, Route, each_row
from symdecouple.errors import Outcome
from symdecouple.families.filter_moments import FilterMoments, recognize_filter_moments
from symdecouple.families.moments import MomentCoordinates
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.features.bank import BankFeatures, Line
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.kernels.parallel import cores
from symdecouple.numeric.moments import gradients as moment_adjoint, moment_path
from symdecouple.numeric.moments.long_rows import follow_long
from symdecouple.numeric.moments.ties import is_flat_at_two
from symdecouple.numeric.paths import narrow_path_adjoint as adjoint
from symdecouple.numeric.paths.black_box_rows import BlackBoxPath
from symdecouple.numeric.paths.narrow_path import NarrowPath
from symdecouple.numeric.precision.certain_refusals import certainly_refused, judged_by_ties
from symdecouple.numeric.precision.path import PreciseImposed, follow_mp
from symdecouple.numeric.precision.path_adjoint import pullback_mp
from symdecouple.numeric.samples.batch import NAN_INPUT

__all__ = ["NarrowRoute"]

_RTOL = 1e-12  # of a step: three digits below the 1e-9 that paths are held to
_MANY, _RTOL_OF_MANY = 16, 5e-9  # dozens of levels of thousands of samples: a step or two each
_FINE, _FINE_ROUNDINGS = 2e-15, 8.0  # for samples asked for themselves: they are rounded as much
_LONG = 2**10  # samples of a row, from where on what it computes takes longer than what calls it
_SPARE = 8  # of the digits of the caller: the path has guard digits of its own


@dataclass(frozen=True, slots=True)
class NarrowRoute(Route):
    """One feature brought to its target while those before it stay; where moments cover it, by the kernel for these.

    The first `flat()` features feel no offset: they are moved about 0.
    """

    path: NarrowPath
    moments: MomentCoordinates | None = None
    flat: Callable[[], int] = int

    def on(self, grid: tuple[int, ...], features: FeatureSet, precise: bool) -> NarrowRoute:
        """Return the route for samples on a grid, by the bank of the features where these are moments of one."""
        bank = None if precise else recognize_filter_moments(features)
        if bank is None:
            return replace(self, path=self.path.on(grid))
        threads = cores() if prod(grid) >= _LONG else 1
        rtol = _RTOL_OF_MANY if len(features) >= _MANY else _RTOL
        path = NarrowPath(bank_rows(bank, grid, features), rtol=rtol, threads=threads, learns=rtol > _RTOL)
        return replace(self, path=path)

    def advance(self, at: AtLevel, k: int, targets: Sequence[Any], keep: bool, is_fine: bool) -> AtLevel:
        """As in `Route`."""
        found = self.follow(at.values, k, targets[:k], keep, is_fine, at.step_length)
        for r, seen in found.refusals.items():
            found.refusals[r] = at.refusals.get(r) or self._judged(at.values[r], k, [
                t[r] if np.ndim(t) else t for t in targets[:k]], seen)
        known = None if at.known is None or found.known is None else np.array([
            found.known[0], at.known[1] + found.known[1]])
        return replace(found, known=known, **({"before": at} if keep else {"back": None}))

    def follow(self, rows: Array, k: int, targets: Sequence[Any], keep: bool = False, is_fine: bool = False,
               step_length: Array | None = None) -> AtLevel:
        """Follow the narrow paths of rows, (R, N), refused ones NaN; where they came `before` is not known here.

        In small steps a row that does not arrive takes the usual ones, so that what is refused is the same.
        """
        if (middle := middles(rows)).any() and k <= self.flat():
            found = replace(self, flat=int).follow(rows - middle, k, targets, keep, is_fine, step_length)
            return replace(found, values=found.values + middle)
        if rows.dtype == object:
            return self._precisely(rows, k, targets[:k], keep)
        if not is_fine or isinstance(self.path, BlackBoxPath):  # which has noise of its own
            return self._in_steps(rows, k, targets, keep, step_length)
        found = self._in_steps(rows, k, targets, is_fine=True)
        again = list(found.refusals)
        if not again:
            return found
        usual = self._in_steps(rows[again], k, [t[again] if np.ndim(t) else t for t in targets])
        found.values[again] = usual.values
        return replace(found, refusals={again[r]: outcome for r, outcome in usual.refusals.items()})

    def _judged(self, row: Array, k: int, targets: Sequence[Any], seen: Outcome) -> Outcome:
        """Why a row is refused: by its ties; and where digits ran out on a path asked for by name, what was passed by.
        """
        if self.moments is None or not 3 <= k <= len(self.moments):
            return seen
        if k == 3 or row.dtype == object:
            with np.errstate(all="ignore"):
                point = self.moments.coordinates(targets)
            seen = judged_by_ties(row, k, point, seen)
        if k != 3 or not seen.reason.startswith(("beyond ", "no convergence")):
            return seen
        return replace(seen, detail=f'{seen.detail}; or leave it to path="auto", which has a closed form here')

    def _in_steps(self, rows: Array, k: int, targets: Sequence[Any], keep: bool = False,
                  step_length: Array | None = None, is_fine: bool = False) -> AtLevel:
        if self.moments is not None and 3 <= k <= len(self.moments):
            rtol = moment_path.SHARP if is_fine else moment_path.FINE
            return self._moment(self.moments, rows, k, targets, keep, rtol)
        path, held = self.path.within(_FINE, _FINE_ROUNDINGS) if is_fine else self.path, np.empty((len(rows), k - 1))
        for j in range(k - 1):
            held[:, j] = targets[j]
        found = path.follow(rows, k, targets[k - 1], held=held, store=keep, step_length=step_length)
        return AtLevel(found.values, dict(found.refusals), step_length=found.step_length,
                       back=lambda c: (adjoint.pullback(found, c), 0))

    def _moment(self, moments: MomentCoordinates, rows: Array, k: int, targets: Sequence[Any], keep: bool,
                rtol: float) -> AtLevel:
        point = [np.broadcast_to(c, len(rows)).astype(float) for c in moments.coordinates(targets[:k])]
        mean, deviation = point[0][:, None], point[1][:, None]
        held = np.array([np.zeros(len(rows)), np.ones(len(rows)), *point[2 : k - 1]])
        standard = rows - mean
        standard /= deviation
        found: Any = moment_path.follow(standard, k, point[k - 1], held=held, rtol=rtol, store=keep
                                        ) if keep or k == 3 else follow_long(standard, k, point[k - 1], held, rtol)
        values = np.multiply(deviation, found.values, out=None if keep else found.values)
        values += mean
        unresolved = moment_adjoint.unresolved(standard, found.values) if keep and k == 3 else {}
        lost = {r: why for r, why in unresolved.items() if why.reason == "beyond float64"}  # their way back is
        values[list(lost)] = np.nan
        return AtLevel(values, {**lost, **found.refusals}, back=lambda c: (moment_adjoint.pullback(found, c), 0))

    def _precisely(self, rows: Array, k: int, targets: Sequence[Any], keep: bool) -> AtLevel:
        features = getattr(self.path.features, "compiled", self.path.features)  # none of k is a black box here
        digits = max(1, mpmath.mp.dps - _SPARE)

        def one(row: Array, goals: list[Any]) -> Reached | Outcome:
            if mpmath.isnan(row[0]):
                return NAN_INPUT
            point = None if self.moments is None or k > len(self.moments) else self.moments.coordinates(goals)
            if point is not None and (known := certainly_refused(row, k, point)) is not None:
                return known
            found = follow_mp(features, row, k, goals[-1], digits, store=keep)
            return (found.values, found.residual, found.error, found) if found.outcome.ok else found.outcome

        def pull(path: PreciseImposed, covectors: Array) -> tuple[Array, Any] | Outcome:
            if k == 3 and self.moments is not None and all(
                    is_flat_at_two(path.values, each, mpmath.eps) for each in covectors):
                return 0 * covectors, 0  # two values stay where their skewness is the target
            pulled = pullback_mp(path, covectors)
            return (pulled.covectors, pulled.error) if pulled.outcome.ok else pulled.outcome

        return each_row(rows, targets, one, pull)


def bank_rows(bank: FilterMoments, grid: tuple[int, ...], features: FeatureSet) -> BankFeatures:
    """Return moments of filter outputs on arrays."""
    bands = [[Line(tuple(float(tap) for tap in h.args[0]), -int(h.args[1])) for h in lines] for lines in bank.bands]
    return BankFeatures(tuple(map(str, features)), bands, bank.index, bank.powers, [float(g) for g in bank.gains], grid)
