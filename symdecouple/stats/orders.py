"""Statistics by order, on a last axis: samples go in, and what no float can hold is taken out and said.

Standardized moments do not feel the unit of the sample; mean and variance do. The variance of values near 1e-200 is
1e-400: float64 makes 0 of it, the variance of a constant. Such an entry is NaN, and the outcome of its sample says
"out of range"; the other orders stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments.out_of_reach import fallen_together
from symdecouple.numeric.moments.ties import unreachable_row
from symdecouple.numeric.samples.batch import (
    Answer,
    Axis,
    Kernel,
    NanPolicy,
    OnRefusal,
    RowValues,
    SampleMatrix,
    as_rows,
    reduce_rows,
)
from symdecouple.numeric.samples.exact_means import put_exact
from symdecouple.numeric.samples.intake import Numbers, shifted_exactly
from symdecouple.numeric.samples.kinds import Values
from symdecouple.numeric.samples.weights import WeightRows, present_in

if TYPE_CHECKING:  # loads SciPy
    from symdecouple.numeric.perturbing import Perturbation

__all__ = ["Orders", "decoupled_names", "shifted_names", "standardized_names"]

_STANDARD = (0.0, 1.0, 0.0)  # reference moments at which decoupled features have names of their own


def decoupled_names(options: dict[str, Any]) -> list[str]:
    """What the orders of `decoupled_moments` are called, as the features of a plan are: "mean", .., "decoupled_5", ..

    Skewness and orthokurtosis are what they are called for references 0, 1, 0.
    """
    reference, known = options["reference"], ["mean", "variance", "skewness", "orthokurtosis"]
    given = _STANDARD if isinstance(reference, str) else tuple(reference)
    while known[1:] and given[: len(known) - 1] != _STANDARD[: len(known) - 1]:
        known.pop()
    return _names(options, known, lambda k: f"decoupled_{k}")


def standardized_names(options: dict[str, Any]) -> list[str]:
    """What the orders of `standardized_moments` are called."""
    return _names(options, ["mean", "variance", "skewness", "kurtosis"], lambda k: f"standardized_{k}")


def shifted_names(options: dict[str, Any]) -> list[str]:
    """What the orders of `blest` are called."""
    return _names(options, ["mean", "variance", "skewness"], lambda k: f"standardized_{k}" if k % 2 else f"blest_{k}")


def _names(options: dict[str, Any], known: list[str], other: Callable[[int], str]) -> list[str]:
    order = int(options["order"])
    return [*known[:order], *map(other, range(len(known) + 1, order + 1))]


@dataclass(frozen=True, slots=True)
class Orders:
    """As `reduce_rows`, for kernels of `order` values a sample, mean and variance first.

    `added` to the variance is the square of the mean of the reference. Refused samples are tried with `perturbation`.
    `skewness` is where samples are brought to, if they are.
    """

    name: str
    order: int
    axis: Axis
    nan_policy: NanPolicy
    keepdims: bool
    on_refusal: OnRefusal
    added: float = 0.0
    perturbation: Perturbation | None = None
    skewness: float | None = None

    def reduce(self, a: Any, weights: Any, kernel: Kernel) -> Values:
        """Apply the kernel to every sample."""
        if self.perturbation is not None and weights is not None:
            raise InvalidInput("perturb= is for samples without weights; repeat the entries, or leave it out")

        def after(answer: Answer, given: Numbers, axes: tuple[int, ...], weighed: WeightRows | None) -> None:
            put_exact(answer, given, axes, weighed, self.order, self.added)
            if weighed is None and answer.refusals and given.array.dtype.kind in "iuO":
                rows, present = as_rows(given.array, axes), present_in(given, axes, None)
                for i, seen in answer.refusals.items():
                    if (shifted := shifted_exactly(row := rows[i][present[i]])) is not None:
                        counted = None if self.skewness is None else unreachable_row(row, self.skewness)
                        answer.refusals[i] = counted or fallen_together(row, shifted[0], seen)
            if self.perturbation is not None and answer.refusals:
                from symdecouple.stats.perturbed import try_perturbed

                try_perturbed(answer, given, axes, kernel, self.perturbation, self.order)
            self._keep_in_range(answer, given.result_type)

        return reduce_rows(self.name, a, lambda matrix: _with_variation(kernel, matrix), axis=self.axis,
                           nan_policy=self.nan_policy, keepdims=self.keepdims, weights=weights,
                           on_refusal=self.on_refusal, columns=self.order + 1, frames=6, after=after)

    def _keep_in_range(self, answer: Answer, kind: type[np.floating[Any]]) -> None:
        """Leave the orders; NaN, and an outcome, where the type of the result cannot hold them."""
        values, varies = answer.values[:, : self.order].copy(), answer.values[:, self.order] == 1
        info = np.finfo(kind)
        beyond = np.abs(values) > info.max
        if self.order > 1:
            beyond[:, 1] |= varies & (values[:, 1] < info.tiny)  # below, digits are missing
        for i in np.flatnonzero(beyond.any(axis=1)).tolist():
            orders = (np.flatnonzero(beyond[i]) + 1).tolist()
            answer.refusals[i] = out_of_range(orders, info.bits, answer.refusals.get(i))
        values[beyond] = np.nan
        answer.values = values


def _with_variation(kernel: Kernel, matrix: SampleMatrix) -> RowValues:
    found = kernel(matrix)
    return RowValues(np.column_stack([found.values, matrix.low < matrix.high]), found.refusals)


def out_of_range(orders: list[int], bits: int, before: Outcome | None) -> Outcome:
    """Beside what was to be said of the sample before."""
    which = ", ".join({1: "mean", 2: "variance"}.get(k, f"order {k}") for k in orders)
    wider = " or give float64 values" if bits < 64 else ""
    what = f"{which} beyond the range of float{bits}, all other orders are there; change the unit of the sample{wider}"
    if before is None:
        return Outcome(False, "out of range", what)
    return Outcome(False, before.reason, f"{before.detail}; {what}")
