"""Numbers of any kind become rows of floats, and nothing else does.

NumPy converts too willingly: booleans and text parse as numbers, masks vanish in `asarray`, integers of 10**200
round to ties. Here an input is either numbers, converted without wrapping, or an `InvalidInput` that says what it is.

Where rounding to float64 would lose the answer (integers past 2**53, Fraction, Decimal, mpmath and SymPy numbers) a
row is centred exactly at its upper median and scaled by a power of two *before* it is rounded. The functions of a row
that are taken here do not feel a shift or a unit; the majority, which decides whether and where the skewness
vanishes, holds the median and is therefore resolved to the last bit. Ties at both ends are counted before rounding.

What has labels (pandas, xarray) or chunks (dask) is recognized here by its type, without a library being loaded: see
`library_of`, and `for_arrays` for functions that give labels back.

Not covered: complex samples, dates, ragged lists.
"""

from __future__ import annotations

import math
import numbers
from collections import UserList, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, wraps
from inspect import signature
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.frames import numbers_in

__all__ = ["Numbers", "centre_exactly", "check_choice", "elsewhere", "ends_of", "exact", "for_arrays", "fractions_of",
           "holds_more", "is_elsewhere", "is_exact_in_float64", "library_of", "lift_of", "missing_entries", "nearest",
           "plan_elsewhere", "shifted_exactly", "shifted_integers", "spans_of", "take_numbers"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_PLAIN = frozenset({np.ndarray, np.ma.MaskedArray, list, tuple, float, int, np.float64})
_SEQUENCES = (list, tuple, deque, UserList)
_LIBRARIES = frozenset({"pandas", "xarray", "dask"})

_REMEDY = {
    "b": ("booleans", "say that 0 and 1 are meant with .astype(int)"),
    "c": ("complex numbers", "take .real, .imag or abs() first"),
    "S": ("bytes", "decode and convert with float() first"),
    "U": ("text", "convert with .astype(float) first"),
    "T": ("text", "convert with .astype(float) first"),
    "M": ("dates", "take differences and divide by a unit first"),
    "m": ("time spans", "divide by a unit first, e.g. a / np.timedelta64(1, 's')"),
    "V": ("records", "select one numeric field first"),
}
_NO_NUMBERS = (bool, np.bool_, str, bytes, np.ndarray, np.datetime64, np.timedelta64, type)  # seem to be numbers
_EXACT_INTEGER = 2**53  # every integer up to here is a float64
_DIGITS = 60  # decimal digits taken of an irrational number (sqrt(2), pi): more than three times float64
_EXPONENT_CAP = 100_000  # as a ratio of integers, 1e1000000000 would fill the memory
_LIFT = 1000  # centred rows get a range near 2**1000: differences down to 2**-2074 of the range stay visible


@dataclass(frozen=True, slots=True)
class Numbers:
    """An array of real numbers (dtype float, integer, or object holding exact numbers) and what is masked in it."""

    array: NDArray[Any]
    masked: NDArray[np.bool_] | None

    @property
    def result_type(self) -> type[np.floating[Any]]:
        """Half and single precision answer in single precision, everything else in double."""
        return np.float32 if self.array.dtype in (np.float16, np.float32) else np.float64


def library_of(a: Any) -> str:
    """The library whose labels or chunks an array-like has: "pandas", "xarray" or "dask"; "" for all others."""
    kind: Any = type(a)
    return "" if kind in _PLAIN else _library_of_type(kind)


@cache
def _library_of_type(kind: Any) -> str:
    homes = (base.__module__.partition(".")[0] for base in kind.__mro__)
    return next((home for home in homes if home in _LIBRARIES), "")


def for_arrays(function: _Function, otherwise: Callable[..., Any]) -> _Function:
    """Return the function as it is for plain arrays; labels, groups and dimensions go to `otherwise`, which gets it
    first."""
    name = function.__code__.co_varnames[0]

    @wraps(function)
    def answer(*given: Any, **options: Any) -> Any:
        is_plain = options.get("groups") is None and options.get("dim") is None
        if is_plain and not library_of(given[0] if given else options.get(name)):
            return function(*given, **options)
        return otherwise(function, *given, **options)

    return cast(_Function, answer)


def take_numbers(a: Any) -> Numbers:
    """Convert array-like `a` to `Numbers`; raise `InvalidInput` if it holds anything but real numbers."""
    if isinstance(a, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(a)
        return Numbers(_checked(a.data, mask), mask if mask.any() else None)
    if isinstance(a, _SEQUENCES):
        return Numbers(_checked(_from_sequence(a)), None)
    library = library_of(a)
    if "dask" in (library, library_of(getattr(a, "data", None)) if library == "xarray" else ""):
        raise InvalidInput("an array of dask was given where numbers in memory are expected; give a.compute()")
    if library == "xarray" and not hasattr(a, "dtype"):
        raise InvalidInput(f"a {type(a).__name__} of xarray was given where an array is expected; give one variable of "
                           "it, a DataArray")
    if hasattr(a, "toarray") and hasattr(a, "nnz"):
        raise InvalidInput(f"a sparse matrix ({type(a).__name__}) was given, an array of all its numbers is expected: "
                           "a.toarray()")
    return Numbers(_checked(numbers_in(a) if library == "pandas" else np.asarray(a)), None)


def is_elsewhere(a: Any, dim: Any = None) -> bool:
    """True iff `a` is an object of dask or xarray, or a dimension is named: `symdecouple.lazy` answers."""
    return dim is not None or library_of(a) in ("dask", "xarray")


def elsewhere(function: Callable[..., Any], plain: Callable[..., Any], given: Sequence[Any], options: dict[str, Any]
              ) -> Any:
    """What a statistic with these arguments is, lazily or with dimensions; `plain` is it for arrays."""
    from symdecouple.lazy.dispatch import of_statistic

    bound = signature(plain).bind(*given, **options)
    bound.apply_defaults()
    return of_statistic(function, bound.arguments)


def plan_elsewhere(method: Callable[..., Any], plan: Any, samples: Any, arguments: Any, options: dict[str, Any]) -> Any:
    """The same of a method of a plan."""
    from symdecouple.lazy.dispatch import of_plan

    return of_plan(method, plan, samples, arguments, options)


def _from_sequence(a: Sequence[Any]) -> NDArray[Any]:
    """A nested list as an array, looked at before NumPy unifies its types: [True, 1.5] would come out as numbers."""
    types = _leaf_types(a)
    if any(issubclass(t, np.ma.MaskedArray) for t in types):
        raise InvalidInput("a list holding masked arrays was given, NumPy would drop the masks; stack with np.ma.stack")
    if any(t.__module__.startswith("dask.") for t in types):
        raise InvalidInput("a list holding arrays of dask was given; stack them with dask.array.stack")
    if any(issubclass(t, bool | np.bool_) for t in types):
        _refuse_kind("b")
    try:
        array = np.asarray(a)
        is_mixed = array.dtype.kind == "f" and any(issubclass(t, int | np.integer) for t in types)
        if is_mixed and (np.abs(array) >= _EXACT_INTEGER).any():
            objects = np.asarray(a, dtype=object)
            for place, value in enumerate(objects.flat):
                objects.flat[place] = value.item() if isinstance(value, np.ndarray) else value
            big = any(isinstance(v, int | np.integer) and abs(int(v)) > _EXACT_INTEGER for v in objects.flat)
            return objects if big else array
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"a nested list without a rectangular shape was given ({_uneven(a) or error}); pad it with "
                           "nan, or give all values in one list, with groups=") from None
    return array


def _uneven(a: Sequence[Any]) -> str:
    """The first two entries of unequal length."""
    lengths = [len(entry) if isinstance(entry, list | tuple | np.ndarray) else 0 for entry in a]
    other = next((k for k, length in enumerate(lengths) if length != lengths[0]), 0)
    return f"entry 0 has length {lengths[0]}, entry {other} has {lengths[other]}" if other else ""


def _leaf_types(a: Any) -> set[type]:
    """The types of the entries of a nested list, array scalars counted by the type of their array."""
    if isinstance(a, np.ma.MaskedArray):
        return {np.ma.MaskedArray}
    if isinstance(a, np.ndarray):
        return {a.dtype.type}
    types = set(map(type, a))
    inner = (*_SEQUENCES, np.ndarray)
    if not any(issubclass(t, inner) for t in types):
        return types
    return set[type]().union(*(_leaf_types(e) if isinstance(e, inner) else {type(e)} for e in a))


def _checked(array: NDArray[Any], masked: Any = False) -> NDArray[Any]:
    if array.dtype.kind in _REMEDY:
        _refuse_kind(array.dtype.kind)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        return array.astype(object)
    if array.dtype.kind == "O":
        for value in array[~np.broadcast_to(masked, array.shape)].tolist():
            if isinstance(value, _NO_NUMBERS):
                _refuse_value(value)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _refuse_kind(kind: str) -> NoReturn:
    what, remedy = _REMEDY[kind]
    raise InvalidInput(f"the sample holds {what}, real numbers are expected; {remedy}")


def is_exact_in_float64(low: Any, high: Any) -> Any:
    """True iff every integer of [low, high] is a float64; of arrays, an array."""
    return (low >= -_EXACT_INTEGER) & (high <= _EXACT_INTEGER)


def exact(value: Any) -> Fraction | float:
    """The exact value of a number of any library as a Fraction; NaN and the infinities stay floats.

    >>> from decimal import Decimal
    >>> exact(Decimal("0.1")), exact(0.5)
    (Fraction(1, 10), Fraction(1, 2))
    """
    if isinstance(value, _NO_NUMBERS):
        _refuse_value(value)
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if hasattr(value, "as_integer_ratio"):
        return _from_ratio(value)
    if hasattr(value, "_mpf_"):
        return _from_binary(value)
    if hasattr(value, "evalf"):
        return _from_symbolic(value)
    _refuse_value(value)


def _from_ratio(value: Any) -> Fraction | float:
    """float, NumPy floats of any width, Decimal."""
    if hasattr(value, "adjusted") and value.is_finite():
        _check_exponent(value.adjusted(), value)
    try:
        numerator, denominator = value.as_integer_ratio()
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan
    return Fraction(int(numerator), int(denominator))


def _from_binary(value: Any) -> Fraction | float:
    """mpmath reals and SymPy floats: (sign, mantissa, exponent, bits); mantissa 0 with an exponent is special."""
    sign, mantissa, exponent, bits = value._mpf_
    if not mantissa and exponent:
        return float(value)
    _check_exponent(int(exponent) + int(bits), value)
    magnitude = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -magnitude if sign else magnitude


def _from_symbolic(value: Any) -> Fraction | float:
    """SymPy numbers that are not rational, to 60 digits."""
    try:
        special = float(value)
    except (TypeError, ValueError):
        _refuse_value(value)
    except OverflowError:
        special = 0.0
    if not math.isfinite(special):
        return special
    number = value.evalf(_DIGITS)
    return _from_binary(number) if hasattr(number, "_mpf_") else special


def _check_exponent(exponent: int, value: Any) -> None:
    if abs(exponent) > _EXPONENT_CAP:
        raise InvalidInput(f"a number with exponent {exponent} was given, at most {_EXPONENT_CAP} is taken; rescale it")


def _refuse_value(value: Any) -> NoReturn:
    text = repr(value)
    shown = text if len(text) <= 40 else text[:37] + "..."
    raise InvalidInput(
        f"the sample holds {shown} of type {type(value).__name__}, real numbers are expected; "
        "convert it, or put nan for a missing value and choose nan_policy"
    )


def missing_entries(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Which numbers are NaN, of any type."""
    if array.dtype.kind != "O":
        found: NDArray[np.bool_] = np.isnan(array)
        return found
    flat = [isinstance(number := exact(value), float) and math.isnan(number) for value in array.ravel().tolist()]
    return np.array(flat, dtype=np.bool_).reshape(array.shape)


def centre_exactly(values: Sequence[Any], weights: Sequence[float]) -> NDArray[np.float64]:
    """Shift integers or Fractions by their upper median, that of the weights, and scale by a power of two, exactly;
    round once."""
    if len(values) < 2:
        return np.zeros(len(values))
    middle, exponent = _weighted_median(values, weights), lift_of(values)
    up, down = 2 ** max(exponent, 0), 2 ** max(-exponent, 0)
    shifted = (value - middle for value in values)
    return np.array([(v.numerator * up) / (v.denominator * down) for v in shifted])  # int / int is rounded once


def lift_of(values: Sequence[Any]) -> int:
    """The exponent of the power of two that `centre_exactly` multiplies by."""
    span = Fraction(max(values) - min(values))
    return _LIFT - span.numerator.bit_length() + span.denominator.bit_length()


def shifted_integers(rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Integers of 64 bits less the upper median of their row, exactly, and the medians; rows span less than 2**63."""
    half = rows.shape[1] // 2
    middles = np.partition(rows, half, axis=1)[:, half]
    return (rows - middles[:, None]).view(np.int64), middles  # modulo 2**64, which unsigned differences need


def ends_of(rows: NDArray[Any], present: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Minimum and maximum of rows of integers, where entries are present; the wrong way round where none is."""
    here: Any = True if present.all() else present  # a mask costs as much as all the rest
    kind = np.iinfo(rows.dtype)
    return rows.min(axis=1, where=here, initial=kind.max), rows.max(axis=1, where=here, initial=kind.min)


def spans_of(low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.uint64]:
    """High less low, of integers of 64 bits."""
    spans: NDArray[np.uint64] = (high - low).astype(np.uint64)  # modulo 2**64
    return spans


def fractions_of(row: NDArray[Any]) -> list[Fraction] | None:
    """The exact numbers of a row; None where some are not finite, or cannot be taken."""
    try:
        values = list(map(exact, row.tolist()))
    except InvalidInput:
        return None  # whoever works with the row says why
    fractions = [v for v in values if isinstance(v, Fraction)]
    return fractions if len(fractions) == len(values) else None


def _is_settled(value: Any) -> bool:
    """False for sqrt(2) and pi, of which more digits can be asked for than `exact` takes."""
    if isinstance(value, numbers.Rational) or hasattr(value, "as_integer_ratio"):
        return True
    return bool(getattr(value, "is_Float", hasattr(value, "_mpf_") and not hasattr(value, "func")))


def shifted_exactly(row: NDArray[Any], rounded: bool = True) -> tuple[NDArray[Any], Fraction] | None:
    """Take the upper median off a row before it is rounded (or not); return the numbers and the exact mean.

    None where float64 holds the numbers as they are, and where some are not finite.

    >>> floats, mean = shifted_exactly(np.array([2**53 + k for k in (1, 3, 4, 9, 10)]))
    >>> floats.tolist(), mean - 2**53
    ([-3.0, -1.0, 0.0, 5.0, 6.0], Fraction(27, 5))
    """
    if len(row) < 2 or row.dtype.kind == "f":
        return None
    values: list[Any] | None
    if row.dtype.kind not in "iu":
        values = fractions_of(row)
        if values is None or all(map(_is_float, values)) or not (rounded or all(map(_is_settled, row))):
            return None
    elif is_exact_in_float64(row.min(), row.max()):
        return None
    else:
        values = row.tolist()
    middle = sorted(values)[len(values) // 2]
    shifted = [v - middle for v in values]
    taken = np.array(list(map(nearest, shifted))) if rounded else np.array(shifted, dtype=object)
    return taken, middle + Fraction(sum(shifted)) / len(shifted)


def holds_more(samples: Any) -> bool:
    """True iff some finite numbers of an array-like are no float64."""
    array = take_numbers(samples).array
    if array.dtype.kind == "O":
        return not all(_is_float(v) for v in map(exact, array.ravel().tolist())
                       if isinstance(v, Fraction))
    return bool(array.dtype.kind != "f" and array.size and not is_exact_in_float64(array.min(), array.max()))


def _is_float(value: Fraction) -> bool:
    return math.isfinite(near := nearest(value)) and Fraction(near) == value


def nearest(value: Any) -> float:
    """The float64 of a whole number or a Fraction, rounded once; beyond float64, an infinity."""
    try:
        return float(value.numerator / value.denominator)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _weighted_median(values: Sequence[Any], weights: Sequence[float]) -> Any:
    """The first value up to which more than half of the weight lies; the largest where weights make no sense."""
    ordered = sorted(range(len(values)), key=values.__getitem__)
    reached = np.cumsum([weights[i] for i in ordered])
    first = int(np.argmax(2 * reached > reached[-1]))
    return values[ordered[first]]


def check_choice(argument: str, given: object, expected: tuple[str, ...]) -> None:
    if given not in expected:
        raise InvalidInput(f"{argument}={given!r} was given, one of {', '.join(map(repr, expected))} is expected")
