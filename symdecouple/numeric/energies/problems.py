r"""The convex problems of a batch of signals, what they lack for them, and why some have no solution.

A signal without power at some frequencies may have dependent features: a target that agrees with the dependence is
met by itself, another one is refused by the level at which this shows. What is left has a solution iff the targets are
in the relative interior of a cone; that is asked only where the iteration does not answer it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.energies.cone import Dependence, cone_membership_of, dependence_of, energy_range
from symdecouple.numeric.energies.eigenvalues import Columns
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.power_spectrum import Spectrum
from symdecouple.numeric.energies.tilting import Problems, Tilted, scaled_matrix, tilt
from symdecouple.numeric.energies.tilting_kernel import answers, tilt_levels
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["EnergyProblems", "Solved"]

_CONSISTENT = 1e-10  # relative; what a dependent feature may differ from the value that the others give it
_SOON, _LAST = 40, 400  # iterations before the question whether there is a solution, and after it
_MANY = 2**12  # frequencies: fewer are searched as fast themselves
_NEAR = 1e-2  # the residual, on few frequencies, of a start that is worth having
_REACHED = 1e-13  # the residual of a solution, though steps along features that hardly differ may go on
_LEAST = -700.0  # logarithm of targets beside the largest factor of a power: below, sums underflow
_WIDE = 30.0  # e^-36 is eps: a multiplier of such a range may be on its way to a limit
_ROUNDED, _SURE = 1e-12, 0.25  # of a sum; what rounding may do to the least weight
_HELPS = {  # by where the targets are in the cone of all frequencies
    "inside": 'the spectral perturbation, decouple(..., perturb="spectral"), makes every frequency active, which makes '
              "them attainable",
    "boundary": "only signals without power at some frequencies have them, other ones than this signal lacks: change "
                "the targets, or the signal",
    "outside": "no signal of this shape has them: change the targets",
}


class Solved(NamedTuple):
    """Levels of all rows.

    Attributes
    ----------
    found : Tilted
        Of R K problems, row after row.
    imposed : bool array (R K, M)
        Which features; none from the first level on that a row lacks for want of frequencies.
    first : int array (R,)
        The first level that a row has not, the one after the last where it has all.
    refusals : dict
        Row to why it has not that level.
    """

    found: Tilted
    imposed: NDArray[np.bool_]
    first: IntArray
    refusals: dict[int, Outcome]


@dataclass(frozen=True, slots=True)
class EnergyProblems:
    """One batch of signals and the targets of its features.

    Parameters
    ----------
    spectrum : Spectrum
        Of rows, centred where the mean is imposed.
    goals : array (R, L)
        Targets, that of the mean first where it is imposed.
    mean : bool
    """

    spectrum: Spectrum
    goals: FloatArray
    mean: bool

    @property
    def bands(self) -> Bands:
        """The quadratic features."""
        return self.spectrum.bands

    @property
    def offset(self) -> int:
        """How many features come before the quadratic ones."""
        return int(self.mean)

    @property
    def targets(self) -> FloatArray:
        """What the frequencies that move must sum up to; the mean has its part in an energy with a gain at zero."""
        if not self.mean:
            return self.goals
        known = np.outer(self.goals[:, 0] ** 2, self.bands.at_zero)
        return self.goals[:, 1:] - known[:, : self.goals.shape[1] - 1]

    def _dependence(self, row: int) -> Dependence:
        """How features depend on each other at the active frequencies of a row."""
        shares = self.spectrum.shares[row]
        first = self.offset or int(shares[0] == 0)  # of images without their mean, that is all that is silent
        return _whole(self.bands, first) if shares[first:].all() else dependence_of(self.bands, shares > 0)

    def _missing(self, row: int, known: Dependence, level: int) -> tuple[int, Outcome] | None:
        """The first level up to this one that a row lacks for want of frequencies, and why."""
        v = self.targets[row]
        for j in np.flatnonzero(~known.independent[: max(level - self.offset, 0)]):
            c = known.coefficients[j, : len(v)]
            if not abs(v[j] - c @ v) <= _CONSISTENT * (abs(v[j]) + np.abs(c) @ np.abs(v)):
                return int(j) + 1 + self.offset, self._too_few(row, int(j), c, v)
        return None

    def _too_few(self, row: int, j: int, c: FloatArray, v: FloatArray) -> Outcome:
        offset = self.offset
        groups = int(np.count_nonzero(self.spectrum.shares[row]))
        level, all_groups = j + 1 + offset, self.spectrum.shares.shape[1]
        said = f"level {level}: the signal has power at {groups} of {all_groups} groups of frequencies, where "
        said += f"feature {level} "
        if c.any():
            others = ", ".join(str(i + 1 + offset) for i in np.flatnonzero(c))
            said += f"is a combination of feature{'s' * int(np.count_nonzero(c) > 1)} {others}: it is {c @ v:.6g} there"
        else:
            said += "vanishes"
        said += f", {v[j]:.6g} is asked for"
        if _whole(self.bands, self.offset).independent[j]:
            return Outcome(False, "too few active frequencies", said + "; the spectral perturbation makes every "
                           'frequency active: decouple(..., perturb="spectral")')
        return Outcome(False, "too few active frequencies", said + "; so it is for every signal of this shape: leave "
                       f"feature {j + 1 + offset} out")

    def solved(self, levels: IntArray, start: FloatArray | None = None) -> Solved:
        """Solve levels (R, K), increasing along a row, and find the first one that a row has not.

        From a start, parameters of features that are not imposed stay as they are there, and what is found counts as a
        solution: targets that another signal has are close to the boundary of the cone where that signal is.
        """
        (count, several), m = levels.shape, len(self.bands)
        refusals, first = dict[int, Outcome](), np.full(count, m + self.offset + 1)
        known = [self._dependence(row) for row in range(count)]
        for row in range(count):
            if (missing := self._missing(row, known[row], int(levels[row, -1]))) is not None:
                first[row], refusals[row] = missing
        there = np.where(levels < first[:, None], levels - self.offset, 0) if refusals else levels - self.offset
        imposed = np.arange(m) < there[..., None]
        for row in range(count):
            imposed[row] &= known[row].independent
        problems = self._posed(np.arange(count).repeat(several), imposed.reshape(-1, m))
        if start is None and answers(self.bands):
            found = tilt_levels(problems, _SOON)
        else:
            found = tilt(problems, _SOON, self._start(problems, start))
        for q in _doubtful(problems, found, start is not None).tolist():
            row, level = q // several, int(levels.flat[q])
            outcome = self._refusal(problems.take([q]), found, q, level) if level < first[row] else None
            if outcome is not None:
                first[row], refusals[row] = level, outcome
        return Solved(found, problems.wanted, first, refusals)

    def _posed(self, owner: IntArray, imposed: NDArray[np.bool_]) -> Problems:
        """The convex problems of some rows, targets in a unit of their own."""
        known = self.targets[:, : len(self.bands)]
        targets = np.zeros(imposed.shape)
        targets[:, : known.shape[1]] = known[owner]
        targets *= imposed
        largest = np.abs(targets).max(axis=1)
        is_silent = largest == 0
        largest[is_silent] = 1
        log_scale = np.where(is_silent, 0, np.log(largest) - self.spectrum.log_power[owner])
        return Problems(self.bands, self.spectrum.shares, owner, imposed, targets / largest[:, None], log_scale)

    def _start(self, problems: Problems, given: FloatArray | None) -> FloatArray | None:
        """Solve on fewer frequencies first; a row for which that fails starts from 0, or from where it is given."""
        coarse = self.bands.coarse
        if coarse is None or self.bands.count < _MANY or not len(problems):
            return given
        gathered = coarse.gathered(problems.shares)
        found = tilt(replace(problems, bands=coarse, shares=gathered), _SOON, given)
        return np.where((found.residual < _NEAR)[:, None], found.parameters, 0 if given is None else given)

    def _refusal(self, problem: Problems, found: Tilted, q: int, level: int) -> Outcome | None:
        """Say why problem q has no solution, or only a limit; where it has one, `found` has it in the end."""
        wanted, active = problem.wanted[0], problem.shares[problem.owner[0]] > 0
        if found.converged[q] and not np.ptp(self.bands.lines.along(found.parameters[[q]])[0, active]) > _WIDE:
            return None
        place = cone_membership_of(self.bands, wanted, active, problem.targets[0, wanted])
        if place.where != "inside":
            return self._unreachable(place.where, place.direction, int(problem.owner[0]), wanted, level)
        if not found.converged[q]:
            found.put(np.array([q]), tilt(problem, _LAST, found.parameters[[q]]))
        if found.converged[q] or found.residual[q] <= _REACHED:
            return None
        if problem.log_scale[0] - found.shift[q] < _LEAST:
            return Outcome(False, "out of range", f"level {level}: the power that is imposed is below float64 beside "
                           "what no imposed feature sees; take that off, as the mean, or use dps=")
        if problem.log_scale[0] > -_LEAST:
            return Outcome(False, "out of range", f"level {level}: the power of the signal is below float64 beside the "
                           "targets; change the unit, or use dps=")
        return Outcome(False, "no convergence", f"level {level}: the targets are inside the cone, the iteration ended "
                       f"with a residual of {found.residual[q]:.1e}; are they almost on its boundary?")

    def _unreachable(self, where: str, direction: FloatArray, row: int, is_wanted: NDArray[np.bool_], level: int
                     ) -> Outcome:
        offset, wanted = self.offset, np.flatnonzero(is_wanted)
        v, names = self.targets[row, wanted], wanted + 1 + offset
        d = direction / max(float(np.abs(direction).max(initial=0)), 1e-300)
        form = " ".join(f"{c:+.4g} f{j}" for c, j in zip(d, names, strict=True) if abs(c) > 1e-7)
        helps = _HELPS[cone_membership_of(self.bands, is_wanted, slice(offset, None), v).where]
        said = f"level {level}: {form} <= 0 for every signal with these frequencies, the targets make it "
        helps = self._range(row, level) + helps
        if where == "boundary":
            return Outcome(False, "on the boundary of the cone", f"{said}0: reached in the limit only; {helps}")
        return Outcome(False, "outside the cone", f"{said}{d @ v:.4g}; {helps}")

    def _range(self, row: int, level: int) -> str:
        """Say what the last feature can be beside those before it; nothing where these are out of reach too."""
        k, v = level - 1 - self.offset, self.targets[row]
        found = energy_range(self.bands, k, v[:k], self.spectrum.shares[row] > 0)
        if found is None:
            return ""
        shift = float(self.goals[row, level - 1] - v[k])
        return (f"beside the features before it, feature {level} is in ({found[0] + shift:.6g}, "
                f"{found[1] + shift:.6g}), {self.goals[row, level - 1]:.6g} is asked for; ")


def _doubtful(problems: Problems, found: Tilted, is_known: bool) -> IntArray:
    """Problems without a solution so far, and those that may go to a limit, but where a solution is known."""
    bands, doubtful = problems.bands, ~found.converged
    if not is_known:  # eigenvalues are between 0 and the largest ones, or between these and minus them
        wide = np.flatnonzero(np.abs(found.parameters) @ bands.largest * (1 + bands.is_signed) > _WIDE)
        if len(wide):
            doubtful[wide] |= ~(_shaken(found.take(wide), problems.wanted[wide], bands) < _SURE)
    return np.flatnonzero(doubtful)


def _shaken(found: Tilted, wanted: NDArray[np.bool_], bands: Columns) -> FloatArray:
    """Bound max abs(d.w) for the step d that rounding of the sums, or what is left, moves a minimum by.

    While it is below 1 the targets are inside the cone of the active frequencies: weights p exp(a.w) (1 + d.w) are
    positive, and with d from Newton's method their sums are the targets. It is large near a limit, where some weights
    are near 0.
    """
    scaled, sizes = scaled_matrix(found.matrix, wanted)
    some = wanted / sizes
    moved = np.abs(np.linalg.inv(scaled)) @ (found.sizes * some)[..., None]
    return np.asarray((bands.largest * some * moved[..., 0]).sum(axis=1) * np.maximum(found.residual, _ROUNDED))


@lru_cache(maxsize=8)
def _whole(bands: Bands, first: int) -> Dependence:
    """How the features depend on each other where all frequencies are active, from the first one on that counts."""
    return dependence_of(bands, slice(first, None))
