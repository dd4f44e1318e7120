"""Formulas of a command line to features: their domain, their kinks, the values of their parameters."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filtered
from symdecouple.language.printer import ALIASES
from symdecouple.language.sample import Sample
from symdecouple.language.text import parse, parse_domain, parse_expression

__all__ = ["declared"]


def declared(formulas: Iterable[str], arguments: argparse.Namespace, n_samples: int | None = None) -> FeatureSet:
    """The features that formulas declare, parameters bound.

    Parameters
    ----------
    formulas : iterable of str
    arguments : Namespace
        With the options `domain`, `allow_nonsmooth` and `at`.
    n_samples : int, optional
        Makes x1, x2, ... coordinates.

    Raises
    ------
    InvalidInput, UnsupportedExpression
        Naming the formula, counted from 1, or the parameter.
    """
    sample = parse_domain(arguments.domain)
    allowed = [ALIASES.get(name.strip(), name.strip()) for name in arguments.allow_nonsmooth.split(",") if name.strip()]
    features: list[Feature] = []
    for number, formula in enumerate(formulas, 1):
        try:
            features.append(parse(formula, sample=sample, n_samples=n_samples, allow_nonsmooth=allowed))
        except SymdecoupleError as error:
            raise type(error)(f"formula {number}: {error}") from error
    declared_set = FeatureSet(features)
    values = _values(arguments.at, sample, n_samples)
    return declared_set.bind(values) if values else declared_set


def _values(settings: Sequence[str], sample: Sample, n_samples: int | None) -> dict[str, Any]:
    """``a=1/2`` as {"a": 1/2}; ``h=taps((1, -1))(x)`` is the filter."""
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name.strip():
            raise InvalidInput(f"--at takes a parameter and its value, such as a=0 or a=1/2, got {setting[:40]!r}")
        try:
            value = parse_expression(text, sample=sample, n_samples=n_samples)
        except SymdecoupleError as error:
            raise type(error)(f"--at {name.strip()[:40]}: {error}") from error
        values[name.strip()] = value.filter if isinstance(value, Filtered) and value.argument == sample else value
    return values
