"""What arguments are made of: whole numbers, seconds, a delimiter. Standard library only."""

from __future__ import annotations

import argparse
import math
import threading
from functools import partial

__all__ = ["delimiter", "digits", "header_lines", "level", "order", "sample_size", "seconds", "seed",
           "thousands"]

MAX_SAMPLES = 10_000
MAX_ORDER = 12
MAX_DIGITS = 1_000


def _whole(low: int, high: int, text: str) -> int:
    if not text.strip().isdecimal() or len(text) > 9 or not low <= int(text) <= high:
        raise argparse.ArgumentTypeError(f"a whole number from {low} to {high} is needed, got {text.strip()[:40]!r}")
    return int(text)


sample_size, seed = partial(_whole, 2, MAX_SAMPLES), partial(_whole, 0, 999_999_999)
order, digits, level = partial(_whole, 1, MAX_ORDER), partial(_whole, 1, MAX_DIGITS), partial(_whole, 0, MAX_SAMPLES)


def seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"a positive number of seconds is needed, got {text.strip()[:40]!r}")
    return seconds


def delimiter(text: str) -> str:
    named = {"auto": "auto", "tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
    character = named.get(text.lower(), text)
    if character != "auto" and (len(character) != 1 or character.isalnum() or character in "\"'.+-#\n\r"):
        raise argparse.ArgumentTypeError(f"one character such as , ; | is needed, or tab or space, got {text[:40]!r}")
    return character


def thousands(text: str) -> str:
    sign = {"comma": ",", "point": ".", "apostrophe": "'", "space": " "}.get(text.lower(), text)
    if sign and sign not in ",.'_\u2019 \u00a0\u202f":
        raise argparse.ArgumentTypeError(f"one of , . ' _ is needed, or space, got {text[:40]!r}")
    return sign


def header_lines(text: str) -> int | None:
    """None for auto."""
    if text.strip().lower() == "auto":
        return None
    if not text.strip().isdecimal() or len(text) > 6:
        raise argparse.ArgumentTypeError(f"a number of lines is needed, or auto, got {text.strip()[:40]!r}")
    return int(text)
