"""Sets about exponentials of sums, waves of multiples and gamma functions, with what C1 and C2 are for each."""

from __future__ import annotations

from typing import Any

from sympy import Symbol, cos, cot, csc, exp, factorial, gamma, log, loggamma, pi, polygamma, sec, sin, sqrt, tan
from sympy.functions.elementary.hyperbolic import cosh, coth, csch, sech, sinh, tanh

from symdecouple import Mean, VectorField, coordinates, sample, x

a, c = Symbol("a"), Symbol("c")
p, m = sample(positive=True), Mean(x)
x1, x2, x3, x4 = coordinates(4)
y1, y2, y3 = coordinates(3)

Row = tuple[list[Any], bool, bool]
"""Features or fields, whether C1 holds, whether C2 does."""


def fields(*components: tuple[Any, ...]) -> list[VectorField]:
    return [VectorField(list(row), [y1, y2, y3]) for row in components]


def softmax(k: int, shift: Any = 0) -> Any:
    powers = [exp(t - shift) for t in (x1, x2, x3, x4)]
    return powers[k] / sum(powers)


COORDINATES: dict[str, Row] = {
    "exponentials of a difference": (fields((exp(y2 - y3) + exp(y3 - y2), 0, 0), (0, 1, 0)), True, True),
    "exponential against its reciprocal": (fields((exp(y1 + y2), 0, 1), (0, exp(-y1 - y2), 0)), True, False),
    "exponential of twice a sum": (fields((exp(2 * y1 + 2 * y2), 1, 0), (exp(2 * y1) * exp(2 * y2), 1, 0),
                                          (0, 0, 1)), False, True),
    "tangent": (fields((1, 0, y2 / cos(y1) ** 2), (0, 1, tan(y1))), True, True),
    "cotangent": (fields((1, 0, -y2 * csc(y1) ** 2), (0, 1, cot(y1))), True, True),
    "secant": (fields((1, 0, y2 * sec(y1) * tan(y1)), (0, 1, sec(y1))), True, True),
    "cosecant": (fields((1, 0, y2 * csc(y1) * cot(y1)), (0, 1, csc(y1))), True, False),
    "hyperbolic tangent": (fields((1, 0, y2 * sech(y1) ** 2), (0, 1, tanh(y1))), True, True),
    "hyperbolic cotangent": (fields((1, 0, -y2 * csch(y1) ** 2), (0, 1, coth(y1))), True, True),
    "hyperbolic secant": (fields((1, 0, -y2 * sinh(y1) / cosh(y1) ** 2), (0, 1, sech(y1))), True, True),
    "twice an angle": (fields((1, 0, 2 * y2 * cos(2 * y1)), (0, 1, 2 * sin(y1) * cos(y1))), True, True),
    "five times an angle": (fields((1, 0, 5 * y2 * cos(5 * y1)),
                                   (0, 1, 16 * sin(y1) ** 5 - 20 * sin(y1) ** 3 + 5 * sin(y1))), True, True),
    "half an angle": (fields((1, 0, y2 * (1 + tan(y1 / 2) ** 2) / 2), (0, 1, sin(y1) / (1 + cos(y1)))), True, True),
    "tangents of multiples": (fields((1, 0, y2 * tan(2 * y1)), (0, 1, tan(y1) / (1 - tan(y1) ** 2))), True, False),
    "sum of angles": (fields((0, 1, sin(y1 + y2)), (0, 1, sin(y1) * cos(y2) + cos(y1) * sin(y2))), False, True),
    "phases of a quarter": (fields((1, 0, y2 * cos(y1 + pi / 4)), (0, 1, (sin(y1) + cos(y1)) / sqrt(2))), True, True),
    "phases of an eighth": (fields((1, 0, y2 * cos(y1 + pi / 8)), (0, 1, sin(y1 + pi / 8))), True, True),
    "phases of a seventh": (fields((1, 0, y2 * cos(y1 + pi / 7)), (0, 1, sin(y1 + pi / 7) + 1)), True, True),
    "powers with a parameter": (fields((y1**a, 0, 0), (0, y1 ** (a + 1), 0)), True, True),
    "softmax, shifted": ([softmax(0, c), softmax(1, c)], True, True),
    "softmax, shifted by a sample": ([softmax(0, x4), x2 + x3 * x4], True, False),
    "log of a sum of exponentials": ([x1 + log(1 + exp(x2 - x1) + exp(x3 - x1) + exp(x4 - x1)), x1 + x2 + x3 + x4],
                                     True, True),
    "tempered softmax and its logarithm": ([exp(x1 / c) / (exp(x1 / c) + exp(x2 / c)), x1 - x2, x3], False, True),
    "exponential of a fraction": ([exp(x1 / (1 + x1)), exp(1 / (1 + x1)), x2], False, True),
    "gamma function": ([gamma(x1) * x2, loggamma(x3), x4 + x1], True, False),
    "gamma functions, one shifted": ([gamma(x1 + 1), x1 * gamma(x1), x2], False, True),
    "digamma function": (fields((1, 0, y2 * polygamma(1, y1)), (0, 1, polygamma(0, y1))), True, True),
}
"""Sets in explicit coordinates."""

SLOW_COORDINATES: dict[str, Row] = {
    "softmax, written with differences": ([1 / (1 + exp(x2 - x1) + exp(x3 - x1) + exp(x4 - x1)),
                                           1 / (1 + exp(x1 - x2) + exp(x3 - x2) + exp(x4 - x2))], True, True),
    "softmax, all four": ([softmax(k, c) for k in range(4)], False, True),
    "softmax, three with differences": ([softmax(k, x4) for k in range(3)], True, True),
}

MEANS: dict[str, Row] = {
    "shifted exponential": ([Mean(exp(x + a)), Mean(exp(x)), m], False, True),
    "exponential of a quadratic": ([Mean(exp(x + x**2)), Mean(exp(x) * exp(x**2))], False, True),
    "two exponentials": ([Mean(exp(x) + exp(x**2)), m], True, False),
    "exponential of statistics": ([exp(m - Mean(x**2)) + exp(Mean(x**2) - m), m], True, True),
    "waves of statistics": ([sin(2 * m) * Mean(x**2), tan(m)], True, True),
    "secant and tangent, hyperbolic": ([Mean(sech(x)), Mean(tanh(x))], True, False),
    "logistic in disguise": ([Mean(tanh(x)), Mean(1 / (1 + exp(2 * x)))], False, True),
    "squares that add up": ([Mean(tanh(x) ** 2), Mean(sech(x) ** 2)], False, True),
    "cosecants": ([Mean(coth(p)), Mean(p)], True, False),
    "sine of twice": ([Mean(sin(2 * x)), Mean(sin(x) * cos(x))], False, True),
    "sine of thrice": ([Mean(sin(3 * x)), Mean(sin(x) ** 3), Mean(sin(x))], False, False),
    "tangents": ([Mean(tan(x)), m], True, False), "centred wave": ([Mean(cos(x - m)), m], True, True),
    "likelihood of the gamma law": ([a * Mean(log(p)) - loggamma(a), Mean(p)], True, False),
    "log gamma": ([Mean(loggamma(p)), Mean(p)], True, False),
    "log gamma of the next": ([Mean(loggamma(p + 1)), Mean(loggamma(p)), Mean(log(p))], False, False),
    "digamma of the mean": ([Mean(log(p)) - polygamma(0, Mean(p)), Mean(p)], True, False),
    "trigamma": ([Mean(polygamma(1, p)), Mean(p)], True, False),
}
"""Sets of averages."""

SLOW_MEANS: dict[str, Row] = {
    "shifted logistic": ([Mean(1 / (1 + exp(x - a))), Mean(exp(x) / (exp(a) + exp(x)))], False, True),
    "factorial": ([Mean(factorial(p)), Mean(p * gamma(p))], False, True),
    "negative binomial": ([Mean(loggamma(p + a)) - Mean(loggamma(p + 1)), Mean(p)], True, False),
}
