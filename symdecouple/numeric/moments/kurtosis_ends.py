r"""Both ends of the kurtosis of many samples at once, each with its own ties and skewness (Theorem J at level 4).

A sample with ordered groups of ties, of mean 0, variance 1 and skewness g, keeps its kurtosis strictly between two
samples of three values each, in which groups have met:

* upper end: the group at the minimum, all groups between, the group at the maximum;
* lower end: all groups below a place, the group at it, all groups above. The place is the share P below which the one
  law of *two* values with this skewness has its lower value,

.. math:: \frac{2P - 1}{\sqrt{P (1 - P)}} = g, \qquad P = \frac12 + \frac{g}{2\sqrt{4 + g^2}}

Where P is the boundary of two groups, the two values remain, and the lower end is 1 + g^2, the least of any law.

Three values with the shares a, b, c, at distances u and v from each other, are -A, D, C about their mean,

.. math:: A = (b + c) u + c v, \qquad D = a u - c v, \qquad C = a u + (a + b) v,

and their skewness falls strictly with u/v, from that of two values with the lower share a + b to that with a.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.samples.matrix import BoolArray, FloatArray, IntArray

__all__ = ["ThreeValued", "kurtosis_ends", "kurtosis_ends_of_any", "least_size"]

_FAR = 745.0  # of log(u/v): beyond, one of them is no float64 beside the other
_HALVINGS = 64  # of 2 _FAR, down to rounding
_ROUNDED = 1e-12  # of a kurtosis: an end itself is not inside
_MOST = 2.0**40  # values of a sample up to which the least number is looked for


class ThreeValued(NamedTuple):
    """Samples at one end, three values each, of which the second and the third begin at two places of a row.

    Attributes
    ----------
    kurtosis : array (R,)
    values : array (3, R)
        Of mean 0 and variance 1.
    begin, after : arrays (R,)
    """

    kurtosis: FloatArray
    values: FloatArray
    begin: IntArray
    after: IntArray

    def of(self, which: IntArray) -> ThreeValued:
        """Return those of some rows."""
        return ThreeValued(self.kurtosis[which], self.values[:, which], self.begin[which], self.after[which])

    def samples(self, n_samples: int) -> FloatArray:
        """Return the samples, (R, N)."""
        samples: FloatArray = np.take_along_axis(self.values.T, _which(n_samples, self.begin, self.after), axis=1)
        return samples


def kurtosis_ends(
    is_first: BoolArray, share: FloatArray | None, skewness: FloatArray
) -> tuple[ThreeValued, ThreeValued]:
    """Return the lower and the upper end of sorted rows of three distinct values at least.

    Parameters
    ----------
    is_first : array (R, N) of bool
        Where a group of ties begins, entries in ascending order.
    share : array (R, N) or None
        Weights of the entries, with sum 1; equal by default.
    skewness : array (R,)
        Strictly between the ends of Theorem C.

    Examples
    --------
    Eight values without ties beside skewness 1, and with the three largest tied beside none:

    >>> low, high = kurtosis_ends(np.full((1, 8), True), None, np.array([1.0]))
    >>> round(float(low.kurtosis[0]), 5), round(float(high.kurtosis[0]), 5)
    (2.15203, 4.37604)
    >>> low, high = kurtosis_ends(np.arange(8)[None] < 6, None, np.array([0.0]))
    >>> round(float(high.kurtosis[0]) * 35, 9)
    62.0
    """
    n, lower = is_first.shape[1], _lower_share(skewness)
    place = np.floor(n * lower) if share is None else (np.cumsum(share, axis=1) <= lower[:, None]).sum(axis=1)
    place = np.minimum(place, n - 1).astype(np.intp)  # where P is a boundary, both groups have one end
    lowest, highest = _next(is_first, np.zeros(len(lower), dtype=np.intp)), _last(is_first, np.full(len(lower), n - 1))
    begin = np.maximum(_last(is_first, place), lowest)  # rounding of P may find a group at an end
    begin = np.where(begin >= highest, _last(is_first, highest - 1), begin)
    return _end(share, n, begin, _next(is_first, begin), skewness), _end(share, n, lowest, highest, skewness)


def kurtosis_ends_of_any(n_samples: FloatArray, skewness: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the same for all samples of so many values, 3 at least, tied or not: then the ends are attained.

    Examples
    --------
    >>> kurtosis_ends_of_any(np.array([7.0, 8.0]), np.zeros(2))[1].round(12).tolist()
    [3.5, 4.0]
    """
    n = np.asarray(n_samples, dtype=np.float64)
    begin = np.clip(np.floor(_lower_share(skewness) * n), 1, n - 2)
    low, _ = _three(begin / n, 1 / n, (n - 1 - begin) / n, skewness)
    return low, np.maximum(_highest(n, skewness), low)


def least_size(kurtosis: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return from which N on samples have these pairs inside the ends; infinite where the kurtosis is too low.

    The upper end grows with N, the lower one comes near 1 + g^2 and is above it by chance.

    Examples
    --------
    >>> least_size(np.array([3.0, 5.0, 1.0]), np.array([0.0, 1.0, 1.0])).tolist()
    [7.0, 10.0, inf]
    """
    low, high = np.full(len(kurtosis), 2.0), np.full(len(kurtosis), _MOST)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        few = np.abs(skewness) >= (middle - 2) / np.sqrt(middle - 1)
        few |= _highest(middle, skewness) <= kurtosis * (1 + _ROUNDED)
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    is_none = (kurtosis <= 1 + skewness**2) | (high >= _MOST)
    return np.where(is_none, np.inf, high)


def _three(a: FloatArray, b: FloatArray, c: FloatArray, skewness: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The kurtosis of three values with these shares and this skewness, and the values, (3, R).

    By bisection of log(u/v). A skewness that three values do not have counts as the nearest one.
    """
    near, far = np.full(len(skewness), -_FAR), np.full(len(skewness), _FAR)
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        values, heavy = _placed(a, b, c, middle)
        is_above = (heavy * values).sum(axis=0) > skewness
        near, far = np.where(is_above, middle, near), np.where(is_above, far, middle)
    values, heavy = _placed(a, b, c, near)
    return (heavy * values**2).sum(axis=0), values


def _placed(a: FloatArray, b: FloatArray, c: FloatArray, log_ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Three values of mean 0 and variance 1 with this log(u/v), and their squares times their shares."""
    u, v = np.exp(np.minimum(log_ratio, 0)), np.exp(np.minimum(-log_ratio, 0))
    values = np.array([-((b + c) * u + c * v), a * u - c * v, a * u + (a + b) * v])
    heavy = np.array([a, b, c]) * values**2
    variance = heavy.sum(axis=0)
    return values / np.sqrt(variance), heavy / variance


def _highest(n: FloatArray, skewness: FloatArray) -> FloatArray:
    """The upper end without ties: the sum of the outer values is a root of a cubic polynomial.

    With r the largest skewness it is 2 r sin(asin(g/r)/3); the values between them share its opposite.
    """
    most = (n - 2) / np.sqrt(n - 1)
    total = 2 * most * np.sin(np.arcsin(np.clip(skewness / most, -1, 1)) / 3)
    squares = n - total**2 / (n - 2)
    product = (total**2 - squares) / 2
    highest: FloatArray = (squares**2 - 2 * product**2 + total**4 / (n - 2) ** 3) / n
    return highest


def _lower_share(skewness: FloatArray) -> FloatArray:
    """P; where it is small, without cancellation."""
    root = np.sqrt(4 + skewness**2)
    small: FloatArray = 2 / (root * (root + np.abs(skewness)))
    return np.where(skewness < 0, small, 1 - small)


def _end(share: FloatArray | None, n: int, begin: IntArray, after: IntArray, skewness: FloatArray) -> ThreeValued:
    """Entries before `begin`, those from there on, and those from `after` on."""
    if share is None:
        a, b, c = begin / n, (after - begin) / n, (n - after) / n
    else:
        which = _which(n, begin, after)
        a, b, c = (np.sum(share, axis=1, where=which == i) for i in range(3))
    return ThreeValued(*_three(a, b, c, skewness), begin, after)


def _which(n: int, begin: IntArray, after: IntArray) -> NDArray[np.int8]:
    """Which of the three values an entry has."""
    place = np.arange(n)
    return (place >= begin[:, None]).astype(np.int8) + (place >= after[:, None])


def _last(flags: BoolArray, until: IntArray) -> IntArray:
    """The last place of a True in each row, up to one."""
    n = flags.shape[1]
    place: IntArray = n - 1 - np.argmax((flags & (np.arange(n) <= until[:, None]))[:, ::-1], axis=1)
    return place


def _next(flags: BoolArray, after: IntArray) -> IntArray:
    """The first place of a True in each row after one, or the number of places."""
    later = flags & (np.arange(flags.shape[1]) > after[:, None])
    place: IntArray = np.where(later.any(axis=1), np.argmax(later, axis=1), flags.shape[1])
    return place
