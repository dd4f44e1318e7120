"""Statistics of phi(x), phi a function of one number: entries are mapped first, and those outside its domain are said.

Floats are mapped as they are, in float64. Exact numbers (integers past 2**53, Fraction, Decimal, mpmath and SymPy
numbers) are mapped in `DIGITS` digits, so that the statistic sees them before they are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.samples.batch import NAN_INPUT, Answer, Axis, Kernel, as_rows, reduce_rows
from symdecouple.numeric.samples.intake import Numbers, exact, is_exact_in_float64
from symdecouple.numeric.samples.kinds import Values
from symdecouple.numeric.samples.matrix import normalized_axes
from symdecouple.numeric.samples.weights import WeightRows, present_in

__all__ = ["DIGITS", "EntryMap", "reduce_mapped"]

DIGITS = 60  # differences in the last digit of 128 bits keep twenty
_BEYOND, _OUTSIDE = 1, 2  # what is wrong with an entry
TORN = Outcome(False, "pole inside", "the coordinate has a pole between the smallest and the largest of the samples; "
               "turn them, or take another coordinate")


@dataclass(frozen=True, slots=True)
class EntryMap:
    """phi, and the open interval on which it is a coordinate.

    Attributes
    ----------
    floats : callable
        From a float array to one of the same shape.
    precise : callable
        From an mpmath number to an mpmath number or a float, in a context of `DIGITS` digits.
    low, high : float
    outside : str
        What is said of entries outside: a remedy.
    keeps_type : bool
        phi is handed float32 arrays as they are; else they become float64 first.
    cells : callable or None
        From numbers to the interval between poles of phi that each lies in; None where there are no poles.
    of_ratios : callable or None
        phi of float64 numbers, or of integers, less phi of the largest of their sample, for statistics that do not feel
        a constant.
    of_integers : callable or None
        phi of whole numbers of 64 bits of any size, a float each.
    """

    floats: Callable[[NDArray[Any]], NDArray[Any]]
    precise: Callable[[Any], Any]
    low: float = -math.inf
    high: float = math.inf
    outside: str = ""
    keeps_type: bool = False
    cells: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    of_ratios: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]] | None = None
    of_integers: Callable[[NDArray[Any]], NDArray[Any]] | None = None


def reduce_mapped(name: str, a: Any, mapping: EntryMap, kernel: Kernel, **options: Any) -> Values:
    """Apply a kernel to phi of every sample; options as in `reduce_rows`, the caller one call away."""
    wrong: list[NDArray[np.int8]] = []

    def before(given: Numbers) -> Numbers:
        mapped, codes = _mapped(given, mapping, options["axis"])
        wrong.append(codes)
        return Numbers(mapped, given.masked)

    def after(answer: Answer, given: Numbers, axes: tuple[int, ...], weighed: WeightRows | None) -> None:
        rows, present = as_rows(given.array, axes), present_in(given, axes, weighed)
        codes, found = as_rows(wrong[0], axes) * present, dict[int, Outcome]()
        for i in np.flatnonzero(codes.any(axis=1)).tolist():
            first = int(np.argmax(codes[i]))
            value = rows[i, first : first + 1].tolist()[0]
            found[i] = (Outcome(False, "outside the domain", f"{value} {mapping.outside}")
                        if codes[i, first] == _OUTSIDE else Outcome(
                            False, "beyond float64", f"{value} is mapped to no float64 number; change the unit of the "
                            "sample"))
        if mapping.cells is not None:
            found |= dict.fromkeys(_torn(mapping.cells, rows.astype(np.float64), present), TORN)
        for i, outcome in found.items():
            if answer.refusals.get(i) is not NAN_INPUT:  # which was handed on already
                answer.refusals[i], answer.values[i] = outcome, np.nan

    return reduce_rows(name, a, kernel, **options, frames=6, before=before, after=after)


def _mapped(given: Numbers, mapping: EntryMap, axis: Axis) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """phi of all entries, a number in place of those that have none, and what is wrong with these, or 0."""
    array = given.array
    if array.dtype.kind == "f" or (array.dtype.kind in "iu" and (
            not array.size or is_exact_in_float64(array.min(), array.max()))):
        keeps = mapping.keeps_type and array.dtype == np.float32
        values = array if keeps else array.astype(np.float64, copy=False)
        outside = (values <= mapping.low) | (values >= mapping.high)
        outside &= np.isfinite(values)  # what is infinite is told as such
        safe = np.where(outside, values.dtype.type(_inside(mapping)), values)
        if mapping.of_ratios is None:
            found = mapping.floats(safe)
        else:
            seen = np.isfinite(safe) if given.masked is None else np.isfinite(safe) & ~given.masked
            largest = np.max(safe, normalized_axes(axis, safe.shape), keepdims=True, where=seen, initial=1e-323)
            found = mapping.of_ratios(safe, largest)
        np.copyto(found, values, where=np.isinf(values))
        beyond = ~np.isfinite(found) & np.isfinite(values)
        found[beyond] = 0
        return found, np.int8(_OUTSIDE) * outside + np.int8(_BEYOND) * beyond
    if mapping.of_ratios is not None and array.dtype.kind in "iu":
        seen = np.broadcast_to(True, array.shape) if given.masked is None else ~given.masked
        largest = np.max(array, normalized_axes(axis, array.shape), keepdims=True, where=seen, initial=1)
        safe = np.where(seen, array, largest)
        if (safe > largest // 2).all() and is_exact_in_float64(0, 4 * int((largest - safe).max())):  # ties stay
            return mapping.of_ratios(safe, largest), np.zeros(array.shape, dtype=np.int8)
    if mapping.of_integers is not None and array.dtype.kind in "iu":
        return mapping.of_integers(array), np.zeros(array.shape, dtype=np.int8)
    import mpmath  # for exact numbers only: `stats` loads without it

    flat, wrong = [], np.zeros(array.size, dtype=np.int8)
    with mpmath.workdps(DIGITS):
        for i, entry in enumerate(array.ravel().tolist()):
            value = exact(entry)
            if isinstance(value, float):
                flat.append(value)
                continue
            is_inside = mapping.low < value < mapping.high
            found = mapping.precise(mpmath.mpf(value.numerator) / value.denominator if is_inside else
                                    mpmath.mpf(_inside(mapping)))
            wrong[i] = (_BEYOND if not mpmath.isfinite(found) else 0) if is_inside else _OUTSIDE
            flat.append(found if mpmath.isfinite(found) else 0.0)
    out = np.empty(array.size, dtype=np.float64 if all(isinstance(v, float) for v in flat) else object)
    out[:] = flat
    return out.reshape(array.shape), wrong.reshape(array.shape)


def _inside(mapping: EntryMap) -> float:
    low, high = mapping.low, mapping.high
    if math.isinf(low):
        return 0.0 if math.isinf(high) else high - 1
    return low + 1 if math.isinf(high) else (low + high) / 2


def _torn(cells: Callable[[NDArray[Any]], NDArray[Any]], rows: NDArray[Any], present: NDArray[np.bool_]) -> list[int]:
    """Rows whose entries lie on both sides of a pole."""
    counts, places = present & np.isfinite(rows), cells(rows).astype(np.float64)
    low = np.min(places, axis=1, where=counts, initial=np.inf)
    high = np.max(places, axis=1, where=counts, initial=-np.inf)
    return np.flatnonzero(low < high).tolist()
