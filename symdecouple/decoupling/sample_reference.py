r"""Features at a reference sample: the values of their averages there.

An average of a polynomial is one of power means, which are rational numbers for a rational sample,

.. math:: \mathrm{Mean}(\varphi) = \sum_k c_k\, m_k, \qquad m_k = \frac1N \sum_n x_n^k .

Another function is written out for a sample of few different numbers, exactly, and computed to 50 digits elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import lcm
from typing import Any

import mpmath
from sympy import Add, Dummy, Expr, Float, Mul, Poly, PolynomialError, Rational, S, lambdify, nan

from symdecouple.language.mean import Mean
from symdecouple.language.precision import at_digits
from symdecouple.language.sample import Sample

__all__ = ["DIGITS", "Averages", "as_function", "expected"]

DIGITS = 60
"""Of computed reference values; 10 of them are there to be lost."""

_FEW = 64  # different numbers that a sum is written out for


def expected(expr: Expr, expectation: Callable[[Expr, Sample], Expr]) -> Expr:
    """Return an expression with every average, innermost first, replaced by an expectation."""
    if isinstance(expr, Mean):
        return expectation(expected(expr.opened(expr.sample), expectation), expr.sample)
    if not expr.args or not expr.has(Mean):
        return expr
    return expr.func(*(expected(arg, expectation) for arg in expr.args))


class Averages:
    """Averages over the numbers of one sample, which are real.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> Averages([S(-1), S(0), S(1)]).value(Mean((x - Mean(x**2))**2))
    10/9
    """

    def __init__(self, sample: Sequence[Expr]) -> None:
        self.size = len(sample)
        self.counts = Counter(sample)
        self._powers: dict[int, Expr] = {0: S.One}
        self._scaled: tuple[list[tuple[int, int]], int] | None = None  # whole numbers and their counts, and the unit
        if all(p.is_Rational for p in self.counts):
            unit = lcm(*(int(p.q) for p in self.counts))
            self._scaled = [(int(p.p) * (unit // int(p.q)), c) for p, c in self.counts.items()], unit

    def value(self, expr: Expr) -> Expr:
        """Return an expression with every average, innermost first, replaced by what it is."""
        return expected(expr, self._mean)

    def _mean(self, body: Expr, sample: Sample) -> Expr:
        try:
            terms = [] if self._scaled is None else Poly(body, sample).terms()
        except PolynomialError:
            terms = []
        if self._scaled is not None and terms and not any(c.has(sample) for _, c in terms):
            return Add(*(Mul(c, self._power(k, *self._scaled)) for (k,), c in terms))
        if len(self.counts) <= _FEW or body.free_symbols != {sample}:
            return Add(*(count * body.xreplace({sample: p}) for p, count in self.counts.items())) / self.size
        return self._computed(as_function(body, sample, "mpmath"))

    def _power(self, k: int, numbers: Sequence[tuple[int, int]], unit: int) -> Expr:
        if k not in self._powers:
            self._powers[k] = Rational(sum(count * n**k for n, count in numbers), self.size * unit**k)
        return self._powers[k]

    def _computed(self, function: Callable[[Any], Any]) -> Expr:
        """Return the average to 50 digits; NaN where the function has no real value."""
        with at_digits(DIGITS):
            try:
                mean = mpmath.fsum(count * function(mpmath.mpmathify(p.evalf(DIGITS))) for p, count in
                                   self.counts.items()) / self.size
            except (TypeError, ValueError, ZeroDivisionError):
                return nan
            if isinstance(mean, mpmath.mpc) or not mpmath.isfinite(mean):
                return nan
            return Float(str(mean), DIGITS - 10)


def as_function(expr: Expr, sample: Sample, module: str) -> Callable[[Any], Any]:
    """Return a function of a number, or of an array, that computes an expression in the sample."""
    symbol = Dummy("x")
    function: Callable[[Any], Any] = lambdify([symbol], expr.xreplace({sample: symbol}), module)
    return function
