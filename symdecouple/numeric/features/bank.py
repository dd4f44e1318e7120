r"""Moments of filter outputs as functions of arrays, all bands of a separable periodic bank at once.

.. math:: f_j(x) = \mathrm{Mean}(\gamma_j y_b^p), \quad y_b = h_b(x), \qquad v_j = \gamma_j\, p\, \tilde h_b(y_b^{p-1})

The bands share their lines: nine tensor products of three kernels cost three lines along the first axis and nine along
the second. Gradients are the bulk of the work; `bank_kernel` has them compiled for signals and images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.language.convolution import Kernel, convolve
from symdecouple.numeric.features import bank_kernel
from symdecouple.numeric.features.bank_kernel import Bank, Work
from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["KERNELS", "BankFeatures", "Line", "warm"]

KERNELS = Kernels(__name__, ("symdecouple.numeric.kernels.compile", bank_kernel.__name__, __name__), seconds=1e-5)
_LOCK = Lock()
_GRADIENTS = 12  # of each feature, on the shortest path
_FAR = 64  # lags of the compiled loops, which are slower than transforms beyond


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


class BankFeatures:
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
    >>> features = BankFeatures(["energy"], [[difference]], [0], [2], [1.0], (4,))
    >>> features.values(np.array([[0.0, 1, 0, 0]])).tolist()
    [[0.5]]
    >>> features.gradients(np.array([[0.0, 1, 0, 0]])).tolist()
    [[[-2.0, 4.0, -2.0, 0.0]]]
    """

    def __init__(self, names: Sequence[str], bands: Sequence[Sequence[Line]], index: Sequence[int],
                 powers: Sequence[int], gains: Sequence[float], grid: tuple[int, ...]) -> None:
        self.names, self.grid, self.bands = tuple(names), tuple(grid), [tuple(lines) for lines in bands]
        if any(len(lines) != len(grid) for lines in bands):
            raise InvalidInput(f"a band has a line for each axis of the grid {grid}")
        self.index = np.array(index, dtype=np.intp)
        self.powers = np.array(powers, dtype=np.intp)
        self.gains = np.array(gains, dtype=np.float64)
        self._is_compiled: bool | None = None
        self._memory: list[FloatArray] = []  # of gradients: new pages of it cost a quarter of the time

    def __len__(self) -> int:
        return len(self.names)

    def values(self, rows: FloatArray) -> FloatArray:
        """Return the features of rows (R, N), of shape (R, M)."""
        if self._is_wanted(rows):
            means, outputs = np.empty((len(rows), len(self))), np.empty((len(rows), len(self.bands), rows.shape[1]))
            self._write(rows, outputs, means, outputs[:, :0])
            return means
        powers = _powers(self._outputs(rows), self.index, self.powers)
        return np.asarray(self.gains * np.stack([power.mean(axis=1) for power in powers], axis=1))

    def gradients(self, rows: FloatArray, count: int | None = None) -> FloatArray:
        """Return v = N grad f of the first `count` features (default all), (R, count, N)."""
        count = len(self) if count is None else count
        if self._is_wanted(rows):
            fields = _aligned(len(rows) * count * rows.shape[1]).reshape(len(rows), count, rows.shape[1])
            self._write(rows, np.empty((len(rows), len(self.bands), rows.shape[1])), fields[:, :0, 0], fields)
            return fields
        index, powers = self.index[:count], self.powers[:count]
        fields = np.stack(_powers(self._outputs(rows), index, powers - 1), axis=1)
        fields *= (self.gains[:count] * powers)[:, None]
        for b in np.unique(index):
            mine = np.flatnonzero(index == b)
            fields[:, mine] = self._band(fields[:, mine], b, adjoint=True)
        return fields

    def last_direction(self, rows: FloatArray, count: int, gradients: FloatArray | None = None
                       ) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]] | None:
        """Return what `paths.projection.last_direction` does of the gradients, the last answer which rows are sure.

        None where NumPy has to do it.
        """
        if not self._is_wanted(rows):
            return None
        direction, _, length = self._projected(rows, count, None, gradients)
        return direction, length / np.sqrt(rows.shape[1]), length > 0

    def least_move(self, rows: FloatArray, wanted: FloatArray
                   ) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]] | None:
        """Return the shortest moves of the first features to wanted values (R, k), to first order.

        With the root mean squares of the gradients (R, k), and which rows are sure; None where NumPy has to do it.
        """
        if not self._is_wanted(rows):
            return None
        moves, lengths, length = self._projected(rows, wanted.shape[1], wanted)
        return moves, lengths / np.sqrt(rows.shape[1]), length > 0

    def curvature(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sum over j of N Hess f_j w_j, (..., R, N), for weights (..., R, count, N)."""
        count, n = weights.shape[-2:]
        powers = self.powers[:count]
        curved = np.stack(_powers(self._outputs(rows), self.index[:count], np.maximum(powers - 2, 0)), axis=1)
        curved *= (self.gains[:count] * powers * (powers - 1))[:, None]
        total = np.zeros((*weights.shape[:-2], n))
        for b in np.unique(self.index[:count]):
            mine = np.flatnonzero(self.index[:count] == b)
            summed = (curved[:, mine] * self._band(weights[..., mine, :], b)).sum(axis=-2)
            total += self._band(summed, b, adjoint=True)
        return total

    def _outputs(self, rows: FloatArray) -> FloatArray:
        """Return y of all bands, (R, B, N)."""
        return np.stack([self._band(rows, b) for b in range(len(self.bands))], axis=1)

    def _band(self, rows: FloatArray, b: int, adjoint: bool = False) -> FloatArray:
        """Return a band of flattened samples (..., N), or its adjoint."""
        array = rows.reshape(-1, *self.grid)
        for axis, line in enumerate(self.bands[b], 1):
            array = (line.turned() if adjoint else line).along(array, axis)
        return array.reshape(rows.shape)

    @cached_property
    def _bank(self) -> Bank:
        lines = [(Line((), 0), *line)[-2:] for line in self.bands]
        columns, rows = (_padded([pair[axis].taps for pair in lines]) for axis in range(2))
        first = np.array([[line.first for line in pair] for pair in lines], dtype=np.intp)
        return Bank(columns, rows, first, self.index, self.powers, self.gains)

    def _is_wanted(self, rows: FloatArray) -> bool:
        """Whether the kernel answers, for all rows or none: where the work of the shortest path is worth it."""
        if self._is_compiled is None and rows.size:
            is_short = all(line.first > -_FAR and line.first + len(line.taps) <= _FAR
                           for lines in self.bands for line in lines)
            self._is_compiled = len(self.grid) <= 2 and is_short and _is_ready(
                rows.shape[1] * len(self) * _GRADIENTS)
        return bool(self._is_compiled)

    def _write(self, rows: FloatArray, outputs: FloatArray, means: FloatArray, fields: FloatArray) -> None:
        grid = (1, *self.grid)[-2:]
        images = np.ascontiguousarray(rows).reshape(-1, *grid)
        placed = [made.reshape(*made.shape[:2], *grid) for made in (outputs, fields)]
        _kernels()[0](images, self._bank, placed[0], means, placed[1])

    def _projected(self, rows: FloatArray, count: int, wanted: FloatArray | None, gradients: FloatArray | None = None
                   ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return directions or moves (R, N), the lengths of the gradients (R, k), and what `project` returns."""
        n, gaps = rows.shape[1], np.empty(0)
        means = np.empty((1, 0 if wanted is None else count))
        found, lengths, length = np.zeros((len(rows), n)), np.empty((len(rows), count)), np.empty(len(rows))
        try:
            memory = self._memory.pop()
        except IndexError:  # in use by other threads
            memory = _aligned((len(self.bands) + len(self)) * n)
        outputs = memory[: len(self.bands) * n].reshape(1, -1, n)
        fields = memory[len(self.bands) * n :][: count * n].reshape(1, count, n)
        work = Work(np.empty((count, count)), np.empty(count), np.empty(count))
        for r in range(len(rows)):
            if gradients is None:
                self._write(rows[r : r + 1], outputs, means, fields)
            else:
                fields = gradients[r : r + 1]
            if wanted is not None:
                gaps = n * (wanted[r] - means[0])
            length[r] = _kernels()[1](fields[0], gaps, work, found[r])
            lengths[r] = work.lengths
            if not length[r] > 0:
                found[r] = 0
        self._memory.append(memory)
        return found, lengths, length


def _aligned(count: int) -> FloatArray:
    """Memory that begins with a line of the cache: inner products take up to twice as long elsewhere."""
    memory = np.empty(count + 8)
    first = -memory.ctypes.data % 64 // 8
    return memory[first : first + count]


def _powers(outputs: FloatArray, index: IntArray, powers: IntArray) -> list[FloatArray]:
    """Return y_b^p of each feature, (R, N), by products: powers cost forty times as much."""
    made: dict[tuple[int, int], FloatArray] = {}
    for b, highest in ((b, powers[index == b].max()) for b in np.unique(index)):
        made[b, 0] = np.ones_like(outputs[:, b])
        for p in range(1, highest + 1):
            made[b, p] = made[b, p - 1] * outputs[:, b] if p > 1 else outputs[:, b]
    return [made[b, p] for b, p in zip(index, powers, strict=True)]


def _padded(taps: list[tuple[float, ...]]) -> FloatArray:
    """Taps in a table: the kernel takes three at a time."""
    table = np.zeros((len(taps), 3 * -(-max(map(len, taps)) // 3)))
    for row, line in zip(table, taps, strict=True):
        row[: len(line)] = line
    return table


def _is_ready(n_numbers: int) -> bool:
    """True iff the kernel is wanted for so many numbers of gradients; it is compiled if that is faster than NumPy."""
    with _LOCK:
        wanted = KERNELS.are_wanted(n_numbers)
        if wanted and not KERNELS.are_warm():
            warm()
        return wanted


def warm() -> None:
    """Compile the kernel, and leave the mark that it is."""
    features = BankFeatures(["energy"], [[Line((1.0, 2.0, -1.0), -1)] * 2], [0], [2], [1.0], (4, 5))
    features._projected(np.arange(20.0)[None], 1, None)
    KERNELS.note_warm()


@cache
def _kernels() -> Any:
    return KERNELS.build(bank_kernel.bank_fields, bank_kernel.project, fast=bank_kernel.FAST)
