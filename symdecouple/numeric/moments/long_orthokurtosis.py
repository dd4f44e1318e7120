"""The orthokurtosis of long rows of narrow integers with few distinct values: of these, with the numbers of entries.

Equal values stay equal along the flow, so this is the orthokurtosis of the row itself. The values are counted as small
integers are, without sorting; other rows are left to the usual kernel.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.moments.long_few_values import few_values, is_counted
from symdecouple.numeric.moments.skewness_root import at_zero_skewness, find_roots
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Kernel, Panel, RowValues

__all__ = ["by_few_values"]

_FEWER = 16  # entries for each distinct value: then there is room for these, in float64


def by_few_values(usual: Kernel) -> Kernel:
    """The same kernel, but for rows without weights that have few values.

    >>> from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
    >>> row = np.repeat([[0, 1, 1, 3, 9]], 20, axis=1).astype(np.int8)
    >>> same = by_few_values(orthokurtosis_rows)(Panel.of(row)).values / orthokurtosis_rows(Panel.of(row * 1.0)).values
    >>> same.round(13).tolist()
    [1.0]
    """

    def kernel(panel: Panel) -> RowValues:
        if panel.weights is not None or not is_counted(panel.values.dtype):
            return usual(panel)
        parts = [_of_row(panel, i) or usual(_row(panel, i)) for i in range(len(panel.low))]
        return RowValues(np.concatenate([part.values for part in parts]),
                         {i: part.refusals[0] for i, part in enumerate(parts) if part.refusals})

    return kernel


def _row(panel: Panel, i: int, ties: tuple[IntArray, IntArray] | None = None) -> Panel:
    if ties is None and panel.ties is not None:
        ties = panel.ties[0][i : i + 1], panel.ties[1][i : i + 1]
    return Panel(panel.values[i : i + 1], panel.low[i : i + 1], panel.high[i : i + 1], ties)


def _of_row(panel: Panel, i: int) -> RowValues | None:
    few = few_values(panel.values[i], panel.values.shape[1] // _FEWER)
    if few is None:
        return None
    values, counts = few

    def solve(_: Panel, which: IntArray) -> FloatArray:
        return find_roots(Panel.weighted(values[None], counts[None].astype(np.float64)), which, np.zeros(1)).kurtosis

    return at_zero_skewness(_row(panel, i, (counts[:1], counts[-1:])), 1.0, solve)
