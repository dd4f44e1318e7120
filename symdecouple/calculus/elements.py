"""Combinations of words with constant coefficients, and how they are collected."""

from __future__ import annotations

from typing import Any

from sympy import Expr, S, expand

from symdecouple.calculus.operators import Word

__all__ = ["Element", "Sum", "scaled", "settled", "total"]

Element = dict[Word, Expr]


class Sum:
    """A combination of words under construction."""

    __slots__ = ("terms",)

    def __init__(self) -> None:
        self.terms: dict[Any, Expr] = {}

    def put(self, word: Word, value: Expr) -> None:
        self.terms[word] = self.terms[word] + value if word in self.terms else value

    def add(self, element: Element, factor: Expr = S.One) -> None:
        for word, c in element.items():
            self.put(word, c * factor)

    def cleaned(self) -> Element:
        return {word: c for word, c in self.terms.items() if c != 0}


def scaled(element: Element, factor: Expr) -> Element:
    """Return a constant times a combination of words."""
    return {word: c * factor for word, c in element.items()} if factor != 0 else {}


def settled(element: Element) -> Element:
    """Return the combination with its coefficients multiplied out, so that sums which cancel are seen to be zero."""
    out = {word: c if c.is_Rational else expand(c) for word, c in element.items()}
    return {word: c for word, c in out.items() if c != 0}


def total(*elements: Element) -> Element:
    """Return the sum of some combinations."""
    out = Sum()
    for element in elements:
        out.add(element)
    return out.cleaned()
