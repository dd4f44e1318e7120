"""Witnesses: a rational sample and a minor that is certainly not zero there.

The columns of the minor are N grad f (or the fields) and, for a failing pair, their Lie bracket, in explicit
coordinates. Over the rationals the minor is exact; where exponentials, roots or sines occur it is enclosed by an
interval that excludes zero.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from mpmath import mpf, nstr
from sympy import Rational, Symbol, oo

from symdecouple.calculus.elementary import Irrational, OutsideDomain, World, size
from symdecouple.calculus.jets import Point, bracket_at
from symdecouple.calculus.kernels import Kernel, bound_to_kernels, draw_kernels
from symdecouple.calculus.span import determinant, independent_rows
from symdecouple.calculus.subject import Size, Subject, count
from symdecouple.errors import InvalidInput
from symdecouple.language.budget import Budget
from symdecouple.language.sample import Coordinate, Sample, rational_points
from symdecouple.shown import Shown

__all__ = ["PATIENCE", "SHARP", "Minor", "Witness", "columns_at", "draws", "find_failing_pair",
           "find_witness", "glance", "independent_at", "is_defined", "minor_of"]

DIGITS = (None, 30, 90)
TRIES = 8
GLANCES = 2  # samples at which a bracket that leaves the span for generic ones is all but certain to be seen
SHARP = 10**6
HUGE = 14_000  # bits of a minor: Python prints whole numbers of 4300 digits


@dataclass(frozen=True, slots=True)
class Minor:
    """An exact value (low == high), or an interval."""

    low: Fraction
    high: Fraction

    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0

    def is_sharp(self) -> bool:
        """True iff it excludes zero by so much that another enclosure can be compared with it."""
        return self.excludes_zero() and 2 * SHARP * (self.high - self.low) <= abs(self.low)

    def __str__(self) -> str:
        if self.low == self.high:
            return str(self.low) if len(str(self.low)) < 40 else f"{_figure(self.low, 6)} (exact, a rational)"
        return f"in [{_figure(self.low)}, {_figure(self.high)}]"


@dataclass(frozen=True, slots=True, repr=False)
class Witness(Shown):
    """A sample, the values of the parameters, and a nonzero minor of columns there.

    Attributes
    ----------
    sample : tuple of Fraction, (N,)
    parameters : tuple of (name, Fraction)
    columns : tuple of int
        The items whose fields are columns, counted from 1.
    pair : (int, int) or None
        The pair whose bracket is the last column.
    rows : tuple of int
        The coordinates of the minor, counted from 1.
    minor : Minor
    digits : int or None
        None for exact rational arithmetic, else the digits of the intervals.
    kernels : tuple of Kernel
        What the filters that are known by name only are there.
    grid : tuple of int
        The shape of the sample, in C order, where it is no vector.
    """

    sample: tuple[Fraction, ...]
    parameters: tuple[tuple[str, Fraction], ...]
    columns: tuple[int, ...]
    pair: tuple[int, int] | None
    rows: tuple[int, ...]
    minor: Minor
    digits: int | None = None
    kernels: tuple[Kernel, ...] = ()
    grid: tuple[int, ...] = ()

    def recomputed(self, subject: Subject, world: World | None = None) -> Minor:
        """Evaluate the minor anew, by jets; in a world of so many digits, if one with a clock is given."""
        subject = bound_to_kernels(subject, self.kernels)
        names = subject.named
        world = World(self.digits) if world is None else world
        values = {names[name]: value for name, value in self.parameters}
        columns = columns_at(subject, self.columns, self.pair, self.sample, values, world, self.grid)
        return minor_of(columns, [r - 1 for r in self.rows], world)

    def columns_anew(self, subject: Subject) -> list[list[Any]]:
        """Return the columns at the sample, enclosed with many digits, where they may be nearly dependent."""
        bound, names = bound_to_kernels(subject, self.kernels), subject.named
        values = {names[name]: value for name, value in self.parameters}
        return columns_at(bound, self.columns, self.pair, self.sample, values, World(DIGITS[-1]), self.grid)

    def __str__(self) -> str:
        return self._text("x = (" + ", ".join(map(str, self.sample)) + ")")

    def text(self, subject: Subject) -> str:
        """Return the witness as text, in the coordinates of the subject where it has some of its own."""
        if not any(not isinstance(s, Coordinate) for s in subject.coordinates):
            return str(self)
        return self._text(", ".join(f"{s} = {v}" for s, v in zip(subject.coordinates, self.sample, strict=True)))

    def _text(self, sample: str) -> str:
        sample += f" on a grid of {' x '.join(map(str, self.grid))}" if self.grid else ""
        given = "".join(f", {name} = {value}" for name, value in self.parameters)
        given += "".join(f", {kernel}" for kernel in self.kernels)
        return f"{sample}{given}: minor of rows {self.rows} is {self.minor}"

    def to_dict(self) -> dict[str, Any]:
        special: dict[str, Any] = {"grid": list(self.grid)} if self.grid else {}
        if self.kernels:
            special["kernels"] = [kernel.to_dict() for kernel in self.kernels]
        return {"sample": list(map(str, self.sample)), "parameters": {k: str(v) for k, v in self.parameters},
                "columns": list(self.columns), "pair": list(self.pair) if self.pair else None,
                "rows": list(self.rows), "minor": [str(self.minor.low), str(self.minor.high)], "digits": self.digits,
                **special}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Witness:
        pair = data["pair"]
        return cls(tuple(map(_read, data["sample"])),
                   tuple((str(k), _read(v)) for k, v in data["parameters"].items()),
                   tuple(map(int, data["columns"])), (int(pair[0]), int(pair[1])) if pair else None,
                   tuple(map(int, data["rows"])), Minor(*map(_read, data["minor"])), data["digits"],
                   tuple(Kernel(str(k["name"]), tuple(map(_read, k["taps"])), tuple(map(int, k["shape"])))
                         for k in data.get("kernels", ())), tuple(map(int, data.get("grid", ()))))


def find_witness(subject: Subject, columns: Sequence[int], pair: tuple[int, int] | None, n_samples: Size,
                 rng: random.Random, budget: Budget) -> Witness | None:
    """Return a witness of this sample size (or grid), None if none of a few random samples is one."""
    return _found(subject, columns, [pair], n_samples, _Search(rng, budget, TRIES, len(_NARROW) * TRIES, DIGITS))


def glance(subject: Subject, columns: Sequence[int], n_samples: Size, rng: random.Random,
           budget: Budget) -> Witness | None:
    """Return a witness that the fields of some items are independent, None if none is found at the first samples."""
    search = _Search(rng, budget, GLANCES, len(_NARROW) * GLANCES, DIGITS[:2])
    return _found(subject, columns, [None], n_samples, search)


def find_failing_pair(subject: Subject, columns: Sequence[int], n_samples: Size, rng: random.Random,
                      budget: Budget) -> Witness | None:
    """Return a witness against some pair, None if all brackets look like combinations at the first samples tried."""
    search = _Search(rng, budget, GLANCES, len(_NARROW) * GLANCES, DIGITS[:2])
    return _found(subject, columns, list(combinations(columns, 2)), n_samples, search)


class _Search(NamedTuple):
    rng: random.Random
    budget: Budget
    tries: int
    more: int
    digits: tuple[int | None, ...]


def _found(subject: Subject, columns: Sequence[int], pairs: Sequence[tuple[int, int] | None], n_samples: Size,
           search: _Search) -> Witness | None:
    """Return the first witness, with the bracket of one of the pairs as last column (without one for None)."""
    shape, inside = n_samples if isinstance(n_samples, tuple) else (), False
    tried = draws(subject, count(n_samples), search.rng, search.tries, more=search.more)
    for k, (sample, parameters) in enumerate(tried):
        if k >= search.tries and inside:
            break
        kernels = draw_kernels(subject, search.rng)
        bound = bound_to_kernels(subject, kernels)
        for digits in search.digits:
            search.budget.check("looking for a witness")
            point = Point(sample, parameters, World(digits), subject.coordinates, shape or None)
            try:
                fields = bound.fields_at(sorted({*columns, *_numbers(pairs)}), point)
            except Irrational:
                continue
            except OutsideDomain:
                break
            inside = True
            for pair in pairs:
                search.budget.check("looking for a witness")
                if (seen := independent_at(fields, columns, pair, point)) is not None:
                    return Witness(tuple(sample), tuple((s.name, v) for s, v in parameters.items()), tuple(columns),
                                   pair, *seen, digits, kernels, shape)
            if digits is None:
                break
    return None


def columns_at(subject: Subject, columns: Sequence[int], pair: tuple[int, int] | None, sample: Sequence[Fraction],
               parameters: Mapping[Symbol, Fraction], world: World, shape: tuple[int, ...] = ()) -> list[list[Any]]:
    """Return the fields of some items, and the bracket of a pair, at a sample, a vector or a grid of this shape."""
    point = Point(sample, parameters, world, subject.coordinates, shape or None)
    return _vectors(subject.fields_at({*columns, *_numbers([pair])}, point), columns, pair, point)


def independent_at(fields: Mapping[int, Any], columns: Sequence[int], pair: tuple[int, int] | None,
                   point: Point) -> tuple[tuple[int, ...], Minor] | None:
    """Return rows, counted from 1, and their minor of some fields and the bracket of a pair, if it is sharply not 0."""
    vectors = _vectors(fields, columns, pair, point)
    rows = independent_rows(vectors, point.world)
    if rows is None or not (minor := minor_of(vectors, rows, point.world)).is_sharp():
        return None
    return tuple(r + 1 for r in rows), minor


def _vectors(fields: Mapping[int, Any], columns: Sequence[int], pair: tuple[int, int] | None,
             point: Point) -> list[list[Any]]:
    out = [fields[k][0] for k in columns]
    if pair:
        u, v = fields[pair[0]], fields[pair[1]]
        out.append(u.bracket(v) if hasattr(u, "bracket") else bracket_at(u, v, point))
    return out


def _numbers(pairs: Sequence[tuple[int, int] | None]) -> set[int]:
    return {n for pair in pairs if pair for n in pair}


def is_defined(subject: Subject, n_samples: Size, rng: random.Random, budget: Budget) -> bool:
    """True iff a sample of this size was found at which all items are defined, smooth and enclosed by intervals."""
    shape, vague = n_samples if isinstance(n_samples, tuple) else (), 0
    for sample, parameters in draws(subject, count(n_samples), rng, TRIES, more=PATIENCE):
        budget.check("looking for a sample inside the domain")
        bound = bound_to_kernels(subject, draw_kernels(subject, rng))
        try:
            columns_at(bound, range(1, len(bound) + 1), None, sample, parameters, World(DIGITS[1]), shape)
            return True
        except OutsideDomain:
            continue
        except Irrational:
            vague += 1
            if vague == 3:
                break
    return False


def draws(subject: Subject, n_samples: int, rng: random.Random, many: int, spread: int | None = None,
          more: int = 0, parameters: int | None = None) -> Iterator[tuple[list[Fraction], dict[Symbol, Fraction]]]:
    """Yield random rational samples in the domain, then in narrower ones, where logarithms and roots may be real.

    Numerators go up to `spread`, those of parameters of the subject to `parameters`; by default they are small, which
    keeps exact minors short. Then `more` follow, for where those are outside of a domain: nearly constant ones, of
    which filters with a gain have one sign, and others.
    """
    if subject.cell is not None:
        yield from subject.cell.draws(subject, n_samples, rng, spread)
        return
    symbols: list[Symbol] = [Symbol("c", real=True)] if subject.coordinates else [subject.sample]
    symbols += [Sample("u", (0, oo)), Sample("u", (0, 1)), Sample("u", (1, oo)), Sample("u", (-1, 1))]
    own = symbols[0]
    for k in range(many):
        symbol = own if k < max(many // 2, 2) else symbols[k % len(symbols)]
        if not _inside(symbol, own):
            symbol = own
        given = {s: rational_points(s, 1, rng, size=parameters or 7)[0] for s in subject.symbols}
        yield rational_points(symbol, n_samples, rng, spread or max(9, 2 * n_samples)), given
    for k in range(more):
        symbol = _NARROW[k % len(_NARROW)] if k < len(_NARROW) * TRIES else own
        symbol = symbol if _inside(symbol, own) else own
        given = {s: rational_points(s, 1, rng, size=parameters or 7)[0] for s in subject.symbols}
        yield rational_points(symbol, n_samples, rng, spread or max(9, 2 * n_samples)), given


PATIENCE = 60
_NARROW = [Sample("u", (1, Rational(41, 40))), Sample("u", (-Rational(41, 40), -1)),
           Sample("u", (-Rational(1, 40), Rational(1, 40))),
           Sample("u", (1, Rational(4001, 4000))), Sample("u", (-Rational(1, 4000), Rational(1, 4000)))]
"""The last two keep high powers and exponentials small."""


def _inside(inner: Any, outer: Any) -> bool:
    if inner is outer or not isinstance(outer, Sample):
        return True
    return bool(inner.interval[0] >= outer.interval[0] and inner.interval[1] <= outer.interval[1])


def minor_of(columns: Sequence[Sequence[Any]], rows: Sequence[int], world: World) -> Minor:
    """Return the minor of some columns on some rows, counted from 0."""
    value = determinant([[column[r] for column in columns] for r in rows], world)
    if world.iv is None:
        if size(Fraction(value)) > HUGE:
            return Minor(Fraction(-1), Fraction(1))
        return Minor(Fraction(value), Fraction(value))
    ends = value._mpi_
    if any((mantissa == 0 and exponent != 0) or abs(exponent) > HUGE for _, mantissa, exponent, _ in ends):
        return Minor(Fraction(-1), Fraction(1))
    return Minor(*map(_fraction, ends))


def _figure(value: Fraction, digits: int = 9) -> str:
    """Return some digits, of numbers that no float holds as well."""
    if value == 0 or Fraction(1, 10**300) < abs(value) < 10**300:
        return f"{float(value):.{digits}g}"
    return str(nstr(mpf(value.numerator) / value.denominator, digits))


def _fraction(raw: tuple[int, Any, int, int]) -> Fraction:
    sign, mantissa, exponent, _ = raw
    value = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return -value if sign else value


def _read(text: Any) -> Fraction:
    """Read "-3/4"; a decimal exponent, which could ask for a billion digits, is no part of the format."""
    if not isinstance(text, str) or not re.fullmatch(r"-?\d+(/\d+)?", text, re.ASCII):
        raise InvalidInput(f"a rational number is written like -3/4, got {str(text)[:40]!r}")
    return Fraction(text)
