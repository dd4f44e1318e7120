"""Unequal samples at once: the entries of one vector belong to groups, and each group is a sample.

Groups of one length form a matrix, which the function answers as it answers any; the rows go back to their groups. So
100 000 groups cost what 100 000 rows do, and a sorting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.kernels.compile import as_part_of
from symdecouple.numeric.samples.batch import Answer
from symdecouple.numeric.samples.frames import numbers_in, shown_names
from symdecouple.numeric.samples.intake import library_of, take_numbers
from symdecouple.numeric.samples.matrix import COMPUTED, EMPTY, normalized_axes
from symdecouple.tables.groups import Groups, groups_of
from symdecouple.tables.labels import aligned, aligned_each, has_labels, labelled
from symdecouple.tables.row_functions import Call, Form, Piece

__all__ = ["Arguments", "Grouped", "by_groups", "grouped"]


class Grouped(NamedTuple):
    """What was found for the groups of an array.

    Attributes
    ----------
    labels : array (G,)
        Of the groups, sorted.
    values : array (G, ...)
        What belongs to them: a row, or a number, a group.
    """

    labels: Any
    values: Any


def grouped(form: Form, call: Call) -> tuple[Any, Answer]:
    """Answer a call with groups: the result, and what became of each group."""
    given, keys = _unfolded(call)
    array = _as_array(call.name, given)
    axis = _axis(form, call, array.shape, has_labels(given))
    sides = list(given.axes) if has_labels(given) else []
    groups = keys if isinstance(keys, Groups) else groups_of(keys, array.shape[axis], sides[axis] if sides else None)
    names = [groups.labels, *(side for i, side in enumerate(sides) if i != axis)]
    entries = np.moveaxis(array, axis, 0)
    batch = (len(groups.labels), *entries.shape[1:])
    told = Answer(call.name, batch, frames=form.frames, labels=(*names, *map(range, batch[len(names):])))
    arguments = Arguments.of(form, call, entries, axis, batch, sides, names)
    if call.options.get("nan_policy") == "raise":
        _check_nan(told, groups, entries, arguments.weights)
    pieces, make, outcomes = by_groups(form, call, groups, entries, arguments)
    told.take(outcomes, form.notes)
    placed = [_placed(piece, axis) for piece in pieces]
    if sides or (library_of(groups.labels) == "pandas" and array.ndim == 1):
        sides = sides or [range(array.shape[0])]
        within, titles = [sides[axis]], (call.name, getattr(given, "name", None))
        made = [labelled(piece, names[piece.axes == "slopes" :], sides, within, titles) for piece in placed]
        return make(made, outcomes), told
    found = make([piece.array for piece in placed], outcomes)
    is_by_group = any(piece.axes == "rows" for piece in placed)
    return Grouped(np.asarray(groups.labels), found) if is_by_group else found, told


# --- what was given ---


def _unfolded(call: Call) -> tuple[Any, Any]:
    """The values and their groups: of a groupby object, of a frame with a column of labels, or as they are."""
    samples, groups = call.samples, call.groups
    if hasattr(samples, "ngroup") and library_of(samples) == "pandas":
        if groups is not None:
            raise InvalidInput(f"{call.name}: a groupby object has groups, and groups= was given; one of both")
        return _of_groupby(samples)
    if getattr(samples, "ndim", 0) == 2 and has_labels(samples):
        keys = [groups] if isinstance(groups, str) else groups
        is_of_columns = isinstance(keys, list) and keys and all(isinstance(k, str) for k in keys) and (
            isinstance(groups, str) or (len(keys) != len(samples) and set(keys) <= set(samples.columns)))
        if is_of_columns:
            if lacking := [k for k in keys if k not in samples.columns]:
                raise InvalidInput(f"groups={groups!r:.60} names no column: {shown_names(lacking)} is not among "
                                   f"{shown_names(samples.columns)}")
            return samples.drop(columns=keys), samples[keys]
    return samples, groups


def _of_groupby(by: Any) -> tuple[Any, Groups]:
    """The values of a groupby object and its groups; what it drops (keys that are NaN) is in none."""
    import pandas as pd

    sizes, codes, held = by.size(), by.ngroup().fillna(-1).to_numpy(dtype=np.intp), by.obj
    labels, own, counts = sizes.index, set[Any](), np.asarray(sizes)[..., -1] if sizes.ndim == 2 else np.asarray(sizes)
    if (np.bincount(codes[codes >= 0], minlength=len(counts)) != counts).any():  # pandas numbers those with entries
        codes = np.where(codes < 0, -1, np.flatnonzero(counts)[codes])
    if sizes.ndim == 2:  # as_index=False: the keys are columns
        own = set(sizes.columns[:-1])
        keys = sizes.iloc[:, :-1]
        labels = pd.Index(keys.iloc[:, 0]) if keys.shape[1] == 1 else pd.MultiIndex.from_frame(keys)
    if held.ndim == 2:
        held = held[[column for column in by.count().columns if column not in own]]
    return held, Groups.of(labels, codes)


def _as_array(name: str, given: Any) -> NDArray[Any]:
    if library_of(given) == "pandas":
        if getattr(given, "ndim", 1) == 2 and not given.shape[1]:
            raise InvalidInput(f"{name}: no column is left beside the groups; at least one of numbers is expected")
        return numbers_in(given)
    numbers = take_numbers(given)
    return numbers.array if numbers.masked is None else np.ma.masked_array(numbers.array, numbers.masked)


def _axis(form: Form, call: Call, shape: tuple[int, ...], is_framed: bool) -> int:
    """The axis along which the groups lie; of a DataFrame the index, unless another one is named."""
    axis, ndim = call.options.get("axis", "last"), len(shape)
    if form.sample_ndim > 1 or not ndim:
        what = f"filters of {form.sample_ndim} dimensions are" if ndim else "one number is"
        raise InvalidInput(f"{call.name}: groups= is for sample vectors, and {what} given")
    if call.options.get("keepdims"):
        raise InvalidInput(f"{call.name}: groups= puts an axis of groups in place of the samples; leave out keepdims")
    if call.options.get("checkpoint") is not None:
        raise InvalidInput(f"{call.name}: a checkpoint keeps samples of one length; leave it out, or groups=")
    if call.options.get("correlation") is not None:
        raise InvalidInput(f"{call.name}: correlation= is for the columns of a matrix; leave it out, or groups=")
    if isinstance(axis, str) and axis == "last":
        return 0 if is_framed else ndim - 1
    axes = normalized_axes(axis, shape)
    if len(axes) != 1:
        raise InvalidInput(f"{call.name}: axis={axis!r} was given with groups=, which lie along one axis; name it")
    return axes[0]


class Arguments(NamedTuple):
    """What is given for each entry (n, ...), and for each group (G, ...)."""

    weights: Any
    each: dict[str, Any]

    @classmethod
    def of(cls, form: Form, call: Call, entries: NDArray[Any], axis: int, batch: tuple[int, ...], sides: Sequence[Any],
           names: Sequence[Any]) -> Arguments:
        weights = call.options.get("weights")
        if weights is not None:
            if sides:
                weights = aligned("weights", weights, sides if getattr(weights, "ndim", 0) == len(sides) else
                                  [sides[axis]])
            weights = take_numbers(weights).array
            if weights.ndim == entries.ndim:
                weights = np.moveaxis(weights, axis, 0)
            elif weights.ndim == 1:
                weights = weights.reshape(-1, *(1,) * (entries.ndim - 1))
            weights = _broadcast("weights", weights, entries.shape)
        each: dict[str, Any] = {}
        for name, last in form.each.items():
            value = aligned_each(name, call.options.get(name), names, last)
            if isinstance(value, list | tuple) and name == "higher":
                each[name] = [_broadcast(f"{name}[{k}]", take_numbers(v).array, batch) for k, v in enumerate(value)]
            elif value is not None and np.ndim(value):
                array = take_numbers(value).array
                is_for_all = last is not None and array.ndim == 1
                each[name] = array if is_for_all else _broadcast(name, array, batch if last is None else (
                    *batch, array.shape[-1]))
        return cls(weights, each)

    def of_part(self, form: Form, which: Any, index: Any) -> dict[str, Any]:
        mine = {name: [one[which] for one in v] if isinstance(v, list) else
                v if form.each[name] is not None and v.ndim == 1 else v[which] for name, v in self.each.items()}
        return mine if self.weights is None else {**mine, "weights": self.weights[index]}


def _broadcast(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise InvalidInput(f"{name}= of shape {array.shape} was given with groups=, {shape} is expected") from None


def _check_nan(told: Answer, groups: Groups, entries: NDArray[Any], weights: Any) -> None:
    """Name groups with NaN, which the function would count within its part."""
    missing = np.ma.filled(entries != entries, False)
    if weights is not None:
        missing = missing | (weights != weights)
    holding = np.zeros(told.shape, dtype=np.bool_)
    for which, index in groups.parts():
        holding[which] = missing[index].any(axis=1)
    if rows := np.flatnonzero(holding.ravel()).tolist():
        raise InvalidInput(f"{told.name}: {len(rows)} of {holding.size} groups hold NaN ({told.where(rows)}) and "
                           "nan_policy='raise'; clean the input, or choose nan_policy='omit' or 'propagate'")


# --- the parts, and back ---


def by_groups(form: Form, call: Call, groups: Groups, entries: NDArray[Any], arguments: Arguments
              ) -> tuple[list[Piece], Callable[..., Any], tuple[Outcome, ...]]:
    """Answer all groups, those of one length at a time: arrays (G, ...) of rows, and (n, ...) of entries."""
    n_groups = len(groups.labels)
    outcomes = np.full((n_groups, *entries.shape[1:]), COMPUTED, dtype=object)
    outcomes[groups.counts == 0] = EMPTY
    out: list[Piece] = []
    make, done, tell = None, 0, call.options.get("progress")
    with as_part_of(entries.size):
        for which, index in groups.parts():
            options = {"axis": 1, **arguments.of_part(form, which, index)}
            if tell is not None:
                options["progress"] = lambda k, _, before=done: tell(before + k, n_groups)
            found, said = call.on(entries[index], **options)
            pieces, make = form.split(found, {**call.options, **options})
            if not out:
                out = [_room(piece, n_groups, entries.shape) for piece in pieces]
            for place, piece in zip(out, pieces, strict=True):
                _put(place, piece, which, index)
            outcomes[which] = np.array(said, dtype=object).reshape(len(which), *entries.shape[1:])
            done += len(which)
    if make is None:
        raise InvalidInput(f"{call.name}: no values were given with groups=; each group is empty")
    return out, make, tuple(outcomes.ravel().tolist())


def _room(piece: Piece, n_groups: int, shape: tuple[int, ...]) -> Piece:
    array = np.asarray(piece.array)
    lead = {"rows": (n_groups, *array.shape[1:]), "entries": shape,
            "slopes": (shape[0], *array.shape[1:-1])}[piece.axes]
    return piece._replace(array=np.full(lead, np.nan, dtype=array.dtype))


def _put(place: Piece, piece: Piece, which: Any, index: Any) -> None:
    array = np.asarray(piece.array)
    if piece.axes == "rows":
        place.array[which] = array
    else:
        place.array[index] = np.moveaxis(array, -1, 1) if piece.axes == "slopes" else array


def _placed(piece: Piece, axis: int) -> Piece:
    """Entries where they were: along their axis, or last."""
    to = {"rows": 0, "entries": axis, "slopes": -1}[piece.axes]
    return piece._replace(array=np.moveaxis(piece.array, 0, to))
