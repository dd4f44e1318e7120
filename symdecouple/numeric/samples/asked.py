"""Numbers beside samples: targets, references, a single vector that is taken as it is. What is masked is no number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.intake import exact, library_of, take_numbers
from symdecouple.numeric.samples.vectors import as_floats

__all__ = ["asked_numbers", "entries_of"]


def asked_numbers(values: Any, is_exact: bool = False) -> NDArray[Any]:
    """Numbers that are asked for, exact ones as they are or as float64; NaN where they are masked."""
    try:
        given = take_numbers(values)
        found = as_floats(given.array) if not is_exact else np.array(
            [v if isinstance(number := exact(v), Fraction) else number for v in given.array.ravel().tolist()],
            dtype=object).reshape(given.array.shape)
    except InvalidInput as error:
        raise InvalidInput(f"values={values!r:.80} were given; numbers are expected, one for each feature") from error
    return found if given.masked is None else np.where(given.masked, np.nan, found)


def entries_of(given: Any) -> NDArray[Any]:
    """The numbers of an array or a table as objects, and whatever else has an order as it comes; NaN where masked.

    >>> entries_of(np.ma.masked_array([1, 2], mask=[False, True])).tolist()
    [1, nan]
    """
    if isinstance(given, str | bytes | Mapping | Set):
        raise InvalidInput(f"a {type(given).__name__} was given, numbers in their order are expected")
    if hasattr(given, "__iter__") and not (hasattr(given, "dtype") or library_of(given)):
        return np.array([math.nan if value is np.ma.masked else value for value in given], dtype=object)
    taken = take_numbers(given)
    found = taken.array.astype(object)
    return found if taken.masked is None else np.where(taken.masked, math.nan, found)
