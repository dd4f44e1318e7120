r"""Deviations from orthogonality of gradients, in degrees: 90 minus the angle, above 0 where it is acute.

For directions u and v, brought to length 1,

.. math:: \mathrm{DO}(u, v) = 90^\circ - \angle(u, v), \qquad
    \tan \mathrm{DO} = \frac{\langle u, v\rangle}{\frac12 |u - v|\,|u + v|}

since |u - v|^2 |u + v|^2 = 4 (1 - <u, v>^2). The arcsine of <u, v> is as good near 0, and near 90 degrees it loses half
of the digits (2e-8 rad); this formula loses none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.batch import FloatArray
from symdecouple.shown import Shown

__all__ = ["Deviations", "deviations", "unit"]


def unit(vectors: Any) -> FloatArray:
    """Return vectors over their lengths, along the last axis; a vector of zeros has no direction and comes out NaN.

    Examples
    --------
    >>> unit(np.array([3e200, 4e200])).round(15).tolist()
    [0.6, 0.8]
    """
    given = np.asarray(vectors, dtype=np.float64)
    _, exponent = np.frexp(np.abs(given).max(axis=-1, keepdims=True, initial=0.0))
    scaled = np.ldexp(given, -exponent)  # squares neither overflow nor vanish
    with np.errstate(invalid="ignore"):
        found: FloatArray = scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)
    return found


def deviations(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return 90 degrees minus the angle between each of the first vectors and each of the second.

    Parameters
    ----------
    first, second : array (..., M, N)

    Returns
    -------
    array (..., M, M)
        Accurate to rounding, near 0 and near 90 degrees alike; NaN for a vector of zeros.

    Examples
    --------
    >>> deviations(np.eye(2), np.array([[1.0, 1.0], [-1.0, 0.0]])).round(12).tolist()
    [[45.0, -90.0], [45.0, 0.0]]
    """
    u, v = unit(first), unit(second)
    cosines = u @ np.swapaxes(v, -1, -2)
    sines = np.empty_like(cosines)
    for i in range(u.shape[-2]):
        one = u[..., i : i + 1, :]
        sines[..., i, :] = np.linalg.norm(one - v, axis=-1) * np.linalg.norm(one + v, axis=-1) / 2
    found: FloatArray = np.degrees(np.arctan2(cosines, sines))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Deviations(Shown):
    r"""Deviations from orthogonality between two lists of gradients, over a batch.

    Refused samples are NaN in `degrees`, and left out of all averages; without any sample these are NaN. Standard
    deviations are those of the samples at hand (divided by their number).

    Attributes
    ----------
    title : str
    degrees : array (..., M, M)
        Signed: acute angles above 0, obtuse below. Row i is a gradient of the first list, column j one of the second.
    features : tuple of int
        Their numbers, from 1.
    symbols : tuple of str
        What the first and the second list are called in LaTeX.
    """

    title: str
    degrees: FloatArray
    features: tuple[int, ...]
    symbols: tuple[str, str]

    @property
    def samples(self) -> FloatArray:
        """The deviations at the samples that were not refused, (rows, M, M)."""
        rows = self.degrees.reshape(-1, *self.degrees.shape[-2:])
        return rows[~np.isnan(rows).any(axis=(1, 2))]

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs that count in `average`, by their numbers: each feature and one before it."""
        return tuple((self.features[j], self.features[i]) for i, j in zip(*self._below, strict=True))

    @property
    def mean(self) -> FloatArray:
        """The mean of abs(DO) over the samples, (M, M)."""
        return _mean(np.abs(self.samples), (0,))

    @property
    def std(self) -> FloatArray:
        """The standard deviation of abs(DO) over the samples, (M, M)."""
        return _std(np.abs(self.samples), (0,))

    @property
    def signed_mean(self) -> FloatArray:
        """The mean of DO over the samples, (M, M)."""
        return _mean(self.samples, (0,))

    @property
    def signed_std(self) -> FloatArray:
        """The standard deviation of DO over the samples, (M, M)."""
        return _std(self.samples, (0,))

    @property
    def average(self) -> float:
        """The mean of abs(DO) over pairs and samples."""
        return float(_mean(self._of_pairs, (0, 1)))

    @property
    def spread(self) -> float:
        """The standard deviation of abs(DO) over pairs and samples."""
        return float(_std(self._of_pairs, (0, 1)))

    @property
    def largest(self) -> float:
        """The largest abs(DO) of all pairs and samples."""
        return float(self._of_pairs.max()) if self._of_pairs.size else np.nan

    def select(self, numbers: Sequence[int]) -> Deviations:
        """Return the deviations between some of the features, by their numbers from 1."""
        unknown = [n for n in numbers if n not in self.features]
        if unknown or len(set(numbers)) < len(numbers) or len(numbers) < 2:
            raise InvalidInput(f"features {', '.join(map(str, numbers)) or 'none'} were asked for; two or more "
                               f"different ones of {', '.join(map(str, self.features))} are expected")
        order = sorted(numbers)
        places = [self.features.index(n) for n in order]
        return Deviations(self.title, self.degrees[..., places, :][..., places], tuple(order), self.symbols)

    def __repr__(self) -> str:
        return f"<{self.title}: {self.average:.2g} ± {self.spread:.2g} degrees, {len(self.samples)} samples>"

    @property
    def _below(self) -> tuple[Any, ...]:
        return np.tril_indices(len(self.features), -1)

    @property
    def _of_pairs(self) -> FloatArray:
        found: FloatArray = np.abs(self.samples[(slice(None), *self._below)])
        return found


def _mean(values: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    if values.size:
        return np.asarray(np.mean(values, axis=axes))
    return np.full(np.sum(values, axis=axes).shape, np.nan)


def _std(values: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    return np.sqrt(_mean((values - _mean(values, axes)) ** 2, axes))
