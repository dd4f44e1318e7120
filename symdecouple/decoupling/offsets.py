r"""Features that feel no offset: averages cancel beside a large mean, and samples far from 0 are taken about it.

.. math:: f(x + c) = f(x) \text{ for every } c \iff D_1 f = \mathrm{Mean}(v_f) = 0

So are variance and kurtosis, covariances of lags, and moments of filters whose taps add to 0. Their gradients have no
mean: on any path a sample keeps its own. (Where the mean is a feature, and the first one, level 1 takes it away.)

Others may cancel as well: Mean(x^3) - Mean(x)^3 is 3c (Mean(y^2) - Mean(y)^2) + Mean(y^3) - Mean(y)^3, y = x - c.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from math import prod

import mpmath
import numpy as np
from sympy import Expr, Mul, Pow, S, Symbol, fraction, oo

from symdecouple.calculus.bracket import derivative_along
from symdecouple.calculus.field import VectorField
from symdecouple.errors import BudgetExceeded
from symdecouple.flows.steps import composed
from symdecouple.language.canonical import close, open_statistics, statistics_of
from symdecouple.language.feature import Feature
from symdecouple.language.filtered import Filtered
from symdecouple.language.gate import expand, together
from symdecouple.language.sample import Sample
from symdecouple.numeric.features.expressions import Array, Compiled

__all__ = ["about_middles", "feels_no_offset", "middles"]

_SMALL = 1e-9  # of what is added; below, it is decided exactly
_MIDDLE = Symbol("c", real=True)
_APART, _CANCELS = 2.0**26, 2.0**-40  # of a sample where it is seen: half of the digits go with the first power there


@lru_cache(maxsize=256)
def feels_no_offset(feature: Feature, grid: tuple[int, ...]) -> bool:
    """Tell whether a feature feels no offset; that it does is seen at one sample on a grid.

    >>> from symdecouple.language.sample import x
    >>> from symdecouple.language.mean import Mean
    >>> [feels_no_offset(Feature(f), (8,)) for f in (Mean(x**2) - Mean(x)**2, Mean(x**2))]
    [True, False]
    """
    if feature.black_box is not None or feature.coordinates or set(feature.sample.interval) != {-oo, oo}:
        return False
    row = np.random.default_rng(0).normal(size=(1, prod(grid)))
    with np.errstate(all="ignore"):
        slopes = Compiled([feature.gradient.expr], feature.sample).on(grid)(row)[0]
    # the derivative of powers of long filters is expanded only where it seems to vanish
    is_flat = bool(abs(slopes.mean()) <= _SMALL * np.abs(slopes).mean())
    return is_flat and derivative_along(VectorField(S.One), feature) == 0


@lru_cache(maxsize=256)
def about_middles(expr: Expr, sample: Sample) -> Callable[[Array], list[Array]] | None:
    """Return a function of averages of powers that takes rows far from 0 by distances from their middles, where powers
    of these cancel; else None."""
    line = Sample(sample.name)  # distances may be negative
    with suppress(BudgetExceeded):
        closed = close(composed(expr.xreplace({sample: line}), line + _MIDDLE, line), line)
        if expr.has(Filtered) or not all(s.psi.is_polynomial(line) for s in statistics_of(closed)):
            return None
        near = closed.replace(lambda e: e.is_Add, lambda e: Mul(*map(Pow, map(expand, fraction(together(e))), [1, -1])))
        plain, moved = Compiled([expr], sample), Compiled([open_statistics(near)], line, [_MIDDLE])

        def evaluate(rows: Array) -> list[Array]:
            middle = middles(rows)
            is_near = middle[:, 0] == 0  # these come last: a mean that is 0 about a middle may be divided by
            parts = moved(rows[~is_near] - middle[~is_near], middle[~is_near])[0], plain(rows[is_near])[0]
            return [np.concatenate(parts)[np.argsort(np.argsort(is_near, kind="stable"))]]

        row = np.random.default_rng(0).normal(size=(1, 8)) + _APART
        with np.errstate(all="ignore"):
            right = evaluate(row)[0]
            return evaluate if (np.abs(plain(row)[0] - right) > _CANCELS * np.abs(right)).any() else None
    return None


def middles(rows: Array) -> Array:
    """Return the middles of rows that are farther from 0 than they are wide, (R, 1), else 0; nothing is rounded then.

    >>> middles(np.array([[1e8, 1e8 + 2], [-1.0, 2.0]])).ravel().tolist()
    [100000001.0, 0.0]
    """
    low, high = rows.min(axis=1), rows.max(axis=1)
    middle = low / 2 + high / 2
    with np.errstate(over="ignore", invalid="ignore"):
        is_far = np.array(abs(middle) > high - low, dtype=np.bool_)
    zero = mpmath.mpf(0) if rows.dtype == object else 0.0
    return np.where(is_far, middle, zero)[:, None]
