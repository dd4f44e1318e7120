"""The picture of attainable ranges: one row a feature, its interval, the value of the sample, and the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.figures import COLOURS, given_axes, new_figure

if TYPE_CHECKING:
    from symdecouple.decoupling.attainable.ranges import Attainable

__all__ = ["draw_attainable"]

INTERVAL, OWN, WANTED = COLOURS["blue"], COLOURS["orange"], COLOURS["green"]


def draw_attainable(found: Attainable, ax: Any = None) -> tuple[Any, ...]:
    """Draw the intervals of one sample, as `Attainable.plot` says."""
    if found.low.ndim > 1:
        raise InvalidInput(f"a batch of shape {found.low.shape[:-1]} has no picture; index one sample")
    n = len(found.names)
    axes = new_figure(7, 0.55 + 0.75 * n).subplots(n, 1, squeeze=False)[:, 0] if ax is None else given_axes(ax, [n])
    for j, one in enumerate(axes):
        _draw(one, found, j)
    marks = {label: mark for each in reversed(axes)
             for mark, label in zip(*each.get_legend_handles_labels(), strict=True)}
    axes[0].legend(marks.values(), marks.keys(), frameon=False, fontsize="small", loc="lower left",
                   bbox_to_anchor=(0, 1.0), ncols=3, borderaxespad=0.2)
    return tuple(axes)


def _draw(ax: Any, found: Attainable, j: int) -> None:
    low, high = float(found.low[j]), float(found.high[j])
    own = None if found.values is None else float(found.values[j])
    marks = [v for v in (own, found.reference[j]) if v is not None and np.isfinite(v)]
    known = [v for v in (low, high, *marks) if np.isfinite(v)]
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_ylabel(found.names[j], rotation=0, ha="right", va="center", fontsize="small")
    ax.set_ylim(-1, 1)
    if np.isnan(low):
        ax.text(0.02, 0.5, "no level: a feature before it cannot come to its reference", transform=ax.transAxes,
                va="center", fontsize="small", color="0.4")
        ax.set_xticks([])
        return
    room = (max(known) - min(known)) if known and max(known) > min(known) else max(1.0, abs(known[0]) if known else 1)
    left, right = (min(known, default=0.0) - 0.15 * room, max(known, default=0.0) + 0.15 * room)
    ax.set_xlim(left, right)
    begin, end = max(low, left), min(high, right)
    ax.plot([begin, end], [0, 0], "-", color=INTERVAL, linewidth=5, alpha=0.35, solid_capstyle="butt")
    ends = ((low, found.low_is_attained[j], "<", left), (high, found.high_is_attained[j], ">", right))
    for value, is_attained, arrow, edge in ends:
        is_bounded = np.isfinite(value)
        ax.plot([value if is_bounded else edge], [0], "o" if is_bounded else arrow, color=INTERVAL, markersize=7,
                markerfacecolor=INTERVAL if is_attained or not is_bounded else "white", clip_on=False)
    if own is not None and np.isfinite(own):
        ax.plot([own], [0], "D", color=OWN, markersize=7, label="decoupled feature of the sample")
    reference = found.reference[j]
    if reference is not None:
        ax.plot([reference], [0], "|", color=WANTED, markersize=18, markeredgewidth=2.5, label="reference")
