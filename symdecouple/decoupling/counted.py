"""Samples whose entries count differently: what is masked or missing not at all, others as often as weights say.

Where features are averages, what is masked is left out of its row, as by `stats`, and Mean(phi) = sum(w phi)/sum(w).
Moments take any weights, on the road of `stats`, as laws on finitely many values, unless an interval was declared.
Other functions of averages take counts, whole numbers or multiples of one: then a sample is the one that holds each
entry as often.

Features that ask where an entry lies, such as those of filters, have nothing to put in place of one, and no use for
weights: these rows are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy import ma

from symdecouple.decoupling.choice import Choice
from symdecouple.decoupling.precise import Precise
from symdecouple.decoupling.progress import Progress, reported
from symdecouple.decoupling.routes.moments import MomentRoute
from symdecouple.errors import InvalidInput, Outcome, UnsupportedExpression
from symdecouple.language.precision import at_digits
from symdecouple.numeric.moments.out_of_reach import by_rounding
from symdecouple.numeric.moments.ties import has_merged, unreachable_as_given
from symdecouple.numeric.samples.batch import Answer, NanPolicy, OnRefusal, as_rows, raise_on_nan, reduce_rows
from symdecouple.numeric.samples.exact_means import put_exact
from symdecouple.numeric.samples.intake import Numbers, missing_entries, take_numbers
from symdecouple.numeric.samples.matrix import EMPTY
from symdecouple.numeric.samples.vectors import narrowed, own_axes
from symdecouple.numeric.samples.weights import WeighedRows, WeightRows
from symdecouple.tables.grouped import Arguments, by_groups
from symdecouple.tables.groups import Groups
from symdecouple.tables.row_functions import Axes, Call, Form, Make, Piece

__all__ = ["AXES", "as_statistics", "with_weights", "without_masked"]

AXES: dict[str, Axes] = {"transform": "rows", "gradients": "slopes"}  # all others have those of the samples

_MASKED = Outcome(False, "masked entries", "the features ask where each entry of a sample lies; fill masked ones first")
_MISSING = Outcome(False, "missing entries", "the features ask where each entry of a sample lies, and none can be left "
                   "out; fill missing ones first")
_MOST = 2**20  # entries that a sample may be repeated to
_NO_SLOPE = Outcome(False, "critical point", "a feature has no gradient at this sample: two values, or a number beyond "
                    "float64")
_NO_COUNTS = Outcome(False, "weights are no counts", "these features, or what is asked of them, take weights as "
                     "counts: whole numbers, or multiples of one, that add up to 2**20 of it at most; moments take any "
                     "weights in transform, normalize and gradients, unless an interval was declared")


def without_masked(method: Callable[..., Any], plan: Any, samples: Any, nan_policy: NanPolicy, *arguments: Any,
                   **options: Any) -> Any:
    """Answer a method of a plan for samples without their masked entries, and without missing ones unless these are
    propagated; what has the shape of the samples is masked there, or NaN where samples had no mask.

    Features that are no functions of sets of numbers are asked about rows without such entries only.
    """
    given, ndim = take_numbers(samples), plan.choice.filter_ndim or 1
    hidden = np.zeros(given.array.shape, dtype=np.bool_) if given.masked is None else given.masked
    missing = np.zeros_like(hidden) if nan_policy == "propagate" else missing_entries(given.array) & ~hidden
    left_out = hidden | missing
    if not left_out.any():
        return method(plan, samples, *arguments, **options)
    axes = own_axes(options.get("axis", "last"), given.array.shape, ndim)
    if nan_policy == "raise":
        holding = np.flatnonzero(as_rows(missing, axes).any(axis=1)).tolist()
        raise_on_nan(Answer(method.__name__, _others(given.array.shape, axes)), holding)
    is_filled = bool(missing.any()) and not isinstance(samples, ma.MaskedArray)
    counts, refused = (~as_rows(left_out, axes)).astype(np.int8), dict[int, Outcome]()
    if not plan.choice.is_of_sets:
        refused = dict.fromkeys(np.flatnonzero((counts == 0).any(axis=1)).tolist(), _MISSING if is_filled else _MASKED)
    del hidden, missing, left_out  # one byte an entry each
    return _by_counts(method, plan, given, axes, counts, refused, arguments, is_filled=is_filled, **options)


def with_weights(method: Callable[..., Any], plan: Any, samples: Any, weights: Any, nan_policy: NanPolicy,
                 *arguments: Any, **options: Any) -> Any:
    """Answer a method of a plan for samples with weights; what has the shape of the samples is NaN at weights of 0."""
    name, choice = method.__name__, plan.choice
    if not choice.is_of_sets:
        raise UnsupportedExpression(f"{name}: weights= say how often an entry counts, and these features ask where "
                                    "each entry lies, or are black boxes; leave weights out, or take features that "
                                    "are averages of the sample alone")
    given = take_numbers(samples)
    if not given.array.ndim:
        raise InvalidInput(f"{name} takes sample vectors (..., N), got one number")
    axes, on_refusal = own_axes(options.get("axis", "last"), given.array.shape, 1), options.get("on_refusal", "warn")
    weighed, route = WeightRows.of(weights, given.array.shape, axes), None
    is_plain = options.get("dps") is None and options.get("checkpoint") is None and plan.perturbation is None
    if is_plain and name in ("transform", "normalize", "gradients"):
        route = choice.all_at_once
    rows = as_rows(given.array, axes)
    if route is not None and name == "transform":
        return as_statistics(choice, route, samples, axes, on_refusal, options.get("progress"), nan_policy, weights)
    hidden = None if given.masked is None else as_rows(given.masked, axes)
    answer = Answer(name, _others(given.array.shape, axes), frames=4)
    with np.errstate(all="ignore"):
        some = WeighedRows.of(rows, hidden, *weighed.of_rows(np.arange(len(rows))))
        if nan_policy == "raise":
            raise_on_nan(answer, np.flatnonzero(some.missing.any(axis=1)).tolist())
        refused = some.refusals(omit=nan_policy == "omit")
    open_ = [i for i in range(len(rows)) if i not in refused]
    if route is None:
        counts = np.zeros(rows.shape, dtype=np.intp)
        for i in open_:
            if (whole := _whole(some.weights[i][some.present[i]])) is None:
                refused[i] = _NO_COUNTS
            else:
                counts[i, some.present[i]] = whole
        return _by_counts(method, plan, given, axes, counts, refused, arguments, is_filled=True, **options)
    answer.refusals = refused
    level = choice.level(arguments[0] if arguments else options.get("level")) if name == "normalize" else 0
    lead = (route.count,) * (name == "gradients")
    is_all = 0 < len(open_) == len(rows) and bool(some.present.all())  # one matrix, whose answer is all
    out = np.full(() if is_all else (len(rows), *lead, rows.shape[1]), np.nan, dtype=given.result_type)
    target = route.coordinates.coordinates(choice.floats[:3])[2] if level > 2 or (lead and route.count > 3) else None
    with reported(options.get("progress"), name) as tell, np.errstate(all="ignore"):
        for which, matrix in some.matrices(open_):
            assert matrix.weights is not None
            here = np.asarray(matrix.values, dtype=np.float64)
            if (lead or level == 1) and some.lifts[which].any():  # which feel the unit
                here = np.ldexp(here, -some.lifts[which][:, None])
            if name == "gradients":
                found = route.gradients(here, choice.floats, matrix.weights)
                assert found is not None
                lost = np.flatnonzero(~np.isfinite(found.values).all(axis=(1, 2)))
                values, lacking = found.values, {**dict.fromkeys(lost.tolist(), _NO_SLOPE), **found.refusals}
            elif level:
                values, lacking = route.at_level(here, matrix.weights, level, choice.floats)
            else:
                values, lacking = np.array([rows[i, some.present[i]] for i in which], dtype=np.float64), {}
            merged, known = has_merged(matrix), {} if target is None else unreachable_as_given(matrix, target)
            lacking = {r: by_rounding(why) if merged[r] else why for r, why in lacking.items()} | known
            values[list(known), 3 if lead else 0 :] = np.nan
            if given.result_type is np.float32:
                values, beyond = narrowed(values, here if lead else None)
                lacking = {**beyond, **lacking}
            if is_all:
                out = values
            else:
                kept = np.nonzero(some.present[which])[1].reshape(len(which), -1)
                out[which[:, None], ..., kept] = np.moveaxis(values, -1, 1)
            answer.refusals.update((int(which[r]), outcome) for r, outcome in lacking.items())
        if tell is not None:
            tell(len(rows), len(rows))
    return answer.deliver(_in_place(out, given, axes), on_refusal)


def as_statistics(choice: Choice, route: MomentRoute, samples: Any, axes: tuple[int, ...], on_refusal: OnRefusal,
                  progress: Progress | None = None, nan_policy: NanPolicy = "propagate", weights: Any = None) -> Any:
    """Decoupled moments on the road of `stats`: of exact numbers before they are rounded, and of weighed ones."""
    with reported(progress, "transform") as tell:
        found = reduce_rows(
            "transform", samples, partial(route.standardized, targets=choice.floats), axis=axes, nan_policy=nan_policy,
            weights=weights, on_refusal=on_refusal, columns=route.count, frames=6,
            after=partial(_as_features, route, choice))
        if tell is not None:
            count = np.size((found[0] if on_refusal == "return" else found)[..., 0])
            tell(count, count)
    return found


def _as_features(route: MomentRoute, choice: Choice, answer: Answer, given: Numbers, axes: tuple[int, ...],
                 weighed: WeightRows | None) -> None:
    varies = answer.values[:, 1:2] > 0
    put_exact(answer, given, axes, weighed, route.count)
    answer.values[:, 1:2][varies & (answer.values[:, 1:2] < np.finfo(given.result_type).tiny)] = np.nan
    values = route.features_of(answer.values, choice.floats).astype(given.result_type)
    beyond = np.isinf(values)
    answered = [i for i in range(len(values)) if i not in answer.refusals]
    beyond[answered] |= np.isnan(values[answered])
    for i in np.flatnonzero(beyond.any(axis=1)).tolist():
        name = choice.features[int(beyond[i].argmax())].name
        answer.refusals.setdefault(i, Outcome(False, "out of range", f"{name}: its value is beyond "
                                              f"{values.dtype}; change the unit of the sample"))
    answer.values[:] = np.where(beyond, np.nan, values)


def _whole(weights: Any) -> list[int] | None:
    """Weights in units of the largest number that divides them all; None where these are too many."""
    exact = [Fraction(w) for w in weights.tolist()]
    unit = Fraction(math.gcd(*(w.numerator for w in exact)), math.lcm(*(w.denominator for w in exact)))
    if sum(exact) > _MOST * unit:
        return None
    return [int(w / unit) for w in exact]


def _by_counts(method: Callable[..., Any], plan: Any, given: Numbers, axes: tuple[int, ...], counts: Any,
               refused: dict[int, Outcome], arguments: tuple[Any, ...], *, is_filled: bool, on_refusal: Any = "warn",
               axis: Any = "last", progress: Any = None, **options: Any) -> Any:
    """Answer a method for samples whose entries count so often, (R, N), 0 for those that are left out.

    They are groups of the entries that count, one after the other. `refused` are rows that are not asked. With
    `is_filled` there is NaN in place of what is left out, else it is masked.
    """
    if options.get("checkpoint") is not None:
        raise InvalidInput("a checkpoint keeps whole samples: leave masked entries and weights out, or the checkpoint")
    name, size, rows = method.__name__, len(plan.features), as_rows(given.array, axes)
    answer, grid = Answer(name, _others(given.array.shape, axes), frames=5), tuple(given.array.shape[i] for i in axes)
    times, kind = counts.copy() if refused else counts, AXES.get(name, "entries")
    times[list(refused)] = 0
    order: Any = np.repeat(np.arange(rows.size, dtype=np.int32 if rows.size < 2**31 else np.intp), times.ravel())

    def ask(part: Any, **others: Any) -> Any:
        shaped = part.reshape(len(part), *((-1,) if plan.choice.is_of_sets else grid))
        return method(plan, shaped, **{**others, "axis": "last"})

    def split(found: Any, _: Any) -> tuple[list[Piece], Make]:
        known = [found.residual, found.error] if kind == "rows" and isinstance(found, Precise) else []
        flat = found if kind == "rows" else found.reshape(*found.shape[: 2 if kind == "slopes" else 1], -1)
        return [Piece(flat, axes=kind), *map(Piece, known)], lambda parts, _: parts

    call, more = Call.of(name, partial(method, plan), (given, *arguments), options), dict[str, Any]()
    if (values := call.options.get("values")) is not None and np.ndim(values):
        own = np.reshape(values, (-1, np.shape(values)[-1]))
        more["values"] = own[0] if len(own) == 1 < len(rows) else own
    lead, outcomes = (size,) * (kind == "slopes"), (EMPTY,) * len(rows)
    with reported(progress, name) as tell:
        call = call._replace(function=ask, options={**call.options, "progress": tell})
        if len(order):
            groups = Groups(range(len(rows)), order, times.sum(axis=1))
            pieces, _, outcomes = by_groups(Form(split, {"values": ()}), call, groups, rows.ravel(),
                                            Arguments(None, more))
        else:
            pieces = [Piece(np.full((len(rows), size) if kind == "rows" else (rows.size, *lead), np.nan))]
    answer.take(outcomes)
    answer.refusals |= refused
    found, *known = (piece.array for piece in pieces)
    if kind == "rows":
        found = found.reshape(*answer.shape, size)
        if known:
            found = Precise.of(found, options["dps"], *(each.reshape(answer.shape)[()] for each in known))
        return answer.deliver(found, on_refusal)
    if lead:  # those of all copies
        with at_digits(options["dps"]) if options.get("dps") else nullcontext():
            found *= times.reshape(-1, 1)
    out = np.moveaxis(found.reshape(*rows.shape, *lead), 1, -1)
    if not is_filled:
        out = ma.masked_array(out, np.broadcast_to((counts == 0)[:, None] if lead else counts == 0, out.shape))
    return answer.deliver(_in_place(out, given, axes), on_refusal)


def _others(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def _in_place(found: Any, given: Numbers, axes: tuple[int, ...]) -> Any:
    """Numbers of entries, (R, *lead, N), in the shape of the samples; those of gradients have their features first."""
    lead, grid = found.shape[1:-1], tuple(given.array.shape[i] for i in axes)
    found = found.reshape(*_others(given.array.shape, axes), *lead, *grid)
    return found if lead else np.moveaxis(found, range(-len(axes), 0), axes)
