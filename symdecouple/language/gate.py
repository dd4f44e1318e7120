r"""The gate to SymPy: what is too large to be factored, cancelled, solved or integrated in a second is refused before.

SymPy's algorithms never look at a clock. Each call of one passes here, where the size of the input is estimated without
expanding it, as that of a fraction: terms and degree of the numerator once it is multiplied out,

.. math:: \Big(\sum_i a_i\Big)\Big(\sum_j b_j\Big) : m n, \qquad \Big(\sum_{i \le m} a_i\Big)^k : \binom{m + k - 1}{k}

and the bases of the denominator with their exponents. Beyond a cap, measured so that the call stays under a second,
BudgetExceeded says "too large", which verdicts turn into UNDECIDED; `factor` returns such an expression as it is, since
its form is all that changes.
"""

from __future__ import annotations

from math import comb, prod
from typing import Any, NamedTuple

import sympy as sp
from sympy import QQ, Add, Expr, Mul, Poly, S, Symbol
from sympy.polys.polyerrors import GeneratorsNeeded, PolynomialError
from sympy.polys.polytools import parallel_poly_from_expr

from symdecouple.errors import BudgetExceeded
from symdecouple.language.budget import check, too_large
from symdecouple.language.polynomials import RationalFunctions

__all__ = ["Size", "apart", "cancel", "expand", "factor", "factor_list", "size_of", "together"]

EXPANDED = 4_000  # terms: SymPy expands so many in 0.6 s
FACTOR_TERMS = 200  # of an expanded polynomial; with the three caps below, 3600 random products took at most 0.7 s
FACTOR_DEGREE = 40  # in one generator
FACTOR_VOLUME = 20_000  # the product of (degree + 1) over the generators
FACTOR_BITS = 150  # of a coefficient
APART_DEGREE = 40  # of a denominator: 0.5 s over the rationals; with parameters partial fractions look at the clock
_HUGE = 10**9


class Size(NamedTuple):
    """A bound of the size of an expression as a fraction: numerator, and bases of the denominator.

    Attributes
    ----------
    terms, degree : int
        Of the expanded numerator.
    below : dict
        Base of the denominator to (exponent, terms, degree).
    """

    terms: int
    degree: int
    below: dict[Expr, tuple[int, int, int]]


def size_of(expr: Expr) -> Size:
    """Return a bound of the size of an expression, over everything in it that is no sum, product or whole power.

    Examples
    --------
    >>> x, y = sp.symbols("x y")
    >>> size_of((x + y + 1)**10 / (x - y)**2)
    Size(terms=66, degree=10, below={x - y: (2, 2, 1)})
    """
    if expr.is_Add:
        return _of_sum([size_of(arg) for arg in expr.args])
    if expr.is_Mul:
        return _of_product([size_of(arg) for arg in expr.args])
    if expr.is_Pow and expr.exp.is_Integer:
        return _of_power(expr.base, int(expr.exp))
    return Size(1, 0 if expr.is_number else 1, {})


def expand(expr: Expr) -> Expr:
    """Return SymPy's expansion, sum by sum, each of at most `EXPANDED` terms; too large beyond."""
    check()
    if expr.is_Add:
        return Add(*map(expand, expr.args))
    if (terms := size_of(expr).terms) > EXPANDED:
        raise too_large(f"the number of terms of {_short(expr)} once expanded", terms, EXPANDED)
    return sp.expand(expr)


def together(expr: Expr) -> Expr:
    """Return SymPy's single fraction."""
    check()
    size = size_of(expr)
    if size.terms > EXPANDED:
        raise too_large(f"the number of terms of {_short(expr)} over a common denominator", size.terms, EXPANDED)
    return sp.together(expr)


def cancel(expr: Expr) -> Expr:
    """Return SymPy's fraction in lowest terms; the expression as it is where that would take too long."""
    check()
    return sp.cancel(expr) if _is_small(expr) else expr


def factor_list(expr: Expr) -> tuple[Expr, list[tuple[Expr, int]]]:
    """Return SymPy's factors of a polynomial; numbers have none.

    Examples
    --------
    >>> x, y = sp.symbols("x y")
    >>> factor_list(2*x**2 - 2*y**2)
    (2, [(x - y, 1), (x + y, 1)])
    >>> factor_list((x + y)**300 - 1)
    Traceback (most recent call last):
    ...
    symdecouple.errors.BudgetExceeded: too large: the number of terms of (x + y)**300 - 1 is 302, and the limit is 200
    """
    check()
    try:
        polynomial = _polynomial(expr)
    except GeneratorsNeeded:
        return expr, []
    found, factors = sp.factor_list(polynomial)
    return found, [(base.as_expr(), k) for base, k in factors]


def factor(expr: Expr) -> Expr:
    """Return SymPy's factored form; the expression as it is where that would take too long."""
    check()
    return sp.factor(expr) if _is_small(expr) else expr


def apart(expr: Expr, symbol: Symbol) -> Expr:
    """Return the partial fractions of a rational function of one symbol, with the rest as constants.

    Each power q^k of the denominator Q gets the digits of P (Q/q^k)^(-1) mod q^k to the base q.

    Raises
    ------
    PolynomialError
        If it is no rational function.

    Examples
    --------
    >>> x, a = sp.symbols("x a")
    >>> apart(x**3/((x + a)**2*(x - 1)), x) == sp.apart(x**3/((x + a)**2*(x - 1)), x)
    True
    """
    check()
    top, bottom = sp.fraction(together(expr))
    bases = [factor.as_base_exp() for factor in Mul.make_args(bottom)]
    polynomials, options = parallel_poly_from_expr((top, symbol, *(base for base, _ in bases)))
    degree = sum(int(n) * q.degree(symbol) for (_, n), q in zip(bases, polynomials[2:], strict=True))
    others = [g for g in options.gens if g != symbol]
    if degree > APART_DEGREE:
        raise too_large(f"the degree of the denominator of {_short(expr)}", degree, APART_DEGREE)
    if options.domain not in (sp.ZZ, QQ) or any(g.has(symbol) for g in others):
        if degree > 4:
            raise too_large(f"the degree of the denominator of {_short(expr)}, whose coefficients are not rational,",
                            degree, 4)
        return sp.apart(expr, symbol)
    field = RationalFunctions(others).to_domain() if others else QQ
    factors: dict[Expr, int] = {}
    for base, n in bases:
        for q, k in factor_list(base)[1]:
            if q.has(symbol):
                factors[q] = factors.get(q, 0) + k * int(n)
    moving = [(Poly(q, symbol, domain=field), k) for q, k in factors.items()]
    one = Poly(1, symbol, domain=field)
    bottom = prod((Poly(base, symbol, domain=field) ** int(n) for base, n in bases), start=one)
    whole, rest = Poly(top, symbol, domain=field).div(bottom)
    terms = [whole.as_expr()]
    lead = bottom.LC() / prod((q.LC() ** k for q, k in moving), start=S.One)
    for q, k in moving:
        check()
        power = q**k
        cofactor = prod((other**n for other, n in moving if other != q), start=one)
        digits = (rest * cofactor.invert(power)).rem(power) if cofactor.degree() else rest
        for j in range(k, 0, -1):
            digits, digit = digits.div(q)
            terms.append(factor(digit.as_expr() / lead) / q.as_expr() ** j)
    return Add(*terms)


def _of_sum(parts: list[Size]) -> Size:
    below: dict[Expr, tuple[int, int, int]] = {}
    for part in parts:
        for base, (k, n, d) in part.below.items():
            below[base] = (max(k, below.get(base, (0, n, d))[0]), n, d)
    terms = degree = 0
    for part in parts:
        missing = [(k - part.below.get(base, (0, n, d))[0], n, d) for base, (k, n, d) in below.items()]
        terms += min(part.terms * prod(_raised(n, k) for k, n, _ in missing), _HUGE)
        degree = max(degree, part.degree + sum(k * d for k, _, d in missing))
    return Size(terms, degree, below)


def _of_product(parts: list[Size]) -> Size:
    below: dict[Expr, tuple[int, int, int]] = {}
    for part in parts:
        for base, (k, n, d) in part.below.items():
            below[base] = (k + below.get(base, (0, n, d))[0], n, d)
    return Size(min(prod(part.terms for part in parts), _HUGE), sum(part.degree for part in parts), below)


def _of_power(base: Expr, power: int) -> Size:
    inner = size_of(base)
    if power >= 0:
        below = {b: (k * power, n, d) for b, (k, n, d) in inner.below.items()}
        return Size(_raised(inner.terms, power), inner.degree * power, below)
    above = [(k * -power, n, d) for k, n, d in inner.below.values()]
    own = {} if base.is_number else {base: (-power, inner.terms, inner.degree)}
    return Size(min(prod(_raised(n, k) for k, n, _ in above), _HUGE), sum(k * d for k, _, d in above), own)


def _raised(terms: int, power: int) -> int:
    """Bound the terms of a power."""
    if terms <= 1 or power == 0:
        return 1
    return min(comb(min(terms, _HUGE) + power - 1, min(power, terms - 1)) if terms + power < 10_000 else _HUGE, _HUGE)


def _admit(expr: Expr, terms: int, degree: int) -> None:
    if terms > EXPANDED:
        raise too_large(f"the number of terms of {_short(expr)} once expanded", terms, EXPANDED)
    if degree > 10 * FACTOR_DEGREE:
        raise too_large(f"the degree of {_short(expr)}", degree, 10 * FACTOR_DEGREE)


def _is_small(expr: Expr) -> bool:
    """True iff numerator and denominator are small enough to be factored."""
    size = size_of(expr)
    try:
        for terms, degree in [(size.terms, size.degree), *((n, d) for _, n, d in size.below.values())]:
            _admit(expr, terms, degree)
        for part in sp.fraction(sp.together(expr)):
            _measure(part)
    except (BudgetExceeded, PolynomialError):
        return False
    return True


def _measure(part: Expr) -> None:
    if part.is_number:
        return
    try:
        _polynomial(part)
    except GeneratorsNeeded:  # a number in disguise, exp(x)*exp(y)*exp(-x - y)
        return


def _polynomial(expr: Expr) -> Any:
    """Return the expression as a polynomial that is small enough to be factored."""
    size = size_of(expr)
    _admit(expr, size.terms, size.degree)
    polynomial = Poly(expr)
    degrees = polynomial.degree_list()
    bits = max((_bits(c) for c in polynomial.coeffs()), default=0)
    for what, found, limit in (("number of terms", len(polynomial.terms()), FACTOR_TERMS),
                               ("degree", max(degrees), FACTOR_DEGREE),
                               ("product of degrees", prod(d + 1 for d in degrees), FACTOR_VOLUME),
                               ("bits of a coefficient", bits, FACTOR_BITS)):
        if found > limit:
            raise too_large(f"the {what} of {_short(expr)}", found, limit)
    return polynomial


def _bits(number: Expr) -> int:
    return max(abs(int(number.p)).bit_length(), int(number.q).bit_length()) if number.is_Rational else 0


def _short(expr: Expr) -> str:
    """Return the beginning of a text; of what is too large to be printed, how many parts it has."""
    if expr.args and len(expr.args) > 12:
        return f"a {'product' if isinstance(expr, Mul) else 'sum'} of {len(expr.args)} parts"
    text = str(expr)
    return text if len(text) < 80 else f"{text[:77]}..."
