r"""Steps of a nested normalization: the flow parameter that brings a feature to its reference, solved for if possible.

With u_k the generators of the span (see `generators`), phi_t^k their flows and N_(k-1) the normalizer of the features
before k:

.. math::

    N_k(x) = N_{k-1}\bigl(\varphi^k_{t}(N_{k-1}(x))\bigr), \qquad
    t:\ f_k\bigl(N_{k-1}(\varphi^k_t(N_{k-1}(x)))\bigr) = v_k

Along t the features before k stay at their references, and f_k is strictly monotone as long as its projected gradient
does not vanish, so that t is unique. *Explicit*: the equation is solved symbolically (mean: x - Mean(x); variance:
standardization). *Implicit*: t is the one root in the interval on which the flow of every sample exists (the skewness,
with the Riccati flow x/(1 - t x)). Nothing here knows of moments.

What is solved: sums of exponentials and powers of t of degree 1 or 2, inside odd and even powers, exp, log, sinh, tanh
and their inverses. An equation with two roots, Mean(x)**2 = v, is solved for the one that is continuous with t = 0 as v
leaves the present value: the sign of the present value decides, m/Abs(m), and at m = 0 there is no formula. A formula
counts only if it was tried at random samples, of both signs where the domain has both, and works.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import lcm
from typing import Literal

import mpmath
import sympy as sp
from sympy import Abs, Add, Dummy, Expr, Mul, Poly, Pow, Rational, S, Symbol, exp, latex, log, oo, sign, sqrt
from sympy.polys.polyerrors import PolynomialError

from symdecouple.flows.chart import X
from symdecouple.flows.evaluation import DIGITS, AtSamples, agree, trials
from symdecouple.language.budget import check
from symdecouple.language.canonical import Statistic, close, decompose, open_statistics
from symdecouple.language.feature import Feature
from symdecouple.language.gate import cancel, expand, factor, together
from symdecouple.language.mean import Mean
from symdecouple.language.precision import at_digits
from symdecouple.language.sample import Sample

__all__ = ["Step", "composed", "is_root", "make_steps", "undone"]

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
    before : Expr or None
        N_(k-1)(x), the sample with the features before at their references; None where these have no closed formula.
    time : Expr or None
        t solved for, in averages of the sample and `TARGET`; None where only a root can be found.
    formula : Expr or None
        N_k(x) in closed form at the reference value; None unless this step and all before it are explicit, and where no
        sample has the reference value.
    value : Expr or None
        The reference value; `before`, and so `time`, hold where the features before are at theirs.
    """

    feature: Feature
    flow: Expr
    before: Expr | None
    time: Expr | None
    formula: Expr | None
    value: Expr | None = None

    @property
    def kind(self) -> Literal["explicit", "implicit"]:
        """"explicit" where the flow parameter is a formula, else "implicit"."""
        return "implicit" if self.time is None else "explicit"

    @property
    def takes_branch(self) -> bool:
        """True where several t solve the equation, and the sign of a statistic at the sample chooses one."""
        return self.time is not None and any(node.has(Mean) for node in self.time.atoms(Abs))

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
        Features in order, flows phi_t(x) of the generators in `TIME`, reference values: numbers or real symbols (the
        last may be None).
    sample : Sample
    """
    steps: list[Step] = []
    before: Expr | None = sample
    for feature, flow, value in zip(features, flows, values, strict=True):
        steps.append(_step(feature, flow, before, value, sample))
        before = steps[-1].formula
    return steps


def undone(steps: Sequence[Step], velocities: Sequence[Expr], sample: Sample) -> tuple[bool, int]:
    """Return whether normalized samples feel no offset, and the level from which on they feel no positive factor, or 0.

    Generator 1 is a shift, or a later one a scaling, of which the motion is unique as those before it are.
    """
    low, high = sample.interval
    known = next((j for j, step in enumerate(steps) if step.formula is None or step.takes_branch), len(steps))
    first = list(velocities[:known])
    shifts = (low, high) == (-oo, oo) and first[:1] == [S.One]
    return shifts, first.index(X) + 1 if X in first and {low, high} <= {-oo, S.Zero, oo} else 0


@lru_cache(maxsize=256)  # the plans of a process begin alike, and SymPy may take a second for a step
def _step(feature: Feature, flow: Expr, before: Expr | None, value: Expr | None, sample: Sample) -> Step:
    time, after = None, None
    if before is not None and _moves_coefficients_only(flow, sample):
        moved = _moved(before, flow, sample)
        time = _solved(close(composed(feature.expr, moved, sample) - TARGET, sample), feature, moved, sample)
        if time is not None and value is not None:
            after = _formula(feature, moved, time, value, sample)
    return Step(feature, flow, before, time, after, value)


def _moved(before: Expr, flow: Expr, sample: Sample) -> Expr:
    """Return the normalized sample, moved along the flow and normalized again."""
    return composed(before, composed(flow, before, sample), sample)


def _solved(equation: Expr, feature: Feature, moved: Expr, sample: Sample) -> Expr | None:
    """Solve for the flow parameter; a candidate counts only if it was tried at samples and works."""
    for candidate in (*_candidates(equation, sample), *_candidates(_peeled(equation), sample)):
        time = open_statistics(candidate)
        if _works(feature, moved, time, sample):
            return time
    return None


def _formula(feature: Feature, moved: Expr, time: Expr, value: Expr, sample: Sample) -> Expr | None:
    """Put the solved parameter in; None where no sample has the value."""
    solved = time.xreplace({TARGET: value})
    if solved.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        return None
    after = _tidied(moved, solved, sample)
    if after.has(sp.nan, sp.zoo, sp.I):
        return None
    return after if value.free_symbols or _takes_value(feature, after, value, sample) else None


def _moves_coefficients_only(flow: Expr, sample: Sample) -> bool:
    """True where t stays out of the functions of x, x + t and x e^t: else no equation in t alone comes out."""
    return not any(psi.has(TIME) for psi in decompose(flow, sample))


# --- equations in t ---------------------------------------------------------------------------------------------


def _peeled(equation: Expr) -> Expr:
    """Undo what stands around the one place of t: monotone functions, and even powers by the sign at t = 0."""
    left, right = equation + TARGET, TARGET
    while True:
        if isinstance(left, (Add, Mul)):
            rest, inner = left.as_independent(TIME, as_Add=left.is_Add)
            right = right - rest if left.is_Add else right / rest
            if inner in (left, TIME) or isinstance(inner, type(left)):
                return inner - right
            left = inner
        elif isinstance(left, Pow) and left.base != sp.E and left.exp.is_Rational:
            left, right = left.base, _root_of_power(left, right)
        elif type(left) in _INVERSES:
            left, right = left.args[0], _INVERSES[type(left)](right)
        else:
            return left - right


_INVERSES: dict[type, Callable[[Expr], Expr]] = {
    exp: log, log: exp, sp.sinh: sp.asinh, sp.asinh: sp.sinh, sp.tanh: sp.atanh, sp.atanh: sp.tanh, sp.atan: sp.tan,
}


def _root_of_power(power: Pow, value: Expr) -> Expr:
    """Return the base at which the power takes a value: of two, the one of the sign that it has at t = 0."""
    p, q = power.exp.p, power.exp.q
    if q % 2 == 0 or power.base.is_positive:
        return value ** (1 / power.exp)
    if p % 2:
        return _real_power(value, Rational(q, p))
    start = power.base.subs(TIME, 0)
    return start / Abs(start) * value ** Rational(q, p)


def _real_power(value: Expr, exponent: Rational) -> Expr:
    """Return an odd root, real for negative values."""
    if exponent.is_Integer or value.is_nonnegative:
        return value**exponent
    side = value / Abs(value) if value.has(Mean, Statistic) else sign(value)
    return side * Abs(value) ** exponent


def _candidates(equation: Expr, sample: Sample) -> Iterator[Expr]:
    exponents = {e.args[0] for e in equation.atoms(exp) if e.has(TIME)}
    if not exponents:
        yield from _roots(equation, TIME, S.Zero, sample)
        return
    rates = {(e / TIME) for e in exponents}
    if any(not r.is_Rational for r in rates):
        return
    w = Dummy("w", positive=True)
    power = abs(min(rates, key=abs))
    coded = equation.replace(lambda e: isinstance(e, exp) and e.has(TIME), lambda e: w ** (e.args[0] / TIME / power))
    coded = coded.replace(lambda e: e.is_Pow and not e.exp.is_Integer, lambda e: factor(e.base) ** e.exp)
    coded = sp.expand_power_base(coded, force=True)
    root = lcm(*(e.exp.q for e in coded.atoms(Pow) if e.base == w and e.exp.is_Rational))
    coded = coded.xreplace({w: w**root})
    if not coded.has(TIME):
        yield from (_logarithm(found) * root / power for found in _roots(coded, w, S.One, sample))


def _logarithm(value: Expr) -> Expr:
    """Return the logarithm, that of a root as a fraction of a logarithm, that of an exponential without it."""
    base, exponent = value.as_base_exp()
    if exponent.is_Rational and exponent.p == 1:
        return exponent * _logarithm(base) if exponent != 1 or base != value else log(value)
    return sp.expand_log(log(value), force=True) if value.has(exp) else log(value)


def _roots(equation: Expr, unknown: Symbol, start: Expr, sample: Sample) -> Iterator[Expr]:
    """Yield the root of an equation of degree 1 or 2, or of a power, that is continuous with `start`."""
    numerator = together(equation).as_numer_denom()[0]
    try:
        polynomial = Poly(numerator, unknown)
    except PolynomialError:
        return
    degree, terms = polynomial.degree(), polynomial.monoms()
    if degree == 1 or (len(terms) == 2 and terms[1] == (0,) and unknown.is_positive):
        top, bottom = sp.fraction(cancel(-polynomial.coeff_monomial(1) / polynomial.LC()))
        if _is_negative(bottom, sample):
            top, bottom = -top, -bottom
        yield top / bottom if degree == 1 else (top / bottom) ** Rational(1, degree)
    elif degree == 2 and not (a := polynomial.LC()).has(TARGET):
        b, c = polynomial.coeff_monomial(unknown), polynomial.coeff_monomial(1)
        slope = factor(2 * a * start + b)
        if slope != 0 and not slope.has(TARGET):
            yield expand((slope / Abs(slope) * sqrt(expand(b**2 - 4 * a * c)) - b) / (2 * a))


# --- trials at samples ------------------------------------------------------------------------------------------


def _is_negative(constant: Expr, sample: Sample) -> bool:
    """Look at one sample: an expression like Mean(x)**2 - Mean(x**2) reads better with its sign turned."""
    symbols = sorted(constant.free_symbols - constant.atoms(Statistic), key=str)
    value = AtSamples(open_statistics(constant), sample, symbols)(next(trials(sample)), [1] * len(symbols))
    return value is not None and value[0] < 0


def _works(feature: Feature, moved: Expr, time: Expr, sample: Sample) -> bool:
    """Try the solution: the feature must take the value that it had after a known motion."""
    symbols = sorted((moved.free_symbols | time.free_symbols) - {sample, TIME, TARGET}, key=str)
    rng, tried = random.Random(5), 0
    after = AtSamples(composed(feature.expr, moved, sample), sample, [TIME, *symbols])
    solved = AtSamples(time, sample, [TARGET, *symbols])
    with at_digits(DIGITS):
        for points in trials(sample):
            check()
            start, given = mpmath.mpf(rng.randint(1, 9)) / 500, [mpmath.mpf(rng.randint(1, 9)) / 7 for _ in symbols]
            value = after(points, [start, *given])
            found = None if value is None else solved(points, [value[0], *given])
            if found is None:
                continue
            if not agree(found[:1], [start]):
                return False
            tried += 1
    return tried >= 2


def _takes_value(feature: Feature, after: Expr, value: Expr, sample: Sample) -> bool:
    """True where the formula is real at some sample, and the feature has the value at all at which it is."""
    formula, reached = AtSamples(after, sample), AtSamples(composed(feature.expr, after, sample), sample)
    with at_digits(DIGITS):
        wanted = mpmath.mpmathify(value.evalf(DIGITS))
        found = [reached(points) for points in trials(sample) if formula(points) is not None]
        return bool(found) and all(agree(None if v is None else v[:1], [wanted]) for v in found)


def _tidied(moved: Expr, time: Expr, sample: Sample) -> Expr:
    """Put the solved parameter in, with roots of quotients written as quotients of roots where these are the same."""
    plain = moved.xreplace({TIME: time})
    closed = _without_squared_signs(close(plain, sample))
    best = open_statistics(sp.factor_terms(expand(sp.powdenest(closed, force=True))))
    symbols = sorted(plain.free_symbols - {sample}, key=str)
    pair = [AtSamples(expr, sample, symbols) for expr in (plain, best)]
    with at_digits(DIGITS):
        given = [mpmath.mpf(9 + 2 * k * k) / 7 for k, _ in enumerate(symbols)]
        same = all(agree(*(function(points, given) for function in pair)) for points in trials(sample))
    if same:
        return best
    return open_statistics(sp.factor_terms(expand(_quotients_of_roots(sp.powdenest(closed)))))


def _without_squared_signs(expr: Expr) -> Expr:
    """Write abs(m)**2 as m**2 and abs(m/abs(m)) as 1: SymPy keeps them. Roots are not negative where they exist."""
    split = expr.replace(Abs, lambda inner: Mul(*(f if f.is_nonnegative or is_root(f) else Abs(f)
                                                  for f in Mul.make_args(inner))))
    return split.replace(lambda e: e.is_Pow and isinstance(e.base, Abs) and e.exp.is_even,
                         lambda e: e.base.args[0] ** e.exp)


def is_root(expr: Expr) -> bool:
    """True for a root of even order, which is not negative where it exists."""
    return bool(expr.is_Pow and expr.exp.is_Rational and expr.exp.q % 2 == 0)


def _quotients_of_roots(expr: Expr) -> Expr:
    """Write sqrt(1/s) as 1/sqrt(s): the same where it exists, and neither exists for s < 0."""
    def split(root: Pow) -> Expr:
        top, bottom = sp.fraction(together(root.base))
        if top.is_number and top.is_negative:
            top, bottom = -top, -bottom
        return top**root.exp / bottom**root.exp if top.is_number and top.is_positive else root

    return expr.replace(is_root, split)
