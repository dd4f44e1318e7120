"""Skewness, kurtosis and orthokurtosis of samples: the shape that is left when place and size are taken out.

Moments are those of the population (1/N), the kurtosis is not in excess, unless `bias=False` or `fisher=True` ask for
SciPy's other conventions. All three do not feel a shift or a positive
factor; the orthokurtosis does not feel the skewness either: its gradient is orthogonal to those of mean, variance and
skewness at every sample where it exists.

Samples without an answer are never NaN in silence: see `on_refusal`. NaN in the input is another matter and follows
`nan_policy`, as in SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments.power_sums import kurtosis_rows, skewness_rows
from symdecouple.numeric.moments.skewness_kernel import orthokurtosis_kernel
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.samples.batch import (
    Axis,
    Kernel,
    NanPolicy,
    OnRefusal,
    RowValues,
    SampleMatrix,
    reduce_rows,
)
from symdecouple.numeric.samples.kinds import Number
from symdecouple.tables.labelled import keeps_labels

__all__ = ["in_convention", "kurtosis", "orthokurtosis", "skewness"]

_Correction: TypeAlias = Callable[[Any, int], Any]


@keeps_labels()
def skewness(
    a: Any,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    weights: Any = None,
    bias: bool = True,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> Number:
    """The third standardized moment of each sample.

    .. math:: m_3 / m_2^{3/2}, \\qquad m_k = \\frac1N \\sum_n (x_n - \\bar x)^k

    Parameters
    ----------
    a : array_like, Series or DataFrame
        Real numbers: floats, integers, masked arrays (masked entries are left out), or objects that are numbers
        (int of any size, Fraction, Decimal, mpmath and SymPy numbers). Booleans, text and complex numbers are refused.
    axis : int, tuple of int or None
        The axes that form one sample of N values; None takes the whole array.
    nan_policy : {"propagate", "omit", "raise"}
        For NaN in the input: NaN in the result; leave out; or `InvalidInput`.
    keepdims : bool
        Keep the reduced axes with length one.
    weights : array_like, optional
        How often each entry counts: 0 or more, with Mean(phi) = sum(w phi)/sum(w). Of the shape of the sample axes (1-D
        along `axis`), or broadcast against `a`. Only their ratios matter; whole numbers give what repeating the entries
        gives, and 0 leaves an entry out. NaN among them is NaN in the input.
    bias : bool
        False corrects for the bias of normal samples, times sqrt(N (N - 1))/(N - 2), as in `scipy.stats.skew`; it takes
        three values, and no weights, whose ratios alone matter.
    groups : array_like, Series or str, optional
        A label for each entry along `axis`: the entries with one label are one sample, however many they are, and the
        result has a row a label. Those without one (NaN, None) are the last group. For a DataFrame, the name of a
        column of it. `a` may be a groupby object of pandas instead.
    on_refusal : {"warn", "raise", "return"}
        For samples without an answer: NaN and one `RefusalWarning`; `Refused` once all are done (with ``.partial`` and
        ``.outcomes``); or no signal, and the result is ``(values, outcomes)``.
    dim : str or sequence of str, optional
        Of an object of xarray: the dimensions that form one sample, in place of `axis`.

    Returns
    -------
    float or ndarray
        The shape of `a` without `axis`. float32 for half and single precision input, computed in float64; else float64.
        For a DataFrame, a Series with the labels that are left; with `groups`, of arrays a `Grouped` ``(labels,
        values)``, of a Series a Series with a row a label.

    Raises
    ------
    InvalidInput
        `a` or `weights` does not hold real numbers, their shapes do not fit, `axis` does not exist, or a policy is
        unknown.
    Refused
        With ``on_refusal="raise"``: a sample is constant, infinite, or has fewer than two values; or one of its weights
        is negative or infinite.

    Notes
    -----
    Error below 1e-14 relative to Mean|x - m|^3/m_2^(3/2); one pass. A sample's result is the same to the last bit in
    any batch, and under a change of unit by a power of two.

    Source: paper, sec. Marginal Moments, eq:skew.

    Examples
    --------
    A single value apart from N - 1 others has the skewness (N - 2)/sqrt(N - 1):

    >>> from symdecouple.stats import skewness
    >>> round(float(skewness([0, 0, 0, 0, 1])), 12)
    1.5

    The same by weights:

    >>> round(float(skewness([0, 1], weights=[4, 1])), 12)
    1.5

    What SciPy calls unbiased, here sqrt(20)/3 times as much:

    >>> round(float(skewness([0, 0, 0, 0, 1], bias=False)), 12)
    2.2360679775

    Constant samples have none:

    >>> values, outcomes = skewness([[1, 2, 3], [7, 7, 7]], axis=1, on_refusal="return")
    >>> print(outcomes[1].reason)
    zero variance

    Groups of unequal size:

    >>> labels, values = skewness([0, 1, 0, 5, 0, 7, 0], groups=list("aabbabb"))
    >>> labels.tolist(), values.round(4).tolist()
    (['a', 'b'], [0.7071, 0.1537])
    """
    kernel = _corrected(skewness_rows, 3, None if _flag("bias", bias) else _unbiased_skewness, weights)
    return reduce_rows(
        "skewness", a, kernel, axis=axis, nan_policy=nan_policy, keepdims=keepdims, weights=weights,
        on_refusal=on_refusal,
    )


@keeps_labels()
def kurtosis(
    a: Any,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    weights: Any = None,
    fisher: bool = False,
    bias: bool = True,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> Number:
    """The fourth standardized moment of each sample, not in excess: 3 for a normal distribution.

    .. math:: m_4 / m_2^2, \\qquad m_k = \\frac1N \\sum_n (x_n - \\bar x)^k

    Arguments, returns and errors are those of `skewness`. The values lie in [1 + skewness**2, N]: at least 1, and 1
    only for two values in equal numbers.

    Parameters
    ----------
    fisher : bool
        True takes 3 off, so that a normal distribution has 0: the default of `scipy.stats.kurtosis`, not of this one.
    bias : bool
        False corrects for the bias of normal samples, as in `scipy.stats.kurtosis`; it takes four values.

    Notes
    -----
    Relative error below 1e-14; one pass. Source: paper, sec. Marginal Moments; the classical definition.

    Examples
    --------
    The exact value is 17/10:

    >>> from symdecouple.stats import kurtosis
    >>> round(float(kurtosis([-2, -1, 0, 1, 2])), 12)
    1.7
    >>> round(float(kurtosis([-2, -1, 0, 1, 2], fisher=True, bias=False)), 12)
    -1.2
    """
    kernel = _corrected(kurtosis_rows, 4, None if _flag("bias", bias) else _unbiased_kurtosis, weights)
    return reduce_rows(
        "kurtosis", a, _in_excess(kernel, fisher), axis=axis, nan_policy=nan_policy, keepdims=keepdims, weights=weights,
        on_refusal=on_refusal,
    )


@keeps_labels()
def orthokurtosis(
    a: Any,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    weights: Any = None,
    fisher: bool = False,
    bias: bool = True,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> Number:
    """The kurtosis that is left once the skewness is brought to zero along its own flow.

    .. math:: K\\!\\left(\\frac{x}{1 - t_0 x}\\right), \\qquad t_0:\\; G\\!\\left(\\frac{x}{1 - t_0 x}\\right) = 0

    with x centred, G the skewness and K the kurtosis. It is decoupled from mean, variance and skewness: a function of
    the sample's orbit under x -> (a x + b)/(c x + d), ad - bc > 0 and no pole among the samples, and even (x -> -x).

    Arguments and returns are those of `skewness`; the values lie in [1, N/2].

    Parameters
    ----------
    fisher : bool
        True takes 3 off, so that a normal distribution has 0.
    bias : bool
        False is refused: the mean of normal samples, 3 - 18/N and less, is known as a series only, and no factor of N
        makes it 3. `orthokurtosis_test` takes it into account.

    Raises
    ------
    InvalidInput
        As for `skewness`, and for ``bias=False``.
    Refused
        With ``on_refusal="raise"``, as for `skewness`, and where no t_0 exists (decided by counting): half of the
        values or more are tied at the minimum or at the maximum, or there are two different values only. Two values in
        equal numbers are not skewed to begin with: the orthokurtosis is 1. With weights, shares of weight decide, at
        their exact values: 0.1 + 0.2 in float64 outweighs 0.3.

    Notes
    -----
    Relative error below 1e-13 on every sample tried, heavy tails, offsets and clusters included, typically 1e-15. One
    pass where the skewness is small, two near a normal distribution, up to about five otherwise.

    Where numba is installed, large input is answered by the same algorithm compiled: above 1e5 elements once
    ``symdecouple compile`` has been run, of any size once that has been used in the process, else where NumPy would
    take more than five seconds. The two agree to 1e-14 relative, and on refusals exactly; within each, a sample's
    result is the same to the last bit in any batch. Samples with weights are answered by NumPy. Compiled loops take
    float64: other samples of up to 2**20 values become that, one at a time; longer ones are answered by NumPy, part by
    part.

    Source: paper, sec. Marginal Moments, eq:skew_adjustment and eq:zero_skew; existence by Theorem C and
    invariance by Theorem B of the documentation.

    Examples
    --------
    Every sample of three different values has the orthokurtosis 3/2:

    >>> from symdecouple.stats import orthokurtosis
    >>> round(float(orthokurtosis([1, 2, 40])), 12)
    1.5

    Where there is none, the reason is told:

    >>> value, outcomes = orthokurtosis([0, 0, 0, 1, 2], on_refusal="return")
    >>> print(outcomes[0].reason)
    no zero-skew point
    """
    if not _flag("bias", bias):
        raise InvalidInput("bias=False was given: no estimate of the orthokurtosis is known that is unbiased for "
                           "normal samples; ask orthokurtosis_test whether a sample may be normal")
    kernel = orthokurtosis_kernel(_size(a)) if weights is None else orthokurtosis_rows
    return reduce_rows(
        "orthokurtosis", a, _in_excess(kernel, fisher), axis=axis, nan_policy=nan_policy, keepdims=keepdims,
        weights=weights, on_refusal=on_refusal,
    )


def _size(a: Any) -> int:
    """Elements of an array; other containers are left to NumPy, whatever their size."""
    size = getattr(a, "size", 0)
    return int(size) if isinstance(size, int | np.integer) else 0


# --- other conventions ---


def _flag(argument: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(f"{argument}={value!r} was given, True or False is expected")
    return bool(value)


def _in_excess(kernel: Kernel, fisher: bool) -> Kernel:
    """Over the 3 of a normal law, if asked for."""
    if not _flag("fisher", fisher):
        return kernel

    def lowered(matrix: SampleMatrix) -> RowValues:
        found = kernel(matrix)
        return RowValues(found.values - 3, found.refusals)

    return lowered


def _corrected(kernel: Kernel, fewest: int, correction: _Correction | None, weights: Any) -> Kernel:
    """Corrected by the number of values, which samples with weights do not have."""
    if correction is None:
        return kernel
    if weights is not None:
        raise InvalidInput("bias=False was given with weights: it corrects by the number of values, and of weights "
                           "only the ratios matter; repeat the values, or leave bias=True")
    return partial(_by_number, kernel=kernel, fewest=fewest, correction=correction)


def _by_number(matrix: SampleMatrix, kernel: Kernel, fewest: int, correction: _Correction) -> RowValues:
    found, n = kernel(matrix), matrix.values.shape[1]
    if n >= fewest:
        return RowValues(correction(found.values, n), found.refusals)
    refused = {**dict.fromkeys(range(len(found.values)), _too_few(fewest, n)), **found.refusals}
    return RowValues(np.full(len(found.values), np.nan), refused)


def _too_few(fewest: int, n: int) -> Outcome:
    return Outcome(False, "too few values", f"bias=False takes {fewest} values at least, {n} are left")


def in_convention(name: str, value: float, outcome: Outcome, n: int, *, fisher: bool = False, bias: bool = True
                  ) -> tuple[float, Outcome]:
    """Return a statistic of n values, known as that of the population and not in excess, as the options ask for it."""
    if not bias and outcome.ok:
        fewest, correction = (3, _unbiased_skewness) if name == "skewness" else (4, _unbiased_kurtosis)
        if n < fewest:
            return float("nan"), _too_few(fewest, n)
        value = float(correction(np.float64(value), n))
    return value - 3 if fisher else value, outcome


def _unbiased_skewness(values: Any, n: int) -> Any:
    return values * float(np.sqrt(n * (n - 1.0)) / (n - 2))


def _unbiased_kurtosis(values: Any, n: int) -> Any:
    return 3 + ((n * n - 1.0) * values - 3 * (n - 1.0) ** 2) / ((n - 2) * (n - 3.0))
