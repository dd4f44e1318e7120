"""What is known of narrow paths of the moments before a step is made: which targets are out of reach, and why.

It rests on counts of ties and on what any sample can reach: fewer than k distinct values are a critical point of the
k-th moment, a target must be a moment beside the ones held (the Hankel matrix), and without skewness a fourth moment
stays below N/2, or lower where many entries are equal at an end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.attainable import orthokurtosis_range
from symdecouple.numeric.moments.collapse import summit
from symdecouple.numeric.moments.course import Course
from symdecouple.numeric.moments.hankel import free_direction, hankel_norms, power_means
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["comes_to", "refused_at_once", "too_high"]

_FEW = 1e-7  # D_(k-1)/h_(2k-2) below which distinct values are counted
_HEAVY = 0.5  # share of the least and the largest value, times the fourth moment that is wanted: below, it can be had


def refused_at_once(course: Course, there: NDArray[np.bool_]) -> dict[int, Outcome]:
    """Rows whose target is out of reach whatever the path; `there` tells which are at their target."""
    k, n_samples = course.k, course.start.shape[1]
    refused: dict[int, Outcome] = {}
    _, norm = free_direction(course.start, k, course.weights)
    highest = power_means(course.start, 2 * k - 2, course.weights)[-1]
    for i in np.flatnonzero(~(norm > _FEW * highest)):
        counted = course.start[i] if course.weights is None else course.start[i][course.weights[i] > 0]
        count = len(np.unique(counted))
        if not np.isfinite(course.goal[:, i]).all() or not np.isfinite(highest[i]):
            refused[int(i)] = Outcome(False, "beyond float64", "moments of this sample overflow; rescale it")
        elif count < k and not there[i]:
            refused[int(i)] = _too_few(k, count, float(course.first[i]), float(course.goal[k, i]))
    if k % 2 == 0:
        spare = hankel_norms(course.goal)[-1]
        for i in np.flatnonzero(~(spare > 0)):
            least = course.goal[k, i] - spare[i]
            refused.setdefault(int(i), unattainable(course, i, f"whatever the sample, it exceeds {least:.6g}"))
    if k == 4 and course.weights is None:
        least, most = orthokurtosis_range(n_samples)
        wanted = course.goal[4]
        outside = (course.goal[3] == 0) & ~((least < wanted) & (wanted < most))
        for i in np.flatnonzero(outside & ~there):
            here = f"without skewness it stays inside ({least:.6g}, {most:.6g}) for {n_samples} samples"
            more = f", more than {2 * wanted[i]:.6g} are needed" if wanted[i] >= most else ""
            refused.setdefault(int(i), unattainable(course, i, here + more))
    return refused


def too_high(course: Course, there: NDArray[np.bool_], refused: dict[int, Outcome]) -> dict[int, FloatArray]:
    """The highest samples of rows whose fourth moment cannot rise so far, because many entries are equal at an end."""
    if course.k != 4:
        return {}
    found = {}
    share = 1 / course.start.shape[1] if course.weights is None else course.weights
    ends = [(course.start == end(course.start, axis=1, keepdims=True)) * share for end in (np.min, np.max)]
    heavy = (ends[0] + ends[1]).sum(axis=1) * course.goal[4] > _HEAVY
    for i in np.flatnonzero(heavy & (course.distance > 0) & ~there):
        if int(i) not in refused:
            top = summit(course.start[i], None if course.weights is None else course.weights[i], course.goal[:, i])
            if top is not None:
                found[int(i)] = top
    return found


def _too_few(k: int, count: int, value: float, target: float) -> Outcome:
    return Outcome(
        False,
        "two-valued" if count == 2 else "too few distinct values",
        f"{count} distinct values are a critical point of moment {k}: it stays at {value:.6g} where {target:.6g} was "
        f"asked for (standardized); at least {k} distinct values are needed, break ties if noise is acceptable",
    )


def unattainable(course: Course, i: int | np.intp, why: str) -> Outcome:
    return Outcome(
        False,
        "moment not attainable",
        f"moment {course.k} is {course.first[i]:.6g}, {course.goal[course.k, i]:.6g} was asked for (standardized): "
        + why,
    )


def comes_to(course: Course, i: int, value: float) -> Outcome:
    """Say that the path of row i ends at a value."""
    return unattainable(
        course,
        i,
        f"on the path it comes to {value:.10g} and no farther, where the samples fall together to {course.k - 1} "
        "distinct values; ask for a value before it, take more samples, or break ties if noise is acceptable",
    )
