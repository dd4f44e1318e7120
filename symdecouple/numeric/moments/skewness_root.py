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
from typing import Any

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

__all__ = ["Roots", "find_roots", "orthokurtosis_rows"]

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
    the digits of one pass tell.
    """

    kurtosis: FloatArray
    pole: FloatArray
    lift: NDArray[np.intp]
    turned: NDArray[np.bool_]
    is_there: NDArray[np.bool_]


def find_roots(matrix: SampleMatrix, which: IntArray, target: FloatArray) -> Roots:
    """Move the named rows to the skewness `target`, one entry a row of the matrix, known to be attainable."""
    unit, lift = unit_and_lift(matrix)
    nothing = np.full(len(unit), np.nan)
    nowhere = np.zeros(len(unit), dtype=np.bool_)
    roots = Roots(nothing, nothing.copy(), unit.copy(), nowhere, nowhere.copy())
    moments = standardized_moments(matrix.values, which, ORDER, to_unit_range(matrix, unit), matrix.weights)
    bottom, near = np.ldexp(matrix.low, unit), near_sample(matrix)
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
    left = np.flatnonzero(~accepted)
    if len(left):
        active = which[left]
        guess = np.where(is_near, distance, np.nan)[left]
        search = _Search.of(matrix, lift, active[turned[left]], target, near)
        search.pole[active] = np.ldexp(guess, (lift - unit)[active])
        roots.kurtosis[active] = search.run(active)[active]
        roots.pole[active], roots.lift[active] = search.pole[active], lift[active]
    return roots


def _by_row(step: Callable[..., Any], a: FloatArray, *columns: FloatArray) -> Any:
    """`step` for columns of rows; for one row by its numbers, which takes a quarter of the time."""
    if a.shape[1] != 1:
        return step(a, *columns)
    return tuple(np.array([found]) for found in step(tuple(a[:, 0]), *(column[0] for column in columns)))


@dataclass(frozen=True, slots=True)
class _Search:
    """Poles and their brackets, one a row of the matrix, all strictly positive."""

    values: NDArray[np.floating[Any]]
    scale: FloatArray  # power of two, negative where the sample is turned
    offset: FloatArray  # the end from which g is measured, scaled
    centre: FloatArray  # with weights, their median, scaled
    top: FloatArray  # the largest g
    pole: FloatArray  # w
    lower: FloatArray
    upper: FloatArray
    first: FloatArray  # where the search began
    target: FloatArray  # skewness wanted, negative where the sample is turned
    weights: FloatArray | None

    @classmethod
    def of(
        cls, matrix: SampleMatrix, lift: NDArray[np.intp], turned: IntArray, target: FloatArray, near: FloatArray
    ) -> _Search:
        scale = np.ldexp(1.0, lift)
        offset, high = matrix.low * scale, matrix.high * scale
        top = high - offset
        scale[turned], offset[turned] = -scale[turned], -high[turned]
        target = target.copy()
        target[turned] = -target[turned]
        nothing = np.full_like(top, np.nan)
        nearest, farthest = np.full_like(top, NEAREST), farthest_pole(top)
        ends = (nothing, nearest, farthest, nothing.copy())
        return cls(matrix.values, scale, offset, near * scale, top, *ends, target, matrix.weights)

    def to_distance(self, block: FloatArray, which: IntArray) -> None:
        """x -> g."""
        block *= self.scale[which, None]
        block -= self.offset[which, None]

    def to_flowed(self, block: FloatArray, which: IntArray) -> None:
        """x -> u = g/(g + w); with weights u - u_c."""
        if self.weights is None:
            self.to_distance(block, which)
            block /= block + self.pole[which, None]
            return
        w, middle = self.pole[which, None], self.middle(which)[:, None]
        block *= self.scale[which, None]
        h, v = block - self.centre[which, None], middle + w
        block -= self.offset[which, None]
        block += w
        block[...] = np.where(h < 0, (h / v) * (w / block), (w / v) * (h / block))

    def middle(self, which: IntArray) -> FloatArray:
        """g of the value that u is taken from."""
        middle: FloatArray = self.centre[which] - self.offset[which]
        return middle

    def run(self, which: IntArray) -> FloatArray:
        """Move the poles of these rows to their roots; returns the kurtosis there, NaN where none was reached."""
        kurtosis = np.full(len(self.pole), np.nan)
        unknown = which[~self.is_inside(self.pole[which], which)]
        self.pole[unknown] = np.maximum(self.median(unknown), NEAREST)
        self.first[which] = self.pole[which]
        for count in range(MOST_STEPS):
            proposed, is_good, accepted, found = self.advance(which)
            kurtosis[which[accepted]] = found[accepted]
            is_good &= self.is_inside(proposed, which) & (count % PATIENCE < PATIENCE - 1)
            is_good |= accepted
            self.pole[which] = np.where(is_good, proposed, self.pole[which])
            if not is_good.all():
                self.stride(which[~is_good])
            which = which[~accepted & (self.lower[which] * COLLAPSED < self.upper[which])]
            if not len(which):
                break
        return kurtosis

    def advance(self, which: IntArray) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_], FloatArray]:
        """One pass: tighten the brackets by the sign of the skewness and propose the next poles."""
        pole, target = self.pole[which], self.target[which]
        moments = standardized_moments(self.values, which, ORDER, self.to_flowed, self.weights)
        a, mean = moments.standardized, moments.mean
        if self.weights is not None:
            mean = mean + self.middle(which) / (self.middle(which) + pole)
        skewed = a[3] > target
        self.upper[which] = np.where(skewed, pole, self.upper[which])
        self.lower[which] = np.where(skewed, self.lower[which], pole)
        with np.errstate(all="ignore"):  # both sides of every choice are computed
            moved, good, accepted, found = _by_row(
                propose_pole, a, mean, moments.deviation, self.top[which], pole, target)
        return moved, good, accepted, found

    def is_inside(self, proposed: FloatArray, which: IntArray) -> NDArray[np.bool_]:
        inside: NDArray[np.bool_] = (self.lower[which] < proposed) & (proposed < self.upper[which])
        return inside

    def stride(self, which: IntArray) -> None:
        """Without a good step: `stride_pole`."""
        lower, upper, top = self.lower[which], self.upper[which], self.top[which]
        self.pole[which] = stride_pole(self.pole[which], lower, upper, self.first[which], top)

    def median(self, which: IntArray) -> FloatArray:
        """Upper median of g over some entries spread over the row; with weights, theirs over all of it."""
        if self.weights is not None:
            return self.middle(which)
        n_samples = self.values.shape[1]
        count = min(STRIDED, n_samples)
        taken = self.values[np.ix_(which, np.arange(count) * n_samples // count)].astype(np.float64, copy=False)
        self.to_distance(taken, which)  # a copy: it was picked by index
        found: FloatArray = np.partition(taken, count // 2, axis=1)[:, count // 2]
        return found
