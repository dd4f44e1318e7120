"""What evaluating a function at a sample may end with, other than a number."""

from __future__ import annotations

__all__ = ["Irrational", "OutsideDomain"]


class Irrational(Exception):
    """A value is not rational, or an enclosure is too wide: repeat the computation with intervals, or narrower ones."""


class OutsideDomain(Exception):
    """The sample is outside the domain of the expression: choose another sample."""
