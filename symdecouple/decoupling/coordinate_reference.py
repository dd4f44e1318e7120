r"""References of functions of explicit coordinates: expectations of polynomials, and values at a point.

With x_1, ..., x_n independent and of one law, a polynomial has the expectation

.. math:: \mathrm{E} \sum_a c_a\, x_1^{a_1} \cdots x_n^{a_n} = \sum_a c_a\, m_{a_1} \cdots m_{a_n}, \qquad
    m_k = \mathrm{E}\, x_1^k

which is exact for the normal law, m_k = (k - 1)!! for even k. Other functions are integrals over n dimensions: they
take numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Add, Expr, Mul, Poly, PolynomialError, S, factorial2

from symdecouple.errors import InvalidInput
from symdecouple.language.feature import Feature

__all__ = ["at_point", "gaussian_moment", "polynomial_expectation"]


def gaussian_moment(order: int) -> Expr:
    """Return E Z^k of a standard normal number.

    Examples
    --------
    >>> [gaussian_moment(k) for k in range(7)]
    [1, 0, 1, 0, 3, 0, 15]
    """
    if order % 2:
        return S.Zero
    return factorial2(order - 1) if order else S.One


def polynomial_expectation(feature: Feature, moment: Callable[[int], Expr] = gaussian_moment) -> Expr:
    """Return the expectation of a polynomial of independent coordinates of one law.

    Parameters
    ----------
    feature : Feature
        Of coordinates.
    moment : callable
        From k to E x^k.

    Raises
    ------
    InvalidInput
        If the feature is no polynomial of the coordinates.

    Examples
    --------
    >>> from symdecouple.language.sample import coordinates
    >>> x1, x2 = coordinates(2)
    >>> polynomial_expectation(Feature((x1**2 + x2)**2))
    4
    """
    try:
        terms = Poly(feature.expr, *feature.coordinates).terms()
    except PolynomialError as error:
        raise InvalidInput(f"the expectation of {feature} is not computed, as it is no polynomial of its coordinates: "
                           "give numbers, reference=[...]") from error
    return Add(*(Mul(coefficient, *map(moment, powers)) for powers, coefficient in terms))


def at_point(feature: Feature, point: Sequence[Expr]) -> Expr:
    """Return the value at a point, exactly.

    Raises
    ------
    InvalidInput
        If the point has another number of coordinates.
    """
    symbols = feature.coordinates
    if len(point) != len(symbols):
        raise InvalidInput(f"{feature} is a function of {len(symbols)} coordinates, the reference sample has "
                           f"{len(point)} numbers")
    return feature.expr.xreplace(dict(zip(symbols, point, strict=True)))
