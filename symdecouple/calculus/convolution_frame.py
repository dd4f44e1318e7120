r"""Fields of filtered features over the field of the statistics: basis functions are words.

.. math::

    v_f = \sum_a \frac{\partial F}{\partial s_a}\, v_{s_a}, \qquad
    [u, v] = \sum_{a,b} U_a V_b\, [w_a, w_b] + \sum_b (D_u V_b)\, w_b - \sum_a (D_v U_a)\, w_a, \qquad
    D_u s = \mathrm{Mean}(v_s u)

Words of degree one have brackets [K x, L x] = (LK - KL) x, which vanish for circular filters: that is why energies are
involutive. An identity in words holds for every kernel and every sample size that the operators are for. A bracket
outside the span of the words is no refutation by itself.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from sympy import DiracDelta, Expr, S, sign
from sympy.polys.fields import FracElement

from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.compositions import Compositions
from symdecouple.calculus.convolution import Element, TooManyTerms, Words
from symdecouple.calculus.field import VectorField, one_sample
from symdecouple.calculus.frame import ExactFields, Form
from symdecouple.calculus.matrices import MatrixOperators
from symdecouple.calculus.operators import CircularOperators, Operators, Word
from symdecouple.calculus.subject import Size, Subject
from symdecouple.calculus.symmetric_operators import SymmetricOperators, common_boundary
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.boundaries import grid
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import Statistic
from symdecouple.language.filtered import Filtered, Unit
from symdecouple.language.mean import Mean
from symdecouple.language.sample import BoundSample, Sample

__all__ = ["ConvolutionFrame", "degree", "frames", "kinds_of_operators"]


class ConvolutionFrame(ExactFields):
    """Gradient fields (of features) or fields in the sample, elementary functions of filter outputs."""

    def __init__(self, items: Sequence[Any], budget: Budget, operators: Operators) -> None:
        for item in items:
            if item.expr.has(DiracDelta) or (not isinstance(item, VectorField) and item.expr.has(sign)):
                raise UnsupportedExpression(f"the gradient of {item} contains an impulse: write x*sign(x) as abs(x)")
        self.budget = budget
        self.words = Words(one_sample(items), operators, budget)
        raws = [self._raw(item) for item in items]
        self._moving = sorted(set().union(*(c.atoms(Statistic) for raw in raws for c in raw.values())), key=str)
        self._brackets: dict[tuple[Word, Word], Element] = {}
        self._encoded: dict[Expr, FracElement] = {}
        self._gradients = {s: self.words.gradient(s) for s in self._moving}
        self.coefficients = CoefficientField(self._everything(raws))
        self._take(raws)
        self._along = [self._motion(form) for form in self.forms]

    def derivative(self, i: int, element: FracElement) -> FracElement:
        """Return the derivative of a coefficient along w_i."""
        return self.coefficients.differential(element, self._along[i])

    def basis(self, forms: Iterable[Form]) -> list[Word]:
        """Return the words of some forms, in a fixed order."""
        return sorted(set().union(*forms), key=lambda word: (len(word), word))

    def bracket(self, i: int, j: int) -> Form:
        """Return [w_i, w_j] in words."""
        out: Form = {}
        for psi, u in self.forms[i].items():
            self.budget.check("a Lie bracket")
            for other, v in self.forms[j].items():
                for word, c in self._bracket_of_words(psi, other).items():
                    _accumulate(out, word, u * v * self._encode(c))
        for k, along, orientation in ((j, i, 1), (i, j, -1)):
            for word, c in self.forms[k].items():
                if (slope := self.derivative(along, c)) != 0:
                    _accumulate(out, word, orientation * slope)
        reduced = {word: self.coefficients.reduced(c) for word, c in out.items()}
        return {word: c for word, c in reduced.items() if c != 0}

    def _raw(self, item: Any) -> Element:
        if isinstance(item, VectorField):
            return self.words.form(item.expr)
        closed = self.words.closed(item.expr)
        raw: Element = {}
        for s in sorted(closed.atoms(Statistic), key=str):
            factor = closed.diff(s)
            for word, c in self.words.gradient(s).items():
                raw[word] = raw.get(word, S.Zero) + factor * c
        return raw

    def _everything(self, raws: list[Element]) -> list[Expr]:
        """Return all coefficient expressions that brackets of these fields can lead to."""
        out = [c for raw in raws for c in raw.values()]
        supports = sorted(set().union(*raws))
        for s in self._moving:
            for word in supports:
                self.budget.check("collecting the statistics of the brackets")
                out.append(self._moved(s, word))
        for k, psi in enumerate(supports):
            for other in supports[k + 1 :]:
                out += self._bracket_of_words(psi, other).values()
        return list(dict.fromkeys(out))

    def _bracket_of_words(self, psi: Word, other: Word) -> Element:
        """Return [psi, other] = D_psi other - D_other psi."""
        if other < psi:
            return {word: -c for word, c in self._bracket_of_words(other, psi).items()}
        if (psi, other) not in self._brackets:
            out = dict(self.words.along(other, {psi: S.One}))
            for word, c in self.words.along(psi, {other: S.One}).items():
                out[word] = out.get(word, S.Zero) - c
            self._brackets[psi, other] = {word: c for word, c in out.items() if c != 0}
        return self._brackets[psi, other]

    def _moved(self, statistic: Statistic, word: Word) -> Expr:
        """Return the derivative of a statistic along a word."""
        return self.words.average(self.words.product(self._gradients[statistic], {word: S.One}))

    def _motion(self, form: Form) -> dict[Statistic, FracElement]:
        motion = {}
        for s in self._moving:
            total = self.coefficients.field.zero
            for word, c in form.items():
                total += c * self._encode(self._moved(s, word))
            motion[s] = total
        return motion

    def _encode(self, expr: Expr) -> FracElement:
        if expr not in self._encoded:
            self._encoded[expr] = self.coefficients.encode(expr)
        return self._encoded[expr]


_RECENT: OrderedDict[Any, ConvolutionFrame] = OrderedDict()
_KEPT = 8


def frames(subject: Subject, n_samples: Size | None, budget: Budget) -> Iterator[ConvolutionFrame]:
    """Yield the fields of filtered features in words, the cheapest form first, then those that find more identities.

    Raises
    ------
    UnsupportedExpression
        For a function of filter outputs that words have no rules for.
    TooManyTerms
        If that is why no form is left.
    """
    refusal: Exception | None = None
    found = False
    for k, make in enumerate(kinds_of_operators(subject, n_samples)):
        key = (subject.items, n_samples, k)
        frame = _RECENT.pop(key, None)
        if frame is None:
            try:
                frame = ConvolutionFrame(subject.items, budget, make())
            except (TooManyTerms, UnsupportedExpression) as error:
                refusal = error
                continue
        frame.budget = frame.words.budget = budget
        _RECENT[key] = frame
        if len(_RECENT) > _KEPT:
            _RECENT.popitem(last=False)
        found = True
        yield frame
    if not found and refusal is not None:
        raise refusal


def kinds_of_operators(subject: Subject, n_samples: Size | None) -> list[Callable[[], Operators]]:
    """Return what words can be made of, the cheapest first: kernels by name, sums of shifts, matrices.

    Linear fields stay short when filters are written as shifts, and only this finds all relations at every size.
    Matrices know the size, and what holds at this size alone. Symmetric kernels at one boundary may commute as well.
    """
    filters = subject.all_filters
    matrices: list[Callable[[], Operators]] = []
    if n_samples is not None and not subject.filters:
        matrices.append(partial(MatrixOperators, grid(n_samples)))
    if not subject.is_circular:
        boundary = common_boundary(filters)
        symmetric: list[Callable[[], Operators]] = [partial(SymmetricOperators, boundary)] if boundary else []
        return [*matrices, *symmetric, Compositions]
    shifts: list[Callable[[], Operators]] = [CircularOperators, *matrices]
    if all(h.is_symbolic or len(h.lags) == 1 for h in filters) or all(map(_is_linear, subject.items)):
        return shifts
    return [partial(CircularOperators, expand=False), *shifts]


def _is_linear(item: Any) -> bool:
    """True iff the field is of degree 1 in the sample, statistics being constants."""
    if isinstance(item, VectorField):
        return degree(item.expr) <= 1
    return all(degree(mean.body) <= 2 for mean in item.expr.atoms(Mean))


def degree(expr: Expr) -> float:
    """Return the degree in the sample of a polynomial in filter outputs; infinite for other functions.

    Examples
    --------
    >>> from symdecouple.language.filters import Filter
    >>> from symdecouple.language.sample import x
    >>> degree(x * Filter("h")(x**2 + 1))
    3
    """
    if isinstance(expr, (Sample, BoundSample)):
        return 1
    if isinstance(expr, (Mean, Unit)) or not expr.has(Sample, BoundSample):
        return 0
    if isinstance(expr, Filtered):
        return degree(expr.argument)
    if expr.is_Add:
        return max(map(degree, expr.args))
    if expr.is_Mul:
        return sum(map(degree, expr.args))
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
        return int(expr.exp) * degree(expr.base)
    return math.inf


def _accumulate(form: Form, word: Any, value: FracElement) -> None:
    form[word] = form[word] + value if word in form else value
