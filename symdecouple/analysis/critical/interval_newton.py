r"""Critical samples of averages of exponential polynomials: Newton's method, and a proof that one is near.

A sample with d distinct values t_i is critical iff it solves, in t and in multipliers,

.. math:: M'(t_i) = 0, \quad M = m_k - \sum_{j<k} \lambda_j m_j, \qquad \sum_i p_i\, m_j(t_i) = r_j

With G for both, a matrix C near the inverse of DG and the box T of radius rho around z = (t, lambda),

.. math:: -C\,G(z) + (I - C\,DG(T))(T - z) \subset \mathrm{int}(T - z)

proves (Krawczyk) exactly one solution in T. All of it is computed in intervals. If M'' > 0 on the box at every value,
the Hessian of the multiplier function is positive definite, and the sample is a strict local minimum (M'' < 0: a
maximum).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from mpmath import fp
from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp import to_rational
from numpy.typing import NDArray
from sympy import Expr

from symdecouple.analysis.critical.chebyshev import AveragedFunctions, Terms, slope
from symdecouple.analysis.critical.tie_patterns import Ties

__all__ = ["CriticalBox", "Proved", "critical_box", "floats_of", "newton", "proved_on"]

BITS = 160
_STEPS = 60
_POLISHED = 12  # steps in intervals: each gains the digits of a float

FloatArray = NDArray[np.float64]


class CriticalBox(NamedTuple):
    """Values with their ties and multipliers, near which a critical sample lies."""

    ties: Ties
    values: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]


class Proved(NamedTuple):
    """What is proved on a box: whether it has a solution, the signs of M'' (0 where not known), and its values."""

    is_solved: bool
    signs: tuple[int, ...]
    low: Fraction
    high: Fraction


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


def critical_box(system: AveragedFunctions, references: Sequence[Expr], ties: Ties, start: FloatArray, radius: Fraction
                 ) -> tuple[CriticalBox, Proved] | None:
    """Return the box at a critical sample that is known in floats, with its proof; None where no proof comes out."""
    with np.errstate(all="ignore"):
        slopes = np.array([floats_of(slope(f), start) for f in system.functions])
    if not np.isfinite(slopes).all():
        return None
    multipliers = np.linalg.lstsq(slopes[:-1].T, slopes[-1], rcond=None)[0]
    box = CriticalBox(ties, tuple(map(Fraction, start.tolist())), tuple(map(Fraction, multipliers.tolist())))
    exact, inverse = _Equations(system, references), _inverse(system, references, box)
    if inverse is None:
        return None
    for _ in range(_POLISHED):
        defect, before = exact.defect(box), (*box.values, *box.multipliers)
        after = tuple(Fraction(round((v - _middle(_dot(row, defect))) * 2**BITS), 2**BITS)
                      for v, row in zip(before, inverse, strict=True))
        box = CriticalBox(ties, after[:len(ties)], after[len(ties):])
        if after == before:
            break
    found = proved_on(system, references, box, radius)
    return (box, found) if found.is_solved else None


def proved_on(system: AveragedFunctions, references: Sequence[Expr], box: CriticalBox, radius: Fraction) -> Proved:
    """Return what is proved within a radius of a box."""
    exact, inverse, count = _Equations(system, references), _inverse(system, references, box), len(box.ties)
    if inverse is None:
        return Proved(False, (0,) * count, Fraction(0), Fraction(0))
    around = exact.ctx.mpf([-1, 1]) * exact.number(radius)
    defect, jacobian = exact.defect(box), exact.jacobian(box, around)
    is_solved = all(b - a > 2 * radius for a, b in pairwise(box.values))
    for i, row in enumerate(inverse):
        image = -_dot(row, defect)
        for j, column in enumerate(zip(*jacobian, strict=True)):
            image += (int(i == j) - _dot(row, column)) * around
        is_solved &= bool(_end(image.a) > -radius and _end(image.b) < radius)
    bends = [jacobian[i][i] for i in range(count)]
    value = _dot(box.ties, [exact.at(0, -1, exact.number(v) + around) for v in box.values]) / sum(box.ties)
    return Proved(is_solved, tuple(int(_end(b.a) > 0) - int(_end(b.b) < 0) for b in bends), _end(value.a),
                  _end(value.b))


def _defect(functions: Sequence[Terms], weights: FloatArray, wanted: FloatArray, t: FloatArray) -> FloatArray:
    return np.array([(weights * floats_of(f, t)).sum() for f in functions]) - wanted


class _Equations:
    """G and its derivative, in the numbers of a context of mpmath: intervals, or floats."""

    def __init__(self, system: AveragedFunctions, references: Sequence[Expr], ctx: Any = None) -> None:
        self.ctx, functions = ctx or MPIntervalContext(), system.functions
        if ctx is None:
            self.ctx.prec = BITS
        self.wanted = list(map(self.number, references))
        self._terms = []  # of the functions and their first two derivatives
        for _ in range(3):
            self._terms.append([[(self.number(rate), power, self.number(c)) for (rate, power), c in f.items()]
                                for f in functions])
            functions = tuple(map(slope, functions))

    def number(self, value: Any) -> Any:
        """Return an exact number, or an interval around it."""
        if isinstance(value, Fraction):
            return self.ctx.mpf(value.numerator) / value.denominator
        if value.is_Rational:
            return self.ctx.mpf(int(value.p)) / int(value.q)
        near = self.ctx.mpf(str(value.evalf(60)))
        return near if self.ctx is fp else near + self.ctx.mpf([-1, 1]) * abs(near) * self.ctx.mpf(10) ** -50

    def at(self, order: int, k: int, t: Any) -> Any:
        """Return a derivative of function k."""
        return sum((c * t**power * self.ctx.exp(rate * t) for rate, power, c in self._terms[order][k]), self.ctx.mpf(0))

    def defect(self, box: CriticalBox) -> list[Any]:
        t, multipliers = (list(map(self.number, values)) for values in (box.values, box.multipliers))
        held, total = range(len(multipliers)), sum(box.ties)
        return [*(self.at(1, -1, v) - _dot(multipliers, [self.at(1, k, v) for k in held]) for v in t),
                *(_dot(box.ties, [self.at(0, k, v) for v in t]) / total - self.wanted[k] for k in held)]

    def jacobian(self, box: CriticalBox, around: Any) -> list[list[Any]]:
        t, multipliers = ([self.number(v) + around for v in values] for values in (box.values, box.multipliers))
        held, total, zero = range(len(multipliers)), sum(box.ties), self.ctx.mpf(0)
        rows = []
        for i, v in enumerate(t):
            bend = self.at(2, -1, v) - _dot(multipliers, [self.at(2, k, v) for k in held])
            rows.append([bend if j == i else zero for j in range(len(t))] + [-self.at(1, k, v) for k in held])
        return rows + [[n * self.at(1, k, v) / total for n, v in zip(box.ties, t, strict=True)]
                       + [zero] * len(multipliers) for k in held]


def _inverse(system: AveragedFunctions, references: Sequence[Expr], box: CriticalBox) -> Any:
    """A matrix near the inverse of the derivative; how near, is part of what is proved."""
    try:
        found = np.linalg.inv(np.array(_Equations(system, references, fp).jacobian(box, 0.0), dtype=float))
    except (np.linalg.LinAlgError, OverflowError):
        return None
    return found.tolist() if np.isfinite(found).all() else None


def _dot(row: Sequence[Any], column: Sequence[Any]) -> Any:
    return sum(c * v for c, v in zip(row, column, strict=True))


def _middle(value: Any) -> Fraction:
    return (_end(value.a) + _end(value.b)) / 2


def _end(value: Any) -> Fraction:
    """An end of an interval, which is an interval of one point, as a rational number."""
    return Fraction(*map(int, to_rational(value._mpi_[0])))
