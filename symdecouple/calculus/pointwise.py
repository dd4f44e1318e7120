r"""Smooth functions of filter outputs in one form: numbers, powers of powers and exponents are taken out.

.. math::

    (c\,u)^q = c^q u^q, \qquad (u^r)^q = u^{rq}, \qquad e^{u + c} = e^c e^u, \qquad e^{c \log u} = u^c, \qquad
    \log(c\,e^v u) = \log c + v + \log u, \qquad \cos(u + c) = \cos c \cos u - \sin c \sin u

with c > 0 and powers u^r of positive u only, unless the exponents are whole numbers: each holds wherever its left side
is defined. Products are multiplied out by the rules of `rewriting`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from sympy import Abs, Expr, I, S, Symbol, cos, exp, log, nan, oo, sign, sin, zoo

from symdecouple.calculus.composites import SLOTS, Composite, Composites, constant
from symdecouple.calculus.elements import Element, scaled, settled, total
from symdecouple.calculus.leading import Leading
from symdecouple.calculus.operators import Operators, Word
from symdecouple.calculus.rewriting import Rules
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.canonical import Statistic

__all__ = ["Pointwise"]

T = SLOTS[0]
ONE_WORD: Element = {(): S.One}

DEPTH = 60
"""Rules applied one inside the other; what needs more stays as it is."""


class Algebra(Protocol):
    """What is asked of the combinations of words in which functions are taken."""

    def product(self, left: Element, right: Element) -> Element: ...

    def form(self, expr: Expr, slots: dict[Expr, Element] | None = None) -> Element: ...


class Pointwise:
    """Functions of combinations of words, as combinations of words."""

    def __init__(self, algebra: Algebra, operators: Operators) -> None:
        self.algebra, self.operators = algebra, operators
        self.composites = Composites(operators)
        self.leading = Leading(self.composites)
        self._normal: dict[Word, Element] = {}
        self._depth = 0
        self._slopes: dict[Any, tuple[Element, ...]] = {}
        self._rules = Rules(self)

    def function(self, function: Expr, inner: Sequence[Element]) -> Element:
        """Return a function of slots of some combinations."""
        inner = [settled(element) for element in inner]
        if all(constant(element) is not None for element in inner):
            return self._number(function, inner)
        u = inner[0]
        if function == exp(T):
            return self.exponential(u)
        if function == log(T):
            return self._logarithm(u)
        if function in (sin(T), cos(T)):
            return self._wave(function, u)
        if function == sign(T):
            return self.sign(u)
        if function == Abs(T):
            return self.algebra.product(u, self.sign(u))
        return self._letter(function, inner)

    def slopes(self, composite: Composite) -> tuple[Element, ...]:
        """Return the derivatives of a composite in its slots, at the standard place."""
        key = composite.function, composite.key
        if key not in self._slopes:
            slots = dict(zip(SLOTS, composite.inner, strict=False))
            self._slopes[key] = tuple(self.algebra.form(composite.function.diff(slot), slots) for slot in slots)
        return self._slopes[key]

    def normal(self, word: Word) -> Element:
        """Return a product of letters in normal form."""
        if word not in self._normal:
            if self._depth > DEPTH:
                return {word: S.One}
            self._depth += 1
            try:
                found = self._rules.rewritten(word) if self.composites.occur(word) else None
            finally:
                self._depth -= 1
            self._normal[word] = {word: S.One} if found is None else found
        return self._normal[word]

    # Powers.

    def power(self, u: Element, q: Expr, absolute: bool = False) -> Element:
        """Return u**q, or abs(u)**q, for a constant q."""
        u, product = settled(u), self.algebra.product
        if q == 0:
            return ONE_WORD
        if q.atoms(Statistic):  # moves, as the coefficients of what is inside an exponential do
            base = product(u, self.sign(u)) if absolute else u
            return self.exponential(scaled(self.function(log(T), [base]), q))
        if constant(u) is not None:
            return self._number((Abs(T) if absolute else T) ** q, [u])
        if absolute and (q.is_even or q.is_odd):
            even = self.power(u, q)
            return even if q.is_even else product(even, self.sign(u))
        if q.is_Integer and q > 0 and not absolute:
            out = u
            for _ in range(int(q) - 1):
                out = product(out, u)
            return out
        if least := self.leading.least_exponent(u):
            u = product(u, self.exponential(scaled(least, S.NegativeOne)))
            return product(self.exponential(scaled(least, q)), self.power(u, q, absolute))
        factor = self._content(u[self.leading.word(u)], q, absolute)
        if factor != 1:
            number, rest = q.as_coeff_Add()  # 2**(p - 1) is 2**p/2 for whoever compares coefficients
            base = Abs(factor) if absolute else factor
            return scaled(self.power(scaled(u, 1 / factor), q, absolute), base**number * base**rest)
        if len(u) == 1 and (split := self._power_of_word(next(iter(u)), u, q, absolute)) is not None:
            return split
        return self._letter((Abs(T) if absolute else T) ** q, [u])

    def _content(self, c: Expr, q: Expr, absolute: bool) -> Expr:
        """Return what may be taken out of u with leading coefficient c, (c v)**q = c**q v**q wherever it is defined."""
        if q.is_integer or (absolute and c.is_number):
            return c
        if not (q.is_Rational or c.is_number):
            return S.One
        return c if c.is_positive else -c if c.is_negative else S.One

    def _power_of_word(self, word: Word, u: Element, q: Expr, absolute: bool) -> Element | None:
        """Return the power of a product of letters; None where it is that of one letter which is no power itself."""
        if q.is_integer and not absolute and len(word) > 1:
            out: Element = ONE_WORD
            for letter, many in Counter(word).items():
                out = self.algebra.product(out, self.power({(letter,): S.One}, many * q))
            return out
        if len(word) > 1 or u[word] != 1 or not (found := self.composites.entering(word)):
            return None
        composite, r = found[0][1], found[0][1].power
        if composite.function == sign(T) and (q.is_even or q.is_odd):
            return u if q.is_odd else ONE_WORD
        if r is not None and (q.is_integer or (r.is_Rational and not r.is_integer)):
            return self.power(self.composites.inside(word[0])[0], r * q, composite.absolute)
        return None

    # Exponentials, logarithms, waves, signs.

    def exponential(self, u: Element) -> Element:
        """Return exp(u)."""
        u = settled(u)
        factor: Element = {(): exp(u.pop((), S.Zero))}
        for word in [word for word in u if len(word) == 1]:
            for _, composite in self.composites.entering(word):
                if composite.function == log(T) and not u[word].atoms(Statistic):
                    factor = self.algebra.product(factor, self.power(self.composites.inside(word[0])[0], u.pop(word)))
        return self.algebra.product(factor, self._letter(exp(T), [u])) if u else factor

    def _logarithm(self, u: Element) -> Element:
        if least := self.leading.least_exponent(u):
            u = self.algebra.product(u, self.exponential(scaled(least, S.NegativeOne)))
            if (c := constant(u)) is not None:
                return total(least, self._number(log(T), [{(): c}]))
            return total(least, self._logarithm(u))
        c = u[self.leading.word(u)]
        size = c if c.is_positive else -c
        if size.is_number and size.is_positive and size != 1:
            return total({(): log(size)}, self._logarithm(scaled(u, 1 / size)))
        return self._letter(log(T), [u])

    def _wave(self, function: Expr, u: Element) -> Element:
        phase = u.pop((), S.Zero)
        flip = u[max(u, key=self.leading.order)].could_extract_minus_sign()
        u = scaled(u, S.NegativeOne) if flip else u
        cosine, sine = self._letter(cos(T), [u]), scaled(self._letter(sin(T), [u]), S.NegativeOne if flip else S.One)
        if function == cos(T):
            return total(scaled(cosine, cos(phase)), scaled(sine, -sin(phase)))
        return total(scaled(sine, cos(phase)), scaled(cosine, sin(phase)))

    def sign(self, u: Element) -> Element:
        """Return the sign of u."""
        u = settled(u)
        if (c := constant(u)) is not None:
            return self._number(sign(T), [{(): c}])
        if least := self.leading.least_exponent(u):
            return self.sign(self.algebra.product(u, self.exponential(scaled(least, S.NegativeOne))))
        c = u[self.leading.word(u)]
        if c.is_number and c != 1:
            return scaled(self.sign(scaled(u, 1 / c)), sign(c))
        if len(u) == 1 and (letters := next(iter(u))) and len(letters) > 1:
            out: Element = ONE_WORD
            for letter in letters:
                out = self.algebra.product(out, self.sign({(letter,): S.One}))
            return out
        return self._letter(sign(T), [u])

    # Letters.

    def _letter(self, function: Expr, inner: Sequence[Element]) -> Element:
        return {(self.composites.entered(function, inner),): S.One}

    def _number(self, function: Expr, inner: Sequence[Element]) -> Element:
        values = {slot: constant(element) for slot, element in zip(SLOTS, inner, strict=False)}
        value = function.xreplace(values)
        if value.has(nan, zoo, oo, -oo, I) or value.is_real is False or (value.is_Pow and value.base == 0):
            shown = function.xreplace({slot: Symbol(str(c)) for slot, c in values.items()})
            raise UnsupportedExpression(f"a function of filter outputs is {shown} for every sample: it is not defined")
        return {(): value} if value != 0 else {}
