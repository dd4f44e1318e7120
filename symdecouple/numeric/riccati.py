"""Samples moved along their own skew flow to any skewness they can reach: values, and their slopes for gradients.

The leaf of x under mean, variance and skewness is {(a x + b)/(c x + d), increasing, no pole among the samples}
(Theorem B); on it one sample has mean 0, variance 1 and the wanted skewness (Theorem C). Where the pole must go is
found by `find_roots`; here the sample is carried there, each value to its own digits.

With g the distance from the minimum of the sample (turned, where its skewness must rise) and w that of the pole,
u = g/(g + w). Values are taken from the one nearest the mean of u, c say, without cancellation, whatever w:

    u - u_c = (x - x_c)/(max(g, g_c) + w) * w/(min(g, g_c) + w),        du/dx = w/(g + w)^2.

*What is in the result.* dz is beta w dx/(g + w)^2: where g is large against w, a relative error eps of z stands for an
error of eps g/w of g. So much of the sample is left in z, and can be brought back from it: the largest value to about
eps max(g)/w. At zero skewness that is 1e-14 for lognormal values with sigma = 1 and 1e-7 with sigma = 5, below 1e-12
for a thousand Cauchy values. Where w is below eps max(g), values that differ in x may share one z.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.batch import EMPTY, INFINITE, NAN_INPUT, SINGLE, FloatArray, IntArray, Panel
from symdecouple.numeric.moebius import LIFT, STRAIGHT, UNRESOLVED, Roots, count_ties, find_roots, why_unreachable
from symdecouple.numeric.power_sums import blocks, range_exponent
from symdecouple.numeric.ranges import saturated_skewness

__all__ = ["Imposed", "impose_skewness"]

_ROUNDING = 2.0**-49  # 1.8e-15: what rounding does to a skewness, at most, in units of Mean|z|^3
_POLISH = 4  # steps of the pole at most; the second is seldom better than rounding


@dataclass(frozen=True, slots=True)
class Imposed:
    """Standardized samples (R, N) of the wanted skewness, their slopes, how near they came; refused rows are NaN.

    `slope` is dz_n/dx_n with the parameters of the Moebius map held fixed, in units of 1/x. `residual` is
    |skewness reached - target|/(1 + |target|).
    """

    values: FloatArray
    slope: FloatArray
    residual: FloatArray
    refusals: dict[int, Outcome] = field(default_factory=dict)


def impose_skewness(rows: ArrayLike, targets: ArrayLike) -> Imposed:
    """Move each sample along its skew flow to a given skewness; mean 0 and population variance 1.

    .. math:: z = \\beta\\Bigl(\\frac{g}{g + w} - \\gamma\\Bigr), \\qquad \\bar z = 0,\\; \\overline{z^2} = 1,\\;
        \\overline{z^3} = \\mathrm{target}

    with g the distance from the minimum of x, or, where the skewness must rise, with -x in place of x and of z.

    Parameters
    ----------
    rows : array_like, shape (R, N)
        One sample a row.
    targets : array_like, shape (R,) or ()
        The skewness wanted of each row.

    Returns
    -------
    Imposed
        Values in the order of the samples. Equal values stay equal; the order of the others is kept, strictly so where
        float64 can tell them apart. A sample already at its target, to rounding, is standardized and no more.

    Raises
    ------
    InvalidInput
        The shapes do not fit, or a target is not finite.

    Notes
    -----
    Refused, by counting ties and exact comparison: constant samples; two-valued samples, unless their skewness is the
    target; targets outside the open interval of Theorem C (`skewness_interval`), or at its end.

    Mean and variance are met to about 1e-15, the skewness to about 1e-15 Mean|z|^3. Each z is within about
    1e-15 |z^2 - G z - 1|/(3 Mean(q^2)) + 1e-15 (1 + |z|), q = z^2 - G z - 1, of the exact one: dz/dG is the first
    factor. No bit changes under a permutation or a power of two as unit. About ten passes over the data.

    Source: paper, eq:skew_adjustment, for the flow; Theorems B and C of the documentation.

    Examples
    --------
    Three values at zero skewness are -sqrt(3/2), 0, sqrt(3/2):

    >>> answer = impose_skewness([[1, 2, 40]], 0.0)
    >>> (answer.values + 0.0).round(12).tolist()
    [[-1.224744871392, 0.0, 1.224744871392]]

    Half of the values tied at the minimum keep the skewness positive:

    >>> print(impose_skewness([[0, 0, 1, 2]], -0.25).refusals[0].reason)
    skewness out of reach
    """
    samples, wanted = _as_rows(rows, targets)
    answer = Imposed(np.full(samples.shape, np.nan), np.full(samples.shape, np.nan), np.full(len(samples), np.nan))
    which = _fit_rows(samples, answer.refusals)
    if not len(which):
        return answer
    order = np.argsort(samples[which], axis=1, kind="stable")  # no sum then feels the order of the samples
    panel, lift = _lifted(Panel.of(np.take_along_axis(samples[which], order, axis=1)))
    sorted_answer = _impose(panel, wanted[which], lift)
    for given, found in ((answer.values, sorted_answer.values), (answer.slope, sorted_answer.slope)):
        unsorted = np.empty_like(found)
        np.put_along_axis(unsorted, order, found, axis=1)
        given[which] = unsorted
    answer.residual[which] = sorted_answer.residual
    answer.refusals.update((int(which[i]), outcome) for i, outcome in sorted_answer.refusals.items())
    return answer


def _as_rows(rows: ArrayLike, targets: ArrayLike) -> tuple[FloatArray, FloatArray]:
    samples, wanted = np.asarray(rows, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    if samples.ndim != 2 or wanted.shape not in ((), (1,), (len(samples),)):
        raise InvalidInput(
            "rows of shape (R, N) and a target for all or for each are expected, "
            f"got {samples.shape} and {wanted.shape}"
        )
    if not np.isfinite(wanted).all():
        raise InvalidInput(f"a target must be finite, got {wanted[~np.isfinite(wanted)].flat[0]}")
    return samples, np.broadcast_to(wanted, (len(samples),))


def _fit_rows(samples: FloatArray, refusals: dict[int, Outcome]) -> IntArray:
    if samples.shape[1] < 2:
        refusals.update(dict.fromkeys(range(len(samples)), SINGLE if samples.shape[1] else EMPTY))
    for i in np.flatnonzero(~np.isfinite(samples).all(axis=1)).tolist():
        refusals.setdefault(i, NAN_INPUT if np.isnan(samples[i]).any() else INFINITE)
    return np.array([i for i in range(len(samples)) if i not in refusals], dtype=np.intp)


# --- sorted rows ---


def _lifted(panel: Panel) -> tuple[Panel, NDArray[np.intp]]:
    """The rows times 2^lift, their ranges near the top of float64: any unit then gives the same bits."""
    magnitude = np.frexp(np.maximum(np.abs(panel.low), np.abs(panel.high)))[1]
    lift = np.minimum(LIFT - range_exponent(panel), 1022 - magnitude).astype(np.intp)
    return Panel.of(np.ldexp(panel.values, lift[:, None]), count_ties(panel)), lift


def _impose(panel: Panel, target: FloatArray, lift: NDArray[np.intp]) -> Imposed:
    """The answer for rows in ascending order: as they are where they are there already, else along the flow."""
    shape = panel.values.shape
    answer = Imposed(np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape[0], np.nan))
    at_low, at_high = count_ties(panel)
    for i in np.flatnonzero(~_is_well_inside(at_low, at_high, target, shape[1])).tolist():
        outcome = why_unreachable(int(at_low[i]), int(at_high[i]), shape[1], float(target[i]))
        if outcome is not None:
            answer.refusals[i] = outcome
    two_valued = [i for i in answer.refusals if at_low[i] + at_high[i] == shape[1]]
    movable = np.setdiff1d(np.arange(shape[0]), list(answer.refusals))
    standing = np.sort(np.append(movable, two_valued).astype(np.intp))
    _settle(panel, standing, _standing(panel), target, lift, answer)
    for i in two_valued:
        if not np.isnan(answer.residual[i]):
            del answer.refusals[i]
    moving = movable[np.isnan(answer.residual[movable])]
    if len(moving):
        roots = find_roots(panel, moving, target)
        found = moving[~np.isnan(roots.kurtosis[moving])]
        _settle(panel, found, roots, target, lift, answer, moving=True)
        answer.refusals.update(dict.fromkeys(np.setdiff1d(moving, found).tolist(), UNRESOLVED))
    return answer


def _is_well_inside(at_low: IntArray, at_high: IntArray, target: FloatArray, n_samples: int) -> NDArray[np.bool_]:
    """Rows that the exact comparison need not see: a third value, and a target that no rounding takes to an end."""
    inside: NDArray[np.bool_] = at_low + at_high < n_samples
    for ties, wanted in ((at_low, -target), (at_high, target)):
        counts, place = np.unique(np.minimum(ties, n_samples - 1), return_inverse=True)
        end = np.array([saturated_skewness(count, n_samples) for count in counts.tolist()])[place]
        inside &= end - wanted > 2.0**-40 * (1 + np.abs(end))
    return inside


def _standing(panel: Panel) -> Roots:
    """The root of rows that need not move."""
    n_rows = len(panel.low)
    lift = np.minimum(-range_exponent(panel), 1023).astype(np.intp)
    nothing = np.zeros(n_rows)
    return Roots(nothing, nothing, np.full(n_rows, STRAIGHT), lift, np.zeros(n_rows, dtype=np.bool_))


def _settle(
    panel: Panel,
    which: IntArray,
    roots: Roots,
    target: FloatArray,
    lift: NDArray[np.intp],
    answer: Imposed,
    moving: bool = False,
) -> None:
    """Write values, slopes and residuals; without `moving` only of the rows whose skewness is the target already."""
    for part in blocks(len(which), panel.values.shape[1]):
        rows = which[part]
        bundle = _Bundle.of(panel, rows, roots, target, lift)
        place = bundle.at(roots.pole[rows])
        if moving:
            bundle.polish(place)
        kept = np.ones(len(rows), dtype=np.bool_) if moving else place.is_there()
        values, slope = bundle.turn_back(place.values, -1.0), bundle.turn_back(place.slope, 1.0)
        answer.values[rows[kept]], answer.slope[rows[kept]] = values[kept], slope[kept]
        answer.residual[rows[kept]] = (np.abs(place.distance) / (1 + np.abs(target[rows])))[kept]


@dataclass(frozen=True, slots=True)
class _Place:
    """Rows for one pole each, and how far they are from the target."""

    pole: FloatArray
    values: FloatArray
    slope: FloatArray
    distance: FloatArray  # skewness - target
    unit: FloatArray  # Mean|z|^3
    change: FloatArray  # Newton's step of the pole

    def is_there(self) -> NDArray[np.bool_]:
        there: NDArray[np.bool_] = np.abs(self.distance) <= _ROUNDING * self.unit
        return there

    def take(self, other: _Place, better: NDArray[np.bool_]) -> None:
        for name in self.__slots__:
            getattr(self, name)[better] = getattr(other, name)[better]


@dataclass(frozen=True, slots=True)
class _Bundle:
    """A few rows, scaled, turned so that the pole lies below, ascending."""

    lifted: FloatArray
    distance: FloatArray  # g, from the minimum
    lift: NDArray[np.intp]  # from the units of the sample
    turned: NDArray[np.bool_]
    target: FloatArray

    @classmethod
    def of(cls, panel: Panel, rows: IntArray, roots: Roots, target: FloatArray, lift: NDArray[np.intp]) -> _Bundle:
        turned = roots.turned[rows]
        lifted = np.ldexp(panel.values[rows], roots.lift[rows, None])
        lifted[turned] = -lifted[turned, ::-1]
        wanted = np.where(turned, -target[rows], target[rows])
        return cls(lifted, lifted - lifted[:, :1], lift[rows] + roots.lift[rows], turned, wanted)

    def turn_back(self, values: FloatArray, sign: float) -> FloatArray:
        values = values.copy()
        values[self.turned] = sign * values[self.turned, ::-1]
        return values

    def at(self, pole: FloatArray) -> _Place:
        """The rows flowed until the pole is at infinity, standardized."""
        g, w = self.distance, pole[:, None]
        u = g / (g + w)
        nearest = _nearest(u, _mean(u)[:, None])[:, None]
        g_c = np.take_along_axis(g, nearest, axis=1)
        moved = (self.lifted - np.take_along_axis(self.lifted, nearest, axis=1)) / (np.maximum(g, g_c) + w)
        moved *= w / (np.minimum(g, g_c) + w)
        np.maximum.accumulate(moved, axis=1, out=moved)  # quotients of neighbours may be rounded out of order
        shift = _mean(moved)
        moved -= shift[:, None]
        moved -= _mean(moved)[:, None]
        deviation = np.sqrt(_mean(moved * moved))
        z = moved / deviation[:, None]
        square = z * z
        cubes = square * z
        skewness = _mean(cubes)
        q = square - skewness[:, None] * z - 1
        distance = skewness - self.target
        with np.errstate(all="ignore"):  # the slope may be lost or beyond float64; such steps are not taken
            time = -distance / (3 * _mean(q * q))
            mean = np.take_along_axis(u, nearest, axis=1)[:, 0] + shift
            change = pole * (time / (deviation + time * (mean - 1)))
            slope = w / (g + w) * np.ldexp(1 / ((g + w) * deviation[:, None]), self.lift[:, None])
        return _Place(pole, z, slope, distance, _mean(np.abs(cubes)), change)

    def polish(self, place: _Place) -> None:
        """Newton's steps of the pole as long as they bring the skewness nearer."""
        for _ in range(_POLISH):
            pole = place.pole + place.change
            sensible = (pole > 0) & (pole < np.inf)
            other = self.at(np.where(sensible, pole, place.pole))
            better = np.abs(other.distance) < np.abs(place.distance)
            if not better.any():
                break
            place.take(other, better)


def _mean(rows: FloatArray) -> FloatArray:
    """Pairwise sums, so that long rows lose no digits."""
    mean: FloatArray = rows.sum(axis=1) / rows.shape[1]
    return mean


def _nearest(ascending: FloatArray, value: FloatArray) -> IntArray:
    """Index, in each row, of the entry nearest to `value`."""
    above = np.minimum(np.count_nonzero(ascending < value, axis=1), ascending.shape[1] - 1)
    below = np.maximum(above - 1, 0)
    rows = np.arange(len(ascending))
    nearer = value[:, 0] - ascending[rows, below] < ascending[rows, above] - value[:, 0]
    nearest: IntArray = np.where(nearer, below, above)
    return nearest
