r"""Levels of second-order features of a signal, all rows at once in float64: one convex problem each in the spectrum.

The features are quadratic forms of circular convolutions, the mean perhaps before them (`families.quadratic`). They
commute, so that level k multiplies the spectrum by exp(sum of a_j w_j / 2) with the a that bring them to their targets
(Theorem E); which targets a signal cannot have is decided by its active frequencies. Decoupled features are imposed
last first, all at once in the spectrum (`numeric.energies.inverse`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from symdecouple.decoupling.routes.route import Answers, AtLevel, Route
from symdecouple.errors import Outcome
from symdecouple.families.quadratic import QuadraticForms
from symdecouple.numeric.energies.eigenvalues import EPS
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.gradients import DecoupledEnergies
from symdecouple.numeric.energies.inverse import returned
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.samples.matrix import taken
from symdecouple.numeric.samples.vectors import widened

__all__ = ["AlongForms", "EnergyRoute", "lost_digits", "of_forms"]

_SEEN = 2.0**-20  # of an energy: a thousandth of its amplitudes, as rounding may change them
_APART = 1e-6  # relative; a sample that is farther from what was asked for is not that
_HIDDEN = ("what is imposed is so small beside the rest of the sample that rounding of the entries hides it; take off "
           "what no feature sees, such as the mean, or use dps=")


@dataclass(frozen=True, slots=True)
class AlongForms(Route):
    """What routes along the flows of leading features have in common that are quadratic, on samples of one grid."""

    forms: QuadraticForms
    grid: tuple[int, ...]

    def _goals(self, targets: Iterable[Any], number: Callable[[Any], Any]) -> list[Any]:
        """Targets of features, numbers or arrays, as those of the mean and of forms without constants."""
        return [(t - number(c)) / number(slope) for t, (slope, c) in zip(targets, self.forms.scales, strict=False)]


class EnergyRoute(AlongForms):
    """Levels along the flows of quadratic features, in float64."""

    __slots__ = ()

    def impose(self, rows: Array, k: int, targets: Sequence[Any], keep: bool = False) -> AtLevel:
        """As in `Route`."""
        goals, wrong = self._asked(len(rows), targets[:k])
        energies = of_forms(self.forms, self.grid)
        with np.errstate(all="ignore"):  # what is not finite is refused
            found = energies.normalize(rows, goals)
        refusals = {**found.refusals, **wrong}
        if not energies.bands.is_signed:
            rounding = EPS * np.maximum(found.values.max(axis=1), -found.values.min(axis=1))
            with np.errstate(over="ignore", invalid="ignore"):
                powers = energies.bands.largest * rounding[:, None] ** 2
            hidden = powers[:, : k - energies.mean] > _SEEN * goals[:, energies.mean :]
            why = Outcome(False, "out of range", f"level {k}: {_HIDDEN}")
            refusals = dict.fromkeys(np.flatnonzero(hidden.any(axis=1)).tolist(), why) | refusals
        refusals = _refused(found.values, refusals, f"level {k} takes the sample beyond float64")
        return AtLevel(found.values, refusals, back=lambda c: (np.array([*map(found.pullback, c)]), 0))

    def values(self, rows: Array, targets: Sequence[Any], is_fine: bool = True) -> Answers:
        """As in `Route`, for the features of all forms."""
        found, slopes, shifts = self._decoupled(rows, targets)
        return Answers(slopes * found.values + shifts, found.refusals)

    def gradients(self, rows: Array, targets: Sequence[Any]) -> Answers:
        """As in `Route`; each is one transform, made where it stays."""
        found, slopes, _ = self._decoupled(rows, targets)
        with np.errstate(over="ignore", invalid="ignore"):  # of rows that are refused
            out = found.gradients()
        for j in np.flatnonzero(slopes != 1):
            out[:, j] *= slopes[j]
        return Answers(out, found.refusals)

    def _decoupled(self, rows: Array, targets: Sequence[Any]) -> tuple[DecoupledEnergies, Array, Array]:
        """The forms of all levels, and what makes features of them: slopes and constants."""
        rows = widened(rows)
        goals, wrong = self._asked(len(rows), targets[: len(self.forms) - 1])
        with np.errstate(all="ignore"):
            found = of_forms(self.forms, self.grid).decouple(rows, goals)
        found.values[list(wrong), 1:] = found.parameters[list(wrong), 1:] = np.nan
        found.refusals.update(wrong)
        return found, *np.array(self.forms.scales, dtype=np.float64).T

    def at_once(self, rows: Array, references: Sequence[Any], targets: Array, unit: float) -> Answers | None:
        """As in `Route`, for as many features as there are forms; what rounding became in a row is refused where it is
        half of the digits."""
        k = targets.shape[1]
        if k > len(self.forms):
            return None
        known = np.array(self._goals(references[: k - 1], float))
        goals, wrong = self._asked(len(rows), [*targets.T])
        with np.errstate(all="ignore"):  # what is not finite is refused
            found = returned(of_forms(self.forms, self.grid), rows, known, goals)
        beyond = "the sample with these features is beyond float64"
        refusals = _refused(found.values, {**found.refusals, **wrong}, beyond)
        for r, growth in enumerate(found.growth.tolist()):
            if (lost := lost_digits(k, unit, growth)) is not None:
                refusals.setdefault(r, lost)
        kept = np.array([r for r in range(len(rows)) if r not in refusals], dtype=np.intp)
        apart = self._apart(taken(rows, kept), taken(found.values, kept), references, targets[kept])
        for r, away in zip(kept[~(apart < _APART)].tolist(), apart[~(apart < _APART)], strict=True):
            refusals[r] = _below_rounding(k, float(found.depth[r]), float(away))
        found.values[list(refusals)] = np.nan
        return Answers(found.values, refusals)

    def _asked(self, count: int, targets: Sequence[Any]) -> tuple[Array, dict[int, Outcome]]:
        """Goals of the spectrum, (R, k), and the rows with others than finite ones, where they are 0."""
        goals = np.empty((count, len(targets)))
        for j, goal in enumerate(self._goals(targets, float)):
            goals[:, j] = goal
        wrong = {int(r): Outcome(False, "no target", f"level {j + 1}: {goals[r, j]} is asked for, a finite number is "
                                 "expected") for r, j in np.argwhere(~np.isfinite(goals))[::-1]}  # the first of a row
        goals[list(wrong)] = 0
        return goals, wrong

    def _apart(self, before: Array, after: Array, references: Sequence[Any], targets: Array) -> Array:
        """How far rows are from their decoupled features, or from the normalized rows they came from, (R,)."""
        if not len(before):
            return np.zeros(0)
        k = targets.shape[1]
        with np.errstate(all="ignore"):
            apart = np.abs(self.values(after, references).values[:, :k] - targets) / (1 + np.abs(targets))
            kernel = self.impose(before, k, references).values
            size = np.maximum(kernel.max(axis=1), -kernel.min(axis=1))
            kernel -= self.impose(after, k, references).values
            between = np.maximum(kernel.max(axis=1), -kernel.min(axis=1))
            return np.asarray(np.maximum(apart.max(axis=1), between / size))


def _refused(values: Array, refusals: dict[int, Outcome], beyond: str) -> dict[int, Outcome]:
    """Refuse what is not finite for no other reason; refused rows are NaN."""
    lost = np.flatnonzero(~np.isfinite(values).all(axis=1)).tolist()
    refusals = {**dict.fromkeys(lost, Outcome(False, "out of range", f"{beyond}; take other units")), **refusals}
    values[list(refusals)] = np.nan
    return refusals


def _below_rounding(k: int, depth: float, apart: float) -> Outcome:
    said = "its features or kernel could not be found in it again" if not np.isfinite(apart) else (
        f"its features or kernel are {apart:.1e} away")
    return Outcome(False, "below rounding", f"levels 1 to {k}: the sample with these features has frequencies at "
                   f"{depth:.1e} of the largest one, which float64 rounds away beside it: {said}; take another "
                   "reference, or features with more power where these have hardly any")


def lost_digits(k: int, unit: float, growth: float) -> Outcome | None:
    """Refuse a sample of which rounding leaves less than half of the digits that were given, or than six."""
    lost = unit * growth
    if not lost > max(_APART, unit**0.5):
        return None
    return Outcome(False, "below rounding", f"levels 1 to {k}: the normalized sample has hardly any power at some "
                   "frequencies, or its values are beside the boundary of what is possible: their rounding, "
                   f"{unit:.1e} of them, is {lost:.1e} standard deviations of the result; keep more digits on "
                   "the way (float64, dps=), or take a reference that is nearer to the sample")


@lru_cache(maxsize=8)
def of_forms(forms: QuadraticForms, grid: tuple[int, ...]) -> Energies:
    """Return the energies of samples on a grid; the last few are kept, as their weights take time."""
    each = list(zip(forms.constants, forms.products, forms.at_zero, strict=True))  # weights of one after the other
    return Energies(Bands(lambda: (QuadraticForms(None, (c,), (p,), (z,)).weights(grid)[0] for c, p, z in each), grid),
                    forms.mean is not None)
