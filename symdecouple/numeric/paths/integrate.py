"""Ordinary differential equations for many vectors at once, each with its own steps: a Runge-Kutta pair of order 8.

    dy/ds = F(y, s),   s from 0 to 1,   y a row of N numbers

`integrate` knows nothing of what F is: a callable of some rows, their s, and their places in the batch. Rows never
meet, in the last bit either, and a row that has arrived or has stalled drops out. `after_step` may move every accepted
point, back onto a manifold for example. With ``store=True`` the path can be differentiated exactly: `pull_back` runs
the same steps backwards on covectors (the discrete adjoint; step sizes count as constants).

The pair is DOP853, of twelve slopes a step; short steps may be made with fewer of them (`PAIRS`).

Not covered: stiff equations, output between steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.paths.runge_kutta import DOP853, NODES, STAGES, WEIGHTS, ZEROTH, Pair
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = [
    "DOP853", "AfterStep", "AfterStepPullback", "End", "IsOver", "Path", "Rhs", "RhsPullback", "Step", "integrate",
    "pull_back",
]

# Values (r, N), positions s (r,), places of these rows in the batch (r,) -> slopes (r, N).
Rhs: TypeAlias = Callable[[FloatArray, FloatArray, IntArray], FloatArray]
# The same arguments at the end of an accepted step -> moved values (r, N); a row that is not finite is a failed step.
AfterStep: TypeAlias = Callable[[FloatArray, FloatArray, IntArray], FloatArray]
# The same arguments and covectors (c, r, N) -> their products with the Jacobian matrix (c, r, N).
RhsPullback: TypeAlias = Callable[[FloatArray, FloatArray, IntArray, FloatArray], FloatArray]
AfterStepPullback: TypeAlias = RhsPullback
# The arguments of `Rhs`, after an accepted step -> which rows need not go on (r,).
IsOver: TypeAlias = Callable[[FloatArray, FloatArray, IntArray], NDArray[np.bool_]]

# For the way back: the weight of slope i in each later stage, and in the step.
_BACK_SUMS = [np.trim_zeros(np.array([row.get(i, 0.0) for row in (*STAGES[i + 1 :], WEIGHTS)]), "b")
              for i in range(len(STAGES))]

_IN_ORDER = [*range(ZEROTH, -1, -1), *range(ZEROTH + 1, len(STAGES))]

_CHUNK = 2**14  # numbers that move together: their slopes stay in the second cache
_SAFETY, _SHRINK, _AGAIN, _GROW = 0.9, 0.2, 0.8, 8.0  # of the next step, as usual: at most _AGAIN after a failure
_SMALLEST = 2.0**-40  # of the way that is done: a shorter step ends the path as stalled
_TINY = 2.0**-100  # at the very start there is no way yet to compare a step with
_LAST = 1.05  # a step that would leave less than this factor goes to the end


class End(IntEnum):
    """How the path of a row ended."""

    REACHED = 0
    STALLED = 1  # steps became too small: a singularity, or a slope that is not finite
    EXHAUSTED = 2  # too many steps
    OVER = 3  # the caller said that it leads nowhere


@dataclass(frozen=True, slots=True)
class Step:
    """One accepted step of several rows: where each began, at which s, how far s went, and notes of its slopes."""

    which: IntArray
    begin: FloatArray
    size: FloatArray
    values: FloatArray
    notes: FloatArray  # (r, slopes, m), of what `rhs` returned beside the slopes

    def of(self, rows: Any) -> Step:
        """Fewer rows of it."""
        return Step(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Path:
    """Where the rows came to.

    Attributes
    ----------
    values : array (R, N)
        At `reached`: the end, or the last point that could be had.
    reached : array (R,)
        s of these values, 1 where the end was reached.
    ending : array (R,)
        One `End` a row.
    steps, failed : arrays (R,)
        Steps accepted and rejected; each cost twelve slopes, one less after a rejected one.
    next_step : array (R,)
        How long the next step would be, in s; infinite where the last one tells little.
    tape : tuple of Step
        What `pull_back` needs; empty unless asked for.
    """

    values: FloatArray
    reached: FloatArray
    ending: NDArray[np.int8]
    steps: IntArray
    failed: IntArray
    next_step: FloatArray
    tape: tuple[Step, ...] = ()

    @classmethod
    def standing(cls, start: FloatArray) -> Path:
        """The rows of an array (R, N) before any step, as if they were there."""
        steps, failed = np.zeros((2, len(start)), dtype=np.intp)
        return cls(start.copy(), np.zeros(len(start)), np.full(len(start), End.REACHED, dtype=np.int8), steps, failed,
                   np.ones(len(start)))


def integrate(
    rhs: Rhs,
    start: FloatArray,
    *,
    rtol: float = 1e-11,
    scale: FloatArray | None = None,
    first_step: FloatArray | None = None,
    first_slopes: FloatArray | None = None,
    after_step: AfterStep | None = None,
    is_over: IsOver | None = None,
    max_steps: int = 400,
    together: int = _CHUNK,
    store: bool = False,
    pair: Pair = DOP853,
) -> Path:
    """Follow dy/ds = rhs(y, s) from s = 0 to 1, every row of `start` with steps of its own.

    Parameters
    ----------
    rhs : callable
        ``rhs(values (r, N), s (r,), which (r,)) -> slopes (r, N)``; `which` are places in `start`, so that parameters
        of the rows can be looked up. It must treat rows one by one, and may return NaN where it is not defined. Columns
        beyond the N slopes are notes, kept with a stored step.
    start : array (R, N)
    rtol : float
        Local error of a step, root mean square over the row, relative to `scale`.
    scale : array (R,), optional
        Size of each row; by default 1.
    first_step : array (R,), optional
        By default as far as the row moves by half of its scale.
    first_slopes : array (R, N), optional
        What `rhs` is at the start, where it is known already.
    after_step : callable, optional
        ``after_step(values, s, which) -> values``, applied to every accepted point.
    is_over : callable, optional
        ``is_over(values, s, which) -> (r,)`` of bool, asked after every accepted step: True ends the path of a row as
        `End.OVER`.
    max_steps : int
        Accepted and rejected together, a row.
    together : int
        Numbers that move together, rows of N each: more of them where calls of `rhs` cost more than the caches save.
    store : bool
        Keep the starting point of every step (R x N numbers a step) for `pull_back`.
    pair : Pair
        `DOP853` where the path is stored.

    Returns
    -------
    Path

    Examples
    --------
    y' = y from (1, 2, 3), which is e times that at the end:

    >>> import numpy as np
    >>> path = integrate(lambda y, s, which: y, np.array([[1.0, 2.0, 3.0]]))
    >>> np.allclose(path.values, np.e * np.array([1.0, 2.0, 3.0]), rtol=1e-11)
    True
    """
    start = np.ascontiguousarray(start, dtype=np.float64)
    size = np.ones(len(start)) if scale is None else np.asarray(scale, dtype=np.float64)
    path, tape, step = Path.standing(start), list[Step](), max(1, together // max(start.shape[1], 1))
    with np.errstate(all="ignore"):  # what overflows is a failed step
        for first in range(0, len(start), step):
            which = np.arange(first, min(first + step, len(start)))
            slope = rhs(start[which], np.zeros(len(which)), which) if first_slopes is None else first_slopes[which]
            h = _first_steps(slope[:, : start.shape[1]], size[which]) if first_step is None else first_step[which]
            _follow(rhs, path, which, np.minimum(h, 1.0), slope, size * rtol, after_step=after_step, is_over=is_over,
                    max_steps=max_steps, tape=tape if store else None, pair=pair)
    return replace(path, tape=tuple(tape))


def _follow(
    rhs: Rhs, path: Path, which: IntArray, h: FloatArray, slope: FloatArray, allowed: FloatArray, *,
    after_step: AfterStep | None, is_over: IsOver | None, max_steps: int, tape: list[Step] | None, pair: Pair,
) -> None:
    """Step the rows `which` of `path` until none is left on its way."""
    y, s, allowed = path.values[which], path.reached[which], allowed[which]
    (steps, failed), is_new = np.zeros((2, len(which)), dtype=np.intp), np.zeros(len(which), dtype=np.bool_)
    told = np.empty((pair.n_slopes, *slope.shape))
    slopes, told[ZEROTH] = told[:, :, : y.shape[1]], slope
    while True:
        if is_new.any():
            before = np.vecdot(slopes[ZEROTH], slopes[ZEROTH])
            told[ZEROTH, is_new] = rhs(*_some(is_new, y, s, which))
            now = np.vecdot(slopes[ZEROTH], slopes[ZEROTH])
            h = np.where(now > before, np.fmax(np.sqrt(before / now), 0.5) * h, h)  # errors grow with the way
        is_last = s + _LAST * h >= 1
        h = np.where(is_last, 1 - s, h)
        error = _all_slopes(rhs, y, s, h, which, told, pair) / allowed
        good = error <= 1
        over = None
        if good.any():
            moved, ends = _moved(y, h, slopes, pair.step), np.where(is_last, 1.0, s + h)
            if after_step is not None:
                moved[good] = corrected = after_step(*_some(good, moved, ends, which))
                good[good] = np.isfinite(corrected).all(axis=1)
            if tape is not None and good.any():
                tape.append(Step(*_some(good, which, s, h, y, told[_IN_ORDER, :, y.shape[1] :].swapaxes(0, 1))))
            y, s = (moved, ends) if good.all() else (np.where(good[:, None], moved, y), np.where(good, ends, s))
            if is_over is not None:
                over = np.zeros_like(good)
                over[good] = is_over(*_some(good, y, s, which))
        steps += good
        failed += ~good
        factor = _factor(error, pair.order)
        h = h * np.minimum(factor, np.where(good, _GROW, _AGAIN))
        is_new, done = good, s == 1
        stalled, tired = (h < _SMALLEST * s) | (h < _TINY), steps + failed >= max_steps
        gone = done | stalled | tired if over is None else done | stalled | tired | over
        if not gone.any():
            continue
        at = which[gone]
        path.values[at], path.reached[at] = y[gone], s[gone]
        path.steps[at], path.failed[at] = steps[gone], failed[gone]
        path.next_step[at] = np.where(factor < _GROW, h, np.inf)[gone]
        if not done[gone].all():
            for flags, end in ((tired, End.EXHAUSTED), (stalled, End.STALLED), (over, End.OVER), (done, End.REACHED)):
                if flags is not None:
                    path.ending[which[flags]] = end
        if gone.all():
            return
        left = ~gone
        y, s, h, which, allowed, steps, failed, is_new = _some(left, y, s, h, which, allowed, steps, failed, is_new)
        kept = told[ZEROTH, left]
        told = np.empty((pair.n_slopes, *kept.shape))
        slopes, told[ZEROTH] = told[:, :, : y.shape[1]], kept


def _all_slopes(rhs: Rhs, y: FloatArray, s: FloatArray, h: FloatArray, which: IntArray, told: FloatArray,
                pair: Pair) -> FloatArray:
    """Write the slopes of a step after the first, with their notes; return its error."""
    slopes = told[:, :, : y.shape[1]]
    for i, sums in enumerate(pair.stages, 1):
        told[_IN_ORDER[i]] = rhs(_moved(y, h, slopes, sums), s + pair.nodes[i] * h, which)
    return _error(slopes, h, pair)


def pull_back(
    tape: Sequence[Step],
    rhs: Rhs,
    rhs_pullback: RhsPullback,
    covectors: FloatArray,
    after_step_pullback: AfterStepPullback | None = None,
) -> FloatArray:
    """Covectors at the end of a stored path become covectors at its start, exactly for the steps that were made.

    With Y_i the stages and k_i the slopes of a step, backwards through

    .. math:: \\bar k_i = h b_i \\bar y + h \\sum_{j>i} a_{ji} \\bar Y_j, \\qquad
        \\bar Y_i = F'(Y_i)^T \\bar k_i, \\qquad \\bar y \\leftarrow \\bar y + \\sum_i \\bar Y_i

    Parameters
    ----------
    tape : sequence of Step
        Of `integrate` with ``store=True``.
    rhs : callable
        The same right-hand side, asked again for the twelve stages of each step.
    rhs_pullback : callable
        ``(values (r, N), s (r,), which (r,), covectors (c, r, N)) -> (c, r, N)``, the product with the transposed
        Jacobian matrix of `rhs`. It may add up what belongs to parameters on the way: each stage of a step is visited
        once, the last one first.
    covectors : array (c, R, N)
    after_step_pullback : callable, optional
        That of `after_step`, with the values before they were moved.

    Returns
    -------
    array (c, R, N)
        Rows without a step keep their covectors.
    """
    out = np.array(covectors, dtype=np.float64)
    with np.errstate(all="ignore"):
        for step in reversed(tape):
            out[:, step.which] = _step_back(step, rhs, rhs_pullback, out[:, step.which], after_step_pullback)
    return out


def _step_back(
    step: Step,
    rhs: Rhs,
    rhs_pullback: RhsPullback,
    covectors: FloatArray,
    after_step_pullback: AfterStepPullback | None,
) -> FloatArray:
    y, s, h, which = step.values, step.begin, step.size, step.which
    slopes, stages = np.empty((len(y), len(STAGES), y.shape[1])), [y]  # those of a row side by side
    for i, node in enumerate(NODES):
        slopes[:, _IN_ORDER[i]] = rhs(stages[i], s + node * h, which)
        if i < len(DOP853.stages):
            stages.append(y + _row_sum(slopes, h, *DOP853.stages[i]))
    if after_step_pullback is not None:
        covectors = after_step_pullback(y + _row_sum(slopes, h, *DOP853.step), s + h, which, covectors)
    pulled = np.empty((len(y), len(covectors), len(STAGES) + 1, y.shape[1]))
    pulled[:, :, -1] = covectors.swapaxes(0, 1)
    for i in reversed(range(len(STAGES))):
        at_slope = _row_sum(pulled, h, i + 1, _BACK_SUMS[i]).swapaxes(0, 1)
        pulled[:, :, i] = rhs_pullback(stages[i], s + NODES[i] * h, which, at_slope).swapaxes(0, 1)
    back: FloatArray = np.add.reduce(pulled, axis=2)
    return back.swapaxes(0, 1)


def _row_sum(terms: FloatArray, h: FloatArray, first: int, weights: FloatArray) -> FloatArray:
    """h times the sum of weight times term, (r, .., j, N): a matrix product for each vector by itself."""
    by_row = (h[:, None] * weights).reshape(len(h), *[1] * (terms.ndim - 2), len(weights))
    total: FloatArray = np.matmul(by_row, terms[..., first : first + len(weights), :])[..., 0, :]
    return total


def _some(flags: NDArray[np.bool_], *arrays: Any) -> tuple[Any, ...]:
    """The rows that are flagged; without a copy where they all are."""
    return arrays if flags.all() else tuple(array[flags] for array in arrays)


def _moved(y: FloatArray, h: FloatArray, slopes: FloatArray, sums: tuple[int, FloatArray]) -> FloatArray:
    """y + h times the sum of weight times slope."""
    moved = _sum(slopes, sums)
    moved *= h[:, None]
    moved += y
    return moved


def _sum(slopes: FloatArray, sums: tuple[int, FloatArray]) -> FloatArray:
    """Entry by entry: a matrix product would round by the place in the batch."""
    first, weights = sums
    total: FloatArray = np.einsum("j,jrn->rn", weights, slopes[first : first + len(weights)])
    return total


def _error(slopes: FloatArray, h: FloatArray, pair: Pair) -> FloatArray:
    """Root mean square of the error of each row; the estimate of order 3 tempers that of order 5."""
    five, *three = (np.vecdot(error, error) for error in (_sum(slopes, sums) for sums in pair.errors))
    both = np.sqrt((five + 0.01 * three[0] if three else five) * slopes.shape[-1])
    error: FloatArray = h * np.divide(five, both, out=np.zeros_like(five), where=both != 0)
    return error


def _factor(error: FloatArray, order: int) -> FloatArray:
    """By how much longer the next step may be."""
    wanted: FloatArray = np.fmax(_SAFETY * np.maximum(error, 1e-30) ** (-1 / order), _SHRINK)  # NaN shrinks the step
    return wanted


def _first_steps(slope: FloatArray, size: FloatArray) -> FloatArray:
    speed = np.sqrt(np.vecdot(slope, slope) / slope.shape[1])
    h = 0.5 * size / speed
    first: FloatArray = np.where(np.isfinite(h), np.minimum(h, 1.0), np.where(speed == 0, 1.0, 2.0**-20))
    return first
