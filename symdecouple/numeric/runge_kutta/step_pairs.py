"""The Runge-Kutta pairs of compiled paths as arrays: the light one of `verner`, and the heavy one of `dop853`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from symdecouple.numeric.batch import FloatArray
from symdecouple.numeric.runge_kutta import dop853, verner

__all__ = ["PAIRS", "PROBED", "PROBED_WEIGHTS"]

_MOST = len(dop853.STAGES)

PROBED = (0, 3, 6, 5)  # slopes of DOP853 at 0, 0.118, 0.25 and 0.333 of the step
# Their third divided difference: what the error of a step grows with.
PROBED_WEIGHTS = {i: float(1 / np.prod([dop853.NODES[i] - dop853.NODES[j] for j in PROBED if j != i])) for i in PROBED}


def _line(weights: Mapping[int, float] | Sequence[float]) -> FloatArray:
    line = np.zeros(_MOST)
    for j, weight in weights.items() if isinstance(weights, Mapping) else enumerate(weights):
        line[j] = weight
    return line


def _table(rows: Iterable[Mapping[int, float] | Sequence[float]]) -> FloatArray:
    table = np.zeros((_MOST, _MOST))
    for i, row in enumerate(rows):
        table[i] = _line(row)
    return table


# How many slopes, orders, stages, weights, two estimates of the error, and what is asked of the heavy one on the way.
PAIRS = (
    np.array([len(verner.STAGES), _MOST]),
    np.array([6, 8]),
    np.array([_table(verner.STAGES), _table(dop853.STAGES)]),
    np.array([_line(verner.WEIGHTS), _line(dop853.WEIGHTS)]),
    np.array([_line(verner.DEFECT), _line(dop853.FIFTH)]),
    np.array([_line(()), _line(dop853.THIRD)]),
    _line(PROBED_WEIGHTS),
)
