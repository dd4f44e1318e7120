r"""From samples to levels: the routes that a plan may take, and what they return of the rows of a batch.

A level with a closed form is reached from the sample itself, by one motion on its orbit; a level without one from the
level before. Both end at the same point where both exist. A `Route` is asked five questions, about levels that it has
(`Levels`). What a level returns (`AtLevel`) knows how to carry gradients back. Along closed forms that is Theorem F,

.. math:: \nabla (f \circ N_k)(x) = D^T P_\perp \nabla f(N_k(x))

with D the derivative of the motion, flow parameters held, and P_perp the projection off the span at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import mpmath
import numpy as np

from symdecouple.decoupling.motions.motion import is_finite, largest, unit
from symdecouple.decoupling.motions.orbit import Moved, OrbitMotion, Unreachable
from symdecouple.errors import Outcome
from symdecouple.families.moments import MomentCoordinates
from symdecouple.language.precision import at_digits
from symdecouple.numeric.features.expressions import Array, as_multiprecision
from symdecouple.numeric.moments.out_of_reach import fallen_together
from symdecouple.numeric.moments.ties import is_flat_at_two
from symdecouple.numeric.paths.projection import Frame, least_move
from symdecouple.numeric.precision.certain_refusals import judged_by_ties
from symdecouple.numeric.precision.collocation import NoSlope, finite
from symdecouple.numeric.precision.path import size, spread
from symdecouple.numeric.samples.vectors import widened

__all__ = ["Answers", "AtLevel", "Levels", "OrbitRoute", "Reached", "Reordered", "Route", "SpreadRoute", "each_row",
           "is_inside", "placed", "rows_left", "within"]

_FAR = 2.0**100  # flows and features take powers of numbers, and the tenth is beyond float64
_DIGITS = 30  # that decide whether float64 is at fault
_ROUNDINGS = 64  # of the largest of some numbers: their mean is no less
_OUT_OF_RANGE = Outcome(False, "out of range", "numbers on the way to this level are beyond float64; change the unit, "
                        "or use dps=")

Reached: TypeAlias = tuple[Array, Any, Any, Any]  # values, residual, error, and the way back


@dataclass(frozen=True, slots=True)
class Answers:
    """What was computed of the rows of a batch.

    Attributes
    ----------
    values : array (R, ...)
        NaN in refused rows.
    refusals : dict
        Row to outcome.
    known : array (2, R) or None
        How exactly, of all levels that a row went to; None in float64. First the largest distance of an imposed feature
        from its target v, over 1 + abs(v). Then the estimated distance from the exact values, relative to their
        standard deviation, the largest: along closed forms a first-order bound of rounding, and what is missing to the
        targets; along the narrow path that of its steps, added up (`PreciseImposed.error`). Gradients add that of
        carrying them back.
    """

    values: Array
    refusals: dict[int, Outcome] = field(default_factory=dict)
    known: Array | None = None


Some = TypeVar("Some", bound=Answers)


@dataclass(frozen=True, slots=True)
class AtLevel(Answers):
    """Sample vectors at a level, (R, N), and the way back.

    Attributes
    ----------
    back : callable or None
        Takes gradients at `values`, (c, R, N), of functions of them; returns those at the rows `before`, with an
        estimate of their errors relative to their sizes, (R,) or 0. None where the rows are the samples themselves.
    before : AtLevel or None
        The level that the rows came from along the steps of a narrow path; None where it was the samples themselves.
    stopped : dict
        Rows where `back` could not go all the way, and why.
    step_length : array (R,) or None
        How long the steps of the narrow path may be (`narrow_path.Imposed`), for the level after it.
    """

    back: Callable[[Array], tuple[Array, Any]] | None = None
    before: AtLevel | None = None
    stopped: dict[int, Outcome] = field(default_factory=dict)
    step_length: Array | None = None


class Route:
    """How levels are reached: the questions, and what is answered by routes that have nothing at once."""

    __slots__ = ()

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> AtLevel:
        """Bring features 1..k of the rows, (R, N), to their targets, numbers or arrays (R,), by a closed form."""
        raise NotImplementedError

    def advance(self, at: AtLevel, k: int, targets: Sequence[Any], keep: bool, is_fine: bool) -> AtLevel:
        """Bring feature k of rows at level k - 1 to its target along the narrow path; those before it stay.

        Targets are of at least k features, numbers or arrays (R,). `keep` keeps the path, for gradients; `is_fine` goes
        in small steps, for samples that are asked for themselves: features are exact in any case.
        """
        raise NotImplementedError

    def values(self, rows: Array, targets: Sequence[Any], is_fine: bool) -> Answers | None:
        """Return decoupled features of leading levels, (R, K), all at once; None where they come level by level.

        They are NaN from the level on that a row lacks.
        """

    def gradients(self, rows: Array, targets: Sequence[Any]) -> Answers | None:
        """Return their gradients, (R, K, N), in the same way."""

    def at_once(self, rows: Array, references: Sequence[Any], targets: Array, unit: float) -> Answers | None:
        """Bring decoupled features 1..k of rows at level k to targets, (R, k), all at once; None where it cannot.

        `unit` is the relative rounding of the rows.
        """


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a plan in numbers of one kind, of samples in an interval; None is the real line.

    `closed` are the routes by closed forms, each with the last level that it has, the first one to be asked first;
    `narrow` has all levels; `route` is the one that may have all features at once.
    """

    route: Route
    closed: Sequence[tuple[float, Route]]
    narrow: Route
    is_closed: Callable[[int], bool]
    interval: tuple[Any, Any] | None = None

    def at(self, rows: Array, wanted: Sequence[int], targets: Sequence[Any], keep: bool = False,
           is_fine: bool = False, start: int = 0) -> Iterator[AtLevel]:
        """Yield the rows, (R, N), at each of the wanted levels, which increase; refused rows stay refused.

        Rows may be narrow ones of a batch, or at level `start`: of features after it, targets may be others than the
        references then. `keep` and `is_fine` are as in `Route.advance`.
        """
        rows, level = widened(rows), start
        at = AtLevel(rows, known=np.full((2, len(rows)), mpmath.mpf(0)) if rows.dtype == object else None)
        for k in wanted:
            nearest = next((j for j in range(k, level, -1) if self.is_closed(j)), level)
            if nearest > level:
                route = next(route for last, route in self.closed if nearest <= last)
                refused, at = at.refusals, route.impose(rows, nearest, targets)
                at.refusals.update(refused)
                at.values[list(refused)] = np.nan
            for j in range(nearest + 1, k + 1):
                before, at = at, self.narrow.advance(at, j, targets, keep, is_fine)
                digits = "float64" if rows.dtype != object else f"{mpmath.mp.dps} digits"
                at.refusals.update((r, fallen_together(rows[r], before.values[r], at.refusals[r], digits))
                                   for r in at.refusals.keys() - before.refusals.keys())
            at, level = within(at, self.interval, "pole") if k else at, k
            yield at


@dataclass(frozen=True, slots=True)
class OrbitRoute(Route):
    """Levels along closed forms, sample by sample, in numbers of either kind; made when they are asked for."""

    motion: Callable[[], OrbitMotion]
    moments: MomentCoordinates | None = None

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> AtLevel:
        """As in `Route`."""
        is_skewness = k == 3 and self.moments is not None

        def one(row: Array, goals: list[Any]) -> Reached | Outcome:
            goals, place, scale, point = self._about_mean(goals)
            try:
                with np.errstate(all="ignore"):  # what is not finite is refused
                    moved = self.motion().impose(row, k, goals)
            except Unreachable as error:
                if point is None:
                    return self._in_more_digits(row, k, goals, error.outcome)
                return judged_by_ties(row, k, point, error.outcome)
            missing = self._error(moved, k, goals) if rows.dtype == object else np.nan
            return place + scale * moved.values, moved.residual, missing, (moved, scale)

        def pull(way: tuple[Moved, Any], covectors: Array) -> tuple[Array, Any]:
            (moved, scale), free = way, covectors * np.nan  # where generators are dependent
            with suppress(ZeroDivisionError):
                frame = Frame.of(self.motion().generators(moved.values, k)[None])
                if frame.sound.all():
                    free = frame.split(frame.split(covectors[:, None])[1])[1][:, 0]  # the first leaves rounding
            free[[is_skewness and is_flat_at_two(moved.values, each, unit(each)) for each in covectors]] = 0
            return scale * moved.slope * free, 0

        return each_row(rows, targets[:k], one, pull)

    def _in_more_digits(self, row: Array, k: int, goals: list[Any], seen: Outcome) -> Outcome:
        """Return why a sample in a far unit does not move: by its flow, or as numbers on the way are beyond float64."""
        if row.dtype == object or 1 / _FAR < largest(row) < _FAR:
            return seen
        try:
            with at_digits(_DIGITS):
                self.motion().impose(as_multiprecision(row), k, goals)
        except Unreachable as error:
            if not error.outcome.reason.startswith("beyond "):
                return error.outcome
        return _OUT_OF_RANGE

    def _about_mean(self, goals: list[Any]) -> tuple[list[Any], Any, Any, list[Any] | None]:
        """Return targets of moments for samples of mean 0 and variance 1, where those are to be moved to, and from
        which coordinates: so no digits are lost to a mean far above the deviation.
        """
        if self.moments is None or len(goals) > len(self.moments):
            return goals, 0, 1, None
        point = [mpmath.nan]  # of a variance of 0
        with suppress(ZeroDivisionError), np.errstate(all="ignore"):
            point = list(self.moments.coordinates(goals))
            place, scale, *shape = point if len(point) > 1 else [*point, 1]
            if is_finite(place) and is_finite(scale) and scale > 0 and not (place == 0 and scale == 1):
                about = [0 * place, 0 * place + 1, *shape][: len(goals)]
                return self.moments.features(about), place, scale, about
        return goals, 0, 1, point

    def _error(self, moved: Moved, k: int, targets: Sequence[Any]) -> Any:
        """Return what rounding did and what is missing to the targets, in standard deviations.

        Gradients and generators have one span on an orbit: the shortest step to the targets is the one along it.
        """
        try:
            gradients = finite(lambda: self.motion().gradients(moved.values)[:k])
            gaps = np.array(targets, dtype=object) - self.motion().values(moved.values)[:k]
            missing = least_move(gradients[None], gaps[None])[0]
        except (NoSlope, ZeroDivisionError):
            return mpmath.inf
        off, unit = size(moved.error) + size(missing), spread(moved.values)
        return off / unit if unit else off and mpmath.inf  # a sample of zeros has no unit


@dataclass(frozen=True, slots=True)
class Reordered(Route):
    """A route that takes the features in another order: number i of it is feature `places[i]`."""

    route: Route
    places: tuple[int, ...]

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> AtLevel:
        """As in `Route`, at levels that have the same features in both orders."""
        return self.route.impose(rows, k, [targets[j] for j in self.places[:k]])


@dataclass(frozen=True, slots=True)
class SpreadRoute(Route):
    """Levels of moments that feel no offset, about the mean of a sample: by the `route` of the mean before them."""

    route: Route

    def impose(self, rows: Array, k: int, targets: Sequence[Any]) -> AtLevel:
        """As in `Route`; a mean that is rounding is none, and not left beside what becomes small."""

        def means(numbers: Array) -> Array:
            found, sizes = numbers.sum(axis=-1) / numbers.shape[-1], abs(numbers).max(axis=-1)
            return np.asarray(np.where(abs(found) <= _ROUNDINGS * unit(rows) * sizes, 0 * found, found))

        at = self.route.impose(rows, k + 1, [means(rows), *targets[:k]])

        def back(covectors: Array) -> tuple[Array, Any]:
            assert at.back is not None
            free, lost = at.back(covectors)
            return free + means(covectors)[..., None], lost

        return replace(at, back=back)


def each_row(rows: Array, targets: Sequence[Any], answer: Callable[[Array, list[Any]], Reached | Outcome],
             pull: Callable[[Any, Array], tuple[Array, Any] | Outcome] | None = None) -> AtLevel:
    """Ask for the rows one by one, each with its targets: values, residual and error of it, and the way to it.

    Or why there are none. `pull` carries gradients, (c, N), back along such a way, as `AtLevel.back`, or says why not.
    """
    nan, ways = mpmath.nan if rows.dtype == object else np.nan, dict[int, Any]()
    values, known = np.full(rows.shape, nan, dtype=rows.dtype), np.full((2, len(rows)), nan, dtype=rows.dtype)
    refusals, stopped = dict[int, Outcome](), dict[int, Outcome]()
    for r, row in enumerate(rows):
        found = answer(row, [t[r] if np.ndim(t) else t for t in targets])
        if isinstance(found, Outcome):
            refusals[r] = found
        else:
            values[r], known[0, r], known[1, r], ways[r] = found

    def back(covectors: Array) -> tuple[Array, Any]:
        assert pull is not None
        out, lost = np.full(covectors.shape, nan, dtype=rows.dtype), np.zeros(len(rows), dtype=rows.dtype)
        for r, way in ways.items():
            there = [j for j, each in enumerate(covectors[:, r]) if all(map(mpmath.isfinite, each))]
            carried = pull(way, covectors[there, r]) if there else (out[there, r], 0)
            if isinstance(carried, Outcome):
                stopped[r], lost[r] = carried, mpmath.inf
            else:
                out[there, r], lost[r] = carried
        return out, lost

    return AtLevel(values, refusals, known if rows.dtype == object else None, back, stopped=stopped)


def within(found: Some, interval: tuple[Any, Any] | None, reason: str = "outside the domain") -> Some:
    """Refuse rows that left the interval of the sample; None is the real line."""
    if interval is None:
        return found
    why = Outcome(False, reason, "the sample would have to leave the interval that was declared to have these "
                  "features; take values nearer to those of the sample, or declare another interval")
    outer = [r for r, row in enumerate(found.values) if r not in found.refusals and not is_inside(row, interval)]
    if not outer:
        return found
    values = found.values.copy()  # they may be the samples themselves
    values[outer] = np.nan
    return replace(found, values=values, refusals={**found.refusals, **dict.fromkeys(outer, why)})


def is_inside(row: Array, interval: tuple[Any, Any]) -> bool:
    """Tell whether all entries are in an interval; at its ends they may have been rounded."""
    return bool(float(interval[0]) <= row.min() and row.max() <= float(interval[1]))


def rows_left(count: int, refused: dict[int, Outcome]) -> Array:
    """Return the rows of a batch that are not refused."""
    return np.delete(np.arange(count), list(refused))


def placed(part: Array, which: Array, others: Any) -> Array:
    """Return some rows in their places beside others, which stay as they are."""
    if len(part) == len(others):
        return part
    out: Array = others.copy()
    out[which] = part
    return out
