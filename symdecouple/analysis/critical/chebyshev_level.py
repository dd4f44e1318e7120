r"""Critical points of averages whose derivatives form Chebyshev systems: by patterns of ties, as for moments.

For each pattern the equations are

.. math:: \sum_i \frac{n_i}N m_j(t_i) = r_j, \qquad j < k, \qquad t_1 < \dots < t_{k-1},

solved by Newton's method from several starts; a solution is proved to exist near what is found by the inequality of
Krawczyk in interval arithmetic, and to be the only one of its pattern by Theorem I. B1 and B2 follow from the system
alone. That patterns without a solution have none is not proved: samples may run out of an open domain.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Float, Rational, exp

from symdecouple.analysis.critical.chebyshev import AveragedFunctions, recognize_chebyshev, slope
from symdecouple.analysis.critical.claims import EverySize, bounded, found_numerically, proved, readers
from symdecouple.analysis.critical.interval_newton import CriticalBox, Proved, critical_box, floats_of, newton
from symdecouple.analysis.critical.point import CriticalPoint
from symdecouple.analysis.critical.tie_patterns import Kind, Ties, index_of, kind_of, patterns
from symdecouple.calculus.subject import Subject
from symdecouple.language.budget import Budget
from symdecouple.language.feature_set import FeatureSet
from symdecouple.verdict import Check, Status, Verdict

__all__ = ["READERS", "ChebyshevLevel", "chebyshev_level"]

DIGITS = 30
RADIUS = Fraction(1, 2**110)
STARTS = 40
LARGEST = 2_000
"""Patterns of ties; each takes some milliseconds, or all starts where it has no solution."""

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ChebyshevLevel:
    """The last of some averages, those before at their references, for N samples."""

    features: FeatureSet
    references: tuple[Expr, ...]
    n_samples: int
    system: AveragedFunctions

    def points(self) -> Iterator[CriticalPoint]:
        """Yield every critical point that is found and proved to exist."""
        for ties in patterns(self.n_samples, len(self.references)) if self.references else ():
            found = self._solved(ties)
            if found is not None:
                yield found

    def verdicts(self) -> tuple[Verdict, Verdict, Verdict]:
        """Return what is known: of the list, and of B1 and B2, which follow from the system."""
        subject = Subject(self.features.features)
        if not self.references:
            (first,) = proved([NoCriticalPoints(subject)], self.n_samples)
        else:
            first = found_numerically(subject.texts(), self.n_samples, "each pattern of ties has one solution at most; "
                                      f"{STARTS} starts found none of the patterns that are missing, and samples at "
                                      "which the references are dependent are not looked for")
        b1, b2 = proved((ChebyshevExtrema(subject), ChebyshevBasins(subject)), self.n_samples)
        return first, b1, b2

    def _solved(self, ties: Ties) -> CriticalPoint | None:
        functions, count = self.system.functions, len(ties)
        weights, wanted = np.array(ties) / self.n_samples, np.array([float(r) for r in self.references])
        low, high = (float(end) for end in self.system.interval)
        for start in _starts(count, low, high):
            t = newton(functions[:count], weights, wanted, start)
            if t is not None and low < t[0] and t[-1] < high:
                found = critical_box(self.system, self.references, ties, t, RADIUS)
                if found is not None:
                    return self._point(*found)
        return None

    def _point(self, box: CriticalBox, found: Proved) -> CriticalPoint:
        level, ties, size = len(self.features), box.ties, Fraction(2**-60)
        kind, index, error = kind_of(ties, level), index_of(ties, level) or 0, (found.high - found.low) / 2
        if found.signs[-1] < 0:
            swapped: dict[Kind, Kind] = {"minimum": "maximum", "maximum": "minimum"}
            kind, index = swapped.get(kind, kind), self.n_samples - len(ties) - index
        values = tuple(Float(Rational(t), DIGITS) for t in box.values)
        if self.system.is_logarithmic:
            values = tuple(Float(exp(t), DIGITS) for t in values)
            size *= Fraction(float(values[-1]))
        shares = tuple(Rational(n, self.n_samples) for n in ties)
        value, is_global = Float(Rational((found.low + found.high) / 2), DIGITS), None if kind == "saddle" else True
        return CriticalPoint(value, kind, index, values, shares, self.n_samples, is_global, True,
                             float(max(error, size)))


def _starts(count: int, low: float, high: float) -> Iterator[FloatArray]:
    """Yield ordered points of the interval, closer and wider ones in turn."""
    rng = np.random.default_rng(count)
    for start in range(STARTS):
        if np.isfinite(low) and np.isfinite(high):
            t = low + (high - low) * rng.random(count)
        else:
            t = rng.normal(scale=0.3 * (1 + start % 8), size=count)
            t = low + np.abs(t) if np.isfinite(low) else high - np.abs(t) if np.isfinite(high) else t
        yield np.sort(t)


@dataclass(frozen=True, slots=True)
class ChebyshevExtrema(EverySize):
    """B1 of averages: their derivatives form a Chebyshev system for each number of them, so that extrema are global."""

    kind: ClassVar[str] = "critical points: Chebyshev system, extrema"
    answers: ClassVar[tuple[str, Status]] = ("B1", Status.PROVED)
    because = "the derivatives of the averages form a Chebyshev system, so that Theorem I applies"
    findings = "at any references: no combination of the derivatives of the first j averages has j zeros, for each j"
    formula = r"\det\bigl(m_i'(t_l)\bigr) \neq 0,\ t_1 < \dots < t_j"

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        found = recognize_chebyshev(FeatureSet(self.subject.items))
        yield Check("the derivatives form a Chebyshev system", found is not None)
        assert found is not None
        slopes = [slope(terms) for terms in found.functions]
        low, high = (float(end) for end in found.interval)
        for count in range(1, len(slopes) + 1):
            # by another route: determinants at random points, rows ordered, all have one sign
            signs = set()
            for _ in range(20):
                t = np.sort([_drawn(rng, low, high) for _ in range(count)])
                signs.add(np.sign(np.linalg.det(np.array([floats_of(s, t) for s in slopes[:count]]))))
            yield Check(f"one sign of determinants of {count}", len(signs) == 1, str(signs))


@dataclass(frozen=True, slots=True)
class ChebyshevBasins(ChebyshevExtrema):
    """B2 of the same."""

    kind: ClassVar[str] = "critical points: Chebyshev system, basins"
    answers: ClassVar[tuple[str, Status]] = ("B2", Status.PROVED)


@dataclass(frozen=True, slots=True)
class NoCriticalPoints(ChebyshevExtrema):
    """A first average whose derivative has no zero has no critical points."""

    kind: ClassVar[str] = "critical points: Chebyshev system, none"
    answers: ClassVar[tuple[str, Status]] = ("all critical points", Status.PROVED)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield Check("one average", len(self.subject) == 1)
        yield from ChebyshevExtrema._checks(self, rng, clock)


def _drawn(rng: random.Random, low: float, high: float) -> float:
    t = rng.uniform(0, 1)
    return low + (high - low) * t if np.isfinite(high - low) else low + 3 * t if np.isfinite(low) else (
        high - 3 * t if np.isfinite(high) else 4 * t - 2)


READERS = readers(ChebyshevExtrema, ChebyshevBasins, NoCriticalPoints)


def chebyshev_level(features: FeatureSet, references: Sequence[Expr | None], n_samples: int) -> ChebyshevLevel | None:
    """Return the level whose last feature is that of the set; None if it is no Chebyshev system."""
    system = recognize_chebyshev(features)
    if system is None:
        return None
    count = comb(n_samples - 1, len(features) - 2) if len(features) > 1 else 0
    bounded(count, LARGEST, f"patterns of ties of {n_samples} samples at this level", "tried")
    return ChebyshevLevel(features, tuple(v for v in references if v is not None), n_samples, system)
