r"""Filtered functions of the sample in one basis: words, the monomials in filter outputs and in functions of them.

A *letter* is an operator applied to a base, K(b): the base is the sample, a smooth function of words (`composites`), or
again a word, a product of letters. Linear operators are expanded over sums and pulled through constants, so that every
polynomial in filter outputs and in functions of them is

.. math:: \varphi(x) = \sum_w c_w\, w(x), \qquad w = \prod_j K_j(b_j)

with constants c_w (numbers, parameters, statistics, gains at frequency zero). What the operators are, and how they
compose, is told by an `Operators` object: circular filters commute, shifts merge and act on each factor of a product.
Two functions that get the same form are equal, at every sample size the operators are for. Different forms need not
be different functions (at a small N shifts wrap around), and nobody here concludes from that.

The average of a word is a statistic; it is written in one way up to what the adjoint and a common shift allow:

.. math:: \mathrm{Mean}(K(u)\,v) = \mathrm{Mean}(u\,\tilde K(v))

The gradient field of an average and the derivative along a field are recursions over the letters, with the chain rule
where a base is a function; the statistics in its coefficients move as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Abs, Add, DiracDelta, Expr, Mul, S, exp, log
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.hyperbolic import HyperbolicFunction

from symdecouple.calculus.composites import SLOTS, Composite, is_known
from symdecouple.calculus.elements import Element, Sum, scaled
from symdecouple.calculus.operators import ONE, Operator, Operators, Word
from symdecouple.calculus.pointwise import Pointwise
from symdecouple.errors import BudgetExceeded, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import Statistic
from symdecouple.language.filtered import Filtered, Unit
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["Element", "TooManyTerms", "Words"]

LIMIT = 60_000
"""Terms that one product of sums may have: beyond, the operators are to be named instead of expanded."""


class TooManyTerms(BudgetExceeded):
    """An expansion in filter outputs is too long to be written out."""


class Words:
    """Polynomials in filter outputs of one sample and in functions of them, over the constants, and their averages.

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
    >>> from sympy import cosh, sinh, tanh
    >>> words.form(tanh(h(x)) * g(x)) == words.form(g(x) * sinh(h(x)) / cosh(h(x)))
    True
    """

    def __init__(self, sample: Sample, operators: Operators, budget: Budget) -> None:
        self.sample, self.operators, self.budget = sample, operators, budget
        self.pointwise = Pointwise(self, operators)
        self.composites = self.pointwise.composites
        self._word_of: dict[Statistic, Word] = {}
        self._statistics: dict[Word, Expr] = {}
        self._gradients: dict[Statistic, Element] = {}
        self._under_way: set[Word] = set()

    # Expressions to words and back.

    def form(self, expr: Expr, slots: Mapping[Expr, Element] | None = None) -> Element:
        """Return a function of the sample as a combination of words, averages in it closed.

        Parameters
        ----------
        expr : Expr
        slots : mapping, optional
            Symbols in it that stand for combinations of words.

        Raises
        ------
        UnsupportedExpression
            If it contains a function of filter outputs that is not known here.
        """
        slots = slots or {}
        if not expr.has(self.sample, *slots):
            constant = self.closed(expr)
            return {(): constant} if constant != 0 else {}
        if expr in slots:
            return slots[expr]
        if isinstance(expr, Unit):
            return {(): S.One}
        if expr == self.sample:
            return {self.operators.letter(self.operators.identity, ())[0]: S.One}
        if isinstance(expr, Filtered):
            inner, out = self.form(expr.argument, slots), Sum()
            for operator, tap in self.operators.of(expr.filter).items():
                out.add(self.applied(operator, inner), tap)
            return out.cleaned()
        if expr.is_Add:
            out = Sum()
            for arg in expr.args:
                out.add(self.form(arg, slots))
            return out.cleaned()
        if expr.is_Mul:
            product: Element = {(): S.One}
            for arg in expr.args:
                product = self.product(product, self.form(arg, slots))
            return product
        return self._function(expr, slots)

    def _function(self, expr: Expr, slots: Mapping[Expr, Element]) -> Element:
        """Return a power, or a function by its name, of combinations of words."""
        if expr.is_Pow and not isinstance(expr, exp):
            base, exponent = expr.as_base_exp() if expr.base.is_number else (expr.base, expr.exp)
            if exponent.has(self.sample, *slots):
                return self.form(exp(exponent * log(base), evaluate=False), slots)
            absolute = isinstance(base, Abs)
            inner = self.form(base.args[0] if absolute else base, slots)
            return self.pointwise.power(inner, self.closed(exponent), absolute)
        if isinstance(expr, DiracDelta):
            return {}
        if isinstance(expr, HyperbolicFunction) and is_known(expr.func):
            slot = SLOTS[0]
            return self.form(expr.func(slot).rewrite(exp), {slot: self.form(expr.args[0], slots)})
        if isinstance(expr, AppliedUndef):
            raise UnsupportedExpression(f"{expr.func} is not defined: bind it, features.bind({{{expr.func}: ...}})")
        if not is_known(expr.func) or len(expr.args) > len(SLOTS):
            raise UnsupportedExpression(f"{expr} is no polynomial in filter outputs, and no power, exponential or "
                                        "other elementary function of them: such sets are decided for one sample size, "
                                        "n_samples=N with numeric taps, not for every N")
        function = expr.func(*SLOTS[: len(expr.args)])
        return self.pointwise.function(function, [self.form(arg, slots) for arg in expr.args])

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
                     self.operators.expression(operator, self._innermost(base)) for operator, base in word))

    def _innermost(self, base: Word) -> Expr:
        if (composite := self.composites.of(base)) is None:
            return self.expression(base) if base else self.sample
        sums = (Add(*(c * self.expression(word) for word, c in element.items())) for element in composite.inner)
        return composite.function.xreplace(dict(zip(SLOTS, sums, strict=False)))

    # Arithmetic.

    def product(self, left: Element, right: Element) -> Element:
        """Return the product of two combinations of words."""
        if len(left) * len(right) > LIMIT:
            raise TooManyTerms(f"a product of {len(left)} and {len(right)} terms in filter outputs")
        out, composed = Sum(), bool(self.composites)
        for u, a in left.items():
            self.budget.check("a product of filter outputs")
            for v, b in right.items():
                word = tuple(sorted(u + v)) if u and v else u or v
                if composed:
                    out.add(self.pointwise.normal(word), a * b)
                else:
                    out.put(word, a * b)
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
            elif self.composites and shortest not in self._under_way and (
                    normal := self.pointwise.normal(shortest)) != {shortest: S.One}:
                self._under_way.add(shortest)
                try:
                    self._statistics[word] = factor * self.average(normal)
                finally:
                    self._under_way.remove(shortest)
            else:
                statistic = Statistic(self.expression(shortest))
                self._word_of[statistic] = shortest
                self._statistics[word] = factor * statistic
        return self._statistics[word]

    def gradient(self, statistic: Statistic) -> Element:
        """Return the gradient field of a statistic that `average` or `closed` returned."""
        if statistic not in self._gradients:
            out = Sum()
            self._pull({(): S.One}, self._word_of[statistic], out)
            self._gradients[statistic] = out.cleaned()
        return self._gradients[statistic]

    def _pull(self, weight: Element, word: Word, out: Sum) -> None:
        """Add v with Mean(v u) = Mean(weight * (derivative of the word along u)) for every field u."""
        for k, (operator, base) in enumerate(word):
            if base == ONE:
                continue
            inner = self.product(weight, {word[:k] + word[k + 1:]: S.One})
            inner = self.applied(self.operators.adjoint(operator), inner)
            if base == ():
                out.add(inner)
            elif (composite := self.composites.of(base)) is not None:
                self._pull_through(inner, composite, out)
            else:
                self._pull(inner, base, out)

    def _pull_through(self, weight: Element, composite: Composite, out: Sum) -> None:
        """Do the same for a composite: its combinations of words, and the statistics in their coefficients."""
        for slope, element in zip(self.pointwise.slopes(composite), composite.inner, strict=True):
            pulled = self.product(weight, slope)
            for word, c in element.items():
                self._pull(scaled(pulled, c), word, out)
                for s in sorted(c.atoms(Statistic), key=str):
                    out.add(self.gradient(s), self.average(self.product(pulled, {word: c.diff(s)})))

    def along(self, word: Word, field: Element) -> Element:
        """Return the derivative of a word along a field."""
        out = Sum()
        for k, (operator, base) in enumerate(word):
            if base != ONE:
                inner = self.applied(operator, field if base == () else self._along_base(base, field))
                out.add(self.product(inner, {word[:k] + word[k + 1:]: S.One}))
        return out.cleaned()

    def _along_base(self, base: Word, field: Element) -> Element:
        """Return the derivative of what an operator is applied to: by the chain rule where it is a composite."""
        if (composite := self.composites.of(base)) is None:
            return self.along(base, field)
        out = Sum()
        for slope, element in zip(self.pointwise.slopes(composite), composite.inner, strict=True):
            moved = Sum()
            for word, c in element.items():
                moved.add(self.along(word, field), c)
                for s in sorted(c.atoms(Statistic), key=str):
                    moved.put(word, c.diff(s) * self.average(self.product(self.gradient(s), field)))
            out.add(self.product(slope, moved.cleaned()))
        return out.cleaned()
