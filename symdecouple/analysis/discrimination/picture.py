"""The picture of classes in the plane of two features: ellipses of one Mahalanobis radius, and the sample vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.discrimination.gaussian import GaussianClasses
from symdecouple.figures import CLASS_COLOURS, MARKERS, Axes, given_axes, new_figure

__all__ = ["draw_ellipses"]

Points: TypeAlias = Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]


def draw_ellipses(original: GaussianClasses, decoupled: GaussianClasses, points: Points | None, ax: Any = None, *,
                  radius: float = 2.0, pair: tuple[int, int] = (0, 1)) -> tuple[Axes, ...]:
    """Draw the ellipses of two features, original on the left and decoupled on the right.

    Parameters
    ----------
    original, decoupled : GaussianClasses
    points : pairs of arrays (R, M), or None
        Of each class, original and decoupled.
    ax : sequence of two Axes, optional
    radius : float
        In Mahalanobis distance.
    pair : pair of int
        Places of two of the chosen features, from 0.

    Returns
    -------
    tuple of Axes

    Raises
    ------
    MissingPackage
        Without Matplotlib.
    InvalidInput
        If there are fewer than two features, or `ax` is something else.
    """
    original.ellipse(0, radius, pair)  # refused before there is a figure
    axes = tuple(new_figure(9.5, 4.4).subplots(1, 2)) if ax is None else given_axes(ax, [2])
    for side, (one, classes) in enumerate(zip(axes, (original, decoupled), strict=True)):
        for c, label in enumerate(classes.labels):
            colour = CLASS_COLOURS[c % len(CLASS_COLOURS)]
            if points is not None:
                cloud = points[c][side]
                one.scatter(cloud[:, pair[0]], cloud[:, pair[1]], s=7, color=colour, alpha=0.35, linewidths=0,
                            marker=MARKERS[c % len(MARKERS)])
            ring = classes.ellipse(c, radius, pair)
            one.plot(ring[:, 0], ring[:, 1], color=colour, linewidth=1.6, label=label)
            one.plot(*classes.means[c][list(pair)], marker="+", color=colour, markersize=8)
        one.set_xlabel(classes.features[pair[0]])
        one.set_ylabel(classes.features[pair[1]])
        one.set_title(f"{classes.title}: error {100 * classes.error:.1f} %")
    axes[0].legend(title="class", frameon=False)
    return axes
