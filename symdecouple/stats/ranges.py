"""Which values skewness, kurtosis and orthokurtosis can have at all: of any N values, or of a sample with its ties.

A statistic of N numbers is bounded, whatever the numbers are, and ties narrow its range: values that are equal stay
equal along every flow. Both are counted, nothing is integrated (Theorems C and J of the documentation).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments import attainable
from symdecouple.numeric.moments.out_of_reach import groups_of
from symdecouple.numeric.moments.power_sums import ZERO_VARIANCE
from symdecouple.numeric.moments.tied_range import kurtosis_of_counts, reach_of_counts
from symdecouple.numeric.moments.ties import Tied, ties_of, why_unreachable
from symdecouple.numeric.samples.batch import (
    Axis,
    FloatArray,
    NanPolicy,
    OnRefusal,
    RowValues,
    SampleMatrix,
    named,
    reduce_rows,
)
from symdecouple.tables.labelled import keeps_labels

__all__ = ["Range", "kurtosis_range", "orthokurtosis_range", "skewness_range"]

_NO_SKEW = (1.0, 0.0, 1.0, 0.0)  # moments 0 to 3 at which the orthokurtosis is taken


class Range(NamedTuple):
    """The two ends of a range: floats, or arrays with one entry a sample."""

    low: Any
    high: Any


@keeps_labels()
def skewness_range(
    a: Any,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    weights: Any = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> Range:
    """Smallest and largest skewness of any N values, or of samples with the same ties.

    .. math:: \\pm\\frac{N-2}{\\sqrt{N-1}}; \\qquad
        \\Bigl(-\\frac{1-2q}{\\sqrt{q(1-q)}},\\; \\frac{1-2p}{\\sqrt{p(1-p)}}\\Bigr)

    with q and p the shares of a sample tied at its minimum and its maximum. The second range is also what the sample
    reaches along its own skew flow x/(1 - t x) (Theorem C).

    Parameters
    ----------
    a : int or array_like
        A whole number N, at least 2: the range over all samples of N values. An array of one dimension or more: for
        each sample the range over those with its ties, in the same order.
    axis, nan_policy, keepdims, weights, groups, on_refusal, dim
        As in `skewness`, for samples; ties are then shares of weight.

    Returns
    -------
    Range
        ``(low, high)``, floats or arrays. For N both ends are attained, by one value apart from N - 1 equal ones; for a
        sample of three distinct values or more they are limits; of two distinct values both ends are the skewness. With
        ``on_refusal="return"`` ``(range, outcomes)``.

    Raises
    ------
    InvalidInput
        N is below 2 or no whole number, weights are given with N, or as in `skewness`.
    Refused
        As in `skewness`: a constant sample has no skewness.

    Examples
    --------
    >>> skewness_range(5)
    Range(low=-1.5, high=1.5)

    Half of the values tied at the minimum: the skewness is above 0, which is the limit.

    >>> low, high = skewness_range([0, 0, 1, 2])
    >>> float(low), round(float(high), 12)
    (0.0, 1.154700538379)

    Source: Theorem C of the documentation; the paper, sec. Critical Points, for the two-valued ends.
    """
    if (n_samples := _whole(a, "skewness_range", weights)) is not None:
        return Range(*attainable.skewness_range(n_samples))

    def interval(low: Tied, high: Tied, total: int, _: FloatArray) -> tuple[float, float]:
        return attainable.skewness_interval(low, high, total)

    return _reduced("skewness_range", a, interval, axis, nan_policy, keepdims, weights, on_refusal)


@keeps_labels()
def kurtosis_range(
    a: Any,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    weights: Any = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> Range:
    """Smallest and largest kurtosis of any N values, or of samples with the same ties, whatever their skewness.

    .. math:: 1 \\;(N \\text{ even}), \\quad \\frac{N^2+3}{N^2-1} \\;(N \\text{ odd}); \\qquad N - 2 + \\frac1{N-1}

    The least is that of two values taken as equally often as can be, the largest that of one value apart.

    Parameters
    ----------
    a, axis, nan_policy, keepdims, weights, on_refusal, dim
        As in `skewness_range`.

    Returns
    -------
    Range
        As in `skewness_range`. For a sample the ends belong to samples in which neighbouring values may have met: its
        own ties, and two or three values that are left of them.

    Raises
    ------
    InvalidInput, Refused
        As in `skewness_range`.

    Notes
    -----
    With mean and variance given, an extreme has at most three values, the zeros of a cubic polynomial without a
    quadratic term; three values have the sum 0, and the ends are found by going through the values in the middle.

    Examples
    --------
    >>> kurtosis_range(8)
    Range(low=1.0, high=6.142857142857143)
    >>> round(kurtosis_range(5).low * 6, 12)
    7.0

    Ten values, nine of them equal, have one kurtosis:

    >>> low, high = kurtosis_range([0] * 9 + [1])
    >>> round(float(low) * 9, 12), round(float(high) * 9, 12)
    (73.0, 73.0)
    """
    if (n_samples := _whole(a, "kurtosis_range", weights)) is not None:
        return Range(*attainable.kurtosis_range(n_samples))

    def interval(low: Tied, high: Tied, total: int, groups: FloatArray) -> tuple[float, float]:
        return kurtosis_of_counts(groups.tobytes())

    return _reduced("kurtosis_range", a, interval, axis, nan_policy, keepdims, weights, on_refusal)


@keeps_labels()
def orthokurtosis_range(
    a: Any,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    weights: Any = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> Range:
    """Smallest and largest orthokurtosis of any N values, or of samples with the same ties.

    .. math:: 1 \\;(N \\text{ even}), \\quad \\frac{N}{N-1} \\;(N \\text{ odd}); \\qquad \\frac N2

    It is the range of the kurtosis of samples without skewness. For N the upper end is attained by -1, 1 and N - 2
    zeros, the lower one by two values in equal numbers, with a zero between them for odd N.

    Parameters
    ----------
    a, axis, nan_policy, keepdims, weights, on_refusal, dim
        As in `skewness_range`.

    Returns
    -------
    Range
        As in `skewness_range`. For a sample of four distinct values or more the ends are limits (Theorem J): at the
        upper one all values but the least and the largest have met, at the lower one the lowest groups and the highest
        ones, with one group between them or none. Three distinct values have one orthokurtosis.

    Raises
    ------
    InvalidInput
        As in `skewness_range`.
    Refused
        As in `orthokurtosis`: no zero skewness with these ties.

    Examples
    --------
    >>> orthokurtosis_range(8), orthokurtosis_range(7).high
    (Range(low=1.0, high=4.0), 3.5)

    Eight values, the three largest tied: a kurtosis of 3 without skewness is not to be had.

    >>> low, high = orthokurtosis_range([1, 2, 3, 4, 5, 9, 9, 9])
    >>> round(float(high) * 35, 9)
    62.0

    Source: Theorem J of the documentation.
    """
    if (n_samples := _whole(a, "orthokurtosis_range", weights)) is not None:
        return Range(*attainable.orthokurtosis_range(n_samples))

    def interval(low: Tied, high: Tied, total: int, groups: FloatArray) -> tuple[float, float] | Outcome:
        if len(groups) == 2 and low == high:
            return 1.0, 1.0
        refused = why_unreachable(low, high, total)
        if refused is None and len(groups) == total:
            return attainable.orthokurtosis_range(total)
        found = None if refused else reach_of_counts(groups.tobytes(), _NO_SKEW)
        return refused or _LOST if found is None else (found.low, found.high)

    return _reduced("orthokurtosis_range", a, interval, axis, nan_policy, keepdims, weights, on_refusal)


_LOST = Outcome(False, "beyond float64", "the ends are lost in rounding: shares of weight differ too much; leave out "
                "what hardly counts")


def _whole(a: Any, name: str, weights: Any) -> int | None:
    """N, where that is given."""
    if isinstance(a, list | tuple) or np.ndim(a):
        return None
    expected = "a whole number N of 2 or more, or an array of samples, is expected"
    try:
        if isinstance(a, bool | np.bool_):
            raise TypeError
        n_samples = operator.index(a)
    except TypeError:
        raise InvalidInput(f"{name}: {a!r} was given, {expected}") from None
    if n_samples < 2:
        raise InvalidInput(f"{name}: N={n_samples} was given, {expected}; fewer values do not vary")
    if weights is not None:
        raise InvalidInput(f"{name}: weights were given with N={n_samples}; give them with the values that they count")
    return n_samples


def _reduced(
    name: str,
    a: Any,
    interval: Callable[[Tied, Tied, int, FloatArray], tuple[float, float] | Outcome],
    axis: Axis,
    nan_policy: NanPolicy,
    keepdims: bool,
    weights: Any,
    on_refusal: OnRefusal,
) -> Range:
    def kernel(matrix: SampleMatrix) -> RowValues:
        out, refusals, at_ends = np.full((len(matrix.low), 2), np.nan), dict[int, Outcome](), ties_of(matrix).exact
        for i in range(len(matrix.low)):
            found = ZERO_VARIANCE if matrix.low[i] == matrix.high[i] else interval(*at_ends(i), groups_of(
                matrix.values[i], None if matrix.weights is None else matrix.weights[i]))
            if isinstance(found, Outcome):
                refusals[i] = found
            else:
                out[i] = found
        return RowValues(out, refusals)

    found = reduce_rows(name, a, kernel, axis=axis, nan_policy=nan_policy, keepdims=keepdims, weights=weights,
                        on_refusal=on_refusal, columns=2, frames=6)
    return named(Range, found, on_refusal)
