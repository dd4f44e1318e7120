r"""The critical points of moments at one level: every pattern of ties settled, each point classified by Theorem I.

In standardized values x = m + s z the reference manifold of level k - 1 is Mean(z) = 0, Mean(z^2) = 1, Mean(z^j) = c_j
for j < k, and the feature is a monotone function of Mean(z^k). Its critical points have at most k - 1 distinct values:
k - 1 of them where the manifold is regular, fewer where it is singular.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

from sympy import Expr, Float, Integer, Rational, Symbol, diff, expand, oo, sqrt

from symdecouple.analysis.critical.claims import bounded
from symdecouple.analysis.critical.exact_values import closed_values, exact_moment
from symdecouple.analysis.critical.pattern_solutions import PatternSolutions, Targets
from symdecouple.analysis.critical.point import CriticalPoint
from symdecouple.analysis.critical.tie_patterns import Kind, Ties, index_of, kind_of, patterns
from symdecouple.analysis.critical.value_boxes import Interval, ValueBox
from symdecouple.errors import InvalidInput
from symdecouple.families.moments import MomentCoordinates, recognize_moments
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.moments.tied_range import smallest_size

__all__ = ["MomentLevel", "Solution", "moment_level", "moment_range", "unsolved_level"]

DIGITS = 30
LARGEST = 20_000
"""Patterns of ties; a thousand of them are settled in a second or two."""
MOST_SAMPLES = 24
"""Up to which the number of samples that would do is looked for."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A sample at the references of the features before: its pattern, its values and what it is."""

    box: ValueBox
    kind: Kind
    index: int | None


@dataclass(frozen=True)
class MomentLevel:
    """Feature `level` of a set of moments, those before at their references, for N samples.

    Attributes
    ----------
    features : FeatureSet
        The first `level` features.
    references : tuple of Expr
        Of all but the last.
    n_samples : int
    coordinates : MomentCoordinates
    """

    features: FeatureSet
    references: tuple[Expr, ...]
    n_samples: int
    coordinates: MomentCoordinates

    @property
    def level(self) -> int:
        return len(self.features)

    @cached_property
    def affine(self) -> tuple[Expr, Expr]:
        """Mean and standard deviation at the references."""
        m, *rest = self.coordinates.coordinates(self.references)
        return m, rest[0] if rest else Integer(1)

    @cached_property
    def targets(self) -> Targets:
        moments = (Integer(0), Integer(1), *self.coordinates.coordinates(self.references)[2:])
        return Targets(moments[:self.level - 1], self.affine[1])

    @cached_property
    def feature(self) -> Expr:
        """The feature as a function of the last standardized moment; at level 2 of the variance."""
        if self.level == 2:
            m, s = self.coordinates.symbols
            return self.coordinates.forward[-1].xreplace({m: self.affine[0]}).subs(s, sqrt(s))
        known = (*self.affine, *self.targets.exact[2:])
        return self.coordinates.forward[-1].xreplace(dict(zip(self.coordinates.symbols, known, strict=False)))

    @cached_property
    def slope(self) -> int:
        """The sign with which the feature moves with the last standardized moment."""
        last = self.coordinates.symbols[-1]
        return 1 if diff(self.feature, last).subs(last, 1).evalf() > 0 else -1

    @cached_property
    def solutions(self) -> PatternSolutions:
        return PatternSolutions(self.targets)

    @cached_property
    def found(self) -> tuple[tuple[Solution, ...], tuple[Ties, ...]]:
        """Every sample that is critical, and the patterns about which nothing is proved."""
        solved, open_ = [], []
        for count in range(1, self.level):
            for ties in patterns(self.n_samples, count):
                answer = self.solutions.settled(ties)
                relations = [self.solutions.relation(answer.box, order) for order in range(count + 1, self.level)
                             ] if answer.how == "box" and answer.box else []
                if answer.how == "open" or (None in relations and not {1, -1} & set(relations)):
                    open_.append(ties)
                elif answer.how == "box" and answer.box and not any(relations):
                    solved.append(Solution(answer.box, kind_of(ties, self.level), index_of(ties, self.level)))
        return tuple(solved), tuple(open_)

    def points(self) -> Iterator[CriticalPoint]:
        """Yield the critical points inside the domain of the sample, in the values of the features."""
        if self.level == 2 and not _is_smooth_at_zero(self.feature, self.coordinates.symbols[-1]):
            return
        for solution in self.found[0]:
            point = self._point(solution)
            low, high = self.features.sample.interval
            if (low == -oo or point.values[0] > low) and (high == oo or point.values[-1] < high):
                yield point

    def _point(self, solution: Solution) -> CriticalPoint:
        box, (m, s), last = solution.box, self.affine, self.coordinates.symbols[-1]
        shares = tuple(Rational(n, self.n_samples) for n in box.ties)
        exact = closed_values(box, self.targets.exact, self.targets.unit)
        if exact is not None:
            values = tuple(expand(m + s * z) for z in exact)
            value, error = expand(self.feature.subs(last, exact_moment(box.ties, exact, self.level))), 0.0
        else:
            values = tuple(_float(m + s * Rational(z)) for z in box.values)
            ends = [self.feature.subs(last, Rational(end)).evalf(2 * DIGITS) for end in box.moment(self.level)]
            value = _float(sum(ends, Integer(0)) / 2)
            error = float(max(abs(ends[0] - ends[1]), abs(s) * Rational(box.radius), abs(value) / 10**DIGITS))
        kind, index, free = solution.kind, solution.index, self.n_samples - self.level + 1
        if self.slope < 0:
            kind = {"minimum": "maximum", "maximum": "minimum"}.get(kind, kind)  # type: ignore[assignment]
            index = None if index is None else free - index
        is_global = None if kind == "saddle" else True
        return CriticalPoint(value, kind, index, values, shares, self.n_samples, is_global,
                             len(box.ties) == self.level - 1, error)


def moment_level(features: FeatureSet, references: Sequence[Expr | None], n_samples: int) -> MomentLevel | None:
    """Return the level whose last feature is that of the set; None if they are no moments.

    Raises
    ------
    InvalidInput
        If no sample of so many values has the references.
    BudgetExceeded
        If there are more patterns of ties than are enumerated.
    """
    made = unsolved_level(features, references, n_samples)
    if made is not None and not any(made.found):
        raise InvalidInput(_unreachable(made))
    return made


def unsolved_level(features: FeatureSet, references: Sequence[Expr | None], n_samples: int) -> MomentLevel | None:
    """Return the level before anything is solved; None if the features are no moments."""
    coordinates = recognize_moments(features)
    level = len(features)
    if coordinates is None or len(coordinates) < level or level < 2:
        return None
    count = sum(comb(n_samples - 1, d - 1) for d in range(1, level))
    bounded(count, LARGEST, f"patterns of ties of {n_samples} samples at level {level}", "enumerated")
    return MomentLevel(features, tuple(v for v in references if v is not None), n_samples, coordinates)


def moment_range(targets: Targets, n_samples: int) -> tuple[Interval, Interval] | None:
    """Return the least and the largest moment of the next order among N samples that have these standardized moments.

    Both are enclosed in rationals; None if there is no such sample. Only the patterns of extrema are solved.

    Examples
    --------
    >>> low, high = moment_range(Targets((Integer(0), Integer(1), Integer(0))), 9)
    >>> float(low[0]), float(high[1])
    (1.125, 4.5)
    """
    level, solutions = len(targets.exact) + 1, PatternSolutions(targets)
    ends: dict[str, Interval] = {}
    for count in range(2, level):
        for ties in patterns(n_samples, count):
            kind = kind_of(ties, level)
            if kind == "saddle" or (kind in ends and kind != "isolated"):
                continue
            box = solutions.settled(ties).box
            if box is None or box.ties != ties or any(solutions.relation(box, order) != 0
                                                      for order in range(count + 1, level)):
                continue
            if kind == "isolated":
                return box.moment(level), box.moment(level)
            ends[kind] = box.moment(level)
    return (ends["minimum"], ends["maximum"]) if len(ends) == 2 else None


def _unreachable(level: MomentLevel) -> str:
    targets = level.targets.exact
    named = ", ".join(f"{f} = {v}" for f, v in zip(level.features, level.references, strict=False))
    text = f"no sample of {level.n_samples} values has {named}"
    for count in range(2, len(targets)):
        ends = moment_range(Targets(targets[:count]), level.n_samples)
        if ends is not None and not ends[0][0] <= _fraction(targets[count]) <= ends[1][1]:
            low, high = (float(sum(end) / 2) for end in ends)
            text += (f": with the moments before, the standardized moment of order {count + 1} is {low:.6g} to "
                     f"{high:.6g}, and {targets[count]} is asked for")
            break
    for n_samples in range(level.n_samples + 1, MOST_SAMPLES):
        if comb(n_samples - 1, level.level - 2) > LARGEST:
            break
        if moment_range(level.targets, n_samples) is not None:
            return f"{text}; N >= {n_samples} is needed"
    least = smallest_size((1.0, *(float(c) for c in targets)))
    return f"{text}; " + ("more samples may have them" if least is None else f"N >= {least} is needed")


def _is_smooth_at_zero(feature: Expr, variance: Symbol) -> bool:
    """False for the standard deviation, the logarithm of the variance and the like, which have no gradient there."""
    slope = diff(feature, variance).subs(variance, 0)
    return bool(slope.is_finite and slope.is_nonzero)


def _fraction(value: Expr) -> Fraction:
    near = Rational(str(value.evalf(2 * DIGITS)))
    return Fraction(int(near.p), int(near.q))


def _float(value: Expr) -> Expr:
    return Float(value.evalf(2 * DIGITS), DIGITS)
