"""Why a sample cannot have a kurtosis beside a skewness: what no sample of N values has, what these ties do not allow.

The ends are counted (`kurtosis_ends`), for many rows at once. They are limits of samples with the same ties, in which
values meet: who asks for an end is refused as well.
"""

from __future__ import annotations

from dataclasses import dataclass

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
        groups = np.unique(first[i], return_counts=True)[1]
        words = _Words(float(target[i]), float(skewness[i]), float(low[i]), float(high[i]), groups, n)
        inside = (float(free[0][j]), float(free[1][j]))
        if is_end[i] and len(groups) > 3:
            found[i] = words.at_end()
        elif share is not None:
            found[i] = words.of_weights()
        elif not inside[0] <= words.target <= inside[1]:
            found[i] = words.of_any(*inside, float(least[j]))
        else:
            found[i] = words.of_ties(*inside)
    return found


@dataclass(frozen=True, slots=True)
class _Words:
    """What is said of a kurtosis that a sample with such groups cannot have."""

    target: float
    skewness: float
    low: float
    high: float
    groups: IntArray
    n_samples: int

    def at_end(self) -> Outcome:
        """An end of the range."""
        return Outcome(False, "limit only", f"limit only: beside skewness {self.skewness:.6g} the kurtosis stays in "
                       f"({self.low:.6g}, {self.high:.6g}), {self.target:.10g} was wanted, an end of it, where values "
                       "meet; choose a target strictly inside")

    def of_any(self, low: float, high: float, least: float) -> Outcome:
        """No sample of N values has it."""
        bound = 1 + self.skewness**2
        if self.target <= bound:
            more = f"in every sample it is above 1 + skewness^2 = {bound:.6g}, or equal to it with two values"
        elif self.target < low:
            more = f"with more values it comes down to {bound:.6g}"
        else:
            more = f"N >= {least:.0f} is needed" if least < np.inf else "more values are needed than a sample has"
        return self._told(f"no sample of {self.n_samples} values has it: beside this skewness it stays in ({low:.6g}, "
                          f"{high:.6g}), whatever the ties; {more}")

    def of_ties(self, low: float, high: float) -> Outcome:
        """Samples with these ties do not have it."""
        tied = f"{len(self.groups)} distinct values among {self.n_samples}, {self.groups.max()} of them tied at most,"
        if len(self.groups) <= 3:
            return self._told(f"not with these ties: {tied} have one kurtosis beside this skewness, {self.low:.10g}")
        return self._told(f"not with these ties: {tied} keep it in ({self.low:.6g}, {self.high:.6g}); without ties it "
                          f"is in ({low:.6g}, {high:.6g}); break ties if noise is acceptable")

    def of_weights(self) -> Outcome:
        """Values with these weights do not have it."""
        return self._told(f"not with these weights: {len(self.groups)} distinct values keep it in ({self.low:.6g}, "
                          f"{self.high:.6g})")

    def _told(self, why: str) -> Outcome:
        return Outcome(False, "kurtosis out of reach", f"kurtosis {self.target:.6g} was wanted beside skewness "
                       f"{self.skewness:.6g}; {why}")


def near_boundary(order: int, target: float, margin: float) -> Outcome:
    """A target that is inside, by this share of the range from an end, and was not met."""
    return Outcome(False, "near the boundary", f"moment {order} (standardized) can be {target:.10g}, but that is only "
                   f"{margin:.1e} of its range from an end, where values meet; ask for a value farther inside")


def crowded(gap: float) -> Outcome:
    """Statistics that came so near and no nearer."""
    return Outcome(False, "beyond float64", f"the statistics come to {gap:.1e} of their targets and no nearer: the "
                   "sample crowds beyond float64; ask for less, or tie the values that are meant to be equal")
