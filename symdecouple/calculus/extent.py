r"""How large an expression is, before anything of it is multiplied out or evaluated.

As a quotient of polynomials P/Q of N coordinates and of the parameters, an expression has degrees bounded by the rules

.. math::

    \frac{P_1}{Q_1} + \frac{P_2}{Q_2} = \frac{P_1 Q_2 + P_2 Q_1}{Q_1 Q_2}, \qquad
    \mathrm{Mean}\Bigl(\frac PQ\Bigr) = \frac{\sum_n P_n \prod_{m \ne n} Q_m}{N \prod_m Q_m}, \qquad
    \partial \frac PQ = \frac{P' Q - P Q'}{Q^2}

with a common factor of two denominators counted once where it is written alike. These bounds are upper ones: what
rests on them (a chance of error, a refusal) is never understated. An expression with roots, exponentials, kinks or
parameters as exponents is no such quotient, and has no degree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil, comb, inf, log2
from typing import NamedTuple

from sympy import Expr

from symdecouple.errors import BudgetExceeded
from symdecouple.language.filtered import Filtered, Unit
from symdecouple.language.mean import Mean

__all__ = ["Degrees", "bracket_degrees", "check_extent", "degrees", "product", "total"]

LARGEST_POWER = 10**6
"""Of a numerator or denominator; jets give up numbers that grow beyond what they hold, but powers are written out."""
MANY = 1_000
"""Factors of a sum beyond which the number of terms is not counted."""
LARGEST_EXPANSION = 500_000
"""Terms, times words of 64 bits in a coefficient: SymPy multiplies out so much in about two seconds."""


class Degrees(NamedTuple):
    """Of numerator and denominator, as polynomials in everything that is drawn at random."""

    top: int
    bottom: int


def degrees(expr: Expr, n_samples: int) -> Degrees | None:
    """Bound the degrees of an expression in N coordinates; None where it is no rational function of them."""
    return _degrees(expr, n_samples, {})


def total(parts: Iterable[Degrees | None]) -> Degrees | None:
    """Bound the degrees of a sum."""
    found = list(parts)
    if not found:
        return Degrees(0, 0)
    known = [part for part in found if part is not None]
    if len(known) < len(found):
        return None
    bottom = sum(part.bottom for part in known)
    return Degrees(max(part.top - part.bottom for part in known) + bottom, bottom)


def product(parts: Iterable[Degrees | None]) -> Degrees | None:
    """Bound the degrees of a product."""
    top = bottom = 0
    for part in parts:
        if part is None:
            return None
        top, bottom = top + part.top, bottom + part.bottom
    return Degrees(top, bottom)


def bracket_degrees(u: Iterable[Degrees | None], v: Iterable[Degrees | None]) -> Degrees | None:
    """Bound the degrees of any component of [u, v] from those of the components of both."""
    u, v = list(u), list(v)
    largest = max((w.top for w in [*u, *v] if w is not None), default=0), max((w.bottom for w in [*u, *v]
                                                                              if w is not None), default=0)
    slope = Degrees(largest[0] + largest[1], 2 * largest[1])
    return total([product((a, slope)) for a in [*u, *v]])


def _degrees(expr: Expr, n: int, known: dict[Expr, Degrees | None]) -> Degrees | None:
    if expr not in known:
        known[expr] = _by_rule(expr, n, known)
    return known[expr]


def _by_rule(expr: Expr, n: int, known: dict[Expr, Degrees | None]) -> Degrees | None:
    if expr.is_Rational or isinstance(expr, Unit):
        return Degrees(0, 0)
    if expr.is_Symbol:
        return Degrees(1, 0)
    if isinstance(expr, (Mean, Filtered)):
        body = _degrees(expr.body if isinstance(expr, Mean) else expr.argument, n, known)
        return None if body is None else Degrees(body.top + (n - 1) * body.bottom, n * body.bottom)
    if expr.is_Add:
        return _sum(expr, n, known)
    if expr.is_Mul:
        return product(_degrees(arg, n, known) for arg in expr.args)
    if expr.is_Pow and expr.exp.is_Integer:
        base, power = _degrees(expr.base, n, known), int(expr.exp)
        if base is None:
            return None
        return Degrees(power * base.top, power * base.bottom) if power > 0 else Degrees(-power * base.bottom,
                                                                                        -power * base.top)
    return None


def _sum(expr: Expr, n: int, known: dict[Expr, Degrees | None]) -> Degrees | None:
    """Put terms over one denominator: the least common multiple of the powers that are written in them."""
    found = [_degrees(term, n, known) for term in expr.args]
    tops, common, rest = [], dict[Expr, int](), 0
    for term, degree in zip(expr.args, found, strict=True):
        if degree is None:
            return None
        tops.append(degree.top - degree.bottom)
        shared = 0
        for base, power in _divided_by(term).items():
            common[base] = max(common.get(base, 0), power)
            shared += power * _known(_degrees(base, n, known)).top
        rest += degree.bottom - shared
    bottom = rest + sum(power * _known(_degrees(base, n, known)).top for base, power in common.items())
    return Degrees(max(tops) + bottom, bottom)


def _known(degree: Degrees | None) -> Degrees:
    assert degree is not None  # or that of the term would not be known either
    return degree


def _divided_by(term: Expr) -> Mapping[Expr, int]:
    return {f.base: -int(f.exp) for f in (term.args if term.is_Mul else (term,)) if _is_division(f)}


def _is_division(factor: Expr) -> bool:
    return bool(factor.is_Pow and factor.exp.is_Integer and factor.exp < 0)


# --- how much would have to be multiplied out ---------------------------------------------------------------------


class _Size(NamedTuple):
    terms: float
    power: float
    bits: float


def check_extent(exprs: Iterable[Expr], what: str) -> None:
    """Refuse expressions that would take too long to multiply out or to evaluate.

    Raises
    ------
    BudgetExceeded
        With the number that is too large.
    """
    known: dict[Expr, _Size] = {}
    for expr in exprs:
        size = _size(expr, known)
        if size.power > LARGEST_POWER:
            raise BudgetExceeded(f"{what} has a power of degree {_shown(size.power)}, over {LARGEST_POWER}: too large "
                                 "to be checked")
        work = size.terms * (1 + size.bits / 64)
        if work > LARGEST_EXPANSION:
            raise BudgetExceeded(f"{what} would have {_shown(size.terms)} terms when it is multiplied out: too large "
                                 "to be checked")


def _shown(number: float) -> str:
    return f"{number:.3g}"


def _size(expr: Expr, known: dict[Expr, _Size]) -> _Size:
    if expr not in known:
        known[expr] = _size_by_rule(expr, known)
    return known[expr]


def _size_by_rule(expr: Expr, known: dict[Expr, _Size]) -> _Size:
    """Count terms over everything that is no sum, product or whole power; what is inside counts by itself."""
    if expr.is_Rational:
        return _Size(1, 0, max(int(expr.p).bit_length(), int(expr.q).bit_length()))
    if not expr.args:
        return _Size(1, 1, 0)
    if expr.is_Add:
        return _size_of_sum(expr, known)
    if expr.is_Mul:
        return _dense(expr, _times(_size(arg, known) for arg in expr.args))
    if expr.is_Pow and expr.exp.is_Integer:
        base, n = _size(expr.base, known), abs(int(expr.exp))
        return _dense(expr, _raised(base, n))
    inner = [_size(arg, known) for arg in expr.args if isinstance(arg, Expr)]
    largest = max((p.power for p in inner), default=0), max((p.terms for p in inner), default=1)
    if largest[0] > LARGEST_POWER or largest[1] > LARGEST_EXPANSION:
        return _Size(largest[1], largest[0], 0)
    return _Size(max(largest[1], 1) if expr.is_Pow else 1, max(largest[0], 1), 0)


def _size_of_sum(expr: Expr, known: dict[Expr, _Size]) -> _Size:
    """Put the terms over one denominator, as for degrees."""
    parts, common = [_size(arg, known) for arg in expr.args], dict[Expr, int]()
    for term in expr.args:
        for base, power in _divided_by(term).items():
            common[base] = max(common.get(base, 0), power)
    plain = _Size(sum(p.terms for p in parts), max(p.power for p in parts), max(p.bits for p in parts)
                  + log2(len(parts)))
    return _dense(expr, _times([plain, *(_raised(_size(base, known), power) for base, power in common.items())]))


def _times(parts: Iterable[_Size]) -> _Size:
    terms, power, bits = 1.0, 0.0, 0.0
    for part in parts:
        terms, power, bits = terms * part.terms, power + part.power, bits + part.bits
    return _Size(terms, power, bits)


def _raised(base: _Size, n: int) -> _Size:
    bits = n * (base.bits + log2(base.terms)) if 0 < base.terms < inf else inf
    return _Size(_multinomial(base.terms, n), n * base.power, bits)


def _dense(expr: Expr, size: _Size) -> _Size:
    """There are no more terms than monomials of the degree in what the expression is a polynomial of."""
    if size.terms < 100 or size.power > LARGEST_POWER:
        return size
    kinds = len(_generators(expr))
    return size._replace(terms=min(size.terms, float(comb(ceil(size.power) + kinds, kinds)) if kinds < 30 else inf))


def _generators(expr: Expr) -> set[Expr]:
    found, waiting = set(), [expr]
    while waiting:
        node = waiting.pop()
        if node.is_Add or node.is_Mul or (node.is_Pow and node.exp.is_Integer):
            waiting += node.args[:1] if node.is_Pow else node.args
        elif not node.is_Rational:
            found.add(node)
    return found


def _multinomial(terms: float, n: int) -> float:
    """Return the number of monomials of degree n in so many terms."""
    if terms <= 1:
        return terms
    if terms > LARGEST_EXPANSION or n > MANY:
        return inf
    return float(min(comb(n + round(terms) - 1, n), 10**30))
