r"""Moments of filter outputs as functions of arrays, all bands of a separable periodic bank at once.

.. math:: f_j(x) = \mathrm{Mean}(\gamma_j y_b^p), \quad y_b = h_b(x), \qquad v_j = \gamma_j\, p\, \tilde h_b(y_b^{p-1})

The bands share their lines: nine tensor products of three kernels cost three lines along the first axis and nine along
the second. Fields are the bulk of the work; `kernel` has them compiled, with whole levels of the narrow path, and
NumPy has them elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.language.convolution import Kernel, convolve
from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.paths import bank_kernel
from symdecouple.numeric.paths.bank_kernel import DIRECTION, FIELDS, MEANS, MOVE, WALK
from symdecouple.numeric.paths.bank_loops import Lines, columns_of_sums, wide_of
from symdecouple.numeric.paths.bank_room import KEPT, arrays_for
from symdecouple.numeric.paths.gram_loops import CLEAR
from symdecouple.numeric.paths.projection_gram import SURE
from symdecouple.numeric.paths.step_pairs import PAIRS
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["KERNELS", "BankRows", "Line", "warm"]

_SOURCES = (
    "kernels.compile paths.gram_loops paths.bank_lines paths.bank_loops paths.bank_steps paths.bank_kernel "
    "paths.bank_path"
)
KERNELS = Kernels(bank_kernel.__name__, tuple(f"symdecouple.numeric.{name}" for name in _SOURCES.split()), seconds=1e-5)
_LOCK = Lock()
_FIELDS = 12  # of each feature, on the shortest path
_FAR = 64  # the loops run over all lags from 0 on
_EPS = float(np.finfo(np.float64).eps)
_ROUNDINGS = 64.0  # of the largest entry of a row: no smaller error of a step is asked for
_NONE: FloatArray = np.zeros(1)
_SHORT = 16  # taps but one, up to which sums of shifts are faster than transforms


@dataclass(frozen=True, slots=True)
class Line:
    """A kernel along one axis: taps, and the lag of the first of them."""

    taps: tuple[float, ...]
    first: int

    def turned(self) -> Line:
        """Return the adjoint."""
        return Line(self.taps[::-1], -(self.first + len(self.taps) - 1))

    def along(self, array: FloatArray, axis: int) -> FloatArray:
        """Return the periodic convolution."""
        reach = len(self.taps) - 1
        if reach > _SHORT:
            return convolve(array, Kernel(np.array(self.taps), (-self.first,), "circular"), (axis,))
        n, wide = array.shape[axis], array
        if reach or self.first:
            places = np.arange(-self.first - reach, array.shape[axis] - self.first)
            wide = np.take(array, places, axis=axis, mode="wrap")
        total: FloatArray | None = None
        for t, tap in enumerate(self.taps):
            if tap or (total is None and t == reach):
                shifted = tap * wide[(*[slice(None)] * axis, slice(reach - t, reach - t + n))]
                total = shifted if total is None else np.add(total, shifted, out=total)
        assert total is not None
        return total


@dataclass(frozen=True, slots=True)
class Walked:
    """Rows after one level: values (R, N), which are there (R,), and of these the displacement at which the error of a
    step is what is allowed, as in `path_loops`, the steps, the largest gap, the last feature, and the one to come; NaN
    where there is none."""

    values: FloatArray
    there: NDArray[np.bool_]
    pace: FloatArray
    steps: IntArray
    gap: FloatArray
    reached: FloatArray
    coming: FloatArray


class BankRows:
    """Means of powers of filter outputs, with their gradients and curvature, on rows of flattened samples.

    Parameters
    ----------
    names : sequence of str
        Of the features.
    bands : sequence of sequences of Line
        One line for each axis of a sample, for each band.
    index, powers : sequences of int
        The band and the power of each feature.
    gains : sequence of float
    grid : tuple of int
        The shape of a sample.

    Examples
    --------
    The energy of differences of a periodic signal, and v = 2 h~(h(x)):

    >>> difference = Line((1.0, -1.0), 0)
    >>> features = BankRows(["energy"], [[difference]], [0], [2], [1.0], (4,))
    >>> features.values(np.array([[0.0, 1, 0, 0]])).tolist()
    [[0.5]]
    >>> features.gradients(np.array([[0.0, 1, 0, 0]])).tolist()
    [[[-2.0, 4.0, -2.0, 0.0]]]
    """

    def __init__(self, names: Sequence[str], bands: Sequence[Sequence[Line]], index: Sequence[int],
                 powers: Sequence[int], gains: Sequence[float], grid: tuple[int, ...]) -> None:
        self.names, self.grid = tuple(names), tuple(grid)
        if any(len(lines) != len(grid) for lines in bands):
            raise InvalidInput(f"a band has a line for each axis of the grid {grid}")
        order = sorted(range(len(bands)), key=lambda b: _order_of(bands[b]))
        place = {b: k for k, b in enumerate(order)}
        self.bands = [tuple(bands[b]) for b in order]
        self.index = np.array([place[b] for b in index], dtype=np.intp)
        self.powers = np.array(powers, dtype=np.intp)
        self.gains = np.array(gains, dtype=np.float64)
        self._told: tuple[Any, ...] | None = None
        self._rooms: list[FloatArray] = []  # of which calls in several threads take one each
        self._is_plane = len(grid) <= 2 and prod(grid) >= 64 and all(
            line.first > -_FAR and line.first + len(line.taps) <= _FAR for band in bands for line in band)
        self._wanted: bool | None = None

    def __len__(self) -> int:
        return len(self.names)

    def values(self, rows: FloatArray) -> FloatArray:
        """Return the features of rows (R, N), of shape (R, M)."""
        found = np.empty((len(rows), len(self)))
        if self._compiled(rows):
            for r, row in enumerate(np.ascontiguousarray(rows)):
                self._answer(MEANS, row, found[r], found[r : r + 1])
            return found
        outputs = self._outputs(rows)
        for b in range(len(self.bands)):
            power, at = outputs[:, b], 1
            for j in sorted(np.flatnonzero(self.index == b), key=lambda j: self.powers[j]):
                while at < self.powers[j]:
                    power, at = power * outputs[:, b], at + 1
                found[:, j] = self.gains[j] * power.mean(axis=1)
        return found

    def gradients(self, rows: FloatArray, count: int | None = None) -> FloatArray:
        """Return v = N grad f of the first `count` features (default all), (R, count, N)."""
        count = len(self) if count is None else count
        if self._compiled(rows):
            out = np.empty((len(rows), count, rows.shape[1]))
            for r, row in enumerate(np.ascontiguousarray(rows)):
                self._answer(FIELDS, row, _NONE[:1].repeat(count), out[r])
            return out
        factors = self.gains[:count] * self.powers[:count]
        return self._adjoint(_powers(self._outputs(rows), self.index[:count], self.powers[:count] - 1, factors), count)

    def last_direction(self, rows: FloatArray, count: int) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]] | None:
        """Return what `gram.last_direction` does of the gradients, which are never put down; None without the loops."""
        if not self._compiled(rows):
            return None
        n = rows.shape[1]
        direction, size, lengths = np.zeros_like(rows, order="C"), np.zeros(len(rows)), np.empty(count)
        for r, row in enumerate(np.ascontiguousarray(rows)):
            size[r] = self._answer(DIRECTION, row, lengths, direction[r : r + 1], lengths)
        direction *= np.sqrt(n)
        return direction, size / np.sqrt(n), size > 0

    def least_move(self, rows: FloatArray, wanted: FloatArray
                   ) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]] | None:
        """Return the shortest moves of the first features to wanted values (R, k), to first order.

        With the root mean squares of the gradients (R, k), and which rows are sure; None without the loops.
        """
        if not self._compiled(rows):
            return None
        moves, sizes = np.zeros_like(rows, order="C"), np.full_like(wanted, np.nan, order="C")
        sure, wanted = np.zeros(len(rows), dtype=np.bool_), np.ascontiguousarray(wanted)
        for r, row in enumerate(np.ascontiguousarray(rows)):
            sure[r] = self._answer(MOVE, row, wanted[r], moves[r : r + 1], sizes[r]) > 0
        return moves, sizes / np.sqrt(rows.shape[1]), sure

    def walk(self, rows: FloatArray, goals: FloatArray, rtol: float, pace: FloatArray, max_steps: int,
             within: float = 0.0) -> Walked | None:
        """Follow the narrow path to the goals of the first features (R, k), all but the last of which rows are at.

        Errors of samples are some `rtol` standard deviations; or, where values of the features to come are all that
        matters, those of the steps are up to `within` of these in their mean, of outputs that have one size everywhere.
        None without the loops; a row that is not there may be at its goals already, far away, or at an end of its path.
        """
        if not self._compiled(rows):
            return None
        values, there = np.empty_like(rows, order="C"), np.zeros(len(rows), dtype=np.bool_)
        told = np.full((len(rows), 7), np.nan)
        for r, row in enumerate(np.ascontiguousarray(rows)):
            scale = max(row.std(), _ROUNDINGS * _EPS / rtol * np.abs(row).max(initial=0))
            told[r, :6] = rtol, scale, pace[r], max_steps, np.sqrt(np.mean(row * row)), within
            there[r] = self._answer(WALK, row, goals[r], values[r : r + 1], told[r],
                                    clear=max(100 * _EPS / rtol, 2.0**-30)) > 0  # a hundredth may be rounding
        return Walked(values, there, told[:, 2], told[:, 3].astype(np.intp), told[:, 4], told[:, 5],
                      told[:, 6])

    def curvature(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sum over j of N Hess f_j w_j, (..., R, N), for weights (..., R, count, N)."""
        count, n = weights.shape[-2:]
        powers = self.powers[:count]
        curved = _powers(self._outputs(rows), self.index[:count], np.maximum(powers - 2, 0),
                         self.gains[:count] * powers * (powers - 1))
        total = np.zeros((*weights.shape[:-2], n))
        for b in np.unique(self.index[:count]):
            mine = np.flatnonzero(self.index[:count] == b)
            moved = self._band(weights[..., mine, :].reshape(-1, n), b).reshape(*weights.shape[:-2], len(mine), n)
            summed = (curved[:, mine] * moved).sum(axis=-2)
            total += self._band(summed.reshape(-1, n), b, adjoint=True).reshape(total.shape)
        return total

    def _outputs(self, rows: FloatArray) -> FloatArray:
        """Return y of all bands, (R, B, N)."""
        out = np.empty((len(rows), len(self.bands), rows.shape[1]))
        placed = rows.reshape(-1, *self.grid)
        known, first = None, placed
        for b, (line, *others) in enumerate(self.bands):
            if line != known:
                known, first = line, line.along(placed, 1)
            band = first
            for axis, other in enumerate(others, 2):
                band = other.along(band, axis)
            out[:, b] = band.reshape(rows.shape)
        return out

    def _band(self, rows: FloatArray, b: int, adjoint: bool = False) -> FloatArray:
        array = rows.reshape(-1, *self.grid)
        for axis, line in enumerate(self.bands[b], 1):
            array = (line.turned() if adjoint else line).along(array, axis)
        return array.reshape(rows.shape)

    def _adjoint(self, fields: FloatArray, count: int) -> FloatArray:
        """Filter the fields (R, k, N) of the first features, those with one line along an axis at once."""
        placed = fields.reshape(*fields.shape[:2], *self.grid)
        for axis in range(len(self.grid)):
            lines = [self.bands[b][axis] for b in self.index[:count]]
            for line in dict.fromkeys(lines):
                mine = [j for j, other in enumerate(lines) if other == line]
                placed[:, mine] = line.turned().along(placed[:, mine], axis + 2)
        return fields

    def _compiled(self, rows: FloatArray) -> bool:
        """Planes have compiled loops, for all rows or none: where the work of the shortest path is worth them."""
        if self._wanted is None and self._is_plane and rows.size:
            self._wanted = _are_ready(rows.shape[1] * len(self) * _FIELDS)
        return bool(self._wanted)

    def _answer(self, what: int, row: FloatArray, wanted: FloatArray, out: FloatArray, told: FloatArray = _NONE,
                clear: float = CLEAR) -> float:
        if self._told is None:
            planes = _unscaled([(band[0] if len(band) == 2 else Line((1.0,), 0), band[-1]) for band in self.bands])
            lines, pairs = _table(planes)
            back, _ = _table([(first.turned(), second.turned()) for first, second in planes])
            self._told = lines, back, pairs, self.index, self.powers, self.gains
        bank = self._told
        width, count, wide = self.grid[-1], len(wanted), wide_of(self.grid[-1], bank)
        size, many = len(row) // width * wide, -4 * (-count // 4)
        outputs, is_walk = (len(self.bands), size), what == WALK
        shapes = (outputs, outputs if is_walk else (0, size), (2, size + wide * bank[1][0].shape[1]), (count, size),
                  (len(PAIRS[3][0]) if is_walk else 1, size), (3, size), (many, many), (3, many),
                  (len(self.bands), columns_of_sums(self.powers)))
        flat, room = arrays_for(self._rooms.pop() if self._rooms else None, shapes)
        length = _kernel()(what, row, width, bank, PAIRS, wanted, SURE, clear, told, out, room)
        if len(flat) <= KEPT:
            self._rooms.append(flat)
        return float(length)


def _order_of(band: Sequence[Line]) -> tuple[Any, ...]:
    """Bands with one first line up to a factor beside each other."""
    first = band[0]
    scale = max(first.taps, key=abs) or 1.0
    return first.first, [round(tap / scale, 12) for tap in first.taps], str(band)


def _unscaled(planes: list[tuple[Line, Line]]) -> list[tuple[Line, Line]]:
    """The same bands, the first lines 1 at their largest tap: lines equal up to a factor and its rounding are one."""
    known, found = list[Line](), list[tuple[Line, Line]]()
    for first, second in planes:
        scale = max(first.taps, key=abs)
        if not (scale and 1e-100 < abs(scale) < 1e100):
            found.append((first, second))
            continue
        line = Line(tuple(tap / scale for tap in first.taps), first.first)
        for other in known:
            if other.first == line.first and len(other.taps) == len(line.taps) and all(
                    abs(a - b) <= 2 * _EPS for a, b in zip(other.taps, line.taps, strict=True)):
                line = other
                break
        else:
            known.append(line)
        found.append((line, Line(tuple(scale * tap for tap in second.taps), second.first)))
    return found


def _table(planes: list[tuple[Line, Line]]) -> tuple[Lines, IntArray]:
    """Return the lines of a bank as arrays, and which two of them a band has, along the axes of a plane."""
    sets = [list(dict.fromkeys(band[axis] for band in planes)) for axis in range(2)]
    pairs = np.array([[sets[0].index(band[0]), sets[1].index(band[1])] for band in planes], dtype=np.intp)
    (columns, column_lags), (rows, row_lags) = map(_padded, sets)
    return (columns, column_lags, rows, row_lags), pairs


def _padded(lines: list[Line]) -> tuple[FloatArray, IntArray]:
    """Lines in one table, from the smallest lag of all to the largest, with 0 between them."""
    first = min(0, *(line.first for line in lines))
    last = max(0, *(line.first + len(line.taps) - 1 for line in lines))
    taps = np.zeros((len(lines), last - first + 1))
    for row, line in zip(taps, lines, strict=True):
        row[line.first - first : line.first - first + len(line.taps)] = line.taps
    return taps, np.full(len(lines), first, dtype=np.intp)


def _powers(outputs: FloatArray, index: IntArray, powers: IntArray, factors: FloatArray) -> FloatArray:
    """Return factor_j y_b^p of each feature, (R, k, N), by products: powers cost forty times as much."""
    out = np.empty((len(outputs), len(index), outputs.shape[-1]))
    for b in np.unique(index):
        power, at = np.ones_like(outputs[:, b]), 0
        for j in sorted(np.flatnonzero(index == b), key=lambda j: powers[j]):
            while at < powers[j]:
                power, at = power * outputs[:, b], at + 1
            np.multiply(power, factors[j], out=out[:, j])
    return out


def _are_ready(n_numbers: int) -> bool:
    """True iff loops are wanted for so many numbers of fields; they are compiled if that is faster than NumPy."""
    with _LOCK:
        wanted = KERNELS.are_wanted(n_numbers)
        if wanted and not KERNELS.are_warm():
            warm()
        return wanted


def warm() -> None:
    """Compile the loops, and leave the mark that they are."""
    features = BankRows(["energy"], [[Line((1.0, 2.0, -1.0), -1)] * 2], [0], [2], [1.0], (4, 5))
    features._answer(MEANS, np.arange(20.0), np.ones(1), np.empty((1, 1)))
    KERNELS.note_warm()


@cache
def _kernel() -> Any:
    return KERNELS.build(bank_kernel.answer, fast=bank_kernel.FAST)[0]
