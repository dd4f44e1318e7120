"""What pandas objects hold: their numbers as one array, what is missing as NaN, and nothing that is no number.

pandas is never imported here, and loaded only where a user has such an object. A column of text, dates, categories or
booleans is refused by its name, all of them in one line: `to_numpy` would make an array of objects of the whole frame,
and lose which column it was.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput

__all__ = ["numbers_in", "shown_names"]

_EXACT_INTEGER = 2**53  # every integer up to here is a float64
_NAMED = 5  # columns spelt out in a message
_WHAT = {"b": "booleans", "c": "complex numbers", "M": "dates", "m": "time spans", "U": "text", "S": "bytes",
         "T": "text"}
_REMEDY = {"booleans": ".astype(int) where 0 and 1 are meant", "complex numbers": "take .abs(), or their real part",
           "dates": "take .diff() and divide by a unit", "time spans": "divide by a unit, pd.Timedelta('1s')",
           "text": "pd.to_numeric where it is numbers", "bytes": "decode it, then pd.to_numeric",
           "categories": ".astype(float) where they are numbers", "intervals": "take .mid, .left or .right",
           "periods": "take what they count"}
_OTHERS: dict[Any, str] = {
    str: "text ({!r})", (bool, np.bool_): "booleans", (datetime.date, np.datetime64): "dates",
    (datetime.timedelta, np.timedelta64): "time spans", complex: "complex numbers", bytes: "bytes",
    (list, tuple, dict, set, np.ndarray): "entries of type {1}"}


def numbers_in(held: Any) -> NDArray[Any]:
    """Return the numbers of a Series, DataFrame, Index or extension array, NaN where one is missing.

    Whole numbers beyond float64 stay exact, beside missing ones as objects.

    Raises
    ------
    InvalidInput
        For anything but real numbers, with the names of the columns that hold it.
    """
    if not hasattr(held, "dtypes" if hasattr(held, "columns") else "dtype"):
        raise InvalidInput(f"{type(held).__name__} of pandas was given; a Series, a DataFrame, an array or a groupby "
                           "object is expected (moving windows: stats.rolling; spans of time: "
                           ".groupby(pd.Grouper(freq=...)))")
    if getattr(held, "nlevels", 1) > 1:
        raise InvalidInput(f"a {type(held).__name__} of {held.nlevels} levels was given, real numbers are expected; "
                           "take one level, .get_level_values(0)")
    if not hasattr(held, "columns"):
        array, what = _column(held)
        if what:
            name = getattr(held, "name", None)
            raise InvalidInput(f"{type(held).__name__}{'' if name is None else f' {name!r}'} holds {what}, real "
                               f"numbers are expected; {_REMEDY.get(what.partition(' (')[0], 'convert it first')}")
        return array
    kinds = set(held.dtypes)
    if len(kinds) == 1 and isinstance(kind := kinds.pop(), np.dtype) and kind.kind in "iuf":
        return np.asarray(held.to_numpy())
    columns = [_column(held.iloc[:, j]) for j in range(held.shape[1])]
    bad = [(held.columns[j], what) for j, (_, what) in enumerate(columns) if what]
    if bad:
        raise InvalidInput(_refusal(held, bad))
    return _side_by_side([array for array, _ in columns], len(held))


def shown_names(names: Any, count: int = _NAMED) -> str:
    """Names for a message, the first few of them."""
    shown = [repr(name) for name in list(names)[:count]]
    return ", ".join(shown) + (", ..." if len(names) > count else "")


def _refusal(held: Any, bad: list[tuple[Any, str]]) -> str:
    listed = ", ".join(f"{name!r} ({what})" for name, what in bad[:_NAMED]) + (", ..." if len(bad) > _NAMED else "")
    one = len(bad) == 1
    remedy = _REMEDY.get(bad[0][1].partition(" (")[0], "convert it first")
    return (f"column{'s' * (not one)} {listed} of the DataFrame hold{'s' * one} no real numbers; take the columns "
            f"that do, df.select_dtypes('number'), or convert {'it' if one else 'them'}: {remedy}")


def _column(values: Any) -> tuple[NDArray[Any], str]:
    """The numbers of one column; or what else it holds."""
    kind = values.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iuf":
        return np.asarray(values.to_numpy()), ""
    known = {"category": "categories", "interval": "intervals", "period": "periods"}
    name = str(kind).partition("[")[0]
    if name in known:
        return np.empty(0), known[name]
    subtype = getattr(kind, "subtype", kind)  # of sparse columns
    letter = getattr(subtype, "kind", "O") if name not in ("string", "str", "large_string") else "O"
    if letter in _WHAT:
        return np.empty(0), _WHAT[letter]
    missing = np.asarray(values.isna(), dtype=np.bool_)
    if letter == "f":
        return _floats(values, subtype), ""
    if letter in "iu":
        if not missing.any():
            return np.asarray(values.to_numpy(), dtype=getattr(subtype, "numpy_dtype", None) or subtype), ""
        objects = np.asarray(values.to_numpy(dtype=object))
        objects[missing] = 0
        is_exact = all(-_EXACT_INTEGER <= int(v) <= _EXACT_INTEGER for v in (objects.min(), objects.max()))
        found: NDArray[Any] = objects.astype(np.float64) if is_exact else objects
        found[missing] = np.nan
        return found, ""
    objects = np.array(values.to_numpy(dtype=object), copy=True)
    objects[missing] = np.nan
    return objects, _no_number(objects, missing)


def _floats(values: Any, subtype: Any) -> NDArray[Any]:
    """A column of floats of an extension type, in their own width."""
    width = getattr(subtype, "numpy_dtype", None) or (subtype if isinstance(subtype, np.dtype) else np.float64)
    try:
        return np.asarray(values.to_numpy(dtype=width, na_value=np.nan))
    except TypeError:  # sparse arrays take no na_value
        return np.asarray(values.to_numpy(), dtype=width)


def _no_number(objects: NDArray[Any], missing: NDArray[np.bool_]) -> str:
    """What a column of objects holds beside numbers: the first such entry; empty where there is none."""
    for value in objects[~missing]:
        if what := next((what for kinds, what in _OTHERS.items() if isinstance(value, kinds)), ""):
            return what.format(str(value)[:20], type(value).__name__)
    return ""


def _side_by_side(columns: list[NDArray[Any]], n_rows: int) -> NDArray[Any]:
    """Columns of several types as one array that rounds none of them."""
    kinds = {column.dtype for column in columns}
    kind: Any = np.result_type(*kinds) if kinds else np.dtype(np.float64)
    if kind.kind == "f" and any(column.dtype.kind in "iu" and column.dtype.itemsize > 4 and column.size and
                                not -_EXACT_INTEGER <= int(column.min()) <= int(column.max()) <= _EXACT_INTEGER
                                for column in columns):
        kind = object
    out = np.empty((n_rows, len(columns)), dtype=kind)
    for j, column in enumerate(columns):
        out[:, j] = column
    return out
