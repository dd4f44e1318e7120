"""Samples whose entries count differently: what is masked or missing not at all, others as often as weights say.

Where features are averages, what is masked is left out of its row, as by `stats`.

Features that ask where an entry lies, such as those of filters, have nothing to put there: these rows are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from numpy import ma

from symdecouple.decoupling.precise import Precise
from symdecouple.decoupling.progress import Tell, told
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.samples.batch import Answer, NanPolicy, as_rows, raise_on_nan
from symdecouple.numeric.samples.intake import missing_entries, take_numbers
from symdecouple.numeric.samples.vectors import own_axes
from symdecouple.tables.groups import by_length

__all__ = ["answered_by_counts", "with_missing_masked", "with_nan", "without_masked"]

_MASKED = Outcome(False, "masked entries", "the features ask where each entry of a sample lies; fill masked ones first")
_MISSING = Outcome(False, "missing entries", "the features ask where each entry of a sample lies, and none can be left "
                   "out; fill missing ones first")


def with_missing_masked(name: str, samples: Any, nan_policy: NanPolicy, axis: Any, ndim: int) -> Any:
    """Return the samples with NaN masked; with "raise" refuse them."""
    given = take_numbers(samples)
    missing = missing_entries(given.array)
    if given.masked is not None:
        missing &= ~given.masked
    if not missing.any():
        return samples
    if nan_policy == "raise":
        axes = own_axes(axis, given.array.shape, ndim)
        shape = tuple(n for i, n in enumerate(given.array.shape) if i not in axes)
        raise_on_nan(Answer(name, shape), np.flatnonzero(as_rows(missing, axes).any(axis=1)).tolist())
    return ma.masked_array(given.array, missing if given.masked is None else missing | given.masked)


def without_masked(method: Callable[..., Any], plan: Any, samples: Any, *arguments: Any, is_filled: bool = False,
                   **options: Any) -> Any:
    """Answer a method of a plan for masked samples; what has the shape of the samples is masked where they are.

    Features that are no functions of sets of numbers are asked about rows without masked entries only. With
    `is_filled` there is NaN in place of what is masked.
    """
    axes = own_axes(options.get("axis", "last"), samples.shape, plan.choice.filter_ndim or 1)
    counts = (~as_rows(ma.getmaskarray(samples), axes)).astype(np.intp)
    refused = {}
    if not plan.choice.is_of_sets:
        refused = dict.fromkeys(np.flatnonzero((counts == 0).any(axis=1)).tolist(), _MISSING if is_filled else _MASKED)
    found = answered_by_counts(method, plan, ma.getdata(samples), counts, refused, *arguments, **options)
    return with_nan(found, options.get("on_refusal")) if is_filled else found


def answered_by_counts(method: Callable[..., Any], plan: Any, samples: Any, counts: Any, refused: dict[int, Outcome],
                       *arguments: Any, **options: Any) -> Any:
    """Answer a method of a plan for samples whose entries count so often, (R, N), 0 for those that are left out.

    Equal numbers of entries go together. `refused` are rows that are not asked.
    """
    if options.get("checkpoint") is not None:
        raise InvalidInput("a checkpoint keeps whole samples: leave masked entries and weights out, or the checkpoint")
    on_refusal, axis = options.pop("on_refusal", "warn"), options.pop("axis", "last")
    axes = own_axes(axis, samples.shape, plan.choice.filter_ndim or 1)
    rows, totals = as_rows(samples, axes), counts.sum(axis=1)
    shape = tuple(n for i, n in enumerate(samples.shape) if i not in axes)
    grid = tuple(samples.shape[i] for i in axes)
    answer, parts = Answer(method.__name__, shape, frames=5, refusals=dict(refused)), list[tuple[Any, Any]]()
    asked = np.delete(np.arange(len(rows)), list(refused))
    with told(options.pop("progress", None), method.__name__) as tell:
        for which in map(asked.__getitem__, by_length(totals[asked])):
            part = np.repeat(rows[which].ravel(), counts[which].ravel())
            part = part.reshape(len(which), *((totals[which[0]],) if plan.choice.is_of_sets else grid))
            mine = ([_of(v, which) for v in arguments], {name: _of(v, which) for name, v in options.items()})
            mine[1]["progress"] = _after(tell, parts, len(rows))
            values, outcomes = method(plan, part, *mine[0], on_refusal="return", **mine[1])
            parts.append((which, values))
            for i, outcome in zip(which.tolist(), outcomes, strict=True):
                (answer.refusals if not outcome.ok else answer.notes if outcome.reason else {})[i] = outcome
    if method.__name__ == "transform":
        return answer.deliver(_of_rows(parts, shape, len(plan.features)), on_refusal)
    lead = (len(plan.features),) if method.__name__ == "gradients" else ()
    found = _of_entries(parts, counts, lead).reshape(*shape, *lead, *grid)
    return answer.deliver(found if lead else np.moveaxis(found, range(-len(axes), 0), axes), on_refusal)


def with_nan(found: Any, on_refusal: Any) -> Any:
    """What a method answered, with NaN in place of what is masked."""
    values, *outcomes = found if on_refusal == "return" else (found,)
    values = values.filled(np.nan) if isinstance(values, ma.MaskedArray) else values
    return (values, *outcomes) if outcomes else values


def _after(tell: Tell | None, parts: list[tuple[Any, Any]], total: int) -> Tell | None:
    """What tells of a part, after those that are done."""
    before = sum(len(which) for which, _ in parts)
    return None if tell is None else lambda done, _: tell(before + done, total)


def _of(value: Any, which: Any) -> Any:
    """What is given for each sample, (..., M), of some of them; what is given for all of them."""
    if not np.ndim(value):
        return value
    each = np.reshape(value, (-1, np.shape(value)[-1]))
    return each if len(each) == 1 else each[which]


def _of_rows(parts: list[tuple[Any, Any]], shape: tuple[int, ...], size: int) -> Any:
    """The features of all rows; with their residuals and errors where they have these."""
    out = np.full((math.prod(shape), size), np.nan, dtype=_kind(parts))
    known = np.full((2, len(out)), mpmath.nan, dtype=object)
    for which, values in parts:
        out[which] = values
        if isinstance(values, Precise):
            known[:, which] = values.residual, values.error
    if parts and isinstance(parts[0][1], Precise):
        return Precise.of(out.reshape(*shape, size), parts[0][1].dps, *(each.reshape(shape)[()] for each in known))
    return out.reshape(*shape, size)


def _of_entries(parts: list[tuple[Any, Any]], counts: Any, lead: tuple[int, ...]) -> Any:
    """What has a number for each entry, (R, ..., N), masked where that does not count; gradients are those of all."""
    out = np.full((len(counts), *lead, counts.shape[1]), np.nan, dtype=_kind(parts))
    for which, values in parts:
        for i, value in zip(which, values, strict=True):
            kept, each = counts[i] > 0, np.reshape(value, (*lead, -1))
            first = (np.cumsum(counts[i]) - counts[i])[kept]
            out[i][..., kept] = each[..., first] * counts[i][kept] if lead else each[..., first]
    hidden = counts == 0 if not lead else (counts == 0)[:, None]
    return ma.masked_array(out, np.broadcast_to(hidden, out.shape))


def _kind(parts: list[tuple[Any, Any]]) -> Any:
    return parts[0][1].dtype if parts else np.float64
