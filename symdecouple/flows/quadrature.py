r"""The general quadrature: Psi(x) = int dx/v(x), x(t) = Psi^{-1}(Psi(x0) + t), on an interval without zeros of v.

On such an interval Psi is strictly monotone, so that it has one inverse; of the branches that are found by solving,
the one is taken that inverts Psi at sample points of the interval.

On intervals without such an inverse there is no piece: x' = x/(1 + x) has one for x > 0 only.

Not covered: integrals and inverses outside the classes of `language.closed_forms`, or that SymPy does not find there,
and fields with parameters (their zeros are not known).
"""

from __future__ import annotations

import itertools

import sympy as sp
from sympy import Expr, S, oo

from symdecouple.errors import BudgetExceeded
from symdecouple.flows.chart import Chart, Piece, U, X
from symdecouple.flows.projective import Projective, decide_sign
from symdecouple.language.budget import Budget, check
from symdecouple.language.closed_forms import antiderivative, breaks, limit, solutions, zeros

__all__ = ["by_quadrature", "points_inside", "zeros_of"]

_FAILURES = (NotImplementedError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, IndexError,
             KeyError, sp.PolynomialError)


def zeros_of(v: Expr, low: Expr, high: Expr) -> sp.Set:
    """Return the zeros of the field in an interval, as a set; a `ConditionSet` where they are not found."""
    interval = sp.Interval.open(low, high)
    try:
        return zeros(v, X, interval)
    except (BudgetExceeded, *_FAILURES):
        check()  # too large is no matter, late is
        return sp.ConditionSet(X, sp.Eq(v, 0), interval)


def by_quadrature(v: Expr, low: Expr, high: Expr, budget: Budget) -> list[Piece]:
    """Return the pieces that are found, one for an interval between zeros and singularities of the field.

    Parameters
    ----------
    v : Expr
        A field in `X`, without parameters.
    low, high : Expr
        The interval of the samples.
    budget : Budget
    """
    if v.free_symbols != {X}:
        return []
    try:
        with budget.running("the quadrature of 1/v"):
            psi = antiderivative(1 / v, X)
            ends = None if psi is None or psi.has(sp.I, sp.RootSum) else _ends(v, low, high)
            if ends is None:
                return []
            pieces = [_piece(v, psi, a, b) for a, b in itertools.pairwise(ends)]
    except (BudgetExceeded, *_FAILURES):
        return []
    return [piece for piece in pieces if piece is not None]


def _ends(v: Expr, low: Expr, high: Expr) -> list[Expr] | None:
    inner = zeros_of(v, low, high) + breaks(v, X, sp.Interval.open(low, high))
    if not isinstance(inner, sp.FiniteSet) and inner is not S.EmptySet:
        return None
    points = sorted({p for p in inner if p not in (oo, -oo, low, high)}, key=lambda p: p.evalf(30))
    return [low, *points, high]


def _piece(v: Expr, psi: Expr, low: Expr, high: Expr) -> Piece | None:
    samples = points_inside(low, high)
    if not all(v.subs(X, p).is_real for p in samples):
        return None
    signed = psi.xreplace({node: sp.log(node.args[0] * _sign_at(node.args[0], samples[0]))
                           for node in psi.atoms(sp.log)})
    for back in solutions(signed - U, X):
        if all(_is_near(back.subs(U, signed.subs(X, p)), p) for p in samples):
            u_low, u_high = limit(signed, X, low, "+"), limit(signed, X, high, "-")
            motion = Projective.of(S.One, U)
            return Piece(Chart(signed, back, low, high, u_low, u_high), motion) if motion else None
    return None


def _sign_at(expr: Expr, point: Expr) -> int:
    """int dx/x is log|x|: the sign makes the argument positive on the interval."""
    return decide_sign(expr.subs(X, point)) or 1


def points_inside(low: Expr, high: Expr) -> list[Expr]:
    if low == -oo and high == oo:
        return [sp.Rational(k, 3) for k in (-7, 1, 5)]
    if high == oo:
        return [low + sp.Rational(k, 3) for k in (1, 4, 11)]
    if low == -oo:
        return [high - sp.Rational(k, 3) for k in (1, 4, 11)]
    return [low + (high - low) * sp.Rational(k, 7) for k in (1, 3, 6)]


def _is_near(value: Expr, point: Expr) -> bool:
    number = sp.N(value - point, 30)
    return bool(number.is_number and number.is_finite and abs(number) < sp.Float(10) ** -20)
