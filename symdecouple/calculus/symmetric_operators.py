r"""The linear operators in words, where symmetric kernels commute although they are not circular, at every sample size.

.. math:: H = \sum_k c_k\, T_1^{k_1} \cdots T_d^{k_d}, \qquad (T_i x)_n = x_{n - e_i} + x_{n + e_i}

Each kernel that is even along every axis is such a polynomial under half-sample mirrors, and under zero padding if it
has at most three taps along each axis: T_i is one symmetric matrix for each axis, these commute, and so do the kernels.
An operator is a tuple of exponents; it is its own adjoint. Under mirrors T_i multiplies constants by 2; under zero
padding a constant becomes a function of the place.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from sympy import Expr, Integer, S

from symdecouple.calculus.compositions import Noncommuting
from symdecouple.calculus.operators import ONE, Base, Operator, Word, is_innermost
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.filters import Filter
from symdecouple.language.sample import Sample

__all__ = ["SymmetricOperators", "common_boundary"]


class SymmetricOperators(Noncommuting):
    """Symmetric kernels under half-sample mirrors, or zero-padded ones of at most three taps along each axis.

    Parameters
    ----------
    boundary : {"half-sample", "zero"}

    Examples
    --------
    >>> operators = SymmetricOperators("half-sample")
    >>> operators.of(Filter([1, 5, 2, 5, 1], boundary="half-sample"))
    {((1,),): 5, ((2,),): 1}
    """

    identity: Operator = ((),)

    def __init__(self, boundary: str) -> None:
        self.boundary = boundary

    def of(self, h: Filter) -> dict[Operator, Expr]:
        if not _belongs(h, self.boundary):
            raise UnsupportedExpression(f"the kernel {h} is not among the symmetric ones that commute under the "
                                        f"boundary {self.boundary}")
        out: dict[Operator, Expr] = {}
        for lag, tap in _lags(h):
            if min(lag) < 0:
                continue
            for powers in product(*(_chebyshev(k).items() for k in lag)):
                operator = (_trimmed(power for power, _ in powers),)
                weight = tap
                for _, c in powers:
                    weight *= c
                out[operator] = out.get(operator, S.Zero) + weight
        return {operator: c for operator, c in out.items() if c != 0}

    def adjoint(self, operator: Operator) -> Operator:
        return operator

    def letter(self, operator: Operator, base: Base) -> tuple[Word, Expr]:
        if base == ONE and (self.boundary != "zero" or operator == self.identity):
            return (), Integer(2) ** sum(operator[0])
        return (base if operator == self.identity and not is_innermost(base) else ((operator, base),)), S.One

    def image(self, operator: Operator, word: Word) -> tuple[Word, Expr]:
        if len(word) != 1:
            return self.letter(operator, word or ONE)
        (inner, base), = word
        left, right = operator[0], inner[0]
        total = (a + b for a, b in zip(left, right, strict=True)) if left and right else left or right
        return self.letter((_trimmed(total),), base)

    def expression(self, operator: Operator, argument: Expr) -> Expr:
        return self._applied(operator, argument)

    def one(self, operator: Operator, sample: Sample) -> Expr:
        return self._applied(operator, S.One, sample)

    def _applied(self, operator: Operator, argument: Expr, *place: Any) -> Expr:
        for axis, power in enumerate(operator[0]):
            neighbours = _neighbours(axis, len(operator[0]), self.boundary)
            for _ in range(power):
                argument = neighbours(argument, *place)
        return argument


def common_boundary(filters: Iterable[Filter]) -> str | None:
    """Return the boundary under which all filters are symmetric kernels of the commuting kind; None without one.

    Examples
    --------
    >>> common_boundary([Filter([1, 2, 1], boundary="zero"), Filter([1, 4, 1], boundary="zero")])
    'zero'
    >>> common_boundary([Filter([1, 2, 1], boundary="zero"), Filter([1, 4, 1], boundary="half-sample")]) is None
    True
    """
    found = list(filters)
    for boundary in ("half-sample", "zero"):
        if all(_belongs(h, boundary) for h in found):
            return boundary
    return None


def _belongs(h: Filter, boundary: str) -> bool:
    """True iff the kernel is even along each axis, at this boundary, and for zero padding no longer than three taps."""
    if h.is_symbolic:
        return False
    if h.is_pointwise:
        return True
    table = dict(_lags(h))
    return (h.boundary == boundary and (boundary != "zero" or max(max(map(abs, lag)) for lag in table) <= 1)
            and all(table.get(tuple(map(abs, lag))) == tap for lag, tap in table.items())
            and all(tuple(s * k for s, k in zip(signs, lag, strict=True)) in table
                    for lag in table for signs in product((1, -1), repeat=len(lag))))


def _lags(h: Filter) -> list[tuple[tuple[int, ...], Expr]]:
    return [(lag if isinstance(lag, tuple) else (lag,), tap) for lag, tap in h.lags.items()]


@lru_cache(maxsize=256)
def _chebyshev(k: int) -> dict[int, int]:
    """Return the polynomial in T = S + 1/S that is S^k + S^-k, and 1 for k = 0: coefficients by power."""
    if k < 2:
        return {k: 1}
    before, last = ({0: 2} if k == 2 else _chebyshev(k - 2)), _chebyshev(k - 1)
    out = {power + 1: c for power, c in last.items()}
    for power, c in before.items():
        out[power] = out.get(power, 0) - c
    return {power: c for power, c in out.items() if c}


@lru_cache(maxsize=64)
def _neighbours(axis: int, ndim: int, boundary: str) -> Filter:
    """Return the filter with taps 1, 0, 1 along one axis."""
    shape = [1] * ndim
    shape[axis] = 3
    return Filter(np.reshape([1, 0, 1], shape).tolist(), boundary=boundary)


def _trimmed(powers: Iterable[int]) -> tuple[int, ...]:
    """Return exponents as a tuple; those of the identity as ()."""
    found = tuple(powers)
    return found if any(found) else ()
