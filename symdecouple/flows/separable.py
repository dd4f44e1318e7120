r"""Closed-form flows of one-dimensional fields, by quadrature.

.. math:: \frac{dx}{dt} = v(x), \qquad \int_{x_0}^{x(t)} \frac{d\xi}{v(\xi)} = t

A field in the sample moves every sample by the same rule, so that its flow is a function of one variable. Which fields
have a closed form is in `catalogue`; the formula that most of them share is in `projective`. Every flow is substituted
back before it is returned (`verification`).

Coefficients, statistics among them, count as constants. That is the flow of the field itself where its coefficients do
not change along it (the mean of x - m moves nothing), and the same curve with another parameter where they change by a
common factor; whether one of these holds is for the caller to say.

Odd roots are real ones: x^(1/3) is negative for negative x. Where a field is not Lipschitz (x^(1/3) at 0) solutions are
not unique: they end there, and none starts.

Not covered: fields with filters, and components of fields in coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy import Dummy, Expr, Symbol, oo

from symdecouple.calculus.field import VectorField
from symdecouple.calculus.gradient import leaves
from symdecouple.errors import BudgetExceeded, InvalidInput, NoClosedForm, UnsupportedExpression
from symdecouple.flows.catalogue import pieces_of
from symdecouple.flows.chart import Piece, X, real_roots, slope_at
from symdecouple.flows.flow import Flow
from symdecouple.flows.verification import numeric_check, symbolic_check
from symdecouple.language.binding import bind
from symdecouple.language.budget import Budget
from symdecouple.language.filters import Filtered
from symdecouple.language.mean import Mean, exact
from symdecouple.language.sample import Coordinate, Sample, x as generic
from symdecouple.verdict import Check

__all__ = ["flow"]


def flow(field: Any, *, time: Symbol | None = None, sample: Symbol | None = None,
         values: Mapping[Any, Any] | None = None, budget: float = 10.0) -> Flow:
    """Return the flow of dx/dt = v(x) in closed form.

    Parameters
    ----------
    field : VectorField or Expr
        A field in the sample. Its coefficients are constants here.
    time : Symbol, optional
        The time in `Flow.expr`; default t, or tau where the field has a parameter t.
    sample : Symbol, optional
        The variable, where it is not the generic sample; it stands for the initial value in `Flow.expr`.
    values : mapping, optional
        Parameters and statistics, ``Mean(...)``, to numbers.
    budget : float
        Seconds for the search.

    Returns
    -------
    Flow

    Raises
    ------
    NoClosedForm
        Where none is found, or what was found cannot be verified.
    UnsupportedExpression
        For fields with filters or in coordinates, which do not move each sample by itself.

    Examples
    --------
    >>> from sympy import sin
    >>> from symdecouple.language.sample import x
    >>> flow(x**2).expr
    x/(-x*t + 1)
    >>> flow(x - Mean(x)).expr
    x*exp(t) - (exp(t) - 1)*Mean(x)
    >>> f = flow(x**3)
    >>> f.expr, f.domain(2), f.equilibria
    (x*sqrt(1/(-2*x**2*t + 1)), (-oo, 1/8), {0})
    >>> flow(sin(x)).expr
    x + 2*atan2(sin(x)*sinh(t/2), -cos(x)*sinh(t/2) + cosh(t/2))
    """
    expr = field.expr if isinstance(field, VectorField) else exact(field, "flow")
    expr = _with_values(expr, values or {})
    symbol = _symbol(expr, sample)
    v, constants = _in_constants(expr, symbol)
    low, high = getattr(symbol, "interval", (-oo, oo))
    try:
        pieces, checks = _solved(v, low, high, budget)
    except NoClosedForm as error:
        raise NoClosedForm(f"no closed form was found for d{symbol}/dt = {expr}: {error}") from None
    velocity, given = real_roots(v), field if values is None else expr
    return Flow(given, _time(expr, time), symbol, velocity, pieces, _rests(velocity, pieces), constants, checks)


@lru_cache(maxsize=256)
def _solved(v: Expr, low: Expr, high: Expr, budget: float) -> tuple[tuple[Piece, ...], tuple[Check, ...]]:
    """Return the formulas and how they were verified."""
    clock = Budget(budget)
    try:
        with clock.running("the search"):
            pieces = pieces_of(v, low, high, clock)
            if not pieces:
                raise NoClosedForm("it is not projective in a chart, and 1/v was not integrated and inverted; "
                                   "integrate numerically")
            numeric = numeric_check(v, real_roots(v), pieces, low, high)
            if not numeric.passed:
                raise NoClosedForm(f"a formula was found but failed its verification ({numeric}); integrate "
                                   "numerically, or give values to the parameters")
            symbolic = symbolic_check(pieces[0])
    except BudgetExceeded as error:
        raise NoClosedForm(f"{error}; give budget= more, or integrate numerically") from error
    return pieces, ((numeric,) if symbolic is None else (symbolic, numeric))


def _with_values(expr: Expr, values: Mapping[Any, Any]) -> Expr:
    statistics = {key: exact(value, f"the value of {key}") for key, value in values.items() if isinstance(key, Expr)
                  and key.has(Mean)}
    return bind(expr.xreplace(statistics), {k: v for k, v in values.items() if k not in statistics})


def _symbol(expr: Expr, sample: Symbol | None) -> Symbol:
    if expr.has(Filtered) or expr.atoms(Coordinate):
        raise UnsupportedExpression(f"the field {expr} does not move each sample by itself: a flow in closed form "
                                    "needs a field in the sample, without filters and coordinates")
    found = sorted(expr.atoms(Sample), key=str)
    if sample is not None:
        if not isinstance(sample, Symbol) or any(s != sample for s in found):
            raise InvalidInput(f"{expr} is a function of {', '.join(map(str, found)) or 'no sample'}, not of {sample}")
        return sample
    if len(found) > 1:
        raise InvalidInput(f"a field is a function of one sample, got {', '.join(map(str, found))} in {expr}")
    return found[0] if found else generic


def _in_constants(expr: Expr, symbol: Symbol) -> tuple[Expr, tuple[tuple[Symbol, Expr], ...]]:
    """Return the field in `X` with a real symbol for each statistic and parameter, and what these stand for."""
    opened, nodes = leaves(expr)
    names = sorted(opened.free_symbols - {symbol} - set(nodes), key=str)
    stand_ins = {s: Dummy(s.name, real=True, positive=s.is_positive) for s in names}
    v = opened.xreplace({symbol: X, **stand_ins})
    if v.atoms(sp.core.function.AppliedUndef):
        raise NoClosedForm(f"the field {expr} contains undefined functions: bind them first")
    return v, (*((dummy, s) for s, dummy in stand_ins.items()), *((d, node) for d, node in nodes.items()))


def _time(expr: Expr, time: Symbol | None) -> Symbol:
    names = {s.name for s in expr.free_symbols}
    if time is None:
        return Symbol("tau" if "t" in names else "t", real=True)
    if not isinstance(time, Symbol) or time.name in names:
        raise InvalidInput(f"the time must be a symbol that does not occur in the field {expr}, got {time!r}")
    return time


def _rests(velocity: Expr, pieces: tuple[Piece, ...]) -> tuple[Expr, ...]:
    """Return the ends of pieces at which the field vanishes and has a finite slope."""
    ends = {end for p in pieces if p.chart.period is None for end in (p.chart.low, p.chart.high)} - {oo, -oo}
    return tuple(sorted((end for end in ends if _is_rest(velocity, end)), key=sp.default_sort_key))


def _is_rest(velocity: Expr, end: Expr) -> bool:
    return bool(velocity.subs(X, end) == 0 and slope_at(velocity, end).is_finite)
