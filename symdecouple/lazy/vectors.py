r"""Decoupled moments of one vector in chunks, in two passes, and the vector moved to its levels in a third.

The first pass makes a `MomentState`: mean, variance, skewness, kurtosis, and the ends. The second makes a `Measure`,
a row of some hundred numbers with weights that stands for the vector, and what `symdecouple.stats` does with samples
with weights is done with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.lazy.measure import Frame, Measure
from symdecouple.lazy.state import MomentState
from symdecouple.lazy.summary import MomentSummary
from symdecouple.numeric.moments.levels import raw_moments, standardized_reference, standardized_rows
from symdecouple.numeric.moments.ties import why_unreachable
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["decoupled_of", "passes"]


def passes(order: int) -> int:
    """How often a vector is read for its decoupled moments up to an order: once to order 3, twice above."""
    return 1 if order <= 3 else 2


def decoupled_of(state: MomentState, measure: Measure | None, order: int, reference: Sequence[float]
                 ) -> tuple[FloatArray, Outcome]:
    """Decoupled moments 1..order, NaN from the level on that is missing, and why."""
    summary = state.summary()
    centre, unit, goal = standardized_reference(reference[: order - 1])
    values = np.full(max(order, 3), np.nan)
    values[:3] = summary.moments[:3]
    outcome = summary.outcome
    if measure is not None:
        frame = measure.frame
        why = None if frame.is_two_valued else why_unreachable(*frame.counts, goal[3])
        if why is None:
            found, refusals = standardized_rows(measure.matrix(), order, goal)
            values[3:], why = found[0, 3:], refusals.get(0)
        outcome = why or outcome
    return raw_moments(values[None, :order], centre, unit, goal)[0], outcome
