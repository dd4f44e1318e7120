r"""Levels of second-order features of a signal in mpmath numbers: the convex problem of `energy_route` to all digits.

Eigenvalues come from the exact taps of the filters, or from the numbers of a frequency response, which are taken as
exact: of these, the part that belongs to a real filter, (H + conj(H at the opposite frequency))/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import mpmath
import numpy as np
from sympy import Expr

from symdecouple.decoupling.routes.energies import AlongForms, lost_digits
from symdecouple.decoupling.routes.route import AtLevel, Reached, each_row
from symdecouple.errors import Outcome
from symdecouple.families.linear_forms import LinearForm
from symdecouple.families.quadratic import QuadraticForms
from symdecouple.language.precision import at_bits
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.features.filtering import exact_response
from symdecouple.numeric.features.fourier import partners, response
from symdecouple.numeric.precision.energies import PreciseEnergies, PreciseLevel

__all__ = ["PreciseEnergyRoute"]


class PreciseEnergyRoute(AlongForms):
    """Levels along the flows of quadratic features, in mpmath numbers."""

    __slots__ = ()

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> AtLevel:
        """As in `Route`."""
        if k > len(self.forms):
            return self.beyond.impose(rows, k, targets)
        energies = _of_forms(self.forms, self.grid, mpmath.mp.prec)

        def one(row: Array, goals: list[Any]) -> Reached | Outcome:
            level = energies.normalize(row, self._goals(goals, _number))
            return (level.values, level.residual, level.error, level) if level.outcome.ok else level.outcome

        def pull(level: PreciseLevel, covectors: Array) -> tuple[Array, Any]:
            return np.array([level.pullback(each) for each in covectors]), 0

        return each_row(rows, targets[:k], one, pull)

    def at_once(self, rows: Array, references: Sequence[Any], targets: Array, unit: float) -> AtLevel | None:
        """Bring decoupled features 1..k of rows at level k to targets, (R, k): as `EnergyRoute`, to all digits."""
        k, energies = targets.shape[1], _of_forms(self.forms, self.grid, mpmath.mp.prec)
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
def _of_forms(forms: QuadraticForms, grid: tuple[int, ...], prec: int) -> PreciseEnergies:
    """Return the energies of samples on a grid, their eigenvalues to so many bits."""
    with at_bits(prec):
        weights = np.full((len(forms.products), prod(grid)), mpmath.mpf(0), dtype=object)
        for k, terms in enumerate(forms.products):
            for coefficient, *pair in terms:
                left, right = (_eigenvalues(form, grid) for form in pair)
                scale = _number(coefficient)
                weights[k] += [scale * (a.real * b.real + a.imag * b.imag) for a, b in zip(left, right, strict=True)]
            weights[k, 0] += _number(forms.at_zero[k])
        return PreciseEnergies(weights, grid, forms.mean is not None)


def _eigenvalues(form: LinearForm, grid: tuple[int, ...]) -> Array:
    """Return the response of a form, (N,)."""
    if (taps := form.lags()) is not None:
        return response(_numbers(taps), grid)
    total = np.full(prod(grid), mpmath.mpf(0), dtype=object)
    for chain, coefficient in form.chains.items():
        part = _number(coefficient)
        for h in chain:
            if h.is_symbolic:
                given = exact_response(h, grid).reshape(-1)
                part = part * (given + np.array([v.conjugate() for v in given[partners(grid)]])) / 2
            else:
                part = part * response(_numbers(h.lags), grid)
        total = total + part
    return total


def _numbers(taps: Any) -> dict[Any, Any]:
    return {lag: _number(tap) for lag, tap in taps.items()}


def _number(value: Expr | int) -> Any:
    return mpmath.mpmathify(value.evalf(mpmath.mp.dps + 3) if isinstance(value, Expr) else value)
