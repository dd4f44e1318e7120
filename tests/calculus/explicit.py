"""Filtered features written out by hand: filters as explicit matrices, features as polynomials of N coordinates.

An oracle for the calculus of filters that shares nothing with it but the definition of a filter with taps.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from sympy import QQ, Add, Expr, Matrix, Rational, S, symbols
from sympy.polys.matrices import DomainMatrix

from symdecouple import Filter, Filtered, Mean, x
from symdecouple.language.canonical import Statistic
from symdecouple.language.filtered import DcGain, Unit

Lookup = Callable[[Filter], Matrix]
Jet = tuple[Fraction, Any, Any]


def operator(taps: Mapping[int, Any], n: int, boundary: str = "circular") -> Matrix:
    """(h x)_i = sum_k h_k x_(i - k), what lies beyond the ends by the four rules."""
    out = Matrix.zeros(n, n)
    for i, (lag, tap) in product(range(n), taps.items()):
        place = i - lag
        while not 0 <= place < n and boundary != "zero":
            if boundary == "circular":
                place %= n
            elif boundary == "half-sample":
                place = -1 - place if place < 0 else 2 * n - 1 - place
            else:
                place = -place if place < 0 else 2 * n - 2 - place
        if 0 <= place < n:
            out[i, place] += tap
    return out


def lookup(n: int, named: Mapping[Filter, Matrix] | None = None) -> Lookup:
    """Matrices of filters: given ones for names, from the taps for others; the adjoint is the transpose."""

    def matrix(h: Filter) -> Matrix:
        if named and h in named:
            return named[h]
        if h.is_symbolic or h.transposed:
            return matrix(h.adjoint).T
        return operator({int(lag): tap for lag, tap in h.lags.items()}, n, h.boundary)

    return matrix


def values(expr: Expr, sample: Sequence[Any], matrix: Lookup) -> list[Any]:
    """The expression at each sample."""
    n = len(sample)
    if expr == x:
        return list(sample)
    if isinstance(expr, Filtered):
        return list(matrix(expr.filter) * Matrix(values(expr.argument, sample, matrix)))
    if isinstance(expr, (Mean, Statistic)):
        body = expr.opened(x) if isinstance(expr, Mean) else expr.psi
        return [Add(*values(body, sample, matrix)) / n] * n
    if isinstance(expr, Unit):
        return [S.One] * n
    if isinstance(expr, DcGain):
        return [sum(matrix(expr.args[0])[0, :])] * n
    if not expr.args:
        return [expr] * n
    columns = [values(arg, sample, matrix) for arg in expr.args]
    return [expr.func(*row) for row in zip(*columns, strict=True)]


def ranks(features: Sequence[Expr], sample: Sequence[Any], matrix: Lookup) -> tuple[int, int]:
    """The exact rank of the gradients at a sample, and that of the gradients and all their brackets."""
    coordinates = symbols(f"q1:{len(sample) + 1}")
    at = {q: Fraction(int(c.p), int(c.q)) for q, c in zip(coordinates, map(Rational, sample), strict=True)}
    known: dict[Expr, Jet] = {}
    jets = [jet(values(feature, coordinates, matrix)[0], at, known) for feature in features]
    gradients, hessians = [g for _, g, _ in jets], [h for _, _, h in jets]
    brackets = [hessians[j] @ gradients[i] - hessians[i] @ gradients[j]
                for i in range(len(features)) for j in range(i)]  # fmt: skip
    return _rank(gradients), _rank([*gradients, *brackets])


def jet(expr: Expr, at: Mapping[Expr, Fraction], known: dict[Expr, Jet]) -> Jet:
    """Value, gradient and Hessian at a point, exact, by the rules of sums, products and powers."""
    if expr not in known:
        known[expr] = _jet(expr, at, known)
    return known[expr]


def _jet(expr: Expr, at: Mapping[Expr, Fraction], known: dict[Expr, Jet]) -> Jet:
    n = len(at)
    slope, bend = np.full(n, Fraction(0)), np.full((n, n), Fraction(0))
    if expr in at:
        slope[list(at).index(expr)] = Fraction(1)
        return at[expr], slope, bend
    if expr.is_Rational:
        return Fraction(int(expr.p), int(expr.q)), slope, bend
    if expr.is_Pow and expr.exp.is_Integer:
        (u, g, h), p = jet(expr.base, at, known), int(expr.exp)
        first, second = p * u ** (p - 1), p * (p - 1) * u ** (p - 2)
        return u**p, first * g, first * h + second * np.outer(g, g)
    total = (Fraction(0), slope, bend) if expr.is_Add else (Fraction(1), slope, bend)
    if not (expr.is_Add or expr.is_Mul):
        raise NotImplementedError(f"no exact derivatives of {expr}")
    for arg in expr.args:
        (a, f, s), (b, g, t) = total, jet(arg, at, known)
        total = (a + b, f + g, s + t) if expr.is_Add else (
            a * b, a * g + b * f, a * t + b * s + np.outer(f, g) + np.outer(g, f))
    return total


def point(n: int, seed: int) -> list[Rational]:
    rng = random.Random(seed)
    return [Rational(rng.randint(-9, 9), rng.randint(1, 4)) for _ in range(n)]


def _rank(columns: Sequence[Any]) -> int:
    rows = [[QQ(c.numerator, c.denominator) for c in column] for column in columns]
    return int(DomainMatrix(rows, (len(rows), len(rows[0])), QQ).rank())
