"""A flow is substituted back into its equation before it is returned: symbolically, and in 50 digits.

Numerically: x(0) = x0, dx/dt = v(x(t)) by a central difference at three times the digits, and equilibria stay; at
several initial values of every piece, at times up to 0.999 of the ends of the domain; parameters take random rational
values. A flow that fails one of these is never returned.

Symbolically: in the coordinate u of the chart, du/dt = w(u(t)) is an identity of rational functions, decided exactly
and for all constants at once; that w and delta^2 are of this form is decided for the field, within a budget; that v is
w in this coordinate was decided when the chart was found. `Flow.checks` says what was made.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import mpmath
import sympy as sp
from sympy import Expr, oo

from symdecouple.errors import BudgetExceeded, Refused, SymdecoupleError
from symdecouple.flows.catalogue import pieces_of
from symdecouple.flows.chart import Piece, U, X
from symdecouple.flows.evaluation import T, mp_function
from symdecouple.flows.projective import decide_sign
from symdecouple.flows.quadrature import points_inside, zeros_of
from symdecouple.language.budget import Budget, check
from symdecouple.language.closed_forms import simplify
from symdecouple.language.gate import expand
from symdecouple.language.precision import at_digits
from symdecouple.verdict import Check

__all__ = ["numeric_check", "symbolic_check"]

DIGITS = 50
_DRAWS = 2


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
    """Return a check iff du/dt = w(u(t)) is decided in time, u the coordinate of the piece."""
    motion = piece.motion
    a, b, c, k, u = *motion.coefficients(), motion.rate, motion.u
    kind = "line" if motion.kind == "linear" else motion.kind
    form, delta_squared = {
        "line": (a + b * u + c * u**2, b**2 / 4 - a * c),
        "logarithm": (a + b * sp.exp(k * u) + c * sp.exp(-k * u), k**2 * (a**2 / 4 - b * c)),
        "circle": (a + b * sp.cos(k * u) + c * sp.sin(k * u), k**2 * (b**2 + c**2 - a**2) / 4),
    }[kind]
    try:
        with Budget(seconds).running("substituting back"):
            same = expand(form - motion.w) == 0 and simplify(delta_squared - motion.delta_squared) == 0
            if same and _is_solution(kind):
                return Check("substituted back symbolically", True, f"d/dt and the field agree in u = {piece.chart.to}")
    except (BudgetExceeded, ValueError, TypeError, NotImplementedError, AttributeError, RecursionError):
        return None
    return None


@cache
def _is_solution(kind: str) -> bool:
    """Substitute the formula of `projective` into its equation, with symbols for all constants.

    C and S are symbols with C' = delta^2 S, S' = C, C^2 - delta^2 S^2 = 1. The variable z is u, exp(k u) or
    tan(k u/2), in which the field is rational and the solution is a fraction.
    """
    field, cosine, sine, a, b, c, k, z = sp.field("cosine sine a b c k z", sp.QQ)
    w: Any
    w, inner, kappa, delta_squared = {
        "line": (lambda z: a + b * z + c * z**2, field.one, field.zero, b**2 / 4 - a * c),
        "logarithm": (lambda z: a + b * z + c / z, k * z, k**2, k**2 * (a**2 / 4 - b * c)),
        "circle": (lambda z: a + (b * (1 - z**2) + 2 * c * z) / (1 + z**2), k * (1 + z**2) / 2, -(k**2),
                   k**2 * (b**2 + c**2 - a**2) / 4),
    }[kind]
    slope = w(z).diff(z) * inner
    n, d = sine * w(z), cosine - sine * slope / 2
    later = {"line": z + n / d, "logarithm": z * (d + k * n / 2) / (d - k * n / 2),
             "circle": (z * d + k * n / 2) / (d - z * k * n / 2)}[kind]
    n_rate, d_rate = cosine * w(z), delta_squared * sine - cosine * slope / 2
    speed = (n_rate * d - n * d_rate) / (d**2 - kappa * n**2 / 4)
    rest = (speed - w(later)).numer
    return not rest.rem((cosine**2 - delta_squared * sine**2 - 1).numer)


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
    with at_digits(4 * DIGITS):
        start = mpmath.mpmathify(sp.N(x0, 4 * DIGITS))
        yield abs(solution(start, mpmath.mpf(0)) - start) / (1 + abs(start))
        for time in times:
            check()
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
