"""Sample axes and their frequencies, and the eigenvalues of features at the frequencies that they tell apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike, NDArray

from symdecouple.errors import InvalidInput
from symdecouple.numeric.energies.eigenvalues import EPS, Coarse, Columns, Lines
from symdecouple.numeric.energies.nodes import MORE, Nodes, nodes_of
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["BLOCK", "Bands", "Grid"]

BLOCK = 2**16  # samples transformed at a time, frequencies worked on at a time
_SKETCHED = 8  # nodes of a panel
_WORTH = 0.6  # nodes, at most, over frequencies


@dataclass(frozen=True, slots=True)
class Grid:
    """The sample axes: rows (R, N) are signals of this shape, spectra are ``(R, *half)`` for real signals."""

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """N, the number of samples."""
        return math.prod(self.shape)

    @property
    def half(self) -> tuple[int, ...]:
        """The shape of `numpy.fft.rfftn`."""
        return (*self.shape[:-1], self.shape[-1] // 2 + 1)

    @property
    def axes(self) -> tuple[int, ...]:
        """The sample axes of an array with rows first."""
        return tuple(range(1, len(self.shape) + 1))

    def groups(self, count: int) -> Iterator[slice]:
        """Some of so many signals at a time, one where they are long."""
        step = max(1, BLOCK // self.size)
        return (slice(start, start + step) for start in range(0, count, step))

    def forward(self, rows: FloatArray) -> NDArray[np.complex128]:
        """Return the unnormalized transforms of rows (R, N), each accurate beside the spread of its row.

        A mean beside which the rest is small would leave its rounding at all frequencies: it is put back at zero.
        """
        spectra, means, rest = self.about_means(rows)
        spectra.reshape(-1, math.prod(self.half))[:, 0] = self.size * means + self.size * rest
        return spectra

    def about_means(self, rows: FloatArray) -> tuple[NDArray[np.complex128], FloatArray, FloatArray]:
        """Return the transforms of rows without their means, these, and what their rounding leaves out: by parts."""
        n = self.shape[-1]
        means = rows.mean(axis=1)
        lines, rest = rows.reshape(-1, n), np.zeros(len(rows))
        each, step = len(lines) // max(1, len(rows)), max(1, BLOCK // n)
        out = np.empty((len(lines), self.half[-1]), dtype=np.complex128)
        for start in range(0, len(lines), step):
            owner = np.arange(start, min(start + step, len(lines))) // each
            part = lines[start : start + step] - means[owner, None]
            np.add.at(rest, owner, part.sum(axis=1))
            out[start : start + step] = scipy.fft.rfft(part, axis=1)
        spectra = out.reshape(-1, *self.half)
        if len(self.shape) > 1:
            spectra = scipy.fft.fftn(spectra, axes=self.axes[:-1], overwrite_x=True)
        spectra.reshape(-1, math.prod(self.half))[:, 0] = 0
        return np.asarray(spectra), means, rest / self.size

    def inverse(self, spectra: NDArray[np.complex128]) -> FloatArray:
        """Return rows (R, N), in the room of the spectra, which are overwritten."""
        if len(self.shape) > 1:
            spectra = scipy.fft.ifftn(spectra, axes=self.axes[:-1], overwrite_x=True)
        lines = np.ascontiguousarray(spectra).reshape(-1, self.half[-1])
        n, count = self.shape[-1], len(lines)
        step = max(1, BLOCK // n)
        if count <= step:
            return np.asarray(scipy.fft.irfft(lines, n, axis=1, overwrite_x=True)).reshape(-1, self.size)
        flat = lines.view(np.float64).reshape(-1)
        for start in range(0, count, step):
            part = scipy.fft.irfft(lines[start : start + step], n, axis=1)
            flat[start * n : start * n + part.size] = part.reshape(-1)  # what was read lies behind
        return flat[: count * n].reshape(-1, self.size)

    def power(self, spectra: NDArray[np.complex128]) -> FloatArray:
        """Return ``|X|^2`` for sums over the half spectrum, see `doubled`."""
        power = spectra.real**2
        power += spectra.imag**2
        return self.doubled(power)

    def doubled(self, half: FloatArray, start: int = 0) -> FloatArray:
        """Double, in place, the frequencies whose conjugate partner is left out: sums are then over all of them.

        Those of the last axis are counted from `start`.
        """
        half[..., max(0, 1 - start) : max(0, (self.shape[-1] + 1) // 2 - start)] *= 2
        return half


class Bands(Columns):
    """M commuting quadratic features of signals of one shape, by their eigenvalues.

    Parameters
    ----------
    responses : array_like ``(M, *half)``
        Real eigenvalues w_j on the frequencies of `numpy.fft.rfftn`: squared responses ``|H_j|^2`` of energies.
    shape : tuple of int
        The shape of the signals.

    Attributes
    ----------
    columns : array (M, n)
        The eigenvalues at the frequencies that are told apart.

    Raises
    ------
    InvalidInput
        For a wrong shape, complex or infinite numbers.

    Examples
    --------
    The energy of [-1, 2, -1], (4 + 1 + 0 + 1)/4, and the second moment of one impulse:

    >>> bands = Bands([[0, 4, 16], [1, 1, 1]], (4,))
    >>> bands.values([[1.0, 0.0, 0.0, 0.0]]).tolist()
    [[1.5, 0.25]]
    """

    def __init__(self, responses: ArrayLike, shape: Sequence[int]) -> None:
        self.grid = Grid(tuple(int(n) for n in shape))
        given = np.asarray(responses)
        if not self.grid.shape or min(self.grid.shape) < 1:
            raise InvalidInput(f"a signal has at least one sample along each axis, shape {tuple(shape)} was given")
        if given.ndim != len(self.grid.shape) + 1 or given.shape[1:] != self.grid.half or not len(given):
            raise InvalidInput(f"responses of shape {given.shape} were given, (M, *{self.grid.half}) is expected: the "
                               f"real eigenvalues of M features at the frequencies of rfftn of {self.grid.shape}")
        self._take(given)

    @classmethod
    def of_sheets(cls, sheets: Callable[[], Iterable[FloatArray]], shape: Sequence[int]) -> Bands:
        """Take the responses one by one, which needs room for one of them where all are products of lines.

        Parameters
        ----------
        sheets : callable
            Returns the responses, each ``half``; called again where one is no product.
        shape : tuple of int
        """
        bands = cls.__new__(cls)
        bands.grid = Grid(tuple(int(n) for n in shape))
        bands._take(sheets)
        return bands

    def _take(self, given: NDArray[Any] | Callable[[], Iterable[FloatArray]]) -> None:
        half, lines = self.grid.half, None
        if len(half) > 1:
            sheets = given() if callable(given) else given
            lines = Lines.of_sheets(_checked(sheet).reshape(-1, half[-1]) for sheet in sheets)
        if lines is None:
            whole = _stacked(given()) if callable(given) else _checked(given)
        first = whole if lines is None else lines.outer.reshape(-1, *half[:-1])
        self.folded = tuple(axis for axis in range(1, len(half)) if _is_even(first, axis))
        for axis in self.folded:
            first = _first_half(first, axis)
        self.lattice = (*first.shape[1 : len(half)], half[-1])
        if lines is None:
            lines = Lines.plain(first)
        else:
            lines = lines._replace(outer=np.ascontiguousarray(first.reshape(len(first), -1)))
        super().__init__(None, self.lattice, lines)
        self.at_zero = self.at(slice(0, 1))[:, 0].copy()

    @cached_property
    def coarse(self) -> Coarse | None:
        """The same features on fewer frequencies, where sums over both agree almost."""
        if len(self.folded) < len(self.lattice) - 1 and any(n > 2 for n in self.grid.shape[:-1]):
            return None
        return Coarse.of(self, self.lattice, self.grid.shape)

    @cached_property
    def sketch(self) -> Coarse | None:
        """Still fewer, where the answer is found on `nodes`."""
        return None if self.nodes is None else Coarse.of(self, self.lattice, self.grid.shape, _SKETCHED)

    @cached_property
    def nodes(self) -> Nodes | None:
        """The same features on so few nodes that sums over both agree to rounding, where a.w is small."""
        found = nodes_of(self.lines, self.grid.shape)
        return None if found is None or found.size > _WORTH * self.count else found

    @cached_property
    def more_nodes(self) -> Nodes | None:
        """The same on more nodes, where a.w may be a few units; those of `nodes` where more are not worth it."""
        found = None if self.nodes is None else nodes_of(self.lines, self.grid.shape, MORE)
        return self.nodes if found is None or found.size > _WORTH * self.count else found

    @cached_property
    def groups_of(self) -> IntArray:
        """The place among the outer frequencies that are told apart of each outer frequency of the half spectrum."""
        first = self.lattice[:-1]
        places = self.unfolded(np.arange(float(math.prod(first))).reshape(1, *first, 1))
        return places.reshape(-1).astype(np.intp)

    @cached_property
    def order_of_groups(self) -> IntArray:
        """Outer frequencies of the half spectrum, those that are not told apart after each other."""
        return np.argsort(self.groups_of, kind="stable")

    @cached_property
    def counts(self) -> FloatArray:
        """How many frequencies of the whole spectrum each one that is told apart stands for, (n,)."""
        return np.asarray(self.fold(self.grid.doubled(np.ones((1, *self.grid.half))))[0])

    def fold(self, power: FloatArray) -> FloatArray:
        """Add up power ``(R, *half)`` over the frequencies that are not told apart: (R, n)."""
        return self.folded_power(power).reshape(len(power), self.count)

    def folded_power(self, power: FloatArray) -> FloatArray:
        """The same for power ``(R, *half)``, or a part of its last axis: ``(R, *lattice)``."""
        for axis in self.folded:
            n = power.shape[axis]
            kept = _first_half(power, axis).copy()
            mirrored = [slice(None)] * power.ndim
            mirrored[axis] = slice(n - 1, n // 2, -1)
            into = [slice(None)] * power.ndim
            into[axis] = slice(1, (n - 1) // 2 + 1)
            kept[tuple(into)] += power[tuple(mirrored)]
            power = kept
        return power

    def unfold(self, factors: FloatArray) -> FloatArray:
        """Give each frequency of the half spectrum the factor of its group: (R, n) to ``(R, *half)``."""
        return self.unfolded(factors.reshape(-1, *self.lattice))

    def unfolded(self, factors: FloatArray) -> FloatArray:
        """The same for factors ``(R, *lattice)``, or a part of their last axis."""
        for axis in self.folded:
            n = self.grid.shape[axis - 1]
            index = np.minimum(np.arange(n), n - np.arange(n))
            factors = factors.take(index, axis=axis)
        return factors

    def values(self, rows: ArrayLike) -> FloatArray:
        """Return the M features of rows (R, N), as an array (R, M)."""
        signals = np.asarray(rows, dtype=np.float64)
        out = np.zeros((len(signals), 1, len(self)))
        for some in self.grid.groups(len(signals)):
            spectra = self.grid.forward(signals[some])
            for part in self.parts():  # each signal by itself, whatever the others
                power = self._power(spectra, part)
                out[some] += power.reshape(len(power), 1, -1) @ self.sheet(part).T
        return np.asarray(out[:, 0] / self.grid.size**2)

    def parts(self) -> Iterator[slice]:
        """Parts of the last axis, so that no temporary grows with the signal."""
        n, others = self.lattice[-1], max(1, math.prod(self.grid.half[:-1]))
        step = max(8, BLOCK // others)
        return (slice(start, min(n, start + step)) for start in range(0, n, step))

    def powers(self, spectra: NDArray[np.complex128]) -> FloatArray:
        """Return ``|X|^2`` of transforms ``(R, *half)`` at the frequencies that are told apart: (R, n)."""
        out = np.empty((len(spectra), *self.lattice))
        for some in self.grid.groups(len(spectra)):
            for part in self.parts():
                out[some, ..., part] = self._power(spectra[some], part)
        return out.reshape(len(out), self.count)

    def _power(self, spectra: NDArray[np.complex128], part: slice) -> FloatArray:
        half = spectra[..., part]
        power = half.real**2
        power += half.imag**2
        return self.folded_power(self.grid.doubled(power, part.start))

    def sheet(self, part: slice) -> FloatArray:
        """Return the eigenvalues at a part of the last axis, (M, ...)."""
        first = math.prod(self.lattice[:-1])
        if self.lines.outer.shape[1] == first:
            return self.lines.product(part=part)
        columns = self.lines.inner.reshape(-1, first, self.lattice[-1])[:, :, part]
        return columns.reshape(len(columns), -1)

    def widths(self, parameters: FloatArray) -> FloatArray:
        """Bound the largest a.w minus the smallest one over all frequencies, for several a."""
        nodes = self.nodes
        if nodes is None and self.count > BLOCK:
            return np.asarray(2 * np.abs(parameters) @ self.largest)
        if nodes is None:
            along, between = self.lines.along(parameters).reshape(len(parameters), -1), 1.0
        else:
            along, between = parameters @ self._at_probes, nodes.probes.between
        return np.asarray((along.max(axis=1) - along.min(axis=1)) * between)

    @cached_property
    def _at_probes(self) -> FloatArray:
        assert self.nodes is not None
        probes = self.nodes.probes
        return Lines(probes.outer, probes.inner, self.lines.places, self.lines.scales).product()

    def along(self, parameters: FloatArray, part: slice) -> FloatArray:
        """Return a.w at a part of the last axis, ``(R, *lattice[:-1], ...)``."""
        first = math.prod(self.lattice[:-1])
        if self.lines.outer.shape[1] == first:
            found = self.lines.along(parameters, part)
        else:
            found = parameters[:, None, :] @ self.sheet(part)
        return found.reshape(len(parameters), *self.lattice[:-1], -1)


def _stacked(sheets: Iterable[FloatArray]) -> FloatArray:
    """Sheets as one array, with room for one more."""
    whole = np.empty((0,))
    for count, sheet in enumerate(sheets, 1):
        whole.resize((count, *sheet.shape), refcheck=False)  # no other array looks into it
        whole[-1] = _checked(sheet)
    return whole


def _checked(sheet: NDArray[Any]) -> FloatArray:
    if sheet.dtype.kind not in "fiu" or not np.isfinite([sheet.max(), sheet.min()]).all():
        raise InvalidInput("the eigenvalues of quadratic features are real and finite: squared responses |H|^2")
    return sheet.astype(np.float64, copy=False)


def _first_half(array: Any, axis: int) -> Any:
    return array[(slice(None),) * axis + (slice(0, array.shape[axis] // 2 + 1),)]


def _is_even(half: FloatArray, axis: int) -> bool:
    """True iff every eigenvalue is the same at opposite frequencies of one axis, up to the rounding of a transform."""
    n = half.shape[axis]
    if n < 3:
        return False
    ahead, back = [(slice(None),) * (axis - 1) + (part,) for part in (slice(1, None), slice(None, 0, -1))]
    return all(np.abs(one[ahead] - one[back]).max() <= 64 * EPS * np.abs(one).max() for one in half)
