"""Exact verdicts, remembered by the canonical form of what they are about.

Two features with one canonical form are one function, however they are written: the variance and Mean((x - m)**2). So a
verdict on features serves every later question about the same functions. Only exact answers are kept: what is not
decided may be decided with more time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from symdecouple.errors import SymdecoupleError
from symdecouple.language.canonical import canonical
from symdecouple.language.feature import Feature
from symdecouple.verdict import Status, Verdict

__all__ = ["Remembered", "form_of", "remember"]

_KEPT = 4096
_EXACT = (Status.PROVED, Status.REFUTED)

Remembered = tuple[Verdict, tuple[Hashable, ...]]
"""A verdict, and the forms of what it is about, in its own order."""

_verdicts: dict[Hashable, Remembered] = {}


def form_of(feature: Feature) -> Hashable:
    """Return what two features have in common iff they are seen to be one function: of averages the canonical form.

    Examples
    --------
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> form_of(Feature(Mean((x - Mean(x))**2))) == form_of(Feature(Mean(x**2) - Mean(x)**2))
    True
    """
    if feature.black_box is not None:
        return feature
    expr = feature.expr
    if feature.kind == "mean":
        try:
            expr = canonical(feature.expr, feature.sample)
        except SymdecoupleError:  # too long to be written out: the text itself will do
            expr = feature.expr
    return expr, str(feature.sample.interval), feature.allow_nonsmooth


def remember(key: Hashable, forms: Sequence[Hashable], decide: Callable[[], Verdict]) -> Remembered:
    """Return the verdict with this key, deciding it where it is not there; keep it if it is exact in C1 and in C2."""
    if key in _verdicts:
        return _verdicts[key]
    verdict = decide()
    found = verdict, tuple(forms)
    if verdict.status in _EXACT and verdict.independence is not None and verdict.independence.status in _EXACT:
        if len(_verdicts) == _KEPT:
            del _verdicts[next(iter(_verdicts))]  # the first one
        _verdicts[key] = found
    return found
