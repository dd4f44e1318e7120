"""Arrays of dask, lazily: rows that are whole in their blocks by the function of rows, vectors in chunks by states.

A sample axis in one chunk goes through `dask.array.apply_gufunc`: each block of rows is answered as the same rows are
in memory, to the bit. Where it is cut, each block gives a `MomentState` a sample, which are merged eight by eight; a
decoupled moment above the third reads the chunks again once these are merged, and for that is told to load them again:
no chunk is kept in memory between the passes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.lazy.measure import Measure
from symdecouple.lazy.state import MomentState
from symdecouple.lazy.vectors import Asked, asked_of, decoupled_of
from symdecouple.numeric.kernels.compile import as_part_of
from symdecouple.numeric.samples.batch import Answer, NanPolicy, as_rows, normalized_axes

__all__ = ["answered", "apply_to_rows", "check_array", "loaded", "mapped_after", "measures_after", "merged_states",
           "refuse_outcomes", "result_type", "side_by_side", "vector_moments", "whole_needed"]

_FAN_IN = 8  # states that are merged together
_TOGETHER = 64  # samples of a block that are measured together: 200 kilobytes each


def loaded(name: str = "dask.array") -> Any:
    """A module of dask, which whoever has an object of it has."""
    return import_module(name)


def result_type(array: Any) -> type[np.floating[Any]]:
    """The type of the answer, as of arrays in memory."""
    return np.float32 if array.dtype in (np.float16, np.float32) else np.float64


def answered(function: Callable[..., Any], array: Any, options: dict[str, Any]) -> Any:
    """Answer a function of `symdecouple.stats` lazily.

    Raises
    ------
    InvalidInput
        At once, for options that are not right, for ``on_refusal="return"``, and for a sample axis in several chunks
        where the function needs whole samples.
    """
    name, options = function.__name__, dict(options)
    check_array(name, array)
    axis, keepdims = options.pop("axis", 0), options.pop("keepdims", False)
    weights = options.pop("weights", None)
    refuse_outcomes(name, options)
    pattern = function(np.zeros(8, dtype=array.dtype), **{**options, "on_refusal": "return"})[0]  # options are checked
    axes = normalized_axes(axis, array.shape)
    size = len(pattern) if isinstance(pattern, tuple) else np.size(pattern) if np.ndim(pattern) else None
    asked = asked_of(name, options)
    if any(len(array.chunks[i]) > 1 for i in axes):
        more = [key for key, value in (("weights", weights), ("perturb", options.get("perturb"))) if value is not None]
        if asked is None or more:
            raise whole_needed(name, array, axes, f"with {more[0]}" if asked is not None else "")
        found = _by_states(array, axes, asked, size, options.get("on_refusal", "warn"))
    else:
        found = apply_to_rows(partial(_of_rows, function, len(axes), options), array, axes, weights,
                              () if size is None else (size,))
    if keepdims:
        place = tuple(slice(None) if i not in axes else None for i in range(array.ndim))
        found = found[(*place, ...)]
    if isinstance(pattern, tuple):
        return type(pattern)(*(found[..., k] for k in range(len(pattern))))
    return found


def side_by_side(columns: tuple[Any, ...]) -> Any:
    """Arrays of one shape, of NumPy or of dask, along a new last axis."""
    if isinstance(columns[0], np.ndarray | np.generic | float):
        return np.stack(columns, axis=-1)
    return loaded().stack(columns, axis=-1)


def check_array(name: str, array: Any) -> None:
    """Refuse what dask has beside arrays."""
    if not isinstance(array, loaded().Array):
        raise InvalidInput(f"{name}: a {type(array).__name__} of dask was given, an array of it is expected; a "
                           "DataFrame becomes one with .to_dask_array(lengths=True)")


def refuse_outcomes(name: str, options: dict[str, Any]) -> None:
    """Outcomes are there when numbers are."""
    if options.get("on_refusal") == "return":
        raise InvalidInput(f"{name}: on_refusal='return' gives outcomes beside numbers, and of a dask array there are "
                           "no numbers yet; compute the array first, or choose 'warn' or 'raise'")


def whole_needed(name: str, array: Any, axes: Sequence[int], why: str = "") -> InvalidInput:
    """Tell how to get whole samples."""
    cut = {i: -1 for i in axes if len(array.chunks[i]) > 1}
    first = next(iter(cut))
    hint = "; of one long vector, symdecouple.lazy has more" if array.ndim == len(axes) else ""
    return InvalidInput(f"{name}{' ' if why else ''}{why} needs whole samples, and axis {first} is in "
                        f"{len(array.chunks[first])} chunks: a.rechunk({cut}){hint}")


def apply_to_rows(function: Callable[..., Any], array: Any, axes: Sequence[int], weights: Any,
                  more: tuple[int, ...], *, keeps_samples: bool = False) -> Any:
    """Apply a function of blocks (.., *sample axes) that are whole there; the result is (.., *more).

    With `keeps_samples` it is (.., *more, *sample axes).
    """
    da = loaded()
    moved = _samples_last(array, axes)
    core = [f"n{i}" for i in range(len(axes))]
    inputs, names = [moved], f"({','.join(core)})"
    if weights is not None:
        lengths = tuple(array.shape[i] for i in sorted(axes))
        given = da.asarray(weights)
        if given.shape != lengths:
            try:
                given = da.broadcast_to(given, array.shape)
            except ValueError:
                raise InvalidInput(f"weights of shape {given.shape} were given for samples of shape {lengths} in an "
                                   f"array of shape {array.shape}, and do not broadcast") from None
            given = _samples_last(given.rechunk(array.chunks), axes)
        inputs.append(given.rechunk({i - len(axes): -1 for i in range(len(axes))}))
    out = [f"k{i}" for i in range(len(more))] + (core if keeps_samples else [])
    signature = ",".join([names] * len(inputs)) + f"->({','.join(out)})"
    whole = 0 if math.isnan(array.size) else int(array.size)
    return da.apply_gufunc(partial(_as_part, whole, function), signature, *inputs, output_dtypes=result_type(array),
                           output_sizes={f"k{i}": n for i, n in enumerate(more)})


def _as_part(whole: int, function: Callable[..., Any], *blocks: Any) -> Any:
    """A block as the whole array would be answered: the same kernels, and so the same bits."""
    with as_part_of(whole):
        return function(*blocks)


def _samples_last(array: Any, axes: Sequence[int]) -> Any:
    order = [*(i for i in range(array.ndim) if i not in axes), *sorted(axes)]
    return array if order == sorted(order) else array.transpose(order)


def _of_rows(function: Callable[..., Any], n_axes: int, options: dict[str, Any], block: Any,
             weights: Any = None) -> Any:
    """A function of rows on a block of them."""
    more = {} if weights is None else {"weights": weights}
    found = function(block, axis=tuple(range(-n_axes, 0)), **options, **more)
    return np.stack(found, axis=-1) if isinstance(found, tuple) else np.asarray(found)


# --- a sample axis in chunks ---


def _by_states(array: Any, axes: Sequence[int], asked: Asked, size: int | None, on_refusal: Any) -> Any:
    """One answer a sample of (.., *sample axes), all chunks of the sample axes together."""
    da = loaded()
    moved, n_batch = _samples_last(array, axes), array.ndim - len(axes)
    if any(math.isnan(n) for n in moved.shape[:n_batch]):
        raise InvalidInput(f"{asked.name}: the chunks along an axis that is kept have unknown sizes, and the samples "
                           "are in chunks as well; call a.compute_chunk_sizes() first")
    more = () if size is None else (size,)
    grid = np.empty(moved.numblocks[:n_batch], dtype=object)
    for place in itertools.product(*map(range, grid.shape)):
        part = moved.blocks[(*place, *[slice(None)] * len(axes))]
        shape = part.shape[:n_batch]
        if asked.needs_measure and math.prod(shape) > _TOGETHER:
            cut = {i: -1 for i in axes if len(array.chunks[i]) > 1}
            raise InvalidInput(f"{asked.name}: {math.prod(shape)} samples in chunks lie in one block, at most "
                               f"{_TOGETHER} can be measured together; make them whole, a.rechunk({cut}), or the "
                               "blocks smaller")
        values = vector_moments(part, n_batch, asked, on_refusal)
        grid[place] = da.from_delayed(values, (*shape, *more), dtype=result_type(array))
    if not n_batch:
        return grid[()]
    found = grid.tolist()
    for _ in range(len(more)):
        found = _nested(found, n_batch)
    return da.block(found)


def _nested(found: Any, depth: int) -> Any:
    """The innermost arrays as lists of one, for the axis of the orders."""
    return [found] if not depth else [_nested(one, depth - 1) for one in found]


def merged_states(array: Any, n_batch: int, order: int, nan_policy: NanPolicy) -> Any:
    """A delayed list of the states of all samples of (.., *sample axes); the first `n_batch` axes are in one chunk."""
    take = loaded("dask").delayed(_states_of, pure=True)
    return _tree([take(block, n_batch, order, nan_policy) for block in array.to_delayed(optimize_graph=False).ravel()])


def vector_moments(array: Any, n_batch: int, asked: Asked, on_refusal: Any) -> Any:
    """The delayed answer of samples (.., *sample axes), whose first `n_batch` axes are in one chunk."""
    states = merged_states(array, n_batch, asked.moments, asked.nan_policy)
    measures = measures_after(array, states, n_batch) if asked.needs_measure else None
    single = result_type(array) is np.float32
    answer = loaded("dask").delayed(_answer, pure=True)
    return answer(states, measures, asked, array.shape[:n_batch], on_refusal, single)


def measures_after(array: Any, states: Any, n_batch: int) -> Any:
    """A delayed list of measures; chunks are loaded again, once the states are there.

    Graphs are taken as they are: tasks that dask has fused already cannot be copied (`bind`, dask 2026.8).
    """
    again = loaded("dask.graph_manipulation").bind(array, states)
    take = loaded("dask").delayed(_measures_of, pure=True)
    return _tree([take(block, n_batch, states) for block in again.to_delayed(optimize_graph=False).ravel()])


def mapped_after(array: Any, function: Callable[..., Any], found: Any) -> Any:
    """function(block, found) of every block, `found` delayed; blocks are loaded again once that is there."""
    again, kind = loaded("dask.graph_manipulation").bind(array, found), result_type(array)
    return again.map_blocks(function, found, dtype=kind, meta=np.empty((0,) * array.ndim, dtype=kind))


def _tree(parts: list[Any]) -> Any:
    merge = loaded("dask").delayed(_merged, pure=True)
    while len(parts) > 1:
        parts = [merge(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    return parts[0]


def _rows_of(block: Any, n_batch: int) -> tuple[NDArray[Any], Any]:
    """The samples of a block as rows, and what is masked."""
    axes = tuple(range(n_batch, np.ndim(block)))
    rows = as_rows(np.ma.getdata(block), axes)
    return rows, as_rows(np.ma.getmaskarray(block), axes) if np.ma.is_masked(block) else None


def _states_of(block: Any, n_batch: int, order: int, nan_policy: NanPolicy) -> list[MomentState]:
    rows, hidden = _rows_of(block, n_batch)
    states = []
    for i, row in enumerate(rows):
        state = MomentState(order, nan_policy)
        state.update(row if hidden is None else row[~hidden[i]])
        states.append(state)
    return states


def _measures_of(block: Any, n_batch: int, states: list[MomentState]) -> list[Measure | None]:
    rows, hidden = _rows_of(block, n_batch)
    found: list[Measure | None] = []
    for i, (row, state) in enumerate(zip(rows, states, strict=True)):
        measure = Measure.begun(state)
        if measure is not None:
            measure.update(row if hidden is None else row[~hidden[i]])
        found.append(measure)
    return found


def _merged(parts: list[list[Any]]) -> list[Any]:
    """Lists of states, or measures, of the same samples as one."""
    found = []
    for same in zip(*parts, strict=True):
        first = same[0]
        if first is not None and len(same) > 1:
            first = first.copy()
            for other in same[1:]:
                first.merge(other)
        found.append(first)
    return found


def _answer(states: list[MomentState], measures: list[Measure | None] | None, asked: Asked, shape: tuple[int, ...],
            on_refusal: Any, single: bool) -> Any:
    """Numbers of all samples, and what is said of those without."""
    answer = Answer(asked.name, shape, frames=3, columns=asked.order)
    for i, state in enumerate(states):
        values, outcome = decoupled_of(state, None if measures is None else measures[i], asked)
        answer.values[i] = values
        if not outcome.ok:
            answer.refusals[i] = outcome
    values = answer.values.reshape(*shape, asked.order)
    picked = values if asked.column is None else values[..., asked.column]
    return answer.deliver(np.asarray(picked, dtype=np.float32 if single else np.float64), on_refusal)
