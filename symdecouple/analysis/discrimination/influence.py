r"""Influence functions: what one more value at x does to a feature, and so how features of random samples vary.

For independent values of one law, with N of them,

.. math:: \mathrm{Cov}(f, g) = \frac1N\,\mathrm{E}\,\psi_f\,\psi_g + O(N^{-2}), \qquad
    \psi_f(x) = \frac{d}{d\varepsilon}\, f\bigl((1-\varepsilon) P + \varepsilon\,\delta_x\bigr), \qquad \psi_f' = v_f

For f = F(s_1, ..., s_r) of averages psi_f = sum_a F_a psi_{s_a}; an average of phi with statistics s_b inside has

.. math:: \psi = \phi - \mathrm{E}\,\phi + \sum_b \mathrm{E}\Bigl(\frac{\partial\phi}{\partial s_b}\Bigr)\,\psi_{s_b}

Standardized moments c_k of z, and the fourth one decoupled, which moves with its leaf: with y at skewness g,

.. math:: \psi_k = z^k - c_k - k\,c_{k-1}\,z - \frac k2\,c_k\,(z^2 - 1), \qquad
    \psi = \psi_4(y) - \frac{4\,(c_5 - g - c_4 g)}{3\,(c_4 - g^2 - 1)}\;\psi_3(y)

Those of samples are `numeric.moments.influence`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sympy import Dummy, Expr, diff, lambdify

from symdecouple.errors import UnsupportedExpression
from symdecouple.families.moments import MomentCoordinates
from symdecouple.language.filters import Filtered
from symdecouple.language.mean import Mean, outermost_means
from symdecouple.language.sample import Sample
from symdecouple.numeric.moments.influence import Influences, decoupled_influences, standardized_influences
from symdecouple.numeric.moments.power_sums import standardized_entries

__all__ = ["Influence", "of_averages", "of_decoupled_moments", "of_moments"]

FloatArray: TypeAlias = NDArray[np.float64]


class Influence(NamedTuple):
    """Values (R,) of a feature and its influence function at the values of each sample vector, (R, N)."""

    value: FloatArray
    psi: FloatArray


def of_averages(expr: Expr, sample: Sample, rows: FloatArray, weights: FloatArray) -> Influence:
    """Return a function of averages with its influence function.

    Parameters
    ----------
    expr : Expr
    sample : Sample
    rows : array (R, N)
    weights : array (N,)
        Shares, with the sum 1.

    Raises
    ------
    UnsupportedExpression
        For filtered features: their values are not independent.
    """
    if expr.has(Filtered):
        raise UnsupportedExpression("influence functions are those of independent values, and filtered ones are not; "
                                    "take covariance='sample'")
    return _Recursion(sample, rows, weights).of(expr)


class _Recursion:
    def __init__(self, sample: Sample, rows: FloatArray, weights: FloatArray) -> None:
        self.sample, self.rows, self.weights = sample, rows, weights
        self.known: dict[Expr, Influence] = {}

    def of(self, expr: Expr) -> Influence:
        """A function of averages, by the chain rule."""
        if isinstance(expr, Mean):
            if expr not in self.known:
                self.known[expr] = self._average(expr)
            return self.known[expr]
        outer, inner = self._split(expr)
        values = [self.of(mean).value for mean in inner]
        total = np.zeros_like(self.rows)
        for symbol, mean in zip(outer.values, inner, strict=True):
            slope = self._evaluated(diff(outer.expr, symbol), outer.values, values)
            total += slope[:, None] * self.of(mean).psi
        return Influence(self._evaluated(outer.expr, outer.values, values), total)

    def _average(self, mean: Mean) -> Influence:
        body, inner = self._split(mean.opened(self.sample))
        values = [self.of(each).value[:, None] for each in inner]
        phi = self._of_rows(body.expr, body.values, values)
        value = phi @ self.weights
        total = phi - value[:, None]
        for symbol, each in zip(body.values, inner, strict=True):
            slope = self._of_rows(diff(body.expr, symbol), body.values, values) @ self.weights
            total = total + slope[:, None] * self.of(each).psi
        return Influence(value, total)

    def _split(self, expr: Expr) -> tuple[_Opened, list[Mean]]:
        """The outermost averages replaced by symbols."""
        inner = outermost_means(expr)
        symbols = tuple(Dummy(real=True) for _ in inner)
        return _Opened(expr.xreplace(dict(zip(inner, symbols, strict=True))), symbols), inner

    def _evaluated(self, expr: Expr, symbols: tuple[Dummy, ...], values: list[FloatArray]) -> FloatArray:
        found = lambdify(symbols, expr, "numpy")(*values)
        return np.broadcast_to(np.asarray(found, dtype=float), (len(self.rows),))

    def _of_rows(self, expr: Expr, symbols: tuple[Dummy, ...], values: list[FloatArray]) -> FloatArray:
        point = Dummy(real=True)
        found = lambdify((point, *symbols), expr.xreplace({self.sample: point}), ["numpy", "scipy"])(self.rows, *values)
        return np.broadcast_to(np.asarray(found, dtype=float), self.rows.shape)


class _Opened(NamedTuple):
    expr: Expr
    values: tuple[Dummy, ...]


# --- moments ------------------------------------------------------------------------------------------------------


def of_moments(coordinates: MomentCoordinates, rows: FloatArray, weights: FloatArray, chosen: Sequence[int]
               ) -> list[Influence]:
    """Return features of a set of moments, by their numbers from 0, with their influence functions.

    By their standardized moments: raw averages of values far from 0 would leave no digit.
    """
    known = _coordinates(rows, weights, max(chosen) + 1)
    found = []
    for k in chosen:
        symbols, feature = coordinates.symbols[: k + 1], coordinates.forward[k]
        values = [c.value for c in known[: k + 1]]
        total = np.zeros_like(rows)
        for symbol, one in zip(symbols, known, strict=False):
            slope = lambdify(symbols, diff(feature, symbol), "numpy")(*values)
            total += np.broadcast_to(slope, len(rows))[:, None] * one.psi
        value = np.broadcast_to(lambdify(symbols, feature, "numpy")(*values), len(rows))
        found.append(Influence(np.asarray(value, dtype=float), total))
    return found


def of_decoupled_moments(coordinates: MomentCoordinates, references: list[float], rows: FloatArray,
                         weights: FloatArray, leveled: FloatArray | None, count: int) -> list[Influence]:
    """Return decoupled moments 1..count with their influence functions.

    Parameters
    ----------
    coordinates : MomentCoordinates
    references : list of float
        (m, s, c_3, ...), at least count - 1 of them.
    rows : array (R, N)
    weights : array (N,)
    leveled : array (R, N) or None
        Nodes of a law at level 3, for order 4, the last one then; samples need none.
    count : int
    """
    heavy = _shares(rows, weights)
    if leveled is None:
        goal = (1.0, 0.0, 1.0, *references[2 : count - 1])[:count]
        found = _in_units(decoupled_influences(rows, count, goal, heavy), rows, heavy)
    else:
        found = [*_coordinates(rows, weights, 3), _of_kurtosis(leveled, weights)]
    return [_renamed(coordinates, references, k, found[k]) for k in range(count)]


def _shares(rows: FloatArray, weights: FloatArray) -> FloatArray | None:
    return None if (weights == weights[0]).all() else np.ascontiguousarray(np.broadcast_to(weights, rows.shape))


def _coordinates(rows: FloatArray, weights: FloatArray, count: int) -> list[Influence]:
    """Mean, standard deviation and standardized moments up to an order."""
    heavy = _shares(rows, weights)
    return _in_units(standardized_influences(rows, count, heavy), rows, heavy)


def _in_units(found: Influences, rows: FloatArray, weights: FloatArray | None) -> list[Influence]:
    """Mean, standard deviation and what comes after them, with influence functions in the units of the rows."""
    spread = 1 / standardized_entries(rows, weights)[1]
    values = (found.values[:, 0], spread[:, 0], *found.values.T[2:])
    units = (spread, spread / 2, *[1] * len(values))
    return [Influence(value, unit * psi) for value, unit, psi in zip(values, units, found.psi.swapaxes(0, 1),
                                                                     strict=False)]


def _of_kurtosis(leveled: FloatArray, weights: FloatArray) -> Influence:
    y = standardized_entries(leveled, _shares(leveled, weights))[0]
    (g, third), (kappa, fourth) = _coordinates(y, weights, 4)[2:]
    ratio = 4 * (y**5 @ weights - g - kappa * g) / (3 * (kappa - g**2 - 1))
    return Influence(kappa, fourth - ratio[:, None] * third)


def _renamed(coordinates: MomentCoordinates, references: list[float], k: int, found: Influence) -> Influence:
    """From coordinate k to the feature, those before it at their references."""
    symbols, feature = coordinates.symbols[: k + 1], coordinates.forward[k]
    fixed: tuple[Any, ...] = tuple(references[:k])
    value = lambdify(symbols, feature, "numpy")(*fixed, found.value)
    slope = lambdify(symbols, diff(feature, symbols[-1]), "numpy")(*fixed, found.value)
    shape = found.value.shape
    return Influence(np.broadcast_to(value, shape), np.broadcast_to(slope, shape)[:, None] * found.psi)
