r"""What products of powers, exponentials, waves and signs amount to.

.. math::

    u^q u^r = u^{q + r}, \qquad e^u e^v = e^{u + v}, \qquad \cos u \cos v = \tfrac12 \cos(u - v) + \tfrac12 \cos(u + v),
    \qquad |u|^q = (u \operatorname{sign} u)^q, \qquad \operatorname{sign}^2 = 1

and, with the leading word of u = c w + (rest),

.. math:: w\, u^q = (u^{q + 1} - (\mathrm{rest})\, u^q)/c

by which powers of sums are divided as polynomials are; hyperbolic functions are such powers of sums of exponentials.
Each rule holds wherever both sides are defined, for all filters and every sample size. What the rules leave different
need not be different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

from sympy import Abs, Expr, Rational, S, cos, exp, expand, sign, sin

from symdecouple.calculus.composites import SLOTS, Composite, Composites
from symdecouple.calculus.elements import Element, scaled, total
from symdecouple.calculus.leading import Leading
from symdecouple.calculus.operators import Letter, Word

__all__ = ["Rules"]

T = SLOTS[0]


class Algebra(Protocol):
    """What multiplies combinations of words."""

    def product(self, left: Element, right: Element) -> Element: ...


class Functions(Protocol):
    """What takes functions of combinations of words."""

    composites: Composites
    leading: Leading

    @property
    def algebra(self) -> Algebra: ...

    def function(self, function: Expr, inner: Sequence[Element]) -> Element: ...

    def power(self, u: Element, q: Expr, absolute: bool = False) -> Element: ...

    def exponential(self, u: Element) -> Element: ...

    def sign(self, u: Element) -> Element: ...


class Rules:
    """The rules, one at a time: what they give is multiplied by the rest and so rewritten in its turn."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions

    def rewritten(self, word: Word) -> Element | None:
        """Return a word by the first rule that applies to it; None where none does."""
        found = self.functions.composites.entering(word)
        for (k, left), (m, right) in combinations(found, 2):
            if (joined := self._joined(word[k], left, word[m], right)) is not None:
                rest = tuple(letter for n, letter in enumerate(word) if n not in (k, m))
                return self.functions.algebra.product({rest: S.One}, joined)
        for k, composite in found:
            if composite.power is not None and (traded := self._traded(word, k, composite)) is not None:
                return traded
        return None

    def _joined(self, one: Letter, left: Composite, two: Letter, right: Composite) -> Element | None:
        """Return the product of two letters where it is no product any more."""
        f, g = left.function, right.function
        u, v = (self.functions.composites.inside(letter)[0] for letter in (one, two))
        if f == exp(T) == g:
            return self.functions.exponential(total(u, v))
        if f == sign(T) and one == two:
            return {(): S.One}
        if {f, g} <= {sin(T), cos(T)}:
            return self._joined_waves(f, u, g, v)
        if left.power is None or right.power is None or one[0] != two[0]:
            return None
        if (c := _proportion(u, v)) is None:
            return None
        if c == 1 or right.power.is_integer:
            factor = (Abs(c) if right.absolute else c) ** right.power
            joined = self._joined_powers(u, left, right)
        elif left.power.is_integer:
            factor = (Abs(c) if left.absolute else c) ** -left.power
            joined = self._joined_powers(v, left, right)
        else:
            return None
        return None if joined is None else scaled(joined, factor)

    def _joined_powers(self, u: Element, left: Composite, right: Composite) -> Element | None:
        q, r = left.power, right.power
        assert q is not None and r is not None
        if left.absolute == right.absolute:
            return self.functions.power(u, q + r, left.absolute)
        plain = r if left.absolute else q
        if plain.is_Rational and not plain.is_integer:
            return self.functions.power(u, q + r)
        if not (plain.is_even or plain.is_odd):
            return None
        size = self.functions.power(u, q + r, absolute=True)
        return size if plain.is_even else self.functions.algebra.product(size, self.functions.sign(u))

    def _joined_waves(self, f: Expr, u: Element, g: Expr, v: Element) -> Element:
        if f == cos(T) and g == sin(T):
            f, u, g, v = g, v, f, u
        plus, minus, half = total(u, v), total(u, scaled(v, S.NegativeOne)), Rational(1, 2)
        other = f if g == cos(T) else cos(T)
        sums, differences = (self.functions.function(other, [element]) for element in (plus, minus))
        return total(scaled(differences, half), scaled(sums, half if g == cos(T) else -half))

    def _traded(self, word: Word, k: int, composite: Composite) -> Element | None:
        """Return w u**q as (u**(q + 1) - rest u**q)/c, w the leading word of u; None where w does not divide.

        With exponentials, w is the last word where more of them are in the denominator: what remains has less than the
        leading one, and none in the denominator.
        """
        (u,), leading = self.functions.composites.inside(word[k]), self.functions.leading
        q, product = composite.power, self.functions.algebra.product
        assert q is not None
        exponent, others = leading.split(word[:k] + word[k + 1:])
        w = leading.word(u)
        if above := leading.split(w)[0]:
            ratio = leading.ratio(exponent, above)
            if 0 <= ratio < 1:
                return None
            w = leading.trailing(u) if ratio < 0 else w
        above, letters = leading.split(w)
        if Counter(letters) - Counter(others):
            return None
        left = tuple(sorted((Counter(others) - Counter(letters)).elements()))
        quotient = product({left: 1 / u[w]}, self.functions.exponential(total(exponent, scaled(above, S.NegativeOne))))
        raised = self.functions.power(u, q + 1, composite.absolute)
        if composite.absolute:
            raised = product(raised, self.functions.sign(u))
        rest = product(quotient, {v: -c for v, c in u.items() if v != w})
        return total(product(quotient, raised), product(rest, {(word[k],): S.One}))


def _proportion(u: Element, v: Element) -> Expr | None:
    """Return the number c with v = c u; None where there is none."""
    if u.keys() != v.keys():
        return None
    word = next(iter(u))
    c = v[word] / u[word]
    return c if c.is_number and all(v[word] == expand(c * u[word]) for word in u) else None
