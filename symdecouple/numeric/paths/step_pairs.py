"""The Runge-Kutta pairs of compiled paths as arrays: `dormand_prince`, `verner`, and the heavy one of `dop853`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from symdecouple.numeric.paths import dop853, dormand_prince, verner
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["PAIRS"]

_MOST = len(dop853.STAGES)


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


# How many slopes, orders, how many points a step asks for beyond its first, the end of it with them, stages, weights,
# and two estimates of the error. The last slope of the first pair is that at the end.
PAIRS = (
    np.array([len(dormand_prince.STAGES), len(verner.STAGES), _MOST]),
    np.array([5, 6, 8]),
    np.array([len(dormand_prince.STAGES) - 1, len(verner.STAGES), _MOST]),
    np.array([_table(dormand_prince.STAGES), _table(verner.STAGES), _table(dop853.STAGES)]),
    np.array([_line(dormand_prince.WEIGHTS), _line(verner.WEIGHTS), _line(dop853.WEIGHTS)]),
    np.array([_line(dormand_prince.DEFECT), _line(verner.DEFECT), _line(dop853.FIFTH)]),
    np.array([_line(()), _line(()), _line(dop853.THIRD)]),
)
