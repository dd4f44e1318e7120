r"""Levels of a set of moments, all rows at once in float64: standardization, and the Riccati flow of the skewness.

Feature values become coordinates (m, s, c_3) once, whatever the features are called. Then

.. math:: N_1 = x - \mathrm{Mean}(x) + m, \qquad N_2 = m + s z, \qquad N_3 = m + s\,\frac{a x + b}{c x + d}

with z standardized and the Moebius map such that its image has mean 0, variance 1 and skewness c_3. Ties and the order
of the samples are kept; which rows have no level 3 is decided by counting ties (Theorem C).
"""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr, Symbol, diff, lambdify, sqrt

from symdecouple.decoupling.routes.route import Answers, AtLevel, Route
from symdecouple.errors import Outcome
from symdecouple.families.moments import MomentCoordinates
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.moments import moment_path_kernel
from symdecouple.numeric.moments.gradients import project, standardized_gradients
from symdecouple.numeric.moments.levels import HIGHEST, climb, standardized_rows
from symdecouple.numeric.moments.power_sums import ZERO_VARIANCE, centred_rows, standardized_entries
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.moments.skewness_kernel import skewness_imposer
from symdecouple.numeric.samples.batch import RowValues, SampleMatrix
from symdecouple.numeric.samples.matrix import row_ends
from symdecouple.numeric.samples.vectors import widened

__all__ = ["MomentRoute"]

_VARIANCE = Symbol("V", positive=True)
_BEYOND = Outcome(False, "out of range", "the sample at this level is beyond float64; take another unit, or use dps=")
_NORMAL = float(np.finfo(np.float64).tiny)  # below, digits are missing


@dataclass(frozen=True, slots=True)
class MomentRoute(Route):
    """Levels 1 to 3 of a set of moments, as far as its features can be solved for the coordinates.

    `own` is the last level that is reached here; below 3, the last one that comes with all before it at once.
    """

    coordinates: MomentCoordinates
    own: int
    _points: dict[tuple[Any, ...], list[float] | None] = field(default_factory=dict, repr=False)

    def impose(self, rows: Array, k: int, targets: Sequence[Any], keep: bool, weights: Array | None = None) -> AtLevel:
        """As in `Route`; rows may have weights, (R, N), and then no way back."""
        rows = widened(rows)
        with np.errstate(all="ignore"):
            found = [np.broadcast_to(c, len(rows)).astype(float) for c in self.coordinates.coordinates(targets[:k])]
            impossible = _impossible(found, targets, k) if k > 1 else {}
            for c in found if impossible else ():
                c[list(impossible)] = 1
            unit = found[1][:, None] if k > 1 else np.ones((len(rows), 1))
            z, slope, refusals = _standard(rows, k, found, keep, weights)
            values = np.multiply(unit, z, out=None if keep else z)
            values += found[0][:, None]
        refusals |= impossible
        low, high = row_ends(values)
        beyond = ~(np.isfinite(low) & np.isfinite(high))
        refusals = {int(r): _BEYOND for r in np.flatnonzero(beyond)} | refusals
        values[list(refusals)] = np.nan

        def back(covectors: Array) -> tuple[Array, Any]:
            free = [project(z, project(z, one[None], k), k)[0] for one in covectors]  # the first leaves rounding
            return unit * slope * np.array(free), 0

        return AtLevel(values, refusals, back=back if keep else None)

    # --- all leading features at once: what `stats` computes ---

    def values(self, rows: Array, targets: Sequence[Any], is_fine: bool) -> Answers | None:
        """As in `Route`; None as well where a target is missing, or no sample has them. The last one does not count."""
        if is_fine or self._point(tuple(targets[: self.count - 1])) is None:
            return None
        found = self.standardized(SampleMatrix.of(rows), targets)
        return Answers(self.features_of(found.values, targets), dict(found.refusals))

    def standardized(self, matrix: SampleMatrix, targets: Sequence[Any]) -> RowValues:
        """Return mean, variance and standardized decoupled moments of rows that may have weights.

        `features_of` makes features of them.
        """
        point = self._point(tuple(targets[: self.count - 1]))
        assert point is not None, "moments without references are no plan"
        compiled = matrix.weights is None and moment_path_kernel.KERNELS.are_wanted(matrix.values.size)
        found, refusals = standardized_rows(matrix, self.count, _goal(point), compiled=compiled)
        if self.count > 1:  # no variance of which digits are missing
            found[:, 1][(matrix.low < matrix.high) & ~(found[:, 1] >= _NORMAL)] = np.nan
        return RowValues(found, refusals)

    def features_of(self, standardized: Array, targets: Sequence[Any]) -> Array:
        """Return leading decoupled features from mean, variance and standardized decoupled moments, (R, K)."""
        point = self._point(tuple(targets[: self.count - 1]))
        assert point is not None
        return np.array([self._feature(k, point, standardized[:, k - 1]) for k in range(1, self.count + 1)]).T

    def at_level(self, rows: Array, weights: Array, k: int, targets: Sequence[Any]) -> tuple[Array, dict[int, Outcome]]:
        """Return rows with weights, (R, N), at level k, and the rows that do not come there."""
        if k <= 3:
            at = self.impose(rows, k, targets, False, weights)
            return at.values, at.refusals
        point = self._point(tuple(targets[:k]))
        assert point is not None
        ladder = climb(rows, k + 1, _goal(point), weights=weights)
        is_all = any(len(which) == len(rows) for _, which, _ in ladder.levels)
        values = ladder.levels[0][2].values if is_all else np.full(rows.shape, np.nan)
        for _, which, moved in () if is_all else ladder.levels:
            values[which] = moved.values
        values *= point[1]
        values += point[0]
        values[list(ladder.refusals)] = np.nan
        return values, dict(ladder.refusals)

    def gradients(self, rows: Array, targets: Sequence[Any], weights: Array | None = None) -> Answers | None:
        """As in `values`; rows may have weights, (R, N)."""
        count = self.count
        point = self._point(tuple(targets[: count - 1]))
        if point is None:
            return None
        found = standardized_gradients(rows, count, _goal(point), weights)
        for k in range(1, count + 1):
            factor = self._feature(k, point, found.values[:, k - 1], order=1)
            if (factor != 1).any():
                found.gradients[:, k - 1] *= factor[:, None]
        return Answers(found.gradients, found.refusals)

    @property
    def count(self) -> int:
        """How many leading features come all at once."""
        return min(len(self.coordinates.inverse), HIGHEST if self.own > 2 else self.own)

    def _feature(self, k: int, point: Sequence[float], last: Array, order: int = 0) -> Array:
        """Feature k where the coordinates below are those of the point, or its derivative by the last one."""
        function = _of_last(self.coordinates.forward[k - 1], self.coordinates.symbols[:k], order)
        values = np.empty(np.shape(last))
        with np.errstate(all="ignore"):
            values[...] = function(*point[: k - 1], last)
        return values

    def _point(self, targets: tuple[Any, ...]) -> list[float] | None:
        """Coordinates (m, s, c_3, ...) of targets; None where no sample has them."""
        if targets not in self._points:
            with np.errstate(all="ignore"):
                point = [] if None in targets else [complex(c) for c in self.coordinates.coordinates(targets)]
            is_real = all(c.imag == 0 and isfinite(c) for c in point) and all(c.real > 0 for c in point[1:2])
            self._points[targets] = [c.real for c in point] if is_real and None not in targets else None
        return self._points[targets]


def _goal(point: Sequence[float]) -> tuple[float, ...]:
    return (1.0, 0.0, 1.0, *point[2:])[: len(point) + 1]


@lru_cache(maxsize=256)
def _of_last(feature: Expr, symbols: tuple[Symbol, ...], order: int) -> Callable[..., Any]:
    """A feature of the coordinates, or its derivative by the last one.

    The second coordinate is the variance here, which is not rounded by a root.
    """
    unknown = symbols[-1]
    if len(symbols) == 2:
        unknown, feature = _VARIANCE, feature.xreplace({unknown: sqrt(_VARIANCE)})
    derivative = diff(feature, unknown, order) if order else feature
    return lambdify((*symbols[:-1], unknown), derivative)  # type: ignore[no-any-return]


def _standard(rows: Array, k: int, found: Sequence[Any], with_slope: bool, weights: Array | None
              ) -> tuple[Array, Array, dict[int, Outcome]]:
    """Rows centred, standardized, or of a given skewness too; their slopes, and what is refused."""
    if k == 1:
        z, exponent = centred_rows(rows, weights)
        return np.ldexp(z, exponent[:, None], out=z), np.ones((len(rows), 1)), {}
    if k == 2:
        z, slope, residual = standardized_entries(rows, weights)
        return z, slope, {int(r): ZERO_VARIANCE for r in np.flatnonzero(np.isnan(residual))}
    impose = skewness_imposer(rows.size) if weights is None else impose_skewness
    imposed = impose(rows, found[2], weights=weights, with_slope=with_slope)
    return imposed.values, imposed.slope, dict(imposed.refusals)


def _impossible(found: Sequence[Array], targets: Sequence[Any], k: int) -> dict[int, Outcome]:
    """Refuse rows whose targets belong to no sample: a variance of zero or below."""
    bad = ~(found[1] > 0) | ~np.isfinite(sum(found))
    values = [np.broadcast_to(t, len(bad)) for t in targets[:k]]
    return {int(r): Outcome(False, "level 2 not attainable", "no sample with a positive variance has the values "
                            + ", ".join(f"{v[r]:.6g}" for v in values)) for r in np.flatnonzero(bad)}
