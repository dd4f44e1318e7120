"""From a syntax tree to an expression: every rule of the grammar once, every step bounded before it is taken.

The grammar stands in `symdecouple.language.text`. Nodes outside of it are refused; what is inside becomes SymPy
objects by direct construction. Sums and products are gathered whole and built by one call, as the printer writes
them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from sympy import Add, Derivative, Dummy, Expr, Function, Integer, Mul, Pow, S, Subs, Symbol
from sympy.core.function import AppliedUndef

from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.language import statistics
from symdecouple.language.boundaries import BOUNDARIES
from symdecouple.language.filters import Filter, shift
from symdecouple.language.limits import (
    MAX_DEPTH,
    MAX_EXPONENT,
    argument_complaint,
    combination_complaint,
    finished_complaint,
    is_undefined,
    node_complaint,
    power_complaint,
    size_complaint,
)
from symdecouple.language.mean import Mean
from symdecouple.language.printer import (
    ALIASES,
    CLASSES,
    COORDINATE,
    function_problem,
    parameter_problem,
)
from symdecouple.language.sample import Coordinate, Sample, coordinates
from symdecouple.language.syntax import Source

__all__ = ["Reader"]

_STATISTICS: dict[str, Callable[..., Expr]] = {
    "variance": statistics.variance, "std": statistics.standard_deviation, "skewness": statistics.skewness,
    "kurtosis": statistics.kurtosis}
_OF_ORDER = frozenset("median quantile percentile mode iqr mad ptp midrange trimmed_mean winsorized_mean".split())
_ARGUMENTS = {"Max": (1, 8), "Min": (1, 8), "atan2": (2, 2)}
_FILTERS = ("shift", "taps", "filter", "adjoint")
_BOUNDARIES = {boundary.replace("-", "_"): boundary for boundary in BOUNDARIES}
_MAX_LAG = 10_000
_MAX_NDIM = 8


class Reader:
    """A syntax tree on its way to an expression: a method a rule of the grammar."""

    def __init__(self, source: Source, sample: Sample, n_samples: int | None,
                 functions: Mapping[str, Callable[..., Expr]]) -> None:
        if not isinstance(sample, Sample):
            raise InvalidInput(f"sample= is a Sample such as symdecouple.x, got {str(sample)[:40]!r}")
        self.source, self.sample, self.functions = source, sample, functions
        self.points = () if n_samples is None else coordinates(n_samples)
        self.depth = 0
        self.forms: dict[str, Callable[[ast.Call], Expr]] = {
            "sqrt": self._sqrt, "mean": self._mean, "central": self._central, "diff": self._diff, "dc": self._dc}

    def result(self) -> Expr:
        """The expression, every bound checked once more on the whole."""
        tree = self.source.tree
        try:
            expr = self._expression(tree)
            return self._checked(expr, finished_complaint(expr) or _vocabulary_complaint(expr), tree)
        except RecursionError:
            self.source.refuse("the text nests too deeply", tree)

    def _checked(self, expr: Expr, complaint: str, node: ast.expr) -> Expr:
        if complaint:
            self.source.refuse(complaint, node)
        return expr

    def _settled(self, expr: Expr, node: ast.expr) -> Expr:
        return self._checked(expr, next(filter(None, map(node_complaint, Mul.make_args(expr))), ""), node)

    def _calling(self, node: ast.expr, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return function(*args)
        except SymdecoupleError as error:
            self.source.refuse(str(error), node)

    def _expression(self, node: ast.expr) -> Expr:
        self.depth += 1
        if self.depth > 2 * MAX_DEPTH:
            self.source.refuse(f"the text nests too deeply; at most {MAX_DEPTH} levels are read", node)
        expr = self._built(node)
        self.depth -= 1
        return self._checked(expr, "this has no finite value" if is_undefined(expr) else "", node)

    def _built(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant():
                return self.source.number(node)
            case ast.Name():
                return self._name(node)
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                return self._sum(node)
            case ast.BinOp(op=ast.Mult() | ast.Div()) | ast.UnaryOp(op=ast.UAdd() | ast.USub()):
                return self._product(node, 1)
            case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
                return self._power(self._expression(base), self._expression(exponent), node)
            case ast.Call():
                return self._call(node)
        self.source.refuse(f"{_describe(node)} not part of the grammar; allowed are + - * / ^, parentheses and "
                           "functions", node)

    def _name(self, node: ast.Name) -> Expr:
        name = node.id
        if name == self.sample.name:
            return self.sample
        if COORDINATE.fullmatch(name):
            return self._coordinate(int(name[1:]), node)
        if name in ("pi", "E"):
            return S.Pi if name == "pi" else S.Exp1
        return self._checked(Symbol(name), parameter_problem(name, self.sample.name), node)

    def _coordinate(self, index: int, node: ast.Name) -> Expr:
        if not self.points:
            self.source.refuse(f"{node.id} is a coordinate: give their number, n_samples= (on the command line -n)",
                               node)
        if not 1 <= index <= len(self.points):
            self.source.refuse(f"{node.id} is none of the {len(self.points)} coordinates, counted from x1", node)
        return self.points[index - 1]

    def _sum(self, node: ast.expr) -> Expr:
        terms, stack = [], [(node, 1)]
        while stack:
            part, sign = stack.pop()
            match part:
                case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                    stack += [(left, sign), (right, -sign if isinstance(op, ast.Sub) else sign)]
                case _:
                    terms.append(self._product(part, sign))
        return Add(*self._combined(terms, node))

    def _product(self, node: ast.expr, sign: int) -> Expr:
        factors, stack = [Integer(sign)], [(node, 1)]
        while stack:
            part, side = stack.pop()
            match part:
                case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
                    stack += [(left, side), (right, -side if isinstance(op, ast.Div) else side)]
                case ast.UnaryOp(op=ast.UAdd() | ast.USub() as op, operand=operand):
                    factors.append(Integer(-1 if isinstance(op, ast.USub) else 1))
                    stack.append((operand, side))
                case _:
                    factor = self._expression(part)
                    factors.append(factor if side > 0 else self._power(factor, S.NegativeOne, part))
        return Mul(*self._combined(factors, node))

    def _combined(self, parts: list[Expr], node: ast.expr) -> list[Expr]:
        if complaint := combination_complaint(parts):
            self.source.refuse(complaint, node)
        return parts

    def _power(self, base: Expr, exponent: Expr, node: ast.expr) -> Expr:
        if complaint := power_complaint(base, exponent):
            self.source.refuse(complaint, node)
        return self._settled(Pow(base, exponent), node)

    # Calls.

    def _call(self, node: ast.Call) -> Expr:
        if isinstance(node.func, ast.Call):
            return self._call_of_call(node, node.func)
        if not isinstance(node.func, ast.Name):
            self.source.refuse("only functions are called; products are written with *", node)
        self._not_of_order(node.func.id, node)
        name = ALIASES.get(node.func.id, node.func.id)
        if name in self.functions:
            return self._calling(node, self.functions[name], *self._arguments(node, 0, 8))
        if name in self.forms:
            return self.forms[name](node)
        if name in _STATISTICS:
            return self._statistic(node, _STATISTICS[name], *self._arguments(node, 0, 1))
        if name in CLASSES:
            return self._function(node, name)
        return self._undefined(node.func)(*self._arguments(node, 1, 1))

    def _not_of_order(self, name: str, node: ast.Call) -> None:
        """Refuse order statistics by their names; max and min are such where they are of the sample alone."""
        alone = name.lower() in ("max", "min") and len(node.args) == 1 and not isinstance(node.args[0], ast.Call)
        is_extreme = alone and any(isinstance(part, ast.Name) and part.id == self.sample.name
                                   for part in ast.walk(node.args[0]))
        if (is_extreme or name.lower() in _OF_ORDER) and name not in self.functions:
            self.source.refuse(f"{name} of a sample is an order statistic, which is outside of what is decided here: "
                               "it is no smooth function of averages; an average such as mean(log(cosh(x - a))) is "
                               "robust too, and Feature.from_callable takes any callable", node)

    def _call_of_call(self, node: ast.Call, inner: ast.Call) -> Expr:
        name = inner.func.id if isinstance(inner.func, ast.Name) else ""
        if name not in (*_FILTERS, "diff"):
            self.source.refuse("only filters and derivatives are called twice, such as shift(1)(x); products are "
                               "written with *", node)
        (argument,) = self._arguments(node, 1, 1)
        if name == "diff":
            return self._derivative(inner, argument)
        return self._calling(node, self._filter(inner), self._generic(argument, node), self.sample)

    def _parts(self, node: ast.Call, least: int, most: int) -> list[ast.expr]:
        if node.keywords or any(isinstance(part, ast.Starred) for part in node.args):
            self.source.refuse("arguments are given plainly, without stars", node)
        if not least <= len(node.args) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            name = node.func.id if isinstance(node.func, ast.Name) else "this"
            self.source.refuse(f"{name} takes {wanted} argument{'s' * (wanted != '1')}, got {len(node.args)}", node)
        return node.args

    def _arguments(self, node: ast.Call, least: int, most: int) -> list[Expr]:
        return [self._expression(part) for part in self._parts(node, least, most)]

    def _generic(self, expr: Expr, node: ast.expr) -> Expr:
        if expr.has(Coordinate):
            self.source.refuse("averages, statistics and filters are of the sample, not of coordinates", node)
        return expr

    def _integer(self, node: ast.expr, least: int, most: int) -> int:
        number = self._expression(node)
        if not isinstance(number, Integer) or not least <= number <= most:
            self.source.refuse(f"a whole number from {least} to {most} is needed here", node)
        return int(number)

    def _sqrt(self, node: ast.Call) -> Expr:
        (base,) = self._arguments(node, 1, 1)
        return self._power(base, S.Half, node)

    def _mean(self, node: ast.Call) -> Expr:
        (body,) = self._arguments(node, 1, 1)
        return self._calling(node, Mean, self._generic(body, node))

    def _central(self, node: ast.Call) -> Expr:
        order, *rest = self._parts(node, 1, 2)
        k = self._integer(order, 2, MAX_EXPONENT)
        return self._statistic(node, lambda e: statistics.central_moment(k, e), *map(self._expression, rest))

    def _statistic(self, node: ast.Call, function: Callable[..., Expr], *argument: Expr) -> Expr:
        expr = self._generic(argument[0] if argument else self.sample, node)
        if complaint := size_complaint(expr, times=24):
            self.source.refuse(complaint, node)
        return self._calling(node, function, expr)

    def _function(self, node: ast.Call, name: str) -> Expr:
        if name == "polygamma":
            order, argument = self._parts(node, 2, 2)
            args = [Integer(self._integer(order, 0, 20)), self._expression(argument)]
        else:
            least, most = _ARGUMENTS.get(name, (1, 1))
            args = self._arguments(node, least, most)
        if sum(len(arg.args) if isinstance(arg, (CLASSES["Max"], CLASSES["Min"])) else 1 for arg in args) > 8:
            self.source.refuse(f"{name} of more than 8 arguments", node)
        for arg in args[name == "polygamma" :]:
            self._checked(arg, argument_complaint(name, arg), node)
        return self._settled(CLASSES[name](*args), node)

    def _undefined(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Name):
            self.source.refuse("the name of an undefined function is needed here", node)
        if problem := function_problem(node.id, self.sample.name):
            self.source.refuse(problem, node)
        return Function(node.id)

    def _diff(self, node: ast.Call) -> Expr:
        function, variable, *order = self._parts(node, 2, 3)
        applied, symbol = self._expression(function), self._expression(variable)
        if not isinstance(applied, AppliedUndef) or applied.args != (symbol,) or not symbol.is_Symbol:
            self.source.refuse("diff is of an undefined function, diff(m(x), x) or diff(m)(2*x); other derivatives are "
                               "written out", node)
        return Derivative(applied, (symbol, self._integer(order[0], 1, 20) if order else 1))

    def _derivative(self, inner: ast.Call, argument: Expr) -> Expr:
        """m'(e), as SymPy's chain rule writes it."""
        name, *order = self._parts(inner, 1, 2)
        function, count = self._undefined(name), self._integer(order[0], 1, 20) if order else 1
        if argument._diff_wrt:
            return Derivative(function(argument), (argument, count))
        dummy = Dummy("xi_1")
        return Subs(Derivative(function(dummy), (dummy, count)), dummy, argument)

    # Filters.

    def _filter(self, node: ast.Call) -> Filter:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "adjoint":
            first = self._parts(node, 1, 4)[0]
            if isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id in _FILTERS:
                self._parts(node, 1, 1)
                return self._filter(first).adjoint
            return self._named_filter(node).adjoint
        if name == "filter":
            return self._named_filter(node)
        return self._shift(node) if name == "shift" else self._taps(node)

    def _shift(self, node: ast.Call) -> Filter:
        lag, *words = self._parts(node, 1, 2)
        return self._calling(node, shift, self._place(lag), *map(self._boundary, words))

    def _taps(self, node: ast.Call) -> Filter:
        kernel, *rest = self._parts(node, 1, 3)
        words = [rest.pop()] if rest and isinstance(rest[-1], ast.Name) and rest[-1].id in _BOUNDARIES else []
        if len(rest) > 1:
            self._boundary(rest[1])
        place = self._place(rest[0]) if rest else None
        taps = self._nested(kernel if isinstance(kernel, ast.Tuple) else ast.Tuple([kernel], ast.Load()))
        return self._calling(node, lambda: Filter(taps, place, boundary=self._boundary(words[0]) if words
                                                  else "circular"))

    def _nested(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Tuple):
            return self._expression(node)
        self.depth += 1
        if self.depth > 2 * MAX_DEPTH:
            self.source.refuse(f"the taps nest too deeply; at most {MAX_DEPTH} levels are read", node)
        rows = [self._nested(part) for part in node.elts]
        self.depth -= 1
        return rows

    def _place(self, node: ast.expr) -> Any:
        """A whole number, or a tuple of them for filters in several dimensions."""
        if isinstance(node, ast.Tuple):
            return tuple(self._integer(part, -_MAX_LAG, _MAX_LAG) for part in node.elts)
        return self._integer(node, -_MAX_LAG, _MAX_LAG)

    def _boundary(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name) or node.id not in _BOUNDARIES:
            self.source.refuse(f"the boundary of a filter is one of {', '.join(_BOUNDARIES)}", node)
        return _BOUNDARIES[node.id]

    def _named_filter(self, node: ast.Call) -> Filter:
        """A name, then in any order its number of dimensions, its boundary and zero_dc."""
        name, *how = self._parts(node, 1, 4)
        if not isinstance(name, ast.Name):
            self.source.refuse("the name of a filter is needed here, such as filter(h)(x)", node)
        given: dict[str, Any] = {}
        one: dict[str, Any]
        for part in how:
            if isinstance(part, ast.Constant):
                one = {"ndim": self._integer(part, 1, _MAX_NDIM)}
            elif isinstance(part, ast.Name) and part.id == "zero_dc":
                one = {"zero_dc": True}
            else:
                one = {"boundary": self._boundary(part)}
            if given.keys() & one.keys():
                self.source.refuse(f"the filter {name.id} has its {min(one)} twice", part)
            given |= one
        return self._calling(node, lambda: Filter(name.id, **given))

    def _dc(self, node: ast.Call) -> Expr:
        return self._named_filter(node).dc


def _vocabulary_complaint(expr: Expr) -> str:
    known = (*CLASSES.values(), AppliedUndef)
    strange = [str(f) for f in expr.atoms(Function) if not isinstance(f, known)]
    return f"a part becomes {min(strange)[:40]}, which is no function of the grammar" if strange else ""


def _describe(node: ast.expr) -> str:
    if isinstance(node, (ast.Tuple, ast.Starred)):
        return "a list of values is" if isinstance(node, ast.Tuple) else "a star is"
    return "the operator // is" if isinstance(node, ast.BinOp) else f"{type(node).__name__} is"
