r"""The fields on a line whose flow is projective, and that flow in one formula.

A field u' = w(u) with w''' = kappa w', kappa constant, is one of

* kappa = 0: 1, u, u^2 (the Riccati equation),
* kappa = k^2: 1, e^{ku}, e^{-ku},
* kappa = -k^2: 1, cos ku, sin ku

and each of these spans is sl(2) (Theorem A). Along a solution delta^2 = w'^2/4 - w w''/2 + kappa w^2/4 is constant, and

.. math:: z = \frac{w(u_0)\,S}{C - S\,w'(u_0)/2}, \qquad C = \cosh \delta t,\quad S = \frac{\sinh \delta t}{\delta}

gives the solution u = u0 + z, u0 + (2/k) artanh(k z/2), u0 + (2/k) arctan(k z/2) in the three cases, the last one
continued over its full turns, which there are iff delta^2 < 0. It is right at equilibria, w(u0) = 0, and it has no
branches. The derivative of u(t) by u0 is 1/D^2, 1/(P Q) and 1/(D^2 + (k N/2)^2), N and D the numerator and
denominator of z, P, Q = D +- k N/2.

Times: u is reached when S/C = z/(w + z w'/2), where z = u - u0, (2/k) tanh(k (u - u0)/2), (2/k) tan(k (u - u0)/2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp
from sympy import Add, Expr, Integer, Piecewise, S, cos, cosh, exp, log, oo, pi, sin, sinh, sqrt, tanh

from symdecouple.language.canonical import decompose
from symdecouple.language.closed_forms import trigsimp
from symdecouple.language.gate import expand, factor
from symdecouple.language.sample import Sample

__all__ = ["Projective", "decide_sign"]

SIGN_DIGITS = 60  # a number that is below 1e-45 at 60 digits counts as zero: a heuristic, of ends of domains only


@dataclass(frozen=True, slots=True)
class Projective:
    """The field u' = w(u) with w''' = kappa w'.

    Attributes
    ----------
    w : Expr
        The field, in the coordinate.
    u : Sample
        The coordinate.
    kappa, rate, delta_squared : Expr
        The constants; kappa = rate^2 for exponentials, -rate^2 for the circle, rate = 0 for polynomials.
    """

    w: Expr
    u: Sample
    kappa: Expr
    rate: Expr
    delta_squared: Expr

    @classmethod
    def of(cls, w: Expr, u: Sample) -> Projective | None:
        """Return the projective field that this expression is, None where it is none."""
        terms = decompose(w, u)
        w = Add(*(c * psi for psi, c in terms.items()))
        kappa, rate = _constants(terms, u)
        if kappa is None:
            return None
        slope = w.diff(u)  # one after the other: for several at once SymPy factors in between
        bend = slope.diff(u)
        rest = bend.diff(u) - kappa * slope
        if expand(rest) != 0:
            return None
        constant = slope**2 / 4 - w * bend / 2 + kappa * w**2 / 4
        constant = expand(constant.subs(u, 0))  # it does not depend on u
        return cls(w, u, kappa, rate, factor(trigsimp(constant) if constant.has(sin) else constant))

    @property
    def kind(self) -> str:
        """"linear", "line", "logarithm" or "circle"."""
        if self.kappa == 0:
            return "linear" if self.w.diff(self.u, 2) == 0 else "line"
        return "logarithm" if self.kappa == self.rate**2 else "circle"

    @property
    def h(self) -> Expr:
        """Half the slope, w'/2."""
        return expand(self.w.diff(self.u) / 2)

    def shifted_h(self, sign: int) -> Expr:
        """(w' + sign k w)/2, in which one of the exponentials cancels."""
        return expand((self.w.diff(self.u) + sign * self.rate * self.w) / 2)

    def gap(self, sign: int = 0) -> Expr:
        """1 - h^2/delta^2 with the factor w in front: exact near equilibria."""
        if self.delta_squared == 0:
            return S.Zero
        second = self.w.diff(self.u, 2)
        if sign:
            second = expand(second + sign * self.rate * self.w.diff(self.u))
        return -self.w * second / (2 * self.delta_squared)

    # --- the solution -------------------------------------------------------------------------------------------

    def sine_cosine(self, t: Expr) -> tuple[Expr, Expr]:
        """S and C, real for every sign of delta^2."""
        d = self.delta_squared
        if d == 0:
            return t, S.One
        if d.is_negative:
            return sin(sqrt(-d) * t) / sqrt(-d), cos(sqrt(-d) * t)
        delta = sqrt(d) if d.is_number else _even_root(d)
        if d.is_positive:
            return sinh(delta * t) / delta, cosh(delta * t)
        if delta.is_rational_function():
            return Piecewise((t, sp.Eq(delta, 0)), (sinh(delta * t) / delta, True)), cosh(delta * t)
        delta = sqrt(sp.Abs(d))
        return (Piecewise((t, sp.Eq(d, 0)), (sinh(delta * t) / delta, d > 0), (sin(delta * t) / delta, True)),
                Piecewise((cosh(delta * t), d >= 0), (cos(delta * t), True)))

    def parts(self, u0: Expr, t: Expr) -> tuple[Expr, Expr]:
        """Numerator and denominator of z."""
        s, c = self.sine_cosine(t)
        return s * self._at(self.w, u0), c - s * self._at(self.h, u0)

    def solution(self, u0: Expr, t: Expr) -> Expr:
        """Return u(t) from u(0) = u0."""
        if self.kind == "linear":
            return self._linear(u0, t)
        if self.kind == "line":
            s, c = self.sine_cosine(t)
            a, b, _ = self.coefficients()
            return (c * u0 + s * (a + b * u0 / 2)) / (c - s * self._at(self.h, u0))
        if self.kind == "logarithm":
            above, below = self.ratio(u0, t)
            return u0 + log(above / below) / self.rate
        return u0 + self._turned(u0, t)

    def ratio(self, u0: Expr, t: Expr) -> tuple[Expr, Expr]:
        """P and Q with exp(k u) = exp(k u0) P/Q."""
        s, c = self.sine_cosine(t)
        return c - s * self._at(self.shifted_h(-1), u0), c - s * self._at(self.shifted_h(1), u0)

    def slope(self, u0: Expr, t: Expr) -> Expr:
        """Return the derivative of u(t) by u0."""
        if self.kind == "linear":
            return exp(self.w.diff(self.u) * t)
        if self.kind == "logarithm":
            above, below = self.ratio(u0, t)
            return 1 / (above * below)
        above, below = self.parts(u0, t)
        return 1 / (below**2 - self.kappa * above**2 / 4)

    def _linear(self, u0: Expr, t: Expr) -> Expr:
        a, b = self.w.subs(self.u, 0), self.w.diff(self.u)
        grown = t if b == 0 else (exp(b * t) - 1) / b
        if b != 0 and not b.is_number and a != 0:
            grown = Piecewise((t, sp.Eq(b, 0)), (grown, True))
        return u0 * exp(b * t) + a * grown

    def _turned(self, u0: Expr, t: Expr) -> Expr:
        k, d = self.rate, self.delta_squared
        w, h = self._at(self.w, u0), self._at(self.h, u0)
        s, c = self.sine_cosine(t)
        open_arc = 2 / k * sp.atan2(k * w * s / 2, c - s * h)
        if d.is_nonnegative or (d.is_number and decide_sign(d) >= 0):
            return open_arc
        omega = sqrt(-d) if d.is_number else sqrt(sp.Abs(d))
        turns = sp.floor(omega * t / pi + Integer(1) / 2)
        rest = omega * t - pi * turns
        ahead = sp.sign(k * self._at(self.w, S.Zero))
        arc = sp.atan2(k * w * sin(rest) / (2 * omega), cos(rest) - sin(rest) / omega * h)
        turning = 2 / k * (pi * turns * ahead + arc)
        return turning if d.is_number else Piecewise((open_arc, d >= 0), (turning, True))

    def _at(self, expr: Expr, u0: Expr) -> Expr:
        return expr.xreplace({self.u: u0})

    def coefficients(self) -> tuple[Expr, Expr, Expr]:
        """Return (a, b, c) of w in the basis 1, u, u^2, or 1, e^{ku}, e^{-ku}, or 1, cos ku, sin ku."""
        w0, w1, w2 = (expand(self.w.diff(self.u, n)).subs(self.u, 0) for n in range(3))
        if self.kappa == 0:
            return w0, w1, w2 / 2
        k = self.rate
        if self.kind == "circle":
            return w0 + w2 / k**2, -w2 / k**2, w1 / k
        return w0 - w2 / k**2, (w2 + k * w1) / (2 * k**2), (w2 - k * w1) / (2 * k**2)

    # --- times --------------------------------------------------------------------------------------------------

    def lifetime(self, u0: Expr, low: Expr, high: Expr) -> tuple[Expr, Expr]:
        """Return the open interval of times at which the solution from u0 stays in (low, high)."""
        ahead = decide_sign(self._at(self.w, u0))
        if ahead == 0:
            return -oo, oo
        ends = (low, high) if ahead > 0 else (high, low)
        return -self._time_to(u0, ends[0], -1), self._time_to(u0, ends[1], 1)

    def _time_to(self, u0: Expr, end: Expr, way: int) -> Expr:
        """Return the time, forwards (way 1) or backwards (-1), until the end is reached; oo where it never is."""
        w, h, d = self._at(self.w, u0), self._at(self.h, u0), self.delta_squared
        if end in (oo, -oo) and self.kind in ("linear", "circle"):
            return oo
        if self.kind == "linear":
            return _time_of_linear(way * (end - u0), w, self._at(self.w, end) / w, way * 2 * h)
        turns, inverse = self._tangent(u0, end, w, h)
        infinite = inverse is not sp.zoo and decide_sign(inverse) == 0
        if d == 0 or decide_sign(d) >= 0:
            return oo if infinite or turns > 0 else _first_time(way / inverse, d)
        omega = sqrt(-d)
        angle = pi / 2 if infinite else sp.atan(way * omega / inverse)
        angle = angle + pi if decide_sign(angle) < 0 else angle
        return (angle + turns * pi) / omega

    def _tangent(self, u0: Expr, end: Expr, w: Expr, h: Expr) -> tuple[Expr, Expr]:
        """Return the full turns on the way to the end, and C/S there, which is w/z + h."""
        k = self.rate
        if end in (oo, -oo):
            sign = 1 if end == oo else -1
            return S.Zero, (h if self.kappa == 0 else h + sign * sp.Abs(k) * w / 2)
        half = k * (end - u0) / 2
        if self.kappa == 0:
            return S.Zero, w / (end - u0) + h
        if self.kind == "logarithm":
            return S.Zero, w * k / (2 * tanh(half)) + h
        turns = sp.floor(sp.Abs(half) / pi)
        return turns, w * k / 2 * sp.cot(half) + h


def _even_root(d: Expr) -> Expr:
    """Return a square root up to its sign: sinh(delta t)/delta and cosh(delta t) are even in delta."""
    return sqrt(d).replace(sp.Abs, lambda inner: inner)


def _time_of_linear(distance: Expr, w: Expr, growth: Expr, slope: Expr) -> Expr:
    """Return the time in which u' = w, w linear, goes the distance, w growing by this factor."""
    if slope == 0:
        return sp.Abs(distance / w)
    return log(growth) / slope if decide_sign(growth) > 0 else oo


def _first_time(tangent: Expr, d: Expr) -> Expr:
    """Return the positive time with S/C = tangent, oo where there is none."""
    if decide_sign(tangent) <= 0:
        return oo
    if d == 0:
        return tangent
    if decide_sign(1 - d * tangent**2) <= 0:
        return oo
    m = sqrt(d) * tangent
    quotient = (1 + m) / (1 - m)
    return log(sp.radsimp(quotient) if quotient.is_algebraic else quotient) / (2 * sqrt(d))


def _constants(terms: Mapping[Expr, Expr], u: Sample) -> tuple[Expr | None, Expr]:
    """Return kappa and the rate k > 0 from the basis functions of the field; None where they cannot fit."""
    moving = [psi for psi in terms if not psi.is_polynomial(u)]
    if not all(isinstance(psi, (exp, sin, cos)) and not psi.args[0].diff(u).has(u) for psi in moving):
        return None, S.Zero  # basis functions are independent, and others do not solve w''' = kappa w'
    for psi in moving:
        rate = psi.args[0].diff(u)
        if not isinstance(psi, exp):
            return -(rate**2), rate
        rate = -rate if rate.could_extract_minus_sign() else rate
        return rate**2, rate
    return S.Zero, S.Zero


def decide_sign(value: Expr) -> int:
    """Return the sign of an exact real number, by its value at 60 digits; below 1e-45 it counts as zero."""
    value = sp.sympify(value)
    if value is sp.nan:  # oo - oo
        return 0
    if value in (oo, -oo):
        return 1 if value == oo else -1
    if value.is_Rational:
        return int(sp.sign(value))
    number = value.evalf(SIGN_DIGITS, maxn=400)
    return 0 if abs(number) < sp.Float(10) ** -45 else int(sp.sign(sp.re(number)))
