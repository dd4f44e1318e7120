"""The narrow path of the raw moments: the k-th moves to its target while the first k-1 stay.

On rows y whose first k-1 moments are held, with D_(k-1) the squared norm of the orthogonal polynomial p_(k-1)
(`moment_path.basis`), the path is parametrized by the value of the k-th moment, which it changes at a constant rate:

    dy/ds = (v - Mean(y0^k)) p_(k-1)(y) / (k D_(k-1)),      s from 0 to 1

After every step, and at the end, Newton's correction puts all k moments where they belong: y + sum_j c_j p_(j-1)(y)
with a lower triangular system for c. Every motion is a polynomial of the entry, so equal entries stay equal and the
order of entries stays.

*Coordinates.* Mean and variance are held, so the path runs in z = (y - mean)/deviation, where all is near 1; a change
of the k-th raw moment is deviation^k times that of z.

*What ends a path.* At a critical point p_(k-1) vanishes on the sample: k-1 distinct values are left, apart from
rounding. A target behind it is not attainable on this path; the value that was reached is its limit to about twelve
digits. Rows where that is known beforehand are refused at once: fewer than k distinct values, a target that is no
moment beside the ones held (the Hankel matrix), a fourth moment of N/2 and more at no skewness. On the way, a row is
given up as soon as it is caught (`moment_path.collapse`).

*What errors do.* A path that pulls near values apart takes errors with it, by the exponential of the integral of its
derivative by the value, along each value. Where the error of its steps would grow beyond 1e-9 it is followed again in
smaller ones, and where rounding grows by more than 2**24 the row is refused.

Short rows go side by side (`runge_kutta`), long ones one after the other (`moment_path.walk`); which way is a matter of
their length alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments.beforehand import comes_to, refused_at_once, too_high
from symdecouple.numeric.moments.collapse import atoms
from symdecouple.numeric.moments.course import Course, correct, residuals, taken
from symdecouple.numeric.moments.hankel import Weights, free_direction, power_means
from symdecouple.numeric.moments.stages import LONGEST, Recorder, some_rows, step_of
from symdecouple.numeric.moments.walk import walk
from symdecouple.numeric.paths.integrate import End, Path, Step, integrate
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = [
    "GROWN", "MOST_GROWTH", "RESIDUAL", "RTOL", "SETTLED", "SHARP", "Followed", "Follower", "follow", "pulled_apart",
    "refused_beforehand",
]

RTOL = 1e-11  # local error of a step in standard deviations: 1e-9 in moments to order 6, with a digit to spare
RESIDUAL = 2e-14  # of a moment, relative to Mean|z|^j: what counts as there
SETTLED = 5e-15  # no further correction
_CORRECTIONS = 4
MOST_GROWTH = 2.0**24  # leaves about half of the digits
GROWN = 1e-9  # error of a path, grown, beyond which it is followed again
SHARP = 1e-14  # the tolerance then, or the least where no steps are kept: there
_SPARE = 0.25  # of that error is what the growth found is to leave
_CROWDED = 2.0**-5  # D_(k-1)/h_(2k-2) below which a row may be near its last point
_ALONE = 1024  # entries from which on rows walk by themselves
_FIRST = 0.1  # the first step moves a row by this many standard deviations


@dataclass(frozen=True, slots=True)
class Followed:
    """The rows at the end of their paths.

    Attributes
    ----------
    values : array (R, N)
        NaN in refused rows.
    residual : array (R,)
        Largest distance of one of the k moments of z from its target, over Mean|z|^j.
    attained : array (R,)
        Raw k-th moment that was reached: the target, or the last value before a refusal.
    growth : array (R,)
        By how much the path pulls near values apart, at most: the exponential of the integral of its derivative by the
        value, along the way of one value and from its worst point on. Errors grow with it. 1 in rows that stayed or
        did not arrive.
    refusals : dict
        `Outcome` by row.
    course, path : Course, Path
        For `moment_levels.adjoint`; the path has a tape if that was asked for.
    """

    values: FloatArray
    residual: FloatArray
    attained: FloatArray
    growth: FloatArray
    refusals: dict[int, Outcome]
    course: Course
    path: Path


Follower: TypeAlias = Callable[..., Followed]  # `follow`, or one that takes the same arguments


def follow(
    rows: FloatArray,
    k: int,
    targets: ArrayLike,
    *,
    held: ArrayLike | None = None,
    weights: Weights = None,
    rtol: float = RTOL,
    store: bool = False,
    one_by_one: bool | None = None,
) -> Followed:
    """Move the k-th raw moment of every row to its target along the gradient that moments 1..k-1 leave free.

    Parameters
    ----------
    rows : array (R, N)
        float64. In either direction: towards a reference, or from it back to a value.
    k : int
        At least 3; mean and second moment have formulas.
    targets : float or array (R,)
        Raw moments Mean(y^k).
    held : array (k - 1,) or (k - 1, R), optional
        Raw moments 1..k-1 that hold on the path. By default those of the rows; where they are known, rounding left
        behind by earlier levels is removed.
    weights : array (R, N), optional
        Of the entries, sum 1 in each row; equal by default.
    rtol : float
    store : bool
        Keep the steps for `moment_levels.adjoint.pullback`.
    one_by_one : bool, optional
        Rows by themselves (`moment_path.walk`); by default from 1024 entries on where no steps are kept.

    Returns
    -------
    Followed
        Rows that are there already are returned bit for bit.

    Examples
    --------
    Seven values at mean 0, variance 1 and no skewness; their kurtosis moves to 3 and the others stay:

    >>> import numpy as np
    >>> z = np.array([[-3.0, -2, -1, 0, 1, 2, 3]]) / 2
    >>> there = follow(z, 4, 3.0)
    >>> np.round([np.mean(there.values**j) for j in (1, 2, 3, 4)], 12) + 0.0
    array([0., 1., 0., 3.])

    At N = 6 it cannot be had:

    >>> print(follow(np.array([[-3.0, -2, -1, 1, 2, 3]]) * (3 / 14) ** 0.5, 4, 3.0).refusals[0].reason)
    moment not attainable
    """
    rows = _checked(rows, k)
    one_by_one = rows.shape[1] >= _ALONE and not store if one_by_one is None else one_by_one
    with np.errstate(all="ignore"):
        course = Course.of(rows, k, np.broadcast_to(np.asarray(targets, dtype=np.float64), len(rows)), held, weights)
        at_start = residuals(course.start, course.goal, weights)
        refusals = refused_at_once(course, at_start <= RESIDUAL)
        summits = too_high(course, at_start <= RESIDUAL, refusals)
        refused = np.zeros(len(rows), dtype=np.bool_)
        refused[[*refusals, *summits]] = True
        moving = np.flatnonzero(~refused & ~(at_start <= RESIDUAL))
        path, growth = _integrate(course, moving, np.full(len(rows), rtol), store, one_by_one)
        path, growth = _sharpened(course, path, growth, rtol, store, one_by_one)
        for i, top in summits.items():
            path.values[i], path.ending[i] = top, End.OVER
        residual = at_start.copy()
        residual[moving] = _settle(course, path.values, moving)
        values = rows.copy()
        values[moving] = course.centre[moving, None] + course.unit[moving, None] * path.values[moving]
        arrived = (path.ending == End.REACHED) & (residual <= RESIDUAL)
        growth[~arrived] = 1
        refusals |= {i: _why(course, path, i) for i in [*moving[~arrived[moving]].tolist(), *summits]}
        refusals |= {int(i): pulled_apart(k, growth[i]) for i in np.flatnonzero(growth > MOST_GROWTH)}
        gone = sorted(refusals)
        residual[gone] = np.where(np.isfinite(residual[gone]), residual[gone], np.inf)
        values[gone] = np.nan
        attained = _raw_moment(course, path.values)
    return Followed(values, residual, attained, growth, dict(sorted(refusals.items())), course, path)


def refused_beforehand(
    rows: FloatArray, k: int, targets: ArrayLike, *, held: ArrayLike | None = None
) -> dict[int, Outcome]:
    """What `follow` refuses without a step: too few distinct values, no moment beside those held, too many ties.

    Parameters
    ----------
    rows, k, targets, held
        As in `follow`.

    Returns
    -------
    dict
        `Outcome` by row. It rests on counts of ties and on what any sample can reach, not on the path.

    Examples
    --------
    >>> z = np.array([[-1.5, -1.5, -0.3, 0, 0, 0.3, 1.5, 1.5], [0, 0, 0, 0, 1, 1, 1, 2]])
    >>> {row: outcome.reason for row, outcome in refused_beforehand(z, 4, 9.0).items()}
    {0: 'moment not attainable', 1: 'too few distinct values'}
    """
    rows = _checked(rows, k)
    with np.errstate(all="ignore"):
        course = Course.of(rows, k, np.broadcast_to(np.asarray(targets, dtype=np.float64), len(rows)), held, None)
        there = residuals(course.start, course.goal) <= RESIDUAL
        refused = refused_at_once(course, there)
        tops = too_high(course, there, refused)
        more = {i: comes_to(course, i, float(np.mean(top**k))) for i, top in tops.items()}
    return dict(sorted({**refused, **more}.items()))


def _checked(rows: FloatArray, k: int) -> FloatArray:
    if k < 3:
        raise InvalidInput(f"k={k} was given, at least 3 is expected; shift and scale impose moments 1 and 2")
    return np.ascontiguousarray(rows, dtype=np.float64)


# --- the path ---


def _integrate(
    course: Course, moving: IntArray, tolerance: FloatArray, store: bool, one_by_one: bool
) -> tuple[Path, FloatArray]:
    """The paths of the rows named in `moving`, and how much errors grew; the others stay at s = 0."""
    if one_by_one:
        return _one_by_one(course, moving, tolerance, store)
    z = course.start[moving]
    stretch, spare = course.stretch(z, moving)
    log_growth, passed, limits = np.zeros_like(z), np.zeros(len(moving)), dict[int, FloatArray]()
    recorder = Recorder() if store and z.shape[1] <= LONGEST else None

    def slope(z: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
        if recorder is not None:
            recorder.asked(z, s, which)
        return course.slope(z, s, moving[which])

    def after_step(z: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
        corrected = course.corrected(z, s, moving[which])
        now, spare[which] = course.stretch(corrected, moving[which])
        more = (stretch[which] + now) * ((s - passed[which]) / 2)[:, None]
        log_growth[which] = np.maximum(log_growth[which] + more, 0)  # what is made on the way grows from there on
        passed[which], stretch[which] = s, now
        if recorder is not None:
            recorder.accepted(corrected, which)
        return corrected

    def is_over(z: FloatArray, s: FloatArray, which: IntArray) -> NDArray[np.bool_]:
        for i in np.flatnonzero((spare[which] < _CROWDED) & (s < 1)):
            row = moving[which[i]]
            end = atoms(z[i], None if course.weights is None else course.weights[row], course.goal[:, row])
            if end is not None:
                limits[int(which[i])] = end
        return np.array([int(i) in limits for i in which])

    _, norm = free_direction(z, course.k, taken(course.weights, moving))
    speed = np.abs(course.distance[moving]) / (course.k * np.sqrt(norm))
    first = np.where(np.isfinite(speed), np.minimum(1.0, _FIRST / speed), 1.0)
    found = integrate(
        slope,
        z,
        rtol=1.0,
        scale=tolerance[moving],
        first_step=first,
        after_step=after_step,
        is_over=is_over,
        store=store,
    )
    for i, end in limits.items():
        found.values[i] = end
    tape = found.tape if recorder is None else recorder.staged(found.tape)
    path = _standing(course, tuple(some_rows(step, slice(None), moving[step.which]) for step in tape))
    for name in ("values", "reached", "ending", "steps", "failed"):
        getattr(path, name)[moving] = getattr(found, name)
    growth = np.ones(len(course.start))
    growth[moving] = np.exp(log_growth.max(axis=1, initial=0.0))
    return path, growth


def _one_by_one(course: Course, moving: IntArray, tolerance: FloatArray, store: bool) -> tuple[Path, FloatArray]:
    """The same for long rows."""
    path, growth, tape = _standing(course), np.ones(len(course.start)), list[Step]()
    for i in moving.tolist():
        weights, goal = None if course.weights is None else course.weights[i], course.goal[:, i]

        def caught(z: FloatArray, weights: Weights = weights, goal: FloatArray = goal) -> FloatArray | None:
            return atoms(z, weights, goal)

        begin, distance, rtol = course.start[i], float(course.distance[i]), float(tolerance[i])
        there = walk(begin, course.k, goal, distance, weights, rtol, caught, _CROWDED, store)
        path.values[i], path.reached[i], path.ending[i] = there.values, there.reached, there.ending
        path.steps[i], path.failed[i], growth[i] = there.steps, there.failed, there.growth
        if not _is_rough(rtol, there.growth):  # else it is followed again, and this would only take room
            tape += [step_of(i, *step) for step in there.tape]
        del there
    return replace(path, tape=tuple(tape)), growth


def _standing(course: Course, tape: tuple[Step, ...] = ()) -> Path:
    """Of rows that are at the end where they begin."""
    n_rows = len(course.start)
    steps, failed = np.zeros((2, n_rows), dtype=np.intp)
    return Path(course.start.copy(), np.zeros(n_rows), np.full(n_rows, End.REACHED, dtype=np.int8), steps, failed, tape)


def _settle(course: Course, z: FloatArray, moving: IntArray) -> FloatArray:
    """Correct the end points in place until their moments are there to rounding; returns the residuals."""
    goal, weights = course.goal[:, moving], taken(course.weights, moving)
    residual = residuals(z[moving], goal, weights)
    for _ in range(_CORRECTIONS):
        left = np.flatnonzero((residual > SETTLED) & (residual < 1e-3))
        if not len(left):
            break
        here = moving[left]
        moved = correct(z[here], goal[:, left], taken(weights, left))
        after = residuals(moved, goal[:, left], taken(weights, left))
        better = after < residual[left]
        z[here[better]] = moved[better]
        residual[left[better]] = after[better]
        if not better.any():
            break
    return residual


def _sharpened(
    course: Course, path: Path, growth: FloatArray, rtol: float, store: bool, one_by_one: bool
) -> tuple[Path, FloatArray]:
    """Follow rows again, in smaller steps, whose errors grew beyond what was asked for."""
    again = np.flatnonzero((path.ending == End.REACHED) & _is_rough(rtol, growth))
    if not len(again):
        return path, growth
    tolerance = np.full(len(growth), SHARP) if store else np.maximum(_SPARE * GROWN / growth, SHARP)
    second, second_growth = _integrate(course, again, tolerance, store, one_by_one)
    for name in ("values", "reached", "ending", "steps", "failed"):
        getattr(path, name)[again] = getattr(second, name)[again]
    growth[again] = second_growth[again]
    tape = [some_rows(step, ~np.isin(step.which, again)) for step in path.tape]
    return replace(path, tape=(*tape, *second.tape)), growth


def _is_rough(rtol: float, growth: Any) -> Any:
    """Whether errors grew beyond what was asked for, and smaller steps would help."""
    return (rtol > SHARP) & (rtol * growth > GROWN) & (growth <= MOST_GROWTH)


def pulled_apart(k: int, growth: float) -> Outcome:
    """Say that rounding grew too much on the way to level k."""
    return Outcome(
        False,
        "beyond float64",
        f"moment {k} is attainable, but the sample is so crowded that its values are pulled apart by a factor "
        f"{growth:.2g}, and their rounding with them; tie the values that are meant to be equal",
    )


def _why(course: Course, path: Path, i: int) -> Outcome:
    """Why the path of row i did not arrive."""
    z = path.values[i : i + 1]
    k, weights = course.k, None if course.weights is None else course.weights[i : i + 1]
    value, target = power_means(z, k, weights)[k, 0], course.goal[k, i]
    norm = float(free_direction(z, k, weights)[1][0] / power_means(z, 2 * k - 2, weights)[-1, 0])
    is_stuck = path.ending[i] == End.STALLED and path.reached[i] > 0
    if norm < 1e-6 and (is_stuck or path.ending[i] == End.OVER):
        return comes_to(course, i, value)
    return Outcome(
        False,
        "not converged",
        f"moment {k} came to {value:.10g} after {path.steps[i]} steps, {target:.10g} was asked for (standardized); "
        "the sample crowds beyond the reach of float64",
    )


def _raw_moment(course: Course, z: FloatArray) -> FloatArray:
    """Mean(y^k) of y = centre + unit z."""
    attained: FloatArray = power_means(course.centre[:, None] + course.unit[:, None] * z, course.k, course.weights)[-1]
    return attained
