"""Labels on arrays: results as Series and DataFrames, and arguments brought into the order of the samples.

A result with one axis is a Series, with two a DataFrame; of three axes the first two are the levels of the index. A
Series is named for what its index does not tell: by the statistic where it has a row a sample, else by the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.frames import numbers_in, shown_names
from symdecouple.numeric.samples.intake import library_of
from symdecouple.tables.row_functions import Piece

__all__ = ["aligned", "aligned_each", "aligned_weights", "has_labels", "labelled"]


def has_labels(a: Any) -> bool:
    """True for a Series or a DataFrame."""
    return library_of(a) == "pandas" and hasattr(a, "iloc")


def labelled(piece: Piece, kept: Sequence[Any], labels: Sequence[Any], within: Sequence[Any], titles: tuple[str, Any]
             ) -> Any:
    """An array with the labels of its axes.

    `kept` are those of the batch, `labels` of the samples as they were given, `within` of the entries of a sample;
    `titles` are the names of the function and of the samples.
    """
    import pandas as pd

    if piece.array is None or piece.is_inner:
        return piece.array
    array = np.asarray(piece.array)
    names = [] if piece.names is None else [pd.Index(piece.names)]
    every = list(labels) if piece.axes == "entries" else [*kept, *names, *(within if piece.axes == "slopes" else [])]
    if array.ndim == 0:
        return array[()]
    if array.ndim == 1:
        is_of_samples = piece.axes == "rows" and not names
        return pd.Series(array, index=every[0], name=(piece.title or titles[0]) if is_of_samples else titles[1])
    if array.ndim == 3:
        every[:2] = [_product(*every[:2])]
        array = array.reshape(-1, array.shape[-1])
    return pd.DataFrame(array, index=every[0], columns=every[1])


def _product(outer: Any, inner: Any) -> Any:
    """All pairs of labels, in order; labels with levels keep these."""
    import pandas as pd

    sides = [side if hasattr(side, "names") else pd.Index(side) for side in (outer, inner)]
    places = np.repeat(np.arange(len(outer)), len(inner)), np.tile(np.arange(len(inner)), len(outer))
    frames = [side[place].to_frame(index=False) for side, place in zip(sides, places, strict=True)]
    return pd.MultiIndex.from_arrays([frame.iloc[:, j] for frame in frames for j in range(frame.shape[1])],
                                     names=[name for side in sides for name in side.names])


def aligned_each(argument: str, value: Any, kept: Sequence[Any], names: Sequence[str] | None) -> Any:
    """What is given for each sample, or, where it has an axis of names, for all of them."""
    if isinstance(value, list | tuple) and any(map(has_labels, value)):
        return [aligned_each(argument, one, kept, names) for one in value]
    if names is None or not has_labels(value):
        return aligned(argument, value, kept)
    import pandas as pd

    labels = [*kept, pd.Index(names[: value.shape[-1]])]
    return aligned(argument, value, labels[-value.ndim :])


def aligned_weights(weights: Any, labels: Sequence[Any], within: Sequence[Any]) -> Any:
    """Weights in the order of the samples: one for each entry of a sample, or of all of them."""
    return aligned("weights", weights, labels if getattr(weights, "ndim", 0) == len(labels) else within)


def aligned(argument: str, value: Any, labels: Sequence[Any]) -> Any:
    """The numbers of a Series or DataFrame in the order of these labels; anything else as it is."""
    if not has_labels(value):
        return numbers_in(value) if library_of(value) == "pandas" else value
    import pandas as pd

    for side, index in zip(("index", "columns"), labels, strict=False):
        value = reindexed(argument, value, side, index if hasattr(index, "difference") else pd.Index(index))
    return numbers_in(value)


def reindexed(argument: str, value: Any, side: str, index: Any) -> Any:
    """A Series or DataFrame in the order of an index; it may have more labels, but no fewer."""
    own = getattr(value, side)
    if own.equals(index):
        return value
    lacking = index.difference(own, sort=False)
    if len(lacking) or not own.is_unique:
        why = f"has none for {shown_names(lacking)}" if len(lacking) else (
            f"has {shown_names(own[own.duplicated()].unique())} twice")
        raise InvalidInput(f"{argument}= is aligned by its labels with the samples, and {why}; give it the same "
                           f"{side}, or an array")
    return value.reindex(**{side: index})
