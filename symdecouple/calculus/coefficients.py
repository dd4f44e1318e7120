r"""The field of the statistics: exact arithmetic with the coefficients of vector fields.

Coefficients are expressions of statistics, parameters and constants. They become rational functions over the rationals
in *generators*: each statistic and parameter, each root t = R^(1/q) of a radicand R, and the functions that
`field_generators` finds. A root obeys t^q = R, a cosine cos^2 = 1 - sin^2, by which numerators are reduced.
Arithmetic treats generators as independent otherwise: what is zero here is zero (sound); what is not zero here is
confirmed by a witness before anyone relies on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

from sympy import Add, Dummy, Expr, Rational, Symbol
from sympy.polys.fields import FracElement
from sympy.polys.polyerrors import BasePolynomialError

from symdecouple.calculus.common_denominator import OverOneDenominator
from symdecouple.calculus.field_generators import FieldGenerators
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.budget import check
from symdecouple.language.polynomials import RationalFunctions

__all__ = ["CoefficientField"]

WRITTEN = 400  # terms that are written as an expression between two looks at the clock: 0.1 s
LOOK = 2_000  # terms that are sorted between two looks at the clock: some milliseconds


class CoefficientField:
    """The rational functions in the generators that occur in some expressions.

    Parameters
    ----------
    exprs : iterable of Expr
        Everything that will be encoded, up to derivatives of its roots and functions.
    """

    def __init__(self, exprs: Iterable[Expr]) -> None:
        pool = list(exprs)
        self._made = FieldGenerators(pool)
        self.roots, self.functions, self.waves = self._made.roots, self._made.functions, self._made.waves
        coded = [self._made.code(expr) for expr in pool]
        radicands = [self._made.code(radicand) for radicand, _ in self.roots.values()]
        symbols = set().union(*(expr.free_symbols for expr in [*coded, *radicands, *self.functions.values()]),
                              self.roots, self.functions)
        self.generators: tuple[Symbol, ...] = tuple(sorted(symbols, key=lambda s: (s.name, str(type(s)))))
        self.field = RationalFunctions(self.generators or (Dummy("unused"),))
        self._fractions = OverOneDenominator(self.field.ring, dict(zip(self.generators, self.field.ring.gens,
                                                                       strict=False)))
        self.relations: list[tuple[int, int, FracElement]] = []
        for sine, cosine in self._made.waves:
            self.relations.append((self._gen(cosine), 2, 1 - self._gen_element(sine) ** 2))
        inner_first = sorted(self.roots.items(), key=lambda item: item[1][0].count_ops())
        self.relations += [(self._gen(t), q, self.encode(radicand)) for t, (radicand, q) in inner_first]

    def encode(self, expr: Expr) -> FracElement:
        """Return the expression as an element of the field."""
        try:
            return self.reduced(self.field.from_expr(self._made.code(expr)))
        except (ValueError, KeyError, BasePolynomialError) as error:
            raise UnsupportedExpression(f"{expr} is not a coefficient of this field: {type(error).__name__} {error}"
                                        ) from error
        except ZeroDivisionError as error:
            raise UnsupportedExpression(f"{str(expr)[:80]} is not defined: it is divided by what is 0") from error

    def vanishes(self, expr: Expr) -> bool:
        """True iff the expression is zero: its numerator over a common denominator is, after reduction."""
        try:
            top, below = self._fractions.of(self._made.code(expr))
        except (ValueError, KeyError, BasePolynomialError) as error:
            raise UnsupportedExpression(f"{expr} is not a coefficient of this field: {type(error).__name__} {error}"
                                        ) from error
        except ZeroDivisionError as error:
            raise UnsupportedExpression(f"{str(expr)[:80]} is not defined: it is divided by what is 0") from error
        if any(self.reduced(self.field(factor)) == 0 for factor in below):
            raise UnsupportedExpression(f"{str(expr)[:80]} is not defined: it is divided by what is 0")
        return bool(self.reduced(self.field(top)) == 0)

    def decode(self, element: FracElement) -> Expr:
        """Return an element as an expression."""
        if len(element.numer) <= WRITTEN:
            return self.uncoded(element.as_expr())
        terms, parts = list(element.numer.iterterms()), []
        for k in range(0, len(terms), WRITTEN):
            check()
            parts.append(self.uncoded(self.field.ring.from_terms(terms[k : k + WRITTEN]).as_expr()))
        return Add(*parts) / self.uncoded(element.denom.as_expr())

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
            check()
            index, q, radicand = high[0]
            if element.denom == 1 and radicand.denom == 1:
                element = self.field.raw_new(self._folded_polynomial(element.numer, index, q, radicand.numer))
                continue
            denominator = self._folded(element.denom, index, q, radicand)
            if denominator == 0:
                raise UnsupportedExpression(f"{self.uncoded(element.denom.as_expr())} vanishes identically, and "
                                            "something is divided by it")
            element = self._folded(element.numer, index, q, radicand) / denominator
        return element

    def differential(self, element: FracElement, along: Mapping[Symbol, FracElement]) -> FracElement:
        """Return the derivative of an element, given the derivatives of the statistics (chain rule)."""
        slopes = {generator: self._slope(generator, along) for generator in self._occurring(element)}
        if element.denom == 1 and all(slope.denom == 1 for slope in slopes.values()):  # no fractions to cancel
            top = self.field.ring.zero
            for generator, slope in slopes.items():
                if slope != 0:
                    top += element.numer.diff(self._gen(generator)) * slope.numer
            return self.reduced(self.field.raw_new(top))
        total = self.field.zero
        for generator, slope in slopes.items():
            if slope != 0:
                total += element.diff(self._gen_element(generator)) * slope
        return self.reduced(total)

    def combined(self, pairs: Iterable[tuple[FracElement, FracElement]]) -> FracElement:
        """Return the reduced sum of products, without looking for common factors where nothing is divided."""
        top, rest = self.field.ring.zero, self.field.zero
        for a, b in pairs:
            check()
            if a.denom == 1 and b.denom == 1:
                top += a.numer * b.numer
            else:
                rest += a * b
        whole = self.field.raw_new(top)
        return self.reduced(whole + rest if rest != 0 else whole)

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

    def _folded_polynomial(self, polynomial: Any, index: int, q: int, radicand: Any) -> Any:
        total = self.field.ring.zero
        for power, part in self._parts(polynomial, index, q).items():
            check()
            total += part * radicand**power if power else part
        return total

    def _folded(self, polynomial: Any, index: int, q: int, radicand: FracElement) -> FracElement:
        total = self.field.zero
        for power, part in self._parts(polynomial, index, q).items():
            total += self.field(part) * radicand**power
        return total

    def _parts(self, polynomial: Any, index: int, q: int) -> dict[int, Any]:
        """Return the polynomials of degree below q in a generator that its q-th power multiplies, by the exponent."""
        parts: dict[int, dict[tuple[int, ...], Any]] = {}
        for number, (monomial, c) in enumerate(polynomial.iterterms()):
            if number % LOOK == 0:
                check()
            rest = (*monomial[:index], monomial[index] % q, *monomial[index + 1 :])
            part = parts.setdefault(monomial[index] // q, {})
            part[rest] = part.get(rest, 0) + c
        return {power: self.field.ring.from_dict(part) for power, part in parts.items()}
