"""Which entries belong together: labels of any kind become groups, one after the other.

Groups are in the order of their labels, where these can be ordered, else in that of their first entries; those of
categories in the order of the categories, empty ones included. Entries without a label (NaN, None, NaT, masked) are a
group of their own, the last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.frames import shown_names
from symdecouple.numeric.samples.intake import library_of
from symdecouple.numeric.samples.matrix import IntArray
from symdecouple.tables.labels import has_labels, reindexed

__all__ = ["Groups", "by_length", "groups_of"]


@dataclass(frozen=True, slots=True)
class Groups:
    """Entries sorted by groups.

    Attributes
    ----------
    labels : array or pandas Index
        Of the groups.
    order : array of int
        The entries of the first group, of the second, and so on; those of a group in their own order.
    counts : array of int
        Entries of each group.
    """

    labels: Any
    order: IntArray
    counts: IntArray

    @classmethod
    def of(cls, labels: Any, codes: NDArray[np.integer[Any]]) -> Groups:
        """Sort entries by the numbers of their groups; those with a number below 0 are left out."""
        n, counts = len(codes), np.bincount(codes[codes >= 0], minlength=len(labels))
        order, bits = np.arange(n), n.bit_length()
        if (codes[1:] < codes[:-1]).any():  # number and place in one integer: faster than a stable sort of the numbers
            order = np.sort(codes.astype(np.int64) << bits | order) & ((1 << bits) - 1)
        return cls(labels, order[n - counts.sum() :], counts)

    def parts(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield groups of one length: which they are, and the places of their entries, a row each; no empty ones."""
        starts = np.cumsum(self.counts) - self.counts
        for which in by_length(self.counts):
            length = int(self.counts[which[0]])
            if length and length * len(which) == len(self.order):
                yield which, self.order.reshape(-1, length)
            elif length:
                yield which, self.order[starts[which][:, None] + np.arange(length)]


def by_length(counts: IntArray) -> Iterator[IntArray]:
    """Yield the places of equal numbers, each time in order."""
    order = np.argsort(counts, kind="stable")
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(counts[order])) + 1)


def groups_of(groups: Any, n: int, index: Any = None) -> Groups:
    """Return the groups that labels make of n entries; those of pandas are brought into the order of an index.

    Raises
    ------
    InvalidInput
        If there are not n labels, or labels are missing for some of the entries.
    """
    if has_labels(groups):
        keys = groups if index is None else reindexed("groups", groups, "index", index)
        labels, codes = _of_frame(keys) if keys.ndim == 2 else _of_pandas(keys, keys.name)
    elif library_of(groups) == "pandas":
        if not hasattr(groups, "isna"):
            raise InvalidInput(f"groups={type(groups).__name__} was given, a label for each entry is expected; a "
                               "groupby object is given in place of the values")
        has_levels = getattr(groups, "nlevels", 1) > 1
        labels, codes = _of_frame(groups.to_frame(index=False)) if has_levels else _of_pandas(
            groups, getattr(groups, "name", None))
    elif isinstance(groups, list | tuple) and groups and all(map(has_labels, groups)):
        labels, codes = _of_frame(_beside(groups, index))
    else:
        labels, codes = _of_array(groups)
    if len(codes) != n:
        raise InvalidInput(f"groups= has {len(codes)} label{'s' * (len(codes) != 1)} for {n} entr"
                           f"{'y' if n == 1 else 'ies'}; one for each entry along the axis is expected")
    return Groups.of(labels, codes)


# --- labels of NumPy ---


def _of_array(groups: Any) -> tuple[Any, IntArray]:
    array = _as_labels(groups)
    if array.dtype.kind == "O":
        return _of_objects(array.tolist())
    if array.dtype.kind in "iu" and array.size and int(array.max()) - int(array.min()) < 4 * array.size:
        return _of_integers(array)
    labels, codes = np.unique(array, return_inverse=True)
    return labels, codes.reshape(-1)


def _of_integers(array: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Labels near each other are counted, which is faster than sorting them."""
    wide = array if array.dtype.itemsize == 8 else array.astype(np.int64)
    places = (wide - wide.min()).astype(np.intp)
    is_there = np.bincount(places) > 0
    labels = np.flatnonzero(is_there).astype(wide.dtype) + wide.min()
    return labels.astype(array.dtype), (np.cumsum(is_there) - 1)[places]


def _as_labels(groups: Any) -> NDArray[Any]:
    """One label an entry; a list of several types stays what it is, [1, "1"] are two labels."""
    try:
        array = np.asarray(groups)
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"groups= holds lists of several lengths, or what has no entries ({error}); one label for "
                           "each entry is expected") from None
    if isinstance(groups, list | tuple) and array.ndim == 1 and len(set(map(type, groups))) > 1:
        array = np.empty(len(groups), dtype=object)
        array[:] = groups
    if array.ndim != 1:
        what = f"{groups!r:.60}" if array.ndim == 0 else f"an array of shape {array.shape}"
        raise InvalidInput(f"groups={what} was given; one label for each entry, in one dimension, is expected" + (
            "; a name is that of a column, and takes a DataFrame" if isinstance(groups, str) else ""))
    if np.ma.is_masked(groups):
        array = array.astype(object)
        array[np.ma.getmaskarray(groups)] = None
    return array


def _of_objects(values: Sequence[Any]) -> tuple[NDArray[Any], IntArray]:
    known: dict[Any, int] = {}
    try:
        codes = np.array([-1 if _is_missing(v) else known.setdefault(v, len(known)) for v in values], dtype=np.intp)
    except (TypeError, ArithmeticError) as error:
        raise InvalidInput(f"groups= holds labels that are no labels ({error}); text, numbers or dates are expected"
                           ) from None
    labels = list(known)
    try:
        order = sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:
        order = list(range(len(labels)))
    place = np.empty(len(labels) + 1, dtype=np.intp)
    place[order], place[-1] = np.arange(len(labels)), len(labels)  # the last one is that of no label
    made = [labels[i] for i in order] + [math.nan] * bool((codes < 0).any())
    out = np.empty(len(made), dtype=object)
    out[:] = made
    return out, place[codes]


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or value != value


# --- labels of pandas ---


def _of_pandas(keys: Any, name: Any) -> tuple[Any, IntArray]:
    import pandas as pd

    if isinstance(keys.dtype, pd.CategoricalDtype):
        held = pd.Categorical(keys)
        codes, labels = held.codes.astype(np.intp), pd.CategoricalIndex(held.categories, dtype=keys.dtype, name=name)
    else:
        codes, found = pd.factorize(keys, sort=True)
        labels = pd.Index(found, name=name)
    if (codes < 0).any():
        labels = labels.insert(len(labels), pd.NaT if labels.dtype.kind in "mM" else np.nan)
        codes = np.where(codes < 0, len(labels) - 1, codes)
    return labels, codes


def _of_frame(keys: Any) -> tuple[Any, IntArray]:
    if not keys.shape[1]:
        raise InvalidInput("groups= holds no column; one label, or several, for each entry are expected")
    if keys.shape[1] == 1:
        return _of_pandas(keys.iloc[:, 0], keys.columns[0])
    numbered = keys.set_axis(range(keys.shape[1]), axis=1)  # names may be one name
    by = numbered.groupby(list(numbered.columns), sort=True, observed=True, dropna=False)
    return by.size().index.set_names(list(keys.columns)), by.ngroup().to_numpy(dtype=np.intp)


def _beside(keys: Sequence[Any], index: Any) -> Any:
    """Several Series of labels as the columns of a frame, in the order of an index."""
    import pandas as pd

    if any(key.ndim != 1 for key in keys):
        raise InvalidInput("groups= holds a DataFrame beside others; a Series for each key is expected")
    keys = [key if index is None else reindexed("groups", key, "index", index) for key in keys]
    if len({len(key) for key in keys}) > 1:
        lengths = shown_names([len(key) for key in keys])
        raise InvalidInput(f"groups= holds Series of the lengths {lengths}; one length is expected")
    return pd.DataFrame({j: key.array for j, key in enumerate(keys)}).set_axis([key.name for key in keys], axis=1)
