"""The picture of critical points: their values over the shares, and for four samples where they lie on the sphere."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.critical.point import CriticalPoints
from symdecouple.analysis.critical.sphere import (
    draw_in_front,
    draw_isolines,
    draw_surface,
    finish,
    meshes,
    projected,
    standardized,
)
from symdecouple.errors import InvalidInput
from symdecouple.figures import COLOURS, Axes, given_axes, new_figure, quiet

__all__ = ["draw_critical_points", "mark", "orders"]

STYLE = {"degenerate": ("0.5", "x"), "saddle": (COLOURS["green"], "o"), "minimum": (COLOURS["blue"], "v"),
         "maximum": (COLOURS["orange"], "^"), "isolated": (COLOURS["pink"], "D")}
_SHADES = {3: "skewness", 4: "kurtosis"}
TICKS = 8

FloatArray = NDArray[np.float64]


def draw_critical_points(found: CriticalPoints, ax: Any = None) -> tuple[Axes, ...]:
    """Draw critical points, as `CriticalPoints.plot` says."""
    if not found:
        raise InvalidInput(f"there is nothing to draw: {found.name} has no critical points")
    if found.n_samples is None:
        raise InvalidInput("critical points for every number of samples have no picture; give n_samples=")
    on_sphere = _on_sphere(found) if ax is None else None
    axes = given_axes(ax, [1]) if ax is not None else _figure(on_sphere is not None)
    _draw_values(axes[0], found)
    if on_sphere is not None:
        _draw_sphere(axes[1], found, on_sphere)
    return axes


def _figure(with_sphere: bool) -> tuple[Any, ...]:
    figure = new_figure(10 if with_sphere else 5.5, 4.2)
    if not with_sphere:
        return (figure.add_subplot(),)
    return figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")


def _draw_values(ax: Any, found: CriticalPoints) -> None:
    for kind, (colour, marker) in STYLE.items():
        points = [p for p in found if p.kind == kind]
        if points:
            ax.plot([float(p.shares[-1]) for p in points], [float(p.value) for p in points], marker, color=colour,
                    label=kind, markersize=7, alpha=0.85, markerfacecolor=colour if kind != "saddle" else "none")
    quiet(ax, f"{len(found)} critical point{'' if len(found) == 1 else 's'}, N = {found.n_samples}",
          "share of the samples at the highest value", f"critical value of {found.name}")
    _name_shares(ax, found)
    ax.margins(y=0.08)
    if len({float(p.value) for p in found}) == 1:  # one height has no scale
        ax.set_yticks([float(found[0].value)])
    ax.legend(frameon=False, fontsize="small")


def _name_shares(ax: Any, found: CriticalPoints) -> None:
    """Name the shares as what they are, counts of N, from none to one more than occurs."""
    size, most = int(found.n_samples or 1), max(point.ties[-1] for point in found)
    every = -(-(most + 1) // TICKS)
    counts = range(0, most + 2, every)
    ax.set_xlim(0, (most + 1) / size)
    ax.set_xticks([k / size for k in counts], ["0", *(f"{k}/{size}" for k in counts[1:])])


def _on_sphere(found: CriticalPoints) -> list[tuple[str, FloatArray]] | None:
    """Return kinds and places of all orders of the points; None if they are not on one sphere of four samples."""
    if found.n_samples != 4:
        return None
    rows = [(p.kind, orders(p.sample)) for p in found]
    everything = np.concatenate([row for _, row in rows])
    if np.ptp(everything.mean(axis=1)) > 1e-9 or np.ptp(everything.std(axis=1)) > 1e-9 or everything.std() == 0:
        return None
    return [(kind, projected(row)) for kind, row in rows]


def _draw_sphere(ax: Any, found: CriticalPoints, rows: list[tuple[str, FloatArray]]) -> None:
    first, samples = found[0].sample, standardized(*meshes())
    draw_surface(ax, (samples**found.level).mean(axis=0))
    for order in range(3, found.level):  # the reference manifold
        target = (((first - first.mean()) / first.std()) ** order).mean()
        draw_isolines(ax, (samples**order).mean(axis=0), [target], ["white"])
    mark(ax, rows, 9)
    shade = _SHADES.get(found.level, f"Mean(z^{found.level})")
    finish(ax, f"the samples of four numbers, shaded by {shade}")


def orders(sample: FloatArray) -> FloatArray:
    """Return a sample in all orders of its numbers."""
    return np.array(sorted(set(permutations(np.asarray(sample).tolist()))))


def mark(ax: Any, points: Iterable[tuple[str, FloatArray]], size: float) -> None:
    """Mark places of the sphere as what is there."""
    for kind, places in points:
        colour, marker = STYLE[kind]
        draw_in_front(ax, 1.02 * places, marker, color=colour, markersize=size, markeredgecolor="white",
                      markeredgewidth=0.8)
