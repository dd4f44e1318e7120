"""A vector in chunks: where they come from, again and again, and what of each of them counts.

A source is anything that gives the same chunks each time it is asked: an array (also one that lies in a file: memory
maps, datasets of h5py, arrays of zarr, which are read slice by slice), a list of arrays, or a function without
arguments that returns a fresh iterator. An iterator itself is spent after one pass, and is refused. Chunks are arrays
of any shape and of any length, 0 and 1 included.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.batch import FloatArray, NanPolicy
from symdecouple.numeric.samples.intake import Numbers, fractions_of, is_exact_in_float64, nearest, take_numbers

__all__ = ["Number", "Piece", "chunks_of", "numbers_of", "pieces_of", "refuse_missing"]

PIECE = 2**18  # numbers that are looked at together: what is made beside a chunk does not grow with it
_CHUNK = 2**20  # numbers of an array that make a chunk
_LEAST = Fraction(2) ** -900  # of the range of exact numbers, and inversely: the smallest differences have their digits

Number: TypeAlias = int | float | Fraction


@dataclass(frozen=True, slots=True)
class Piece:
    """Finite numbers of a chunk: they are `base` + `values`, exactly but for what float64 rounds of the values."""

    values: FloatArray
    base: int | Fraction
    low: Number
    high: Number
    at_low: int
    at_high: int
    total: int | None = None  # of the values before they are rounded, where they are


def chunks_of(source: Any) -> Iterator[Any]:
    """Yield the chunks of a source from its beginning.

    Raises
    ------
    InvalidInput
        For what gives its chunks only once, and for an array without a length.
    """
    if hasattr(source, "to_numpy"):  # of pandas
        source = source.to_numpy()
    if isinstance(source, np.ndarray) and source.flags.c_contiguous and source.ndim > 1:
        source = source.reshape(-1)
    if hasattr(source, "shape") and hasattr(source, "__getitem__"):  # what lies in a file too
        if len(source.shape) == 0:
            raise InvalidInput("one number was given, a vector or its chunks are expected")
        step = max(1, _CHUNK // max(1, math.prod(source.shape[1:])))
        yield from (source[i : i + step] for i in range(0, source.shape[0], step))
    elif callable(source):
        yield from _made(source)
    elif isinstance(source, Sequence) and not isinstance(source, str | bytes):
        yield from source
    else:
        what = type(source).__name__
        hint = ("it gives its chunks once, and more passes are needed: give a function that returns a fresh one"
                if hasattr(source, "__next__") else "")
        raise InvalidInput(f"{what} was given, an array, a list of arrays, or a function without arguments that "
                           f"returns an iterator of arrays is expected" + (f"; {hint}" if hint else ""))


def _made(source: Callable[[], Any]) -> Iterator[Any]:
    try:
        inspect.signature(source).bind()
    except TypeError as error:
        raise InvalidInput(f"a function was given that takes arguments ({error}); one without arguments, which returns "
                           "an iterator of chunks, is expected") from None
    except ValueError:  # of some built in C nobody knows
        pass
    made = source()
    if isinstance(made, np.ndarray) or not hasattr(made, "__iter__"):
        raise InvalidInput(f"the function returned {type(made).__name__}, an iterator of chunks is expected")
    return iter(made)


def numbers_of(chunk: Any) -> Numbers:
    """The numbers of a chunk, flat, without masked entries."""
    if (kind := type(chunk).__module__.partition(".")[0]) in ("dask", "xarray"):
        raise InvalidInput(f"a chunk of {kind} was given, numbers in memory are expected; the functions of "
                           "symdecouple.lazy and symdecouple.stats take the whole object")
    given = take_numbers(chunk)
    array = given.array if given.masked is None else given.array[~given.masked]
    return Numbers(array.ravel(order="K"), None)


def refuse_missing(array: NDArray[Any]) -> None:
    """Refuse NaN, where the policy says so."""
    if array.dtype.kind == "f" and (count := int(np.isnan(array).sum())):
        raise InvalidInput(f"{count} of {array.size} numbers of a chunk are NaN and nan_policy='raise'; clean the "
                           "input, or choose nan_policy='omit' or 'propagate'")


def pieces_of(chunk: Any, nan_policy: NanPolicy) -> Iterator[tuple[Piece | None, int, int]]:
    """Yield the finite numbers of a chunk piece by piece, None if there are none, and how many are NaN and infinite."""
    array = numbers_of(chunk).array
    if nan_policy == "raise":
        refuse_missing(array)
    for i in range(0, len(array), PIECE):
        part = array[i : i + PIECE]
        yield from _of_objects(part) if part.dtype.kind == "O" else [_piece(part)]


def _piece(part: NDArray[Any]) -> tuple[Piece | None, int, int]:
    if part.dtype.kind in "iu":
        return _of_integers(part), 0, 0
    values = part.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    missing = infinite = 0
    if not (math.isfinite(low) and math.isfinite(high)):
        missing, infinite = int(np.isnan(values).sum()), int(np.isinf(values).sum())
        values = values[np.isfinite(values)]
        if not len(values):
            return None, missing, infinite
        low, high = float(values.min()), float(values.max())
    return Piece(values, 0, low, high, *_at_ends(values, low, high)), missing, infinite


def _of_integers(part: NDArray[Any]) -> Piece:
    low, high = int(part.min()), int(part.max())
    counts = _at_ends(part, part.min(), part.max())
    if is_exact_in_float64(low, high):
        return Piece(part.astype(np.float64), 0, low, high, *counts)
    wide = part.astype(np.int64 if low < 0 else np.uint64).view(np.uint64)
    above = wide - np.uint64(low % 2**64)  # modulo 2**64, where every difference has its place
    upper, lower = above >> np.uint64(32), above & np.uint64(2**32 - 1)
    total = (int(upper.sum()) << 32) + int(lower.sum())
    return Piece(above.astype(np.float64), low, low, high, *counts, total)


def _of_objects(part: NDArray[Any]) -> Iterator[tuple[Piece | None, int, int]]:
    """Fraction, Decimal and the like, exactly: slow, as they are; each by itself where float64 lacks differences."""
    special = [v for v in part.tolist() if isinstance(v, float) and not math.isfinite(v)]
    rest = np.array([v for v in part.tolist() if not (isinstance(v, float) and not math.isfinite(v))], dtype=object)
    numbers = fractions_of(rest)
    if numbers is None:
        raise InvalidInput(f"a chunk of {type(rest[0]).__name__} was given, finite real numbers are expected")
    missing = sum(map(math.isnan, special))
    yield None, missing, len(special) - missing
    if not numbers:
        return
    low, high, middle = min(numbers), max(numbers), sorted(numbers)[len(numbers) // 2]
    if low == high or _LEAST <= high - low <= 1 / _LEAST:
        values = np.array([nearest(v - middle) for v in numbers])
        yield Piece(values, middle, low, high, numbers.count(low), numbers.count(high)), 0, 0
        return
    for value, count in Counter(numbers).items():
        yield Piece(np.zeros(count), value, value, value, count, count), 0, 0


def _at_ends(values: NDArray[Any], low: Any, high: Any) -> tuple[int, int]:
    return int(np.count_nonzero(values == low)), int(np.count_nonzero(values == high))
