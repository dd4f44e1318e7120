r"""Cells: parts of the space of samples on which functions with kinks are analytic.

The arguments of all signs, u_1, ..., u_k, give every number of a sample a pattern of k signs. A cell consists of the
samples whose numbers have these patterns and no others. On a cell with patterns pi_1, ..., pi_r a function of the
sample is

.. math:: \varphi(x) = \sum_g 1_g(x)\, \varphi_g(x)

with analytic phi_g, in which the signs are numbers, and indicators 1_g that are locally constant: `resolved`. A sign
that does not depend on the number, only on averages or parameters, is one number on a cell. In coordinates a cell has
one pattern. `written` is the way back, from indicators to signs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from sympy import Add, Expr, Integer, Matrix, Mul, Pow, Rational, S, Symbol, factor, together
from sympy.core.function import AppliedUndef

from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.sample_values import ValuesAt
from symdecouple.calculus.segments import Segment, points_in, pure_arguments, segments
from symdecouple.calculus.subject import Subject
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.kinks import Side, Within, in_sides, in_signs
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample, rational_points

__all__ = ["Cell", "arguments_of", "patterns_at", "read_subject", "shaped"]

Pattern = tuple[int, ...]

DIGITS = (None, 30, 90)
TRIES = 200
POOL, FIRST = 8, 3
_AS_IT_IS = (Fraction(0), Fraction(1))
MAX_OPERATIONS = 600  # of a coefficient that is factored once more when it is written with signs


@dataclass(frozen=True, slots=True)
class Cell:
    """The samples whose numbers have these patterns of signs, all of them and no others.

    Attributes
    ----------
    arguments : tuple of Expr
        u_1, ..., u_k, in the sample (or in coordinates), inner ones first.
    patterns : tuple of tuple of int
        Signs of the arguments, 1 and -1.
    sample : Sample or None
        None in coordinates.
    parts : tuple of int
        The part (from 0) that each pattern belongs to; patterns on which all functions are the same share one, and a
        sample of the cell has numbers in every part. By default every pattern is a part of its own.
    """

    arguments: tuple[Expr, ...]
    patterns: tuple[Pattern, ...]
    sample: Sample | None
    parts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", self.parts or tuple(range(len(self.patterns))))
        if len(self.parts) != len(self.patterns) or {*self.parts} != {*range(self.size)}:
            raise InvalidInput(f"{len(self.patterns)} patterns belong to the parts {self.parts}, counted from 0")
        if not self.patterns or len(set(self.patterns)) < len(self.patterns) or any(
                len(p) != len(self.arguments) or not {*p} <= {1, -1} for p in self.patterns):
            raise InvalidInput(f"a cell has distinct patterns of {len(self.arguments)} signs, got {self.patterns}")
        fixed = [k for k, u in enumerate(self.arguments) if not self._moves(u)]
        if any(len({p[k] for p in self.patterns}) > 1 for k in fixed):
            raise InvalidInput("an argument that is no function of the sample has one sign on a cell")

    @property
    def size(self) -> int:
        """The number of parts."""
        return max(self.parts, default=-1) + 1

    def to_dict(self, subject: Subject) -> dict[str, Any]:
        """Return the cell as JSON-ready data, in the words of its subject."""
        return {"arguments": [subject.written(in_signs(u)) for u in self.arguments],
                "patterns": [list(p) for p in self.patterns], "parts": list(self.parts)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], subject: Subject) -> Cell:
        """Read what `to_dict` wrote."""
        return cls(tuple(in_sides(subject.read(text)) for text in data["arguments"]),
                   tuple(tuple(map(int, p)) for p in data["patterns"]),
                   None if subject.coordinates else subject.sample, tuple(map(int, data["parts"])))

    def resolved(self, expr: Expr) -> Expr:
        """Return the expression as it is on the cell: without kinks, with indicators where there are several parts."""
        return self._spread(in_sides(expr))

    def resolved_field(self, expr: Expr) -> Expr:
        """Return a field in the sample as it is on the cell; 1 is the sum of all indicators."""
        resolved = self.resolved(expr)
        if self.size == 1 or self._moves(expr):
            return resolved
        return Add(*(Within(g, self.size, self.sample) * resolved for g in range(self.size)))

    def written(self, expr: Expr) -> Expr:
        """Return an expression with indicators as one with signs, the same on the cell."""
        if not expr.has(Within):
            return expr
        out = in_signs(self._opened(expr))
        return factor(together(out)) if out.count_ops() <= MAX_OPERATIONS else out

    def holds(self, sample: Sequence[Fraction], parameters: dict[Symbol, Fraction],
              coordinates: Sequence[Symbol] = ()) -> bool:
        """True iff the sample is in the cell, certainly."""
        found = self.parts_at(sample, parameters, coordinates)
        return found is not None and len({*found}) == self.size

    def parts_at(self, sample: Sequence[Fraction], parameters: dict[Symbol, Fraction],
                 coordinates: Sequence[Symbol] = ()) -> list[int] | None:
        """Return the part of each number of a sample; None where one is in none, or it is not known."""
        found = patterns_at(self.arguments, sample, parameters, self.sample, coordinates)
        if found is None or not {*found} <= {*self.patterns}:
            return None
        return [self.parts[self.patterns.index(p)] for p in found]

    def draws(self, subject: Subject, n_samples: int, rng: random.Random, spread: int | None,
              tries: int = TRIES) -> Iterator[tuple[list[Fraction], dict[Symbol, Fraction]]]:
        """Yield random samples of the cell."""
        if n_samples < self.size:
            return
        balanced, found = (n_samples + self.size - 1) // self.size, 0
        for k in range(tries):
            parameters = {s: rational_points(s, 1, rng, size=7)[0] for s in subject.symbols}
            sample = self._drawn(n_samples, rng, spread, k, parameters)
            parts = None if sample is None else self.parts_at(sample, parameters, subject.coordinates)
            if sample is None or parts is None or len({*parts}) < self.size:
                continue
            if found < FIRST and k < tries // 4 and max(map(parts.count, parts)) > balanced:
                continue  # the first ones have as many numbers in each part: claims for all sizes rest on these
            found += 1
            yield sample, parameters

    def _drawn(self, n: int, rng: random.Random, spread: int | None, k: int,
               parameters: dict[Symbol, Fraction]) -> list[Fraction] | None:
        size = spread or max(9, 2 * n)
        if self.sample is None:
            return rational_points(Symbol("c", real=True), n, rng, size if k % 2 else max(3, n))
        places = segments(self.arguments, self.sample)
        alone = pure_arguments(self.arguments, self.sample)
        pure = [i for i, u in enumerate(self.arguments) if u in alone]
        wanted = [{tuple(p[i] for i in pure) for p, g in zip(self.patterns, self.parts, strict=True) if g == part}
                  for part in range(self.size)]
        wanted = [w for i, w in enumerate(wanted) if w not in wanted[:i]]
        shares = _shares(n, len(wanted), rng, even=k < 2 or k % 2 == 0)
        own = [u for u in self.arguments if self._moves(u) and not u.has(Mean)]
        shape = shaped(size, rng, k) if any(u.has(Mean) for u in self.arguments) else _AS_IT_IS
        chosen: list[Fraction] = []
        for patterns, share in zip(wanted, shares, strict=True):
            here = [segment for segment in places if segment.pattern in patterns]
            if not here:
                return None
            chosen += points_in(here, share, rng, size, shape)
        if len(own) > len(pure):  # kinks at places that are not known: points are chosen by their patterns
            return self._by_pattern(n, places, rng, parameters)
        if k % 4 == 3 and not pure:  # skew samples: some patterns occur in no others
            chosen = [v / 16 if rng.random() < 0.3 else v for v in chosen]
        rng.shuffle(chosen)
        return chosen if len(set(chosen)) == n else None

    def _by_pattern(self, n: int, places: Sequence[Segment], rng: random.Random,
                    parameters: dict[Symbol, Fraction]) -> list[Fraction] | None:
        """Choose from many points, as many for each pattern of the arguments that are no functions of averages."""
        own = [i for i, u in enumerate(self.arguments) if not u.has(Mean) and self._moves(u)]
        points = list(dict.fromkeys(points_in(places, POOL * n, rng, POOL * n)))
        found: dict[Pattern, list[Fraction]] = {}
        for point in points:
            at = patterns_at([self.arguments[i] for i in own], [point], parameters, self.sample)
            if at is not None:
                found.setdefault(at[0], []).append(point)
        wanted = sorted({tuple(p[i] for i in own) for p in self.patterns})
        chosen = [v for w, share in zip(wanted, _shares(n, len(wanted), rng, even=True), strict=True)
                  for v in found.get(w, [])[:share]]
        rng.shuffle(chosen)
        return chosen if len(chosen) == n else None

    def _moves(self, u: Expr) -> bool:
        return self.sample is not None and u.has(self.sample)

    def _spread(self, expr: Expr) -> Expr:
        if self.size == 1 or not self._moves(expr):
            return self._value(expr, 0)
        return Add(*(Within(g, self.size, self.sample) * self._value(expr, g) for g in range(self.size)))

    def _value(self, expr: Expr, g: int) -> Expr:
        """Return the expression on one part: signs are numbers."""
        if isinstance(expr, Side):
            if expr.args[0] in self.arguments:
                return Integer(self.patterns[self.parts.index(g)][self.arguments.index(expr.args[0])])
            raise UnsupportedExpression(f"the sign of {in_signs(expr.args[0])} is not known on the cell")
        if isinstance(expr, Within):
            return Integer(int(expr.args[0] == g))
        if isinstance(expr, Mean):
            return Mean(self._spread(expr.opened(self.sample)))
        if not expr.args or not expr.has(Side, Within):
            return expr if not expr.has(Mean) or self.size == 1 else self._in_means(expr)
        return expr.func(*(self._value(arg, g) for arg in expr.args))

    def _in_means(self, expr: Expr) -> Expr:
        if isinstance(expr, Mean):
            return Mean(self._spread(expr.opened(self.sample)))
        return expr.func(*map(self._in_means, expr.args)) if expr.args else expr

    def _opened(self, expr: Expr) -> Expr:
        if not expr.has(Within):
            return expr
        if isinstance(expr, Mean):
            body = self._located(expr.opened(self.sample))
            return Mean(self._opened(expr.opened(self.sample))) if body is None else Add(
                *(c * Mean(monomial * body[0]) for monomial, c in self._monomials(body[1])))
        if (found := self._located(expr)) is not None:
            return Add(*(c * monomial for monomial, c in self._monomials(found[1]))) * found[0]
        return expr.func(*map(self._opened, expr.args))

    def _located(self, expr: Expr) -> tuple[Expr, int] | None:
        """Return the function and the part of a basis function, None for what is no product with one indicator."""
        found = [factor for factor in Mul.make_args(expr) if isinstance(factor, Within)]
        if len(found) != 1:
            return None
        part = int(found[0].args[0])
        return self._valid(self._opened(expr.xreplace({found[0]: S.One})), part), part

    def _monomials(self, g: int) -> list[tuple[Expr, Rational]]:
        """Return the indicator of a part as a combination of independent products of signs."""
        basis: list[tuple[Expr, list[int]]] = []
        for degree in range(len(self.arguments) + 1):
            for chosen in combinations(range(len(self.arguments)), degree):
                row = [int(Mul(*(p[k] for k in chosen))) for p in self.patterns]
                if Matrix([*(r for _, r in basis), row]).rank() > len(basis):
                    basis.append((Mul(*(Side(self.arguments[k]) for k in chosen)), row))
                if len(basis) == len(self.patterns):
                    break
        wanted = Matrix([int(part == g) for part in self.parts])
        weights = Matrix([row for _, row in basis]).T.solve(wanted)
        return [(monomial, c) for (monomial, _), c in zip(basis, weights, strict=True) if c != 0]

    def _valid(self, psi: Expr, g: int) -> Expr:
        """Return a function of one part in a form that has values on the others too: roots and logs of sizes."""
        if not psi.args or not psi.has(self.sample):
            return psi
        args = [self._valid(arg, g) for arg in psi.args]
        if psi.is_Pow and not psi.exp.is_Integer and psi.base.has(self.sample):
            return Pow(self._size(args[0], g), args[1])
        if psi.func.__name__ == "log":
            return psi.func(self._size(args[0], g))
        return psi.func(*args)

    def _size(self, u: Expr, g: int) -> Expr:
        side = Side(u)
        signs = [s for s in side.atoms(Side) if s.args[0] not in self.arguments]
        return u if signs else u * side


def _shares(n: int, parts: int, rng: random.Random, even: bool) -> list[int]:
    """Return how many of n numbers each part has: as many each, or at least one."""
    if even or n <= parts:
        return [(n + parts - 1 - k) // parts for k in range(parts)]
    cuts = sorted(rng.sample(range(1, n), parts - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


def read_subject(data: Mapping[str, Any]) -> Subject:
    """Read a subject, on a cell if it is on one."""
    subject = Subject.from_dict(data)
    return subject if data.get("cell") is None else Subject(subject.items, cell=Cell.from_dict(data["cell"], subject))


def shaped(size: int, rng: random.Random, k: int) -> tuple[Fraction, Fraction]:
    """Return a place and a scale for numbers up to `size`: where signs are of averages, some need narrow samples."""
    if k % 3 == 0:
        return _AS_IT_IS
    return Fraction(rng.choice((0, 0, 1, -1, 2, -2, 5))), Fraction(rng.choice((1, 2, 5)), size * rng.choice((1, 3, 16)))


def arguments_of(exprs: Sequence[Expr], sample: Sample | None) -> tuple[Expr, ...]:
    """Return the arguments of all signs, inner ones first, with the sample as the variable of averages."""
    found: dict[Expr, None] = {}

    def collect(expr: Expr) -> None:
        if isinstance(expr, Mean):
            collect(expr.opened(sample))
            return
        for arg in expr.args:
            if isinstance(arg, Expr) and arg.has(Side):
                collect(arg)
        if isinstance(expr, Side):
            found[expr.args[0]] = None

    for expr in exprs:
        if expr.has(AppliedUndef):
            raise UnsupportedExpression(f"{in_signs(expr)} has kinks and undefined functions: bind them, "
                                        "features.bind({...}), to decide")
        collect(expr)
    return tuple(found)


def patterns_at(arguments: Sequence[Expr], sample: Sequence[Fraction], parameters: dict[Symbol, Fraction],
                symbol: Sample | None, coordinates: Sequence[Symbol] = ()) -> list[Pattern] | None:
    """Return the pattern of each number of a sample (one in coordinates); None at a kink, or where it is not known."""
    if not arguments:
        return [()] * len(sample)
    rule = {s: Rational(v.numerator, v.denominator) for s, v in parameters.items()}
    for digits in DIGITS:
        world = World(digits)
        at = ValuesAt(sample, (len(sample),), world, coordinates)
        try:
            rows = [_signs(at, in_signs(u).xreplace(rule), world, len(sample) if symbol is not None else 1)
                    for u in arguments]
        except Irrational:
            continue
        except (OutsideDomain, ZeroDivisionError, UnsupportedExpression, TypeError):  # the last: intervals without ends
            return None
        return None if any(0 in row for row in rows) else list(zip(*rows, strict=True))
    return None


def _signs(at: ValuesAt, expr: Expr, world: World, size: int) -> list[int]:
    value = at.value(expr)
    values = list(value.flat) if hasattr(value, "flat") else [value] * size
    if world.iv is None:
        return [(v > 0) - (v < 0) for v in values]
    if any(v.a <= 0 <= v.b for v in values):
        raise Irrational
    return [1 if v.a > 0 else -1 for v in values]

