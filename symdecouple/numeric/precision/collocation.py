r"""Steps of a differential equation to any number of digits, by collocation at the points of Gauss.

On a step of length h the slopes F(Y_i) at p points c_i are values of a polynomial, whose integrals from the beginning
are the states there, and at the end (J. C. Butcher, Math. Comp. 18 (1964) 50-64):

.. math:: Y_i = y + h \sum_j q_{ij} F(Y_j), \qquad y(h) = y + h \sum_j b_j F(Y_j), \qquad
    q_{ij} = \int_0^{c_i} \ell_j

The end is right to order 2p. The p states are found together: a guess is corrected by what it lacks in the equations,
and float64 says how that changes the slopes, with eight digits or more of each correction. Where it has no slopes, or
none that help, the corrections are what is lacking itself (Picard).

Slopes whose coefficients in Legendre polynomials fall like :math:`\rho^{-n}` leave an error of :math:`\rho^{-2p}`: the
last of them, squared, is the estimate.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import mpmath
import numpy as np

from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["SHRINK", "NoSlope", "Slope", "Stepped", "collocated", "finite", "points_for"]

# States (p, m, N) -> their derivatives, in mpmath numbers or float64.
Slope: TypeAlias = Callable[[Array], Array]

SHRINK = 0.15  # of a step that left the domain

_SAFETY, _GROW = 0.85, 4.0  # of the next step: below its estimate, and at most so much longer
_MOST = 30  # corrections of a step
_LEFT = 2.0**-7  # of what is allowed, to be left by the sweeps
_SETTLED = 2.0**-40  # relative change by a sweep in float64, to be the last one
_AROUND = 2.0**-14  # of the way that a step goes: differences of slopes over it are right to some 1e-9


class NoSlope(Exception):
    """The right-hand side has no finite value at a point."""


def finite(compute: Callable[..., Any], *arguments: Any) -> Array:
    """Return what is computed of some arguments; raise `NoSlope` where it is not finite and real."""
    try:
        found = np.array(compute(*arguments), dtype=object)
    except (ZeroDivisionError, ValueError, OverflowError, TypeError) as error:
        raise NoSlope from error
    if any(isinstance(v, mpmath.mpc) or not mpmath.isfinite(v) for v in found.flat):
        raise NoSlope
    return found


@dataclass(frozen=True, slots=True)
class Stepped:
    """What became of one step.

    Attributes
    ----------
    values : array or None
        The end; None where the step is too long.
    error : mpf
        Its estimated error, in what is allowed.
    factor : mpf
        By which to change the length of the next step.
    """

    values: Array | None
    error: Any
    factor: Any


def points_for(dps: int) -> int:
    """Return how many points steps of a sensible length take for so many digits."""
    return 4 + (dps + 1) // 2


def collocated(slope: Slope, y: Array, h: Any, count: int, units: Array, tol: Any) -> Stepped:
    """Take one step of length h from y.

    Parameters
    ----------
    slope : callable
        Asked for many states at once, of either kind; may raise `ZeroDivisionError`, or return what is not finite.
    y : array (m, N)
    h : mpf
        Of either sign.
    count : int
        Points.
    units : array (m,)
        The size of each row.
    tol : mpf
        Root mean square of the error that is allowed in a row, in its unit.

    Returns
    -------
    Stepped
    """
    sums, last = _rule(count, mpmath.mp.prec)
    units, exponent = units[:, None], mpmath.mpf(count) / (count - 2)

    def measure(gaps: Array) -> Any:
        rows = (gaps / units).reshape(-1, y.shape[1])
        return mpmath.sqrt(max(mpmath.fdot(row, row) for row in rows) / y.shape[1]) / tol

    start, rough_sums = y.astype(np.float64), sums.astype(np.float64) * float(h)
    guess = _settled(np.array([start] * len(sums)), slope, rough_sums)
    helps, states = guess is not None, np.array([y] * len(sums)) if guess is None else guess * mpmath.mpf(1)
    before = mpmath.inf
    with suppress(NoSlope, ZeroDivisionError):
        for left in reversed(range(_MOST)):
            found = finite(slope, states[:-1]) * h
            lacks = y + _summed(sums, found) - states
            worst, end, way = measure(lacks), measure(_summed(last, found)), measure(found) or mpmath.mpf(1)
            error = way * (end / way) ** (2 * exponent)
            factor = _SAFETY * min(error or mpmath.eps, 1 / mpmath.eps) ** (-1 / (exponent * (2 * count - 4)))
            factor = min(max(factor, mpmath.mpf(SHRINK)), mpmath.mpf(_GROW))
            if error > 1 and end > 16 * worst:
                return Stepped(None, error, factor)
            rate = worst / before
            if worst * rate ** (left if helps else 2 * left) > _LEFT:  # Picard's rates fall, as 1, 1/2, 1/3, ...
                if not helps:
                    break
                helps = False
            before = worst
            change = _correction(slope, states, lacks / units, units, rough_sums) if helps and worst else None
            states = states + (lacks if change is None else change)
            missing = worst * min(16 * rate or 1, 1)  # after this correction, which may be worse than the one before
            if error <= 1 and missing < _LEFT:
                return Stepped(states[-1], error + missing, factor)
    return Stepped(None, mpmath.inf, mpmath.mpf(SHRINK))


def _correction(slope: Slope, states: Array, lacks: Array, units: Array, sums: FloatArray) -> Array | None:
    """What brings states to the equations that lack so much, in units, to first order and the digits of float64."""
    largest, near, unit = abs(lacks).max(), states[:-1].astype(np.float64), units.astype(np.float64)
    around = _AROUND * np.ptp(near[:, 0], axis=0).max() / unit[0]

    def change(moves: FloatArray) -> FloatArray:
        share = around / np.abs(moves).max()
        ends = (slope(near + share * unit * moves), slope(near - share * unit * moves))
        slopes: FloatArray = (ends[0] - ends[1]) / (2 * share * unit)
        return slopes

    found = _settled((lacks / largest).astype(np.float64), change, sums)
    return None if found is None else found * largest * units


def _settled(begin: FloatArray, slope: Slope, sums: FloatArray) -> FloatArray | None:
    """States that are `begin` and the sums of their slopes, in float64; None where they are not finite."""
    found = begin
    with np.errstate(all="ignore"):
        for _ in range(2 * _MOST):
            after = begin + np.tensordot(sums, slope(found[:-1]), 1)
            change, found = np.abs(after - found).max(), after
            if not change > _SETTLED * np.abs(after).max():
                break
    return found if np.isfinite(found).all() else None


def _summed(sums: Array, slopes: Array) -> Array:
    """The sums over the points, in whole numbers: of each row's largest slope, to all digits."""
    bits = mpmath.mp.prec
    largest = np.array([max(map(abs, row.flat)) or mpmath.mpf(1) for row in slopes.swapaxes(0, 1)])[:, None]
    fixed = np.frompyfunc(lambda v: v.to_fixed(bits), 1, 1)
    found = np.tensordot(fixed(sums), fixed(slopes / largest), 1)
    moves: Array = np.frompyfunc(lambda v: mpmath.ldexp(v, -2 * bits), 1, 1)(found) * largest
    return moves


@cache
def _rule(count: int, bits: int) -> tuple[Array, Array]:
    """Return q with b below it, (p + 1, p), and what gives the last two coefficients in Legendre polynomials."""
    x = np.polynomial.legendre.leggauss(count)[0] * mpmath.mpf(1)
    for _ in range(bits.bit_length()):
        *_, before, here = _legendre(x, count)
        x = x - here * (x * x - 1) / (x * here - before) / count
    p = _legendre(x, count)
    weights = (1 - x * x) / (p[-2] * count) ** 2  # half of those on [-1, 1]
    integrals = np.array([x + 1, *(p[n + 1] - p[n - 1] for n in range(1, count))])
    inner = integrals.T @ p[:-1] * weights / 2
    return np.array([*inner, weights]), np.array([p[n] * weights * (2 * n + 1) for n in (count - 2, count - 1)])


def _legendre(x: Array, count: int) -> Array:
    """Return the Legendre polynomials of degree 0 to `count`, (count + 1, ...)."""
    found = [x * 0 + 1, x]
    for n in range(1, count):
        found.append((x * found[n] * (2 * n + 1) - found[n - 1] * n) / (n + 1))
    return np.array(found)
