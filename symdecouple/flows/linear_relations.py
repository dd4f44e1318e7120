r"""Linear relations with constant weights between the derivatives of many functions along some fields.

.. math:: \sum_t c_t\, D_i f_t = 0 \quad (i = 1, \dots, r), \qquad c_t \in \mathbf Q(\text{parameters})

Each f_t is a monomial in the generators of a `CoefficientField`, the logarithm of an element, or an angle, so that all
D_i f_t are rational functions of the generators. Their values at random points modulo a prime, the parameters being
fixed, have the same relations, and others only by chance. Where there are no parameters the numbers c_t are found from
their residues (each is the fraction with numerator and denominator below sqrt(p/2), if there is one); else the residues
say which c_t vanish, and the others solve a small linear system. What is found is a proposal, to be verified by whoever
asks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, reduce
from math import isqrt
from typing import Any, NamedTuple

from sympy import Expr, Mul, Pow, Rational, Symbol, atan, log

from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.span import PRIME, Snapshot, modular_pivots, solve
from symdecouple.language.budget import Budget, check

__all__ = ["Functions", "Term"]

MORE = 12
"""Equations beyond the number of unknowns: each divides the chance of a false relation by the prime."""
SEED = 5
SUPPORT = 12
"""Terms of a relation whose weights are functions of parameters."""


class Term(NamedTuple):
    """A function, its derivatives along the fields modulo the prime at a point, and as elements."""

    expr: Expr
    rates: Callable[[Snapshot], list[int]]
    derivatives: Callable[[], list[Any]]


class Functions:
    """The functions whose derivatives along the fields of a frame are rational in its generators.

    Attributes
    ----------
    moving : list of int
        The generators that are no parameters, coordinates first.
    """

    def __init__(self, frame: CoordinateFrame) -> None:
        self.frame, self.coefficients = frame, frame.coefficients
        self.generators = self.coefficients.generators
        self.elements = self.coefficients.field.gens
        self.expressions = [self.coefficients.uncoded(g) for g in self.generators]
        free = set(frame.coordinates)
        own = [self.generators.index(q) for q in frame.coordinates if q in self.generators]
        self.moving = [*own, *(k for k, e in enumerate(self.expressions) if e.free_symbols & free and k not in own)]
        self.parameters = [k for k in range(len(self.generators)) if k not in self.moving]
        self._rates = [{k: self.rate(i, self.elements[k]) for k in self.moving} for i in range(frame.size)]
        self._points: list[tuple[Snapshot, list[dict[int, int]]]] = []
        self._rng = random.Random(SEED)
        self._fixed = {k: self._rng.randrange(1, PRIME) for k in self.parameters}

    def rate(self, i: int, element: Any) -> Any:
        """Return the derivative of an element along field i."""
        return self.frame.derivative(i, element)

    @cached_property
    def highest(self) -> dict[int, int]:
        """The powers of roots and cosines that are no other polynomial: those below q where t^q = R."""
        return {index: q - 1 for index, q, _ in self.coefficients.relations}

    def monomial(self, exponents: Mapping[int, int]) -> Term:
        """Return a product of powers of generators."""
        expr = Mul(*(Pow(self.expressions[k], n) for k, n in exponents.items()))

        def rates(point: Snapshot) -> list[int]:
            value, sums = 1, [0] * self.frame.size
            known = self._at(point)
            for k, n in exponents.items():
                value = value * pow(point.values[k], n, PRIME) % PRIME
                inverse = n * pow(point.values[k], -1, PRIME)
                for i, row in enumerate(known):
                    if k in row:
                        sums[i] += inverse * row[k]
            return [value * s % PRIME for s in sums]

        def derivatives() -> list[Any]:
            value = reduce(lambda a, b: a * b, (self.elements[k] ** n for k, n in exponents.items()))
            return [self.rate(i, value) for i in range(self.frame.size)]

        return Term(expr, rates, derivatives)

    def logarithm(self, element: Any) -> Term:
        """Return the logarithm of an element."""
        derivatives = [self.rate(i, element) for i in range(self.frame.size)]

        def rates(point: Snapshot) -> list[int]:
            inverse = pow(point.at(element), -1, PRIME)
            return [point.at(d) * inverse % PRIME for d in derivatives]

        return Term(log(self.coefficients.decode(element)), rates, lambda: [d / element for d in derivatives])

    def angle(self, above: Symbol, below: Symbol) -> Term:
        """Return atan(y/x), whose derivative is (x D y - y D x)/(x^2 + y^2)."""
        y, x = (self.generators.index(s) for s in (above, below))

        def rates(point: Snapshot) -> list[int]:
            a, b = point.values[x], point.values[y]
            inverse = pow(a * a + b * b, -1, PRIME)
            return [(a * row.get(y, 0) - b * row.get(x, 0)) * inverse % PRIME for row in self._at(point)]

        def derivatives() -> list[Any]:
            a, b = self.elements[x], self.elements[y]
            return [(a * self.rate(i, b) - b * self.rate(i, a)) / (a**2 + b**2) for i in range(self.frame.size)]

        return Term(atan(above / below), rates, derivatives)

    def relations(self, terms: Sequence[Term]) -> list[dict[int, Expr]]:
        """Return a basis of the relations, each with as few of the last terms as can be: place of a term to weight."""
        rows: list[list[int]] = []
        for k in range(len(terms) + MORE):
            check()
            try:
                columns = [term.rates(self._point(k)) for term in terms]
            except ValueError:  # something vanishes at the point
                continue
            rows += [[column[i] for column in columns] for i in range(self.frame.size)]
        weigh = self._weights if self.parameters else _rationals
        found = (weigh(vector, terms) for vector in null_space(rows, len(terms)))
        return [dict(sorted(weights.items())) for weights in found if weights is not None]

    def invariants(self, monomials: Sequence[Mapping[int, int]], cofactors: Sequence[Any]) -> list[Any]:
        """Return elements p = sum_m c_m m with D_i p = lambda_i p for given lambda_i, the c_m being rational."""
        terms = [self.monomial(exponents) for exponents in monomials]
        rows: list[list[int]] = []
        for k in range(len(terms) + MORE):
            check()
            point = self._point(k)
            try:
                factors = [point.at(c) for c in cofactors]
                rates = [term.rates(point) for term in terms]
            except ValueError:
                continue
            values = [_value(exponents, point) for exponents in monomials]
            rows += [[(rate[i] - factor * value) % PRIME for rate, value in zip(rates, values, strict=True)]
                     for i, factor in enumerate(factors)]
        found = (_rationals(vector, terms) for vector in null_space(rows, len(terms)))
        return [sum((self.elements_of(c, monomials[k]) for k, c in weights.items()), self.coefficients.field.zero)
                for weights in found if weights is not None]

    def elements_of(self, weight: Expr, exponents: Mapping[int, int]) -> Any:
        """Return a rational multiple of a monomial as an element."""
        field = self.coefficients.field
        return reduce(lambda a, b: a * b, (self.elements[k] ** n for k, n in exponents.items()),
                      field.one * field.domain.convert(weight))

    def _weights(self, vector: Mapping[int, int], terms: Sequence[Term]) -> dict[int, Expr] | None:
        """Return weights, polynomials in the parameters, of the terms that have residues other than 0."""
        places = sorted(vector)
        if len(places) > SUPPORT:
            return None
        columns = self._columns([terms[k] for k in places])
        keys = sorted(set().union(*columns))
        point = Snapshot(self.coefficients, self._rng)
        chosen, rows = modular_pivots(point.columns(columns, keys))
        others = [k for k in range(len(places)) if k not in chosen]
        if len(others) != 1:
            return None
        target = columns[others[0]]
        weights = solve([columns[k] for k in chosen], target, [keys[r] for r in rows],
                        self.coefficients, Budget())
        if weights is None:
            return None
        _, numerators = self.coefficients.common([*weights, -self.coefficients.field.one])
        decode, field = self.coefficients.decode, self.coefficients.field
        return {places[k]: decode(field(n)) for k, n in zip([*chosen, others[0]], numerators, strict=True) if n != 0}

    def _columns(self, terms: Sequence[Term]) -> list[dict[tuple[int, ...], Any]]:
        """Return the derivatives of each term by field and monomial, the coefficients being functions of parameters."""
        derivatives = [term.derivatives() for term in terms]
        ring, columns = self.coefficients.field.ring, [dict[tuple[int, ...], Any]() for _ in terms]
        for i in range(self.frame.size):
            if all(d[i] == 0 for d in derivatives):
                continue
            _, numerators = self.coefficients.common([d[i] for d in derivatives])
            for column, polynomial in zip(columns, numerators, strict=True):
                check()
                parts: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
                for monomial, c in polynomial.iterterms():
                    key = (i, *(monomial[k] for k in self.moving))
                    rest = tuple(0 if k in self.moving else power for k, power in enumerate(monomial))
                    parts.setdefault(key, {})[rest] = c
                column |= {key: self.coefficients.field(ring.from_dict(part)) for key, part in parts.items()}
        return columns

    def _point(self, k: int) -> Snapshot:
        while len(self._points) <= k:
            point = Snapshot(self.coefficients, self._rng, self._fixed)
            self._points.append((point, [{g: point.at(e) for g, e in row.items() if e != 0} for row in self._rates]))
        return self._points[k][0]

    def _at(self, point: Snapshot) -> list[dict[int, int]]:
        return next(row for known, row in self._points if known is point)


def _value(exponents: Mapping[int, int], point: Snapshot) -> int:
    value = 1
    for k, n in exponents.items():
        value = value * pow(point.values[k], n, PRIME) % PRIME
    return value


def null_space(rows: list[list[int]], size: int) -> list[dict[int, int]]:
    """Return a basis of the vectors that all rows annihilate, modulo the prime, each 1 at a column of its own."""
    pivots: dict[int, list[int]] = {}
    for given in rows:
        check()
        if len(pivots) == size:
            return []
        row = given
        for column, other in pivots.items():
            row = _without(row, other, column)
        new = next((k for k, value in enumerate(row) if value), None)
        if new is None:
            continue
        inverse = pow(row[new], -1, PRIME)
        row = [inverse * a % PRIME for a in row]
        pivots = {column: _without(other, row, new) for column, other in pivots.items()} | {new: row}
    return [{free: 1, **{column: -row[free] % PRIME for column, row in pivots.items() if row[free]}}
            for free in range(size) if free not in pivots]


def _without(row: list[int], pivot: list[int], column: int) -> list[int]:
    """Return a row with 0 in a column, where the pivot has 1."""
    factor = row[column]
    return [(a - factor * b) % PRIME for a, b in zip(row, pivot, strict=True)] if factor else row


def _rationals(vector: Mapping[int, int], terms: Sequence[Term]) -> dict[int, Expr] | None:
    found = {k: _fraction(v) for k, v in vector.items()}
    return None if any(v is None for v in found.values()) else found


def _fraction(residue: int) -> Expr | None:
    """Return the fraction of small numbers with this residue, by the Euclidean algorithm."""
    bound = isqrt(PRIME // 2)
    a, b, s, t = PRIME, residue, 0, 1
    while b > bound:
        q = a // b
        a, b, s, t = b, a - q * b, t, s - q * t
    return Rational(b, t) if t and abs(t) <= bound else None
