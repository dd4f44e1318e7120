r"""Whether reference values can hold together at all: moments have a Hankel matrix without negative eigenvalues.

With the standardized moments c_j of the references (c_0 = 1, c_1 = 0, c_2 = 1),

.. math:: H_j = (c_{a+b})_{a, b = 0 \dots j}, \qquad \det H_j > 0

is necessary for a sample with these moments, and as long as it holds there are samples with them for N large enough.
det H_j = 0 belongs to samples of j distinct values, at which the gradients are dependent: no regular reference. How
many samples are needed is not decided here: a level that a sample cannot reach is refused when it is applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Expr, Matrix

from symdecouple.errors import InvalidInput
from symdecouple.families.moments import recognize_moments
from symdecouple.language.feature import FeatureSet

__all__ = ["check_attainable"]

_DIGITS = 40


def check_attainable(features: FeatureSet, values: Sequence[Expr | None]) -> None:
    """Refuse reference values of moments that no sample has together.

    Parameters
    ----------
    features : FeatureSet
        Sets that are not of moments are not checked.
    values : sequence of Expr or None
        As `reference_values` returns them.

    Raises
    ------
    InvalidInput
        Naming the features that contradict each other.

    Examples
    --------
    >>> from symdecouple.families.moments import raw_moments
    >>> from sympy import Integer
    >>> check_attainable(raw_moments(2), [Integer(3), Integer(4)])
    Traceback (most recent call last):
        ...
    symdecouple.errors.InvalidInput: no sample has Mean(x) = 3, Mean(x**2) = 4: the variance would be -5, and must be \
positive
    """
    coordinates = recognize_moments(features)
    if coordinates is None:
        return
    known = [v for v in values[: len(coordinates)] if v is not None]
    moments: list[Any] = []
    for k, point in enumerate(coordinates.coordinates(known)):
        if k == 1:
            if _sign(point**2) <= 0:
                raise InvalidInput(f"{_named(features, values, 2)}: the variance would be {point**2}, and must be "
                                   "positive")
            moments = [1, 0, 1]
        elif k > 1:
            moments.append(point)
            order, is_even = divmod(len(moments) - 1, 2)
            if is_even == 0 and (sign := _sign(_hankel(moments, order).det())) <= 0:
                lowest = _lowest(moments, order)
                why = ("only samples of {order} values have it, where the gradients are dependent" if sign == 0 else
                       "no sample has less")
                raise InvalidInput(f"{_named(features, values, k + 1)}: the standardized moment of order {k + 1} "
                                   f"would be {point}, and must be above {lowest} ({why.format(order=order)})")


def _hankel(moments: Sequence[Any], order: int) -> Matrix:
    return Matrix(order + 1, order + 1, lambda a, b: moments[a + b])


def _lowest(moments: Sequence[Any], order: int) -> Any:
    """Return the last moment at which the determinant vanishes: it is linear in that one, with the minor before."""
    at_zero = _hankel([*moments[:-1], 0], order).det()
    return -at_zero / _hankel(moments[: 2 * order - 1], order - 1).det()


def _sign(value: Any) -> int:
    number = Expr.evalf(value, _DIGITS) if isinstance(value, Expr) else value
    if not isinstance(value, Expr) or value.is_Rational:
        return (number > 0) - (number < 0)
    if abs(number) < 10.0 ** -(_DIGITS // 2):
        return 0
    return 1 if number > 0 else -1


def _named(features: FeatureSet, values: Sequence[Any], count: int) -> str:
    named = ", ".join(f"{f} = {v}" for f, v in zip(list(features)[:count], values, strict=False))
    return f"no sample has {named}"
