"""What leading features are known to be, whatever they are called: moments, alone, in groups or in another order."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from sympy import Function, Pow, exp
from sympy.functions.elementary.hyperbolic import HyperbolicFunction
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from symdecouple.decoupling.inner_order import inner_order
from symdecouple.decoupling.offsets import feels_no_offset
from symdecouple.families.moments import MomentCoordinates, recognize_moments
from symdecouple.language.feature_set import FeatureSet, in_groups
from symdecouple.language.gate import cancel
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["about_mean", "felt_digits", "in_any_order", "is_scaled", "on_the_line"]

_GRID = (8,)  # of features that have none
_GROWING = HyperbolicFunction, exp


def in_any_order(features: FeatureSet, values: tuple[Any, ...]) -> tuple[MomentCoordinates | None, tuple[int, ...]]:
    """Return coordinates of leading features that are moments in groups, or in another order; and that order."""
    natural = tuple(range(len(features)))
    for places in dict.fromkeys((natural, inner_order(in_groups([list(features)])))):
        found = recognize_moments(FeatureSet([features[j] for j in places]))
        if found is not None:
            return found.of_references([values[j] for j in places]), places
    return None, natural


def about_mean(features: FeatureSet) -> MomentCoordinates | None:
    """Return coordinates of the mean and of leading features, in groups too, that feel no offset."""
    flat = takewhile(lambda f: feels_no_offset(f, _GRID), features.symbolic)
    return recognize_moments(FeatureSet([Mean(features.sample), *flat]))


def on_the_line(features: FeatureSet, count: int) -> FeatureSet:
    """Return the first features, which are moments, of a sample that may be any real number."""
    line = Sample(features.sample.name)
    return FeatureSet(f.expr.replace(Mean, lambda body, bound: Mean(body.xreplace({bound: line})))
                      for f in features.symbolic[:count])


def is_scaled(features: FeatureSet) -> bool:
    """Whether the flow of feature 1 is a factor, as that of the second moment: its gradient is a multiple of x."""
    if features.coordinates or features.filter_ndim is not None or len(features.groups[0]) > 1 or not features.symbolic:
        return False
    return features.sample not in cancel(features[0].gradient.expr / features.sample).free_symbols


def felt_digits(features: FeatureSet) -> tuple[int, bool]:
    """Return how often waves and exponentials feel the digits of a large number, the highest power in them; and whether
    there are exponentials."""
    functions = [f for feature in features.symbolic for f in feature.expr.atoms(*_GROWING, TrigonometricFunction)]
    return max(map(_degree, functions), default=0), any(isinstance(f, _GROWING) for f in functions)


def _degree(function: Function) -> int:
    return max([1, *(int(p.exp) for p in function.args[0].atoms(Pow) if p.exp.is_Integer)])
