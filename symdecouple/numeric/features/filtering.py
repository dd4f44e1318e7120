r"""Filters on the rows of a batch, whatever the grid that the numbers of a row lie on.

Rows are flattened samples (..., N); a filter of d dimensions sees each of them on its grid, d axes with N numbers in C
order. Numbers are filtered as `Filter.apply` does it, in float64 or exactly. A filter that is given by 64-bit
frequencies H counts them as exact where numbers have more digits, and multiplies the discrete Fourier transform,

.. math:: h(x) = F^{-1}\,(H \cdot F x)
"""

from __future__ import annotations

from math import prod
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.language.filtered import Response
from symdecouple.language.filters import Filter
from symdecouple.numeric.features.fourier import forward, inverse

__all__ = ["exact_response", "filtered"]

Array = NDArray[Any]


def filtered(h: Filter, values: Array, grid: tuple[int, ...] | None = None) -> Array:
    """Return the filtered rows.

    Parameters
    ----------
    h : Filter
        With numbers for taps, or a frequency response.
    values : array (..., N)
        float64, or object arrays of mpmath numbers or Fractions.
    grid : tuple of int, optional
        How the N numbers lie; default (N,).

    Returns
    -------
    array (..., N)

    Raises
    ------
    InvalidInput
        If N numbers do not fill the grid, or the filter has another size or number of dimensions.

    Examples
    --------
    >>> filtered(Filter([1, 2, 4]), np.array([[1.0, 0, 0, 0, 0]])).tolist()
    [[2.0, 4.0, 0.0, 0.0, 1.0]]
    >>> filtered(Filter([[1, 2], [4, 8]], origin=(0, 0)), np.array([1.0, 0, 0, 0, 0, 0]), (2, 3)).tolist()
    [1.0, 2.0, 0.0, 4.0, 8.0, 0.0]
    """
    shape = values.shape[-1:] if grid is None else grid
    if prod(shape) != values.shape[-1]:
        raise InvalidInput(f"the grid {shape} has {prod(shape)} places, the samples have {values.shape[-1]} numbers")
    if len(shape) != h.ndim:
        raise InvalidInput(f"{h} is a filter of {h.ndim} dimension(s), and the grid of the samples is {shape}")
    placed = values.reshape(*values.shape[:-1], *shape)
    if values.dtype == object and isinstance(h.args[0], Response):
        found = _by_response(h, placed, shape)
    else:
        found = np.asarray(h.apply(placed))
    return found.reshape(values.shape)


def _by_response(h: Filter, placed: Array, shape: tuple[int, ...]) -> Array:
    """Multiply the spectrum of mpmath numbers by that of the filter, in the precision of the context."""
    gains, rows = exact_response(h, shape).reshape(-1), placed.reshape(-1, prod(shape))
    found = [inverse(forward(row, shape) * gains, shape) for row in rows]
    return np.array(found, dtype=object).reshape(placed.shape)


def exact_response(h: Filter, shape: tuple[int, ...]) -> Array:
    """Return the numbers that a filter is given by, at the frequencies of a grid of samples, as mpmath numbers.

    Raises
    ------
    InvalidInput
        If they are those of another grid.

    Examples
    --------
    >>> [complex(v) for v in exact_response(Filter.from_response([1, 0.5j, 0, -0.5j]), (4,))]
    [(1+0j), 0.5j, 0j, -0.5j]
    """
    response = np.asarray(h.args[0].values)
    if response.shape != shape:
        given, found = ("x".join(map(str, sizes)) for sizes in (response.shape, shape))
        raise InvalidInput(f"the filter {h} is given by {given} frequencies, the samples have size {found}")
    return np.asarray(np.frompyfunc(mpmath.mpc, 1, 1)(np.conj(response) if h.transposed else response))
