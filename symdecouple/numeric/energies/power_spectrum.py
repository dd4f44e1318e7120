r"""Commuting quadratic features in the frequency domain, where each is a weighted sum over the power spectrum.

Circular filters commute: f_j = x'A_j x/N has the eigenvectors of the Fourier transform X, with real eigenvalues w_j
(``|H_j|^2`` for the energy of a filter, cos(2 pi k xi/N) for an autocorrelation, Re(conj(H) G) of two), so that

.. math:: f_j(x) = \sum_\xi w_j(\xi)\, P(\xi), \qquad P = |X|^2 / N^2 .

Only half of the frequencies are kept (real samples). Where all w_j are even along an axis, the two halves of that axis
are added up: nothing below depends on more than the sums of P over frequencies with equal (w_1, ..., w_M).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.energies.eigenvalues import EPS
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.samples.batch import FloatArray, IntArray
from symdecouple.numeric.samples.matrix import BoolArray

__all__ = ["Spectrum"]

_MODEST = 128  # exponents of signals whose powers and products are far from the ends of the range of floats
_TAKEN = 1e-12  # of the power: half of the digits of a signal
_FAR = 300.0  # exponents of e up to which factors need no unit


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
    means : array (R,), optional
        Where they are set apart.
    """

    bands: Bands
    transforms: NDArray[np.complex128]
    exponents: NDArray[np.intc]
    shares: FloatArray
    log_power: FloatArray
    means: FloatArray | None = None

    @classmethod
    def of(cls, bands: Bands, rows: FloatArray, centred: bool = False) -> Spectrum:
        """Transform rows (R, N); with `centred` their means are set apart.

        What a transform leaves where there is nothing is some eps times the largest ``|X|``, that of the mean aside,
        which is taken out before: such power counts as zero.
        """
        size = bands.grid.size
        largest, least = rows.max(axis=1), rows.min(axis=1)
        exponents = np.frexp(np.maximum(largest, -least))[1]
        exponents[np.abs(exponents) <= _MODEST] = 0
        transforms, means, rest = bands.grid.about_means(_scaled(rows, -exponents))
        # Samples are rounded beside their mean, all alike in a pattern that repeats: up to eps/2 of it at a frequency.
        ceiling = (EPS * means * size) ** 2 / _rounding(size)
        if centred:
            transforms[largest == least] = 0
        else:
            transforms[bands.grid.zero] = size * means + size * rest
        shares, total = _shares(bands, transforms, ceiling, largest == least)
        with np.errstate(divide="ignore"):
            log_power = np.log(total) + 2 * math.log(2) * exponents - 2 * math.log(size)
        return cls(bands, transforms, exponents, shares, log_power,
                   np.ldexp(means + rest, exponents) if centred else None)

    def tilted(self, rows: IntArray, parameters: FloatArray, coefficients: FloatArray | None = None,
               out: FloatArray | None = None) -> FloatArray:
        """Multiply the transforms of some rows by exp(a.w), and return signals (Q, N).

        Parameters
        ----------
        rows : int array (Q,)
        parameters : array (Q, M)
            a.
        coefficients : array (Q, M), optional
            Multiply by 2 c.w/N as well, and by nothing at frequency zero of centred signals: a gradient.
        out : array (Q, N), optional
        """
        found = np.empty((len(rows), self.bands.grid.size)) if out is None else out
        for some in self.bands.grid.groups(len(rows)):
            slopes = None if coefficients is None else coefficients[some]
            self._tilted(rows[some], parameters[some], slopes, found[some])
        return found

    def all_tilted(self, rows: IntArray, parameters: FloatArray) -> FloatArray:
        """Return signals (R, N), NaN where they are not among the rows; the transform of a single one is used up."""
        if len(rows) == len(self.transforms) == 1:
            return self._tilted(rows, parameters, None, None)
        out = np.full((len(self.transforms), self.bands.grid.size), np.nan)
        out[rows] = self.tilted(rows, parameters)
        return out

    def _tilted(self, rows: IntArray, parameters: FloatArray, coefficients: FloatArray | None, out: FloatArray | None
                ) -> FloatArray:
        bands, which = self.bands, slice(rows[0], rows[0] + 1) if len(rows) == 1 else rows  # no copy of what is long
        silent, units = (self.shares[which] == 0).reshape(-1, *bands.lattice), np.zeros(len(rows), dtype=np.intp)
        along = bands.along_parts(parameters)
        slope = None if coefficients is None else bands.along_parts(coefficients * (2 / bands.grid.size))
        if slope is not None and (np.abs(parameters) @ bands.largest).max() > _FAR:  # a may undo the units of a signal
            largest = np.max([np.where(silent[..., part], -np.inf, along(part)).max(axis=bands.grid.axes)
                              for part in bands.grid.parts()], axis=0)
            units = np.rint(np.where(np.isfinite(largest), largest, 0) / np.log(2)).astype(np.intp)

        def factors(part: slice) -> FloatArray:
            found = along(part)
            found[silent[..., part]] = -np.inf  # rounding is not to be lifted
            found -= (np.log(2) * units).reshape(-1, *[1] * len(bands.lattice))
            np.exp(found, out=found)
            if slope is not None:
                found *= slope(part)
                if part.start == 0:
                    found[bands.grid.zero] *= self.means is None
            return bands.unfold(found)

        return _scaled(bands.grid.inverse(self.transforms[which], factors, out), units + self.exponents[rows], True)

    def again(self, rows: FloatArray, which: IntArray) -> NDArray[np.complex128]:
        """Transform some of the rows anew, in the same units."""
        some = rows if len(which) == len(rows) else rows[which]
        transforms = self.bands.grid.forward(_scaled(some, -self.exponents[which]))
        if self.means is not None:
            transforms[self.bands.grid.zero] = 0
        return transforms


def _shares(bands: Bands, transforms: NDArray[np.complex128], ceiling: FloatArray, is_equal: BoolArray
            ) -> tuple[FloatArray, FloatArray]:
    """Shares of the power, 0 where it is rounding of transforms, and its sum.

    Of the largest one beside that at frequency zero, which transforms do not mix with the others, or of `ceiling`; but
    where that would take a signal that varies away, its samples are what they are.
    """
    shares = bands.powers(transforms)
    others, rounding = shares[:, 1:], _rounding(bands.grid.size)
    largest = others.max(axis=1, initial=0)
    floor = rounding * np.maximum(ceiling, largest)
    for r in np.flatnonzero((ceiling > largest) & ~is_equal):
        if others[r, others[r] <= floor[r]].sum() > _TAKEN * others[r].sum():
            floor[r] = rounding * largest[r]
    shares[shares <= floor[:, None]] = 0
    total = shares.sum(axis=1)
    shares /= np.where(total > 0, total, 1)[:, None]
    return shares, total


def _rounding(size: int) -> float:
    """Power up to this part of the largest one is what transforms leave where there is nothing."""
    return (8 * EPS) ** 2 * math.log2(2 * size)


def _scaled(rows: FloatArray, exponents: NDArray[Any], in_place: bool = False) -> FloatArray:
    """Return rows times 2^exponents."""
    if not exponents.any():
        return rows
    with np.errstate(over="ignore"):  # what is beyond float64 is refused where it is used
        return np.asarray(np.ldexp(rows, exponents[:, None], out=rows if in_place else None))
