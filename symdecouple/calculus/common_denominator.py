r"""Whether a rational function is zero, over one denominator that is never multiplied out.

.. math:: \sum_i \frac{n_i}{\prod_f f^{k_{if}}} = \frac{1}{\prod_f f^{K_f}} \sum_i n_i \prod_f f^{K_f - k_{if}},
    \qquad K_f = \max_i k_{if}

Field arithmetic takes a greatest common divisor at each step; to see whether a sum vanishes none is needed: only the
numerator is expanded, and that it is the zero polynomial (modulo relations) is exact. Denominators stay products.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Expr, Symbol

from symdecouple.language.budget import check

__all__ = ["OverOneDenominator"]

Fraction = tuple[Any, dict[Any, int]]


class OverOneDenominator:
    """Expressions in some symbols as a polynomial over a product of polynomials.

    Parameters
    ----------
    ring : PolyRing
        Of the polynomials.
    generators : mapping
        Symbol to element of the ring.

    Examples
    --------
    >>> from sympy import QQ, ring, symbols
    >>> u, v = symbols("u v")
    >>> polynomials, p, q = ring("u, v", QQ)
    >>> OverOneDenominator(polynomials, {u: p, v: q}).of(1/(u + v) - 1/u + v/(u*(u + v)))[0]
    0
    """

    def __init__(self, ring: Any, generators: Mapping[Symbol, Any]) -> None:
        self._ring = ring
        self._generators = generators
        self._known: dict[Expr, Fraction] = {}
        self._powers: dict[tuple[Any, int], Any] = {}

    def of(self, expr: Expr) -> Fraction:
        """Return the numerator and the factors of the denominator, with their powers.

        Raises
        ------
        ValueError
            If the expression is no rational function of the symbols.
        ZeroDivisionError
            If something is divided by zero.
        """
        if expr not in self._known:
            check()
            self._known[expr] = self._made(expr)
        return self._known[expr]

    def _made(self, expr: Expr) -> Fraction:
        if expr in self._generators:
            return self._generators[expr], {}
        if expr.is_Add:
            return self._sum([self.of(arg) for arg in expr.args])
        if expr.is_Mul:
            return self._product([self.of(arg) for arg in expr.args])
        if expr.is_Pow and expr.exp.is_Integer:
            return self._power(self.of(expr.base), int(expr.exp))
        return self._ring.ground_new(self._ring.domain.from_sympy(expr)), {}

    def _sum(self, parts: list[Fraction]) -> Fraction:
        tops: dict[frozenset[Any], Any] = {}
        for top, below in parts:
            key = frozenset(below.items())
            tops[key] = tops[key] + top if key in tops else top
        common: dict[Any, int] = {}
        for key, top in tops.items():
            if top:
                for factor, k in key:
                    common[factor] = max(k, common.get(factor, 0))
        total = self._ring.zero
        for key, top in tops.items():
            own, lifted = dict(key), top
            for factor, k in common.items() if top else ():
                lifted = lifted * self._raised(factor, k - own.get(factor, 0))
            total += lifted
        return total, common if total else {}

    def _product(self, parts: list[Fraction]) -> Fraction:
        total, below = self._ring.one, dict[Any, int]()
        for top, factors in parts:
            total = total * top
            for factor, k in factors.items():
                below[factor] = below.get(factor, 0) + k
        return self._cancelled(total, below)

    def _cancelled(self, top: Any, below: dict[Any, int]) -> Fraction:
        """Cancel a numerator that is a factor of the denominator."""
        if not below or not top:
            return top, below if top else {}
        lead, monic = self._monic(top)
        if monic in below:
            below = {factor: k - (factor == monic) for factor, k in below.items()}
            return self._ring.ground_new(lead), {factor: k for factor, k in below.items() if k}
        return top, below

    def _power(self, fraction: Fraction, n: int) -> Fraction:
        top, below = fraction
        if n >= 0:
            return self._raised(top, n), {factor: k * n for factor, k in below.items()} if n else {}
        if not top:
            raise ZeroDivisionError
        above = self._ring.one
        for factor, k in below.items():
            above = above * self._raised(factor, -k * n)
        if len(top) == 1:
            (monomial, lead), = top.iterterms()
            factors = {g: -k * n for g, k in zip(self._ring.gens, monomial, strict=True) if k}
        else:
            lead, monic = self._monic(top)
            factors = {monic: -n}
        return self._cancelled(above.mul_ground(lead**n), factors)

    def _monic(self, polynomial: Any) -> tuple[Any, Any]:
        lead = polynomial.LC
        return lead, polynomial if lead == 1 else polynomial.quo_ground(lead)

    def _raised(self, polynomial: Any, n: int) -> Any:
        if n <= 1:
            return polynomial if n else self._ring.one
        key = polynomial, n
        if key not in self._powers:
            self._powers[key] = polynomial**n
        return self._powers[key]
