"""Sample axes and their frequencies, and the eigenvalues of features at the frequencies that they tell apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.fft
import scipy.fftpack
from numpy.typing import ArrayLike, NDArray

from symdecouple.errors import InvalidInput
from symdecouple.numeric.energies.eigenvalues import EPS, Columns, Lines
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["BLOCK", "Bands", "Grid"]

BLOCK = 2**16  # samples worked on at a time: temporaries do not grow with the number of signals


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

    @property
    def zero(self) -> tuple[Any, ...]:
        """Where frequency zero is in an array with rows first."""
        return (slice(None), *[0] * len(self.shape))

    def groups(self, count: int) -> Iterator[slice]:
        """Some of so many signals at a time, one where they are long."""
        return self._parts(count, self.size)

    def forward(self, rows: FloatArray) -> NDArray[np.complex128]:
        """Return the unnormalized transforms of rows (R, N), each accurate beside the spread of its row.

        A mean beside which the rest is small would leave its rounding at all frequencies: it is put back at zero.
        """
        spectra, means, rest = self.about_means(rows)
        spectra[self.zero] = self.size * means + self.size * rest
        return spectra

    def about_means(self, rows: FloatArray) -> tuple[NDArray[np.complex128], FloatArray, FloatArray]:
        """Return the transforms of rows without their means, these, and what their rounding leaves out: by parts."""
        means, lines = rows.mean(axis=1), rows.reshape(len(rows), self.size // self.shape[-1], self.shape[-1])
        spectra = np.empty((len(rows), *self.half), dtype=np.complex128)
        for part in self._parts(lines.shape[1], self.shape[-1]):
            of_lines = scipy.fft.rfft(lines[:, part] - means[:, None, None])
            spectra.reshape(*lines.shape[:2], self.half[-1])[:, part] = of_lines
        spectra = scipy.fft.fftn(spectra, axes=self.axes[:-1], overwrite_x=True) if self.shape[1:] else spectra
        rest = spectra[self.zero].real / self.size
        spectra[self.zero] = 0
        return np.asarray(spectra), means, rest

    def inverse(self, spectra: NDArray[np.complex128], factors: Callable[[slice], FloatArray] | None = None,
                out: FloatArray | None = None) -> FloatArray:
        """Return rows (R, N) of spectra times factors, by parts; without `out` in the memory of the spectra."""
        n, flat = self.shape[-1], spectra.view(np.float64).reshape(-1)
        lines = flat.reshape(*spectra.shape[:-1], -1)[..., :n] if out is None else out.reshape(-1, *self.shape)
        for part in self.parts():
            some = spectra[..., part] if factors is None else spectra[..., part] * factors(part)
            if len(self.shape) > 1:
                some = scipy.fft.ifftn(some, axes=self.axes[:-1], overwrite_x=factors is not None)
            # The n numbers of a line are those of its half spectrum without the imaginary parts that are 0.
            numbers, at = np.ascontiguousarray(some).view(np.float64), max(2 * part.start - 1, 0)
            if at == 0:
                lines[..., 0], numbers, at = numbers[..., 0], numbers[..., 2:], 1
            lines[..., at : at + numbers.shape[-1]] = numbers[..., : n - at]
        scipy.fftpack.irfft(lines, overwrite_x=True)
        if out is None:
            lines = lines.reshape(-1, n)
            for part in self._parts(len(lines), n):
                flat[part.start * n : part.stop * n] = lines[part].reshape(-1)  # what was read lies behind
            out = flat[: lines.size].reshape(-1, self.size)
        return out

    def parts(self) -> Iterator[slice]:
        """Parts of the last axis of the half spectrum."""
        return self._parts(self.half[-1], 2 * self.size // self.shape[-1])

    @staticmethod
    def _parts(count: int, size: int) -> Iterator[slice]:
        """Some of so many things, each of so many numbers, at a time."""
        step = max(1, BLOCK // size)
        return (slice(start, min(start + step, count)) for start in range(0, count, step))

    def doubled(self, half: FloatArray) -> FloatArray:
        """Double, in place, the frequencies whose conjugate partner is left out: sums are then over all of them."""
        half[..., 1 : (self.shape[-1] + 1) // 2] *= 2
        return half


class Bands(Columns):
    """M commuting quadratic features of signals of one shape, by their eigenvalues.

    Parameters
    ----------
    responses : array_like ``(M, *half)``, or callable
        Real eigenvalues w_j on the frequencies of `numpy.fft.rfftn`: squared responses ``|H_j|^2`` of energies. Or what
        returns them one by one, each ``half``, so that only one of them is there at a time where all are products of
        lines; it is called again where one is no product.
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

    def __init__(self, responses: ArrayLike | Callable[[], Iterable[FloatArray]], shape: Sequence[int]) -> None:
        self.grid = Grid(tuple(int(n) for n in shape))
        if not self.grid.shape or min(self.grid.shape) < 1:
            raise InvalidInput(f"a signal has at least one sample along each axis, shape {tuple(shape)} was given")
        half, lines, sheets = self.grid.half, None, responses
        if not callable(sheets):
            given = np.asarray(responses)
            if given.shape[1:] != half or not len(given):
                raise InvalidInput(f"responses of shape {given.shape} were given, (M, *{half}) is expected: the real "
                                   f"eigenvalues of M features at the frequencies of rfftn of {self.grid.shape}")
            sheets = partial(iter, given)
        if len(half) > 1:
            lines = Lines.of_sheets(_checked(sheet).reshape(-1, half[-1]) for sheet in sheets())
        kind: Any = np.dtype((np.float64, half))
        first = np.fromiter(map(_checked, sheets()), kind) if lines is None else lines.outer.reshape(-1, *half[:-1])
        self.folded = tuple(axis for axis in range(1, len(half)) if _is_even(first, axis))
        for axis in self.folded:
            first = _first_half(first, axis)
        self.lattice = (*first.shape[1 : len(half)], half[-1])
        if lines is None:
            lines = Lines.plain(first)
        else:
            lines = lines._replace(outer=np.ascontiguousarray(first.reshape(len(first), -1)))
        super().__init__(lines, self.lattice)
        self.at_zero = self.at(slice(0, 1))[:, 0].copy()

    def fold(self, power: FloatArray) -> FloatArray:
        """Add up power ``(R, *half)`` over the frequencies that are not told apart: ``(R, *lattice)``."""
        for axis in self.folded:
            n, whole = power.shape[axis], power.swapaxes(0, axis)
            power = _first_half(power, axis).copy()
            power.swapaxes(0, axis)[1 : (n + 1) // 2] += whole[: n // 2 : -1]
        return power

    def unfold(self, factors: FloatArray) -> FloatArray:
        """Give each frequency of the half spectrum the factor of its group: ``(R, *lattice)`` to ``(R, *half)``."""
        for axis in self.folded:
            n = self.grid.shape[axis - 1]
            index = np.minimum(np.arange(n), n - np.arange(n))
            factors = factors.take(index, axis=axis)
        return factors

    def values(self, rows: ArrayLike) -> FloatArray:
        """Return the M features of rows (R, N), as an array (R, M)."""
        signals = np.asarray(rows, dtype=np.float64)
        out = np.empty((len(signals), len(self)))
        for some in self.grid.groups(len(signals)):
            out[some] = self.lines.sums(self.powers(self.grid.forward(signals[some])))
        return out / self.grid.size**2

    def powers(self, spectra: NDArray[np.complex128]) -> FloatArray:
        """Return ``|X|^2`` of transforms ``(R, *half)`` at the frequencies that are told apart: (R, n)."""
        found = np.empty((len(spectra), *self.lattice))
        for part in self.grid.parts():
            power = np.square(spectra.real[..., part])
            power += np.square(spectra.imag[..., part])
            found[..., part] = self.fold(power)
        return self.grid.doubled(found).reshape(len(spectra), self.count)

    def along(self, parameters: FloatArray) -> FloatArray:
        """Return a.w for several a, on the half spectrum ``(Q, *half)``."""
        return self.unfold(self.lines.along(parameters).reshape(-1, *self.lattice))

    def along_parts(self, parameters: FloatArray) -> Callable[[slice], FloatArray]:
        """Return what gives a.w for several a, ``(Q, *lattice)``, at a part of the last axis."""
        shares, lead = self.lines.shares(parameters), self.lattice[:-1]
        lines = self.lines.inner.reshape(len(self.lines.inner), -1, self.lattice[-1])
        return lambda k: np.asarray(shares @ lines[..., k].reshape(len(lines), -1)).reshape(len(shares), *lead, -1)


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
