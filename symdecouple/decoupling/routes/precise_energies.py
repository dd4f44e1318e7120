r"""Levels of second-order features of a signal in mpmath numbers: the convex problem of `energy_route` to all digits.

The weights w of a feature are the transform of what its gradient, v = 2 A x, makes of a unit impulse, of which all
frequencies are 1; taps of filters are exact, and the numbers of a frequency response are taken as exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import mpmath
import numpy as np
from sympy import Expr

from symdecouple.decoupling.routes.energies import AlongForms, lost_digits
from symdecouple.decoupling.routes.route import AtLevel, Reached, each_row
from symdecouple.errors import Outcome
from symdecouple.families.quadratic import QuadraticForms
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.precision import at_bits
from symdecouple.numeric.features.expressions import Array, Compiled
from symdecouple.numeric.features.fourier import forward
from symdecouple.numeric.precision.energies import PreciseEnergies, PreciseLevel

__all__ = ["PreciseEnergyRoute"]

_ROUNDINGS = 16  # of the sum of a filter's taps: below, a band is empty and was rounded


@dataclass(frozen=True, slots=True)
class PreciseEnergyRoute(AlongForms):
    """Levels along the flows of quadratic features, the leading ones of some, in mpmath numbers."""

    features: FeatureSet

    def impose(self, rows: Array, k: int, targets: Sequence[Any], keep: bool = False) -> AtLevel:
        """As in `Route`."""
        energies = _energies(self.features, self.forms, self.grid, mpmath.mp.prec)

        def one(row: Array, goals: list[Any]) -> Reached | Outcome:
            level = energies.normalize(row, self._goals(goals, _number))
            return (level.values, level.residual, level.error, level) if level.outcome.ok else level.outcome

        def pull(level: PreciseLevel, covectors: Array) -> tuple[Array, Any]:
            return np.array([level.pullback(each) for each in covectors]), 0

        return each_row(rows, targets[:k], one, pull)

    def at_once(self, rows: Array, references: Sequence[Any], targets: Array, unit: float) -> AtLevel | None:
        """Bring decoupled features 1..k of rows at level k to targets, (R, k): as `EnergyRoute`, to all digits."""
        k, energies = targets.shape[1], _energies(self.features, self.forms, self.grid, mpmath.mp.prec)
        if k > len(self.forms):
            return None
        known, rounding = self._goals(references[: k - 1], _number), float(max(unit, mpmath.eps))

        def one(row: Array, goals: list[Any]) -> Reached | Outcome:
            found = energies.returned(row, known, self._goals(goals, _number))
            if not found.outcome.ok:
                return found.outcome
            lost = lost_digits(k, rounding, float(min(found.growth, 1e300)))
            return lost or (found.values, found.residual, found.error + unit * found.growth, None)

        return each_row(rows, [*targets.T], one)


@lru_cache(maxsize=8)
def _energies(features: FeatureSet, forms: QuadraticForms, grid: tuple[int, ...], prec: int) -> PreciseEnergies:
    """Return the energies of samples on a grid, their weights to so many bits."""
    with at_bits(prec):
        weights, impulse = [], np.full((1, prod(grid)), mpmath.mpf(0), dtype=object)
        impulse[0, 0] = mpmath.mpf(1)
        for feature in tuple(features)[int(forms.mean is not None) : len(forms)]:
            half = Compiled([feature.gradient.expr / 2], feature.sample).on(grid)(impulse)[0]
            found = [mpmath.re(w) for w in forward(np.broadcast_to(half, impulse.shape)[0], grid)]
            rounding = _ROUNDINGS * mpmath.eps * abs(half).sum()
            weights.append([w if abs(w) > rounding else 0 * w for w in found])  # not almost empty
        return PreciseEnergies(np.array(weights, dtype=object), grid, forms.mean is not None)


def _number(value: Expr | int) -> Any:
    return mpmath.mpmathify(value.evalf(mpmath.mp.dps + 3) if isinstance(value, Expr) else value)
