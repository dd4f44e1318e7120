"""The skew flow z = x/(1 - t x), the t at which the skewness has a wanted value, and the kurtosis there.

At zero skewness that is the orthokurtosis.

The gradient of the third moment is x**2: its flow dz/dt = z**2 is a Riccati equation, Moebius in every entry.

*Existence* (Theorem C; at least three distinct values). While t runs over (1/min x, 1/max x), x centred, the skewness
increases strictly from -(1-2q)/sqrt(q(1-q)) to (1-2p)/sqrt(p(1-p)), q and p the shares tied at the minimum and at the
maximum. So it vanishes somewhere iff both ties are below N/2: decided by counting, before any iteration. The skewness
of two values depends on their shares only: it vanishes everywhere or nowhere.

*Search.* The series of the flow (`skewness_series`) settles a sample whose skewness is near the target. Otherwise turn
the sample so that its skewness is above the target. The pole then lies left of the minimum, say by w, and u = g/(g +
w), g = x - min x, is in [0, 1): nothing cancels, at any offset, for any w. The first guess w = median(g), of some
entries, puts half of the sample on either side of u = 1/2. After each pass the series is tried again, and log w is
bracketed: Newton steps inside the bracket, and now and then a stride or a bisection, so that the search ends for every
sample.

*Weights*, where the matrix has them, take the place of the numbers of entries throughout. A small share of weight may
lie so far off that all others share the leading digits of u. So u is taken from its median, u_c: with h = x - x_c and
v = g_c + w,

    u - u_c = (h/v) w/(g + w) below,  (w/v) h/(g + w) above.

Symbols: `pole` is w, in units that bring the range of the row near 2**1010 (`LIFT`).

Not covered: rows whose range exceeds 2**2030 times the gaps that matter; they are refused, not guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.power_sums import (
    near_sample,
    standardized_moments,
    to_unit_range,
    unit_and_lift,
)
from symdecouple.numeric.moments.skewness_series import (
    NEAREST,
    ORDER,
    farthest_pole,
    propose_pole,
    solve_series,
    stride_pole,
)
from symdecouple.numeric.moments.ties import ties_of
from symdecouple.numeric.samples.batch import FloatArray, IntArray, RowValues, SampleMatrix

__all__ = ["Roots", "Turned", "find_roots", "orthokurtosis_rows"]

STRAIGHT = 2.0**80  # a pole at this distance does not bend a sample of range 1: g + w rounds to w
PATIENCE = 8  # every eighth pass takes no proposal but a stride
MOST_STEPS = 800  # 75 strides exhaust the widest bracket
COLLAPSED = 1 + 2.0**-51  # upper/lower of a bracket without a float between its ends
SAME = 2.0**-46  # what one pass does to a skewness, at most, in units of Mean|x|^3, which is below sqrt(a_4)
STRIDED = 31  # entries whose median stands for the median of the row

UNRESOLVED = Outcome(
    False,
    "beyond float64",
    "the skewness is attainable, but the range exceeds the gaps that matter by more than 2**2030; "
    "drop the outliers, or tie the values that are meant to be equal",
)


def orthokurtosis_rows(matrix: SampleMatrix) -> RowValues:
    """The kurtosis at zero skewness of each row; exactly 1 for two values in equal numbers.

    NaN where there is none or float64 ends, infinite where shares of weight near 1e-50 lie far away.
    """
    ties, nowhere = ties_of(matrix), np.zeros(len(matrix.low))
    reasons = ties.unreachable(nowhere)
    values = np.full(len(matrix.low), np.nan)
    if reasons:
        values[ties.two_valued & ties.balanced()] = 1.0
    which = np.delete(np.arange(len(values)), list(reasons)) if reasons else np.arange(len(values))
    if len(which):
        values[which] = find_roots(matrix, which, nowhere).kurtosis[which]
    values[np.isinf(values)] = np.nan
    return RowValues(values, {i: reasons.get(i, UNRESOLVED) for i in np.flatnonzero(np.isnan(values)).tolist()})


# --- the root ---


@dataclass(frozen=True, slots=True)
class Roots:
    """One entry a row of the matrix, NaN where nothing was found: kurtosis at the root, and its pole.

    The pole is the distance w > 0 of the pole from the minimum of x 2^lift, or, where `turned`, of -x 2^lift; for t = 0
    it is so far that u = g/(g + w) is straight. `is_there` marks rows whose skewness was the target already, as far as
    the digits of one pass tell. `near` is what was subtracted from a row first.
    """

    kurtosis: FloatArray
    pole: FloatArray
    lift: NDArray[np.intp]
    turned: NDArray[np.bool_]
    is_there: NDArray[np.bool_]
    near: FloatArray


def find_roots(matrix: SampleMatrix, which: IntArray, target: FloatArray) -> Roots:
    """Move the named rows to the skewness `target`, one entry a row of the matrix, known to be attainable."""
    unit, lift = unit_and_lift(matrix)
    nothing = np.full(len(unit), np.nan)
    nowhere = np.zeros(len(unit), dtype=np.bool_)
    near = near_sample(matrix)
    roots = Roots(nothing, nothing.copy(), unit.copy(), nowhere, nowhere.copy(), near)
    moments = standardized_moments(matrix.values, which, ORDER, to_unit_range(matrix, unit, near), matrix.weights)
    bottom = np.ldexp(matrix.low, unit)
    top = np.ldexp(matrix.high, unit) - bottom
    height = moments.mean + (np.ldexp(near, unit) - bottom)[which]
    furthest = np.maximum(height, top[which] - height) / moments.deviation
    with np.errstate(all="ignore"):
        time, kurtosis, accepted, is_near = _by_row(solve_series, moments.standardized, furthest, target[which])
    roots.kurtosis[which] = np.where(accepted, kurtosis, np.nan)
    turned = np.where(accepted, time > 0, moments.standardized[3] < target[which])
    roots.turned[which] = turned
    off = np.abs(moments.standardized[3] - target[which])
    roots.is_there[which] = off <= SAME * np.sqrt(moments.standardized[4])
    mean = np.where(turned, top[which] - height, height)
    with np.errstate(divide="ignore"):
        distance = moments.deviation / np.abs(time) - mean
    roots.pole[which] = np.minimum(distance, STRAIGHT)
    if len(left := np.flatnonzero(~accepted)):
        active, guess = which[left], np.where(is_near, distance, np.nan)[left]
        roots.lift[active], roots.pole[active] = lift[active], np.ldexp(guess, (lift - unit)[active])
        _search(matrix, active, roots, target)
    return roots


def _by_row(step: Callable[..., Any], a: FloatArray, *columns: FloatArray) -> Any:
    """`step` for columns of rows; for one row by its numbers, which takes a quarter of the time."""
    if a.shape[1] != 1:
        return step(a, *columns)
    return tuple(np.array([found]) for found in step(tuple(a[:, 0]), *(column[0] for column in columns)))


class Turned(NamedTuple):
    """Scales that turn rows so that the pole lies below, g = x scale - offset, and what skewness is wanted then."""

    scale: FloatArray
    offset: FloatArray
    target: FloatArray

    @classmethod
    def of(cls, matrix: SampleMatrix, roots: Roots, target: FloatArray) -> Turned:
        """One entry a row of the matrix."""
        scale, turned = np.ldexp(np.where(roots.turned, -1.0, 1.0), roots.lift), roots.turned
        return cls(scale, np.where(turned, matrix.high, matrix.low) * scale, np.where(turned, -target, target))


def _search(matrix: SampleMatrix, which: IntArray, roots: Roots, target: FloatArray) -> None:
    """Move the poles of these rows to their roots, from guesses where there are some, and write the kurtosis there."""
    (scale, offset, wanted), pole, weights = Turned.of(matrix, roots, target), roots.pole, matrix.weights
    centre = roots.near * scale
    middle = centre - offset
    top = np.abs(matrix.high * scale - matrix.low * scale)  # the largest g
    lower, upper = np.full_like(top, NEAREST), farthest_pole(top)

    def to_flowed(block: FloatArray, some: IntArray) -> None:
        """x -> u = g/(g + w); with weights u - u_c."""
        block *= scale[some, None]
        w, h = pole[some, None], None if weights is None else block - centre[some, None]
        block -= offset[some, None]
        if h is None:
            block /= block + w
            return
        block += w
        v = middle[some, None] + w
        block[...] = np.where(h < 0, (h / v) * (w / block), (w / v) * (h / block))

    def is_inside(proposed: FloatArray) -> NDArray[np.bool_]:
        inside: NDArray[np.bool_] = (lower[which] < proposed) & (proposed < upper[which])
        return inside

    unknown = which[~is_inside(pole[which])]
    if weights is None:
        middle[unknown] = _medians_of_some(matrix.values, unknown, scale, offset)
    pole[unknown] = np.maximum(middle[unknown], NEAREST)
    first = pole.copy()
    for count in range(MOST_STEPS):
        moments = standardized_moments(matrix.values, which, ORDER, to_flowed, weights)
        a, mean, here = moments.standardized, moments.mean, pole[which]
        if weights is not None:
            mean = mean + middle[which] / (middle[which] + here)
        is_above = a[3] > wanted[which]
        upper[which] = np.where(is_above, here, upper[which])
        lower[which] = np.where(is_above, lower[which], here)
        with np.errstate(all="ignore"):  # both sides of every choice are computed
            moved, is_good, accepted, kurtosis = _by_row(
                propose_pole, a, mean, moments.deviation, top[which], here, wanted[which])
        roots.kurtosis[which[accepted]] = kurtosis[accepted]
        is_good &= is_inside(moved) & (count % PATIENCE < PATIENCE - 1)
        is_good |= accepted
        if not is_good.all():
            moved = np.where(is_good, moved, stride_pole(here, lower[which], upper[which], first[which], top[which]))
        pole[which] = moved
        which = which[~accepted & (lower[which] * COLLAPSED < upper[which])]
        if not len(which):
            break


def _medians_of_some(values: NDArray[np.floating[Any]], which: IntArray, scale: FloatArray, offset: FloatArray
                     ) -> FloatArray:
    """Upper median of g over some entries spread over the rows."""
    n_samples = values.shape[1]
    count = min(STRIDED, n_samples)
    g = values[np.ix_(which, np.arange(count) * n_samples // count)] * scale[which, None] - offset[which, None]
    found: FloatArray = np.partition(g, count // 2, axis=1)[:, count // 2]
    return found
