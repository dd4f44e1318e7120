r"""A vector in chunks moved to its levels: parameters from two passes, and each chunk by itself.

Level 1 takes the mean off, level 2 divides by the deviation. Level 3 is the Moebius map of the skew flow (Theorem C):
with g the distance from an end and w that of the pole, taken from a number c in the middle so that nothing cancels,

.. math:: u - u_c = \frac{w\,(x - c)}{(g + w)(g_c + w)}, \qquad z = (u - \bar u)/s_u.

Levels above go along the narrow path of the vector's measure: entries travel with its nodes, with the weight 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.lazy.measure import CROWDED, Measure
from symdecouple.lazy.state import MomentState
from symdecouple.numeric.moments.bins import BinFrame
from symdecouple.numeric.moments.levels import standardized_reference
from symdecouple.numeric.moments.moment_path import FINE, follow
from symdecouple.numeric.moments.skewness_root import UNRESOLVED, find_roots
from symdecouple.numeric.moments.ties import why_unreachable
from symdecouple.numeric.samples.batch import FloatArray
from symdecouple.numeric.samples.intake import exact, is_exact_in_float64, nearest, take_numbers

__all__ = ["VectorLevel", "level_of"]

_ROUNDING = 2.0**-49  # of a skewness
_TOGETHER = 2**16  # entries that go along a narrow path together


@dataclass(frozen=True, slots=True)
class _Flow:
    """The map to level 3, in the unit of the frame; g is counted from the end at `side`: -1 the low one, 1 the high."""

    frame: BinFrame
    side: int
    pole: float
    centre: float  # mean of u - u_c
    deviation: float  # of u
    nodes: FloatArray  # of the measure, at level 3
    shares: FloatArray

    def __call__(self, x: NDArray[Any]) -> FloatArray:
        """Entries at level 3, standardized."""
        frame = self.frame
        end = frame.high if self.side > 0 else frame.low
        from_end = np.abs(less(x, end, frame.exponent))
        z = _straightened(from_end, less(x, frame.middle, frame.exponent), frame.scaled(abs(frame.middle - end)),
                          self.pole)
        z -= self.centre
        z /= self.deviation
        return z


def _straightened(from_end: FloatArray, from_middle: FloatArray, middle: float, pole: float) -> FloatArray:
    """|u - u_c| with the sign of x - c."""
    from_end += pole
    from_middle *= pole / (middle + pole)
    from_middle /= from_end
    return from_middle


@dataclass(frozen=True, slots=True)
class VectorLevel:
    """What brings the entries of one vector to a level; made from its state, and above level 2 its measure."""

    level: int
    centre: float
    unit: float
    goal: tuple[float, ...]
    mean: Fraction
    deviation: tuple[float, int]  # and the exponent of its unit
    flow: _Flow | None
    refused: Outcome | None

    def __call__(self, chunk: Any) -> NDArray[Any]:
        """Entries of a chunk at the level, of its shape; NaN where there was NaN, and all NaN for a refused vector."""
        masked = np.ma.getmaskarray(chunk) if np.ma.is_masked(chunk) else None
        x = take_numbers(chunk).array
        kind = np.float32 if x.dtype in (np.float16, np.float32) else np.float64
        if self.refused is not None or not x.size:
            return np.full(x.shape, np.nan, dtype=kind)
        with np.errstate(all="ignore"):
            z = self._moved(x.astype(np.float64) if x.dtype.kind == "f" else x)
        found: NDArray[Any] = z.astype(kind)
        return found if masked is None else np.ma.masked_array(found, masked)

    def _moved(self, x: NDArray[Any]) -> FloatArray:
        if self.level == 1:
            return less(x, self.mean, 0) + self.centre
        if self.flow is None:
            deviation, exponent = self.deviation
            return self.centre + self.unit * (less(x, self.mean, exponent) / deviation)
        z = self.flow(x)
        if self.level > 3:
            flat = z.reshape(-1)
            for i in range(0, flat.size, _TOGETHER):
                flat[i : i + _TOGETHER] = _along(self.flow, flat[i : i + _TOGETHER], self.level, self.goal)[0]
            z = flat.reshape(x.shape)
        return self.centre + self.unit * z


def less(x: NDArray[Any], point: Fraction, exponent: int) -> FloatArray:
    """(x - point)/2^exponent, without loss beside an offset, for integers of 64 bits and exact numbers too."""
    if x.dtype.kind == "O":
        unit, numbers = Fraction(2) ** exponent, map(exact, x.ravel().tolist())
        apart = [nearest((v - Fraction(point)) / unit) if isinstance(v, Fraction) else v for v in numbers]
        return np.array(apart, dtype=np.float64).reshape(x.shape)
    if x.dtype.kind in "iu" and x.size and not is_exact_in_float64(x.min(), x.max()):
        whole = math.floor(point)
        wide = x.astype(np.int64 if x.dtype.kind == "i" else np.uint64).view(np.uint64) - np.uint64(whole % 2**64)
        return np.ldexp(wide.view(np.int64).astype(np.float64) - float(point - whole), -exponent)
    unit = Fraction(2) ** exponent
    first = float(point)
    rest = float((point - Fraction(first)) / unit)
    return np.asarray(np.ldexp(x.astype(np.float64), -exponent) - math.ldexp(first, -exponent) - rest)


def level_of(state: MomentState, measure: Measure | None, level: int, reference: Sequence[float]) -> VectorLevel:
    """What brings a vector to a level, the reference given by raw moments."""
    centre, unit, goal = standardized_reference(reference[:level])
    outcome = state.summary().outcome
    known = outcome.ok or outcome.reason == "out of range" or (level == 1 and state.count > 0 and outcome.reason in (
        "one sample", "zero variance"))
    refused, flow, deviation = None if known else outcome, None, (1.0, 0)
    mean = state.exact_mean() if known else Fraction(0)
    if known and level > 1:
        exponent = state.unit
        deviation = state.deviation(exponent), exponent
    if known and level > 2 and measure is not None:
        counts = measure.frame.counts
        refused = why_unreachable(*counts, goal[3]) or (None if measure.resolves(goal[3]) else CROWDED)
        flow = None if refused is not None else _flow_of(measure, goal[3])
        distance = abs(state.summary().skewness - goal[3])
        if level == 3 and measure.frame.is_two_valued and distance <= _ROUNDING * (1 + abs(goal[3])):
            refused = None  # two values do not move, and may be there already
        elif flow is None:
            refused = refused or UNRESOLVED
        elif level > 3:
            refused = _along(flow, np.empty(0), level, goal)[1]
    return VectorLevel(level, centre, unit, tuple(goal), mean, deviation, flow, refused)


def _flow_of(measure: Measure, target: float) -> _Flow | None:
    """The root of the skew flow, on the nodes of the measure; None where there is none in float64."""
    frame, matrix = measure.frame, measure.matrix()
    roots = find_roots(matrix, np.zeros(1, dtype=np.intp), np.array([target]))
    if not np.isfinite(roots.kurtosis[0]) or matrix.weights is None:
        return None
    side = 1 if roots.turned[0] else -1
    pole = math.ldexp(float(roots.pole[0]), -int(roots.lift[0]))
    x, shares = matrix.values[0].astype(np.float64), matrix.weights[0] / matrix.weights[0].sum()
    end, middle = (matrix.high[0], frame.high) if side > 0 else (matrix.low[0], frame.low)
    away = frame.scaled(abs(frame.middle - middle))
    z = _straightened(np.abs(x - end), x - (end - side * away), away, pole)
    centre = float(shares @ z)
    deviation = math.sqrt(float(shares @ (z - centre) ** 2))
    return _Flow(frame, side, pole, centre, deviation, (z - centre) / deviation, shares)


def _along(flow: _Flow, z: FloatArray, level: int, goal: Sequence[float]) -> tuple[FloatArray, Outcome | None]:
    """Entries at level 3 at a level above, and why there is none."""
    is_known = np.isfinite(z)
    rows = np.concatenate([flow.nodes, np.where(is_known, z, 0.0)])[None]
    weights = np.concatenate([flow.shares, np.zeros(len(z))])[None]
    for k in range(4, level + 1):
        moved = follow(rows, k, goal[k], held=goal[1:k], weights=weights, rtol=FINE)
        if moved.refusals:
            return np.full_like(z, np.nan), moved.refusals[0]
        rows = moved.values
    return np.where(is_known, rows[0, len(flow.nodes) :], np.nan), None
