"""Sets with normalizers and samples for them, and averages written out in mpmath numbers: an independent evaluator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
from sympy import Dummy, Expr, Rational, cos, exp, lambdify, log, sin

from symdecouple.flows.normalizer import Normalizer, normalizers
from symdecouple.language.feature_set import FeatureSet, Group
from symdecouple.language.mean import Mean
from symdecouple.language.sample import sample, x
from symdecouple.language.statistics import central_moment, skewness, standard_deviation, variance

__all__ = ["SETS", "Case", "at_sample", "made"]

p = sample("x", positive=True)
M = Mean(x)
MIXED = (0.3, -1.25, 2.0, 0.75, -0.5, 1.5, -2.25)
POSITIVE = (0.5, 1.25, 2.0, 0.75, 1.75, 3.0)


@dataclass(frozen=True)
class Case:
    """A set, the values it is brought to, the (level, kind) of its normalizers, and a sample vector that has them."""

    features: FeatureSet
    values: tuple[Any, ...]
    kinds: tuple[tuple[int, str], ...]
    points: tuple[float, ...] = MIXED


def _case(features: list[Any], values: tuple[Any, ...], *kinds: str, points: tuple[float, ...] = MIXED) -> Case:
    return Case(FeatureSet(features), values, tuple((int(k[0]), k[2:]) for k in kinds), points)


STANDARD = ("1 explicit", "2 explicit", "3 implicit")
SETS = {
    "raw moments": _case([M, Mean(x**2), Mean(x**3)], (0, 1, 0), *STANDARD),
    "raw moments elsewhere": _case([M, Mean(x**2), Mean(x**3)], (1, 5, 9), *STANDARD),
    "standardized moments": _case([M, variance(), skewness()], (0, 1, Rational(-1, 3)), *STANDARD),
    "deviation": _case([M, standard_deviation(), central_moment(3)], (-1, 2, 1), *STANDARD),
    "squared skewness": _case([M, variance(), skewness() ** 2], (0, 1, Rational(1, 9)), *STANDARD),
    "a group of moments": _case([Group(M, Mean(x**2), Mean(x**3))], (0, 1, 0), "3 parallel"),
    "even and odd power": _case([Mean(x**2), Mean(x**5)], (1, 0), "1 explicit", "2 implicit"),
    "circle": _case([M, Mean(sin(x)), Mean(cos(x))], (0, 0, Rational(1, 2)), "1 explicit", "3 parallel"),
    "circle in a group": _case([M, Group(Mean(sin(x)), Mean(cos(x)))], (0, 0, Rational(1, 2)), "1 explicit",
                               "3 parallel"),
    "exponentials": _case([M, Mean(exp(x)), Mean(exp(-x))], (0, 2, Rational(9, 4)), "1 explicit", "2 implicit",
                          "3 parallel"),
    "logarithm first": _case([Mean(log(p)), Mean(p**2), Mean(p**4)], (0, 2, 8), "1 implicit", "2 parallel",
                             "3 parallel", points=POSITIVE),
    "logarithm second": _case([Mean(p**2), Mean(log(p)), Mean(p**4)], (2, 0, 8), "1 explicit", "2 implicit",
                              "3 parallel", points=POSITIVE),
    "squared mean": _case([M**2, Mean(x**2)], (4, 5), "1 explicit", "2 explicit"),
}


@lru_cache(maxsize=64)
def made(name: str) -> tuple[Normalizer, ...]:
    case = SETS[name]
    return normalizers(case.features, list(case.values))


class Written:
    """An expression with every average written as a sum, innermost first; compiled once, in mpmath numbers."""

    def __init__(self, expr: Expr, symbol: Any, constants: tuple[Any, ...]) -> None:
        self.names: dict[Expr, Any] = {}
        self.bodies: list[Expr] = []
        self.arguments = [symbol, *constants]
        body = self.opened(expr)
        self.functions = [lambdify([*self.arguments, *list(self.names.values())[:k]], e, "mpmath")
                          for k, e in enumerate([*self.bodies, body])]

    def opened(self, node: Expr) -> Expr:
        if isinstance(node, Mean):
            if node not in self.names:
                body = self.opened(node.opened(self.arguments[0]))
                self.names[node] = Dummy()
                self.bodies.append(body)
            return self.names[node]
        return node.func(*(self.opened(arg) for arg in node.args)) if node.args and node.has(Mean) else node

    def __call__(self, points: list[Any], constants: list[Any]) -> list[Any]:
        known: list[Any] = list(constants)
        for function in self.functions:
            values = [function(point, *known) for point in points]
            known.append(mpmath.fsum(values) / len(values))
        return values


@lru_cache(maxsize=256)
def written(expr: Expr, symbol: Any, constants: tuple[Any, ...]) -> Written:
    return Written(expr, symbol, constants)


def at_sample(expr: Expr, points: list[Any], symbol: Any = x, constants: dict[Any, Any] | None = None) -> list[Any]:
    """The values of an expression at all points."""
    known = constants or {}
    return written(expr, symbol, tuple(known))(points, list(known.values()))
