r"""Tests of normality by the shape of samples: the orthokurtosis alone, and together with the skewness.

The skewness and the kurtosis of normal samples are uncorrelated, and yet they rise together: where one is far out, the
other one is. The kurtosis of normal samples correlates with the *square* of the skewness, 0.48 at N = 50, the
orthokurtosis 0.17. So the sum of the squares of two normal scores is near the chi-squared law for skewness and
orthokurtosis, and is not for skewness and kurtosis, whose test rejects twice as often as it says at 1%.

A normal sample's orthokurtosis depends on N alone: its law is known by simulation (`numeric.moments.normal_null`).
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments.normal_null import SMALLEST_OMNIBUS, Null, null_of, simulated
from symdecouple.numeric.moments.power_sums import ZERO_VARIANCE, skewness_rows
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
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
from symdecouple.numeric.samples.intake import check_choice
from symdecouple.stats.estimates import Alternative
from symdecouple.tables.labelled import keeps_labels

__all__ = ["ShapeTest", "normality_test", "orthokurtosis_test"]

_SMALLEST = 4  # three values have the orthokurtosis 1.5, whatever they are


class ShapeTest(NamedTuple):
    """What a test found, as in `scipy.stats`.

    Attributes
    ----------
    statistic : float or ndarray
    pvalue : float or ndarray
    """

    statistic: Any
    pvalue: Any


@keeps_labels()
def orthokurtosis_test(
    a: Any,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    *,
    alternative: Alternative = "two-sided",
    method: Any = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
) -> ShapeTest:
    """Test whether samples have the orthokurtosis of normal ones.

    Parameters
    ----------
    a : array_like
        Independent values, four or more a sample: real numbers of any kind, as in `skewness`.
    axis, nan_policy, groups, on_refusal
        As in `skewness`.
    alternative : {"two-sided", "less", "greater"}
        "greater" for tails heavier than normal ones, "less" for lighter ones.
    method : scipy.stats.MonteCarloMethod, optional
        Simulate normal samples of this size: ``method.n_resamples`` of them, by ``method.rng``. Unless given, tables
        are taken from 16 values on, and 100000 samples simulated below, always the same ones.

    Returns
    -------
    ShapeTest
        `statistic`, which is standard normal for normal samples, and `pvalue`. With ``on_refusal="return"``
        ``(result, outcomes)``.

    Raises
    ------
    InvalidInput
        As for `skewness`; or `method` is unknown.
    Refused
        With ``on_refusal="raise"``: a sample has no orthokurtosis, or fewer than four values (three have always 3/2).

    Notes
    -----
    p values of the tables are right to 0.0005, and to 5% of themselves down to 0.001, at any N from 16 on; below 3e-5
    they are extrapolated. Samples of rounded values that tie here and there are no different.

    How often samples of other laws are found at 5%, beside `scipy.stats.kurtosistest`: it finds symmetric heavy and
    light tails somewhat oftener, and takes skewness for kurtosis, which this one does not:

    ==================  ==============  ==============
    law                 N = 50          N = 200
    ==================  ==============  ==============
    t, 5 d.f.           0.32 (0.38)     0.85 (0.86)
    Laplace             0.51 (0.51)     0.96 (0.96)
    uniform             0.88 (0.89)     1.00 (1.00)
    beta(2, 2)          0.32 (0.38)     0.98 (0.99)
    lognormal, 0.3      0.05 (0.26)     0.06 (0.61)
    Gumbel              0.05 (0.32)     0.06 (0.75)
    exponential         0.61 (0.64)     1.00 (0.99)
    ==================  ==============  ==============

    Exponential samples are found for tails *lighter* than normal ones, once the skewness is gone.

    Examples
    --------
    >>> values = [-2.2, -1.3, -0.9, -0.7, -0.5, -0.4, -0.2, -0.1, 0, 0.1, 0.3, 0.4, 0.6, 0.8, 1.1, 1.4, 1.9, 9]
    >>> found = orthokurtosis_test(values)
    >>> round(float(found.statistic), 2), round(float(found.pvalue), 3)
    (2.87, 0.004)
    >>> print(orthokurtosis_test([1, 2, 40], on_refusal="return")[1][0].reason)
    too few values
    """
    check_choice("alternative", alternative, get_args(Alternative))
    kernel = partial(_orthokurtosis_rows, alternative=alternative, simulate=_simulation(method))
    found = reduce_rows("orthokurtosis_test", a, kernel, axis=axis, nan_policy=nan_policy, on_refusal=on_refusal,
                        columns=2)
    return named(ShapeTest, found, on_refusal)


@keeps_labels()
def normality_test(
    a: Any,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    *,
    method: Any = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
) -> ShapeTest:
    """Test whether samples are normal, by skewness and orthokurtosis together.

    .. math:: K^2 = Z(g)^2 + Z(\\kappa^\\perp)^2

    with the normal scores of both: D'Agostino's of the skewness, and that of `orthokurtosis_test`.

    Parameters
    ----------
    a, axis, nan_policy, method, groups, on_refusal
        As in `orthokurtosis_test`; eight values or more a sample.

    Returns
    -------
    ShapeTest
        `statistic` and `pvalue`. With ``on_refusal="return"`` ``(result, outcomes)``.

    Raises
    ------
    InvalidInput, Refused
        As `orthokurtosis_test`.

    Notes
    -----
    Nearly chi-squared with two degrees of freedom; what is left is corrected by tables from 16 values on and by
    simulation below. Share of normal samples with a p value below 0.01, of 10^5 and more:

    ==========================  =======  =======  ========  ========
    test                        N = 20   N = 50   N = 200   N = 1000
    ==========================  =======  =======  ========  ========
    this one                    0.010    0.010    0.010     0.010
    `scipy.stats.normaltest`    0.020    0.019    0.015     0.011
    `scipy.stats.jarque_bera`   0.011    0.017    0.018     0.014
    ==========================  =======  =======  ========  ========

    It finds what `scipy.stats.normaltest` finds about as often, though it rejects fewer normal samples: at 5% and
    N = 50, 0.43 of t samples with 5 degrees of freedom (0.42), 0.59 of Laplace ones (0.52), 1.00 of exponential ones
    (0.96); fewer of uniform ones, 0.76 (0.79), and of beta(2, 2), 0.18 (0.23). Of skewed laws
    `scipy.stats.shapiro` finds more.

    Examples
    --------
    >>> found = normality_test([0.1, 0.2, 0.2, 0.3, 0.4, 0.6, 0.7, 1.1, 1.9, 4.8, 0.5, 0.9])
    >>> bool(found.pvalue < 0.01)
    True
    """
    kernel = partial(_omnibus_rows, simulate=_simulation(method))
    found = reduce_rows("normality_test", a, kernel, axis=axis, nan_policy=nan_policy, on_refusal=on_refusal, columns=2)
    return named(ShapeTest, found, on_refusal)


class _Simulation:
    """Null laws of one call, one for each size; those of the tables where nothing else is asked for."""

    def __init__(self, n_resamples: int | None, rng: Any) -> None:
        self._n_resamples, self._rng = n_resamples, rng
        self._known: dict[int, Null] = {}

    def __call__(self, n: int) -> Null:
        if self._n_resamples is None:
            return null_of(n)
        if n not in self._known:
            self._known[n] = simulated(n, self._n_resamples, self._rng)
        return self._known[n]


def _simulation(method: Any) -> _Simulation:
    if method is None:
        return _Simulation(None, None)
    count: Any = getattr(method, "n_resamples", None)
    is_count = isinstance(count, int | np.integer) and not isinstance(count, bool) and count > 0
    if not is_count or getattr(method, "rvs", "none") is not None:
        raise InvalidInput(f"method={method!r:.80} was given; None, or scipy.stats.MonteCarloMethod(n_resamples=...) "
                           "without rvs, is expected")
    return _Simulation(int(count), np.random.default_rng(getattr(method, "rng", None)))


def _orthokurtosis_rows(matrix: SampleMatrix, alternative: Alternative, simulate: _Simulation) -> RowValues:
    n = matrix.values.shape[1]
    if n < _SMALLEST:
        return _too_few(matrix, _SMALLEST)
    found, null = orthokurtosis_rows(matrix), simulate(n)
    score = null.score(found.values)
    return RowValues(np.column_stack([score, null.pvalue(found.values, alternative)]), found.refusals)


def _omnibus_rows(matrix: SampleMatrix, simulate: _Simulation) -> RowValues:
    n = matrix.values.shape[1]
    if n < SMALLEST_OMNIBUS:
        return _too_few(matrix, SMALLEST_OMNIBUS)
    skewness, found, null = skewness_rows(matrix).values, orthokurtosis_rows(matrix), simulate(n)
    statistic = null.omnibus(skewness, found.values)
    return RowValues(np.column_stack([statistic, null.omnibus_pvalue(statistic)]), found.refusals)


def _too_few(matrix: SampleMatrix, fewest: int) -> RowValues:
    nothing: FloatArray = np.full((len(matrix.low), 2), np.nan)
    few = Outcome(False, "too few values", f"{matrix.values.shape[1]} values are left, and the test takes {fewest}")
    return RowValues(nothing, {i: ZERO_VARIANCE if matrix.low[i] == matrix.high[i] else few
                               for i in range(len(nothing))})
