r"""Steps of a differential equation to any number of digits, by extrapolation of the midpoint rule.

A step is computed by modified midpoint rules of 2, 4, 6, ... substeps (Gragg, Bulirsch, Stoer; E. Hairer, S. P.
Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), sec. II.9), whose error has even powers
of the step only. With T_j1 the end by rule j, each further column removes one of them,

.. math:: T_{j,i+1} = T_{j,i} + \frac{T_{j,i} - T_{j-1,i}}{\bigl(j/(j-i)\bigr)^2 - 1}

The number of rules grows with the digits asked for; steps are chosen so that all but the last two of them are used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import mpmath

from symdecouple.language.precision import at_digits
from symdecouple.numeric.features.expressions import Array

__all__ = ["SHRINK", "NoSlope", "Stepped", "digits_lost", "extrapolated", "rules_for"]

SHRINK = 0.15  # of a step that left the domain

_SAFETY, _GROW = 0.8, 4.0  # of the next step: below its estimate, and at most so much longer
_SPARE = 2  # rules that a step of the right length does without

Slope: TypeAlias = Callable[[Array], Array]


class NoSlope(Exception):
    """The right-hand side has no finite value at a point."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """What became of one step.

    Attributes
    ----------
    values : array or None
        The end; None where the step is too long.
    error : mpf
        Its estimated error, the last correction, as measured.
    factor : mpf
        By which to change the length of the next step.
    """

    values: Array | None
    error: Any
    factor: Any


def rules_for(dps: int) -> int:
    """Return how many rules steps of a sensible length take for so many digits."""
    return 4 + (dps + 1) // 2


def extrapolated(slope: Slope, y: Array, first: Array, h: Any, rules: int, measure: Callable[[Array], Any]) -> Stepped:
    """Take one step of length h from y, where the slope is `first`.

    Parameters
    ----------
    slope : callable
        From a state, an object array of mpmath numbers, to its derivative; raises `NoSlope`.
    y, first : array
    h : mpf
        Of either sign.
    rules : int
    measure : callable
        The size of a difference of two ends, in units of what is allowed.

    Returns
    -------
    Stepped
    """
    row: list[Array] = []
    last = mpmath.inf
    try:
        for j in range(1, rules + 1):
            new = [_midpoint(slope, y, first, h, 2 * j)]
            for i, older in enumerate(row, 1):
                new.append(new[-1] + (new[-1] - older) / (mpmath.mpf(j) ** 2 / (j - i) ** 2 - 1))
            if row:
                last = measure(new[-1] - row[-1])
                if last <= 1:
                    spare = rules - _SPARE - j
                    longer = min(mpmath.mpf(_GROW), mpmath.mpf(1.25) ** spare) if spare else mpmath.mpf(1)
                    return Stepped(new[-1], last, longer)
            row = new
    except (NoSlope, ZeroDivisionError):
        return Stepped(None, mpmath.inf, mpmath.mpf(SHRINK))
    factor = _SAFETY * (1 / last) ** (mpmath.mpf(1) / (2 * j - 1))
    return Stepped(None, last, min(max(factor, mpmath.mpf(SHRINK)), mpmath.mpf("0.7")))


@cache
def digits_lost(rules: int) -> int:
    """Return the digits that extrapolation costs: of the sum of its weights, all taken positive."""
    with at_digits(20):
        total = mpmath.mpf(0)
        for j in range(1, rules + 1):
            others = [i for i in range(1, rules + 1) if i != j]
            total += mpmath.fprod(mpmath.mpf(j) ** 2 / abs(j**2 - i**2) for i in others)
        return int(mpmath.ceil(mpmath.log10(total)))


def _midpoint(slope: Slope, y: Array, first: Array, h: Any, count: int) -> Array:
    """Return y(h) by `count` substeps of the midpoint rule, begun with an Euler step; the error is even in h."""
    size = h / count
    before: Array = y
    here: Array = y + first * size  # an mpmath number times an array: the array must come first
    for _ in range(count - 1):
        before, here = here, before + slope(here) * (2 * size)
    return here
