r"""The picture of what decoupling does: features of many samples as declared, and beside them decoupled.

Each class of samples is a cloud of points with its ellipse of Mahalanobis radius r, which holds 1 - exp(-r^2/2) of a
Gaussian one. The correlation within the classes stands above: pooled, so that the distance of classes does not count.
Decoupled features have orthogonal gradients; that leaves correlations, small ones as a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.decoupling.decoupled_names import declared_names
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput
from symdecouple.figures import CLASS_COLOURS, MARKERS, Axes, given_axes, new_figure, quiet
from symdecouple.numeric.samples.vectors import SampleAxis

__all__ = ["draw_scatter"]

_CORNERS = 181
_FLAT = 1e-12  # of a correlation: an ellipse with no width


def draw_scatter(plan: Plan, samples: Any, ax: Any = None, *, features: Sequence[int] | None = None,
                 axis: SampleAxis = "last", radius: float = 2.0) -> tuple[Axes, ...]:
    """Draw two features of many samples: as declared on the left, decoupled on the right.

    Parameters
    ----------
    plan : Plan
        As `symdecouple.decouple` gives it.
    samples : array_like (R, N), or a mapping from labels to such arrays
        Each class has its colour, its marker and its ellipse.
    ax : sequence of two Axes, optional
        By default a figure is made.
    features : pair of int, optional
        Which features, from 1: across and up. By default the last two.
    axis : int or tuple of int, optional
        The sample axes, as in `Plan.transform`.
    radius : float
        Of the ellipses, in Mahalanobis distance: the radius 2 holds 86 % of a Gaussian cloud.

    Returns
    -------
    tuple of two Axes

    Raises
    ------
    MissingPackage
        Without Matplotlib, which is optional.
    InvalidInput
        If there are fewer than two features, a class has no sample that has them, or arguments do not fit.

    Notes
    -----
    Samples that are refused are left out of both panels, and counted below the right one.

    Examples
    --------
    >>> import numpy as np
    >>> import symdecouple as sd
    >>> plan = sd.decouple(sd.families.standardized_moments(4))
    >>> rows = np.random.default_rng(0).gamma(4.0, size=(60, 50))
    >>> left, right = draw_scatter(plan, rows)
    >>> left.get_ylabel(), right.get_ylabel()
    ('kurtosis', 'orthokurtosis')
    """
    if not isinstance(plan, Plan):
        raise InvalidInput(f"a plan is expected, as decouple(features) returns it; got {type(plan).__name__}")
    pair = _pair(features, len(plan.features))
    if not (isinstance(radius, int | float) and 0 < radius < np.inf):
        raise InvalidInput(f"radius={radius!r} was given, a number above 0 is expected")
    classes = samples if isinstance(samples, Mapping) else {"": samples}
    if not classes:
        raise InvalidInput("a mapping without classes was given; labels with samples are expected")
    found, refused = {}, 0
    for label, given in classes.items():
        found[str(label)], left_out = _points(plan, given, pair, axis, str(label))
        refused += left_out
    axes = tuple(new_figure(8.0, 3.9).subplots(1, 2)) if ax is None else given_axes(ax, [2])
    names = declared_names(plan.features), plan.names
    for side, (one, title) in enumerate(zip(axes, ("as declared", "decoupled"), strict=True)):
        clouds = {label: points[side] for label, points in found.items()}
        _draw(one, clouds, radius)
        across, up = (names[side][k] for k in pair)
        quiet(one, f"{title}: {_correlation(list(clouds.values()))}", across, up)
    if len(found) > 1:
        axes[0].legend(frameon=False, fontsize="small", markerscale=1.6, loc="upper left")
    if refused:
        axes[1].text(0.99, 0.01, f"{refused} refused", transform=axes[1].transAxes, ha="right", va="bottom",
                     fontsize="small", color="0.35")
    return axes


def _pair(features: Sequence[int] | None, size: int) -> tuple[int, int]:
    if size < 2:
        raise InvalidInput("the plan has one feature; a scatter is of two")
    chosen = (size - 1, size) if features is None else tuple(features) if np.ndim(features) == 1 else ()
    if len(chosen) != 2 or chosen[0] == chosen[1] or any(
            isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= size for k in chosen):
        raise InvalidInput(f"features={features!r} was given; two different numbers from 1 to {size} are expected")
    return int(chosen[0]) - 1, int(chosen[1]) - 1


def _points(plan: Plan, samples: Any, pair: tuple[int, int], axis: SampleAxis, label: str
            ) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], int]:
    """The points of a class as declared and decoupled, (R, 2) each, and how many samples are refused."""
    sides = [np.reshape(of(samples, axis=axis, on_refusal="return")[0], (-1, len(plan.features)))[:, pair]
             for of in (plan.own_values, plan.transform)]
    fine = np.isfinite(np.hstack(sides)).all(axis=1)
    if not fine.any():
        raise InvalidInput("there is nothing to draw: " + (f"class {label}: " if label else "") + (
            f"all {len(fine)} samples are refused" if len(fine) else "there are no samples"))
    return (sides[0][fine], sides[1][fine]), int((~fine).sum())


def _draw(ax: Any, clouds: Mapping[str, NDArray[np.float64]], radius: float) -> None:
    for c, (label, cloud) in enumerate(clouds.items()):
        colour, marker = CLASS_COLOURS[c % len(CLASS_COLOURS)], MARKERS[(c + c // len(MARKERS)) % len(MARKERS)]
        ax.scatter(*cloud.T, s=9, color=colour, marker=marker, alpha=0.4, linewidths=0, label=label or None)
        if len(cloud) > 2:
            ax.plot(*_ellipse(cloud, radius).T, color=colour, linewidth=1.8)


def _ellipse(cloud: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Points at one Mahalanobis distance from the mean; a segment where the cloud lies on a line."""
    mean, covariance = cloud.mean(axis=0), np.cov(cloud.T)
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0, 2 * np.pi, _CORNERS)
    ring = np.sqrt(np.maximum(values, 0)) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.asarray(mean + radius * ring @ vectors.T)


def _correlation(clouds: Sequence[NDArray[np.float64]]) -> str:
    """What the title says of the correlation within classes."""
    pooled = sum((cloud - cloud.mean(axis=0)).T @ (cloud - cloud.mean(axis=0)) for cloud in clouds)
    scale = np.sqrt(pooled[0, 0] * pooled[1, 1])
    if min(map(len, clouds)) < 3 or not scale > _FLAT**2 * np.abs(pooled).max():
        return "no correlation to tell"
    value = round(float(pooled[0, 1] / scale), 2) + 0.0
    return f"correlation {value:.2f}".replace("-", "\u2212") + " within classes" * (len(clouds) > 1)
