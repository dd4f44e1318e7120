r"""Decoupled moments of long samples and their gradients, by the entries of each, into the answer and in little room.

With z the standardized sample, s its deviation, g its skewness, the first three are 1/N, 2 s z/N and
3 (z^2 - g z - 1)/(N s); the others are those of `long_adjoint`. All of it is written part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.long_adjoint import long_gradients
from symdecouple.numeric.moments.long_jit import Compiled, CompiledRow, compiled_located
from symdecouple.numeric.moments.long_means import ByNumPy
from symdecouple.numeric.moments.power_sums import (
    ZERO_VARIANCE,
    place_and_scale,
    range_exponent,
    standardized_moments,
    to_unit_range,
)
from symdecouple.numeric.moments.skewness_row import FlowedRow, located
from symdecouple.numeric.samples.batch import FloatArray, Panel

__all__ = ["LONG_ADJOINT", "gradients_in_parts"]

LONG_ADJOINT = 2**14  # entries of a sample from which on this is faster than nodes of many samples together
_PART = 2**13  # entries worked on at a time


def gradients_in_parts(
    panel: Panel, goal: Sequence[float], out: NDArray[np.floating[Any]], *, compiled: bool = False,
    with_values: bool = True,
) -> tuple[FloatArray, dict[int, Outcome], list[int]]:
    """Mean, variance and standardized decoupled moments of each row to order K; their gradients into `out`.

    Parameters
    ----------
    panel : Panel
        Without weights.
    goal : sequence of K numbers
        Standardized reference moments 0..K - 1.
    out : array (R, K, N)
        NaN from the order on that a row does not have.
    compiled : bool
        Whether parts are worked on by compiled loops.
    with_values : bool
        Whether the moments above 4 are asked for; NaN where they are not.

    Returns
    -------
    values : array (R, K)
    refusals : dict
        The first level that a row does not have.
    left : list of int
        Rows that want to be followed entry by entry; what is in `out` for them is of no use above order 3.
    """
    order = out.shape[1]
    values, refusals, left = np.full(out.shape[:2], np.nan), dict[int, Outcome](), list[int]()
    means = (Compiled(), compiled_located, CompiledRow) if compiled else (ByNumPy(), located, FlowedRow)
    values[:, :3] = np.stack(place_and_scale(panel), axis=1)[:, :order]
    for i in range(len(out)):
        if not panel.low[i] < panel.high[i]:
            out[i], out[i, 0] = np.nan, 1 / out.shape[2]
            out[i, 1:2] = 0
            if order > 2:
                refusals[i] = ZERO_VARIANCE
            continue
        _leading(panel, i, out[i])
        if order > 3:
            found = long_gradients(panel, i, goal, means[0], out[i, 3:], *means[1:], with_values=with_values)
            if found is None:
                left.append(i)
                continue
            values[i, 3:], refused = found
            if refused is not None:
                refusals[i] = refused
    return values, refusals, left


def _leading(panel: Panel, i: int, out: NDArray[np.floating[Any]]) -> None:
    """The gradients of mean, variance and skewness, as far as they are asked for (K, N)."""
    one = Panel(panel.values[i : i + 1], panel.low[i : i + 1], panel.high[i : i + 1])
    row, n, which, to_unit = one.values[0], out.shape[1], np.array([0]), to_unit_range(one)
    found = standardized_moments(one.values, which, 3, to_unit)
    shift, deviation, skewness = float(found.mean[0]), float(found.deviation[0]), float(found.standardized[3, 0])
    with np.errstate(all="ignore"):  # beyond float64: infinite, and the caller looks at it
        spread = float(np.ldexp(deviation, int(range_exponent(one)[0])))
        of_variance, of_skewness = np.float64(2 * spread / n), 3 / (n * np.float64(spread))
        for j in range(0, n, _PART):
            part = out[:, j : j + _PART]
            part[0] = 1 / n
            if len(out) == 1:
                continue
            z = row[None, j : j + _PART].astype(np.float64)
            to_unit(z, which)
            z = (z[0] - shift) / deviation
            np.multiply(z, of_variance, out=part[1])
            if len(out) > 2:
                q = z - skewness
                q *= z
                q -= 1
                np.multiply(q, of_skewness, out=part[2])
