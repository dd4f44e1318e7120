r"""Generators: the functions over which coefficients are rational, chosen so that they are not related by their making.

.. math::

    e^{\sum c_i t_i} = \prod_i g_i^{c_i/r_i}, \quad g_i = e^{r_i t_i}, \qquad
    \cos\Bigl(\sum c_i t_i\Bigr),\ \sin\Bigl(\sum c_i t_i\Bigr) \in
    \mathbf{Z}[\sin r_i t_i,\ \cos r_i t_i]

with r_i the reciprocal of the common denominator of all c_i that occur with the term t_i. So exp(u), exp(-u), exp(2u)
and exp(u + v) are monomials in as many generators as there are terms, and the waves of all multiples and sums of some
angles are polynomials in one sine and one cosine for each; cos^2 = 1 - sin^2 is the only relation.
Hyperbolic functions and tangents are written out first. Every other function is a generator of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm
from typing import Any

from sympy import Add, Dummy, Expr, Mul, Pow, Rational, S, chebyshevt_poly, chebyshevu_poly, cos, exp, log, sin

from symdecouple.calculus.arguments import by_exponentials_and_waves, exponent, terms
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.budget import check
from symdecouple.language.gate import expand

__all__ = ["Generators"]

DEPTH = 4
"""How many times the derivatives of what was found are searched for more."""
MAX_POWER = 10_000
"""Of a generator, where exponents have no common step of reasonable size."""
MAX_MULTIPLE = 60
"""Of an angle: sin(60 t) has 30 terms in sin t and cos t."""
MAX_WAVE_TERMS = 2_000


class Generators:
    """The generators of all roots, exponentials, waves and other functions in some expressions and their derivatives.

    Attributes
    ----------
    roots : dict
        Generator t to (R, q), with t^q = R.
    functions : dict
        Every other generator that is no symbol, to what it stands for.
    waves : list of (Dummy, Dummy)
        Sine and cosine of one angle each.
    """

    def __init__(self, exprs: Iterable[Expr]) -> None:
        self.roots: dict[Dummy, tuple[Expr, int]] = {}
        self.functions: dict[Dummy, Expr] = {}
        self.waves: list[tuple[Dummy, Dummy]] = []
        self._root_of: dict[Expr, tuple[Dummy, int]] = {}
        self._exponentials: dict[Expr, tuple[Dummy, Rational]] = {}
        self._angles: dict[Expr, tuple[Dummy, Dummy, Rational]] = {}
        self._others: dict[Expr, Dummy] = {}
        self._made = 0
        self._take(_Search(exprs))

    def code(self, expr: Expr) -> Expr:
        """Return an expression over the generators; what they do not reach stays as it is."""
        return self._coded(by_exponentials_and_waves(expr))

    def _take(self, found: _Search) -> None:
        for radicand, denominators in found.roots.items():
            t, q = self._fresh(positive=True), lcm(*denominators)
            self.roots[t] = (radicand, q)
            self._root_of[radicand] = (t, q)
        for term, denominators in found.exponentials.items():
            t, step = self._fresh(positive=True), Rational(1, lcm(*denominators))
            self.functions[t] = _power(step * term)
            self._exponentials[term] = (t, step)
        for term, denominators in found.angles.items():
            s, c, step = self._fresh(), self._fresh(), Rational(1, lcm(*denominators))
            self.functions |= {s: sin(step * term), c: cos(step * term)}
            self.waves.append((s, c))
            self._angles[term] = (s, c, step)
        for node in found.others:
            self._others[node] = self._fresh()
            self.functions[self._others[node]] = node

    def _fresh(self, positive: bool | None = None) -> Dummy:
        self._made += 1
        return Dummy(f"g{self._made - 1}", real=True, positive=positive)

    def _coded(self, expr: Expr) -> Expr:
        check()
        if isinstance(expr, (Add, Mul)):
            return expr.func(*map(self._coded, expr.args))
        if expr.is_Pow and expr.exp.is_Integer:
            return self._coded(expr.base) ** expr.exp
        if expr.is_Pow and expr.exp.is_Rational:
            t, q = self._root_of.get(expand(expr.base), (None, 1))
            return expr if t is None or q % expr.exp.q else t ** (expr.exp * q)
        if (argument := exponent(expr)) is not None:
            return self._exponential(expr, argument)
        if isinstance(expr, (sin, cos)):
            return self._wave(expr)
        return self._others.get(expr, expr)

    def _exponential(self, expr: Expr, argument: Expr) -> Expr:
        factors = []
        for term, c in terms(argument):
            if isinstance(term, log):
                factors.append(self._coded(term.args[0] ** c))
                continue
            if term not in self._exponentials:
                return expr
            t, step = self._exponentials[term]
            if not (c / step).is_Integer:
                return expr
            if abs(c / step) > MAX_POWER:
                raise UnsupportedExpression(f"{expr} is the power {c / step} of {self.functions[t]}, by which all "
                                            f"exponentials here are measured; at most {MAX_POWER} are handled")
            factors.append(t ** (c / step))
        return Mul(*factors)

    def _wave(self, expr: Expr) -> Expr:
        sine, cosine, size = S.Zero, S.One, 1
        for term, c in terms(expr.args[0]):
            if (turn := self._turned(term, c)) is None:
                return expr
            size *= turn[2]
            if size > MAX_WAVE_TERMS:
                raise UnsupportedExpression(f"{expr} has more than {MAX_WAVE_TERMS} terms in the sines and cosines of "
                                            "its angles; lower the multiples")
            sine, cosine = sine * turn[1] + cosine * turn[0], cosine * turn[1] - sine * turn[0]
        return sine if isinstance(expr, sin) else cosine

    def _turned(self, term: Expr, c: Rational) -> tuple[Expr, Expr, int] | None:
        """Return sine and cosine of c times a term, and the number of their terms; None if there is no generator."""
        if _is_written_out(term, c):
            return self._coded(sin(c * term)), self._coded(cos(c * term)), 2
        if term not in self._angles:
            return None
        s, cosine, step = self._angles[term]
        if not (c / step).is_Integer:
            return None
        n, sign = int(abs(c / step)), -1 if c < 0 else 1
        if n > MAX_MULTIPLE:
            raise UnsupportedExpression(f"the angle {c * term} is {n} times {step * term}, the common measure of the "
                                        f"angles that occur with it; at most {MAX_MULTIPLE} times are handled")
        return sign * _sine(n, s, cosine), _cosine(n, s, cosine), n // 2 + 1


class _Search:
    """What occurs in expressions and in derivatives of what occurs: terms and radicands, with their denominators."""

    def __init__(self, exprs: Iterable[Expr]) -> None:
        self.roots: dict[Expr, set[int]] = {}
        self.exponentials: dict[Expr, set[int]] = {}
        self.angles: dict[Expr, set[int]] = {}
        self.others: dict[Expr, None] = {}
        self._seen: set[Expr] = set()
        self._new: list[Expr] = []
        pool: Iterable[Any] = exprs
        for _ in range(DEPTH):
            self._new = []
            for expr in pool:
                check()
                self._visit(by_exponentials_and_waves(expr))
            pool = [node.diff(s) for node in self._new for s in sorted(node.free_symbols, key=str)]

    def _visit(self, expr: Expr) -> None:
        if expr.is_Symbol or expr.is_Rational or expr in self._seen:
            return
        self._seen.add(expr)
        if isinstance(expr, (Add, Mul)):
            for arg in expr.args:
                self._visit(arg)
        elif expr.is_Pow and expr.exp.is_Rational:
            self._visit(expr.base)
            if not expr.exp.is_Integer:
                radicand = expand(expr.base)
                self._visit(radicand)
                self.roots.setdefault(radicand, set()).add(int(expr.exp.q))
        elif (argument := exponent(expr)) is not None:
            for term, c in terms(argument):
                if isinstance(term, log):
                    self._visit(term.args[0] ** c)
                else:
                    self._note(self.exponentials, term, c)
        elif isinstance(expr, (sin, cos)):
            for term, c in terms(expr.args[0]):
                if _is_written_out(term, c):
                    self._visit(sin(c * term) + cos(c * term))
                else:
                    self._note(self.angles, term, c)
        else:
            self.others[expr] = None
            self._new.append(expr)

    def _note(self, found: dict[Expr, set[int]], term: Expr, c: Rational) -> None:
        if term not in found:
            found[term] = set()
            self._new.append(term)
        found[term].add(int(c.q))


def _power(exponent: Expr) -> Expr:
    """Return exp(u), as w**v for u = v log(w)."""
    logs = [factor for factor in Mul.make_args(exponent) if isinstance(factor, log)]
    return Pow(logs[0].args[0], exponent / logs[0]) if len(logs) == 1 else exp(exponent)


def _is_written_out(term: Expr, c: Rational) -> bool:
    """True iff SymPy knows sine and cosine of c times the term as roots: of parts of pi, of inverse waves."""
    return not isinstance(sin(c * term), sin)


def _sine(n: int, s: Expr, c: Expr) -> Expr:
    """Return sin(n t), a polynomial in s = sin t, times c = cos t where n is even."""
    if n == 0:
        return S.Zero
    return (-1) ** (n // 2) * chebyshevt_poly(n, s) if n % 2 else (-1) ** (n // 2 - 1) * c * chebyshevu_poly(n - 1, s)


def _cosine(n: int, s: Expr, c: Expr) -> Expr:
    """Return cos(n t), a polynomial in s = sin t, times c = cos t where n is odd."""
    return (-1) ** (n // 2) * (c * chebyshevu_poly(n - 1, s) if n % 2 else chebyshevt_poly(n, s))
