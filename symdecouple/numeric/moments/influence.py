r"""Influence functions of the decoupled moments: what a little more weight on one value does to each of them.

.. math:: \psi_f(z) = \frac{d}{d\varepsilon}\, f\bigl((1-\varepsilon) P + \varepsilon\,\delta_z\bigr), \qquad
    \psi_f' = N \nabla f, \qquad \mathrm{Cov}(f, g) = \frac1N\,\mathrm{E}\,\psi_f \psi_g + O(N^{-2})

for N independent values of the law P. With z standardized and g its skewness,

.. math:: \psi_1 = \sigma z, \qquad \psi_2 = \sigma^2 (z^2 - 1), \qquad \psi_3 = z^3 - 3 z - \tfrac32 g (z^2 - 1) - g

The decoupled moment of order k is z^k - Mean(z^k) at level k - 1. From there each level takes the function back to the
one below: a narrow path by the adjoint of its steps (`moment_path_adjoint`), and level 3 by taking off
the part that its own flows set,

.. math:: \psi = \varphi - q - \mathrm{Mean}(\varphi - q), \qquad
    q' = \text{the projection of } \varphi' \text{ on } \mathrm{span}\{1, z, z^2\}

which is, for the orthokurtosis at skewness 0, y^4 - 2 kappa y^2 + kappa - (4 m_5/(kappa - 1)) (y^3/3 - y). For a normal
law psi_k is the Hermite polynomial of degree k, of variance k!: all orders are uncorrelated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.gradients import down_to_three, unresolved
from symdecouple.numeric.moments.hankel import Weights, taken
from symdecouple.numeric.moments.levels import Ladder, climb
from symdecouple.numeric.moments.long_rows import FROM_ENTRIES, LongRow
from symdecouple.numeric.moments.moment_path import TOGETHER
from symdecouple.numeric.moments.power_sums import ZERO_VARIANCE, mean_power, place_and_scale, standardized_entries
from symdecouple.numeric.samples.batch import FloatArray, SampleMatrix

__all__ = ["Influences", "decoupled_influences", "standardized_influences"]


class Influences(NamedTuple):
    """Values (R, order) of moments, their influence functions at the entries (R, order, N), and refused rows.

    Mean, variance, and standardized moments from order 3 on; NaN from the order on that a row does not have. The
    influence functions are those of the standardized sample: of mean and variance in their units, sigma and sigma^2.
    """

    values: FloatArray
    psi: FloatArray
    refusals: dict[int, Outcome]


def standardized_influences(rows: FloatArray, order: int, weights: Weights = None, *, room: int = 0) -> Influences:
    """Mean, variance and standardized moments 3..order of every row, (R, N), with their influence functions.

    .. math:: \\psi_k = z^k - c_k - k\\,c_{k-1}\\,z - \\frac k2\\,c_k\\,(z^2 - 1)

    Weights, (R, N), are shares or any multiples of them. There is room for `room` functions, NaN in those left over.

    Examples
    --------
    >>> found = standardized_influences(np.array([[-1.0, 0, 0, 1]]), 4)
    >>> found.values.round(12).tolist(), found.psi[0, 3].round(12).tolist()
    ([[0.0, 0.5, 0.0, 2.0]], [-2.0, 2.0, 2.0, -2.0])
    """
    values = np.full((len(rows), max(order, 3)), np.nan)
    psi = np.full((len(rows), max(order, room), rows.shape[1]), np.nan)
    share = None if weights is None else weights / weights.sum(axis=1)[:, None]
    with np.errstate(all="ignore"):  # constant rows have no z, and are refused
        values[:, :3] = np.stack(place_and_scale(SampleMatrix.weighted(rows, weights)), axis=1)
        psi[:, 0], _, left = standardized_entries(rows, weights)
        constant, z = np.isnan(left), psi[:, 0]
        z[constant] = 0
        if order > 1:
            psi[:, 1] = z * z - 1
        for k in range(3, order + 1):
            before, value = mean_power(z, k - 1, share), values[:, 2] if k == 3 else mean_power(z, k, share)
            values[:, k - 1], here = value, np.power(z, k, out=psi[:, k - 1])
            here -= value[:, None]
            here -= k * before[:, None] * z
            here -= k / 2 * value[:, None] * psi[:, 1]
    psi[constant, 1:2], psi[constant, 2:] = 0, np.nan
    refused = {int(i): ZERO_VARIANCE for i in np.flatnonzero(constant)} if order > 2 else {}
    return Influences(values[:, :order], psi, refused)


def decoupled_influences(rows: NDArray[Any], order: int, goal: Sequence[float], weights: Weights = None) -> Influences:
    """Mean, variance and standardized decoupled moments 3..order of every row, (R, N), with their influence functions.

    `goal` is standardized reference moments 0..order - 1; weights, (R, N), are shares or any multiples of them.

    Notes
    -----
    Error about 1e-8 of the largest value. The cost is that of two to four times the gradients.

    Examples
    --------
    Symmetric samples have kappa and no m_5; this one 5/3 and y = -(2/3)**-.5, 0, (2/3)**-.5 in equal numbers, for
    which three values are a critical point of the orthokurtosis:

    >>> found = decoupled_influences(np.array([[-1.0, 0, 1]]), 4, (1, 0, 1, 0))
    >>> bool(abs(found.values[0, 3] - 1.5) < 1e-14), found.psi[0, 3].round(12).tolist()
    (True, [-0.75, 1.5, -0.75])
    """
    found = standardized_influences(np.asarray(rows, dtype=np.float64), min(order, 3), weights, room=order)
    if order < 4:
        return found
    n_rows, n = rows.shape
    values, psi = np.column_stack([found.values, np.full((n_rows, order - 3), np.nan)]), found.psi
    refusals, left = dict(found.refusals), [i for i in range(n_rows) if i not in found.refusals]
    with np.errstate(all="ignore"):  # rows without a level are NaN from there on
        if n >= FROM_ENTRIES:
            left = [i for i in left if not _fill_long(
                np.asarray(rows[i], dtype=np.float64), order, goal, taken(weights, i), values[i], psi[i])]
        step = max(1, TOGETHER // n)
        for which in (np.array(left[i : i + step]) for i in range(0, len(left), step)):
            share = None if weights is None else weights[which] / weights[which].sum(axis=1)[:, None]
            ladder = climb(np.asarray(rows[which], dtype=np.float64), order, goal, weights=share, store=True)
            values[which, 3:], psi[which, 3:] = ladder.moments[4:].T, _at_level_three(ladder, share).swapaxes(0, 1)
            assert ladder.skew is not None
            lost = unresolved(rows[which], ladder.skew.values, share)  # two values are a critical point, and have some
            lost = {i: outcome for i, outcome in lost.items() if outcome.reason == "beyond float64"}
            psi[which[list(lost)], 3:] = np.nan
            refusals.update((int(which[i]), outcome) for i, outcome in {**lost, **ladder.refusals}.items())
    return Influences(values, psi, refusals)


def _fill_long(row: FloatArray, order: int, goal: Sequence[float], share: Weights, values: FloatArray, psi: FloatArray
               ) -> bool:
    """Orders from 4 on of one long row, by its bins; False where the entries are to tell."""
    few = LongRow.of(row, goal[3], share, is_falling=bool(values[2] < 0))
    if few is None or (ladder := climb(few.values, order, goal, weights=few.share, store=True)).refusals:
        return False
    values[3:] = ladder.moments[4:, 0]
    few.at_entries(_at_level_three(ladder, few.share)[:, 0], row, psi[3:])
    return True


def _at_level_three(ladder: Ladder, weights: Weights) -> FloatArray:
    """Influence functions (order - 3, R, N) of moments 4..order at samples of level 3."""
    assert ladder.skew is not None
    psi = np.full((len(ladder.moments) - 4, *ladder.skew.values.shape), np.nan)
    down_to_three(ladder, np.empty_like(psi), weights, psi)
    psi -= (psi.mean(axis=-1) if weights is None else np.vecdot(psi, weights))[..., None]
    return psi
