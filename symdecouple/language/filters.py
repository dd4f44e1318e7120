r"""Filters of the sample vector, declared by taps, by name, or by a frequency response, in any number of dimensions.

.. math:: (h(x))_n = \sum_k h_k\, x_{n-k}, \qquad (\tilde h(x))_n = \sum_k h_k\, x_{n+k}\ \text{(the adjoint)}

``h(x)`` is a `Filtered` expression: it may be averaged, multiplied and raised to powers like any function of the
sample, but it is not a function of one number, so its derivative in x is refused; gradients go through the adjoint
instead. Numbers go through ``h.apply(array)``. Beyond its ends a sample vector goes on as the filter's boundary says
(`symdecouple.language.boundaries`); circular filters commute, others need not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sympy import Basic, Expr, ImmutableSparseMatrix, Integer, S, Symbol, Tuple, simplify
from sympy.core.symbol import Str

from symdecouple.errors import InvalidInput
from symdecouple.language.boundaries import MIRRORS, checked_boundary, grid, operator_rows
from symdecouple.language.filter_arrays import ArrayFilter
from symdecouple.language.filter_notation import filter_latex, filter_text
from symdecouple.language.filtered import DcGain, Filtered, Response, response_values
from symdecouple.language.mean import exact
from symdecouple.language.sample import x as generic
from symdecouple.language.taps import (
    entries,
    is_even,
    origin_of,
    outer_product,
    rank_one,
    read_taps,
    shape_of,
    trimmed,
    turned,
)

__all__ = ["DcGain", "Filter", "Filtered", "Response", "shift"]


class Filter(Basic):
    r"""A filter: a name, exact taps with an origin, or a numeric frequency response (`from_response`).

    .. math:: (h(x))_n = \sum_j t_j\, x_{n-(j-o)}\quad\text{for taps } t_0, t_1, \ldots \text{ and origin } o

    Parameters
    ----------
    kernel : str, Symbol, or nested sequence of numbers
        A name declares a symbolic filter; numbers are its taps (floats are taken as the decimals they print as),
        nested as deep as the filter has dimensions.
    origin : int or tuple of int, optional
        Index of the tap at lag 0; default the middle of odd numbers of taps. Even numbers of taps must say.
    transposed : bool
        The transposed operator.
    boundary : {"circular", "zero", "half-sample", "whole-sample"}
        What lies beyond the ends: the vector again, zeros, or its mirror image with or without the last sample twice.
    zero_dc : bool
        The taps add up to 0: known of a name, checked for numbers.
    ndim : int, optional
        Dimensions of a filter with a name, default 1.

    Raises
    ------
    InvalidInput
        For no taps, taps that are no numbers, rows of different lengths, an even number of taps without origin, or
        taps that contradict `zero_dc` or `ndim`.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> Filter([-1, 2, -1]).dc, Filter("h").dc, Filter("h", zero_dc=True).dc
    (0, dc(h), 0)
    >>> Filter([1, 2, 4]).apply([1, 0, 0, 0, 0]).tolist()
    [2.0, 4.0, 0.0, 0.0, 1.0]
    >>> Filter([[0, 1], [1, 0]], origin=(0, 0), boundary="zero").apply([[1, 2], [3, 4]]).tolist()
    [[0.0, 1.0], [1.0, 5.0]]
    """

    def __new__(cls, kernel: Any, origin: Any = None, transposed: Any = False, boundary: Any = "circular",
                zero_dc: Any = False, ndim: Any = None) -> Filter:
        boundary = checked_boundary(getattr(boundary, "name", boundary))
        if isinstance(kernel, (str, Symbol)):
            return _named(Symbol(kernel) if isinstance(kernel, str) else kernel, transposed, boundary, zero_dc, ndim)
        taps = read_taps(kernel)
        shape = shape_of(taps)
        if ndim is not None and ndim != len(shape):
            raise InvalidInput(f"the taps have {len(shape)} dimensions, and ndim={ndim} was given")
        taps, place = trimmed(taps, origin_of(origin, shape))
        if zero_dc and (total := simplify(sum((tap for _, tap in entries(taps)), S.Zero))) != 0:
            raise InvalidInput(f"zero_dc says that the taps add up to 0, and they add up to {total}")
        if all(size == 1 for size in shape_of(taps)) and not any(place):
            boundary, transposed = "circular", False
        if transposed and boundary not in MIRRORS:
            taps, place = turned(taps, place)
            transposed = False
        if transposed and boundary == "half-sample" and is_even(taps, place):
            transposed = False  # the one mirror under which a symmetric kernel is a symmetric matrix
        at = Integer(place[0]) if len(place) == 1 else Tuple(*map(Integer, place))
        return Basic.__new__(cls, taps, at, Integer(bool(transposed)), Str(boundary), S.Zero, Integer(len(shape)))

    @classmethod
    def from_response(cls, response: ArrayLike, name: str = "h", zero_dc: bool = False) -> Filter:
        """Declare a circular filter by its values in the frequency domain, in the order of ``numpy.fft.fftn``.

        In the calculus it is a filter with a name, whose gain at frequency 0 is known only where it is 0; `apply`
        looks at the values, for samples of exactly this shape.

        Parameters
        ----------
        response : array_like of complex, one axis for each dimension of the sample
        name : str
        zero_dc : bool
            Take the value at frequency 0, which must be as small as rounding, for 0.

        Raises
        ------
        InvalidInput
            If the response is not that of a real filter (H[-k] must be the conjugate of H[k], all axes at once), or
            not finite.

        Examples
        --------
        >>> Filter.from_response([0, 1, 1, 1], name="d").apply([3.0, 0, 0, 1]).tolist()
        [2.0, -1.0, -1.0, 0.0]
        """
        values = response_values(response, zero_dc)
        return cls(Response(name, _nested_tuples(values.tolist())), zero_dc=bool(values.flat[0] == 0))

    @property
    def is_symbolic(self) -> bool:
        """True iff the filter has a name instead of taps (whether or not the name has a frequency response)."""
        return isinstance(self.args[0], Symbol)

    @property
    def ndim(self) -> int:
        """The number of axes of the samples that it filters."""
        return int(self.args[5])

    @property
    def boundary(self) -> str:
        """What lies beyond the ends: "circular", "zero", "half-sample" or "whole-sample"."""
        return str(self.args[3].name)

    @property
    def transposed(self) -> bool:
        """True for the transpose of an operator that is not written as another filter of its kind."""
        return bool(self.args[2])

    @property
    def zero_dc(self) -> bool:
        """True iff the taps are known to add up to 0."""
        return bool(self.args[4]) if self.is_symbolic else self.dc == 0

    @property
    def declared(self) -> Filter:
        """The filter that was declared, not transposed: what stands for it in `parameters` and is bound."""
        kernel, origin, _, *rest = self.args
        return Filter(kernel, origin, False, *rest) if self.transposed else self

    @property
    def lags(self) -> dict[Any, Expr]:
        """The nonzero taps by lag: ``h_k`` for k in ``lags``, whole numbers in one dimension, tuples in several."""
        found = _lags(self)
        return {lag[0]: tap for lag, tap in found.items()} if self.ndim == 1 else dict(found)

    @property
    def is_pointwise(self) -> bool:
        """True iff the filter only multiplies by a number."""
        return not self.is_symbolic and not any(map(any, _lags(self)))

    @property
    def keeps_constants(self) -> bool:
        """True iff h(c) = h.dc * c for every constant c: not under zero padding, nor transposed at a mirror."""
        return self.boundary == "circular" or (self.boundary in MIRRORS and not self.transposed)

    @property
    def adjoint(self) -> Filter:
        """The transposed operator: Mean(u * h(v)) = Mean(h.adjoint(u) * v).

        Reversed taps for circular and zero boundaries; at mirrors the taps stay and `transposed` is set.
        """
        return _adjoint(self)

    @property
    def dc(self) -> Expr:
        """The gain at frequency zero, sum of the taps: h(c) = h.dc * c for a constant c, where it `keeps_constants`."""
        if self.is_symbolic:
            return S.Zero if self.zero_dc else DcGain(self.declared)
        return sum(_lags(self).values(), S.Zero)

    def __call__(self, expr: Any, sample: Symbol = generic) -> Expr:
        if isinstance(expr, (np.ndarray, list, tuple)):
            raise InvalidInput(f"{self}(...) declares a filtered expression; arrays go through {self}.apply(array)")
        return Filtered(self, exact(expr, str(self)), sample)

    def outer(self, *others: Filter) -> Filter:
        """Return the tensor product: a filter in as many dimensions as the factors have together.

        Raises
        ------
        InvalidInput
            For filters without taps, or of different boundaries.

        Examples
        --------
        >>> Filter([1, 2, 1]).outer(Filter([-1, 0, 1]))
        taps(((-1, 0, 1), (-2, 0, 2), (-1, 0, 1)), (1, 1))
        """
        factors = (self, *others)
        kinds = {(h.boundary, h.transposed) for h in factors if not h.is_pointwise}
        if len(kinds) > 1:
            raise InvalidInput(f"the factors {', '.join(map(str, factors))} of a tensor product have one boundary")
        boundary, transposed = kinds.pop() if kinds else ("circular", False)
        for h in factors:
            _lags(h)
        taps = reduce(outer_product, (h.args[0] for h in factors))
        place = [o for h in factors for o in origin_of(h.args[1], shape_of(h.args[0]))]
        return Filter(taps, place, transposed, boundary)

    def factors(self) -> tuple[Filter, ...] | None:
        """Return filters of one dimension whose tensor product this is; None where it is not separable.

        Examples
        --------
        >>> Filter([[1, 2, 1], [2, 4, 2], [1, 2, 1]]).factors()
        (taps((1, 2, 1), 1), taps((1, 2, 1), 1))
        """
        return None if self.is_symbolic else _factors(self)

    def rows(self, n_samples: int | tuple[int, ...]) -> list[dict[int, Expr]]:
        """Return the operator's matrix for a number of samples, or a grid in C order: entries by column, row by row."""
        shape = grid(n_samples)
        if len(shape) != self.ndim:
            raise InvalidInput(f"{self} filters in {self.ndim} dimensions, and n_samples={n_samples} has {len(shape)}; "
                               "give the shape of the grid, such as (4, 5)")
        return _rows(self, shape)

    def matrix(self, n_samples: int | tuple[int, ...]) -> ImmutableSparseMatrix:
        """Return the operator as an exact matrix for a number of samples, or a grid in C order.

        Examples
        --------
        >>> Filter([-1, 2, -1], boundary="half-sample").matrix(3)
        Matrix([
        [ 1, -1,  0],
        [-1,  2, -1],
        [ 0, -1,  1]])
        """
        rows = self.rows(n_samples)
        table = {(i, j): tap for i, row in enumerate(rows) for j, tap in row.items()}
        return ImmutableSparseMatrix(len(rows), len(rows), table)

    def apply(self, a: ArrayLike, axis: int | Sequence[int] | None = None) -> NDArray[Any]:
        """Filter numbers along the axes of the samples.

        Parameters
        ----------
        a : array_like of real numbers, (..., N) or (..., N1, N2) ...
        axis : int or tuple of int, optional
            The sample axes, one for each dimension of the filter; default the last ones.

        Returns
        -------
        ndarray
            Of the shape of `a`; float32 stays float32, other numbers become float64. Arrays of objects (fractions,
            mpmath or SymPy numbers) stay exact, or keep their precision.

        Raises
        ------
        InvalidInput
            For a filter without taps, other entries than real numbers, or other axes than the filter has.

        Notes
        -----
        Exact up to rounding; taps are rounded once to float64. Separable kernels go axis by axis. Circular kernels of
        more than 16 taps on an axis are multiplied in the frequency domain, in O(log N) a sample.
        """
        kernel, origin, *_ = self.args
        if isinstance(kernel, Response):
            return ArrayFilter(self, kernel.values, self.ndim, transposed=self.transposed)(a, axis)
        _lags(self)
        return ArrayFilter(self, kernel, self.ndim, origin, self.boundary, self.transposed)(a, axis)

    def _sympystr(self, printer: Any) -> str:
        return filter_text(self, printer._print)

    def _latex(self, printer: Any) -> str:
        return filter_latex(self, printer._print)


def shift(k: Any, boundary: str = "circular") -> Filter:
    """Return the shift by k samples, shift(k)(x)_n = x_(n-k); a tuple shifts along each axis.

    Examples
    --------
    >>> shift(1).apply([1, 2, 3, 4]).tolist()
    [4.0, 1.0, 2.0, 3.0]
    >>> shift((1, 0)).apply([[1, 2], [3, 4]]).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    lag = tuple(k) if isinstance(k, (tuple, list, Tuple)) and len(k) > 0 else (k,)
    if any(isinstance(part, bool) or not isinstance(part, (int, Integer)) for part in lag):
        raise InvalidInput(f"a shift is by a whole number of samples along each axis, got {k!r}")
    taps: Any = 1
    for _ in lag:
        taps = [taps]
    return Filter(taps, tuple(-int(part) for part in lag), boundary=boundary)


def _named(kernel: Symbol, transposed: Any, boundary: str, zero_dc: Any, ndim: Any) -> Filter:
    ndim = 1 if ndim is None else ndim
    if isinstance(kernel, Response):
        ndim = np.ndim(kernel.values)
        if boundary != "circular":
            raise InvalidInput(f"a frequency response is that of a circular filter, got boundary={boundary!r}")
    if isinstance(ndim, bool) or not isinstance(ndim, (int, Integer)) or ndim < 1:
        raise InvalidInput(f"ndim is the number of dimensions of the filter {kernel}, got {ndim!r}")
    return Basic.__new__(Filter, kernel, S.Zero, Integer(bool(transposed)), Str(boundary), Integer(bool(zero_dc)),
                         Integer(ndim))


@lru_cache(maxsize=1024)
def _lags(h: Filter) -> dict[tuple[int, ...], Expr]:
    if isinstance(h.args[0], Response):
        raise InvalidInput(f"the filter {h} is given by its frequency response: it has no exact taps")
    if h.is_symbolic:
        raise InvalidInput(f"the filter {h} has no taps yet; bind it: features.bind({{{h}: [-1, 2, -1]}})")
    place = origin_of(h.args[1], shape_of(h.args[0]))
    return {tuple(j - o for j, o in zip(at, place, strict=True)): tap for at, tap in entries(h.args[0]) if tap != 0}


@lru_cache(maxsize=1024)
def _factors(h: Filter) -> tuple[Filter, ...] | None:
    lines = rank_one(h.args[0])
    if lines is None:
        return None
    place = origin_of(h.args[1], shape_of(h.args[0]))
    return tuple(Filter(line, o, h.transposed, h.boundary) for line, o in zip(lines, place, strict=True))


@lru_cache(maxsize=1024)
def _adjoint(h: Filter) -> Filter:
    kernel, origin, transposed, *rest = h.args
    return Filter(kernel, origin, not transposed, *rest)


@lru_cache(maxsize=64)
def _rows(h: Filter, shape: tuple[int, ...]) -> list[dict[int, Expr]]:
    rows = operator_rows(_lags(h), shape, h.boundary, h.transposed)
    return [{column: tap for column, tap in row.items() if tap != 0} for row in rows]


def _nested_tuples(values: Any) -> Any:
    return tuple(map(_nested_tuples, values)) if isinstance(values, list) else values
