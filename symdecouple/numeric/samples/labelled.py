"""Labels in, labels out: what a row-wise function answers for a Series or a DataFrame is labelled as its input is.

The function itself sees arrays only, and says what became of each sample. Here its answer gets the labels of the axes
that are left, the names of the axis that it adds, and refused samples are named by their labels. A result with one
axis is a Series, with two a DataFrame; of three the first two are the levels of the index.

xarray and dask have their own rules; their arrays come by here too (`answer`), and are left as they are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.batch import Answer
from symdecouple.numeric.samples.frames import numbers_in, shown_names
from symdecouple.numeric.samples.intake import for_arrays, library_of
from symdecouple.numeric.samples.matrix import doubtful_axes
from symdecouple.numeric.samples.vectors import own_axes

__all__ = ["Call", "Form", "Piece", "answer", "keeps_labels", "unlabelled"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Piece(NamedTuple):
    """One array of a result, and what its axes are.

    "rows": those of the batch; "entries": those of the samples as they were given; "slopes": those of the batch, then
    the entries of a sample. `names` are the labels of one more axis after the batch, `title` is that of a Series.
    """

    array: Any
    names: Sequence[Any] | None = None
    axes: Literal["rows", "entries", "slopes"] = "rows"
    title: str = ""


Split: TypeAlias = Callable[[Any, dict[str, Any]], tuple[list[Piece], Callable[[list[Any]], Any]]]


@dataclass(frozen=True, slots=True)
class Form:
    """What a function returns, and which of its arguments have labels.

    Attributes
    ----------
    split : callable
        From a result and the arguments to its arrays, and to what makes a result of these again.
    each : mapping
        From arguments with something for each sample to the names of their last axis; None where it is one number.
    sample_ndim : int
        Axes of a sample where axis="last".
    notes : bool
        Whether an outcome that is ok and has a reason is told in a warning.
    frames : int
        From a warning to the line of the user.
    """

    split: Split
    each: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    sample_ndim: int = 1
    notes: bool = True
    frames: int = 4


def keeps_labels(names: Callable[[dict[str, Any]], Sequence[str]] | None = None, **form: Any
                 ) -> Callable[[_Function], _Function]:
    """Let a row-wise function give labels back; its first argument are the samples, and it takes ``on_refusal``.

    `names` are those of the axis that it adds, from its arguments.
    """

    def decorate(function: _Function) -> _Function:
        made = Form(**{"split": partial(_plain, names), **form})
        return for_arrays(function, partial(answer, made, function.__name__))

    return decorate


def _plain(names: Callable[[dict[str, Any]], Sequence[str]] | None, found: Any, options: dict[str, Any]
           ) -> tuple[list[Piece], Callable[[list[Any]], Any]]:
    """Numbers, or a named tuple of them."""
    if hasattr(found, "_fields"):
        return [Piece(v, title=k) for k, v in found._asdict().items()], lambda parts: type(found)(*parts)
    return [Piece(found, None if names is None else names(options))], lambda parts: parts[0]


class Call(NamedTuple):
    """A call of a row-wise function: the samples, and its other arguments, defaults included."""

    function: Callable[..., Any]
    samples: Any
    options: dict[str, Any]

    @classmethod
    def of(cls, function: Callable[..., Any], given: Sequence[Any], options: dict[str, Any]) -> Call:
        bound = inspect.signature(function).bind(*given, **options)
        bound.apply_defaults()
        first, *_ = bound.arguments
        return cls(function, bound.arguments.pop(first), dict(bound.arguments))

    def on(self, samples: Any, **options: Any) -> Any:
        """Return what the function answers for other samples, and its outcomes."""
        return self.function(samples, **{**self.options, **options, "on_refusal": "return"})


def answer(form: Form, name: str, function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Answer a call whose samples may have labels."""
    call = Call.of(function, given, options)
    if library_of(call.samples) != "pandas":
        return function(*given, **options)
    if not hasattr(call.samples, "iloc"):  # an Index, an array of pandas: numbers without labels
        return function(numbers_in(call.samples), **call.options)
    found, told = _framed(form, name, call)
    return told.deliver(found, call.options["on_refusal"])


def _framed(form: Form, name: str, call: Call) -> tuple[Any, Answer]:
    frame, options = call.samples, call.options
    array = _array(name, frame)
    axis = options.get("axis", "last")
    axes = own_axes(axis, array.shape, form.sample_ndim)
    labels = [frame.index, frame.columns] if array.ndim == 2 else [frame.index]
    kept = [labels[i] for i in range(array.ndim) if i not in axes]
    within = [labels[i] for i in axes]
    options = {**options, **{each: _aligned_each(each, options.get(each), kept, names)
                             for each, names in form.each.items()}}
    if options.get("weights") is not None:
        options["weights"] = _weights(options["weights"], labels, within)
    found, outcomes = Call(call.function, array, options).on(array)
    told = Answer(name, tuple(map(len, kept)), frames=form.frames, labels=tuple(kept))
    told.take(outcomes, form.notes)
    if len(told.refusals) == len(outcomes) > 1 and isinstance(axis, str):
        told.hint = doubtful_axes(array.shape, axes)
    pieces, make = form.split(found, options)
    is_kept = bool(options.get("keepdims"))
    left = [[name] if i in axes else labels[i] for i in range(array.ndim)] if is_kept else kept
    made = [labelled(piece, left, labels, within, name, frame) for piece in pieces]
    return make(made), told


def unlabelled(a: Any) -> Any:
    """The numbers of what has labels, for functions that give none back; all else as it is."""
    return numbers_in(a) if library_of(a) == "pandas" else a


def _array(name: str, frame: Any) -> Any:
    """The numbers of a Series or DataFrame that holds some."""
    if frame.ndim == 2 and not frame.size:
        n_rows, n_columns = frame.shape
        raise InvalidInput(f"{name}: an empty DataFrame was given, of {n_rows} row{'s' * (n_rows != 1)} and "
                           f"{n_columns} column{'s' * (n_columns != 1)}; at least one column of numbers is expected")
    return numbers_in(frame)


def labelled(piece: Piece, kept: Sequence[Any], labels: Sequence[Any], within: Sequence[Any], name: str, frame: Any
             ) -> Any:
    """An array as Series or DataFrame; a Series is named for what its index does not tell."""
    import pandas as pd

    if piece.array is None:
        return None
    array = np.asarray(piece.array)
    names = [] if piece.names is None else [pd.Index(piece.names)]
    every = list(labels) if piece.axes == "entries" else [*kept, *names, *(within if piece.axes == "slopes" else [])]
    if array.ndim == 0:
        return array[()]
    if array.ndim == 1:
        is_of_samples = piece.axes == "rows" and not names
        title = (piece.title or name) if is_of_samples else getattr(frame, "name", None)
        return pd.Series(array, index=every[0], name=title)
    if array.ndim == 3:
        every[:2] = [pd.MultiIndex.from_product(every[:2])]
        array = array.reshape(-1, array.shape[-1])
    return pd.DataFrame(array, index=every[0], columns=every[1])


def _aligned_each(argument: str, value: Any, kept: Sequence[Any], names: Sequence[str] | None) -> Any:
    """What is given for each sample, or, where it has an axis of names, for all of them."""
    if names is None or library_of(value) != "pandas" or not hasattr(value, "iloc"):
        return _aligned(argument, value, kept)
    import pandas as pd

    labels = [*kept, pd.Index(names[: value.shape[-1]])]
    return _aligned(argument, value, labels[-value.ndim :])


def _aligned(argument: str, value: Any, labels: Sequence[Any]) -> Any:
    """What is given for each sample, in the order of the samples; plain numbers as they are."""
    if library_of(value) != "pandas" or not hasattr(value, "iloc"):
        return value
    for side, index in zip(("index", "columns"), labels, strict=False):
        value = _reindexed(argument, value, side, index)
    return numbers_in(value)


def _reindexed(argument: str, value: Any, side: str, index: Any) -> Any:
    own = getattr(value, side)
    if own.equals(index):
        return value
    lacking = index.difference(own, sort=False)
    if len(lacking) or len(own) != len(index) or not (own.is_unique and index.is_unique):
        why = f"has none for {shown_names(lacking)}" if len(lacking) else "has others, or some of them twice"
        raise InvalidInput(f"{argument}= is aligned by its labels with the samples, and {why}; give it the same "
                           f"{side}, or an array")
    return value.reindex(**{side: index})


def _weights(weights: Any, labels: Sequence[Any], within: Sequence[Any]) -> Any:
    """Weights in the order of the samples: one for each entry of a sample, or of all of them."""
    is_whole = getattr(weights, "ndim", 0) == len(labels)
    return _aligned("weights", weights, labels if is_whole else within)
