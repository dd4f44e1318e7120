r"""Moments of filter outputs as functions of arrays, all bands of a separable periodic bank at once.

.. math:: f_j(x) = \mathrm{Mean}(\gamma_j y_b^p), \quad y_b = h_b(x), \qquad v_j = \gamma_j\, p\, \tilde h_b(y_b^{p-1})

The bands share their lines: nine tensor products of three kernels cost three lines along the first axis and nine along
the second. Fields are the bulk of the work; `bank_loops` has them compiled, NumPy elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.language.convolution import Kernel, convolve
from symdecouple.numeric import bank_loops
from symdecouple.numeric.batch import FloatArray, IntArray
from symdecouple.numeric.jit import Kernels

__all__ = ["KERNELS", "BankRows", "Line", "warm"]

KERNELS = Kernels(__name__, tuple(f"symdecouple.numeric.{name}" for name in ("jit", "bank_loops", "bank_rows")),
                  seconds=4e-6)
_BLOCK = 1024


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
        return convolve(array, Kernel(np.array(self.taps), (-self.first,), "circular"), (axis,))


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
        order = sorted(range(len(bands)), key=lambda b: str(bands[b]))  # bands with one first line beside each other
        place = {b: k for k, b in enumerate(order)}
        self.bands = [tuple(bands[b]) for b in order]
        self.index = np.array([place[b] for b in index], dtype=np.intp)
        self.powers = np.array(powers, dtype=np.intp)
        self.gains = np.array(gains, dtype=np.float64)
        self._tables: tuple[_Table, _Table] | None = None
        self._is_plane = len(grid) <= 2 and prod(grid) >= 64 and all(len(line.taps) < 64 for band in bands
                                                                     for line in band)
        self._wanted: bool | None = None

    def __len__(self) -> int:
        return len(self.names)

    def values(self, rows: FloatArray) -> FloatArray:
        """Return the features of rows (R, N), of shape (R, M)."""
        outputs = self._outputs(rows)
        found = np.empty((len(rows), len(self)))
        if self._compiled(rows):
            sums, scratch = np.empty((len(self.bands), int(self.powers.max()) + 1)), np.empty(_BLOCK)
            for r in range(len(rows)):
                _kernels()[2](outputs[r], self.index, self.powers, self.gains, sums, scratch, found[r])
            return found
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
        outputs = self._outputs(rows)
        if self._compiled(rows):
            fields = _kernels()[1]
            out = np.empty((len(rows), count, rows.shape[1]))
            back, scratch = self._lines()[1], np.empty((2, rows.shape[1]))
            for r in range(len(rows)):
                fields(outputs[r], self.grid[-1], self.index, self.powers, self.gains, back.columns, back.column_lags,
                       back.rows, back.row_lags, back.pairs, count, scratch, out[r])
            return out
        factors = self.gains[:count] * self.powers[:count]
        return self._adjoint(_powers(outputs, self.index[:count], self.powers[:count] - 1, factors), count)

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
        if self._compiled(rows):
            lines, scratch = self._lines()[0], np.empty(rows.shape[1])
            for r, row in enumerate(np.ascontiguousarray(rows)):
                _kernels()[0](row, self.grid[-1], lines.columns, lines.column_lags, lines.rows, lines.row_lags,
                              lines.pairs, scratch, out[r])
            return out
        for b in range(len(self.bands)):
            out[:, b] = self._band(rows, b)
        return out

    def _band(self, rows: FloatArray, b: int, adjoint: bool = False) -> FloatArray:
        array = rows.reshape(-1, *self.grid)
        for axis, line in enumerate(self.bands[b], 1):
            array = (line.turned() if adjoint else line).along(array, axis)
        return array.reshape(rows.shape)

    def _adjoint(self, fields: FloatArray, count: int) -> FloatArray:
        for b in np.unique(self.index[:count]):
            mine = np.flatnonzero(self.index[:count] == b)
            part = np.ascontiguousarray(fields[:, mine])
            fields[:, mine] = self._band(part.reshape(-1, part.shape[-1]), b, adjoint=True).reshape(part.shape)
        return fields

    def _compiled(self, rows: FloatArray) -> bool:
        """Planes have compiled loops where these are on the disk, and the work of one path is worth loading them."""
        if self._wanted is None and self._is_plane and rows.size:
            self._wanted = KERNELS.are_wanted(rows.shape[1] * len(self)) and KERNELS.are_warm()
        return bool(self._wanted)

    def _lines(self) -> tuple[_Table, _Table]:
        if self._tables is None:
            self._tables = _table(self.bands), _table([tuple(line.turned() for line in band) for band in self.bands])
        return self._tables


@dataclass(frozen=True, slots=True)
class _Table:
    """The lines of a bank as arrays: along the first axis of a plane, along the second, and which band has which."""

    columns: FloatArray
    column_lags: IntArray
    rows: FloatArray
    row_lags: IntArray
    pairs: IntArray


def _table(bands: Sequence[tuple[Line, ...]]) -> _Table:
    planes = [band if len(band) == 2 else (Line((1.0,), 0), *band) for band in bands]
    sets = [list(dict.fromkeys(band[axis] for band in planes)) for axis in range(2)]
    pairs = np.array([[sets[0].index(band[0]), sets[1].index(band[1])] for band in planes], dtype=np.intp)
    (columns, column_lags), (rows, row_lags) = map(_padded, sets)
    return _Table(columns, column_lags, rows, row_lags, pairs)


def _padded(lines: list[Line]) -> tuple[FloatArray, IntArray]:
    """Lines in one table, from the smallest lag of all to the largest."""
    first = min(line.first for line in lines)
    last = max(line.first + len(line.taps) for line in lines)
    taps = np.zeros((len(lines), last - first))
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


def warm() -> None:
    """Compile the loops, and leave the mark that they are."""
    features = BankRows(["energy"], [[Line((1.0, 2.0, -1.0), -1)] * 2], [0], [2], [1.0], (4, 5))
    forward, back = features._lines()
    outputs, out, scratch = np.empty((1, 20)), np.empty((1, 20)), np.empty((2, 20))
    make, fields, means = _kernels()
    make(np.arange(20.0), 5, forward.columns, forward.column_lags, forward.rows, forward.row_lags, forward.pairs,
         scratch[0], outputs)
    fields(outputs, 5, features.index, features.powers, features.gains, back.columns, back.column_lags, back.rows,
           back.row_lags, back.pairs, 1, scratch, out)
    means(outputs, features.index, features.powers, features.gains, np.empty((1, 3)), np.empty(_BLOCK),
          np.empty(1))
    KERNELS.note_warm()


@cache
def _kernels() -> Any:
    return KERNELS.build(bank_loops.band_outputs, bank_loops.band_fields, bank_loops.band_means,
                         fast=bank_loops.FAST)
