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

from typing import Any

import numpy as np
from numpy import all as every, where  # by names of their own: compiled, they act on single values

__all__ = [
    "NEAREST",
    "ORDER",
    "farthest_pole",
    "first_pole",
    "propose_pole",
    "solve_series",
    "stride_pole",
]

ORDER = 8  # moments the step needs
_RADIUS = 0.35  # |s| max|x| up to which a step that is not final is a better guess than a saturated one
_LIMIT = 0.5  # |s| max|x| beyond which the bound of the remainder says nothing
_TOLERANCE = 2.0**-48  # 4e-15: what a neglected term may do to the kurtosis, relative; the bounds are rarely attained
_NEWTON_STEPS = 6  # inside the limit quadratic convergence is over after three or four
_STILL = 2.0**-26  # a step after which the next one changes no more than the last digits
_BENT = 0.5  # how far the second derivative may change a step
_CLUSTERED = 0.1  # dG/ds below which the sample is two clusters
_LONGEST_STEP = 6.0  # in the logarithm: a factor 400 for the distance of the pole
_TRUSTED = 4.0  # up to which it is as good a guess as the median of the sample, and on short rows a third cheaper
_FARTHEST = 2.0**11  # in ranges: a pole farther away is reached by the series of the sample itself, to 1e-15
NEAREST = float(np.finfo(np.float64).tiny)


def solve_series(a: Any, furthest: Any, target: Any) -> tuple[Any, Any, Any, Any]:
    """Solve for the skewness `target` by Newton from 0; `furthest` is max|x| in standard deviations.

    Returns the time to the root in standardized units, the kurtosis there, whether that is final, and whether the time
    is a good next guess, though it may not be final. Where the slope is lost the step is not finite, and refused.
    """
    slope, limit = 3 * (a[4] - 1 - target * a[3]), _LIMIT / furthest
    bend = 12 * a[5] - 18 * a[3] - 3 * target * (3 * a[4] - 1 + a[3] * a[3])
    s = (target - a[3]) / slope  # Chebyshev's step: Newton's, bent by the second derivative of M - target V^(3/2)
    s = _clipped(s * (1 - _clipped(s * bend / (2 * slope), _BENT)), limit)
    is_still = s != s  # nothing yet; a sample that is still stays, whatever its neighbours do
    for _ in range(_NEWTON_STEPS):
        p1, p2, p3, p4 = _flowed(a, s)
        moved = where(is_still, s, _clipped(s - _step(p1, p2, p3, p4, target), limit))
        is_still = np.abs(moved - s) <= _STILL * np.abs(moved)
        s = moved
        if every(is_still):
            break
    s = where(np.isfinite(s), s, limit)  # where nothing is accepted
    p1, p2, p3, p4 = _flowed(a, s)
    variance = p2 - p1 * p1
    skewness = (p3 - 3 * p1 * p2 + 2 * p1 * p1 * p1) / (variance * np.sqrt(variance))
    kurtosis = (p4 - 4 * p1 * p3 + 6 * p1 * p1 * p2 - 3 * p1 * p1 * p1 * p1) / (variance * variance)
    left, reach = np.abs(_step(p1, p2, p3, p4, target)), np.abs(s) * furthest
    known = (reach < _LIMIT) & (_remainder(a, furthest, reach, target) <= _TOLERANCE * kurtosis)
    settled = (4 * left * furthest <= _TOLERANCE) | _is_there(skewness, kurtosis, furthest, target)
    accepted = known & settled
    at_once = _is_there(a[3], a[4], furthest, target) & (accepted == False)  # noqa: E712 - an array too
    is_near = (reach < _RADIUS) & (left <= np.abs(s) / 16)
    return where(at_once, 0.0, s), where(at_once, a[4], kurtosis), accepted | at_once, is_near


def _clipped(value: Any, limit: Any) -> Any:
    return np.maximum(np.minimum(value, limit), -limit)


def _step(p1: Any, p2: Any, p3: Any, p4: Any, target: Any) -> Any:
    """What Newton takes off the time at which these are the first moments."""
    mixed = p3 - p1 * p2  # half the derivative of the variance
    third = mixed - 2 * p1 * (p2 - p1 * p1)
    slope = 3 * (p4 - p2 * p2 - 2 * p1 * mixed)
    if every(target == 0):
        return third / slope
    variance = np.maximum(p2 - p1 * p1, 0.0)
    wanted = target * np.sqrt(variance)
    return (third - wanted * variance) / (slope - 3 * wanted * mixed)


def _flowed(a: Any, s: Any) -> tuple[Any, Any, Any, Any]:
    """P_1..P_4 at time s; by halves, so that few products wait for each other."""
    s2 = s * s
    s4 = s2 * s2
    p1 = (a[1] + a[2] * s) + s2 * (a[3] + a[4] * s) + s4 * ((a[5] + a[6] * s) + s2 * (a[7] + a[8] * s))
    p2 = (a[2] + 2 * a[3] * s) + s2 * (3 * a[4] + 4 * a[5] * s) + s4 * ((5 * a[6] + 6 * a[7] * s) + 7 * a[8] * s2)
    p3 = (a[3] + 3 * a[4] * s) + s2 * (6 * a[5] + 10 * a[6] * s) + s4 * (15 * a[7] + 21 * a[8] * s)
    p4 = (a[4] + 4 * a[5] * s) + s2 * (10 * a[6] + 20 * a[7] * s) + s4 * (35 * a[8])
    return p1, p2, p3, p4


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
        log_ratio, is_short = _log_ratio(a, -mean / deviation, (highest - mean) / deviation, target)
        saturated = np.expm1(log_ratio) / (np.exp(log_ratio) * (highest - mean) + mean) * deviation
        time = where(is_good, time, saturated)  # which never passes a pole
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


def first_pole(a: Any, mean: Any, deviation: Any, top: Any, target: Any) -> Any:
    """w after a saturated step from the sample itself; infinite where that leads too far to be trusted."""
    log_ratio = np.abs(_log_ratio(a, -mean / deviation, (top - mean) / deviation, target)[0])
    return where(log_ratio < _TRUSTED, top / np.expm1(log_ratio), np.inf)


def _log_ratio(a: Any, lowest: Any, highest: Any, target: Any) -> tuple[Any, Any]:
    """tau of a saturated step, and whether it was short enough to be taken in full; `lowest` < 0 < `highest` end x.

    Newton's, bent by the second derivative (Chebyshev's), but not where G is a constant.
    """
    skewness = a[3]
    square = skewness * skewness
    slope = 3 * (a[4] - 1 - square)  # dG/ds, positive but for rounding
    distance = np.arcsinh(target / 2) - np.arcsinh(skewness / 2)
    root = np.sqrt(4 + square)
    wanted = distance * root * (highest - lowest)
    is_short = np.abs(wanted) < _LONGEST_STEP * slope
    is_clustered = slope < _CLUSTERED
    log_ratio = where(is_short, wanted / slope, np.copysign(_LONGEST_STEP, wanted))
    bend = 12 * a[5] + (15 * square - 27 * a[4] + 3) * skewness  # d2G/ds2
    bent = distance * (skewness / root - root * (bend / slope - (highest + lowest)) / slope) / 2
    bent = where(is_clustered, 0.0, np.maximum(_clipped(bent, _BENT), -_BENT / 2))
    log_ratio = _clipped(log_ratio * (1 + bent), _LONGEST_STEP)
    balanced = is_short & is_clustered & (np.abs(log_ratio) < 0.5)
    return where(balanced, np.arctanh(2 * log_ratio) / 2, log_ratio), is_short
