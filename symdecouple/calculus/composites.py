r"""Composites: smooth functions of combinations of words, each combination and each function in one standard form.

.. math:: f(u_1, \dots, u_k), \qquad u_j = \sum_w c_{jw}\, w(x)

is a base of letters, like the sample itself: filters apply to it, and shifts go inside. It is known by a number. Two
numbers are the same only if the functions are the same expression and the inner combinations have the same
coefficients, after a common shift is taken out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Abs, Dummy, Expr, S

from symdecouple.calculus.elementary import RULES
from symdecouple.calculus.elements import Element
from symdecouple.calculus.operators import Base, Letter, Operators, Word, composite_base, composite_number

__all__ = ["SLOTS", "Composite", "Composites", "constant", "is_known"]

SLOTS = (Dummy("t1", real=True), Dummy("t2", real=True))
"""What the inner combinations are called in functions."""

_UNSURE = frozenset({"log", "asin", "acos", "acosh", "atanh"})


@dataclass(frozen=True, slots=True, eq=False)
class Composite:
    """A function of slots, and what is in them."""

    function: Expr
    inner: tuple[Element, ...]
    key: Any

    @property
    def power(self) -> Expr | None:
        """The exponent of a power of the first slot, or of its absolute value; None for other functions."""
        function = self.function
        return function.exp if function.is_Pow and function.base in (SLOTS[0], Abs(SLOTS[0])) else None

    @property
    def may_fail(self) -> bool:
        """True iff a certificate may find no sample to check it at: open sets are outside its domain."""
        if (q := self.power) is not None:
            return not (self.absolute or q.is_integer)
        return self.function.func.__name__ in _UNSURE

    @property
    def absolute(self) -> bool:
        """True iff it is a power of the absolute value."""
        return isinstance(self.function.base if self.function.is_Pow else self.function, Abs)


class Composites:
    """The composites that have been met, by number."""

    def __init__(self, operators: Operators) -> None:
        self.operators = operators
        self._known: list[Composite] = []
        self._numbers: dict[Any, int] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    @property
    def may_fail(self) -> bool:
        """True iff a certificate may find no sample to check one of them at."""
        return any(composite.may_fail for composite in self._known)

    @property
    def exponents(self) -> list[Expr]:
        """The exponents of powers, in a fixed order."""
        return sorted({q for composite in self._known if (q := composite.power) is not None}, key=str)

    def of(self, base: Base) -> Composite | None:
        """Return the composite that a base stands for; None for other bases."""
        number = composite_number(base)
        return None if number is None else self._known[number]

    def entered(self, function: Expr, inner: Sequence[Element]) -> Letter:
        """Return the letter of a function of combinations in normal form."""
        place = self.operators.place(word for element in inner for word in element)
        back = self.operators.adjoint(place)
        moved = tuple(self._moved(back, element) for element in inner)
        key = tuple(tuple(sorted(element.items(), key=lambda term: term[0])) for element in moved)
        if (function, key) not in self._numbers:
            number = len(self._known)
            self._known.append(Composite(function, moved, key))
            self._numbers[function, key] = number  # last: a budget may end between two lines
        return place, composite_base(self._numbers[function, key])

    def occur(self, word: Word) -> bool:
        """True iff one of the letters is a composite."""
        return any(composite_number(base) is not None for _, base in word)

    def entering(self, letters: Iterable[Letter]) -> list[tuple[int, Composite]]:
        """Return the composites, with their places in the word, that are not under a kernel."""
        return [(k, composite) for k, (operator, base) in enumerate(letters)
                if (composite := self.of(base)) is not None and self.operators.enters(operator)]

    def inside(self, letter: Letter) -> tuple[Element, ...]:
        """Return what a composite is a function of, moved to where the letter is."""
        operator, base = letter
        composite = self.of(base)
        assert composite is not None
        return tuple(self._moved(operator, element) for element in composite.inner)

    def _moved(self, operator: Any, element: Element) -> Element:
        """Return a combination with all its samples moved; such operators give one word for each, and no factor."""
        if operator == self.operators.identity:
            return element
        return {self.operators.image(operator, word)[0] if word else word: c for word, c in element.items()}


def is_known(function: Any) -> bool:
    """True iff certificates can be checked for this function: its derivatives are known over intervals."""
    return function.__name__ in RULES or function.__name__ == "atan2"


def constant(element: Element) -> Expr | None:
    """Return the value of a combination without letters; None where there are any."""
    if not element:
        return S.Zero
    return element[()] if len(element) == 1 and () in element else None
