"""One table of sets with kinks: a new row is checked against every law of `test_kinks`."""

from __future__ import annotations

from typing import Any

from sympy import Abs, Heaviside, Max, Min, Piecewise, Rational, Symbol, exp, log, sign, sin, sqrt, tanh

from symdecouple import Mean, VectorField, coordinates, sample, variance, x

NAMES = ["Abs", "Heaviside", "Max", "Min", "Piecewise", "sign"]

m, s, v = Mean(x), Mean(x**2), variance()
z = (x - m) / sqrt(v)
p = sample(positive=True)
a = Symbol("a")
half = Rational(1, 2)
x1, x2, x3 = coordinates(3)


def kinked(*components: Any, of: Any = None) -> VectorField:
    return VectorField(list(components) if of else components[0], of, allow_nonsmooth=NAMES)


KINKS: dict[str, tuple[list[Any], str, str, bool]] = {
    "second, abs of mean": ([s, Abs(m)], "PROVED", "PROVED", True),
    "mean abs, second": ([Mean(Abs(x)), s], "PROVED", "PROVED", True),
    "second, mean abs, mean": ([s, Mean(Abs(x)), m], "PROVED", "PROVED", True),
    "mean, squared relu": ([m, Mean(Max(x, 0) ** 2)], "REFUTED", "PROVED", False),
    "mean, relu": ([m, Mean(Max(x, 0))], "PROVED", "PROVED", True),
    "second, Hoyer": ([s, Mean(Abs(x)) / sqrt(s)], "PROVED", "PROVED", True),
    "mean, Hoyer": ([m, Mean(Abs(x)) / sqrt(s)], "REFUTED", "PROVED", False),
    "mean, second, Hoyer": ([m, s, Mean(Abs(x)) / sqrt(s)], "PROVED", "PROVED", True),
    "mean, Huber": (
        [m, Mean(Piecewise((x**2 / 2, Abs(x) < 1), (Abs(x) - half, True)))], "REFUTED", "PROVED", False),
    "mean, a square that is none": ([m, Mean(Min(x**2, 2 * Abs(x) - 1))], "PROVED", "PROVED", True),
    "mean, variance, mean abs z": ([m, v, Mean(Abs(z))], "PROVED", "PROVED", True),
    "mean, variance, mean deviation": ([m, v, Mean(Abs(x - m))], "PROVED", "PROVED", True),
    "mean, mean deviation": ([m, Mean(Abs(x - m))], "PROVED", "PROVED", True),
    "mean, semivariance": ([m, Mean(Max(x - m, 0) ** 2)], "PROVED", "PROVED", True),
    "mean, insensitive": ([m, Mean(Max(Abs(x) - 1, 0))], "PROVED", "PROVED", True),
    "second, soft threshold": ([s, Mean(sign(x) * Max(Abs(x) - 1, 0))], "PROVED", "PROVED", True),
    "mean, check loss": ([m, Mean(Max(x / 4, -3 * x / 4))], "PROVED", "PROVED", True),
    "second, third absolute": ([s, Mean(Abs(x) ** 3)], "PROVED", "PROVED", True),
    "mean, second, third absolute": ([m, s, Mean(Abs(x) ** 3)], "REFUTED", "PROVED", False),
    "mean, second, signed second": ([m, s, Mean(sign(x) * x**2)], "REFUTED", "PROVED", False),
    "second, log(1 + abs)": ([s, Mean(log(1 + Abs(x)))], "REFUTED", "PROVED", True),
    "second, root of abs": ([s, Mean(sqrt(Abs(x)))], "PROVED", "PROVED", True),
    "mean, root of abs": ([m, Mean(sqrt(Abs(x)))], "REFUTED", "PROVED", True),
    "second, power of abs": ([s, Mean(Abs(x) ** Rational(5, 3))], "PROVED", "PROVED", True),
    "second, log of abs": ([s, Mean(log(Abs(x)))], "PROVED", "PROVED", True),
    "second, Laplace": ([s, Mean(exp(-Abs(x)))], "REFUTED", "PROVED", True),
    "mean, shifted Laplace": ([m, Mean(exp(-Abs(x - m)))], "PROVED", "PROVED", True),
    "mean, tanh of abs": ([m, Mean(tanh(Abs(x)))], "REFUTED", "PROVED", True),
    "second, two thresholds": ([s, Mean(Abs(x - 1)), Mean(Abs(x + 1))], "PROVED", "PROVED", True),
    "second, parameter": ([s, Mean(Abs(x - a))], "PROVED", "PROVED", True),
    "clipped": ([m, Mean(Min(Max(x, -1), 1))], "PROVED", "PROVED", True),
    "triangle": ([s, Mean(Max(1 - Abs(x), 0))], "PROVED", "PROVED", True),
    "both halves": ([Mean(Max(x, 0) ** 2), Mean(Min(x, 0) ** 2), s], "PROVED", "REFUTED", True),
    "step": ([Mean(Heaviside(x) * x), m], "PROVED", "PROVED", True),
    "exponential linear": ([m, Mean(Piecewise((x, x > 0), (exp(x) - 1, True)))], "REFUTED", "PROVED", False),
    "positive samples": ([Mean(Abs(p - 1)), Mean(p**2)], "PROVED", "PROVED", True),
    "abs of exponentials": ([m, Mean(Abs(exp(x) - 1))], "PROVED", "PROVED", True),
    "product of means": ([Mean(Abs(x)) * m, s], "PROVED", "PROVED", True),
    "square of mean abs": ([m, Mean(Abs(x)) ** 2 + s], "REFUTED", "PROVED", False),
    "abs of a difference": ([m, Abs(s - Mean(x**5))], "REFUTED", "PROVED", True),
    "in disguise": ([m, Mean(sqrt(x**2 - 2 * x + 1))], "PROVED", "PROVED", True),
    "statistics in disguise": (
        [m, s + Mean(x**5) + sqrt(s**2 - 2 * s * Mean(x**5) + Mean(x**5) ** 2)], "PROVED", "PROVED", False),
    "absolute sine": ([Mean(Abs(sin(x))), m], "REFUTED", "PROVED", True),
    "fields": ([kinked(Abs(x)), kinked(x)], "PROVED", "PROVED", True),
    "fields of a step": ([VectorField(1), kinked(x**2 * Abs(x))], "REFUTED", "PROVED", True),
    "coordinates": ([Abs(x1) + x2, x1 * x3], "REFUTED", "PROVED", True),
    "linear in coordinates": ([Abs(x1) + x2, Max(x2, x3)], "PROVED", "PROVED", True),
    "fields in coordinates": (
        [kinked(1, 0, Abs(x2), of=(x1, x2, x3)), kinked(0, 1, 0, of=(x1, x2, x3))], "REFUTED", "PROVED", True),
}
"""Features or fields, the answers to C2 and C1 on the generic cell, and whether that to C2 is one for all cells."""
