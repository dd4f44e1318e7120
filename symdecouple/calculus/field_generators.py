r"""Generators: the functions over which coefficients are rational, chosen so that they are not related by their making.

.. math::

    e^{\sum_i n_i u_i} = \prod_i g_i^{n_i}, \quad g_i = e^{u_i}, \qquad
    \cos\Bigl(\sum_i n_i u_i\Bigr),\ \sin\Bigl(\sum_i n_i u_i\Bigr) \in \mathbf{Z}[\sin u_i,\ \cos u_i]

with whole numbers n_i, where the u_i are a basis of all sums and differences of the arguments that occur (`lattice`).
So exp(u), exp(-u), exp(2u) and exp(u + v) are monomials in as few generators as there can be, and the waves of all
multiples and sums of some angles are polynomials in one sine and one cosine for each; cos^2 = 1 - sin^2 is the only
relation.
Hyperbolic functions and tangents are written out first. Every other function is a generator of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm, prod
from typing import Any

from sympy import Add, Dummy, Expr, Mul, Pow, S, chebyshevt_poly, chebyshevu_poly, cos, exp, log, sin

from symdecouple.calculus.arguments import by_exponentials_and_waves, exponent, terms
from symdecouple.calculus.lattice import Lattice, Vector
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.budget import check
from symdecouple.language.gate import expand
from symdecouple.language.waves import of_sum

__all__ = ["FieldGenerators"]

DEPTH = 4
"""How many times the derivatives of what was found are searched for more."""
MAX_POWER = 10_000
"""Of a generator, where exponents have no common step of reasonable size."""
MAX_MULTIPLE = 60
"""Of an angle: sin(60 t) has 30 terms in sin t and cos t."""
MAX_WAVE_TERMS = 2_000


class FieldGenerators:
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
        self._others: dict[Expr, Dummy] = {}
        self._made = 0
        found = _Search(exprs)
        self._exponents, self._angles = Lattice(found.exponents), Lattice(found.angles)
        self._take(found)

    def code(self, expr: Expr) -> Expr:
        """Return an expression over the generators; what they do not reach stays as it is."""
        return self._coded(by_exponentials_and_waves(expr))

    def _take(self, found: _Search) -> None:
        for radicand, denominators in found.roots.items():
            t, q = self._fresh(positive=True), lcm(*denominators)
            self.roots[t] = (radicand, q)
            self._root_of[radicand] = (t, q)
        self._exponentials = [self._fresh(positive=True) for _ in self._exponents.basis]
        for t, u in zip(self._exponentials, self._exponents.basis, strict=True):
            self.functions[t] = _power(_sum(u))
        for u in self._angles.basis:
            s, c = self._fresh(), self._fresh()
            self.functions |= {s: sin(_sum(u)), c: cos(_sum(u))}
            self.waves.append((s, c))
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
        powers, rest = _without_logarithms(argument)
        if (numbers := self._exponents.coordinates(rest)) is None:
            return expr
        if any(abs(n) > MAX_POWER for n in numbers):
            raise UnsupportedExpression(f"{expr} is a power with exponent {max(map(abs, numbers))} of one of the "
                                        f"functions {', '.join(str(self.functions[t]) for t in self._exponentials)} by "
                                        f"which all exponentials here are measured; at most {MAX_POWER} are handled")
        return Mul(*map(self._coded, powers), *(t**n for t, n in zip(self._exponentials, numbers, strict=True)))

    def _wave(self, expr: Expr) -> Expr:
        known, rest = _without_known_angles(expr.args[0])
        if (numbers := self._angles.coordinates(rest)) is None:
            return expr
        turns = [(self._coded(sin(angle)), self._coded(cos(angle)), 2) for angle in known]
        for n, (s, c) in zip(numbers, self.waves, strict=True):
            if abs(n) > MAX_MULTIPLE:
                raise UnsupportedExpression(f"the angle of {expr} is {n} times that of {self.functions[s]}, the common "
                                            f"measure of what occurs with it; at most {MAX_MULTIPLE} times are handled")
            if n:
                turns.append(((1 if n > 0 else -1) * _sine(abs(n), s, c), _cosine(abs(n), s, c), abs(n) // 2 + 1))
        if prod(size for _, _, size in turns) > MAX_WAVE_TERMS:
            raise UnsupportedExpression(f"{expr} has more than {MAX_WAVE_TERMS} terms in the sines and cosines of its "
                                        "angles; lower the multiples")
        sine, cosine = S.Zero, S.One
        for s, c, _ in turns:
            sine, cosine = of_sum(sine, cosine, s, c)
        return sine if isinstance(expr, sin) else cosine


class _Search:
    """What occurs in expressions and in derivatives of what occurs: arguments in terms, radicands, other functions."""

    def __init__(self, exprs: Iterable[Expr]) -> None:
        self.roots: dict[Expr, set[int]] = {}
        self.exponents: dict[Vector, None] = {}
        self.angles: dict[Vector, None] = {}
        self.others: dict[Expr, None] = {}
        self._seen: set[Expr] = set()
        self._terms: set[Expr] = set()
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
            powers, rest = _without_logarithms(argument)
            for power in powers:
                self._visit(power)
            self._note(self.exponents, rest)
        elif isinstance(expr, (sin, cos)):
            known, rest = _without_known_angles(expr.args[0])
            for angle in known:
                self._visit(sin(angle) + cos(angle))
            self._note(self.angles, rest)
        else:
            self.others[expr] = None
            self._new.append(expr)

    def _note(self, found: dict[Vector, None], vector: Vector) -> None:
        found[vector] = None
        self._new += [term for term, _ in vector if term not in self._terms]
        self._terms |= {term for term, _ in vector}


def _power(exponent: Expr) -> Expr:
    """Return exp(u), as w**v for u = v log(w)."""
    logs = [factor for factor in Mul.make_args(exponent) if isinstance(factor, log)]
    return Pow(logs[0].args[0], exponent / logs[0]) if len(logs) == 1 else exp(exponent)


def _sum(vector: Vector) -> Expr:
    return Add(*(c * term for term, c in vector))


def _without_logarithms(argument: Expr) -> tuple[list[Expr], Vector]:
    """Return the powers that logarithms in an exponent are, and the rest of it."""
    found = terms(argument)
    return ([term.args[0] ** c for term, c in found if isinstance(term, log)],
            tuple((term, c) for term, c in found if not isinstance(term, log)))


def _without_known_angles(argument: Expr) -> tuple[list[Expr], Vector]:
    """Return the parts of an angle whose waves SymPy knows as roots (parts of pi, inverse waves), and the rest."""
    found = terms(argument)
    known = [c * term for term, c in found if not isinstance(sin(c * term), sin)]
    return known, tuple((term, c) for term, c in found if c * term not in known)


def _sine(n: int, s: Expr, c: Expr) -> Expr:
    """Return sin(n t), a polynomial in s = sin t, times c = cos t where n is even."""
    if n == 0:
        return S.Zero
    return (-1) ** (n // 2) * chebyshevt_poly(n, s) if n % 2 else (-1) ** (n // 2 - 1) * c * chebyshevu_poly(n - 1, s)


def _cosine(n: int, s: Expr, c: Expr) -> Expr:
    """Return cos(n t), a polynomial in s = sin t, times c = cos t where n is odd."""
    return (-1) ** (n // 2) * (c * chebyshevu_poly(n - 1, s) if n % 2 else chebyshevt_poly(n, s))
