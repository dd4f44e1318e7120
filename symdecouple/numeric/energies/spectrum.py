r"""Commuting quadratic features in the frequency domain, where each is a weighted sum over the power spectrum.

Circular filters commute: f_j = x'A_j x/N has the eigenvectors of the Fourier transform X, with real eigenvalues w_j
(``|H_j|^2`` for the energy of a filter, cos(2 pi k xi/N) for an autocorrelation, Re(conj(H) G) of two), so that

.. math:: f_j(x) = \sum_\xi w_j(\xi)\, P(\xi), \qquad P = |X|^2 / N^2 .

Only half of the frequencies are kept (real samples). Where all w_j are even along an axis, the two halves of that axis
are added up: nothing below depends on more than the sums of P over frequencies with equal (w_1, ..., w_M).
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.energies.bands import Bands, Grid
from symdecouple.numeric.energies.eigenvalues import EPS
from symdecouple.numeric.energies.jit import are_wanted, powers_compiled, transform_tilted
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["EPS", "Bands", "Grid", "Spectrum"]

_MODEST = 128  # exponents of signals whose powers and products are far from the ends of the range of floats
_LEAST, _MOST = 2.0**-250, 2.0**250  # of powers that such signals have
_LARGEST = 700.0  # exponent that float64 can hold
_HIGHEST = 1022  # exponent of 2


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
    silent : int array (R,), optional
        How many shares are 0, where compiled loops counted them.
    """

    bands: Bands
    transforms: NDArray[np.complex128]
    exponents: NDArray[np.intc]
    shares: FloatArray
    log_power: FloatArray
    means: FloatArray | None = field(default=None)
    silent: IntArray | None = field(default=None)

    @classmethod
    def of(cls, bands: Bands, rows: FloatArray, centred: bool = False) -> Spectrum:
        """Transform rows (R, N); with `centred` their means are set apart.

        What a transform leaves where there is nothing is some eps times the largest ``|X|``, that of the mean aside,
        which is taken out before: such power counts as zero.
        """
        grid, size = bands.grid, bands.grid.size
        if are_wanted(bands):
            with np.errstate(over="ignore", invalid="ignore"):
                transforms, means, ceiling = _transformed(grid, rows, centred)
            found = powers_compiled(transforms, bands, ceiling, _rounding(size), -2 * math.log(size))
            # The largest sample squared is at most total/N and at least total/N^2: no need to look for it.
            is_modest = found.least > _LEAST * size**2 and found.most < _MOST
            if is_modest and (means is None or (means**2).max() < _MOST):
                exponents = np.zeros(len(rows), dtype=np.intc)
                return cls(bands, transforms, exponents, found.shares, found.log_power, means, found.silent)
        largest, least = rows.max(axis=1), rows.min(axis=1)
        exponents = np.frexp(np.maximum(largest, -least))[1]
        exponents[np.abs(exponents) <= _MODEST] = 0
        scaled = _scaled(rows, -exponents)
        transforms, means, ceiling = _transformed(grid, scaled, centred)
        del scaled
        if means is not None:
            means = np.ldexp(means, exponents)
            transforms[largest == least] = 0
        shares, log_total, silent = _shares(bands, transforms, ceiling)
        log_power = log_total + 2 * math.log(2) * exponents - 2 * math.log(size)
        return cls(bands, transforms, exponents, shares, log_power, means, silent)

    def times(self, rows: Any, factors: FloatArray, units: int = 1) -> FloatArray:
        """Multiply the transforms of some rows by factors (R, n), and return signals (R, N) times 2^(units e)."""
        back = self.bands.grid.inverse(self.transforms[rows] * self.bands.unfold(factors))
        return _scaled(back, units * self.exponents[rows])

    def tilted(self, rows: IntArray, parameters: FloatArray, coefficients: FloatArray | None = None,
               room: FloatArray | None = None, is_last: bool = False) -> FloatArray:
        """Multiply the transforms of some rows by exp(a.w), and return signals.

        Parameters
        ----------
        rows : int array (Q,)
        parameters : array (Q, M)
            a.
        coefficients : array (Q, M), optional
            Multiply by 2 c.w/N as well, and by nothing at frequency zero of centred signals: a gradient.
        room : array, optional
            What one signal is made in, 2 N numbers one after the other.
        is_last : bool
            One signal may be made in the room of its transform, which is lost.

        Returns
        -------
        array (Q, N)
            Made in the room of one transform.
        """
        out = None if len(rows) == 1 else np.empty((len(rows), self.bands.grid.size))
        for some in self.bands.grid.groups(len(rows)):
            these = rows[some]
            if is_last and len(rows) == len(self.transforms) == 1:
                spectra = self.transforms
            elif room is None:
                spectra = np.empty((len(these), *self.bands.grid.half), dtype=np.complex128)
            else:
                spectra = room.view(np.complex128)[: math.prod(self.bands.grid.half)].reshape(1, *self.bands.grid.half)
            units = self._tilt(spectra, these, parameters[some], None if coefficients is None else coefficients[some])
            signals = _scaled(self.bands.grid.inverse(spectra), units + self.exponents[these], in_place=True)
            del spectra
            if out is None:
                return signals
            out[some] = signals
        return np.zeros((0, self.bands.grid.size)) if out is None else out

    def _tilt(self, spectra: NDArray[np.complex128], rows: IntArray, parameters: FloatArray,
              coefficients: FloatArray | None = None) -> IntArray:
        """Write products where rows have power: rounding is not to be lifted; returns powers of 2 taken out."""
        bands = self.bands
        bound = np.abs(parameters) @ bands.largest
        known: FloatArray | None = None
        if are_wanted(bands) and (coefficients is not None or bound.max(initial=0) < _LARGEST):
            units = np.empty(len(rows), dtype=np.intp)
            for q, row in enumerate(rows.tolist()):
                slope, scale = (None, 1.0) if coefficients is None else (coefficients[q], 2 / bands.grid.size)
                units[q] = transform_tilted(bands.lines, parameters[q], slope, scale, self.means is not None,
                                            self.shares[row], bands.groups_of, bands.order_of_groups,
                                            self.transforms[row], spectra[q])
            return units
        parts = list(bands.parts())
        units = np.zeros(len(rows), dtype=np.intp)
        if coefficients is not None:  # a may undo the units of the signal: the largest factor is taken out
            largest = np.full(len(rows), -np.inf)
            for part in parts:
                known = self._exponents(rows, parameters, part)
                largest = np.maximum(largest, known.reshape(len(rows), -1).max(axis=1))
            units = np.rint(np.where(np.isfinite(largest), largest, 0) / np.log(2)).astype(np.intp)
        for part in parts:
            factors = self._exponents(rows, parameters, part) if known is None or len(parts) > 1 else known
            if coefficients is not None:
                factors -= (np.log(2) * units).reshape(-1, *[1] * len(bands.lattice))
            np.exp(factors, out=factors)
            if coefficients is not None:
                factors *= bands.along(coefficients, part)
                factors *= 2 / bands.grid.size
                if self.means is not None and part.start == 0:
                    factors.reshape(len(rows), -1)[:, 0] = 0
            np.multiply(self.transforms[rows, ..., part], bands.unfolded(factors), out=spectra[..., part])
        return units

    def _exponents(self, rows: IntArray, parameters: FloatArray, part: slice) -> FloatArray:
        """Return a.w at a part of the last axis, -inf where rows have no power."""
        along = self.bands.along(parameters, part)
        along[self.shares.reshape(-1, *self.bands.lattice)[rows, ..., part] == 0] = -np.inf
        return along

    def inner(self, rows: IntArray, halves: FloatArray, given: NDArray[np.complex128]) -> FloatArray:
        """Return the inner products of transforms with those of rows times w exp(a.w/2), by parts: (Q, M)."""
        bands = self.bands
        total = np.zeros((len(rows), 1, len(bands)))
        for part in bands.parts():
            moved = self.transforms[rows, ..., part] * bands.unfolded(np.exp(bands.along(halves, part)))
            products = bands.grid.doubled((given[..., part].conj() * moved).real, part.start)
            total += bands.folded_power(products).reshape(len(rows), 1, -1) @ bands.sheet(part).T
        return total[:, 0]

    def pull(self, rows: IntArray, halves: FloatArray, coefficients: FloatArray, given: NDArray[np.complex128]
             ) -> None:
        """Take from transforms, in place, those of rows times c.w exp(a.w/2); what is left times exp(a.w/2)."""
        bands = self.bands
        for part in bands.parts():
            factors = np.exp(bands.along(halves, part))
            given[..., part] -= self.transforms[rows, ..., part] * bands.unfolded(
                factors * bands.along(coefficients, part))
            given[..., part] *= bands.unfolded(factors)


def _transformed(grid: Grid, rows: FloatArray, centred: bool
                 ) -> tuple[NDArray[np.complex128], FloatArray | None, FloatArray]:
    """Transforms of rows, or of what is left of them without their means; these; and power below which there is none.

    Samples are rounded beside their mean, all alike in a pattern that repeats: up to eps/2 of it at a frequency.
    """
    transforms, means, rest = grid.about_means(rows)
    ceiling = (EPS * means * grid.size) ** 2 / _rounding(grid.size)
    if centred:
        return transforms, means + rest, ceiling
    transforms.reshape(-1, math.prod(grid.half))[:, 0] = grid.size * means + grid.size * rest
    return transforms, None, ceiling


def _shares(bands: Bands, transforms: NDArray[np.complex128], ceiling: FloatArray
            ) -> tuple[FloatArray, FloatArray, IntArray | None]:
    """Shares of the power, 0 where it is rounding of transforms, the logarithm of its sum, and how many are 0.

    Of the largest one beside that at frequency zero, which transforms do not mix with the others, or of `ceiling`.
    """
    rounding = _rounding(bands.grid.size)
    if are_wanted(bands):
        return powers_compiled(transforms, bands, ceiling, rounding, 0.0)[:3]
    shares = bands.powers(transforms)
    floor = rounding * np.maximum(ceiling, shares[:, 1:].max(axis=1, initial=0))
    if (shares.min(axis=1) <= floor).any():
        shares[shares <= floor[:, None]] = 0
    total = shares.sum(axis=1)
    shares /= np.where(total > 0, total, 1)[:, None]
    with np.errstate(divide="ignore") if not total.all() else nullcontext():
        return shares, np.log(total), None


def _rounding(size: int) -> float:
    """Power up to this part of the largest one is what transforms leave where there is nothing."""
    return (8 * EPS) ** 2 * math.log2(2 * size)


def _scaled(rows: FloatArray, exponents: NDArray[Any], in_place: bool = False) -> FloatArray:
    """Return rows times 2^exponents, by products where the power is a float: `ldexp` costs as much as a transform."""
    if not exponents.any():
        return rows
    out = rows if in_place else None
    if np.abs(exponents).max() <= _HIGHEST:
        return np.asarray(np.multiply(rows, np.ldexp(1.0, exponents)[:, None], out=out))
    return np.asarray(np.ldexp(rows, exponents[:, None], out=out))
