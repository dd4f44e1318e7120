r"""Partial fractions with monic denominators, so that equal poles give equal functions.

.. math:: R(t) = \sum_k a_k t^k + \sum_{q, j, i < \deg q} b_{qji}\, \frac{t^i}{q(t)^j}

over irreducible monic q: the functions t^k and t^i/q^j are linearly independent, and every rational function is one
combination of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Mul, S, Symbol
from sympy.polys.polyerrors import PolynomialError

from symdecouple.language.gate import apart, expand

__all__ = ["partial_fractions"]


def partial_fractions(rational: Expr, symbol: Symbol) -> dict[Expr, Expr]:
    """Return the coefficients of a rational function of one symbol in t^k and t^i/q^j.

    Examples
    --------
    >>> from sympy.abc import t
    >>> partial_fractions(1/(2*t + 2), t)
    {1/(t + 1): 1/2}
    """
    if any(e.is_negative and b.is_Add for b, e in (f.as_base_exp() for f in Mul.make_args(rational))):
        try:
            rational = apart(rational, symbol)
        except (PolynomialError, NotImplementedError):
            return {rational: S.One}
    out: dict[Expr, Expr] = {}
    for term in _monic_denominators(_numerators_expanded(rational, symbol), symbol):
        constant, psi = term.as_independent(symbol, as_Add=False)
        out[psi] = out.get(psi, S.Zero) + constant
    return out


def _numerators_expanded(rational: Expr, symbol: Symbol) -> list[Expr]:
    """Expand numerators only: denominators stay factored, as partial fractions have them."""
    terms = []
    for term in Add.make_args(rational):
        numerator = Mul(*(f for f in Mul.make_args(term) if not f.as_base_exp()[1].is_negative or f.is_Symbol))
        denominator = term / numerator
        terms += [t * denominator for t in Add.make_args(expand(numerator))]
    return terms


def _monic_denominators(terms: list[Expr], symbol: Symbol) -> Iterator[Expr]:
    for term in terms:
        out = S.One
        for factor in Mul.make_args(term):
            base, exponent = factor.as_base_exp()
            if base.is_Add and exponent.is_negative and base.is_polynomial(symbol):
                lead = base.as_poly(symbol).LC()
                out *= expand(base / lead) ** exponent * lead**exponent
            else:
                out *= factor
        yield out
