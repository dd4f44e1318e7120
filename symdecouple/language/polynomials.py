r"""Rational functions whose arithmetic looks at the clock and refuses what would not end, operation by operation.

The field is SymPy's, QQ(g_1, ..., g_n). Its elements are polynomials that look, before each product, power, division
and evaluation, at the running budget (`language.budget.check`) and at the size of what will come out:

* a product of many terms is made block by block;
* a power is refused by its number of terms or the bits of its coefficient;
* a greatest common divisor is found by evaluation at large integers (heuristic GCD), which have about
  bits * prod_i (degree_i + 1) bits: the evaluation is refused where they would be too long.

What is refused raises BudgetExceeded, "too large". Nothing else differs from SymPy's own elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from sympy import QQ, Symbol
from sympy.polys.fields import FracField
from sympy.polys.polyerrors import HeuristicGCDFailed
from sympy.polys.rings import PolyElement, PolyRing

from symdecouple.language.budget import check, too_large

__all__ = ["RationalFunctions"]

BLOCK = 20_000  # products of terms between two looks at the clock: 0.05 s with rational coefficients
PRODUCT_LIMIT = 4_000_000  # products of terms of one product: more would fill the memory
POWER_LIMIT = 20_000  # terms of one power, 0.3 s
BITS_LIMIT = 400_000  # of one integer: two such have their greatest common divisor in 0.3 s


class _Looking:
    """The operations that look first, for a subclass of SymPy's polynomials."""

    def __mul__(self: Any, other: Any) -> Any:
        if not isinstance(other, PolyElement) or (size := len(self) * len(other)) <= BLOCK:
            return super().__mul__(other)  # type: ignore[misc]
        if size > PRODUCT_LIMIT:
            raise too_large(f"a product of polynomials of {len(self)} and {len(other)} terms", size, PRODUCT_LIMIT)
        short, long = sorted((self, other), key=len)
        terms, step, total = list(short.iterterms()), max(BLOCK // len(long), 1), self.ring.zero
        for k in range(0, len(terms), step):
            check()
            total += PolyElement.__mul__(long, self.ring.from_terms(terms[k : k + step]))
        return total

    def square(self: Any) -> Any:
        return self * self if len(self) ** 2 > BLOCK else super().square()  # type: ignore[misc]

    def __pow__(self: Any, n: Any) -> Any:
        if (power := int(n)) > 2:
            check()
            if len(self) > 1 and (size := comb(len(self) + min(power, POWER_LIMIT) - 1, len(self) - 1)) > POWER_LIMIT:
                raise too_large(f"the power {power} of a polynomial of {len(self)} terms", size, POWER_LIMIT)
            if (bits := power * _bits(self)) > BITS_LIMIT:
                raise too_large(f"the power {power} of a polynomial, in bits of a coefficient", bits, BITS_LIMIT)
        return super().__pow__(n)  # type: ignore[misc]

    def evaluate(self: Any, x: Any, a: Any = None) -> Any:
        if a is not None and self:
            check()
            if (bits := self.degree(x) * _length(a)) > BITS_LIMIT:
                raise too_large("a greatest common divisor of polynomials, in bits of an integer", bits, BITS_LIMIT)
        return super().evaluate(x, a)  # type: ignore[misc]

    def trunc_ground(self: Any, p: Any) -> Any:
        check()
        return super().trunc_ground(p)  # type: ignore[misc]

    def _iadd_poly_monom(self: Any, p2: Any, mc: Any) -> Any:
        """One step of a division."""
        check()
        return super()._iadd_poly_monom(p2, mc)  # type: ignore[misc]

    def cofactors(self: Any, other: Any) -> Any:
        try:
            return super().cofactors(other)  # type: ignore[misc]
        except HeuristicGCDFailed:
            raise too_large("a greatest common divisor of polynomials, in terms", len(self) * len(other),
                            "one that is found at a few integers") from None


class _Polynomial(_Looking, PolyElement):
    """An element of a ring, where elements know their ring themselves."""


class _Ring(PolyRing):
    """A ring of polynomials that look first; SymPy derives the rings of greatest common divisors from it."""

    def __new__(cls, *arguments: Any) -> Any:
        return _with_looking_elements(super().__new__(cls, *arguments))

    @classmethod
    def of(cls, other: PolyRing) -> Any:
        """Return a ring like the other, which took a while to be made."""
        ring = object.__new__(cls)
        ring.__dict__.update(other.__dict__)
        return _with_looking_elements(ring)


def _with_looking_elements(ring: Any) -> Any:
    if not isinstance(ring.dtype, type):
        ring.dtype = _Polynomial(ring, ()).new
    elif not issubclass(ring.dtype, _Looking):  # SymPy 1.13 makes a class of elements for each ring
        ring.dtype = type("Polynomial", (_Looking, ring.dtype), {"ring": ring})
    ring.gens = ring._gens()
    ring._gens_set = set(ring.gens)
    return ring


class RationalFunctions(FracField):
    """The field of rational functions over the rationals in some symbols."""

    def __new__(cls, symbols: Sequence[Symbol], *ground: Any) -> Any:
        field = super().__new__(cls, symbols, *(ground or (QQ,)))
        field.ring = _Ring.of(field.ring)
        field.zero, field.one = field.dtype(field.ring.zero), field.dtype(field.ring.one)
        field.gens = field._gens()
        return field


def _length(value: Any) -> int:
    """Return the bits by which each power of a number grows, none for 1 and -1."""
    largest = max(abs(int(value.numerator)), int(value.denominator))
    return largest.bit_length() if largest > 1 else 0


def _bits(polynomial: Any) -> int:
    return max(map(_length, polynomial.itercoeffs()), default=0)
