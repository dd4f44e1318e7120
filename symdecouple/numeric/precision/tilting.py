"""Exponential tilting to any number of digits: the convex function of `tilting`, its minimum by Newton's method.

From far away, steps d are shortened by log(1 + m)/m, m = max |d.w|, which lowers the function from anywhere; twice as
long ones are tried, and so on.

That there is no solution is not left to the search: a direction d in float64 (`energies.cone`) becomes one to all
digits, orthogonal to the w on its face, with d.w <= 0 for all others, and d.v > 0 or d.v = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np

from symdecouple.language.precision import at_bits
from symdecouple.numeric.energies.cone import cone_membership_of
from symdecouple.numeric.energies.eigenvalues import Columns
from symdecouple.numeric.features.expressions import Array

__all__ = ["PreciseProblem", "exponentials", "solved"]

_MOST = 300  # iterations, damped ones included
_NEAR = 0.5  # max |d.w| from which on full steps converge, as in tilting
_FACE = 1e-4  # d.w below it is none of the face, |d| = |w| = 1: as in `cone`


class PreciseProblem:
    """Parameters a with prescribed sums of w p exp(a.w).

    Parameters
    ----------
    weights : object array (M, n)
        w at the active frequencies, mpmath numbers.
    power : object array (n,)
        p, positive.
    targets : sequence of M mpf

    Attributes
    ----------
    wanted : list of int
        Features that do not depend on those before them at these frequencies; the others have their values from these.
    """

    def __init__(self, weights: Array, power: Array, targets: Sequence[Any]) -> None:
        self.weights, self.power, self.targets = weights, power, targets
        self.wanted = _independent(weights)[0]

    @property
    def is_independent(self) -> bool:
        """Whether no feature depends on those before it at these frequencies."""
        return len(self.wanted) == len(self.weights)

    def refused(self) -> str:
        """Where the targets are, if a direction tells: "outside the cone" or "on the boundary of the cone"; else "".

        Of features that do not depend on those before them, by a linear program in float64 and its face to all digits.
        """
        if not self.wanted:
            return ""
        some = self.weights[self.wanted]
        scale = np.array([max(map(abs, row)) for row in some], dtype=object)
        weights, v = some / scale[:, None], np.array([self.targets[j] for j in self.wanted], dtype=object) / scale
        columns, every = Columns(weights.astype(np.float64), weights.shape[1:]), slice(None)
        place = cone_membership_of(columns, every, every, (v / (max(map(abs, v)) or 1)).astype(np.float64))
        if place.where == "inside":
            return ""
        d = np.array([mpmath.mpf(float(c)) for c in place.direction / np.abs(place.direction).max()], dtype=object)
        near = sorted((-mpmath.fdot(d, w) / mpmath.sqrt(mpmath.fdot(w, w) or 1), k) for k, w in enumerate(weights.T))
        face = _independent(np.array([weights[:, k] for below, k in near if below < _FACE], dtype=object).reshape(
            -1, len(v)), len(v) - 1)[1]
        for q in face * 2:
            d = d - q * mpmath.fdot(q, d)
        tolerance = mpmath.sqrt(mpmath.mpf(len(v))) * 2**8 * mpmath.eps

        def over(w: Array) -> Any:
            return mpmath.fdot(d, w) - tolerance * mpmath.fdot(abs(d), abs(w))

        if any(over(w) > 0 for w in weights.T):
            return ""
        return "outside the cone" if over(v) > 0 else "" if over(-v) > 0 else "on the boundary of the cone"

    def solved(self, start: Array | None = None) -> tuple[Array, Any]:
        """Return a, and how far a.w may be from the exact one at most; None for it where no solution is found."""
        a = np.full(len(self.weights), mpmath.mpf(0), dtype=object) if start is None else start
        full, boost = mpmath.mp.prec, 1
        for _ in range(_MOST):
            # Far away, frequencies may be told apart by what one has more power than another: matrices nearly singular.
            with at_bits(2 * full):
                try:
                    step = self._step(a)
                except ZeroDivisionError:
                    return a, None
                reach = self.reach(step)
                if reach > _NEAR:
                    step = step * mpmath.log1p(reach) / reach
                    boost = boost if boost == 1 or self._is_lower(a, step * boost) else 1
                    step, boost = step * boost, 2 * boost
            a = a + step
            if reach <= mpmath.ldexp(1, -(full // 2) - 4):
                return a, self._left(a, reach**2)
        return a, None

    def distance(self, a: Array) -> Any:
        """The largest abs(sum - v)/(size + abs(v)) of all features, those that depend on others among them."""
        tilted = self._tilted(a)
        return max((abs(mpmath.fdot(w, tilted) - v) / (mpmath.fdot(abs(w), tilted) + abs(v) or 1)
                    for w, v in zip(self.weights, self.targets, strict=True)), default=mpmath.mpf(0))

    def matrix(self, a: Array) -> Array:
        """Return the sums of w w' p exp(a.w), (m, m)."""
        return _products(self.weights, self._tilted(a))

    def _tilted(self, a: Array) -> Array:
        return self.power * exponentials(a, self.weights)

    def _step(self, a: Array) -> Array:
        tilted, step = self._tilted(a), 0 * a
        gap = [self.targets[j] - mpmath.fdot(self.weights[j], tilted) for j in self.wanted]
        step[self.wanted] = solved(_products(self.weights[self.wanted], tilted), gap)
        return step

    def _is_lower(self, a: Array, step: Array) -> bool:
        """Whether the function falls by a ten thousandth of what its slope says, or more."""
        here, there = self._tilted(a), self._tilted(a + step)
        linear = mpmath.fsum(self.targets[j] * step[j] for j in self.wanted)
        slope = mpmath.fsum(mpmath.fdot(self.weights[j], here) * step[j] for j in self.wanted) - linear
        return bool(mpmath.fsum(there) - mpmath.fsum(here) - linear <= slope / 10**4)

    def shift(self, a: Array, changes: Array) -> Array:
        """By how much a moves, to first order, where sums are off by so much."""
        moved = 0 * a
        with at_bits(2 * mpmath.mp.prec):  # some frequencies may have almost all of the power
            moved[self.wanted] = solved(_products(self.weights[self.wanted], self._tilted(a)), changes[self.wanted])
        return moved

    def reach(self, step: Array) -> Any:
        return max((abs(mpmath.fdot(step, column)) for column in self.weights.T), default=mpmath.mpf(0))

    def _left(self, a: Array, after: Any) -> Any:
        """What the last step leaves, and what the rounding of the sums and of a.w does."""
        tilted = self._tilted(a)
        sizes = [mpmath.fdot(abs(w), tilted) + abs(v) for w, v in zip(self.weights, self.targets, strict=True)]
        along = max((mpmath.fdot(abs(a), abs(column)) for column in self.weights.T), default=mpmath.mpf(0))
        moved = self.shift(a, np.array(sizes, dtype=object) * mpmath.eps * 4)
        return after + self.reach(moved) + along * mpmath.eps


def exponentials(a: Array, weights: Array) -> Array:
    """Return exp(a.w), (n,)."""
    return np.array([mpmath.exp(mpmath.fdot(a, column)) for column in weights.T], dtype=object)


def _products(weights: Array, tilted: Array) -> Array:
    out = np.empty((len(weights), len(weights)), dtype=object)
    for i, w in enumerate(weights):
        lifted = w * tilted
        for j in range(i + 1):
            out[i, j] = out[j, i] = mpmath.fdot(lifted, weights[j])
    return out


def solved(matrix: Array, right: Sequence[Any] | Array) -> Array:
    """Return the solution of a linear system with a Gram matrix, scaled to a unit diagonal; an object array.

    ZeroDivisionError where it is singular, or has no finite numbers.
    """
    if not len(right):
        return np.zeros(0, dtype=object)
    if not all(map(mpmath.isfinite, matrix.flat)):
        raise ZeroDivisionError
    scale = np.array([mpmath.sqrt(v) if v > 0 else mpmath.mpf(1) for v in matrix.diagonal()], dtype=object)
    unit = mpmath.matrix((matrix / scale[:, None] / scale).tolist())
    found: Array = np.array(list(mpmath.lu_solve(unit, mpmath.matrix(list(right / scale)))), dtype=object) / scale
    return found


def _independent(rows: Array, most: int | None = None) -> tuple[list[int], list[Array]]:
    """Which rows do not depend on those before them, by the squares of what is left of them; these, orthonormal."""
    found: list[int] = []
    basis: list[Array] = []
    for j, row in enumerate(rows):
        if len(found) == most:
            break
        left = row
        for q in basis * 2:
            left = left - q * mpmath.fdot(q, left)
        size = mpmath.fdot(left, left)
        if size > mpmath.ldexp(1, -(mpmath.mp.prec * 4 // 3)) * mpmath.fdot(row, row):
            found.append(j)
            basis.append(left / mpmath.sqrt(size))
    return found, basis
