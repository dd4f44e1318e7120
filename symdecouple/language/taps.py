r"""Exact taps in any number of dimensions: nested tuples of numbers and parameters.

Taps are reduced to one form, without zeros around them, so that equal kernels are equal objects. A kernel of rank one
is a product of kernels of one dimension,

.. math:: t_{j_1 \ldots j_d} = p^{1-d} \prod_i t^{(i)}_{j_i}

with the lines t^{(i)} through a nonzero tap p; that is decided exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Integer, Mul, Rational, S, Tuple, expand

from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.mean import exact
from symdecouple.language.sample import Sample

__all__ = [
    "entries", "is_even", "numeric_taps", "origin_of", "outer_product", "rank_one", "read_taps", "shape_of", "trimmed",
    "turned",
]


def read_taps(kernel: Any) -> Tuple:
    """Return nested taps as exact numbers; refuse what is ragged, empty or not a number."""
    if isinstance(kernel, np.ndarray):
        kernel = kernel.tolist()
    if not isinstance(kernel, (Sequence, Tuple)) or isinstance(kernel, (str, bytes)) or len(kernel) == 0:
        raise InvalidInput(f"a filter is a name or a nonempty sequence of taps, got {kernel!r}")
    taps = _nested(kernel)
    if not _is_regular(taps):
        raise InvalidInput(f"the rows of taps differ in length or depth, got {kernel!r}")
    numbers = [tap for _, tap in entries(taps)]
    if any(tap.is_number and not tap.is_finite for tap in numbers) or any(tap.atoms(Sample) for tap in numbers):
        raise InvalidInput(f"taps are finite numbers or parameters, got {kernel!r}")
    return taps


def shape_of(taps: Tuple) -> tuple[int, ...]:
    """The numbers of taps along each axis."""
    return (len(taps), *(shape_of(taps[0]) if isinstance(taps[0], Tuple) else ()))


def entries(taps: Tuple) -> Iterator[tuple[tuple[int, ...], Expr]]:
    """Yield each tap with its place."""
    for j, tap in enumerate(taps):
        if isinstance(tap, Tuple):
            yield from (((j, *place), inner) for place, inner in entries(tap))
        else:
            yield (j,), tap


def trimmed(taps: Tuple, origin: tuple[int, ...]) -> tuple[Tuple, tuple[int, ...]]:
    """Drop zero taps all around, so that equal filters are equal objects."""
    support = [place for place, tap in entries(taps) if tap != 0]
    if not support:
        zero: Any = S.Zero
        for _ in origin:
            zero = Tuple(zero)
        return zero, (0,) * len(origin)
    low, high = (tuple(map(end, zip(*support, strict=True))) for end in (min, max))
    return _window(taps, low, high), tuple(o - a for o, a in zip(origin, low, strict=True))


def origin_of(origin: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of the tap at lag 0 along each axis, the middle by default."""
    if origin is None:
        if even := [size for size in shape if size % 2 == 0]:
            raise InvalidInput(f"{even[0]} taps have no middle: give origin=, the index of the tap at lag 0")
        return tuple(size // 2 for size in shape)
    place = tuple(origin) if isinstance(origin, (tuple, list, Tuple)) else (origin,)
    if any(isinstance(o, bool) or not isinstance(o, (int, Integer)) for o in place) or len(place) != len(shape):
        wanted = "an integer" if len(shape) == 1 else f"a tuple of {len(shape)} integers"
        raise InvalidInput(f"origin is the index of the tap at lag 0, {wanted}, got {origin!r}")
    return tuple(map(int, place))


def turned(taps: Tuple, origin: tuple[int, ...]) -> tuple[Tuple, tuple[int, ...]]:
    """Reverse all axes: taps and origin of the kernel with opposite lags."""
    return _reversed(taps), tuple(size - 1 - o for size, o in zip(shape_of(taps), origin, strict=True))


def is_even(taps: Tuple, origin: tuple[int, ...]) -> bool:
    """True iff the taps are symmetric about the origin along each axis by itself."""
    table = dict(entries(taps))
    return all(size == 2 * o + 1 for size, o in zip(shape_of(taps), origin, strict=True)) and all(
        tap == table[tuple(o + abs(j - o) for j, o in zip(place, origin, strict=True))] for place, tap in table.items())


def rank_one(taps: Tuple) -> list[Tuple] | None:
    """Return kernels of one dimension whose tensor product the taps are; None where that is not so, or not seen.

    Examples
    --------
    >>> rank_one(read_taps([[1, 2, 1], [2, 4, 2]]))
    [(1, 2), (1, 2, 1)]
    >>> rank_one(read_taps([[1, 0], [0, 1]])) is None
    True
    """
    table = dict(entries(taps))
    pivot = next((place for place, tap in table.items() if tap.is_number and tap != 0), None)
    if pivot is None:
        return None
    scale = table[pivot]
    lines = [[table[*pivot[:i], j, *pivot[i + 1 :]] for j in range(n)] for i, n in enumerate(shape_of(taps))]
    for place, tap in table.items():
        value = Mul(*(line[j] for line, j in zip(lines, place, strict=True)))
        if expand(value - tap * scale ** (len(pivot) - 1)) != 0:
            return None
    return [Tuple(*(tap if i == 0 else tap / scale for tap in line)) for i, line in enumerate(lines)]


def outer_product(left: Any, right: Any) -> Any:
    """The tensor product of nested taps; its axes are those of the first, then those of the second."""
    if isinstance(left, Tuple):
        return Tuple(*(outer_product(tap, right) for tap in left))
    return Tuple(*(outer_product(left, tap) for tap in right)) if isinstance(right, Tuple) else left * right


def numeric_taps(taps: Tuple, array: NDArray[Any]) -> NDArray[Any]:
    """Return the taps as numbers that go with the entries of an array: floats, or exact and of high precision.

    Entries that are Fractions, integers or SymPy numbers keep the taps exact; numbers of mpmath get them in the
    precision of their context.
    """
    if any(tap.free_symbols for _, tap in entries(taps)):
        raise InvalidInput(f"the taps {taps} contain parameters; bind them before filtering numbers")
    if array.dtype != object:
        return _floats(taps)
    kinds = {type(entry): entry for entry in array.flat}
    numbers = [tap for _, tap in entries(taps)]
    contexts = (getattr(entry, "context", getattr(entry, "ctx", None)) for entry in kinds.values())
    context = next((c for c in contexts if c is not None), None)
    if any(issubclass(kind, (str, bytes, bool, complex, list, tuple, type(None))) for kind in kinds):
        raise InvalidInput(f"filters take arrays of real numbers, got entries of type "
                           f"{', '.join(sorted(kind.__name__ for kind in kinds))}")
    out = np.empty(len(numbers), dtype=object)
    if context is not None:
        out[:] = [_in_context(tap, context) for tap in numbers]
    elif any(issubclass(kind, Expr) for kind in kinds) or not all(isinstance(tap, Rational) for tap in numbers):
        out[:] = numbers
    else:
        out[:] = [Fraction(int(tap.p), int(tap.q)) for tap in numbers]
    return out.reshape(shape_of(taps))


@lru_cache(maxsize=1024)
def _floats(taps: Tuple) -> NDArray[np.float64]:
    out = np.array([float(tap) for _, tap in entries(taps)]).reshape(shape_of(taps))
    out.setflags(write=False)
    return out


def _in_context(tap: Expr, context: Any) -> Any:
    if isinstance(tap, Rational):
        return context.mpf(int(tap.p)) / int(tap.q)
    if not hasattr(context.mpf(0), "_mpf_"):
        raise UnsupportedExpression(f"the irrational tap {tap} has no enclosure; intervals need rational taps")
    with context.workprec(context.prec + 10):
        value = context.mpf(tap._to_mpmath(context.prec))
    return +value


def _nested(kernel: Any) -> Any:
    if isinstance(kernel, np.ndarray):
        kernel = kernel.tolist()
    if isinstance(kernel, (list, tuple, Tuple)):
        return Tuple(*map(_nested, kernel))
    return exact(kernel, "Filter")


def _reversed(taps: Any) -> Any:
    return Tuple(*map(_reversed, reversed(taps))) if isinstance(taps, Tuple) else taps


def _is_regular(taps: Any) -> bool:
    """True iff all rows have the same shape, and none is empty."""
    if not isinstance(taps, Tuple):
        return True
    if len(taps) == 0 or not all(map(_is_regular, taps)):
        return False
    return len({shape_of(row) if isinstance(row, Tuple) else () for row in taps}) == 1


def _window(taps: Any, low: tuple[int, ...], high: tuple[int, ...]) -> Any:
    if not low:
        return taps
    return Tuple(*(_window(tap, low[1:], high[1:]) for tap in taps[low[0] : high[0] + 1]))
