"""Exponential tilting to any number of digits: the convex function of `tilting`, its minimum by Newton's method.

From a start in float64, a step is computed with as many digits as it can make right: some four times those of the step
before, as its error is the square of its length and is to be squared again. Without a start, steps d are shortened by
log(1 + m)/m, m = max |d.w|, which lowers the function from anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np

from symdecouple.language.precision import at_bits
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["PreciseProblem", "exponentials", "solved"]

_MOST = 300  # iterations, damped ones included
_NEAR = 0.5  # max |d.w| from which on full steps converge, as in tilting
_FIRST = 2.0**-26  # how far a start may be off
_BITS = 30  # more than a step makes right


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
        self.wanted = _independent(weights)

    @property
    def is_independent(self) -> bool:
        """Whether no feature depends on those before it at these frequencies."""
        return len(self.wanted) == len(self.weights)

    def solved(self, start: FloatArray | None) -> tuple[Array, Any]:
        """Return a, and how far a.w may be from the exact one at most; None for it where no solution is found."""
        a = np.array([mpmath.mpf(0 if start is None else float(start[j])) for j in range(len(self.weights))], object)
        if not self.wanted:
            return a, self._left(a, mpmath.mpf(0))
        full, reach = mpmath.mp.prec, mpmath.mpf(1 if start is None else _FIRST)
        for _ in range(_MOST):
            # Far away, frequencies may be told apart by what one has more power than another: matrices nearly singular.
            bits = 2 * full if reach > _NEAR else max(53, int(min(full, _BITS - 4 * mpmath.log(reach, 2))))
            with at_bits(bits):
                try:
                    step = self._step(a)
                except ZeroDivisionError:
                    return a, None
                reach = self._reach(step)
                damping = mpmath.log1p(reach) / reach if reach > _NEAR else mpmath.mpf(1)
            a = a + step * damping
            if reach <= mpmath.ldexp(1, -(full // 2) - 4):
                return a, self._left(a, reach**2)
            reach = min(reach, mpmath.mpf(1))
        return a, None

    def matrix(self, a: Array) -> Array:
        """Return the sums of w w' p exp(a.w), (m, m)."""
        return _products(self.weights, self._tilted(a))

    def _tilted(self, a: Array) -> Array:
        return self.power * exponentials(a, self.weights)

    def _step(self, a: Array) -> Array:
        tilted, step = self._tilted(a), 0 * a
        some = self.weights[self.wanted]
        gap = [self.targets[j] - mpmath.fdot(self.weights[j], tilted) for j in self.wanted]
        step[self.wanted] = solved(_products(some, tilted), gap)
        return step

    def _reach(self, step: Array) -> Any:
        return max((abs(mpmath.fdot(step, column)) for column in self.weights.T), default=mpmath.mpf(0))

    def _left(self, a: Array, after: Any) -> Any:
        """What the last step leaves, and what the rounding of the sums does; None where a dependent feature is off."""
        tilted = self._tilted(a)
        sizes = [mpmath.fdot(abs(w), tilted) + abs(v) for w, v in zip(self.weights, self.targets, strict=True)]
        for w, v, size in zip(self.weights, self.targets, sizes, strict=True):
            if abs(mpmath.fdot(w, tilted) - v) > mpmath.sqrt(mpmath.eps) * size:
                return None
        if not self.wanted:
            return after
        shaken = 0 * a
        shaken[self.wanted] = solved(_products(self.weights[self.wanted], tilted), [
            sizes[j] * mpmath.eps * 4 for j in self.wanted])
        return after + self._reach(shaken)


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


def solved(matrix: Array, right: Sequence[Any]) -> Array:
    """Return the solution of a linear system; an object array."""
    if not len(right):
        return np.zeros(0, dtype=object)
    return np.array(list(mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(list(right)))), dtype=object)


def _independent(weights: Array) -> list[int]:
    """Which rows do not depend on those before them, by the squares of what is left of them."""
    found: list[int] = []
    basis: list[Array] = []
    for j, row in enumerate(weights):
        left = row
        for q in basis * 2:
            left = left - q * mpmath.fdot(q, left)
        size = mpmath.fdot(left, left)
        if size > mpmath.ldexp(1, -(mpmath.mp.prec * 4 // 3)) * mpmath.fdot(row, row):
            found.append(j)
            basis.append(left / mpmath.sqrt(size))
    return found
