"""The generic sample, one symbol for all N numbers of a sample vector, and explicit coordinates.

``x`` stands for a number drawn from the sample vector; a function of it, such as ``x**2``, becomes a feature
when it is averaged: ``Mean(x**2)``. A `Sample` is never equal to a plain symbol of the same name, so that a
parameter called x cannot slip in. `coordinates` gives the N numbers themselves, for features that are not
averages.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import Expr, Integer, Rational, Subs, Symbol, oo, sympify

from symdecouple.errors import InvalidInput

__all__ = ["BoundSample", "Coordinate", "Sample", "coordinates", "rational_points", "sample", "x"]

MAX_COORDINATES = 10_000


class _Generic(Symbol):
    """A real symbol with the interval it ranges over."""

    __slots__ = ("interval",)
    interval: tuple[Expr, Expr]

    def __new__(cls, name: str, interval: tuple[Any, Any] | None = None, **assumptions: Any) -> _Generic:
        low, high = _bounds(interval, assumptions)
        assumptions.setdefault("real", True)
        if low >= 0 and assumptions.get("positive") is None:
            assumptions["positive"] = True
        if high <= 0 and assumptions.get("negative") is None:
            assumptions["negative"] = True
        obj = Symbol.__xnew__(cls, name, **assumptions)
        obj.interval = (low, high)
        return obj

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name, self.interval), self._assumptions_orig

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self.interval)

    def _sympystr(self, printer: Any) -> str:
        # SymPy compares Subs by the text of their points: m'(2*x), x free, would equal m'(2*x), x bound by a Mean.
        if type(printer).__module__ == Subs.__module__:
            return f"{type(self).__name__}({self.name}, {self.interval})"
        return str(self.name)


class Sample(_Generic):
    """The generic sample: the symbol whose functions are averaged by `Mean`.

    Parameters
    ----------
    name : str
        How it prints.
    interval : (low, high), optional
        The open interval that all samples lie in; default the real line. ``positive=True`` is ``(0, oo)``.

    Examples
    --------
    >>> from sympy import Symbol
    >>> Sample("x") == Symbol("x"), Sample("x") == Sample("x")
    (False, True)
    >>> Sample("u", interval=(0, 1)).is_positive
    True
    """

    __slots__ = ()


class BoundSample(_Generic):
    """The variable that a `Mean` averages over; occurs only inside one."""

    __slots__ = ()


class Coordinate(Symbol):
    """The k-th of n explicit coordinates of a sample vector (k counts from 1)."""

    __slots__ = ("index", "size")
    index: int
    size: int

    def __new__(cls, index: int, size: int) -> Coordinate:
        obj = Symbol.__xnew__(cls, f"x{index}", real=True)
        obj.index, obj.size = index, size
        return obj

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.index, self.size), {}

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self.index, self.size)


def sample(name: str = "x", *, interval: tuple[Any, Any] | None = None, positive: bool = False) -> Sample:
    """Return the generic sample, a real symbol with its domain.

    Parameters
    ----------
    name : str
        A Python identifier.
    interval : (low, high), optional
        Open interval of exact numbers (or ``oo``) that every sample lies in.
    positive : bool
        Short for ``interval=(0, oo)``.

    Raises
    ------
    InvalidInput
        If the name is no identifier or the interval is empty.

    Examples
    --------
    >>> sample("t", positive=True).interval
    (0, oo)
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidInput(f"the name of a sample must be an identifier, got {name!r}; for instance sample('x')")
    return Sample(name, interval, **({"positive": True} if positive else {}))


def coordinates(n: int) -> tuple[Coordinate, ...]:
    """Return the n explicit coordinates (x1, ..., xn) of a sample vector, n >= 2.

    Features of coordinates may be any smooth SymPy expression; they are decided for this n only.

    Examples
    --------
    >>> coordinates(3)
    (x1, x2, x3)
    """
    if isinstance(n, bool) or not isinstance(n, (int, Integer)) or not 2 <= n <= MAX_COORDINATES:
        raise InvalidInput(f"coordinates(n) takes an integer of at least 2 (at most {MAX_COORDINATES}), got {n!r}")
    return tuple(Coordinate(k, int(n)) for k in range(1, int(n) + 1))


def rational_points(symbol: Symbol, count: int, rng: random.Random, size: int = 97) -> list[Fraction]:
    """Return distinct random rationals inside the symbol's domain, small enough for exact arithmetic."""
    low, high = getattr(symbol, "interval", (oo, oo) if symbol.is_negative else (-oo, oo))
    if not isinstance(symbol, _Generic):
        low, high = (Integer(0) if symbol.is_positive else -oo), (Integer(0) if symbol.is_negative else oo)
    points: list[Fraction] = []
    for point in _draws(low, high, rng, max(size, 8 * count)):
        if point not in points:
            points.append(point)
        if len(points) == count:
            break
    return points


def _draws(low: Expr, high: Expr, rng: random.Random, size: int) -> Iterator[Fraction]:
    while True:
        if low == -oo and high == oo:
            yield Fraction(rng.randint(-size, size), rng.choice((1, 1, 2, 3)))
        elif high == oo:
            yield Fraction(Rational(low).p, Rational(low).q) + Fraction(rng.randint(1, size), rng.choice((1, 2, 3)))
        elif low == -oo:
            yield Fraction(Rational(high).p, Rational(high).q) - Fraction(rng.randint(1, size), rng.choice((1, 2, 3)))
        else:
            a, b = Fraction(Rational(low).p, Rational(low).q), Fraction(Rational(high).p, Rational(high).q)
            yield a + (b - a) * Fraction(rng.randint(1, size), size + 1)


def _bounds(interval: tuple[Any, Any] | None, assumptions: dict[str, Any]) -> tuple[Expr, Expr]:
    if interval is None:
        return (Integer(0) if assumptions.get("positive") else -oo), (Integer(0) if assumptions.get("negative") else oo)
    try:
        low, high = (sympify(end) for end in interval)
        low, high = (Rational(str(end)) if end.is_Float else end for end in (low, high))
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"an interval is a pair (low, high) of numbers, got {interval!r}") from error
    if not all(end.is_Rational or end in (oo, -oo) for end in (low, high)) or not low < high:
        raise InvalidInput(f"an interval is (low, high), rational or infinite, with low < high; got {interval!r}")
    return low, high


x = sample("x")
