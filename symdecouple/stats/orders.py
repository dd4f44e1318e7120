"""Statistics by order, on a last axis: samples go in, and what no float can hold is taken out and said.

Standardized moments do not feel the unit of the sample; mean and variance do. The variance of values near 1e-200 is
1e-400: float64 makes 0 of it, the variance of a constant. Such an entry is NaN, and the outcome of its sample says
"out of range"; the other orders stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.samples.batch import (
    Answer,
    Axis,
    Kernel,
    NanPolicy,
    OnRefusal,
    RowValues,
    SampleMatrix,
    reduce_rows,
)
from symdecouple.numeric.samples.exact_means import exact_rows, single_values
from symdecouple.numeric.samples.intake import Numbers
from symdecouple.numeric.samples.weights import WeightRows

__all__ = ["Orders"]


@dataclass(frozen=True, slots=True)
class Orders:
    """As `reduce_rows`, for kernels of `order` values a sample, mean and variance first.

    `added` to the variance is the second moment of the reference.
    """

    name: str
    order: int
    axis: Axis
    nan_policy: NanPolicy
    keepdims: bool
    on_refusal: OnRefusal
    added: float = 0.0

    def reduce(self, a: Any, weights: Any, kernel: Kernel) -> Any:
        """Apply the kernel to every sample."""

        def after(answer: Answer, given: Numbers, axes: tuple[int, ...], weighed: WeightRows | None) -> None:
            for i, value in single_values(answer, given, axes, weighed):
                answer.values[i, : min(self.order, 2)] = (value, self.added)[: self.order]
                if self.order < 3:
                    del answer.refusals[i]
            for i, mean, variance in exact_rows(answer, given, axes, weighed):
                answer.values[i, : min(self.order, 2)] = (mean, variance + self.added)[: self.order]
            self._keep_in_range(answer, given.result_type)

        return reduce_rows(self.name, a, lambda matrix: _with_variation(kernel, matrix), axis=self.axis,
                           nan_policy=self.nan_policy, keepdims=self.keepdims, weights=weights,
                           on_refusal=self.on_refusal, columns=self.order + 1, frames=5, after=after)

    def _keep_in_range(self, answer: Answer, kind: type[np.floating[Any]]) -> None:
        """Leave the orders; NaN, and an outcome, where the type of the result cannot hold them."""
        values, varies = answer.values[:, : self.order].copy(), answer.values[:, self.order] == 1
        info = np.finfo(kind)
        beyond = np.abs(values) > info.max
        if self.order > 1:
            beyond[:, 1] |= varies & (values[:, 1] < info.tiny)  # below, digits are missing
        for i in np.flatnonzero(beyond.any(axis=1)).tolist():
            orders = (np.flatnonzero(beyond[i]) + 1).tolist()
            answer.refusals[i] = _out_of_range(orders, info.bits, answer.refusals.get(i))
        values[beyond] = np.nan
        answer.values = values


def _with_variation(kernel: Kernel, matrix: SampleMatrix) -> RowValues:
    found = kernel(matrix)
    return RowValues(np.column_stack([found.values, matrix.low < matrix.high]), found.refusals)


def _out_of_range(orders: list[int], bits: int, before: Outcome | None) -> Outcome:
    """Beside what was to be said of the sample before."""
    which = ", ".join({1: "mean", 2: "variance"}.get(k, f"order {k}") for k in orders)
    wider = " or give float64 values" if bits < 64 else ""
    what = f"{which} beyond the range of float{bits}, all other orders are there; change the unit of the sample{wider}"
    if before is None:
        return Outcome(False, "out of range", what)
    return Outcome(False, before.reason, f"{before.detail}; {what}")
