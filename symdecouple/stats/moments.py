"""Moments of samples, one after the other: decoupled, standardized, and with even orders minimized over a shift.

All three return the orders on the last axis, the mean first. The standardized moments of order 3 and 4 are coupled, and
so are all pairs above; the decoupled ones are not: order k does not feel what changes the orders below it alone.

Moments are those of the population (1/N). Samples without an answer are never NaN in silence: see `on_refusal`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.numeric.moments.levels import (
    HIGHEST,
    decoupled_rows,
    gaussian_moments,
    standardized_reference,
)
from symdecouple.numeric.moments.moment_path_kernel import KERNELS
from symdecouple.numeric.moments.power_sums import (
    ZERO_VARIANCE,
    means_about,
    place_and_scale,
    standardized_moments as moments_of_rows,
    to_unit_range,
)
from symdecouple.numeric.samples.asked import entries_of
from symdecouple.numeric.samples.batch import Axis, FloatArray, NanPolicy, OnRefusal, RowValues, SampleMatrix
from symdecouple.numeric.samples.kinds import Vectors
from symdecouple.numeric.samples.vectors import as_floats
from symdecouple.stats.orders import Orders, decoupled_names, shifted_names, standardized_names
from symdecouple.tables.labelled import keeps_labels

if TYPE_CHECKING:  # loads SciPy
    from symdecouple.numeric.perturbing import Perturbation, PerturbationKind

__all__ = ["blest", "decoupled_moments", "standardized_moments"]

_NEWTON = 60  # steps to the shift; quadratic after a few, and each costs a handful of scalars


@keeps_labels(decoupled_names)
def decoupled_moments(
    a: Any,
    order: int = 6,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    reference: str | Sequence[float] = "gaussian",
    weights: Any = None,
    perturb: Perturbation | PerturbationKind | None = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> Vectors:
    """Mean, variance, skewness, orthokurtosis and the decoupled moments above, up to an order.

    .. math:: \\hat f_k(x) = \\mathrm{Mean}\\bigl(\\hat x_{k-1}(x)^k\\bigr)

    where :math:`\\hat x_{k-1}` is the sample moved to the reference values of moments 1..k-1: centred, scaled, carried
    along its own skew flow, and from there along the narrow path of one moment after the other.

    Parameters
    ----------
    a : array_like, Series or DataFrame
        Real numbers, as in `skewness`.
    order : int
        The highest order, 1 to 12.
    axis : int, tuple of int or None
        The axes that form one sample of N values; None takes the whole array.
    nan_policy : {"propagate", "omit", "raise"}
        For NaN in the input: NaN in the result; leave out; or `InvalidInput`.
    keepdims : bool
        Keep the reduced axes with length one.
    reference : "gaussian" or sequence of float
        Raw moments Mean(x), Mean(x**2), .. that the levels are brought to, order - 1 of them or more. Those of the
        standard normal law, 0, 1, 0, 3, 0, 15, .., unless given.
    weights : array_like, optional
        How often each entry counts, as in `skewness`.
    perturb : Perturbation or {"ramp", "spectral", "ramp and spectral"}, optional
        Tried once more with refused samples, for the orders that they lack; their quantisation hides it (the step is 1
        for integers, and found for floats). Ties, as 8-bit values have, take "ramp". Samples that are "beyond float64"
        have an answer then too: rounding does not count beside it. Outcomes tell, with how far apart the answers of
        other perturbations are, and one `PerturbedWarning`. Not with weights.
    groups : array_like, Series or str, optional
        A label for each entry along `axis`, as in `skewness`: a row of moments for each label.
    dim : str or sequence of str, optional
        Of an object of xarray: the dimensions that form one sample, in place of `axis`.
    on_refusal : {"warn", "raise", "return"}
        For samples that lack a level: NaN from there on and one `RefusalWarning`; `Refused` once all are done; or no
        signal, and the result is ``(values, outcomes)``.

    Returns
    -------
    ndarray
        The shape of `a` without `axis`, and the orders 1..order on the last axis. float32 for half and single precision
        input, computed in float64; else float64. For a DataFrame, a DataFrame with the columns "mean", "variance",
        "skewness", "orthokurtosis", "decoupled_5", ..; for a Series a Series; with `groups`, of arrays a `Grouped`
        ``(labels, values)``.

    Raises
    ------
    InvalidInput
        `a` does not hold real numbers, `order` or `reference` does not fit, `axis` does not exist.
    Refused
        With ``on_refusal="raise"``: a sample is constant, has no zero skewness (Theorem C), or cannot reach the
        reference of a moment (kurtosis 3 takes at least 7 samples, a sixth moment of 15 at least 22); or its variance
        is not 0 but too small or too large for the type of the result ("out of range"), which leaves all other orders.

    Notes
    -----
    Orders 1 to 4 are good to 1e-13, those above to about 1e-10 in units of Mean|z|^k; fewer digits, but half of them at
    least, where a sample is crowded into as many clusters as the order of a level, or refused ("beyond float64").
    Cost: about 3 microseconds an entry near a normal law, 10 where it is skewed; above 10^5 entries, a tenth of one.

    Where numba is installed, large input is answered by compiled loops, some twenty to fifty times faster: above 1e5
    elements once they lie compiled on the disk, of any size once they have been used in the process, else where NumPy
    would take more than five seconds. The two agree to a few 1e-10; within each, a sample's result is the same to the
    last bit in any batch. Samples with weights are answered by NumPy.

    Orders 1 to 4 are mutually decoupled, and each order above from its neighbours up to a few degrees on average
    (condition C2 fails there, and nothing exact exists: Theorem H).

    Source: paper, Algorithm 3 (narrow path) and sec. Marginal Moments.

    Examples
    --------
    Three values have the orthokurtosis 3/2, and no level beyond:

    >>> values, outcomes = decoupled_moments([1, 2, 3], order=5, on_refusal="return")
    >>> [round(float(v), 12) for v in values[:4]]
    [2.0, 0.666666666667, 0.0, 1.5]
    >>> print(outcomes[0].reason)
    too few distinct values

    A symmetric sample has no odd moments, at any level:

    >>> odd = decoupled_moments([-9, -4, -2, -1, 0, 1, 2, 4, 9], order=5)[[0, 2, 4]]
    >>> [abs(round(float(v), 12)) for v in odd]
    [0.0, 0.0, 0.0]

    Most values tied at an end leave no zero skewness, unless they differ a little:

    >>> tied = [0, 0, 0, 0, 0, 1, 3, 6]
    >>> decoupled_moments(tied, order=4, on_refusal="return")[1][0].reason
    'no zero-skew point'
    >>> values, outcomes = decoupled_moments(tied, order=4, perturb="ramp", on_refusal="return")
    >>> [round(float(v), 4) for v in values[:3]], bool(values[3] > 1), outcomes[0].reason
    ([1.25, 4.1875, 1.4989], True, 'perturbed')
    """
    order = _order(order)
    goal = _reference(reference, order)
    centre, _, standardized = standardized_reference(goal)

    size = getattr(a, "size", 0)  # elements of an array; other containers are left to NumPy
    compiled = KERNELS.are_wanted(int(size) if isinstance(size, int | np.integer) else 0)

    def kernel(matrix: SampleMatrix) -> RowValues:
        return decoupled_rows(matrix, order, goal, compiled=compiled)

    perturbation = None
    if perturb is not None:
        from symdecouple.numeric.perturbing import as_perturbation

        perturbation = as_perturbation(perturb)
    orders = Orders("decoupled_moments", order, axis, nan_policy, keepdims, on_refusal, centre**2, perturbation,
                    standardized[3] if order > 3 else None)
    return orders.reduce(a, weights, kernel)


@keeps_labels(standardized_names)
def standardized_moments(
    a: Any,
    order: int = 6,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    weights: Any = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> Vectors:
    """Mean, variance, and the standardized central moments from the skewness up to an order.

    .. math:: m_k / m_2^{k/2}, \\qquad m_k = \\frac1N \\sum_n (x_n - \\bar x)^k, \\qquad k = 3, 4, \\ldots

    Arguments, returns and errors are those of `decoupled_moments`; only constant samples are refused, from order 3 on.

    Notes
    -----
    Error of order k below k 1e-15 Mean|z|^k. Two passes.

    Examples
    --------
    >>> [abs(round(float(v), 12)) for v in standardized_moments([-1, 0, 0, 1], order=6)]
    [0.0, 0.5, 0.0, 2.0, 0.0, 4.0]
    """
    orders = Orders("standardized_moments", _order(order), axis, nan_policy, keepdims, on_refusal)
    return orders.reduce(a, weights, partial(_standardized_rows, order=orders.order, shifted=False))


@keeps_labels(shifted_names)
def blest(
    a: Any,
    order: int = 4,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    weights: Any = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> Vectors:
    """Standardized moments whose even orders from 4 on are the smallest over all shifts.

    .. math:: \\min_c \\mathrm{Mean}\\bigl((z - c)^k\\bigr), \\quad k = 4, 6, \\ldots, \\qquad
        z = (x - \\bar x)/m_2^{1/2}

    The shift takes out part of what skewness adds to the kurtosis. It is the baseline that the source compares
    decoupled moments with; order 4 is Blest's, the orders above are the source's generalization. Odd orders, mean and
    variance are those of `standardized_moments`, and so are arguments, returns and errors.

    Notes
    -----
    The minimum is unique: a convex function of c. Error as for `standardized_moments`.

    Source: D. C. Blest, A new measure of kurtosis adjusted for skewness, Australian & New Zealand Journal of Statistics
    45 (2003) 175-179; paper, sec. on texture classification.

    Examples
    --------
    Without skewness nothing is gained:

    >>> [round(float(v), 12) for v in blest([-2, -1, 0, 1, 2])]
    [0.0, 2.0, 0.0, 1.7]

    One value apart from three others, x = (0, 0, 0, 1), is (1 - c)^4 + 3 c^4 over 4 m_2^2 at c = 1/(1 + 3^(1/3)):

    >>> c = 1 / (1 + 3 ** (1 / 3))
    >>> abs(float(blest([0, 0, 0, 1])[3]) - ((1 - c)**4 + 3 * c**4) / 4 / (3 / 16)**2) < 1e-14
    True
    """
    orders = Orders("blest", _order(order), axis, nan_policy, keepdims, on_refusal)
    return orders.reduce(a, weights, partial(_standardized_rows, order=orders.order, shifted=True))


# --- kernels ---


def _standardized_rows(matrix: SampleMatrix, order: int, shifted: bool) -> RowValues:
    mean, variance, skewness = place_and_scale(matrix)
    values = np.full((len(mean), max(order, 3)), np.nan)
    values[:, 0], values[:, 1], values[:, 2] = mean, variance, skewness
    varying, to_unit = np.flatnonzero(matrix.low < matrix.high), to_unit_range(matrix)
    if order > 3 and len(varying):
        found = moments_of_rows(matrix.values, varying, order, to_unit, matrix.weights)
        values[varying, 3:] = found.standardized[4:].T
        for k in range(4, order + 1, 2) if shifted else ():
            pivot = found.mean + found.deviation * _best_shift(found.standardized[:k])
            about = means_about(matrix.values, varying, k, to_unit, matrix.weights, pivot)[k]
            values[varying, k - 1] = about / found.deviation**k
    refusals = {int(i): ZERO_VARIANCE for i in np.flatnonzero(matrix.low == matrix.high)} if order > 2 else {}
    return RowValues(values[:, :order], refusals)


def _best_shift(means: FloatArray) -> FloatArray:
    """The c where Mean((z - c)^(k-1)) = 0, k even, from the moments 0..k-1: bracketed Newton, the function falls."""
    k = len(means)
    c = np.zeros(means.shape[1])
    reach = 2 * np.abs(means[k - 1]) ** (1 / (k - 1)) + 2  # a sample's L_(k-1) centre is not farther from its mean
    low, high = -reach, reach
    settled = np.zeros(len(c), dtype=np.bool_)  # such a sample stays, whatever its neighbours do
    for _ in range(_NEWTON):
        value = sum(math.comb(k - 1, j) * means[k - 1 - j] * (-c) ** j for j in range(k))
        slope = (k - 1) * sum(math.comb(k - 2, j) * means[k - 2 - j] * (-c) ** j for j in range(k - 1))
        low, high = np.where(value > 0, c, low), np.where(value > 0, high, c)
        step = value / slope
        proposed = c + step
        inside = (low < proposed) & (proposed < high)
        moved = np.where((value == 0) | settled, c, np.where(inside, proposed, (low + high) / 2))
        settled |= np.abs(moved - c) <= 1e-15 * reach
        c = moved
        if settled.all():
            break
    return c


# --- arguments ---


def _order(order: object) -> int:
    try:
        if isinstance(order, bool):
            raise TypeError
        value = operator.index(order)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidInput(f"order={order!r} was given, an integer from 1 to {HIGHEST} is expected") from None
    if not 1 <= value <= HIGHEST:
        raise InvalidInput(f"order={order!r} was given, an integer from 1 to {HIGHEST} is expected")
    return value


def _reference(reference: str | Sequence[float], order: int) -> tuple[float, ...]:
    if isinstance(reference, str):
        if reference != "gaussian":
            raise InvalidInput(f"reference={reference!r} was given, 'gaussian' or raw moments are expected")
        return gaussian_moments(order - 1)
    try:
        values = tuple(map(float, as_floats(entries_of(reference))))
    except (TypeError, ValueError):
        raise InvalidInput(f"reference={reference!r} was given, 'gaussian' or raw moments are expected") from None
    if len(values) < order - 1:
        raise InvalidInput(f"{len(values)} reference moments were given, at least order - 1 = {order - 1} are expected")
    return values[: order - 1]
