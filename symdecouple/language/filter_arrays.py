"""Filters of arrays of numbers: taps become kernels, axis by axis where that is less work, or a response its spectrum.

`symdecouple.language.filters.Filter.apply` is this, for a filter that is known by its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sympy import Integer, Tuple

from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.convolution import Kernel, by_response, convolve, sample_axes
from symdecouple.language.taps import entries, numeric_taps, origin_of, rank_one, shape_of

__all__ = ["ArrayFilter"]

_Array = NDArray[Any]
_Stages = list[tuple[Kernel, tuple[int, ...]]]  # one after the other, each with the axes that it filters


@dataclass(frozen=True, slots=True)
class ArrayFilter:
    """A filter of arrays.

    Parameters
    ----------
    name : object
        The filter, printed in error messages only: the text of many taps takes longer than their work.
    kernel : nested Tuple of Expr, or nested tuple of complex
        Taps, or the values of a frequency response.
    ndim : int
        How many axes are filtered.
    origin : int or tuple of int, optional
        The place of the tap at lag 0; None says that the kernel is a frequency response.
    boundary : str
        What lies beyond the ends, for taps.
    transposed : bool

    Examples
    --------
    >>> ArrayFilter("h", Tuple(1, 2, 4), 1, Integer(1))([1, 0, 0, 0, 0]).tolist()
    [2.0, 4.0, 0.0, 0.0, 1.0]
    >>> ArrayFilter("h", (0, 1, 1, 1), 1)([3.0, 0, 0, 1]).tolist()
    [2.0, -1.0, -1.0, 0.0]
    """

    name: object
    kernel: Any
    ndim: int
    origin: Any = None
    boundary: str = "circular"
    transposed: bool = False

    def __call__(self, a: ArrayLike, axis: int | Sequence[int] | None = None) -> _Array:
        """Filter numbers along the axes of the samples, see `Filter.apply`."""
        array = np.asarray(a)
        if array.dtype.kind not in "fiuO" or array.ndim == 0:
            raise InvalidInput(f"{self.name}.apply takes an array of real numbers, got dtype {array.dtype}, "
                               f"shape {array.shape}")
        try:
            axes = sample_axes(axis, self.ndim, array.ndim)
        except ValueError as error:
            raise InvalidInput(f"{self.name} filters {self.ndim} axes of an array, got axis={axis} for shape "
                               f"{array.shape}") from error
        work = array if array.dtype == object else array.astype(np.float64, copy=False)
        out = self._by_response(work, axes) if self.origin is None else self._by_taps(work, axes)
        return out.astype(np.float32) if array.dtype == np.float32 else out

    def _by_taps(self, work: _Array, axes: tuple[int, ...]) -> _Array:
        known = self.kernel, self.origin, self.boundary, self.transposed
        for kernel, where in _stages(*known, like=work) if work.dtype == object else _float_stages(*known):
            work = convolve(work, kernel, tuple(axes[i] for i in where))
        return work

    def _by_response(self, work: _Array, axes: tuple[int, ...]) -> _Array:
        values = np.asarray(self.kernel)
        if work.dtype == object:
            raise UnsupportedExpression(f"the filter {self.name} is given by 64-bit frequencies: it has no exact "
                                        "values")
        sizes = tuple(work.shape[axis] for axis in axes)
        if sizes != values.shape:
            given, found = ("x".join(map(str, shape)) for shape in (values.shape, sizes))
            raise InvalidInput(f"the filter {self.name} is given by {given} frequencies, the samples have size {found}")
        return by_response(work, np.conj(values) if self.transposed else values, axes)


@lru_cache(maxsize=256)
def _float_stages(taps: Tuple, origin: Any, boundary: str, transposed: bool) -> _Stages:
    return _stages(taps, origin, boundary, transposed, like=np.empty(0))


def _stages(taps: Tuple, origin: Any, boundary: str, transposed: bool, like: _Array) -> _Stages:
    """Kernels in numbers that go with an array."""
    return [(Kernel(numeric_taps(part, like), place, boundary, transposed), where)
            for part, place, where in _parts(taps, origin)]


@lru_cache(maxsize=1024)
def _parts(taps: Tuple, origin: Any) -> list[tuple[Tuple, tuple[int, ...], tuple[int, ...]]]:
    """The taps, or lines whose tensor product they are, each with its origin and its axes."""
    place = origin_of(origin, shape_of(taps))
    count = sum(tap != 0 for _, tap in entries(taps))
    lines = rank_one(taps) if count > 1 and len(place) > 1 else None
    if lines is None or sum(map(len, lines)) >= count:
        return [(taps, place, tuple(range(len(place))))]
    return [(line, (o,), (i,)) for i, (line, o) in enumerate(zip(lines, place, strict=True))
            if line != Tuple(Integer(1)) or o != 0]
