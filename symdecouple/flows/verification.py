"""A flow is substituted back into its equation before it is returned: symbolically, and in 50 digits.

Numerically: x(0) = x0, dx/dt = v(x(t)) by a central difference at three times the digits, and equilibria stay; at
several initial values of every piece, at times up to 0.999 of the ends of the domain; parameters take random rational
values. A flow that fails one of these is never returned.

Symbolically: in the coordinate of the chart, du/dt = w(u(t)) is an identity of rational functions, decided exactly
within a budget; that v is w in this coordinate was decided when the chart was found. `Flow.checks` says what was made.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import mpmath
import sympy as sp
from sympy import Expr, oo

from symdecouple.calculus.budget import Budget
from symdecouple.errors import BudgetExceeded, Refused, SymdecoupleError
from symdecouple.flows.catalogue import pieces_of
from symdecouple.flows.chart import Piece, U, X
from symdecouple.flows.evaluation import T, mp_function
from symdecouple.flows.projective import decide_sign
from symdecouple.flows.quadrature import points_inside, zeros_of
from symdecouple.verdict import Check

__all__ = ["numeric_check", "symbolic_check"]

DIGITS = 50
_DRAWS = 3


def numeric_check(v: Expr, velocity: Expr, pieces: tuple[Piece, ...], low: Expr, high: Expr) -> Check:
    """Compare the formulas of the pieces with the equation x' = velocity, in numbers."""
    worst, count = mpmath.mpf(0), 0
    for draw in _draws(v):
        bound = pieces_of(v.xreplace(draw), low.xreplace(draw), high.xreplace(draw), Budget(10)) if draw else pieces
        if len(bound) != len(pieces):
            continue
        for piece, exact in zip(pieces, bound, strict=True):
            for error in _errors(piece, exact, velocity.xreplace(draw), draw):
                worst, count = max(worst, error), count + 1
    passed = count > 0 and worst < mpmath.mpf(10) ** -(DIGITS - 15)
    return Check("substituted back in numbers", bool(passed), f"{count} times, worst relative error "
                 f"{mpmath.nstr(worst, 2)} at {DIGITS} digits")


def symbolic_check(piece: Piece, seconds: float = 2.0) -> Check | None:
    """Return a check iff du/dt = w(u(t)) is decided in time, u the coordinate of the piece.

    C and S are symbols with C' = delta^2 S, S' = C, C^2 - delta^2 S^2 = 1; what is left is rational.
    """
    motion = piece.motion
    s, c, start = sp.symbols("s c start", real=True)
    try:
        with Budget(seconds).watch("substituting back"):
            at_start, w = motion.rational(start)
            n, d = s * at_start, c - s * motion.rational_h(start)
            speed = at_start * (c**2 - motion.delta_squared * s**2) / (d**2 - motion.kappa * n**2 / 4)
            rest = sp.numer(sp.together(_without_waves(speed - w(n, d))))
            rest = sp.rem(sp.Poly(rest, c), sp.Poly(c**2 - motion.delta_squared * s**2 - 1, c))
            if all(sp.simplify(coefficient) == 0 for coefficient in rest.all_coeffs()):
                return Check("substituted back symbolically", True, f"d/dt and the field agree in u = {piece.chart.to}")
    except (BudgetExceeded, ValueError, TypeError, NotImplementedError, AttributeError, RecursionError):
        return None
    return None


def _without_waves(expr: Expr) -> Expr:
    """Write the sines and cosines of phases as rational functions of tan(phase/2)."""
    half = {z: sp.Dummy() for z in sorted({node.args[0] for node in expr.atoms(sp.sin, sp.cos)}, key=str)}
    rule = {f(z): value for z, r in half.items() for f, value in (
        (sp.sin, 2 * r / (1 + r**2)), (sp.cos, (1 - r**2) / (1 + r**2)))}
    return expr.xreplace(rule)


def _draws(v: Expr) -> Iterator[dict[Any, Expr]]:
    names = sorted(v.free_symbols - {X}, key=str)
    rng = random.Random(11)
    for _ in range(_DRAWS if names else 1):
        yield {s: sp.Rational(rng.randint(3, 40), 17) * (1 if s.is_positive else rng.choice((1, -1))) for s in names}


def _errors(piece: Piece, exact: Piece, velocity: Expr, draw: dict[Any, Expr]) -> Iterator[mpmath.mpf]:
    solution = mp_function(piece.solution(X, T).xreplace(draw))
    speed = mp_function(velocity)
    for x0 in points_inside(exact.chart.low, exact.chart.high):
        low, high = exact.lifetime(x0)
        yield from _along(solution, speed, x0, _times(low, high))
    for rest in _rests(exact):
        yield from _along(solution, speed, rest, [sp.Rational(-7, 5), sp.Rational(13, 7)])


def _along(solution: Any, speed: Any, x0: Expr, times: list[Expr]) -> Iterator[mpmath.mpf]:
    with mpmath.workdps(4 * DIGITS):
        start = mpmath.mpmathify(sp.N(x0, 4 * DIGITS))
        yield abs(solution(start, mpmath.mpf(0)) - start) / (1 + abs(start))
        for time in times:
            t = mpmath.mpmathify(sp.N(time, 4 * DIGITS))
            h = abs(t) * mpmath.mpf(10) ** -DIGITS
            slope = (solution(start, t + h) - solution(start, t - h)) / (2 * h)
            wanted = speed(solution(start, t), t)
            yield abs(slope - wanted) / (1 + abs(wanted))


def _times(low: Expr, high: Expr) -> list[Expr]:
    times = []
    for end, way in ((low, -1), (high, 1)):
        shares = (sp.Rational(1, 2), sp.Rational(999, 1000))
        times += [share * end for share in shares] if end not in (oo, -oo) else [way * sp.Rational(3, 7), way * 2]
    return [t for t in times if t != 0]


def _rests(piece: Piece) -> list[Expr]:
    """A few equilibria inside the piece."""
    chart = piece.chart
    if piece.motion.w == 0:
        return []
    try:
        ends = (chart.u_low, chart.u_high)
        low, high = ends if decide_sign(ends[1] - ends[0]) > 0 else ends[::-1]
        zeros = zeros_of(piece.motion.w.xreplace({U: X}), low, high)
        roots = list(zeros)[:3] if isinstance(zeros, sp.FiniteSet) else []
        return [chart.back.xreplace({U: root}) for root in roots]
    except (Refused, SymdecoupleError, TypeError):
        return []
