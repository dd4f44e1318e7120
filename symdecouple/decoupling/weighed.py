"""Samples with weights: how often each entry counts, as in `stats`, with Mean(phi) = sum(w phi)/sum(w).

Moments take any weights, on the road of `stats`, as laws on finitely many values. Other functions of averages take
counts, whole numbers or multiples of one: then a sample is the one that holds each entry as often. Features that ask
where an entry lies, such as those of filters, have no use for weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import gcd, lcm
from typing import Any, TypeAlias

import numpy as np
from sympy import oo

from symdecouple.decoupling.choice import Choice
from symdecouple.decoupling.masked import answered_by_counts, with_nan
from symdecouple.decoupling.progress import told
from symdecouple.decoupling.routes.moments import MomentRoute
from symdecouple.errors import InvalidInput, Outcome, UnsupportedExpression
from symdecouple.numeric.moments.out_of_reach import by_rounding
from symdecouple.numeric.moments.ties import has_merged, unreachable_as_given
from symdecouple.numeric.samples.batch import (
    Answer,
    FloatArray,
    IntArray,
    NanPolicy,
    OnRefusal,
    RowValues,
    SampleMatrix,
    as_rows,
    raise_on_nan,
    reduce_rows,
)
from symdecouple.numeric.samples.exact_means import put_exact
from symdecouple.numeric.samples.intake import Numbers, take_numbers
from symdecouple.numeric.samples.vectors import own_axes
from symdecouple.numeric.samples.weights import WeighedRows, WeightRows

__all__ = ["with_weights"]

OnWeighed: TypeAlias = Callable[[FloatArray, FloatArray], tuple[FloatArray, dict[int, Outcome]]]

_MOST = 2**20  # entries that a sample may be repeated to
_NO_COUNTS = Outcome(False, "weights are no counts", "these features, or what is asked of them, take weights as "
                     "counts: whole numbers, or multiples of one, that add up to 2**20 of it at most; moments take any "
                     "weights in transform, normalize and gradients")
_BEYOND = Outcome(False, "out of range", "a feature is beyond float64; change the unit of the sample")


def with_weights(method: Callable[..., Any], plan: Any, samples: Any, weights: Any, nan_policy: NanPolicy,
                 *arguments: Any, **options: Any) -> Any:
    """Answer a method of a plan for samples with weights."""
    name, choice = method.__name__, plan.choice
    if not choice.is_of_sets:
        raise UnsupportedExpression(f"{name}: weights= say how often an entry counts, and these features ask where "
                                    "each entry lies, or are black boxes; leave weights out, or take features that "
                                    "are averages of the sample alone")
    given = take_numbers(samples)
    if not given.array.ndim:
        raise InvalidInput(f"{name} takes sample vectors (..., N), got one number")
    axes = own_axes(options.get("axis", "last"), given.array.shape, 1)
    weighed = WeightRows.of(weights, given.array.shape, axes)
    asked = _Asked(name, given, axes, weighed, nan_policy, options.get("on_refusal", "warn"))
    route = None
    is_plain = options.get("dps") is None and options.get("checkpoint") is None and plan.perturbation is None
    if is_plain and name in ("transform", "normalize", "gradients"):
        route = _moments(choice, given.array.shape[axes[0]])
    if route is not None:
        with told(options.get("progress"), name) as tell:
            if name == "transform":
                found = reduce_rows(
                    name, samples, partial(_standardized, route, choice), axis=axes, nan_policy=nan_policy,
                    weights=weights, on_refusal=asked.on_refusal, columns=route.count,
                    after=partial(_as_features, route, choice))
            elif name == "normalize":
                level = choice.level(arguments[0] if arguments else options.get("level"))
                found = asked.entries(lambda rows, w: route.at_level(rows, w, level, choice.floats), (), level == 0,
                                      route.skewness(choice.floats) if level > 2 else None)
            else:
                found = asked.entries(lambda rows, w: route.weighed_gradients(rows, w, choice.floats), (route.count,),
                                      target=route.skewness(choice.floats) if route.count > 3 else None)
            if tell is not None:
                tell(len(asked.rows), len(asked.rows))
        return found
    counts, refused = asked.counts()
    found = answered_by_counts(method, plan, given.array, counts, refused, *arguments, **options)
    return with_nan(found, asked.on_refusal)


def _moments(choice: Choice, n_samples: int) -> MomentRoute | None:
    """The route that has all features at once; None where they are others, or take another way."""
    if choice.leading is None or choice.path != "auto" or set(choice.interval) != {-oo, oo}:
        return None
    route = choice.levels(None, False, False, (n_samples,)).route
    return route if isinstance(route, MomentRoute) and route.count == len(choice.features) else None


def _standardized(route: MomentRoute, choice: Choice, matrix: SampleMatrix) -> RowValues:
    found = route.standardized(matrix, choice.floats)
    assert found is not None, "moments without references are no plan"
    return found


def _as_features(route: MomentRoute, choice: Choice, answer: Answer, given: Numbers, axes: tuple[int, ...],
                 weighed: WeightRows | None) -> None:
    put_exact(answer, given, axes, weighed, route.count)
    values = route.features_of(answer.values, choice.floats).astype(given.result_type)
    beyond = np.isinf(values)
    answered = [i for i in range(len(values)) if i not in answer.refusals]
    beyond[answered] |= np.isnan(values[answered])
    answer.refusals |= {i: _BEYOND for i in np.flatnonzero(beyond.any(axis=1)).tolist()} | answer.refusals
    answer.values[:] = np.where(beyond, np.nan, values)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked, in numbers."""

    name: str
    given: Numbers
    axes: tuple[int, ...]
    weighed: WeightRows
    nan_policy: NanPolicy
    on_refusal: OnRefusal

    @property
    def rows(self) -> Any:
        """The samples, (R, N)."""
        return as_rows(self.given.array, self.axes)

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(n for i, n in enumerate(self.given.array.shape) if i not in self.axes)

    def entries(self, function: OnWeighed, lead: tuple[int, ...], as_given: bool = False,
                target: float | None = None) -> Any:
        """What a function of rows and weights gives for each entry, (..., *lead, N), NaN where one does not count.

        Rows whose ties, before they are rounded, leave no skewness `target` are refused.
        """
        answer, rows = Answer(self.name, self._shape, frames=5), self.rows
        out = np.full((len(rows), *lead, rows.shape[1]), np.nan)
        with np.errstate(all="ignore"):
            some = self._some(answer)
            for which, matrix in some.matrices([i for i in range(len(rows)) if i not in answer.refusals]):
                assert matrix.weights is not None
                here = np.asarray(matrix.values, dtype=np.float64)
                if as_given:
                    here = np.array([rows[i, some.present[i]] for i in which], dtype=np.float64)
                values, refused = function(here, matrix.weights)
                merged, counted = has_merged(matrix), {} if target is None else unreachable_as_given(matrix, target)
                refused = {r: by_rounding(o) if merged[r] else o for r, o in refused.items()} | counted
                values[list(counted), 3 if lead else 0:] = np.nan
                answer.refusals.update((int(which[r]), outcome) for r, outcome in refused.items())
                for r, i in enumerate(which.tolist()):
                    out[i][..., some.present[i]] = values[r]
        found = out.reshape(*self._shape, *lead, *(self.given.array.shape[i] for i in self.axes))
        found = found if lead else np.moveaxis(found, range(-len(self.axes), 0), self.axes)
        return answer.deliver(found.astype(self.given.result_type), self.on_refusal)

    def counts(self) -> tuple[IntArray, dict[int, Outcome]]:
        """How often each entry counts, (R, N), and the rows that cannot be asked."""
        answer, counts = Answer(self.name, self._shape), np.zeros(self.rows.shape, dtype=np.intp)
        with np.errstate(all="ignore"):
            some = self._some(answer)
        refused = answer.refusals
        for i in range(len(counts)):
            if i not in refused:
                found = _whole(some.weights[i][some.present[i]])
                if found is None:
                    refused[i] = _NO_COUNTS
                else:
                    counts[i, some.present[i]] = found
        return counts, refused

    def _some(self, answer: Answer) -> WeighedRows:
        """The rows with what counts of them; those without an answer are refused."""
        hidden = None if self.given.masked is None else as_rows(self.given.masked, self.axes)
        some = WeighedRows.of(self.rows, hidden, *self.weighed.of_rows(np.arange(len(self.rows))))
        if self.nan_policy == "raise":
            raise_on_nan(answer, np.flatnonzero(some.missing.any(axis=1)).tolist())
        answer.refusals.update(some.refusals(omit=self.nan_policy == "omit"))
        return some


def _whole(weights: FloatArray) -> list[int] | None:
    """Weights in units of the largest number that divides them all; None where these are too many."""
    exact = [Fraction(w) for w in weights.tolist()]
    unit = Fraction(gcd(*(w.numerator for w in exact)), lcm(*(w.denominator for w in exact)))
    if sum(exact) > _MOST * unit:
        return None
    return [int(w / unit) for w in exact]
