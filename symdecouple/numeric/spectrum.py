r"""Commuting quadratic features in the frequency domain, where each is a weighted sum over the power spectrum.

Circular filters commute: f_j = x'A_j x/N has the eigenvectors of the Fourier transform X, with real eigenvalues w_j
(``|H_j|^2`` for the energy of a filter, cos(2 pi k xi/N) for an autocorrelation, Re(conj(H) G) of two), so that

.. math:: f_j(x) = \sum_\xi w_j(\xi)\, P(\xi), \qquad P = |X|^2 / N^2 .

Only half of the frequencies are kept (real samples). Where all w_j are even along an axis, the two halves of that axis
are added up: nothing below depends on more than the sums of P over frequencies with equal (w_1, ..., w_M).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike, NDArray

from symdecouple.errors import InvalidInput
from symdecouple.numeric.batch import FloatArray
from symdecouple.numeric.columns import Coarse, Columns

__all__ = ["Bands", "Grid", "Spectrum"]

EPS = float(np.finfo(np.float64).eps)
_MODEST = 128  # exponents of signals whose powers and products are far from the ends of the range of floats


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

    def forward(self, rows: FloatArray) -> NDArray[np.complex128]:
        """Return the unnormalized transforms of rows (R, N)."""
        return np.asarray(scipy.fft.rfftn(rows.reshape(-1, *self.shape), axes=self.axes))

    def inverse(self, spectra: NDArray[np.complex128]) -> FloatArray:
        """Return rows (R, N); the spectra are overwritten."""
        back = scipy.fft.irfftn(spectra, s=self.shape, axes=self.axes, overwrite_x=True)
        return np.asarray(back).reshape(-1, self.size)

    def power(self, spectra: NDArray[np.complex128]) -> FloatArray:
        """Return ``|X|^2`` for sums over the half spectrum, see `doubled`."""
        power = spectra.real**2
        power += spectra.imag**2
        return self.doubled(power)

    def doubled(self, half: FloatArray) -> FloatArray:
        """Double, in place, the frequencies whose conjugate partner is left out: sums are then over all of them."""
        half[..., 1 : (self.shape[-1] + 1) // 2] *= 2
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
        if given.dtype.kind not in "fiu" or not np.isfinite(given).all():
            raise InvalidInput("the eigenvalues of quadratic features are real and finite: squared responses |H|^2")
        half = given.astype(np.float64, copy=False)
        self.folded = tuple(axis for axis in range(1, half.ndim - 1) if _is_even(half, axis))
        for axis in self.folded:
            half = _first_half(half, axis)
        self.lattice = half.shape[1:]
        super().__init__(half.reshape(len(half), -1), self.lattice)
        self.at_zero = self.columns[:, 0].copy()

    @cached_property
    def coarse(self) -> Coarse | None:
        """The same features on fewer frequencies, where sums over both agree almost."""
        if len(self.folded) < len(self.lattice) - 1 and any(n > 2 for n in self.grid.shape[:-1]):
            return None
        return Coarse.of(self, self.lattice, self.grid.shape)

    def fold(self, power: FloatArray) -> FloatArray:
        """Add up power ``(R, *half)`` over the frequencies that are not told apart: (R, n)."""
        for axis in self.folded:
            n = power.shape[axis]
            kept = _first_half(power, axis).copy()
            mirrored = [slice(None)] * power.ndim
            mirrored[axis] = slice(n - 1, n // 2, -1)
            into = [slice(None)] * power.ndim
            into[axis] = slice(1, (n - 1) // 2 + 1)
            kept[tuple(into)] += power[tuple(mirrored)]
            power = kept
        return power.reshape(len(power), math.prod(self.lattice))

    def unfold(self, factors: FloatArray) -> FloatArray:
        """Give each frequency of the half spectrum the factor of its group: (R, n) to ``(R, *half)``."""
        factors = factors.reshape(-1, *self.lattice)
        for axis in self.folded:
            n = self.grid.shape[axis - 1]
            index = np.minimum(np.arange(n), n - np.arange(n))
            factors = factors.take(index, axis=axis)
        return factors

    def values(self, rows: ArrayLike) -> FloatArray:
        """Return the M features of rows (R, N), as an array (R, M)."""
        power = self.fold(self.grid.power(self.grid.forward(np.asarray(rows, dtype=np.float64))))
        return np.asarray(power @ self.columns.T) / self.grid.size**2


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Transforms of a batch of signals, scaled by powers of two.

    Attributes
    ----------
    transforms : complex array ``(R, *half)``
        Of x/2^e; with a mean imposed, of x - Mean(x).
    exponents : int array (R,)
        e, 0 for signals of ordinary size.
    shares : array (R, n)
        Power at the frequencies that are told apart, over the sum of all; 0 where it is rounding.
    log_power : array (R,)
        Logarithm of that sum for the unscaled signal: sum over all xi of P; -inf for a signal without power.
    """

    bands: Bands
    transforms: NDArray[np.complex128]
    exponents: NDArray[np.intc]
    shares: FloatArray
    log_power: FloatArray
    means: FloatArray | None = field(default=None)

    @classmethod
    def of(cls, bands: Bands, rows: FloatArray, centred: bool = False) -> Spectrum:
        """Transform rows (R, N); with `centred` their means are set apart.

        What a transform leaves where there is nothing is some eps times the largest ``|X|``: such power counts as zero.
        """
        grid, size = bands.grid, bands.grid.size
        exponents = np.frexp(np.maximum(rows.max(axis=1), -rows.min(axis=1)))[1]
        exponents[np.abs(exponents) <= _MODEST] = 0
        scaled = _scaled(rows, -exponents, copy=centred)
        means = None
        ceiling = np.zeros(len(rows))
        if centred:
            first = scaled.mean(axis=1)
            scaled -= first[:, None]
            second = scaled.mean(axis=1)  # what the first one, beside an offset, rounds away
            scaled -= second[:, None]
            means = np.ldexp(first + second, exponents)
            ceiling = (first * size) ** 2
            scaled[rows.max(axis=1) == rows.min(axis=1)] = 0
        transforms = grid.forward(scaled)
        if centred:
            transforms.reshape(len(transforms), -1)[:, 0] = 0
        shares = bands.fold(grid.power(transforms))
        ceiling = np.maximum(ceiling, shares.max(axis=1))
        shares[shares <= (8 * EPS) ** 2 * math.log2(2 * size) * ceiling[:, None]] = 0
        total = shares.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_power = np.log(total) + 2 * math.log(2) * exponents - 2 * math.log(size)
            shares /= np.where(total > 0, total, 1)[:, None]
        return cls(bands, transforms, exponents, shares, log_power, means)

    def times(self, rows: Any, factors: FloatArray, units: int = 1) -> FloatArray:
        """Multiply the transforms of some rows by factors (R, n), and return signals (R, N) times 2^(units e)."""
        back = self.bands.grid.inverse(self.transforms[rows] * self.bands.unfold(factors))
        return _scaled(back, units * self.exponents[rows])


def _scaled(rows: FloatArray, exponents: NDArray[np.intc], copy: bool = False) -> FloatArray:
    """Return rows times 2^exponents; `ldexp` costs as much as a transform, so not where there is nothing to do."""
    if exponents.any():
        return np.asarray(np.ldexp(rows, exponents[:, None]))
    return rows.copy() if copy else rows


def _first_half(array: Any, axis: int) -> Any:
    return array[(slice(None),) * axis + (slice(0, array.shape[axis] // 2 + 1),)]


def _is_even(half: FloatArray, axis: int) -> bool:
    """True iff every eigenvalue is the same at opposite frequencies of one axis, up to the rounding of a transform."""
    n = half.shape[axis]
    if n < 3:
        return False
    ahead, back = [(slice(None),) * (axis - 1) + (part,) for part in (slice(1, None), slice(None, 0, -1))]
    return all(np.abs(one[ahead] - one[back]).max() <= 64 * EPS * np.abs(one).max() for one in half)
