r"""Samples whose own features have given values: the levels of a plan, with these values in place of its references.

At level M all features are at what was asked for, f_1(y) = v_1, .., f_M(y) = v_M, whatever levels do in between: so
the way is that of `normalize`, with targets of its own for each sample. Moments take the road of `stats.match`, which
counts what can be had; elsewhere the shortest moves along the gradients (Newton's method) take out what the way leaves.
`Plan.denormalize` sets *decoupled* features, which from the fourth moment on are others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, overload

import mpmath
import numpy as np
from numpy.typing import NDArray

from symdecouple.decoupling.application import Application
from symdecouple.decoupling.choice import Choice
from symdecouple.decoupling.plan_facts import PlanFacts
from symdecouple.decoupling.progress import Progress
from symdecouple.decoupling.routes.route import Answers, Levels, is_inside, within
from symdecouple.decoupling.running import answered, batch_of, is_turned, leaves_out_masked
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.families.moments import MomentCoordinates
from symdecouple.language.precision import at_digits
from symdecouple.numeric.features.expressions import Array, as_multiprecision
from symdecouple.numeric.moments.matched import matched_rows
from symdecouple.numeric.paths.projection import least_move
from symdecouple.numeric.samples.asked import asked_numbers
from symdecouple.numeric.samples.batch import NanPolicy, OnRefusal
from symdecouple.numeric.samples.intake import holds_more
from symdecouple.numeric.samples.kinds import Outcomes, Quiet, Signal
from symdecouple.numeric.samples.vectors import SampleAxis, widened

__all__ = ["Matching"]

_ENOUGH = 1e-14  # of 1 + abs(feature): nothing to take out
_APART = 1e-9  # from where on a result is none
_DIGITS = 20  # of numbers that float64 would round; it takes 17
_NEWTON = 8  # steps, which double the digits: two or three from near by
_ON_THE_WAY = 1e-10  # the same after a step
_ROUNDED = 1e-3  # of a variance, or 1 + abs(standardized moment): what the last digit of raw ones may be worth
_TURNED = Outcome(False, "beyond float64", "entries that differ come so near to each other, here or on the way, that "
                  "rounding turns their order round; take values nearer to those of the sample, or use dps=")
_SHORTEST = 2.0**-12  # step of the way, as a share of it


class Matching(PlanFacts):
    """What a plan does with the own features of samples."""

    __slots__ = ()

    _run = answered

    @leaves_out_masked
    def match(self, samples: Any, values: Any, *, axis: SampleAxis = "last", dps: int | None = None,
              nan_policy: NanPolicy = "propagate", weights: Any = None, on_refusal: OnRefusal = "warn",
              progress: Progress | None = None, groups: Any = None) -> NDArray[Any]:
        """Return sample vectors whose own features are `values`: moved along the flows of the plan from `samples`.

        Parameters
        ----------
        samples, axis, dps, nan_policy, weights, on_refusal, progress, groups
            As in `normalize`.
        values : array_like (..., M)
            Wanted features, as they are evaluated on a sample itself; one row for all samples, or one each.

        Returns
        -------
        array (..., N)
            Of moments and other averages, ties and the order of the values stay.

        Raises
        ------
        InvalidInput
            If `values` do not fit, or a level has no way.
        Refused
            With ``on_refusal="raise"``: what a sample does not come to, with the bound where it is known.

        Examples
        --------
        >>> from symdecouple.decoupling.plan import decouple
        >>> from symdecouple.families.moments import standardized_moments
        >>> there = decouple(standardized_moments(4)).match([1.0, 2, 3, 5, 8, 13, 21, 34], [0, 1, 1, 3])
        >>> there.round(4).tolist()
        [-1.0993, -0.8796, -0.7025, -0.4256, -0.1165, 0.2726, 0.8041, 2.1468]
        """
        count = self._application.size
        level = self.choice.level(count)
        batch = batch_of(self.choice, "match", samples, axis, dps, level=level)
        wanted = asked_numbers(values, bool(dps))
        try:
            each = np.broadcast_to(wanted, (*batch.shape, count)).reshape(-1, count)
        except ValueError:
            raise InvalidInput(f"values of shape {wanted.shape} were given for samples in a batch of shape "
                               f"{batch.shape} and {count} features; (..., {count}) is expected") from None
        batch.bar(each)
        asked = each[:, list(self._order)]

        def compute(levels: Levels, rows: Array, _: Sequence[Any], index: Array) -> Answers:
            if dps:
                return _in_digits(self.choice, lambda goal: moved(levels, rows, goal, goal), rows, asked[index])
            found = _by_moments(self.choice, rows, asked[index])
            return moved(levels, rows, asked[index], each[index]) if found is None else found

        def moved(levels: Levels, rows: Array, targets: Array, goal: Array) -> Answers:
            with np.errstate(all="ignore"):  # targets may be beyond all features; what is not reached is refused
                found: Answers = next(levels.at(rows, [level], list(targets.T), is_fine=True))
                if not dps:
                    found = _settled(self._application.on(batch.grid), found, rows, goal, self.choice)
                return within(found, self.choice.interval)

        return self._run(batch, None, dps, on_refusal, compute, level, progress)

    @overload
    def own_values(self, samples: Any, *, axis: SampleAxis = ..., on_refusal: Signal = ...,
                   progress: Progress | None = ...) -> NDArray[Any]: ...

    @overload
    def own_values(self, samples: Any, *, axis: SampleAxis = ..., on_refusal: Quiet,
                   progress: Progress | None = ...) -> tuple[NDArray[Any], Outcomes]: ...

    def own_values(self, samples: Any, *, axis: SampleAxis = "last", on_refusal: OnRefusal = "warn",
                   progress: Progress | None = None) -> Any:
        """Return the features of samples as they are, (..., M): what `match` sets."""
        applied = self._application
        is_exact = len(self.features.symbolic) == applied.size and holds_more(samples)
        dps = _DIGITS if is_exact else None
        batch = batch_of(self.choice, "own_values", samples, axis, dps, centred=False)

        def compute(levels: Levels, rows: Array, _: Sequence[Any], index: Array) -> Answers:
            here = applied.on(batch.grid)
            own = here.own(rows, applied.size)
            return Answers(own, here.undefined(own), np.zeros((2, len(rows)), dtype=object) if is_exact else None)

        found = self._run(batch, (applied.size,), dps, on_refusal, compute, None, progress)
        if not is_exact:
            return found
        values, *outcomes = found if on_refusal == "return" else (found,)
        values = np.asarray(values, dtype=np.float64)
        return (values, *outcomes) if outcomes else values


def _in_digits(choice: Choice, moved: Callable[[Array], Answers], rows: Array, asked: Array) -> Answers:
    """The only row with these values, in digits; one of moments about 0 and of unit size first, which loses none of
    them. A kurtosis that ties do not allow is refused as in float64, where these are the same there."""
    if choice.all_at_once is None or asked.shape[1] < 2:
        return moved(as_multiprecision(asked))
    moments = choice.all_at_once.coordinates
    with at_digits(mpmath.mp.dps * (asked.shape[1] + 1)):  # a mean takes its digits from each order
        (mean, deviation, *shape), = (moments.coordinates(list(row)) for row in as_multiprecision(asked))
    point = [mpmath.mpf(0), mpmath.mpf(1), *shape]
    if not all(isinstance(c, mpmath.mpf) and mpmath.isfinite(c) for c in (mean, deviation, *shape)) or deviation <= 0:
        return moved(as_multiprecision(asked))
    found = moved(np.array([moments.features(point)], dtype=object))
    floats = rows.astype(np.float64)
    ties, ties_of_floats = (np.unique(row, return_counts=True)[1].tolist() for row in (rows, floats))
    if found.refusals and len(shape) == 2 and ties == ties_of_floats:
        told = matched_rows(floats, [np.array([float(c)]) for c in point], np.zeros(1), np.full(1, np.nan)).refusals
        found.refusals.update((i, why) for i, why in told.items() if why.reason == "kurtosis out of reach")
    return replace(found, values=found.values * deviation + mean)


def _by_moments(choice: Choice, rows: Array, targets: Array) -> Answers | None:
    """The rows with moments that have these values; None where the features are others."""
    if choice.all_at_once is None:
        return None
    count, moments = targets.shape[1], choice.all_at_once.coordinates
    with np.errstate(all="ignore"):
        point = _point(moments, targets)
    good = (np.isfinite(point) & (point.imag == 0)).all(axis=0) & (point[1:2].real > 0).all(axis=0)
    wanted = np.where(good, point.real, np.arange(count)[:, None] == 1)
    wanted[1:2] **= 2
    done = matched_rows(widened(rows), list(wanted), np.zeros(len(rows)), np.full(len(rows), np.nan))
    impossible = {int(i): Outcome(False, "level 2 not attainable", "no sample has the values " + ", ".join(
        f"{v:.6g}" for v in targets[i]) + ": their variance is not above 0") for i in np.flatnonzero(~good)}
    refusals = {**done.refusals, **impossible}
    for i in list(refusals):
        if note := _rounding(moments, targets[i]):
            refusals[i] = Outcome(False, "beyond float64", f"{refusals[i].detail}; {note}")
    return Answers(done.values, refusals)


def _point(moments: MomentCoordinates, targets: Array) -> Array:
    """Mean, deviation and standardized moments that values (R, K) come to, (K, R), complex where no sample has them."""
    return np.array([np.broadcast_to(np.asarray(c, dtype=complex), len(targets))
                     for c in moments.coordinates(list(targets.T))])


def _rounding(moments: MomentCoordinates, values: Array) -> str:
    """Say how far the shape that values come to is rounded away in them; nothing where it is not."""
    unit = np.diag(np.spacing(np.abs(values)))
    with np.errstate(all="ignore"):
        points = _point(moments, np.array([values, *(values + unit), *(values - unit)], dtype=complex))
        points[1:2] **= 2
        here = points[:, 0]
        away = np.nan_to_num(np.max(np.abs(points[:, 1:] - here[:, None]), axis=1), nan=np.inf)
    no_variance = len(here) > 1 and not here[1].real > 0
    beside = np.array([np.inf, 1 if no_variance else abs(here[1]), *(1 + np.abs(here[2:]))])[: len(here)]
    lost = np.flatnonzero(~(away <= _ROUNDED * beside)[: 2 if no_variance else None])
    if not lost.size:
        return ""
    k = int(lost[0])
    name = "the variance" if k == 1 else f"the standardized moment of order {k + 1}"
    return (f"the last digit of these values is worth {away[k]:.2g} of {name}, so far from 0; give standardized "
            "moments to a plan of them, or exact numbers and dps=")


def _settled(application: Application, found: Answers, rows: Array, targets: Array, choice: Choice) -> Answers:
    """The rows after Newton's steps as long as they bring features with expressions nearer; what is far is refused."""
    values, refusals = found.values, dict(found.refusals)
    for r in range(len(values)):
        if r in refusals:  # that no energies are there is certain
            y = None if choice.energies is not None else _continued(application, rows[r], targets[r], choice)
            if y is None:
                continue
            values[r] = y
            del refusals[r]
        values[r], worst = _newton(application, values[r], targets[r])
        if worst > _APART and np.isfinite(worst):
            refusals[r] = Outcome(False, "lost on the way", f"the features come to {worst:.1e} of what was asked for, "
                                  "and no nearer; take values nearer to those of the sample")
        elif choice.is_of_sets and is_turned(rows[r], values[r]):
            refusals[r] = _TURNED
    values[list(refusals)] = np.nan
    return Answers(values, refusals)


def _continued(application: Application, row: Array, targets: Array, choice: Choice) -> Array | None:
    """A row that has no way through levels, by the one along which all features change together, at constant rates.

    A step is the shortest move to the features at its end, as long as Newton's method comes there, the domain is not
    left and the order of a set of numbers stays.
    """
    y = np.asarray(row, dtype=np.float64)
    first, order, way, step = application.values(y), np.argsort(y, kind="stable"), 0.0, 1.0
    while np.isfinite(first).all() and step > _SHORTEST:
        share = min(way + step, 1.0)
        moved, left = _newton(application, y, targets if share == 1 else first + share * (targets - first))
        good = left <= _ON_THE_WAY and (choice.interval is None or is_inside(moved, choice.interval))
        if not good or (choice.is_of_sets and (np.diff(moved[order]) < 0).any()):
            step /= 2
        elif share == 1:
            return moved
        else:
            y, way, step = moved, share, 2 * step
    return None


def _newton(application: Application, y: Array, goal: Array) -> tuple[Array, float]:
    """The row after the shortest moves to a goal, as long as they bring its features nearer; and what is left."""
    moved, worst = y, np.inf
    for _ in range(_NEWTON + 1):
        gap = goal - application.values(moved)
        size = float(np.max(np.abs(gap) / (1 + np.abs(goal))))
        if not size < worst:
            break
        y, worst = moved, size
        if worst <= _ENOUGH:
            break
        moved = y + least_move(application.covectors(y, range(application.size))[None], gap[None])[0]
    return y, worst
