r"""Laws of the textbooks in exact numbers: density, moments, and the transform that Moebius maps take.

Each in its standard place and scale, X = loc + scale Y. The expectations that the leaf of a law is made of are

.. math:: R_k(p) = \mathrm{E}\,(Y - p)^{-k} = \frac{S^{(k-1)}(p)}{(k-1)!}, \qquad S(p) = \mathrm{E}\,\frac1{Y - p}

so that one function S, the Stieltjes transform, gives the closed forms of all of them where SymPy integrates it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy import Expr, Integer, Rational, Symbol, oo

__all__ = ["PLACE", "POLE", "Standard", "standard_law"]

PLACE, POLE = Symbol("y", real=True), Symbol("p", real=True)

y, p = PLACE, POLE


@dataclass(frozen=True, slots=True)
class Standard:
    """A law in its standard place and scale.

    Attributes
    ----------
    density : Expr
        In `PLACE`.
    low, high : Expr
        The ends of its hull.
    moment : callable or None
        Takes a whole number k, negative ones too where 0 is outside; returns E Y^k, infinite where it is, None where it
        does not exist or is not known.
    transform : Expr or None
        S in `POLE`.
    """

    density: Expr
    low: Expr = -oo
    high: Expr = oo
    moment: Callable[[int], Expr | None] | None = None
    transform: Expr | None = None


def standard_law(name: str, shapes: tuple[Expr, ...]) -> Standard | None:
    """Return the law that `scipy.stats` has under this name; None if it is not in the table.

    Examples
    --------
    >>> law = standard_law("gamma", (Integer(2),))
    >>> law.transform, [law.moment(k) for k in range(5)]
    (exp(-p)*expint(2, -p), [1, 2, 6, 24, 120])
    """
    return _LAWS[name](*shapes) if name in _LAWS else None


def _even(value: Callable[[int], Expr], order: int) -> Expr:
    return sp.S.Zero if order % 2 else value(order)


def _uniform() -> Standard:
    return Standard(sp.S.One, sp.S.Zero, sp.S.One, lambda k: Rational(1, k + 1) if k > -1 else oo,
                    sp.log((1 - p) / -p))


def _gamma(a: Expr) -> Standard:
    """E 1/(Y + q) = e^q E_a(q), q = -p."""
    transform = sp.exp(-p) * sp.expint(a, -p)
    return Standard(y ** (a - 1) * sp.exp(-y) / sp.gamma(a), sp.S.Zero, oo,
                    lambda k: sp.gamma(a + k) / sp.gamma(a) if a + k > 0 else oo, transform)


def _beta(a: Expr, b: Expr) -> Standard:
    def moment(k: int) -> Expr:
        return sp.rf(a, k) / sp.rf(a + b, k) if k >= 0 else sp.gammasimp(
            sp.gamma(a + k) * sp.gamma(a + b) / sp.gamma(a) / sp.gamma(a + b + k)) if a + k > 0 else oo

    scale = sp.gamma(a + b) / sp.gamma(a) / sp.gamma(b)
    return Standard(scale * y ** (a - 1) * (1 - y) ** (b - 1), sp.S.Zero, sp.S.One, moment,
                    -sp.hyper((1, a), (a + b,), 1 / p) / p)


def _pareto(b: Expr) -> Standard:
    """1/Y is a beta law with b and 1."""
    return Standard(b * y ** (-b - 1), sp.S.One, oo, lambda k: b / (b - k) if k < b else oo,
                    b / (b + 1) * sp.hyper((1, b + 1), (b + 2,), p))


def _student(n: Expr) -> Standard:
    def moment(k: int) -> Expr | None:
        if k >= n:
            return None if k % 2 else oo
        return _even(lambda j: n ** (j // 2) * sp.prod([Rational(2 * i - 1) / (n - 2 * i) for i in range(1, j // 2 + 1)]
                                                       ), k) if k >= 0 else None

    scale = sp.gamma((n + 1) / 2) / sp.sqrt(n * sp.pi) / sp.gamma(n / 2)
    return Standard(scale * (1 + y**2 / n) ** (-(n + 1) / 2), moment=moment)


def _normal() -> Standard:
    return Standard(sp.exp(-(y**2) / 2) / sp.sqrt(2 * sp.pi),
                    moment=lambda k: None if k < 0 else _even(lambda j: sp.factorial2(j - 1) if j else sp.S.One, k))


def _skew_normal(a: Expr) -> Standard:
    if a == 0:
        return _normal()
    density = sp.exp(-(y**2) / 2) / sp.sqrt(2 * sp.pi) * sp.erfc(-a * y / sp.sqrt(2))
    d = a / sp.sqrt(1 + a**2)  # Y = d |Z| + sqrt(1 - d^2) W

    def moment(k: int) -> Expr | None:
        half = [2 ** Rational(j, 2) * sp.gamma(Rational(j + 1, 2)) / sp.sqrt(sp.pi) for j in range(k + 1)]
        return sp.expand(sum((sp.binomial(k, j) * d**j * half[j] * sp.sqrt(1 - d**2) ** (k - j)
                              * _even(lambda i: sp.factorial2(i - 1) if i else sp.S.One, k - j)
                              for j in range(k + 1)), sp.S.Zero)) if k >= 0 else None

    return Standard(density, moment=moment)


def _laplace() -> Standard:
    return Standard(sp.exp(-sp.Abs(y)) / 2,
                    moment=lambda k: None if k < 0 else _even(sp.factorial, k))


def _asymmetric_laplace(kappa: Expr) -> Standard:
    """e^(-kappa y) on the right, e^(y/kappa) on the left, over kappa + 1/kappa."""
    density = sp.exp(sp.Piecewise((-kappa * y, y >= 0), (y / kappa, True))) / (kappa + 1 / kappa)
    return Standard(density, moment=lambda k: None if k < 0 else sp.simplify(
        sp.factorial(k) * (kappa ** (-k - 1) + (-1) ** k * kappa ** (k + 1)) / (kappa + 1 / kappa)))


def _lognormal(s: Expr) -> Standard:
    return Standard(sp.exp(-(sp.log(y) ** 2) / (2 * s**2)) / (y * s * sp.sqrt(2 * sp.pi)), sp.S.Zero, oo,
                    moment=lambda k: sp.exp(k**2 * s**2 / 2))


def _triangle(c: Expr) -> Standard:
    left, right = 2 * y / c if c != 0 else sp.S.Zero, 2 * (1 - y) / (1 - c) if c != 1 else 2 * y
    density = sp.Piecewise((left, y < c), (right, True))
    return Standard(density, sp.S.Zero, sp.S.One,
                    moment=lambda k: None if k < 0 else 2 * sum((c**j for j in range(k + 1)), sp.S.Zero)
                    / ((k + 1) * (k + 2)))


_LAWS: Mapping[str, Callable[..., Any]] = {
    "uniform": _uniform,
    "expon": lambda: _gamma(Integer(1)),
    "gamma": _gamma,
    "erlang": _gamma,
    "chi2": lambda n: _gamma(n / 2),  # of half of it: the scale is taken where it is read
    "beta": _beta,
    "arcsine": lambda: _beta(Rational(1, 2), Rational(1, 2)),
    "pareto": _pareto,
    "lomax": lambda c: Standard(c * (1 + y) ** (-c - 1), sp.S.Zero, oo),
    "t": _student,
    "cauchy": lambda: _student(Integer(1)),
    "norm": _normal,
    "skewnorm": _skew_normal,
    "halfnorm": lambda: Standard(sp.sqrt(2 / sp.pi) * sp.exp(-(y**2) / 2), sp.S.Zero, oo),
    "laplace": _laplace,
    "laplace_asymmetric": _asymmetric_laplace,
    "lognorm": _lognormal,
    "logistic": lambda: Standard(1 / (4 * sp.cosh(y / 2) ** 2), moment=lambda k: None if k < 0 else _even(
        lambda j: 2 * sp.factorial(j) * (1 - Integer(2) ** (1 - j)) * sp.zeta(j) if j else sp.S.One, k)),
    "hypsecant": lambda: Standard(1 / (sp.pi * sp.cosh(y)), moment=lambda k: None if k < 0 else _even(
        lambda j: abs(sp.euler(j)) * (sp.pi / 2) ** j, k)),
    "gumbel_r": lambda: Standard(sp.exp(-y - sp.exp(-y))),
    "gumbel_l": lambda: Standard(sp.exp(y - sp.exp(y))),
    "weibull_min": lambda c: Standard(c * y ** (c - 1) * sp.exp(-(y**c)), sp.S.Zero, oo,
                                      lambda k: sp.gamma(1 + k / c) if 1 + k / c > 0 else oo),
    "rayleigh": lambda: Standard(y * sp.exp(-(y**2) / 2), sp.S.Zero, oo),
    "maxwell": lambda: Standard(sp.sqrt(2 / sp.pi) * y**2 * sp.exp(-(y**2) / 2), sp.S.Zero, oo),
    "invgamma": lambda a: Standard(y ** (-a - 1) * sp.exp(-1 / y) / sp.gamma(a), sp.S.Zero, oo,
                                   lambda k: sp.gamma(a - k) / sp.gamma(a) if k < a else oo),
    "powerlaw": lambda a: _beta(a, Integer(1)),
    "triang": _triangle,
    "semicircular": lambda: Standard(2 * sp.sqrt(1 - y**2) / sp.pi, Integer(-1), Integer(1),
                                     lambda k: None if k < 0 else _even(lambda j: sp.catalan(j // 2) / 2**j, k)),
}
