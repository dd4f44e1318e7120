r"""Charts: coordinates u = phi(x) on an interval in which a field may become projective.

If v phi' = w(phi) with w projective (see `projective`), the flow of x' = v(x) is phi^{-1} after the flow of w after
phi. With phi = log(x) these are the powers and x (a + b log x + c log^2 x); with phi = sinh, sin, atan, ... the fields
(a + b phi + c phi^2)/phi' of Theorem A. A field with odd roots, x^(1/3), is real on both sides of 0: the chart
log(-x) takes the real root there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy as sp
from sympy import Expr, Pow, S, exp, log, oo, pi

from symdecouple.flows.projective import Projective, decide_sign
from symdecouple.language.gate import cancel, expand
from symdecouple.language.sample import Sample

__all__ = ["Chart", "Piece", "function_charts", "logarithmic_charts", "real_roots", "slope_at"]

X = Sample("x")
U = Sample("u")


@dataclass(frozen=True, slots=True)
class Chart:
    """A coordinate u = phi(x) on low < x < high, repeated with the period, and its inverse.

    Attributes
    ----------
    to, back : Expr
        phi in `X`, its inverse in `U`.
    low, high, u_low, u_high : Expr
        The interval, and the values of phi at its ends.
    period : Expr or None
        The chart holds on every translate of the interval by multiples of the period.
    """

    to: Expr
    back: Expr
    low: Expr
    high: Expr
    u_low: Expr
    u_high: Expr
    period: Expr | None = None

    def after(self, scale: Expr, offset: Expr) -> Chart:
        """Return this chart of scale*x + offset, scale > 0."""
        ends = ((end - offset) / scale for end in (self.low, self.high))
        return replace(self, to=self.to.xreplace({X: scale * X + offset}), back=(self.back - offset) / scale,
                       **dict(zip(("low", "high"), ends, strict=True)),
                       period=None if self.period is None else self.period / scale)

    def cut(self, low: Expr, high: Expr) -> Chart | None:
        """Return the chart on the part of its interval inside (low, high), None where there is none."""
        if (low, high) == (-oo, oo) or self.period is not None:
            return self
        out = self
        if decide_sign(low - self.low) > 0:
            out = replace(out, low=low, u_low=self.to.xreplace({X: low}))
        if decide_sign(self.high - high) > 0:
            out = replace(out, high=high, u_high=self.to.xreplace({X: high}))
        return out if decide_sign(out.high - out.low) > 0 else None

    def image(self, v: Expr) -> Expr:
        """Return v phi' in the coordinate."""
        return (self.to.diff(X) * v).xreplace({self.to: U}).xreplace({X: self.back})


IDENTITY = Chart(X, U, -oo, oo, -oo, oo)


@dataclass(frozen=True, slots=True)
class Piece:
    """A flow on one interval: a chart, and the projective field there."""

    chart: Chart
    motion: Projective

    def reduced(self, x0: Expr) -> tuple[Expr, Expr]:
        """Return the initial value moved into the interval by full periods, and the shift."""
        period = self.chart.period
        shift = S.Zero if period is None else period * sp.floor((x0 - self.chart.low) / period)
        return x0 - shift, shift

    def solution(self, x0: Expr, t: Expr) -> Expr:
        """Return x(t)."""
        x0, shift = self.reduced(x0)
        u0 = self.chart.to.xreplace({X: x0})
        return self.chart.back.xreplace({U: self.motion.solution(u0, t)}) + shift

    def slope(self, x0: Expr, t: Expr) -> Expr:
        """Return the derivative of x(t) by x(0)."""
        x0, _ = self.reduced(x0)
        u0 = self.chart.to.xreplace({X: x0})
        inner = self.chart.to.diff(X).xreplace({X: x0})
        return self.chart.back.diff(U).xreplace({U: self.motion.solution(u0, t)}) * self.motion.slope(u0, t) * inner

    def lifetime(self, x0: Expr) -> tuple[Expr, Expr]:
        """Return the open interval of times on which the solution stays in the interval of the chart."""
        x0, _ = self.reduced(x0)
        ends = (self.chart.u_low, self.chart.u_high)
        low, high = ends if decide_sign(ends[1] - ends[0]) > 0 else ends[::-1]
        return self.motion.lifetime(self.chart.to.xreplace({X: x0}), low, high)

    def contains(self, x0: Expr) -> bool:
        x0, _ = self.reduced(x0)
        return all(end in (oo, -oo) or decide_sign(way * (x0 - end)) > 0
                   for end, way in ((self.chart.low, 1), (self.chart.high, -1)))


def real_roots(v: Expr) -> Expr:
    """Return the field with every odd root of the sample written as the real one."""
    def real(power: Pow) -> Expr:
        size = sp.Abs(power.base) ** power.exp
        return size * sp.sign(power.base) if power.exp.p % 2 else size

    return v.replace(_is_odd_root, real)


def slope_at(v: Expr, point: Expr) -> Expr:
    """Return v' at a point at which odd roots of the sample may vanish."""
    slope = v.diff(X).replace(sp.DiracDelta, lambda z: S.Zero)
    return slope.replace(sp.sign, lambda z: S.One).subs(X, point)


def _is_odd_root(node: Expr) -> bool:
    return bool(isinstance(node, Pow) and node.has(X) and node.exp.is_Rational and node.exp.q % 2
                and not node.exp.is_Integer and not node.base.is_positive)


# --- logarithmic charts -----------------------------------------------------------------------------------------


def logarithmic_charts(v: Expr) -> Iterator[tuple[tuple[Chart, Expr], ...]]:
    """Yield, for each centre that the field suggests, its charts log(x - m) and log(m - x) with the image."""
    for scale, offset in _bases(v):
        pair = []
        for way in (1, -1):
            chart = _logarithm(way).after(scale, offset)
            centred = _centred(v, scale, offset)
            if way == -1:
                if any(not e.is_Integer and (not e.is_Rational or e.q % 2 == 0) for e in _exponents(centred)):
                    continue
                centred = centred.replace(_is_odd_root, lambda p: sp.Integer(-1) ** p.exp.p * (-p.base) ** p.exp)
            image = expand((scale * centred / X).xreplace({X: way * exp(U)}))
            if not image.has(sp.I):  # a logarithm is real on one side only
                pair.append((chart, image))
        yield tuple(pair)


def _logarithm(way: int) -> Chart:
    if way > 0:
        return Chart(log(X), exp(U), S.Zero, oo, -oo, oo)
    return Chart(log(-X), -exp(U), -oo, S.Zero, oo, -oo)


def _centred(v: Expr, scale: Expr, offset: Expr) -> Expr:
    moved = v.xreplace({X: (X - offset) / scale})
    moved = moved.replace(lambda e: isinstance(e, (Pow, log)) and e.has(X),
                          lambda e: e.func(expand(e.args[0]), *e.args[1:]))
    return expand(moved) if moved.is_polynomial(X) else moved


def _exponents(v: Expr) -> list[Expr]:
    return [p.exp for p in v.atoms(Pow) if p.base.has(X) and p.base != sp.E]


def _bases(v: Expr) -> list[tuple[Expr, Expr]]:
    """Return scale and offset of the linear functions that are raised to powers or stand in logarithms."""
    bases = {p.base for p in v.atoms(Pow)} | {node.args[0] for node in v.atoms(log)}
    found = [(S.One, S.Zero)]
    for base in sorted(bases - {X}, key=sp.default_sort_key):
        if base.is_polynomial(X) and sp.degree(base, X) == 1:
            scale, offset = base.diff(X), base.subs(X, 0)
            found.append((scale, offset) if scale.is_positive else (S.One, offset / scale))
    if v.is_polynomial(X) and (degree := sp.degree(v, X)) > 2:
        lead, following = sp.Poly(v, X).all_coeffs()[:2]
        found.append((S.One, cancel(following / (degree * lead))))
    return list(dict.fromkeys(found))


# --- charts by a function ---------------------------------------------------------------------------------------


def function_charts(v: Expr) -> Iterator[tuple[Chart, ...]]:
    """Yield the groups of charts sinh, sin, ... of the linear arguments that occur in the field."""
    for scale, offset in _arguments(v):
        for group in _table():
            yield tuple(chart.after(scale, offset) for chart in group)


def _arguments(v: Expr) -> list[tuple[Expr, Expr]]:
    found = [(S.One, S.Zero)]
    for node in sorted(v.atoms(sp.Function, exp), key=sp.default_sort_key):
        z = node.args[0]
        if z.is_polynomial(X) and sp.degree(z, X) == 1:
            scale = z.diff(X)
            found.append((scale, z.subs(X, 0)) if scale.is_positive else (-scale, -z.subs(X, 0)))
    for power in v.atoms(Pow):
        if power.exp.is_Rational and power.exp.q == 2 and power.base.is_polynomial(X) and sp.degree(power.base, X) == 2:
            a, b, c = sp.Poly(power.base, X).all_coeffs()
            size = abs((b * b - 4 * a * c) / (4 * a * a))
            if size.is_positive:
                found.append((1 / sp.sqrt(size), b / (2 * a) / sp.sqrt(size)))
    return [s for s in dict.fromkeys(found) if s[0].is_positive]


def _table() -> tuple[tuple[Chart, ...], ...]:
    half, turn = pi / 2, 2 * pi
    return (
        (Chart(sp.sinh(X), sp.asinh(U), -oo, oo, -oo, oo),),
        (Chart(sp.cosh(X), sp.acosh(U), S.Zero, oo, S.One, oo),
         Chart(sp.cosh(X), -sp.acosh(U), -oo, S.Zero, oo, S.One)),
        (Chart(sp.tanh(X), sp.atanh(U), -oo, oo, -S.One, S.One),),
        (Chart(sp.sin(X), sp.asin(U), -half, half, -S.One, S.One, turn),
         Chart(sp.sin(X), pi - sp.asin(U), half, 3 * half, S.One, -S.One, turn)),
        (Chart(sp.cos(X), sp.acos(U), S.Zero, pi, S.One, -S.One, turn),
         Chart(sp.cos(X), turn - sp.acos(U), pi, turn, -S.One, S.One, turn)),
        (Chart(sp.tan(X), sp.atan(U), -half, half, -oo, oo, pi),),
        (Chart(exp(X), log(U), -oo, oo, S.Zero, oo),),
        (Chart(sp.atan(X), sp.tan(U), -oo, oo, -half, half),),
        (Chart(sp.asinh(X), sp.sinh(U), -oo, oo, -oo, oo),),
        (Chart(sp.asin(X), sp.sin(U), -S.One, S.One, -half, half),),
        (Chart(sp.acosh(X), sp.cosh(U), S.One, oo, S.Zero, oo),
         Chart(sp.acosh(-X), -sp.cosh(U), -oo, -S.One, oo, S.Zero)),
    )
