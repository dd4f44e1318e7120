r"""The critical points of the skewness for every number of samples at once: two values, p the share of the higher one.

.. math:: z_1 = -\sqrt{\frac p{1-p}}, \qquad z_2 = \sqrt{\frac{1-p}p}, \qquad c_3 = \frac{1 - 2p}{\sqrt{p(1-p)}},
    \qquad \frac{dc_3}{dp} = -\frac1{2\,(p(1-p))^{3/2}} < 0

so that the extremes are at p = 1/N and p = 1 - 1/N, and are global; of the groups the lower one has the negative second
derivative, and the Morse index is (1 - p)N - 1.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, Integer, Rational, Symbol, diff, simplify, sqrt

from symdecouple.analysis.critical.claims import EverySize, proved, readers
from symdecouple.analysis.critical.exact_values import two_values
from symdecouple.analysis.critical.moment_level import MomentLevel
from symdecouple.analysis.critical.point import CriticalPoint, CriticalPoints
from symdecouple.calculus.subject import Subject
from symdecouple.families.moments import recognize_moments
from symdecouple.language.budget import Budget
from symdecouple.language.feature_set import FeatureSet
from symdecouple.verdict import Check, Status

__all__ = ["READERS", "skewness_for_every_size"]

N = Symbol("N", integer=True, positive=True)
SHARE, RATIO = Symbol("p"), Symbol("r", positive=True)
SKEWNESS = (1 - 2 * SHARE) / sqrt(SHARE * (1 - SHARE))


def skewness_for_every_size(level: MomentLevel, name: str) -> CriticalPoints:
    """Return the minimum, the saddles with their share p, and the maximum, all in symbols; N is at least 3."""
    rows = (("minimum", 1 - 1 / N, Integer(0)), ("saddle", SHARE, (1 - SHARE) * N - 1), ("maximum", 1 / N, N - 2))
    if level.slope < 0:
        rows = (("minimum", 1 / N, Integer(0)), ("saddle", SHARE, SHARE * N - 1), ("maximum", 1 - 1 / N, N - 2))
    points = (_point(level, kind, share, index) for kind, share, index in rows)
    subject = Subject(level.features.features)
    complete, b1, b2 = proved((TwoValues(subject), TwoValuesGlobal(subject), TwoValuesThin(subject)), None)
    return CriticalPoints(points, 3, None, complete, b1, b2, name)


def _point(level: MomentLevel, kind: Any, share: Expr, index: Expr) -> CriticalPoint:
    (m, s), last = level.affine, level.coordinates.symbols[-1]
    low, high = two_values(share) if share == SHARE else map(simplify, two_values(share))
    skewness = SKEWNESS.subs(SHARE, share)
    value = level.feature.subs(last, skewness if share == SHARE else simplify(skewness))
    return CriticalPoint(value, kind, index, (m + s * low, m + s * high), (1 - share, share), None,
                         None if kind == "saddle" else True)


@dataclass(frozen=True, slots=True)
class TwoValues(EverySize):
    """At mean and variance, the critical points of a third moment have two values, of any shares."""

    kind: ClassVar[str] = "critical points: two values, all"
    answers: ClassVar[tuple[str, Status]] = ("all critical points", Status.PROVED)
    because = "every number of a critical sample is a zero of one quadratic polynomial"
    n0 = 3  # two values of two samples are all that there is
    findings = "the skewness of two values, p the share of the higher: (1 - 2p)/sqrt(p(1 - p)), falling in p"
    formula = r"c_3 = \frac{1 - 2p}{\sqrt{p(1-p)}}"

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        found = recognize_moments(FeatureSet(self.subject.items))
        yield Check("three moments", found is not None and len(found) == len(self.subject) == 3)
        low, high = two_values(SHARE)
        for order, expected in ((1, Integer(0)), (2, Integer(1)), (3, SKEWNESS)):
            # 0 < p < 1 in the form 1/(1 + r), r > 0, so that SymPy sees the signs under the roots
            rest = ((1 - SHARE) * low**order + SHARE * high**order - expected).subs(SHARE, 1 / (1 + RATIO))
            yield Check(f"moment {order}", simplify(rest) == 0)
        slope = diff(SKEWNESS, SHARE) + 1 / (2 * (SHARE * (1 - SHARE)) ** Rational(3, 2))
        yield Check("monotone in the share", simplify(slope.subs(SHARE, 1 / (1 + RATIO))) == 0)


@dataclass(frozen=True, slots=True)
class TwoValuesGlobal(TwoValues):
    """B1 of a third moment."""

    kind: ClassVar[str] = "critical points: two values, extrema"
    answers: ClassVar[tuple[str, Status]] = ("B1", Status.PROVED)
    because = "only one high or one low value is an extremum, and the skewness falls with the share of the high value"


@dataclass(frozen=True, slots=True)
class TwoValuesThin(TwoValues):
    """B2 of a third moment."""

    kind: ClassVar[str] = "critical points: two values, basins"
    answers: ClassVar[tuple[str, Status]] = ("B2", Status.PROVED)
    because = "saddles have two or more of each value, are not degenerate, and only samples with ties flow to them"


READERS = readers(TwoValues, TwoValuesGlobal, TwoValuesThin)
