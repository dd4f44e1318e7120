r"""Gamma functions of arguments that differ by whole numbers, in terms of one of them.

.. math::

    \Gamma(u + n) = \Gamma(u) \prod_{j < n} (u + j), \qquad
    \log\Gamma(u + n) = \log\Gamma(u) + \sum_{j < n} \log(u + j), \qquad
    \psi^{(m)}(u + n) = \psi^{(m)}(u) + (-1)^m m! \sum_{j < n} (u + j)^{-m-1}

The constant in u is taken from [0, 1). Log gamma is only shifted where u is positive, for it has a value there only.
"""

from __future__ import annotations

from functools import lru_cache

from sympy import Add, Expr, Mul, Pow, beta, binomial, expand, factorial, floor, gamma, log, loggamma, polygamma

__all__ = ["by_gamma", "shifted_gamma"]

MAX_SHIFT = 30
_BY_GAMMA = (factorial, beta, binomial)


def by_gamma(expr: Expr) -> Expr:
    """Return an expression with factorials, binomial coefficients and beta functions as gamma functions.

    Examples
    --------
    >>> from sympy.abc import x
    >>> by_gamma(factorial(x)/2)
    gamma(x + 1)/2
    """
    if not expr.has(*_BY_GAMMA):
        return expr
    return expr.replace(lambda e: isinstance(e, _BY_GAMMA), lambda e: e.rewrite(gamma))


@lru_cache(maxsize=1024)
def shifted_gamma(node: Expr) -> Expr:
    """Return a gamma, log gamma or polygamma function with the constant in its argument in [0, 1).

    Examples
    --------
    >>> from sympy.abc import x
    >>> shifted_gamma(gamma(x + 2)), shifted_gamma(polygamma(0, x + 1))
    (x*(x + 1)*gamma(x), polygamma(0, x) + 1/x)
    """
    if not isinstance(node, (gamma, loggamma, polygamma)) or node.is_number:
        return node
    *order, argument = node.args
    constant, moving = expand(argument).as_coeff_Add()
    many = int(floor(constant)) if constant.is_Rational else 0
    if not 0 < abs(many) <= MAX_SHIFT:
        return node
    rest = moving + (constant - many)
    steps = [rest + j for j in (range(many) if many > 0 else range(many, 0))]
    sign = 1 if many > 0 else -1
    if isinstance(node, gamma):
        return gamma(rest) * Mul(*(Pow(step, sign) for step in steps))
    if isinstance(node, loggamma):
        return loggamma(rest) + sign * Add(*map(log, steps)) if all(s.is_positive for s in (rest, *steps)) else node
    m = order[0]
    if not m.is_Integer:
        return node
    return polygamma(m, rest) + sign * (-1) ** m * factorial(m) * Add(*(step ** (-m - 1) for step in steps))
