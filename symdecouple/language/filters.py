r"""Circular filters of the sample vector, declared by taps, by name, or by a frequency response.

.. math:: (h(x))_n = \sum_k h_k\, x_{n-k}, \qquad (\tilde h(x))_n = \sum_k h_k\, x_{n+k}\ \text{(the adjoint)}

``h(x)`` is a `Filtered` expression: it may be averaged, multiplied and raised to powers like any function of the
sample, but it is not a function of one number, so its derivative in x is refused; gradients go through the adjoint
instead. Numbers go through ``h.apply(array)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sympy import Basic, Expr, Integer, S, Symbol, Tuple

from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.mean import exact
from symdecouple.language.sample import BoundSample, Sample

__all__ = ["DcGain", "Filter", "Filtered", "Response", "shift"]


class Filter(Basic):
    r"""A circular filter: a name, exact taps with an origin, or a numeric frequency response (`from_response`).

    .. math:: (h(x))_n = \sum_j t_j\, x_{n-(j-o)}\quad\text{for taps } t_0, t_1, \ldots \text{ and origin } o

    Parameters
    ----------
    kernel : str, Symbol or sequence of numbers
        A name declares a symbolic filter; numbers are its taps (floats are taken as the decimals they print as).
    origin : int, optional
        Index of the tap at lag 0; default the middle of an odd number of taps. Even numbers of taps must say.

    Raises
    ------
    InvalidInput
        For no taps, taps that are no numbers, or an even number of taps without origin.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> Filter([-1, 2, -1]).dc, Filter("h").dc
    (0, dc(h))
    >>> Filter([1, 2, 4]).apply([1, 0, 0, 0, 0]).tolist()
    [2.0, 4.0, 0.0, 0.0, 1.0]
    """

    def __new__(cls, kernel: Any, origin: Any = None, mirrored: Any = S.Zero) -> Filter:
        if isinstance(kernel, str):
            kernel = Symbol(kernel)
        if isinstance(kernel, Symbol):
            return Basic.__new__(cls, kernel, S.Zero, Integer(bool(mirrored)))
        taps = _taps(kernel)
        if origin is None:
            if len(taps) % 2 == 0:
                raise InvalidInput(f"{len(taps)} taps have no middle: give origin=, the index of the tap at lag 0")
            origin = len(taps) // 2
        if isinstance(origin, bool) or not isinstance(origin, (int, Integer)):
            raise InvalidInput(f"origin is the index of the tap at lag 0, an integer, got {origin!r}")
        return Basic.__new__(cls, *_trimmed(taps, int(origin)), S.Zero)

    @classmethod
    def from_response(cls, response: ArrayLike, name: str = "h") -> Filter:
        """Declare a filter by its N values in the frequency domain, in the order of ``numpy.fft.fft``.

        In the calculus it is a filter with a name; only `apply` looks at the values, for samples of exactly this size.

        Raises
        ------
        InvalidInput
            If the response is not that of a real filter (H[-k] must be the conjugate of H[k]), or not finite.

        Examples
        --------
        >>> Filter.from_response([0, 1, 1, 1], name="d").apply([3.0, 0, 0, 1]).tolist()
        [2.0, -1.0, -1.0, 0.0]
        """
        values = np.asarray(response, dtype=complex)
        if values.ndim != 1 or values.size < 2 or not np.isfinite(values).all():
            raise InvalidInput(f"a frequency response is a vector of 2 or more finite values, got shape {values.shape}")
        mirror = np.conj(np.roll(values[::-1], 1))
        if not np.allclose(values, mirror, rtol=1e-12, atol=1e-12 * np.abs(values).max()):
            raise InvalidInput("the filter is not real: a response must have H[N - k] = conj(H[k]) for every k")
        return Basic.__new__(cls, Response(name, tuple(values.tolist())), S.Zero, S.Zero)

    @property
    def is_symbolic(self) -> bool:
        """True iff the filter has a name instead of taps (whether or not the name has a frequency response)."""
        return isinstance(self.args[0], Symbol)

    @property
    def lags(self) -> dict[int, Expr]:
        """The nonzero taps by lag: ``h_k`` for k in ``lags``."""
        if self.is_symbolic:
            raise InvalidInput(f"the filter {self} has no taps yet; bind it: features.bind({{{self}: [-1, 2, -1]}})")
        taps, origin, _ = self.args
        return {j - int(origin): tap for j, tap in enumerate(taps) if tap != 0}

    @property
    def adjoint(self) -> Filter:
        """The filter with reversed taps: Mean(u * h(v)) = Mean(h.adjoint(u) * v)."""
        kernel, origin, mirrored = self.args
        if self.is_symbolic:
            return Filter(kernel, mirrored=1 - mirrored)
        return Filter(Tuple(*reversed(kernel)), len(kernel) - 1 - int(origin))

    @property
    def dc(self) -> Expr:
        """The gain at frequency zero, sum of the taps: h(c) = h.dc * c for a constant c."""
        return DcGain(Filter(self.args[0])) if self.is_symbolic else sum(self.lags.values(), S.Zero)

    def __call__(self, expr: Any) -> Expr:
        if isinstance(expr, (np.ndarray, list, tuple)):
            raise InvalidInput(f"{self}(...) declares a filtered expression; arrays go through {self}.apply(array)")
        return Filtered(self, exact(expr, str(self)))

    def apply(self, a: ArrayLike, axis: int = -1) -> NDArray[np.floating[Any]]:
        """Filter numbers: circular convolution along one axis.

        Parameters
        ----------
        a : array_like of real numbers, (..., N)
        axis : int
            The sample axis.

        Returns
        -------
        ndarray
            Of the shape of `a`; float32 stays float32, everything else becomes float64.
        """
        array = np.asarray(a)
        if array.dtype.kind not in "fiu" or array.ndim == 0:
            raise InvalidInput(f"{self}.apply takes an array of real numbers, got dtype {array.dtype}, "
                               f"shape {array.shape}")
        work = array.astype(np.float64)
        if isinstance(self.args[0], Response):
            out = self._by_response(work, axis)
        else:
            out = np.zeros_like(work)
            for lag, tap in self.lags.items():
                out += float(tap) * np.roll(work, lag, axis=axis)
        return out.astype(np.float32) if array.dtype == np.float32 else out

    def _by_response(self, work: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        kernel, _, mirrored = self.args
        values = np.asarray(kernel.values)
        if work.shape[axis] != values.size:
            raise InvalidInput(f"the filter {self} is given by {values.size} frequencies, the samples have size "
                               f"{work.shape[axis]}")
        shape = [1] * work.ndim
        shape[axis] = values.size
        spectrum = np.fft.fft(work, axis=axis) * (np.conj(values) if mirrored else values).reshape(shape)
        return np.fft.ifft(spectrum, axis=axis).real

    def _sympystr(self, printer: Any) -> str:
        kernel, origin, mirrored = self.args
        if self.is_symbolic:
            return f"{kernel.name}~" if mirrored else str(kernel.name)
        if kernel == (1,):
            return f"shift({-origin})"
        return f"taps(({', '.join(map(printer._print, kernel))},), {origin})"

    def _latex(self, printer: Any) -> str:
        kernel, origin, mirrored = self.args
        if self.is_symbolic:
            return rf"\tilde{{{printer._print(kernel)}}}" if mirrored else str(printer._print(kernel))
        return rf"\left[{','.join(map(printer._print, kernel))}\right]_{{{origin}}}"


class Response(Symbol):
    """The name of a filter that is given by its frequency response."""

    __slots__ = ("values",)
    values: tuple[complex, ...]

    def __new__(cls, name: str, values: tuple[complex, ...]) -> Response:
        obj = Symbol.__xnew__(cls, name)
        obj.values = values
        return obj

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name, self.values), {}

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self.values)


class DcGain(Expr):
    """The unknown zero-frequency gain of a symbolic filter."""

    __slots__ = ()
    is_commutative = True
    is_real = True

    def __new__(cls, h: Filter) -> Expr:
        return Expr.__new__(cls, h) if h.is_symbolic else h.dc

    def _sympystr(self, printer: Any) -> str:
        return f"dc({printer._print(self.args[0])})"

    def _latex(self, printer: Any) -> str:
        return rf"{printer._print(self.args[0])}_{{\mathrm{{dc}}}}"


class Filtered(Expr):
    """A filter applied to a function of the sample; see `Filter`."""

    __slots__ = ()
    is_commutative = True

    def __new__(cls, h: Filter, expr: Expr) -> Expr:
        if not expr.atoms(Sample) and not any(isinstance(s, BoundSample) for s in expr.free_symbols):
            return h.dc * expr
        if not h.is_symbolic and set(h.lags) <= {0}:
            return h.dc * expr
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
        return Filtered(self.filter, self.argument.diff(symbol))

    def _sympystr(self, printer: Any) -> str:
        return f"{printer._print(self.filter)}({printer._print(self.argument)})"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        text = rf"{printer._print(self.filter)}\left({printer._print(self.argument)}\right)"
        return text if exp is None else rf"{{{text}}}^{{{exp}}}"


def shift(k: int) -> Filter:
    """Return the circular shift by k samples, shift(k)(x)_n = x_(n-k).

    Examples
    --------
    >>> shift(1).apply([1, 2, 3, 4]).tolist()
    [4.0, 1.0, 2.0, 3.0]
    """
    if isinstance(k, bool) or not isinstance(k, (int, Integer)):
        raise InvalidInput(f"a shift is by a whole number of samples, got {k!r}")
    return Filter(Tuple(S.One), -int(k))


def _taps(kernel: Any) -> Tuple:
    if isinstance(kernel, np.ndarray):
        if kernel.ndim != 1:
            raise UnsupportedExpression(f"taps are one-dimensional, got shape {kernel.shape}")
        kernel = kernel.tolist()
    if not isinstance(kernel, (Sequence, Tuple)) or len(kernel) == 0:
        raise InvalidInput(f"a filter is a name or a nonempty sequence of taps, got {kernel!r}")
    taps = Tuple(*(exact(tap, "Filter") for tap in kernel))
    if any(tap.is_number and not tap.is_finite for tap in taps) or any(tap.atoms(Sample) for tap in taps):
        raise InvalidInput(f"taps are finite numbers or parameters, got {kernel!r}")
    return taps


def _trimmed(taps: Tuple, origin: int) -> tuple[Tuple, Integer]:
    """Drop zero taps at the ends, so that equal filters are equal objects."""
    support = [j for j, tap in enumerate(taps) if tap != 0]
    if not support:
        return Tuple(S.Zero), S.Zero
    return Tuple(*taps[support[0] : support[-1] + 1]), Integer(origin - support[0])
