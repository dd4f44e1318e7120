"""One field of a text table: a number, a missing value, or text; and nothing by accident.

Python's ``float`` takes more than files should mean (1_000, Arabic digits) and answers 1e400 with infinity. Here a
number is what the pattern below says. Integers past 2**53 stay integers: they are not floats, and their last digits
may be all that distinguishes them. Decimals of more digits than any float64 needs are fractions, unless they are a
float64 that was printed with digits to spare; and so are those beyond its range. Where exact numbers are wanted, 0.1 is
1/10.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from symdecouple.errors import InvalidInput

__all__ = ["Cell", "Notation", "is_error", "is_number", "looks_like_decimal_comma", "looks_like_thousands",
           "read_cell"]

Cell: TypeAlias = float | int | Fraction | str
"""A float (NaN where the value is missing), an integer past 2**53, a Fraction where float64 is too coarse, or text."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?P<rest>\.?[0-9]*)|(?P<bare>\.[0-9]+))(?P<power>[eE][+-]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_GROUPED = re.compile(  # Indian groups, but the last, have two digits
    r"[+-]?[1-9][0-9]{0,2}(?P<sign>[.,_'\u2019 \u00a0\u202f])(?:[0-9]{2,3}(?P=sign))*[0-9]{3}(?![0-9])")
_REST = re.compile(r"(?:[.,][0-9]*)?")
_INFINITE = re.compile(r"(?P<sign>[+-]?)(?:inf(?:inity)?|1\.#inf0*)", re.IGNORECASE)
_MISSING = re.compile(r"(?:<?na>?|n/a|[+-]?nan(?:\(ind\))?|null|none|[+-]?1\.#(?:ind|[qs]nan)0*)?", re.IGNORECASE)
_ERROR = re.compile(  # of spreadsheets: #DIV/0!, #WERT!, #ИМЯ?; what is not there: #N/A, #NV, #Н/Д; too wide: ##
    r"#[¡¿]?[^\W\d_][\w./]{0,20}[!?]|#\w/\w|#DIV/0|#NA|#NV|#N/A N/A|#YOK|#HIÁNYZIK|#SAKNAS|#GETTING_DATA|#NEDOSTUPNÝ|"
    r"#NENÍ_K_DISPOZICI|Err:[0-9]{3}|#{2,}", re.IGNORECASE)
_EXACT_INTEGER = 2**53
_SAFE_DIGITS = 15  # so many digits are below 2**53
_FLOAT_DIGITS = 17  # tell any two float64 apart
_MOST_DIGITS = 4000  # before the point, or behind it: Python writes no integers of more than 4300
_ALIKE = (" \u00a0\u202f", "'\u2019")  # signs between thousands that nobody tells apart


@dataclass(frozen=True, slots=True)
class Notation:
    """How numbers are written: the decimal sign, and what separates thousands, if anything does."""

    decimal: str = "."
    thousands: str = ""

    def plain(self, text: str) -> str | None:
        """The number as Python writes it; None where it is not written this way."""
        signs = next((same for same in _ALIKE if self.thousands in same), self.thousands) if self.thousands else ""
        if signs and (grouped := _GROUPED.match(text)) is not None and grouped["sign"] in signs:
            text = grouped[0].translate({ord(sign): "" for sign in signs}) + text[grouped.end():]
        if self.decimal == ".":
            return text
        return None if "." in text else text.replace(",", ".")


def is_number(cell: Cell) -> bool:
    """True for numbers, infinities included; False for text and missing values."""
    return not isinstance(cell, str) and not (isinstance(cell, float) and math.isnan(cell))


def is_error(text: str) -> bool:
    """True for what a spreadsheet writes in the place of a value, such as #DIV/0! or #NV, in any language."""
    return text[:1] in ("#", "E", "e") and _ERROR.fullmatch(text) is not None


def looks_like_decimal_comma(text: str) -> bool:
    """True for text such as 3,14."""
    return _DECIMAL_COMMA.fullmatch(text) is not None


def looks_like_thousands(text: str) -> str | None:
    """The sign between the groups of 1,234,567.8; None for other text."""
    match = _GROUPED.match(text)
    return match["sign"] if match is not None and _REST.fullmatch(text, match.end()) is not None else None


def read_cell(text: str, notation: Notation | str = ".", is_exact: bool = False) -> Cell:
    """Read one field; with `is_exact`, numbers are fractions and nothing is rounded.

    Raises
    ------
    InvalidInput
        For numbers of thousands of digits.

    Examples
    --------
    >>> read_cell("3,5", ","), read_cell("NA"), read_cell("9007199254740993"), read_cell("1_000")
    (3.5, nan, 9007199254740993, '1_000')
    >>> read_cell("0.1", is_exact=True), read_cell("1.00000000000000000001")
    (Fraction(1, 10), Fraction(100000000000000000001, 100000000000000000000))
    >>> read_cell("1,234.5", Notation(thousands=",")), read_cell("#WERT!")
    (1234.5, nan)
    """
    plain = (Notation(notation) if isinstance(notation, str) else notation).plain(text)
    match = None if plain is None else _NUMBER.fullmatch(plain)
    if match is not None:
        value = _number(match)  # refuses what is too long, before a fraction fills the memory
        return Fraction(match[0]) if is_exact else value
    if _MISSING.fullmatch(text) or is_error(text):
        return math.nan
    if infinite := _INFINITE.fullmatch(text):
        return -math.inf if infinite["sign"] == "-" else math.inf
    return text


def _number(match: re.Match[str]) -> float | int | Fraction:
    text = match[0]
    if len(text) > _SAFE_DIGITS and not match["rest"] and not match["bare"] and not match["power"]:
        return _integer(text)
    _check_size(text, match["power"])
    value = float(text)
    if math.isinf(value) or (value == 0.0 and re.search("[1-9]", text.lower().partition("e")[0])):
        return Fraction(text)
    return Fraction(text) if len(text) > _FLOAT_DIGITS and _is_finer(text, value) else value


def _is_finer(text: str, value: float) -> bool:
    """True for more digits than float64 needs, unless they are those of the float64 itself."""
    digits = text.lower().partition("e")[0].replace(".", "").lstrip("+-0")
    significant = digits.rstrip("0")
    if len(significant) <= _FLOAT_DIGITS:
        return False
    return f"{abs(value):.{len(digits) - 1}e}".partition("e")[0].replace(".", "").rstrip("0") != significant


def _integer(text: str) -> float | int:
    _check_size(text, None)
    value = int(text.lstrip("+-0") or "0") * (-1 if text.startswith("-") else 1)
    return float(value) if abs(value) <= _EXACT_INTEGER else value


def _check_size(text: str, power: str | None) -> None:
    exponent = "" if power is None else power[1:].lstrip("+-0")
    if len(text) > _MOST_DIGITS or len(exponent) > 4 or (exponent and int(exponent) > _MOST_DIGITS):
        shown = text if len(text) <= 40 else text[:37] + "..."
        raise InvalidInput(f"{shown} has more than {_MOST_DIGITS} digits before or behind the point; give the data in "
                           "another unit")
