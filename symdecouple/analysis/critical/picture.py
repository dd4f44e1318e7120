"""The picture of critical points: their values over the shares, and for four samples where they lie on the sphere."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.critical.point import CriticalPoints
from symdecouple.errors import InvalidInput
from symdecouple.figures import COLOURS, new_figure, quiet, titled

__all__ = ["draw_critical_points"]

STYLE = {"degenerate": ("0.5", "x"), "saddle": (COLOURS["green"], "o"), "minimum": (COLOURS["blue"], "v"),
         "maximum": (COLOURS["orange"], "^"), "isolated": (COLOURS["pink"], "D")}
BASIS = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]) / 2
TICKS = 8
VIEW = 24.0, 31.0  # degrees: elevation and azimuth

FloatArray = NDArray[np.float64]


def draw_critical_points(found: CriticalPoints, ax: Any = None) -> tuple[Any, ...]:
    """Draw critical points, as `CriticalPoints.plot` says."""
    if not found:
        raise InvalidInput(f"there is nothing to draw: decoupled feature {found.level} has no critical points")
    if found.n_samples is None:
        raise InvalidInput("critical points for every number of samples have no picture; give n_samples=")
    on_sphere = _on_sphere(found) if ax is None else None
    axes = (ax,) if ax is not None else _figure(on_sphere is not None)
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
          "share of the samples at the highest value", f"critical value of decoupled feature {found.level}")
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
    rows = [(p.kind, np.array(sorted(set(permutations(p.sample.tolist()))))) for p in found]
    everything = np.concatenate([row for _, row in rows])
    if np.ptp(everything.mean(axis=1)) > 1e-9 or np.ptp(everything.std(axis=1)) > 1e-9 or everything.std() == 0:
        return None
    return [(kind, _projected(row)) for kind, row in rows]


def _projected(samples: FloatArray) -> FloatArray:
    """Return samples of four in three orthogonal coordinates that leave the mean out, scaled to the unit sphere."""
    flat = samples @ BASIS.T
    return np.asarray(flat / np.linalg.norm(flat, axis=-1, keepdims=True))


def _draw_sphere(ax: Any, found: CriticalPoints, rows: list[tuple[str, FloatArray]]) -> None:
    from contourpy import contour_generator
    from matplotlib import colormaps

    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 241), np.linspace(0, np.pi, 121))
    samples = _standardized(u, v)
    shade = (samples**found.level).mean(axis=0)
    colours = colormaps["viridis"]((shade - shade.min()) / np.ptp(shade))
    ax.plot_surface(*_place(u, v), facecolors=colours, rstride=1, cstride=1, shade=False, linewidth=0,
                    antialiased=False)
    first, (u, v) = found[0].sample, np.meshgrid(np.linspace(0.01, 2 * np.pi + 0.01, 398), np.linspace(0, np.pi, 200))
    samples = _standardized(u, v)  # no plane of symmetry is on this grid, where curves would break up
    for order in range(3, found.level):  # the reference manifold
        target = (((first - first.mean()) / first.std()) ** order).mean()
        curve = contour_generator(u, v, (samples**order).mean(axis=0)).lines(target)
        for line in curve:
            _draw_in_front(ax, 1.005 * _place(*np.asarray(line).T).T, "-", color="white", linewidth=1.4)
    for kind, places in rows:
        colour, marker = STYLE[kind]
        _draw_in_front(ax, 1.02 * places, marker, color=colour, markersize=9, markeredgecolor="white",
                       markeredgewidth=0.8)
    ax.set_proj_type("ortho")  # what is seen from infinitely far is the half that points there
    ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    ax.set_box_aspect((1, 1, 1), zoom=1.45)
    ax.set_axis_off()
    ax.view_init(*VIEW)
    titled(ax, f"the samples of four numbers, shaded by Mean(z^{found.level})")


def _draw_in_front(ax: Any, places: FloatArray, style: str, **options: Any) -> None:
    """Draw what lies on the side of the sphere that is seen: Matplotlib does not hide what is behind a surface."""
    elevation, azimuth = np.deg2rad(VIEW)
    towards = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    seen = np.where((places @ towards > 0.03)[:, None], places, np.nan)
    ax.plot(*seen.T, style, zorder=10, **options)


def _place(u: FloatArray, v: FloatArray) -> FloatArray:
    return np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])


def _standardized(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the sample of mean 0 and variance 1 at a place of the sphere, (4, ...)."""
    return np.tensordot(BASIS.T, 2 * _place(u, v), axes=1)
