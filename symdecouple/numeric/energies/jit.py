"""The search for tilts, compiled: all levels of a signal in one call, where `tilting` solves them side by side."""

from __future__ import annotations

from functools import cache
from threading import local
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.energies import node_loops, power_loops, search as energy_search, sums as energy_sums
from symdecouple.numeric.energies.columns import Coarse, Columns
from symdecouple.numeric.energies.maps import Maps, inner_maps, outer_maps
from symdecouple.numeric.energies.nodes import Nodes, Probes
from symdecouple.numeric.energies.room import aligned, scratch
from symdecouple.numeric.energies.search import Place, Sketch, Tools
from symdecouple.numeric.energies.tilting import Problems, Tilted
from symdecouple.numeric.jit import Kernels

__all__ = ["KERNELS", "are_wanted", "powers_compiled", "tilt_compiled", "warm"]

_SOURCES = "jit energies.columns energies.room energies.maps energies.nodes energies.sums energies.node_loops "
_SOURCES += "energies.node_bounds energies.loops energies.search energies.power_loops energies.jit"
KERNELS = Kernels(
    energy_search.__name__, tuple(f"symdecouple.numeric.{name}" for name in _SOURCES.split()), seconds=1.5e-7
)
_FROM = 8000  # frequencies times features of one signal: what answers a signal does not depend on the others
_ROOM = local()
_KEPT = 2**13  # frequencies whose tilted power is kept: it stays in the cache
_MOST_LINES = 24  # their sums fit into a block of scratch


def are_wanted(bands: Columns) -> bool:
    """True iff compiled loops should answer: eigenvalues are not negative, and there is enough to do for a signal."""
    if len(bands) * bands.count < _FROM or max(len(bands), len(bands.lines.inner)) > _MOST_LINES or bands.is_signed:
        return False
    return _kernels.cache_info().currsize > 0 or KERNELS.are_warm()  # the disk is asked once


def powers_compiled(transforms: NDArray[np.complex128], bands: Columns, ceiling: FloatArray, rounding: float
                    ) -> tuple[FloatArray, FloatArray]:
    """Return shares of the power of transforms (R, ...), (R, n), 0 where it is rounding, and its sum."""
    power_of = _kernels()[1]
    n = bands.lattice[-1]
    index = getattr(bands, "groups_of", np.zeros(1, dtype=np.intp))
    lines = transforms.view(np.float64).reshape(len(transforms), -1, 2 * n)
    shares, total = np.empty((len(lines), bands.count // n, n)), np.empty(len(lines))
    bits = shares.view(np.int64)
    n_samples = bands.grid.shape[-1] if hasattr(bands, "grid") else 2
    for r, line in enumerate(lines):
        total[r] = power_of(line, index, n_samples, ceiling[r], rounding, shares[r], bits[r])
    return shares.reshape(len(lines), -1), total


def tilt_compiled(problems: Problems, most: int, own: IntArray) -> Tilted:
    """Solve problems, those of one signal one after the other, by increasing level, each from the one before.

    `own` is the feature that is decoupled at each level, whose sums count as well.
    """
    bands, count, m = problems.bands, len(problems), len(problems.bands)
    coarse, tools = _tools(bands)
    gathered = None if coarse is None else coarse.gathered(problems.shares)
    has_sketch = coarse is not None or tools.sketch.inner.few > 0
    found = np.empty((count, 2 + m + m * m))
    parameters, state, coefficients = np.empty((count, m)), np.empty((count, 3)), np.empty((count, m))
    wanted, targets = problems.wanted.astype(np.float64), np.ascontiguousarray(problems.targets)
    search, owner, begin = _kernels()[0], problems.owner, 0
    for end in [*(np.flatnonzero(owner[1:] != owner[:-1]) + 1).tolist(), count]:
        row, at = owner[begin], slice(begin, end)
        if gathered is not None:
            tools = tools._replace(sketch=tools.sketch._replace(power=gathered[row]))
        search(tools, problems.shares[row], has_sketch, most, wanted[at], own[at], targets[at], problems.log_scale[at],
               parameters[at], found[at], state[at], coefficients[at])
        begin = end
    values = found[:, 2 : 2 + m]
    return Tilted(parameters, found[:, 0], found[:, 1], values, values, found[:, 2 + m :].reshape(-1, m, m),
                  state[:, 0], state[:, 1] > 0, state[:, 2].astype(np.intp), coefficients)


def _tools(bands: Columns) -> tuple[Coarse | None, Tools]:
    """Those of a thread, which works in their room, and the frequencies of a sketch without maps."""
    if not hasattr(_ROOM, "tools"):
        _ROOM.tools = WeakKeyDictionary()
    found: tuple[Coarse | None, Tools] | None = _ROOM.tools.get(bands)
    if found is None:
        _ROOM.tools[bands] = found = _new_tools(bands)
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
                    aligned(to_outer.few * to_inner.few))
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
    powers_compiled(np.ones((1, 2), dtype=np.complex128), bands, np.zeros(1), 0.0)
    KERNELS.note_warm()


@cache
def _kernels() -> Any:
    return KERNELS.build(energy_search.searched, power_loops.power_of,
                         fast=(*energy_sums.FAST, *node_loops.FAST, *power_loops.FAST))
