"""Long samples in parts, compiled: the loops over entries and the paths of nodes are those of `moment_path.jit`.

A part is cut into pieces, which are shared out over threads, so that one long sample keeps them all at work. What is
asked for, and what is made of it, is in `long_rows.parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.moments import (
    moment_path_jit,
    nodes as moment_nodes,
    path_loops as moment_loops,
    skewness_flow_jit,
    steps as moment_steps,
)
from symdecouple.numeric.moments.chebyshev_rows import waves
from symdecouple.numeric.moments.course import correct, residuals
from symdecouple.numeric.moments.moment_path import RESIDUAL
from symdecouple.numeric.moments.power_sums import standardize
from symdecouple.numeric.moments.skewness_loops import LOOPS
from symdecouple.numeric.moments.skewness_root import unit_and_lift
from symdecouple.numeric.moments.skewness_root_jit import share_rows
from symdecouple.numeric.moments.skewness_row import MOMENTS, FlowedRow, Pole, located
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Panel

__all__ = ["KERNELS", "Compiled", "CompiledRow", "compiled_located", "warm"]

KERNELS = Kernels(__name__, ("symdecouple.numeric.kernels.compile", __name__), seconds=3e-7)
_PART = 2**14
_GUESSED = 32  # entries whose mean stands for that of all
_NEAR = 0.5
_PIECE = 2**12  # entries of a piece
_FAST = (*moment_loops.FAST, *moment_nodes.FAST, *moment_steps.FAST)
_CORRECTIONS = 3


@cache
def _loops() -> tuple[Callable[..., None], ...]:
    loops: tuple[Callable[..., None], ...] = moment_path_jit.KERNELS.build(
        moment_steps.follow_rows, moment_nodes.carry_rows, fast=_FAST
    )
    return loops


@cache
def _roots() -> Callable[..., None]:
    find: Callable[..., None] = skewness_flow_jit.KERNELS.build(skewness_flow_jit.root_rows, fast=LOOPS)[0]
    return find


@cache
def _own() -> tuple[Callable[..., None], ...]:
    own: tuple[Callable[..., None], ...] = KERNELS.build(flow_pieces, sum_pieces, fast=("_five",))
    return own


def warm() -> None:
    """Compile and keep on the disk. Cost: two seconds, once; nothing where it is done."""
    row = CompiledRow(np.arange(9.0), 1.0, 0.0, 9.0, 3.0)
    Compiled().powers(row.apart(row.row), 10)
    KERNELS.note_warm()


def compiled_located(panel: Panel, target: FloatArray) -> Pole | None:
    """`riccati.row.located`; it takes over where the sample may be there already, or wants care."""
    if panel.values.dtype != np.float64 or not panel.values.flags.c_contiguous:
        return located(panel, target)
    unit, up = (np.ldexp(1.0, exponent) for exponent in unit_and_lift(panel))
    scale, offset, pole = np.empty((3, 1))
    ends = (panel.low, panel.high)
    share_rows(_roots(), np.array([0]), panel.values, unit, up, *ends, target.copy(), scale, offset, pole)
    if not 0 < pole[0] < np.inf:
        return located(panel, target)
    return float(scale[0]), float(offset[0]), float(pole[0])


@dataclass(frozen=True, slots=True)
class Compiled:
    """`moment_long_rows.Means` in loops."""

    fewest: int = 32

    def sums(self, z: FloatArray, span: tuple[float, float], m: int) -> FloatArray:
        """As in `Means`: the weights of nodes, and back."""
        total = np.zeros(m)
        ones, at_nodes = np.ones((1, _PIECE)), waves(m)[0][None]
        for pieces in _pieces(z):
            every = np.arange(len(pieces))
            out, tail = np.zeros((len(pieces), m)), np.empty(len(pieces))
            here, unit = _repeated(span, len(pieces)), _repeated((0.0, 1.0), len(pieces))
            share = ones[:, : pieces.shape[1]]
            share_rows(_loops()[1], every, pieces, every, here, share, at_nodes, every, unit, out, m, np.inf, tail)
            total += out.sum(axis=0)
        c: FloatArray = waves(m)[1] @ total
        return c

    def follow(
        self, nodes: FloatArray, weights: FloatArray, k: int, goal: FloatArray
    ) -> tuple[FloatArray, float] | None:
        """As in `Means`."""
        moved, share, log_growth = nodes[None].copy(), weights[None].copy(), np.empty(1)
        first = np.array([weights @ nodes**k])
        share_rows(_loops()[0], np.array([0]), moved, share, k, goal, first, log_growth)
        if not log_growth[0] >= 0:
            return None
        goals = goal[:, None]
        for _ in range(_CORRECTIONS):
            if residuals(moved, goals, share)[0] <= RESIDUAL:
                break
            moved = correct(moved, goals, share)
        return moved[0], float(np.exp(log_growth[0]))

    def moved(self, z: FloatArray, span: tuple[float, float], series: FloatArray) -> FloatArray:
        """As in `Means`: from displacements at the nodes."""
        out = z.copy()
        _add_series(out, span, series, out)
        return out

    def evaluated(self, z: FloatArray, span: tuple[float, float], series: Sequence[FloatArray]) -> list[FloatArray]:
        """As in `Means`."""
        out = np.zeros((len(series), len(z)))
        for i, c in enumerate(series):
            size = float(np.abs(c).max()) or 1.0
            _add_series(z, span, c / size, out[i])  # what is nothing beside 1 is left out
            out[i] *= size
        return list(out)

    def powers(self, y: FloatArray, top: int) -> FloatArray:
        """As in `Means`."""
        total = np.zeros(top + 1)
        for pieces in _pieces(y):
            sums = np.empty((len(pieces), top + 1))
            share_rows(_own()[1], np.arange(len(pieces)), pieces, sums)
            total += sums.sum(axis=0)
        return total


@dataclass(frozen=True, slots=True)
class CompiledRow(FlowedRow):
    """`FlowedRow` in loops."""

    def apart(self, x: NDArray[np.floating[Any]]) -> FloatArray:
        """As there."""
        return FlowedRow.apart(self, x) if self.is_steep else self._flowed(x, 0.0, 1.0, 0.0, 0.0)

    def at(self, x: NDArray[np.floating[Any]]) -> FloatArray:
        """As there."""
        if self.is_steep:
            return FlowedRow.at(self, x)
        skewness = 0.0 if self.moments is None else float(self.moments[3])
        return self._flowed(x, self.shift, self.deviation, self.time, skewness, -1.0 if self.scale < 0 else 1.0)

    def _summed(self) -> Self:
        """As there: about a guess, and once more about the mean where that was poor."""
        if self.is_steep:
            return FlowedRow._summed(self)
        guess, total = float(self.apart(self.row[:: len(self.row) // _GUESSED]).mean()), len(self.row)
        for _ in range(2):
            parts = (self._flowed(self.row[i : i + _PART], guess, 1.0, 0.0, 0.0) for i in range(0, total, _PART))
            h = np.array([Compiled().powers(part, MOMENTS) for part in parts]).sum(axis=0) / total
            if h[1] ** 2 <= _NEAR**2 * (h[2] - h[1] ** 2):
                break
            guess += float(h[1])
        return self._with(*standardize(np.float64(guess), h), h)

    def _flowed(
        self, x: NDArray[np.floating[Any]], shift: float, deviation: float, time: float, skewness: float,
        sign: float = 1.0,
    ) -> FloatArray:
        values = np.ascontiguousarray(x, dtype=np.float64).ravel()
        pole = self.pole if self.pole < np.inf else 0.0
        numbers = np.array([self.scale, self.offset, pole, self.entry, shift, deviation, time, skewness, sign])
        out = np.empty(len(values))
        for pieces, moved in zip(_pieces(values), _pieces(out), strict=True):
            share_rows(_own()[0], np.arange(len(pieces)), pieces, numbers, moved)
        return out.reshape(x.shape)


def _add_series(z: FloatArray, span: tuple[float, float], series: FloatArray, out: FloatArray) -> None:
    """Add sum_j c_j T_j, at entries z, to `out`, which may be z."""
    m = len(series)
    at_nodes, cosines = waves(m)
    share = np.ascontiguousarray(series @ cosines)[None]
    for pieces, places in zip(_pieces(z), _pieces(out), strict=True):
        every, tail = np.arange(len(pieces)), np.empty(len(pieces))
        here, unit = _repeated(span, len(pieces)), _repeated((0.0, 1.0), len(pieces))
        share_rows(
            _loops()[1], every, at_nodes[None], every, unit, share, pieces, every, here, places, m, np.inf, tail
        )


def _pieces(z: FloatArray) -> list[FloatArray]:
    """A part as a matrix, and what is left of it."""
    whole = len(z) // _PIECE * _PIECE
    parts = [z[:whole].reshape(-1, _PIECE), z[None, whole:]]
    return [part for part in parts if part.size]


def _repeated(pair: tuple[float, float], count: int) -> FloatArray:
    return np.repeat(np.array(pair)[:, None], count, axis=1)


# --- compiled from here on ---


def flow_pieces(which: IntArray, pieces: FloatArray, numbers: FloatArray, out: FloatArray) -> None:
    """`FlowedRow.at`: u - u_c, standardized, and what is left of the flow."""
    scale, offset, w, entry = numbers[0], numbers[1], numbers[2], numbers[3]
    shift, deviation, time, skewness, sign = numbers[4], numbers[5], numbers[6], numbers[7], numbers[8]
    start = (entry - offset) + w
    share, unit = w / start, 1 / deviation
    for r in which:
        x, z = pieces[r], out[r]
        if w > 0:
            for i in range(len(x)):
                y = x[i] * scale
                z[i] = (y - entry) * (share / ((y - offset) + w))
        else:
            for i in range(len(x)):
                z[i] = x[i] * scale - entry
        for i in range(len(x)):
            v = (z[i] - shift) * unit
            z[i] = sign * (v + time * ((v - skewness) * v - 1.0))


def sum_pieces(which: IntArray, pieces: FloatArray, sums: FloatArray) -> None:
    """Sums of y^0..y^top, five powers at a time."""
    top, power = sums.shape[1] - 1, np.empty(pieces.shape[1])
    for r in which:
        y = pieces[r]
        for i in range(len(y)):
            power[i] = 1.0
        sums[r, 0] = len(y)
        for j in range(1, top + 1, 5):
            found = _five(y, power)
            for q in range(min(5, top + 1 - j)):
                sums[r, j + q] = found[q]


def _five(y: FloatArray, power: FloatArray) -> tuple[float, float, float, float, float]:
    """Sums of power y to power y^5; the last of them becomes the power."""
    a = b = c = d = e = 0.0
    for i in range(len(y)):
        v = y[i]
        p = power[i] * v
        a += p
        p *= v
        b += p
        p *= v
        c += p
        p *= v
        d += p
        p *= v
        e += p
        power[i] = p
    return a, b, c, d, e
