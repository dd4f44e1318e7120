"""The picture of deviations from orthogonality: error bars for each pair, and a heat map for each set of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from symdecouple.analysis.angles.deviations import Deviations
from symdecouple.analysis.angles.tables import TINY, title_of
from symdecouple.errors import InvalidInput
from symdecouple.figures import COLOURS, new_figure, quiet, titled

__all__ = ["draw_orthogonality"]

ORIGINAL, DECOUPLED = COLOURS["orange"], COLOURS["blue"]
SHADES = "viridis"
LABELLED = 60  # pairs that still have a label each
ROOM = 84  # letters and gaps that fit side by side
ANNOTATED = 9  # features whose maps still have room for numbers


class Drawn(Protocol):
    """What the picture shows of an `Orthogonality`."""

    @property
    def original(self) -> Deviations: ...

    @property
    def decoupled(self) -> Deviations: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def count(self) -> int: ...

    @property
    def refused(self) -> int: ...


def draw_orthogonality(found: Drawn, ax: Any = None) -> tuple[Any, ...]:
    """Draw deviations from orthogonality, as `Orthogonality.plot` says."""
    if not found.count:
        raise InvalidInput(f"there is nothing to draw: all {found.refused} samples were refused")
    axes = _figure(found) if ax is None else _given(ax)
    _draw_pairs(axes[0], found)
    if len(axes) == 3:
        for each, one in zip((found.original, found.decoupled), axes[1:], strict=True):
            image = _draw_map(one, each, found.labels)
        bar = axes[1].figure.colorbar(image, ax=list(axes[1:]), ticks=range(0, 91, 15), fraction=0.04, pad=0.02)
        bar.set_label("mean |DO| [degrees]")
    return axes


def _figure(found: Drawn) -> tuple[Any, ...]:
    width = min(12.0, max(7.5, 3 + 0.25 * len(found.original.pairs)))
    heights = 3.0, 0.3 + 0.43 * width  # two square maps fill the width
    figure = new_figure(width, sum(heights))
    grid = figure.add_gridspec(2, 2, height_ratios=heights)
    return tuple(figure.add_subplot(grid[place]) for place in ((0, slice(None)), (1, 0), (1, 1)))


def _given(ax: Any) -> tuple[Any, ...]:
    axes = tuple(np.ravel(ax)) if isinstance(ax, (Sequence, np.ndarray)) else (ax,)
    if len(axes) not in (1, 3) or not all(hasattr(one, "errorbar") for one in axes):
        raise InvalidInput(f"ax is one Matplotlib Axes (error bars) or three (error bars, two maps), got {ax!r}")
    return axes


def _draw_pairs(ax: Any, found: Drawn) -> None:
    size = len(found.original.features)
    below = np.array([(i, j) for j in range(size) for i in range(j + 1, size)])
    places = np.arange(len(below))
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    for each, colour, marker, side in ((found.original, ORIGINAL, "s", -0.13), (found.decoupled, DECOUPLED, "o", 0.13)):
        ax.errorbar(places + side, each.signed_mean[tuple(below.T)], each.signed_std[tuple(below.T)], fmt=marker,
                    color=colour, markersize=4.5, capsize=2.5, linewidth=1.2, label=each.title)
    ticks, labels = _labels(found.labels, below)
    ax.set_xticks(ticks, labels, rotation=90 if sum(map(len, labels)) > ROOM - len(labels) else 0)
    ax.set_xlim(-0.6, len(below) - 0.4)
    quiet(ax, f"deviation from orthogonality ({found.count} sample{'' if found.count == 1 else 's'})",
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
    image = ax.imshow(np.ma.masked_array(mean, np.eye(size, dtype=bool)), cmap=SHADES, vmin=0, vmax=90)
    every = -(-size // 15)
    ticks = range(0, size, every)
    ax.set_xticks(ticks, [names[t] for t in ticks])
    ax.set_yticks(ticks, [names[t] for t in ticks])
    titled(ax, title_of(each))
    ax.set_xlabel("feature")
    ax.set_facecolor("0.9")
    if size <= ANNOTATED:
        for i, j in zip(*np.nonzero(~np.eye(size, dtype=bool)), strict=True):
            ax.text(j, i, _short(mean[i, j]), ha="center", va="center", fontsize="small",
                    color="black" if mean[i, j] > 45 else "white")
    return image


def _short(degrees: float) -> str:
    if degrees < 0.05:
        return "0" if degrees < TINY else "<0.1"
    return f"{degrees:.0f}" if degrees >= 9.95 else f"{degrees:.1f}"
