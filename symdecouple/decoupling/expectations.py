r"""Expectations that references are made of: functions of filtered white noise, polynomials of coordinates.

Filter outputs of white noise at one place are jointly Gaussian, with variances sum h^2 and covariances sum h g over
lags. Polynomials follow from those by Isserlis' theorem, in the form

.. math:: E[y_1\, F(y)] = \sum_j \mathrm{Cov}(y_1, y_j)\, E[\partial F/\partial y_j]

and a function of one output is that of one normal number. The signal is taken as longer than the filters.

With coordinates x_1, ..., x_n independent and of one law, a polynomial has the expectation

.. math:: \mathrm{E} \sum_a c_a\, x_1^{a_1} \cdots x_n^{a_n} = \sum_a c_a\, m_{a_1} \cdots m_{a_n}, \qquad
    m_k = \mathrm{E}\, x_1^k

Other functions of coordinates are integrals over n dimensions: they take numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from sympy import Add, Expr, Mul, Poly, S, Symbol, expand, factorial2, sqrt
from sympy.polys.polyerrors import PolynomialError

from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.families.linear_forms import LinearForm, split_forms
from symdecouple.language.feature import Feature
from symdecouple.language.filtered import Response
from symdecouple.language.filters import Filter
from symdecouple.language.sample import Sample

__all__ = ["at_point", "gaussian_moment", "polynomial_expectation", "white_expectation"]

Marginal = Callable[[Expr, Sample], Expr]


def white_expectation(body: Expr, sample: Sample, marginal: Marginal) -> Expr:
    """Return E body for white noise of variance 1, body in the sample and in circular filters of it.

    `marginal` returns the expectation of a function of a standard normal number. Not known are filters of what is not
    linear in the sample, boundaries other than circular (the expectation depends on the place), and functions of two
    outputs that are not polynomials.

    Examples
    --------
    >>> from symdecouple.decoupling.reference import gaussian
    >>> from symdecouple.language.sample import x
    >>> h, g = Filter([1, 1, 0]), Filter([1, -2, 1])
    >>> white_expectation(h(x)**4, x, gaussian), white_expectation(h(x)**2*g(x)**2, x, gaussian)
    (12, 14)
    """
    if unbound := sorted(str(h) for h in body.atoms(Filter) if h.is_symbolic and not isinstance(h.args[0], Response)):
        raise InvalidInput(f"{', '.join(unbound)} must be bound to taps before a reference: features.bind({{...}})")
    split = split_forms(body, sample)
    if split is None:
        raise UnsupportedExpression(f"the expectation of {body} for white noise is known for circular filters of the "
                                    "sample itself; give numbers, reference=[...]")
    function, forms = split
    return Add(*(_term(term, forms, sample, marginal) for term in Add.make_args(expand(function))))


def _term(term: Expr, forms: Mapping[Symbol, LinearForm], sample: Sample, marginal: Marginal) -> Expr:
    used = sorted(term.free_symbols & set(forms), key=str)
    if not used:
        return term
    shifted = expand(term.xreplace({y: y + forms[y].constant for y in used if forms[y].constant != 0}))
    return Add(*(_centred(part, used, forms, sample, marginal) for part in Add.make_args(shifted)))


def _centred(term: Expr, used: list[Symbol], forms: Mapping[Symbol, LinearForm], sample: Sample, marginal: Marginal
             ) -> Expr:
    used = [y for y in used if y in term.free_symbols]
    if not used:
        return term
    try:
        polynomial = Poly(term, *used)
    except PolynomialError:
        polynomial = None
    if polynomial is not None and not any(c.has(*used) for c in polynomial.coeffs()):
        covariance = {(a, b): forms[one].covariance(forms[two]) for a, one in enumerate(used)
                      for b, two in enumerate(used) if a <= b}
        return Add(*(Mul(c, _isserlis(powers, tuple(sorted(covariance.items()))))
                     for powers, c in polynomial.terms()))
    if len(used) > 1:
        shown = term.xreplace({y: Symbol(f"y{k}") for k, y in enumerate(used)})
        raise UnsupportedExpression(f"the expectation of {shown} of filter outputs that are not independent is not "
                                    "known; give numbers, reference=[...]")
    return marginal(term.xreplace({used[0]: sqrt(forms[used[0]].covariance(forms[used[0]])) * sample}), sample)


@lru_cache(maxsize=4096)
def _isserlis(powers: tuple[int, ...], covariance: tuple[tuple[tuple[int, int], Expr], ...]) -> Expr:
    first = next((k for k, p in enumerate(powers) if p), None)
    if first is None:
        return S.One
    if sum(powers) % 2:
        return S.Zero
    known = dict(covariance)
    rest = [p - (k == first) for k, p in enumerate(powers)]
    return Add(*(known[min(first, j), max(first, j)] * p * _isserlis(tuple(q - (k == j) for k, q in enumerate(rest)),
                                                                     covariance)
                 for j, p in enumerate(rest) if p))


# --- coordinates ---


def gaussian_moment(order: int) -> Expr:
    """Return E Z^k of a standard normal number: 1, 0, 1, 0, 3, 0, 15, ..."""
    return S.Zero if order % 2 else factorial2(order - 1)


def polynomial_expectation(feature: Feature, moment: Callable[[int], Expr]) -> Expr:
    """Return the expectation of a polynomial of independent coordinates of one law."""
    try:
        terms = Poly(feature.expr, *feature.coordinates).terms()
    except PolynomialError as error:
        raise InvalidInput(f"the expectation of {feature} is not computed, as it is no polynomial of its coordinates: "
                           "give numbers, reference=[...]") from error
    return Add(*(Mul(coefficient, *map(moment, powers)) for powers, coefficient in terms))


def at_point(feature: Feature, point: Sequence[Expr]) -> Expr:
    """Return the value at a point, exactly."""
    symbols = feature.coordinates
    if len(point) != len(symbols):
        raise InvalidInput(f"{feature} is a function of {len(symbols)} coordinates, the reference sample has "
                           f"{len(point)} numbers")
    return feature.expr.xreplace(dict(zip(symbols, point, strict=True)))
