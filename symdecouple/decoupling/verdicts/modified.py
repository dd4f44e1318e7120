r"""The modified features: each feature at the sample on which those before it are at their references.

.. math:: \hat f_k(x) = f_k(N_{k-1}(x)), \qquad \hat S_k = \{\hat f_1, \ldots, \hat f_k\}

Where N_(k-1) has a closed form, hat f_k is an ordinary feature, and C1 and C2 of hat S_k are decided as for any other
set. And whatever f_3 is, hat S_3 is involutive if levels 1 and 2 are shift and scale (Theorem D): hat f_3 is then
invariant under all x -> a x + b, a > 0, and

.. math:: [1, v_{\hat f_3}] = 0, \qquad [2(x - m), v_{\hat f_3}] = -4 v_{\hat f_3}.

`AffineCovariance` is the certificate of that; it asks nothing of f_3 but two derivatives.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

from sympy import Expr, Float, Integer, Rational, S, Symbol, sqrt

from symdecouple.calculus.audit import jet_check
from symdecouple.calculus.certificates import Claim
from symdecouple.calculus.elementary import OutsideDomain
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.jets import Point
from symdecouple.calculus.subject import Size, Subject
from symdecouple.calculus.witness import glance
from symdecouple.decoupling.verdicts.at_references import check_motion, modified_fields, sample_at
from symdecouple.errors import InvalidInput, SymdecoupleError, UnsupportedExpression
from symdecouple.flows.generators import generators
from symdecouple.flows.separable import flow
from symdecouple.flows.steps import TIME, Step, composed
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import canonical, close, decompose
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet, in_groups
from symdecouple.language.mean import Mean
from symdecouple.language.sample import rational_points
from symdecouple.language.statistics import variance
from symdecouple.language.text import parse
from symdecouple.verdict import Check, Status

__all__ = ["READERS", "AffineCovariance", "ModifiedSubject", "affine_covariance", "first_features", "modified_features",
           "starts", "texts_of"]

SIZES = (4, 5, 7)  # of the samples at which brackets are compared: both parities, none too small to tell


def starts(features: FeatureSet) -> tuple[int, ...]:
    """Return the level at which each feature is evaluated: how many features come before its group."""
    return tuple(group[0] for group in features.groups for _ in group)


def first_features(features: FeatureSet, count: int) -> FeatureSet:
    """Return the set of the first few features, in their groups; the last group may be cut."""
    return in_groups([features[n] for n in group if n < count] for group in features.groups)


def modified_features(features: FeatureSet, steps: Sequence[Step], count: int) -> FeatureSet | None:
    """Return hat f_1, ..., hat f_count as ordinary features; None where a level that they need has no closed form.

    `steps` are those of `make_steps`; there may be fewer than features. `InvalidInput` if a modified feature is
    constant: nothing is left of the feature once those before it are fixed.

    Examples
    --------
    >>> from symdecouple.flows.generators import generators
    >>> from symdecouple.flows.steps import TIME, make_steps
    >>> from symdecouple.flows.separable import flow
    >>> from symdecouple.language.sample import x
    >>> features = FeatureSet([Mean(x), Mean(x**2)])
    >>> flows = [flow(u, time=TIME).expr for u in generators(features).fields]
    >>> modified_features(features, make_steps(list(features), flows, [S.Zero, S.One], x), 2)
    FeatureSet([Mean(x), -Mean(x)**2 + Mean(x**2)])
    """
    out = []
    for feature, start in zip(list(features)[:count], starts(features), strict=False):
        formula = features.sample if start == 0 else steps[start - 1].formula if start <= len(steps) else None
        if formula is None:
            return None
        out.append(feature if formula == features.sample else Feature(canonical(composed(
            feature.expr, formula, features.sample), features.sample), allow_nonsmooth=feature.allow_nonsmooth))
    return FeatureSet(out)


def first_flow(feature: Feature) -> Expr:
    """Return the motion in `TIME` that changes the first feature and no modified one behind it."""
    return flow(generators([feature]).fields[0], time=TIME, sample=feature.sample).expr


def texts_of(features: Sequence[Any], began: Sequence[int]) -> tuple[str, ...]:
    """Return one line of text per modified feature."""
    return tuple(f"{f} at level {k}" if k else str(f) for f, k in zip(features, began, strict=False))


@dataclass(frozen=True, slots=True)
class ModifiedSubject(Subject):
    """The modified features of some features of averages, as what a verdict is about.

    `starts` are the levels at which they are evaluated, `values` the references of those before the last level.
    """

    starts: tuple[int, ...]
    values: tuple[Expr, ...]
    has_levels: ClassVar[bool] = True

    @classmethod
    def first(cls, features: FeatureSet, count: int, values: Sequence[Expr | None]) -> ModifiedSubject:
        """Return hat f_1, ..., hat f_count; the references that count must be there."""
        began = starts(features)[:count]
        given = tuple(v for v in values[: began[-1]] if v is not None)
        if len(given) < began[-1]:
            raise InvalidInput(f"the modified feature {count} needs the references of features 1 to {began[-1]}, got "
                               f"{', '.join(map(str, values))}")
        return cls(tuple(features)[:count], began, tuple(map(_exact, given)))

    def bind(self, values: Mapping[Any, Any]) -> ModifiedSubject:
        """Return the same levels of features with parameters replaced."""
        return replace(self, items=Subject(self.items).bind(values).items)

    def texts(self) -> tuple[str, ...]:
        """Return one line of text per feature."""
        return texts_of(self.items, self.starts)

    def is_told_by(self, texts: Sequence[str], n_samples: Size | None) -> bool:
        """True iff these are the texts of the modified features."""
        return tuple(texts) == self.texts()

    @property
    def framed(self) -> tuple[Any, ...]:
        """Nothing: the identities that frames prove would be about the features as declared."""
        raise UnsupportedExpression("gradients of modified features are known at samples only")

    @property
    def held(self) -> tuple[Feature, ...]:
        """The features before the last level, which are at their references there."""
        return self.items[: len(self.values)]

    @property
    def named(self) -> dict[str, Symbol]:
        """The time for which a sample at its references is moved back along the first generator."""
        return {TIME.name: TIME}

    def fields_at(self, numbers: Iterable[int], point: Point) -> dict[int, Any]:
        """Return the fields of the modified features, at a sample at or beside the point, moved back from there."""
        at = sample_at(self.held, self.values, point, self.sample)
        if not self.held or TIME not in point.parameters:
            return modified_fields(self.items, self.starts, at)
        if self.starts.count(0) > 1:  # a level of several features may be at another sample of the leaf
            raise OutsideDomain
        motion, time = first_flow(self.items[0]), point.parameters[TIME]
        passed = check_motion(motion, time, at, self.sample)
        if all(map(passed.world.is_zero, passed.field(self.items[0]))):  # beyond a turn, level 1 is at another sample
            raise OutsideDomain
        return modified_fields(self.items, self.starts, at, motion.xreplace({TIME: Rational(time)}))

    @property
    def is_in_groups(self) -> bool:
        """True iff features of averages are taken where groups begin, with numbers as references before the last."""
        began = (0, *self.starts)
        return (len(self.starts) == len(self) and len(self.values) == began[-1]
                and all(start in (k, began[k]) for k, start in enumerate(self.starts))
                and all(isinstance(f, Feature) and not f.coordinates for f in self.items)
                and all(v.is_number for v in self.values))

    def checks(self, clock: Budget) -> Iterable[Check]:
        """Check that there are levels, and leaves of the features before each along which samples come there."""
        yield Check("levels", self.is_in_groups, f"{self.starts}")
        for level in sorted(set(self.starts) - {0, 1}):  # one gradient has leaves
            found = check_frobenius(first_features(FeatureSet(self.items), level), budget=clock.remaining)
            yield Check(f"features 1 to {level} are involutive", found.status is Status.PROVED, found.status.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the subject as JSON-ready data."""
        return Subject.to_dict(self) | {"starts": list(self.starts), "values": [self.written(v) for v in self.values]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModifiedSubject:
        """Read what `to_dict` wrote."""
        plain, began = Subject.from_dict(data), tuple(map(int, data["starts"]))
        values = tuple(map(plain.read, data["values"]))
        found = cls(plain.items, began, values)
        if not found.is_in_groups:
            raise InvalidInput(f"levels {began} with references {values} do not fit {len(plain)} features of averages")
        return found


def affine_covariance(features: FeatureSet) -> AffineCovariance | None:
    """Return the certificate that hat S_3 of three features is involutive, None where Theorem D does not apply.

    Examples
    --------
    >>> from sympy import cosh, log
    >>> from symdecouple.language.sample import x
    >>> affine_covariance(FeatureSet([Mean(x), Mean(x**2), Mean(log(cosh(x)))])).verify()
    True
    >>> affine_covariance(FeatureSet([Mean(x), Mean(x**3), Mean(x**2)])) is None
    True
    """
    made = AffineCovariance(Subject.of(features))
    try:
        return made if starts(features)[2:] == (2,) and all(check.passed for check in made.hypotheses()) else None
    except UnsupportedExpression:
        return None


@dataclass(frozen=True, slots=True)
class AffineCovariance(Claim):
    """Theorem D for (f_1, f_2, f_3): level 2 is reached by shift and scale, so that hat S_3 is involutive for every N.

    f_1 and f_2 have gradients in span{1, x}, so that they are functions of mean and variance, their leaves are those of
    shift and scale, and N_2(x) = a + b (x - m)/s with constants a and b > 0, at which f_1 and f_2 are at their
    references. That f_3 is twice differentiable is what the language guarantees of features declared without non-smooth
    functions, wherever they are defined. `audit` recomputes this, and encloses the brackets for an a and a b.
    """

    kind: ClassVar[str] = "affine covariance"
    answers: ClassVar[tuple[str, Status]] = ("C2", Status.PROVED)

    @property
    def n_samples(self) -> None:
        """The proof is for every sample size."""
        return None

    def describes(self, texts: Sequence[str], n_samples: Size | None) -> bool:
        """True iff the texts name the levels, or are features of which the third is invariant under shift and scale."""
        if tuple(texts) in [texts_of(self.subject.items, began) for began in ((0, 1, 2), (0, 0, 2))]:
            return True
        try:
            read = [parse(text, sample=self.subject.sample) for text in texts]
        except SymdecoupleError:
            return False
        return all(check.passed for check in AffineCovariance(Subject(tuple(read))).hypotheses()) and (
            _brackets_enclosed(read[2], SIZES[0], random.Random(len(texts)), standardize=False).passed)

    def reason(self, n_samples: Size | None) -> str:
        return ("whatever feature 3 is, at the standardized sample it is involutive with mean and variance (Theorem D)")

    def hypotheses(self) -> Iterable[Check]:
        """Recompute what the theorem assumes, as symbolic identities."""
        yield Check("three features of averages", [item.kind for item in self.subject.items] == ["mean"] * 3
                    and not self.subject.parameters and all(isinstance(f, Feature) for f in self.subject.items))
        *pair, third = self.subject.items
        sample = self.subject.sample
        found = [decompose(close(feature.gradient.expr, sample), sample) for feature in pair]
        yield Check("the gradients of f_1 and f_2 are combinations of 1 and x",
                    all(set(parts) <= {S.One, sample} for parts in found))
        yield Check("they are independent", glance(Subject(tuple(pair)), (1, 2), SIZES[0], random.Random(4),
                                                   Budget(inf)) is not None)
        yield Check("f_3 is smooth", not third.allow_nonsmooth, f"{third}")

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield from self.hypotheses()
        for size in SIZES:
            yield _brackets_enclosed(self.subject.items[2], size, rng)

    def summary(self) -> tuple[str, ...]:
        m = Mean(self.subject.sample)
        return ("levels 1 and 2 are shift and scale, the modified feature 3 does not change with them (Theorem D)",
                f"[1, v3] = 0, [2*({self.subject.sample} - {m}), v3] = -4*v3",
                "valid where level 2 is reached and feature 3 is twice differentiable")

    def latex(self) -> str:
        return r"[1, v_{3}] = 0,\quad [2(x - m), v_{3}] = -4\, v_{3}"

    def to_dict(self) -> dict[str, Any]:
        return self._head() | {"n_samples": None}


READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    AffineCovariance.kind: lambda data: AffineCovariance(Subject.from_dict(data["subject"]))}


def _exact(value: Expr) -> Expr:
    """Return a number from a quadrature as the binary fraction that it is."""
    return value.xreplace({number: Rational(number) for number in value.atoms(Float)})


def _brackets_enclosed(feature: Feature, size: int, rng: random.Random, standardize: bool = True) -> Check:
    """Check [1, v3] = 0 and [2(x - m), v3] = -4 v3 at random rational samples, by jets."""
    third = _standardized(feature, size, rng) if standardize else feature
    triple = Subject((Feature(Mean(feature.sample)), Feature(variance(feature.sample)), third))
    return jet_check(triple, [((1, 3), (S.Zero,) * 3), ((2, 3), (S.Zero, S.Zero, Integer(-4)))], size, rng)


def _standardized(feature: Feature, size: int, rng: random.Random) -> Feature:
    """Return f_3(a + b (x - m)/s), with a and b such that N values stay in the domain."""
    sample = feature.sample
    a = rational_points(sample, 1, rng, 9)[0]
    a = Rational(a.numerator, a.denominator)
    distance = min((abs(end - a) for end in sample.interval if end.is_finite), default=Rational(rng.randint(1, 9)))
    formula = a + distance / (size + 1) * (sample - Mean(sample)) / sqrt(variance(sample))
    return Feature(composed(feature.expr, formula, sample), allow_nonsmooth=feature.allow_nonsmooth)
