"""The shape of positive numbers and of angles: what is left without the Moebius maps of their own coordinate.

Every involutive family of averages is one function phi (Theorem A), and has a statistic that is decoupled from it:
log(x) for positive data, the tangent of half the angle for data on a circle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.barycentre import circular_shape_rows
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.samples.batch import Axis, NanPolicy, OnRefusal, named
from symdecouple.numeric.samples.kinds import Number
from symdecouple.numeric.samples.mapped import EntryMap, reduce_mapped
from symdecouple.tables.labelled import keeps_labels

__all__ = ["CircularShape", "circular_shape", "log_shape"]

_TURN = 0x28BE60DB9391054A7F09D5F47D4D3770  # 1/(2 pi) in 128 bits: of 64 bits it leaves as many after the point


def _log(value: Any) -> Any:
    import mpmath

    return mpmath.log(value)


def _log_ratio(values: Any, largest: Any) -> Any:
    """log(x/c), without rounding both logarithms where x is near c."""
    found, each = values / largest, np.broadcast_to(largest, values.shape)
    small = ~(found > 1e-300)
    np.log(found, out=found)
    found[small] = np.log(values[small]) - np.log(each[small])
    distance = largest - values  # of unsigned integers, too
    near = np.abs(distance) < largest / 2
    found[near] = np.log1p(-(distance[near] / each[near]))
    return found


def _angle(value: Any) -> float:
    import mpmath

    with mpmath.extradps(max(0, mpmath.mag(value)) // 3):  # the digits before the point are lost to full turns
        return float(value - 2 * mpmath.pi * mpmath.nint(value / (2 * mpmath.pi)))


def _angles_of(whole: NDArray[Any]) -> NDArray[np.float64]:
    """Whole numbers less full turns: the part of n/(2 pi) after the point in 64 bits, from products modulo 2^64.

    >>> import mpmath
    >>> with mpmath.workdps(40):
    ...     exact = 2**60 - 2 * mpmath.pi * mpmath.nint(2**60 / (2 * mpmath.pi))
    >>> bool(abs(_angles_of(np.array([2**60]))[0] - exact) < 1e-15)
    True
    """
    size = np.where(whole < 0, -whole, whole).astype(np.uint64)
    high, low = size >> np.uint64(32), size & np.uint64(2**32 - 1)
    first, second, third, fourth = (np.uint64(_TURN >> shift & 2**32 - 1) for shift in (96, 64, 32, 0))
    turns = ((high * second + low * first) << np.uint64(32)) + high * third + low * second
    turns += (high * fourth >> np.uint64(32)) + (low * third >> np.uint64(32))
    angles: NDArray[np.float64] = np.where(whole < 0, -1, 1) * turns.view(np.int64) * (2 * np.pi / 2**64)
    return angles


_LOGARITHM = EntryMap(np.log, _log, 0.0, np.inf, "is among the samples, and logarithms need positive numbers; leave it "
                     "out, or measure from another origin", of_ratios=_log_ratio)
_ANGLES = EntryMap(lambda angles: angles, _angle, keeps_type=True, of_integers=_angles_of)


@keeps_labels()
def log_shape(
    a: Any,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    weights: Any = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> Number:
    """The orthokurtosis of the logarithm of positive samples: 3 for a log-normal law, whatever its parameters.

    .. math:: \\kappa^\\perp(\\log x)

    It is decoupled from Mean(x^2), Mean(x^2 log x) and Mean(x^2 log(x)^2), the triple of log (Theorem K), and so does
    not feel a factor or a power of the samples, x -> c x^r.

    Arguments and returns are those of `skewness`.

    Raises
    ------
    InvalidInput
        As for `skewness`.
    Refused
        With ``on_refusal="raise"``: a sample holds a number that is not positive ("outside the domain"), or half of its
        values or more are tied at the minimum or at the maximum, as for `orthokurtosis`.

    Examples
    --------
    >>> from symdecouple.stats import log_shape
    >>> values = [1, 2, 8, 16, 64]
    >>> round(float(log_shape(values)), 12)
    1.660462215367
    >>> powers = [3 * value**0.5 for value in values]
    >>> bool(abs(log_shape(powers) - log_shape(values)) < 1e-12)
    True
    >>> value, outcomes = log_shape([0, 1, 2, 3], on_refusal="return")
    >>> print(outcomes[0].reason)
    outside the domain
    """
    return reduce_mapped("log_shape", a, _LOGARITHM, orthokurtosis_rows, axis=axis, nan_policy=nan_policy,
                         keepdims=keepdims, weights=weights, on_refusal=on_refusal)


class CircularShape(NamedTuple):
    """The shape of angles.

    Attributes
    ----------
    tail : float or ndarray
        abs(z_2), in [0, 1): 0 where the angles can be moved to three equally spaced ones, near 1 where they gather at
        two opposite values.
    odd : float or ndarray
        Im(z_2^2 conj(z_4)): 0 for symmetric samples, and of the other sign for reflected ones.
    """

    tail: Any
    odd: Any


@keeps_labels()
def circular_shape(
    a: Any,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    keepdims: bool = False,
    *,
    weights: Any = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
    dim: Any = None,
) -> CircularShape:
    """The shape of angles that no rotation and no Moebius map of the disc changes: a tail, and an odd part.

    .. math:: |z_2|, \\quad \\mathrm{Im}(z_2^2\\,\\bar z_4), \\qquad z_k = \\mathrm{Mean}(w^k), \\quad
        w = \\frac{e^{i\\theta} - a}{1 - \\bar a\\,e^{i\\theta}}, \\quad a:\\ \\mathrm{Mean}(w) = 0

    a is the conformal barycentre, and the maximum likelihood estimate of the wrapped Cauchy law. Both are decoupled
    from Mean(cos), Mean(sin) and the mean angle of unwrapped angles (Theorem L). The uniform law, and every
    wrapped Cauchy law, has 0 for both.

    Parameters
    ----------
    a : array_like
        Angles in radians, wrapped or not.
    axis, nan_policy, keepdims, weights, groups, on_refusal, dim
        As for `skewness`.

    Returns
    -------
    CircularShape
        With `tail` and `odd`, each of the shape of `a` without `axis`; ``(CircularShape, outcomes)`` with
        ``on_refusal="return"``.

    Raises
    ------
    InvalidInput
        As for `skewness`.
    Refused
        With ``on_refusal="raise"``: one value modulo 2 pi has a share of 1/2 or more ("no barycentre"); angles are one
        value modulo 2 pi where they agree to four units of rounding of the largest of them.

    Notes
    -----
    Error of some 1e-15 times the dilation (1 + r)/(1 - r), r = abs(a), which is what rounding of the angles amounts to.
    Some five passes. Three angles have the tail 0: they can be moved to equally spaced ones. Up to five have no
    odd part.

    Examples
    --------
    >>> from symdecouple.stats import circular_shape
    >>> shape = circular_shape([-2.9, -1, 0.3, 0.8, 2.8])
    >>> round(float(shape.tail), 12)
    0.389947071606
    >>> wrapped = circular_shape([-2.9 + 6.283185307179586, -1, 0.3, 0.8, 2.8])
    >>> bool(abs(wrapped.tail - shape.tail) < 1e-14)
    True
    >>> symmetric = circular_shape([-2, -1, -0.5, 0, 0.5, 1, 2])
    >>> bool(abs(symmetric.odd) < 1e-15)
    True
    """
    found = reduce_mapped("circular_shape", a, _ANGLES, circular_shape_rows, columns=2, axis=axis,
                          nan_policy=nan_policy, keepdims=keepdims, weights=weights, on_refusal=on_refusal)
    return named(CircularShape, found, on_refusal)
