r"""Newton's method for averages of exponential polynomials, and a proof that a solution lies near what it found.

With F_j(t) = sum_i p_i m_j(t_i) - r_j, a matrix C near the inverse of DF and the box T of radius rho around t,

.. math:: -C F(t) + (I - C\,DF(T))(T - t) \subset \mathrm{int}(T - t)

proves (Krawczyk) exactly one solution in T. All of it is computed in intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp import to_rational
from numpy.typing import NDArray
from sympy import Expr

from symdecouple.analysis.critical.chebyshev import Terms, slope
from symdecouple.analysis.critical.tie_patterns import Ties

__all__ = ["BITS", "Enclosed", "at", "enclosed", "end", "exact", "floats_of", "middle", "newton", "number"]

BITS = 160
RADIUS = Fraction(1, 2**110)
_STEPS = 60

FloatArray = NDArray[np.float64]


class Enclosed(NamedTuple):
    """A solution within `radius` of `points`, and the average of the last function there, within `error`."""

    points: tuple[Fraction, ...]
    radius: Fraction
    value: Fraction
    error: Fraction


def floats_of(terms: Terms, t: FloatArray) -> FloatArray:
    """Return an exponential polynomial at points, in floats."""
    total = np.zeros_like(t)
    for (rate, power), c in terms.items():
        total += float(c) * t**power * np.exp(float(rate) * t)
    return total


def newton(functions: Sequence[Terms], weights: FloatArray, wanted: FloatArray, start: FloatArray) -> FloatArray | None:
    """Return the ordered solution that damped steps from `start` reach; None if they reach none."""
    t, slopes = start, [slope(f) for f in functions]
    with np.errstate(all="ignore"):
        defect = _defect(functions, weights, wanted, t)
        for _ in range(_STEPS):
            matrix = np.array([weights * floats_of(s, t) for s in slopes])
            if not np.isfinite(matrix).all() or not np.isfinite(defect).all():
                return None
            try:
                step = np.linalg.solve(matrix, defect)
            except np.linalg.LinAlgError:
                return None
            size = 1.0
            while size > 1e-6:
                new = t - size * step
                after = _defect(functions, weights, wanted, new)
                if (np.diff(new) > 0).all() and np.abs(after).max() < np.abs(defect).max() * (1 - size / 4):
                    break
                size /= 2
            else:
                return t if np.abs(step).max() < 1e-9 else None
            t, defect = new, after
            if np.abs(step).max() < 1e-13 * max(1.0, float(np.abs(t).max())):
                return t
    return None


def enclosed(functions: Sequence[Terms], ties: Ties, references: Sequence[Expr], start: FloatArray) -> Enclosed | None:
    """Return the solution near `start` with a proof, and the average of the last function; None without a proof."""
    ctx, count, total = MPIntervalContext(), len(ties), sum(ties)
    ctx.prec = BITS
    weights = [ctx.mpf(n) / total for n in ties]
    wanted = [number(ctx, r) for r in references]
    with np.errstate(all="ignore"):
        jacobian = np.array([np.array(ties) / total * floats_of(slope(f), start) for f in functions[:count]])
    if not np.isfinite(jacobian).all() or abs(np.linalg.det(jacobian)) < 1e-200:
        return None
    inverse = [[ctx.mpf(float(c)) for c in row] for row in np.linalg.inv(jacobian)]
    points = [Fraction(float(t)) for t in start]
    for _ in range(_STEPS):
        defect = _defect_at(ctx, functions[:count], weights, wanted, [exact(ctx, t) for t in points])
        step = [sum((c * d for c, d in zip(row, defect, strict=True)), ctx.mpf(0)) for row in inverse]
        points = [Fraction(round((t - middle(s)) * 2**BITS), 2**BITS) for t, s in zip(points, step, strict=True)]
        if max(abs(middle(s)) for s in step) < RADIUS / 16:
            break
    rho = exact(ctx, RADIUS)
    boxes = [exact(ctx, t) + ctx.mpf([-1, 1]) * rho for t in points]
    if not _is_contracting(ctx, functions[:count], weights, wanted, inverse, points, boxes):
        return None
    value = sum((w * at(ctx, functions[-1], t) for w, t in zip(weights, boxes, strict=True)), ctx.mpf(0))
    return Enclosed(tuple(points), RADIUS, middle(value), (end(value.b) - end(value.a)) / 2)


def _is_contracting(ctx: Any, functions: Sequence[Terms], weights: Sequence[Any], wanted: Sequence[Any],
                    inverse: Sequence[Sequence[Any]], points: Sequence[Fraction], boxes: Sequence[Any]) -> bool:
    defect = _defect_at(ctx, functions, weights, wanted, [exact(ctx, t) for t in points])
    slopes = [[w * at(ctx, slope(f), t) for w, t in zip(weights, boxes, strict=True)] for f in functions]
    around = ctx.mpf([-1, 1]) * exact(ctx, RADIUS)
    for i, row in enumerate(inverse):
        image = -sum((c * d for c, d in zip(row, defect, strict=True)), ctx.mpf(0))
        for place in range(len(points)):
            product = sum((c * s[place] for c, s in zip(row, slopes, strict=True)), ctx.mpf(0))
            image += ((1 if place == i else 0) - product) * around
        if not (end(image.a) > -RADIUS and end(image.b) < RADIUS):
            return False
    return all(b - a > 2 * RADIUS for a, b in pairwise(points))


def _defect(functions: Sequence[Terms], weights: FloatArray, wanted: FloatArray, t: FloatArray) -> FloatArray:
    return np.array([(weights * floats_of(f, t)).sum() for f in functions]) - wanted


def _defect_at(ctx: Any, functions: Sequence[Terms], weights: Sequence[Any], wanted: Sequence[Any],
               points: Sequence[Any]) -> list[Any]:
    return [sum((w * at(ctx, f, t) for w, t in zip(weights, points, strict=True)), -r)
            for f, r in zip(functions, wanted, strict=True)]


def at(ctx: Any, terms: Terms, t: Any) -> Any:
    """Return an exponential polynomial at an interval."""
    return sum((number(ctx, c) * t**power * ctx.exp(number(ctx, rate) * t) for (rate, power), c in terms.items()),
               ctx.mpf(0))


def number(ctx: Any, value: Expr) -> Any:
    """Return an interval around a number of SymPy."""
    if value.is_Rational:
        return ctx.mpf(int(value.p)) / int(value.q)
    digits = value.evalf(60)
    near = ctx.mpf(str(digits))
    return near + ctx.mpf([-1, 1]) * abs(near) * ctx.mpf(10) ** -50


def exact(ctx: Any, value: Fraction) -> Any:
    """Return a rational number as an interval."""
    return ctx.mpf(value.numerator) / value.denominator


def middle(value: Any) -> Fraction:
    """Return the middle of an interval."""
    return (end(value.a) + end(value.b)) / 2


def end(value: Any) -> Fraction:
    """Return an end of an interval, which is an interval of one point, as a rational number."""
    return Fraction(*map(int, to_rational(value._mpi_[0])))
