"""The leading word of a combination, in an order that products and shifts keep.

Exponents come first: what stands in exponentials, compared by the sign of the largest coefficient of the difference.
Then the number of letters, then the letters. Rules that replace the leading word by smaller ones come to an end.
"""

from __future__ import annotations

from typing import Any

from sympy import S, exp

from symdecouple.calculus.composites import SLOTS, Composites
from symdecouple.calculus.elements import Element, scaled, settled, total
from symdecouple.calculus.operators import Word

__all__ = ["Leading"]


class Leading:
    """The order of the words that are made of letters and of some composites."""

    def __init__(self, composites: Composites) -> None:
        self.composites = composites

    def order(self, word: Word) -> tuple[int, list[Any]]:
        """Return the key of a word whose exponentials are letters like others."""
        return len(word), sorted(map(self.composites.operators.order, word), reverse=True)

    def word(self, u: Element) -> Word:
        """Return the largest word of a combination."""
        largest: tuple[Element, Word] | None = None
        for word in u:
            exponent, letters = self.split(word)
            if largest is None or self._above(exponent, largest[0]) or (
                    exponent == largest[0] and self.order(letters) > self.order(self.split(largest[1])[1])):
                largest = exponent, word
        assert largest is not None
        return largest[1]

    def trailing(self, u: Element) -> Word:
        """Return the largest of the words with the least exponent."""
        least = self.least_exponent(u)
        return self.word({word: c for word, c in u.items() if self.split(word)[0] == least})

    def least_exponent(self, u: Element) -> Element:
        """Return the least v such that exp(v) is a factor of a word, {} where a word has none and no v is less."""
        exponents = [self.split(word)[0] for word in u]
        least = exponents[0]
        for exponent in exponents[1:]:
            if self._above(least, exponent):
                least = exponent
        return least

    def ratio(self, exponent: Element, step: Element) -> Any:
        """Return how often one exponent goes into another, by its largest word; 0 where no rational number tells."""
        word = max(step, key=self.order)
        ratio = exponent.get(word, S.Zero) / step[word]
        return ratio if ratio.is_Rational else S.Zero

    def split(self, word: Word) -> tuple[Element, Word]:
        """Return the exponent of a word, and its other letters."""
        entering = self.composites.entering(word)
        exponentials = {k for k, composite in entering if composite.function == exp(SLOTS[0])}
        exponent = total(*(self.composites.inside(word[k])[0] for k in sorted(exponentials)))
        return exponent, tuple(letter for k, letter in enumerate(word) if k not in exponentials)

    def _above(self, left: Element, right: Element) -> bool:
        difference = settled(total(left, scaled(right, S.NegativeOne)))
        return bool(difference) and not difference[max(difference, key=self.order)].could_extract_minus_sign()
