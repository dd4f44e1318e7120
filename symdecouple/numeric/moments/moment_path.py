"""The narrow path of the raw moments: the k-th moves to its target while the first k-1 stay.

On rows y whose first k-1 moments are held, with D_(k-1) the squared norm of the orthogonal polynomial p_(k-1)
(`hankel`), the path is parametrized by the value of the k-th moment, which it changes at a constant rate:

    dy/ds = (v - Mean(y0^k)) p_(k-1)(y) / (k D_(k-1)),      s from 0 to 1

The path keeps the moments that it finds, so they drift by the errors of steps only. At the end, Newton's correction
puts all k moments where they belong: y + sum_j c_j p_j(y), where i sum_(j<i) <y^(i-1), p_j> c_j is the gap of moment i,
one after the other. Every motion is a polynomial of the entry, so equal entries stay equal and the order of entries
stays.

Rows are standardized: mean and variance are held, and all is near 1.

*What ends a path.* At a critical point p_(k-1) vanishes on the sample: k-1 distinct values are left, apart from
rounding. A target behind it is not attainable on this path; the value that was reached is its limit to about twelve
digits. Rows are counted as soon as they crowd (`out_of_reach`).

*What errors do.* A path that pulls near values apart takes errors with it, by the exponential of the integral of its
derivative by the value, along each value. Where the error of its steps would grow beyond 1e-9 it is followed again in
smaller ones, and where rounding grows by more than 2**24, the levels below included, the row is refused. For samples
that are perturbed on purpose rounding is not what limits the answer (`growth_up_to`): the perturbation, many orders
larger, grows alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments.attainable import refused_at_once
from symdecouple.numeric.moments.hankel import (
    RESIDUAL,
    SETTLED,
    Basis,
    Weights,
    power_means,
    residuals,
    settle,
    steepness,
    stieltjes,
    taken,
)
from symdecouple.numeric.moments.out_of_reach import comes_to, end_before, groups_of, unattainable, why_out_of_reach
from symdecouple.numeric.moments.power_sums import mean_power
from symdecouple.numeric.paths.integrate import End, Path, Step, integrate
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = [
    "ALLOWED", "FALLING", "FINE", "FROM_ENTRIES", "GROWN", "MOST_GROWTH", "MOST_PERTURBED", "REACH", "REDONE",
    "RESIDUAL", "RTOL", "SETTLED", "SHARP", "SURELY", "TOGETHER", "Course", "Followed", "follow", "growth_up_to",
    "pulled_apart", "refused_beforehand",
]

RTOL = 1e-10  # local error of a step in standard deviations, estimated large: 1e-9 in moments to order 6, and to spare
FINE = 1e-11  # the same where the path pulls values apart from the start, and where samples are asked for
FALLING = 0.7  # a path's growth to that of its first velocity: their logarithms, at least, on samples of many laws
GROWN = 1e-9  # error of a path, grown, that steps are made for
REDONE = 4.0  # of that, estimated, beyond which a path is followed again: estimates are ten times the error
SHARP = 1e-14  # the tolerance then, or the least where no steps are kept: there
_SPARE = 0.25  # of that error is what the growth found is to leave
_CROWDED = 2.0**-5  # D_(k-1)/h_(2k-2) below which a row may be near its last point
_LAST_POINT = 1e-6  # the same, below which a path that ended has ended there
FROM_ENTRIES = 2**12  # of a row, from which on bins stand for them: below, there are hardly fewer points than entries
TOGETHER = 2**16  # numbers that move together: with a quarter of it, 64 entries a row take twice the time
REACH = 1.35  # of a first step: that of steps that fit their tolerance is 1.5 to 1.8, measured on samples of many laws

MOST_GROWTH = 2.0**24  # leaves about half of the digits
MOST_PERTURBED = 2.0**44  # leaves a rounding of 1/500 of a deviation: nothing beside a perturbation that grew as much
SURELY = 1.1  # times what is allowed: too much in steps of any length, which agree on a growth to some hundredths

ALLOWED: ContextVar[float] = ContextVar("factor by which errors may grow", default=MOST_GROWTH)


@dataclass(frozen=True, slots=True)
class Course:
    """What the path of each row is: the numbers that a second look at it needs.

    Attributes
    ----------
    k : int
    start : array (R, N)
        z at s = 0.
    goal : array (k + 1, R)
        Moments of z at the end, from order 0.
    first : array (R,)
        k-th moment of z at the start.
    weights : array (R, N) or None
    """

    k: int
    start: FloatArray
    goal: FloatArray
    first: FloatArray
    weights: Weights

    @property
    def distance(self) -> FloatArray:
        """By how much the k-th moment of z has to change."""
        change: FloatArray = self.goal[self.k] - self.first
        return change

    def groups(self, i: int) -> FloatArray:
        """How often each distinct value of row i is taken, or its weight."""
        return groups_of(self.start[i], None if self.weights is None else self.weights[i])

    def slope(self, z: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
        """dz/ds."""
        return self._slope(z, which)[0]

    def slope_with_basis(self, z: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
        """dz/ds, and the basis at z as notes beside it."""
        moved, basis = self._slope(z, which)
        return np.concatenate([moved, basis.numbers.T], axis=1)

    def _slope(self, z: FloatArray, which: IntArray) -> tuple[FloatArray, Basis]:
        basis, moved = stieltjes(z, self.k, taken(self.weights, which))
        moved *= (self.distance[which] / (self.k * basis.norm[-1]))[:, None]
        return moved, basis

    @classmethod
    def of(cls, rows: FloatArray, k: int, target: ArrayLike, held: ArrayLike, weights: Weights) -> Course:
        """Of standardized rows; `held` are moments 1..k-1, (k - 1,) or (k - 1, R)."""
        given = np.asarray(held, dtype=np.float64)
        goal = np.ones((k + 1, len(rows)))
        goal[1:k], goal[k] = given[:, None] if given.ndim == 1 else given, target
        return cls(k, rows, goal, power_means(rows, k, weights)[k], weights)


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
        The k-th moment that was reached: the target, or the last value before a refusal.
    growth : array (R,)
        By how much the path pulls near values apart, at most: the exponential of the integral of its derivative by the
        value, along the way of one value and from its worst point on. Errors grow with it. 1 in rows that stayed or
        did not arrive.
    refusals : dict
        `Outcome` by row.
    course, path : Course, Path
        For `moment_path_adjoint`; the path has a tape if that was asked for.
    """

    values: FloatArray
    residual: FloatArray
    attained: FloatArray
    growth: FloatArray
    refusals: dict[int, Outcome]
    course: Course
    path: Path


def follow(
    rows: FloatArray,
    k: int,
    targets: ArrayLike,
    *,
    held: ArrayLike,
    weights: Weights = None,
    grown: float | FloatArray = 1.0,
    rtol: float = RTOL,
    store: bool = False,
) -> Followed:
    """Move the k-th moment of standardized rows to its target along the gradient that moments 1..k-1 leave free.

    Parameters
    ----------
    rows : array (R, N)
        float64. In either direction: towards a reference, or from it back to a value.
    k : int
        At least 3; mean and second moment have formulas.
    targets : float or array (R,)
        Mean(z^k).
    held : array (k - 1,) or (k - 1, R)
        0, 1, c_3, ..: moments 1..k-1 that hold on the path. Rounding left behind by earlier levels is removed.
    weights : array (R, N), optional
        Of the entries, sum 1 in each row; equal by default.
    grown : float or array (R,)
        By how much errors have grown on the levels below.
    rtol : float
        Local error of a step, in standard deviations.
    store : bool
        Keep the steps for `moment_path_adjoint.pullback`.

    Returns
    -------
    Followed
        Rows that are there already are returned bit for bit.

    Examples
    --------
    Seven values at mean 0, variance 1 and no skewness; their kurtosis moves to 3 and the others stay:

    >>> import numpy as np
    >>> z = np.array([[-3.0, -2, -1, 0, 1, 2, 3]]) / 2
    >>> there = follow(z, 4, 3.0, held=(0, 1, 0))
    >>> np.round([np.mean(there.values**j) for j in (1, 2, 3, 4)], 12) + 0.0
    array([0., 1., 0., 3.])

    At N = 6 it cannot be had:

    >>> print(follow(np.array([[-3.0, -2, -1, 1, 2, 3]]) * (3 / 14) ** 0.5, 4, 3.0, held=(0, 1, 0)).refusals[0].reason)
    moment not attainable
    """
    with np.errstate(all="ignore"):
        course, there, refusals = _begun(rows, k, targets, held, weights)
        ends, stays = dict[int, float](), there.copy()
        stays[list(refusals)] = True
        moving = np.flatnonzero(~stays)
        tolerance, begun = np.full(len(there), rtol), _expansion(course, course.start[moving], moving)[0]
        tolerance[moving] = np.clip(GROWN * np.exp(-FALLING * begun.max(axis=1, initial=0.0)), min(FINE, rtol), rtol)
        path, growth = Path.standing(course.start), np.ones(len(there))
        tape = _integrate(course, path, growth, ends, moving, tolerance, store)
        path = replace(path, tape=_sharpened(course, path, growth, ends, tolerance, tape, grown))
        path.ending[list(ends)] = End.OVER
        residual = residuals(course.start, course.goal, weights)
        ends_of = path.values[moving]
        residual[moving] = settle(ends_of, course.goal[:, moving], taken(weights, moving))
        path.values[moving], values = ends_of, np.array(rows, dtype=np.float64)
        values[moving] = ends_of
        arrived = (path.ending == End.REACHED) & (residual <= RESIDUAL)
        growth[~arrived] = 1
        refusals |= {i: _why(course, path, i) for i in moving[~arrived[moving]].tolist()}
        refusals |= {int(i): pulled_apart(k) for i in np.flatnonzero(growth * grown > ALLOWED.get())}
        gone = sorted(refusals)
        residual[gone] = np.where(np.isfinite(residual[gone]), residual[gone], np.inf)
        values[gone] = np.nan
        attained = mean_power(path.values, k, weights)
        attained[list(ends)] = list(ends.values())
    return Followed(values, residual, attained, growth, dict(sorted(refusals.items())), course, path)


def refused_beforehand(
    rows: FloatArray, k: int, targets: ArrayLike, *, held: ArrayLike
) -> dict[int, Outcome]:
    """What `follow` refuses without a step: too few distinct values, no moment beside those held, too many ties.

    It rests on counts of ties and on what any sample can reach, not on the path.

    Examples
    --------
    >>> z = np.array([[-1.5, -1.5, -0.3, 0, 0, 0.3, 1.5, 1.5], [0, 0, 0, 0, 1, 1, 1, 2]])
    >>> {row: outcome.reason for row, outcome in refused_beforehand(z, 4, 9.0, held=(0, 1, 0)).items()}
    {0: 'moment not attainable', 1: 'too few distinct values'}
    """
    with np.errstate(all="ignore"):
        course, there, refused = _begun(rows, k, targets, held, None)
        left = [i for i in range(len(rows)) if i not in refused and not there[i]]
        counted = {i: why_out_of_reach(course.goal[:, i], float(course.first[i]), course.groups(i), rows.shape[1])
                   for i in left}
    return dict(sorted({**refused, **{i: why for i, why in counted.items() if why is not None}}.items()))


def _begun(
    rows: FloatArray, k: int, targets: ArrayLike, held: ArrayLike, weights: Weights
) -> tuple[Course, NDArray[np.bool_], dict[int, Outcome]]:
    """The course, which rows are there, and those refused."""
    if k < 3:
        raise InvalidInput(f"k={k} was given, at least 3 is expected; shift and scale impose moments 1 and 2")
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    course = Course.of(rows, k, targets, held, weights)
    there = residuals(course.start, course.goal, weights) <= RESIDUAL
    return course, there, refused_at_once(course.start, weights, course.goal, course.first, there)


@contextmanager
def growth_up_to(most: float) -> Iterator[None]:
    """Let errors grow by so much in what is computed inside."""
    token = ALLOWED.set(most)
    try:
        yield
    finally:
        ALLOWED.reset(token)


def pulled_apart(k: int) -> Outcome:
    """Say that rounding grew too much on the way to level k."""
    return Outcome(
        False,
        "beyond float64",
        f"moment {k} is attainable, but the sample is so crowded that its values are pulled apart by a factor above "
        f"{ALLOWED.get():.2g}, and their rounding with them; tie the values that are meant to be equal",
    )


# --- the path ---


def _integrate(
    course: Course, path: Path, growth: FloatArray, ends: dict[int, float], moving: IntArray, tolerance: FloatArray,
    store: bool,
) -> tuple[Step, ...]:
    """Write where the rows named in `moving` come to, and how much errors grew; returns the steps, if kept.

    A row that is seen to end before its goal stops there: what moment k comes to is written to `ends`.
    """
    k, z, rtol = course.k, course.start[moving], tolerance[moving]
    passed, log_growth, counted = np.zeros(len(moving)), np.zeros_like(z), np.zeros(len(moving), dtype=np.bool_)
    expansion, spare = _expansion(course, z, moving)

    def after_step(z: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
        now, spare[which] = _expansion(course, z, moving[which])
        more = (expansion[which] + now) * ((s - passed[which]) / 2)[:, None]
        log_growth[which] = np.maximum(log_growth[which] + more, 0)  # what is made on the way grows from there on
        passed[which], expansion[which] = s, now
        return z

    def is_over(z: FloatArray, s: FloatArray, which: IntArray) -> NDArray[np.bool_]:
        crowded = which[(spare[which] < _CROWDED) & (s < 1) & ~counted[which]]
        counted[crowded] = True
        for i in moving[crowded].tolist():
            if (end := end_before(course.goal[:, i], course.groups(i))) is not None:
                ends[i] = end
        return np.isin(moving[which], list(ends)) if ends else np.zeros(len(which), dtype=np.bool_)

    slope = course.slope_with_basis if store else course.slope
    found = integrate(
        lambda z, s, which: slope(z, s, moving[which]),
        z,
        rtol=1.0,
        scale=rtol,
        first_step=np.fmin(REACH * k * rtol**0.125 / np.abs(expansion).max(axis=1, initial=0.0), 1.0),
        after_step=after_step,
        is_over=is_over,
        together=TOGETHER,
        store=store,
    )
    for name in ("values", "reached", "ending", "steps", "failed"):
        getattr(path, name)[moving] = getattr(found, name)
    growth[moving] = np.exp(log_growth.max(axis=1, initial=0.0))
    return tuple(replace(step, which=moving[step.which]) for step in found.tape)


def _expansion(course: Course, z: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
    """How fast errors of each value grow with s: the velocity's derivative by the value; and D_(k-1)/h_(2k-2)."""
    slope, norm, highest = steepness(z, course.k, taken(course.weights, which))
    slope *= (course.distance[which] / (course.k * norm))[:, None]
    return slope, norm / highest


def _sharpened(
    course: Course, path: Path, growth: FloatArray, ends: dict[int, float], tolerance: FloatArray,
    tape: tuple[Step, ...], grown: float | FloatArray,
) -> tuple[Step, ...]:
    """Follow rows again, in smaller steps, whose errors grew beyond what was asked for, where these would help."""
    is_rough = (tolerance > SHARP) & (tolerance * growth > REDONE * GROWN) & (growth <= MOST_GROWTH)
    is_rough &= growth * grown <= SURELY * ALLOWED.get()
    rough = (path.ending == End.REACHED) & is_rough
    again = np.flatnonzero(rough)
    if not len(again):
        return tape
    finer = np.full(len(growth), SHARP) if tape else np.maximum(_SPARE * GROWN / growth, SHARP)
    second = _integrate(course, path, growth, ends, again, finer, bool(tape))
    kept = (step.of(~rough[step.which]) for step in tape)
    return (*(step for step in kept if len(step.which)), *second)


def _why(course: Course, path: Path, i: int) -> Outcome:
    """Why the path of row i did not arrive: what counting tells, or what was seen."""
    goal, first, k = course.goal[:, i], float(course.first[i]), course.k
    weights = taken(course.weights, slice(i, i + 1))
    why = why_out_of_reach(goal, first, course.groups(i), None if weights is not None else course.start.shape[1])
    if why is not None:
        return why
    z = path.values[i : i + 1]
    value = mean_power(z, k, weights)[0]
    _, norm, highest = steepness(z, k, weights)
    if norm[0] < _LAST_POINT * highest[0] and path.ending[i] == End.STALLED and path.reached[i] > 0:
        return unattainable(goal, first, comes_to(k, value))
    return Outcome(
        False,
        "beyond float64" if path.ending[i] == End.REACHED else "not converged",
        f"moment {k} came to {value:.10g} after {path.steps[i]} steps, {goal[k]:.10g} was asked for (standardized); "
        "the sample crowds beyond the reach of float64",
    )
