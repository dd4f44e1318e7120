r"""Parameters at which functions that are independent in general coincide, or become constant.

Basis functions, and the functions that are averaged, are products

.. math:: \psi = \prod_k b_k(x)^{e_k} \; e^{r(x)} \; \{1,\ \sin w(x),\ \cos w(x)\}

of powers of polynomials, an exponential and a wave. Two are proportional iff all exponents, rates and frequencies (up
to their sign) are equal, as long as the polynomials b_k keep distinct roots: resultants and discriminants say where
they do not. Each gives polynomial conditions on the parameters. What depends on parameters in other ways is compared by
its arguments only, and named as a reason why other values may be exceptional.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from sympy import (
    E,
    Expr,
    Function,
    Mul,
    Poly,
    S,
    Symbol,
    cos,
    discriminant,
    exp,
    expand,
    fraction,
    log,
    resultant,
    sin,
    together,
)
from sympy.polys.polyerrors import BasePolynomialError

from symdecouple.language.budget import Budget

__all__ = ["coinciding_arguments", "coinciding_functions"]

WHOLE = range(-2, 4)
"""Exponents at which a power of a polynomial is looked at again: there it may be a sum of other functions."""
BASE_DEGREE, BASE_SIZE = 4, 60
"""Polynomials whose resultants are taken; denominators of higher degree are rare, and resultants of them are long."""
MULTIPLES = ((1, 1), (1, -1), (1, 2), (2, 1), (1, -2), (2, -1))
STEP = "comparing functions for exceptional parameters"


class Product(NamedTuple):
    """One function as a product; `rest` is what is neither a power, an exponential nor a wave."""

    powers: dict[Expr, Expr]
    rate: Expr
    wave: Expr | None
    rest: Expr


def coinciding_functions(functions: Sequence[Expr], sample: Symbol, symbols: Sequence[Symbol],
                         budget: Budget) -> tuple[list[list[Expr]], list[str]]:
    """Return conditions, each list to hold at once, under which functions coincide; and why these may not be all."""
    products = list({str(psi): _product(psi, sample) for psi in [S.One, *functions]}.values())
    found: dict[frozenset[Expr], list[Expr]] = {}
    for all_conditions in _all_conditions(products, sample, symbols, budget):
        conditions = [part for c in all_conditions if c != 0 for part in _without_statistics(c, symbols)]
        if conditions and all(c.has(*symbols) for c in conditions):
            found.setdefault(frozenset(conditions), conditions)
    nodes = {e for p in products if p.rest.has(*symbols) for e in p.rest.atoms(Function, exp) if e.has(*symbols)}
    reasons = []
    if any(p.rest.has(*symbols) for p in products):
        nodes |= {e for psi in functions for e in psi.atoms(Function, exp)}
        reasons.append(f"functions depend on {_names(symbols)} not only by exponents, frequencies and poles")
    elif any(b.has(*symbols) and (Poly(b, sample).degree() > BASE_DEGREE or b.count_ops() > BASE_SIZE)
             for p in products for b in p.powers):
        reasons.append("denominators are long")
    elif any(e.has(*symbols) and b != sample for p in products for b, e in p.powers.items()):
        reasons.append(f"powers of sums have exponents with {_names(symbols)}")
    elif any(psi.has(*symbols) for psi in functions) and not all(_is_plain(p, sample, symbols) for p in products):
        reasons.append(f"functions with {_names(symbols)} are multiplied by others than powers, exponentials and waves")
    return [*found.values(), *coinciding_arguments(nodes, symbols, budget)], reasons


def coinciding_arguments(nodes: Iterable[Expr], symbols: Sequence[Symbol], budget: Budget) -> list[list[Expr]]:
    """Return conditions under which functions have a constant argument, or two have the same up to a small factor."""
    found = []
    by_head: dict[Any, list[Expr]] = {}
    for node in sorted(nodes, key=str):
        if node.args and len(node.args) == 1:
            head = "wave" if isinstance(node, (sin, cos)) else node.func
            by_head.setdefault(head, []).append(node.args[0])
    for arguments in by_head.values():
        for u in arguments:
            found.append(_moving_coefficients(u, symbols))
        for u, v in combinations(dict.fromkeys(arguments), 2):
            budget.check(STEP)
            found += [_moving_coefficients(m * u - n * v, symbols) for m, n in MULTIPLES]
    return [conditions for conditions in found if conditions and all(c.has(*symbols) for c in conditions)]


def _product(psi: Expr, sample: Symbol) -> Product:
    powers: dict[Expr, Expr] = {}
    rate, wave, rest = S.Zero, None, S.One
    for factor in Mul.make_args(psi):
        base, exponent = factor.as_base_exp()
        if not factor.has(sample):
            continue
        if base == E and exponent.is_polynomial(sample):
            rate += exponent
        elif isinstance(factor, (sin, cos)) and factor.args[0].is_polynomial(sample) and wave is None:
            wave = factor.args[0]
        elif base.is_polynomial(sample) and not exponent.has(sample):
            powers[base] = powers.get(base, S.Zero) + exponent
        else:
            rest *= factor
    return Product(powers, expand(rate), wave, rest)


def _is_plain(product: Product, sample: Symbol, symbols: Sequence[Symbol]) -> bool:
    """True iff there is nothing but powers, an exponential, a wave and powers of the logarithm of the sample."""
    parts = [product.rate, *product.powers, *product.powers.values(), product.wave or S.Zero]
    others = set().union(*(e.free_symbols for e in parts)) - {sample, *symbols}
    return not others and all(f.as_base_exp()[0] in (S.One, log(sample)) for f in Mul.make_args(product.rest))


def _all_conditions(products: Sequence[Product], sample: Symbol, symbols: Sequence[Symbol],
                    budget: Budget) -> Iterator[list[Expr]]:
    for p, q in combinations(products, 2):
        budget.check(STEP)
        fixed = [expand(p.powers.get(b, S.Zero) - q.powers.get(b, S.Zero)) for b in {*p.powers, *q.powers}]
        fixed += _slopes(p.rate - q.rate, sample)
        if any(c.is_number and c != 0 for c in fixed):
            continue
        for sign in (1, -1):
            yield [*fixed, *_slopes((p.wave or S.Zero) - sign * (q.wave or S.Zero), sample)]
    for p in products:
        if p.wave is not None:
            yield _slopes(p.wave, sample)
    yield from ([c] for c in _of_bases(products, sample, symbols, budget))


def _of_bases(products: Sequence[Product], sample: Symbol, symbols: Sequence[Symbol],
              budget: Budget) -> Iterator[Expr]:
    """Yield what vanishes where polynomials that are raised to powers get common or double roots, or lose degree."""
    bases = [b for b in dict.fromkeys(b for p in products for b in p.powers) if b.is_polynomial(sample)]
    bases = [b for b in bases if Poly(b, sample).degree() <= BASE_DEGREE and b.count_ops() <= BASE_SIZE]
    for b in bases:
        yield Poly(b, sample).LC()
        if Poly(b, sample).degree() > 1:
            yield discriminant(b, sample)
    for b, c in combinations(bases, 2):
        budget.check(STEP)
        if b.has(*symbols) or c.has(*symbols):
            yield resultant(b, c, sample)
    for p in products:
        for b, e in p.powers.items():
            if b != sample and e.has(*symbols):
                yield from (expand(e - k) for k in WHOLE)


def _slopes(polynomial: Expr, sample: Symbol) -> list[Expr]:
    """Return the coefficients of a polynomial in the sample but for the constant one."""
    if polynomial == 0:
        return []
    return [expand(c) for c in Poly(polynomial, sample).all_coeffs()[:-1] if c != 0]


def _without_statistics(condition: Expr, symbols: Sequence[Symbol]) -> list[Expr]:
    outer = sorted(condition.free_symbols - set(symbols), key=str)
    return [condition] if not outer or not condition.is_polynomial(*outer) else list(Poly(condition, *outer).coeffs())


def _moving_coefficients(expr: Expr, symbols: Sequence[Symbol]) -> list[Expr]:
    """Return the coefficients in the parameters of what an expression has besides a constant."""
    try:
        polynomial = Poly(fraction(together(expr))[0])
    except BasePolynomialError:
        return []
    outer = [g for g in polynomial.gens if g not in symbols and g.free_symbols - set(symbols)]
    if not outer:
        return []
    return [c for monomial, c in Poly(polynomial.as_expr(), *outer).terms() if any(monomial)]


def _names(symbols: Iterable[Any]) -> str:
    return ", ".join(map(str, symbols))
