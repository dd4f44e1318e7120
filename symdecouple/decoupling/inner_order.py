"""In which order the features of a group are brought to their references, whatever order they were declared in.

Together is one vector equation, and its solution has no order; the ways to it have one. Features of lower degree come
first: shift before scale, scale before skewness. Flows in this order reach what they may miss in another.
"""

from __future__ import annotations

from sympy import Add, Expr, Mul, Pow, S

from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet, in_groups
from symdecouple.language.filtered import Filtered
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["inner_order", "reordered"]


def inner_order(features: FeatureSet) -> tuple[int, ...]:
    """Return the places of the features, by degree and then by name inside of each group.

    Examples
    --------
    >>> from symdecouple.language.feature_set import Group
    >>> from symdecouple.language.sample import x
    >>> inner_order(FeatureSet([Mean(x**4), Group(Mean(x**3), Mean(x), Mean(x**2))]))
    (0, 2, 3, 1)
    """
    return tuple(j for group in features.groups for j in sorted(group, key=lambda j: _key(features[j])))


def reordered(features: FeatureSet, order: tuple[int, ...]) -> FeatureSet:
    """Return the set with the features of its groups in another order."""
    if order == tuple(range(len(order))):
        return features
    return in_groups([features[j] for j in order if j in group] for group in features.groups)


def _key(feature: Feature) -> tuple[bool, Expr, str]:
    if feature.black_box is not None:
        return True, S.Zero, ""
    if not feature.expr.has(Mean):
        return False, S.Zero, ""  # coordinates stay as they are
    return False, max(_degree(mean.args[0], mean.args[1]) for mean in feature.expr.atoms(Mean)), str(feature)


def _degree(body: Expr, sample: Expr) -> Expr:
    """Return the degree in the sample, infinite where there is none; inner averages are constants."""
    if body == sample or isinstance(body, Sample):
        return S.One
    if isinstance(body, Mean) or not body.has(sample):
        return S.Zero
    if isinstance(body, Filtered):
        return _degree(body.argument, sample)
    if isinstance(body, Pow) and body.exp.is_number and body.exp.is_positive:
        return _degree(body.base, sample) * body.exp
    parts = [_degree(part, sample) for part in body.args] if isinstance(body, Add | Mul) else []
    return S.Infinity if not parts else Add(*parts) if isinstance(body, Mul) else max(parts)
