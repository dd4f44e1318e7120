"""The picture of the source: skewness, kurtosis and orthokurtosis of all samples of four numbers, as three spheres.

With mean and variance taken out, samples of four numbers are the places of a sphere. On the third one the lines of
equal orthokurtosis cross those of equal skewness at right angles: that is what decoupled means. Where the skewness is
largest or smallest they all meet, and the orthokurtosis is not defined.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.critical.picture import mark, orders
from symdecouple.analysis.critical.sphere import (
    draw_isolines,
    draw_surface,
    finish,
    meshes,
    projected,
    standardized,
)
from symdecouple.analysis.critical_points import critical_points
from symdecouple.decoupling.decoupled_names import declared_names
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.figures import Axes, given_axes, new_figure

__all__ = ["draw_spheres"]

_SHARES = np.linspace(0, 1, 9)[1:-1]  # of the range, where lines are drawn
_OF_KURTOSIS = {"minimum": (-1.0, -1, 1, 1), "saddle": (-1.0, 0, 0, 1), "maximum": (-3.0, 1, 1, 1)}  # and its mirror

FloatArray = NDArray[np.float64]


def draw_spheres(plan: Plan, ax: Any = None) -> tuple[Axes, ...]:
    """Draw features 3 and 4 as declared, and feature 4 decoupled, on the sphere of the samples of four numbers.

    Bright is high. Dark lines are those of one value: on the third sphere these of feature 3, with coloured lines of
    one value of decoupled feature 4 crossing them at right angles. Critical points are marked as in
    `CriticalPoints.plot`: maxima and minima are triangles, saddles are rings.

    Parameters
    ----------
    plan : Plan
        Of four features or more, the first of them mean and variance, such as
        ``decouple(standardized_moments(4))``.
    ax : sequence of three Axes, optional
        Three-dimensional ones (``projection="3d"``); by default a figure is made.

    Returns
    -------
    tuple of three Axes

    Raises
    ------
    MissingPackage
        Without Matplotlib, which is optional.
    InvalidInput
        If the plan is another one.

    Examples
    --------
    >>> import symdecouple as sd
    >>> axes = draw_spheres(sd.decouple(sd.families.standardized_moments(4)))  # doctest: +SKIP
    >>> [one.get_title() for one in axes]  # doctest: +SKIP
    ['skewness', 'kurtosis', 'orthokurtosis']
    """
    if not isinstance(plan, Plan):
        raise InvalidInput(f"a plan is expected, as decouple(features) returns it; got {type(plan).__name__}")
    if len(plan.features) < 4 or plan.features.filter_ndim is not None or plan.features.coordinates:
        raise InvalidInput(f"a plan of averages of one number a sample is expected, four or more, mean and variance "
                           f"first; got {len(plan.features)} features: {', '.join(plan.features.names)[:80]}")
    axes = _figure() if ax is None else given_axes(ax, [3])
    if not all(hasattr(one, "plot_surface") for one in axes):
        raise InvalidInput('spheres are drawn in three-dimensional Axes; make them with projection="3d"')
    values = _values(plan)
    declared = declared_names(plan.features)
    marks = _marks(plan, 3), _of_kurtosis() if declared[3] == "kurtosis" else [], _marks(plan, 4)
    titles = declared[2], declared[3], plan.names[3]
    for k, (one, points) in enumerate(zip(axes, marks, strict=True)):
        draw_surface(one, values[k])
        _draw_lines(one, values, k)
        mark(one, ((kind, projected(samples)) for kind, samples in points), 7)
        finish(one, titles[k])
    return axes


def _figure() -> tuple[Any, ...]:
    figure = new_figure(8.4, 3.1)
    return tuple(figure.add_subplot(1, 3, k, projection="3d") for k in (1, 2, 3))


def _values(plan: Plan) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Features 3 and 4, and decoupled feature 4, on a grid; NaN where there is none."""
    samples = np.moveaxis(standardized(*meshes()), 0, -1)
    own = plan.own_values(samples, on_refusal="return")[0]
    decoupled = plan.transform(samples, on_refusal="return")[0]
    for name, values in zip(plan.names[2:4], (own[..., 2], decoupled[..., 3]), strict=True):
        if not np.isfinite(values).any():
            raise InvalidInput(f"there is nothing to draw: no sample of four numbers has {name}")
    return own[..., 2], own[..., 3], decoupled[..., 3]


def _draw_lines(ax: Any, values: tuple[FloatArray, FloatArray, FloatArray], k: int) -> None:
    from matplotlib import colormaps

    levels = [_levels(one) for one in values]
    dark = ["0.1"] * len(_SHARES)
    if k < 2:
        draw_isolines(ax, values[k], levels[k], dark, 0.9)
        return
    draw_isolines(ax, values[0], levels[0], dark, 0.8)
    draw_isolines(ax, values[2], levels[2], list(colormaps["plasma"](0.25 + 0.75 * _SHARES)), 1.6)


def _levels(values: FloatArray) -> list[float]:
    known = values[np.isfinite(values)]
    return [float(level) for level in known.min() + _SHARES * (known.max() - known.min())]


def _marks(plan: Plan, level: int) -> list[tuple[str, FloatArray]]:
    """Critical points of a decoupled feature in all orders of their numbers; none where they are not known."""
    try:
        found = critical_points(plan, level=level, n_samples=4)
    except SymdecoupleError:
        return []
    return [(point.kind, orders(point.sample)) for point in found if len(set(point.sample)) > 1]


def _of_kurtosis() -> list[tuple[str, FloatArray]]:
    """Where the gradient of the kurtosis is a combination of 1 and z: z^3 = a + b z has three roots, of sum zero."""
    return [(kind, np.unique(np.concatenate([orders(sign * np.array(sample)) for sign in (1, -1)]) + 0.0, axis=0))
            for kind, sample in _OF_KURTOSIS.items()]
