"""What decoupled features can be: intervals of a sample or a batch, or over all samples of N values; `Plan.attainable`.

On the leaf of a sample the ends are limits as a rule: they belong to samples whose values have met, or whose
frequencies have fallen silent. Over all samples of N values they are attained.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symdecouple.decoupling.attainable.levels import EnergyIntervals, Interval, MomentIntervals, followed
from symdecouple.decoupling.choice import Choice
from symdecouple.decoupling.running import batch_of
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.figures import COLOURS, given_axes, new_figure
from symdecouple.language.boundaries import grid
from symdecouple.numeric.samples.vectors import Batch, SampleAxis
from symdecouple.shown import Shown

__all__ = ["Attainable", "attainable"]

_INTERVAL, _OWN, _WANTED = COLOURS["blue"], COLOURS["orange"], COLOURS["green"]

FoundBy: TypeAlias = Literal["ties", "frequencies", "path"]


@dataclass(frozen=True, slots=True, eq=False)
class Attainable(Shown):
    """Intervals that decoupled features can be in, the features before each at their references.

    Attributes
    ----------
    names : tuple of str
        Those of the decoupled features, as `Plan.names` has them.
    low, high : array (..., M)
        NaN where a feature before is refused: the sample lacks the level.
    low_is_attained, high_is_attained : bool array (..., M)
        Whether an end is a value of a sample; a limit only where False.
    values : array (..., M) or None
        The decoupled features of the samples themselves.
    reference : tuple of float or None
    found_by : tuple of {"ties", "frequencies", "path"}
        Of each feature: Theorem J or E tells the interval by ties or frequencies, and its ends are computed to ten
        digits; or the path was followed, and what was reached is known to three. None of it comes with a certificate.
    n_samples : int or tuple or None
        Where it is about all samples of a size.
    """

    names: tuple[str, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    low_is_attained: NDArray[np.bool_]
    high_is_attained: NDArray[np.bool_]
    values: NDArray[np.float64] | None
    reference: tuple[float | None, ...]
    found_by: tuple[FoundBy, ...]
    n_samples: Any = None

    def contains(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Return where values (..., M) are in the intervals, ends where they are attained; False where there is none.

        Examples
        --------
        >>> import symdecouple as sd
        >>> found = sd.decouple(sd.families.raw_moments(4)).attainable([0, 1, 2, 4, 5, 9, 9, 9])
        >>> found.contains([7, 2, 0, 3]).tolist()
        [True, True, True, False]
        """
        given = np.asarray(values, dtype=np.float64)
        above = (given > self.low) | ((given == self.low) & self.low_is_attained)
        below = (given < self.high) | ((given == self.high) & self.high_is_attained)
        return np.asarray(above & below)

    def __getitem__(self, index: Any) -> Attainable:
        """Return the intervals of some samples of a batch."""
        if self.low.ndim == 1:
            raise InvalidInput("these are the intervals of one sample; .low[k] and .high[k] are those of a feature")
        low = self.low[index]
        if low.shape[-1:] != self.low.shape[-1:] or low.ndim > self.low.ndim:
            raise InvalidInput(f"index {index!r} was given for a batch of shape {self.low.shape[:-1]}; index its axes")
        ends = {name: getattr(self, name)[index] for name in ("high", "low_is_attained", "high_is_attained")}
        return replace(self, low=low, values=None if self.values is None else self.values[index], **ends)

    def __repr__(self) -> str:
        of = f"n_samples={self.n_samples}" if self.n_samples is not None else f"batch {self.low.shape[:-1]}"
        return f"<Attainable: {len(self.names)} features, {of}>"

    def __str__(self) -> str:
        if self.low.ndim > 1:
            return (f"attainable ranges of {len(self.names)} features for a batch of shape {self.low.shape[:-1]}; "
                    "index it for the table of one sample")
        lines = ["attainable on the leaf of this sample" if self.n_samples is None else
                 f"attainable by all samples of N = {self.n_samples}"]
        width = max(map(len, self.names))
        for j, name in enumerate(self.names):
            reference, status = self.reference[j], "  numerical" if self.found_by[j] == "path" else ""
            own = "" if self.values is None else f"  is {self.values[j]:.6g}"
            wanted = "" if reference is None else f"  reference {reference:.6g}"
            ends = Interval(self.low[j], self.high[j])
            if reference is not None and ends.low <= ends.high and not ends.holds(reference):
                wanted += " not attainable"
            lines.append(f"  {j + 1:>2}  {name:<{width}}  {self.interval(j + 1):<24}{own}{wanted}{status}")
        return "\n".join(line.rstrip() for line in lines)

    def interval(self, k: int) -> str:
        """Return the interval of feature k, counted from 1, of one sample: brackets where an end is attained.

        Raises
        ------
        InvalidInput
            If there is no such feature, or for a batch.

        Examples
        --------
        >>> import symdecouple as sd
        >>> plan = sd.decouple(sd.families.raw_moments(4))
        >>> plan.attainable(n_samples=8).interval(4), plan.attainable([1, 2, 40]).interval(4)
        ('[1, 4]', '{1.5}')
        """
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= len(self.names):
            raise InvalidInput(f"feature {k!r} was given; features count from 1 to {len(self.names)}")
        if self.low.ndim > 1:
            raise InvalidInput(f"this is a batch of shape {self.low.shape[:-1]}; index it for one sample")
        j = k - 1
        if np.isnan(self.low[j]):
            return "no level"
        if self.low[j] == self.high[j]:
            return f"{{{self.low[j]:.6g}}}"
        opened, closed = "[" if self.low_is_attained[j] else "(", "]" if self.high_is_attained[j] else ")"
        return f"{opened}{self.low[j]:.6g}, {self.high[j]:.6g}{closed}"

    def plot(self, ax: Any = None) -> Any:
        """Draw the intervals of one sample, one row a feature in its own unit, with its values and the references.

        Filled ends are attained, hollow ones are limits, and arrows go on without a bound. `ax` are axes, one a
        feature; by default a figure is made. `InvalidInput` for a batch, `MissingPackage` without Matplotlib.
        """
        if self.low.ndim > 1:
            raise InvalidInput(f"a batch of shape {self.low.shape[:-1]} has no picture; index one sample")
        n = len(self.names)
        axes = new_figure(7, 0.55 + 0.75 * n).subplots(n, 1, squeeze=False)[:, 0] if ax is None else given_axes(ax, [n])
        for j, one in enumerate(axes):
            _draw(one, self, j)
        marks = {label: mark for each in reversed(axes)
                 for mark, label in zip(*each.get_legend_handles_labels(), strict=True)}
        axes[0].legend(marks.values(), marks.keys(), frameon=False, fontsize="small", loc="lower left",
                       bbox_to_anchor=(0, 1.0), ncols=3, borderaxespad=0.2)
        return tuple(axes)


def attainable(plan: Any, samples: Any, n_samples: Any, axis: SampleAxis) -> Attainable:
    """Answer `Plan.attainable`."""
    choice, size = plan.choice, len(plan.features)
    if (samples is None) == (n_samples is None):
        raise InvalidInput("attainable takes samples, or n_samples for all samples of a size: one of the two")
    if plan._order != tuple(range(size)):
        raise InvalidInput("the features of a group are brought to their references in another order than they are "
                           "given; give them in the order that plan.explain() shows")
    counted: MomentIntervals | EnergyIntervals | None = None
    if choice.moments is not None:
        counted = MomentIntervals(choice.moments, choice.floats)
    elif choice.energies is not None:
        counted = EnergyIntervals(choice.energies, choice.floats, choice.spans)
    values, found_by = None, list[FoundBy](["path"] * size)
    if counted is not None:
        found_by[: len(counted.leading)] = [counted.found_by] * len(counted.leading)
    if samples is None:
        shape = _shape(n_samples, choice.filter_ndim or 1)
        if counted is None or "path" in found_by:
            raise UnsupportedExpression("what all samples can reach is known of moments and of energies of circular "
                                        "filters; of other features it is followed from a sample: plan.attainable(x)")
        ends = np.array(counted.intervals(None, shape), dtype=np.float64)
    else:
        batch = batch_of(choice, "attainable", samples, axis, None, centred=choice.moments is not None)
        values = np.asarray(plan.transform(samples, axis=axis, on_refusal="return")[0], dtype=np.float64)
        with np.errstate(under="ignore"):
            ends = _of_rows(choice, counted, batch, values.reshape(-1, size)).reshape(*batch.shape, size, 4)
    low, high, low_is_attained, high_is_attained = np.moveaxis(ends, -1, 0)
    return Attainable(plan.names, low, high, low_is_attained == 1, high_is_attained == 1, values,
                      tuple(choice.floats), tuple(found_by), n_samples)


def _shape(n_samples: Any, ndim: int) -> tuple[int, ...]:
    shape = grid(n_samples)
    if len(shape) != ndim or prod(shape) < 2:
        wanted = "the number of values of a sample" if ndim == 1 else f"a shape of {ndim} axes"
        raise InvalidInput(f"n_samples={n_samples!r} was given, {wanted} is expected, 2 or more in all, as one "
                           "value does not vary")
    return shape


def _of_rows(choice: Choice, counted: MomentIntervals | EnergyIntervals | None, batch: Batch, own: Any) -> Any:
    """The ends for each row of a batch, (R, M, 4), beside its decoupled features `own`, (R, M)."""
    rows, count = np.asarray(batch.rows, dtype=np.float64), 0 if counted is None else len(counted.leading)
    fit = np.setdiff1d(np.flatnonzero(np.isfinite(rows).all(axis=1) & (rows.shape[1] > 1)), list(batch.barred))
    ends = np.full((*own.shape, 4), np.nan)
    if not fit.size:
        return ends
    if counted is not None:
        intervals = cache(lambda key: counted.intervals(key, batch.grid))
        ends[fit, :count] = [intervals(key) for key in counted.keys(rows[fit], batch.grid)]
    levels = choice.levels(choice.level(None), False, batch.grid)
    for start, end in choice.spans:
        if start < count or end - start > 1 or None in choice.floats[:start]:
            continue
        at = next(levels.at(rows[fit], [start], choice.floats)) if start else None
        there = rows[fit] if at is None else at.values
        here = np.where(np.isfinite(there).all(axis=1), own[fit, start], np.nan)
        ends[fit, start] = followed(levels, there, (start, end), here, choice.floats)
    return ends


# --- the picture: one row a feature, its interval, the value of the sample, and the reference ---


def _draw(ax: Any, found: Attainable, j: int) -> None:
    low, high, reference = float(found.low[j]), float(found.high[j]), found.reference[j]
    own = np.nan if found.values is None else float(found.values[j])
    known = [v for v in (low, high, own, reference) if v is not None and np.isfinite(v)] or [0.0]
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_ylabel(found.names[j], rotation=0, ha="right", va="center", fontsize="small")
    ax.set_ylim(-1, 1)
    if np.isnan(low):
        ax.text(0.02, 0.5, "no level: a feature before it cannot come to its reference", transform=ax.transAxes,
                va="center", fontsize="small", color="0.4")
        ax.set_xticks([])
        return
    room = (max(known) - min(known)) or max(1.0, abs(known[0]))
    left, right = min(known) - 0.15 * room, max(known) + 0.15 * room
    ax.set_xlim(left, right)
    ax.plot([max(low, left), min(high, right)], [0, 0], "-", color=_INTERVAL, linewidth=5, alpha=0.35,
            solid_capstyle="butt")
    ends = ((low, found.low_is_attained[j], "<", left), (high, found.high_is_attained[j], ">", right))
    for value, is_attained, arrow, edge in ends:
        is_bounded = np.isfinite(value)
        ax.plot([value if is_bounded else edge], [0], "o" if is_bounded else arrow, color=_INTERVAL, markersize=7,
                markerfacecolor=_INTERVAL if is_attained or not is_bounded else "white", clip_on=False)
    if np.isfinite(own):
        ax.plot([own], [0], "D", color=_OWN, markersize=7, label="decoupled feature of the sample")
    if reference is not None:
        ax.plot([reference], [0], "|", color=_WANTED, markersize=18, markeredgewidth=2.5, label="reference")
