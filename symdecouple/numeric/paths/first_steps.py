r"""How the path of a row begins: by the Runge-Kutta pair, and with the first step, that take fewest slopes.

The step length of a row is how many standard deviations a step of DOP853 goes, which one level tells the next one.
Errors of order p of a path with radius of convergence R are some (way/R)^p: a pair of order p goes rtol^(1/p - 1/8) of
the step length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symdecouple.numeric.paths.integrate import DOP853, PAIRS, Pair
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["STEP_LENGTH", "Start", "starts"]

STEP_LENGTH = 0.05  # where no other path tells
_SHARE = 0.9  # of the step length, the longest first step


@dataclass(frozen=True, slots=True)
class Start:
    """Rows that one pair brings on; where known, their first steps, and the standard deviations they have to go."""

    going: IntArray
    pair: Pair = DOP853
    steps: FloatArray | None = None
    way: FloatArray | None = None

    def learned(self, step_length: FloatArray, next_step: FloatArray, rtol: float) -> FloatArray:
        """Return that of the rows (r,) after their path; what short steps tell of longer ones is believed by half.

        `next_step` is that of `Path`.
        """
        if self.way is None:
            return step_length
        suits = next_step * self.way / _reach(self.pair, rtol)
        grown = np.where(np.isfinite(suits), np.minimum(np.sqrt(step_length * suits), 2 * step_length), step_length)
        return np.minimum(suits, grown)


def starts(going: IntArray, way: FloatArray, step_length: FloatArray, rtol: float) -> list[Start]:
    """Return the starts of rows by their way and step length, (r,), each row in one of them."""
    steps = np.array([np.maximum(np.ceil(way / (_SHARE * _reach(pair, rtol) * step_length)), 1) for pair in PAIRS])
    best = (steps * np.array([[pair.n_slopes] for pair in PAIRS])).argmin(axis=0)
    return [Start(going[best == p], PAIRS[p], 1 / steps[p, best == p], way[best == p]) for p in np.unique(best)]


def _reach(pair: Pair, rtol: float) -> float:
    return float(rtol ** (1 / pair.order - 1 / DOP853.order))
