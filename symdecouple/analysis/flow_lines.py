r"""The way of samples through the levels of a plan: as lines in the space of samples, and as features along it.

On the way to level k features 1, ..., k-1 are at their references r, and decoupled feature k goes from its value v to
r_k. The points between are samples too:

.. math:: x_s = D_k\bigl(N_k(x);\; r_1, .., r_{k-1},\; (1 - s)\, v + s\, r_k\bigr), \qquad 0 \le s \le 1

with D_k the inverse of N_k. Samples of three numbers with their mean taken out are a plane, where lines from level 1 on
are drawn. Those of four, of mean 0 and variance 1, are a sphere, where lines begin at level 2: along the flow of the
skewness the orthokurtosis stays, so that they are the lines of one orthokurtosis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.critical.sphere import (
    best_view,
    draw_in_front,
    draw_surface,
    finish,
    in_front,
    meshes,
    projected,
    standardized,
)
from symdecouple.decoupling.decoupled_names import declared_names
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput
from symdecouple.figures import CLASS_COLOURS, COLOURS, Axes, given_axes, new_figure, quiet, titled
from symdecouple.numeric.samples.intake import take_numbers

__all__ = ["draw_flow_lines", "draw_path"]

_STEPS = 24  # points between two levels
_FINE = 201  # of a map of the plane
_MOST = 12  # features whose lines are told apart
_PLANE = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])

FloatArray = NDArray[np.float64]


def draw_flow_lines(plan: Plan, samples: Any, ax: Any = None, *, level: int | None = None) -> Axes:
    """Draw how samples of three or four numbers are normalized, as lines in their plane or on their sphere.

    Colours show the last feature that is normalized, as declared, bright is high. Lines begin at a ring, the sample,
    and end at a square, its normalized sample.

    Parameters
    ----------
    plan : Plan
    samples : array_like (R, 3) or (R, 4)
        Those of four numbers are standardized first; the first two features are then at their references. The sphere
        is turned so that most of the lines are in front.
    ax : Axes, optional
        For four numbers a three-dimensional one.
    level : int, optional
        The last level that is drawn: 2 or more of samples of three numbers, 3 or more of four. Default the last one
        that has a reference and can be reached.

    Returns
    -------
    Axes

    Raises
    ------
    MissingPackage
        Without Matplotlib, which is optional.
    InvalidInput
        If samples, level or plan are others, or no sample has the level.
    """
    rows = _rows(plan, samples)
    count = rows.shape[1]
    if count not in (3, 4):
        raise InvalidInput(f"flow lines are drawn of samples of three numbers, a plane, or four, a sphere; got samples "
                           f"of {count}: draw_path shows their features along the way")
    first = count - 2
    last = _last(plan, min(3, len(plan.features)) if level is None else level, first + 1)
    ways = [_way(plan, row, first, last) for row in rows]
    known = [way for way in ways if way is not None]
    if not known:
        raise InvalidInput(f"there is nothing to draw: none of {len(rows)} samples has level {last}")
    one: Axes
    if ax is None:
        figure = new_figure(5.2, 5.0)
        one = figure.add_subplot(projection="3d") if count == 4 else figure.add_subplot()
    else:
        (one,) = given_axes(ax, [1])
        if (count == 4) != hasattr(one, "plot_surface"):
            raise InvalidInput('samples of four numbers are drawn in three-dimensional Axes (projection="3d"), samples '
                               "of three in flat ones")
    left_out = f", {len(rows) - len(known)} refused" if len(known) < len(rows) else ""
    title = (f"normalizing {declared_names(plan.features)[last - 1]}: {len(known)} sample{'s' * (len(known) > 1)} of "
             f"{count} numbers{left_out}")
    if count == 4:
        _draw_on_sphere(one, plan, known, last, title)
    else:
        _draw_in_plane(one, plan, known, last)
        titled(one, title, loc="left")
    return one


def draw_path(plan: Plan, sample: Any, ax: Any = None, *, level: int | None = None) -> tuple[Axes, ...]:
    """Draw the features of one sample, and its values, along its way through the levels of a plan.

    Between level k - 1 and level k decoupled feature k changes evenly to its reference; those before it stay, those
    after it follow. Features are drawn as declared, as shares of their range on the way.

    Parameters
    ----------
    plan : Plan
    sample : array_like (N,)
    ax : sequence of two Axes, optional
        Above the features, below the values of the sample, which keep their order.
    level : int, optional
        The last level; default the last one before the last feature, as in `Plan.normalize`.

    Returns
    -------
    tuple of two Axes

    Raises
    ------
    MissingPackage
        Without Matplotlib, which is optional.
    InvalidInput
        If it is no sample, or does not have the level.
    """
    rows = _rows(plan, sample)
    if len(rows) != 1:
        raise InvalidInput(f"the way of one sample is drawn, {len(rows)} were given; index one of them")
    last = _last(plan, plan.choice.level(None) if level is None else level, 1)
    way = _way(plan, rows[0], 0, last)
    if way is None:
        _, (outcome,) = plan.normalize(rows[:1], last, on_refusal="return")
        raise InvalidInput(f"there is nothing to draw: the sample has no level {last}, {outcome.reason} "
                           f"({outcome.detail})")
    axes = tuple(new_figure(7.0, 5.4).subplots(2, 1, sharex=True)) if ax is None else given_axes(ax, [2])
    places = np.linspace(0, last, len(way))
    features = plan.own_values(way, on_refusal="return")[0]
    for k, name in enumerate(declared_names(plan.features)[:_MOST]):
        low, high = np.nanmin(features[:, k]), np.nanmax(features[:, k])
        shown = (features[:, k] - low) / (high - low) if high - low > 1e-9 * (1 + abs(low)) else 0 * places + 0.5
        axes[0].plot(places, shown, color=CLASS_COLOURS[k % 6], linestyle="-" if k < 6 else "--", linewidth=1.6,
                     label=f"{name}: {_number(features[0, k])} to {_number(features[-1, k])}")
    order = np.argsort(way[0], kind="stable")
    for row in way[:, order].T[:: max(1, way.shape[1] // 100)]:
        axes[1].plot(places, row, color=COLOURS["blue"], linewidth=0.7, alpha=0.7)
    for one in axes:
        for k in range(1, last):
            one.axvline(k, color="0.8", linewidth=0.8, zorder=0)
    quiet(axes[0], "features on the way", "", "share of the range")
    quiet(axes[1], f"{way.shape[1]} values on the way", "level", "value")
    axes[1].set_xticks(range(last + 1))
    axes[0].legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return axes


def _rows(plan: Any, samples: Any) -> FloatArray:
    if not isinstance(plan, Plan):
        raise InvalidInput(f"a plan is expected, as decouple(features) returns it; got {type(plan).__name__}")
    if plan.features.filter_ndim not in (None, 1):
        raise InvalidInput("the ways of samples on grids of two dimensions are not drawn; take a signal")
    given = take_numbers(samples)
    rows = np.atleast_2d(np.asarray(given.array, dtype=np.float64))
    if given.masked is not None and given.masked.any():
        raise InvalidInput("the ways of samples with masked values are not drawn; compress each row")
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise InvalidInput(f"samples of finite numbers are expected, (N,) or (R, N); got shape {np.shape(samples)}")
    return rows


def _last(plan: Plan, level: Any, least: int) -> int:
    k = plan.choice.level(level)
    if k < least:
        raise InvalidInput(f"level={level!r} was given; ways are drawn up to level {least} or more")
    return k


def _way(plan: Plan, row: FloatArray, first: int, last: int) -> FloatArray | None:
    """The sample from level `first` to level `last`, (points, N); None where it does not have them."""
    points: list[FloatArray] = []
    values, (outcome,) = plan.transform(row[None], on_refusal="return")
    spans = [(start, end) for start, end in plan.choice.spans if first <= start and end <= last]
    for start, end in spans:
        there, (outcome,) = plan.normalize(row[None], end, on_refusal="return")
        if not outcome.ok or not np.isfinite(values[0, :end]).all():
            return None
        share = np.linspace(0, 1, _STEPS + 1)[:, None]
        goal = np.array(plan.choice.floats[:end], dtype=float)
        asked = np.repeat(goal[None], len(share), axis=0)
        asked[:, start:] = (1 - share) * values[0, start:end] + share * goal[start:]
        between, told = plan.denormalize(np.repeat(there, len(share), axis=0), asked, end, on_refusal="return")
        if not all(one.ok for one in told):
            return None
        points.append(between if not points else between[1:])
    return np.concatenate(points) if points else None


def _draw_on_sphere(ax: Any, plan: Plan, ways: list[FloatArray], last: int, title: str) -> None:
    samples = np.moveaxis(standardized(*meshes()), 0, -1)
    draw_surface(ax, plan.own_values(samples, on_refusal="return")[0][..., last - 1])
    lines = [projected(way - way.mean(axis=1, keepdims=True)) for way in ways]
    view = best_view(np.concatenate(lines))
    for line in lines:
        draw_in_front(ax, 1.01 * line, "-", view, color="white", linewidth=1.5)
        _mark(lambda places, style, **k: draw_in_front(ax, places, style, view, **k), 1.02 * line)
    behind = sum(not in_front(line, view).any() for line in lines)
    finish(ax, f"{title}, {behind} behind" if behind else title, view)


def _draw_in_plane(ax: Any, plan: Plan, ways: list[FloatArray], last: int) -> None:
    reach = 1.1 * max(float(np.abs((way - way.mean(axis=1, keepdims=True)) @ _PLANE.T).max()) for way in ways)
    axis = np.linspace(-reach, reach, _FINE)
    across, up = np.meshgrid(axis, axis)
    samples = np.stack([across, up], axis=-1) @ _PLANE
    shade = np.ma.masked_invalid(plan.own_values(samples, on_refusal="return")[0][..., last - 1])
    ax.imshow(shade, extent=(-reach, reach, -reach, reach), origin="lower", cmap="viridis", interpolation="bilinear",
              aspect="equal")
    for way in ways:
        line = (way - way.mean(axis=1, keepdims=True)) @ _PLANE.T
        ax.plot(*line.T, "-", color="white", linewidth=1.4)
        _mark(lambda places, style, **k: ax.plot(*places.T, style, **k), line)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    ax.set_xlabel("$(x_1 - x_2)/\\sqrt{2}$")
    ax.set_ylabel("$(x_1 + x_2 - 2x_3)/\\sqrt{6}$")


def _mark(draw: Any, line: FloatArray) -> None:
    """The beginning of a line, a ring, and its end, a square."""
    for place, marker in ((line[:1], "o"), (line[-1:], "s")):
        draw(place, marker, color=COLOURS["orange"], markersize=5, markeredgecolor="white", markeredgewidth=0.7,
             markerfacecolor="none" if marker == "o" else COLOURS["orange"])


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) >= 1e-9 else "0"
