r"""Radicands as rational functions of generators, in square-free factors.

.. math:: \cos 2n\beta = \operatorname{Re} (1 + i t)^{2n}/(1 + t^2)^n, \qquad t = \tan \beta

Generators are samples, averages and parameters, one exponential for commensurable rates, the tangent of half the
common angle of sines and cosines (its value at infinity counts as a factor, the cosine), roots, and whatever else
occurs, taken as independent. Beyond caps on degree and terms nothing is factored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb, lcm
from typing import NamedTuple

from sympy import (
    Add,
    Dummy,
    Expr,
    Mul,
    Poly,
    Pow,
    Rational,
    S,
    Symbol,
    cos,
    exp,
    expand,
    fraction,
    sin,
    sqf_list,
    tan,
    together,
)
from sympy.functions.elementary.hyperbolic import HyperbolicFunction
from sympy.polys.polyerrors import PolynomialError

from symdecouple.language.sample import BoundSample, Sample
from symdecouple.language.waves import WAVES, common_measure, of_sine_and_cosine

__all__ = ["Factor", "factored", "nodes", "within_bounds"]

MAX_OPERATIONS = 400
MAX_DEGREE, MAX_TERMS = 24, 40  # factoring polynomials within these takes a few hundredths of a second


class Factor(NamedTuple):
    """One factor of a radicand, its multiplicity, and whether it keeps its sign."""

    base: Expr
    multiplicity: int
    definite: bool


def nodes(expr: Expr) -> Iterator[Expr]:
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(arg for arg in node.args if isinstance(arg, Expr))


@lru_cache(maxsize=1024)
def factored(radicand: Expr) -> tuple[Expr, tuple[Factor, ...]] | None:
    if radicand.count_ops() > MAX_OPERATIONS:
        return None
    expr = radicand.replace(lambda e: isinstance(e, HyperbolicFunction), lambda e: e.rewrite(exp))
    coded = _Coded(expr)
    if coded.expr is None:
        return None
    constant, out = S.One, dict[Expr, Factor]()
    degrees = dict.fromkeys(coded.angles, 0)
    for written, power in zip(fraction(together(coded.expr)), (1, -1), strict=True):
        part = expand(written)
        if part.is_number:
            constant *= part**power
            continue
        try:
            poly = Poly(part, *sorted(part.free_symbols, key=str), extension=True if part.has(Pow) and any(
                n.is_Pow and n.is_number and not n.is_Rational for n in nodes(part)) else None)
            if not within_bounds(poly):
                return None
            lead, factors = sqf_list(poly)
        except (PolynomialError, NotImplementedError):
            return None
        constant *= lead**power
        for factor, multiplicity in factors:
            for piece, more in _monomials(factor):
                for t in degrees:
                    degrees[t] -= power * more * multiplicity * (piece.degree(t) if t in piece.gens else 0)
                base = coded.back(piece)
                if base.is_number:
                    constant *= base ** (power * more * multiplicity)
                    continue
                old = out.get(base)
                total = power * more * multiplicity + (old.multiplicity if old else 0)
                out[base] = Factor(base, total, coded.definite(piece))
    for t, multiplicity in degrees.items():
        base = cos(coded.angles[t])
        if multiplicity:
            out[base] = Factor(base, multiplicity, False)
    return constant, tuple(f for f in out.values() if f.multiplicity)


def _monomials(poly: Poly) -> list[tuple[Poly, int]]:
    """Split off powers of generators, which a square-free factor may have once."""
    out = []
    for g in poly.gens:
        power = min(m[poly.gens.index(g)] for m in poly.monoms())
        if power:
            out.append((Poly(g, *poly.gens, domain=poly.domain), power))
            poly = poly.quo(Poly(g**power, *poly.gens, domain=poly.domain))
    return out + ([(poly, 1)] if poly.total_degree() > 0 else [])


def within_bounds(poly: Poly) -> bool:
    """True iff a polynomial is small enough to be factored at once."""
    return poly.total_degree() <= MAX_DEGREE and len(poly.terms()) <= MAX_TERMS


class _Coded:
    """An expression as a rational function of generators; `expr` is None where it is none."""

    def __init__(self, expr: Expr) -> None:
        self.rule: dict[Expr, Expr] = {}
        self.angles: dict[Symbol, Expr] = {}
        self.values: dict[Symbol, Expr] = {}
        self.positive: set[Symbol] = set()
        self._rates: dict[Expr, list[Rational]] = {}
        self._turns: dict[Expr, list[Rational]] = {}
        self._roots: dict[Expr, int] = {}
        atoms = self._leaves(expr)
        self._gather(atoms)
        coded = expr.xreplace({leaf: self._code(leaf) for leaf in atoms})
        self.expr: Expr | None = coded if all(
            n.is_number or n.is_Symbol or n.is_Add or n.is_Mul or (n.is_Pow and n.exp.is_Integer)
            for n in nodes(coded)) else None

    def back(self, poly: Poly) -> Expr:
        """Return a factor in the terms of the expression, with tangents of half angles cleared of denominators."""
        expr = poly.as_expr()
        for t, angle in self.angles.items():
            if t in poly.gens and (degree := poly.degree(t)) > 0:
                expr = Add(*(c * sin(angle) ** k[0] * cos(angle) ** (degree - k[0])
                             for k, c in Poly(expr, t).terms()))
                expr = S.One if expr == sin(angle) ** 2 + cos(angle) ** 2 else expr
        return expr.xreplace(self.values)

    def definite(self, poly: Poly) -> bool:
        """True iff a factor is known to keep its sign."""
        positive = [g in self.positive or bool(self.values.get(g, g).is_positive) for g in poly.gens]
        signs = {c.is_positive for _, c in poly.terms()}
        if len(signs) == 1 and None not in signs and all(p or m % 2 == 0 for monomial, _ in poly.terms()
                                                         for m, p in zip(monomial, positive, strict=True)):
            return True
        value = self.back(poly)
        if value.is_positive or value.is_negative or value.is_nonnegative:
            return True
        return self._without_roots(poly)

    def _without_roots(self, poly: Poly) -> bool:
        gens = [g for g in poly.gens if poly.degree(g) > 0]
        if len(gens) != 1 or not (poly.domain.is_QQ or poly.domain.is_ZZ):
            return False
        g = gens[0]
        alone = Poly(poly.as_expr(), g)
        if g in self.positive:
            return int(alone.count_roots(0, None)) == (alone.eval(0) == 0)
        if g in self.angles:
            return int(alone.count_roots()) == 0 and alone.degree() % 2 == 0
        low, high = getattr(g, "interval", (None, None))
        low, high = (end if end is not None and end.is_Rational else None for end in (low, high))
        ends = sum(end is not None and alone.eval(end) == 0 for end in (low, high))
        return int(alone.count_roots(low, high)) == ends

    def _leaves(self, expr: Expr) -> set[Expr]:
        """Return what is no sum, product or whole power."""
        if expr.is_number and not expr.has(exp):
            return set()
        if isinstance(expr, (Add, Mul)) or (expr.is_Pow and expr.exp.is_Integer and not isinstance(expr, exp)):
            return set().union(*(self._leaves(arg) for arg in expr.args if not arg.is_Integer))
        return {expr}

    def _gather(self, leaves: set[Expr]) -> None:
        for leaf in leaves:
            if isinstance(leaf, exp):
                rate, argument = expand(leaf.args[0]).as_coeff_Mul(rational=True)
                self._rates.setdefault(argument, []).append(rate)
            elif isinstance(leaf, WAVES):
                turn, angle = expand(leaf.args[0]).as_coeff_Mul(rational=True)
                self._turns.setdefault(angle, []).append(turn)
            elif leaf.is_Pow and leaf.exp.is_Rational:
                self._roots[leaf.base] = lcm(self._roots.get(leaf.base, 1), int(leaf.exp.q))

    def _code(self, leaf: Expr) -> Expr:
        if isinstance(leaf, exp):
            rate, argument = expand(leaf.args[0]).as_coeff_Mul(rational=True)
            step = common_measure(self._rates[argument])
            return self._symbol(exp(step * argument), True) ** (rate / step)
        if isinstance(leaf, WAVES):
            turn, angle = expand(leaf.args[0]).as_coeff_Mul(rational=True)
            half = common_measure(self._turns[angle]) / 2
            return _in_tangent(leaf, self._tangent(half * angle), int(turn / half))
        if leaf.is_Pow and leaf.exp.is_Rational:
            q = self._roots[leaf.base]
            return self._symbol(Pow(leaf.base, Rational(1, q)), True) ** (leaf.exp * q)
        if leaf in self._roots:
            q = self._roots[leaf]
            return self._symbol(Pow(leaf, Rational(1, q)), True) ** q
        if isinstance(leaf, (Sample, BoundSample)):
            return leaf
        return self._symbol(leaf, bool(leaf.is_positive))

    def _symbol(self, value: Expr, positive: bool) -> Symbol:
        if value not in self.rule:
            symbol = Dummy(f"g{len(self.rule)}", real=True)
            self.rule[value] = symbol
            self.values[symbol] = value
            if positive:
                self.positive.add(symbol)
        return self.rule[value]

    def _tangent(self, angle: Expr) -> Symbol:
        symbol = self.rule.setdefault(tan(angle), Dummy(f"t{len(self.rule)}", real=True))
        self.angles[symbol] = angle
        return symbol


def _in_tangent(wave: Expr, t: Symbol, n: int) -> Expr:
    """Return a trigonometric function of n times an angle with tangent t, n even."""
    real, imaginary = (Add(*(comb(abs(n), k) * (-1) ** (k // 2) * t**k for k in range(odd, abs(n) + 1, 2)))
                       for odd in (0, 1))
    size = (1 + t**2) ** (abs(n) // 2)
    return of_sine_and_cosine(type(wave), (-1 if n < 0 else 1) * imaginary / size, real / size)
