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
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from math import isqrt
from typing import Any, NamedTuple

from sympy import Expr, Mul, Pow, Rational, Symbol, atan, log, sqrt

from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.span import PRIME, Snapshot, modular_pivots, solve
from symdecouple.language.budget import Budget, check

__all__ = ["Functions", "Term", "cleared", "echelon", "null_space", "rationals"]

MORE = 12
"""Equations beyond the number of unknowns: each divides the chance of a false relation by the prime."""
SEED = 5
SUPPORT = 12
"""Terms of a relation whose weights are functions of parameters."""


class Point(NamedTuple):
    """A random point modulo the prime: the value of each function that is a factor, and its rates along each field."""

    snapshot: Snapshot
    values: list[int]
    rates: list[dict[int, int]]


class Sampled(NamedTuple):
    """The values of some monomials at a point, and their rates along each field."""

    point: Point
    values: list[int]
    rates: list[list[int]]


class Term(NamedTuple):
    """A function, its derivatives along the fields modulo the prime at a point, and as elements."""

    expr: Expr
    rates: Callable[[Point], list[int]]
    derivatives: Callable[[], list[Any]]
    is_angle: bool = False


class Functions:
    """The functions whose derivatives along the fields of a frame are rational in its generators.

    Attributes
    ----------
    elements, expressions : list
        What monomials are made of: the generators, and elements that were adjoined.
    moving : list of int
        The generators that change along the fields, coordinates first.
    known : list of list of int
        Gradients of relations that were taken, at the probe.
    resting : list of Symbol
        The coordinates that do not: where they occur they are parameters.
    """

    def __init__(self, frame: CoordinateFrame) -> None:
        self.frame, self.coefficients = frame, frame.coefficients
        self.generators = self.coefficients.generators
        self.elements: list[Any] = list(self.coefficients.field.gens)
        self.expressions: list[Expr] = [self.coefficients.uncoded(g) for g in self.generators]
        self.resting = [q for q in frame.coordinates if not any(form.get(q, 0) for form in frame.forms)]
        free = {*frame.coordinates} - {*self.resting}
        own = [self.generators.index(q) for q in frame.coordinates if q in self.generators and q in free]
        self.moving = [*own, *(k for k, e in enumerate(self.expressions) if e.free_symbols & free and k not in own)]
        for i in range(frame.size):
            self._scale(i)
        self.present = self._present()
        absent = {self.generators.index(q) for q in self.resting if q in self.generators} - {*self.present}
        self.parameters = [k for k in range(len(self.generators)) if k not in self.moving and k not in absent]
        self._rates = [{k: self.rate(i, self.elements[k]) for k in self.moving} for i in range(frame.size)]
        self._partials = [{k: self.partial(q, self.elements[k]) for k in self.moving} for q in frame.coordinates]
        self.known: list[list[int]] = []
        self._points: list[Point] = []
        self._rng = random.Random(SEED)
        self._fixed = {k: self._rng.randrange(1, PRIME) for k in self.parameters}
        self.probe = self._fresh(self._partials)

    def _scale(self, i: int) -> None:
        """Multiply a field by what the rates of generators are divided by: log(x) has the rate x'/x."""
        frame = self.frame
        bottom, _ = self.coefficients.common([self.rate(i, self.elements[k]) for k in self.moving])
        scale = self.coefficients.field(bottom.denom)
        if not bottom.denom.is_ground:
            frame.forms[i] = {q: self.coefficients.reduced(c * scale) for q, c in frame.forms[i].items()}
            frame.factors[i] = frame.factors[i] / scale

    def _present(self) -> list[int]:
        """Return the generators that occur in the fields."""
        used: set[int] = set()
        for form in self.frame.forms:
            for c in form.values():
                for monomial in (*c.numer.itermonoms(), *c.denom.itermonoms()):
                    used |= {k for k, power in enumerate(monomial) if power}
        return sorted(used)

    def adjoin(self, element: Any) -> int:
        """Take an element as one more factor of monomials; return its place."""
        if element in self.elements:
            return self.elements.index(element)
        place = len(self.elements)
        self.elements.append(element)
        self.expressions.append(self.coefficients.decode(element))
        for i, row in enumerate(self._rates):
            row[place] = self.rate(i, element)
        for q, row in zip(self.frame.coordinates, self._partials, strict=True):
            row[place] = self.partial(q, element)
        for point in self._points:
            self._complete(point, self._rates)
        self._complete(self.probe, self._partials)
        return place

    def partial(self, coordinate: Symbol, element: Any) -> Any:
        """Return the derivative of an element by a coordinate."""
        field = self.coefficients.field
        along = dict.fromkeys(self.frame.coordinates, field.zero) | {coordinate: field.one}
        return self.coefficients.differential(element, along)

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

        def rates(point: Point) -> list[int]:
            value, sums = 1, [0] * len(point.rates)
            for k, n in exponents.items():
                value = value * pow(point.values[k], n, PRIME) % PRIME
                inverse = n * pow(point.values[k], -1, PRIME)
                for i, row in enumerate(point.rates):
                    if k in row:
                        sums[i] += inverse * row[k]
            return [value * s % PRIME for s in sums]

        def derivatives() -> list[Any]:
            value = reduce(lambda a, b: a * b, (self.elements[k] ** n for k, n in exponents.items()))
            return [self.rate(i, value) for i in range(self.frame.size)]

        return Term(expr, rates, derivatives)

    def logarithm(self, element: Any) -> Term:
        """Return the logarithm of an element."""
        k = self.adjoin(element)

        def rates(point: Point) -> list[int]:
            inverse = pow(point.values[k], -1, PRIME)
            return [row.get(k, 0) * inverse % PRIME for row in point.rates]

        return Term(log(self.expressions[k]), rates,
                    lambda: [self.rate(i, element) / element for i in range(self.frame.size)])

    def angle(self, above: Any, below: Any, weight: Any = 1) -> Term:
        r"""Return :math:`\frac1{\sqrt c}\arctan\frac{\sqrt c\,y}x`, or with -c a logarithm, by elements y, x, c.

        The derivative is (x D y - y D x)/(x^2 + c y^2).
        """
        reduced, c = self.coefficients.reduced, self.coefficients.field(weight)
        y, x = self.adjoin(above), self.adjoin(below)

        def rates(point: Point) -> list[int]:
            a, b = point.values[x], point.values[y]
            inverse = pow(a * a + point.snapshot.at(c) * b * b, -1, PRIME)
            return [(a * row.get(y, 0) - b * row.get(x, 0)) * inverse % PRIME for row in point.rates]

        def derivatives() -> list[Any]:
            bottom = reduced(below**2 + c * above**2)
            return [reduced(below * self.rate(i, above) - above * self.rate(i, below)) / bottom
                    for i in range(self.frame.size)]

        return Term(_angle(self.expressions[y], self.expressions[x], self.coefficients.decode(c)), rates, derivatives,
                    True)

    def relations(self, terms: Sequence[Term]) -> Iterator[tuple[dict[int, Expr], list[int]]]:
        """Yield a basis of the relations, each with as few of the last terms as can be: place of a term to weight.

        Each comes with its gradient at a point; those with a gradient in the span of `known` ones are left out.
        """
        rows: list[list[int]] = []
        for k in range(len(terms) + MORE):
            check()
            try:
                columns = [term.rates(self.point(k)) for term in terms]
            except ValueError:  # something vanishes at the point
                continue
            rows += [[column[i] for column in columns] for i in range(self.frame.size)]
        found = null_space(rows, len(terms))
        slopes = [term.rates(self.probe) for term in terms] if found else []
        for vector in found:
            gradient = [sum(c * slopes[k][i] for k, c in vector.items()) % PRIME for i in range(len(self._partials))]
            if self._adds(gradient):
                weights = self._weights(vector, terms) if self.parameters else rationals(vector)
                if weights is not None:
                    yield dict(sorted(weights.items())), gradient

    def _adds(self, gradient: list[int]) -> bool:
        rows = [*self.known, gradient]
        return len(modular_pivots(rows)[0]) > len(self.known)

    def sampled(self, monomials: Sequence[Mapping[int, int]]) -> list[Sampled]:
        """Return the values and rates of monomials at as many points as they need."""
        terms, out = [self.monomial(exponents) for exponents in monomials], list[Sampled]()
        for k in range(len(terms) + MORE):
            check()
            point = self.point(k)
            try:
                rates = [term.rates(point) for term in terms]
            except ValueError:  # something vanishes at the point
                continue
            out.append(Sampled(point, [_value(exponents, point) for exponents in monomials], rates))
        return out

    def invariants(self, monomials: Sequence[Mapping[int, int]], sampled: Sequence[Sampled],
                   cofactors: Sequence[Any]) -> list[Any]:
        """Return elements p = sum_m c_m m with D_i p = lambda_i p for given lambda_i, the c_m being rational."""
        rows: list[list[int]] = []
        for point, values, rates in sampled:
            try:
                factors = [point.snapshot.at(c) for c in cofactors]
            except ValueError:
                continue
            rows += [[(rate[i] - factor * value) % PRIME for rate, value in zip(rates, values, strict=True)]
                     for i, factor in enumerate(factors)]
        found = (rationals(vector) for vector in null_space(rows, len(monomials)))
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

    def point(self, k: int) -> Point:
        """Return the k-th random point."""
        while len(self._points) <= k:
            self._points.append(self._fresh(self._rates))
        return self._points[k]

    def _fresh(self, rates: Sequence[Mapping[int, Any]]) -> Point:
        point = Point(Snapshot(self.coefficients, self._rng, self._fixed), [], [{} for _ in rates])
        self._complete(point, rates)
        return point

    def _complete(self, point: Point, rates: Sequence[Mapping[int, Any]]) -> None:
        """Add the values and rates of elements that were adjoined since."""
        at, size = point.snapshot.at, len(self.generators)
        for k in range(len(point.values), len(self.elements)):
            point.values.append(point.snapshot.values[k] if k < size else at(self.elements[k]))
            for row, own in zip(point.rates, rates, strict=True):
                if own.get(k, 0) != 0:
                    row[k] = at(own[k])


def _angle(y: Expr, x: Expr, c: Expr) -> Expr:
    if c.is_negative or (c.is_negative is None and c.could_extract_minus_sign()):
        root = sqrt(-c)
        return log((x + root * y) / (x - root * y)) / (2 * root)
    root = sqrt(c)
    return atan(root * y / x) / root


def _value(exponents: Mapping[int, int], point: Point) -> int:
    value = 1
    for k, n in exponents.items():
        value = value * pow(point.values[k], n, PRIME) % PRIME
    return value


def null_space(rows: list[list[int]], size: int) -> list[dict[int, int]]:
    """Return a basis of the vectors that all rows annihilate, modulo the prime, each 1 at a column of its own."""
    pivots = echelon(rows)
    return [{free: 1, **{column: -row[free] % PRIME for column, row in pivots.items() if row[free]}}
            for free in range(size) if free not in pivots]


def echelon(rows: list[list[int]]) -> dict[int, list[int]]:
    """Return a basis of the span of rows modulo the prime: by its column, each 1 there, where the others are 0."""
    pivots: dict[int, list[int]] = {}
    for given in rows:
        check()
        if len(pivots) == len(given):
            break
        row = cleared(given, pivots)
        new = next((k for k, value in enumerate(row) if value), None)
        if new is None:
            continue
        inverse = pow(row[new], -1, PRIME)
        row = [inverse * a % PRIME for a in row]
        pivots = {column: _without(other, row, new) for column, other in pivots.items()} | {new: row}
    return pivots


def cleared(row: list[int], pivots: Mapping[int, list[int]]) -> list[int]:
    """Return a row without its part along a basis of `echelon`."""
    for column, other in pivots.items():
        row = _without(row, other, column)
    return row


def _without(row: list[int], pivot: list[int], column: int) -> list[int]:
    """Return a row with 0 in a column, where the pivot has 1."""
    factor = row[column]
    return [(a - factor * b) % PRIME for a, b in zip(row, pivot, strict=True)] if factor else row


def rationals(vector: Mapping[int, int]) -> dict[int, Any] | None:
    """Return the fractions with some residues; None where one has a large numerator or denominator."""
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
