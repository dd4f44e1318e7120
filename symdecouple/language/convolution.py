r"""Filters on arrays: convolution along some axes under any boundary, and its transpose.

.. math:: (h(x))_n = \sum_j t_j\, \bar x_{n-(j-o)}, \qquad \langle u, h(x)\rangle = \langle h^T(u), x\rangle

An operator is A = C E: E continues the vector beyond its ends, C is a convolution without ends. Hence A' = E' C': a
full convolution with reversed taps, whose overhang is folded back. What is cheapest depends on the number of taps and
on the axis: a line filter along contiguous samples, sums of slices that stay in the cache along others, products of
spectra for long kernels. Numbers that are exact or of high precision (object arrays) go through sums of slices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.language.boundaries import continued

__all__ = ["Kernel", "by_response", "convolve", "sample_axes"]

_LONG_LINE = 16  # taps from which spectra are cheaper than sums along one axis, both periodic
_LONG_PLANE = 25  # the same for kernels in several dimensions
_LONG_PADDED = (64, 200)  # the same for other boundaries, where spectra need padding: one axis, several
_KEPT = 1 << 16  # size up to which the spectrum of a kernel is remembered
_BLOCK = 1 << 14  # elements that are summed at a time
_MODES = {"circular": "wrap", "zero": "constant", "half-sample": "reflect", "whole-sample": "mirror"}

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """Taps as numbers, the place of the tap at lag 0, and what lies beyond the ends."""

    taps: Array
    origin: tuple[int, ...]
    boundary: str
    transposed: bool = False

    def arranged(self, order: tuple[int, ...]) -> Kernel:
        """Return the kernel with its axes in another order."""
        if order == tuple(range(len(order))):
            return self
        return replace(self, taps=self.taps.transpose(order), origin=tuple(self.origin[i] for i in order))

    def reach(self, i: int) -> tuple[int, int]:
        """The smallest and the largest lag along axis i."""
        return -self.origin[i], self.taps.shape[i] - 1 - self.origin[i]


def sample_axes(axis: Any, count: int, ndim: int) -> tuple[int, ...]:
    """Return axes as nonnegative numbers; the last ones by default, ValueError for what are not that many axes."""
    if axis is None:
        axis = range(ndim - count, ndim)
    axes = tuple(axis) if hasattr(axis, "__iter__") else (axis,)
    if len(axes) != count or any(isinstance(k, bool) or not hasattr(k, "__index__") or not -ndim <= k < ndim
                                 for k in axes):
        raise ValueError(f"{count} of {ndim} axes are needed")
    axes = tuple(int(k) % ndim for k in axes)
    if len(set(axes)) < count:
        raise ValueError("an axis occurs twice")
    return axes


def convolve(array: Array, kernel: Kernel, axes: tuple[int, ...]) -> Array:
    """Filter an array of float64 or of objects along these axes, in the order of the kernel's.

    Examples
    --------
    >>> difference = Kernel(np.array([1.0, -1.0]), (0,), "half-sample")
    >>> convolve(np.array([1.0, 4, 9]), difference, (0,)).tolist()
    [0.0, 3.0, 5.0]
    """
    order = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    kernel, axes = kernel.arranged(order), tuple(sorted(axes))
    if array.size == 0:
        return array.copy()
    if kernel.transposed:
        return _transposed(array, kernel, axes)
    if array.dtype == object:
        return _sum_of_slices(_continued_array(array, kernel, axes), kernel, axes, array.shape)
    if kernel.boundary == "circular":
        kernel = _wrapped(kernel, [array.shape[axis] for axis in axes])
    if kernel.taps.size == 1:
        return _continued_array(array, kernel, axes) * kernel.taps.ravel()[0]
    if kernel.boundary == "circular" and kernel.taps.size > (_LONG_LINE if len(axes) == 1 else _LONG_PLANE):
        return _by_spectrum(array, kernel, axes)
    if kernel.taps.size > _LONG_PADDED[len(axes) > 1]:
        return _overlapped(_continued_array(array, kernel, axes), kernel.taps, axes)
    inside = all(low <= 0 <= high for low, high in map(kernel.reach, range(len(axes))))
    if len(axes) == 1 and not (inside and axes[0] == array.ndim - 1):
        return _along_columns(array, kernel, axes[0])
    if inside and (len(axes) == 1 or all(n <= array.shape[k] for n, k in zip(kernel.taps.shape, axes, strict=True))):
        return _by_lines(array, kernel, axes)
    return _sum_of_slices(_continued_array(array, kernel, axes), kernel, axes, array.shape)


def by_response(array: NDArray[np.float64], values: NDArray[np.complex128], axes: tuple[int, ...]) -> Array:
    """Multiply the spectrum of a real array along these axes by that of a real filter."""
    order = sorted(range(len(axes)), key=axes.__getitem__)
    half = values.transpose(order)[..., : values.shape[order[-1]] // 2 + 1]
    return _times_spectrum(array, half, tuple(sorted(axes)))


def _times_spectrum(array: Array, half: Array, axes: tuple[int, ...]) -> Array:
    from scipy.fft import irfftn, rfftn

    product = rfftn(array, axes=axes)
    product *= _among(half, axes, array.ndim)
    return np.asarray(irfftn(product, [array.shape[axis] for axis in axes], axes=axes, overwrite_x=True))


def _among(taps: Array, axes: tuple[int, ...], ndim: int) -> Array:
    """The taps with singleton axes for those that are not filtered."""
    shape = [1] * ndim
    for axis, size in zip(axes, taps.shape, strict=True):
        shape[axis] = size
    return taps.reshape(shape)


def _sources(kernel: Kernel, i: int, size: int) -> NDArray[np.intp]:
    """Which sample each place of the continued vector holds, from the first that a tap reaches to the last."""
    low, high = kernel.reach(i)
    return continued(np.arange(-high, size - low), size, kernel.boundary)


def _continued_array(array: Array, kernel: Kernel, axes: tuple[int, ...]) -> Array:
    for i, axis in enumerate(axes):
        source = _sources(kernel, i, array.shape[axis])
        array = array.take(source, axis=axis)
        if kernel.boundary == "zero":
            np.moveaxis(array, axis, 0)[source < 0] = 0
    return array


def _wrapped(kernel: Kernel, sizes: list[int]) -> Kernel:
    """A periodic kernel that is longer than an axis, wound around it."""
    taps, origin = kernel.taps, list(kernel.origin)
    if all(n <= size for n, size in zip(taps.shape, sizes, strict=True)):
        return kernel
    for i, size in enumerate(sizes):
        if taps.shape[i] > size:
            lags = np.arange(taps.shape[i]) - origin[i]
            wound = np.zeros((size, *np.delete(taps.shape, i)))
            np.add.at(wound, lags % size, np.moveaxis(taps, i, 0))
            taps, origin[i] = np.moveaxis(wound, 0, i), 0
    return Kernel(taps, tuple(origin), kernel.boundary)


def _sum_of_slices(padded: Array, kernel: Kernel, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    out = np.zeros(shape, dtype=padded.dtype)
    for place in zip(*np.nonzero(kernel.taps), strict=True):
        window = [slice(None)] * len(shape)
        for i, axis in enumerate(axes):
            start = kernel.taps.shape[i] - 1 - place[i]
            window[axis] = slice(start, start + shape[axis])
        out += padded[tuple(window)] * kernel.taps[place]  # an interval on the left would take the array for one
    return out


def _by_lines(array: Array, kernel: Kernel, axes: tuple[int, ...]) -> Array:
    from scipy.ndimage import correlate, correlate1d

    mode, reversed_taps = _MODES[kernel.boundary], np.flip(kernel.taps)
    origin = [(n - 1) // 2 - o for n, o in zip(kernel.taps.shape, kernel.origin, strict=True)]
    if len(axes) == 1:
        return np.asarray(correlate1d(array, reversed_taps, axes[0], mode=mode, origin=origin[0]))
    origins = [0] * array.ndim
    for axis, place in zip(axes, origin, strict=True):
        origins[axis] = place
    return np.asarray(correlate(array, _among(reversed_taps, axes, array.ndim), mode=mode, origin=origins))


def _along_columns(array: Array, kernel: Kernel, axis: int) -> Array:
    """A short kernel along an axis that is not the last: blocks that stay in the cache, summed slice by slice."""
    size, source = array.shape[axis], _sources(kernel, 0, array.shape[axis])
    weights = kernel.taps[::-1]
    trail = int(np.prod(array.shape[axis + 1 :], dtype=np.intp))
    data = np.ascontiguousarray(array).reshape(-1, size, trail)
    out = np.empty_like(data)
    width = min(trail, _BLOCK)
    tall = min(size, max(_BLOCK // width, 2 * len(weights)))
    deep = max(_BLOCK // (width * tall), 1)
    for first in range(0, len(data), deep):
        for top in range(0, size, tall):
            rows = min(tall, size - top)
            reach = source[top : top + rows + len(weights) - 1]
            for left in range(0, trail, width):
                here = (slice(first, first + deep), slice(top, top + rows), slice(left, left + width))
                block = data[here[0], :, here[2]].take(reach, axis=1)
                if kernel.boundary == "zero":
                    block[:, reach < 0] = 0
                total = weights[0] * block[:, :rows]
                for k in range(1, len(weights)):
                    total += weights[k] * block[:, k : k + rows]
                out[here] = total
    return out.reshape(array.shape)


def _by_spectrum(array: Array, kernel: Kernel, axes: tuple[int, ...]) -> Array:
    sizes = tuple(array.shape[axis] for axis in axes)
    make = _spectrum if np.prod(sizes) <= _KEPT else _spectrum.__wrapped__
    return _times_spectrum(array, make(kernel, sizes), axes)


@lru_cache(maxsize=64)
def _spectrum(kernel: Kernel, sizes: tuple[int, ...]) -> Array:
    from scipy.fft import rfftn

    periodic = np.zeros(sizes)
    places = [(np.arange(n) - o) % size for n, o, size in zip(kernel.taps.shape, kernel.origin, sizes, strict=True)]
    periodic[np.ix_(*places)] = kernel.taps
    return np.asarray(rfftn(periodic))


def _overlapped(array: Array, taps: Array, axes: tuple[int, ...]) -> Array:
    from scipy.signal import oaconvolve

    return np.asarray(oaconvolve(array, _among(taps, axes, array.ndim), mode="valid", axes=axes))


def _transposed(array: Array, kernel: Kernel, axes: tuple[int, ...]) -> Array:
    """The convolution without ends, transposed, then every place beyond the ends added to the sample it showed."""
    reaches = [kernel.reach(i) for i in range(len(axes))]
    margins = [(0, 0)] * array.ndim
    for axis, (low, high) in zip(axes, reaches, strict=True):
        margins[axis] = max(high, 0), max(-low, 0)
    origin = tuple(size - 1 - o for size, o in zip(kernel.taps.shape, kernel.origin, strict=True))
    spilled = convolve(np.pad(array, margins), Kernel(np.flip(kernel.taps), origin, "zero"), axes)
    for axis in axes:
        spilled = _folded(spilled, margins[axis][0], array.shape[axis], axis, kernel.boundary)
    return spilled


def _folded(spilled: Array, before: int, size: int, axis: int, boundary: str) -> Array:
    rest = np.moveaxis(spilled, axis, 0)
    out = rest[before : before + size].copy()
    source = continued(np.arange(-before, len(rest) - before), size, boundary)
    for k in (*range(before), *range(before + size, len(rest))):
        if source[k] >= 0:
            out[source[k]] += rest[k]
    return np.moveaxis(out, 0, axis)
