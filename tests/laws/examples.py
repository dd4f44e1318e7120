"""One table of feature sets and fields: a new row is checked against every law."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from sympy import Function, Rational, Symbol, cos, cosh, exp, log, sin, sqrt

from symdecouple import Filter, Mean, VectorField, coordinates, kurtosis, sample, shift, skewness, variance, x

a = Symbol("a")
m, v = Mean(x), variance()
p = sample(positive=True)
f, g = Function("f"), Function("g")
x1, x2, x3 = coordinates(3)

FEATURES: dict[str, Any] = {
    "mean": m, "second": Mean(x**2), "third": Mean(x**3), "variance": v, "central": Mean((x - m) ** 3),
    "skewness": skewness(), "kurtosis": kurtosis(), "trigonometric": Mean(sin(x)) * m, "exponential": log(Mean(exp(x))),
    "logcosh": Mean(log(cosh(x - m))), "root": sqrt(Mean(x**2) + 1), "rational": Mean(1 / (1 + x**2)),
    "nested": Mean((x - Mean(x**2)) ** 2 * x), "parameter": Mean(x**2 + a * x**3),
}
"""Features of x for every N."""

FILTERED: dict[str, Any] = {
    "lag": Mean(x * shift(1)(x)), "energy": Mean(Filter([-1, 2, -1])(x) ** 2), "cube": Mean(Filter([1, 2, 0])(x) ** 3),
    "composed": Mean(Filter([1, 1, 0])(Filter([1, -1], origin=0)(x) ** 2) * x),
    "centred": Mean((shift(1)(x) - m) ** 2 * x),
}
"""Features for which a pointwise derivative would be wrong."""

FIELDS: dict[str, Any] = {
    "one": VectorField(1), "x": VectorField(x), "square": VectorField(x**2), "centred": VectorField(x - m),
    "sine": VectorField(sin(x) * m), "statistic": VectorField(v * x**3), "exponential": VectorField(exp(x) / (1 + v)),
    "nested": VectorField(Mean(x**2 * (x - m)) * x + 1), "undefined": VectorField(f(x) * m),
}
"""Fields in x."""

EXPLICIT: dict[str, Any] = {
    "rotation": VectorField([x2, -x1, 0], [x1, x2, x3]), "contact": VectorField([0, 1, x1], [x1, x2, x3]),
    "nonlinear": VectorField([x1 * x2, exp(x3), x1**2 / (1 + x2**2)], [x1, x2, x3]),
}
"""Fields in three coordinates."""

SETS: dict[str, tuple[list[Any], bool]] = {
    "moments": ([m, Mean(x**2), Mean(x**3)], True), "gap": ([m, Mean(x**3)], False),
    "second and fifth": ([Mean(x**2), Mean(x**5)], True), "raw": ([m, v, Mean(x**4)], False),
    "sines": ([m, Mean(sin(x)), Mean(cos(x))], True), "two sines": ([Mean(sin(x)), Mean(cos(x))], False),
    "exponentials": ([m, Mean(exp(x)), Mean(exp(-x))], True), "standardized": ([m, v, skewness() ** 2], True),
    "mixed": ([m, Mean(exp(x)), Mean(x**2)], False), "poles": ([Mean(1 / p), Mean(p**2)], True),
    "logistic": ([m, Mean(1 / (1 + exp(x)))], False), "powers": ([Mean(p ** Rational(3, 2)), Mean(p**2)], True),
}
"""Sets of features, and whether C2 holds."""


def every_second(names: Iterable[str]) -> list[Any]:
    """Return names of a table, every other one as slow."""
    return [name if k % 2 else pytest.param(name, marks=pytest.mark.slow) for k, name in enumerate(names)]
