r"""Decoupled moments of one vector in chunks, in two passes, and the vector moved to its levels in a third.

The first pass makes a `MomentState`: mean, variance, skewness, kurtosis, and the ends. The second makes a `Measure`,
a row of some hundred numbers with weights that stands for the vector, and what `symdecouple.stats` does with samples
with weights is done with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.lazy.measure import CROWDED, Measure
from symdecouple.lazy.state import MomentState
from symdecouple.numeric.moments.levels import (
    HIGHEST,
    gaussian_moments,
    raw_moments,
    standardized_reference,
    standardized_rows,
)
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.moments.ties import why_unreachable
from symdecouple.numeric.samples.batch import FloatArray, NanPolicy
from symdecouple.stats.shape import in_convention

__all__ = ["Asked", "asked_of", "decoupled_of", "passes"]


def passes(order: int) -> int:
    """Return how often a vector is read for its decoupled moments up to an order: once to 3, twice above.

    >>> [passes(order) for order in (1, 2, 3, 4, 6, 12)]
    [1, 1, 1, 2, 2, 2]
    """
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= HIGHEST:
        raise InvalidInput(f"order={order!r} was given, an integer from 1 to {HIGHEST} is expected")
    return 1 if order <= 3 else 2


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a vector.

    Attributes
    ----------
    name : str
        Of the function, for messages.
    order : int
        Of moments 1..order.
    column : int or None
        The only one that is wanted.
    reference : tuple of float or None
        Raw moments that levels are brought to; None for moments of the vector as it is.
    fisher, bias : bool
        As in `symdecouple.stats.kurtosis`.
    """

    name: str
    order: int
    column: int | None
    reference: tuple[float, ...] | None
    nan_policy: NanPolicy
    fisher: bool = False
    bias: bool = True

    @property
    def needs_measure(self) -> bool:
        """The vector is read a second time."""
        return self.reference is not None and passes(self.order) > 1

    @property
    def moments(self) -> int:
        """The order of the states."""
        return max(4, 0 if self.reference is not None else self.order)


def asked_of(name: str, options: dict[str, Any]) -> Asked | None:
    """What a function of `symdecouple.stats` asks of a vector in chunks; None where it needs the vector whole."""
    policy, order = options.get("nan_policy", "propagate"), options.get("order", 6)
    convention = {key: bool(options[key]) for key in ("fisher", "bias") if key in options}
    if name in ("skewness", "kurtosis"):
        return Asked(name, 4, 2 if name == "skewness" else 3, None, policy, **convention)
    if name == "orthokurtosis":
        return Asked(name, 4, 3, gaussian_moments(3), policy, **convention)
    if name == "standardized_moments":
        return Asked(name, order, None, None, policy)
    if name != "decoupled_moments":
        return None
    reference = options.get("reference", "gaussian")
    goal = gaussian_moments(order - 1) if isinstance(reference, str) else tuple(map(float, reference))[: order - 1]
    return Asked(name, order, None, goal, policy)


def decoupled_of(state: MomentState, measure: Measure | None, asked: Asked) -> tuple[FloatArray, Outcome]:
    """Moments 1..order, NaN from the level on that is missing, and why."""
    summary, order = state.summary(), asked.order
    outcome = summary.outcome
    if (order < 3 and outcome.reason in ("one sample", "zero variance")) or (
            asked.column is not None and outcome.reason == "out of range"):  # said of moments that nobody asked for
        outcome = Outcome(True)
    if asked.reference is None:
        return _in_convention(np.array(summary.moments[:order]), outcome, state, asked)
    centre, unit, goal = standardized_reference(asked.reference[: order - 1])
    values = np.full(max(order, 3), np.nan)
    values[:3] = summary.moments[:3]
    if measure is not None:
        counts = measure.frame.counts
        why = None if measure.frame.is_two_valued else why_unreachable(*counts, goal[3] if order > 3 else 0.0)
        if why is None:
            why = None if measure.resolves(goal[3] if order > 3 else 0.0) else CROWDED
        if why is None:
            if asked.name == "orthokurtosis":
                answer = orthokurtosis_rows(measure.matrix())
                values[3], why = answer.values[0], answer.refusals.get(0)
            else:
                found, refusals = standardized_rows(measure.matrix(), order, goal)
                values[3:], why = found[0, 3:], refusals.get(0)
        outcome = why or outcome
    return _in_convention(raw_moments(values[None, :order], centre, unit, goal)[0], outcome, state, asked)


def _in_convention(values: FloatArray, outcome: Outcome, state: MomentState, asked: Asked
                   ) -> tuple[FloatArray, Outcome]:
    if asked.column is not None:
        values[asked.column], outcome = in_convention(asked.name, float(values[asked.column]), outcome, state.count,
                                                      fisher=asked.fisher, bias=asked.bias)
    return values, outcome
