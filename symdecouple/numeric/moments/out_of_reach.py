"""Why a moment cannot come to its target: what no sample of N values has, what these ties do not allow, what helps.

Both are counted: of many rows at once for the kurtosis beside a skewness (`kurtosis_ends`), else once for each number
of samples, each pattern of ties, and each goal (`tied_range`). Ends are limits of samples with the same ties, in which
values meet: who asks for an end is refused as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.hankel import Weights
from symdecouple.numeric.moments.kurtosis_ends import kurtosis_ends_of_any, least_size
from symdecouple.numeric.moments.tied_range import Reach, reach_of_any, reach_of_counts, smallest_size
from symdecouple.numeric.samples.batch import FloatArray, IntArray
from symdecouple.numeric.samples.matrix import BoolArray

__all__ = ["beyond_any_sample", "by_rounding", "comes_to", "end_before", "fallen_together", "groups_of", "needed",
           "refused_kurtosis", "unattainable", "why_out_of_reach"]

_WHATEVER = "whatever the ties"
_BY_TIES = {"critical point", "limit only", "moment not attainable", "no zero-skew point", "not attainable",
            "skewness out of reach", "too few distinct values", "two-valued", "zero variance"}
_ALONE = 8  # outer groups that are not merged where most are
_AT_END = 1e-14  # of a kurtosis, beside 1 + its value: the end of its range, to rounding


def groups_of(z: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return how often each distinct value of a sample (N,) is taken, in ascending order, or its weight.

    >>> groups_of(np.array([3.0, 1, 1, 7])).tolist()
    [2.0, 1.0, 1.0]
    """
    if weights is None:
        return np.unique(z, return_counts=True)[1].astype(np.float64)
    counts = weights > 0
    place = np.unique(z[counts], return_inverse=True)[1]
    return np.bincount(place, weights=weights[counts]).astype(np.float64)


def end_before(goal: FloatArray, groups: FloatArray) -> float | None:
    """Return what moment k of a sample ends at before it comes to goal[k]; None where counting allows that.

    It is certain: a target at an end, to ten digits, is left open.

    Parameters
    ----------
    goal : array (k + 1,)
        Standardized moments from order 0; all but the last are those of the sample.
    groups : array (d,)
        As `groups_of` returns them.

    Examples
    --------
    Two of nine values at either end cannot come apart; without skewness the fourth moment stays below 9/4:

    >>> ties = np.array([2.0, 1, 1, 1, 1, 1, 2])
    >>> round(end_before(np.array([1.0, 0, 1, 0, 3]), ties), 10), end_before(np.array([1.0, 0, 1, 0, 2.24]), ties)
    (2.25, None)
    """
    found = _counted(goal, groups, unless_inside=True)
    return None if found is None or not found.is_beyond(float(goal[-1])) else found.nearest(float(goal[-1]))


def why_out_of_reach(goal: FloatArray, first: float, groups: FloatArray, n_samples: int | None) -> Outcome | None:
    """Return why a sample, whose moment k is `first`, does not come to goal[k]; None where counting allows it.

    `goal` and `groups` are as in `end_before`; `n_samples` is None where samples are weighed and not counted.

    Examples
    --------
    >>> goal = np.array([1.0, 0, 1, 0, 3])
    >>> print(why_out_of_reach(goal, 1.7, np.ones(5), 5).detail)
    moment 4 is 1.7, 3 was asked for (standardized): no sample of 5 values has it: beside the moments before it, it \
stays in (1.25, 2.5), whatever the ties; N >= 7 is needed
    >>> why_out_of_reach(goal, 1.6, np.array([1.0, 1, 1, 1, 1, 3]), 8).detail[49:143]
    'not with these ties: 6 distinct values among 8, 3 of them tied at most, keep it in (1, 1.77143'
    """
    if n_samples is not None and (why := beyond_any_sample(goal, first, n_samples)) is not None:
        return why
    found = _counted(goal, groups, unless_inside=True)
    if found is None or found.side(float(goal[-1])) == 0:
        return None
    return unattainable(goal, first, _by_ties(found, goal, groups, n_samples))


def _is_inside(goal: FloatArray, groups: FloatArray) -> bool:
    """True where goal[k] is seen to be inside the range at once, without the corners of many groups.

    Groups that fall together leave less room: what is inside for them is inside for all. The ends of moments are where
    the outer groups stand alone, so only inner ones are merged, ever more of them.
    """
    half = len(groups) // 2
    if half <= 4 * _ALONE:
        return False
    inner = _ALONE * 2 ** np.arange(int(np.log2(half / _ALONE)) + 1)
    begins = np.concatenate([np.arange(_ALONE), inner, len(groups) - inner[::-1], np.arange(-_ALONE, 0) + len(groups)])
    found = _counted(goal, np.add.reduceat(groups, np.unique(begins)))
    return found is not None and found.side(float(goal[-1])) == 0


def _counted(goal: FloatArray, groups: FloatArray, *, unless_inside: bool = False) -> Reach | None:
    """What moment k can be with these ties; None where that is lost, or need not be known."""
    if not np.isfinite(goal).all() or len(groups) < 2 or (unless_inside and _is_inside(goal, groups)):
        return None
    found = reach_of_counts(np.asarray(groups, dtype=np.float64).tobytes(), tuple(goal[:-1].tolist()))
    return None if found is None or found.order != len(goal) - 1 else found


def beyond_any_sample(goal: FloatArray, first: float, n_samples: int, *, is_certain: bool = False) -> Outcome | None:
    """Return the same for a target that no sample of N values has beside the moments before it.

    What is certain does not rest on rounding: a target at an end, to ten digits, is left open, but for the kurtosis
    without skewness, whose ends are exact.
    """
    k = len(goal) - 1
    if not np.isfinite(goal).all():
        return None
    target, found = float(goal[k]), reach_of_any(n_samples, tuple(goal[:-1].tolist()))
    if found is None or found.order != k:
        return None
    if not found.is_beyond(target) if is_certain else found.side(target) == 0:
        return None
    has = "it is a limit for samples of {} values" if found.is_end(target) else "no sample of {} values has it"
    return unattainable(goal, first, f"{has.format(n_samples)}: beside the moments before it, it stays in "
                        f"{_open(found.low, found.high)}, {_WHATEVER}; {needed(goal.tolist(), n_samples)}")


def needed(goal: Sequence[float], n_samples: int) -> str:
    """Say how many values would do.

    >>> needed((1, 0, 1, 0, 3, 0, 15), 20)
    'N >= 22 is needed'
    """
    least = smallest_size(tuple(goal))
    if least is None:
        return "more than 256 values are needed, or another target"
    if least > n_samples:
        return f"N >= {least} is needed"
    return f"N = {least} would do, as even and odd numbers of samples have different ends"


def fallen_together(row: Any, moved: Any, seen: Outcome, digits: str = "float64") -> Outcome:
    """Return why a sample (N,) was refused at the level it was `moved` to, which may have ties that it has not.

    >>> why = fallen_together(np.array([0, 1e-9, 1, 2]), np.array([0, 0, 1, 2]), Outcome(False, "two-valued"))
    >>> why.reason
    'beyond float64'
    """
    is_other = (why := by_rounding(seen, digits)) is not seen and len(np.unique(moved)) < len(np.unique(row))
    return why if is_other else seen


def by_rounding(seen: Outcome, digits: str = "float64") -> Outcome:
    """Return why a sample was refused of which values came to one number."""
    if seen.reason not in _BY_TIES or _WHATEVER in seen.detail:
        return seen
    return Outcome(False, f"beyond {digits}", "values of the sample are so near to each other that they came to one "
                   "number on the way; tie those that are meant to be equal, or take more digits (dps= of a plan)")


def unattainable(goal: FloatArray, first: float, why: str) -> Outcome:
    """The outcome of a sample whose moment k is `first`."""
    k = len(goal) - 1
    return Outcome(
        False,
        "moment not attainable",
        f"moment {k} is {first:.6g}, {goal[k]:.6g} was asked for (standardized): {why}",
    )


def comes_to(k: int, value: float) -> str:
    """Say that a path of moment k ends at a value, and what would help."""
    return (f"on the path it comes to {value:.10g} and no farther, where the samples fall together to {k - 1} distinct "
            "values; ask for a value before it, take more samples, or break ties if noise is acceptable")


def _by_ties(found: Reach, goal: FloatArray, groups: FloatArray, n_samples: int | None) -> str:
    """What the ties of a sample leave, and what it is without them."""
    k = len(goal) - 1
    if n_samples is None:
        shares = groups / groups.sum()
        tied = f"{len(groups)} distinct values, {shares.max():.6g} of the weight on one of them at most,"
    else:
        tied = _tied(groups, n_samples)
    said = f"not with these ties: {tied} keep it in {_open(found.low, found.high)}"
    if n_samples is not None and (free := reach_of_any(n_samples, tuple(goal[:-1].tolist()))) and free.order == k:
        said += f", without ties it is in {_open(free.low, free.high)}"
    return f'{said}; {comes_to(k, found.nearest(float(goal[k])))}: decouple(..., perturb="ramp")'


def _tied(groups: FloatArray | IntArray, n_samples: int) -> str:
    return f"{len(groups)} distinct values among {n_samples}, {groups.max():.0f} of them tied at most,"


def _open(low: float, high: float) -> str:
    return f"({low:.6g}, {high:.6g})"


# --- the kurtosis beside a skewness ---


def refused_kurtosis(
    is_first: BoolArray, share: Weights, skewness: FloatArray, target: FloatArray, low: FloatArray, high: FloatArray
) -> dict[int, Outcome]:
    """Return the refusals of rows, (R, N), whose kurtosis is to be `target`, (R,), between two ends.

    `is_first` (R, N) says where groups of ties begin, in ascending order.

    Examples
    --------
    >>> told = refused_kurtosis(np.full((1, 5), True), None, *np.array([[0.0], [3.0], [1.25], [2.5]]))
    >>> print(told[0].detail)
    kurtosis 3 was wanted beside skewness 0; no sample of 5 values has it: beside this skewness it stays in \
(1.25, 2.5), whatever the ties; N >= 7 is needed
    """
    slack = _AT_END * (1 + np.abs(target))
    bad = np.flatnonzero(~((target > low + slack) & (target < high - slack)))
    if not len(bad):
        return {}
    n, found = is_first.shape[1], {}
    free = kurtosis_ends_of_any(np.full(len(bad), float(n)), skewness[bad]) if n > 2 else (low[bad], high[bad])
    least, above = np.full(len(bad), np.inf), np.flatnonzero(target[bad] > free[1])
    if len(above):
        least[above] = least_size(target[bad[above]], skewness[bad[above]])
    is_end = np.minimum(np.abs(target - low), np.abs(target - high)) <= slack
    for j, i in enumerate(bad.tolist()):
        counts = np.diff(np.flatnonzero(is_first[i]), append=n)
        wanted, g, tied = float(target[i]), float(skewness[i]), f"not with these ties: {_tied(counts, n)}"
        inside, whatever = _open(low[i], high[i]), _open(free[0][j], free[1][j])
        if is_end[i] and len(counts) > 3:
            found[i] = Outcome(False, "limit only", f"limit only: beside skewness {g:.6g} the kurtosis stays in "
                               f"{inside}, {wanted:.10g} was wanted, an end of it, where values meet; choose a "
                               "target strictly inside")
            continue
        if share is not None:
            why = f"not with these weights: {len(counts)} distinct values keep it in {inside}"
        elif not free[0][j] <= wanted <= free[1][j]:
            why = (f"no sample of {n} values has it: beside this skewness it stays in {whatever}, {_WHATEVER}; "
                   f"{_help(wanted, 1 + g**2, free[0][j], float(least[j]))}")
        elif len(counts) <= 3:
            why = f"{tied} have one kurtosis beside this skewness, {low[i]:.10g}"
        else:
            why = f"{tied} keep it in {inside}; without ties it is in {whatever}; break ties if noise is acceptable"
        found[i] = Outcome(False, "kurtosis out of reach", f"kurtosis {wanted:.6g} was wanted beside skewness {g:.6g}; "
                           f"{why}")
    return found


def _help(wanted: float, bound: float, low: float, least: float) -> str:
    """What would help a kurtosis that no sample of N values has: `bound` is the least of any law."""
    if wanted <= bound:
        return f"in every sample it is above 1 + skewness^2 = {bound:.6g}, or equal to it with two values"
    if wanted < low:
        return f"with more values it comes down to {bound:.6g}"
    return f"N >= {least:.0f} is needed" if least < np.inf else "more values are needed than a sample has"
