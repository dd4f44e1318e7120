"""The samples of four numbers with mean 0 and variance 1 are a sphere: its coordinates, and how it is drawn.

Three orthogonal directions leave the mean out; a place on the unit sphere is a sample of length 2. Matplotlib does not
hide what lies behind a surface: lines and marks are drawn on the side that is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.figures import titled

__all__ = ["best_view", "draw_in_front", "draw_isolines", "draw_surface", "finish", "in_front", "meshes", "place",
           "projected", "standardized"]

BASIS = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]) / 2
VIEW = 24.0, 31.0  # degrees: elevation and azimuth
SHADES = "viridis"
_MISSING = 0.85, 0.85, 0.85, 1.0

FloatArray = NDArray[np.float64]


def place(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the place of longitude u and colatitude v, (3, ...)."""
    return np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])


def standardized(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the sample of mean 0 and variance 1 at a place of the sphere, (4, ...)."""
    return np.tensordot(BASIS.T, 2 * place(u, v), axes=1)


def projected(samples: FloatArray) -> FloatArray:
    """Return samples of four, (..., 4), in three orthogonal coordinates that leave the mean out, at length 1."""
    flat = samples @ BASIS.T
    return np.asarray(flat / np.linalg.norm(flat, axis=-1, keepdims=True))


def meshes() -> tuple[FloatArray, FloatArray]:
    """Return longitudes and colatitudes of a grid that no plane of symmetry is on, where values are tied."""
    u, v = np.meshgrid(np.linspace(0.01, 2 * np.pi + 0.01, 361), np.linspace(0, np.pi, 181))
    return u, v


def draw_surface(ax: Any, shade: FloatArray) -> None:
    """Draw the sphere with values on the grid as shades, grey where there is none."""
    from matplotlib import colormaps

    shade = shade[::2, ::2]
    low, high = np.nanmin(shade), np.nanmax(shade)
    colours = colormaps[SHADES]((shade - low) / (high - low if high > low else 1))
    colours[np.isnan(shade)] = _MISSING
    ax.plot_surface(*place(*meshes())[:, ::2, ::2], facecolors=colours, rstride=1, cstride=1, shade=False, linewidth=0,
                    antialiased=False)


def draw_isolines(ax: Any, values: FloatArray, levels: Sequence[float], colours: Sequence[Any], width: float = 1.4
                  ) -> None:
    """Draw where values on the grid are at some levels."""
    from contourpy import contour_generator

    generator = contour_generator(*meshes(), np.ma.masked_invalid(values))
    for level, colour in zip(levels, colours, strict=True):
        for line in generator.lines(level):
            draw_in_front(ax, 1.005 * place(*np.asarray(line).T).T, "-", color=colour, linewidth=width)


def in_front(places: FloatArray, view: tuple[float, float] = VIEW) -> NDArray[np.bool_]:
    """Tell which places, (..., 3), lie on the side of the sphere that is seen."""
    return np.asarray(_facing(places, view) > 0.03)


def _facing(places: FloatArray, view: tuple[float, float]) -> FloatArray:
    """How much places turn to where they are seen from: 1 is the middle, 0 the rim, -1 behind."""
    elevation, azimuth = np.deg2rad(view)
    return np.asarray(places @ place(azimuth, np.pi / 2 - elevation))


def best_view(places: FloatArray) -> tuple[float, float]:
    """Return from where most of the places, (points, 3), are seen, and far from the rim."""
    views = [VIEW, *((float(up), float(turn)) for up in range(-60, 61, 12) for turn in range(0, 360, 15))]
    return max(views, key=lambda view: float(np.maximum(_facing(places, view), 0).sum()))


def draw_in_front(ax: Any, places: FloatArray, style: str, view: tuple[float, float] = VIEW, **options: Any) -> None:
    """Draw what lies on the side of the sphere that is seen."""
    seen = np.where(in_front(places, view)[:, None], places, np.nan)
    ax.plot(*seen.T, style, zorder=10, **options)


def finish(ax: Any, title: str, view: tuple[float, float] = VIEW) -> None:
    """Look at the sphere from infinitely far: what is seen is the half that points there."""
    ax.set_proj_type("ortho")
    ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    ax.set_box_aspect((1, 1, 1), zoom=1.45)
    ax.set_axis_off()
    ax.view_init(*view)
    titled(ax, title)
