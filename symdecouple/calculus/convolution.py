r"""Filtered functions of the sample in one basis: words, the monomials in filter outputs.

A *letter* is an operator applied to a base, K(b): the base is the sample, or again a word, a product of letters. Linear
operators are expanded over sums and pulled through constants, so that every polynomial in filter outputs is

.. math:: \varphi(x) = \sum_w c_w\, w(x), \qquad w = \prod_j K_j(b_j)

with constants c_w (numbers, parameters, statistics, gains at frequency zero). What the operators are, and how they
compose, is told by an `Operators` object: circular filters commute, shifts merge and act on each factor of a product.
Two functions that get the same form are equal, at every sample size the operators are for. Different forms need not
be different functions (at a small N shifts wrap around), and nobody here concludes from that.

The average of a word is a statistic; it is written in one way up to what the adjoint and a common shift allow:

.. math:: \mathrm{Mean}(K(u)\,v) = \mathrm{Mean}(u\,\tilde K(v))

The gradient field of an average and the derivative along a field are recursions over the letters.
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, Mul, S

from symdecouple.calculus.budget import Budget
from symdecouple.calculus.operators import ONE, Operator, Operators, Word
from symdecouple.errors import BudgetExceeded, UnsupportedExpression
from symdecouple.language.canonical import Statistic
from symdecouple.language.filtered import Filtered, Unit
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["Element", "TooManyTerms", "Words"]

Element = dict[Word, Expr]

LIMIT = 60_000
"""Terms that one product of sums may have: beyond, the operators are to be named instead of expanded."""


class TooManyTerms(BudgetExceeded):
    """An expansion in filter outputs is too long to be written out."""


class Words:
    """Polynomials in filter outputs of one sample, over the constants, and their averages.

    Parameters
    ----------
    sample : Sample
    operators : Operators
    budget : Budget

    Examples
    --------
    >>> from symdecouple.calculus.operators import CircularOperators
    >>> from symdecouple.language.filters import Filter
    >>> from symdecouple.language.sample import x
    >>> words, h, g = Words(x, CircularOperators(), Budget()), Filter("h"), Filter("g")
    >>> words.form(h(g(x) + 2)) == words.form(g(h(x)) + 2*h.dc)
    True
    >>> words.closed(Mean(h(x) * g(x))) == words.closed(Mean(x * h.adjoint(g(x))))
    True
    """

    def __init__(self, sample: Sample, operators: Operators, budget: Budget) -> None:
        self.sample, self.operators, self.budget = sample, operators, budget
        self._word_of: dict[Statistic, Word] = {}
        self._statistics: dict[Word, Expr] = {}

    # Expressions to words and back.

    def form(self, expr: Expr) -> Element:
        """Return a function of the sample as a combination of words, averages in it closed.

        Raises
        ------
        UnsupportedExpression
            If it is no polynomial in filter outputs.
        """
        if not expr.has(self.sample):
            constant = self.closed(expr)
            return {(): constant} if constant != 0 else {}
        if isinstance(expr, Unit):
            return {(): S.One}
        if expr == self.sample:
            return {self.operators.letter(self.operators.identity, ())[0]: S.One}
        if isinstance(expr, Filtered):
            inner, out = self.form(expr.argument), Sum()
            for operator, tap in self.operators.of(expr.filter).items():
                out.add(self.applied(operator, inner), tap)
            return out.cleaned()
        if expr.is_Add:
            out = Sum()
            for arg in expr.args:
                out.add(self.form(arg))
            return out.cleaned()
        if expr.is_Mul:
            product: Element = {(): S.One}
            for arg in expr.args:
                product = self.product(product, self.form(arg))
            return product
        if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
            base, product = self.form(expr.base), {(): S.One}
            for _ in range(int(expr.exp)):
                product = self.product(product, base)
            return product
        raise UnsupportedExpression(f"{expr} is no polynomial in the sample and its filter outputs: such sets are "
                                    "decided for one sample size, n_samples=N with numeric taps, not for every N")

    def closed(self, expr: Expr) -> Expr:
        """Return a constant with every average written in statistics."""
        if isinstance(expr, Mean):
            return self.average(self.form(expr.opened(self.sample)))
        if not expr.args or not expr.atoms(Mean):
            return expr
        return expr.func(*(self.closed(arg) for arg in expr.args))

    def expression(self, word: Word) -> Expr:
        """Return a word as an expression in the sample."""
        return Mul(*(self.operators.one(operator, self.sample) if base == ONE else
                     self.operators.expression(operator, self.expression(base) if base else self.sample)
                     for operator, base in word))

    # Arithmetic.

    def product(self, left: Element, right: Element) -> Element:
        """Return the product of two combinations of words."""
        if len(left) * len(right) > LIMIT:
            raise TooManyTerms(f"a product of {len(left)} and {len(right)} terms in filter outputs")
        out = Sum()
        for u, a in left.items():
            self.budget.check("a product of filter outputs")
            for v, b in right.items():
                out.put(tuple(sorted(u + v)) if u and v else u or v, a * b)
        return out.cleaned()

    def applied(self, operator: Operator, element: Element) -> Element:
        """Return an operator applied to a combination of words."""
        out = Sum()
        for word, c in element.items():
            image, factor = self.operators.image(operator, word)
            out.put(image, c * factor)
        return out.cleaned()

    # Averages, gradients, derivatives.

    def average(self, element: Element) -> Expr:
        """Return the average, linear in statistics."""
        total = S.Zero
        for word, c in element.items():
            total += c * self._statistic(word)
        return total

    def _statistic(self, word: Word) -> Expr:
        if word not in self._statistics:
            shortest, factor = self.operators.under_average(word)
            if factor == 0 or shortest == ():
                self._statistics[word] = factor
            else:
                statistic = Statistic(self.expression(shortest))
                self._word_of[statistic] = shortest
                self._statistics[word] = factor * statistic
        return self._statistics[word]

    def gradient(self, statistic: Statistic) -> Element:
        """Return the gradient field of a statistic that `average` or `closed` returned."""
        out = Sum()
        self._pull({(): S.One}, self._word_of[statistic], out)
        return out.cleaned()

    def _pull(self, weight: Element, word: Word, out: Sum) -> None:
        """Add v with Mean(v u) = Mean(weight * (derivative of the word along u)) for every field u."""
        for k, (operator, base) in enumerate(word):
            inner = self.product(weight, {word[:k] + word[k + 1:]: S.One})
            inner = self.applied(self.operators.adjoint(operator), inner)
            if base == ():
                out.add(inner)
            elif base != ONE:
                self._pull(inner, base, out)

    def along(self, word: Word, field: Element) -> Element:
        """Return the derivative of a word along a field."""
        out = Sum()
        for k, (operator, base) in enumerate(word):
            if base != ONE:
                inner = self.applied(operator, field if base == () else self.along(base, field))
                out.add(self.product(inner, {word[:k] + word[k + 1:]: S.One}))
        return out.cleaned()


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
