"""Decoupled second-order features imposed on the rows of a batch, last first, all at once in the spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symdecouple.decoupling.routes.energies import EnergyRoute, of_forms
from symdecouple.decoupling.routes.route import AtLevel
from symdecouple.errors import Outcome
from symdecouple.numeric.energies.inverse import returned
from symdecouple.numeric.features.expressions import Array

__all__ = ["TwoWayEnergyRoute", "imposed_back", "lost_digits"]

_APART = 1e-6  # relative; a sample that is farther from what was asked for is not that


class TwoWayEnergyRoute(EnergyRoute):
    """An `EnergyRoute` that knows the way back."""

    __slots__ = ()

    def at_once(self, rows: Array, references: Sequence[Any], targets: Array, unit: float) -> AtLevel | None:
        """As in `Route`, for as many features as there are forms."""
        is_known = targets.shape[1] <= len(self.forms)
        return imposed_back(self, rows, references, targets, unit) if is_known else None


def imposed_back(route: EnergyRoute, rows: Array, references: Sequence[Any], targets: Array, unit: float) -> AtLevel:
    """Return rows with decoupled features 1..k, those of the forms of a route; see `numeric.energies.inverse`.

    Parameters
    ----------
    route : EnergyRoute
    rows : array (R, N)
        With features 1..k at their references.
    references : sequence of float
    targets : array (R, k)
    unit : float
        The rounding of the rows: what it has become in the result is refused where it is half of the digits.

    Returns
    -------
    AtLevel
        Without a way for gradients.
    """
    forms, k = route.forms, targets.shape[1]
    mean = [] if forms.mean is None else [forms.mean]
    slopes = np.array([*(float(slope) for slope, _ in mean), *(1.0 for _ in forms.constants)])[:k]
    shifts = np.array([*(float(c) for _, c in mean), *map(float, forms.constants)])[:k]
    known = (np.array(references[: k - 1], dtype=np.float64) - shifts[: k - 1]) / slopes[: k - 1]
    goals = (targets - shifts) / slopes
    wrong = {int(r): _no_target(targets[r]) for r in np.flatnonzero(~np.isfinite(goals).all(axis=1))}
    goals[list(wrong)] = 0
    with np.errstate(all="ignore"):  # what is not finite is refused
        found = returned(of_forms(forms, route.grid), rows, known, goals)
    refusals = {**found.refusals, **wrong}
    beyond = [int(r) for r in np.flatnonzero(~np.isfinite(found.values).all(axis=1)) if r not in refusals]
    found.values[[*beyond, *wrong]] = np.nan
    outcome = Outcome(False, "out of range", "the sample with these features is beyond float64; take other units")
    refusals |= dict.fromkeys(beyond, outcome)
    for r, growth in enumerate(found.growth.tolist()):
        if (lost := lost_digits(k, unit, growth)) is not None:
            refusals.setdefault(r, lost)
            found.values[r] = np.nan
    kept = np.array([r for r in range(len(rows)) if r not in refusals], dtype=np.intp)
    before, after = (part if len(kept) == len(rows) else part[kept] for part in (rows, found.values))
    apart = _apart(route, before, after, references, targets[kept])
    for r, away in zip(kept[~(apart < _APART)].tolist(), apart[~(apart < _APART)], strict=True):
        refusals[r] = _below_rounding(k, float(found.depth[r]), float(away))
        found.values[r] = np.nan
    return AtLevel(found.values, found.residual, lambda covectors: np.full_like(covectors, np.nan), refusals)


def _apart(route: EnergyRoute, before: Array, after: Array, references: Sequence[Any], targets: Array) -> Array:
    """Return how far rows are from their decoupled features, or from the normalized rows they came from, (R,)."""
    if not len(before):
        return np.zeros(0)
    k = targets.shape[1]
    with np.errstate(all="ignore"):
        values = route.values(after, references).values[:, :k]
        apart = np.abs(values - targets) / (1 + np.abs(targets))
        kernel = route.kernel(before, k, references)
        size = np.maximum(kernel.max(axis=1), -kernel.min(axis=1))
        kernel -= route.kernel(after, k, references)
        between = np.maximum(kernel.max(axis=1), -kernel.min(axis=1))
        return np.asarray(np.maximum(apart.max(axis=1), between / size))


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


def _no_target(targets: Array) -> Outcome:
    j = int(np.flatnonzero(~np.isfinite(targets))[0])
    return Outcome(False, "no target", f"level {j + 1}: {targets[j]} is asked for, a finite number is expected")
