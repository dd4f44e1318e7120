r"""Filtered expressions in one form: circular taps as shifts of the sample, common shifts pulled out.

.. math:: h(u) = \sum_k h_k\, S^k u, \qquad S^k \varphi(u, v) = \varphi(S^k u, S^k v), \qquad
    \mathrm{Mean}(S^k u) = \mathrm{Mean}(u), \qquad h(S^k u) = S^k h(u)

for the circular shift S; the last holds for circular filters. Of filters with other boundaries only the linearity is
used: they commute neither with shifts nor with each other.
"""

from __future__ import annotations

from operator import add
from typing import Any

from sympy import Add, Dummy, Expr, expand

from symdecouple.language.filtered import Filtered
from symdecouple.language.filters import Filter, shift
from symdecouple.language.sample import Sample

__all__ = ["lagged", "leading_shift"]

Lag = tuple[int, ...]


def lagged(expr: Expr, sample: Sample) -> Expr:
    """Write circular taps as sums of shifts of the sample itself; pull sums and constants out of other filters."""
    if not expr.has(Filtered):
        return expr
    if isinstance(expr, Filtered):
        h, inner = expr.filter, lagged(expr.argument, sample)
        if _is_opaque(h):
            terms = (t.as_independent(sample, as_Add=False) for t in Add.make_args(expand(inner)))
            return Add(*(c * _through(h, u, sample) for c, u in terms))
        return Add(*(tap * _shifted(inner, _vector(lag), sample) for lag, tap in h.lags.items()))
    return expr.func(*(lagged(arg, sample) for arg in expr.args)) if expr.args else expr


def leading_shift(psi: Expr, sample: Sample) -> Expr:
    """Choose among the common shifts of a product the one whose smallest lag is 0."""
    return _shifted(psi, _negative(_smallest_lag(psi, sample)), sample)


def _through(h: Filter, u: Expr, sample: Sample) -> Expr:
    """h(u), with a common shift of u outside where h is circular: then it commutes with shifts."""
    if h.boundary != "circular" or not u.has(Filtered):
        return Filtered(h, u, sample)
    lag = _smallest_lag(u, sample)
    return _shifted(Filtered(h, _shifted(u, _negative(lag), sample), sample), lag, sample)


def _is_opaque(h: Filter) -> bool:
    return bool(h.is_symbolic or h.boundary != "circular")


def _lag_of(node: Expr) -> Lag | None:
    """By how much a node is a shift of its argument; None for what is no circular shift."""
    return None if _is_opaque(node.filter) else _vector(next(iter(node.filter.lags)))


def _vector(lag: Any) -> Lag:
    return lag if isinstance(lag, tuple) else (lag,)


def _negative(lag: Lag) -> Lag:
    return tuple(-k for k in lag)


def _shifted(expr: Expr, lag: Lag, sample: Sample) -> Expr:
    if not any(lag) or not expr.has(sample):
        return expr
    if isinstance(expr, Filtered) and (own := _lag_of(expr)) is not None:
        return _shifted(expr.argument, tuple(map(add, lag, own)), sample)
    if expr == sample or isinstance(expr, Filtered):
        return Filtered(shift(lag), expr)
    return expr.func(*(_shifted(arg, lag, sample) for arg in expr.args))


def _smallest_lag(psi: Expr, sample: Sample) -> Lag:
    nodes = _outermost(psi)
    lags = [lag for node in nodes if (lag := _lag_of(node)) is not None]
    if psi.xreplace({node: Dummy() for node in nodes if _lag_of(node) is not None}).has(sample):
        lags.append((0,) * next(iter(nodes)).filter.ndim)
    return min(lags)


def _outermost(expr: Expr) -> set[Expr]:
    if isinstance(expr, Filtered):
        return {expr}
    return set().union(*(_outermost(arg) for arg in expr.args))
