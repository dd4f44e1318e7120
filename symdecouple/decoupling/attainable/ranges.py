"""What decoupled features can be: intervals of a sample or a batch, or over all samples of N values; `Plan.attainable`.

On the leaf of a sample the ends are limits as a rule: they belong to samples whose values have met, or whose
frequencies have fallen silent. Over all samples of N values they are attained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symdecouple.decoupling.attainable.levels import (
    EnergyIntervals,
    Interval,
    MomentIntervals,
    followed,
)
from symdecouple.decoupling.choice import Choice
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.samples.vectors import Batch
from symdecouple.shown import Shown

__all__ = ["Attainable", "check_asked", "intervals_of_any", "intervals_of_rows"]


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
        return replace(self, low=low, high=self.high[index], low_is_attained=self.low_is_attained[index],
                       high_is_attained=self.high_is_attained[index],
                       values=None if self.values is None else self.values[index])

    def __repr__(self) -> str:
        of = f"n_samples={self.n_samples}" if self.n_samples is not None else f"batch {self.low.shape[:-1]}"
        return f"<Attainable: {len(self.names)} features, {of}>"

    def __str__(self) -> str:
        if self.low.ndim > 1:
            return (f"attainable ranges of {len(self.names)} features for a batch of shape {self.low.shape[:-1]}; "
                    "index it for the table of one sample")
        about = "all samples of N = " + str(self.n_samples) if self.n_samples is not None else "this sample"
        lines = [f"attainable on the leaf of {about}" if self.n_samples is None else f"attainable by {about}"]
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
        from symdecouple.decoupling.attainable.picture import draw_attainable

        return draw_attainable(self, ax)


def check_asked(features: FeatureSet, order: Sequence[int], samples: Any, n_samples: Any) -> None:
    """Refuse what `Plan.attainable` cannot answer."""
    if (samples is None) == (n_samples is None):
        raise InvalidInput("attainable takes samples, or n_samples for all samples of a size: one of the two")
    if tuple(order) != tuple(range(len(features))):
        raise InvalidInput("the features of a group are brought to their references in another order than they are "
                           "given; give them in the order that plan.explain() shows")


def intervals_of_rows(choice: Choice, batch: Batch, values: Any) -> Attainable:
    """Return the intervals of each sample of a batch; `values` (..., M) are its decoupled features."""
    rows, size = np.asarray(batch.rows, dtype=np.float64), len(choice.features)
    fit = np.flatnonzero(np.isfinite(rows).all(axis=1) & (rows.shape[1] > 1))
    found: list[list[Interval]] = [[] for _ in fit]
    count = 0
    if choice.moments is not None:
        moments = MomentIntervals(choice.moments, choice.floats)
        found, count = [moments.of_sample(rows[i]) for i in fit], len(choice.moments)
    elif choice.energies is not None:
        energies = EnergyIntervals(choice.energies, choice.floats, choice.spans)
        found, count = energies.of_rows(rows[fit], batch.grid), len(choice.energies)
    own = np.asarray(values, dtype=np.float64).reshape(len(rows), size)
    found_by = [_counted_by(choice)] * count
    levels = choice.levels(choice.level(None), False, batch.grid)
    for start, end in choice.spans:
        if start < count:
            continue
        found_by += ["path"] * (end - start)
        if end - start > 1 or any(choice.floats[j] is None for j in range(start)):
            found = [[*row, *[Interval(np.nan, np.nan)] * (end - start)] for row in found]
            continue
        at = next(levels.at(rows[fit], [start], choice.floats)) if start else None
        there = rows[fit] if at is None else at.values
        here = np.where(np.isfinite(there).all(axis=1), own[fit, start], np.nan)
        more = followed(levels, there, (start, end), here, choice.floats)
        found = [[*row, one] for row, one in zip(found, more, strict=True)]
    out = np.full((len(rows), size, 4), np.nan)
    for i, row in zip(fit, found, strict=True):
        out[i] = row
    shaped = out.reshape(*batch.shape, size, 4)
    return _attainable(shaped, own.reshape(*batch.shape, size), choice, found_by, None)


def intervals_of_any(choice: Choice, n_samples: Any) -> Attainable:
    """Return the intervals over all samples of N values, or of a shape."""
    size, ndim = len(choice.features), choice.filter_ndim or 1
    grid = (n_samples,) if isinstance(n_samples, int | np.integer) else n_samples
    if (isinstance(n_samples, bool) or not isinstance(grid, tuple) or len(grid) != ndim
            or not all(isinstance(n, int | np.integer) and not isinstance(n, bool) and n > 0 for n in grid)):
        wanted = "the number of values of a sample" if ndim == 1 else f"a shape of {ndim} axes"
        raise InvalidInput(f"n_samples={n_samples!r} was given, {wanted} is expected, in whole numbers")
    if int(np.prod(grid)) < 2:
        raise InvalidInput(f"n_samples={n_samples!r} was given: one value does not vary; 2 or more are needed")
    grid = tuple(map(int, grid))
    if choice.moments is not None and len(choice.moments) == size:
        found = MomentIntervals(choice.moments, choice.floats).of_any(grid[0])
    elif choice.energies is not None and len(choice.energies) == size:
        found = EnergyIntervals(choice.energies, choice.floats, choice.spans).of_any(grid)
    else:
        raise UnsupportedExpression("what all samples can reach is known of moments and of energies of circular "
                                    "filters; of other features it is followed from a sample: plan.attainable(x)")
    return _attainable(np.array(found, dtype=np.float64), None, choice, [_counted_by(choice)] * size, n_samples)


def _counted_by(choice: Choice) -> FoundBy:
    return "ties" if choice.moments is not None else "frequencies"


def _attainable(ends: Any, values: Any, choice: Choice, found_by: Sequence[FoundBy], n_samples: Any) -> Attainable:
    low, high, low_is_attained, high_is_attained = np.moveaxis(ends, -1, 0)
    return Attainable(choice.features.names, low, high, low_is_attained == 1, high_is_attained == 1, values,
                      tuple(choice.floats), tuple(found_by), n_samples)
