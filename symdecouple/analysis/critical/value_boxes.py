r"""Distinct values with given multiplicities and given moments: computed, and proved to exist in a small box.

For ties n_1, .., n_d among N samples and targets c_1, .., c_d the equations are

.. math:: F_j(z) = \sum_i \frac{n_i}N z_i^j = c_j, \qquad j = 1..d, \qquad z_1 < \dots < z_d .

Their Jacobian is a Vandermonde matrix with positive factors, so that it is regular. With a matrix C near its inverse,

.. math:: |C\,(F(z) - c)|_i + \rho \sum_l \bigl(|I - C\,DF(z)| + |C|\,\Delta\bigr)_{il} < \rho, \qquad
    \Delta_{ji} = \frac{j\,n_i}N \bigl((|z_i| + \rho)^{j-1} - |z_i|^{j-1}\bigr),

proves (Krawczyk) that exactly one solution lies within rho of z in each coordinate. All of it is computed in rational
numbers. There is no second solution elsewhere in this order: Theorem I.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.critical.tie_patterns import Ties

__all__ = ["Interval", "ValueBox", "polished", "solved_between"]

BITS = 200
"""Of the computed values: sixty digits, of which forty are shown to be right with room for close walls."""

_STEPS = 60

Interval = tuple[Fraction, Fraction]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ValueBox:
    """Values within `radius` of which a solution lies.

    Attributes
    ----------
    ties : tuple of int
    values : tuple of Fraction
    radius : Fraction
    """

    ties: Ties
    values: tuple[Fraction, ...]
    radius: Fraction

    def moment(self, order: int) -> Interval:
        """Return an interval around the moment of this order of the solution."""
        unit, values, radius = self._whole
        total = sum(self.ties) * unit**order
        middle = sum(n * v**order for n, v in zip(self.ties, values, strict=True))
        spread = sum(n * _wobble(v, radius, order) for n, v in zip(self.ties, values, strict=True))
        return Fraction(middle - spread, total), Fraction(middle + spread, total)

    def is_proved(self, targets: Sequence[Interval]) -> bool:
        """Return True iff the inequality above holds, and the values of the box cannot change their order."""
        if self.radius <= 0 or any(b - a <= 2 * self.radius for a, b in pairwise(self.values)):
            return False
        inverse = _inverse(self.ties, self.values)
        if inverse is None:
            return False
        defect = _applied(inverse, _defect(self.ties, self.values, targets))
        return all(self._is_contracting(i, row, abs(defect[i]), targets) for i, row in enumerate(inverse))

    def _is_contracting(self, i: int, row: Sequence[Fraction], defect: Fraction, targets: Sequence[Interval]) -> bool:
        """The inequality in one coordinate, with all denominators brought together: whole numbers are much faster."""
        unit, values, radius = self._whole
        scale, count, total = lcm(*(c.denominator for c in row)), len(row), sum(self.ties)
        weights = [j * int(c * scale) for j, c in enumerate(row, 1)]
        whole = scale * total * unit ** (count - 1)
        factor = 0
        for place, (n, v) in enumerate(zip(self.ties, values, strict=True)):
            lifted = [w * n * unit ** (count - j) for j, w in enumerate(weights, 1)]
            factor += abs((place == i) * whole - sum(w * v**j for j, w in enumerate(lifted)))
            factor += sum(abs(w) * _wobble(v, radius, j) for j, w in enumerate(lifted))
        away = sum((abs(c) * (high - low) / 2 for c, (low, high) in zip(row, targets, strict=False)), Fraction(0))
        return defect + away + self.radius * Fraction(factor, whole) < self.radius

    @property
    def _whole(self) -> tuple[int, list[int], int]:
        """A common denominator, and the values and the radius as whole multiples of one over it."""
        unit = lcm(self.radius.denominator, *(v.denominator for v in self.values))
        return unit, [int(v * unit) for v in self.values], int(self.radius * unit)


def polished(ties: Ties, start: Sequence[float], targets: Sequence[Interval]) -> ValueBox | None:
    """Return the proved box at the solution near `start`, or None if there is none."""
    values = tuple(_rounded(Fraction(float(v))) for v in start)
    limit = Fraction(1, 2 ** (BITS - 30))
    inverse = _inverse(ties, values)
    for _ in range(_STEPS):
        if inverse is None:
            return None
        step = _applied(inverse, _defect(ties, values, targets))
        if max(map(abs, step)) < limit:
            break
        if max(map(abs, step)) > 8:
            return None
        values = tuple(_rounded(v - s) for v, s in zip(values, step, strict=True))
        inverse = _inverse(ties, values)
    norm = max(sum(abs(c) * (high - low) / 2 for c, (low, high) in zip(row, targets, strict=False))
               for row in inverse or [[Fraction(0)]])
    box = ValueBox(ties, values, 4 * max(limit, Fraction(norm)))
    return box if box.is_proved(targets) else None


def solved_between(ties: Ties, low: FloatArray, high: FloatArray, targets: Sequence[float]) -> FloatArray | None:
    """Return the solution in floats, from two ends of the curve on which all equations but the last hold.

    All coordinates are monotone between the ends, so that a step of Newton's that leaves their box is halved. The ends
    themselves have ties; the search starts halfway.
    """
    weights, count = np.array(ties) / sum(ties), len(ties)
    orders, c = np.arange(1, count + 1)[:, None], np.array(targets[:count])
    left, right = np.minimum(low, high), np.maximum(low, high)
    z = (left + right) / 2
    for _ in range(4 * _STEPS):
        defect = (weights * z**orders).sum(axis=1) - c
        try:
            step = np.linalg.solve(orders * weights * z ** (orders - 1), defect)
        except np.linalg.LinAlgError:
            return None
        size = 1.0
        while size > 1e-9 and not (((new := z - size * step) > left) & (new < right)).all():
            size /= 2
        if size <= 1e-9:
            return None
        z = new
        if np.abs(step).max() < 1e-13 * max(1.0, float(np.abs(z).max())):
            break
    return z


def _wobble(value: int, radius: int, power: int) -> int:
    """Bound how far value**power moves when the value moves by the radius."""
    return int((abs(value) + radius) ** power - abs(value) ** power)


def _defect(ties: Ties, values: Sequence[Fraction], targets: Sequence[Interval]) -> list[Fraction]:
    unit, total = lcm(*(v.denominator for v in values)), sum(ties)
    whole = [int(v * unit) for v in values]
    return [Fraction(sum(n * v**j for n, v in zip(ties, whole, strict=True)), total * unit**j) - (low + high) / 2
            for j, (low, high) in enumerate(targets[:len(ties)], 1)]


def _inverse(ties: Ties, values: Sequence[Fraction]) -> list[list[Fraction]] | None:
    """Return a matrix near the inverse of the Jacobian; how near, is part of what is proved."""
    orders, z = np.arange(1, len(ties) + 1)[:, None], np.array([float(v) for v in values])
    try:
        found = np.linalg.inv(orders * (np.array(ties) / sum(ties)) * z ** (orders - 1))
    except np.linalg.LinAlgError:
        return None
    return [[Fraction(float(c)) for c in row] for row in found] if np.isfinite(found).all() else None


def _applied(matrix: list[list[Fraction]], vector: Sequence[Fraction]) -> list[Fraction]:
    return [sum((c * v for c, v in zip(row, vector, strict=True)), Fraction(0)) for row in matrix]


def _rounded(value: Fraction) -> Fraction:
    return Fraction(round(value * 2**BITS), 2**BITS)
