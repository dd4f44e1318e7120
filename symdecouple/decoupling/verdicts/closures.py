r"""What is decoupled from the features themselves: the involutive closure of S_k, and sets that are filled up to it.

A feature is decoupled from all of S_k = {f_1, ..., f_k} iff it is constant along the closure of their gradients
(Theorem H). Where S_k fails C2 that is another question than whether the decoupled features of a plan are decoupled
from each other, which the modified set hat S_k answers (Theorem D). Both answers are told.

If the closure is that of an exact family (`families.recognition`), of rank r, then S_k with r - k more averages of the
family is involutive, and f_(k+1) at the level where all r are at their references is decoupled from S_k, exactly:
(x, x^3) needs x^2. If it is everything, no feature but the constants is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Expr

from symdecouple.calculus.bracket import as_field
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.independence import check_independence
from symdecouple.decoupling.reference import Reference, reference_values
from symdecouple.decoupling.verdicts.scenario import Verdicts
from symdecouple.errors import InvalidInput, NoClosedForm, SymdecoupleError
from symdecouple.families.exact import ExactTriple
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet, in_groups
from symdecouple.verdict import Status

__all__ = ["filled_set", "filled_with_values"]


def filled_set(features: FeatureSet, budget: float) -> tuple[FeatureSet, tuple[Feature, ...]]:
    """Return the features with the closure of the first of them that fail C2 filled up, and what was added for that.

    Leading features and what was added to them are one group; then come all other features. `NoClosedForm` where the
    closure is everything (with the sentence that says so), no family is found, or it is undecided.
    """
    if features.coordinates or not features.symbolic:
        raise NoClosedForm(f"closures are filled up with averages, got features of kind {features.kind!r}")
    verdicts = Verdicts(features, (), (), budget=budget)
    for end in [group[-1] + 1 for group in features.groups][:-1]:
        if end > len(features.symbolic):  # a black box: nothing is known of it, nor of what comes after
            break
        verdict = verdicts.original[end]
        if verdict.status is Status.REFUTED:
            family = verdicts.family(end)
            if family is None:
                raise NoClosedForm(verdicts.closure_sentence(end))
            if _is_periodic(tuple(features)[:end], family):
                raise NoClosedForm(f"{verdicts.closure_sentence(end)}; but the mean angle, which would fill it up, is "
                                   "no function on the circle: take the invariants of stats.circular_shape, as "
                                   "features families.circular_features()")
            return _filled(features, family)
        if verdict.status is not Status.PROVED:
            raise NoClosedForm(f"whether features 1 to {end} are involutive is not decided: {verdict.reason}")
    return features, ()


def filled_with_values(features: FeatureSet, reference: Any, budget: float
            ) -> tuple[FeatureSet, tuple[Feature, ...], tuple[Expr | None, ...]]:
    """Return `filled_set`: its features, what was added, and all references; those of averages that were added are
    Gaussian where values are given one by one."""
    filled, added = filled_set(features, budget)
    if isinstance(reference, (str, Reference)) or hasattr(reference, "pdf"):
        return filled, added, reference_values(filled, reference)
    values = {**dict(zip(added, reference_values(FeatureSet(added), "gaussian") if added else (), strict=True)),
              **dict(zip(features, reference_values(features, reference), strict=True))}
    return filled, added, tuple(values[f] for f in filled)


def _filled(features: FeatureSet, family: ExactTriple) -> tuple[FeatureSet, tuple[Feature, ...]]:
    fields = [VectorField(a) for a in family.fields]
    given = list(features)
    outside = (n for n, f in enumerate(given) if f.black_box or _is_independent([*fields, as_field(f)]))
    inside = next(outside, len(given))
    group = given[:inside]
    for f in family.features:
        if len(group) < family.dimension and _is_independent([as_field(g) for g in (*group, f)]):
            group.append(f)
    later = ([given[n] for n in places if n >= inside] for places in features.groups)
    return in_groups([group, *later]), tuple(group[inside:])


def _is_independent(fields: Sequence[VectorField]) -> bool:
    """Raise NoClosedForm where that is not decided: a feature is put inside or outside of a closure by proof only."""
    try:
        verdict = check_independence(list(fields), budget=10.0)
    except InvalidInput:  # two fields are the same
        return False
    except SymdecoupleError as error:
        raise NoClosedForm(f"whether a feature is in the closure is not decided: {error}") from error
    if verdict.status is Status.UNDECIDED:
        raise NoClosedForm(f"whether a feature is in the closure is not decided: {verdict.reason}")
    return verdict.status is Status.PROVED


def _is_periodic(features: Sequence[Feature], family: ExactTriple) -> bool:
    """True iff the features are functions on a circle, and the family has the mean angle besides."""
    from sympy import periodicity

    bodies = [f.gradient.expr for f in features]
    return bool(family.coordinate.poles) and all(
        periodicity(body, family.sample) and not body.is_number for body in bodies)
