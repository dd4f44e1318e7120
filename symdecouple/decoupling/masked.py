"""Samples with masked entries: where features are averages, what is masked is left out of its row, as by `stats`.

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
from symdecouple.numeric.samples.batch import Answer, as_rows
from symdecouple.numeric.samples.vectors import own_axes

__all__ = ["without_masked"]

_MASKED = Outcome(False, "masked entries", "the features ask where each entry of a sample lies; fill masked ones first")


def without_masked(method: Callable[..., Any], plan: Any, samples: Any, *arguments: Any, **options: Any) -> Any:
    """Answer a method of a plan for masked samples; what has the shape of the samples is masked where they are.

    Features that are no functions of sets of numbers are asked about rows without masked entries only.
    """
    if options.get("checkpoint") is not None:
        raise InvalidInput("a checkpoint keeps whole samples: leave masked entries out, or the checkpoint")
    on_refusal, axis = options.pop("on_refusal", "warn"), options.pop("axis", "last")
    ndim = plan.choice.filter_ndim or 1
    axes = own_axes(axis, samples.shape, ndim)
    rows, kept = as_rows(ma.getdata(samples), axes), ~as_rows(ma.getmaskarray(samples), axes)
    shape = tuple(n for i, n in enumerate(samples.shape) if i not in axes)
    grid, counts = tuple(samples.shape[i] for i in axes), kept.sum(axis=1)
    answer, parts = Answer(method.__name__, shape, frames=4), list[tuple[Any, Any]]()
    with told(options.pop("progress", None), method.__name__) as tell:
        for count in np.unique(counts):
            which = np.flatnonzero(counts == count)
            if count < rows.shape[1] and not plan.choice.is_of_sets:
                answer.refusals |= dict.fromkeys(which.tolist(), _MASKED)
                continue
            part = rows[which][kept[which]].reshape(len(which), *((count,) if plan.choice.is_of_sets else grid))
            mine = ([_of(v, which) for v in arguments], {name: _of(v, which) for name, v in options.items()})
            mine[1]["progress"] = _after(tell, parts, len(rows))
            values, outcomes = method(plan, part, *mine[0], on_refusal="return", **mine[1])
            parts.append((which, values))
            for i, outcome in zip(which.tolist(), outcomes, strict=True):
                (answer.refusals if not outcome.ok else answer.notes if outcome.reason else {})[i] = outcome
    if method.__name__ == "transform":
        return answer.deliver(_of_rows(parts, shape, len(plan.features)), on_refusal)
    lead = (len(plan.features),) if method.__name__ == "gradients" else ()
    found = _of_entries(parts, kept, lead).reshape(*shape, *lead, *grid)
    return answer.deliver(found if lead else np.moveaxis(found, range(-len(axes), 0), axes), on_refusal)


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


def _of_entries(parts: list[tuple[Any, Any]], kept: Any, lead: tuple[int, ...]) -> Any:
    """What has a number for each entry, (R, ..., N), masked where the samples are."""
    out = np.full((len(kept), *lead, kept.shape[1]), np.nan, dtype=_kind(parts))
    for which, values in parts:
        for i, value in zip(which, values, strict=True):
            out[i][..., kept[i]] = np.reshape(value, (*lead, -1))
    hidden = ~kept if not lead else ~kept[:, None]
    return ma.masked_array(out, np.broadcast_to(hidden, out.shape))


def _kind(parts: list[tuple[Any, Any]]) -> Any:
    return parts[0][1].dtype if parts else np.float64
