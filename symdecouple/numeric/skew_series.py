"""One step towards zero skewness from eight moments alone: the series of the Riccati flow.

After a time s the flow dz/dt = z**2 takes x to x/(1 - s x). With a_k the standardized moments of x (a_1 = 0, a_2 = 1),
the k-th raw moment becomes

    P_k(s) = sum_j C(k-1+j, j) s^j a_(k+j),      dP_k/ds = k P_(k+1),

here cut at a_8. The third central moment M(s) = P_3 - 3 P_1 P_2 + 2 P_1^3 has its root, and the kurtosis there is
known, without another look at the sample: a step of order six, final where s max|x| is small.

What makes it final: the remainder is bounded by geometric series, and the root is substituted back. Moving along the
flow to zero skewness changes the kurtosis by at most 4/3 (max|x| + |skewness|) |skewness|, because
dK/dG = 4/3 (Mean(x q^2)/Mean(q^2) + G) with q = x^2 - G x - 1. A skewness below the tolerance on that scale is zero:
two balanced clusters of width 1e-12 have no better one in float64, and a slope Mean(q^2) that is all rounding.

Where the series does not reach, `saturated_step` is Newton's on asinh(G/2): half the log-odds of a two-point law, which
runs straight where G itself saturates, against tau, the log of the ratio of the two ends' denominators. Near two
balanced clusters G is the difference of their variances, A e^(2 tau) - B e^(-2 tau), and Newton would crawl by 1/2:
there G and dG/dtau give both terms and the root (B/A)^(1/4) = e^tau.

The functions act on columns, one a sample, with elementary operations only: `a` is (9, n), everything else (n,).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.batch import FloatArray

__all__ = ["ORDER", "SeriesStep", "saturated_step", "series_step"]

ORDER = 8  # moments the step needs
_RADIUS = 0.35  # |s| max|x| up to which a step that is not final is a better guess than a saturated one
_LIMIT = 0.5  # |s| max|x| beyond which the bound of the remainder says nothing
_TOLERANCE = 2.0**-48  # 4e-15: what a neglected term may do to the kurtosis, relative; the bounds are rarely attained
_NEWTON_STEPS = 6  # from 0 inside the limit: quadratic convergence is over after four or five
_CLUSTERED = 0.1  # dG/ds below which the sample is two clusters
_LONGEST_STEP = 6.0  # in the logarithm: a factor 400 for the distance of the pole


@dataclass(frozen=True, slots=True)
class SeriesStep:
    """Time to the root in standardized units and the kurtosis there.

    `accepted`: that kurtosis is final. `is_near`: the time is a good next guess, though it may not be final.
    """

    time: FloatArray
    kurtosis: FloatArray
    accepted: NDArray[np.bool_]
    is_near: NDArray[np.bool_]


def series_step(a: FloatArray, furthest: FloatArray) -> SeriesStep:
    """Solve M(s) = 0 by Newton from 0; `furthest` is max|x| in standard deviations."""
    with np.errstate(all="ignore"):  # where the slope is lost the step is not finite, and is refused below by name
        s, last = _newton(a, furthest)
        skewness, kurtosis = _skewness_and_kurtosis(a, s)
        reach = np.abs(s) * furthest
        known = (reach < _LIMIT) & (_remainder(a, furthest, reach) <= _TOLERANCE * kurtosis)
        settled = (4 * np.abs(last) * furthest <= _TOLERANCE) | _is_unskewed(skewness, kurtosis, furthest)
    accepted = known & settled
    at_once = ~accepted & _is_unskewed(a[3], a[4], furthest)
    return SeriesStep(
        time=np.where(at_once, 0.0, s),
        kurtosis=np.where(at_once, a[4], kurtosis),
        accepted=accepted | at_once,
        is_near=(reach < _RADIUS) & (np.abs(last) <= np.abs(s) / 16),
    )


def saturated_step(a: FloatArray, lowest: FloatArray, highest: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Time of a Newton step on asinh(G/2), and whether it was short enough to be taken in full.

    It never passes a pole; `lowest` < 0 < `highest` are the ends of x.
    """
    skewness = a[3]
    slope = 3 * (a[4] - 1 - skewness**2)  # dG/ds, positive but for rounding
    wanted = -np.arcsinh(skewness / 2) * np.sqrt(4 + skewness**2) * (highest - lowest)
    log_ratio = np.copysign(_LONGEST_STEP, wanted)
    is_short = np.abs(wanted) < _LONGEST_STEP * slope
    np.divide(wanted, slope, out=log_ratio, where=is_short)
    balanced = is_short & (slope < _CLUSTERED) & (np.abs(log_ratio) < 0.5)
    np.divide(np.arctanh(2 * log_ratio, where=balanced, out=np.zeros_like(slope)), 2, out=log_ratio, where=balanced)
    time: FloatArray = np.expm1(log_ratio) / (np.exp(log_ratio) * highest - lowest)
    return time, is_short


def _newton(a: FloatArray, furthest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The root of M and the length of the last step; not finite becomes the limit, where nothing is accepted."""
    limit = _LIMIT / furthest
    s = last = np.zeros_like(furthest)
    for _ in range(_NEWTON_STEPS):
        p1, p2, p3, p4 = _flowed(a, s)
        third = p3 - 3 * p1 * p2 + 2 * p1 * p1 * p1
        slope = 3 * (p4 - p2 * p2 - 2 * p1 * (p3 - p1 * p2))
        moved = np.clip(s - third / slope, -limit, limit)
        s, last = moved, moved - s
    return np.where(np.isfinite(s), s, limit), last


def _flowed(a: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """P_1..P_4 at time s, by Horner."""

    def power(k: int) -> FloatArray:
        total: FloatArray = comb(ORDER - 1, ORDER - k) * a[ORDER]
        for j in range(ORDER - k - 1, -1, -1):
            total = total * s + comb(k - 1 + j, j) * a[k + j]
        return total

    return power(1), power(2), power(3), power(4)


def _skewness_and_kurtosis(a: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    p1, p2, p3, p4 = _flowed(a, s)
    variance = p2 - p1 * p1
    third = p3 - 3 * p1 * p2 + 2 * p1 * p1 * p1
    fourth = p4 - 4 * p1 * p3 + 6 * p1 * p1 * p2 - 3 * p1 * p1 * p1 * p1
    return third / (variance * np.sqrt(variance)), fourth / (variance * variance)


def _remainder(a: FloatArray, furthest: FloatArray, reach: FloatArray) -> FloatArray:
    """Bound of what the cut at a_8 does to the kurtosis.

    C(8,5) s^5 a_9 in P_4, and C(8,6) s^6 a_9 in P_3 moving the root, times 4/3 max|x|; a_9 <= a_8 max|x|, and the
    terms that follow are geometric in |s| max|x|. Written in that reach: s^5 a_9 <= reach^5 a_8/max|x|^4.
    """
    fifth = reach * reach * reach * reach * reach
    bound: FloatArray = (56 + 38 * reach) * fifth / (1 - reach) ** 4 * a[ORDER] / furthest**4
    return bound


def _is_unskewed(skewness: FloatArray, kurtosis: FloatArray, furthest: FloatArray) -> NDArray[np.bool_]:
    """True iff going on to zero skewness cannot change the kurtosis beyond the tolerance."""
    small: NDArray[np.bool_] = 4 / 3 * (furthest + np.abs(skewness)) * np.abs(skewness) <= _TOLERANCE * kurtosis
    return small
