"""What stands for something else: parameters and their values, averages and their terms.

Binding replaces parameters, symbolic filters and undefined functions everywhere, inside averages too; spreading
writes an average out over the explicit coordinates of one sample size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Add, Basic, Expr, Symbol
from sympy.core.function import AppliedUndef, Derivative, Subs, UndefinedFunction

from symdecouple.errors import InvalidInput
from symdecouple.language.filters import Filter, Filtered
from symdecouple.language.mean import Mean, exact, free_sample
from symdecouple.language.sample import BoundSample, Coordinate, Sample, x

__all__ = ["bind", "parameters_of", "spread"]


def bind(expr: Expr, values: Mapping[Any, Any]) -> Expr:
    """Replace parameters, filters and undefined functions, inside averages too."""
    for key, value in values.items():
        expr = _bind_one(expr, key, value)
    return expr


def _bind_one(expr: Expr, key: Any, value: Any) -> Expr:
    if isinstance(key, str):
        key = _named(expr, key)
        if key is None:
            return expr
    if isinstance(key, Filter):
        new = value if isinstance(value, Filter) else Filter(value)
        return _rebuilt(expr, {key: new, key.adjoint: new.adjoint, key.dc: new.dc})
    value = exact(value, f"the value of {key}")
    if isinstance(key, AppliedUndef):
        key = key.func
    if isinstance(key, UndefinedFunction):
        symbol = free_sample(value) or x
        return _replace_function(expr, key, lambda argument: value.xreplace({symbol: argument}))
    if value.atoms(Sample):
        raise InvalidInput(f"the parameter {key} cannot be bound to {value}: it contains the sample")
    return _rebuilt(expr, {key: value})


def _rebuilt(node: Basic, rule: dict[Basic, Basic]) -> Any:
    if node in rule:
        return rule[node]
    if not node.args:
        return node
    args = [_rebuilt(arg, rule) for arg in node.args]
    return node if tuple(args) == node.args else node.func(*args)


def _replace_function(expr: Expr, function: UndefinedFunction, body: Any) -> Expr:
    if isinstance(expr, AppliedUndef) and expr.func == function:
        return body(_replace_function(expr.args[0], function, body))
    if isinstance(expr, (Derivative, Subs)):
        return expr.xreplace({node: body(*node.args) for node in expr.atoms(AppliedUndef)
                              if node.func == function}).doit()
    if not expr.args:
        return expr
    return expr.func(*(_replace_function(arg, function, body) for arg in expr.args))


def _named(expr: Expr, name: str) -> Any:
    found = [p for p in parameters_of(expr) if str(p) == name or str(getattr(p, "func", "")) == name]
    return found[0] if found else None


def parameters_of(expr: Expr) -> frozenset[Basic]:
    filters = {Filter(h.args[0]) for h in expr.atoms(Filter) if h.is_symbolic}
    names = {h.args[0] for h in filters}
    functions = {node.func for node in expr.atoms(AppliedUndef)}
    symbols = {s for s in expr.free_symbols if not isinstance(s, (Sample, BoundSample, Coordinate))} - names
    return frozenset(symbols | filters | functions)


def spread(expr: Expr, points: tuple[Coordinate, ...], symbol: Symbol | None = None, index: int = 0) -> Expr:
    """Write averages out over explicit coordinates; the free symbol stands for the coordinate of this index."""
    n = len(points)
    if expr == symbol:
        return points[index]
    if isinstance(expr, Mean):
        return Add(*(spread(expr.body, points, expr.bound, k) for k in range(n))) / n
    if isinstance(expr, Filtered):
        return Add(*(tap * spread(expr.argument, points, symbol, (index - lag) % n)
                     for lag, tap in expr.filter.lags.items()))
    if isinstance(expr, (Derivative, Subs)):
        return expr.xreplace({symbol: points[index]})
    if not expr.args:
        return expr
    return expr.func(*(spread(arg, points, symbol, index) for arg in expr.args))
