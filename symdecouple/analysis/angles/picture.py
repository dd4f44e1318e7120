"""The picture of deviations from orthogonality: error bars for each pair, and a heat map for each set of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from symdecouple.analysis.angles.deviations import Deviations
from symdecouple.analysis.angles.tables import TINY, title_of
from symdecouple.errors import InvalidInput
from symdecouple.figures import COLOURS, new_figure, quiet, titled

__all__ = ["check_count", "draw_orthogonality", "heat_map", "short_degrees"]

ORIGINAL, DECOUPLED = COLOURS["orange"], COLOURS["blue"]
LABELLED = 60  # pairs that still have a label each
ROOM = 84  # letters and gaps that fit side by side
ANNOTATED = 9  # features whose maps still have room for numbers


def draw_orthogonality(original: Deviations, decoupled: Deviations, labels: Sequence[str], ax: Any = None
                       ) -> tuple[Any, ...]:
    """Draw deviations from orthogonality, as `Orthogonality.plot` says."""
    check_count(original)
    axes = _figure(len(original.pairs)) if ax is None else _given(ax)
    _draw_pairs(axes[0], original, decoupled, labels)
    if len(axes) == 3:
        for each, one in zip((original, decoupled), axes[1:], strict=True):
            image = _draw_map(one, each, labels)
        bar = axes[1].figure.colorbar(image, ax=list(axes[1:]), ticks=range(0, 91, 15), fraction=0.04, pad=0.02)
        bar.set_label("mean |DO| [degrees]")
    return axes


def check_count(each: Deviations) -> None:
    """Refuse a batch in which no sample counts."""
    if not len(each.samples):
        raise InvalidInput(f"there is nothing to draw: all {prod(each.degrees.shape[:-2])} samples were refused")


def _figure(pairs: int) -> tuple[Any, ...]:
    width = min(12.0, max(7.5, 3 + 0.25 * pairs))
    heights = 3.0, 0.3 + 0.43 * width  # two square maps fill the width
    figure = new_figure(width, sum(heights))
    grid = figure.add_gridspec(2, 2, height_ratios=heights)
    return tuple(figure.add_subplot(grid[place]) for place in ((0, slice(None)), (1, 0), (1, 1)))


def _given(ax: Any) -> tuple[Any, ...]:
    axes = tuple(np.ravel(ax)) if isinstance(ax, (Sequence, np.ndarray)) else (ax,)
    if len(axes) not in (1, 3) or not all(hasattr(one, "errorbar") for one in axes):
        raise InvalidInput(f"ax is one Matplotlib Axes (error bars) or three (error bars, two maps), got {ax!r}")
    return axes


def _draw_pairs(ax: Any, original: Deviations, decoupled: Deviations, names: Sequence[str]) -> None:
    size, count = len(original.features), len(original.samples)
    below = np.array([(i, j) for j in range(size) for i in range(j + 1, size)])
    places = np.arange(len(below))
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    for each, colour, marker, side in ((original, ORIGINAL, "s", -0.13), (decoupled, DECOUPLED, "o", 0.13)):
        ax.errorbar(places + side, each.signed_mean[tuple(below.T)], each.signed_std[tuple(below.T)], fmt=marker,
                    color=colour, markersize=4.5, capsize=2.5, linewidth=1.2, label=each.title)
    ticks, labels = _labels(names, below)
    ax.set_xticks(ticks, labels, rotation=90 if sum(map(len, labels)) > ROOM - len(labels) else 0)
    ax.set_xlim(-0.6, len(below) - 0.4)
    quiet(ax, f"deviation from orthogonality ({count} sample{'' if count == 1 else 's'})",
          "pair of features", "DO [degrees]")
    ax.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)


def _labels(names: Sequence[str], pairs: Any) -> tuple[list[int], list[str]]:
    """Return where labels stand, and what they say: all pairs, or the first pairs of some features."""
    places = list(range(len(pairs)))
    if len(pairs) > LABELLED:
        every = -(-len(names) // 15)
        places = [p for p in places if pairs[p][0] == pairs[p][1] + 1 and pairs[p][1] % every == 0]
    return places, [f"{names[pairs[p][1]]}-{names[pairs[p][0]]}" for p in places]


def _draw_map(ax: Any, each: Deviations, names: Sequence[str]) -> Any:
    mean, size = each.mean, len(each.features)
    image = heat_map(ax, mean, np.eye(size, dtype=bool), 90, ANNOTATED, partial(short_degrees, tiny=TINY))
    every = -(-size // 15)
    ticks = range(0, size, every)
    ax.set_xticks(ticks, [names[t] for t in ticks])
    ax.set_yticks(ticks, [names[t] for t in ticks])
    titled(ax, title_of(each))
    ax.set_xlabel("feature")
    return image


def heat_map(ax: Any, values: Any, hidden: Any, top: float, most: int, text: Callable[[float], str]) -> Any:
    """Draw values from 0 to `top` as an image, some places left out; up to so many a side with numbers in them."""
    image = ax.imshow(np.ma.masked_array(values, hidden), cmap="viridis", vmin=0, vmax=top)
    ax.set_facecolor("0.9")
    if len(values) <= most:
        for i, j in zip(*np.nonzero(~hidden), strict=True):
            ax.text(j, i, text(values[i, j]), ha="center", va="center", fontsize="small",
                    color="black" if values[i, j] > top / 2 else "white")
    return image


def short_degrees(degrees: float, tiny: float) -> str:
    """Return two or three digits; 0 below what is tiny."""
    if degrees < 0.05:
        return "0" if degrees < tiny else "<0.1"
    return f"{degrees:.0f}" if degrees >= 9.95 else f"{degrees:.1f}"
