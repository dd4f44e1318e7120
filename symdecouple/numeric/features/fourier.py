r"""Discrete Fourier transforms of mpmath numbers, on grids of any shape.

.. math:: X(\xi) = \sum_n x_n e^{-2\pi i \langle \xi, n / N \rangle}

A length is split by its prime factors, the smallest first: N (p_1 + p_2 + ...) products, N log N for powers of two, N^2
for a prime.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from symdecouple.language.precision import at_bits

__all__ = ["forward", "inverse", "partners", "roots"]

Array = NDArray[Any]


def forward(row: Array, grid: tuple[int, ...]) -> Array:
    """Return the unnormalized transform of a signal (N,) on a grid, complex numbers (N,).

    Examples
    --------
    >>> [complex(v) for v in forward(np.array([mpmath.mpf(v) for v in (1, 2, 4, 3)]), (4,))]
    [(10+0j), (-3+1j), 0j, (-3-1j)]
    """
    return _transformed(row, grid, 1)


def inverse(spectrum: Array, grid: tuple[int, ...]) -> Array:
    """Return the real signal (N,) of a transform (N,)."""
    found = _transformed(spectrum, grid, -1)
    return np.array([mpmath.re(v) / len(found) for v in found], dtype=object)


def _transformed(values: Array, grid: tuple[int, ...], sign: int) -> Array:
    out = np.asarray(values, dtype=object).reshape(grid)
    for axis, n in enumerate(grid):
        out = np.moveaxis(_along_first(np.moveaxis(out, axis, 0), roots(n, mpmath.mp.prec), sign), 0, axis)
    return out.reshape(-1)


def _along_first(values: Array, wave: Array, sign: int) -> Array:
    """Transform along the first axis; `wave` are roots of unity of a multiple of its length."""
    n = len(values)
    if n == 1:
        return values
    p = next(d for d in range(2, n + 1) if n % d == 0)
    m, step = n // p, len(wave) // n * sign
    shape = (-1, *[1] * (values.ndim - 1))
    parts = []
    for r in range(p):
        part = _along_first(values[r::p], wave, sign)
        parts.append(part * wave[r * step * np.arange(m) % len(wave)].reshape(shape) if r else part)
    if p == 2:
        return np.concatenate([parts[0] + parts[1], parts[0] - parts[1]])
    out = []
    for q in range(p):
        total = parts[0]
        for r in range(1, p):
            total = total + parts[r] * wave[r * q * m * step % len(wave)]
        out.append(total)
    return np.concatenate(out)


@lru_cache(maxsize=16)
def roots(n: int, prec: int) -> Array:
    """Return exp(-2 pi i j/n), j = 0..n - 1, to so many bits; exact at quarters of a turn."""
    with at_bits(prec):
        return np.array([mpmath.expjpi(-2 * mpmath.mpf(j) / n) for j in range(n)], dtype=object)


def partners(grid: tuple[int, ...]) -> Array:
    """Return where the opposite of each frequency is, (N,)."""
    places = np.unravel_index(np.arange(math.prod(grid)), grid)
    opposite = [(-place) % n for place, n in zip(places, grid, strict=True)]
    return np.ravel_multi_index(opposite, grid)
