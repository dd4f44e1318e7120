r"""Levels of second-order features of a signal in mpmath numbers: the convex problem of `energy_route` to all digits.

Eigenvalues come from the exact taps of the filters. Filters that are given by a frequency response have none, and
features with such filters take the narrow path.
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

from symdecouple.decoupling.routes import Imposed, Route
from symdecouple.errors import Outcome
from symdecouple.families.quadratic import QuadraticForms
from symdecouple.numeric.compiled import Array
from symdecouple.numeric.precision_energies import PreciseEnergies, PreciseLevel
from symdecouple.numeric.precision_fourier import response

__all__ = ["PreciseEnergyRoute", "have_taps"]


def have_taps(forms: QuadraticForms) -> bool:
    """Whether all filters of the features have exact taps."""
    return all(form.lags() is not None for terms in forms.products for _, *pair in terms for form in pair)


@dataclass(frozen=True, slots=True)
class PreciseEnergyRoute:
    """Levels along the flows of quadratic features, in mpmath numbers.

    Parameters
    ----------
    forms : QuadraticForms
        The leading features; they `have_taps`.
    grid : tuple of int
        The shape of a sample.
    beyond : Route
        Takes levels after them.
    """

    forms: QuadraticForms
    grid: tuple[int, ...]
    beyond: Route

    @property
    def size(self) -> int:
        """How many levels have a closed form."""
        return max(len(self.forms), self.beyond.size)

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> Imposed:
        """As in `Route`."""
        if k > len(self.forms):
            return self.beyond.impose(rows, k, targets)
        energies = _of_forms(self.forms, self.grid, mpmath.mp.prec)
        found: dict[int, PreciseLevel] = {}
        refusals: dict[int, Outcome] = {}
        values = np.full(rows.shape, mpmath.nan, dtype=object)
        residual, error = np.full((2, len(rows)), mpmath.nan, dtype=object)
        for r, row in enumerate(rows):
            level = energies.normalize(row, self._goals([t[r] if np.ndim(t) else t for t in targets[:k]]))
            if level.outcome.ok:
                found[r], values[r], residual[r], error[r] = level, level.values, level.residual, level.error
            else:
                refusals[r] = level.outcome

        def pullback(covectors: Array) -> Array:
            out = np.full(rows.shape, mpmath.nan, dtype=object)
            for r, level in found.items():
                if all(map(mpmath.isfinite, covectors[r])):
                    out[r] = level.pullback(covectors[r])
            return out

        return Imposed(values, residual, pullback, refusals, error)

    def _goals(self, targets: Sequence[Any]) -> list[Any]:
        """Targets of features as those of the mean and of forms without constants."""
        mean = [] if self.forms.mean is None else [self.forms.mean]
        scales = [*mean, *((1, c) for c in self.forms.constants)]
        return [(t - _number(c)) / _number(slope) for t, (slope, c) in zip(targets, scales, strict=False)]


@lru_cache(maxsize=8)
def _of_forms(forms: QuadraticForms, grid: tuple[int, ...], prec: int) -> PreciseEnergies:
    """Return the energies of samples on a grid, their eigenvalues to so many bits."""
    with mpmath.workprec(prec):
        weights = np.full((len(forms.products), prod(grid)), mpmath.mpf(0), dtype=object)
        for k, terms in enumerate(forms.products):
            for coefficient, *pair in terms:
                left, right = (response(_numbers(form.lags()), grid) for form in pair)
                scale = _number(coefficient)
                weights[k] += [scale * (a.real * b.real + a.imag * b.imag) for a, b in zip(left, right, strict=True)]
            weights[k, 0] += _number(forms.at_zero[k])
        return PreciseEnergies(weights, grid, forms.mean is not None)


def _numbers(taps: Any) -> dict[Any, Any]:
    return {lag: _number(tap) for lag, tap in taps.items()}


def _number(value: Expr | int) -> Any:
    return mpmath.mpmathify(value.evalf(mpmath.mp.dps + 3) if isinstance(value, Expr) else value)
