"""What a sample of N values can reach, from N and from ties alone: skewness, orthokurtosis, ends of narrow paths.

*Skewness.* Theorem C: along x/(1 - t x) the skewness of a sample with at least three distinct values runs strictly
between two ends. At either end the sample has become two-valued: the ties at the minimum against all others, or the
ties at the maximum against all others. Two values, the upper one with the share p, have the skewness
(1-2p)/sqrt(p(1-p)). Comparisons with these ends are made in rational arithmetic: the end squared is a ratio of
integers.

*Moment k, the lower ones held.* A critical point has k - 1 atoms, the roots a_1 < .. < a_(k-1) of p_(k-1). Near it the
difference of two values of one cluster changes by

    d(v - u)/ds = rate (p_(k-1)(v) - p_(k-1)(u)),      rate = D/(k D_(k-1))

so clusters at the roots with rate p' < 0 contract, those at every other root are pulled apart. A path can end there
only if each of the latter is a single value; then it does end there, once the contracting clusters lie where p' keeps
its sign. What is reached follows from the shares of the atoms: k - 1 positions from k - 1 held moments, by Newton's
method. For the fourth moment on its way up only one such point exists: the least and the largest value apart, all
others in the middle. It is the highest of all, and known before a step is made.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.hankel import Weights, free_direction, hankel_norms, orthogonal_basis, power_means
from symdecouple.numeric.moments.out_of_reach import beyond_any_sample, needed, unattainable, why_out_of_reach
from symdecouple.numeric.samples.batch import FloatArray

__all__ = [
    "atoms", "beyond_end", "comes_to", "kurtosis_range", "orthokurtosis_range", "pulled_apart", "refused_at_once",
    "saturated_skewness", "skewness_interval", "skewness_range", "summit", "too_high", "why_ended",
]

_FEW = 1e-7  # D_(k-1)/h_(2k-2) below which distinct values are counted: rounding leaves four digits of it, at least
_HEAVY = 0.5  # share of the least and the largest value, times the fourth moment that is wanted: below, it can be had
_NEAR = 0.2  # of the distance to the next zero of p': within, a cluster counts as caught
_LOOKED_UP, _GOALS = 128, 4  # samples and goals up to which ranges are looked up before a path is followed
_NEWTON = 30  # quadratic from where clusters are caught; more only where it fails
_LOG_RANGE = 40.0  # of the ratio of two distances: beyond, one of them is rounding


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


def atoms(z: FloatArray, weights: FloatArray | None, goal: FloatArray) -> FloatArray | None:
    """The sample (N,) that the path of z (N,) ends at before it comes to its goal; None where it may go on.

    Parameters
    ----------
    z : array (N,)
        Near mean 0 and variance 1, near the end of its path.
    weights : array (N,) or None
    goal : array (k + 1,)
        Moments at the end of the path, from order 0; all but the last are those of z.

    Examples
    --------
    Two of nine values at either end cannot come apart; the fourth moment ends at 9/4:

    >>> z = np.array([-1.5, -1.5, -0.1, -0.05, 0, 0.05, 0.1, 1.5, 1.5])
    >>> z /= np.sqrt(np.mean(z**2))
    >>> end = atoms(z, None, np.array([1.0, 0, 1, 0, 3]))
    >>> (np.round(end, 12) + 0.0).tolist()
    [-1.5, -1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5, 1.5]
    >>> atoms(z, None, np.array([1.0, 0, 1, 0, 2.24])) is None
    True
    """
    k = len(goal) - 1
    share = np.full(len(z), 1 / len(z)) if weights is None else weights
    basis, _ = orthogonal_basis(z[None], k, share[None])
    beside = np.sqrt(basis.ratio[1:, 0])
    if not np.isfinite(basis.centre).all() or not (beside > 0).all():
        return None
    roots = np.linalg.eigvalsh(np.diag(basis.centre[:, 0]) + np.diag(beside, 1) + np.diag(beside, -1))
    turns = np.sort(np.roots(np.polyder(np.poly(roots))).real)
    rising = float(share @ z**k) < goal[k]
    contracts = (np.arange(k - 1)[::-1] % 2 == 1) == rising
    which = np.searchsorted(turns, z)
    for j in range(k - 1):
        cluster = z[(which == j) & (share > 0)]
        reach = _NEAR * np.min(np.abs(turns[max(j - 1, 0) : j + 1] - roots[j]))
        if not len(cluster) or not np.all(np.abs(cluster - roots[j]) <= reach):
            return None
        if not contracts[j] and not np.all(cluster == cluster[0]):
            return None
    masses: FloatArray = np.bincount(which, weights=share, minlength=k - 1).astype(np.float64)
    ends = _positions(roots, masses, goal[1:k])
    reached = float(masses @ ends**k)
    if not np.all(np.abs(ends - roots) <= _NEAR * np.min(np.diff(roots))) or (reached < goal[k]) != rising:
        return None
    caught: FloatArray = ends[which]
    return caught


def summit(z: FloatArray, weights: FloatArray | None, goal: FloatArray) -> FloatArray | None:
    """The sample (N,) of the highest fourth moment beside the held ones, if that is below goal[4]; known beforehand.

    Every path that raises it leads there: the least and the largest value are pulled out, all others are one atom. The
    distances to it are found by bisection.

    Examples
    --------
    >>> z = np.array([-2.0, -2, -1, 0, 0.5, 0.5, 1, 1, 2])
    >>> top = summit((z - z.mean()) / z.std(), None, np.array([1.0, 0, 1, 0, 9]))
    >>> sorted(np.unique(top, return_counts=True)[1].tolist())
    [1, 2, 6]
    """
    share = np.full(len(z), 1 / len(z)) if weights is None else weights
    values = z[share > 0]
    low, high = values.min(), values.max()
    which = np.where(z <= low, 0, np.where(z < high, 1, 2))
    masses: FloatArray = np.bincount(which, weights=share, minlength=3).astype(np.float64)
    most = float(z @ (share * z**3))
    if len(goal) != 5 or not masses[1] > 0 or not most < goal[4]:
        return None

    def placed(log_ratio: float) -> FloatArray:
        at = np.array([-np.exp(log_ratio), 0.0, 1.0])
        at -= masses @ at
        centred: FloatArray = at / np.sqrt(masses @ at**2)
        return centred

    near, far = -_LOG_RANGE, _LOG_RANGE  # the lower atom moves out, the skewness falls
    while far - near > 1e-13 * _LOG_RANGE:
        middle = (near + far) / 2
        near, far = (middle, far) if masses @ placed(middle) ** 3 > goal[3] else (near, middle)
    ends = _positions(placed(near), masses, goal[1:4])
    if not masses @ ends**4 < goal[4] or not np.all(np.diff(ends) > 0):
        return None
    top: FloatArray = ends[which]
    return top


def _positions(roots: FloatArray, masses: FloatArray, held: FloatArray) -> FloatArray:
    """Positions of atoms with these masses and moments 1, 2, .., by Newton's method; NaN where there are none near."""
    order = np.arange(1, len(held) + 1)[:, None]
    at, before = roots, np.inf
    for _ in range(_NEWTON):
        try:
            step = np.linalg.solve(order * masses * at ** (order - 1), held - (masses * at**order).sum(axis=1))
        except np.linalg.LinAlgError:  # two of them met, or one has no mass
            break
        at = at + step
        size = float(np.abs(step).max())
        if not size > 1e-15 or (size >= before and size < 1e-12):
            return at
        before = size
    return np.full_like(at, np.nan)


def refused_at_once(
    z: FloatArray, weights: Weights, goal: FloatArray, first: FloatArray, there: NDArray[np.bool_]
) -> dict[int, Outcome]:
    """Rows (R, N), standardized, whose moment k is out of reach whatever the path.

    `goal` (k + 1, R) are the moments that hold and the one to be reached, `first` (R,) what that is at the start;
    `there` tells which rows are at their goal.
    """
    k, refused = len(goal) - 1, dict[int, Outcome]()
    _, norm = free_direction(z, k, weights)
    highest = power_means(z, 2 * k - 2, weights)[-1]
    for i in np.flatnonzero(~(norm > _FEW * highest)):
        count = len(np.unique(z[i] if weights is None else z[i][weights[i] > 0]))
        if not np.isfinite(goal[:, i]).all() or not np.isfinite(highest[i]):
            refused[int(i)] = Outcome(False, "beyond float64", "moments of this sample overflow; rescale it")
        elif count < k and not there[i]:
            refused[int(i)] = _too_few(goal[:, i], count, float(first[i]), None if weights is not None else z.shape[1])
    if k % 2 == 0:
        spare = hankel_norms(goal)[-1]
        for i in np.flatnonzero(~(spare > 0)):
            why = f"whatever the sample, it exceeds {goal[k, i] - spare[i]:.6g}"
            refused.setdefault(int(i), unattainable(goal[:, i], first[i], why))
    if weights is None and z.shape[1] <= _LOOKED_UP and len(goals := np.unique(goal, axis=1).T) <= _GOALS:
        beyond = [one for one in goals if k > 3 and beyond_any_sample(
            one, 0.0, z.shape[1], is_certain=True) is not None]
        outside = np.array([any((column == one).all() for one in beyond) for column in goal.T], dtype=np.bool_)
        for i in np.flatnonzero(outside & ~there):
            told = beyond_any_sample(goal[:, i], float(first[i]), z.shape[1])
            if told is not None:
                refused.setdefault(int(i), told)
    return refused


def too_high(
    z: FloatArray, weights: Weights, goal: FloatArray, first: FloatArray, left: NDArray[np.bool_]
) -> dict[int, FloatArray]:
    """The highest samples of rows, among those `left`, whose fourth moment cannot rise so far: ties at the ends."""
    if len(goal) != 5:
        return {}
    found, share = {}, 1 / z.shape[1] if weights is None else weights
    ends = [(z == end(z, axis=1, keepdims=True)) * share for end in (np.min, np.max)]
    heavy = (ends[0] + ends[1]).sum(axis=1) * goal[4] > _HEAVY
    for i in np.flatnonzero(heavy & (goal[4] > first) & left):
        top = summit(z[i], None if weights is None else weights[i], goal[:, i])
        if top is not None:
            found[int(i)] = top
    return found


def why_ended(
    goal: FloatArray, first: float, ties: tuple[FloatArray, int | None], value: float, is_caught: bool, is_there: bool,
    steps: int,
) -> Outcome:
    """Say why the path of one row ended at a value: what counting tells, or what was seen.

    `ties` are the groups of the row and its number of samples, None where these are weighed; `is_caught` tells that
    k - 1 distinct values were left, `is_there` that it came to its end and only rounding is left.
    """
    told = why_out_of_reach(goal, first, *ties, value=value if is_caught else None)
    if told is not None or is_caught:
        return told or comes_to(goal, first, value)
    return Outcome(
        False,
        "beyond float64" if is_there else "not converged",
        f"moment {len(goal) - 1} came to {value:.10g} after {steps} steps, {goal[-1]:.10g} was asked for "
        "(standardized); the sample crowds beyond the reach of float64",
    )


def comes_to(goal: FloatArray, first: float, value: float) -> Outcome:
    """Say that the path of one row ends at a value; `goal` (k + 1,)."""
    return unattainable(
        goal,
        first,
        f"on the path it comes to {value:.10g} and no farther, where the samples fall together to {len(goal) - 2} "
        "distinct values; ask for a value before it, take more samples, or break ties if noise is acceptable",
    )


def _too_few(goal: FloatArray, count: int, value: float, n_samples: int | None) -> Outcome:
    k = len(goal) - 1
    told = None if n_samples is None or k < 4 else beyond_any_sample(goal, value, n_samples)
    more = "" if n_samples is None or told is None else f"; no sample of {n_samples} values has it: " + needed(
        goal.tolist(), n_samples)
    return Outcome(
        False,
        "two-valued" if count == 2 else "too few distinct values",
        f"{count} distinct values are a critical point of moment {k}: it stays at {value:.6g} where {goal[k]:.6g} was "
        f"asked for (standardized); at least {k} distinct values are needed, break ties if noise is acceptable{more}",
    )


def pulled_apart(k: int, growth: float) -> Outcome:
    """Say that rounding grew too much on the way to level k."""
    return Outcome(
        False,
        "beyond float64",
        f"moment {k} is attainable, but the sample is so crowded that its values are pulled apart by a factor "
        f"{growth:.2g}, and their rounding with them; tie the values that are meant to be equal",
    )
