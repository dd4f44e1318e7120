"""Intervals and balls: one set of operations, by mpmath's interval arithmetic or by the balls of python-flint.

Whatever is computed with them contains the exact value; ends are handed out as fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from fractions import Fraction
from threading import RLock
from typing import Any, Literal, TypeAlias, get_args

from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp import to_rational

from symdecouple.errors import InvalidInput, MissingPackage

__all__ = ["Backend", "Numbers", "numbers_of"]

Backend = Literal["iv", "arb"]
Number: TypeAlias = Any

_TURN = RLock()  # the precision of python-flint belongs to the process

def numbers_of(backend: Backend, bits: int) -> Numbers:
    """Return the numbers of a backend.

    Raises
    ------
    MissingPackage
        If "arb" is asked for without python-flint.
    """
    if backend not in get_args(Backend):
        raise InvalidInput(f'backend is "iv" (mpmath, always there) or "arb" (python-flint), got {backend!r}')
    return Intervals(bits) if backend == "iv" else Balls(bits)


class Intervals:
    """Sums, products and quotients by Python's operators; `working` is the context in which they are computed with."""

    def __init__(self, bits: int) -> None:
        self.context = MPIntervalContext()
        self.context.prec = bits  # of its own: that of mpmath.iv stays as it is

    def working(self) -> AbstractContextManager[None]:
        return nullcontext()

    def number(self, value: Fraction) -> Number:
        """Return an enclosure of a fraction."""
        return self.context.mpf(value.numerator) / value.denominator

    def around(self, value: Fraction, radius: Fraction) -> Number:
        """Return an enclosure of all numbers within a radius."""
        return self.number(value) + self.context.mpf([-1, 1]) * self.number(radius)

    def root(self, value: Number) -> Number:
        """Return an enclosure of the square roots of numbers that are all positive."""
        return self.context.sqrt(value)

    def ends(self, value: Number) -> tuple[Fraction, Fraction] | None:
        """Return both ends; None where they are not finite."""
        low, high = value._mpi_
        if any(not end[1] and end[2] for end in (low, high)):  # mpmath's infinities and nan
            return None
        return Fraction(*map(int, to_rational(low))), Fraction(*map(int, to_rational(high)))


class Balls:
    """The same by balls."""

    def __init__(self, bits: int) -> None:
        try:
            import flint
        except ImportError as error:
            raise MissingPackage('backend="arb" needs python-flint; install it with: pip install "symdecouple[flint]", '
                                 'or take backend="iv"') from error
        self.flint, self.bits = flint, bits

    @contextmanager
    def working(self) -> Iterator[None]:
        with _TURN:
            before = self.flint.ctx.prec
            self.flint.ctx.prec = self.bits
            try:
                yield
            finally:
                self.flint.ctx.prec = before

    def number(self, value: Fraction) -> Number:
        return self.flint.arb(self.flint.fmpq(value.numerator, value.denominator))

    def around(self, value: Fraction, radius: Fraction) -> Number:
        middle, more = self.number(value), self.number(radius)
        return middle.union(middle - more).union(middle + more)

    def root(self, value: Number) -> Number:
        return value.sqrt()

    def ends(self, value: Number) -> tuple[Fraction, Fraction] | None:
        if not value.is_finite():
            return None
        middle, radius = (int(m) * Fraction(2) ** int(e) for m, e in (value.mid().man_exp(), value.rad().man_exp()))
        return middle - radius, middle + radius


Numbers: TypeAlias = Intervals | Balls
