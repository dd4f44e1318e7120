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

from sympy import Expr, Matrix, S

from symdecouple.errors import InvalidInput
from symdecouple.families.moments import recognize_moments
from symdecouple.flows.projective import decide_sign
from symdecouple.language.feature_set import FeatureSet

__all__ = ["check_attainable"]


def check_attainable(features: FeatureSet, values: Sequence[Expr | None]) -> None:
    """Refuse reference values of moments that no sample has together, naming the features that contradict each other.

    Sets that are not of moments are not checked; values are as `reference_values` returns them.

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
    points = coordinates.coordinates(known)
    if len(points) > 1 and decide_sign(points[1] ** 2) <= 0:
        raise InvalidInput(f"{_named(features, values, 2)}: the variance would be {points[1] ** 2}, and must be "
                           "positive")
    moments = [S.One, S.Zero, S.One, *points[2:]]
    for order in range(2, (len(points) - 2) // 2 + 2):
        lowest = _lowest(moments, order)
        sign = decide_sign(moments[2 * order] - lowest)
        if sign <= 0:
            why = (f"only samples of {order} values have it, where the gradients are dependent" if sign == 0 else
                   "no sample has less")
            raise InvalidInput(f"{_named(features, values, 2 * order)}: the standardized moment of order {2 * order} "
                               f"would be {moments[2 * order]}, and must be above {lowest} ({why})")


def _lowest(moments: Sequence[Expr], order: int) -> Expr:
    """Return the moment 2 k at which det H_k vanishes, H_(k-1) being positive: its Schur complement is 0 there."""
    column = Matrix(moments[order : 2 * order])
    return column.dot(Matrix(order, order, lambda a, b: moments[a + b]).LUsolve(column))


def _named(features: FeatureSet, values: Sequence[Any], count: int) -> str:
    named = ", ".join(f"{f} = {v}" for f, v in zip(list(features)[:count], values, strict=False))
    return f"no sample has {named}"
