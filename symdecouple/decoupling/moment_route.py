r"""Levels of a set of moments, all rows at once in float64: standardization, and the Riccati flow of the skewness.

Feature values become coordinates (m, s, c_3) once, whatever the features are called. Then

.. math:: N_1 = x - \mathrm{Mean}(x) + m, \qquad N_2 = m + s z, \qquad N_3 = m + s\,\frac{a x + b}{c x + d}

with z standardized and the Moebius map such that its image has mean 0, variance 1 and skewness c_3. Ties and the order
of the samples are kept; which rows have no level 3 is decided by counting ties (Theorem C).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr, Symbol, diff, lambdify

from symdecouple.decoupling.routes import Differentiated, Imposed, Leading, Route
from symdecouple.errors import Outcome
from symdecouple.families.moments import MomentCoordinates
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.moments import long_parts, moment_path_kernel
from symdecouple.numeric.moments.gradients import standardized_gradients
from symdecouple.numeric.moments.levels import HIGHEST, standardized_rows
from symdecouple.numeric.moments.long_jit import Compiled
from symdecouple.numeric.moments.long_level import advance
from symdecouple.numeric.moments.long_means import ByNumPy, Means
from symdecouple.numeric.moments.long_series import Climb
from symdecouple.numeric.moments.power_sums import ZERO_VARIANCE
from symdecouple.numeric.moments.skewness_flow_jit import KERNELS, compiled_standardize, skewness_imposer
from symdecouple.numeric.samples.batch import Panel
from symdecouple.numeric.samples.vectors import widened

__all__ = ["MomentRoute"]

_BLOCK = 2**14  # numbers worked on at a time
_SINGLE = 2.0**-24  # of the largest entry: what single precision rounds
FROM_ENTRIES = 2**12  # entries from which on gradients come of nodes


@dataclass(frozen=True, slots=True)
class MomentRoute:
    """Levels 1 to 3 of a set of moments, as far as its features can be solved for the coordinates.

    Parameters
    ----------
    coordinates : MomentCoordinates
    beyond : Route
        Takes the other levels.
    """

    coordinates: MomentCoordinates
    beyond: Route

    @property
    def size(self) -> int:
        """How many levels have a closed form."""
        return self.beyond.size

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> Imposed:
        """As in `Route`."""
        if not 0 < k <= min(3, len(self.coordinates)):
            return self.beyond.impose(widened(rows), k, targets)
        with np.errstate(all="ignore"):
            found = [np.broadcast_to(c, len(rows)).astype(float) for c in self.coordinates.coordinates(targets[:k])]
        if k == 1:
            rows = widened(rows)
            values = np.empty_like(rows)
            for part in _blocks(rows):
                _centre(rows[part], values[part])
                values[part] += found[0][part, None]
            residual = np.abs(values.mean(axis=1) - found[0]) / (1 + np.abs(found[0]))
            return Imposed(values, residual, _centred)
        refusals = _impossible(found, targets, k)
        skewness = found[2] if k > 2 else None

        def moved(with_slope: bool = True) -> tuple[Array, Array, Array, dict[int, Outcome]]:
            wide = widened(rows)  # no longer than it takes
            return _standardized(wide) if skewness is None else _skewed(wide, skewness, with_slope)

        is_kept = rows.shape[1] < long_parts.LONG  # too long: found again where it is wanted
        z, slope, residual, more = moved(is_kept)
        kept = (z, slope) if is_kept else None
        del slope
        values = z
        if found[0].any() or (found[1] != 1).any():
            values = np.multiply(found[1][:, None], z, out=z if kept is None else None)
            values += found[0][:, None]
        del z
        if refusals:
            values[list(refusals)] = np.nan

        def pullback(covectors: Array) -> Array:
            z, slope = kept or moved()[:2]
            return np.asarray(found[1][:, None] * slope * _free(covectors, z, k))

        return Imposed(values, residual, pullback, {**more, **refusals})

    # --- very long rows: in little room, without a way for gradients ---

    def decoupled(self, rows: Array, targets: Sequence[Any]) -> Leading | None:
        """Return leading decoupled features by sums over the rows; None for rows that are not so long.

        Parameters
        ----------
        rows : array (R, N)
        targets : sequence of numbers
            Those of all features but the last one count.
        """
        count = min(len(self.coordinates), HIGHEST)
        point = self._point(targets[: count - 1], 1) if rows.shape[1] >= long_parts.LONG else None
        if point is None:
            return None
        goal = (1.0, 0.0, 1.0, *point[2:, 0])
        compiled = moment_path_kernel.KERNELS.are_wanted(rows.size)
        found, refusals = standardized_rows(Panel.of(rows), count, goal[:count], compiled=compiled)
        found[:, 1] = np.sqrt(found[:, 1])
        with np.errstate(all="ignore"):
            values = np.stack([self._feature(k, [*point[: k - 1, 0], found[:, k - 1]])
                               for k in range(1, count + 1)], axis=1)
        return Leading(values, np.full(len(rows), np.nan), refusals)

    def differentiated(self, rows: Array, targets: Sequence[Any]) -> Differentiated | None:
        """Return leading decoupled features with their gradients, by nodes that stand in for the samples.

        None for short rows, constant ones, and at critical points. Features that are linear in the last coordinate do
        without values above the fourth.

        Parameters
        ----------
        rows : array (R, N)
        targets : sequence of numbers
            Those of all features but the last one count.
        """
        count = min(len(self.coordinates), HIGHEST)
        point = self._point(targets[: count - 1], 1) if rows.shape[1] >= FROM_ENTRIES else None
        if point is None or not (rows.min(axis=1) < rows.max(axis=1)).all():
            return None
        symbols = self.coordinates.symbols
        slopes = [diff(f, c) for f, c in zip(self.coordinates.forward[:count], symbols, strict=False)]
        with_values = any(slope.has(c) for slope, c in zip(slopes[4:], symbols[4:], strict=False))
        goal = (1.0, 0.0, 1.0, *point[2:, 0])
        found = standardized_gradients(rows, count, goal[:count], with_values=with_values)
        gradients, refused = found.gradients, list(found.refusals)
        with np.errstate(all="ignore"):
            found.values[:, 1] = np.sqrt(found.values[:, 1])
            for k, slope in enumerate(slopes, start=1):
                there = [*point[: k - 1, 0], found.values[:, k - 1]]
                factor = np.broadcast_to(_function(slope, symbols[:k])(*there), len(rows)).astype(float)
                if k == 2:
                    factor /= 2 * found.values[:, 1]  # the second gradient is that of the variance
                is_scaled = (factor != 1).any()
                if is_scaled:
                    gradients[:, k - 1] *= factor[:, None]
                size = _largest(gradients[:, k - 1])
                lost = ~np.isfinite(size)
                if is_scaled and gradients.dtype == np.float32:  # rounded before: digits are lost near the end of it
                    lost |= ~(np.minimum(size, size / np.abs(factor)) * _SINGLE > np.finfo(np.float32).tiny)
                if np.delete(lost, refused).any():
                    return None
        return Differentiated(found.values, np.full(len(rows), np.nan), found.refusals, gradients)

    def advanced(self, rows: Array, first: int, last: int, targets: Sequence[Any]) -> Imposed | None:
        """Bring features first..last of rows that are at the level below, one after the other, to their targets.

        None for rows that are not so long, or where the path wants to be followed entry by entry.

        Parameters
        ----------
        rows : array (R, N)
            They stay as they are.
        first, last : int
        targets : sequence
            Numbers, or arrays (R,).
        """
        if not (3 < first <= last <= min(len(self.coordinates), HIGHEST) and rows.shape[1] >= long_parts.LONG):
            return None
        point = self._point(targets[:last], len(rows))
        if point is None:
            return None
        means: Means = Compiled() if moment_path_kernel.KERNELS.are_wanted(rows.size) else ByNumPy()
        values, residuals = np.empty_like(rows), np.empty(len(rows))
        np.subtract(rows, point[0][:, None], out=values)
        values /= point[1][:, None]
        for i, z in enumerate(values):
            goal = np.array([1.0, 0.0, 1.0, *point[2:, i]])
            residual = advance(z, Climb(first, goal, means, is_fine=True))
            if residual is None:
                return None
            residuals[i] = residual
        values *= point[1][:, None]
        values += point[0][:, None]
        return Imposed(values, residuals, _no_way)

    def _feature(self, k: int, coordinates: Sequence[Any]) -> Array:
        """Feature k of its coordinates, the last of which is an array."""
        value = _function(self.coordinates.forward[k - 1], self.coordinates.symbols[:k])(*coordinates)
        return np.broadcast_to(value, np.shape(coordinates[-1]))

    def _point(self, targets: Sequence[Any], count: int) -> Array | None:
        """Coordinates (m, s, c_3, ...), (k, count); None where no sample has them."""
        if any(target is None for target in targets):
            return None
        with np.errstate(all="ignore"):
            found = [np.broadcast_to(c, count).astype(float) for c in self.coordinates.coordinates(targets)]
        point = np.array(found).reshape(len(found), count)
        return point if np.isfinite(point).all() and (point[1:2] > 0).all() else None


@lru_cache(maxsize=256)
def _function(expr: Expr, arguments: tuple[Symbol, ...]) -> Callable[..., Any]:
    return lambdify(arguments, expr)  # type: ignore[no-any-return]


def _largest(rows: Array) -> Array:
    """max|x| of each row, (R,), in parts; NaN where there is one."""
    size = np.zeros(len(rows))
    for i in range(0, rows.shape[1], _BLOCK):
        size = np.maximum(size, np.abs(rows[:, i : i + _BLOCK]).max(axis=1))
    return size


def _no_way(covectors: Array) -> Array:
    raise NotImplementedError("the path was not kept: gradients take `Route.impose` and `NarrowRoute.follow`")


def _centred(rows: Array) -> Array:
    centred = np.empty_like(rows)
    _centre(rows, centred)
    return centred


def _centre(rows: Array, out: Array) -> None:
    """Take the mean of each row out, twice: the second mean is what the first one, beside an offset, rounds away."""
    np.subtract(rows, rows.mean(axis=1, keepdims=True), out=out)
    out -= out.mean(axis=1, keepdims=True)


def _blocks(rows: Array) -> Iterator[slice]:
    """Rows whose temporaries stay in the cache."""
    step = max(1, _BLOCK // max(1, rows.shape[1]))
    return (slice(start, start + step) for start in range(0, len(rows), step))


def _free(covectors: Array, z: Array, k: int) -> Array:
    """Return the part orthogonal to 1, z, ..., z^(k-1), row by row; projected twice, the first leaves rounding."""
    basis: list[Array] = []
    for power in range(k):
        part = _off(z**power, basis)
        basis.append(part / np.sqrt((part * part).mean(axis=1, keepdims=True)))
    return _off(covectors, basis)


def _off(rows: Array, basis: list[Array]) -> Array:
    for q in basis * 2:
        rows = rows - q * (q * rows).mean(axis=1, keepdims=True)
    return rows


def _standardized(rows: Array) -> tuple[Array, Array, Array, dict[int, Outcome]]:
    """Return (x - m)/s, 1/s, the residual, and the rows without variance; scaled first by a power of two."""
    if KERNELS.are_wanted(rows.size):
        z, slope, residual = compiled_standardize(rows)
        return z, slope, residual, {int(r): ZERO_VARIANCE for r in np.flatnonzero(np.isnan(residual))}
    z, slope, residual = np.empty_like(rows), np.empty((len(rows), 1)), np.empty(len(rows))
    constant = np.empty(len(rows), dtype=np.bool_)
    for part in _blocks(rows):
        x, here = rows[part], z[part]
        spread = x.max(axis=1, keepdims=True) / 2 - x.min(axis=1, keepdims=True) / 2
        constant[part] = spread[:, 0] == 0
        exponent = np.frexp(spread)[1]
        _centre(np.ldexp(x, -exponent, out=here), here)
        with np.errstate(all="ignore"):
            deviation = np.sqrt(_mean_square(here))[:, None]
            here /= deviation
            slope[part] = np.ldexp(1 / deviation, -exponent)
            residual[part] = np.maximum(np.abs(here.mean(axis=1)), np.abs(_mean_square(here) - 1) / 2)
    return z, slope, residual, {int(r): ZERO_VARIANCE for r in np.flatnonzero(constant)}


def _mean_square(z: Array) -> Array:
    parts = [z[:, i : i + _BLOCK] for i in range(0, z.shape[1], _BLOCK)]
    return np.asarray(sum((part * part).sum(axis=1) for part in parts) / z.shape[1])


def _skewed(rows: Array, skewness: Array, with_slope: bool) -> tuple[Array, Array, Array, dict[int, Outcome]]:
    found = skewness_imposer(rows.size)(rows, skewness, with_slope=with_slope)
    return found.values, found.slope, found.residual, dict(found.refusals)


def _impossible(found: Sequence[Array], targets: Sequence[Any], k: int) -> dict[int, Outcome]:
    """Refuse rows whose targets belong to no sample: a variance of zero or below."""
    bad = ~(found[1] > 0) | ~np.isfinite(sum(found))
    values = [np.broadcast_to(t, len(bad)) for t in targets[:k]]
    return {int(r): Outcome(False, "level 2 not attainable", "no sample with a positive variance has the values "
                            + ", ".join(f"{v[r]:.6g}" for v in values)) for r in np.flatnonzero(bad)}
