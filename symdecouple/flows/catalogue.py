r"""Which closed form a field has: projective as it stands, in a chart, or by the general quadrature.

The order is: polynomials up to degree 2, span(1, e^{ku}, e^{-ku}) and span(1, cos ku, sin ku) as they stand; then
the same in u = log(x - m); then in u = sinh, cosh, tanh, sin, cos, tan, exp, atan, asinh, asin, acosh of a linear
function (Theorem A: what is reached there is (a + b phi + c phi^2)/phi'); then quadrature. Membership is decided
exactly; a numeric test only saves the time of hopeless candidates.
"""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import sympy as sp
from sympy import Expr, oo

from symdecouple.flows.chart import IDENTITY, Chart, Piece, U, X, function_charts, logarithmic_charts
from symdecouple.flows.projective import Projective
from symdecouple.flows.quadrature import by_quadrature
from symdecouple.language.budget import Budget
from symdecouple.language.closed_forms import simplify
from symdecouple.language.precision import at_digits

__all__ = ["pieces_of"]


def pieces_of(v: Expr, low: Expr, high: Expr, budget: Budget) -> tuple[Piece, ...]:
    """Return the flow of x' = v(x) on the intervals where it has a closed form; empty where none is found.

    Parameters
    ----------
    v : Expr
        The field in `X`; every other symbol is a constant.
    low, high : Expr
        The interval of the samples.
    """
    if (motion := Projective.of(v, X)) is not None:
        charts = [(IDENTITY, Projective.of(v.xreplace({X: U}), U) or motion)]
        return _cut(charts, low, high)
    for images in logarithmic_charts(v):
        if found := _all_projective(images):
            return _cut(found, low, high)
    for group in function_charts(v):
        if all(_seems_quadratic(chart, v) for chart in group):
            found = _all_projective(tuple((chart, simplify(chart.image(v))) for chart in group))
            if found:
                return _cut(found, low, high)
        budget.check("the search for a chart")
    return tuple(by_quadrature(v, low, high, budget))


def _all_projective(images: tuple[tuple[Chart, Expr], ...]) -> list[tuple[Chart, Projective]]:
    found = [(chart, motion) for chart, image in images if (motion := Projective.of(image, U)) is not None]
    return found if images and len(found) == len(images) else []


def _cut(found: list[tuple[Chart, Projective]], low: Expr, high: Expr) -> tuple[Piece, ...]:
    cut = ((chart.cut(low, high), motion) for chart, motion in found)
    return tuple(Piece(chart, motion) for chart, motion in cut if chart is not None)


def _seems_quadratic(chart: Chart, v: Expr) -> bool:
    """Fit w = v phi' by a quadratic at three values of u and compare at two more."""
    rng = random.Random(7)
    draw = {s: sp.Rational(rng.randint(3, 40), 17) for s in sorted(v.free_symbols - {X}, key=str)}
    image = chart.image(v.xreplace(draw))
    low, high = chart.u_low, chart.u_high
    shares = [Fraction(k, 11) for k in (2, 3, 5, 8, 9)]
    if {low, high} & {oo, -oo}:
        anchor = next((end for end in (low, high) if end not in (oo, -oo)), sp.Integer(0))
        points = [anchor + (1 if high == oo or low == oo else -1) * sp.Rational(s.numerator, 5) for s in shares]
    else:
        points = [low + (high - low) * sp.Rational(s.numerator, s.denominator) for s in shares]
    with at_digits(30):
        try:
            value = sp.lambdify(U, image, "mpmath")
            xs = [mpmath.mpmathify(sp.N(p, 40)) for p in points]
            ys = [value(p) for p in xs]
            if any(isinstance(y, mpmath.mpc) and abs(y.imag) > 1e-20 for y in ys):
                return False
            fit = mpmath.lu_solve(mpmath.matrix([[p**2, p, 1] for p in xs[:3]]), mpmath.matrix(ys[:3]))
            return all(abs(mpmath.polyval(list(fit), p) - y) < 1e-18 * (1 + abs(y))
                       for p, y in zip(xs, ys, strict=True))
        except (ZeroDivisionError, ValueError, TypeError, NameError, OverflowError):
            return False
