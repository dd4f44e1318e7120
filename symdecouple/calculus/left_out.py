"""What a search for exceptional values left out by chance: another search, with other time, need not have left it out.

Such a reason has one exact text each, for the parameters and the size that the verdict is about; `is_by_chance` tells
them from all others, which a second search must give as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from symdecouple.errors import SymdecoupleError
from symdecouple.language.text import parse_expression

__all__ = ["LARGE_MINORS", "LIMIT", "MANY_CANDIDATES", "OUT_OF_TIME", "is_by_chance", "only_at", "points_of",
           "points_of_curves", "written"]

LIMIT = 24
"""Candidates that are decided again: a few hundredths of a second each, as a rule."""

OUT_OF_TIME = "the budget ran out"
LARGE_MINORS = "minors are too large"
MANY_CANDIDATES = f"there are more than {LIMIT} candidates"

_CURVES = re.compile("single points of (?:curves, such as (?P<some>.+),|(?P<one>.+)) were not looked at")


def points_of(curve: Mapping[Any, Any]) -> str:
    """Say that what changes at points of a solution that is no symbol was left out."""
    return f"single points of {written(curve)} were not looked at"


def points_of_curves(curve: Mapping[Any, Any]) -> str:
    """Say that there was no time for what changes at points of curves, of which this is one."""
    return f"single points of curves, such as {written(curve)}, were not looked at"


def only_at(n_samples: Any) -> str:
    """Say that values which matter at one size only were left out."""
    return f"values at which only N = {n_samples} differs were not looked for"


def written(values: Mapping[Any, Any]) -> str:
    """Return values as text."""
    return ", ".join(f"{key} = {value}" for key, value in values.items())


def is_by_chance(reason: str, parameters: Collection[str], n_samples: Any) -> bool:
    """True iff the reason is exactly one of these, for these parameters and this size.

    Examples
    --------
    >>> is_by_chance("single points of curves, such as b = 2*a, were not looked at", {"a", "b"}, None)
    True
    >>> is_by_chance("single points of curves, such as c = 2*a, were not looked at", {"a", "b"}, None)
    False
    >>> is_by_chance("the budget ran out, and all was found", {"a"}, None)
    False
    """
    if reason in (OUT_OF_TIME, LARGE_MINORS, MANY_CANDIDATES):
        return True
    if (found := _CURVES.fullmatch(reason)) is not None:
        return _is_curve(found["some"] or found["one"], parameters)
    return n_samples is not None and reason == only_at(n_samples)


def _is_curve(text: str, parameters: Collection[str]) -> bool:
    """True for equations between the parameters."""
    for equation in re.split(r", (?=[^,=]+ = )", text):
        key, _, value = equation.partition(" = ")
        try:
            sides = [parse_expression(side) for side in (key, value)]
        except SymdecoupleError:
            return False
        names = {str(s) for side in sides for s in side.free_symbols}
        if not sides[0].free_symbols or not names <= set(parameters):
            return False
    return True
