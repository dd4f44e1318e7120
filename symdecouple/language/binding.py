"""What stands for something else: parameters and their values, averages and their terms.

Binding replaces parameters, symbolic filters and undefined functions everywhere, inside averages too; spreading
writes an average out over the explicit coordinates of one sample size.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from sympy import Add, Basic, Expr, S, Symbol
from sympy.core.function import AppliedUndef, Derivative, Subs, UndefinedFunction

from symdecouple.errors import InvalidInput
from symdecouple.language.boundaries import grid
from symdecouple.language.filtered import Filtered, Response, Unit
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean, exact, free_sample
from symdecouple.language.sample import BoundSample, Coordinate, Sample, coordinates, x

__all__ = ["bind", "name_of", "named_in", "on_grid", "parameters_of", "spread"]


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
        if not key.is_symbolic:
            raise InvalidInput(f"{key} has taps already; filters with a name are bound")
        found = {h.declared for h in expr.atoms(Filter) if h.is_symbolic and h.args[0] == key.args[0]}
        for declared in found:
            new = _kernel_for(declared, value)
            new = new.adjoint if key.transposed else new
            rule = {declared: new, declared.adjoint: new.adjoint}
            expr = _rebuilt(expr, rule | ({} if declared.zero_dc else {declared.dc: new.dc}))
        return expr
    value = exact(value, f"the value of {key}")
    if isinstance(key, AppliedUndef):
        key = key.func
    if isinstance(key, UndefinedFunction):
        symbol = free_sample(value) or x
        return _replace_function(expr, key, lambda argument: value.xreplace({symbol: argument}))
    if value.atoms(Sample):
        raise InvalidInput(f"the parameter {key} cannot be bound to {value}: it contains the sample")
    return _rebuilt(expr, {key: value})


def _kernel_for(key: Filter, value: Any) -> Filter:
    """What a symbolic filter is bound to: taps get its boundary, a filter must have what was declared."""
    new = value if isinstance(value, Filter) else Filter(value, boundary=key.boundary)
    if new.ndim != key.ndim:
        raise InvalidInput(f"{key} filters in {key.ndim} dimensions (ndim={key.ndim}), and {new} in {new.ndim}")
    if new.boundary != key.boundary and not new.is_pointwise:
        raise InvalidInput(f"{key} is declared with a {key.boundary} boundary, and {new} has a {new.boundary} one; "
                           "bind it to taps, which keep the boundary")
    if key.zero_dc and not new.zero_dc:
        raise InvalidInput(f"{key} is declared with zero_dc, and the gain of {new} at frequency 0 is {new.dc}")
    return new


def name_of(parameter: Any) -> str:
    """Return the name under which a parameter, a filter or an undefined function is bound."""
    if isinstance(parameter, Filter) and parameter.is_symbolic:
        return str(parameter.args[0].name)
    return str(parameter.func if isinstance(parameter, AppliedUndef) else parameter)


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
    found = [p for p in named_in(expr) if name_of(p) == name]
    return found[0] if found else None


def parameters_of(expr: Expr) -> frozenset[Basic]:
    """Return what has no value yet: parameters, filters that are only a name, undefined functions."""
    return frozenset(p for p in named_in(expr) if not isinstance(p, Filter) or not isinstance(p.args[0], Response))


def named_in(expr: Expr) -> frozenset[Basic]:
    """Return all that may be bound by its name: what has no value yet, and filters given by a frequency response."""
    filters = {h.declared for h in expr.atoms(Filter) if h.is_symbolic}
    names = {h.args[0] for h in filters}
    functions = {node.func for node in expr.atoms(AppliedUndef)}
    symbols = {s for s in expr.free_symbols if not isinstance(s, (Sample, BoundSample, Coordinate))} - names
    return frozenset(symbols | filters | functions)


def on_grid(n_samples: Any) -> tuple[tuple[Coordinate, ...], tuple[int, ...]]:
    """Return the coordinates of a sample, in C order, and its shape: a number of samples or a tuple of sizes."""
    size = prod(grid(n_samples)) if isinstance(n_samples, (tuple, list)) else n_samples
    return coordinates(size), grid(n_samples)


def spread(expr: Expr, points: tuple[Coordinate, ...], symbol: Symbol | None = None, index: int = 0,
           shape: tuple[int, ...] | None = None) -> Expr:
    """Write averages out over explicit coordinates; the free symbol stands for the coordinate of this index.

    The coordinates are those of a sample vector, or of a grid of this shape in C order.
    """
    if expr == symbol:
        return points[index]
    if isinstance(expr, Mean):
        return Add(*(spread(expr.body, points, expr.bound, k, shape) for k in range(len(points)))) / len(points)
    if isinstance(expr, Filtered):
        row = expr.filter.rows(grid(len(points)) if shape is None else shape)[index]
        return Add(*(tap * spread(expr.argument, points, symbol, k, shape) for k, tap in row.items()))
    if isinstance(expr, (Derivative, Subs)):
        return expr.xreplace({symbol: points[index]})
    if isinstance(expr, Unit):
        return S.One
    if not expr.args:
        return expr
    return expr.func(*(spread(arg, points, symbol, index, shape) for arg in expr.args))
