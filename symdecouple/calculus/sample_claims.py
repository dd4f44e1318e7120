r"""Certificates about one given sample: a minor of the gradients that is not zero there, or relations between them.

===================  ==========================================================================================
`IndependenceAt`     rows on which the gradients at the sample have a minor that is not zero
`DependenceAt`       the exact rank: a minor of some gradients, and for each other one a relation that holds there
===================  ==========================================================================================
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np
from sympy import Rational, oo

from symdecouple.calculus.claims import Claim, combination, combination_latex
from symdecouple.calculus.convolution_frame import degree
from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.near_dependence import has_floats, near_dependence
from symdecouple.calculus.sample_rank import has_minor, holds
from symdecouple.calculus.sample_values import ValuesAt, fields_at
from symdecouple.calculus.subject import Size, Subject
from symdecouple.calculus.witness import minor_of
from symdecouple.errors import InvalidInput
from symdecouple.language.budget import Budget
from symdecouple.language.feature import Feature
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Coordinate
from symdecouple.verdict import Check, Status

__all__ = ["DependenceAt", "IndependenceAt", "fitting", "most_independent", "outside"]

SPREAD = 10**6
MAX_DIGITS = 300
RELATIVE = 1e-12
SHOWN = 6
ACTIVE = 1e-9  # of the largest amplitude: shown as evidence only
WRITTEN_OUT = 50_000  # numbers in the fields up to which near dependence is looked for


@dataclass(frozen=True, slots=True)
class AtSample(Claim):
    """A claim about the gradients at one sample, given as rational numbers in C order."""

    sample: tuple[Fraction, ...]
    shape: tuple[int, ...]

    @property
    def n_samples(self) -> Size:
        """The size of the sample, the shape of a grid."""
        return self.shape if len(self.shape) > 1 else self.shape[0]

    def _size_check(self) -> Check:
        fits = (all(type(n) is int and n > 0 for n in self.shape) and prod(self.shape) == len(self.sample) >= 2
                and fitting(self.subject, self.shape) and outside(self.subject, self.sample) is None)
        return Check("sample size and domain", fits, f"N = {' x '.join(map(str, self.shape))}")

    def _gradient_check(self, fields: Sequence[Sequence[Any]], at: ValuesAt | None, rng: random.Random) -> Check:
        """Check the gradients' products with a random direction by differentiating the features forward along it."""
        name = "gradients along a random direction, forward through the features"
        direction = [rng.randint(-SPREAD, SPREAD) for _ in self.sample]
        if at is None or not all(isinstance(item, Feature) for item in self.subject.items):
            return Check(name, True, "fields are what was declared" if at else "evaluated by jets, forward, already")
        world = at.world
        for k, (item, field) in enumerate(zip(self.subject.items, fields, strict=True), 1):
            total = size = world.number(Fraction(0))
            for u, v in zip(direction, field, strict=True):
                total, size = total + u * v, size + abs(u * v)
            difference = total - at.along(item, direction)
            if not world.is_zero(difference) or not (world.iv is None or difference.delta.b <= size.b * RELATIVE):
                return Check(name, False, f"gradient {k} is not that of its feature, or not enclosed narrowly enough")
        return Check(name, True, f"{len(fields)} gradients; a wrong one would pass with probability < {1 / SPREAD:.0g}")

    def _sample_line(self) -> str:
        own = self.subject.coordinates
        if any(not isinstance(s, Coordinate) for s in own):
            return "at " + ", ".join(f"{s} = {v}" for s, v in zip(own, self.sample, strict=True))
        shown = ", ".join(map(str, self.sample[:SHOWN])) + ", ..." * (len(self.sample) > SHOWN)
        return f"at x = ({shown})" + (f" on a grid of {' x '.join(map(str, self.shape))}" if self.shape[1:] else "")

    def _data(self) -> dict[str, Any]:
        return self._head() | {"sample": list(map(str, self.sample)), "shape": list(self.shape),
                               "n_samples": self.n_samples}


@dataclass(frozen=True, slots=True)
class IndependenceAt(AtSample):
    """Rows, counted from 1, on which the gradients have a minor that is not zero; by intervals where `digits` are."""

    rows: tuple[int, ...]
    digits: int | None = None
    kind: ClassVar[str] = "independence at a sample"
    answers: ClassVar[tuple[str, Status]] = ("C1 at a sample", Status.PROVED)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield self._size_check()
        yield _rows_check(self.rows, len(self.subject), len(self.sample))
        if not (self.digits is None or (type(self.digits) is int and 0 < self.digits <= MAX_DIGITS)):
            raise InvalidInput(f"digits of intervals are up to {MAX_DIGITS}, got {self.digits!r}")
        world = World(self.digits)
        fields, at = _evaluated(self.subject, self.sample, self.shape, world)
        yield self._gradient_check(fields, at, rng)
        if self.digits is None:
            columns = [[field[r - 1] for r in self.rows] for field in fields]
            yield Check("minor", has_minor(columns), "not zero, exactly")
        else:
            minor = minor_of(fields, [r - 1 for r in self.rows], world)
            yield Check("minor", minor.excludes_zero(), f"recomputed {minor}")

    def reason(self, n_samples: Size | None) -> str:
        return f"a {len(self.subject)}-minor of the {self.subject.noun} at this sample is not zero"

    def evidence(self) -> tuple[str, ...]:
        if len(self.sample) * len(self.subject) > WRITTEN_OUT or not has_floats(self.subject, self.sample):
            return ()
        fields, _ = _evaluated(self.subject, self.sample, self.shape, World(self.digits))
        return near_dependence(self.subject, fields, self.sample)

    def summary(self) -> tuple[str, ...]:
        how = "exactly" if self.digits is None else f"enclosed with {self.digits} digits"
        return self._sample_line(), f"the minor of rows {self.rows} is not zero, {how}"

    def latex(self) -> str:
        return rf"\det_{{{', '.join(map(str, self.rows))}}} \neq 0"

    def to_dict(self) -> dict[str, Any]:
        return self._data() | {"rows": list(self.rows), "digits": self.digits}

    @classmethod
    def from_dict(cls, subject: Subject, data: Mapping[str, Any]) -> IndependenceAt:
        return cls(subject, *_read_sample(data), tuple(map(int, data["rows"])), data["digits"])


@dataclass(frozen=True, slots=True)
class DependenceAt(AtSample):
    """The exact rank at the sample: independent columns on rows (from 1), relations for the other gradients.

    Without relations the claim rests on counting: there are more gradients than the sample has values, or coordinates.
    """

    columns: tuple[int, ...]
    rows: tuple[int, ...]
    relations: tuple[tuple[Fraction, ...], ...]
    kind: ClassVar[str] = "dependence at a sample"
    answers: ClassVar[tuple[str, Status]] = ("C1 at a sample", Status.REFUTED)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield self._size_check()
        size = len(self.subject)
        if not self.relations:
            most = most_independent(self.subject, self.sample)
            yield Check("more gradients than values", size > most and not self.columns and not self.rows,
                        f"{size} > {most}")
            return
        others = [k for k in range(1, size + 1) if k not in self.columns]
        yield Check("one relation for each dependent gradient", len(self.relations) == len(others) and all(
            len(row) == size and all(row[n - 1] == (n == k) for n in others)
            for k, row in zip(others, self.relations, strict=True)), f"rank {len(self.columns)} of {size}")
        yield _rows_check(self.rows, len(self.columns), len(self.sample))
        fields, at = _evaluated(self.subject, self.sample, self.shape, World())
        yield self._gradient_check(fields, at, rng)
        yield Check("minor of the independent gradients", has_minor(
            [[fields[k - 1][r - 1] for r in self.rows] for k in self.columns]), "not zero, exactly")
        yield Check("relations", all(holds(row, fields) for row in self.relations), f"exact in {len(self.sample)} rows")

    def reason(self, n_samples: Size | None) -> str:
        size, noun = len(self.subject), self.subject.noun
        most = most_independent(self.subject, self.sample)
        if not self.relations:
            what = "coordinates" if most == len(self.sample) else f"value{'s' * (most > 1)} that the sample takes"
            return f"{size} {noun} are functions of {most} {what}"
        first = next(k for k in range(1, size + 1) if k not in self.columns)
        vanishes = sum(c != 0 for c in self.relations[0]) == 1
        how = "vanishes there" if vanishes else "is a combination of the others there"
        if is_spectral(self.subject):
            how += "; where few frequencies are active the spectral perturbation of the sample helps"
        elif most < size:
            how += (f"; the sample has {most} distinct value{'s' * (most > 1)}, and the ramp perturbation makes all "
                    "values distinct")
        return f"the {noun} have rank {len(self.columns)} of {size} at this sample: {noun[:-1]} {first} {how}"

    def evidence(self) -> tuple[str, ...]:
        return active_frequencies(self.sample, self.shape) if self.relations and is_spectral(self.subject) else ()

    @property
    def rank(self) -> int | None:
        """The exact rank of the gradients there; None where only more gradients than values are known."""
        return len(self.columns) if self.relations else None

    @property
    def relation(self) -> tuple[Rational, ...] | None:
        """The first relation, weights of all gradients at the sample."""
        return tuple(map(_rational, self.relations[0])) if self.relations else None

    def summary(self) -> tuple[str, ...]:
        lines = [f"relation there: {combination(map(_rational, row), _written)} = 0" for row in self.relations]
        more = [f"... {len(lines) - SHOWN} more relations"] if len(lines) > SHOWN else []
        return (self._sample_line(), *lines[:SHOWN], *more)

    def latex(self) -> str:
        if self.relation is None:
            return rf"M = {len(self.subject)} > {most_independent(self.subject, self.sample)}"
        return combination_latex(self.relation) + " = 0"

    def to_dict(self) -> dict[str, Any]:
        return self._data() | {"columns": list(self.columns), "rows": list(self.rows),
                               "relations": [list(map(_text, row)) for row in self.relations]}

    @classmethod
    def from_dict(cls, subject: Subject, data: Mapping[str, Any]) -> DependenceAt:
        return cls(subject, *_read_sample(data), tuple(map(int, data["columns"])), tuple(map(int, data["rows"])),
                   tuple(tuple(map(_read, row)) for row in data["relations"]))


def is_spectral(subject: Subject) -> bool:
    """True where the active frequencies of a sample decide: circular features of degree 2."""
    exprs = [item.expr for item in subject.items if isinstance(item, Feature) and item.kind == "mean"]
    return len(exprs) == len(subject) and subject.is_filtered and subject.is_circular and all(
        degree(mean.body) <= 2 for expr in exprs for mean in expr.atoms(Mean))


def active_frequencies(sample: Sequence[Fraction], shape: tuple[int, ...]) -> tuple[str, ...]:
    """Describe which frequencies of a sample are active, in floating point."""
    largest = max(map(abs, sample))
    amplitudes = np.abs(np.fft.fftn(np.reshape([float(v / largest) if largest else 0.0 for v in sample], shape)))
    active = [tuple(map(int, k)) for k in np.argwhere(amplitudes > ACTIVE * max(amplitudes.max(), 1e-300))]
    kept = [k for k in active if k <= tuple(-i % n for i, n in zip(k, shape, strict=True))]
    shown = ", ".join(str(k[0] if len(k) == 1 else k) for k in kept[:SHOWN]) + ", ..." * (len(kept) > SHOWN)
    return (f"{len(kept)} active frequenc{'y' if len(kept) == 1 else 'ies'} of the sample up to sign, in floating "
            f"point: {shown or 'none'}",)


def fitting(subject: Subject, shape: tuple[int, ...]) -> bool:
    """True iff a sample of this shape has the axes of the filters, or as many numbers as there are coordinates."""
    if subject.coordinates:
        return prod(shape) == len(subject.coordinates)
    return not subject.is_filtered or len(shape) == subject.ndim


def outside(subject: Subject, sample: Sequence[Fraction]) -> Fraction | None:
    """Return the first number that is not in the domain of the sample; None where all are."""
    low, high = (-oo, oo) if subject.coordinates else subject.sample.interval
    if (low, high) == (-oo, oo):
        return None
    return next((v for v in sample if not low < _rational(v) < high), None)


def most_independent(subject: Subject, sample: Sequence[Fraction]) -> int:
    """Return a number that the rank at a sample cannot exceed: fields without filters are functions of the value."""
    pointwise = not subject.coordinates and not subject.is_filtered
    return len(set(sample)) if pointwise else len(sample)


def _evaluated(subject: Subject, sample: Sequence[Fraction], shape: tuple[int, ...],
               world: World) -> tuple[list[list[Any]], ValuesAt | None]:
    try:
        return fields_at(subject, sample, shape, world)
    except (Irrational, OutsideDomain) as error:
        raise InvalidInput(f"the gradients cannot be evaluated: {type(error).__name__}") from error


def _rows_check(rows: Sequence[int], wanted: int, size: int) -> Check:
    return Check("rows", len(rows) == wanted == len(set(rows)) and all(1 <= r <= size for r in rows), f"{len(rows)}")


def _read_sample(data: Mapping[str, Any]) -> tuple[tuple[Fraction, ...], tuple[int, ...]]:
    return tuple(map(_read, data["sample"])), tuple(data["shape"])


def _rational(value: Fraction) -> Rational:
    return Rational(value.numerator, value.denominator)


def _written(value: Any) -> str:
    text = _text(Fraction(int(value.p), int(value.q)))
    return text if len(text) <= 40 else f"{value.evalf(6)} (a rational)"


def _text(value: Fraction) -> str:
    """Return "-3/4", hexadecimal where there would be more decimals than Python writes."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) < 10_000:
        return str(value)
    return f"{value.numerator:#x}/{value.denominator:#x}"


def _read(text: Any) -> Fraction:
    if isinstance(text, str) and re.fullmatch(r"-?\d+(/\d+)?", text, re.ASCII):
        return Fraction(text)
    if isinstance(text, str) and re.fullmatch(r"-?0x[0-9a-f]+/0x[0-9a-f]+", text, re.ASCII):
        numerator, denominator = text.split("/")
        return Fraction(int(numerator, 16), int(denominator, 16))
    raise InvalidInput(f"a rational number is written like -3/4, got {str(text)[:40]!r}")
