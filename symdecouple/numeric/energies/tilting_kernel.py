r"""The search of `tilting` as a kernel: signal after signal, level after level; four to fifteen times as fast.

The sums are entries of one matrix (`eigenvalues`): an exponential a frequency, and two products of matrices. Level q
starts where the one before ended, moved by the difference of the solutions c at few frequencies,

.. math:: a_q \leftarrow a_{q-1} + (c_q - c_{q-1}) .

Eigenvalues that may be negative are for `tilting`, and so is what does not converge.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from symdecouple.numeric.energies.eigenvalues import Columns, Tables
from symdecouple.numeric.energies.tilting import Problems, Tilted
from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["KERNELS", "answers", "tilt_levels", "warm"]

_SOURCES = ("kernels.compile", "energies.eigenvalues", "energies.tilting_kernel")
KERNELS = Kernels(__name__, tuple(f"symdecouple.numeric.{name}" for name in _SOURCES), seconds=1.5e-7)
_FROM = 8000  # frequencies times features of a signal from which it pays: less takes NumPy a millisecond or two
_TABLED = 2**21  # numbers in the tables of products of lines, 16 MiB
_TOGETHER = 2**18  # frequencies that are worked on until an interrupt is heard: some 20 ms
_BLOCK = 1024  # frequencies whose exponentials are made together, in 8 KiB
_NEAR, _RADIUS, _CHANGE, _BEYOND, _ENOUGH, _HIDDEN, _ACCURATE = 0.5, 16.0, 4.0, 2.0, 1e-4, 2.0**-26, 1e-11  # as there
_PATIENCE = 12  # as there
_EPS = 2.0**-52  # of float64
_ROUGHLY = 0.02  # max |d.w| of the last step to a start: as far as one of Newton's goes without sums
_FAR, _FARTHEST = 300.0, 708.0  # exponents up to here need no unit; what float64 has
_LOG2E, _HIGH, _LOW = 1.4426950408889634, 0.693147180369123816490, 1.90821492927058770002e-10  # ln 2 in two parts
_ROUNDER = 6755399441055744.0  # 3 * 2^51: what is added to it becomes an integer
_ONE, _SIZE = 1023 << 52, 2**63 - 1  # the bits of 1.0, and all but the sign


class Search(NamedTuple):
    """Frequencies and their power; memory, first of exponents or tilted power; max |d.w| of a step without sums."""

    bank: Tables
    power: FloatArray
    along: FloatArray
    flat: FloatArray
    flat_bits: IntArray
    floats: FloatArray
    bits: IntArray
    factors: FloatArray
    half: FloatArray
    table: FloatArray
    small: FloatArray
    enough: float


class Posed(NamedTuple):
    """Problems as in `tilting.Problems`."""

    owner: IntArray
    wanted: FloatArray
    targets: FloatArray
    log_scale: FloatArray


class Reached(NamedTuple):
    """Of each problem a; exponent, total, values and matrix; residual, and 1 where converged."""

    parameters: FloatArray
    sums: FloatArray
    state: FloatArray


def answers(bands: Columns) -> bool:
    """True iff the kernel should answer: it is compiled, and there is enough to do for a signal."""
    lines = bands.lines
    many = max((len(some) + 1) * (len(some) + 2) // 2 * some.shape[1] for some in (lines.outer, lines.inner))
    if len(bands) * bands.count < _FROM or many > _TABLED or bands.is_signed:
        return False
    return _kernel.cache_info().currsize > 0 or KERNELS.are_warm()  # the disk is asked once


def tilt_levels(problems: Problems, most: int) -> Tilted:
    """Solve problems, those of one signal one after the other by increasing level, in so many steps each."""
    bands, owner = problems.bands, problems.owner
    count, m, coarse = len(problems), len(bands), bands.coarse
    posed = Posed(owner, problems.wanted.astype(np.float64), problems.targets, problems.log_scale)
    begins = [0, *(np.flatnonzero(owner[1:] != owner[:-1]) + 1).tolist()]  # of signals
    spans = list(pairwise([*begins[:: 1 + _TOGETHER // bands.count], count]))

    def solved(some: Columns, power: FloatArray, enough: float, starts: FloatArray) -> Reached:
        reached = Reached(*(np.empty((count, size)) for size in (m, 2 + m + m * m, 2)))
        for span in spans:
            _kernel()(_search(some.tables, power, enough), starts, posed, reached, most, span)
        return reached

    starts = np.zeros((count, m))
    if coarse is not None:
        rough = solved(coarse, coarse.gathered(problems.shares), _ROUGHLY, starts)
        starts = np.where(rough.state[:, 1:2] > 0, rough.parameters, np.nan)
    reached = solved(bands, problems.shares, 0.0, starts)
    sums, state, values = reached.sums, reached.state, reached.sums[:, 2 : 2 + m]
    return Tilted(reached.parameters, sums[:, 0], sums[:, 1], values, values, sums[:, 2 + m :].reshape(-1, m, m),
                  state[:, 0], state[:, 1] > 0)


def warm() -> None:
    """Compile the kernel, and leave the mark that it is."""
    bands = Columns(np.array([[1.0, 0.0], [0.5, 1.0]]), (2,))
    tilt_levels(Problems(bands, np.array([[0.5, 0.5]]), np.zeros(1, dtype=np.intp), np.ones((1, 2), dtype=np.bool_),
                         np.array([[0.5, 1.0]]), np.zeros(1)), 8)
    KERNELS.note_warm()


@cache
def _kernel() -> Any:
    return KERNELS.build(levels_solved)[0]


def levels_solved(search: Search, starts: FloatArray, posed: Posed, reached: Reached, most: int, span: tuple[int, int]
                  ) -> None:
    """Solve some problems in their order, each from its start, or from where the one before ended beside its own."""
    m, last = len(search.bank.largest), -1
    for q in range(span[0], span[1]):
        row, want, a = posed.owner[q], posed.wanted[q], reached.parameters[q]
        is_next = row == last and reached.state[q - 1, 1] > 0
        has_start = starts[q, 0] == starts[q, 0] and (not is_next or starts[q - 1, 0] == starts[q - 1, 0])
        for j in range(m):
            before = starts[q - 1, j] if is_next else 0.0
            a[j] = reached.parameters[q - 1, j] * want[j] if is_next else 0.0
            a[j] += starts[q, j] - before * want[j] if has_start else 0.0
        residual, is_done = _lowered(search, posed, q, most, a, reached.sums[q])
        reached.state[q, 0], last = residual, row
        reached.state[q, 1] = 1.0 if is_done and (residual <= _ACCURATE or search.enough > 0) else 0.0


def _search(bank: Tables, power: FloatArray, enough: float) -> Search:
    (f, count), (g, n), m = bank.outer.shape, bank.inner.shape, len(bank.largest)
    flat, floats, factors = np.empty(count * n), np.empty(_BLOCK), np.empty((count, len(bank.lines.inner)))
    return Search(bank, power, flat.reshape(count, n), flat, flat.view(np.int64), floats, floats.view(np.int64),
                  factors, np.empty((count, g)), np.empty((f, g)), np.empty((5, 2 + m + m * m)), enough)


def _lowered(search: Search, posed: Posed, q: int, most: int, a: FloatArray, here: FloatArray
             ) -> tuple[float, bool]:
    """Solve one problem from `a`; `here` gets the sums at the end, but at few frequencies, whose last step is enough.

    Returns the residual, and whether the search came to an end. See `tilting.tilt`.
    """
    m, want, target, log_scale, small = len(a), posed.wanted[q], posed.targets[q], posed.log_scale[q], search.small
    power = search.power[posed.owner[q]]
    goal, step, moved, scratch, there = small[0][:m], small[1][:m], small[2][:m], small[3], small[4]
    residual, length, longest, slope, linear, steps, is_sure, is_done = math.inf, 0.0, 0.0, 0.0, 0.0, -1, True, False
    radius, beyond, since = _RADIUS, 1.0, 0
    for j in range(m):
        moved[j] = a[j]
    while True:
        _sums(moved, power, search, there)
        after = _residual(there, want, target, log_scale, goal)
        is_good, is_still = is_sure, residual < _ACCURATE and not after < residual / 4
        since += residual < _ACCURATE
        is_last = is_still and (longest <= _NEAR or since > _PATIENCE)
        if not is_sure:
            unit = max(here[0], there[0])
            old, new = math.exp(here[0] - unit), math.exp(there[0] - unit)
            ahead, most_power = 0.0, 0.0
            for j in range(m):
                ahead += (there[2 + j] * want[j] - goal[j]) * (moved[j] - a[j])
                most_power = max(most_power, here[2 + j] * want[j] / search.bank.largest[j])
            fall = there[1] * new - here[1] * old - linear * old
            if most_power < _HIDDEN * here[1]:
                fall = min(fall, ahead * new)
            is_good = fall <= _ENOUGH * min(slope, 0.0) * old
        if steps >= 0:
            radius = length * (_CHANGE if is_good else 1 / _CHANGE)
            is_too_short = is_good and longest > _NEAR and length >= longest
            beyond = _BEYOND * length / longest if is_too_short else 1.0
        steps += 1
        if is_good and not (is_last and not after < residual):
            for j in range(len(here)):
                here[j] = there[j]
            for j in range(m):
                a[j] = moved[j]
            residual = after
            is_done = after <= 4 * _EPS
        if is_done or is_last or steps >= most:
            return residual, is_done or is_last
        _residual(here, want, target, log_scale, goal)
        for j in range(m):
            step[j] = goal[j] - here[2 + j]
        _solve(here, want, step, scratch)
        longest = _reach(step, power, search)
        if not longest < math.inf:
            return residual, False
        if longest <= search.enough:
            for j in range(m):
                a[j] += step[j]
            return residual, True
        safe = length = longest
        if longest > _NEAR:
            safe = math.log1p(longest)
            length = max(safe, min(radius, beyond * longest))
        is_sure, factor, slope, linear = length <= safe, length / longest if longest > 0 else 1.0, 0.0, 0.0
        for j in range(m):
            moved[j] = a[j] + step[j] * factor
            slope += (here[2 + j] * want[j] - goal[j]) * step[j] * factor
            linear += goal[j] * step[j] * factor


def _sums(a: FloatArray, power: FloatArray, search: Search, out: FloatArray) -> None:
    """All sums at a in units of exp(out[0]): 1, or where a.w may be large its largest value at an active frequency."""
    m, bound, shift, bank, flat, table = len(a), 0.0, 0.0, search.bank, search.flat, search.table
    lines = bank.lines
    for j in range(m):
        bound += abs(a[j]) * bank.largest[j]
    _along(a, search)
    if not bound <= _FAR:
        shift = -math.inf
        for t in range(len(power)):
            shift = max(shift, flat[t] if power[t] > 0 else -math.inf)
        shift = shift if shift > -math.inf else 0.0
        for t in range(len(power)):
            flat[t] = min(max(flat[t] - shift, -_FARTHEST), _FARTHEST)
    for begin in range(0, len(power), _BLOCK):
        end = min(len(power), begin + _BLOCK)
        _tilt(flat[begin:end], power[begin:end], search.bits, search.floats)
    np.dot(search.along, bank.inner.T, search.half)
    np.dot(bank.outer, search.half, table)
    out[0], out[1] = shift, table[0, 0]
    for j in range(m):
        p, q, scale = lines.places[0, j], lines.places[1, j], lines.scales[j]
        out[2 + j] = scale * table[_pair(p, -1), _pair(q, -1)]
        for k in range(j + 1):
            both = table[_pair(p, lines.places[0, k]), _pair(q, lines.places[1, k])] * scale * lines.scales[k]
            out[2 + m + j * m + k] = out[2 + m + k * m + j] = both


def _pair(i: int, j: int) -> int:
    """Where the product of two lines is, in the table of them and of 1, which is line -1."""
    return ((max(i, j) + 1) * (max(i, j) + 2) >> 1) + min(i, j) + 1


def _along(a: FloatArray, search: Search) -> None:
    """Write a.w, three inner lines at a time: as a product of BLAS it takes half as long again."""
    lines, factors = search.bank.lines, search.factors
    factors[:] = 0.0
    for j in range(len(a)):
        one, into, scale = lines.outer[lines.places[0, j]], lines.places[1, j], a[j] * lines.scales[j]
        for s in range(len(one)):
            factors[s, into] += scale * one[s]
    for s in range(len(search.along)):
        line = search.along[s]
        for q in range(0, len(lines.inner), 3):
            f, g, h = factors[s, q], factors[s, q + 1], factors[s, q + 2]
            for t in range(len(line)):
                three = f * lines.inner[q, t] + g * lines.inner[q + 1, t] + h * lines.inner[q + 2, t]
                line[t] = three if q == 0 else line[t] + three


def _reach(step: FloatArray, power: FloatArray, search: Search) -> float:
    """The largest abs(d.w) where there is power; a bound, where that is at most `_NEAR`."""
    bound, bits, longest = 0.0, search.flat_bits, 0
    for j in range(len(search.bank.largest)):
        bound += abs(step[j]) * search.bank.largest[j]
    if bound <= _NEAR:
        return bound
    _along(step, search)
    for t in range(len(power)):  # sizes have the order of their bits, which are compared many at a time
        longest = max(longest, bits[t] & _SIZE if power[t] != 0 else 0)
    search.bits[0] = longest
    return float(search.floats[0])


def _tilt(line: FloatArray, weight: FloatArray, bits: IntArray, floats: FloatArray) -> None:
    """Make of a line weight exp(line), within 2 eps; many numbers at a time, where `math.exp` takes one.

    exp(x) = 2^k exp(r), r = x - k ln 2 with |r| <= ln(2)/2, to 2e-17 by a polynomial that interpolates
    (exp(r) - 1 - r)/r^2 at ten Chebyshev nodes. `bits` and `floats` are the same memory: after the addition the last
    12 bits of a float are those of k.
    """
    for t in range(len(line)):
        rounded = line[t] * _LOG2E + _ROUNDER
        floats[t] = rounded
        k = rounded - _ROUNDER
        r = (line[t] - k * _HIGH) - k * _LOW
        two = r * r
        low = (0.5000000000000001 + 0.16666666666666669 * r) + (0.04166666666662413 + 0.008333333333330062 * r) * two
        mid = (0.0013888888917213717 + 0.00019841269863053618 * r) + (
            2.4801521295954376e-05 + 2.7557268459997064e-06 * r) * two
        e = low + two * two * (mid + two * two * (2.7620088445409746e-07 + 2.510038549551032e-08 * r))
        line[t] = (e * two + r + 1.0) * weight[t]
    for t in range(len(line)):
        bits[t] = (bits[t] << 52) + _ONE
    for t in range(len(line)):
        line[t] *= floats[t]


def _residual(sums: FloatArray, want: FloatArray, targets: FloatArray, log_scale: float, goal: FloatArray) -> float:
    """The largest part of an imposed value that is missing; `goal` gets the targets in the unit of the sums."""
    scale = math.exp(min(log_scale - sums[0], 700.0))
    out = 0.0
    for j in range(len(want)):
        goal[j] = targets[j] * scale * want[j]
        size = sums[2 + j] + abs(goal[j])
        if size != size or (want[j] != 0 and size <= 0):
            return math.inf  # what is no number is no solution, nor is a sum that is lost below float64
        if want[j] != 0:
            out = max(out, abs(sums[2 + j] - goal[j]) / size)
    return out


def _solve(sums: FloatArray, want: FloatArray, step: FloatArray, scratch: FloatArray) -> None:
    """Divide by the matrix of the imposed features, scaled to a unit diagonal with a ridge."""
    m, many = len(want), len(want)
    scale, low, ridge = scratch, scratch[m:], 16 * _EPS * m
    while m > 0 and want[m - 1] == 0:  # those after the last one that is imposed
        m -= 1
        step[m] = 0.0
    for j in range(m):
        diagonal = sums[2 + many + j * many + j]
        scale[j] = want[j] / math.sqrt(diagonal) if want[j] != 0 and diagonal > 0 else want[j]
    for j in range(m):  # above the diagonal what is below it times pivots, on it the inverse of these
        step[j] = step[j] * scale[j] if want[j] != 0 else 0.0
        pivot = 1.0 + ridge
        for k in range(j):
            entry = sums[2 + many + j * many + k] * (scale[j] * scale[k])
            for i in range(k):
                entry -= low[i * m + j] * low[k * m + i]
            low[k * m + j], low[j * m + k] = entry, entry * low[k * m + k]
            pivot -= entry * low[j * m + k]
            step[j] -= low[j * m + k] * step[k]
        low[j * m + j] = 1 / max(pivot, ridge)
    for back in range(m):
        j = m - 1 - back
        step[j] *= low[j * m + j]
        for i in range(j + 1, m):
            step[j] -= low[i * m + j] * step[i]
    for j in range(m):
        step[j] *= scale[j] if want[j] != 0 else 1.0
