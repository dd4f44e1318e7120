r"""From samples to levels: the closed forms of one plan, applied to the rows of a batch.

What a level returns (`Imposed`) knows how to carry gradients back. Along closed forms that is Theorem F,

.. math:: \nabla (f \circ N_k)(x) = D^T P_\perp \nabla f(N_k(x))

with D the derivative of the motion, flow parameters held, and P_perp the projection off the span at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import mpmath
import numpy as np

from symdecouple.decoupling.leaf import Leaf, Moved, Unreachable
from symdecouple.errors import Outcome
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.moments.power_sums import ZERO_VARIANCE
from symdecouple.numeric.precision.extrapolation import NoSlope
from symdecouple.numeric.precision.path import Span, finite, size, spread

__all__ = ["ClosedRoute", "Differentiated", "Imposed", "Leading", "Route", "Stretch", "off"]


@dataclass(frozen=True, slots=True)
class Imposed:
    """Sample vectors at a level.

    Attributes
    ----------
    values : array (R, N)
        NaN in refused rows.
    residual : array (R,)
        Largest distance of an imposed feature from its target v, over 1 + abs(v).
    pullback : callable
        Takes gradients at `values`, (R, N), of functions of them; returns those at the samples, (R, N).
    refusals : dict
        Row to outcome.
    error : array (R,) or None
        Estimated distance from the exact values, relative to their standard deviation; None in float64. Along closed
        forms a first-order bound of rounding, and what is missing to the targets; along the narrow path that of its
        steps, added up (`PreciseImposed.error`).
    stretch : Stretch or None
        The way from another level, where the samples came from there.
    """

    values: Array
    residual: Array
    pullback: Callable[[Array], Array]
    refusals: dict[int, Outcome] = field(default_factory=dict)
    error: Array | None = None
    stretch: Stretch | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """The way from one level to another.

    Attributes
    ----------
    before : Imposed
    back : callable
        Takes gradients at the end, (c, R, N), all along one path, and returns those at `before`, with an estimate of
        their errors relative to their sizes, (R,); zero in float64.
    stopped : dict
        Row to outcome, where `back` could not go all the way; filled in by it.
    """

    before: Imposed
    back: Callable[[Array], tuple[Array, Array]]
    stopped: dict[int, Outcome] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leading:
    """Decoupled features of leading levels, without a way for gradients.

    Attributes
    ----------
    values : array (R, K)
        NaN from the level on that a row lacks.
    residual : array (R,)
        As in `Imposed`; NaN where samples were never at the levels, but sums over them.
    refusals : dict
        Row to the outcome of the first level that it lacks.
    """

    values: Array
    residual: Array
    refusals: dict[int, Outcome]


@dataclass(frozen=True, slots=True)
class Differentiated(Leading):
    """Decoupled features of leading levels with their gradients.

    Attributes
    ----------
    gradients : array (R, K, N)
        NaN from the level on that a row lacks.
    """

    gradients: Array

    def gradient(self, j: int, room: Array | None = None) -> Array:
        """Return the gradient of decoupled feature j, counted from 0, (R, N)."""
        return self.gradients[:, j]


class Route(Protocol):
    """How the first levels are reached, each from anywhere on a leaf."""

    @property
    def size(self) -> int:
        """How many levels there are."""

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> Imposed:
        """Bring features 1..k of the rows, (R, N), to their targets: numbers, or arrays (R,)."""


@dataclass(frozen=True, slots=True)
class ClosedRoute:
    """Levels along closed forms, sample by sample, in numbers of either kind."""

    leaf: Leaf

    @property
    def size(self) -> int:
        """How many levels have a closed form."""
        return self.leaf.size

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> Imposed:
        """As in `Route`."""
        found: dict[int, Moved] = {}
        refusals: dict[int, Outcome] = {}
        for r, row in enumerate(rows):
            try:
                with np.errstate(all="ignore"):  # what is not finite is refused
                    found[r] = self.leaf.impose(row, k, [t[r] if np.ndim(t) else t for t in targets[:k]])
            except Unreachable as error:
                refusals[r] = ZERO_VARIANCE if k > 1 and (row == row[0]).all() else error.outcome

        def pullback(covectors: Array) -> Array:
            out = np.full(rows.shape, np.nan, dtype=rows.dtype)
            for r, moved in found.items():
                with suppress(ZeroDivisionError), np.errstate(all="ignore"):  # dependent generators: NaN
                    out[r] = moved.slope * off(covectors[r], self.leaf.generators(moved.values, k))
            return out

        nan = mpmath.nan if rows.dtype == object else np.nan
        values, residual = np.full(rows.shape, nan, dtype=rows.dtype), np.full(len(rows), nan, dtype=rows.dtype)
        errors = residual.copy() if rows.dtype == object else None
        for r, moved in found.items():
            values[r], residual[r] = moved.values, moved.residual
            if errors is not None:
                errors[r] = self._error(moved, k, [t[r] if np.ndim(t) else t for t in targets[:k]])
        return Imposed(values, residual, pullback, refusals, errors)

    def _error(self, moved: Moved, k: int, targets: Sequence[Any]) -> Any:
        """Return what rounding did and what is missing to the targets, in standard deviations.

        Gradients and generators have one span on a leaf: the shortest step to the targets is the one along the leaf.
        """
        try:
            gradients = finite(lambda: self.leaf.gradients(moved.values)[:k])
            missing = Span(gradients).step(np.array(targets, dtype=object) - self.leaf.values(moved.values)[:k])
        except (NoSlope, ZeroDivisionError):
            return mpmath.inf
        off, unit = size(moved.error) + size(missing), spread(moved.values)
        return off / unit if unit else off and mpmath.inf  # a sample of zeros has no unit


def off(vector: Array, fields: Array) -> Array:
    """Return the part of a vector orthogonal to some fields, (k, N)."""
    basis: list[Array] = []
    for generator in fields:
        part = _off_basis(generator, basis)
        basis.append(part / (part * part).sum() ** 0.5)  # not np.sqrt, which rounds mpmath numbers to float64
    return _off_basis(vector, basis)


def _off_basis(vector: Array, basis: list[Array]) -> Array:
    """Project twice: the first leaves rounding."""
    for q in basis * 2:
        vector = vector - q * (q * vector).sum()
    return vector
