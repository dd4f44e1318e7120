r"""The linear operators in words where filters need not commute: compositions, in their order, at every sample size.

An operator is a chain of named filters, h_1 h_2 ... with h_1 applied last; the adjoint is the chain of adjoints in the
opposite order. Chains are equal only if they read the same, so that an identity between words holds whatever the
filters and their boundaries are. A constant goes through the filters that keep constants; from the first that does not,
h(1) is a function of the place, a letter of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sympy import Expr, S

from symdecouple.calculus.operators import ONE, Base, Letter, Names, Operator, Word, fewest_nested, is_innermost
from symdecouple.language.filters import Filter
from symdecouple.language.sample import Sample

__all__ = ["Compositions", "Noncommuting"]


class Noncommuting:
    """What operators that need not commute have in common: averages, by sending operators over with the adjoint."""

    identity: Operator

    def adjoint(self, operator: Operator) -> Operator:
        raise NotImplementedError

    def letter(self, operator: Operator, base: Base) -> tuple[Word, Expr]:
        raise NotImplementedError

    def image(self, operator: Operator, word: Word) -> tuple[Word, Expr]:
        raise NotImplementedError

    def under_average(self, word: Word) -> tuple[Word, Expr]:
        """Return the least word with the same average, and a factor: operators go to the simpler factors."""
        factor: Expr = S.One
        while True:
            found = {word: S.One} | dict(self._sent(word, k) for k in range(len(word)))
            if S.Zero in found.values():
                return (), S.Zero
            best = min(fewest_nested(list(found)), key=self._order)
            if self._order(best) >= self._order(word):
                return word, factor
            word, factor = best, factor * found[best]

    def enters(self, operator: Operator) -> bool:
        return operator == self.identity

    def place(self, words: Iterable[Word]) -> Operator:
        return self.identity

    def order(self, letter: Letter) -> Any:
        return letter

    def _order(self, word: Word) -> tuple[int, Word]:
        return sum(operator != self.identity for operator, _ in word), word

    def _sent(self, word: Word, k: int) -> tuple[Word, Expr]:
        """Return a product with the same average, the operator of one letter sent over to the others, and a factor."""
        operator, base = word[k]
        freed, _ = self.letter(self.identity, base)
        moved, factor = self.image(self.adjoint(operator), word[:k] + word[k + 1:])
        return tuple(sorted(freed + moved)), factor


class Compositions(Noncommuting):
    """Filters with any boundaries, at every sample size: an operator is (names,), the first applied last.

    Examples
    --------
    >>> operators = Compositions()
    >>> h, g = Filter("h", boundary="zero"), Filter("g", boundary="zero")
    >>> (k,), (l,) = operators.of(h), operators.of(g)
    >>> operators.image(k, ((l, ()),)) == operators.image(l, ((k, ()),))
    False
    """

    identity: Operator = ((),)

    def __init__(self) -> None:
        self._names = Names()

    def of(self, h: Filter) -> dict[Operator, Expr]:
        return {((self._names.name(h),),): S.One}

    def adjoint(self, operator: Operator) -> Operator:
        return (tuple(map(self._names.mirrored, reversed(operator[0]))),)

    def letter(self, operator: Operator, base: Base) -> tuple[Word, Expr]:
        if base == ONE:
            names, gain = list(operator[0]), S.One
            while names and (inner := self._names.filter(names[-1])).keeps_constants:
                names.pop()
                gain *= inner.dc
            return ((((tuple(names),), ONE),) if names and gain != 0 else ()), gain
        return (base if operator == self.identity and not is_innermost(base) else ((operator, base),)), S.One

    def image(self, operator: Operator, word: Word) -> tuple[Word, Expr]:
        if len(word) != 1:
            return self.letter(operator, word or ONE)
        (inner, base), = word
        return self.letter((operator[0] + inner[0],), base)

    def expression(self, operator: Operator, argument: Expr) -> Expr:
        return self._applied(operator, argument)

    def one(self, operator: Operator, sample: Sample) -> Expr:
        return self._applied(operator, S.One, sample)

    def _applied(self, operator: Operator, argument: Expr, *place: Any) -> Expr:
        for name in reversed(operator[0]):
            argument = self._names.filter(name)(argument, *place)
        return argument
