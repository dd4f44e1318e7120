r"""All levels of one signal, one after the other and each from the one before, as a loop that `jit` compiles.

Where eigenvalues are polynomials (`nodes`), power tilted by some b is moved to few nodes, and the minimum a is sought
there, with (a - b).w small: then sums over nodes are sums over frequencies. Else b comes nearer: from a sketch on other
nodes where the next step is a long one. A level that nodes do not answer is solved on all frequencies.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.energies.columns import Lines
from symdecouple.numeric.energies.loops import ACCURATE, CANCELS, EXACT, FAR, NEAR, against, judged, lowered
from symdecouple.numeric.energies.node_loops import moved_to_nodes
from symdecouple.numeric.energies.sums import Scratch, extremes

__all__ = ["Tools", "searched"]

_DONE = 1e-13  # max |d.w| of a step after which sums of first order are those at its end
_SKETCHED = 0.02  # the same for a sketch
_WIDEST_TILT = 500.0  # largest minus smallest a.w that power on nodes is tilted by
_FEW = 12  # steps near a tilt
_REBASED = 3  # times that power is tilted anew for a level
_NODES, _SKETCH, _ALL = range(3)  # where a level is solved


class Tools(NamedTuple):
    """What the searches with a bank share: features everywhere, on nodes that answer and on a sketch; maps; room.

    Maps have no rows where there are no nodes, or where a sketch comes ready. Scratch for the sums, rows for vectors,
    the power on nodes and on the sketch, and 1 at each node.
    """

    lines: Lines
    largest: FloatArray
    nodes: Lines
    outer: FloatArray
    inner: FloatArray
    sketch: Lines
    to_outer: FloatArray
    to_inner: FloatArray
    order: int
    between: float
    lebesgue: float
    work: Scratch
    small: FloatArray
    power: FloatArray
    rough: FloatArray
    everywhere: FloatArray


def searched(tools: Tools, shares: FloatArray, has_sketch: bool, most: int, wanted: FloatArray, own: IntArray,
             targets: FloatArray, log_scale: FloatArray, parameters: FloatArray, found: FloatArray, state: FloatArray,
             coefficients: FloatArray) -> None:
    """Solve the problems of one signal.

    `own` is the feature that is decoupled at each level. Row q of `found` gets the sums at the end; of `state` the
    residual, 1 where converged, how often the sums were taken; of `coefficients` the solution with the matrix and its
    column `own`.
    """
    m, has_nodes = len(tools.largest), len(tools.inner) > 0
    small, work, largest = tools.small, tools.work, tools.largest
    zero, base, rough, here = small[7], small[8], small[11], small[12]
    for j in range(m):
        zero[j] = base[j] = rough[j] = 0.0
    shift, known, are_nodes_there, is_sketch_there = 0.0, -1, False, len(tools.to_inner) == 0
    for q in range(len(log_scale)):
        want, passes, residual, is_done, steps = wanted[q], 0, 0.0, False, 0
        is_from_before = q > 0 and state[q - 1, 1] > 0
        for j in range(m):
            parameters[q, j] = parameters[q - 1, j] * want[j] if is_from_before else 0.0
            rough[j] *= want[j]
        known = known if is_from_before else -1  # where `here` has the sums at these parameters
        where = _SKETCH if has_sketch else _ALL
        if has_nodes and (has_sketch or known != _ALL):  # without a sketch, steps that were long remain so
            where = _NODES
        while True:
            power, lines, a, outer, inner = tools.power, tools.nodes, parameters[q], tools.outer, tools.inner
            by, top, at_most, widest, enough = base, shift, min(most, _FEW), NEAR, _DONE
            if where != _NODES:
                by, top, at_most, widest, power, lines = zero, 0.0, most, math.inf, shares, tools.lines
            if where == _SKETCH:
                power, lines, enough, a = tools.rough, tools.sketch, _SKETCHED, rough
                outer, inner = tools.to_outer, tools.to_inner
            if (where == _NODES and not are_nodes_there) or (where == _SKETCH and not is_sketch_there):
                moved_to_nodes(by, top, shares, tools.lines, outer, inner, work, power)
                are_nodes_there = are_nodes_there or where == _NODES
                is_sketch_there = is_sketch_there or where == _SKETCH
            residual, is_done, steps = lowered(power, lines, largest, by, top, want, targets[q], log_scale[q],
                                               at_most, widest, enough, known == where, work, small, a, here)
            known, place = where, FAR
            if where == _ALL:
                break
            if where == _SKETCH:
                for j in range(m):
                    rough[j] = rough[j] if is_done else 0.0
                    parameters[q, j] = rough[j] if is_done else parameters[q, j]
                where = _NODES if is_done and has_nodes else _ALL
            else:
                if is_done and residual <= ACCURATE:
                    place = judged(a, base, here, want, own[q], largest, tools.order, tools.between, tools.lebesgue,
                                   tools.everywhere, lines, work, small)
                if place == EXACT:
                    break
                if place == FAR and passes == 0 and has_sketch:
                    where = _SKETCH
                elif place in (FAR, CANCELS):
                    where = _ALL
            if where == _NODES:  # power is tilted by what is known
                low, high = extremes(parameters[q], largest, -1.0, tools.everywhere, tools.nodes, work)
                if passes == _REBASED or not 0 < high - low < _WIDEST_TILT:
                    where = _ALL
                else:
                    for j in range(m):
                        base[j] = parameters[q, j]
                    shift, passes = (low + high) / 2 + (high - low) / 2 * tools.between, passes + 1
                    known, are_nodes_there = -1, False
        state[q, 0], state[q, 1] = residual, 1.0 if is_done and residual <= ACCURATE else 0.0
        state[q, 2] = passes + (steps if where == _ALL else 0)
        for j in range(len(here)):
            found[q, j] = here[j]
        found[q, 0] += shift if where == _NODES else 0.0
        against(here, want, own[q], small[0], small[1], small[10], coefficients[q])
