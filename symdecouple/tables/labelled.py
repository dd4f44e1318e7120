"""Labels in, labels out: what a row-wise function answers for a Series or a DataFrame is labelled as its input is.

The function itself sees arrays only, and says what became of each sample. Here its answer gets the labels of the axes
that are left, the names of the axis that it adds, and refused samples are named by their labels. Samples that are
groups of one vector go to `grouped`.

xarray and dask have their own rules, which are those of `symdecouple.lazy`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, get_args, overload

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.batch import Answer, OnRefusal, as_rows, raise_on_nan
from symdecouple.numeric.samples.frames import numbers_in
from symdecouple.numeric.samples.intake import (
    check_choice,
    elsewhere,
    for_arrays,
    is_elsewhere,
    library_of,
    take_numbers,
)
from symdecouple.numeric.samples.kinds import GivesVectors, P, ToStatistic, Vectors
from symdecouple.numeric.samples.matrix import SINGLE, doubtful_axes
from symdecouple.numeric.samples.vectors import own_axes
from symdecouple.tables.grouped import grouped
from symdecouple.tables.labels import aligned, aligned_each, aligned_weights, has_labels, labelled
from symdecouple.tables.row_functions import FORMS, Call, Form, plain_split

__all__ = ["answer", "keeps_labels", "unlabelled"]

@overload
def keeps_labels(names: Callable[[dict[str, Any]], Sequence[str]]
                 ) -> Callable[[Callable[Concatenate[Any, P], Vectors]], GivesVectors[P]]: ...


@overload
def keeps_labels(**form: Any) -> ToStatistic: ...


def keeps_labels(names: Callable[[dict[str, Any]], Sequence[str]] | None = None, **form: Any) -> Any:
    """Let a row-wise function give labels back, and take ``groups``.

    Its first argument are the samples, and it takes ``on_refusal``; `names` are those of the axis that it adds, from
    its arguments. `form` are attributes of `Form`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        made = Form(**{"split": plain_split(names), **form})
        parameters = inspect.signature(function).parameters
        first = next(iter(parameters))

        def otherwise(_: Any, *given: Any, **options: Any) -> Any:
            samples = given[0] if given else options.get(first)
            if "dim" in parameters and is_elsewhere(samples, options.get("dim")):
                return elsewhere(found, function, given, options)
            return answer(made, function.__name__, function, *given, **options)

        found = for_arrays(function, otherwise)
        FORMS[found] = made
        return found

    return decorate


def answer(form: Form, name: str, function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Answer a call whose samples may have labels, or groups."""
    call = Call.of(name, function, given, options)
    samples, on_refusal = call.samples, call.options["on_refusal"]
    check_choice("on_refusal", on_refusal, get_args(OnRefusal))
    is_by_groups = call.groups is not None or hasattr(samples, "ngroup")
    if not is_by_groups and not has_labels(samples):
        return function(unlabelled(samples), **call.options)
    found, told = grouped(form, call) if is_by_groups else _framed(form, call)
    return (found, told.given) if on_refusal == "return" else told.deliver(found, on_refusal)


def unlabelled(a: Any) -> Any:
    """The numbers of what has labels, for functions that give none back; all else as it is."""
    return take_numbers(a).array if library_of(a) else a


def _framed(form: Form, call: Call) -> tuple[Any, Answer]:
    """Answer a call for a Series or a DataFrame: the result, and what became of each sample."""
    name, frame, options = call.name, call.samples, dict(call.options)
    array = numbers_in(frame)
    if frame.ndim == 2 and not frame.size:
        n_rows, n_columns = frame.shape
        raise InvalidInput(f"{name}: an empty DataFrame was given, of {n_rows} row{'s' * (n_rows != 1)} and "
                           f"{n_columns} column{'s' * (n_columns != 1)}; at least one column of numbers is expected")
    axis = options.get("axis", "last")
    axes = own_axes(axis, array.shape, form.sample_ndim)
    labels = list(frame.axes)
    kept, within = [v for i, v in enumerate(labels) if i not in axes], [labels[i] for i in axes]
    for each, names in form.each.items():
        options[each] = aligned_each(each, options.get(each), kept, names)
    if options.get("weights") is not None:
        options["weights"] = aligned_weights(options["weights"], labels, within)
    if has_labels(options.get("correlation")):
        options["correlation"] = aligned("correlation", options["correlation"], [*kept, *kept])
    told = Answer(name, tuple(map(len, kept)), frames=form.frames, labels=tuple(kept))
    if options.get("nan_policy") == "raise" and options.get("weights") is None:
        raise_on_nan(told, np.flatnonzero(as_rows(array != array, axes).any(axis=1)).tolist())
    found, outcomes = call.on(array, **{k: options[k] for k in (*form.each, "weights", "correlation")
                                     if k in options})
    told.take(outcomes, form.notes)
    is_asked = axis == "last" if isinstance(axis, str) else {*told.refusals.values()} == {SINGLE}
    if is_asked and form.sample_ndim == 1 and len(outcomes) > 1:
        told.hint = doubtful_axes(array.shape, axes)
    pieces, make = form.split(found, options)
    if options.get("keepdims"):
        kept = [[name] if i in axes else side for i, side in enumerate(labels)]
    titles = name, getattr(frame, "name", None)
    return make([labelled(piece, kept, labels, within, titles) for piece in pieces], tuple(outcomes)), told
