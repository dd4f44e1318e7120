"""Inputs on which exact algebra grows without bound, one table: an answer comes in time, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Add, Expr, Mul, Rational, Symbol, atan, cos, cosh, exp, log, sin, sinh, sqrt, tan, tanh

from symdecouple import Filter, Mean, VectorField, coordinates, kurtosis, sample, shift, skewness, variance, x

a, b, c = (Symbol(name, real=True) for name in "abc")
p = sample(positive=True)
m, v, s, k = Mean(x), variance(), skewness(), kurtosis()
z = (x - m) / sqrt(v)
y = coordinates(6)


def averages(*bodies: Expr) -> list[Expr]:
    return [Mean(body) for body in bodies]


HARD: dict[str, Callable[[], Any]] = {
    "tenth power in an exponential": lambda: averages(x, exp(x**10)),
    "exponential of an average": lambda: [*averages(x, cosh(x) ** 2), exp(Mean(cosh(x)))],
    "powers in exponentials": lambda: averages(x, exp(x**3), exp(x**5), x**2 * exp(x)),
    "threefold exponential": lambda: averages(exp(exp(exp(x))), exp(-(x**2) / 2), x),
    "steep exponentials": lambda: averages(exp(10**6 * x), exp(-(10**5) * x), cosh(10**4 * x)),
    "a power of a million": lambda: averages(x ** (10**6), x, x**2),
    "a mean to a high power": lambda: [m ** (10**5), *averages(x**2, x**3)],
    "an exponential of an exponential": lambda: [exp(50 * exp(m**4)), *averages(x**2, x**3)],
    "kurtosis in products": lambda: [k * v**3 + s**4, s / k + v**2, k**2 * s**2 + v, m * k, Mean(x**6) / v**3],
    "kurtosis in roots": lambda: [m, v, s, k * s, sqrt(k * v + Mean(x**6))],
    "standardized moments": lambda: [Mean(z**j) for j in range(3, 8)],
    "nested logarithms": lambda: averages(log(1 + log(1 + log(1 + p**2))), p, log(p) ** 2),
    "nested roots": lambda: [sqrt(Mean(x**2) + sqrt(Mean(x**4) + sqrt(Mean(x**6) + sqrt(Mean(x**8))))), m, v],
    "functions of averages": lambda: [log(Mean(exp(x))) + log(Mean(exp(2 * x))) ** 2, exp(m), sin(m * Mean(x**2)),
                                      sqrt(Mean(x**2) + exp(m))],
    "six poles": lambda: averages(1 / Mul(*(x**2 + n for n in range(1, 7))), x, x**2),
    "poles of high order": lambda: averages(1 / (1 + x**2) ** 5, x / (1 + x**2) ** 4, x**2 / (1 + x**4) ** 3),
    "poles that are no rational numbers": lambda: averages(1 / (x**7 + x + 1), x, 1 / (x**5 - x + 1) ** 2),
    "poles with parameters": lambda: averages(1 / ((x**2 + a) * (x**2 + b) * (x**2 + c)), x,
                                              x / (x**2 + a) / (x**2 + b)),
    "poles that move": lambda: averages(1 / (1 + x**2), atan(x - Mean(x**2))),
    "eight waves": lambda: averages(*(sin(j * x) for j in range(1, 5)), *(cos(j * x) for j in range(1, 5))),
    "powers of waves": lambda: averages(sin(x) ** 20, cos(x) ** 19, tan(x) ** 7),
    "waves with a phase": lambda: [*averages(sin(x + m) ** 8, cos(x * m) ** 7), m],
    "powers of hyperbolic functions": lambda: averages(sinh(x) ** 8, cosh(x) ** 8, tanh(x) ** 8),
    "tanh of the standardized sample": lambda: [Mean(z * tanh(z)), m, v],
    "logistic with a parameter": lambda: averages(x / (1 + exp(-a * x)), log(1 + exp(a * x)), x),
    "three rates": lambda: averages(exp(a * x), exp(b * x), exp(c * x), x * exp(a * x)),
    "three orders": lambda: averages(p**a, p**b, p**c * log(p)),
    "many parameters": lambda: [a * m + b * Mean(x**2) + c * Mean(x**3), Mean(x**2) * a**2 + m * Mean(x**4),
                                Mean(x**3) / a + c / b],
    "a power of a sum of averages": lambda: [Add(*averages(x, x**2, x**3, x**4)) ** 12, Mean(x**5), m],
    "a power that opens": lambda: [Mean((x + m + Mean(x**2)) ** 14), m, Mean(x**2)],
    "roots of high order": lambda: [*averages(p ** Rational(99, 100), p ** Rational(7, 3)), Mean(p) ** Rational(1, 97)],
    "twenty moments": lambda: averages(*(x**j for j in range(1, 21))),
    "six coordinates": lambda: [exp(y[0] * y[1]) + y[2] * y[3], y[4] * y[5] / (y[0] + y[1]), sin(y[0] * y[2]) * y[5],
                                sqrt(1 + y[0] ** 2 + y[3] ** 2)],
    "symmetric functions of six coordinates": lambda: [
        Add(*y), Add(*(t**2 for t in y)), Add(*(t**3 for t in y)), Mul(*y), sqrt(Add(*(t**4 for t in y)))],
    "filters with many taps": lambda: [
        Mean(Filter([Rational(n + 1, n + 3) for n in range(41)])(x) ** 3),
        Mean(Filter([Rational(n**2 + 1, n + 3) for n in range(41)])(x) ** 4), m],
    "filters in functions": lambda: [Mean(exp(Filter([1, 2, 3])(x))), Mean(exp(Filter([1, -1, 0])(x) ** 2)),
                                     Mean(log(1 + Filter([1, 1, 1])(x) ** 2))],
    "many lags": lambda: averages(x * shift(1)(x) * shift(2)(x) * shift(5)(x), x * shift(1)(x),
                                  x**2 * shift(3)(x) ** 3),
    "fields": lambda: [VectorField(x**3), VectorField(exp(x) / (1 + x**2)), VectorField(sin(x) ** 2)],
}
