r"""Reference values: what each feature is normalized to.

By default a feature's value for independent standard normal samples, in the limit of many (`expectations`); or any
other law, given numbers, names, or a reference sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from sympy import Expr

from symdecouple.decoupling.expectations import expected, gaussian, of_law, of_sample, polynomial_expectation
from symdecouple.errors import InvalidInput
from symdecouple.language.black_box import BlackBox
from symdecouple.language.canonical import canonical
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filtered
from symdecouple.language.mean import exact
from symdecouple.language.sample import Sample
from symdecouple.numeric.features.black_box import Oracle
from symdecouple.numeric.features.expressions import Array, Compiled
from symdecouple.numeric.samples.asked import entries_of
from symdecouple.shown import Card, Shown

__all__ = ["Reference", "reference_values"]

_SHOWN = 6  # numbers of a sample


@dataclass(frozen=True, slots=True, repr=False)
class Reference(Shown):
    """A sample whose features are the reference.

    Examples
    --------
    >>> from symdecouple import Mean, x
    >>> features = FeatureSet([Mean(x), Mean(x**2)])
    >>> reference_values(features, Reference.of([-1, 0, 1]))
    (0, 2/3)
    """

    sample: tuple[Expr, ...]
    grid: tuple[int, ...]

    def _card(self) -> Card:
        shown = ", ".join(map(str, self.sample[:_SHOWN])) + ", ..." * (len(self.sample) > _SHOWN)
        size = " x ".join(map(str, self.grid))
        return Card(f"Reference of a sample of {size} numbers", [("sample", shown)], ("numbers", "of the sample"),
                    [(size, shown)])

    @classmethod
    def of(cls, sample: Any) -> Reference:
        """Take the features' values at this sample vector or image.

        Averages of polynomials are exact, and so are others for a sample of at most 64 different numbers; they have 50
        digits for a sample of more. Features with filters are computed in float64.
        """
        given = entries_of(sample)
        try:
            values = tuple(map(lru_cache(None, typed=True)(_number), given.ravel()))  # grey values of an image are few
        except TypeError:  # not hashable
            values = tuple(map(_number, given.ravel()))
        if len(values) < 2:
            raise InvalidInput(f"a reference sample has at least 2 numbers, got {len(values)}")
        return cls(values, given.shape)


def reference_values(features: FeatureSet, reference: Any = "gaussian") -> tuple[Expr | None, ...]:
    """Return the reference value of every feature.

    Parameters
    ----------
    features : FeatureSet
    reference : str, sequence, mapping, Reference or frozen scipy distribution
        "gaussian" (or "white"): independent N(0, 1) samples; M values, or M - 1 (the last needs none, or None); a
        mapping from features (or their text) to values; `Reference.of` a sample; a law with ``pdf`` and ``support``.
        The expectation of a black box is not known: it takes a number, or its value at `Reference.of` a sample.

    Returns
    -------
    tuple of Expr or None
        None for a last feature without a value.

    Raises
    ------
    InvalidInput
        If the values do not fit the features in number or name, or are not finite real numbers; if a black box before
        the last feature has none.

    Examples
    --------
    >>> from symdecouple import Mean, kurtosis, variance, x
    >>> reference_values(FeatureSet([Mean(x), variance(), kurtosis()]))
    (0, 1, 3)
    """
    if isinstance(reference, str):
        if reference not in ("gaussian", "white"):
            raise InvalidInput(f"reference {reference!r} is not known: 'gaussian' (or 'white'), values, a mapping, "
                               "Reference.of(sample) or a frozen scipy distribution")
        return _each(features, gaussian)
    if isinstance(reference, Reference):
        return _at(features, reference)
    if hasattr(reference, "pdf") and hasattr(reference, "support"):
        return _each(features, of_law(reference))
    if isinstance(reference, Mapping):
        return _by_name(features, reference)
    return _given(features, reference)


def _each(features: FeatureSet, expectation: Callable[[Expr, Sample], Expr]) -> tuple[Expr | None, ...]:
    """Return the expectation of every feature, which a black box lacks and as the last feature does not need."""
    for k, feature in enumerate(tuple(features)[:-1], 1):
        if feature.black_box is not None:
            raise InvalidInput(f"the expectation of {feature}, feature {k}, is not known, as it is a black box: give "
                               f"numbers, reference=[...], {len(features)} of them or {len(features) - 1}")
    return tuple(None if f.black_box is not None else _computed(f, polynomial_expectation(
        f, expectation) if f.coordinates else expected(f.expr, expectation)) for f in features)


def _at(features: FeatureSet, reference: Reference) -> tuple[Expr, ...]:
    average, row = of_sample(reference.sample), cache(lambda: np.array([list(map(float, reference.sample))]))
    out = []
    for feature in features:
        if feature.black_box is not None:
            value = _asked(feature.black_box, row())
        elif feature.coordinates:
            symbols, point = feature.coordinates, reference.sample
            if len(point) != len(symbols):
                raise InvalidInput(f"{feature} is a function of {len(symbols)} coordinates, the reference sample has "
                                   f"{len(point)} numbers")
            value = feature.expr.xreplace(dict(zip(symbols, point, strict=True)))
        elif feature.expr.has(Filtered):
            found, = Compiled([feature.expr], feature.sample).on(reference.grid)(row())
            value = _number(found.item())
        else:
            value = expected(feature.expr, average)
        out.append(_computed(feature, value))
    return tuple(out)


def _asked(box: BlackBox, row: Array) -> Expr:
    oracle = Oracle(box)
    values = oracle.values(row)
    for outcome in oracle.refusals(row, values).values():
        raise InvalidInput(f"the reference value of a black box: {outcome.detail}")
    return _number(float(values[0]))


def _computed(feature: Feature, value: Expr) -> Expr:
    if not value.is_number:
        raise InvalidInput(f"the reference value of {feature} is {value}: bind its parameters first, "
                           "features.bind({...})")
    if not (value.is_real and value.is_finite):
        raise InvalidInput(f"the reference value of {feature} would be {value}; give a finite real number")
    return value


def _by_name(features: FeatureSet, mapping: Mapping[Any, Any]) -> tuple[Expr | None, ...]:
    known = {canonical(f.expr, features.sample): k for k, f in enumerate(features) if f.black_box is None}
    values: list[Expr | None] = [None] * len(features)
    for key, value in mapping.items():
        named = [n for n, f in enumerate(features) if key == f or key == str(f) or (f.is_named and key == f.name)]
        if len(named) > 1:
            raise InvalidInput(f"reference for {key}: {len(named)} black boxes have this name; give the feature itself")
        k = named[0] if named else known.get(_canonical(key, features.sample))
        if k is None:
            names = ", ".join(features.names)
            raise InvalidInput(f"reference for {key}: no such feature; the features are {names}")
        if values[k] is not None:
            raise InvalidInput(f"the mapping gives two reference values for {features[k]}")
        values[k] = _number(value)
    missing = [k + 1 for k, v in enumerate(values[:-1]) if v is None]
    if missing:
        raise InvalidInput(f"the mapping gives no reference value for features {missing}; only the last needs none")
    return tuple(values)


def _canonical(key: Any, sample: Sample) -> Expr:
    from symdecouple.language.text import parse

    named = parse(key, sample=sample) if isinstance(key, str) else key
    return canonical(exact(getattr(named, "expr", named), "a reference"), sample)


def _given(features: FeatureSet, reference: Any) -> tuple[Expr | None, ...]:
    try:
        reference = list(entries_of(reference))
        if len(reference) == len(features) and reference[-1] is None:
            reference.pop()
        if missing := [k for k, v in enumerate(reference, 1) if v is None]:
            raise InvalidInput(f"feature {missing[0]} has no reference value but None; only the last needs none")
        values: list[Expr | None] = [_number(v) for v in reference]
    except TypeError as error:
        raise InvalidInput(f"reference is 'gaussian', {len(features)} values, a mapping, a law or Reference.of(sample),"
                           f" not {reference!r}") from error
    if len(values) not in (len(features), len(features) - 1):
        raise InvalidInput(f"{len(features)} features take {len(features)} reference values (or {len(features) - 1}: "
                           f"the last needs none), got {len(values)}")
    return tuple([*values, None][: len(features)])


def _number(value: Any) -> Expr:
    is_scalar = hasattr(value, "item") and getattr(value, "ndim", 1) == 0  # of NumPy
    number = exact(value.item() if is_scalar else value, "reference")
    if not (number.is_number and number.is_real and number.is_finite):
        raise InvalidInput(f"a reference value is a finite real number, got {value!r}")
    return number
