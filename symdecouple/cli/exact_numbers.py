"""Numbers among options: --reference takes the name of a law, or exact numbers such as 0,1,1/2."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.language.text import parse_expression

__all__ = ["LAWS", "exact_number", "named_or_numbers"]

LAWS = ("gaussian", "white")


def named_or_numbers(text: str, names: Collection[str], example: str) -> Any:
    """Return the name, in small letters, or the list of numbers that the text of ``--reference`` holds.

    Parameters
    ----------
    text : str
    names : collection of str
    example : str
        Numbers as they may be written; messages show it.

    Raises
    ------
    InvalidInput
        Naming the number, counted from 1, that cannot be read or is not finite.

    Examples
    --------
    >>> named_or_numbers(" White", ("gaussian", "white"), "0,1"), named_or_numbers("0,1,1/2", (), "0,1")
    ('white', [0, 1, 1/2])
    """
    name = text.strip().lower()
    if name in names:
        return name
    takes = f"--reference takes {', '.join(names)} or exact numbers separated by commas, such as {example}"
    return [exact_number(takes, "--reference", number, part) for number, part in enumerate(text.split(","), 1)]


def exact_number(takes: str, option: str, number: int, text: str) -> Any:
    """Return a number of an option, counted from 1; `takes` says what the option takes.

    Raises
    ------
    InvalidInput
    """
    try:
        value = parse_expression(text)
    except SymdecoupleError as error:
        raise InvalidInput(f"{takes}; number {number}: {error}") from None
    if not (value.is_number and value.is_real and value.is_finite):
        raise InvalidInput(f"{option}, number {number}: a finite real number such as 3, 0.5 or 1/3 is needed, got "
                           f"{text.strip()[:40]!r}")
    return value
