"""Steps towards a wanted skewness from eight moments alone: the series of the Riccati flow, and where a pole goes next.

After a time s the flow dz/dt = z**2 takes x to x/(1 - s x). With a_k the standardized moments of x (a_1 = 0, a_2 = 1),
the k-th raw moment becomes

    P_k(s) = sum_j C(k-1+j, j) s^j a_(k+j),      dP_k/ds = k P_(k+1),

here cut at a_8. With the variance V(s) = P_2 - P_1^2 and the third central moment M(s) = P_3 - 3 P_1 P_2 + 2 P_1^3, the
root of M - target V^(3/2), and the kurtosis there, are known without another look at the sample: a step of order six,
final where s max|x| is small.

What makes it final: the remainder is bounded by geometric series, and the root is substituted back. Moving along the
flow by dG of skewness changes the kurtosis by at most 4/3 (max|x| + |G|) |dG|, because
dK/dG = 4/3 (Mean(x q^2)/Mean(q^2) + G) with q = x^2 - G x - 1. A distance below the tolerance on that scale is zero:
two balanced clusters of width 1e-12 have no better one in float64, and a slope Mean(q^2) that is all rounding.

Where the series does not reach, a saturated step is Newton's on asinh(G/2): half the log-odds of a two-point law, which
runs straight where G itself saturates, against tau, the log of the ratio of the two ends' denominators. Near two
clusters G is a constant and the difference of their variances, A e^(2 tau) - B e^(-2 tau), and Newton would crawl by
1/2: where the constant is the target, the distance and its slope give both terms and the root (B/A)^(1/4) = e^tau.

`solve_series`, `propose_pole` and `stride_pole` act on columns, one a sample, or on one sample's scalars, with
elementary operations only, so that the same lines are compiled: `a` is (9, n) or (9,), all else (n,) or a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import all as every, where  # by names of their own: compiled, they act on single values
from numpy.typing import NDArray

from symdecouple.numeric.batch import FloatArray

__all__ = [
    "NEAREST",
    "ORDER",
    "SeriesStep",
    "farthest_pole",
    "propose_pole",
    "series_step",
    "solve_series",
    "stride_pole",
]

ORDER = 8  # moments the step needs
_RADIUS = 0.35  # |s| max|x| up to which a step that is not final is a better guess than a saturated one
_LIMIT = 0.5  # |s| max|x| beyond which the bound of the remainder says nothing
_TOLERANCE = 2.0**-48  # 4e-15: what a neglected term may do to the kurtosis, relative; the bounds are rarely attained
_NEWTON_STEPS = 6  # from 0 inside the limit: quadratic convergence is over after four or five
_STILL = 2.0**-50  # a last step that changed no more than the last digits
_CLUSTERED = 0.1  # dG/ds below which the sample is two clusters
_LONGEST_STEP = 6.0  # in the logarithm: a factor 400 for the distance of the pole
_FARTHEST = 2.0**11  # in ranges: a pole farther away is reached by the series of the sample itself, to 1e-15
NEAREST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class SeriesStep:
    """Time to the root in standardized units and the kurtosis there.

    `accepted`: that kurtosis is final. `is_near`: the time is a good next guess, though it may not be final.
    """

    time: FloatArray
    kurtosis: FloatArray
    accepted: NDArray[np.bool_]
    is_near: NDArray[np.bool_]


def series_step(a: FloatArray, furthest: FloatArray, target: FloatArray) -> SeriesStep:
    """Solve for the skewness `target` by Newton from 0; `furthest` is max|x| in standard deviations."""
    with np.errstate(all="ignore"):  # where the slope is lost the step is not finite, and is refused below by name
        return SeriesStep(*solve_series(a, furthest, target))


def solve_series(a: Any, furthest: Any, target: Any) -> tuple[Any, Any, Any, Any]:
    """The fields of `SeriesStep`."""
    s, last = _newton(a, furthest, target)
    skewness, kurtosis = _skewness_and_kurtosis(a, s)
    reach = np.abs(s) * furthest
    known = (reach < _LIMIT) & (_remainder(a, furthest, reach, target) <= _TOLERANCE * kurtosis)
    settled = (4 * np.abs(last) * furthest <= _TOLERANCE) | _is_there(skewness, kurtosis, furthest, target)
    accepted = known & settled
    at_once = _is_there(a[3], a[4], furthest, target) & (accepted == False)  # noqa: E712 - an array too
    time = where(at_once, 0.0, s)
    is_near = (reach < _RADIUS) & (np.abs(last) <= np.abs(s) / 16)
    return time, where(at_once, a[4], kurtosis), accepted | at_once, is_near


def _newton(a: Any, furthest: Any, target: Any) -> tuple[Any, Any]:
    """The root and the length of the last step; not finite becomes the limit, where nothing is accepted."""
    limit = _LIMIT / furthest
    s = 0.0 * furthest
    last = s
    is_still = s > 0  # nothing yet; a sample that has arrived stays, whatever its neighbours do
    for _ in range(_NEWTON_STEPS):
        p1, p2, p3, p4 = _flowed(a, s)
        mixed = p3 - p1 * p2  # half the derivative of the variance
        variance = np.maximum(p2 - p1 * p1, 0.0)
        third = p3 - 3 * p1 * p2 + 2 * p1 * p1 * p1
        slope = 3 * (p4 - p2 * p2 - 2 * p1 * mixed)
        wanted = target * np.sqrt(variance)
        moved = s - (third - wanted * variance) / (slope - 3 * wanted * mixed)
        moved = where(is_still, s, np.minimum(np.maximum(moved, -limit), limit))
        last = where(is_still, last, moved - s)
        s = moved
        is_still = np.abs(last) <= _STILL * np.abs(s)
        if every(is_still):
            break
    return where(np.isfinite(s), s, limit), last


def _flowed(a: Any, s: Any) -> tuple[Any, Any, Any, Any]:
    """P_1..P_4 at time s, by Horner."""
    p1 = ((((((a[8] * s + a[7]) * s + a[6]) * s + a[5]) * s + a[4]) * s + a[3]) * s + a[2]) * s + a[1]
    p2 = (((((7 * a[8] * s + 6 * a[7]) * s + 5 * a[6]) * s + 4 * a[5]) * s + 3 * a[4]) * s + 2 * a[3]) * s + a[2]
    p3 = ((((21 * a[8] * s + 15 * a[7]) * s + 10 * a[6]) * s + 6 * a[5]) * s + 3 * a[4]) * s + a[3]
    p4 = (((35 * a[8] * s + 20 * a[7]) * s + 10 * a[6]) * s + 4 * a[5]) * s + a[4]
    return p1, p2, p3, p4


def _skewness_and_kurtosis(a: Any, s: Any) -> tuple[Any, Any]:
    p1, p2, p3, p4 = _flowed(a, s)
    variance = p2 - p1 * p1
    third = p3 - 3 * p1 * p2 + 2 * p1 * p1 * p1
    fourth = p4 - 4 * p1 * p3 + 6 * p1 * p1 * p2 - 3 * p1 * p1 * p1 * p1
    return third / (variance * np.sqrt(variance)), fourth / (variance * variance)


def _remainder(a: Any, furthest: Any, reach: Any, target: Any) -> Any:
    """Bound of what the cut at a_8 does to the kurtosis.

    C(8,5) s^5 a_9 in P_4; C(8,6) s^6 a_9 in P_3 and 3/2 target C(8,7) s^7 a_9 in V^(3/2) move the root, times
    4/3 max|x|; a_9 <= a_8 max|x|, and the terms that follow are geometric in |s| max|x|. Written in that reach:
    s^5 a_9 <= reach^5 a_8/max|x|^4.
    """
    fifth = reach * reach * reach * reach * reach
    factor = 56 + (38 + 16 * np.abs(target) / furthest * reach) * reach
    rest = (1 - reach) * (1 - reach)
    square = furthest * furthest
    return factor * fifth / (rest * rest) * a[8] / (square * square)


def _is_there(skewness: Any, kurtosis: Any, furthest: Any, target: Any) -> Any:
    """True iff going on to the target cannot change the kurtosis beyond the tolerance."""
    distance = np.abs(skewness - target)
    return 4 / 3 * (furthest + np.abs(skewness)) * distance <= _TOLERANCE * kurtosis


# --- the pole of u = g/(g + w), at the distance w below the smallest g = 0 ---


def farthest_pole(top: Any) -> Any:
    """Where the bracket of w begins that ends at `NEAREST`; `top` is the largest g."""
    return _FARTHEST * top


def propose_pole(a: Any, mean: Any, deviation: Any, top: Any, pole: Any, target: Any) -> tuple[Any, Any, Any, Any]:
    """The next w, whether it is a good one, and whether it is final with which kurtosis.

    `a`, `mean`, `deviation` are those of u for this `pole`; `top` is the largest g.
    """
    highest = top / (top + pole)
    furthest = np.maximum(mean, highest - mean) / deviation
    time, kurtosis, accepted, is_near = solve_series(a, furthest, target)
    is_good = is_near | accepted
    if not every(is_good):
        saturated, is_short = _saturated(a, -mean / deviation, (highest - mean) / deviation, target)
        time = where(is_good, time, saturated)
        is_good = is_good | is_short
    left = deviation + time * mean  # the pole of u is at mean + deviation/time; back to g
    return pole * (left / (left - time)), is_good, accepted, kurtosis


def stride_pole(pole: Any, lower: Any, upper: Any, first: Any, top: Any) -> Any:
    """Without a good step: ever farther from where the search began until the bracket is closed, then halve it."""
    position = np.log2(pole)
    length = 4 + np.abs(position - np.log2(first))
    beyond = np.exp2(np.minimum(position + where(upper == pole, -length, length), 1023.0))
    is_open = (lower == NEAREST) | (upper == farthest_pole(top))
    fits = is_open & (lower < beyond) & (beyond < upper)
    return where(fits, beyond, np.sqrt(lower) * np.sqrt(upper))


def _saturated(a: Any, lowest: Any, highest: Any, target: Any) -> tuple[Any, Any]:
    """Time of a Newton step on asinh(G/2), and whether it was short enough to be taken in full.

    It never passes a pole; `lowest` < 0 < `highest` are the ends of x.
    """
    skewness = a[3]
    slope = 3 * (a[4] - 1 - skewness**2)  # dG/ds, positive but for rounding
    distance = np.arcsinh(target / 2) - np.arcsinh(skewness / 2)
    wanted = distance * np.sqrt(4 + skewness**2) * (highest - lowest)
    is_short = np.abs(wanted) < _LONGEST_STEP * slope
    log_ratio = where(is_short, wanted / slope, np.copysign(_LONGEST_STEP, wanted))
    balanced = is_short & (slope < _CLUSTERED) & (np.abs(log_ratio) < 0.5)
    log_ratio = where(balanced, np.arctanh(2 * log_ratio) / 2, log_ratio)
    time = np.expm1(log_ratio) / (np.exp(log_ratio) * highest - lowest)
    return time, is_short
