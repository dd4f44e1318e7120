"""One field of a text table: a number, a missing value, or text; and nothing by accident.

Python's ``float`` takes more than files should mean (1_000, Arabic digits) and answers 1e400 with infinity. Here a
number is what the pattern below says. Integers past 2**53 stay integers: they are not floats, and their last digits
may be all that distinguishes them. Where exact numbers are wanted, 0.1 is 1/10.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TypeAlias

from symdecouple.errors import InvalidInput

__all__ = ["Cell", "is_number", "looks_like_decimal_comma", "read_cell"]

Cell: TypeAlias = float | int | Fraction | str
"""A float (NaN where the value is missing), an integer past 2**53, a Fraction where numbers are exact, or text."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?P<rest>\.?[0-9]*)|(?P<bare>\.[0-9]+))(?P<power>[eE][+-]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"(?P<sign>[+-]?)inf(?:inity)?", re.IGNORECASE)
_MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none"})
_EXACT_INTEGER = 2**53
_SAFE_DIGITS = 15  # so many digits are below 2**53
_MAX_DIGITS = 310  # of an integer; the largest float64 has 309


def is_number(cell: Cell) -> bool:
    """True for numbers, infinities included; False for text and missing values."""
    return not isinstance(cell, str) and not (isinstance(cell, float) and math.isnan(cell))


def looks_like_decimal_comma(text: str) -> bool:
    """True for text such as 3,14."""
    return _DECIMAL_COMMA.fullmatch(text) is not None


def read_cell(text: str, decimal: str = ".", is_exact: bool = False) -> Cell:
    """Read one field; with `is_exact`, numbers are fractions and nothing is rounded.

    Raises
    ------
    InvalidInput
        For numbers that float64 cannot hold.

    Examples
    --------
    >>> read_cell("3,5", ","), read_cell("NA"), read_cell("9007199254740993"), read_cell("1_000")
    (3.5, nan, 9007199254740993, '1_000')
    >>> read_cell("0.1", is_exact=True)
    Fraction(1, 10)
    """
    match = _NUMBER.fullmatch(text if decimal == "." else text.replace(".", "?").replace(",", "."))
    if match is not None:
        value = _number(match)  # refuses what is out of range, before a fraction fills the memory
        return Fraction(match[0]) if is_exact else value
    if text.lower() in _MISSING:
        return math.nan
    if infinite := _INFINITE.fullmatch(text):
        return -math.inf if infinite["sign"] == "-" else math.inf
    return text


def _number(match: re.Match[str]) -> float | int:
    text = match[0]
    if not match["rest"] and not match["bare"] and not match["power"] and len(text) > _SAFE_DIGITS:
        return _integer(text)
    value = float(text)
    if math.isinf(value):
        _refuse(text, "above")
    if value == 0.0 and re.search("[1-9]", text.lower().partition("e")[0]):
        _refuse(text, "below")
    return value


def _integer(text: str) -> float | int:
    if len(text.lstrip("+-0")) > _MAX_DIGITS:
        _refuse(text, "above")
    value = int(text.lstrip("+-0") or "0") * (-1 if text.startswith("-") else 1)
    if abs(value) <= _EXACT_INTEGER:
        return float(value)
    try:
        float(value)
    except OverflowError:
        _refuse(text, "above")
    return value


def _refuse(text: str, where: str) -> None:
    shown = text if len(text) <= 40 else text[:37] + "..."
    raise InvalidInput(f"{shown} is {where} the range of float64; give the data in another unit")
