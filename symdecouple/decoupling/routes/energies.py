r"""Levels of second-order features of a signal, all rows at once in float64: one convex problem each in the spectrum.

The features are quadratic forms of circular convolutions, the mean perhaps before them (`families.quadratic`). They
commute, so that level k multiplies the spectrum by exp(sum of a_j w_j / 2) with the a that bring them to their targets
(Theorem E); which targets a signal cannot have is decided by its active frequencies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from symdecouple.decoupling.routes.route import AtLevel, Leading, Route
from symdecouple.errors import Outcome
from symdecouple.families.quadratic import QuadraticForms
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.samples.vectors import widened

__all__ = ["AlongForms", "EnergyRoute", "of_forms"]


@dataclass(frozen=True, slots=True)
class AlongForms(Route, ABC):
    """What routes along the flows of quadratic features have in common.

    Parameters
    ----------
    forms : QuadraticForms
        The leading features.
    grid : tuple of int
        The shape of a sample.
    beyond : Route
        Takes levels after them.
    """

    forms: QuadraticForms
    grid: tuple[int, ...]
    beyond: Route

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> AtLevel:
        """As in `Route`."""
        return self._imposed(rows, k, targets) if k <= len(self.forms) else self.beyond.impose(rows, k, targets)

    @abstractmethod
    def _imposed(self, rows: Array, k: int, targets: Sequence[Any]) -> AtLevel:
        """The same for levels of the forms."""


class EnergyRoute(AlongForms):
    """Levels along the flows of quadratic features, in float64."""

    __slots__ = ()

    def kernel(self, rows: Array, k: int, targets: Sequence[Any]) -> Array:
        """Return rows at level k."""
        return self._imposed(rows, k, targets).values

    def _imposed(self, rows: Array, k: int, targets: Sequence[Any]) -> AtLevel:
        goals = self._goals(rows, targets[:k])
        wrong = {int(r): _no_target(goals[r]) for r in np.flatnonzero(~np.isfinite(goals).all(axis=1))}
        goals[list(wrong)] = 0
        with np.errstate(all="ignore"):  # what is not finite is refused
            found = of_forms(self.forms, self.grid).normalize(rows, goals)
        refusals = {**found.refusals, **wrong}
        beyond = [int(r) for r in np.flatnonzero(~np.isfinite(found.values).all(axis=1)) if r not in refusals]
        found.values[[*beyond, *wrong]] = np.nan
        return AtLevel(found.values, found.residual, found.pullback, {**refusals, **dict.fromkeys(beyond, _beyond(k))})

    def gradients(self, rows: Array, targets: Sequence[Any]) -> Leading:
        """As in `Route`; each is one transform, made where it stays."""
        return self.values(rows, targets)

    def values(self, rows: Array, targets: Sequence[Any], is_fine: bool = True) -> Leading:
        """As in `Route`, for the features of all forms."""
        rows = widened(rows)
        with np.errstate(all="ignore"):
            found = of_forms(self.forms, self.grid).decouple(rows, self._goals(rows, targets[: len(self.forms) - 1]))
        slope, constant = self.forms.mean or (1, 0)
        first = [slope] if self.forms.mean is not None else []
        slopes = np.array([float(c) for c in [*first, *(1 for _ in self.forms.constants)]])
        shifts = np.array([float(c) for c in [*([constant] if first else []), *self.forms.constants]])

        def write(out: Array) -> None:
            found.gradients(out)
            for j in np.flatnonzero(slopes != 1):
                out[:, j] *= slopes[j]

        return Leading(slopes * found.values + shifts, found.residual, found.refusals, write=write)

    def _goals(self, rows: Array, targets: Sequence[Any]) -> Array:
        """Targets of features as those of the mean and of forms without constants, (R, k)."""
        goals = np.empty((len(rows), len(targets)))
        offset = int(self.forms.mean is not None)
        for j, target in enumerate(targets):
            if self.forms.mean is not None and j == 0:
                slope, constant = map(float, self.forms.mean)
                goals[:, j] = (target - constant) / slope
            else:
                goals[:, j] = target - float(self.forms.constants[j - offset])
        return goals


def _no_target(goals: Array) -> Outcome:
    j = int(np.flatnonzero(~np.isfinite(goals))[0])
    return Outcome(False, "no target", f"level {j + 1}: {goals[j]} is asked for, a finite number is expected")


def _beyond(k: int) -> Outcome:
    return Outcome(False, "out of range", f"level {k} takes the sample beyond float64; take other units")


@lru_cache(maxsize=8)
def of_forms(forms: QuadraticForms, grid: tuple[int, ...]) -> Energies:
    """Return the energies of samples on a grid; the last few are kept, as their weights take time."""
    return Energies(Bands.of_sheets(lambda: _sheets(forms, grid), grid), forms.mean is not None)


def _sheets(forms: QuadraticForms, grid: tuple[int, ...]) -> Iterator[Array]:
    """The weights of one form after the other."""
    for constant, products, at_zero in zip(forms.constants, forms.products, forms.at_zero, strict=True):
        yield QuadraticForms(None, (constant,), (products,), (at_zero,)).weights(grid)[0]
