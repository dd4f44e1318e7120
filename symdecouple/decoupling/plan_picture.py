r"""The picture of a plan: the sample at each level on the left, the decoupled features read from it on the right.

Downwards go the motions that bring one feature after the other to its reference, each with the verdict that decides
how: involutive features have closed forms, others a narrow path. To the right go the features,

.. math:: \hat f_{k+1}(x) = f_{k+1}(N_k(x))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symdecouple.figures import COLOURS, Axes, given_axes, new_figure
from symdecouple.shown import clipped
from symdecouple.verdict import Status

__all__ = ["LevelRow", "draw_diagram"]

_MOST = 14  # rows that are drawn; of longer plans the first ones and the last
_LETTERS = 30  # that fit into a box
_HEIGHT = 0.42  # of a box, rows being 1 apart
_LEFT, _RIGHT = (0.2, 4.2), (6.1, 9.8)  # ends of the boxes of both columns
_WORDS = {
    "explicit": "explicit formula", "implicit": "closed form, one root", "parallel": "closed form, one root each",
    "spectral": "convex problem in the spectrum", "narrow path": "narrow path", "none": "no way",
}
_COLOURS = {"PROVED": COLOURS["blue"], "REFUTED": COLOURS["orange"]}
_GREY = "0.45"


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One level of the diagram: what is imposed to come here ("mean = 0"), by which method, and what is read here.

    `status` is that of C2 on the features up to here; None where it is not decided, or nothing is to be decided.
    """

    level: int
    imposed: str
    method: str
    status: Status | None
    reads: tuple[str, ...]


def draw_diagram(rows: Sequence[LevelRow], ax: Any = None) -> Axes:
    """Draw the levels of a plan, as `Plan.diagram` says."""
    shown: list[LevelRow | None] = [*rows] if len(rows) <= _MOST else [*rows[: _MOST - 2], None, rows[-1]]
    one: Axes
    (one,) = (new_figure(7.0, 0.6 + 0.75 * len(shown)).add_subplot(),) if ax is None else given_axes(ax, [1])
    one.set(xlim=(0, 10), ylim=(-len(shown) + 0.5, 0.62))
    one.set_axis_off()
    for place, row in enumerate(shown):
        if row is None:
            one.text(sum(_LEFT) / 2, -place, f"... {len(rows) - _MOST + 1} more levels ...", ha="center", va="center",
                     color=_GREY, fontsize="small")
            continue
        title = f"level {row.level}: {clipped(row.imposed, _LETTERS)}" if row.level else "sample x"
        _box(one, _LEFT, -place, title, "0.3")
        _box(one, _RIGHT, -place, clipped(", ".join(row.reads), _LETTERS), COLOURS["green"])
        _arrow(one, (_LEFT[1], -place), (_RIGHT[0], -place), COLOURS["green"])
        one.text((_LEFT[1] + _RIGHT[0]) / 2, -place + 0.08, "read", ha="center", va="bottom", fontsize="x-small",
                 color=COLOURS["green"])
        if place:  # the motion from the row above, and what its verdict is
            colour, across = _COLOURS.get(row.status.name if row.status is not None else "", _GREY), _LEFT[0] + 0.5
            _arrow(one, (across, -place + 1 - _HEIGHT / 2), (across, -place + _HEIGHT / 2), colour)
            verdict = f"   (features 1 to {row.level} involutive: {row.status.name})" if row.status is not None else ""
            one.text(across + 0.25, -place + 0.5, _WORDS.get(row.method, row.method) + verdict, va="center",
                     fontsize="small", color=colour)
    one.text(sum(_RIGHT) / 2, 0.55, "decoupled features", ha="center", va="top", fontsize="small", color=_GREY)
    one.text(sum(_LEFT) / 2, 0.55, "the sample at each level", ha="center", va="top", fontsize="small", color=_GREY)
    return one


def _box(ax: Any, sides: tuple[float, float], height: float, text: str, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    left, right = sides
    ax.add_patch(FancyBboxPatch((left, height - _HEIGHT / 2), right - left, _HEIGHT, facecolor="white",
                                boxstyle="round,pad=0.0,rounding_size=0.12", edgecolor=colour, linewidth=1.3))
    ax.text((left + right) / 2, height, text, ha="center", va="center", fontsize="medium")


def _arrow(ax: Any, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0,
                                            "linewidth": 1.3})
