"""An oracle for C1 and C2 at one sample: the rank of the gradients, and with all brackets, to many digits.

Gradients are plain SymPy derivatives of the features written out in coordinates; brackets D_u v - D_v u are central
differences. Nothing of the package is used beyond the expression of a feature for N samples.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import mpmath
import sympy as sp

from symdecouple import FeatureSet, VectorField, coordinates

DIGITS, STEP, SMALL = 100, 30, 18
PLAIN = sp.symbols("u1:13", real=True)


def drawn_sample(rng: random.Random, size: int) -> list[sp.Rational]:
    return [sp.Rational(k, 97) for k in rng.sample(range(20, 300), size)]


def ranks(items: Sequence[Any], sample: Sequence[Any], values: Mapping[Any, Any] | None = None) -> tuple[int, int]:
    """Features, expressions or fields; rational numbers of a sample; numbers of parameters."""
    names = PLAIN[: len(sample)]
    modules = [{"DiracDelta": lambda *_: mpmath.mpf(0)}, "mpmath"]  # samples are off the kinks
    functions = [sp.lambdify(names, [e.subs(values or {}) for e in components(item, names)], modules, cse=True)
                 for item in items]
    with mpmath.workdps(DIGITS):
        point, h = [mpmath.mpf(q.numerator) / q.denominator for q in sample], mpmath.mpf(10) ** -STEP
        fields = [mpmath.matrix(f(*point)) for f in functions]

        def along(f: Any, direction: Any) -> Any:
            ahead, behind = ([t + s * h * d for t, d in zip(point, direction, strict=True)] for s in (1, -1))
            return (mpmath.matrix(f(*ahead)) - mpmath.matrix(f(*behind))) / (2 * h)

        brackets = [along(functions[j], fields[i]) - along(functions[i], fields[j])
                    for i, j in combinations(range(len(items)), 2)]
        return rank(fields), rank([*fields, *brackets])


def components(item: Any, names: Sequence[Any]) -> list[Any]:
    rule = dict(zip(coordinates(len(names)), names, strict=True))
    if isinstance(item, VectorField):
        explicit = item if item.coordinates else item.at(n_samples=len(names))
        return [sp.sympify(e).xreplace(rule) for e in explicit.components]
    whole = item.at(n_samples=len(names)) if hasattr(item, "at") else FeatureSet([item]).at(n_samples=len(names))[0]
    expr = whole.expr.xreplace(rule)
    return [expr.diff(u) for u in names]


def rank(vectors: Sequence[Any]) -> int:
    """By Gram-Schmidt, twice."""
    basis: list[Any] = []
    for vector in vectors:
        length, rest = mpmath.norm(vector), vector
        for e in basis * 2:
            rest = rest - e * (e.T * rest)[0]
        if length > mpmath.mpf(10) ** -SMALL and mpmath.norm(rest) > mpmath.mpf(10) ** -SMALL * length:
            basis.append(rest / mpmath.norm(rest))
    return len(basis)
