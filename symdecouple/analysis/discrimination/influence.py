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
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sympy import Dummy, Expr, diff, lambdify

from symdecouple.analysis.population.node_paths import OverNodes
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
    value, psi = OverNodes([expr, _influence(expr, sample)], sample, weights)(rows)
    return Influence(value[:, 0], np.broadcast_to(psi, rows.shape))


def _influence(expr: Expr, sample: Sample) -> Expr:
    """The influence function as an expression in the sample."""
    body = expr.opened(sample) if isinstance(expr, Mean) else expr
    inner = {Dummy(real=True): mean for mean in outermost_means(body)}
    opened = body.xreplace({mean: symbol for symbol, mean in inner.items()})
    psi = body - expr
    for symbol, mean in inner.items():
        slope = diff(opened, symbol).xreplace(inner)
        psi += (Mean(slope) if isinstance(expr, Mean) else slope) * _influence(mean, sample)
    return psi


# --- moments ------------------------------------------------------------------------------------------------------


def of_moments(coordinates: MomentCoordinates, rows: FloatArray, weights: FloatArray, chosen: Sequence[int]
               ) -> list[Influence]:
    """Return features of a set of moments, by their numbers from 0, with their influence functions.

    By their standardized moments: raw averages of values far from 0 would leave no digit.
    """
    known = _coordinates(rows, weights, max(chosen) + 1)
    return [_composed(coordinates, k, known[: k + 1]) for k in chosen]


def _composed(coordinates: MomentCoordinates, k: int, known: Sequence[Influence | float]) -> Influence:
    """Feature k of coordinates 0..k, some of which may be numbers that stay."""
    symbols, feature = coordinates.symbols[: k + 1], coordinates.forward[k]
    values = [one.value if isinstance(one, Influence) else one for one in known]
    shape, total = np.shape(values[-1]), np.zeros(())
    for symbol, one in zip(symbols, known, strict=True):
        if isinstance(one, Influence):
            slope = lambdify(symbols, diff(feature, symbol), "numpy")(*values)
            total = total + np.broadcast_to(slope, shape)[:, None] * one.psi
    value = lambdify(symbols, feature, "numpy")(*values)
    return Influence(np.asarray(np.broadcast_to(value, shape), dtype=float), total)


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
    return [_composed(coordinates, k, [*references[:k], found[k]]) for k in range(count)]


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
