r"""Integrals of one field at a time, equation by equation.

.. math:: \dot q_k / \dot t = a_k(t, q)/a_t(t, q)

One coordinate t takes the place of the time. Equations that contain t, constants, and one unknown are solved where they
are linear or separable,

.. math::

    \frac{dq}{dt} = \alpha(t)\, q + \beta(t) &\;\Rightarrow\; q e^{-A} - \int \beta e^{-A} dt, \; A = \int \alpha\, dt

    \frac{dq}{dt} = f(t)\, g(q) &\;\Rightarrow\; \int \frac{dq}{g} - \int f\, dt

and then q, as a function of t and of this constant, is put into the others. Integrals are those of
`language.closed_forms`. Every result is a proposal: whoever asks substitutes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Dummy, Expr, S, Symbol, exp

from symdecouple.calculus.field import VectorField
from symdecouple.language.budget import check
from symdecouple.language.closed_forms import antiderivative, solutions
from symdecouple.language.gate import cancel, factor

__all__ = ["integrals_of_one_field"]


def integrals_of_one_field(fields: Sequence[VectorField], coordinates: Sequence[Symbol]) -> Iterator[Expr]:
    """Yield functions that are constant along one of the fields, with each coordinate in the place of the time."""
    for field in fields:
        rates = dict(zip(coordinates, field.components, strict=True))
        yield from (q for q, rate in rates.items() if rate == 0)
        for time in coordinates:
            check()
            if rates[time] != 0:
                yield from _along(time, {q: cancel(rate / rates[time]) for q, rate in rates.items() if q != time})


def _along(time: Symbol, slopes: dict[Symbol, Expr]) -> Iterator[Expr]:
    solved: dict[Symbol, Expr] = {q: q for q, slope in slopes.items() if slope == 0}
    constants: dict[Symbol, Expr] = {q: q for q in solved}
    waiting = [q for q in slopes if q not in solved]
    progress = True
    while waiting and progress:
        progress = False
        for q in list(waiting):
            check()
            if slopes[q].free_symbols & set(waiting) - {q}:
                continue
            integral = _integral(q, time, slopes[q].xreplace(solved) if solved else slopes[q])
            waiting.remove(q)
            if integral is None:
                solved[q] = S.NaN
                continue
            progress = True
            written = integral.xreplace(constants)
            yield written
            value = _inverse(integral, q)
            if value is None:
                return
            name, found = value
            constants[name] = written
            solved[q] = found


def _integral(q: Symbol, time: Symbol, slope: Expr) -> Expr | None:
    """Return a function that is constant where dq/dtime is the slope, which contains constants besides."""
    if slope.has(S.NaN):
        return None
    alpha = cancel(slope.diff(q))
    if not alpha.has(q):
        beta = cancel(slope.subs(q, 0))
        inner = antiderivative(alpha, time)
        if inner is not None:
            outer = antiderivative((beta * exp(-inner)).expand(), time)
            if outer is not None:
                return q * exp(-inner) - outer
    of_time, of_q = factor(slope).as_independent(q)
    if not of_q.has(time):
        left, right = antiderivative(cancel(1 / of_q), q), antiderivative(of_time, time)
        if left is not None and right is not None:
            return left - right
    return None


def _inverse(integral: Expr, q: Symbol) -> tuple[Symbol, Expr] | None:
    """Return a name for the constant, and q as a function of it."""
    name = Dummy("c", real=True)
    found = solutions(integral - name, q)
    return (name, found[0]) if len(found) == 1 else None
