"""The search for tilts, compiled: all levels of a signal in one call, where `tilting` solves them side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from threading import local
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric import energy_loops, energy_sums, power_loops
from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.columns import Coarse, Columns, Lines
from symdecouple.numeric.energy_loops import CANCELS, DONE, FAR, NEAR, SKETCH
from symdecouple.numeric.jit import Kernels
from symdecouple.numeric.nodes import Nodes
from symdecouple.numeric.tilting import Problems, Tilted

__all__ = ["KERNELS", "are_wanted", "powers_compiled", "tilt_compiled", "warm"]

_SOURCES = ("jit", "columns", "nodes", "energy_sums", "energy_loops", "power_loops", "energy_jit")
KERNELS = Kernels(energy_loops.__name__, tuple(f"symdecouple.numeric.{name}" for name in _SOURCES), seconds=1.5e-7)
_FROM = 8000  # frequencies times features of one signal: what answers a signal does not depend on the others
_WIDEST_TILT = 500.0  # largest minus smallest a.w that power on nodes is tilted by
_FEW = 12  # steps near a tilt
_REBASED = 3  # times that power is tilted anew for a level
_ROOM = local()
_MOST_LINES = 24  # their sums fit into a block of scratch


def are_wanted(bands: Columns) -> bool:
    """True iff compiled loops should answer: eigenvalues are not negative, and there is enough to do for a signal."""
    if len(bands) * bands.count < _FROM or max(len(bands), len(bands.lines.inner)) > _MOST_LINES or bands.is_signed:
        return False
    return _kernels.cache_info().currsize > 0 or KERNELS.are_warm()  # the disk is asked once


def powers_compiled(transforms: NDArray[np.complex128], bands: Columns, ceiling: FloatArray, rounding: float
                    ) -> tuple[FloatArray, FloatArray]:
    """Return shares of the power of transforms (R, ...), (R, n), 0 where it is rounding, and its sum."""
    power_of = _kernels()[2]
    n = bands.lattice[-1]
    index = getattr(bands, "groups_of", np.zeros(1, dtype=np.intp))
    lines = transforms.view(np.float64).reshape(len(transforms), -1, 2 * n)
    shares, total = np.empty((len(lines), bands.count // n, n)), np.empty(len(lines))
    n_samples = bands.grid.shape[-1] if hasattr(bands, "grid") else 2
    for r, line in enumerate(lines):
        total[r] = power_of(line, index, n_samples, ceiling[r], rounding, np.empty(16), shares[r])
    return shares.reshape(len(lines), -1), total


def tilt_compiled(problems: Problems, most: int, own: IntArray) -> Tilted:
    """Solve problems, those of one signal one after the other, by increasing level, each from the one before.

    `own` is the feature that is decoupled at each level, whose sums count as well.
    """
    bands, count, m = problems.bands, len(problems), len(problems.bands)
    tools = _tools(bands)
    gathered = None if tools.coarse is None else tools.coarse.gathered(problems.shares)
    found = np.empty((count, 2 + m + m * m))
    parameters, state, coefficients = np.empty((count, m)), np.zeros((count, 4)), np.empty((count, m))
    wanted, targets = problems.wanted.astype(np.float64), np.ascontiguousarray(problems.targets)
    owner, begin = problems.owner.tolist(), 0
    while begin < count:
        row, end = owner[begin], begin + 1
        while end < count and owner[end] == row:
            end += 1
        at = slice(begin, end)
        _Search(tools, problems.shares[row], None if gathered is None else gathered[row], most, wanted[at], own[at],
                targets[at], problems.log_scale[at], parameters[at], found[at], state[at], coefficients[at]).run()
        begin = end
    values = found[:, 2 : 2 + m]
    return Tilted(parameters, found[:, 0], found[:, 1], values, values, found[:, 2 + m :].reshape(-1, m, m),
                  state[:, 0], state[:, 1] > 0, state[:, 2].astype(np.intp), coefficients)


class _Tools(NamedTuple):
    """What the searches with a bank share: nodes for a sketch, those that may answer, 1 at each, a zero, and room."""

    coarse: Coarse | None  # for a sketch without maps
    lines: Lines
    largest: FloatArray
    sketch: Lines | None
    maps: tuple[FloatArray, FloatArray] | None
    nodes: Nodes | None
    order: int
    between: float
    lebesgue: float
    at_nodes: FloatArray
    everywhere: FloatArray
    zero: FloatArray
    work: energy_sums.Scratch
    small: FloatArray


def _tools(bands: Columns) -> _Tools:
    """Those of a thread, which works in their room."""
    if not hasattr(_ROOM, "tools"):
        _ROOM.tools = WeakKeyDictionary()
    found: _Tools | None = _ROOM.tools.get(bands)
    if found is None:
        _ROOM.tools[bands] = found = _new_tools(bands)
    return found


def _new_tools(bands: Columns) -> _Tools:
    m, coarse, fewer = len(bands), getattr(bands, "coarse", None), getattr(bands, "sketch", None)
    maps: tuple[FloatArray, FloatArray] | None = None
    nodes: Nodes | None = None
    longest = 0
    if fewer is not None:
        coarse, maps, nodes = fewer, fewer.maps, bands.nodes  # type: ignore[attr-defined]
        longest = max(map(len, (*fewer.maps, nodes.outer, nodes.inner)))
    order, between, lebesgue = (0, 1.0, 1.0) if nodes is None else nodes[3:]
    at_nodes = np.empty((m, 0)) if nodes is None else nodes.lines.product()
    return _Tools(coarse if fewer is None else None, bands.lines, bands.largest,
                  None if coarse is None else coarse.lines, maps, nodes, order, between, lebesgue, at_nodes,
                  np.ones(at_nodes.shape[1]), np.zeros(m), energy_sums.scratch(len(bands.lines.inner), longest),
                  np.zeros((13, 2 + m + m * m)))


@dataclass(slots=True)
class _Search:
    """The levels of one signal: on nodes while these answer, else near a tilt, else on all frequencies."""

    tools: _Tools
    shares: FloatArray
    rough: FloatArray | None
    most: int
    wanted: FloatArray
    own: IntArray
    targets: FloatArray
    log_scale: FloatArray
    parameters: FloatArray
    found: FloatArray
    state: FloatArray
    coefficients: FloatArray
    base: FloatArray = field(init=False)
    shift: float = field(init=False, default=0.0)
    power: FloatArray = field(init=False)  # on nodes, tilted by base, in units of exp(shift)
    sketch: FloatArray = field(init=False)

    def run(self) -> None:
        """Fill the last four arrays."""
        tools, count, q = self.tools, len(self.log_scale), 0
        tools.small.fill(0)
        self.base, self.sketch = tools.zero, np.zeros((1, len(tools.zero)))
        if tools.nodes is not None:
            self.power = self._moved(tools.zero, 0.0, tools.nodes.outer, tools.nodes.inner)
        q = self._near(0)
        while q < count:
            if self.state[q, 3] == FAR and tools.sketch is not None:
                self.parameters[q] = self._sketched(tools.sketch, q)
            ahead, passes = self._tilted(q)
            if ahead == q:
                self._solve(self.shares, tools.lines, self.parameters[q : q + 1], q, DONE)
                self.state[q, 2] += passes
                ahead = self._near(q + 1)
            q = ahead

    def _near(self, q: int) -> int:
        """Solve on nodes from the solution before, as far as these answer; the first level that they do not."""
        if q < len(self.log_scale):
            self.parameters[q] = self.parameters[q - 1] * self.wanted[q] if q and self.state[q - 1, 1] > 0 else 0.0
        return self._on_nodes(q)

    def _on_nodes(self, q: int) -> int:
        tools = self.tools
        if tools.nodes is None or q == len(self.log_scale):
            self.state[q : q + 1, 3] = FAR
            return q
        ahead = q + int(self._levels(self.power, tools.nodes.lines, self.parameters[q:], slice(q, None), DONE, NEAR))
        self.state[q : ahead + 1, 2] = 0
        return ahead

    def _tilted(self, q: int) -> tuple[int, int]:
        """The same after power was tilted by what is known; and how often it was."""
        nodes, passes = self.tools.nodes, 0
        while nodes is not None and self.state[q, 3] > CANCELS and passes < _REBASED and self.parameters[q].any():
            along = self.parameters[q] @ self.tools.at_nodes
            low, high = float(along.min()), float(along.max())
            if not high - low < _WIDEST_TILT:
                break
            self.base, self.shift = self.parameters[q].copy(), (low + high) / 2 + (high - low) / 2 * nodes.between
            self.power = self._moved(self.base, self.shift, nodes.outer, nodes.inner)
            ahead, passes = self._on_nodes(q), passes + 1
            if ahead > q:
                self.state[q, 2] = passes
                return ahead, passes
            if self.state[q, 3] == FAR:
                break
        return q, passes

    def _sketched(self, lines: Lines, q: int) -> FloatArray:
        """A start from the sketch of the level before; 0 where there is none."""
        if self.rough is None:
            assert self.tools.maps is not None
            self.rough = self._moved(self.tools.zero, 0.0, *self.tools.maps)
        self.sketch *= self.wanted[q]
        self._solve(self.rough, lines, self.sketch, q, SKETCH)
        if self.state[q, 3] == FAR:
            self.sketch[:] = 0
        self.state[q, 3] = FAR  # still
        start: FloatArray = self.sketch[0]
        return start

    def _solve(self, power: FloatArray, lines: Lines, parameters: FloatArray, q: int, enough: float) -> None:
        """One level with power at any frequencies."""
        self._levels(power, lines, parameters, slice(q, q + 1), enough, math.inf)

    def _levels(self, power: FloatArray, lines: Lines, parameters: FloatArray, at: slice, enough: float, widest: float
                ) -> int:
        tools, is_near = self.tools, widest == NEAR
        base, shift, most = (self.base, self.shift, min(self.most, _FEW)) if is_near else (tools.zero, 0.0, self.most)
        found: int = _kernels()[0](
            power, lines, tools.order, tools.between, tools.lebesgue, tools.everywhere, base, shift, tools.largest,
            self.wanted[at], self.own[at], self.targets[at], self.log_scale[at], most, widest, enough, is_near,
            tools.work, tools.small, parameters, self.found[at], self.state[at], self.coefficients[at])
        return found

    def _moved(self, a: FloatArray, top: float, outer: FloatArray, inner: FloatArray) -> FloatArray:
        power = np.empty(len(outer) * len(inner))
        _kernels()[1](a, top, self.shares, self.tools.lines, outer, inner, self.tools.work, power)
        return power


def warm() -> None:
    """Compile the search, and leave the mark that it is."""
    bands = Columns(np.array([[1.0, 0.0], [0.5, 1.0]]), (2,))
    problems = Problems(bands, np.array([[0.5, 0.5]]), np.zeros(1, dtype=np.intp), np.ones((1, 2), dtype=np.bool_),
                        np.array([[0.5, 1.0]]), np.zeros(1))
    tilt_compiled(problems, 8, np.zeros(1, dtype=np.intp))
    _kernels()[1](np.zeros(2), 0.0, problems.shares[0], bands.lines, np.ones((1, 1)), np.ones((1, 2)),
                  energy_sums.scratch(2), np.empty(1))
    powers_compiled(np.ones((1, 2), dtype=np.complex128), bands, np.zeros(1), 0.0)
    KERNELS.note_warm()


@cache
def _kernels() -> Any:
    return KERNELS.build(energy_loops.tilt_levels, energy_sums.moved_to_nodes, power_loops.power_of,
                         fast=(*energy_sums.FAST, *power_loops.FAST))
