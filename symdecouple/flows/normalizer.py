r"""Normalizers, generated: the flow parameter that brings a feature to its reference, solved for where possible.

With u_k the generators of the span (see `generators`), phi_t^k their flows and N_(k-1) the normalizer of the features
before k:

.. math::

    N_k(x) = N_{k-1}\bigl(\varphi^k_{t}(N_{k-1}(x))\bigr), \qquad
    t:\ f_k\bigl(N_{k-1}(\varphi^k_t(N_{k-1}(x)))\bigr) = v_k

Along t the features before k stay at their references, and f_k is strictly monotone as long as its projected gradient
does not vanish, so that t is unique. *Explicit*: the equation is solved symbolically (mean: x - Mean(x); variance:
standardization). *Implicit*: t is the one root in the interval on which the flow of every sample exists (the skewness,
with the Riccati flow x/(1 - t x)). Nothing here knows of moments.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Literal

from sympy import (
    Dummy,
    Expr,
    Poly,
    Pow,
    Rational,
    Symbol,
    cancel,
    exp,
    expand,
    expand_power_base,
    factor,
    factor_terms,
    fraction,
    latex,
    log,
    powdenest,
    solve,
    together,
)
from sympy.polys.polyerrors import PolynomialError

from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.jets import Point
from symdecouple.errors import SymdecoupleError
from symdecouple.language.canonical import close, decompose, open_statistics
from symdecouple.language.feature import Feature
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["Step", "composed", "make_steps"]

TIME = Symbol("t", real=True)
TARGET = Symbol("v", real=True)


@dataclass(frozen=True, slots=True)
class Step:
    """How one feature is brought to a value when the ones before it are at theirs.

    Attributes
    ----------
    feature : Feature
    flow : Expr
        phi_t(x), in the sample and `TIME`.
    equation : Expr
        Vanishes at the wanted t: f(N(phi_t(x))) - `TARGET`, in the sample's averages; None where the features before
        have no closed formula.
    time : Expr or None
        t solved for, in averages of the sample and `TARGET`; None where only a root can be found.
    formula : Expr or None
        N_k(x) in closed form at the reference value; None unless this step and all before it are explicit.
    """

    feature: Feature
    flow: Expr
    equation: Expr | None
    time: Expr | None
    formula: Expr | None

    @property
    def kind(self) -> Literal["explicit", "implicit"]:
        """"explicit" where the flow parameter is a formula, else "implicit"."""
        return "implicit" if self.time is None else "explicit"

    def latex(self) -> str:
        r"""Return the step as LaTeX: the normalized sample, or the flow with its equation."""
        if self.formula is not None:
            return rf"\hat x = {latex(self.formula)}"
        return rf"\varphi_t(x) = {latex(self.flow)},\quad t:\ {latex(self.feature.expr)} = v"


def composed(expr: Expr, inner: Expr, sample: Sample) -> Expr:
    """Return an expression of a sample and its averages, at the sample moved by `inner`."""
    if expr == sample:
        return inner
    if isinstance(expr, Mean):
        return Mean(composed(expr.opened(sample), inner, sample))
    if not expr.args or not expr.has(sample, Mean):
        return expr
    return expr.func(*(composed(arg, inner, sample) for arg in expr.args))


def make_steps(features: list[Feature], flows: list[Expr], values: list[Expr | None], sample: Sample) -> list[Step]:
    """Return one step per feature, each solved for its flow parameter where that is possible.

    Parameters
    ----------
    features, flows, values : lists of the same length
        Features in order, flows phi_t(x) of the generators in `TIME`, reference values (the last may be None).
    sample : Sample
    """
    steps: list[Step] = []
    before: Expr | None = sample
    for feature, flow, value in zip(features, flows, values, strict=True):
        equation, time, after = None, None, None
        if before is not None:
            moved = composed(before, composed(flow, before, sample), sample)
            equation = composed(feature.expr, moved, sample) - TARGET
            if _moves_coefficients_only(flow, sample):
                time = _solved(close(equation, sample), feature, moved, sample)
        if time is not None and value is not None and before is not None:
            after = _tidied(moved, time.xreplace({TARGET: value}), sample)
        steps.append(Step(feature, flow, equation, time, after))
        before = after
    return steps


def _solved(equation: Expr, feature: Feature, moved: Expr, sample: Sample) -> Expr | None:
    """Solve for the flow parameter; a candidate counts only if it was tried at samples and works."""
    for candidate in _candidates(equation):
        time = open_statistics(candidate)
        if _works(feature, moved, time, sample):
            return time
    return None


def _moves_coefficients_only(flow: Expr, sample: Sample) -> bool:
    """True where t stays out of the functions of x, x + t and x e^t: else no equation in t alone comes out."""
    return not any(psi.has(TIME) for psi in decompose(flow, sample))


def _candidates(equation: Expr) -> list[Expr]:
    exponents = {e.args[0] for e in equation.atoms(exp) if e.has(TIME)}
    if not exponents:
        return _roots(equation, TIME)
    rates = {(e / TIME) for e in exponents}
    if any(not r.is_Rational for r in rates):
        return []
    w = Dummy("w", positive=True)
    power = abs(min(rates, key=abs))
    coded = equation.replace(lambda e: isinstance(e, exp) and e.has(TIME), lambda e: w ** (e.args[0] / TIME / power))
    coded = coded.replace(lambda e: e.is_Pow and not e.exp.is_Integer, lambda e: factor(e.base) ** e.exp)
    coded = expand_power_base(coded, force=True)
    root = lcm(*(e.exp.q for e in coded.atoms(Pow) if e.base == w and e.exp.is_Rational))
    coded = coded.xreplace({w: w**root})
    return [_logarithm(found) * root / power for found in _roots(coded, w)] if not coded.has(TIME) else []


def _logarithm(value: Expr) -> Expr:
    """Return the logarithm, that of a root as a fraction of a logarithm."""
    base, exponent = value.as_base_exp()
    return exponent * log(base) if exponent.is_Rational and exponent.p == 1 else log(value)


def _roots(equation: Expr, unknown: Symbol) -> list[Expr]:
    numerator = together(equation).as_numer_denom()[0]
    try:
        polynomial = Poly(numerator, unknown)
    except PolynomialError:
        return []
    if polynomial.degree() > 2 and len(polynomial.monoms()) > 2:
        return []
    if len(polynomial.monoms()) == 2 and polynomial.monoms()[1] == (0,):
        n = polynomial.degree()
        top, bottom = fraction(cancel(-polynomial.coeff_monomial(1) / polynomial.LC()))
        if _is_negative(bottom):
            top, bottom = -top, -bottom
        return [top / bottom if n == 1 else (top / bottom) ** Rational(1, n)]
    return list(solve(polynomial.as_expr(), unknown))


def _is_negative(constant: Expr) -> bool:
    """Look at one sample: an expression like Mean(x)**2 - Mean(x**2) reads better with its sign turned."""
    try:
        value = Point([Fraction(1), Fraction(2), Fraction(4)], {TARGET: Fraction(1)}, World()).jet(
            open_statistics(constant)).value
    except (Irrational, OutsideDomain, SymdecoupleError, ZeroDivisionError):
        return False
    return value is not None and value < 0


def _works(feature: Feature, moved: Expr, time: Expr, sample: Sample) -> bool:
    """Try the solution at random samples: the feature must take the value that it had after a known motion."""
    rng = random.Random(5)
    world, tried = World(40), 0
    for _ in range(6):
        points = [Fraction(rng.randint(1, 60), rng.choice((1, 2, 3))) + n for n in range(5)]
        try:
            start = Fraction(rng.randint(1, 9), 50)
            value = Point(points, {TIME: start}, world).jet(composed(feature.expr, moved, sample)).value
            found = Point(points, {TARGET: value}, world).jet(time).value
            if not world.is_zero(found - world.number(start)):
                return False
            tried += 1
        except (OutsideDomain, Irrational, SymdecoupleError, ZeroDivisionError):
            continue
    return tried >= 2


def _tidied(moved: Expr, time: Expr, sample: Sample) -> Expr:
    """Put the solved parameter in, with roots of quotients written as quotients of roots."""
    closed = close(moved.xreplace({TIME: time}), sample)
    return open_statistics(factor_terms(expand(powdenest(closed, force=True))))
