"""One table of sets with parameters: what is exceptional, which condition changes there, and to what."""

from __future__ import annotations

from typing import Any

from sympy import Symbol, cos, cosh, exp, log, pi, sin, sinh, sqrt

from symdecouple import Filter, Mean, VectorField, coordinates, kurtosis, sample, skewness, variance, x

a, b, c = Symbol("a"), Symbol("b"), Symbol("c")
p = sample(positive=True)
m, s = Mean(x), Mean(x**2)
third = Mean(x**3)
x1, x2, x3 = coordinates(3)
C1, C2, BOTH, UNDEFINED = "C1 REFUTED", "C2 PROVED", "C1 REFUTED, C2 PROVED", "undefined"


def fields(*components: list[Any]) -> list[VectorField]:
    return [VectorField(v, [x1, x2, x3]) for v in components]


COMPLETE: dict[str, tuple[list[Any], list[tuple[dict[Any, Any], str]]]] = {
    "a multiple": ([m + a * s, m + 11 * s], [({a: 11}, C1)]),
    "proportional": ([m + a * s, b * m + s], [({a: 1 / b}, C1)]),
    "cubic term": ([m, s + a * third], [({a: 0}, C2)]),
    "square root of 2": ([m, s + (a**2 - 2) * third], [({a: sqrt(2)}, C2), ({a: -sqrt(2)}, C2)]),
    "no real zero": ([m, s + (a**2 + 1) * third], []),
    "a circle": ([m, s + (a**2 + b**2 - 1) * third], [({a**2 + b**2 - 1: 0}, C2)]),
    "a point": ([m, s + (a**2 + b**2) * third], [({a: 0, b: 0}, C2)]),
    "a parabola": ([m + a * third, s + b * third], [({a: -3 * b**2 / 4}, C2)]),
    "an exponential weight": ([m, s + (exp(a) - 1) * third], [({a: 0}, C2)]),
    "an irrational weight": ([m, s + (a - pi) * third], [({a: pi}, C2)]),
    "powers": ([Mean(p**a), Mean(p**b)], [({a: 0}, BOTH), ({b: 0}, BOTH), ({a: b}, BOTH), ({a: 2}, C2), ({b: 2}, C2)]),
    "a power": ([Mean(p**a), Mean(p)], [({a: 0}, BOTH), ({a: 1}, BOTH), ({a: 2}, C2)]),
    "fields": ([VectorField(x**a), VectorField(x**2 * m)], [({a: 2}, BOTH), ({a: 1}, C2)]),
    "logarithm and power": ([Mean(log(p)), Mean(p**a)], [({a: 0}, BOTH), ({a: 2}, C2)]),
    "Box-Cox": ([Mean((p**a - 1) / a), Mean(p)], [({a: 0}, UNDEFINED), ({a: 1}, BOTH), ({a: 2}, C2)]),
    "Tsallis": ([Mean((p**a - p) / (1 - a)), Mean(log(p))], [({a: 1}, UNDEFINED)]),
    "exponentials": ([Mean(exp(a * x)), Mean(exp(b * x))], [({a: b}, BOTH), ({a: 0}, BOTH), ({b: 0}, BOTH)]),
    "mean and exponentials": (
        [m, Mean(exp(a * x)), Mean(exp(b * x))], [({a: b}, BOTH), ({a: 0}, BOTH), ({b: 0}, BOTH), ({a: -b}, C2)],
    ),
    "hyperbolic": (
        [m, Mean(cosh(a * x)), Mean(sinh(b * x))],
        [({a: 0}, C1), ({b: 0}, C1), ({a: b}, C2), ({a: -b}, C2), ({a: 0, b: 0}, BOTH)],
    ),
    "bells": ([Mean(exp(-a * x**2)), Mean(exp(-b * x**2))], [({a: b}, BOTH), ({a: 0}, BOTH), ({b: 0}, BOTH)]),
    "a frequency": ([m, Mean(sin(x)), Mean(cos(a * x))], [({a: 0}, C1), ({a: 1}, C2), ({a: -1}, C2)]),
    "frequencies": (
        [Mean(sin(a * x)), Mean(sin(b * x))], [({a: 0}, BOTH), ({b: 0}, BOTH), ({a: b}, BOTH), ({a: -b}, BOTH)],
    ),
    "one frequency": ([m, Mean(sin(a * x)), Mean(cos(a * x))], [({a: 0}, C1)]),
    "poles": ([Mean(1 / (p + a)), Mean(1 / (p + b))], [({a: b}, BOTH)]),
    "a double pole": ([Mean(1 / (1 + a * x**2)), s], [({a: 0}, BOTH)]),
    "Moebius": ([Mean((a * p + b) / (c * p + 1))], [({a: b * c}, C1)]),
    "centre": ([m, Mean((x - a * m) ** 3)], [({a: 1}, C2)]),
    "shape": ([m, variance(), a * skewness() + b * kurtosis()], [({a: 0, b: 0}, C1)]),
    "one field": ([Mean(a * x**2)], [({a: 0}, C1)]),
    "contact": (fields([1, 0, a * x2], [0, 1, x1]), [({a: 1}, C2)]),
    "Heisenberg": (fields([1, 0, -a * x2 / 2], [0, 1, b * x1 / 2]), [({a: -b}, C2)]),
    "steering": (fields([cos(x3), sin(x3), 0], [0, 0, a]), [({a: 0}, BOTH)]),
    "a mass": (fields([x2 / c, -a * x1, 0], [0, 1 / c, b]), [({c: 0}, UNDEFINED), ({a: 0}, C2), ({b: 0}, C2)]),
    "linear": (fields([x1, a * x2, 0], [x1, x2, b * x3]), [({a: 1, b: 0}, C1)]),
    "coordinates": ([x1, x2 + a * x1 * x3], [({a: 0}, C2)]),
    "squares": ([x1**2 + a * x2**2, x2 * x3], [({a: 0}, C2)]),
}
"""The search finds all: nothing but these."""

INCOMPLETE: dict[str, tuple[list[Any], list[tuple[dict[Any, Any], str]]]] = {
    "logistic": (
        [Mean(1 / (1 + exp(a * x))), Mean(1 / (1 + exp(x)))], [({a: 0}, BOTH), ({a: 1}, BOTH), ({a: -1}, BOTH)],
    ),
    "softplus": ([Mean(log(1 + exp(a * x))), Mean(log(1 + exp(x)))], [({a: 0}, BOTH), ({a: 1}, BOTH)]),
    "a power of a sum": ([Mean((1 + p) ** a), Mean(p**2)], [({a: 0}, BOTH), ({a: 1}, C2), ({a: 2}, C2)]),
    "a transcendental weight": ([m, s + sin(a) * third], [({a: 0}, C2)]),
    "taps": ([m, Mean(Filter([1, a, 1])(x) ** 3)], [({a: -2}, C2)]),
}
"""Other values may be exceptional too, and the verdict says so."""
