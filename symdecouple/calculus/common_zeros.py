r"""Common real zeros of polynomials in a few parameters, without a general solver.

.. math:: \{p_1 = \dots = p_r = 0\} = \{g = 0\} \cup \{p_1/g = \dots = p_r/g = 0\}, \qquad g = \gcd(p_1, \dots, p_r)

An irreducible factor of g that is linear in some parameter is solved for it; one in a single parameter by square roots
and roots of numbers; another one stays an equation, the mapping {polynomial: 0}. The rest has codimension two: one of
its polynomials is solved, and put into the others. What does not fit is left out, and the answer says that it is not
complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from sympy import QQ, Dummy, Expr, Poly, Pow, Rational, S, Symbol, exp, expand, fraction, log, powsimp, roots, together
from sympy.polys.polyerrors import BasePolynomialError

from symdecouple.language.budget import Budget

__all__ = ["Values", "Zeros", "common_zeros", "square_root_form"]

Values = Mapping[Expr, Expr]
"""Parameter to value; an equation that is not solved is the mapping of a polynomial to 0."""

DEGREE, TERMS = 30, 150
"""A greatest common divisor beyond these, of dense polynomials in three parameters, takes more than a second."""
WRITTEN = 600
"""Operations of a condition that is looked at: above, `together` alone may take seconds."""
DEPTH = 4
EXTENDED, FIELD = 4, 2
"""Degree of polynomials with irrational coefficients, and how many roots of numbers these contain."""
STEP = "solving conditions on the parameters"


class Zeros(NamedTuple):
    """What was found, and whether that is all."""

    values: tuple[Values, ...]
    is_complete: bool


def common_zeros(conditions: Iterable[Expr], symbols: Sequence[Symbol], budget: Budget, depth: int = DEPTH) -> Zeros:
    """Return the real values of the symbols at which all conditions vanish."""
    budget.check(STEP)
    polynomials, conditions = [], list(conditions)
    if any(c.is_number and c.is_zero is False for c in conditions):
        return Zeros((), True)
    short = [c for c in conditions if c.count_ops() <= WRITTEN]
    if conditions and not short:
        return Zeros((), False)
    for condition in short:
        numerator = fraction(together(condition))[0]
        try:
            polynomials.append(Poly(numerator, *symbols, domain=QQ))
        except BasePolynomialError:
            return _of_functions(numerator, symbols)
    polynomials = [p for p in polynomials if not p.is_zero]
    if not polynomials or any(p.is_ground for p in polynomials):
        return Zeros((), True)
    polynomials.sort(key=lambda p: (p.total_degree(), p.length()))
    small = [p for p in polynomials if (p.total_degree() <= DEGREE or len(symbols) == 1) and p.length() <= TERMS]
    if not small:
        return Zeros((), False)
    common = reduce(lambda p, q: p.gcd(q), small)
    found: list[Values] = []
    is_complete = True
    for factor in _factors(common):
        values, solved = _of_factor(factor, symbols, budget, depth)
        found += values
        is_complete = is_complete and solved
    rest = [p.quo(common) for p in small]
    if len(symbols) > 1 and not any(p.is_ground for p in rest):
        deeper = _of_several(rest, symbols, budget, depth)
        found += deeper.values
        is_complete = is_complete and deeper.is_complete
    return Zeros(tuple(found), is_complete)


def square_root_form(equation: Expr, symbols: Sequence[Symbol]) -> Values | None:
    """Return an equation of degree two in some parameter solved for it, with a square root; None for others."""
    for s in symbols:
        if Poly(equation, s).degree() == 2:
            a, b, c = (Poly(equation, s).coeff_monomial(s**k) for k in (2, 1, 0))
            return {s: (-b + (b**2 - 4 * a * c).expand() ** Rational(1, 2)) / (2 * a)}
    return None


def _factors(polynomial: Poly) -> list[Poly]:
    return [] if polynomial.is_ground else [factor for factor, _ in polynomial.factor_list()[1]]


def _of_factor(factor: Poly, symbols: Sequence[Symbol], budget: Budget, depth: int) -> Zeros:
    """Return the zeros of an irreducible polynomial."""
    used = [s for s in symbols if factor.degree(s) > 0]
    if len(used) == 1:
        return Zeros(tuple(_of_one_symbol(factor, used[0])), True)
    if (monomials := _of_one_sign(factor)) is not None:
        return common_zeros(monomials, symbols, budget, depth - 1) if depth else Zeros((), False)
    linear = [(Poly(factor.as_expr(), s), s) for s in used if factor.degree(s) == 1]
    for polynomial, s in sorted(linear, key=lambda pair: bool(pair[0].LC().free_symbols)):
        slope, rest = polynomial.LC(), polynomial.TC()
        own: Values = {s: together(-rest / slope).expand() if slope.is_number else together(-rest / slope)}
        if slope.is_number:
            return Zeros((own,), True)
        if not depth:
            return Zeros((own,), False)
        corner = common_zeros([slope, rest], [t for t in symbols if t != s], budget, depth - 1)
        return Zeros((own, *corner.values), corner.is_complete)
    return Zeros(({factor.as_expr(): S.Zero},), True)


def _of_one_symbol(factor: Poly, symbol: Symbol) -> Iterator[Values]:
    own = Poly(factor.as_expr(), symbol)
    if own.count_roots() == 0:
        return
    if own.degree() > 2 and len(own.monoms()) > 2:
        yield {factor.as_expr(): S.Zero}
        return
    for root in sorted(roots(own), key=str):
        if root.is_real:
            yield {symbol: root}


def _of_one_sign(factor: Poly) -> list[Expr] | None:
    """A sum of even powers with coefficients of one sign vanishes only where each of its terms does."""
    even = all(power % 2 == 0 for monomial in factor.monoms() for power in monomial)
    if not even or len({c > 0 for c in factor.coeffs()}) > 1:
        return None
    return [reduce(lambda p, s: p * s, (s for s, power in zip(factor.gens, monomial, strict=True) if power), S.One)
            for monomial in factor.monoms()]


def _of_several(polynomials: list[Poly], symbols: Sequence[Symbol], budget: Budget, depth: int) -> Zeros:
    """Return the common zeros of polynomials without a common factor."""
    if not depth:
        return Zeros((), False)
    found: list[Values] = []
    first, *others = sorted(polynomials, key=lambda p: (p.total_degree(), p.length()))
    is_complete = True
    for factor in _factors(first):
        solutions, solved = _of_factor(factor, symbols, budget, depth - 1)
        is_complete = is_complete and solved
        for values in solutions:
            if not all(s in symbols for s in values):
                is_complete = False
                continue
            inner = common_zeros([p.as_expr().xreplace(dict(values)).expand() for p in others],
                                 [s for s in symbols if s not in values], budget, depth - 1)
            is_complete = is_complete and inner.is_complete
            for more in inner.values:
                if not any(e.xreplace(dict(more)).has(S.ComplexInfinity, S.NaN) for e in values.values()):
                    found.append({**{s: e.xreplace(dict(more)) for s, e in values.items()}, **more})
    return Zeros(tuple(found), is_complete)


def _of_functions(condition: Expr, symbols: Sequence[Symbol]) -> Zeros:
    """Return zeros of a condition with irrational numbers, or with one root or exponential of a parameter."""
    own = condition.free_symbols & set(symbols)
    if len(own) < 2:
        return _of_one_function(condition, *own) if own else Zeros((), condition.is_zero is False)
    for s in sorted(own, key=str):
        if condition.is_polynomial(s) and Poly(condition, s).degree() == 1 and Poly(condition, s).LC().is_number:
            return Zeros(({s: -Poly(condition, s).TC() / Poly(condition, s).LC()},), True)
    try:
        factors = [factor.as_expr() for factor in _factors(Poly(condition))]
    except BasePolynomialError:
        return Zeros((), False)
    if len(factors) < 2:
        return Zeros((), False)
    parts = [_of_functions(factor, symbols) for factor in factors]
    return Zeros(tuple(v for part in parts for v in part.values), all(part.is_complete for part in parts))


def _of_one_function(condition: Expr, symbol: Symbol) -> Zeros:
    """Return zeros of a polynomial in t, which is an exponential or a root of a line c*symbol + d, or the symbol."""
    nodes = {e for e in condition.atoms(Pow, exp) if e.has(symbol) and not (e.is_Pow and e.exp.is_Integer)}
    lines = [Poly(e.args[0], symbol) for e in nodes if e.args[0].is_polynomial(symbol)] or [Poly(symbol)]
    numbers = {e for e in condition.atoms(Pow) if e.is_number and not e.is_Rational}
    if len(numbers) > FIELD or any(line.degree() != 1 for line in lines):
        return Zeros((), False)
    line = min(lines, key=lambda p: (abs(p.LC()), str(p)))
    t, c, d = Dummy("t", positive=bool(nodes) or None, real=True), line.LC(), line.TC()
    if all(isinstance(e, exp) for e in nodes):
        opened = condition.xreplace({e: t ** (e.args[0] / line.as_expr()) for e in nodes})
        back = (log(t) - d) / c if nodes else t
        opened = opened if nodes else opened.xreplace({symbol: t})
    else:
        q = max(e.exp.q for e in nodes)
        opened, back = powsimp(expand(condition.xreplace({symbol: (t**q - d) / c}))), (t**q - d) / c
    try:
        polynomial = Poly(opened, t, extension=True).sqf_part()
    except (BasePolynomialError, NotImplementedError):
        return Zeros((), False)
    if polynomial.free_symbols - {t} or polynomial.degree() > EXTENDED:
        return Zeros((), False)
    found = [root for factor, _ in polynomial.factor_list()[1] for root in roots(factor)]
    real = [root for root in found if root.is_real is not False and not (nodes and root.is_negative)]
    zeros = [{symbol: back.xreplace({t: root}).expand()} for root in real if not (nodes and root.is_zero
                                                                                   and back.has(log))]
    return Zeros(tuple(zeros), len(found) == polynomial.degree())
