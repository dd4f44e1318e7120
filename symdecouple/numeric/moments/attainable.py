"""What a sample of N values can reach, from N and from ties alone: skewness, kurtosis, orthokurtosis.

*Skewness.* Theorem C: along x/(1 - t x) the skewness of a sample with at least three distinct values runs strictly
between two ends. At either end the sample has become two-valued: the ties at the minimum against all others, or the
ties at the maximum against all others. Two values, the upper one with the share p, have the skewness
(1-2p)/sqrt(p(1-p)). Comparisons with these ends are made in rational arithmetic: the end squared is a ratio of
integers.

*Moment k, the lower ones held.* A path can end only where k - 1 distinct values are left, and which end a sample has is
told by its ties (`tied_range`): the highest or the lowest of all samples with these ties. That is counted once a row,
where it is near; no step decides it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import inf, isinf, nextafter

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.hankel import Weights, steepness
from symdecouple.numeric.moments.out_of_reach import beyond_any_sample, groups_of, needed, unattainable
from symdecouple.numeric.samples.batch import FloatArray

__all__ = [
    "beyond_end", "kurtosis_range", "orthokurtosis_range", "refused_at_once",
    "saturated_skewness", "skewness_interval", "skewness_range",
]

_FEW = 1e-7  # D_(k-1)/h_(2k-2) below which distinct values are counted: rounding leaves four digits of it, at least
_LOOKED_UP, _GOALS = 128, 4  # samples and goals up to which ranges are looked up before a path is followed


@lru_cache(maxsize=1024)
def saturated_skewness(ties: int, n_samples: int) -> float:
    """Skewness of two values, the upper one taken `ties` times out of `n_samples`.

    .. math:: (1 - 2p)/\\sqrt{p(1-p)}, \\qquad p = \\mathrm{ties}/N

    Parameters
    ----------
    ties, n_samples : int
        0 < ties < n_samples.

    Returns
    -------
    float
        Within one unit in the last place; exact where the value is a small rational.

    Examples
    --------
    >>> saturated_skewness(1, 5)
    1.5
    """
    return float((n_samples - 2 * ties) / (ties * (n_samples - ties)) ** 0.5)


def skewness_interval(at_low: int, at_high: int, n_samples: int) -> tuple[float, float]:
    """Ends of the open interval of skewness that a sample can be moved to along its own skew flow.

    .. math:: \\Bigl(-\\frac{1-2q}{\\sqrt{q(1-q)}},\\; \\frac{1-2p}{\\sqrt{p(1-p)}}\\Bigr),
        \\qquad q = \\mathrm{at\\_low}/N, \\quad p = \\mathrm{at\\_high}/N

    Parameters
    ----------
    at_low, at_high : int
        How many of the values equal the minimum and the maximum.
    n_samples : int
        N, at least ``at_low + at_high``. With equality the sample is two-valued and both ends are its skewness.

    Examples
    --------
    Half of the values tied at the minimum: zero skewness is the limit, never reached.

    >>> low, high = skewness_interval(2, 1, 4)
    >>> low, round(high, 12)
    (0.0, 1.154700538379)

    Source: Theorem C of the documentation; the paper, sec. Critical Points, for the two-valued ends.
    """
    return 0.0 - saturated_skewness(at_low, n_samples), saturated_skewness(at_high, n_samples)


def skewness_range(n_samples: int) -> tuple[float, float]:
    """Smallest and largest skewness of any N values: -(N-2)/sqrt(N-1) and (N-2)/sqrt(N-1).

    Attained by one value apart from N - 1 equal ones, and by nothing else. N is at least 2.

    Examples
    --------
    >>> skewness_range(5)
    (-1.5, 1.5)
    """
    return skewness_interval(1, 1, n_samples)


def kurtosis_range(n_samples: int) -> tuple[float, float]:
    """Smallest and largest kurtosis of any N values, N at least 2.

    The largest is that of one value apart; the least that of two values, taken as equally often as can be.

    Examples
    --------
    >>> kurtosis_range(2), kurtosis_range(8)
    ((1.0, 1.0), (1.0, 6.142857142857143))
    """
    n = n_samples
    return (n * n + 3) / (n * n - 1) if n % 2 else 1.0, (n * n - 3 * n + 3) / (n - 1)


def orthokurtosis_range(n_samples: int) -> tuple[float, float]:
    """Smallest and largest orthokurtosis of any N values.

    N/2 is attained at -1, 1 and N - 2 zeros. The lower end is 1 for even N, at two values in equal numbers, which are a
    critical point of the skewness; for odd N it is N/(N-1), at -1 and 1 in equal numbers and one 0. N is at least 2.

    Examples
    --------
    Every three distinct values have 3/2:

    >>> orthokurtosis_range(3), orthokurtosis_range(8)
    ((1.5, 1.5), (1.0, 4.0))
    """
    lowest = n_samples / (n_samples - 1) if n_samples % 2 else 1.0
    return lowest, n_samples / 2


def beyond_end(target: float, ties: int, n_samples: int) -> int:
    """1 where `target` lies beyond the upper end (1-2p)/sqrt(p(1-p)), p = ties/N; 0 at it; -1 inside. Exact.

    A float that is the end rounded to nearest counts as the end, on whichever side of it the rounding fell: no other
    number could be given. For the lower end pass the negative target and the ties at the minimum.

    Examples
    --------
    >>> beyond_end(1.5, 1, 5), beyond_end(1.4999999999999998, 1, 5), beyond_end(1.1547005383792515, 1, 4)
    (0, -1, 0)
    """
    if isinf(2 * target):  # it may stand for a larger number than float64 has
        return 1 if target > 0 else -1
    exact, numerator, square = Fraction(target), n_samples - 2 * ties, ties * (n_samples - ties)
    below, above = _neighbours(target)
    if _is_at_least(numerator, square, below) and not _is_at_least(numerator, square, above):
        return 0
    return -1 if _is_at_least(numerator, square, exact) else 1


def _is_at_least(numerator: int, square: int, bound: Fraction) -> bool:
    """numerator/sqrt(square) >= bound, without a root: signed squares keep the order."""
    return numerator * abs(numerator) >= bound * abs(bound) * square


def _neighbours(value: float) -> tuple[Fraction, Fraction]:
    """Halfway to the floats on either side."""
    here = Fraction(value)
    return (here + Fraction(nextafter(value, -inf))) / 2, (here + Fraction(nextafter(value, inf))) / 2


def refused_at_once(
    z: FloatArray, weights: Weights, goal: FloatArray, first: FloatArray, there: NDArray[np.bool_]
) -> dict[int, Outcome]:
    """Rows (R, N), standardized, whose moment k is out of reach whatever the path.

    `goal` (k + 1, R) are the moments that hold and the one to be reached, `first` (R,) what that is at the start;
    `there` tells which rows are at their goal.
    """
    k, refused = len(goal) - 1, dict[int, Outcome]()
    _, norm, highest = steepness(z, k, weights)
    for i in np.flatnonzero(~(norm > _FEW * highest)):
        count = len(groups_of(z[i], None if weights is None else weights[i]))
        if not np.isfinite(goal[:, i]).all() or not np.isfinite(highest[i]):
            refused[int(i)] = Outcome(False, "beyond float64", "moments of this sample overflow; rescale it")
        elif count < k and not there[i]:
            refused[int(i)] = _too_few(goal[:, i], count, float(first[i]), None if weights is not None else z.shape[1])
    if k % 2 == 0:
        hankel = goal[np.add.outer(np.arange(k // 2 + 1), np.arange(k // 2 + 1))].T
        spare = np.linalg.det(hankel) / np.linalg.det(hankel[:, :-1, :-1])
        for i in np.flatnonzero(~(spare > 0)):
            why = f"whatever the sample, it exceeds {goal[k, i] - spare[i]:.6g}"
            refused.setdefault(int(i), unattainable(goal[:, i], first[i], why))
    if weights is None and z.shape[1] <= _LOOKED_UP and k > 3:
        goals, kind = np.unique(goal, axis=1, return_inverse=True)
        if goals.shape[1] > _GOALS:
            return refused
        outside = np.array([beyond_any_sample(one, 0.0, z.shape[1], is_certain=True) is not None for one in goals.T])
        for i in np.flatnonzero(outside[kind] & ~there):
            none_has = beyond_any_sample(goal[:, i], float(first[i]), z.shape[1])
            if none_has is not None:
                refused.setdefault(int(i), none_has)
    return refused


def _too_few(goal: FloatArray, count: int, value: float, n_samples: int | None) -> Outcome:
    k = len(goal) - 1
    none_has = None if n_samples is None or k < 4 else beyond_any_sample(goal, value, n_samples)
    more = "" if n_samples is None or none_has is None else f"; no sample of {n_samples} values has it: " + needed(
        goal.tolist(), n_samples)
    return Outcome(
        False,
        "two-valued" if count == 2 else "too few distinct values",
        f"{count} distinct values are a critical point of moment {k}: it stays at {value:.6g} where {goal[k]:.6g} was "
        f"asked for (standardized); at least {k} distinct values are needed, break ties if noise is acceptable{more}",
    )
