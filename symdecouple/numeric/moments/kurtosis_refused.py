"""Why a sample cannot have a kurtosis beside a skewness: what no sample of N values has, what these ties do not allow.

The ends are counted (`kurtosis_ends`), for many rows at once. They are limits of samples with the same ties, in which
values meet: who asks for an end is refused as well.
"""

from __future__ import annotations

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.hankel import Weights
from symdecouple.numeric.moments.kurtosis_ends import kurtosis_ends_of_any, least_size
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["CORNER", "crowded", "near_boundary", "refused_kurtosis"]

_AT_END = 1e-14  # of a kurtosis, beside 1 + its value: the end of its range, to rounding
CORNER = 1e-3  # of the range from its ends: within, what float64 cannot do is told as nearness to the boundary


def refused_kurtosis(
    first: IntArray, share: Weights, skewness: FloatArray, target: FloatArray, low: FloatArray, high: FloatArray
) -> dict[int, Outcome]:
    """Return the refusals of sorted rows, (R, N), whose kurtosis is to be `target`, (R,), between two ends.

    Examples
    --------
    >>> told = refused_kurtosis(np.arange(5)[None], None, *np.array([[0.0], [3.0], [1.25], [2.5]]))
    >>> print(told[0].detail)
    kurtosis 3 was wanted beside skewness 0; no sample of 5 values has it: beside this skewness it stays in \
(1.25, 2.5), whatever the ties; N >= 7 is needed
    """
    slack = _AT_END * (1 + np.abs(target))
    bad = np.flatnonzero(~((target > low + slack) & (target < high - slack)))
    if not len(bad):
        return {}
    n, found = first.shape[1], {}
    free = kurtosis_ends_of_any(np.full(len(bad), float(n)), skewness[bad]) if n > 2 else (low[bad], high[bad])
    least = np.full(len(bad), np.inf)
    above = np.flatnonzero((target[bad] > free[1]) & (share is None))
    if len(above):
        least[above] = least_size(target[bad[above]], skewness[bad[above]])
    is_end = np.minimum(np.abs(target - low), np.abs(target - high)) <= slack
    for j, i in enumerate(bad.tolist()):
        counts = np.unique(first[i], return_counts=True)[1]
        wanted, g, inside, any_ = float(target[i]), float(skewness[i]), (low[i], high[i]), (free[0][j], free[1][j])
        tied = f"not with these ties: {len(counts)} distinct values among {n}, {counts.max()} of them tied at most,"
        if is_end[i] and len(counts) > 3:
            found[i] = Outcome(False, "limit only", f"limit only: beside skewness {g:.6g} the kurtosis stays in "
                               f"{_open(inside)}, {wanted:.10g} was wanted, an end of it, where values meet; choose a "
                               "target strictly inside")
            continue
        if share is not None:
            why = f"not with these weights: {len(counts)} distinct values keep it in {_open(inside)}"
        elif not any_[0] <= wanted <= any_[1]:
            why = (f"no sample of {n} values has it: beside this skewness it stays in {_open(any_)}, whatever the "
                   f"ties; {_help(wanted, 1 + g**2, any_[0], float(least[j]))}")
        elif len(counts) <= 3:
            why = f"{tied} have one kurtosis beside this skewness, {inside[0]:.10g}"
        else:
            why = (f"{tied} keep it in {_open(inside)}; without ties it is in {_open(any_)}; break ties if noise is "
                   "acceptable")
        found[i] = Outcome(False, "kurtosis out of reach", f"kurtosis {wanted:.6g} was wanted beside skewness {g:.6g}; "
                           f"{why}")
    return found


def _open(ends: tuple[float, float]) -> str:
    return f"({ends[0]:.6g}, {ends[1]:.6g})"


def _help(wanted: float, bound: float, low: float, least: float) -> str:
    """What would help a kurtosis that no sample of N values has: `bound` is the least of any law."""
    if wanted <= bound:
        return f"in every sample it is above 1 + skewness^2 = {bound:.6g}, or equal to it with two values"
    if wanted < low:
        return f"with more values it comes down to {bound:.6g}"
    return f"N >= {least:.0f} is needed" if least < np.inf else "more values are needed than a sample has"


def near_boundary(order: int, target: float, margin: float) -> Outcome:
    """A target that is inside, by this share of the range from an end, and was not met."""
    return Outcome(False, "near the boundary", f"moment {order} (standardized) can be {target:.10g}, but that is only "
                   f"{margin:.1e} of its range from an end, where values meet; ask for a value farther inside")


def crowded(gap: float) -> Outcome:
    """Statistics that came so near and no nearer."""
    return Outcome(False, "beyond float64", f"the statistics come to {gap:.1e} of their targets and no nearer: the "
                   "sample crowds beyond float64; ask for less, or tie the values that are meant to be equal")
