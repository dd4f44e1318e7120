r"""Levels above 3, proved: the path along which one moment comes to its reference and those below stay.

On standardized values y with the monic polynomial pi of degree k - 1 that is orthogonal to all lower ones (Theorem G),

.. math:: y_n' = F_n(y) = \frac{\pi(y_n)}{k\,\overline{\pi^2}}, \qquad m_j' = 0 \quad (j < k), \qquad m_k' = 1

A step of length h starts at numbers u, exact in binary, with a bound e M_n on how far the path is from them. Discs of
radius R M_n about u_n with abs(F_n) <= M_n on all of them (Picard, complex) give

* the solution phi from u: analytic for abs(tau) < R, coefficients at most M_n R^(1-j), and so what Taylor's series
  leaves out after p terms is at most M_n R (h/R)^(p+1)/(1 - h/R);
* how errors grow: along a direction v with abs(v_n) <= M_n F is analytic for abs(zeta) <= R - h - e where the path
  runs, so that abs(DF v)_n <= M_n/(R - h - e) (Cauchy), and e grows by exp(h/(R - h - e)) at most (Gronwall).

Coefficients are computed in integers of so many bits after the point, each with a bound on its rounding. Bounds need no
digits and are taken in float64, with more room than its rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.enclosure.series import Matrix, Series, inverse, product

__all__ = ["Cloud", "cloud_of", "imposed", "moment"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = Any  # Python's integers

_STEPS = 1000
_MOST_BITS = 1000  # bounds are float64 numbers, down to 2^-1022
_PART = 7.0  # R over h: near e^2, where the terms of all steps together are fewest
_ROOM = 1 + 1e-9  # over rounding in float64
_ROUNDED = 1e-12  # of sums of absolute values, for whole formulas of them


class Cloud(NamedTuple):
    """Distinct values with counts: integers in units of 2^-bits, and in the same units how far the true ones may be."""

    middle: IntArray
    error: FloatArray
    counts: IntArray
    bits: int

    @property
    def floats(self) -> FloatArray:
        return np.array([v / 2**self.bits for v in self.middle])

    @property
    def shares(self) -> FloatArray:
        return np.array(self.counts / self.counts.sum(), dtype=float)


def cloud_of(ends: Sequence[tuple[Fraction, Fraction]], bits: int) -> Cloud:
    """Take intervals of a sample; equal ones are one value."""
    counted = Counter(ends)
    middle = np.array([round((low + high) / 2 * 2**bits) for low, high in counted], dtype=object)
    error = np.array([float((high - low) * 2**bits) + 2 for low, high in counted])
    return Cloud(middle, error, np.array(list(counted.values()), dtype=object), bits)


def moment(cloud: Cloud, k: int) -> tuple[Fraction, Fraction]:
    """Return both ends of the mean of y^k."""
    unit, total = 2**cloud.bits, int(cloud.counts.sum())
    low, high = (sum((int(c) * _power(Fraction(int(v), unit), Fraction(e) / unit, k)[side]
                      for v, e, c in zip(cloud.middle, cloud.error, cloud.counts, strict=True)), Fraction(0)) / total
                 for side in (0, 1))
    return low, high


def _power(value: Fraction, error: Fraction, k: int) -> tuple[Fraction, Fraction]:
    room = (abs(value) + error) ** k - abs(value) ** k
    return value**k - room, value**k + room


def imposed(cloud: Cloud, k: int, target: tuple[Fraction, Fraction]) -> Cloud | None:
    """Return the values where moment k is at a target, of which both ends are known; None where nothing is proved.

    Some 0.1 s a step; a step changes the moment by a seventh of R, and R is 0.02 to 0.2 for standardized values.
    """
    if cloud.bits > _MOST_BITS:
        return None
    unit = 2**cloud.bits
    exact = cloud._replace(error=np.zeros(len(cloud.error)))
    start, near = moment(cloud, k), moment(exact, k)[0]
    way = Fraction(round(((target[0] + target[1]) / 2 - near) * unit), unit)
    way = way or Fraction(1, unit)  # what is there already still has its doubt
    doubt = float(max(start[1] - near, near - start[0]) + (target[1] - target[0]) + Fraction(2, unit)) * _ROOM
    radius = 1.0
    for _ in range(_STEPS):
        if not way:
            return cloud
        discs = _discs(cloud, k, radius * 2)
        if discs is None:
            return None
        radius, speed = discs
        step = min(abs(way), Fraction(radius / _PART))
        is_last = step == abs(way)
        found = _stepped(cloud, k, step if way > 0 else -step, radius, speed, doubt if is_last else 0.0)
        if found is None or radius < 2.0**-30:
            return None
        cloud = found
        way -= step if way > 0 else -step
    return None


# --- bounds -------------------------------------------------------------------------------------------------------


def _discs(cloud: Cloud, k: int, largest: float) -> tuple[float, FloatArray] | None:
    """R and M with abs(F_n) <= M_n where all values are within R M of the cloud."""
    values, shares = cloud.floats, cloud.shares
    basis = _orthonormal(values, shares, k)
    radius = largest
    for _ in range(60):
        speed = _bound(basis, values, shares, np.zeros(len(values)), k)
        if speed is None:
            return None
        speed = 1.5 * speed + 0.2 * speed.max()
        for _ in range(6):
            reached = _bound(basis, values, shares, radius * speed, k)
            if reached is None:
                break
            if (reached <= speed).all():
                return radius, speed
            speed = np.maximum(speed, 1.1 * reached)
        radius *= 0.7
    return None


def _orthonormal(values: FloatArray, shares: FloatArray, k: int) -> list[FloatArray]:
    """Coefficients of polynomials that are nearly orthonormal, and of the monic one of degree k - 1."""
    found: list[FloatArray] = []
    for degree in range(k):
        new = np.zeros(k)
        new[degree] = 1.0
        for _ in range(2):
            for one in found:
                new = new - (shares @ (_at(new, values) * _at(one, values))) * one
        found.append(new if degree == k - 1 else new / np.sqrt(shares @ _at(new, values) ** 2))
    return found


def _at(coefficients: FloatArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.polynomial.polynomial.polyval(values, coefficients))


def _bound(basis: list[FloatArray], values: FloatArray, shares: FloatArray, radii: FloatArray, k: int
           ) -> FloatArray | None:
    """abs(F_n) on discs; None where the mean of pi^2 may be 0. In the basis the Gram matrix is nearly 1."""
    centres = np.array([_at(one, values) for one in basis])
    around = np.array([_spread(one, values, radii) for one in basis])
    sizes = np.abs(centres) + around
    gram = np.abs(centres[:-1] * shares @ centres[:-1].T - np.eye(k - 1))
    gram += (sizes[:-1] * shares @ sizes[:-1].T) - (np.abs(centres[:-1]) * shares @ np.abs(centres[:-1]).T)
    gram += _ROUNDED * (sizes[:-1] * shares @ sizes[:-1].T)
    off = gram.sum(axis=1).max() * _ROOM
    mixed = np.abs(centres[:-1] * shares @ centres[-1]) + sizes[:-1] * shares @ sizes[-1]
    mixed += _ROUNDED * (sizes[:-1] * shares @ sizes[-1]) - np.abs(centres[:-1]) * shares @ np.abs(centres[-1])
    if not off < 0.9:
        return None
    largest = mixed.max() / (1 - off) * _ROOM
    square = shares @ centres[-1] ** 2
    lost = shares @ (sizes[-1] ** 2 - centres[-1] ** 2) + mixed.sum() * largest + _ROUNDED * (shares @ sizes[-1] ** 2)
    if not square - lost > 0:
        return None
    found: FloatArray = (sizes[-1] + largest * sizes[:-1].sum(axis=0)) / (k * (square - lost)) * _ROOM
    return found if np.isfinite(found).all() else None


def _spread(coefficients: FloatArray, values: FloatArray, radii: FloatArray) -> FloatArray:
    """How far a polynomial gets on a disc from its value at the centre: Taylor's series, and rounding."""
    total: Any = np.zeros(len(values))
    derivative: Any = coefficients
    factor = 1.0
    for i in range(1, len(coefficients)):
        derivative = np.polynomial.polynomial.polyder(derivative)
        factor /= i
        total = total + factor * np.abs(_at(derivative, values)) * radii**i
    size = _at(np.abs(coefficients), np.abs(values) + radii)
    return np.asarray(total * _ROOM + _ROUNDED * size)


# --- a step -------------------------------------------------------------------------------------------------------


def _stepped(cloud: Cloud, k: int, step: Fraction, radius: float, speed: FloatArray, doubt: float) -> Cloud | None:
    """The cloud after a step; with `doubt` in its length."""
    length = float(abs(step)) * _ROOM
    error = float((cloud.error / speed).max()) * _ROOM  # e, in units of 2^-bits
    reach = length + doubt + float(np.ldexp(error, -cloud.bits))
    if not reach < 0.5 * radius:
        return None
    ratio = length / radius
    terms = int(np.ceil(cloud.bits / -np.log2(ratio))) + 2
    left_out = np.ldexp(radius * ratio ** (terms + 1) / (1 - ratio), cloud.bits)
    series = _taylor(cloud, k, step, terms)
    if series is None:
        return None
    grown = error * np.exp((length + doubt) / (radius - reach)) + left_out + np.ldexp(doubt, cloud.bits)
    total = series.radius.sum(axis=-1) + speed * grown
    found = np.asarray(total * _ROOM + 1, dtype=float)
    return cloud._replace(middle=series.middle.sum(axis=-1), error=found) if np.isfinite(found).all() else None


def _taylor(cloud: Cloud, k: int, step: Fraction, terms: int) -> Series | None:
    """Coefficients 0..terms of the solution from the exact numbers of the cloud, times powers of the step."""
    bits, count, total = cloud.bits, len(cloud.middle), int(cloud.counts.sum())
    powers = [Series((count,), terms, bits) for _ in range(k)]  # y^1 .. y^(k-1) at 1 .. k-1
    moments = Series((2 * k - 1,), terms, bits)
    solved, gains = Series((k - 1,), terms, bits), Series((k - 1,), terms, bits)
    square, quotient = Series((), terms, bits), Series((), terms, bits)
    turned: Matrix | None = None
    powers[1].put(0, cloud.middle, np.zeros(count))
    rows = np.add.outer(np.arange(k - 1), np.arange(k - 1))
    for j in range(terms):
        for i in range(2, k):
            powers[i].put(j, *product(powers[1], powers[i - 1], j))
        means = [(2**bits if not j else 0, 0.0)]
        for i in range(1, 2 * k - 1):
            one, radii = (powers[i].at(j) if i < k else product(powers[k - 1], powers[i - k + 1], j))
            means.append(((one * cloud.counts).sum() // total, float(cloud.shares @ radii) * _ROOM + 1))
        moments.put(j, np.array([m for m, _ in means], dtype=object), np.array([r for _, r in means]))
        turned = turned or inverse(moments.middle[rows, 0], moments.radius[rows, 0], bits)
        if turned is None:
            return None
        middle, radii = moments.taken(np.arange(k - 1, 2 * k - 2)).at(j)
        if j:
            other = product(moments.taken(rows), solved.taken(None), j, 1)
            middle, radii = middle - other[0].sum(axis=1), radii + other[1].sum(axis=1)
        solved.put(j, *turned.times(middle, radii))
        middle, radii = moments.taken(2 * k - 2).at(j)
        other = product(solved, moments.taken(np.arange(k - 1, 2 * k - 2)), j)
        square.put(j, k * (middle - other[0].sum()), k * (radii + other[1].sum()))
        if not quotient.put_inverse(square, j):
            return None
        gains.put(j, *product(quotient.taken(None), solved, j))
        middle, radii = product(quotient, powers[k - 1], j)
        for i in range(k - 1):
            low, size = gains.taken(i).at(j) if i == 0 else product(gains.taken(i), powers[i], j)
            middle, radii = middle - low, radii + size
        scaled = [v * step.numerator // (step.denominator * (j + 1)) for v in middle]
        powers[1].put(j + 1, np.array(scaled, dtype=object), radii * float(abs(step)) / (j + 1) * _ROOM + 1)
    return powers[1]
