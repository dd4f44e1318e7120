"""The picture of a transfer: source, target and result beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.decoupling.colour_channels import Layout
from symdecouple.errors import InvalidInput
from symdecouple.figures import COLOURS, given_axes, new_figure, quiet, titled

__all__ = ["draw_transfer"]

_TITLES = "source", "target", "result"
_LINES = COLOURS["orange"], COLOURS["green"], COLOURS["blue"]
_RANGES = 1.0, 255.0, 65535.0  # white as a float, in 8 and in 16 bits
_DARK = 16  # of a range that is not used further than to 1/16 nothing would be seen
_BINS = 40  # of a histogram: bars of some pixels each
_SHARE = 1.28  # width of a histogram over its height
_LONGEST = 2000  # pixels of a side, or points of a line, that are drawn


def draw_transfer(images: Sequence[Any], layout: Layout, count: int, ax: Any = None, *,
                  is_shown: bool = True) -> tuple[Any, ...]:
    """Draw source, target and result, as `Transferred.plot` says; `count` is how many samples they are."""
    arrays = [np.asarray(image, dtype=np.float64) for image in images]
    if not np.isfinite(arrays[2]).any():
        raise InvalidInput("there is nothing to draw: the transfer was refused")
    if layout.channel_axis is None and count > 1:
        raise InvalidInput(f"a batch of {count} samples has no picture; transfer one of them")
    axis = layout.channel_axis
    arrays = arrays if axis is None else [np.moveaxis(a, axis, -1) for a in arrays]
    is_image = all(a.ndim == 2 if axis is None else a.ndim == 3 and a.shape[-1] in (1, 3) for a in arrays)
    if ax is None:
        shares = [a.shape[1] / a.shape[0] if is_image else _SHARE for a in arrays]
        figure = new_figure(10, min(4.0, max(1.5, 10 / sum(shares))) + 0.6, is_shown=is_shown)
        ax = figure.subplots(1, 3, width_ratios=[min(4.0, max(0.25, share)) for share in shares])
    axes = given_axes(ax, [3])
    if is_image:
        _draw_images(axes, arrays)
    else:
        _draw_curves(axes, arrays, layout.filtered == 1 and all(array.ndim == 1 for array in arrays))
    return axes


def _range(arrays: list[NDArray[Any]]) -> tuple[float, float]:
    """Black and white: those of the levels, which fractions may have been added to, or of the first two images."""
    low, high = (float(end) for end in (min(a.min() for a in arrays[:2]), max(a.max() for a in arrays[:2])))
    half = 0.5 / 255
    fitting = [white for white in _RANGES if low >= -half * white and white / _DARK <= high <= (1 + half) * white]
    return (0.0, fitting[0]) if fitting else (low, high if high > low else low + 1)


def _draw_images(axes: tuple[Any, ...], arrays: list[NDArray[Any]]) -> None:
    low, high = _range(arrays)
    for ax, array, title in zip(axes, arrays, _TITLES, strict=True):
        step = max(1, -(-max(array.shape[:2]) // _LONGEST))
        shown = (np.clip(array[::step, ::step], low, high) - low) / (high - low)
        ax.imshow(shown, cmap="gray", vmin=0, vmax=1)
        titled(ax, title)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    outside = int(((arrays[2] < low) | (arrays[2] > high)).sum())
    if outside:
        axes[2].set_xlabel(f"{outside} of {arrays[2].size} numbers outside\nof {low:g} to {high:g}, limited here",
                           fontsize="small")


def _draw_curves(axes: tuple[Any, ...], arrays: list[NDArray[Any]], are_signals: bool) -> None:
    edges = np.histogram_bin_edges(np.concatenate([array[np.isfinite(array)] for array in arrays]), _BINS)
    for ax, array, title, colour in zip(axes, arrays, _TITLES, _LINES, strict=True):
        if are_signals:
            ax.plot(array[:_LONGEST], color=colour, linewidth=1)
            quiet(ax, title + (f" (the first {_LONGEST})" if array.size > _LONGEST else ""), "sample", "value")
        else:
            values = array[np.isfinite(array)]
            ax.hist(values, bins=edges, weights=np.full(values.size, 1 / values.size), color=colour)
            quiet(ax, title, "value", "share of the values")
    limits = np.array([ax.get_ylim() for ax in axes])
    for ax in axes:
        ax.set_ylim(limits[:, 0].min(), limits[:, 1].max())
