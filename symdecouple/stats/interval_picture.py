"""The picture of estimates: for each order an axes with one interval a sample, and the value of a normal law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.figures import COLOURS, Axes, given_axes, new_figure, quiet
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["draw_intervals"]

_MOST = 40  # samples that can be told apart


def draw_intervals(
    names: Sequence[str], estimate: FloatArray, ends: tuple[FloatArray, FloatArray], normal: Sequence[float | None],
    labels: Sequence[str] | None = None, ax: Any = None,
) -> tuple[Axes, ...]:
    """Draw estimates (samples, orders) with both ends of their intervals, the first sample on top.

    Parameters
    ----------
    names : sequence of str
        Of the orders.
    estimate : array
    ends : pair of arrays
    normal : sequence of float or None
        What each order is for a normal law, where that is known.
    labels : sequence of str, optional
        Of the samples.
    ax : sequence of Axes, optional
        One an order; by default a figure is made.

    Raises
    ------
    MissingPackage
        Without Matplotlib.
    InvalidInput
        For more than 40 samples, or labels or axes that do not fit.
    """
    count, size = estimate.shape
    if not 0 < count <= _MOST:
        raise InvalidInput(f"{count} samples were given, a picture shows 1 to {_MOST}; take some of them")
    if labels is not None and len(labels) != count:
        raise InvalidInput(f"{len(labels)} labels were given for {count} samples")
    axes = given_axes(ax, [size]) if ax is not None else tuple(
        new_figure(0.6 + 2.3 * size, 1.1 + 0.32 * count).subplots(1, size, sharey=True, squeeze=False)[0])
    places = np.arange(count)[::-1]
    for k, one in enumerate(axes):
        quiet(one, names[k], "", "")
        if (value := normal[k]) is not None:
            one.axvline(value, color=COLOURS["green"], linewidth=1, linestyle="--", label="normal law")
        reach = np.abs(np.stack([end[:, k] for end in ends]) - estimate[:, k])
        one.errorbar(estimate[:, k], places, xerr=reach, fmt="o", color=COLOURS["blue"], markersize=4, capsize=2)
        one.set_ylim(-0.7, count - 0.3)
        one.set_yticks(places if count > 1 or labels is not None else [])
        one.set_yticklabels((labels or [str(i) for i in range(count)]) if len(one.get_yticks()) else [])
    marked = next((one for one, value in zip(axes, normal, strict=True) if value is not None), None)
    if marked is not None:
        marked.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 1.08), borderaxespad=0)
    return axes
