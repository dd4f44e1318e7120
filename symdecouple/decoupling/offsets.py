r"""Features that feel no offset: averages cancel beside a large mean, and samples far from 0 are taken about it.

.. math:: f(x + c) = f(x) \text{ for every } c \iff D_1 f = \mathrm{Mean}(v_f) = 0

So are variance and kurtosis, covariances of lags, and moments of filters whose taps add to 0. Their gradients have no
mean: on any path a sample keeps its own. (Where the mean is a feature, and the first one, level 1 takes it away.)
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import mpmath
import numpy as np
from sympy import S, oo

from symdecouple.calculus.bracket import derivative_along
from symdecouple.calculus.field import VectorField
from symdecouple.language.feature import Feature
from symdecouple.numeric.features.expressions import Array, Compiled

__all__ = ["feels_no_offset", "middles"]

_SMALL = 1e-9  # of what is added; below, it is decided exactly


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
