"""Filtered expressions: a filter applied to a function of the sample, and the gain that constants meet.

A filter that keeps constants (a circular one, a mirrored one) sends the constant c to its gain times c. Under zero
padding, or transposed at a mirror, h(1) depends on the place: it stays a function of the sample, whose argument is
the function `Unit`, 1 at every sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sympy import Expr, S, Symbol

from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.sample import BoundSample, Coordinate, Sample, x as generic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symdecouple.language.filters import Filter

__all__ = ["DcGain", "Filtered", "Response", "Unit", "dimension_of", "response_values"]


class Unit(Expr):
    """The function that is 1 at every sample: the argument of ``h(1)`` where that is not a constant."""

    __slots__ = ()
    is_commutative = True
    is_real = True
    is_positive = True

    def __new__(cls, place: Expr) -> Expr:
        if isinstance(place, Symbol):
            return S.One if isinstance(place, Coordinate) else Expr.__new__(cls, place)
        inside = sorted((s for s in place.free_symbols if isinstance(s, (Sample, BoundSample))), key=str)
        return Expr.__new__(cls, inside[0]) if inside else S.One

    def _eval_derivative(self, symbol: Symbol) -> Expr:
        return S.Zero

    def _sympystr(self, printer: Any) -> str:
        return "1"

    def _latex(self, printer: Any) -> str:
        return "1"


class DcGain(Expr):
    """The unknown zero-frequency gain of a symbolic filter."""

    __slots__ = ()
    is_commutative = True
    is_real = True

    def __new__(cls, h: Any) -> Expr:
        return Expr.__new__(cls, h) if h.is_symbolic and not h.zero_dc else h.dc

    def _sympystr(self, printer: Any) -> str:
        return f"dc({printer._print(self.args[0])})"

    def _latex(self, printer: Any) -> str:
        return rf"{printer._print(self.args[0])}_{{\mathrm{{dc}}}}"


class Response(Symbol):
    """The name of a filter that is given by its frequency response."""

    __slots__ = ("values",)
    values: Any

    def __new__(cls, name: str, values: Any) -> Response:
        obj = Symbol.__xnew__(cls, name)
        obj.values = values
        return obj

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name, self.values), {}

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self.values)


def response_values(response: ArrayLike, zero_dc: bool = False) -> NDArray[np.complex128]:
    """Return a frequency response, checked: that of a real filter, and 0 at frequency 0 if that is said."""
    values = np.array(response, dtype=complex)
    if values.ndim < 1 or values.size < 2 or not np.isfinite(values).all():
        raise InvalidInput("a frequency response is a vector or a grid of 2 or more finite values, got shape "
                           f"{values.shape}")
    tiny = 1e-12 * np.abs(values).max()
    mirror = np.conj(np.roll(np.flip(values), 1, axis=tuple(range(values.ndim))))
    if not np.allclose(values, mirror, rtol=1e-12, atol=tiny):
        raise InvalidInput("the filter is not real: a response must have H[N - k] = conj(H[k]) for every k")
    start = values.flat[0].real
    if zero_dc and abs(start) > tiny:
        raise InvalidInput(f"zero_dc says that the response vanishes at frequency 0, and it is {start:.6g} there")
    values.flat[0] = 0 if zero_dc else start
    return values


class Filtered(Expr):
    """A filter applied to a function of the sample; see `Filter`."""

    __slots__ = ()
    is_commutative = True

    def __new__(cls, h: Any, expr: Expr, sample: Symbol = generic) -> Expr:
        if isinstance(expr, Unit):
            expr, sample = S.One, expr.args[0]
        if h.is_pointwise:
            return h.dc * expr
        if not expr.atoms(Sample) and not any(isinstance(s, BoundSample) for s in expr.free_symbols):
            return h.dc * expr if h.keeps_constants else expr * Expr.__new__(cls, h, Unit(sample))
        if any(inner.ndim != h.ndim for inner in _filters(expr)):
            raise InvalidInput(f"the filter {h} has {h.ndim} dimensions, and those inside {expr} have "
                               f"{dimension_of([expr])}; a sample is a vector or an image for all its filters")
        return Expr.__new__(cls, h, expr)

    @property
    def filter(self) -> Filter:
        return self.args[0]

    @property
    def argument(self) -> Expr:
        return self.args[1]

    def _eval_is_real(self) -> bool | None:
        return self.argument.is_real

    def _eval_derivative(self, symbol: Symbol) -> Expr:
        if isinstance(symbol, (Sample, BoundSample)):
            raise UnsupportedExpression(f"{self} is not a function of one number: it has no derivative in {symbol}; "
                                        "use gradient() or derivative_along(), which go through the filter's adjoint")
        places = (s for s in self.argument.free_symbols if isinstance(s, (Sample, BoundSample)))
        return Filtered(self.filter, self.argument.diff(symbol), next(places))

    def _sympystr(self, printer: Any) -> str:
        return f"{printer._print(self.filter)}({printer._print(self.argument)})"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        text = rf"{printer._print(self.filter)}\left({printer._print(self.argument)}\right)"
        return text if exp is None else rf"{{{text}}}^{{{exp}}}"


def dimension_of(exprs: Iterable[Expr]) -> int:
    """Return the number of axes of a sample, 1 without filters; refuse filters that cannot stand together.

    Raises
    ------
    InvalidInput
        For filters of different dimensions, or one name for filters that are declared differently.
    """
    filters = set().union(*map(_filters, exprs))
    found = {h.ndim for h in filters}
    if len(found) > 1:
        raise InvalidInput(f"filters of {' and '.join(map(str, sorted(found)))} dimensions occur together; a sample is "
                           "a vector or an image, and all its filters have as many axes")
    named: dict[Any, Any] = {}
    for h in (h.declared for h in filters if h.is_symbolic):
        if named.setdefault(h.args[0], h) != h:
            raise InvalidInput(f"the name {h.args[0]} stands for filters with different boundary or zero_dc; "
                               "give each its own name")
    return found.pop() if found else 1


def _filters(expr: Expr) -> set[Any]:
    return {node.args[0] for node in expr.atoms(Filtered)}
