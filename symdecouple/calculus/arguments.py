r"""Arguments of exponentials and waves in terms that do not depend on how they are written.

.. math:: u = \sum_i c_i\, t_i

with rational c_i and distinct terms t_i that have no rational factor: products of powers of symbols and functions, and
proper fractions p/d with d monic and p reduced by it. Two arguments that differ by rational multiples of terms are then
seen to do so, whatever sums, signs and fractions they were given as.
"""

from __future__ import annotations

from functools import lru_cache

from sympy import (
    Add,
    Expr,
    Mul,
    Poly,
    Pow,
    Rational,
    S,
    cos,
    exp,
    expand_log,
    fraction,
    log,
    reduced,
    sin,
)
from sympy.functions.elementary.hyperbolic import HyperbolicFunction
from sympy.polys.polyerrors import BasePolynomialError

from symdecouple.language.gamma_shifts import shifted_gamma
from symdecouple.language.gate import expand
from symdecouple.language.waves import WAVES, of_sine_and_cosine

__all__ = ["by_exponentials_and_waves", "exponent", "terms"]


@lru_cache(maxsize=4096)
def terms(argument: Expr) -> tuple[tuple[Expr, Rational], ...]:
    """Return the pairs (t, c) of an argument, a rational constant as a multiple of 1.

    Examples
    --------
    >>> from sympy.abc import x, y
    >>> terms(2*x*(1 - y/3) + 5)
    ((1, 5), (x, 2), (x*y, -2/3))
    >>> terms(x/(2*x + 2))
    ((1, 1/2), (1/(x + 1), -1/2))
    """
    total: dict[Expr, Rational] = {}
    sums: dict[Expr, list[Expr]] = {}
    for term in Add.make_args(expand(argument)):
        above, below = fraction(term)
        factors = {f: f.as_base_exp()[0].is_Add for f in Mul.make_args(below)}
        denominator = Mul(*(f for f, is_sum in factors.items() if is_sum))
        if denominator == 1:
            _put(total, term)
        else:
            sums.setdefault(denominator, []).append(above / Mul(*(f for f, is_sum in factors.items() if not is_sum)))
    for denominator, tops in sums.items():
        for term in _proper(Add(*tops), denominator):
            _put(total, term)
    ordered = sorted(total.items(), key=lambda item: item[0].sort_key())
    return tuple((t, c) for t, c in ordered if c != 0)


def exponent(power: Expr) -> Expr | None:
    """Return u of what is read as exp(u): powers of E, and those whose exponent is not rational; None for others."""
    if power is S.Exp1:
        return S.One
    if isinstance(power, exp):
        return power.args[0]
    if power.is_Pow and not power.exp.is_Rational:
        base = log(power.base)
        return Mul(expand(power.exp), expand_log(base) if power.base.is_number else base)
    return None


@lru_cache(maxsize=4096)
def by_exponentials_and_waves(expr: Expr) -> Expr:
    """Return an expression in which hyperbolic functions and tangents that enter algebraically are written out.

    Examples
    --------
    >>> from sympy.abc import x
    >>> from sympy import cosh, sqrt, tan
    >>> by_exponentials_and_waves(sqrt(1 + tan(x)) * log(cosh(x)))
    sqrt(sin(x)/cos(x) + 1)*log(cosh(x))
    """
    if isinstance(expr, (Add, Mul)) or (isinstance(expr, Pow) and expr.exp.is_Rational):
        return expr.func(*map(by_exponentials_and_waves, expr.args))
    if isinstance(expr, HyperbolicFunction):
        return expr.rewrite(exp)
    if isinstance(expr, WAVES) and not isinstance(expr, (sin, cos)):
        return of_sine_and_cosine(type(expr), sin(expr.args[0]), cos(expr.args[0]))
    if isinstance(expr, log):
        split = expand_log(expr, deep=False)
        return by_exponentials_and_waves(split) if split != expr else expr
    return shifted_gamma(expr)


def _put(total: dict[Expr, Rational], term: Expr) -> None:
    c, t = term.as_coeff_Mul(rational=True)
    if t != 0:
        total[t] = total.get(t, S.Zero) + c


def _proper(top: Expr, bottom: Expr) -> list[Expr]:
    """Return the terms of top/bottom: a polynomial, and fractions whose numerators are reduced by the denominator."""
    symbols = sorted(bottom.free_symbols, key=str)
    if symbols and bottom.is_polynomial(*symbols) and top.is_polynomial(*symbols):
        try:
            lead = Poly(bottom, *symbols).LC()
            bottom, top = expand(bottom / lead), expand(top / lead)
            (whole,), rest = reduced(top, [bottom], *symbols)
        except BasePolynomialError:
            pass
        else:
            return [*Add.make_args(expand(whole)), *(t / bottom for t in Add.make_args(expand(rest)))]
    return [t / bottom for t in Add.make_args(expand(top))]
