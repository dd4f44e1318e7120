r"""What each decoupled feature of one sample can be, by the kind of the features: counted, programmed, or followed.

On the leaf of a sample, features 1..k-1 at their references, feature k runs over an interval:

* moments: Theorem C and Theorem J, by the ordered ties of the sample;
* energies of commuting filters: the cone of its active frequencies (Theorem E), by linear programs;
* anything else: the narrow path is followed both ways until it ends; what was reached is known, that it is all is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from sympy import Expr, S, limit

from symdecouple.decoupling.routes.energies import of_forms
from symdecouple.decoupling.routes.route import AtLevel, Levels
from symdecouple.families.moments import MomentCoordinates
from symdecouple.families.quadratic import QuadraticForms
from symdecouple.numeric.energies.cone import energy_range
from symdecouple.numeric.energies.power_spectrum import Spectrum
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.moments.attainable import skewness_interval, skewness_range
from symdecouple.numeric.moments.out_of_reach import groups_of
from symdecouple.numeric.moments.tied_range import reach_of_any, reach_of_counts
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["EnergyIntervals", "Interval", "MomentIntervals", "followed"]

_OUTWARDS, _STEPS = 8, 21  # outwards, and all: halving comes as near as that in 13 from anywhere but the start
_NEAR = 2.0**-10  # of the way to an end, what is left open of it
_FIRST = 1e-2  # of the size of a feature: the first step
_INSIDE = 1e-9  # of a reference: as near to an end counts as the end


class Interval(NamedTuple):
    """What one feature can be: NaN where a feature before it cannot come to its reference."""

    low: float
    high: float
    low_is_attained: bool = False
    high_is_attained: bool = False

    def holds(self, value: float | None) -> bool:
        """True iff a value is strictly inside, or is the only one."""
        if value is None or not self.low <= self.high:
            return False
        near = _INSIDE * (1 + abs(value))
        if self.high - self.low <= near:
            return abs(value - self.low) <= near
        return self.low < value < self.high


NOTHING = Interval(np.nan, np.nan)


@dataclass(frozen=True, slots=True)
class MomentIntervals:
    """Intervals of moments, by the references of all but the last one; every pattern of ties is counted once."""

    leading: MomentCoordinates
    references: Sequence[Any]
    found_by: ClassVar[Literal["ties"]] = "ties"

    def keys(self, rows: Array, _: tuple[int, ...]) -> list[bytes]:
        """Return what the intervals of samples, (R, N), depend on: how often they take their values, in order."""
        return [groups_of(row).tobytes() for row in rows]

    def intervals(self, key: bytes | None, grid: tuple[int, ...]) -> list[Interval]:
        """Return the intervals on the leaf of samples with a key; None: over all samples of N values."""
        found, groups, n_samples = list[Interval](), None if key is None else np.frombuffer(key), math.prod(grid)
        point = [float(c) for c in self.leading.coordinates(list(self.references[: len(self.leading) - 1]))]
        for k in range(1, len(self.leading) + 1):
            ends = self._ends(k, point, groups, n_samples)
            if ends is None:
                break
            is_one = ends[0] == ends[1]
            values = sorted(self._feature(k, point, end) for end in ends)
            closed = (groups is None and k > 1) or is_one
            found.append(Interval(values[0], values[1], *(closed and bool(np.isfinite(v)) for v in values)))
            if not found[-1].holds(self.references[k - 1]):
                break
        return found + [NOTHING] * (len(self.leading) - len(found))

    def _ends(self, k: int, point: Sequence[float], groups: FloatArray | None, n_samples: int
              ) -> tuple[float, float] | None:
        """Both ends of coordinate k: the mean, the deviation, or a standardized moment."""
        if k == 1:
            return -np.inf, np.inf
        if groups is not None and len(groups) == 1:  # all values are equal
            return (0.0, 0.0) if k == 2 else None
        if k == 2:
            return 0.0, np.inf
        if k == 3:
            return skewness_range(n_samples) if groups is None else skewness_interval(
                int(groups[0]), int(groups[-1]), n_samples)
        held = (1.0, 0.0, 1.0, *point[2 : k - 1])
        found = reach_of_any(n_samples, held) if groups is None else reach_of_counts(groups.tobytes(), held)
        return None if found is None or found.order != k else (found.low, found.high)

    def _feature(self, k: int, point: Sequence[float], value: float) -> float:
        """Feature k where its coordinate is at an end, the ones before at the references."""
        forward, symbols = self.leading.forward[k - 1], self.leading.symbols
        expr: Expr = forward.xreplace(dict(zip(symbols, map(S, point[: k - 1]), strict=False)))
        if np.isfinite(value) and (k != 2 or value != 0):
            return float(expr.subs(symbols[k - 1], value))
        return float(limit(expr, symbols[k - 1], S(value), "+" if value == 0 else "-"))


@dataclass(frozen=True, slots=True)
class EnergyIntervals:
    """Intervals of quadratic features that commute, the mean perhaps before them.

    `spans` are (first, last + 1) of features that are normalized together: those before the first of them are held.
    """

    leading: QuadraticForms
    references: Sequence[Any]
    spans: Sequence[tuple[int, int]]
    found_by: ClassVar[Literal["frequencies"]] = "frequencies"

    def keys(self, rows: Array, grid: tuple[int, ...]) -> list[bytes]:
        """Return what the intervals of signals, (R, N), depend on: their active frequencies."""
        energies = of_forms(self.leading, grid)
        return [heard.tobytes() for heard in Spectrum.of(energies.bands, rows, energies.mean).shares > 0]

    def intervals(self, key: bytes | None, grid: tuple[int, ...]) -> list[Interval]:
        """Return the intervals on the leaf of signals with a key; None: over all signals of this shape."""
        energies, offset, is_any = of_forms(self.leading, grid), int(self.leading.mean is not None), key is None
        active = np.array(np.frombuffer(key or b"\1" * energies.bands.count, dtype=np.bool_))
        active[0] &= not (is_any and energies.mean)
        shift = np.array([float(c) for c in self.leading.constants])
        found = [Interval(-np.inf, np.inf)] * offset
        if self.leading.mean is not None:
            slope, constant = map(float, self.leading.mean)
            mean = (float(self.references[0]) - constant) / slope if self.references[0] is not None else np.nan
            shift = shift + mean**2 * energies.bands.at_zero
        for start, end in self.spans:
            if end > len(self.leading) or start < offset:
                continue
            held = self.references[offset:start]
            is_there = all(found[j].holds(self.references[j]) for j in range(offset, start))
            values = np.array([float(v) for v in held]) - shift[: start - offset] if is_there else np.zeros(0)
            for j in range(start, end):
                ends = energy_range(energies.bands, j - offset, values, active, start - offset) if is_there else None
                found.append(NOTHING if ends is None else _with_ends(ends, float(shift[j - offset]), is_any))
        return found


def _with_ends(ends: tuple[float, float], shift: float, is_any: bool) -> Interval:
    low, high = ends
    if np.isfinite(high - low) and high - low <= 1e-12 * max(abs(low), abs(high)):
        return Interval(low + shift, low + shift, True, True)
    return Interval(low + shift, high + shift, is_any and bool(np.isfinite(low)), is_any and bool(np.isfinite(high)))


def followed(levels: Levels, rows: Array, span: tuple[int, int], value: Array, references: Sequence[Any]
             ) -> list[Interval]:
    """What the path of a feature reached both ways, from rows at the level before it, (R, N), NaN where there is none.

    Each step outwards is eight times the one before, from where that came to, until the row does not follow; then what
    is left is halved. An end counts as infinite where 20,000 sizes of the feature were reached.
    """
    ends = [_end_of(levels, rows, span, value, references, sign) for sign in (-1.0, 1.0)]
    return [Interval(low, high) if np.isfinite(f) else NOTHING for low, high, f in zip(*ends, value, strict=True)]


def _end_of(levels: Levels, rows: Array, span: tuple[int, int], value: Array, references: Sequence[Any], sign: float
            ) -> Array:
    start, end = span
    at, reached = rows.copy(), value.astype(np.float64)  # where each row came to
    unit, missed = _FIRST * (np.abs(value) + (value == 0)), np.full(len(value), sign * np.inf)
    for step in range(_STEPS):
        is_closed = np.isfinite(missed)
        left = np.where(is_closed, np.abs(missed - reached) > _NEAR * np.abs(missed - value), step < _OUTWARDS)
        going = np.flatnonzero(np.isfinite(value) & left)
        if not len(going):
            break
        with np.errstate(over="ignore"):
            targets = np.where(is_closed, reached / 2 + missed / 2, value + sign * unit * 8.0**step)[going]
        here = AtLevel(at[going])
        moved = levels.narrow.advance(here, end, [*references[:start], targets], keep=False, is_fine=False)
        there = np.array([r not in moved.refusals for r in range(len(going))], dtype=np.bool_)
        at[going[there]], reached[going[there]] = moved.values[there], targets[there]
        missed[going[~there]] = targets[~there]
    return np.where(np.isfinite(missed), reached, sign * np.inf)
