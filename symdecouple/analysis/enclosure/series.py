"""Taylor series of balls: integers in units of 2^-bits, with bounds in the same units on their errors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sympy import QQ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

__all__ = ["Matrix", "Series", "inverse", "product"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = Any

_ROOM = 1 + 1e-9  # over rounding in float64


class Series:
    """Coefficients 0..terms along the last axis, put in one after the other."""

    def __init__(self, shape: tuple[int, ...], terms: int, bits: int) -> None:
        self.bits = bits
        self.middle: IntArray = np.zeros((*shape, terms + 1), dtype=object)
        self.radius: FloatArray = np.zeros((*shape, terms + 1))
        self.size: FloatArray = np.zeros((*shape, terms + 1))  # of the middle, as a number

    def put(self, j: int, middle: IntArray, radius: Any) -> None:
        """Set coefficient j."""
        self.middle[..., j], self.radius[..., j] = middle, radius
        unit = 2**self.bits
        self.size[..., j] = np.reshape([abs(v) / unit * _ROOM for v in np.ravel(middle)], np.shape(middle))

    def at(self, j: int) -> tuple[IntArray, Any]:
        """Return coefficient j."""
        return self.middle[..., j], self.radius[..., j]

    def taken(self, where: Any) -> Series:
        """Return some of the series, as by indexing."""
        found = object.__new__(Series)
        found.bits = self.bits
        found.middle, found.radius, found.size = (a[where] for a in (self.middle, self.radius, self.size))
        return found

    def put_inverse(self, other: Series, j: int) -> bool:
        """Set coefficient j of 1/other; False where its first coefficient may be 0."""
        unit = 2**self.bits
        first, error = int(other.middle[..., 0]), float(other.radius[..., 0])
        if not j:
            if not abs(first) > 2 * error + 2:
                return False
            near = abs(first) / unit
            self.put(0, unit * unit // first, error / near / (near - error / unit) * _ROOM + 1)
            return True
        middle, radius = product(other, self, j, 1)
        own, far = self.at(0)
        size = float(self.size[..., 0])
        self.put(j, -(int(middle) * int(own) >> self.bits),
                 (abs(int(middle)) / unit * far + radius * size + radius * np.ldexp(far, -self.bits)) * _ROOM + 1)
        return True


def product(a: Series, b: Series, j: int, first: int = 0) -> tuple[IntArray, Any]:
    """Return coefficient j of a product, without the terms of coefficients of `a` before `first`."""
    one, other = slice(first, j + 1), slice(j - first, None, -1)
    middle = (a.middle[..., one] * b.middle[..., other]).sum(axis=-1) >> a.bits
    p, q = a.radius[..., one], b.radius[..., other]
    radius = a.size[..., one] * q + p * b.size[..., other] + p * np.ldexp(q, -a.bits)
    return middle, radius.sum(axis=-1) * _ROOM + 1


class Matrix(NamedTuple):
    """A matrix of integers in units of 2^-bits, and a bound on the error of each entry."""

    middle: IntArray
    error: float
    bits: int

    def times(self, vector: IntArray, radius: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return its product with a vector of balls."""
        unit = 2**self.bits
        size = np.array([[abs(v) / unit for v in row] for row in self.middle])
        lengths = np.array([abs(v) / unit for v in vector])
        total = size @ radius + self.error * lengths.sum() + np.ldexp(self.error, -self.bits) * radius.sum()
        return (self.middle * vector).sum(axis=1) >> self.bits, total * _ROOM + 1


def inverse(middle: IntArray, radius: FloatArray, bits: int) -> Matrix | None:
    """Return the inverse X of a matrix of balls: that of the middles, and abs(X) r abs(X) more; None where none is."""
    count, unit = len(middle), 2**bits
    exact = DomainMatrix([[QQ(int(v), unit) for v in row] for row in middle], (count, count), QQ)
    try:
        found = [[Fraction(int(v.numerator), int(v.denominator)) for v in row] for row in exact.inv().to_list()]
    except DMNonInvertibleMatrixError:
        return None
    norm = max(float(sum(map(abs, row))) for row in found) * _ROOM
    moved = float(radius.sum(axis=1).max()) * _ROOM
    if not norm * np.ldexp(moved, -bits) < 0.1:
        return None
    return Matrix(np.array([[round(v * unit) for v in row] for row in found], dtype=object),
                  norm * norm * moved * 1.2 + 1, bits)
