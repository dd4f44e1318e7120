r"""All levels of one signal, one after the other and each from the one before, as a loop that `jit` compiles.

Where eigenvalues are polynomials (`nodes`), power is moved to few nodes, and the minimum a is sought there, with a.w
small: then sums over nodes are sums over frequencies. Else power tilted by some b is moved to more nodes, which answer
while (a - b).w is a few units, so for some levels. Levels that are far off are all sketched first, on other nodes; then
it is seen which b serve most of them. A level that nodes do not answer is solved on all frequencies.
"""

from __future__ import annotations

import math

from symdecouple.numeric.energies.eigenvalues import Lines
from symdecouple.numeric.energies.loops import ACCURATE, NEAR, SURE, WIDE_TILT, against, lowered, shaken
from symdecouple.numeric.energies.node_bounds import CANCELS, EXACT, FAR, judged, spanned
from symdecouple.numeric.energies.node_loops import moved_to_nodes
from symdecouple.numeric.energies.nodes import Probes
from symdecouple.numeric.energies.packing import Packed, Sketch, unpacked
from symdecouple.numeric.energies.workspace import Scratch
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["searched"]

_DONE = 1e-13  # max |d.w| of a step after which sums of first order are those at its end
_SKETCHED = 0.02  # the same for a sketch
_WIDEST_TILT = 500.0  # largest minus smallest a.w that power on nodes is tilted by
_FEW = 12  # steps near a tilt
_REBASED = 3  # times that power is tilted anew for a level
_NODES, _MORE, _SKETCH, _ALL = range(4)  # where a level is solved


def searched(kit: Packed, shares: FloatArray, sketched: FloatArray, has_sketch: bool, most: int, wanted: FloatArray,
             own: IntArray, targets: FloatArray, log_scale: FloatArray, parameters: FloatArray, found: FloatArray,
             state: FloatArray, coefficients: FloatArray) -> None:
    """Solve the problems of one signal.

    `own` is the feature that is decoupled at each level, `sketched` the power on nodes of a sketch without maps. Row q
    of `found` gets the sums at the end; of `state` the residual, 1 where converged, how often the sums were taken, 1
    where the solution is surely no limit; of `coefficients` the solution with the matrix and its column `own`.
    """
    tools = unpacked(kit.room, kit.bits, kit.layout)
    for t in range(len(sketched)):
        tools.sketch.power[t] = sketched[t]
    nodes, more, lines, work, kept = tools.nodes, tools.more, tools.lines, tools.work, tools.kept
    small, largest, everywhere = tools.small, tools.largest, tools.everywhere
    m, has_nodes, zero, base, here = len(largest), nodes.inner.few > 0, small[7], small[8], small[12]
    for j in range(m):
        zero[j] = base[j] = 0.0
    shift, log_mass, known, ahead, needed = 0.0, 0.0, -1, 0, 0  # levels below the last one are sketched
    is_far, are_nodes_there, is_more_there = False, False, False
    for q in range(len(log_scale)):
        want, passes, residual, is_done, steps = wanted[q], 0, 0.0, False, 0
        is_from_before, is_sketched = q > 0 and state[q - 1, 1] > 0, q < ahead and state[q, 1] > 0
        for j in range(m if not is_sketched else 0):
            parameters[q, j] = parameters[q - 1, j] * want[j] if is_from_before else 0.0
        is_there, needed = _needed(want, own[q]) <= needed, min(m, _needed(want, own[q]) + 1)  # by the next level
        known = known if is_from_before and is_there and not is_sketched else -1  # where `here` has these sums
        where = _SKETCH if has_sketch and q >= ahead else _ALL
        if has_nodes and not is_far:
            where = _NODES
        elif (has_nodes and is_sketched) or known == _MORE:
            where = _MORE
        while True:
            if where == _SKETCH:
                _sketched(tools.sketch, shares, lines, largest, q, most, wanted, own, targets, log_scale, work, kept,
                          small, parameters, found, state)
                ahead, is_sketched, known = len(log_scale), state[q, 1] > 0, -1
                where = _MORE if is_sketched and has_nodes else _ALL
            is_to_move, near = where == _NODES and not are_nodes_there, q
            if where == _MORE and known != _MORE:  # power is tilted by what is known
                if is_sketched and passes == 0:
                    near = _serving(more.order, more.lebesgue, more.probes, lines, largest, everywhere, work, small[6],
                                    base, log_mass + shift if is_more_there else math.inf, q, wanted, own, parameters,
                                    found, state)
                passes, is_to_move = passes + 1, near >= 0
                if is_to_move:
                    low, high = spanned(parameters[near], largest, more.probes, 0, lines, everywhere, work)
                    where, is_to_move = (_MORE, True) if 0 < high - low < _WIDEST_TILT else (_ALL, False)
                    shift = high if is_to_move else shift
                    for j in range(m if is_to_move else 0):
                        base[j] = parameters[near, j]
            by, top, power, at, outer, inner = base, shift, more.power, more.lines, more.outer, more.inner
            if where == _NODES:
                by, top, power, at, outer, inner = zero, 0.0, nodes.power, nodes.lines, nodes.outer, nodes.inner
            elif where == _ALL:
                by, top, power, at = zero, 0.0, shares, lines
            if is_to_move:
                mass = moved_to_nodes(by, top, shares, lines, outer, inner, work, power)
                if where == _MORE:
                    log_mass, is_more_there = math.log(mass) if mass > 0 else math.inf, True
                are_nodes_there = are_nodes_there or where == _NODES
            is_near = where != _ALL
            residual, is_done, steps = lowered(power, at, largest, by, top, want, targets[q], needed, log_scale[q],
                                               min(most, _FEW) if is_near else most, NEAR if is_near else math.inf,
                                               _DONE, known == where, work, kept, small, parameters[q], here)
            known, place = where, FAR
            if where == _ALL:
                break
            if is_done and residual <= ACCURATE and where == _NODES:
                place = judged(parameters[q], zero, here, 0.0, want, own[q], largest, nodes.order, nodes.lebesgue,
                               nodes.probes, lines, everywhere, work, small[6])
            elif is_done and residual <= ACCURATE:
                place = judged(parameters[q], base, here, log_mass, want, own[q], largest, more.order, more.lebesgue,
                               more.probes, lines, everywhere, work, small[6])
            if place == EXACT:
                break
            is_far = True  # and so will be the levels to come
            if place == FAR and has_sketch and q >= ahead:
                where = _SKETCH
            elif place in (FAR, CANCELS) or passes == _REBASED:
                where = _ALL
            else:
                where, known = _MORE, -1
        state[q, 0], state[q, 1] = residual, 1.0 if is_done and residual <= ACCURATE else 0.0
        state[q, 2] = passes + (steps if where == _ALL else 0)
        for j in range(len(here)):
            found[q, j] = here[j]
        found[q, 0] += shift if where == _MORE else 0.0
        bound = 0.0
        for j in range(m):
            bound += abs(parameters[q, j]) * largest[j]
        is_sure = bound <= WIDE_TILT or shaken(here, want, largest, residual, small[0], small[1], small[10]) < SURE
        state[q, 3] = 1.0 if is_sure else 0.0
        against(here, want, own[q], small[0], small[1], small[10], coefficients[q])


def _needed(want: FloatArray, own: int) -> int:
    """How many features there are up to the last one whose sums count."""
    out = min(own + 1, len(want))
    for j in range(len(want)):
        out = max(out, j + 1) if want[j] != 0 else out
    return out


def _sketched(sketch: Sketch, shares: FloatArray, lines: Lines, largest: FloatArray, first: int, most: int,
              wanted: FloatArray, own: IntArray, targets: FloatArray, log_scale: FloatArray, work: Scratch,
              kept: FloatArray, small: FloatArray, parameters: FloatArray, found: FloatArray, state: FloatArray
              ) -> None:
    """Solve levels from one on almost: parameters, sums and whether there are any of those that are found."""
    rough, there, zero, m, is_known, needed = small[11], small[13], small[7], len(largest), len(log_scale) < 0, 0
    if sketch.inner.few > 0:
        moved_to_nodes(zero, 0.0, shares, lines, sketch.outer, sketch.inner, work, sketch.power)
    for j in range(m):
        rough[j] = 0.0
    for q in range(first, len(log_scale)):
        for j in range(m):
            is_known = is_known and (rough[j] == 0 or wanted[q, j] != 0)
            rough[j] *= wanted[q, j]
        is_known = is_known and _needed(wanted[q], own[q]) <= needed
        needed = min(m, _needed(wanted[q], own[q]) + 1)
        is_known = lowered(sketch.power, sketch.lines, largest, zero, 0.0, wanted[q], targets[q], needed, log_scale[q],
                           most, math.inf, _SKETCHED, is_known, work, kept, small, rough, there)[1]
        state[q, 1] = 1.0 if is_known and there[1] > 0 else 0.0
        if state[q, 1] == 0:  # what these nodes miss is too much, and will be for the levels to come
            for k in range(q, len(log_scale)):
                state[k, 1] = 0.0
            return
        for j in range(m):
            parameters[q, j] = rough[j]
        for j in range(len(there)):
            found[q, j] = there[j]


def _serving(order: int, lebesgue: float, probes: Probes, lines: Lines, largest: FloatArray, everywhere: FloatArray,
             work: Scratch, apart: FloatArray, base: FloatArray, log_mass: float, q: int, wanted: FloatArray,
             own: IntArray, parameters: FloatArray, found: FloatArray, state: FloatArray) -> int:
    """The last level whose tilt will answer all those from q up to it on more nodes; -1 where the base that is does q.

    `log_mass` is that of the base, for sums without a tilt; infinite where there is none.
    """
    count = len(found)
    for way in range(-1, count - q):
        last, served = q + 1 if way < 0 else count - 1 - way, q
        if last == q or (way < 0 and log_mass == math.inf) or (way >= 0 and state[last, 1] == 0):
            continue
        by, mass = (base, log_mass) if way < 0 else (parameters[last], math.log(found[last, 1]) + found[last, 0])
        while served < last and state[served, 1] > 0 and judged(
                parameters[served], by, found[served], mass, wanted[served], own[served], largest, order, lebesgue,
                probes, lines, everywhere, work, apart) == EXACT:
            served += 1
        if served == last:
            return last if way >= 0 else -1
    return q
