r"""Expectations that references are made of: under the normal law and others, of filtered white noise, of polynomials.

Averages of independent standard normal samples become expectations in the limit of many,

.. math:: \mathrm{Mean}(\varphi) \to \mathrm{E}\,\varphi(Z) = \int \varphi(z)\, e^{-z^2/2}\, dz / \sqrt{2\pi}

exact for polynomials, exponentials and sines, by SymPy's integration for algebraic functions where that succeeds, by
quadrature to 50 digits elsewhere.

Filter outputs of white noise at one place are jointly Gaussian, with variances sum h^2 and covariances sum h g over
lags. Polynomials follow from those by Isserlis' theorem: for a monomial of degree 2 d, and 0 for one of odd degree,

.. math:: E\, y^a = \frac{1}{d!} \Bigl(\frac12 \sum_{ij} \mathrm{Cov}(y_i, y_j)\,
    \frac{\partial^2}{\partial y_i\, \partial y_j}\Bigr)^d y^a

and a function of one output is that of one normal number. The signal is taken as longer than the filters.

With coordinates x_1, ..., x_n independent and of one law, a polynomial has the expectation

.. math:: \mathrm{E} \sum_a c_a\, x_1^{a_1} \cdots x_n^{a_n} = \sum_a c_a\, m_{a_1} \cdots m_{a_n}, \qquad
    m_k = \mathrm{E}\, x_1^k

Other functions of coordinates are integrals over n dimensions: they take numbers.

At a reference sample an average of a polynomial is one of power means, which are rational for rational numbers,

.. math:: \mathrm{Mean}(\varphi) = \sum_k c_k\, m_k, \qquad m_k = \frac1N \sum_n x_n^k .

Another function is written out for a sample of few different numbers, exactly, and computed to 50 digits elsewhere.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import comb, factorial, inf, isfinite, lcm, nan
from typing import Any

import mpmath
from sympy import Add, Expr, Float, I, Mul, Rational, S, Symbol, exp, expand, factorial2, im, lambdify, pi, re, sqrt

from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.families.linear_forms import LinearForm, split_forms
from symdecouple.language.canonical import decompose
from symdecouple.language.closed_forms import gaussian_integral
from symdecouple.language.feature import Feature
from symdecouple.language.filtered import Response
from symdecouple.language.filters import Filter, Filtered
from symdecouple.language.mean import Mean
from symdecouple.language.precision import at_digits
from symdecouple.language.sample import Sample, x

__all__ = ["expected", "gaussian", "of_law", "of_sample", "polynomial_expectation", "white_expectation"]

DIGITS = 60
"""Of computed reference values; 10 of them are there to be lost."""

_FEW = 64  # different numbers that a sum is written out for
_LINE = (-40, -8, 0, 8, 40)  # all of the line to 300 digits, in standard deviations


def expected(expr: Expr, expectation: Callable[[Expr, Sample], Expr]) -> Expr:
    """Return an expression with every average, innermost first, replaced by an expectation."""
    if isinstance(expr, Mean):
        return expectation(expected(expr.opened(expr.sample), expectation), expr.sample)
    if not expr.args or not expr.has(Mean):
        return expr
    return expr.func(*(expected(arg, expectation) for arg in expr.args))


def gaussian(body: Expr, sample: Sample) -> Expr:
    """Return the expectation of a function of a standard normal number, or of filtered white noise."""
    if body.has(Filtered):
        return white_expectation(body, sample)
    try:
        terms = decompose(body, sample)
    except BudgetExceeded:  # too long for one basis: the function as it is
        return _integrated(body, sample)
    return Add(*(c * _gaussian_basis(psi, sample) for psi, c in terms.items()))


def _gaussian_basis(psi: Expr, sample: Sample) -> Expr:
    """Return E psi(Z): closed for x^k e^(r x) and x^k times a wave (r imaginary), else integrated."""
    power, rate, part = 0, S.Zero, re
    for factor in Mul.make_args(psi):
        base, exponent = factor.as_base_exp()
        if base == sample and exponent.is_Integer and exponent >= 0:
            power += int(exponent)
        elif isinstance(factor, exp) and not (factor.args[0] / sample).has(sample):
            rate += factor.args[0] / sample
        elif factor.func.__name__ in ("cos", "sin") and not (factor.args[0] / sample).has(sample) and rate.is_real:
            rate += I * factor.args[0] / sample
            part = re if factor.func.__name__ == "cos" else im
        elif factor.has(sample):
            return _integrated(psi, sample)
    shifted = Add(*(comb(power, j) * rate ** (power - j) * factorial2(j - 1) for j in range(0, power + 1, 2)))
    value = shifted * exp(rate**2 / 2)  # E Z^k e^(r Z) = E (Z + r)^k e^(r^2/2)
    return part(expand(value, complex=True)) if rate.has(I) else value


def _integrated(psi: Expr, sample: Sample) -> Expr:
    """Return E psi(Z) by SymPy for algebraic functions, by quadrature for others.

    Refused are functions that are not real, have poles, or grow faster than the normal density falls.
    """
    function = lambdify([sample], psi * exp(-(sample**2) / 2) / sqrt(2 * pi), "mpmath")
    try:
        with at_digits(15):
            size, gap = mpmath.quad(lambda v: abs(mpmath.mpf(function(v))), _LINE, error=True)
            beyond = max(abs(function(end)) for end in (_LINE[0], _LINE[-1]))
            if not (gap < size / 1000 and beyond < 1e-30 * (1 + size)):
                raise ValueError("its integral diverges")
    except (TypeError, ValueError, ZeroDivisionError) as wrong:
        failure = "it is not real for every real sample" if isinstance(wrong, TypeError) else str(wrong)
        raise InvalidInput(f"the reference value of {psi} could not be computed ({failure}); give it as a number"
                           ) from None
    if (value := gaussian_integral(psi, sample)) is not None:
        return value
    with at_digits(DIGITS):
        value, error = mpmath.quad(function, _LINE, error=True)
        if not error <= mpmath.mpf(10) ** -20 * (1 + abs(value)):
            raise InvalidInput(f"the reference value of {psi} was computed to {mpmath.nstr(error, 2)} only; give it as "
                               "a number")
        return Float(str(value), DIGITS - 10)


# --- filtered white noise ---


def white_expectation(body: Expr, sample: Sample) -> Expr:
    """Return E body for white noise of variance 1, body in the sample and in circular filters of it.

    Not known are filters of what is not linear in the sample, boundaries other than circular (the expectation depends
    on the place), and functions of two outputs that are not polynomials.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> h, g = Filter([1, 1, 0]), Filter([1, -2, 1])
    >>> white_expectation(h(x)**4, x), white_expectation(h(x)**2*g(x)**2, x)
    (12, 14)
    """
    if unbound := sorted(str(h) for h in body.atoms(Filter) if h.is_symbolic and not isinstance(h.args[0], Response)):
        raise InvalidInput(f"{', '.join(unbound)} must be bound to taps before a reference: features.bind({{...}})")
    split = split_forms(body, sample)
    if split is None:
        raise UnsupportedExpression(f"the expectation of {body} for white noise is known for circular filters of the "
                                    "sample itself; give numbers, reference=[...]")
    function, forms = split
    shifted = function.xreplace({y: y + form.constant for y, form in forms.items()})
    return Add(*(_centred(term, forms, sample) for term in Add.make_args(expand(shifted))))


def _centred(term: Expr, forms: Mapping[Symbol, LinearForm], sample: Sample) -> Expr:
    """Return the expectation of a function of filter outputs, less their means, that is no sum."""
    used = sorted(term.free_symbols & set(forms), key=str)
    if not used:
        return term
    if (polynomial := term.as_poly(*used)) is not None:
        pairs = [(one, two, forms[one].covariance(forms[two]) / 2) for one in used for two in used]
        half, odd = divmod(polynomial.total_degree(), 2)
        for _ in range(half):
            polynomial = sum((polynomial.diff(one, two) * c for one, two, c in pairs), polynomial * 0)
        return S.Zero if odd else polynomial.as_expr() / factorial(half)
    if len(used) > 1:
        shown = term.xreplace({y: Symbol(f"y{k}") for k, y in enumerate(used)})
        raise UnsupportedExpression(f"the expectation of {shown} of filter outputs that are not independent is not "
                                    "known; give numbers, reference=[...]")
    return gaussian(term.xreplace({used[0]: sqrt(forms[used[0]].covariance(forms[used[0]])) * sample}), sample)


# --- other laws ---


def of_law(law: Any) -> Callable[[Expr, Sample], Expr]:
    """Return the expectation under a frozen scipy distribution: its own moments for powers, else quadrature."""

    def expectation(body: Expr, sample: Sample) -> Expr:
        if body.has(Filtered):
            raise UnsupportedExpression(f"the expectation of {body} under a law is known for white Gaussian noise "
                                        'only; reference="white", or give numbers')
        return Add(*(c * _law_basis(law, psi, sample) for psi, c in decompose(body, sample).items()))

    return expectation


def _law_basis(law: Any, psi: Expr, sample: Sample) -> Expr:
    from scipy.integrate import quad

    if psi == 1:
        return S.One
    base, exponent = psi.as_base_exp()
    if base == sample and exponent.is_Integer and exponent > 0:
        value = float(law.moment(int(exponent)))
    else:
        functions = [lambdify([sample], each, "numpy") for each in (psi, abs(psi))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # divergence shows in the errors
            (value, error), (size, size_error) = (quad(
                lambda v, f=f: f(v) * law.pdf(v), *law.support(), limit=500) for f in functions)
        value = value if isfinite(value) and abs(error) + abs(size_error) < 1e-7 * (1 + size) < inf else nan
    if not isfinite(value):
        raise InvalidInput(f"the expectation of {psi} under the given law is not finite; give a number")
    return Float(value)


def of_sample(numbers: Sequence[Expr]) -> Callable[[Expr, Sample], Expr]:
    """Return the average over the numbers of one sample, which are real; NaN where a function has no real value.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> expected(Mean((x - Mean(x**2))**2), of_sample(list(map(Rational, (-1, 0, 1)))))
    10/9
    """
    counts, size = Counter(numbers), len(numbers)
    rational = counts if all(p.is_Rational for p in counts) else {}
    unit = lcm(*(int(p.q) for p in rational))
    whole = [(int(p.p) * (unit // int(p.q)), count) for p, count in rational.items()]

    @cache
    def power_mean(k: int) -> Expr:
        return Rational(sum(count * n**k for n, count in whole), size * unit**k)

    def expectation(body: Expr, sample: Sample) -> Expr:
        if whole and (polynomial := body.as_poly(sample)) is not None:
            return Add(*(Mul(c, power_mean(k)) for (k,), c in polynomial.terms()))
        if len(counts) <= _FEW or body.free_symbols != {sample}:
            return Add(*(count * body.xreplace({sample: p}) for p, count in counts.items())) / size
        function = lambdify([sample], body, "mpmath")
        with at_digits(DIGITS), suppress(TypeError, ValueError, ZeroDivisionError):
            values = [count * function(mpmath.mpmathify(p.evalf(DIGITS))) for p, count in counts.items()]
            mean = mpmath.fsum(values) / size
            if not isinstance(mean, mpmath.mpc) and mpmath.isfinite(mean):
                return Float(str(mean), DIGITS - 10)
        return S.NaN

    return expectation


def polynomial_expectation(feature: Feature, expectation: Callable[[Expr, Sample], Expr]) -> Expr:
    """Return the expectation of a polynomial of independent coordinates of one law."""
    polynomial = feature.expr.as_poly(*feature.coordinates)
    if polynomial is None:
        raise InvalidInput(f"the expectation of {feature} is not computed, as it is no polynomial of its coordinates: "
                           "give numbers, reference=[...]")
    moment = cache(lambda k: expectation(x**k, x))
    return Add(*(Mul(coefficient, *map(moment, powers)) for powers, coefficient in polynomial.terms()))
