r"""Derivatives from values only: central differences, extrapolated, each with an estimate of its error.

A central quotient has an error of even powers of its step, and Richardson's extrapolation takes them away one by one:

.. math:: D(h) = D + c_1 h^2 + c_2 h^4 + \dots, \qquad
    D_{j+1}(h) = D_j(h) + \frac{D_j(h) - D_j(2h)}{4^j - 1}

Steps begin at a part of the standard deviation of the sample and are halved. Of all D_j(h) the one is taken that moved
least in the last extrapolation, rounding counted (C. J. F. Ridders, Adv. Eng. Softw. 4 (1982) 75-76). Where that does
not settle, because the function changes faster or the step leaves its domain, the ladder is begun again from where it
ended.

A symmetric kink looks smooth to central differences: |x| has the quotient 0 at 0, for every step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["Quotient", "extrapolated", "least_moved"]

# Places of some rows (p,) and a step -> central quotients (p, K) and what rounding of the values does to them (p, K).
Quotient: TypeAlias = Callable[[IntArray, float], tuple[FloatArray, FloatArray]]

EPS = float(np.finfo(np.float64).eps)
FIRST = 0.25  # of the scale of a row
_LADDERS = 6  # of step lengths, each from the last one of the ladder before: down to rounding
_SETTLED = 2.0**-33  # an error below this part of all derivatives of a row together
_COLUMNS = 5  # beyond, corrections are so small parts that numbers agree by chance
_NEAR_ROUNDING = 4  # smaller steps would only round more


def extrapolated(
    quotient: Quotient, n_rows: int, n_numbers: int, *, n_steps: int = 5
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return derivatives (R, K), estimates of their errors (R, K), and which rows settled (R,).

    An error of infinity goes with NaN. A row settled if its errors are small, or no larger than rounding makes them.

    Parameters
    ----------
    quotient : callable
        ``quotient(which (p,), h) -> quotients (p, K), rounding (p, K)`` at some of the rows, h in their scales; NaN
        where it is not defined.
    n_rows, n_numbers : int
        R and K.
    n_steps : int
        Halvings in one ladder, plus one.

    Examples
    --------
    The derivative of the exponential function at 0:

    >>> def quotient(which, h):
    ...     return np.full((1, 1), np.sinh(h) / h), np.full((1, 1), EPS / h)
    >>> value, error, _ = extrapolated(quotient, 1, 1)
    >>> bool(abs(value[0, 0] - 1) <= error[0, 0] <= 1e-10)
    True
    """
    best, error = np.full((n_rows, n_numbers), np.nan), np.full((n_rows, n_numbers), np.inf)
    which, h, settled = np.arange(n_rows), FIRST, np.zeros(n_rows, dtype=np.bool_)
    with np.errstate(all="ignore"):
        for _ in range(_LADDERS):
            if not len(which):
                break
            sides = [quotient(which, h / 2**j) for j in range(n_steps)]
            rounding = np.stack([side[1] for side in sides])
            found, doubt = least_moved(np.stack([side[0] for side in sides]), rounding)
            better = doubt < error[which]
            best[which], error[which] = np.where(better, found, best[which]), np.where(better, doubt, error[which])
            size = np.sqrt((np.nan_to_num(best[which]) ** 2).mean(axis=1, keepdims=True))
            fine = (error[which] <= _SETTLED * size) | (error[which] <= _NEAR_ROUNDING * rounding[-1])
            settled[which] = fine.all(axis=1)
            which, h = which[~settled[which]], h / 2 ** (n_steps - 1)
    return best, error, settled


def least_moved(column: FloatArray, rounding: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Extrapolate quotients at h, h/2, h/4, ... and choose, number by number; doubts are infinite for NaN."""
    best, error = np.full(column.shape[1:], np.nan), np.full(column.shape[1:], np.inf)
    for order in range(2, 2 * min(len(column), _COLUMNS + 1), 2):
        longer = column[1:] + (column[1:] - column[:-1]) / (2**order - 1)
        doubts = np.maximum(np.abs(longer - column[1:]), rounding[-len(longer) :])
        for value, doubt in zip(longer, doubts, strict=True):
            better = doubt < error  # False for NaN
            best, error = np.where(better, value, best), np.where(better, doubt, error)
        column = longer
    return best, error
