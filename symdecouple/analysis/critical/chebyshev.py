r"""Averages whose derivatives form Chebyshev systems: exponential polynomials, and powers on positive samples.

Functions u_1, .., u_k are a *Chebyshev system* on an interval if no combination other than 0 has more than k - 1 zeros,
counted with multiplicity. In one coordinate t, t = x or t = log x for samples that are positive,

.. math:: m(t) = \sum_{a, i} c_{ai}\, t^i e^{at}

covers polynomials (a = 0), exponentials, and with t = log x the real powers and powers of log x. The functions t^i
exp(a t), i < n_a, are a Chebyshev system on every interval. So Theorem I applies to Mean(m_1), .., Mean(m_k) if for
each j the derivatives of the first j are independent and made of exactly j functions, closed downwards in i; or if
each Wronskian has no zero,

.. math:: W(m_1', \dots, m_j') \neq 0 \text{ on the interval}, \quad j = 1, \dots, k ,

which is decided where it is a polynomial in t, or in one exponential: 1 and sinh t, of x and cosh x.

Not covered: (x^2, x^4) where samples may have both signs, as x and x^3 have three zeros in a combination.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd, lcm

from sympy import Add, Expr, Integer, Matrix, Mul, Poly, Rational, S, Symbol, exp, expand, log, oo, together
from sympy.polys.polyerrors import PolynomialError

from symdecouple.language.canonical import close, statistics_of
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.sample import Sample

__all__ = ["AveragedFunctions", "Terms", "averaged_functions", "recognize_chebyshev", "slope"]

Terms = Mapping[tuple[Expr, int], Expr]
"""Coefficients of t^i exp(a t), by (a, i): real numbers."""


@dataclass(frozen=True, slots=True)
class AveragedFunctions:
    """The functions that are averaged, in the coordinate t.

    Attributes
    ----------
    functions : tuple of Terms
        m_1, .., m_k.
    is_logarithmic : bool
        t = log x; else t = x.
    interval : (low, high)
        Of t.
    """

    functions: tuple[Terms, ...]
    is_logarithmic: bool
    interval: tuple[Expr, Expr]


def recognize_chebyshev(features: FeatureSet) -> AveragedFunctions | None:
    """Return the system; None if the features are not covered.

    Examples
    --------
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import sample, x
    >>> p = sample("p", positive=True)
    >>> recognize_chebyshev(FeatureSet([Mean(p**2), Mean(p**4)])).is_logarithmic
    True
    >>> recognize_chebyshev(FeatureSet([Mean(x**2), Mean(x**4)])) is None
    True
    """
    systems = list(averaged_functions(features))
    slopes = [[slope(terms) for terms in system.functions] for system in systems]
    both = list(zip(systems, slopes, strict=True))
    return next((system for system, own in both if _is_chebyshev(own)), None) or next(
        (system for system, own in both if _is_extended(own, system.interval)), None)


def averaged_functions(features: FeatureSet) -> Iterator[AveragedFunctions]:
    """Yield what is averaged, in each coordinate in which it is made of exponential polynomials.

    Examples
    --------
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> [system.functions for system in averaged_functions(FeatureSet([Mean(x**2 - x)]))]
    [({(0, 2): 1, (0, 1): -1},)]
    """
    if features.kind != "mean":
        return
    bodies = [_body(feature, features.sample) for feature in features]
    low, high = features.sample.interval
    for is_logarithmic in (False, True) if low >= 0 else (False,):
        found = [None if body is None else _terms(body, features.sample, is_logarithmic) for body in bodies]
        functions = tuple(terms for terms in found if terms is not None)
        if len(functions) == len(features):
            ends = (low, high) if not is_logarithmic else (log(low) if low > 0 else -oo, log(high))
            yield AveragedFunctions(functions, is_logarithmic, ends)


def slope(terms: Terms) -> dict[tuple[Expr, int], Expr]:
    """Return the derivative by t."""
    out: dict[tuple[Expr, int], Expr] = {}
    for (rate, power), c in terms.items():
        for key, part in (((rate, power), rate * c), ((rate, power - 1), power * c)):
            if part != 0:
                out[key] = out.get(key, S.Zero) + part
    return {key: c for key, c in out.items() if c != 0}


def _body(feature: Feature, sample: Sample) -> Expr | None:
    """Return m with f = Mean(m), for a feature that is affine in averages of functions of the sample alone."""
    closed = expand(close(feature.expr, sample))
    statistics = sorted(statistics_of(closed), key=str)
    if any(statistics_of(s.psi) or set(s.psi.free_symbols) != {sample} for s in statistics):
        return None
    try:
        polynomial = Poly(closed, *statistics)
    except PolynomialError:
        return None
    if polynomial.total_degree() > 1 or polynomial.free_symbols_in_domain:
        return None
    return Add(*(polynomial.coeff_monomial(s) * s.psi for s in statistics), polynomial.coeff_monomial(1))


def _terms(body: Expr, sample: Sample, is_logarithmic: bool) -> dict[tuple[Expr, int], Expr] | None:
    out: dict[tuple[Expr, int], Expr] = {}
    for part in Add.make_args(expand(body)):
        key, coefficient = (S.Zero, 0), S.One
        for factor in Mul.make_args(part):
            found = _key(factor, sample, is_logarithmic)
            if found is None:
                return None
            key, coefficient = (key[0] + found[0], key[1] + found[1]), coefficient * found[2]
        out[key] = out.get(key, S.Zero) + coefficient
    return {key: c for key, c in out.items() if c != 0}


def _key(factor: Expr, sample: Sample, is_logarithmic: bool) -> tuple[Expr, int, Expr] | None:
    """Return (rate, power, coefficient) of a factor c, t^i or exp(a t): x^i and exp(a x), or log(x)^i and x^a."""
    if _is_known(factor):
        return S.Zero, 0, factor
    base, power = factor.as_base_exp()
    if is_logarithmic and base == sample and _is_known(power):
        return power, 0, S.One
    if not is_logarithmic and factor.func is exp and _is_known(rate := factor.args[0] / sample):
        return rate, 0, S.One
    if base == (log(sample) if is_logarithmic else sample) and power.is_Integer and power > 0:
        return S.Zero, int(power), S.One
    return None


def _is_known(number: Expr) -> bool:
    """True for real numbers, sqrt(2) and pi among them."""
    return bool(number.is_number and number.is_real and number.is_finite)


def _is_chebyshev(slopes: Sequence[Terms]) -> bool:
    return all(_is_system(slopes[:count]) for count in range(1, len(slopes) + 1))


def _is_extended(slopes: Sequence[Terms], interval: tuple[Expr, Expr]) -> bool:
    """True if the Wronskians of the first 1, 2, .. functions are polynomials in one variable without a zero."""
    keys = {key for terms in slopes for key in terms}
    rates = {rate for rate, _ in keys} - {0}
    if not all(number.is_Rational for number in (*rates, *(c for terms in slopes for c in terms.values()))):
        return False
    step = Rational(gcd(*(int(r.p) for r in rates)), lcm(*(int(r.q) for r in rates))) if rates else S.One
    if rates and any(power for _, power in keys):
        return False
    t, (low, high) = Symbol("t", real=True), interval
    rows, row = [], list(slopes)
    for _ in slopes:
        rows.append([Add(*(c * t ** (rate / step + power) for (rate, power), c in terms.items())) for terms in row])
        row = [slope(terms) for terms in row]
    if rates:
        low, high = exp(step * low), exp(step * high)
    for count in range(1, len(slopes) + 1):
        wronskian = together(Matrix([line[:count] for line in rows[:count]]).det()).as_numer_denom()[0]
        if wronskian == 0 or not _has_no_zero(Poly(wronskian, t), low, high):
            return False
    return True


def _has_no_zero(polynomial: Poly, low: Expr, high: Expr) -> bool:
    """True if a polynomial has no zero between two numbers; where these are no rational numbers, on a half line."""
    if low == 0:  # a zero at the end is none inside
        polynomial = Poly(polynomial.as_expr() / polynomial.gen ** min(m for m, in polynomial.monoms()), polynomial.gen)
    low = low if low.is_Rational else S.Zero if low.is_positive else -oo
    high = high if high.is_Rational else S.Zero if high.is_negative else oo
    return bool(polynomial.count_roots(None if low == -oo else low, None if high == oo else high) == 0)


def _is_system(slopes: Sequence[Terms]) -> bool:
    """True iff so many functions t^i exp(a t) are all that occurs, closed downwards, and the slopes are independent."""
    keys = sorted({key for terms in slopes for key in terms}, key=str)
    if len(keys) != len(slopes) or not set(_below(keys)) <= set(keys):
        return False
    rates = [rate for rate, power in keys if power == 0]
    differences = (a - b for a, b in combinations(rates, 2))
    return all(map(_is_certainly_not_zero, (*differences, Matrix([
        [terms.get(key, Integer(0)) for key in keys] for terms in slopes]).det())))


def _is_certainly_not_zero(number: Expr) -> bool:
    return bool(number != 0) if number.is_Rational else bool(abs(number.evalf(60)) > Rational(1, 10**40))


def _below(keys: Sequence[tuple[Expr, int]]) -> Iterator[tuple[Expr, int]]:
    return ((rate, i) for rate, power in keys for i in range(power))


