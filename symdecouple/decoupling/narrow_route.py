"""Levels along the narrow path: feature after feature, each from where the level before ended (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from symdecouple.decoupling.routes import Imposed
from symdecouple.errors import NoClosedForm, Outcome
from symdecouple.families.moments import MomentCoordinates
from symdecouple.numeric import adjoint, moment_adjoint, moment_path
from symdecouple.numeric.compiled import Array
from symdecouple.numeric.narrow_path import NarrowPath
from symdecouple.numeric.precision import follow_mp

__all__ = ["NarrowRoute"]


@dataclass(frozen=True, slots=True)
class NarrowRoute:
    """One feature brought to its target while those before it stay.

    Parameters
    ----------
    path : NarrowPath
    moments : MomentCoordinates or None
        Where they cover a feature, the kernel for moments is used.
    """

    path: NarrowPath
    moments: MomentCoordinates | None = None

    def follow(self, rows: Array, k: int, targets: Sequence[Any], keep: bool = False) -> Imposed:
        """Bring feature k of the rows, (R, N), to its target; those before it are at theirs.

        Parameters
        ----------
        rows : array (R, N)
        k : int
        targets : sequence
            Of k features: numbers, or arrays (R,).
        keep : bool
            Keep the path, for `Imposed.pullback`.
        """
        if rows.dtype == object:
            return self._precisely(rows, k, targets[k - 1])
        if self.moments is not None and 3 <= k <= len(self.moments):
            return self._moment(self.moments, rows, k, targets, keep)
        held = np.array([np.broadcast_to(t, len(rows)) for t in targets[: k - 1]], dtype=np.float64).T
        found = self.path.follow(rows, k, targets[k - 1], held=held.reshape(len(rows), k - 1), store=keep)
        return Imposed(found.values, found.residual, _kept(keep, lambda c: adjoint.pullback(found, c)),
                       dict(found.refusals))

    def _moment(self, moments: MomentCoordinates, rows: Array, k: int, targets: Sequence[Any],
                keep: bool) -> Imposed:
        point = [np.broadcast_to(c, len(rows)).astype(float) for c in moments.coordinates(targets[:k])]
        mean, deviation = point[0][:, None], point[1][:, None]
        held = np.array([np.zeros(len(rows)), np.ones(len(rows)), *point[2 : k - 1]])
        found = moment_path.follow((rows - mean) / deviation, k, point[k - 1], held=held, store=keep)
        return Imposed(mean + deviation * found.values, found.residual,
                       _kept(keep, lambda c: moment_adjoint.pullback(found, c)), dict(found.refusals))

    def _precisely(self, rows: Array, k: int, target: Any) -> Imposed:
        values = np.full(rows.shape, mpmath.nan, dtype=object)
        residual = np.full(len(rows), mpmath.nan, dtype=object)
        refusals: dict[int, Outcome] = {}
        features = getattr(self.path.features, "compiled", self.path.features)  # none of k is a black box here
        for r, row in enumerate(rows):
            found = follow_mp(features, row, k, target[r] if np.ndim(target) else target, mpmath.mp.dps)
            if found.outcome.ok:
                values[r], residual[r] = found.values, found.residual
            else:
                refusals[r] = found.outcome
        return Imposed(values, residual, _kept(False, _identity), refusals)


def _identity(covectors: Array) -> Array:
    return covectors


def _kept(keep: bool, pullback: Callable[[Array], Array]) -> Callable[[Array], Array]:
    if keep:
        return pullback

    def missing(covectors: Array) -> Array:
        raise NoClosedForm("gradients along the narrow path exist in float64 only; leave dps out")

    return missing
