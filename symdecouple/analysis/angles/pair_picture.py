"""Pictures of orthogonality for one look: a map of mean angles, and all samples of each pair of gradients.

In the pair plot coupled features are below the diagonal and decoupled ones above it, each in its own panel: how many
samples have which deviation from orthogonality, from -90 degrees (opposite) over 0 (orthogonal) to 90 (parallel).
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.angles.deviations import Deviations
from symdecouple.analysis.angles.picture import check_count, heat_map, short_degrees
from symdecouple.analysis.angles.tables import title_of
from symdecouple.errors import InvalidInput
from symdecouple.figures import COLOURS, Axes, given_axes, new_figure, titled
from symdecouple.numeric.samples.intake import check_choice

__all__ = ["Measure", "Which", "draw_map", "draw_pair_plot"]

Which: TypeAlias = Literal["original", "decoupled", "cross"]
Measure: TypeAlias = Literal["degrees", "cosine"]
Names: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]

_MOST = 8  # features of a pair plot: its panels are still an inch wide
_ANNOTATED = 10
_LETTERS = {"medium": 14, "x-small": 20}  # that fit into a line of a panel
_LINES = 3  # of a name, in small letters
_LONG = 6  # letters of a label that fit below a cell
_EDGES = np.linspace(-92.5, 92.5, 38)  # 0 is in the middle of a bar


def draw_map(each: Deviations, short: Names, ax: Any = None, *, which: Which = "decoupled", measure: Measure = "degrees"
             ) -> Axes:
    """Draw one map, as `Orthogonality.plot_map` says."""
    check_choice("measure", measure, get_args(Measure))
    check_count(each)
    rows, columns = short[int(which != "original")], short[int(which == "decoupled")]
    size = len(rows)
    one: Axes
    (one,) = (new_figure(1.6 + 0.62 * max(size, 4), 1.0 + 0.55 * max(size, 4)).add_subplot(),) if ax is None else (
        given_axes(ax, [1]))
    sizes = np.abs(each.samples)
    values = (np.sin(np.radians(sizes)) if measure == "cosine" else sizes).mean(axis=0)
    top = 1 if measure == "cosine" else 90
    same = np.eye(size, dtype=bool) & (which != "cross")
    text = _short_cosine if measure == "cosine" else _short
    image = heat_map(one, values, same, top, _ANNOTATED, text)
    is_long = max(map(len, columns)) > _LONG
    one.set_xticks(range(size), columns, rotation=40 if is_long else 0, ha="right" if is_long else "center",
                   rotation_mode="anchor" if is_long else "default")
    one.set_yticks(range(size), rows)
    if which == "cross":
        one.set_xlabel("as declared")
        one.set_ylabel("decoupled")
    titled(one, each.title if measure == "cosine" else f"{title_of(each)} degrees")
    bar = one.figure.colorbar(image, ax=one, fraction=0.05, pad=0.03)
    bar.set_label("mean |cos| of the angle" if measure == "cosine" else "mean |90\u00b0 \u2212 angle| [degrees]")
    return one


def draw_pair_plot(original: Deviations, decoupled: Deviations, short: Names, ax: Any = None) -> NDArray[Any]:
    """Draw the deviations of all samples, as `Orthogonality.plot_pairs` says."""
    check_count(original)
    size = len(short[0])
    if size > _MOST:
        raise InvalidInput(f"a pair plot has room for {_MOST} features, there are {size}; take some of them: "
                           "found.select(1, 2, 3, 4)")
    panels: NDArray[Any] = new_figure(1.0 + 1.2 * size, 0.8 + 1.05 * size).subplots(
        size, size, squeeze=False) if ax is None else (
        np.array(given_axes(ax, [size * size]), dtype=object).reshape(size, size))
    samples = original.samples, decoupled.samples
    for i in range(size):
        for j in range(size):
            if i == j:
                _name(panels[i, i], short[0][i], short[1][i])
            else:
                _draw_panel(panels[i, j], samples[int(j > i)][:, i, j], bool(j > i), (i == size - 1, j == 0))
    titled(panels[0, 0], "below: as declared", loc="left", color=COLOURS["orange"])
    titled(panels[0, -1], "above: decoupled", loc="right", color=COLOURS["blue"])
    panels[-1, 0].set_xlabel("90\u00b0 \u2212 angle [degrees]", fontsize="small", loc="left")
    return panels


def _name(ax: Any, declared: str, decoupled: str) -> None:
    """The name of a feature, and that which it has decoupled where this is another."""
    size = "medium" if max(len(declared), len(decoupled)) <= _LETTERS["medium"] else "x-small"
    lines = [(0.5, "center", declared, "black")] if declared == decoupled else [
        (0.46, "top", declared, COLOURS["orange"]), (0.54, "bottom", decoupled, COLOURS["blue"])]
    for height, side, text, colour in lines:
        ax.text(0.5, height, _broken(text, _LETTERS[size]), ha="center", va=side, transform=ax.transAxes,
                fontsize=size, color=colour)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def _broken(name: str, width: int) -> str:
    """A name in lines that fit, broken behind what is no letter where there is one."""
    lines = [""]
    for word in re.split(r"(?<=[\W_])", name):
        for part in (word[k : k + width] for k in range(0, len(word), width)):
            if len((lines[-1] + part).rstrip()) > width:
                lines.append("")
            lines[-1] += part
    return "\n".join(line.strip() for line in lines[:_LINES]) + ".." * (len(lines) > _LINES)


def _draw_panel(ax: Any, degrees: Any, is_decoupled: bool, edges: tuple[bool, bool]) -> None:
    colour = COLOURS["blue" if is_decoupled else "orange"]
    ax.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    ax.hist(degrees, bins=_EDGES, weights=np.full(len(degrees), 1 / len(degrees)), color=colour)
    ax.set(xlim=(-93, 93), ylim=(0, 1.05))
    is_bottom, is_left = edges
    ax.set_xticks([-90, 0, 90], ["\u221290", "0", "90"] if is_bottom else [], fontsize="small")
    ax.set_yticks([0, 1], ["0", "1"] if is_left else [], fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    ax.text(0.97, 0.95, _short(float(np.abs(degrees).mean())), transform=ax.transAxes, ha="right", va="top",
            fontsize="small")


def _short_cosine(value: float) -> str:
    return f"{value:.2f}".removeprefix("0") if value >= 0.005 else "0" if value < 1e-9 else "<.01"


_short = partial(short_degrees, tiny=1e-6)
