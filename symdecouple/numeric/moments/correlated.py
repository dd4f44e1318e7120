r"""Several variables with given moments each, moved together to a given matrix of correlations; the moments stay.

With z_1, .., z_d standardized variables of n values, the conditions are Mean(z_j^a) = c_ja and Mean(z_j z_k) = r_jk.
Their gradients are a z_j^(a-1) in variable j, and z_k in variable j with z_j in variable k. The correlations go to
their targets along a straight line, in steps, each of them the shortest moves along the gradients (Newton's method),
which are solved for by the matrix of their inner products. At the end all conditions hold to rounding.

The values of a variable do not keep their order: that is what a correlation is made of. (Rank correlations are kept by
increasing functions of each variable alone, as in `shaped`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["Correlated", "correlated", "correlations"]

_ENOUGH = 1e-15  # a gap of a condition, over max(1, its target)
_THERE = 5e-14  # the same, which counts as met at the end
_ON_THE_WAY = 1e-9  # and at points from which it goes on
_NEWTON = 12  # steps, which double the digits once they are near
_SHORTEST = 2.0**-10  # step of the way, as a share of it


class Correlated(NamedTuple):
    """Variables (d, n), and the share of the way to the correlations that was made: 1 where they are there."""

    values: FloatArray
    share: float


def correlations(z: FloatArray) -> FloatArray:
    """Return the matrix of correlations of variables (d, n).

    >>> (correlations(np.array([[1.0, 2, 3], [1, 4, 1]])).round(12) + 0.0).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    centred = z - z.mean(axis=1, keepdims=True)
    centred -= centred.mean(axis=1, keepdims=True)
    centred /= np.sqrt(np.vecdot(centred, centred))[:, None]
    found: FloatArray = centred @ centred.T
    np.fill_diagonal(found, 1.0)
    return found


def correlated(z: FloatArray, moments: Sequence[FloatArray], wanted: FloatArray) -> Correlated:
    """Move standardized variables (d, n) to correlations (d, d); moments 1..K of each are those given, and stay.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(2, 50))
    >>> z = (z - z.mean(axis=1, keepdims=True)) / z.std(axis=1, keepdims=True)
    >>> made = correlated(z, [np.array([0.0, 1.0])] * 2, np.array([[1, 0.5], [0.5, 1]]))
    >>> round(float(correlations(made.values)[0, 1]), 12), made.share
    (0.5, 1.0)
    """
    conditions = _Conditions.of(moments, wanted)
    first = conditions.values(z)
    s, step = 0.0, 1.0
    while s < 1 and step > _SHORTEST:
        end = min(s + step, 1.0)
        goal = conditions.goal if end == 1 else first + end * (conditions.goal - first)
        moved, gap = conditions.newton(z, goal)
        if gap <= (_THERE if end == 1 else _ON_THE_WAY):
            z, s, step = moved, end, 2 * step
        else:
            step /= 2
    return Correlated(z, s)


class _Conditions(NamedTuple):
    """Orders of the moments of each variable, pairs of variables, and targets: moments first, then correlations."""

    orders: list[int]
    pairs: IntArray
    goal: FloatArray

    @classmethod
    def of(cls, moments: Sequence[FloatArray], wanted: FloatArray) -> _Conditions:
        pairs = np.array(np.triu_indices(len(moments), 1))
        return cls([len(m) for m in moments], pairs, np.concatenate([*moments, wanted[pairs[0], pairs[1]]]))

    def values(self, z: FloatArray) -> FloatArray:
        """What they are of variables."""
        powers = [np.mean(row**a) for row, k in zip(z, self.orders, strict=True) for a in range(1, k + 1)]
        products: FloatArray = (z @ z.T)[self.pairs[0], self.pairs[1]] / z.shape[1]
        return np.concatenate([powers, products])

    def newton(self, z: FloatArray, goal: FloatArray) -> tuple[FloatArray, float]:
        """The variables after the shortest moves towards a goal, and the largest gap that is left."""
        gap = goal - self.values(z)
        worst = self._size(gap, goal)
        for _ in range(_NEWTON):
            if not worst > _ENOUGH:
                break
            moved = z + self._shortest(z, gap)
            after = goal - self.values(moved)
            size = self._size(after, goal)
            if not size < worst:
                break
            z, gap, worst = moved, after, size
        return z, worst

    def _size(self, gap: FloatArray, goal: FloatArray) -> float:
        return float(np.max(np.abs(gap) / np.maximum(1, np.abs(goal))))

    def _shortest(self, z: FloatArray, gap: FloatArray) -> FloatArray:
        """The shortest moves that close gaps to first order."""
        count, n = len(self.goal), z.shape[1]
        products, fields = np.zeros((count, count)), list[tuple[IntArray, FloatArray]]()
        begin, first_pair = 0, sum(self.orders)
        for j, k in enumerate(self.orders):
            here = np.flatnonzero((self.pairs == j).any(axis=0))
            other = self.pairs[:, here].sum(axis=0) - j
            which = np.concatenate([np.arange(begin, begin + k), first_pair + here])
            field = np.vstack([[a * z[j] ** (a - 1) for a in range(1, k + 1)], z[other]])
            products[np.ix_(which, which)] += field @ field.T / n
            fields.append((which, field))
            begin += k
        size = np.sqrt(np.diag(products))
        shares = np.linalg.lstsq(products / np.outer(size, size), gap / size, rcond=1e-13)[0] / size
        return np.array([shares[which] @ field for which, field in fields])
