"""The option --match: labelled samples moved until their own statistics have the wanted values.

Mean, variance, skewness, kurtosis and standardized moments after them by `symdecouple.stats.match`; other features by
`Plan.match`. What is "keep" stays as it is in the sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.cli.exact_numbers import exact_number
from symdecouple.cli.plan_rows import Counted, NormalizedSample, placed_samples
from symdecouple.cli.sample_rows import OUT_OF_RANGE
from symdecouple.cli.samples import Samples
from symdecouple.cli.waiting import Tell
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.samples.intake import exact
from symdecouple.stats import match

if TYPE_CHECKING:
    from symdecouple.decoupling.plan import Plan

__all__ = ["matched_samples", "wanted_values"]

_NAMED = ("mean", "variance", "skewness", "kurtosis")
_MOST = 12  # moments, as many as --moments takes
_TAKES = "--match takes exact numbers or keep, separated by commas, such as 0,1,keep,3"

_Rows = list[tuple[list[Any], dict[str, Any]] | Outcome]


def wanted_values(text: str, count: int | None) -> list[float | None]:
    """Return the numbers of ``--match``, None for "keep"; `count` is the number of features, None for moments.

    Raises
    ------
    InvalidInput

    Examples
    --------
    >>> wanted_values("0, keep, 1/2", None)
    [0.0, None, 0.5]
    """
    parts = [part.strip() for part in text.split(",")] if text.strip() else ["keep"]
    values = [None if part.lower() == "keep" else float(exact_number(_TAKES, "--match", k, part))
              for k, part in enumerate(parts, 1)]
    if count is not None and len(values) != count:
        raise InvalidInput(f"--match: {count} features take {count} values, got {len(values)}")
    if len(values) > _MOST:
        raise InvalidInput(f"--match takes up to {_MOST} values, of mean, variance, skewness, kurtosis, order 5, ..., "
                           f"got {len(values)}")
    if all(value is None for value in values):
        raise InvalidInput(f"nothing is asked for: {_TAKES}")
    return values


def matched_samples(plan: Plan | None, wanted: Sequence[float | None], samples: Samples, nan_policy: str,
                    tell: Tell | None = None) -> tuple[NormalizedSample, ...]:
    """Move every sample; without a plan the values are those of moments."""
    method = partial(_by_moments if plan is None else partial(_by_plan, plan), wanted)
    ask = method if plan is None else Counted(method, None, tell, len(samples.labels))

    def compute(rows: NDArray[Any]) -> _Rows:
        moved, outcomes = ask(rows)
        found: _Rows = []
        for row, values, outcome in zip(rows, moved, outcomes, strict=True):
            after = [float(v) + 0.0 for v in values]
            distance = _distance(row, after)
            if outcome.ok:
                found.append((after, {"moved": distance}) if math.isfinite(distance) else OUT_OF_RANGE)
            else:
                found.append(outcome)
        return found

    return placed_samples(samples, compute, nan_policy)


def _distance(row: NDArray[Any], after: Sequence[float]) -> float:
    """Root mean square of the changes; infinite where float64 does not hold the row."""
    try:
        steps = [abs(value - float(exact(before))) for before, value in zip(row, after, strict=True)]
    except OverflowError:
        return math.inf
    return math.hypot(*(step / math.sqrt(len(steps)) for step in steps))


def _by_moments(wanted: Sequence[float | None], rows: NDArray[Any]) -> tuple[Any, Sequence[Outcome]]:
    named: dict[str, Any] = dict(zip(_NAMED, wanted, strict=False))
    found, outcomes = match(rows, axis=1, on_refusal="return", higher=wanted[len(_NAMED):], **named)
    return found.values, outcomes


def _by_plan(plan: Plan, wanted: Sequence[float | None], rows: NDArray[Any], **how: Any) -> Any:
    values = np.array([np.nan if value is None else value for value in wanted])
    if np.isnan(values).any():
        own, _ = plan.own_values(rows, on_refusal="return")
        values = np.where(np.isnan(values), own, values)
    return plan.match(rows, values, **how)
