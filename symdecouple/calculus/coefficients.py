r"""The field of the statistics: exact arithmetic with the coefficients of vector fields.

Coefficients are expressions of statistics, parameters and constants. They become rational functions over the rationals
in *generators*: each statistic and parameter, each root t = R^(1/q) of a radicand R, each other function of constants.
A root obeys t^q = R, and numerators are reduced by it. Arithmetic treats generators as independent otherwise: what is
zero here is zero (sound); what is not zero here is confirmed by a witness before anyone relies on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from math import lcm
from typing import Any

from sympy import QQ, Add, Dummy, Expr, Mul, Pow, Rational, Symbol, cos, exp, expand, sin
from sympy.polys.fields import FracElement, FracField

from symdecouple.errors import UnsupportedExpression

__all__ = ["CoefficientField"]


class CoefficientField:
    """The rational functions in the generators that occur in some expressions.

    Parameters
    ----------
    exprs : iterable of Expr
        Everything that will be encoded, up to derivatives of its roots and functions.
    """

    def __init__(self, exprs: Iterable[Expr]) -> None:
        self._codes: dict[Any, Dummy] = {}
        self._waves: set[Expr] = set()
        self.roots: dict[Dummy, tuple[Expr, int]] = {}
        self.functions: dict[Dummy, Expr] = {}
        pool = list(exprs)
        self._collect(pool)
        coded = [self._code(expr) for expr in pool]
        radicands = [self._code(radicand) for radicand, _ in self.roots.values()]
        symbols = set().union(*(expr.free_symbols for expr in [*coded, *radicands]), self.roots, self.functions)
        self.generators: tuple[Symbol, ...] = tuple(sorted(symbols, key=lambda s: (s.name, str(type(s)))))
        self.field = FracField(self.generators or (Dummy("unused"),), QQ)
        self.relations: list[tuple[int, int, FracElement]] = []
        for phase in sorted(self._waves, key=str):
            self.relations.append((self._gen(self._codes[cos(phase)]), 2, 1 - self.encode(sin(phase)) ** 2))
        inner_first = sorted(self.roots.items(), key=lambda item: item[1][0].count_ops())
        self.relations += [(self._gen(t), q, self.encode(radicand)) for t, (radicand, q) in inner_first]

    def encode(self, expr: Expr) -> FracElement:
        """Return the expression as an element of the field."""
        try:
            return self.reduced(self.field.from_expr(self._code(expr)))
        except (ValueError, KeyError) as error:
            raise UnsupportedExpression(f"{expr} is not a coefficient of this field: {error}") from error
        except ZeroDivisionError as error:
            raise UnsupportedExpression(f"{str(expr)[:80]} is not defined: it is divided by what is 0") from error

    def decode(self, element: FracElement) -> Expr:
        """Return an element as an expression."""
        return self.uncoded(element.as_expr())

    def uncoded(self, expr: Expr) -> Expr:
        """Return an expression in the generators with roots and functions written out."""
        rule: dict[Expr, Expr] = {t: radicand ** Rational(1, q) for t, (radicand, q) in self.roots.items()}
        rule |= self.functions
        while expr.has(*rule) if rule else False:
            expr = expr.xreplace(rule)
        return expr

    def reduced(self, element: FracElement) -> FracElement:
        """Reduce powers of roots, in numerator and denominator, by t^q = R; R may bring in powers of roots inside."""
        while high := [r for r in self.relations if element.numer.degree(r[0]) >= r[1]
                       or element.denom.degree(r[0]) >= r[1]]:
            index, q, radicand = high[0]
            denominator = self._folded(element.denom, index, q, radicand)
            if denominator == 0:
                raise UnsupportedExpression(f"{self.uncoded(element.denom.as_expr())} vanishes identically, and "
                                            "something is divided by it")
            element = self._folded(element.numer, index, q, radicand) / denominator
        return element

    def differential(self, element: FracElement, along: Mapping[Symbol, FracElement]) -> FracElement:
        """Return the derivative of an element, given the derivatives of the statistics (chain rule)."""
        total = self.field.zero
        for generator in self._occurring(element):
            slope = self._slope(generator, along)
            if slope != 0:
                total += element.diff(self._gen_element(generator)) * slope
        return self.reduced(total)

    def common(self, elements: list[FracElement]) -> tuple[Any, list[Any]]:
        """Return (p, numerators) with elements = p * numerators, the numerators coprime polynomials.

        A power of a root that all numerators share goes into p as well.
        """
        ring = self.field.ring
        denominator = reduce(lambda a, b: a.lcm(b), (e.denom for e in elements), ring.one)
        numerators = [self.reduced(self.field(e.numer * denominator.exquo(e.denom))) for e in elements]
        if not all(n.denom.is_ground for n in numerators):
            rest, numerators = self.common(numerators)
            return rest / denominator, numerators
        polynomials = [n.numer.quo_ground(n.denom.LC) for n in numerators]
        content = reduce(lambda a, b: a.gcd(b), polynomials, ring.zero)
        return self.field(content) / self.field(denominator), [n.exquo(content) for n in polynomials]

    def _collect(self, pool: list[Expr]) -> None:
        """Give every root and every function of constants that occurs a generator."""
        powers: dict[Expr, set[Rational]] = {}
        rates: dict[Expr, set[Rational]] = {}
        for node in _closure(pool):
            if isinstance(node, exp):
                rate, argument = expand(node.args[0]).as_coeff_Mul(rational=True)
                rates.setdefault(argument, set()).add(rate)
            elif node.is_Pow and node.exp.is_Rational:
                powers.setdefault(_radicand(node), set()).add(node.exp)
            elif isinstance(node, (sin, cos)):
                self._waves.add(node.args[0])
                self.functions.setdefault(self._fresh(sin(node.args[0])), sin(node.args[0]))
                self.functions.setdefault(self._fresh(cos(node.args[0])), cos(node.args[0]))
            else:
                self.functions.setdefault(self._fresh(node), node)
        for radicand, exponents in powers.items():
            q = lcm(*(int(e.q) for e in exponents))
            self.roots[self._fresh((radicand, q), positive=True)] = (radicand, q)
        for argument, found in rates.items():
            step = Rational(1, lcm(*(int(r.q) for r in found)))
            self.functions[self._fresh((argument, step), positive=True)] = exp(step * argument)

    def _fresh(self, key: Any, positive: bool | None = None) -> Dummy:
        if key not in self._codes:
            self._codes[key] = Dummy(f"g{len(self._codes)}", real=True, positive=positive)
        return self._codes[key]

    def _code(self, expr: Expr) -> Expr:
        """Replace roots and functions by their generators."""
        if isinstance(expr, exp) and expr in set(_irrational(expr)):
            return self._code_exponential(expr)
        if expr.is_Pow and expr.exp.is_Rational and not expr.exp.is_Integer:
            radicand = _radicand(expr)
            for (base, q), t in ((k, t) for k, t in self._codes.items() if isinstance(k, tuple)):
                if base == radicand and isinstance(q, int) and q % expr.exp.q == 0:
                    return t ** (expr.exp * q)
        if expr in self._codes:
            return self._codes[expr]
        if not expr.args or not isinstance(expr, (Add, Mul, Pow)):
            return expr
        return expr.func(*(self._code(arg) for arg in expr.args))

    def _code_exponential(self, expr: Expr) -> Expr:
        rate, argument = expand(expr.args[0]).as_coeff_Mul(rational=True)
        for key, t in self._codes.items():
            if isinstance(key, tuple) and key[0] == argument and isinstance(key[1], Rational):
                return t ** (rate / key[1])
        return expr

    def _slope(self, generator: Symbol, along: Mapping[Symbol, FracElement]) -> FracElement:
        if generator in along:
            return along[generator]
        if generator in self.roots:
            radicand, q = self.roots[generator]
            t = self._gen_element(generator)
            return self.differential(self.encode(radicand), along) * t / (q * self.encode(radicand))
        if generator in self.functions:
            function = self.functions[generator]
            terms = (self.encode(function.diff(s)) * along[s] for s in function.free_symbols if s in along)
            return reduce(lambda a, b: a + b, terms, self.field.zero)
        return self.field.zero

    def _occurring(self, element: FracElement) -> list[Symbol]:
        used = [max(m) for m in zip(*element.numer.itermonoms(), *element.denom.itermonoms(), strict=True)]
        return [g for g, power in zip(self.generators, used, strict=False) if power]

    def _gen(self, generator: Symbol) -> int:
        return self.generators.index(generator)

    def _gen_element(self, generator: Symbol) -> FracElement:
        return self.field.gens[self._gen(generator)]

    def _folded(self, polynomial: Any, index: int, q: int, radicand: FracElement) -> FracElement:
        total = self.field.zero
        parts: dict[int, Any] = {}
        for monomial, c in polynomial.iterterms():
            rest = (*monomial[:index], monomial[index] % q, *monomial[index + 1 :])
            part = parts.setdefault(monomial[index] // q, self.field.ring.zero)
            parts[monomial[index] // q] = part + self.field.ring.term_new(rest, c)
        for power, part in parts.items():
            total += self.field(part) * radicand**power
        return total


def _radicand(power: Expr) -> Expr:
    return expand(power.base)


def _closure(pool: list[Expr], depth: int = 4) -> set[Expr]:
    """Return the irrational nodes in expressions, in their arguments' derivatives and so on, a few levels deep."""
    found: set[Expr] = set()
    for _ in range(depth):
        new = {node for expr in pool for node in _irrational(expr)} - found
        found |= new
        pool = [node.diff(s) for node in new if not node.is_Pow for s in node.free_symbols]
    return found


def _irrational(expr: Expr) -> list[Expr]:
    """Return the outermost roots and non-algebraic functions in an expression, and those inside radicands."""
    if expr.is_Symbol or expr.is_Rational:
        return []
    if isinstance(expr, (Add, Mul)):
        return [node for arg in expr.args for node in _irrational(arg)]
    if expr.is_Pow and expr.exp.is_Integer:
        return _irrational(expr.base)
    if expr.is_Pow and expr.exp.is_Rational:
        return [*_irrational(expr.base), expr]
    return [expr]
