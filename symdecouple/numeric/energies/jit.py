"""The search for tilts, compiled: all levels of a signal in one call, where `tilting` solves them side by side."""

from __future__ import annotations

from functools import cache
from threading import local
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.energies import node_loops, power_loops, sums as energy_sums, tilt_loops
from symdecouple.numeric.energies.eigenvalues import Coarse, Columns, Lines
from symdecouple.numeric.energies.levels import Answers, Given, Posed, Reached, levels_solved
from symdecouple.numeric.energies.maps import Maps, inner_maps, outer_maps
from symdecouple.numeric.energies.nodes import Nodes, Probes
from symdecouple.numeric.energies.packing import Packed, Place, Sketch, Tools, packed
from symdecouple.numeric.energies.tilting import Problems, Tilted
from symdecouple.numeric.energies.workspace import BLOCK, aligned, scratch
from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["KERNELS", "Levels", "Powers", "are_wanted", "levels_compiled", "powers_compiled", "tilt_compiled",
           "transform_tilted", "warm"]

_SOURCES = "kernels.compile energies.eigenvalues energies.workspace energies.maps energies.nodes energies.sums "
_SOURCES += "energies.node_loops "
_SOURCES += "energies.node_bounds energies.loops energies.packing energies.search energies.levels energies.power_loops "
_SOURCES += "energies.tilt_loops energies.jit"
KERNELS = Kernels(
    levels_solved.__module__, tuple(f"symdecouple.numeric.{name}" for name in _SOURCES.split()), seconds=1.5e-7
)
_FROM = 8000  # frequencies times features of one signal: what answers a signal does not depend on the others
_ROOM = local()
_KEPT = 2**13  # frequencies whose tilted power is kept: it stays in the cache
_MOST_LINES = 24  # their sums fit into a block of scratch
_TOGETHER = 2**18  # frequencies of the signals that are worked on until an interrupt is heard
_NOTHING, _NO_SKETCH, _FIRST = np.empty((0, 0)), np.empty((1, 0)), np.zeros(1, dtype=np.intp)
_YES = np.ones(1, dtype=np.bool_)
_NO_NUMBERS, _NO_INTEGERS, _NO_SETS = np.empty(0), np.empty(0, dtype=np.intp), np.empty((0, 0), dtype=np.intp)
_NOTHING_GIVEN, _NO_ANSWERS = Given(_NOTHING, _NO_NUMBERS, _NO_INTEGERS, 0, _NO_SETS), Answers(_NO_NUMBERS, _NO_NUMBERS)


def are_wanted(bands: Columns) -> bool:
    """True iff compiled loops should answer: eigenvalues are not negative, and there is enough to do for a signal."""
    if len(bands) * bands.count < _FROM or max(len(bands), len(bands.lines.inner)) > _MOST_LINES or bands.is_signed:
        return False
    return _kernels.cache_info().currsize > 0 or KERNELS.are_warm()  # the disk is asked once


class Powers(NamedTuple):
    """Of R transforms: shares (R, n), 0 where it is rounding; the logarithm of the sum; how many shares are 0.

    And the smallest and the largest sum, both in the units of the transforms.
    """

    shares: FloatArray
    log_power: FloatArray
    silent: IntArray
    least: float
    most: float


def powers_compiled(transforms: NDArray[np.complex128], bands: Columns, ceiling: FloatArray, rounding: float,
                    log_unit: float) -> Powers:
    """Return the power of transforms ``(R, ...)``; `ceiling` is what was there before, without rows where nothing.

    `log_unit` is added to logarithms.
    """
    n, count = bands.lattice[-1], len(transforms)
    index = getattr(bands, "groups_of", _FIRST)
    n_samples = bands.grid.shape[-1] if hasattr(bands, "grid") else 2
    shares = np.empty((count, bands.count // n, n))
    log_power, silent = np.empty(count), np.empty(count, dtype=np.intp)
    least, most = _kernels()[1](transforms.view(np.float64).reshape(count, -1, 2 * n), index, n_samples, log_unit,
                                ceiling, rounding, shares, shares.view(np.int64), log_power, silent)
    return Powers(shares.reshape(count, bands.count), log_power, silent, least, most)


def transform_tilted(lines: Lines, a: FloatArray, c: FloatArray | None, scale: float, is_centred: bool,
                     shares: FloatArray, index: IntArray, order: IntArray, transform: NDArray[np.complex128],
                     out: NDArray[np.complex128]) -> int:
    """Write a transform times exp(a.w), or scale c.w exp(a.w)/2^e, where there is power, see `tilt_loops`; return e."""
    n = transform.shape[-1]
    room = aligned(3 * BLOCK + 2 * len(lines.inner) * lines.outer.shape[1])
    given, into = (some.view(np.float64).reshape(-1, 2 * n) for some in (transform, out))
    units: int = _kernels()[2](a, _NO_NUMBERS if c is None else c, scale, is_centred, lines, shares.reshape(-1, n),
                               index, order, given, room, room.view(np.int64), into)
    return units


def tilt_compiled(problems: Problems, most: int, own: IntArray) -> Tilted:
    """Solve problems, those of one signal one after the other, by increasing level, each from the one before.

    `own` is the feature that is decoupled at each level, whose sums count as well.
    """
    count, m, owner = len(problems), len(problems.bands), problems.owner
    begins = np.flatnonzero(np.concatenate([_YES[:count], owner[1:] != owner[:-1], _YES]))
    posed = Posed(owner, begins, problems.wanted.astype(np.float64), own, np.ascontiguousarray(problems.targets),
                  problems.log_scale)
    found, state = np.empty((count, 2 + m + m * m)), np.empty((count, 4))
    reached = Reached(np.empty((count, m)), found, state, np.empty((count, m)))
    bands = problems.bands
    _run(_kit(bands), bands, problems.shares, most, len(begins) - 1, posed, reached, _NOTHING_GIVEN, _NO_ANSWERS)
    values = found[:, 2 : 2 + m]
    return Tilted(reached.parameters, found[:, 0], found[:, 1], values, values, found[:, 2 + m :].reshape(-1, m, m),
                  state[:, 0], state[:, 1] > 0, state[:, 2].astype(np.intp), reached.coefficients)


class Levels(NamedTuple):
    """All levels of R signals, see `gradients.DecoupledEnergies`; the residual is NaN where there is no answer.

    And how many have one. Values of the features that come first are left open.
    """

    values: FloatArray
    parameters: FloatArray
    coefficients: FloatArray
    residual: FloatArray
    done: int


class _Kit(NamedTuple):
    """The frequencies of a sketch without maps, whether there is any sketch, what is shared, room for one signal."""

    coarse: Coarse | None
    has_sketch: bool
    tools: Packed
    posed: Posed
    found: FloatArray
    state: FloatArray


def levels_compiled(bands: Columns, shares: FloatArray, most: int, targets: FloatArray, log_power: FloatArray,
                    silent: IntArray, offset: int, witnesses: IntArray) -> Levels:
    """Decouple all features of signals with power at all frequencies but the first `offset`; `silent` is how many not.

    Or at those of a row of `witnesses`. A signal for which something is left to ask has no answer.
    """
    count, m = len(shares), len(bands)
    size = offset + m
    parameters, coefficients = np.empty((count * size, m)), np.empty((count * size, m))
    values, residual, shape = np.full(count * size, np.nan), np.empty(count), (count, size, m)
    if offset:
        parameters.fill(np.nan)
        coefficients.fill(np.nan)
    kit = _kit(bands)
    done = _run(kit, bands, shares, most, count, kit.posed, Reached(parameters, kit.found, kit.state, coefficients),
                Given(targets, log_power, silent, offset, witnesses), Answers(values, residual))
    return Levels(values.reshape(count, size), parameters.reshape(shape), coefficients.reshape(shape), residual, done)


def _run(kit: _Kit, bands: Columns, shares: FloatArray, most: int, count: int, posed: Posed, reached: Reached,
         given: Given, answers: Answers) -> int:
    coarse, has_sketch, tools = kit[:3]
    sketched = _NO_SKETCH if coarse is None else coarse.gathered(shares)
    solve, step, done = _kernels()[0], 1 + _TOGETHER // bands.count, 0
    for first in range(0, count, step):
        done += solve(tools, shares, sketched, has_sketch, most, first, min(first + step, count), posed, reached, given,
                      answers)
    return done


def _kit(bands: Columns) -> _Kit:
    """That of a thread, which works in its room."""
    if not hasattr(_ROOM, "kits"):
        _ROOM.kits = WeakKeyDictionary()
    found: _Kit | None = _ROOM.kits.get(bands)
    if found is None:
        (coarse, tools), m = _new_tools(bands), len(bands)
        has_sketch = coarse is not None or tools.sketch.inner.few > 0
        posed = Posed(_NO_INTEGERS, _NO_INTEGERS, np.tri(m, k=-1), np.arange(m), np.zeros((m, m)), np.empty(m))
        found = _Kit(coarse, has_sketch, packed(tools), posed, np.empty((m, 2 + m + m * m)), np.empty((m, 4)))
        _ROOM.kits[bands] = found
    return found


def _new_tools(bands: Columns) -> tuple[Coarse | None, Tools]:
    m, lines, none = len(bands), bands.lines, np.empty((0, 0))
    few, more, fewer = (getattr(bands, name, None) for name in ("nodes", "more_nodes", "sketch"))
    coarse = getattr(bands, "coarse", None) if few is None else None
    nowhere = Maps(np.empty(0), 0, 0, 0, 0)
    no_place = Place(lines, nowhere, nowhere, np.empty(0), 0, 1.0, Probes(none, none, none, none, 1.0, 0.0))
    nodes = no_place if few is None else _place(few)
    to_outer, to_inner = (nowhere, nowhere) if fewer is None else (
        of(maps) for of, maps in zip((outer_maps, inner_maps), fewer.maps, strict=True))
    sketched = coarse if fewer is None else fewer
    sketch = Sketch(lines if sketched is None else sketched.lines, to_outer, to_inner,
                    aligned(to_outer.few * to_inner.few if coarse is None else coarse.count))
    answers = (nodes, nodes if more is None else _place(more))
    places = (*answers, sketch)
    longest = max(maps.few for place in places for maps in (place.outer, place.inner))
    outers = [lines.outer, *(place.lines.outer for place in places), *(place.probes.outer for place in answers)]
    work = scratch(len(lines.outer), len(lines.inner), max(some.shape[1] for some in outers), longest)
    sizes = [bands.count, *(place.lines.outer.shape[1] * place.lines.inner.shape[1] for place in places)]
    size = max((size for size in sizes if size <= _KEPT), default=0)
    probes = max(place.probes.outer.size * place.probes.inner.size for place in answers)
    return coarse, Tools(lines, bands.largest, *places, work, np.zeros((15, 2 + m + m * m)), np.ones(probes),
                         aligned(size))


def _place(nodes: Nodes) -> Place:
    power = aligned(nodes.size)
    return Place(nodes.lines, nodes.outer, nodes.inner, power, nodes.order, nodes.lebesgue, nodes.probes)


def warm() -> None:
    """Compile the search, and leave the mark that it is."""
    bands = Columns(np.array([[1.0, 0.0], [0.5, 1.0]]), (2,))
    problems = Problems(bands, np.array([[0.5, 0.5]]), np.zeros(1, dtype=np.intp), np.ones((1, 2), dtype=np.bool_),
                        np.array([[0.5, 1.0]]), np.zeros(1))
    tilt_compiled(problems, 8, np.zeros(1, dtype=np.intp))
    one = np.ones((1, 2), dtype=np.complex128)
    powers_compiled(one, bands, np.zeros(1), 0.0, 0.0)
    transform_tilted(bands.lines, np.zeros(2), None, 1.0, False, np.ones((1, 2)), _FIRST, _FIRST, one, one)
    KERNELS.note_warm()


@cache
def _kernels() -> Any:
    return KERNELS.build(levels_solved, power_loops.powers_of, tilt_loops.tilted_transform,
                         fast=(*energy_sums.FAST, *node_loops.FAST, *power_loops.FAST))
