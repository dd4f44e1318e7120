"""What leading features are known to be, whatever they are called: moments, alone, in groups or in another order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from sympy import Function, Pow, S, exp
from sympy.functions.elementary.hyperbolic import HyperbolicFunction
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from symdecouple.decoupling.inner_order import inner_order
from symdecouple.decoupling.offsets import feels_no_offset
from symdecouple.families.moments import MomentCoordinates, recognize_moments
from symdecouple.language.feature_set import FeatureSet, in_groups
from symdecouple.language.gate import cancel
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["Borrowed", "about_mean", "felt_digits", "in_any_order", "is_scaled", "on_the_line"]

_GRID = (8,)  # of features that have none
_GROWING = HyperbolicFunction, exp


@dataclass(frozen=True, slots=True)
class Borrowed:
    """Moments, `features`, of which samples at some `levels` of a plan are at a level too: number i of them is feature
    `places[i]` of the plan, None the mean that a sample has."""

    coordinates: MomentCoordinates
    features: FeatureSet
    values: tuple[Any, ...]
    places: tuple[int | None, ...]
    levels: tuple[int, ...]


def in_any_order(features: FeatureSet, values: tuple[Any, ...], most: int
                 ) -> tuple[MomentCoordinates | None, list[Borrowed]]:
    """Return coordinates of leading features that are moments in groups; or, of moments in another order, the levels
    up to `most` at which features are as many of these."""
    natural = tuple(range(len(features)))
    for places in dict.fromkeys((natural, inner_order(in_groups([list(features)])))):
        ordered, wanted = FeatureSet([features[j] for j in places]), tuple(values[j] for j in places)
        if (found := recognize_moments(ordered)) is not None:
            found = found.of_references(wanted)
            levels = tuple(k for k in range(2, min(len(found), most) + 1) if sorted(places[:k]) == list(range(k)))
            return (found, []) if places == natural else (
                None, [Borrowed(found, ordered, wanted, places, levels)] if levels else [])
    return None, []


def about_mean(features: FeatureSet, values: tuple[Any, ...], most: int) -> list[Borrowed]:
    """Return the mean with leading features, in groups too, that feel no offset and are moments about it; up to `most`
    of all."""
    flat = list(takewhile(lambda f: feels_no_offset(f, _GRID), features.symbolic))
    both = FeatureSet([Mean(features.sample), *flat])
    if (found := recognize_moments(both)) is None:
        return []
    return [Borrowed(found, both, (S.Zero, *values[: len(flat)]), (None, *range(len(flat))),
                     tuple(range(1, min(len(found), most))))]


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
